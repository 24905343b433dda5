/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Receive queues.
 *
 * Lifetime: embedded in its QP or SRQ.  @lock is for kernel posters among
 * themselves (IRQs may be off).  The one consumer of a QP's own is its runner,
 * those of an SRQ's take the lock as well.
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

/* Room for @max_wr receives, or more up to @limit; 0 or -ENOMEM. */
int rxe_rq_init(struct rxe_rq *rq, u32 max_wr, u32 max_sge, u32 limit);
/* A kernel consumer's receives. Any context. 0, -EINVAL or -ENOMEM. */
int rxe_rq_post(struct rxe_rq *rq, const struct ib_recv_wr *wr,
		const struct ib_recv_wr **bad_wr);
int rxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
/*
 * Take the oldest receive WQE; the runner's.  0; -ENOENT: none is posted;
 * -EMSGSIZE: it has no room for @need bytes, and stays;
 * -EINVAL: malformed (num_sge beyond max_sge): @wqe->wr_id is set, it has been
 * consumed, the QP has to go to ERR.
 */
int rxe_rq_take(struct rxe_qp *qp, struct rxe_rwqe *wqe, u32 need);
/* The same of one queue, by its consumer. */
int rxe_rq_take_from(struct rxe_rq *rq, struct rxe_rwqe *wqe, u32 need);
/* Number of posted WQEs as the ring tells, 0 to max_wr: a hint. */
u32 rxe_rq_count(const struct rxe_rq *rq);

#endif
