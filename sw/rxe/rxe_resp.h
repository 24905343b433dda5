/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Between the parts of the responder. */
#ifndef SOFTROCE_RXE_RESP_H
#define SOFTROCE_RXE_RESP_H

#include "rxe_qp.h"

/* What a datagram's receive has before the payload. */
#define RXE_GRH_LEN 40

/* What is asked for this often is answered without trains. */
#define RXE_RD_SINGLE 3

/* What a requester waits for the answer of: rxe_wqe_non_posted(). */
#define RXE_OP_NON_POSTED                                                      \
	(RXE_OP_READ_REQ | RXE_OP_ATOMIC | RXE_OP_ATOMIC_WRITE | RXE_OP_FLUSH)

/* Requests that are being answered. */
static inline u32 rxe_resp_jobs(const struct rxe_qp *qp)
{
	return qp->resp.job_head - qp->resp.job_tail;
}

/* rxe_resp_job.c */
/*
 * Room for @size from now on, in @res, which is empty and has @slots for at least
 * those that are being answered; takes it and frees the old.  What was answered
 * can be answered again, the newest as far as there is room.
 */
void rxe_resp_move(struct rxe_qp *qp, struct rxe_rd_res *res, u32 slots, u32 size);
/* A new non-posted request, in order. 0, or the NAK syndrome. */
u8 rxe_resp_non_posted(struct rxe_qp *qp, const struct rxe_pkt *pkt);
/* One that was executed before: answer again. */
void rxe_resp_non_posted_again(struct rxe_qp *qp, const struct rxe_pkt *pkt);
/* Go on answering; true: the budget ended it. */
bool rxe_resp_jobs_work(struct rxe_qp *qp, struct rxe_budget *b);

/* rxe_resp_atomic.c */
/*
 * Do what an atomic, an ATOMIC WRITE or a FLUSH asks for.  @orig: the value
 * before an atomic.  Return 0, or the NAK syndrome: nothing was done.
 */
u8 rxe_resp_execute(struct rxe_qp *qp, const struct rxe_pkt *pkt, u64 *orig);

static inline bool rxe_resp_jobs_pending(const struct rxe_qp *qp)
{
	return rxe_resp_jobs(qp);
}

/* rxe_resp.c */
/* Answer with @syndrome when the READs before it are answered. */
void rxe_resp_reply(struct rxe_qp *qp, u8 syndrome);
/* The same, then the QP goes to ERR and its owner hears of @event. */
void rxe_resp_fatal(struct rxe_qp *qp, u8 syndrome, enum ib_event_type event);
/* AETH syndrome of an ACK: the receives that are posted. */
u8 rxe_resp_credits(const struct rxe_qp *qp);

#endif
