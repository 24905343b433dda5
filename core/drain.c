// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Waiting until the work requests of a queue pair have all been completed.
 *
 * A queue pair in ERR flushes what it has, in order.  So a work request that is
 * posted then is completed last: when its done() has been called, those of all
 * others of that queue have been.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/export.h>
#include "cq_poll.h"

/* Between two looks into a CQ that nobody else polls for us. */
#define DRAIN_POLL_MS 10
/* A queue that flushes has room again soon. */
#define DRAIN_ROOM_MS 10000
/* An SRQ's last receive may wait for others to run first. */
#define DRAIN_LAST_WQE_MS 60000

struct marker {
	struct ib_cqe cqe;
	struct completion reached;
};

static void marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct marker, cqe)->reached);
}

static void marker_init(struct marker *marker)
{
	marker->cqe.done = marker_done;
	init_completion(&marker->reached);
}

static void marker_wait(struct marker *marker, struct ib_cq *cq)
{
	unsigned long ticks = msecs_to_jiffies(DRAIN_POLL_MS);

	if (cq->poll_ctx != IB_POLL_DIRECT) {
		wait_for_completion(&marker->reached);
		return;
	}
	do {
		ib_process_cq_direct(cq, -1);
	} while (!wait_for_completion_timeout(&marker->reached, ticks));
}

static int to_err(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static int post_to_sq(struct ib_qp *qp, struct marker *marker)
{
	/* It is never executed, so that it needs no address. */
	const struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &marker->cqe,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	return ib_post_send(qp, &wr.wr, NULL);
}

static int post_to_rq(struct ib_qp *qp, struct marker *marker)
{
	const struct ib_recv_wr wr = { .wr_cqe = &marker->cqe };

	return ib_post_recv(qp, &wr, NULL);
}

static int flush_queue(struct ib_qp *qp, struct ib_cq *cq,
		       int (*post)(struct ib_qp *qp, struct marker *marker))
{
	unsigned int ms = 0;
	struct marker marker;
	int ret;

	marker_init(&marker);
	ret = to_err(qp);
	if (ret)
		return ret;
	do {
		ret = post(qp, &marker);
		if (ret != -ENOMEM)
			break;
		usleep_range(1000, 2000);
	} while (++ms < DRAIN_ROOM_MS);
	if (!ret)
		marker_wait(&marker, cq);
	return ret;
}

/**
 * ib_drain_sq - have every send work request of a queue pair completed
 * @qp: the QP, of a kernel consumer that does not post to it meanwhile; goes to
 *	ERR
 *
 * On return the done() of each has been called, with a flush error if need be.
 * The send CQ comes from ib_alloc_cq() or the pool, and has an entry to spare.
 *
 * Context: process, may sleep, not from a done() of that CQ.
 */
void ib_drain_sq(struct ib_qp *qp)
{
	int ret;

	if (qp->device->ops.drain_sq) {
		qp->device->ops.drain_sq(qp);
		return;
	}
	ret = flush_queue(qp, qp->send_cq, post_to_sq);
	WARN_ONCE(ret, "cannot drain a send queue (%d)\n", ret);
}
EXPORT_SYMBOL(ib_drain_sq);

/**
 * ib_drain_rq - have every receive work request of a queue pair completed
 * @qp: the QP, which has a receive queue of its own; goes to ERR
 *
 * As ib_drain_sq(), for the receive queue and its CQ.
 *
 * Context: process, may sleep, not from a done() of that CQ.
 */
void ib_drain_rq(struct ib_qp *qp)
{
	int ret;

	if (qp->device->ops.drain_rq) {
		qp->device->ops.drain_rq(qp);
		return;
	}
	ret = qp->srq ? -EINVAL : flush_queue(qp, qp->recv_cq, post_to_rq);
	WARN_ONCE(ret, "cannot drain a receive queue (%d)\n", ret);
}
EXPORT_SYMBOL(ib_drain_rq);

/*
 * What waits in an SRQ is not the QP's.  The one that it has taken is completed
 * before the event of the last WQE.
 */
static void drain_srq(struct ib_qp *qp)
{
	unsigned long ticks = msecs_to_jiffies(DRAIN_LAST_WQE_MS);
	int ret = to_err(qp);

	if (!ret && !wait_for_completion_timeout(&qp->srq_completion, ticks))
		ret = -ETIMEDOUT;
	WARN_ONCE(ret, "QP on an SRQ does not let go of it (%d)\n", ret);
	ib_cq_poll_flush(qp->recv_cq);
}

/**
 * ib_drain_qp - have all work requests of a queue pair completed
 * @qp: the QP, of a kernel consumer that does not post to it meanwhile; goes to
 *	ERR
 *
 * On return the done() of each has been called, with a flush error if need be;
 * with a shared receive queue the QP has taken its last receive out of it, and
 * that one's done() has been called.
 * Both CQs come from ib_alloc_cq() or the pool, with an entry to spare for each
 * of the two queues.
 *
 * Context: process, may sleep, not from a done() of the CQs nor the QP's event
 * handler.
 */
void ib_drain_qp(struct ib_qp *qp)
{
	ib_drain_sq(qp);
	if (qp->srq)
		drain_srq(qp);
	else
		ib_drain_rq(qp);
}
EXPORT_SYMBOL(ib_drain_qp);
