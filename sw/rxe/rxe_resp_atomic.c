// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The responder's atomics (IBTA vol. 1, 9.4.5), ATOMIC WRITE and FLUSH (annex
 * A19).  They are the processor's own, so that they are atomic towards whatever
 * else touches the memory: other links of this machine, and its programs.  Said is
 * less, IB_ATOMIC_HCA: many programs take no other word for atomics.
 */
#include <linux/atomic.h>
#include <rdma/ib_user_verbs.h>
#include "rxe_mw.h"
#include "rxe_qp.h"
#include "rxe_resp.h"

/* FETH: A19.4.1 */
#define FETH_PLACEMENT(feth) ((feth) & 0x0f)
#define FETH_SELECTIVITY(feth) ((feth) >> 4 & 0x03)

/*
 * Eight bytes that the packet names, with their region held; NULL, and *@nak
 * says why not.
 */
static atomic64_t *target(struct rxe_qp *qp, const struct rxe_pkt *pkt,
			  int access, struct rxe_grant *grant, u8 *nak)
{
	u32 len = sizeof(u64);
	void *addr;

	*nak = RXE_NAK_INV_REQ;
	if (pkt->va % sizeof(u64))
		return NULL;
	*nak = RXE_NAK_REM_ACC;
	if (!(qp->attr.qp_access_flags & access))
		return NULL;
	if (!rxe_rkey_get(qp, pkt->rkey, access, pkt->va, len, grant))
		return NULL;
	addr = rxe_mr_piece(grant->mr, pkt->va, &len);
	/* An address that is aligned in the region only. */
	if (len == sizeof(u64) && IS_ALIGNED((uintptr_t)addr, sizeof(u64)))
		return addr;
	rxe_grant_put(grant);
	*nak = RXE_NAK_INV_REQ;
	return NULL;
}

static u8 do_atomic(struct rxe_qp *qp, const struct rxe_pkt *pkt, u64 *orig)
{
	struct rxe_grant grant;
	atomic64_t *at;
	u8 nak;

	at = target(qp, pkt, IB_ACCESS_REMOTE_ATOMIC, &grant, &nak);
	if (!at)
		return nak;
	if (pkt->opcode == IB_OPCODE_RC_COMPARE_SWAP)
		*orig = atomic64_cmpxchg(at, pkt->compare, pkt->swap_add);
	else
		*orig = atomic64_fetch_add(pkt->swap_add, at);
	rxe_grant_put(&grant);
	return 0;
}

static u8 do_atomic_write(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_grant grant;
	atomic64_t *at;
	u64 value;
	u8 nak;

	if (pkt->len != sizeof(value) || pkt->dmalen != sizeof(value) ||
	    skb_copy_bits(pkt->skb, pkt->payload, &value, sizeof(value)))
		return RXE_NAK_INV_REQ;
	at = target(qp, pkt, IB_ACCESS_REMOTE_WRITE, &grant, &nak);
	if (!at)
		return nak;
	/* Bytes, as they came; what was written before is seen before. */
	atomic64_set_release(at, value);
	rxe_grant_put(&grant);
	return 0;
}

/*
 * Memory of this machine is what everything here sees: to make what was written
 * visible everywhere takes no more than an order.
 */
static u8 do_flush(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	const int access = IB_ACCESS_FLUSH_GLOBAL;
	struct rxe_mr *mr;

	if (FETH_SELECTIVITY(pkt->feth) > IB_FLUSH_MR)
		return RXE_NAK_INV_REQ;
	if (FETH_PLACEMENT(pkt->feth) != IB_FLUSH_GLOBAL ||
	    !(qp->attr.qp_access_flags & access))
		return RXE_NAK_REM_ACC;
	if (FETH_SELECTIVITY(pkt->feth) == IB_FLUSH_RANGE && !pkt->dmalen)
		return 0;
	if (FETH_SELECTIVITY(pkt->feth) == IB_FLUSH_MR)
		mr = rxe_mr_get_whole(qp->pd, pkt->rkey, access);
	else
		mr = rxe_mr_get(qp->pd, pkt->rkey, access, pkt->va, pkt->dmalen);
	if (!mr)
		return RXE_NAK_REM_ACC;
	rxe_mr_put(mr);
	/* All that came before is visible before the answer is. */
	smp_mb();
	return 0;
}

u8 rxe_resp_execute(struct rxe_qp *qp, const struct rxe_pkt *pkt, u64 *orig)
{
	if (pkt->op->flags & RXE_OP_ATOMIC)
		return do_atomic(qp, pkt, orig);
	if (pkt->op->flags & RXE_OP_ATOMIC_WRITE)
		return do_atomic_write(qp, pkt);
	return do_flush(qp, pkt);
}
