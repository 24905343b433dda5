// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Send queues: from what a consumer posts to WQEs that can be trusted.
 *
 * A program's WQE is read here, once, and what is wrong with it becomes the
 * status it will be completed with when its turn comes.  A kernel consumer's
 * work request is checked when it is posted.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "rxe_ah.h"
#include "rxe_qp.h"
#include "rxe_sq.h"

/* What user and kernel work requests have in common. */
struct sq_wr {
	u32 opcode;
	u32 flags;
	u32 num_sge;
	u64 remote_addr;
	u32 rkey;
	__be32 imm;
	u64 compare_add;
	u64 swap;
	u32 range;
	u32 feth;
	u32 ah_num;
	u32 remote_qpn;
	u32 remote_qkey;
	struct rxe_bind bind;
	struct rxe_mr *mr;
	u32 mr_key;
	int mr_access;
};

/* What a queue pair of @type does: IBTA vol. 1, table 89. */
static bool opcode_known(enum ib_qp_type type, u32 opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return true;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_BIND_MW:
	case IB_WR_LOCAL_INV:
		return type == IB_QPT_RC || type == IB_QPT_UC;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_FLUSH:
	case IB_WR_ATOMIC_WRITE:
		return type == IB_QPT_RC;
	default:
		return false;
	}
}

/* What a kernel consumer may post: its API has no FLUSH and no BIND_MW. */
static bool kernel_opcode_known(enum ib_qp_type type, u32 opcode)
{
	switch (opcode) {
	case IB_WR_FLUSH:
	case IB_WR_BIND_MW:
		return false;
	case IB_WR_REG_MR:
		return type == IB_QPT_RC || type == IB_QPT_UC;
	default:
		return opcode_known(type, opcode);
	}
}

static void fill_slot(const struct rxe_qp *qp, struct rxe_swqe *wqe, u64 wr_id,
		      const struct sq_wr *wr)
{
	wqe->wr_id = wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->flags;
	wqe->remote_addr = wr->remote_addr;
	wqe->rkey = wr->rkey;
	wqe->imm = wr->imm;
	if (rxe_qp_is_ud(qp)) {
		wqe->ah_num = wr->ah_num;
		wqe->remote_qpn = wr->remote_qpn;
		wqe->remote_qkey = wr->remote_qkey;
	} else if (wr->opcode == IB_WR_BIND_MW) {
		wqe->bind = wr->bind;
	} else if (wr->opcode == IB_WR_REG_MR) {
		wqe->mr = wr->mr;
		wqe->mr_key = wr->mr_key;
		wqe->mr_access = wr->mr_access;
	} else {
		wqe->compare_add = wr->compare_add;
		wqe->swap = wr->swap;
	}
	wqe->range = wr->range;
	wqe->feth = wr->feth;
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->numbered = false;
	wqe->status = IB_WC_SUCCESS;
}

/* Sum up and store the list; the lengths are the consumer's. */
static int set_sges(struct rxe_swqe *wqe, const struct ib_sge *sge, u32 num)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < num; i++)
		total += sge[i].length;
	if (total > RXE_MAX_MSG_SZ)
		return IB_WC_LOC_LEN_ERR;
	wqe->num_sge = num;
	wqe->length = total;
	memcpy(wqe->data, sge, num * sizeof(*sge));
	if (!rxe_wqe_is_atomic(wqe) && wqe->opcode != IB_WR_ATOMIC_WRITE)
		return IB_WC_SUCCESS;
	/* Eight bytes in one place, which may be larger (10.7.2.3). */
	if (num != 1 || total < sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	wqe->length = sizeof(u64);
	return IB_WC_SUCCESS;
}

/* Which operations can have their data in the WQE? */
static bool may_inline(u32 opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

/* ---- programs ---- */

/* The list of an ATOMIC WRITE is empty: the value is where it would stand. */
static int take_value(const struct rxe_sq *sq, struct rxe_swqe *wqe, const u8 *tail)
{
	if (sq->max_inline < sizeof(u64))
		return IB_WC_LOC_QP_OP_ERR;
	memcpy(wqe->data, tail, sizeof(u64));
	wqe->length = sizeof(u64);
	wqe->flags |= IB_SEND_INLINE;
	return IB_WC_SUCCESS;
}

static int check_user_wqe(const struct rxe_qp *qp, struct rxe_swqe *wqe,
			  const struct rxe_send_wqe *in, const u8 *tail)
{
	const struct rxe_sq *sq = &qp->sq;
	u32 num = in->dma.num_sge;
	u32 len = in->dma.length;

	if (!opcode_known(qp->ibqp.qp_type, in->wr.opcode))
		return IB_WC_LOC_QP_OP_ERR;
	if (in->wr.opcode == IB_WR_FLUSH || rxe_wqe_is_local(wqe))
		return IB_WC_SUCCESS;
	if (in->wr.opcode == IB_WR_ATOMIC_WRITE &&
	    (!num || in->wr.send_flags & IB_SEND_INLINE))
		return take_value(sq, wqe, tail);
	if (in->wr.send_flags & IB_SEND_INLINE) {
		if (!may_inline(in->wr.opcode))
			return IB_WC_LOC_QP_OP_ERR;
		if (len > sq->max_inline)
			return IB_WC_LOC_LEN_ERR;
		memcpy(wqe->data, tail, len);
		wqe->length = len;
		return IB_WC_SUCCESS;
	}
	if (num > sq->max_sge)
		return IB_WC_LOC_QP_OP_ERR;
	BUILD_BUG_ON(sizeof(struct rxe_sge) != sizeof(struct ib_sge));
	/* The copy in the slot is checked, not the ring. */
	memcpy(wqe->data, tail, num * sizeof(struct ib_sge));
	return set_sges(wqe, (const struct ib_sge *)wqe->data, num);
}

/* Where an operation's numbers stand depends on it. */
static void read_wr(const struct rxe_qp *qp, const struct rxe_send_wr *in,
		    struct sq_wr *wr)
{
	*wr = (struct sq_wr){
		.opcode = in->opcode,
		.flags = in->send_flags,
		.imm = in->ex.imm_data,
	};
	if (rxe_qp_is_ud(qp)) {
		/* The address vector beside them is not looked at. */
		wr->ah_num = in->wr.ud.ah_num;
		wr->remote_qpn = in->wr.ud.remote_qpn;
		wr->remote_qkey = in->wr.ud.remote_qkey;
		return;
	}
	switch (in->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wr->remote_addr = in->wr.atomic.remote_addr;
		wr->rkey = in->wr.atomic.rkey;
		wr->compare_add = in->wr.atomic.compare_add;
		wr->swap = in->wr.atomic.swap;
		break;
	case IB_WR_FLUSH:
		wr->remote_addr = in->wr.flush.remote_addr;
		wr->rkey = in->wr.flush.rkey;
		wr->range = in->wr.flush.length;
		wr->feth = (in->wr.flush.level & 3) << 4 |
			   (in->wr.flush.type & 15);
		break;
	case IB_WR_BIND_MW:
		wr->bind = (struct rxe_bind){
			.mw_rkey = in->wr.mw.mw_rkey,
			.new_rkey = in->wr.mw.rkey,
			.mr_lkey = in->wr.mw.mr_lkey,
			.access = in->wr.mw.access,
			.addr = in->wr.mw.addr,
			.length = in->wr.mw.length,
		};
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wr->rkey = in->ex.invalidate_rkey;
		break;
	default:
		wr->remote_addr = in->wr.rdma.remote_addr;
		wr->rkey = in->wr.rdma.rkey;
	}
}

struct rxe_swqe *rxe_sq_fetch(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;
	struct rxe_swqe *wqe;
	struct rxe_send_wqe in;
	struct sq_wr wr;
	const u8 *elem;

	/* Kernel posters fill a slot before they move the head past it. */
	if (sq->next != smp_load_acquire(&sq->head))
		return rxe_sq_slot(sq, sq->next);
	if (!sq->ring)
		return NULL;
	if (rxe_ring_producer(sq->ring) == (sq->head & sq->mask))
		return NULL;
	/* A lying index cannot make more than a ring full of WQEs. */
	if (sq->head - sq->tail >= sq->mask)
		return NULL;

	elem = rxe_ring_elem(sq->ring, sq->head);
	memcpy(&in, elem, sizeof(in));
	/* The compiler must not go back to the ring for a member of in. */
	barrier_data(&in);

	read_wr(qp, &in.wr, &wr);
	wqe = rxe_sq_slot(sq, sq->head);
	fill_slot(qp, wqe, in.wr.wr_id, &wr);
	wqe->status = check_user_wqe(qp, wqe, &in,
				     elem + sizeof(struct rxe_send_wqe));
	sq->head++;
	return wqe;
}

void rxe_sq_discard(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;
	unsigned long flags;

	spin_lock_irqsave(&sq->lock, flags);
	if (sq->ring)
		sq->head += (rxe_ring_producer(sq->ring) - sq->head) & sq->mask;
	sq->next = sq->head;
	sq->tail = sq->head;
	spin_unlock_irqrestore(&sq->lock, flags);
	rxe_sq_show_tail(qp);
}

/* ---- kernel consumers ---- */

static int fill_kernel_wqe(struct rxe_qp *qp, const struct ib_send_wr *wr)
{
	struct rxe_sq *sq = &qp->sq;
	struct rxe_swqe *wqe = rxe_sq_slot(sq, sq->head);
	struct sq_wr in = {
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.imm = wr->ex.imm_data,
	};
	u8 *to = wqe->data;
	u64 total = 0;
	int i;

	if (!kernel_opcode_known(qp->ibqp.qp_type, wr->opcode) ||
	    wr->num_sge < 0 || wr->num_sge > sq->max_sge)
		return -EINVAL;
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		if (!rxe_qp_is_ud(qp))
			break;
		/* Each request says under which P_Key; there is one. */
		if (rxe_qp_is_gsi(qp) &&
		    ud_wr(wr)->pkey_index >= RXE_PKEY_TABLE_LEN)
			return -EINVAL;
		if (ud_wr(wr)->ah)
			in.ah_num = to_rxe_ah(ud_wr(wr)->ah)->entry->num;
		/* What is flushed goes nowhere: ib_drain_sq(). */
		else if (READ_ONCE(qp->state) != IB_QPS_ERR)
			return -EINVAL;
		in.remote_qpn = ud_wr(wr)->remote_qpn;
		in.remote_qkey = ud_wr(wr)->remote_qkey;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		in.rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_REG_MR:
		in.mr = container_of(reg_wr(wr)->mr, struct rxe_mr, ibmr);
		/* Fast registration makes such a one, no other verb does. */
		if (!in.mr->max_next)
			return -EINVAL;
		in.mr_key = reg_wr(wr)->key;
		in.mr_access = reg_wr(wr)->access;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		in.remote_addr = atomic_wr(wr)->remote_addr;
		in.rkey = atomic_wr(wr)->rkey;
		in.compare_add = atomic_wr(wr)->compare_add;
		in.swap = atomic_wr(wr)->swap;
		break;
	default:
		in.remote_addr = rdma_wr(wr)->remote_addr;
		in.rkey = rdma_wr(wr)->rkey;
	}
	fill_slot(qp, wqe, wr->wr_id, &in);
	if (!(wr->send_flags & IB_SEND_INLINE))
		return set_sges(wqe, wr->sg_list, wr->num_sge) ? -EINVAL : 0;

	if (!may_inline(wr->opcode))
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		total += sge->length;
		if (total > sq->max_inline)
			return -EINVAL;
		/* Inline data of the kernel is at a kernel address. */
		memcpy(to, (void *)(uintptr_t)sge->addr, sge->length);
		to += sge->length;
	}
	wqe->length = total;
	return 0;
}

static int post_kernel(struct rxe_qp *qp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
	struct rxe_sq *sq = &qp->sq;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&sq->lock, flags);
	for (; wr; wr = wr->next) {
		if (sq->head - READ_ONCE(sq->tail) >= sq->max_wr)
			err = -ENOMEM;
		else
			err = fill_kernel_wqe(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		/* The WQE before the index that shows it. */
		smp_store_release(&sq->head, sq->head + 1);
	}
	spin_unlock_irqrestore(&sq->lock, flags);
	return err;
}

/* ---- the verb ---- */

/* The doorbell rang too early: what it announced never runs. */
static int refuse_doorbell(struct rxe_qp *qp)
{
	rxe_run_own(qp);
	if (qp->state < IB_QPS_RTS)
		rxe_sq_discard(qp);
	rxe_run_disown(qp);
	return -EINVAL;
}

/**
 * rxe_post_send - post work requests, or ring a program's doorbell
 * @ibqp: the queue pair
 * @wr: kernel consumer: list of work requests; program: NULL, they are in the
 *	ring
 * @bad_wr: the first one that was not taken, with an error
 *
 * The requester runs in the caller's context where that is possible.  What is
 * posted in SQD waits; in SQE and ERR it is flushed.
 *
 * Context: any for kernel consumers, process for programs.
 * Return: 0; -EINVAL in RESET, INIT and RTR or for a malformed work request;
 * -ENOMEM when the queue is full.
 */
int rxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	int err = 0;

	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad_wr = wr;
		return qp->is_user ? refuse_doorbell(qp) : -EINVAL;
	}
	if (qp->is_user) {
		rxe_run_task(qp);
		return 0;
	}
	err = post_kernel(qp, wr, bad_wr);
	if (irqs_disabled() || in_hardirq()) {
		tasklet_schedule(&qp->tasklet);
		return err;
	}
	local_bh_disable();
	rxe_run_bh(qp);
	local_bh_enable();
	return err;
}

/* ---- making and freeing ---- */

int rxe_sq_init(struct rxe_qp *qp, const struct ib_qp_cap *cap)
{
	struct rxe_sq *sq = &qp->sq;
	u32 tail = max_t(u32, cap->max_send_sge * sizeof(struct ib_sge),
			 cap->max_inline_data);

	spin_lock_init(&sq->lock);
	sq->max_wr = max_t(u32, cap->max_send_wr, 1);
	sq->max_sge = max_t(u32, cap->max_send_sge,
			    tail / sizeof(struct ib_sge));
	sq->max_sge = min_t(u32, sq->max_sge, RXE_MAX_SGE);
	sq->max_inline = max_t(u32, tail, sq->max_sge * sizeof(struct ib_sge));
	sq->slot_size = ALIGN(sizeof(struct rxe_swqe) + sq->max_inline, 8);
	/* As many slots as the ring has elements: the indexes are one. */
	sq->mask = roundup_pow_of_two(sq->max_wr + 1) - 1;
	sq->slot = rxe_alloc_sized(sq->mask + 1, sq->slot_size, __GFP_ZERO);
	if (!sq->slot)
		return -ENOMEM;
	if (!qp->is_user)
		return 0;
	sq->ring = rxe_ring_alloc(sq->max_wr, sizeof(struct rxe_send_wqe) +
				  sq->max_inline);
	if (!sq->ring)
		goto free_slots;
	if (sq->ring->mask != sq->mask)
		goto put_ring;
	return 0;

put_ring:
	rxe_ring_put(sq->ring);
	sq->ring = NULL;
free_slots:
	kvfree(sq->slot);
	sq->slot = NULL;
	return -ENOMEM;
}

void rxe_sq_free(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;

	if (sq->ring)
		rxe_ring_put(sq->ring);
	sq->ring = NULL;
	kvfree(sq->slot);
	sq->slot = NULL;
}
