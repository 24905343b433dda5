// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One malformed request at a time, written into the queue by hand: the queue
 * pair ends in error, with a completion that says why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "rig.h"
#include "rings.h"
#include "scribble.h"

#define MAX_SGES 4

struct liar {
	struct rig rig;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct ring cq_ring, rq, sq;
	struct ibv_mr *mr, *local;
	struct canary other_pd;
	struct ibv_pd *pd;
	char *buf;
};

static struct liar liar;

static void liar_qps(struct liar *l)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { 16, 16, MAX_SGES, MAX_SGES, 64 },
	};
	struct tuning tune = tuning_default;
	struct ring ring[2];

	if (l->rig.port.active_mtu < tune.mtu)
		tune.mtu = l->rig.port.active_mtu;
	for (int i = 0; i < 2; i++) {
		l->cq[i] = rings_create_cq(l->rig.ctx, 64, NULL, &l->cq_ring);
		if (!l->cq[i])
			die("ibv_create_cq: %s", strerror(errno));
		init.send_cq = l->cq[i];
		init.recv_cq = l->cq[i];
		l->qp[i] = rings_create_qp(l->rig.pd, &init, ring);
		if (!l->qp[i])
			die("ibv_create_qp: %s", strerror(errno));
		if (!i) {
			l->rq = ring[0];
			l->sq = ring[1];
		}
	}
	for (int i = 0; i < 2; i++) {
		struct peer to = { .qpn = l->qp[!i]->qp_num, .psn = 9, .gid = l->rig.gid };
		int err = rig_connect(&l->rig, l->qp[i], &to, 9, &tune);

		if (err)
			die("connecting: %s", strerror(err));
	}
}

static void liar_drop(struct liar *l)
{
	int err = ibv_destroy_qp(l->qp[0]);

	err = err ?: ibv_destroy_qp(l->qp[1]);
	err = err ?: ibv_destroy_cq(l->cq[0]);
	err = err ?: ibv_destroy_cq(l->cq[1]);
	if (err)
		die("destroying the liar: %s", strerror(err));
}

static void tell_opcode(struct rxe_send_wqe *wqe, uint32_t opcode)
{
	wqe->wr.opcode = opcode;
}

static void tell_num_sge(struct rxe_send_wqe *wqe, uint32_t num)
{
	wqe->dma.num_sge = num;
}

static void tell_inline(struct rxe_send_wqe *wqe, uint32_t len)
{
	wqe->wr.send_flags |= IBV_SEND_INLINE;
	wqe->dma.length = len;
	wqe->dma.sge_offset = ~0u;
	wqe->dma.cur_sge = ~0u;
}

static void tell_two_lengths(struct rxe_send_wqe *wqe, uint32_t len)
{
	wqe->dma.num_sge = 2;
	wqe->dma.sge[1] = wqe->dma.sge[0];
	wqe->dma.sge[0].length = len;
	wqe->dma.sge[1].length = len;
}

static void tell_length(struct rxe_send_wqe *wqe, uint32_t len)
{
	wqe->dma.sge[0].length = len;
}

static void tell_addr_wraps(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->dma.sge[0].addr = 0xfffffffffffffc00;
	wqe->dma.sge[0].length = 4096;
}

static void tell_kernel_addr(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->dma.sge[0].addr = 0xffff888000100000;
}

static void tell_lkey_xor(struct rxe_send_wqe *wqe, uint32_t bits)
{
	wqe->dma.sge[0].lkey ^= bits;
}

static void tell_lkey_pd(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->dma.sge[0].addr = (uintptr_t)liar.other_pd.mem;
	wqe->dma.sge[0].lkey = liar.other_pd.mr->lkey;
}

static void tell_lkey_process(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->dma.sge[0].addr = (uintptr_t)parent_canary.mem;
	wqe->dma.sge[0].lkey = parent_canary.mr->lkey;
}

static void tell_read_into_pd(struct rxe_send_wqe *wqe, uint32_t arg)
{
	tell_lkey_pd(wqe, arg);
	wqe->wr.opcode = IBV_WR_RDMA_READ;
}

static void tell_remote_wraps(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->wr.wr.rdma.remote_addr = -32ull;
}

static void tell_rkey_pd(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->wr.wr.rdma.remote_addr = (uintptr_t)liar.other_pd.mem;
	wqe->wr.wr.rdma.rkey = liar.other_pd.mr->rkey;
}

static void tell_rkey_local(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->wr.wr.rdma.rkey = liar.local->rkey;
}

static void tell_read_inline(struct rxe_send_wqe *wqe, uint32_t arg)
{
	(void)arg;
	wqe->wr.opcode = IBV_WR_RDMA_READ;
	wqe->wr.send_flags |= IBV_SEND_INLINE;
}

static const struct lie {
	const char *name;
	void (*tell)(struct rxe_send_wqe *wqe, uint32_t arg);
	uint32_t arg;
	enum ibv_wc_status want;
} lies[] = {
	{ "an opcode that nobody knows", tell_opcode, 77, IBV_WC_LOC_QP_OP_ERR },
	{ "opcode 255", tell_opcode, 255, IBV_WC_LOC_QP_OP_ERR },
	{ "an opcode of 32 bits", tell_opcode, 0xffffffff, IBV_WC_LOC_QP_OP_ERR },
	{ "the kernel's REG_MR", tell_opcode, 0x20, IBV_WC_LOC_QP_OP_ERR },
	{ "the kernel's REG_MR_INTEGRITY", tell_opcode, 0x21, IBV_WC_LOC_QP_OP_ERR },
	{ "one SGE too many", tell_num_sge, 33, IBV_WC_LOC_QP_OP_ERR },
	{ "4 Gi SGEs", tell_num_sge, 0xffffffff, IBV_WC_LOC_QP_OP_ERR },
	{ "a count whose bytes wrap", tell_num_sge, 0x10000001, IBV_WC_LOC_QP_OP_ERR },
	{ "inline data of 64 KiB", tell_inline, 65536, IBV_WC_LOC_LEN_ERR },
	{ "inline data of 4 GiB", tell_inline, 0xffffffff, IBV_WC_LOC_LEN_ERR },
	{ "an inline READ", tell_read_inline, 0, IBV_WC_LOC_QP_OP_ERR },
	{ "lengths that wrap 32 bits", tell_two_lengths, 0x80000010, IBV_WC_LOC_LEN_ERR },
	{ "a length of 4 GiB", tell_length, 0xffffffff, IBV_WC_LOC_LEN_ERR },
	{ "a length beyond the region", tell_length, 0x7fffffff, IBV_WC_LOC_PROT_ERR },
	{ "an address that wraps", tell_addr_wraps, 0, IBV_WC_LOC_PROT_ERR },
	{ "a kernel address", tell_kernel_addr, 0, IBV_WC_LOC_PROT_ERR },
	{ "an lkey of nobody", tell_lkey_xor, 0x7fff00, IBV_WC_LOC_PROT_ERR },
	{ "an old lkey", tell_lkey_xor, 0x01, IBV_WC_LOC_PROT_ERR },
	{ "an lkey of another PD", tell_lkey_pd, 0, IBV_WC_LOC_PROT_ERR },
	{ "an lkey of another context", tell_lkey_process, 0, IBV_WC_LOC_PROT_ERR },
	{ "a READ into another PD", tell_read_into_pd, 0, IBV_WC_LOC_PROT_ERR },
	{ "a remote address that wraps", tell_remote_wraps, 0, IBV_WC_REM_ACCESS_ERR },
	{ "an rkey of another PD", tell_rkey_pd, 0, IBV_WC_REM_ACCESS_ERR },
	{ "an rkey without remote rights", tell_rkey_local, 0, IBV_WC_REM_ACCESS_ERR },
};

static void truth(struct liar *l, struct rxe_send_wqe *wqe)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr.wr_id = 0x11a5;
	wqe->wr.opcode = IBV_WR_RDMA_WRITE;
	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	wqe->wr.wr.rdma.remote_addr = (uintptr_t)l->buf + 4096;
	wqe->wr.wr.rdma.rkey = l->mr->rkey;
	wqe->dma.length = 64;
	wqe->dma.resid = 64;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0] = (struct rxe_sge){ (uintptr_t)l->buf, 64, l->mr->lkey };
}

/* The ring's first request is @lie, its second the truth: that is flushed. */
static void tell_one(struct liar *l, const struct lie *lie)
{
	struct ibv_wc wc[2] = { { .status = 99 }, { .status = 99 } };
	int got[2], state, err;

	liar_qps(l);
	truth(l, ring_elem(&l->sq, 0));
	truth(l, ring_elem(&l->sq, 1));
	lie->tell(ring_elem(&l->sq, 0), lie->arg);
	__atomic_store_n(&l->sq.buf->producer_index, 2, __ATOMIC_RELEASE);
	err = rings_doorbell(l->rig.ctx, l->qp[0]->handle);
	for (int i = 0; i < 2; i++)
		got[i] = rig_wait(l->cq[0], &wc[i], i ? 5000 : 20000);
	state = rings_qp_state(l->qp[0]);
	report(!err && got[0] == 1 && wc[0].status == lie->want && wc[0].wr_id == 0x11a5 &&
	       got[1] == 1 && wc[1].status == IBV_WC_WR_FLUSH_ERR && state == IBV_QPS_ERR,
	       "%s: %s, then %s, state %d", lie->name,
	       got[0] == 1 ? ibv_wc_status_str(wc[0].status) : "nothing",
	       got[1] == 1 ? ibv_wc_status_str(wc[1].status) : "nothing", state);
	liar_drop(l);
}

static void tell_no_lie(struct liar *l)
{
	struct ibv_wc wc = { .status = 99 };
	int err, n;

	liar_qps(l);
	truth(l, ring_elem(&l->sq, 0));
	__atomic_store_n(&l->sq.buf->producer_index, 1, __ATOMIC_RELEASE);
	err = rings_doorbell(l->rig.ctx, l->qp[0]->handle);
	n = rig_wait(l->cq[0], &wc, 20000);
	report(!err && n == 1 && !wc.status, "a request written by hand without a lie: %s",
	       n == 1 ? ibv_wc_status_str(wc.status) : "nothing");
	liar_drop(l);
}

/* A receive that is malformed: found when a SEND wants it. */
static void tell_receive(struct liar *l, uint32_t num_sge)
{
	struct ibv_sge sge = { (uintptr_t)l->buf, 64, l->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_wc wc[2] = { { .status = 99 }, { .status = 99 } };
	struct rxe_recv_wqe *wqe;
	int state, err, got[2];

	liar_qps(l);
	wqe = ring_elem(&l->rq, 0);
	memset(wqe, 0, sizeof(*wqe));
	wqe->dma.num_sge = num_sge;
	wqe->dma.sge[0] = (struct rxe_sge){ (uintptr_t)l->buf + 4096, 4096, l->mr->lkey };
	__atomic_store_n(&l->rq.buf->producer_index, 1, __ATOMIC_RELEASE);
	err = ibv_post_send(l->qp[1], &wr, &bad);
	got[0] = rig_wait(l->cq[0], &wc[0], 20000);
	got[1] = rig_wait(l->cq[1], &wc[1], 20000);
	state = rings_qp_state(l->qp[0]);
	report(!err && got[0] == 1 && wc[0].status == IBV_WC_LOC_QP_OP_ERR && got[1] == 1 &&
	       wc[1].status == IBV_WC_REM_OP_ERR && state == IBV_QPS_ERR,
	       "a receive of %u SGEs: %s, at the sender %s, state %d", num_sge,
	       got[0] == 1 ? ibv_wc_status_str(wc[0].status) : "nothing",
	       got[1] == 1 ? ibv_wc_status_str(wc[1].status) : "nothing", state);
	liar_drop(l);
}

void tell_lies(void)
{
	struct liar *l = &liar;

	rings_keep = NULL;
	rig_open(&l->rig, opt.dev, opt.gid);
	l->pd = ibv_alloc_pd(l->rig.ctx);
	l->buf = aligned_alloc(4096, 8192);
	l->mr = ibv_reg_mr(l->rig.pd, l->buf, 8192, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	l->local = ibv_reg_mr(l->rig.pd, l->buf, 8192, IBV_ACCESS_LOCAL_WRITE);
	if (!l->pd || !l->mr || !l->local)
		die("a PD and regions: %s", strerror(errno));
	canary_make(&l->other_pd, l->pd, 4711);
	tell_no_lie(l);
	for (unsigned int i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		tell_one(l, &lies[i]);
	tell_receive(l, MAX_SGES + 1);
	tell_receive(l, 0xffffffff);
	tell_receive(l, 0x10000001);
	report(canary_sings(&l->other_pd), "memory of another PD is untouched by lies");
	ibv_dereg_mr(l->other_pd.mr);
	ibv_dereg_mr(l->local);
	ibv_dereg_mr(l->mr);
	ibv_dealloc_pd(l->pd);
	rig_close(&l->rig);
	free(l->other_pd.mem);
	free(l->buf);
}
