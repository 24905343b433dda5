// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The completer: what answers mean for the send queue (IBTA vol. 1, 9.7.5 to
 * 9.7.8), and what happens when none come.
 *
 * req.una is the oldest PSN that nothing has acknowledged.  An ACK at a PSN
 * acknowledges all SENDs and WRITEs up to it; READs, atomics and the like are
 * only done when their own answers have come, so an answer beyond those that are
 * missing says that they are lost (9.7.5.1.3, implied NAK).
 */
#include <linux/string.h>
#include "rxe_psn.h"
#include "rxe_qp.h"
#include "rxe_req.h"
#include "rxe_sq.h"

/* Delays of RNR NAK timer codes in units of 10 us, code 0 first. */
static const u16 rnr_delay[32] = {
	65536 - 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

u64 rxe_rnr_delay_ns(u8 code)
{
	/* Code 0 is 655.36 ms, one more than the table's type holds. */
	return (rnr_delay[code & 31] + (code & 31 ? 0 : 1)) * 10000ull;
}

static const u8 wc_opcodes[] = {
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_BIND_MW] = IB_WC_BIND_MW,
	[IB_WR_REG_MR] = IB_WC_REG_MR,
	[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[IB_WR_FLUSH] = IB_WC_FLUSH,
	[IB_WR_ATOMIC_WRITE] = IB_WC_ATOMIC_WRITE,
};

/* ---- completing ---- */

void rxe_qp_to_err(struct rxe_qp *qp)
{
	WRITE_ONCE(qp->state, IB_QPS_ERR);
	smp_mb();	/* the state before what is flushed: rxe_post_recv() */
	qp->attr.qp_state = IB_QPS_ERR;
	rxe_run_ack_timer_off(qp);
	qp->req.wait_rnr = false;
}

void rxe_comp_wqe(struct rxe_qp *qp, int status)
{
	struct rxe_sq *sq = &qp->sq;
	struct rxe_swqe *wqe = rxe_sq_slot(sq, sq->tail);
	bool ok = status == IB_WC_SUCCESS;
	bool quiet;
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.qp = &qp->ibqp,
	};

	if (wqe->opcode < ARRAY_SIZE(wc_opcodes))
		wc.opcode = wc_opcodes[wqe->opcode];
	if (ok && rxe_wqe_non_posted(wqe))
		wc.byte_len = wqe->length;
	if (ok && rxe_wqe_is_send(wqe))
		rxe_qp_count(qp, RXE_CNT_RDMA_SENDS);
	quiet = ok && !qp->sig_all && !(wqe->flags & IB_SEND_SIGNALED);
	/* Who sees the completion may post at once: there has to be room. */
	smp_store_release(&sq->tail, sq->tail + 1);
	rxe_sq_show_tail(qp);
	if (!quiet && rxe_cq_post(qp->scq, &wc, false) && qp->state != IB_QPS_ERR) {
		rxe_qp_to_err(qp);
		rxe_qp_event(qp, IB_EVENT_QP_FATAL);
	}
}

/* Only the send queue stops: IBTA vol. 1, 10.3.1.6. */
static void to_sqe(struct rxe_qp *qp)
{
	WRITE_ONCE(qp->state, IB_QPS_SQE);
	qp->attr.qp_state = IB_QPS_SQE;
}

void rxe_comp_fail(struct rxe_qp *qp, int status)
{
	if (rxe_qp_is_rc(qp))
		rxe_qp_to_err(qp);
	else
		to_sqe(qp);
	rxe_comp_wqe(qp, status);
}

static bool wqe_known(const struct rxe_sq *sq)
{
	/* Kernel posters fill a slot before they move the head past it. */
	return sq->tail != smp_load_acquire(&sq->head) && rxe_sq_slot(sq, sq->tail)->numbered;
}

void rxe_comp_locals(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;

	while (qp->state != IB_QPS_ERR && wqe_known(sq) &&
	       rxe_wqe_is_local(rxe_sq_slot(sq, sq->tail)))
		rxe_comp_wqe(qp, IB_WC_SUCCESS);
	/* What was going to be done again may be done. */
	if ((s32)(sq->tail - sq->next) > 0)
		sq->next = sq->tail;
}

/* ---- going forward ---- */

static void made_progress(struct rxe_qp *qp, u32 una)
{
	struct rxe_req *req = &qp->req;

	rxe_req_acked(qp, rxe_psn_diff(una, req->una));
	req->una = una;
	req->retries_left = qp->attr.retry_cnt;
	req->rnr_left = qp->attr.rnr_retry;
	req->backoff = 0;
	req->nak_seen = false;
	req->gap_seen = false;
	req->single = false;
	/* What was going to be sent again has arrived meanwhile. */
	if (rxe_psn_diff(req->psn, una) < 0)
		req->psn = una;
	rxe_comp_locals(qp);
	/* The CQ may have been full. */
	if (qp->state == IB_QPS_ERR)
		return;
	if (req->una == req->psn || !qp->attr.timeout)
		rxe_run_ack_timer_off(qp);
	else
		rxe_run_ack_timer(qp, rxe_req_patience_ns(qp));
}

/* Answers from una on are lost: ask again at once, once for each gap. */
static void implied_nak(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;

	if (req->gap_seen && req->gap_psn == req->una)
		return;
	req->gap_seen = true;
	req->gap_psn = req->una;
	rxe_qp_count(qp, RXE_CNT_IMPLIED_NAK);
	rxe_req_lost(qp, false);
}

/*
 * Everything before @psn has been executed by the responder.  Return false
 * when missing answers stand in the way.
 */
static bool acked_before(struct rxe_qp *qp, u32 psn)
{
	u32 una = qp->req.una;
	bool gap = false;

	while (qp->state != IB_QPS_ERR && wqe_known(&qp->sq) &&
	       rxe_psn_diff(psn, una) > 0) {
		struct rxe_swqe *wqe = rxe_sq_slot(&qp->sq, qp->sq.tail);

		if (rxe_wqe_non_posted(wqe)) {
			gap = true;
			break;
		}
		if (rxe_psn_diff(psn, wqe->last_psn) <= 0) {
			una = psn;
			break;
		}
		una = rxe_psn_add(wqe->last_psn, 1);
		rxe_comp_wqe(qp, IB_WC_SUCCESS);
	}
	if (qp->state == IB_QPS_ERR)
		return false;
	if (una != qp->req.una)
		made_progress(qp, una);
	if (qp->state == IB_QPS_ERR)
		return false;
	if (gap)
		implied_nak(qp);
	return !gap;
}

void rxe_comp_sent(struct rxe_qp *qp)
{
	acked_before(qp, qp->req.psn);
}

/* ---- ACK and NAK ---- */

/* Credit count codes: IBTA vol. 1, table 46: 0 1 2 3 4 6 8 12 16 24 ... */
u32 rxe_credits_decode(u8 code)
{
	if (code < 2)
		return code;
	return (2 + (code & 1)) << ((code >> 1) - 1);
}

u8 rxe_credits_encode(u32 count)
{
	u8 code = 30;

	while (code && rxe_credits_decode(code) > count)
		code--;
	return code;
}

static void take_credits(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u8 code = pkt->syndrome & RXE_AETH_VALUE_MASK;

	qp->req.credits_known = code != RXE_AETH_CREDIT_UNLIMITED;
	if (qp->req.credits_known)
		qp->req.lsn = rxe_psn_add(pkt->msn, rxe_credits_decode(code));
}

static void comp_rnr_nak(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	struct rxe_req *req = &qp->req;

	if (rxe_psn_diff(pkt->psn, req->una) < 0)
		return;
	rxe_qp_count(qp, RXE_CNT_RCVD_RNR);
	if (!acked_before(qp, pkt->psn) || req->wait_rnr || !wqe_known(&qp->sq))
		return;
	if (!req->rnr_left) {
		rxe_qp_count(qp, RXE_CNT_RNR_EXCEEDED);
		rxe_comp_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (qp->attr.rnr_retry != 7)
		req->rnr_left--;
	rxe_req_rewind(qp);
	/* Not an answer that is missing: the peer asked for this pause. */
	rxe_run_ack_timer_off(qp);
	req->wait_rnr = true;
	rxe_run_rnr_timer(qp, rxe_rnr_delay_ns(pkt->syndrome &
					       RXE_AETH_VALUE_MASK));
}

static void comp_seq_nak(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	struct rxe_req *req = &qp->req;

	if (rxe_psn_diff(pkt->psn, req->una) < 0)
		return;
	rxe_qp_count(qp, RXE_CNT_RCVD_SEQ_ERR);
	if (!acked_before(qp, pkt->psn) || req->wait_rnr || !wqe_known(&qp->sq))
		return;
	/* The same once more, and nothing has been sent since. */
	if (req->nak_seen && req->nak_psn == pkt->psn && req->psn == req->una)
		return;
	if (!req->retries_left) {
		rxe_qp_count(qp, RXE_CNT_RETRY_EXCEEDED);
		rxe_comp_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	req->retries_left--;
	if (req->nak_seen && req->nak_psn == pkt->psn && !req->single) {
		req->single = true;
		rxe_qp_count(qp, RXE_CNT_NO_TRAIN);
	}
	req->nak_seen = true;
	req->nak_psn = pkt->psn;
	rxe_req_lost(qp, false);
}

static void comp_fatal_nak(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	int status = IB_WC_REM_OP_ERR;

	if (rxe_psn_diff(pkt->psn, qp->req.una) < 0)
		return;
	rxe_qp_count(qp, RXE_CNT_RCVD_NAK);
	if (pkt->syndrome == RXE_NAK_INV_REQ)
		status = IB_WC_REM_INV_REQ_ERR;
	else if (pkt->syndrome == RXE_NAK_REM_ACC)
		status = IB_WC_REM_ACCESS_ERR;
	else if (pkt->syndrome == RXE_NAK_INV_RD_REQ)
		status = IB_WC_REM_INV_RD_REQ_ERR;

	/* A READ may be refused after some of its answers. */
	while (qp->state != IB_QPS_ERR && wqe_known(&qp->sq)) {
		struct rxe_swqe *wqe = rxe_sq_slot(&qp->sq, qp->sq.tail);

		if (rxe_wqe_is_local(wqe)) {
			/* It has its number, so it has been executed. */
			rxe_comp_wqe(qp, IB_WC_SUCCESS);
			continue;
		}
		if (rxe_psn_diff(pkt->psn, wqe->last_psn) <= 0) {
			rxe_comp_fail(qp, status);
			return;
		}
		if (rxe_wqe_non_posted(wqe)) {
			implied_nak(qp);
			return;
		}
		made_progress(qp, rxe_psn_add(wqe->last_psn, 1));
		rxe_comp_wqe(qp, IB_WC_SUCCESS);
	}
}

static void comp_ack(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	switch (pkt->syndrome & RXE_AETH_TYPE_MASK) {
	case RXE_AETH_ACK:
		if (rxe_psn_diff(pkt->psn, qp->req.una) < 0)
			break;
		take_credits(qp, pkt);
		acked_before(qp, rxe_psn_add(pkt->psn, 1));
		break;
	case RXE_AETH_RNR_NAK:
		comp_rnr_nak(qp, pkt);
		break;
	case RXE_AETH_NAK:
		if (pkt->syndrome == RXE_NAK_PSN_SEQ)
			comp_seq_nak(qp, pkt);
		else
			comp_fatal_nak(qp, pkt);
		break;
	}
}

/* ---- answers ---- */

/* The next @len bytes from wherever they are go where the WQE wants them. */
static int put_bytes(struct rxe_cursor *to, const struct rxe_pkt *pkt,
		     const void *from, u32 len)
{
	u32 done = 0;

	while (done < len) {
		u32 n = len - done;
		void *piece = rxe_cursor_next(to, &n);

		if (!piece)
			return -EFAULT;
		if (from)
			memcpy(piece, from + done, n);
		else if (skb_copy_bits(pkt->skb, pkt->payload + done, piece, n))
			return -EINVAL;
		done += n;
	}
	return 0;
}

static int store_read(struct rxe_qp *qp, const struct rxe_swqe *wqe,
		      const struct rxe_pkt *pkt)
{
	struct rxe_req *req = &qp->req;

	if (req->cursor_live && req->cursor_psn != pkt->psn)
		rxe_comp_end(qp);
	if (!req->cursor_live)
		rxe_cursor_init(&req->cursor, qp->pd,
				(const struct ib_sge *)wqe->data, wqe->num_sge,
				IB_ACCESS_LOCAL_WRITE,
				(u64)rxe_psn_diff(pkt->psn, wqe->first_psn) *
					qp->mtu);
	req->cursor_live = true;
	req->cursor_psn = rxe_psn_add(pkt->psn, 1);
	return put_bytes(&req->cursor, pkt, NULL, pkt->len);
}

/* The value before the atomic, in this machine's byte order. */
static int store_atomic(struct rxe_qp *qp, const struct rxe_swqe *wqe,
			const struct rxe_pkt *pkt)
{
	struct rxe_cursor to;
	int err;

	rxe_cursor_init(&to, qp->pd, (const struct ib_sge *)wqe->data,
			wqe->num_sge, IB_ACCESS_LOCAL_WRITE, 0);
	err = put_bytes(&to, pkt, &pkt->orig, sizeof(pkt->orig));
	rxe_cursor_end(&to);
	return err;
}

static int store_answer(struct rxe_qp *qp, const struct rxe_swqe *wqe,
			const struct rxe_pkt *pkt)
{
	if (rxe_wqe_is_read(wqe))
		return store_read(qp, wqe, pkt);
	return rxe_wqe_is_atomic(wqe) ? store_atomic(qp, wqe, pkt) : 0;
}

/*
 * An answer that fits the request but for its form (IBTA vol. 1, C9-108).
 * FLUSH and ATOMIC WRITE are answered like a READ of nothing (A19.5.2).
 */
static bool answer_bad(const struct rxe_qp *qp, const struct rxe_swqe *wqe,
		       const struct rxe_pkt *pkt, bool ends_part)
{
	u32 offset = rxe_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	u32 kind = rxe_wqe_is_atomic(wqe) ? RXE_OP_ATOMIC_RESP :
					    RXE_OP_READ_RESP;
	u32 len = rxe_wqe_is_read(wqe) ? min(wqe->length - offset, qp->mtu) : 0;
	bool ends = pkt->op->flags & RXE_OP_END;

	return !(pkt->op->flags & kind) || ends != ends_part || pkt->len != len;
}

static void comp_answer(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	struct rxe_req *req = &qp->req;
	struct rxe_swqe *wqe;
	bool ends_part;
	u32 next;

	if (rxe_psn_diff(pkt->psn, req->una) < 0)
		return;
	if (pkt->op->flags & RXE_OP_AETH)
		take_credits(qp, pkt);
	/* The request is answered: all before it has been executed. */
	if (!acked_before(qp, pkt->psn))
		return;
	if (pkt->psn != req->una || !wqe_known(&qp->sq) ||
	    req->rd_head == req->rd_tail)
		return;
	wqe = rxe_sq_slot(&qp->sq, qp->sq.tail);
	if (!rxe_wqe_non_posted(wqe))
		return;
	next = rxe_psn_add(pkt->psn, 1);
	ends_part = next == req->rd_end[req->rd_tail % RXE_MAX_RD_ATOMIC];
	if (answer_bad(qp, wqe, pkt, ends_part)) {
		rxe_comp_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (store_answer(qp, wqe, pkt)) {
		rxe_comp_fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	req->rd_pkts--;
	if (ends_part)
		req->rd_tail++;
	if (pkt->psn == wqe->last_psn) {
		rxe_comp_end(qp);
		rxe_comp_wqe(qp, IB_WC_SUCCESS);
	}
	if (qp->state != IB_QPS_ERR)
		made_progress(qp, next);
}

void rxe_comp_end(struct rxe_qp *qp)
{
	if (qp->req.cursor_live)
		rxe_cursor_end(&qp->req.cursor);
	qp->req.cursor_live = false;
}

void rxe_comp_pkt(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		return;
	/* An answer to what was never asked. */
	if (rxe_psn_diff(pkt->psn, qp->req.max_psn) >= 0)
		return;
	if (pkt->op->flags & RXE_OP_ACK)
		comp_ack(qp, pkt);
	else if (pkt->op->flags & (RXE_OP_READ_RESP | RXE_OP_ATOMIC_RESP))
		comp_answer(qp, pkt);
}

/* ---- time ---- */

/*
 * No answer for T, then 2T, then 4T each time: send again from the oldest PSN,
 * retry_cnt times.
 */
void rxe_comp_timeout(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;
	s64 early;

	if (!req->ack_deadline || !qp->attr.timeout ||
	    (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD))
		return;
	early = ktime_to_ns(ktime_sub(req->ack_deadline, ktime_get()));
	if (early > 0) {
		rxe_run_ack_timer(qp, early);
		return;
	}
	rxe_run_ack_timer_off(qp);
	if (req->wait_rnr || !wqe_known(&qp->sq))
		return;
	if (rxe_pause_excuses(qp)) {
		rxe_run_ack_timer(qp, rxe_req_patience_ns(qp));
		return;
	}
	/* Nothing is under way, nor was it kept from being so. */
	if (req->una == req->max_psn &&
	    (!(qp->pause.refused || qp->pause.lane) ||
	     qp->state == IB_QPS_SQD))
		return;
	rxe_qp_count(qp, RXE_CNT_TIMEOUT);
	if (!req->retries_left) {
		rxe_qp_count(qp, RXE_CNT_RETRY_EXCEEDED);
		rxe_comp_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	req->retries_left--;
	req->backoff = min(req->backoff + 1, 2);
	req->gap_seen = false;
	if (!req->single) {
		req->single = true;
		qp->pause.singles = RXE_PAUSE_SINGLES;
		rxe_qp_count(qp, RXE_CNT_NO_TRAIN);
	}
	/* What has not left is not lost. */
	if (req->psn == req->una)
		rxe_req_rewind(qp);
	else
		rxe_req_lost(qp, true);
	rxe_run_ack_timer(qp, rxe_req_patience_ns(qp));
}

void rxe_comp_rnr_timer(struct rxe_qp *qp)
{
	qp->req.wait_rnr = false;
}
