// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The responder: executes requests in PSN order and answers once a burst
 * (IBTA vol. 1, 9.7.4 and 9.7.5); those of UC without an answer (9.8.2).
 *
 * What goes out goes out in PSN order: an ACK or NAK waits for the answers of
 * the READs before it, or the requester would take these for lost.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/ip.h>
#include "rxe_mw.h"
#include "rxe_psn.h"
#include "rxe_qp.h"
#include "rxe_req.h"
#include "rxe_resp.h"
#include "rxe_srq.h"
#include "rxe_train.h"

/* Which operation is open: its FIRST has come and its LAST has not. */
enum rxe_in_msg {
	IN_NOTHING,
	IN_SEND,
	IN_WRITE,
};

/* ---- answers ---- */

u8 rxe_resp_credits(const struct rxe_qp *qp)
{
	/* Others may take what an SRQ has (IBTA vol. 1, 9.7.7.2). */
	if (qp->srq)
		return RXE_AETH_ACK | RXE_AETH_CREDIT_UNLIMITED;
	/* The message under way has its receive already. */
	return RXE_AETH_ACK | rxe_credits_encode(rxe_rq_count(&qp->rq) +
						 qp->resp.wqe_held);
}

void rxe_resp_reply(struct rxe_qp *qp, u8 syndrome)
{
	struct rxe_resp *resp = &qp->resp;

	/* A NAK says all that an ACK would. */
	if (!resp->reply_due || syndrome & RXE_AETH_TYPE_MASK)
		resp->reply = syndrome;
	resp->reply_due = true;
}

void rxe_resp_fatal(struct rxe_qp *qp, u8 syndrome, enum ib_event_type event)
{
	rxe_qp_count(qp, RXE_CNT_SENT_NAK);
	rxe_resp_reply(qp, syndrome);
	qp->resp.fatal = event + 1;
}

/* UC: what is left of the message is for nobody, and its receive for another. */
static void drop_message(struct rxe_qp *qp)
{
	rxe_qp_count(qp, RXE_CNT_DROP_MESSAGE);
	rxe_resp_end(qp);
	qp->resp.in_msg = IN_NOTHING;
}

/* The requester asks for what cannot be. */
static void refuse(struct rxe_qp *qp, u8 syndrome, enum ib_event_type event)
{
	if (rxe_qp_is_rc(qp))
		rxe_resp_fatal(qp, syndrome, event);
	else
		drop_message(qp);
}

static void send_reply(struct rxe_qp *qp)
{
	struct rxe_resp *resp = &qp->resp;
	bool nak = resp->reply & RXE_AETH_TYPE_MASK;
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_ACKNOWLEDGE,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = qp->dest_qpn,
		/* An ACK names the last one executed, a NAK the one refused. */
		.psn = nak ? resp->psn : rxe_psn_add(resp->psn, -1),
		.syndrome = nak ? resp->reply : rxe_resp_credits(qp),
		.msn = resp->msn,
	};

	/*
	 * What there is no room or memory for goes out later, but the QP does
	 * not wait for ever to tell its owner.
	 */
	if (rxe_pause_keeps_answer(qp, rxe_send_one(qp, &pkt, NULL)) &&
	    (!resp->fatal || qp->pause.refused < RXE_PAUSE_GIVE_UP))
		return;
	resp->reply_due = false;
	if (resp->fatal) {
		rxe_qp_to_err(qp);
		rxe_qp_event(qp, resp->fatal - 1);
		resp->fatal = 0;
	}
}

bool rxe_resp_due(const struct rxe_qp *qp)
{
	return rxe_resp_jobs_pending(qp) || qp->resp.reply_due;
}

bool rxe_resp_work(struct rxe_qp *qp, struct rxe_budget *b)
{
	if (qp->state < IB_QPS_RTR || qp->state == IB_QPS_ERR)
		return false;
	if (rxe_resp_jobs_pending(qp) && rxe_resp_jobs_work(qp, b))
		return true;
	if (qp->resp.reply_due && !rxe_resp_jobs_pending(qp) &&
	    !rxe_paused(qp))
		send_reply(qp);
	return false;
}

/* ---- completions ---- */

static void post_recv_wc(struct rxe_qp *qp, struct ib_wc *wc, bool solicited)
{
	struct rxe_resp *resp = &qp->resp;

	wc->wr_id = resp->wqe.wr_id;
	wc->qp = &qp->ibqp;
	if (!rxe_qp_is_ud(qp))
		wc->src_qp = qp->dest_qpn;
	wc->port_num = 1;
	resp->wqe_held = false;
	if (rxe_cq_post(qp->rcq, wc, solicited) && qp->state != IB_QPS_ERR) {
		rxe_qp_to_err(qp);
		rxe_qp_event(qp, IB_EVENT_QP_FATAL);
	}
}

static void fail_recv(struct rxe_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	if (qp->resp.wqe_held)
		post_recv_wc(qp, &wc, true);
}

/* The receive that is held is at fault, not the requester. */
static void fail_here(struct rxe_qp *qp, enum ib_wc_status status)
{
	if (rxe_qp_is_rc(qp)) {
		rxe_resp_fatal(qp, RXE_NAK_REM_OP, IB_EVENT_QP_FATAL);
		fail_recv(qp, status);
		return;
	}
	drop_message(qp);
	fail_recv(qp, status);
	/* The CQ may have been full, and that told. */
	if (qp->state == IB_QPS_ERR)
		return;
	rxe_qp_to_err(qp);
	rxe_qp_event(qp, IB_EVENT_QP_FATAL);
}

/* There is no receive for the message. */
static void not_ready(struct rxe_qp *qp)
{
	if (!rxe_qp_is_rc(qp)) {
		drop_message(qp);
		return;
	}
	rxe_qp_count(qp, RXE_CNT_SENT_RNR);
	rxe_resp_reply(qp, RXE_AETH_RNR_NAK | (qp->attr.min_rnr_timer & 31));
	qp->resp.nak_sent = true;
}

/*
 * A receive for the message, with room for @need bytes at least; false: what is
 * wrong has been dealt with.
 */
static bool take_recv(struct rxe_qp *qp, u32 need)
{
	struct rxe_resp *resp = &qp->resp;
	int err;

	if (resp->wqe_held)
		return true;
	err = rxe_rq_take(qp, &resp->wqe, need);
	if (err == -ENOENT) {
		not_ready(qp);
		return false;
	}
	if (err == -EMSGSIZE) {
		drop_message(qp);
		return false;
	}
	resp->wqe_held = true;
	if (err)
		fail_here(qp, IB_WC_LOC_QP_OP_ERR);
	return !err;
}

/* ---- payload ---- */

static int store(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	u32 done = 0;

	while (done < pkt->len) {
		u32 n = pkt->len - done;
		void *to = rxe_cursor_next(&resp->cursor, &n);

		if (!to || skb_copy_bits(pkt->skb, pkt->payload + done, to, n))
			return -EFAULT;
		done += n;
	}
	resp->written += pkt->len;
	return 0;
}

void rxe_resp_end(struct rxe_qp *qp)
{
	if (qp->resp.cursor_live)
		rxe_cursor_end(&qp->resp.cursor);
	qp->resp.cursor_live = false;
}

/* ---- SEND ---- */

/* Whose regions a receive names. */
static struct rxe_pd *recv_pd(const struct rxe_qp *qp)
{
	return qp->srq ? qp->srq->pd : qp->pd;
}

/* What a SEND asks for, when all of it is here; false: it is refused. */
static bool invalidate(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	/* This runner puts its regions back: rxe_mr_invalidate() waits. */
	rxe_comp_end(qp);
	if (!rxe_key_invalidate(qp, pkt->ieth, true))
		return true;
	/* Executed or not, it is refused (IBTA vol. 1, 9.4.1.1.3). */
	qp->resp.psn = pkt->psn;
	refuse(qp, RXE_NAK_REM_ACC, IB_EVENT_QP_ACCESS_ERR);
	fail_recv(qp, IB_WC_REM_INV_REQ_ERR);
	return false;
}

static void do_send(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	struct ib_wc wc = { .status = IB_WC_SUCCESS, .opcode = IB_WC_RECV };
	u32 flags = pkt->op->flags;

	if (flags & RXE_OP_START) {
		if (!take_recv(qp, 0))
			return;
		rxe_resp_end(qp);
		resp->written = 0;
	}
	if (resp->wqe.len - resp->written < pkt->len) {
		refuse(qp, RXE_NAK_INV_REQ, IB_EVENT_QP_REQ_ERR);
		if (rxe_qp_is_rc(qp))
			fail_recv(qp, IB_WC_LOC_LEN_ERR);
		return;
	}
	if (!resp->cursor_live) {
		rxe_cursor_init(&resp->cursor, recv_pd(qp), resp->wqe.sge,
				resp->wqe.num_sge, IB_ACCESS_LOCAL_WRITE,
				resp->written);
		resp->cursor_live = true;
	}
	if (store(qp, pkt)) {
		fail_here(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	resp->psn = rxe_psn_add(resp->psn, 1);
	resp->in_msg = IN_SEND;
	if (!(flags & RXE_OP_END))
		return;

	rxe_resp_end(qp);
	resp->in_msg = IN_NOTHING;
	if ((flags & RXE_OP_INV) && !invalidate(qp, pkt))
		return;
	resp->msn = rxe_psn_add(resp->msn, 1);
	rxe_qp_count(qp, RXE_CNT_RDMA_RECVS);
	if (flags & RXE_OP_INV) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = pkt->ieth;
	}
	wc.byte_len = resp->written;
	if (flags & RXE_OP_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	post_recv_wc(qp, &wc, pkt->solicited);
}

/* ---- RDMA WRITE ---- */

static bool write_begin(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		goto refuse;
	if (pkt->dmalen && !rxe_rkey_good(qp, pkt->rkey, IB_ACCESS_REMOTE_WRITE,
					  pkt->va, pkt->dmalen))
		goto refuse;
	rxe_resp_end(qp);
	resp->va = pkt->va;
	resp->rkey = pkt->rkey;
	resp->total = pkt->dmalen;
	resp->written = 0;
	return true;

refuse:
	refuse(qp, RXE_NAK_REM_ACC, IB_EVENT_QP_ACCESS_ERR);
	return false;
}

static void do_write(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IB_WC_WITH_IMM,
		.ex.imm_data = pkt->imm,
	};
	u32 flags = pkt->op->flags;
	u32 left;

	if ((flags & RXE_OP_START) && !write_begin(qp, pkt))
		return;
	left = resp->total - resp->written;
	if (flags & RXE_OP_END ? pkt->len != left : pkt->len >= left) {
		refuse(qp, RXE_NAK_INV_REQ, IB_EVENT_QP_REQ_ERR);
		return;
	}
	if ((flags & RXE_OP_RECV) && !take_recv(qp, 0))
		return;
	if (!resp->cursor_live) {
		resp->write_sge.addr = resp->va;
		resp->write_sge.length = resp->total;
		resp->write_sge.lkey = resp->rkey;
		rxe_cursor_init_remote(&resp->cursor, qp, &resp->write_sge,
				       IB_ACCESS_REMOTE_WRITE, resp->written);
		resp->cursor_live = true;
	}
	if (store(qp, pkt)) {
		/* The region went away in the middle of the message. */
		refuse(qp, RXE_NAK_REM_ACC, IB_EVENT_QP_ACCESS_ERR);
		return;
	}
	resp->psn = rxe_psn_add(resp->psn, 1);
	resp->in_msg = IN_WRITE;
	if (!(flags & RXE_OP_END))
		return;

	rxe_resp_end(qp);
	resp->in_msg = IN_NOTHING;
	resp->msn = rxe_psn_add(resp->msn, 1);
	rxe_qp_count(qp, RXE_CNT_WRITES);
	if (!(flags & RXE_OP_RECV))
		return;
	wc.byte_len = resp->total;
	post_recv_wc(qp, &wc, pkt->solicited);
}

/* ---- requests in order ---- */

/* Does @pkt continue what is open (IBTA vol. 1, 9.7.4.1.2, table 40)? */
static bool fits_open_message(const struct rxe_qp *qp,
			      const struct rxe_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (qp->resp.in_msg == IN_NOTHING)
		return flags & RXE_OP_START;
	if (flags & RXE_OP_START)
		return false;
	return flags & (qp->resp.in_msg == IN_SEND ? RXE_OP_SEND :
						      RXE_OP_WRITE);
}

/* Lengths that the MTU prescribes (IBTA vol. 1, C9-42 to C9-44). */
static bool length_ok(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	/* A FLUSH moves nothing. */
	if ((flags & RXE_OP_RETH) && !(flags & RXE_OP_FLUSH) &&
	    pkt->dmalen > RXE_MAX_MSG_SZ)
		return false;
	if (!(flags & RXE_OP_DATA))
		return true;
	if (flags & (RXE_OP_FIRST | RXE_OP_MIDDLE))
		return pkt->len == qp->mtu;
	if (flags & RXE_OP_LAST)
		return pkt->len && pkt->len <= qp->mtu;
	return pkt->len <= qp->mtu;
}

static void do_non_posted(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u8 nak = rxe_resp_non_posted(qp, pkt);

	if (nak == RXE_NAK_REM_ACC)
		rxe_resp_fatal(qp, nak, IB_EVENT_QP_ACCESS_ERR);
	else if (nak)
		rxe_resp_fatal(qp, nak, IB_EVENT_QP_REQ_ERR);
}

static void do_request(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u32 flags = pkt->op->flags;

	if (!fits_open_message(qp, pkt) || !length_ok(qp, pkt)) {
		rxe_resp_fatal(qp, RXE_NAK_INV_REQ, IB_EVENT_QP_REQ_ERR);
		return;
	}
	/* What was NAKed has come: the NAK need not go out any more. */
	qp->resp.nak_sent = false;
	qp->resp.reply = RXE_AETH_ACK;
	qp->resp.again = 0;
	if (flags & RXE_OP_SEND)
		do_send(qp, pkt);
	else if (flags & RXE_OP_WRITE)
		do_write(qp, pkt);
	else
		do_non_posted(qp, pkt);
	/* The others have answers of their own. */
	if (pkt->ack_req && !qp->resp.nak_sent && !(flags & RXE_OP_NON_POSTED))
		rxe_resp_reply(qp, RXE_AETH_ACK);
}

/*
 * UC: a message begins wherever it begins, and is whole or nothing.  What a gap
 * leaves of one is dropped, its receive waits for the next (9.8.2.2).
 */
static void do_unreliable(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	u32 flags = pkt->op->flags;
	bool gap = pkt->psn != resp->psn;

	if (gap)
		rxe_qp_count(qp, RXE_CNT_OUT_OF_SEQ);
	if (resp->in_msg != IN_NOTHING &&
	    (gap || !fits_open_message(qp, pkt)))
		drop_message(qp);
	resp->psn = pkt->psn;
	if (fits_open_message(qp, pkt)) {
		if (!length_ok(qp, pkt))
			drop_message(qp);
		else if (flags & RXE_OP_SEND)
			do_send(qp, pkt);
		else
			do_write(qp, pkt);
	}
	resp->psn = rxe_psn_add(pkt->psn, 1);
}

/*
 * What stands before a datagram's payload (A17.4.5.1): the IPv6 header, or as
 * much nothing as it is longer, and the IPv4 header; that of this segment, if
 * several were merged.
 */
static void make_grh(const struct rxe_pkt *pkt, u8 *grh)
{
	const struct sk_buff *skb = pkt->skb;
	const void *hdr = skb_network_header(skb);
	u32 len = sizeof(struct udphdr) + pkt->op->hdr_len + pkt->len +
		  pkt->pad + RXE_ICRC_LEN;

	if (skb->protocol == htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(grh + RXE_GRH_LEN - sizeof(*ip));

		memset(grh, 0, RXE_GRH_LEN - sizeof(*ip));
		memcpy(ip, hdr, sizeof(*ip));
		ip->tot_len = htons(sizeof(*ip) + len);
		ip_send_check(ip);
	} else {
		struct ipv6hdr *ip6 = (void *)grh;

		memcpy(ip6, hdr, sizeof(*ip6));
		ip6->payload_len = htons(len);
	}
}

static int store_bytes(struct rxe_cursor *to, const void *from, u32 len)
{
	while (len) {
		u32 n = len;
		void *piece = rxe_cursor_next(to, &n);

		if (!piece)
			return -EFAULT;
		memcpy(piece, from, n);
		from += n;
		len -= n;
	}
	return 0;
}

/* UD: one packet is a message; what does not fit costs no receive (9.8.3.2). */
static void do_datagram(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.src_qp = pkt->sqpn,
		.byte_len = RXE_GRH_LEN + pkt->len,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
	};
	u8 grh[RXE_GRH_LEN] __aligned(8);

	if (pkt->qkey != qp->attr.qkey) {
		rxe_qp_count(qp, RXE_CNT_DROP_QKEY);
		return;
	}
	if (pkt->len > READ_ONCE(qp->rxe->mtu)) {
		drop_message(qp);
		return;
	}
	if (!take_recv(qp, wc.byte_len))
		return;
	make_grh(pkt, grh);
	rxe_cursor_init(&resp->cursor, recv_pd(qp), resp->wqe.sge,
			resp->wqe.num_sge, IB_ACCESS_LOCAL_WRITE, 0);
	resp->cursor_live = true;
	if (store_bytes(&resp->cursor, grh, sizeof(grh)) || store(qp, pkt)) {
		fail_here(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	rxe_resp_end(qp);
	rxe_qp_count(qp, RXE_CNT_RDMA_RECVS);
	wc.network_hdr_type = pkt->skb->protocol == htons(ETH_P_IP) ?
				      RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	if (pkt->op->flags & RXE_OP_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	post_recv_wc(qp, &wc, pkt->solicited);
}

void rxe_resp_pkt(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	s32 ahead;

	if (qp->state < IB_QPS_RTR || qp->state == IB_QPS_ERR || resp->fatal)
		return;
	if (rxe_qp_is_ud(qp)) {
		do_datagram(qp, pkt);
		return;
	}
	if (qp->state == IB_QPS_RTR && !resp->comm_est) {
		resp->comm_est = true;
		rxe_qp_event(qp, IB_EVENT_COMM_EST);
	}
	if (!rxe_qp_is_rc(qp)) {
		do_unreliable(qp, pkt);
		return;
	}
	ahead = rxe_psn_diff(pkt->psn, resp->psn);
	if (!ahead) {
		do_request(qp, pkt);
		return;
	}
	if (ahead > 0) {
		rxe_qp_count(qp, RXE_CNT_OUT_OF_SEQ);
		if (resp->nak_sent)
			return;
		rxe_qp_count(qp, RXE_CNT_SENT_SEQ_ERR);
		resp->nak_sent = true;
		rxe_resp_reply(qp, RXE_NAK_PSN_SEQ);
		return;
	}
	/* Executed before: a SEND or WRITE is acknowledged again. */
	rxe_qp_count(qp, RXE_CNT_DUPLICATE);
	if (pkt->op->flags & RXE_OP_NON_POSTED)
		rxe_resp_non_posted_again(qp, pkt);
	else if (pkt->op->flags & (RXE_OP_SEND | RXE_OP_WRITE))
		rxe_resp_reply(qp, RXE_AETH_ACK);
}

/* ---- ending ---- */

bool rxe_resp_flush(struct rxe_qp *qp, struct rxe_budget *b)
{
	struct rxe_resp *resp = &qp->resp;

	resp->job_head = resp->job_tail;
	resp->reply_due = false;
	if (resp->fatal)
		rxe_qp_event(qp, resp->fatal - 1);
	resp->fatal = 0;
	fail_recv(qp, IB_WC_WR_FLUSH_ERR);
	if (qp->srq) {
		/* What is in an SRQ is for the others (10.3.1.7). */
		if (!resp->last_told)
			rxe_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
		resp->last_told = true;
		return false;
	}
	while (rxe_rq_take(qp, &resp->wqe, 0) != -ENOENT) {
		resp->wqe_held = true;
		fail_recv(qp, IB_WC_WR_FLUSH_ERR);
		if (b->wqes-- <= 0)
			return true;
	}
	return false;
}

void rxe_resp_reset(struct rxe_qp *qp)
{
	struct rxe_rd_res *res = qp->resp.res;
	u32 slots = qp->resp.res_slots, size = qp->resp.res_size;

	memset(&qp->resp, 0, sizeof(qp->resp));
	if (res)
		memset(res, 0, slots * sizeof(*res));
	qp->resp.res = res;
	qp->resp.res_slots = slots;
	qp->resp.res_size = size;
}
