// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Waiting for room in a queue of this machine, or for memory: rxe_pause.h says
 * how.
 */
#include <linux/ktime.h>
#include "rxe_ah.h"
#include "rxe_qp.h"
#include "rxe_req.h"

void rxe_lanes_init(struct rxe_lanes *lanes)
{
	int i;

	spin_lock_init(&lanes->lock);
	lanes->tight = jiffies;
	for (i = 0; i < RXE_LANES; i++)
		INIT_LIST_HEAD(&lanes->lane[i].qps);
}

static enum hrtimer_restart pause_over(struct hrtimer *timer)
{
	struct rxe_pause *p = container_of(timer, struct rxe_pause, timer);

	rxe_run_bh(container_of(p, struct rxe_qp, pause));
	return HRTIMER_NORESTART;
}

void rxe_pause_init(struct rxe_qp *qp)
{
	struct rxe_pause *p = &qp->pause;

	/* Pinned: requests that follow each other leave from one processor. */
	hrtimer_init(&p->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	p->timer.function = pause_over;
	INIT_LIST_HEAD(&p->entry);
}

static void start(struct rxe_pause *p, u64 delay)
{
	ktime_t until = ktime_add_ns(ktime_get(), delay);

	WRITE_ONCE(p->until, until);
	hrtimer_start(&p->timer, until, HRTIMER_MODE_ABS_PINNED_SOFT);
}

static u64 delay_after(u32 refused)
{
	return RXE_PAUSE_NS << min_t(u32, refused, RXE_PAUSE_DOUBLINGS);
}

/* ---- lanes; the lock is that of the link's lanes ---- */

/* Where those wait who leave by @oif: its own lane, a free one, or any. */
static struct rxe_lane *find_lane(struct rxe_lanes *lanes, int oif)
{
	struct rxe_lane *free = NULL;
	int i;

	for (i = 0; i < RXE_LANES; i++) {
		struct rxe_lane *lane = &lanes->lane[i];

		if (list_empty(&lane->qps))
			free = lane;
		else if (lane->oif == oif)
			return lane;
	}
	return free ?: &lanes->lane[oif % RXE_LANES];
}

/* The first of @lane tries next, when @delay is over. */
static void start_first(struct rxe_lane *lane, u64 delay)
{
	struct rxe_pause *p = list_first_entry_or_null(&lane->qps,
						       struct rxe_pause, entry);

	if (p)
		start(p, delay);
}

static void join(struct rxe_qp *qp, struct rxe_lane *lane, int oif)
{
	struct rxe_pause *p = &qp->pause;

	if (list_empty(&lane->qps)) {
		lane->oif = oif;
		lane->refused = 0;
		lane->tries = 0;
	}
	p->lane = lane;
	p->turn = false;
	p->got = false;
	p->stuck = false;
	p->singles = RXE_PAUSE_SINGLES;
	WRITE_ONCE(p->until, KTIME_MAX);
	list_add_tail(&p->entry, &lane->qps);
	WRITE_ONCE(qp->rxe->lanes.waiting, qp->rxe->lanes.waiting + 1);
}

/* Whoever is first now tries after @delay. */
static void leave(struct rxe_qp *qp, u64 delay)
{
	struct rxe_lanes *lanes = &qp->rxe->lanes;
	struct rxe_pause *p = &qp->pause;
	struct rxe_lane *lane;
	bool first;

	if (!p->lane)
		return;
	spin_lock_bh(&lanes->lock);
	lane = p->lane;
	first = list_is_first(&p->entry, &lane->qps);
	list_del_init(&p->entry);
	p->lane = NULL;
	p->turn = false;
	WRITE_ONCE(lanes->waiting, lanes->waiting - 1);
	if (first) {
		lane->tries = 0;
		start_first(lane, delay);
	}
	spin_unlock_bh(&lanes->lock);
}

/*
 * There was no room for the first of @lane.  Behind the others goes who had
 * something through in this turn, and who had none often enough.
 */
static void refused_first(struct rxe_pause *p, struct rxe_lane *lane)
{
	u32 tries = p->stuck ? RXE_LANE_TRIES_STUCK : RXE_LANE_TRIES;

	if (!p->got && ++lane->tries >= tries)
		p->stuck = true;
	if (p->got || lane->tries >= tries) {
		lane->tries = 0;
		WRITE_ONCE(p->until, KTIME_MAX);
		list_move_tail(&p->entry, &lane->qps);
	}
	start_first(lane, delay_after(lane->refused++));
}

/* A queue has no room for @qp. */
static void refused(struct rxe_qp *qp)
{
	struct rxe_lanes *lanes = &qp->rxe->lanes;
	struct rxe_pause *p = &qp->pause;
	int oif = rxe_flow_oif(&qp->flow);

	spin_lock_bh(&lanes->lock);
	if (!p->lane)
		join(qp, find_lane(lanes, oif), oif);
	p->turn = false;
	if (list_is_first(&p->entry, &p->lane->qps))
		refused_first(p, p->lane);
	p->got = false;
	spin_unlock_bh(&lanes->lock);
}

/* There was room for @qp, for the first time in its turn. */
static void got_through(struct rxe_qp *qp)
{
	struct rxe_lanes *lanes = &qp->rxe->lanes;
	struct rxe_pause *p = &qp->pause;

	p->got = true;
	p->stuck = false;
	spin_lock_bh(&lanes->lock);
	p->lane->refused = 0;
	p->lane->tries = 0;
	spin_unlock_bh(&lanes->lock);
}

/* Who comes while others wait for the same queue waits behind them. */
static bool queue_up(struct rxe_qp *qp)
{
	struct rxe_lanes *lanes = &qp->rxe->lanes;
	struct rxe_lane *lane;
	bool others;
	int oif;

	/* Only a datagram says where it goes. */
	if (rxe_qp_is_ud(qp))
		return false;
	oif = rxe_flow_oif(&qp->flow);
	spin_lock_bh(&lanes->lock);
	lane = find_lane(lanes, oif);
	others = !list_empty(&lane->qps) && lane->oif == oif;
	if (others)
		join(qp, lane, oif);
	spin_unlock_bh(&lanes->lock);
	if (others)
		rxe_qp_count(qp, RXE_CNT_TX_PAUSE);
	return others;
}

/* ---- the runner's view ---- */

void rxe_pause_reset(struct rxe_qp *qp)
{
	struct rxe_pause *p = &qp->pause;

	leave(qp, 0);
	hrtimer_try_to_cancel(&p->timer);
	p->refused = 0;
	p->singles = 0;
}

void rxe_pause_stop(struct rxe_qp *qp)
{
	/* Nobody starts the timer of who is in no lane. */
	leave(qp, 0);
	hrtimer_cancel(&qp->pause.timer);
}

static void failed(struct rxe_qp *qp, int err)
{
	struct rxe_pause *p = &qp->pause;

	p->err = err;
	if (rxe_pause_is_hard(err) && !rxe_qp_is_rc(qp))
		return;
	if (err == -ENOBUFS && rxe_qp_is_ud(qp) && rxe_ah_several(qp)) {
		leave(qp, RXE_PAUSE_NS);
		p->refused = RXE_PAUSE_GIVE_UP_UD;
		return;
	}
	if (!rxe_pause_is_hard(err)) {
		rxe_qp_count(qp, RXE_CNT_TX_PAUSE);
		p->singles = RXE_PAUSE_SINGLES;
	}
	if (err == -ENOBUFS) {
		WRITE_ONCE(qp->rxe->lanes.tight, jiffies + RXE_LANE_TIGHT);
		refused(qp);
	} else {
		/* None of the queue's business: others go first. */
		leave(qp, 0);
		start(p, delay_after(p->refused));
	}
	p->refused = min(p->refused + 1, 255);
}

void rxe_pause_heard(struct rxe_qp *qp, int err, u32 segs)
{
	struct rxe_pause *p = &qp->pause;
	bool waited = p->refused || (p->lane && !p->got);

	if (err) {
		failed(qp, err);
		return;
	}
	p->singles -= min_t(u32, p->singles, segs);
	p->refused = 0;
	if (p->lane && !p->got)
		got_through(qp);
	/* The answer to what waited is waited for from now on. */
	if (waited && qp->req.ack_deadline)
		rxe_run_ack_timer(qp, rxe_req_patience_ns(qp));
}

static bool over(const struct rxe_pause *p)
{
	return !ktime_before(ktime_get(), READ_ONCE(p->until));
}

/*
 * Had it nothing to send, it did not ask whether it may: the timer, which has run
 * then, does not come again.
 */
void rxe_pause_turn_over(struct rxe_qp *qp)
{
	struct rxe_pause *p = &qp->pause;

	if (p->turn || (over(p) && !hrtimer_is_queued(&p->timer)))
		leave(qp, 0);
}

bool rxe_pause_waits(struct rxe_qp *qp)
{
	struct rxe_pause *p = &qp->pause;

	if (p->lane) {
		p->turn = p->turn || over(p);
		return !p->turn;
	}
	return p->refused && !over(p);
}

bool rxe_pause_holds_back(struct rxe_qp *qp)
{
	const struct rxe_pause *p = &qp->pause;

	if (p->lane || p->refused)
		return rxe_pause_waits(qp);
	return queue_up(qp);
}

bool rxe_pause_excuses(const struct rxe_qp *qp)
{
	const struct rxe_pause *p = &qp->pause;

	if (p->lane)
		return !p->stuck &&
		       READ_ONCE(p->lane->refused) < RXE_PAUSE_DOUBLINGS;
	return p->refused && p->err == -ENOMEM;
}

/* UC and UD: this was the last attempt. */
static bool give_up(struct rxe_qp *qp)
{
	u32 most = rxe_qp_is_ud(qp) ? RXE_PAUSE_GIVE_UP_UD : RXE_PAUSE_GIVE_UP;

	if (qp->pause.refused < most)
		return false;
	leave(qp, RXE_PAUSE_NS);
	qp->pause.refused = 0;
	rxe_qp_count(qp, RXE_CNT_SEND_ERR);
	return true;
}

bool rxe_pause_keeps_failed(struct rxe_qp *qp, int err)
{
	if (err == -ENOMEM || rxe_qp_is_rc(qp))
		return true;
	return err == -ENOBUFS && !give_up(qp);
}

bool rxe_pause_keeps_failed_answer(const struct rxe_qp *qp, int err)
{
	return !rxe_pause_is_hard(err) ||
	       qp->pause.refused < RXE_PAUSE_GIVE_UP;
}
