/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Completion queues.
 *
 * Lifetime: made and freed by the core around create_cq/destroy_cq.  A QP
 * holds its CQs (the core's usecnt), so a CQ that dies has no producer left;
 * destroy waits for its notification work.
 */
#ifndef SOFTROCE_RXE_CQ_H
#define SOFTROCE_RXE_CQ_H

#include <linux/interrupt.h>
#include <linux/mutex.h>
#include "rxe.h"
#include "rxe_ring.h"

/**
 * struct rxe_cq - a completion queue
 * @lock: the ring and what follows; interrupts off, since poll_cq and
 *	req_notify may come from anywhere
 * @ring: user CQs hold struct ib_uverbs_wc, kernel CQs struct ib_wc
 * @move: what @ring is to get from the one before it
 * @notify: armed for: 0, IB_CQ_SOLICITED or IB_CQ_NEXT_COMP
 * @dead: it overflowed (IBV_EVENT_CQ_ERR sent once); takes nothing any more
 * @comp_due: and @err_due: what @tasklet has to tell
 * @resize_mutex: one ring at a time is exchanged
 * @tasklet: runs the handlers of kernel CQs, which never run inside a verb
 */
struct rxe_cq {
	struct ib_cq ibcq;
	struct rxe_dev *rxe;
	/* The ring and what is below it. */
	spinlock_t lock;
	struct rxe_ring *ring;
	struct rxe_move move;
	u8 notify;
	bool dead;
	bool is_user;
	bool comp_due;
	bool err_due;
	struct mutex resize_mutex;
	struct tasklet_struct tasklet;
};

static inline struct rxe_cq *to_rxe_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct rxe_cq, ibcq);
}

int rxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs);
int rxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int rxe_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int rxe_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int rxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/*
 * Parts of rxe_resize_cq().  Completions go to @to, and the ring they went to is
 * the caller's when all that was not polled has been moved, piece by piece.  With
 * the mutex.  Return 0, or -EINVAL: what is there does not fit in @to.
 */
int rxe_cq_switch(struct rxe_cq *cq, struct rxe_ring *to);
/* Return false when nothing is left to be moved. */
bool rxe_cq_move_piece(struct rxe_cq *cq);

/*
 * Add a completion (@wc with qp, wr_id, status, opcode, byte_len, imm_data,
 * wc_flags, src_qp set; the CQ translates for users).  @solicited: wakes who
 * waits for solicited completions; an error status always does.
 * Any context with BH off.
 * Return 0, or -ENOSPC: it is full or dead; the caller's QP has to go to ERR.
 */
int rxe_cq_post(struct rxe_cq *cq, const struct ib_wc *wc, bool solicited);

#endif
