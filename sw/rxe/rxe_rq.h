/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Receive queues.
 *
 * Lifetime: embedded in its QP.  @lock is for kernel posters among themselves
 * (IRQs may be off); the one consumer is the QP's runner.
 */
#ifndef SOFTROCE_RXE_RQ_H
#define SOFTROCE_RXE_RQ_H

#include "rxe.h"
#include "rxe_ring.h"

struct rxe_qp;

struct rxe_rq {
	struct rxe_ring *ring;
	u32 max_wr;
	u32 max_sge;
	spinlock_t lock;
	/* Kernel posters' own producer index, masked. */
	u32 producer;
};

/* A receive WQE, copied out of the ring and checked. */
struct rxe_rwqe {
	u64 wr_id;
	u32 num_sge;
	u64 len;
	struct ib_sge sge[RXE_MAX_SGE];
};

/* rxe_rq.c; room is made by rxe_qp.c */
int rxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
/*
 * Take the oldest receive WQE; the runner's.  0; -ENOENT: none is posted;
 * -EINVAL: malformed (num_sge beyond max_sge): @wqe->wr_id is set, it has been
 * consumed, the QP has to go to ERR.
 */
int rxe_rq_take(struct rxe_qp *qp, struct rxe_rwqe *wqe);
/* Number of posted WQEs as the ring tells, 0 to max_wr: a hint. */
u32 rxe_rq_posted(const struct rxe_qp *qp);

#endif
