/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Back-pressure: a queue of this machine is full, and says so.
 *
 * A device's queue that has no room (NET_XMIT_DROP, -ENOBUFS here) tells at
 * once that a train is lost, or its end.  Nothing behind it is of use to the
 * peer, so the QP goes no further: requester and responder stay where the train
 * began, and after a pause the QP tries the same again.
 * So a queue that is full all the time, a shaper's, loses nothing and carries
 * nothing twice, and no window has to be guessed.
 *
 * Those of a link that wait for the same interface stand in a lane.  Only the
 * first of a lane tries; when it has got something through and is refused again,
 * or has nothing more to send, it is the next one's turn.  Whoever comes while
 * others wait goes behind them, untried.  So each gets its share of the queue,
 * in turn, and a full queue is asked by one at a time.
 *
 * The first of a lane tries after 1/4 ms, and each time that nobody gets anything
 * through after twice as long: the first pauses are short beside the time that a
 * queue lasts, and those of a queue that seems dead cost nothing.  Who is refused
 * RXE_LANE_TRIES times lets the others try, and has fewer attempts in each turn
 * from then on: a packet that never fits keeps nobody else for long.
 *
 * A queue that cuts trains itself (tbf) may take a train's first packets, drop
 * the others and report success.  After a refusal packets go out one by one,
 * and the answer to each is exact, until so many in a row have got through that
 * the queue seems to have room again.  So do those of other QPs of the link, for
 * RXE_LANE_TIGHT after each refusal, and of a QP after an ACK timeout: the end of
 * a train may have been cut off.
 *
 * Datagrams of a QP are sent in their order, so one that waits keeps those to
 * other addresses.  It waits for RXE_PAUSE_GIVE_UP_UD attempts, and not at all
 * while the QP's datagrams leave by several interfaces: then it is lost, as
 * datagrams may be, and counted in send_err.
 *
 * Without memory for a packet the QP pauses as well, by itself: nothing has been
 * lost, so no retry is spent, and UC and UD do not give up either.
 *
 * What cannot leave for another reason (no route, a firewall, a packet that is too
 * long) will not leave with the next packet either: RC stops there and tries the
 * same again after a pause of its own, and the ACK timer counts as if it had been
 * lost.  UC leaves out the rest of the message.
 *
 * Waiting in a lane spends no retry as long as the lane moves.  One that lets
 * nothing through RXE_PAUSE_DOUBLINGS times in a row (64 ms) is a network that
 * loses everything, and so it is for a QP that was refused RXE_LANE_TRIES times:
 * they give up as they would there, though not before RXE_PAUSE_PATIENCE_NS each
 * time.  A fatal NAK is tried RXE_PAUSE_GIVE_UP times.
 * A requester does not see that answers wait over there.  It asks again after its
 * ACK timeout, which changes nothing for those, and gives up when none has come
 * for all its retries: about 27 timeouts with 7 of them.  That bounds how many
 * QPs can share a queue that READs come back by.
 *
 * Lifetime: embedded in the QP, the runner's own but for @entry and the start of
 * @timer, which are under the lock of the link's lanes.  The timer only runs the
 * QP; it begins and ends with the runner's other timers (rxe_run.c).
 */
#ifndef SOFTROCE_RXE_PAUSE_H
#define SOFTROCE_RXE_PAUSE_H

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct rxe_qp;

#define RXE_PAUSE_NS (250 * NSEC_PER_USEC)
#define RXE_PAUSE_DOUBLINGS 8
#define RXE_PAUSE_PATIENCE_NS (4 * NSEC_PER_MSEC)
#define RXE_PAUSE_GIVE_UP 8
/* A datagram is worth less of it. */
#define RXE_PAUSE_GIVE_UP_UD 3
#define RXE_PAUSE_SINGLES 256
/* 64 ms in all, then 16 ms. */
#define RXE_LANE_TRIES 8
#define RXE_LANE_TRIES_STUCK 6
/* Nobody of the link sends trains for so long after a refusal. */
#define RXE_LANE_TIGHT (HZ / 20)
/* Interfaces of a link that can be full at a time; those beyond share. */
#define RXE_LANES 4

/**
 * struct rxe_lane - those who wait for room at one interface
 * @qps: struct rxe_pause by @entry, whoever waits longest first
 * @oif: the interface
 * @refused: times in a row that nobody got anything through
 * @tries: how many of them the first one had
 */
struct rxe_lane {
	struct list_head qps;
	int oif;
	u32 refused;
	u32 tries;
};

/**
 * struct rxe_lanes - all lanes of a link
 * @waiting: how many QPs are in one (READ_ONCE)
 * @tight: no trains before these jiffies (READ_ONCE)
 * @lock: what is in them
 */
struct rxe_lanes {
	int waiting;
	unsigned long tight;
	spinlock_t lock;	/* of all that is in @lane */
	struct rxe_lane lane[RXE_LANES];
};

/**
 * struct rxe_pause - waiting for room in a queue, or for memory
 * @timer: ends the pause
 * @until: when that is; never for who is not the first of a lane
 * @entry: in @lane
 * @lane: where it waits, or NULL
 * @refused: times in a row that a train was refused; 0: the last one was not
 * @turn: it is the first of its lane, its pause is over, and it may try
 * @got: something got through in this turn
 * @stuck: nothing did in the last one, often enough
 * @singles: so many packets are still sent one by one
 * @err: what the last answer was that was no success
 */
struct rxe_pause {
	struct hrtimer timer;
	ktime_t until;
	struct list_head entry;
	struct rxe_lane *lane;
	u8 refused;
	bool turn;
	bool got;
	bool stuck;
	u16 singles;
	int err;
};

/* Neither room nor memory is what lacks: a route, a right, the size. */
static inline bool rxe_pause_is_hard(int err)
{
	return err != -ENOBUFS && err != -ENOMEM;
}

void rxe_lanes_init(struct rxe_lanes *lanes);
void rxe_pause_init(struct rxe_qp *qp);
/* A new life of the QP. */
void rxe_pause_reset(struct rxe_qp *qp);
/* As the runner, for good. */
void rxe_pause_stop(struct rxe_qp *qp);
/* rxe_pause_told(), for who waits, waited or has to. */
void rxe_pause_heard(struct rxe_qp *qp, int err, u32 segs);
/* A pass of the runner ends, for who is in a lane. BH off. */
void rxe_pause_turn_over(struct rxe_qp *qp);
/*
 * UC and UD have no timer that gives up: some networks refuse a packet each time,
 * and it is lost like any other.
 * Does what could not be sent for @err stay where it is?  Else it is lost, or
 * has left (0).
 */
bool rxe_pause_keeps_failed(struct rxe_qp *qp, int err);
static inline bool rxe_pause_keeps(struct rxe_qp *qp, int err)
{
	return unlikely(err) && rxe_pause_keeps_failed(qp, err);
}

/*
 * The same for an answer.  No timer of this QP gives up on one that a hard error
 * keeps here: after some attempts it is the requester's to ask again.
 */
bool rxe_pause_keeps_failed_answer(const struct rxe_qp *qp, int err);
static inline bool rxe_pause_keeps_answer(const struct rxe_qp *qp, int err)
{
	return unlikely(err) && rxe_pause_keeps_failed_answer(qp, err);
}

/* It is not the network's fault that no answer comes. */
bool rxe_pause_excuses(const struct rxe_qp *qp);
/* It waits, and may not send in this pass. */
bool rxe_pause_waits(struct rxe_qp *qp);
/* rxe_paused() while anybody waits. */
bool rxe_pause_holds_back(struct rxe_qp *qp);

#endif
