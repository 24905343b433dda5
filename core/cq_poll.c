// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Completion queues that the core polls: each completion goes to the done()
 * that its work request names (struct ib_cqe).
 *
 * Lifetime: ib_alloc_cq() -> armed, and a poller (a tasklet or a work) that the
 * driver's handler kicks -> ib_free_cq(), which first forbids kicks, then waits
 * for the poller, then destroys the CQ.  A poller of the same CQ runs once at a
 * time.  CQs that their owner polls (IB_POLL_DIRECT) have none.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/workqueue.h>
#include "cq_poll.h"

/* Completions taken out at once: they are on the stack. */
#define POLL_BATCH 8
/* Completions before others get their turn. */
#define POLL_BUDGET 256

static struct workqueue_struct *comp_wq;
static struct workqueue_struct *comp_unbound_wq;

static void hand_over(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->wr_cqe)
		wc->wr_cqe->done(cq, wc);
	else
		WARN_ONCE(wc->status == IB_WC_SUCCESS,
			  "completion without a handler\n");
}

/* @budget: how many at most; negative: all there are. */
static int poll(struct ib_cq *cq, int budget)
{
	struct ib_wc wc[POLL_BATCH];
	int total = 0;
	int want, n, i;

	do {
		want = POLL_BATCH;
		if (budget >= 0)
			want = min(want, budget - total);
		n = want ? ib_poll_cq(cq, want, wc) : 0;
		for (i = 0; i < n; i++)
			hand_over(cq, &wc[i]);
		total += max(n, 0);
	} while (want && n == want);
	return total;
}

/* ---- who polls ---- */

static void kick(struct ib_cq *cq, void *context)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->poll_lock, flags);
	if (cq->poll_stopped)
		;
	else if (cq->poll_ctx == IB_POLL_SOFTIRQ)
		tasklet_schedule(&cq->tasklet);
	else
		queue_work(cq->comp_wq, &cq->work);
	spin_unlock_irqrestore(&cq->poll_lock, flags);
}

/*
 * A completion that came between the last look and the arming is reported by
 * the arming, one that comes later by the driver's handler.
 */
static void poll_round(struct ib_cq *cq)
{
	if (poll(cq, POLL_BUDGET) == POLL_BUDGET ||
	    ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				 IB_CQ_REPORT_MISSED_EVENTS) > 0)
		kick(cq, NULL);
	/* What has been handed over before: ib_cq_poll_flush(). */
	smp_store_release(&cq->poll_rounds, cq->poll_rounds + 1);
}

static void poll_tasklet(struct tasklet_struct *t)
{
	poll_round(container_of(t, struct ib_cq, tasklet));
}

static void poll_work(struct work_struct *work)
{
	poll_round(container_of(work, struct ib_cq, work));
}

/* Nobody polls a CQ of that context unasked, so that nobody arms it. */
static void nobody_asked(struct ib_cq *cq, void *context)
{
	WARN_ONCE(1, "a CQ that its owner polls has been armed\n");
}

static void stop_polling(struct ib_cq *cq)
{
	spin_lock_irq(&cq->poll_lock);
	cq->poll_stopped = true;
	spin_unlock_irq(&cq->poll_lock);

	if (cq->poll_ctx == IB_POLL_SOFTIRQ)
		tasklet_kill(&cq->tasklet);
	else if (cq->poll_ctx != IB_POLL_DIRECT)
		cancel_work_sync(&cq->work);
}

/*
 * Wait until every completion that is there now has been handed over: as many
 * rounds as a full CQ takes, and one more, since the first may have begun before.
 * Nothing to wait for when the owner has a completion handler of his own.
 */
void ib_cq_poll_flush(struct ib_cq *cq)
{
	unsigned int begun;
	u32 i;

	if (cq->comp_handler == nobody_asked) {
		poll(cq, -1);
		return;
	}
	if (cq->comp_handler != kick)
		return;
	for (i = 0; i < DIV_ROUND_UP(cq->cqe, POLL_BUDGET) + 1; i++) {
		begun = READ_ONCE(cq->poll_rounds);
		kick(cq, NULL);
		/* What the round did before its end: poll_round(). */
		while (smp_load_acquire(&cq->poll_rounds) == begun)
			usleep_range(50, 500);
	}
}

/* ---- the API ---- */

/**
 * __ib_alloc_cq - make a completion queue that the core polls
 * @dev: on which device
 * @private: the consumer's, in cq_context
 * @nr_cqe: entries: not more completions than that may be there at a time
 * @comp_vector: completion vector, below @dev->num_comp_vectors
 * @poll_ctx: in which context done() is called: IB_POLL_SOFTIRQ, in a work of
 *	this processor (IB_POLL_WORKQUEUE) or of any (IB_POLL_UNBOUND_WORKQUEUE),
 *	or in the consumer's calls of ib_process_cq_direct() (IB_POLL_DIRECT)
 * @caller: name of the module that asks, for "rdma resource show"
 *
 * Consumers call ib_alloc_cq().  Each work request that completes there has a
 * wr_cqe.  For one CQ one done() runs at a time.
 *
 * Context: process, may sleep.
 * Return: the CQ, for ib_free_cq(), or an ERR_PTR.
 */
struct ib_cq *__ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe,
			    int comp_vector, enum ib_poll_context poll_ctx,
			    const char *caller)
{
	struct ib_cq_init_attr attr = {
		.cqe = nr_cqe,
		.comp_vector = comp_vector,
	};
	bool direct = poll_ctx == IB_POLL_DIRECT;
	struct ib_cq *cq;

	if (poll_ctx > IB_POLL_DIRECT)
		return ERR_PTR(-EINVAL);
	cq = __ib_create_cq(dev, direct ? nobody_asked : kick, NULL, private,
			    &attr, caller);
	if (IS_ERR(cq))
		return cq;

	cq->poll_ctx = poll_ctx;
	spin_lock_init(&cq->poll_lock);
	switch (poll_ctx) {
	case IB_POLL_SOFTIRQ:
		tasklet_setup(&cq->tasklet, poll_tasklet);
		break;
	case IB_POLL_WORKQUEUE:
	case IB_POLL_UNBOUND_WORKQUEUE:
		cq->comp_wq = poll_ctx == IB_POLL_WORKQUEUE ? comp_wq :
							      comp_unbound_wq;
		INIT_WORK(&cq->work, poll_work);
		break;
	case IB_POLL_DIRECT:
		break;
	}
	if (!direct)
		ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return cq;
}
EXPORT_SYMBOL(__ib_alloc_cq);

/**
 * __ib_alloc_cq_any - the same on whichever completion vector
 * @dev: on which device
 * @private: the consumer's, in cq_context
 * @nr_cqe: entries
 * @poll_ctx: in which context done() is called
 * @caller: name of the module that asks
 *
 * Consumers call ib_alloc_cq_any().  CQs go round the vectors.
 *
 * Context: process, may sleep.
 * Return: the CQ, for ib_free_cq(), or an ERR_PTR.
 */
struct ib_cq *__ib_alloc_cq_any(struct ib_device *dev, void *private,
				int nr_cqe, enum ib_poll_context poll_ctx,
				const char *caller)
{
	return __ib_alloc_cq(dev, private, nr_cqe, ib_cq_next_vector(dev),
			     poll_ctx, caller);
}
EXPORT_SYMBOL(__ib_alloc_cq_any);

/* Vectors in turn, no more of them than processors. */
int ib_cq_next_vector(const struct ib_device *dev)
{
	static atomic_t turn;

	return (u32)atomic_inc_return(&turn) %
	       min_t(u32, max(dev->num_comp_vectors, 1), num_online_cpus());
}

/**
 * ib_free_cq - destroy a completion queue that the core polls
 * @cq: from ib_alloc_cq(); no QP may report to it any more
 *
 * On return no done() runs for it.  Completions that are left are dropped.
 *
 * Context: process, may sleep, not from a done() of @cq.
 */
void ib_free_cq(struct ib_cq *cq)
{
	if (WARN_ON_ONCE(atomic_read(&cq->usecnt)) ||
	    WARN_ON_ONCE(cq->shared || cq->cqe_used))
		return;
	stop_polling(cq);
	ib_destroy_cq(cq);
}
EXPORT_SYMBOL(ib_free_cq);

/**
 * ib_process_cq_direct - hand over the completions of a CQ
 * @cq: a CQ whose poll context is IB_POLL_DIRECT
 * @budget: how many at most; -1: all there are
 *
 * Context: any that the done() of the completions allow; one caller at a time,
 * unless these say otherwise.
 * Return: how many.
 */
int ib_process_cq_direct(struct ib_cq *cq, int budget)
{
	return poll(cq, budget);
}
EXPORT_SYMBOL(ib_process_cq_direct);

int ib_cq_poll_init(void)
{
	comp_wq = alloc_workqueue("softroce_comp",
				  WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!comp_wq)
		return -ENOMEM;
	comp_unbound_wq = alloc_workqueue("softroce_comp_unbound",
					  WQ_UNBOUND | WQ_HIGHPRI |
						  WQ_MEM_RECLAIM, 0);
	if (!comp_unbound_wq) {
		destroy_workqueue(comp_wq);
		return -ENOMEM;
	}
	return 0;
}

void ib_cq_poll_exit(void)
{
	destroy_workqueue(comp_unbound_wq);
	destroy_workqueue(comp_wq);
}
