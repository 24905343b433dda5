/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The runner: one at a time does everything that happens to a QP, in whatever
 * context the need arose, with bottom halves off.
 *
 * rxe_qp.run is IDLE, BUSY (somebody runs) or AGAIN (somebody runs and has to
 * look once more).  Whoever has work for a QP leaves it where the runner looks
 * (receive queue, todo bits, ring) and calls rxe_run(): it either becomes the
 * runner or has made sure that the runner sees the work.  No lock is held
 * across the work, and nobody ever waits for a runner but those who change
 * attributes, ring the bell too early or destroy (rxe_run_own()): they sleep,
 * and a runner only learns of them when it is told to look again.
 *
 * Packets that leave from two processors may overtake each other: lo, veth and
 * devices of many queues have a queue for each, and go-back-N takes what was
 * overtaken for lost.  So requests leave from one processor as long as any is
 * without answer, and packets are handled where they came in, requests answered
 * there as well: the peer, which does the same, moves only when it has all
 * answers.  A runner on another processor leaves such work, and calls that one.
 *
 * A run looks again as long as there is work, a few times, and ends when one of
 * receiving, answering and requesting has spent RXE_RUN_BYTES or RXE_RUN_WQES.
 * A task then lets bottom halves and others go first and goes on; all other
 * contexts leave the rest to the QP's tasklet.
 */
#ifndef SOFTROCE_RXE_RUN_H
#define SOFTROCE_RXE_RUN_H

#include <linux/types.h>

struct rxe_qp;
struct sk_buff;

#define RXE_RUN_BYTES (128 * 1024)
#define RXE_RUN_WQES 32

/* What is left of a run. */
struct rxe_budget {
	int bytes;
	int wqes;
};

static inline bool rxe_budget_left(const struct rxe_budget *b)
{
	return b->bytes > 0 && b->wqes > 0;
}

void rxe_run_init(struct rxe_qp *qp);
/*
 * Run @qp if nobody does. BH off.
 * Return true when the budget ended it and the caller, a task, should call
 * again; others use rxe_run_bh().
 */
bool rxe_run(struct rxe_qp *qp);
/* The same for softirqs: what is left goes on in the tasklet. */
void rxe_run_bh(struct rxe_qp *qp);
/* The same for a task with bottom halves and interrupts on. */
void rxe_run_task(struct rxe_qp *qp);
/* A received skb with its rxe_rx_cb; consumes it. BH off. */
void rxe_run_rx(struct rxe_qp *qp, struct sk_buff *skb);

/* Be the runner, to change what is the runner's own. May sleep. */
void rxe_run_own(struct rxe_qp *qp);
/* Stop being it, and run what came meanwhile. */
void rxe_run_disown(struct rxe_qp *qp);
/* For good: no timer, tasklet or packet touches the QP's state afterwards. */
void rxe_run_stop(struct rxe_qp *qp);
/* Throw away packets that wait; as the runner. */
void rxe_run_purge(struct rxe_qp *qp);

/* All packets of a received skb; takes it. */
void rxe_run_skb(struct rxe_qp *qp, struct sk_buff *skb);

/* The ACK timer: progress was made, or there is nothing to wait for. */
void rxe_run_ack_timer(struct rxe_qp *qp, u64 delay_ns);
void rxe_run_ack_timer_off(struct rxe_qp *qp);
void rxe_run_timers_off(struct rxe_qp *qp);
/* Not before @delay_ns: RXE_TODO_RNR. */
void rxe_run_rnr_timer(struct rxe_qp *qp, u64 delay_ns);

/* rxe_req.c */
/* Send what may be sent; true: the budget ended it. */
bool rxe_req_work(struct rxe_qp *qp, struct rxe_budget *b);
/* Has the queue drained in SQD? */
void rxe_req_check_drained(struct rxe_qp *qp);
/* No request is on its way: the next ones may leave from another processor. */
bool rxe_req_may_move(const struct rxe_qp *qp);
/* Is there something that could be sent, or will when an answer comes? */
bool rxe_req_pending(struct rxe_qp *qp);
/* Send again all that has no answer. */
void rxe_req_rewind(struct rxe_qp *qp);
/* Complete all send WQEs with a flush error; true: the budget ended it. */
bool rxe_req_flush(struct rxe_qp *qp, struct rxe_budget *b);
void rxe_req_reset(struct rxe_qp *qp);

/* rxe_comp.c */
struct rxe_pkt;
struct rxe_swqe;
void rxe_comp_pkt(struct rxe_qp *qp, struct rxe_pkt *pkt);
void rxe_comp_timeout(struct rxe_qp *qp);
void rxe_comp_rnr_timer(struct rxe_qp *qp);
/* The oldest WQE is done. */
void rxe_comp_wqe(struct rxe_qp *qp, int status);
/* What was executed here and waits for nothing any more is done. */
void rxe_comp_locals(struct rxe_qp *qp);
/* All that was sent is done: UC, UD. */
void rxe_comp_sent(struct rxe_qp *qp);
/* It failed: complete it so; the QP is in ERR, or in SQE (UC, UD). */
void rxe_comp_fail(struct rxe_qp *qp, int status);
/* End of a run of packets: give back what was held. */
void rxe_comp_end(struct rxe_qp *qp);
/* Into ERR, from whatever cause; the run flushes. */
void rxe_qp_to_err(struct rxe_qp *qp);

/* rxe_resp.c */
void rxe_resp_pkt(struct rxe_qp *qp, struct rxe_pkt *pkt);
void rxe_resp_end(struct rxe_qp *qp);
/* Answer READs, then what else is due; true: the budget ended it. */
bool rxe_resp_work(struct rxe_qp *qp, struct rxe_budget *b);
/* Is anything to be answered? */
bool rxe_resp_due(const struct rxe_qp *qp);
bool rxe_resp_flush(struct rxe_qp *qp, struct rxe_budget *b);
void rxe_resp_reset(struct rxe_qp *qp);

#endif
