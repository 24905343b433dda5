// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The runner of a QP, its timers and its queue of received packets.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include "rxe_qp.h"

enum {
	RUN_IDLE,
	RUN_BUSY,
	RUN_AGAIN,
};

/* A stranger can fill no more memory than this with packets for one QP. */
#define RXE_RXQ_BYTES (8 * 1024 * 1024)
/*
 * Runs of a task in one verb: what others keep adding to is not its to finish.
 */
#define RXE_TASK_ROUNDS 16
/* Passes of one run while others keep asking for another. */
#define RXE_RUN_PASSES 8

void rxe_run_skb(struct rxe_qp *qp, struct sk_buff *skb)
{
	struct rxe_rx_cb *cb = rxe_rx_cb(skb);
	struct rxe_pkt pkt;

	while (cb->len) {
		u32 len = min(cb->len, cb->seg_len);

		if (!rxe_pkt_parse(&pkt, skb, cb->off, len)) {
			if (rxe_early_hold(qp, &pkt))
				return;
			if (pkt.op->flags & RXE_OP_RESPONSE)
				rxe_comp_pkt(qp, &pkt);
			else
				rxe_resp_pkt(qp, &pkt);
		}
		cb->off += len;
		cb->len -= len;
	}
	consume_skb(skb);
}

static struct sk_buff *next_rx(struct rxe_qp *qp)
{
	struct sk_buff *skb;

	spin_lock(&qp->rxq.lock);
	skb = __skb_dequeue(&qp->rxq);
	if (skb)
		qp->rxq_bytes -= skb->truesize;
	spin_unlock(&qp->rxq.lock);
	return skb;
}

/* Handle received packets; true: the budget ended it. */
static bool run_rx(struct rxe_qp *qp, bool *any)
{
	int bytes = RXE_RUN_BYTES;
	struct sk_buff *skb;

	*any = false;
	while (bytes > 0 && !skb_queue_empty_lockless(&qp->rxq)) {
		skb = next_rx(qp);
		if (!skb)
			break;
		bytes -= skb->len;
		*any = true;
		rxe_run_skb(qp, skb);
		rxe_early_release(qp);
	}
	rxe_comp_end(qp);
	rxe_resp_end(qp);
	return bytes <= 0 && !skb_queue_empty_lockless(&qp->rxq);
}

/*
 * Packets that leave from two processors may overtake each other: lo, veth and
 * devices of many queues have one for each.  So while requests are on their
 * way, others follow from where the last one left, or where an answer came in;
 * elsewhere they wait for the next answer, which has been asked for.
 */
static bool may_send_here(const struct rxe_qp *qp, bool answered)
{
	return answered || qp->req.una == qp->req.psn ||
	       smp_processor_id() == qp->req.tx_cpu;
}

/* One pass; true when the budget ended it. */
static bool run_pass(struct rxe_qp *qp)
{
	/* Neither side starves the other. */
	struct rxe_budget req = { RXE_RUN_BYTES, RXE_RUN_WQES };
	struct rxe_budget resp = req;
	bool answered;
	bool more = run_rx(qp, &answered);

	if (test_and_clear_bit(RXE_TODO_EARLY, &qp->todo))
		rxe_early_expire(qp);
	if (test_and_clear_bit(RXE_TODO_TIMEOUT, &qp->todo))
		rxe_comp_timeout(qp);
	if (test_and_clear_bit(RXE_TODO_RNR, &qp->todo))
		rxe_comp_rnr_timer(qp);

	more |= rxe_resp_work(qp, &resp);
	if (may_send_here(qp, answered))
		more |= rxe_req_work(qp, &req);
	if (qp->state == IB_QPS_ERR) {
		more |= rxe_req_flush(qp, &req);
		more |= rxe_resp_flush(qp, &resp);
	}
	return more;
}

bool rxe_run(struct rxe_qp *qp)
{
	int passes = 0;

	if (atomic_xchg(&qp->run, RUN_AGAIN) != RUN_IDLE)
		return false;
	do {
		/* Who waits for ownership runs the rest when it is done. */
		if (atomic_read(&qp->wanted)) {
			atomic_set_release(&qp->run, RUN_IDLE);
			return false;
		}
		atomic_set(&qp->run, RUN_BUSY);
		smp_mb();	/* RUN_BUSY before looking for work */
		if (run_pass(qp) || ++passes == RXE_RUN_PASSES) {
			atomic_set_release(&qp->run, RUN_IDLE);
			return true;
		}
	} while (atomic_cmpxchg(&qp->run, RUN_BUSY, RUN_IDLE) != RUN_BUSY);
	return false;
}

void rxe_run_bh(struct rxe_qp *qp)
{
	if (rxe_run(qp))
		tasklet_schedule(&qp->tasklet);
}

void rxe_run_task(struct rxe_qp *qp)
{
	int rounds = RXE_TASK_ROUNDS;
	bool more;

	do {
		local_bh_disable();
		more = rxe_run(qp);
		if (more && (!--rounds || fatal_signal_pending(current))) {
			tasklet_schedule(&qp->tasklet);
			more = false;
		}
		local_bh_enable();
		cond_resched();
	} while (more);
}

static void run_tasklet(struct tasklet_struct *t)
{
	rxe_run_bh(container_of(t, struct rxe_qp, tasklet));
}

void rxe_run_rx(struct rxe_qp *qp, struct sk_buff *skb)
{
	rxe_rx_cb(skb)->cpu = smp_processor_id();
	spin_lock(&qp->rxq.lock);
	if (qp->dying || qp->rxq_bytes + skb->truesize > RXE_RXQ_BYTES) {
		spin_unlock(&qp->rxq.lock);
		rxe_count(qp->rxe, RXE_CNT_DROP_QUEUE);
		kfree_skb(skb);
		return;
	}
	qp->rxq_bytes += skb->truesize;
	__skb_queue_tail(&qp->rxq, skb);
	spin_unlock(&qp->rxq.lock);
	rxe_run_bh(qp);
}

void rxe_run_own(struct rxe_qp *qp)
{
	might_sleep();
	atomic_inc(&qp->wanted);
	while (atomic_cmpxchg(&qp->run, RUN_IDLE, RUN_BUSY) != RUN_IDLE)
		usleep_range(5, 50);
	atomic_dec(&qp->wanted);
}

void rxe_run_disown(struct rxe_qp *qp)
{
	atomic_set_release(&qp->run, RUN_IDLE);
	local_bh_disable();
	rxe_run_bh(qp);
	local_bh_enable();
}

void rxe_run_purge(struct rxe_qp *qp)
{
	spin_lock_bh(&qp->rxq.lock);
	qp->rxq_bytes = 0;
	__skb_queue_purge(&qp->rxq);
	spin_unlock_bh(&qp->rxq.lock);
	rxe_early_purge(qp);
}

/* The runner is owned for ever: nothing arms a timer any more. */
void rxe_run_stop(struct rxe_qp *qp)
{
	rxe_run_own(qp);
	spin_lock_bh(&qp->rxq.lock);
	qp->dying = true;
	spin_unlock_bh(&qp->rxq.lock);
	hrtimer_cancel(&qp->ack_timer);
	hrtimer_cancel(&qp->rnr_timer);
	hrtimer_cancel(&qp->early_timer);
	tasklet_kill(&qp->tasklet);
	rxe_run_purge(qp);
	kfree(qp->resp.job);
	qp->resp.job = NULL;
	if (qp->tx_frag.page) {
		put_page(qp->tx_frag.page);
		qp->tx_frag.page = NULL;
	}
}

static enum hrtimer_restart ack_timer_fired(struct hrtimer *timer)
{
	struct rxe_qp *qp = container_of(timer, struct rxe_qp, ack_timer);

	set_bit(RXE_TODO_TIMEOUT, &qp->todo);
	rxe_run_bh(qp);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart rnr_timer_fired(struct hrtimer *timer)
{
	struct rxe_qp *qp = container_of(timer, struct rxe_qp, rnr_timer);

	set_bit(RXE_TODO_RNR, &qp->todo);
	rxe_run_bh(qp);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart early_timer_fired(struct hrtimer *timer)
{
	struct rxe_qp *qp = container_of(timer, struct rxe_qp, early_timer);

	set_bit(RXE_TODO_EARLY, &qp->todo);
	rxe_run_bh(qp);
	return HRTIMER_NORESTART;
}

/*
 * Progress only moves the deadline; the timer that runs too early finds that
 * out and starts again (rxe_comp_timeout()).
 */
void rxe_run_ack_timer(struct rxe_qp *qp, u64 delay_ns)
{
	qp->req.ack_deadline = ktime_add_ns(ktime_get(), delay_ns);
	if (!hrtimer_is_queued(&qp->ack_timer) ||
	    ktime_before(qp->req.ack_deadline,
			 hrtimer_get_expires(&qp->ack_timer)))
		hrtimer_start(&qp->ack_timer, qp->req.ack_deadline,
			      HRTIMER_MODE_ABS_SOFT);
}

/* A new life of the QP: what still fires finds nothing to do. */
void rxe_run_timers_off(struct rxe_qp *qp)
{
	rxe_run_ack_timer_off(qp);
	hrtimer_try_to_cancel(&qp->ack_timer);
	hrtimer_try_to_cancel(&qp->rnr_timer);
	hrtimer_try_to_cancel(&qp->early_timer);
}

void rxe_run_ack_timer_off(struct rxe_qp *qp)
{
	qp->req.ack_deadline = 0;
}

void rxe_run_rnr_timer(struct rxe_qp *qp, u64 delay_ns)
{
	hrtimer_start(&qp->rnr_timer, ns_to_ktime(delay_ns),
		      HRTIMER_MODE_REL_SOFT);
}

void rxe_run_early_timer(struct rxe_qp *qp, u64 delay_ns)
{
	hrtimer_start(&qp->early_timer, ns_to_ktime(delay_ns),
		      HRTIMER_MODE_REL_SOFT);
}

void rxe_run_init(struct rxe_qp *qp)
{
	atomic_set(&qp->run, RUN_IDLE);
	atomic_set(&qp->wanted, 0);
	skb_queue_head_init(&qp->rxq);
	tasklet_setup(&qp->tasklet, run_tasklet);
	hrtimer_init(&qp->ack_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->ack_timer.function = ack_timer_fired;
	hrtimer_init(&qp->rnr_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	qp->rnr_timer.function = rnr_timer_fired;
	hrtimer_init(&qp->early_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	qp->early_timer.function = early_timer_fired;
	rxe_early_init(qp);
	rxe_req_reset(qp);
	rxe_resp_reset(qp);
}
