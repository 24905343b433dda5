// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Keeping packets that overtook others: rxe_early.h says when and why.
 */
#include "rxe_psn.h"
#include "rxe_qp.h"

/* A softirq that has to wait for its thread is late by some ticks. */
#define EARLY_DELAY_NS (20 * NSEC_PER_MSEC)
#define EARLY_BYTES (2 * 1024 * 1024)
/* How long after a change of processor packets may be out of order. */
#define EARLY_MIXED (HZ / 10)

/* rxe_rx_cb.cpu of a packet whose time is up. */
#define RXE_NO_CPU (-1)

static struct rxe_early *direction(struct rxe_qp *qp,
				   const struct rxe_pkt *pkt)
{
	return pkt->op->flags & RXE_OP_RESPONSE ? &qp->early_resp :
						  &qp->early_req;
}

static bool ahead(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	return pkt->op->flags & RXE_OP_RESPONSE ? rxe_comp_ahead(qp, pkt) :
						  rxe_resp_ahead(qp, pkt);
}

/* Behind all that have the same PSN or an earlier one. */
static void insert(struct rxe_early *early, struct sk_buff *skb)
{
	struct sk_buff *prev;

	skb_queue_reverse_walk(&early->list, prev)
		if (rxe_psn_diff(rxe_rx_cb(skb)->psn,
				 rxe_rx_cb(prev)->psn) >= 0)
			break;
	__skb_queue_after(&early->list, prev, skb);
	early->bytes += skb->truesize;
}

bool rxe_early_hold(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_early *early = direction(qp, pkt);
	struct rxe_rx_cb *cb = rxe_rx_cb(pkt->skb);

	if (cb->cpu != early->cpu && cb->cpu != RXE_NO_CPU) {
		early->cpu = cb->cpu;
		early->changed = jiffies;
	}
	if (!ahead(qp, pkt) || cb->cpu == RXE_NO_CPU ||
	    time_after(jiffies, early->changed + EARLY_MIXED) ||
	    early->bytes + pkt->skb->truesize > EARLY_BYTES)
		return false;
	if (!hrtimer_is_queued(&qp->early_timer))
		rxe_run_early_timer(qp, EARLY_DELAY_NS);
	cb->psn = pkt->psn;
	insert(early, pkt->skb);
	rxe_count(qp->rxe, RXE_CNT_EARLY);
	return true;
}

static bool head_is_early(struct rxe_qp *qp, struct sk_buff *skb)
{
	struct rxe_rx_cb *cb = rxe_rx_cb(skb);
	struct rxe_pkt pkt;

	return !rxe_pkt_parse(&pkt, skb, cb->off, min(cb->len, cb->seg_len)) &&
	       ahead(qp, &pkt);
}

static void release(struct rxe_qp *qp, struct rxe_early *early, bool all)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&early->list)) &&
	       (all || !head_is_early(qp, skb))) {
		__skb_unlink(skb, &early->list);
		early->bytes -= skb->truesize;
		/* It is not kept once more. */
		if (all)
			rxe_rx_cb(skb)->cpu = RXE_NO_CPU;
		rxe_run_skb(qp, skb);
	}
}

void rxe_early_release(struct rxe_qp *qp)
{
	release(qp, &qp->early_req, false);
	release(qp, &qp->early_resp, false);
}

void rxe_early_expire(struct rxe_qp *qp)
{
	release(qp, &qp->early_req, true);
	release(qp, &qp->early_resp, true);
	rxe_comp_end(qp);
	rxe_resp_end(qp);
}

void rxe_early_purge(struct rxe_qp *qp)
{
	__skb_queue_purge(&qp->early_req.list);
	__skb_queue_purge(&qp->early_resp.list);
	qp->early_req.bytes = 0;
	qp->early_resp.bytes = 0;
}

void rxe_early_init(struct rxe_qp *qp)
{
	__skb_queue_head_init(&qp->early_req.list);
	__skb_queue_head_init(&qp->early_resp.list);
	qp->early_req.changed = jiffies - EARLY_MIXED - 1;
	qp->early_resp.changed = qp->early_req.changed;
}
