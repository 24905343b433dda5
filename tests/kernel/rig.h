/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A kernel consumer of two RDMA devices: what its tests share.
 *
 * Lifetime: ends_open() makes a queue pair on each device, connected to each
 * other, ends_close() undoes all of it, whatever state it is in.
 */
#ifndef SOFTROCE_TESTS_KERNEL_RIG_H
#define SOFTROCE_TESTS_KERNEL_RIG_H

#include <linux/completion.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define BUF_SIZE 65536
#define QUEUE_LEN 128
#define WAIT_MS 20000
#define QKEY 0x1234567

#define ALL_ACCESS                                                             \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Which of a device's addresses. */
enum ktest_address {
	KTEST_IPV4,
	KTEST_IPV6,
	KTEST_LINK_LOCAL,
};

/* One side. @buf is mapped at @dma for both directions. */
struct end {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
	const struct ib_gid_attr *gid;
	enum ktest_address kind;
	u8 *buf;
	u64 dma;
};

struct ends_conf {
	enum ib_poll_context poll_ctx;
	enum ib_qp_type type;
	bool srq;
	bool apart;	/* connected to queue pairs that do not exist */
	enum ktest_address kind;
};

/* A request that somebody waits for. */
struct op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/* The two devices. */
extern struct ib_device *ktest_dev[2];

int ends_open(struct end *end, const struct ends_conf *conf);
void ends_close(struct end *end);
/* One alone: closed whether it could be opened or not; ready for datagrams. */
int end_open(struct end *end, struct ib_device *dev,
	     const struct ends_conf *conf);
void end_close(struct end *end);
int end_ready(struct end *end);
/* The way from @from to @to. */
struct rdma_ah_attr ends_address(const struct end *from, const struct end *to);

void op_init(struct op *op);
/* Waits: the status, or -ETIMEDOUT.  Polls both CQs where nobody else does. */
int op_wait(struct end *end, struct op *op);
int op_send(struct end *end, struct ib_send_wr *wr, struct op *op);
/* @len bytes at @off of the buffer. */
struct ib_sge ends_sge(const struct end *end, u32 off, u32 len);
int op_recv(struct end *end, u32 off, u32 len, struct op *op);

/* Bytes that tell where and when they were written. */
void fill(u8 *buf, u32 len, u32 seed);
bool filled(const u8 *buf, u32 len, u32 seed);

/* A line of the result; returns @good. */
bool ktest_report(bool good, const char *fmt, ...) __printf(2, 3);

void test_api(void);
void test_transfers(void);
void test_contexts(void);
void test_drain(void);
void test_fast_reg(void);
void test_datagrams(void);
void test_pools(void);
void test_rw(void);
void test_mr_pool(void);
void test_gsi(void);
void test_own(void);
/* A queue pair 1 on the first device, until that goes. */
void gsi_stay(void);
void gsi_leave(struct ib_device *dev);

#endif
