// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The requester: turns send WQEs into packets, as far as the window, the
 * responder's credits, fences and the run's budget allow (IBTA vol. 1, 9.7).
 *
 * Where it stands is a PSN and the WQE that PSN belongs to; a message's next
 * packet follows from the two.  To send again is to set both back.
 */
#include <linux/jiffies.h>
#include "rxe_ah.h"
#include "rxe_mw.h"
#include "rxe_psn.h"
#include "rxe_qp.h"
#include "rxe_req.h"
#include "rxe_sq.h"
#include "rxe_train.h"

#define OPCODES(service, kind, last, only)                                     \
	{ IB_OPCODE_##service##_##kind##_FIRST,                                \
	  IB_OPCODE_##service##_##kind##_MIDDLE,                               \
	  IB_OPCODE_##service##_##kind##_##last,                               \
	  IB_OPCODE_##service##_##kind##_##only }
#define WR_OPCODES(service) {                                                  \
	[IB_WR_SEND] = OPCODES(service, SEND, LAST, ONLY),                     \
	[IB_WR_SEND_WITH_IMM] = OPCODES(service, SEND, LAST_WITH_IMMEDIATE,    \
					ONLY_WITH_IMMEDIATE),                  \
	[IB_WR_RDMA_WRITE] = OPCODES(service, RDMA_WRITE, LAST, ONLY),         \
	[IB_WR_RDMA_WRITE_WITH_IMM] = OPCODES(service, RDMA_WRITE,             \
					      LAST_WITH_IMMEDIATE,             \
					      ONLY_WITH_IMMEDIATE),            \
}

static const struct rxe_opcodes rc_opcodes[] = WR_OPCODES(RC);
static const struct rxe_opcodes inv_opcodes =
	OPCODES(RC, SEND, LAST_WITH_INVALIDATE, ONLY_WITH_INVALIDATE);
static const struct rxe_opcodes uc_opcodes[] = WR_OPCODES(UC);

static const struct rxe_opcodes *message_opcodes(const struct rxe_qp *qp,
						 const struct rxe_swqe *wqe)
{
	if (wqe->opcode == IB_WR_SEND_WITH_INV)
		return &inv_opcodes;
	return rxe_qp_is_rc(qp) ? &rc_opcodes[wqe->opcode] :
				  &uc_opcodes[wqe->opcode];
}

/* How many messages the responder counts in its MSN. */
static u32 wqe_messages(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	return rxe_wqe_is_read(wqe) ?
		       DIV_ROUND_UP(rxe_num_packets(qp, wqe->length),
				    RXE_READ_BYTES / qp->mtu) : 1;
}

static void number_wqe(struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	struct rxe_req *req = &qp->req;

	wqe->first_psn = req->psn;
	wqe->last_psn = rxe_psn_add(req->psn, rxe_num_packets(qp, wqe->length) - 1);
	wqe->ssn = req->ssn;
	req->ssn = rxe_psn_add(req->ssn, wqe_messages(qp, wqe));
	wqe->numbered = true;
}

/* How many more packets the window takes. */
static u32 window_room(const struct rxe_qp *qp)
{
	const struct rxe_req *req = &qp->req;
	u32 used = rxe_psn_diff(req->psn, req->una);

	/* What READs ask for is the responder's to send. */
	used -= min(used, req->rd_pkts);
	return used < req->window ? req->window - used : 0;
}

/*
 * The responder's last ACK left no credit for this message: it may be tried
 * with one packet, which asks for an answer (IBTA vol. 1, 9.7.7.2.5).
 */
static bool out_of_credit(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	return qp->req.credits_known &&
	       (rxe_wqe_is_send(wqe) || rxe_wqe_has_imm(wqe)) &&
	       rxe_psn_diff(wqe->ssn, qp->req.lsn) > 0;
}

/*
 * What is executed here takes no room in the window: it is not begun when as many
 * are under way as that has packets, for one answer may complete them all.
 */
static bool too_many(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	return rxe_wqe_is_local(wqe) && !wqe->numbered &&
	       qp->sq.next - qp->sq.tail >= RXE_LOCALS_MAX;
}

/*
 * IB_SEND_FENCE: no READ or atomic before @wqe is unfinished.  A region ends when
 * nothing before can need it, were it to be sent again; peers alone use windows.
 */
static bool fenced(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	if (wqe->opcode == IB_WR_LOCAL_INV && !rxe_key_is_mw(wqe->rkey) &&
	    !wqe->numbered)
		return qp->sq.tail != qp->sq.next;
	return (wqe->flags & IB_SEND_FENCE) &&
	       qp->req.rd_head != qp->req.rd_tail;
}

/* Has any packet of @wqe, the next one, been sent since it was numbered? */
static bool wqe_begun(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	return wqe->numbered && qp->req.max_psn != wqe->first_psn;
}

u64 rxe_req_patience_ns(const struct rxe_qp *qp)
{
	u64 ns = rxe_ack_timeout_ns(qp->attr.timeout) << qp->req.backoff;

	/* What waits for room in a queue here has not had its chance yet. */
	return qp->pause.refused || qp->pause.lane ? max_t(u64, ns, RXE_PAUSE_PATIENCE_NS) : ns;
}

/* An answer is to come, to what was sent or to what should have been. */
static void await_answer(struct rxe_qp *qp)
{
	if (!qp->req.ack_deadline && qp->attr.timeout)
		rxe_run_ack_timer(qp, rxe_req_patience_ns(qp));
}

/* Packets before @psn may be on their way. */
static void tried_up_to(struct rxe_qp *qp, u32 psn)
{
	struct rxe_req *req = &qp->req;

	req->tx_cpu = smp_processor_id();
	req->tx_jiffies = jiffies;
	if (rxe_psn_diff(psn, req->max_psn) > 0)
		req->max_psn = psn;
	await_answer(qp);
}

static void sent_up_to(struct rxe_qp *qp, struct rxe_swqe *wqe, u32 psn,
		       struct rxe_budget *b)
{
	struct rxe_req *req = &qp->req;

	req->psn = psn;
	if (rxe_psn_diff(psn, wqe->last_psn) > 0) {
		qp->sq.next++;
		b->wqes--;
	}
	tried_up_to(qp, psn);
}

static void wqe_cursor(struct rxe_qp *qp, const struct rxe_swqe *wqe,
		       struct rxe_cursor *c, u32 offset)
{
	if (wqe->flags & IB_SEND_INLINE)
		rxe_cursor_init_inline(c, wqe->data, offset);
	else
		rxe_cursor_init(c, qp->pd, (const struct ib_sge *)wqe->data,
				wqe->num_sge, 0, offset);
}

static void fill_pkt(struct rxe_qp *qp, const struct rxe_swqe *wqe,
		     const struct rxe_msg *msg, u32 index, struct rxe_pkt *pkt)
{
	struct rxe_req *req = &qp->req;
	u32 psn = rxe_psn_add(wqe->first_psn, index);
	bool last = psn == wqe->last_psn;

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = rxe_msg_packet(msg, index, &pkt->len);
	pkt->solicited = last && (wqe->flags & IB_SEND_SOLICITED);
	pkt->ack_req = rxe_qp_is_rc(qp) &&
		       (last || rxe_psn_diff(psn, req->max_psn) < 0);
	pkt->pkey = RXE_DEFAULT_PKEY;
	pkt->qpn = qp->dest_qpn;
	pkt->psn = psn;
	pkt->va = wqe->remote_addr;
	pkt->rkey = wqe->rkey;
	pkt->ieth = wqe->rkey;
	pkt->dmalen = wqe->length;
	pkt->imm = wqe->imm;
}

/*
 * An answer to this train's last packet is wanted: much is on its way without
 * one, or the run ends with it and the answer may be what makes it go on.
 */
static bool want_ack(const struct rxe_qp *qp, u32 psn,
		     const struct rxe_budget *b)
{
	if (!rxe_qp_is_rc(qp))
		return false;
	return !rxe_budget_left(b) ||
	       rxe_psn_diff(psn, qp->req.una) > qp->req.window / 4;
}

/* Can the network take the answers to one more READ of @pkts packets? */
static bool reads_fit(const struct rxe_req *req, u32 pkts)
{
	return req->window == RXE_WINDOW_PKTS || !req->rd_pkts ||
	       req->rd_pkts + pkts <= req->window;
}

/*
 * What keeps a burst back: one packet, or none, may go until an answer comes, or
 * all but a last one.  @max: how many may go; @asks: which of the message asks for
 * the answer.  False: none.
 *
 * As long as the next hop has no address, one packet is sent: a window of them
 * would not fit into the neighbour's queue.  UC has no answers, and goes on.
 */
static noinline bool keep_back(struct rxe_qp *qp, const struct rxe_swqe *wqe,
			       const struct rxe_msg *msg, u32 index, u32 *max,
			       u32 *asks)
{
	if (rxe_qp_is_rc(qp) && !rxe_flow_resolved(&qp->flow)) {
		if (qp->flow.neigh_asked && qp->req.psn != qp->req.una)
			return false;
		qp->flow.neigh_asked = true;
	} else if (!out_of_credit(qp, wqe)) {
		return true;
	} else if (!rxe_wqe_is_send(wqe) && index + 1 < msg->packets) {
		/* A WRITE's last packet takes the receive. */
		*asks = msg->packets - 2;
		*max = min(*max, msg->packets - 1 - index);
		return true;
	} else if (qp->req.psn != qp->req.una) {
		return false;
	}
	*asks = index;
	*max = 1;
	return true;
}

/* Send the next train of a SEND or WRITE; false: not now. */
static bool send_message(struct rxe_qp *qp, struct rxe_swqe *wqe,
			 struct rxe_budget *b)
{
	struct rxe_req *req = &qp->req;
	u32 index = rxe_psn_diff(req->psn, wqe->first_psn);
	struct rxe_msg msg = {
		.opcodes = message_opcodes(qp, wqe),
		.length = wqe->length,
		.packets = rxe_num_packets(qp, wqe->length),
		.mtu = qp->mtu,
	};
	u32 max = min(msg.packets - index, window_room(qp));
	u32 asks = U32_MAX;
	u32 seg_len, bytes, n, i;
	struct rxe_cursor from;
	struct rxe_train t;
	struct rxe_pkt pkt;
	int err;

	if (!max)
		return false;
	if ((out_of_credit(qp, wqe) || !rxe_flow_resolved(&qp->flow)) &&
	    !keep_back(qp, wqe, &msg, index, &max, &asks))
		return false;
	if (req->single)
		max = 1;
	n = rxe_train_plan(qp, &msg, index, max, &seg_len, &bytes);
	n = rxe_train_begin(&t, qp, seg_len, n, bytes);
	if (!n) {
		qp->flow.neigh_asked = false;
		tried_up_to(qp, req->psn);
		return false;
	}
	wqe_cursor(qp, wqe, &from, index * qp->mtu);
	b->bytes -= bytes;
	for (i = 0; i < n; i++) {
		fill_pkt(qp, wqe, &msg, index + i, &pkt);
		if (index + i == asks ||
		    (i == n - 1 && want_ack(qp, pkt.psn, b)))
			pkt.ack_req = true;
		if (rxe_train_add(&t, &pkt, &from)) {
			wqe->status = IB_WC_LOC_PROT_ERR;
			break;
		}
	}
	rxe_cursor_end(&from);
	err = rxe_train_send(&t);
	if (rxe_pause_keeps(qp, err)) {
		qp->flow.neigh_asked = false;
		tried_up_to(qp, rxe_psn_add(req->psn, i));
		return false;
	}
	/* Of a message that has a hole the rest is of no use (UC). */
	if (err && wqe->status == IB_WC_SUCCESS)
		i = msg.packets - index;
	/* A WQE that cannot be read stays the next one, and fails as such. */
	if (i)
		sent_up_to(qp, wqe, rxe_psn_add(req->psn, i), b);
	return true;
}

/* The request for the next part of a READ, packets @index to @end - 1. */
static void fill_read(const struct rxe_qp *qp, const struct rxe_swqe *wqe,
		      u32 index, u32 end, struct rxe_pkt *pkt)
{
	u32 offset = index * qp->mtu;

	pkt->opcode = IB_OPCODE_RC_RDMA_READ_REQUEST;
	pkt->va += offset;
	pkt->dmalen = min(wqe->length - offset, (end - index) * qp->mtu);
}

static void fill_non_posted(const struct rxe_qp *qp,
			    const struct rxe_swqe *wqe, struct rxe_pkt *pkt)
{
	switch (wqe->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		pkt->opcode = IB_OPCODE_RC_COMPARE_SWAP;
		pkt->compare = wqe->compare_add;
		pkt->swap_add = wqe->swap;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		pkt->opcode = IB_OPCODE_RC_FETCH_ADD;
		pkt->swap_add = wqe->compare_add;
		break;
	case IB_WR_ATOMIC_WRITE:
		pkt->opcode = IB_OPCODE_RC_ATOMIC_WRITE;
		pkt->dmalen = wqe->length;
		pkt->len = wqe->length;
		break;
	default:
		pkt->opcode = IB_OPCODE_RC_FLUSH;
		pkt->dmalen = wqe->range;
		pkt->feth = wqe->feth;
		break;
	}
}

/* Behind which packet of @wqe the answers to the next request end. */
static u32 answers_end(const struct rxe_qp *qp, const struct rxe_swqe *wqe,
		       u32 index)
{
	u32 part = RXE_READ_BYTES / qp->mtu;

	return min(rounddown(index, part) + part,
		   rxe_num_packets(qp, wqe->length));
}

/* Send the next request of what has answers of its own; false: not now. */
static bool send_non_posted(struct rxe_qp *qp, struct rxe_swqe *wqe,
			    struct rxe_budget *b)
{
	struct rxe_req *req = &qp->req;
	u32 index = rxe_psn_diff(req->psn, wqe->first_psn);
	u32 end = answers_end(qp, wqe, index);
	u32 end_psn = rxe_psn_add(wqe->first_psn, end);
	struct rxe_pkt pkt = {
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = qp->dest_qpn,
		.psn = req->psn,
		.va = wqe->remote_addr,
		.rkey = wqe->rkey,
	};
	struct rxe_cursor from;
	int err;

	if (!qp->attr.max_rd_atomic) {
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return true;
	}
	if (req->rd_head - req->rd_tail >= qp->attr.max_rd_atomic ||
	    !reads_fit(req, end - index))
		return false;
	if (rxe_wqe_is_read(wqe))
		fill_read(qp, wqe, index, end, &pkt);
	else
		fill_non_posted(qp, wqe, &pkt);
	wqe_cursor(qp, wqe, &from, 0);
	err = rxe_send_one(qp, &pkt, &from);
	rxe_cursor_end(&from);
	if (err == -EFAULT) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (rxe_pause_keeps(qp, err)) {
		tried_up_to(qp, end_psn);
		return false;
	}
	req->rd_end[req->rd_head++ % RXE_MAX_RD_ATOMIC] = end_psn;
	req->rd_pkts += end - index;
	b->bytes -= 64;
	sent_up_to(qp, wqe, end_psn, b);
	return true;
}

/*
 * A datagram, whole (IBTA vol. 1, 9.8.3.1).  A Q_Key with the highest bit set
 * stands for the QP's own (10.2.5).
 */
static bool send_datagram(struct rxe_qp *qp, struct rxe_swqe *wqe,
			  struct rxe_budget *b)
{
	struct rxe_req *req = &qp->req;
	struct rxe_pkt pkt = {
		.opcode = rxe_wqe_has_imm(wqe) ?
				  IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
				  IB_OPCODE_UD_SEND_ONLY,
		.solicited = wqe->flags & IB_SEND_SOLICITED,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = wqe->remote_qpn & 0xffffff,
		.psn = req->psn,
		.qkey = wqe->remote_qkey & BIT(31) ? qp->attr.qkey :
						     wqe->remote_qkey,
		.sqpn = qp->qpn,
		.imm = wqe->imm,
		.len = wqe->length,
	};
	struct rxe_cursor from;
	int err;

	if (wqe->length > READ_ONCE(qp->rxe->mtu)) {
		wqe->status = IB_WC_LOC_LEN_ERR;
		return true;
	}
	err = rxe_ah_use(qp, wqe->ah_num, pkt.qpn);
	if (err == -ENOENT) {
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return true;
	}
	wqe_cursor(qp, wqe, &from, 0);
	err = rxe_send_one(qp, &pkt, &from);
	rxe_cursor_end(&from);
	if (err == -EFAULT) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (rxe_pause_keeps(qp, err)) {
		tried_up_to(qp, rxe_psn_add(req->psn, 1));
		return false;
	}
	b->bytes -= 64 + wqe->length;
	sent_up_to(qp, wqe, rxe_psn_add(req->psn, 1), b);
	return true;
}

/* -EAGAIN: not yet.  Else it has been done, or its status says why not. */
static int execute(struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	int failure = IB_WC_LOC_QP_OP_ERR, ret;

	switch (wqe->opcode) {
	case IB_WR_BIND_MW:
		failure = IB_WC_MW_BIND_ERR;
		ret = rxe_mw_bind(qp, &wqe->bind);
		break;
	case IB_WR_REG_MR:
		ret = rxe_mr_enforce(qp->pd, wqe->mr, wqe->mr_key,
				     wqe->mr_access);
		break;
	default:
		ret = rxe_key_invalidate(qp, wqe->rkey, false);
	}
	if (ret == -EINVAL)
		wqe->status = failure;
	return ret;
}

/*
 * Between the requests before and behind it, once: what has its number has been
 * executed.  It completes behind those before it.  Return false when that has to
 * wait until another processor is done with what it ends.
 */
static bool do_local(struct rxe_qp *qp, struct rxe_swqe *wqe,
		     struct rxe_budget *b)
{
	struct rxe_req *req = &qp->req;

	if (!wqe->numbered) {
		if (execute(qp, wqe) == -EAGAIN)
			return false;
		if (wqe->status != IB_WC_SUCCESS)
			return true;
		/* No PSN: it ends before it begins. */
		wqe->first_psn = req->psn;
		wqe->last_psn = rxe_psn_add(req->psn, -1);
		wqe->ssn = req->ssn;
		wqe->numbered = true;
	}
	qp->sq.next++;
	b->wqes--;
	rxe_comp_locals(qp);
	return true;
}

static bool send_next(struct rxe_qp *qp, struct rxe_swqe *wqe,
		      struct rxe_budget *b)
{
	if (rxe_qp_is_ud(qp))
		return send_datagram(qp, wqe, b);
	if (rxe_wqe_non_posted(wqe))
		return send_non_posted(qp, wqe, b);
	return send_message(qp, wqe, b);
}

/* SQD: what was begun is finished, nothing else is begun. */
static bool may_begin(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	return qp->state == IB_QPS_RTS ||
	       (qp->state == IB_QPS_SQD && wqe_begun(qp, wqe));
}

/* Everything that was begun in SQD is done: tell, once (IBTA 10.3.1.5). */
void rxe_req_check_drained(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_SQD || qp->req.drain_told ||
	    sq->tail != sq->next)
		return;
	/* The head before what is in the slot: post_kernel(). */
	if (sq->next != smp_load_acquire(&sq->head) &&
	    wqe_begun(qp, rxe_sq_slot(sq, sq->next)))
		return;
	qp->req.drain_told = true;
	if (qp->attr.en_sqd_async_notify)
		rxe_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

bool rxe_req_work(struct rxe_qp *qp, struct rxe_budget *b)
{
	struct rxe_swqe *wqe;

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		return false;
	while (!qp->req.wait_rnr && (wqe = rxe_sq_fetch(qp))) {
		if (!may_begin(qp, wqe))
			break;
		if (wqe->status != IB_WC_SUCCESS) {
			/* Its turn to complete comes behind the others'. */
			if (qp->sq.tail == qp->sq.next)
				rxe_comp_fail(qp, wqe->status);
			break;
		}
		if (fenced(qp, wqe) || too_many(qp, wqe))
			break;
		if (!rxe_budget_left(b))
			return true;
		if (rxe_wqe_is_local(wqe)) {
			if (!do_local(qp, wqe, b))
				return true;
			continue;
		}
		if (!wqe->numbered)
			number_wqe(qp, wqe);
		if (rxe_paused(qp)) {
			/* Perhaps for an answer that had no room. */
			await_answer(qp);
			break;
		}
		if (!send_next(qp, wqe, b))
			break;
		/* Without answers what has left is done. */
		if (!rxe_qp_is_rc(qp))
			rxe_comp_sent(qp);
	}
	return false;
}

bool rxe_req_may_move(const struct rxe_qp *qp)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_RC:
		return qp->req.una == qp->req.max_psn;
	case IB_QPT_UC:
		/*
		 * No answer tells that they have arrived, but time: more than
		 * a busy host keeps a virtual processor with packets in its
		 * queue from running.
		 */
		return time_after(jiffies, qp->req.tx_jiffies + HZ);
	default:
		/* Datagrams have no order. */
		return true;
	}
}

bool rxe_req_pending(struct rxe_qp *qp)
{
	return (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) &&
	       !qp->req.wait_rnr && !rxe_pause_waits(qp) && rxe_sq_fetch(qp);
}

void rxe_req_rewind(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;
	struct rxe_sq *sq = &qp->sq;

	rxe_qp_count(qp, RXE_CNT_RETRY);
	rxe_mw_reopen(qp);
	sq->next = sq->tail;
	/* What a slot had before is numbered: the head comes first. */
	while (sq->next != smp_load_acquire(&sq->head)) {
		struct rxe_swqe *wqe = rxe_sq_slot(sq, sq->next);

		if (!wqe->numbered || rxe_psn_diff(req->una, wqe->last_psn) <= 0)
			break;
		sq->next++;
	}
	req->psn = req->una;
	qp->flow.neigh_asked = false;
	/* Every non-posted request ends beyond it: all are sent again. */
	req->rd_head = req->rd_tail;
	req->rd_pkts = 0;
}

void rxe_req_lost(struct rxe_qp *qp, bool timeout)
{
	struct rxe_req *req = &qp->req;

	/* Holes that were there already belong to the same event. */
	if (timeout || rxe_psn_diff(req->una, req->recover_psn) >= 0) {
		req->window = max(req->window / 2, RXE_WINDOW_MIN);
		req->acked = 0;
		req->recover_psn = req->max_psn;
	}
	rxe_req_rewind(qp);
}

void rxe_req_acked(struct rxe_qp *qp, u32 pkts)
{
	struct rxe_req *req = &qp->req;

	req->acked += pkts;
	if (req->acked < 2 * req->window)
		return;
	req->acked = 0;
	req->window = min(req->window + 1, RXE_WINDOW_PKTS);
}

bool rxe_req_flush(struct rxe_qp *qp, struct rxe_budget *b)
{
	struct rxe_sq *sq = &qp->sq;

	rxe_mw_reopen(qp);
	sq->next = sq->tail;
	while (rxe_sq_fetch(qp)) {
		if (b->wqes-- <= 0)
			return true;
		sq->next++;
		rxe_comp_wqe(qp, IB_WC_WR_FLUSH_ERR);
	}
	return false;
}

void rxe_req_reset(struct rxe_qp *qp)
{
	memset(&qp->req, 0, sizeof(qp->req));
	qp->req.ssn = 1;
	qp->req.window = RXE_WINDOW_PKTS;
}
