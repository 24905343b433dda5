/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The runner's side of a send queue.
 *
 * Lifetime: embedded in its QP (rxe_qp.h).  A slot is filled once, by
 * rxe_sq_fetch() or by a kernel poster, and belongs to the runner until its
 * completion moves the tail past it.
 */
#ifndef SOFTROCE_RXE_SQ_H
#define SOFTROCE_RXE_SQ_H

#include "rxe_qp.h"

/* The WQE at sq->next, taken out of the ring if need be; NULL: none. */
struct rxe_swqe *rxe_sq_fetch(struct rxe_qp *qp);
/* Forget everything that is posted and not completed. */
void rxe_sq_discard(struct rxe_qp *qp);

/* Let the program use the slots up to the tail again. */
static inline void rxe_sq_show_tail(struct rxe_qp *qp)
{
	if (qp->sq.ring)
		rxe_ring_set_consumer(qp->sq.ring, qp->sq.tail);
}

static inline bool rxe_wqe_is_read(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_READ;
}

static inline bool rxe_wqe_is_atomic(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * What is done when its own answer has come, not when it is acknowledged:
 * READs, atomics, and what annex A19 adds.
 */
static inline bool rxe_wqe_non_posted(const struct rxe_swqe *wqe)
{
	return rxe_wqe_is_read(wqe) || rxe_wqe_is_atomic(wqe) ||
	       wqe->opcode == IB_WR_FLUSH || wqe->opcode == IB_WR_ATOMIC_WRITE;
}

/* What is executed here, in its turn, and takes no PSN. */
static inline bool rxe_wqe_is_local(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_BIND_MW || wqe->opcode == IB_WR_REG_MR ||
	       wqe->opcode == IB_WR_LOCAL_INV;
}

static inline bool rxe_wqe_is_send(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_SEND || wqe->opcode == IB_WR_SEND_WITH_IMM ||
	       wqe->opcode == IB_WR_SEND_WITH_INV;
}

static inline bool rxe_wqe_has_imm(const struct rxe_swqe *wqe)
{
	return wqe->opcode == IB_WR_SEND_WITH_IMM ||
	       wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

#endif
