// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Waiting for room in a queue of this machine: rxe_pause.h says how.
 */
#include <linux/ktime.h>
#include "rxe_qp.h"
#include "rxe_req.h"

static enum hrtimer_restart pause_over(struct hrtimer *timer)
{
	struct rxe_pause *p = container_of(timer, struct rxe_pause, timer);

	rxe_run_bh(container_of(p, struct rxe_qp, pause));
	return HRTIMER_NORESTART;
}

/* Pinned: requests that follow each other leave from one processor. */
void rxe_pause_init(struct rxe_qp *qp)
{
	hrtimer_init(&qp->pause.timer, CLOCK_MONOTONIC,
		     HRTIMER_MODE_ABS_PINNED_SOFT);
	qp->pause.timer.function = pause_over;
	rxe_pause_reset(qp);
}

void rxe_pause_reset(struct rxe_qp *qp)
{
	hrtimer_try_to_cancel(&qp->pause.timer);
	qp->pause.refused = 0;
	qp->pause.singles = 0;
}

void rxe_pause_stop(struct rxe_qp *qp)
{
	hrtimer_cancel(&qp->pause.timer);
}

static void begin(struct rxe_qp *qp)
{
	struct rxe_pause *p = &qp->pause;
	u64 delay = RXE_PAUSE_NS << min_t(u8, p->refused, RXE_PAUSE_DOUBLINGS);

	p->refused = min(p->refused + 1, 255);
	p->until = ktime_add_ns(ktime_get(), delay);
	if (!rxe_pause_is_hard(p->err)) {
		p->singles = RXE_PAUSE_SINGLES;
		rxe_qp_count(qp, RXE_CNT_TX_PAUSE);
	}
	hrtimer_start(&p->timer, p->until, HRTIMER_MODE_ABS_PINNED_SOFT);
}

void rxe_pause_told(struct rxe_qp *qp, int err, u32 segs)
{
	struct rxe_pause *p = &qp->pause;

	if (err) {
		p->err = err;
		if (rxe_qp_is_rc(qp) || !rxe_pause_is_hard(err))
			begin(qp);
		return;
	}
	p->singles -= min_t(u32, p->singles, segs);
	if (!p->refused)
		return;
	p->refused = 0;
	/* The answer to what waited is waited for from now on. */
	if (qp->req.ack_deadline)
		rxe_run_ack_timer(qp, rxe_req_patience_ns(qp));
}

bool rxe_pause_excuses(const struct rxe_qp *qp)
{
	return qp->pause.refused && qp->pause.err == -ENOMEM;
}

/* UC and UD: this was the last attempt. */
static bool give_up(struct rxe_qp *qp)
{
	u32 most = rxe_qp_is_ud(qp) ? RXE_PAUSE_GIVE_UP_UD : RXE_PAUSE_GIVE_UP;

	if (qp->pause.refused < most)
		return false;
	qp->pause.refused = 0;
	rxe_qp_count(qp, RXE_CNT_SEND_ERR);
	return true;
}

bool rxe_pause_keeps(struct rxe_qp *qp, int err)
{
	if (!err)
		return false;
	if (err == -ENOMEM || rxe_qp_is_rc(qp))
		return true;
	return err == -ENOBUFS && !give_up(qp);
}

bool rxe_pause_keeps_answer(const struct rxe_qp *qp, int err)
{
	if (!err)
		return false;
	return !rxe_pause_is_hard(err) ||
	       qp->pause.refused < RXE_PAUSE_GIVE_UP;
}

bool rxe_paused(const struct rxe_qp *qp)
{
	const struct rxe_pause *p = &qp->pause;

	return p->refused && ktime_before(ktime_get(), p->until);
}
