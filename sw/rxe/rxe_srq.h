/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Shared receive queues.
 *
 * Lifetime: the core allocates and frees the memory around create_srq and
 * destroy_srq; a queue pair on it keeps it (usecnt), so one that dies has no
 * consumer left.  Its ring is exchanged by modify_srq, under the queue's lock,
 * and dies when all that it held has been moved (rxe_ring.h).
 */
#ifndef SOFTROCE_RXE_SRQ_H
#define SOFTROCE_RXE_SRQ_H

#include <linux/mutex.h>
#include <linux/workqueue.h>
#include "rxe.h"
#include "rxe_rq.h"

/**
 * struct rxe_srq - a shared receive queue
 * @pd: whose regions its receives may name, whatever the queue pair's PD
 * @rq: the queue; its lock is the consumers' as well, IRQs off
 * @move: what its ring is to get from the one before it; with its lock
 * @resize_mutex: one ring at a time is exchanged
 * @limit: with fewer WQEs than this its owner is told, once; 0: not armed
 * @event_work: tells a kernel owner
 */
struct rxe_srq {
	struct ib_srq ibsrq;
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	struct rxe_rq rq;
	u32 limit;
	struct rxe_move move;
	struct mutex resize_mutex;
	bool is_user;
	struct work_struct event_work;
};

static inline struct rxe_srq *to_rxe_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct rxe_srq, ibsrq);
}

int rxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata);
int rxe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata);
int rxe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int rxe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int rxe_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);
/*
 * Parts of rxe_modify_srq().  Receives are taken from the ring of @new, and the
 * one before is the caller's when what is posted there has been moved, piece by
 * piece.  With the mutex.  Return 0, or -EINVAL: it does not fit.
 */
int rxe_srq_switch(struct rxe_srq *srq, const struct rxe_rq *new);
/* Return false when nothing is left to be moved. */
bool rxe_srq_move_piece(struct rxe_srq *srq);
/* As rxe_rq_take(), for any queue pair on it. BH off. */
int rxe_srq_take(struct rxe_srq *srq, struct rxe_rwqe *wqe, u32 need);

#endif
