// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory that is another protection domain's, or nobody's: who is told, and how.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC)
#define WRAPPING 0xfffffffffffffc00ull	/* with the next one it asks for: 2^64 */

/* The operations of RC, as one that is begun by queue pair 0. */
static const struct {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t len;
} ops[] = {
	{ "WRITE", IBV_WR_RDMA_WRITE, 64 },
	{ "READ", IBV_WR_RDMA_READ, 64 },
	{ "FETCH_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, 8 },
	{ "CMP_SWP", IBV_WR_ATOMIC_CMP_AND_SWP, 8 },
	{ "SEND", IBV_WR_SEND, 64 },
};
#define OPS (sizeof(ops) / sizeof(*ops))

/* An atomic is executed over there before its answer finds no place here. */
static bool is_atomic(unsigned int op)
{
	return ops[op].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       ops[op].opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static int do_op(struct pair *p, unsigned int op, uint64_t from, uint32_t lkey, uint64_t to,
		 uint32_t rkey)
{
	struct ibv_sge sge = { from, ops[op].len, lkey };
	struct ibv_send_wr wr = {
		.wr_id = op, .sg_list = &sge, .num_sge = 1, .opcode = ops[op].opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;
	int err;

	if (is_atomic(op)) {
		wr.wr.atomic.remote_addr = to;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 0x5a5a5a5a5a5a5a5a;
		wr.wr.atomic.swap = 1;
	} else if (ops[op].opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = to;
		wr.wr.rdma.rkey = rkey;
	}
	err = ibv_post_send(p->qp[0], &wr, &bad);
	if (err)
		return -abs(err);
	return rig_wait(p->cq, &wc, 10000) == 1 ? (int)wc.status : -ETIMEDOUT;
}

static bool untouched(const struct pair *p)
{
	for (size_t i = 0; i < p->len; i++)
		if (p->buf[i] != 0x5a)
			return false;
	return true;
}

/* ------------------------------------------------------------------ C15 */

/* Both queue pairs are of one domain, and a region of the same memory of another. */
static void c15_one(const struct setting *set, unsigned int op, bool remote)
{
	struct ibv_mr *other;
	struct ibv_pd *pd;
	struct pair p;
	int result, want = remote ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR;
	bool clean;

	pair_open(set, &p, 8192);
	pd = ibv_alloc_pd(p.rig.ctx);
	other = pd ? ibv_reg_mr(pd, p.buf, p.len, ACCESS) : NULL;
	if (!other)
		die("C15 a region of another domain: %s", strerror(errno));
	memset(p.buf, 0x5a, p.len);
	result = do_op(&p, op, (uintptr_t)p.buf, remote ? p.mr->lkey : other->lkey,
		       (uintptr_t)p.buf + 4096, remote ? other->rkey : p.mr->rkey);
	clean = untouched(&p) || (is_atomic(op) && !remote);
	report(result == want && clean, "C15 %s with the %s region of another PD: %s%s",
	       ops[op].name, remote ? "remote" : "local", outcome(result),
	       clean ? "" : ", memory changed");
	ibv_dereg_mr(other);
	ibv_dealloc_pd(pd);
	pair_close(&p);
}

static void c15_receive(const struct setting *set)
{
	struct ibv_recv_wr wr = { .wr_id = 77, .num_sge = 1 }, *bad;
	struct ibv_wc wc[2] = { 0 };
	struct ibv_mr *other;
	struct ibv_pd *pd;
	struct ibv_sge sge;
	struct pair p;
	int result, n = 0;

	pair_open(set, &p, 8192);
	pd = ibv_alloc_pd(p.rig.ctx);
	other = pd ? ibv_reg_mr(pd, p.buf, p.len, ACCESS) : NULL;
	if (!other)
		die("C15 a region of another domain: %s", strerror(errno));
	memset(p.buf, 0x5a, p.len);
	sge = (struct ibv_sge){ (uintptr_t)p.buf + 4096, 4096, other->lkey };
	wr.sg_list = &sge;
	if (ibv_post_recv(p.qp[1], &wr, &bad))
		die("C15 ibv_post_recv");
	sge = (struct ibv_sge){ (uintptr_t)p.buf, 64, p.mr->lkey };
	result = pair_do(&p, IBV_WR_SEND, &sge, 1, 0, 0, 10000, &wc[0]);
	if (result >= 0)
		n = rig_wait(p.cq, &wc[1], 5000);
	/* The two share a queue: either may be first. */
	if (n == 1 && wc[0].wr_id == 77) {
		wc[0] = wc[1];
		wc[1].status = result;
	}
	report(n == 1 && wc[1].status == IBV_WC_LOC_PROT_ERR &&
	       wc[0].status == IBV_WC_REM_OP_ERR && untouched(&p),
	       "C15 a receive with a region of another PD: %s, the sender: %s",
	       ibv_wc_status_str(wc[1].status), ibv_wc_status_str(wc[0].status));
	ibv_dereg_mr(other);
	ibv_dealloc_pd(pd);
	pair_close(&p);
}

static void c15_domains(const struct setting *set)
{
	for (unsigned int op = 0; op < OPS; op++) {
		c15_one(set, op, false);
		if (ops[op].opcode != IBV_WR_SEND)
			c15_one(set, op, true);
	}
	c15_receive(set);
}

/* ------------------------------------------------------------------ B21 */

/* The responder's program hears of it, with the queue pair that it is. */
static void b21_event(const struct setting *set)
{
	for (unsigned int op = 0; op < OPS; op++) {
		struct ibv_async_event event = { 0 };
		struct pollfd pfd = { .events = POLLIN };
		struct pair p;
		bool right = false;
		int result, came;

		if (ops[op].opcode == IBV_WR_SEND)
			continue;
		pair_open(set, &p, 8192);
		pfd.fd = p.rig.ctx->async_fd;
		result = do_op(&p, op, (uintptr_t)p.buf, p.mr->lkey, (uintptr_t)p.buf + 4096,
			       p.mr->rkey ^ 0x5a5a00);
		came = poll(&pfd, 1, 5000);
		if (came == 1 && !ibv_get_async_event(p.rig.ctx, &event)) {
			right = event.event_type == IBV_EVENT_QP_ACCESS_ERR &&
				event.element.qp == p.qp[1];
			ibv_ack_async_event(&event);
		}
		report(result == IBV_WC_REM_ACCESS_ERR && right && poll(&pfd, 1, 50) == 0,
		       "B21 %s with a wrong key: %s, the responder: %s, once", ops[op].name,
		       outcome(result), came == 1 ? ibv_event_type_str(event.event_type) : "nothing");
		pair_close(&p);
	}
}

/* ------------------------------------------------------------------ B25 */

/* The region's own addresses end where 2^64 would be, or beyond it. */
static void b25_regions(const struct setting *set)
{
	static const struct {
		uint64_t iova;
		size_t len;
		bool wraps;
	} tries[] = {
		{ WRAPPING - 0x400, 0x400, false },
		{ WRAPPING, 0x400, true },
		{ WRAPPING, 0x401, true },
		{ WRAPPING, 0x1000, true },
		{ ~0ull - 1023, 8192 - 0xc00, true },
	};
	struct pair p;

	for (unsigned int i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct ibv_mr *mr;
		int result = 0, at_end = 0;

		pair_open(set, &p, 16384);
		memset(p.buf, 0x5a, p.len);
		errno = 0;
		mr = ibv_reg_mr_iova(p.rig.pd, p.buf + 4096 + (tries[i].iova & 4095), tries[i].len,
				     tries[i].iova, ACCESS);
		if (tries[i].wraps) {
			report(!mr && errno == EINVAL,
			       "B25 a region of 0x%zx bytes from 0x%" PRIx64 " on: %s", tries[i].len,
			       tries[i].iova, mr ? "made" : strerror(errno));
		} else {
			result = mr ? do_op(&p, 0, (uintptr_t)p.buf, p.mr->lkey,
					    tries[i].iova + tries[i].len - 64, mr->rkey) : -errno;
			at_end = mr && !result ? do_op(&p, 0, (uintptr_t)p.buf, p.mr->lkey,
						       tries[i].iova + tries[i].len - 63,
						       mr->rkey) : 0;
			report(!result && at_end == IBV_WC_REM_ACCESS_ERR,
			       "B25 a region that ends before the last: WRITE to its end: %s, a byte on: %s",
			       outcome(result), outcome(at_end));
		}
		if (mr)
			ibv_dereg_mr(mr);
		pair_close(&p);
	}
}

static void b25_wrapping(const struct setting *set)
{
	struct pair p;

	for (unsigned int op = 0; op < OPS; op++) {
		uint64_t at = 0ull - ops[op].len;
		int local, remote;

		pair_open(set, &p, 8192);
		memset(p.buf, 0x5a, p.len);
		local = do_op(&p, op, at, p.mr->lkey, (uintptr_t)p.buf, p.mr->rkey);
		report(local == IBV_WC_LOC_PROT_ERR && (untouched(&p) || is_atomic(op)),
		       "B25 %s, the local address wraps: %s", ops[op].name, outcome(local));
		pair_close(&p);
		if (ops[op].opcode == IBV_WR_SEND)
			continue;
		pair_open(set, &p, 8192);
		memset(p.buf, 0x5a, p.len);
		remote = do_op(&p, op, (uintptr_t)p.buf, p.mr->lkey, at, p.mr->rkey);
		report(remote == IBV_WC_REM_ACCESS_ERR && untouched(&p),
		       "B25 %s, the remote address wraps: %s", ops[op].name, outcome(remote));
		pair_close(&p);
	}
	if (set->foreign)
		report_skip("accepted there", "B25 regions whose addresses wrap");
	else
		b25_regions(set);
}

const struct test_case rights_cases[] = {
	{ "C15", "regions of another protection domain", c15_domains },
	{ "B21", "the responder's program is told of a wrong key", b21_event },
	{ "B25", "addresses that wrap", b25_wrapping },
	{ 0 },
};
