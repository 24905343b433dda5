// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The runner of a QP, its timers and its queue of received packets.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
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

		/* A sender on this machine may change what was checked before. */
		if (!rxe_pkt_parse(&pkt, skb, cb->off, len) &&
		    rxe_service_fits(qp, pkt.op->transport)) {
			if (pkt.op->flags & RXE_OP_RESPONSE) {
				rxe_comp_pkt(qp, &pkt);
			} else {
				/* Answers that are due stay where they are. */
				if (!rxe_resp_due(qp))
					qp->resp.cpu = smp_processor_id();
				rxe_resp_pkt(qp, &pkt);
			}
		}
		cb->off += len;
		cb->len -= len;
	}
	consume_skb(skb);
}

/* Does the work of @cpu belong to this one? What has gone leaves it to all. */
static bool here(int cpu)
{
	return cpu == smp_processor_id() || !cpu_online(cpu);
}

/* The next packet that came in here; @cpu: where else one waits. */
static struct sk_buff *next_rx(struct rxe_qp *qp, int *cpu)
{
	struct sk_buff *skb;

	spin_lock(&qp->rxq.lock);
	skb = skb_peek(&qp->rxq);
	if (skb && !here(rxe_rx_cb(skb)->cpu)) {
		*cpu = rxe_rx_cb(skb)->cpu;
		skb = NULL;
	}
	if (skb) {
		__skb_unlink(skb, &qp->rxq);
		qp->rxq_bytes -= skb->truesize;
	}
	spin_unlock(&qp->rxq.lock);
	return skb;
}

/* Handle received packets; true: the budget ended it. */
static bool run_rx(struct rxe_qp *qp, int *cpu)
{
	int bytes = RXE_RUN_BYTES;
	struct sk_buff *skb;

	while (bytes > 0 && !skb_queue_empty_lockless(&qp->rxq)) {
		skb = next_rx(qp, cpu);
		if (!skb)
			break;
		bytes -= skb->len;
		rxe_run_skb(qp, skb);
	}
	rxe_comp_end(qp);
	rxe_resp_end(qp);
	return bytes <= 0 && !skb_queue_empty_lockless(&qp->rxq);
}

/* One can be called at a time; what came in goes first. */
static void call(int *cpu, int other)
{
	if (*cpu == nr_cpu_ids)
		*cpu = other;
}

/* Answers leave from where requests come in. */
static bool run_resp(struct rxe_qp *qp, struct rxe_budget *b, int *cpu)
{
	if (here(qp->resp.cpu))
		return rxe_resp_work(qp, b);
	if (rxe_resp_due(qp) && !rxe_pause_waits(qp))
		call(cpu, qp->resp.cpu);
	return false;
}

/* Requests leave from one processor while any is on its way. */
static bool run_req(struct rxe_qp *qp, struct rxe_budget *b, int *cpu)
{
	if (rxe_req_may_move(qp) || here(qp->req.tx_cpu))
		return rxe_req_work(qp, b);
	if (rxe_req_pending(qp))
		call(cpu, qp->req.tx_cpu);
	return false;
}

/* One pass; true when the budget ended it. @cpu: who has to do the rest. */
static bool run_pass(struct rxe_qp *qp, int *cpu)
{
	/* Neither side starves the other. */
	struct rxe_budget req = { RXE_RUN_BYTES, RXE_RUN_WQES };
	struct rxe_budget resp = req;
	bool more = run_rx(qp, cpu);

	/* What another processor has yet to handle may be the answer. */
	if (skb_queue_empty_lockless(&qp->rxq) &&
	    test_and_clear_bit(RXE_TODO_TIMEOUT, &qp->todo))
		rxe_comp_timeout(qp);
	if (test_and_clear_bit(RXE_TODO_RNR, &qp->todo))
		rxe_comp_rnr_timer(qp);

	more |= run_resp(qp, &resp, cpu);
	more |= run_req(qp, &req, cpu);
	/* Sends nothing: whoever finds the queue so may tell. */
	rxe_req_check_drained(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		more |= rxe_req_flush(qp, &req);
	if (qp->state == IB_QPS_ERR)
		more |= rxe_resp_flush(qp, &resp);
	/* Not while another processor has yet to use its turn. */
	if (unlikely(qp->pause.lane) && *cpu == nr_cpu_ids)
		rxe_pause_turn_over(qp);
	return more;
}

/* Run @qp on processor @cpu. The call has a reference of its own. */
static void run_on(struct rxe_qp *qp, int cpu)
{
	if (test_and_set_bit(RXE_TODO_CALL, &qp->todo))
		return;
	rxe_qp_hold(qp);
	if (!smp_call_function_single_async(cpu, &qp->call))
		return;
	/* It has gone: its work is anybody's. */
	clear_bit(RXE_TODO_CALL, &qp->todo);
	tasklet_schedule(&qp->tasklet);
	rxe_qp_put(qp);
}

static void called(void *data)
{
	struct rxe_qp *qp = data;

	/* Who calls from now on is heard by the tasklet, or calls again. */
	clear_bit(RXE_TODO_CALL, &qp->todo);
	tasklet_schedule(&qp->tasklet);
	rxe_qp_put(qp);
}

/* To those who wait for the place: rxe_run_own(). */
static void let_go(struct rxe_qp *qp)
{
	atomic_set_release(&qp->run, RUN_IDLE);
	/* RUN_IDLE before who is in the queue: wait_var_event(). */
	smp_mb();
	wake_up_var(&qp->run);
}

/* As rxe_run(). @cpu: who has to do what is not for this processor. */
static bool run_here(struct rxe_qp *qp, int *cpu)
{
	int passes = 0;

	if (atomic_xchg(&qp->run, RUN_AGAIN) != RUN_IDLE)
		return false;
	do {
		atomic_set(&qp->run, RUN_BUSY);
		/* RUN_BUSY before looking for work and for who waits: try_own(). */
		smp_mb();
		/* Who waits for ownership runs the rest when it is done. */
		if (unlikely(atomic_read(&qp->wanted))) {
			let_go(qp);
			return false;
		}
		*cpu = nr_cpu_ids;
		if (run_pass(qp, cpu) || ++passes == RXE_RUN_PASSES) {
			atomic_set_release(&qp->run, RUN_IDLE);
			return true;
		}
	} while (atomic_cmpxchg(&qp->run, RUN_BUSY, RUN_IDLE) != RUN_BUSY);
	return false;
}

bool rxe_run(struct rxe_qp *qp)
{
	int cpu = nr_cpu_ids;
	bool more = run_here(qp, &cpu);

	/* Not before the runner's place is free, or it would find it taken. */
	if (cpu < nr_cpu_ids)
		run_on(qp, cpu);
	return more;
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

/*
 * Whether this processor's backlog, which lo and veth deliver through, holds
 * more packets of this round.  BH off.
 */
static bool backlog_has_more(void)
{
	const struct softnet_data *sd = this_cpu_ptr(&softnet_data);

	return !skb_queue_empty_lockless(&sd->process_queue);
}

void rxe_run_rx(struct rxe_qp *qp, struct sk_buff *skb)
{
	bool few;

	rxe_rx_cb(skb)->cpu = smp_processor_id();
	spin_lock(&qp->rxq.lock);
	if (qp->dying || qp->rxq_bytes + skb->truesize > RXE_RXQ_BYTES) {
		spin_unlock(&qp->rxq.lock);
		rxe_qp_count(qp, RXE_CNT_DROP_QUEUE);
		kfree_skb(skb);
		return;
	}
	qp->rxq_bytes += skb->truesize;
	few = qp->rxq_bytes < RXE_RUN_BYTES;
	__skb_queue_tail(&qp->rxq, skb);
	spin_unlock(&qp->rxq.lock);
	/*
	 * What may follow is run together: one ACK, one look at the queues.  No
	 * more than one run takes: the queue does not grow.
	 */
	if (few && backlog_has_more())
		tasklet_schedule(&qp->tasklet);
	else
		rxe_run_bh(qp);
}

/*
 * Whoever runs looks once more before it ends, sees that its place is wanted, and
 * wakes who waits.  So does a run that comes behind one whose budget ended it.
 */
static bool try_own(struct rxe_qp *qp)
{
	/* A full barrier: it is wanted before the runner is to look. */
	return atomic_xchg(&qp->run, RUN_AGAIN) == RUN_IDLE;
}

void rxe_run_own(struct rxe_qp *qp)
{
	might_sleep();
	atomic_inc(&qp->wanted);
	wait_var_event(&qp->run, try_own(qp));
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
	rxe_pause_stop(qp);
	tasklet_kill(&qp->tasklet);
	rxe_run_purge(qp);
	kfree(qp->resp.res);
	qp->resp.res = NULL;
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
	rxe_pause_reset(qp);
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

void rxe_run_init(struct rxe_qp *qp)
{
	atomic_set(&qp->run, RUN_IDLE);
	atomic_set(&qp->wanted, 0);
	skb_queue_head_init(&qp->rxq);
	tasklet_setup(&qp->tasklet, run_tasklet);
	INIT_CSD(&qp->call, called, qp);
	hrtimer_init(&qp->ack_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->ack_timer.function = ack_timer_fired;
	hrtimer_init(&qp->rnr_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	qp->rnr_timer.function = rnr_timer_fired;
	rxe_pause_init(qp);
	rxe_req_reset(qp);
	rxe_resp_reset(qp);
}
