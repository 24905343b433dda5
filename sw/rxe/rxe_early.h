/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packets that overtook others inside this machine.
 *
 * lo, veth and receive queues deliver in order on each processor, not across
 * them: when a sender moves to another one, its packets may get here before
 * those it sent earlier.  Nothing is lost then, and asking again would only
 * make more of it.  So while packets come in on more than one processor, those
 * behind a gap are kept for a moment.  When all come in on one, a gap says that
 * something is lost, and nothing is kept.
 *
 * Lifetime: embedded in the QP, the runner's own.  Kept skbs belong to the
 * list, and go when the gap is filled, when time is up, or with the QP.
 */
#ifndef SOFTROCE_RXE_EARLY_H
#define SOFTROCE_RXE_EARLY_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct rxe_pkt;
struct rxe_qp;

/**
 * struct rxe_early - what is kept of one direction
 * @list: skbs by the PSN of their first packet
 * @bytes: memory they take
 * @cpu: where the last packet came in
 * @changed: jiffies when that was another one than before
 */
struct rxe_early {
	struct sk_buff_head list;
	u32 bytes;
	int cpu;
	unsigned long changed;
};

void rxe_early_init(struct rxe_qp *qp);
/* True: @pkt's skb is kept, from @pkt on. */
bool rxe_early_hold(struct rxe_qp *qp, const struct rxe_pkt *pkt);
/* Handle what is not early any more. */
void rxe_early_release(struct rxe_qp *qp);
/* Handle everything, gap or not. */
void rxe_early_expire(struct rxe_qp *qp);
void rxe_early_purge(struct rxe_qp *qp);

#endif
