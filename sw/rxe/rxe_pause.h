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
 * The pause is 1/4 ms and doubles while nothing gets through: the first are
 * short beside the time that a queue lasts and beside the turns that other QPs
 * take at it, and those of a queue that seems dead cost nothing.
 *
 * A queue that cuts trains itself (tbf) may take a train's first packets, drop
 * the others and report success.  After a refusal packets go out one by one,
 * and the answer to each is exact, until so many in a row have got through that
 * the queue seems to have room again.
 *
 * Without memory for a packet the QP pauses in the same way: nothing has been
 * lost, so no retry is spent, and UC and UD do not give up either.
 *
 * What cannot leave for another reason (no route, a firewall, a packet that is too
 * long) will not leave with the next packet either: RC stops there and tries the
 * same again after such a pause, and the ACK timer counts as if it had been lost.
 * UC leaves out the rest of the message.
 *
 * The ACK timer goes on while there is no room: a queue that never has room is a network
 * that loses everything, and the QP gives up as it would there, though not
 * before RXE_PAUSE_PATIENCE_NS each time.  A fatal NAK is tried
 * RXE_PAUSE_GIVE_UP times.
 *
 * Lifetime: embedded in the QP, the runner's own.  The timer only runs the QP; it
 * begins and ends with the runner's other timers (rxe_run.c).
 */
#ifndef SOFTROCE_RXE_PAUSE_H
#define SOFTROCE_RXE_PAUSE_H

#include <linux/hrtimer.h>
#include <linux/types.h>

struct rxe_qp;

#define RXE_PAUSE_NS (250 * NSEC_PER_USEC)
#define RXE_PAUSE_DOUBLINGS 8
#define RXE_PAUSE_PATIENCE_NS (4 * NSEC_PER_MSEC)
#define RXE_PAUSE_GIVE_UP 8
/* A datagram is worth less of it. */
#define RXE_PAUSE_GIVE_UP_UD 3
#define RXE_PAUSE_SINGLES 256

/**
 * struct rxe_pause - waiting for room in a queue
 * @timer: ends the pause
 * @until: when that is
 * @refused: times in a row that a train was refused; 0: the last one was not
 * @singles: so many packets are still sent one by one
 * @err: and what the answer was
 */
struct rxe_pause {
	struct hrtimer timer;
	ktime_t until;
	u8 refused;
	u16 singles;
	int err;
};

/* Neither room nor memory is what lacks: a route, a right, the size. */
static inline bool rxe_pause_is_hard(int err)
{
	return err != -ENOBUFS && err != -ENOMEM;
}

void rxe_pause_init(struct rxe_qp *qp);
/* A new life of the QP. */
void rxe_pause_reset(struct rxe_qp *qp);
/* As the runner, for good. */
void rxe_pause_stop(struct rxe_qp *qp);
/*
 * What became of a train of @segs packets: the network's answer, or -ENOMEM when
 * there was no memory for it.  BH off.
 */
void rxe_pause_told(struct rxe_qp *qp, int err, u32 segs);
/*
 * UC and UD have no timer that gives up: some networks refuse a packet each time,
 * and it is lost like any other.
 * Does what could not be sent for @err stay where it is?  Else it is lost, or
 * has left (0).
 */
bool rxe_pause_keeps(struct rxe_qp *qp, int err);
/*
 * The same for an answer.  No timer of this QP gives up on one that a hard error
 * keeps here: after some attempts it is the requester's to ask again.
 */
bool rxe_pause_keeps_answer(const struct rxe_qp *qp, int err);
/* It is not the network's fault that no answer comes. */
bool rxe_pause_excuses(const struct rxe_qp *qp);
/* Nothing may be sent now. */
bool rxe_paused(const struct rxe_qp *qp);

#endif
