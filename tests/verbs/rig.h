/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What every program here needs of libibverbs: an open device with a usable
 * GID, RC and UC queue pairs and their way through the states, waiting for a
 * completion with a limit, and a TCP connection to agree over.
 */
#ifndef SOFTROCE_TESTS_RIG_H
#define SOFTROCE_TESTS_RIG_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr dev;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
};

/* What a queue pair is asked for, and what it gets on its way to RTS. */
struct tuning {
	unsigned int depth;
	unsigned int sges;
	unsigned int inline_bytes;
	enum ibv_mtu mtu;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr;
	uint8_t rd_atomic;
};

struct peer {
	uint32_t qpn, psn;
	union ibv_gid gid;
};

extern const struct tuning tuning_default;

/*
 * Opens @name (NULL or "" for the first device). @gid is an index, or "v4" or
 * "v6" for the first GID of that kind. Ends the program when it cannot.
 */
void rig_open(struct rig *rig, const char *name, const char *gid);
void rig_close(struct rig *rig);

struct ibv_qp *rig_qp(struct rig *rig, enum ibv_qp_type type,
		      struct ibv_cq *send_cq, struct ibv_cq *recv_cq,
		      const struct tuning *tune);
/* These three return 0 or a positive errno, as ibv_modify_qp() does. */
int rig_to_init(struct ibv_qp *qp);
int rig_to_rtr(struct rig *rig, struct ibv_qp *qp, const struct peer *to,
	       const struct tuning *tune);
int rig_to_rts(struct ibv_qp *qp, uint32_t psn, const struct tuning *tune);
int rig_to_error(struct ibv_qp *qp);
/* INIT, RTR and RTS in turn. */
int rig_connect(struct rig *rig, struct ibv_qp *qp, const struct peer *to,
		uint32_t psn, const struct tuning *tune);

/* Polls for one completion for at most @ms. Returns 1, 0 (none) or -errno. */
int rig_wait(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms);
uint64_t now_ms(void);
unsigned int mtu_bytes(enum ibv_mtu mtu);
/* 0 for a number that is no MTU. */
enum ibv_mtu mtu_from_bytes(unsigned int bytes);

/*
 * ibv_rereg_mr(), for which the stock provider has no call: 0, or an errno.  @pd and
 * @rkey, where the new key goes, may be NULL.
 */
int rereg_mr(const struct ibv_mr *mr, uint32_t flags, const void *start, uint64_t length,
	     const void *virt, const struct ibv_pd *pd, uint32_t access, uint32_t *rkey);

/* A connection of the server's or the client's side; ends the program on error. */
int wire_listen_accept(const char *port, unsigned int seconds);
int wire_connect(const char *host, const char *port, unsigned int seconds);
/* Both sides send @len bytes and get the other's. False when it is gone. */
bool wire_swap(int fd, const void *mine, void *theirs, size_t len);

#endif
