// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "rig.h"

const struct tuning tuning_default = {
	.depth = 64, .sges = 4, .inline_bytes = 128,
	.mtu = IBV_MTU_1024,
	.timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .min_rnr = 12,
	.rd_atomic = 8,
};

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

unsigned int mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

enum ibv_mtu mtu_from_bytes(unsigned int bytes)
{
	for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		if (mtu_bytes(mtu) == bytes)
			return mtu;
	return 0;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list;
	struct ibv_context *ctx = NULL;
	int count;

	list = ibv_get_device_list(&count);
	if (!list)
		die("ibv_get_device_list: %s", strerror(errno));
	for (int i = 0; i < count && !ctx; i++) {
		if (name && *name && strcmp(name, ibv_get_device_name(list[i])))
			continue;
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			die("ibv_open_device %s: %s", ibv_get_device_name(list[i]),
			    strerror(errno));
	}
	if (!ctx)
		die("no RDMA device '%s' among %d found", name ? name : "", count);
	ibv_free_device_list(list);
	return ctx;
}

static bool gid_is_v4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

static bool gid_is_zero(const union ibv_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

/* Link-local GIDs work between all topologies here, global ones are preferred. */
static int find_gid(struct rig *rig, bool v4)
{
	int local = -1;

	for (int i = 0; i < rig->port.gid_tbl_len && i < 64; i++) {
		union ibv_gid gid;

		if (ibv_query_gid(rig->ctx, 1, i, &gid) || gid_is_zero(&gid) ||
		    gid_is_v4(&gid) != v4)
			continue;
		if (v4 || gid.raw[0] != 0xfe)
			return i;
		if (local < 0)
			local = i;
	}
	return local;
}

void rig_open(struct rig *rig, const char *name, const char *gid)
{
	char *end;
	int err;

	memset(rig, 0, sizeof(*rig));
	rig->ctx = open_device(name);
	err = ibv_query_device(rig->ctx, &rig->dev);
	if (err)
		die("ibv_query_device: %s", strerror(err));
	err = ibv_query_port(rig->ctx, 1, &rig->port);
	if (err)
		die("ibv_query_port: %s", strerror(err));

	if (!strcmp(gid, "v4") || !strcmp(gid, "v6")) {
		rig->gid_index = find_gid(rig, gid[1] == '4');
		if (rig->gid_index < 0)
			die("%s has no %s GID", name, gid);
	} else {
		rig->gid_index = strtol(gid, &end, 0);
		if (*end || end == gid)
			die("GID index '%s' is neither a number nor v4 or v6", gid);
	}
	err = ibv_query_gid(rig->ctx, 1, rig->gid_index, &rig->gid);
	if (err)
		die("ibv_query_gid %d: %s", rig->gid_index, strerror(errno));

	rig->pd = ibv_alloc_pd(rig->ctx);
	if (!rig->pd)
		die("ibv_alloc_pd: %s", strerror(errno));
}

void rig_close(struct rig *rig)
{
	int err;

	err = ibv_dealloc_pd(rig->pd);
	if (err)
		die("ibv_dealloc_pd: %s", strerror(err));
	err = ibv_close_device(rig->ctx);
	if (err)
		die("ibv_close_device: %s", strerror(errno));
}

struct ibv_qp *rig_qp(struct rig *rig, enum ibv_qp_type type,
		      struct ibv_cq *send_cq, struct ibv_cq *recv_cq,
		      const struct tuning *tune)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.cap = {
			.max_send_wr = tune->depth,
			.max_recv_wr = tune->depth,
			.max_send_sge = tune->sges,
			.max_recv_sge = tune->sges,
			.max_inline_data = tune->inline_bytes,
		},
	};

	return ibv_create_qp(rig->pd, &init);
}

int rig_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr to = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE |
				   (qp->qp_type == IBV_QPT_RC ?
				    IBV_ACCESS_REMOTE_READ |
				    IBV_ACCESS_REMOTE_ATOMIC : 0),
	};

	return ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				      IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int rig_to_rtr(struct rig *rig, struct ibv_qp *qp, const struct peer *to,
	       const struct tuning *tune)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = tune->mtu,
		.dest_qp_num = to->qpn,
		.rq_psn = to->psn,
		.max_dest_rd_atomic = tune->rd_atomic,
		.min_rnr_timer = tune->min_rnr,
	};

	attr.ah_attr.port_num = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = to->gid;
	attr.ah_attr.grh.sgid_index = rig->gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     (qp->qp_type == IBV_QPT_RC ?
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
}

int rig_to_rts(struct ibv_qp *qp, uint32_t psn, const struct tuning *tune)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = tune->timeout,
		.retry_cnt = tune->retry_cnt,
		.rnr_retry = tune->rnr_retry,
		.max_rd_atomic = tune->rd_atomic,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_SQ_PSN |
			     (qp->qp_type == IBV_QPT_RC ?
			      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_MAX_QP_RD_ATOMIC : 0));
}

int rig_to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int rig_connect(struct rig *rig, struct ibv_qp *qp, const struct peer *to,
		uint32_t psn, const struct tuning *tune)
{
	int err = rig_to_init(qp);

	if (!err)
		err = rig_to_rtr(rig, qp, to, tune);
	if (!err)
		err = rig_to_rts(qp, psn, tune);
	return err;
}

int rig_wait(struct ibv_cq *cq, struct ibv_wc *wc, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	for (;;) {
		int n = ibv_poll_cq(cq, 1, wc);

		if (n)
			return n;
		if (now_ms() >= end)
			return 0;
		sched_yield();
	}
}

static struct addrinfo *resolve(const char *host, const char *port)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_family = host ? AF_UNSPEC : AF_INET6,
		.ai_flags = host ? 0 : AI_PASSIVE,
	};
	struct addrinfo *list;
	int err = getaddrinfo(host, port, &hints, &list);

	/* A kernel without IPv6 has nothing to listen on but IPv4. */
	if (!host && (err || access("/proc/net/if_inet6", F_OK))) {
		hints.ai_family = AF_INET;
		err = getaddrinfo(host, port, &hints, &list);
	}
	if (err)
		die("address %s port %s: %s", host ? host : "any", port, gai_strerror(err));
	return list;
}

static void limit_waiting(int fd, unsigned int seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

int wire_listen_accept(const char *port, unsigned int seconds)
{
	struct addrinfo *at = resolve(NULL, port);
	int one = 1, off = 0, fd, conn;

	fd = socket(at->ai_family, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	limit_waiting(fd, seconds);
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 1))
		die("listening on port %s: %s", port, strerror(errno));
	conn = accept(fd, NULL, NULL);
	if (conn < 0)
		die("nobody connected to port %s in %u s: %s", port, seconds, strerror(errno));
	limit_waiting(conn, seconds);
	close(fd);
	freeaddrinfo(at);
	return conn;
}

int wire_connect(const char *host, const char *port, unsigned int seconds)
{
	struct addrinfo *list = resolve(host, port);
	uint64_t end = now_ms() + seconds * 1000ull;
	int err = 0;

	do {
		for (struct addrinfo *at = list; at; at = at->ai_next) {
			int fd = socket(at->ai_family, SOCK_STREAM, 0);

			if (fd >= 0 && !connect(fd, at->ai_addr, at->ai_addrlen)) {
				limit_waiting(fd, seconds);
				freeaddrinfo(list);
				return fd;
			}
			err = errno;
			if (fd >= 0)
				close(fd);
		}
		usleep(50000);
	} while (now_ms() < end);
	die("no server at %s port %s after %u s: %s", host, port, seconds, strerror(err));
}

bool wire_swap(int fd, const void *mine, void *theirs, size_t len)
{
	const char *out = mine;
	char *in = theirs;
	size_t done;

	for (done = 0; done < len;) {
		ssize_t n = send(fd, out + done, len - done, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		done += n;
	}
	for (done = 0; done < len;) {
		ssize_t n = recv(fd, in + done, len - done, 0);

		if (n <= 0)
			return false;
		done += n;
	}
	return true;
}

int rereg_mr(const struct ibv_mr *mr, uint32_t flags, const void *start, uint64_t length,
	     const void *virt, const struct ibv_pd *pd, uint32_t access, uint32_t *rkey)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr req;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_REREG_MR,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.req.response = (uintptr_t)&resp,
		.req.mr_handle = mr->handle,
		.req.flags = flags,
		.req.start = (uintptr_t)start,
		.req.length = length,
		.req.hca_va = (uintptr_t)virt,
		.req.pd_handle = pd ? pd->handle : 0,
		.req.access_flags = access,
	};

	if (write(mr->context->cmd_fd, &cmd, sizeof(cmd)) != sizeof(cmd))
		return errno;
	if (rkey)
		*rkey = resp.rkey;
	return 0;
}
