// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Requests that are executed here, LOCAL_INV and BIND_MW: in their turn, once,
 * without a PSN, and completed behind what is before them.  Whether one was
 * executed again is seen by a window that was bound anew with the same key.
 */
#include "rxe_sm_bench.h"

#define PSN 0x100
#define MTU 1024
#define UNLIMITED 0x1f
#define RNR 0x20
#define NAK_SEQUENCE 0x60
#define S_ONLY IB_OPCODE_RC_SEND_ONLY
#define READ_ONLY IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

static const struct {
	u8 nak;
	enum ib_wc_status status;
} fatal[] = {
	{ 0x61, IB_WC_REM_INV_REQ_ERR },
	{ 0x62, IB_WC_REM_ACCESS_ERR },
	{ 0x63, IB_WC_REM_OP_ERR },
};

static struct sm_conf local_conf(void)
{
	struct sm_conf conf = sm_defaults();

	conf.mr_access |= IB_ACCESS_MW_BIND;
	return conf;
}

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = local_conf();

	return sm_make(test, &conf);
}

static struct rxe_mw *bound(struct sm *sm)
{
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);

	sm_bind(sm, mw);
	return mw;
}

static void send(struct sm *sm, u64 wr_id)
{
	KUNIT_EXPECT_EQ(sm->test, 0, sm_post(sm, wr_id, IB_WR_SEND, 0, 8, 0));
}

static void inv_flags(struct sm *sm, u64 wr_id, const struct rxe_mw *mw,
		      int flags)
{
	KUNIT_EXPECT_EQ(sm->test, 0,
			sm_post_inv(sm, wr_id, IB_WR_LOCAL_INV,
				    mw->entry->rkey, 0, flags));
}

static void inv(struct sm *sm, u64 wr_id, const struct rxe_mw *mw)
{
	inv_flags(sm, wr_id, mw, 0);
}

static void expect_sent_at(struct sm *sm, int line, u32 psn)
{
	sm_expect_data_at(sm, line, S_ONLY, psn, 0, 8, true);
}

#define expect_sent(sm, psn) expect_sent_at(sm, __LINE__, psn)

/* SEND 1 at PSN, LOCAL_INV 2, SEND 3 at PSN + 1, and the window bound anew. */
static struct rxe_mw *sandwich(struct sm *sm)
{
	struct rxe_mw *mw = bound(sm);

	send(sm, 1);
	inv(sm, 2, mw);
	send(sm, 3);
	expect_sent(sm, PSN);
	expect_sent(sm, PSN + 1);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_FALSE(sm->test, sm_bound(mw));
	sm_bind(sm, mw);
	return mw;
}

/* All of the send queue has completed, and nothing else did or was sent. */
static void expect_end_at(struct sm *sm, int line, enum ib_qp_state state)
{
	const struct rxe_sq *sq = &sm->qp->sq;

	sm_expect_no_wc_at(sm, line);
	sm_expect_none_at(sm, line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sq->tail, sq->head, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sq->next, sq->head, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->qp->state, state, "line %d", line);
	sm_end(sm);
}

#define expect_end(sm, state) expect_end_at(sm, __LINE__, state)

/* ---- in order ---- */

static void local_between_sends(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);

	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_LOCAL_INV);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_SEND);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	expect_end(sm, IB_QPS_RTS);
}

/* One ACK for all, of what was posted as one. */
static void local_in_a_burst(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	sm_burst(sm);
	inv(sm, 1, mw);
	send(sm, 2);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_burst_end(sm);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_bind(sm, mw);
	inv(sm, 3, mw);
	send(sm, 4);
	expect_sent(sm, PSN);
	expect_sent(sm, PSN + 1);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 4, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

static void local_alone(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	inv(sm, 1, mw);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_LOCAL_INV);
	/* Nothing is waited for. */
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	sm_ack_timeout(sm);
	sm_expect_none(sm);
	/* And it took no PSN. */
	send(sm, 2);
	expect_sent(sm, PSN);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

static void local_several_in_a_row(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw[3];
	int again, i;

	for (i = 0; i < 3; i++)
		mw[i] = bound(sm);
	send(sm, 1);
	for (i = 0; i < 3; i++)
		inv(sm, 2 + i, mw[i]);
	expect_sent(sm, PSN);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_FALSE(test, sm_bound(mw[i]));
		sm_bind(sm, mw[i]);
	}
	/* At the end of the queue they wait, however often it is gone through. */
	for (again = 0; again < 2; again++) {
		sm_ack_timeout(sm);
		expect_sent(sm, PSN);
		sm_expect_none(sm);
		sm_expect_no_wc(sm);
	}
	sm_ack(sm, PSN, UNLIMITED, 1);
	for (i = 0; i < 4; i++)
		sm_expect_send_wc(sm, 1 + i, IB_WC_SUCCESS);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, sm_bound(mw[i]));
	/* The queue begins with some. */
	for (i = 0; i < 3; i++) {
		inv(sm, 5 + i, mw[i]);
		sm_expect_send_wc(sm, 5 + i, IB_WC_SUCCESS);
	}
	expect_end(sm, IB_QPS_RTS);
}

/* More than a run has budget for, and around the queue. */
static void local_many(struct kunit *test)
{
	struct sm_conf conf = local_conf();
	struct rxe_mw *mw;
	struct sm *sm;
	int round, i;

	conf.max_wr = 200;
	conf.cqe = 255;
	sm = sm_make(test, &conf);
	mw = sm_mw(sm, IB_MW_TYPE_2);
	for (round = 0; round < 3; round++) {
		send(sm, 0);
		for (i = 1; i < 200; i++) {
			sm_bind(sm, mw);
			inv(sm, i, mw);
		}
		KUNIT_EXPECT_EQ(test, -ENOMEM,
				sm_post_inv(sm, 999, IB_WR_LOCAL_INV, 0, 0, 0));
		expect_sent(sm, PSN + round);
		sm_expect_none(sm);
		sm_expect_no_wc(sm);
		sm_ack_timeout(sm);
		expect_sent(sm, PSN + round);
		sm_ack(sm, PSN + round, UNLIMITED, round + 1);
		for (i = 0; i < 200; i++)
			sm_expect_send_wc(sm, i, IB_WC_SUCCESS);
	}
	expect_end(sm, IB_QPS_RTS);
}

/* How many sends have completed, in order from @first on. */
static u32 completed(struct sm *sm, u32 first)
{
	struct ib_wc wc;
	u32 n = 0;

	while (rxe_poll_cq(&sm->scq->ibcq, 1, &wc) == 1) {
		KUNIT_EXPECT_EQ(sm->test, wc.wr_id, first + n);
		KUNIT_EXPECT_EQ(sm->test, wc.status, IB_WC_SUCCESS);
		n++;
	}
	return n;
}

/* As many as a queue has behind one SEND: no pass of the runner completes them all. */
static void local_more_than_are_begun(struct kunit *test)
{
	struct sm_conf conf = local_conf();
	const u32 num = 2000;
	u32 i, n, key, done = 0, most = 0;
	struct sm *sm;
	bool more;

	conf.max_wr = num;
	conf.cqe = num;
	sm = sm_make(test, &conf);
	/* One of type 1 can be bound again and again, and to nothing. */
	key = sm_mw(sm, IB_MW_TYPE_1)->entry->rkey;
	sm_give_ring(sm);
	for (i = 0; i < num; i++) {
		struct rxe_send_wqe *wqe = sm_ring_wqe(sm, i);

		wqe->wr.wr_id = i;
		wqe->wr.opcode = i ? IB_WR_BIND_MW : IB_WR_SEND;
		wqe->wr.wr.mw.mw_rkey = key;
		wqe->wr.wr.mw.rkey = key;
	}
	KUNIT_EXPECT_EQ(test, 0, sm_doorbell(sm, num));
	sm_expect_data(sm, S_ONLY, PSN, 0, 0, true);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->sq.next, RXE_LOCALS_MAX);
	/* Nor does one go over them all when the SEND leaves again. */
	sm_ack_timeout(sm);
	sm_expect_data(sm, S_ONLY, PSN, 0, 0, true);
	KUNIT_EXPECT_EQ(test, sm->qp->sq.next, RXE_LOCALS_MAX);

	sm_burst(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	do {
		more = sm_burst_pass(sm);
		n = completed(sm, done);
		done += n;
		most = max(most, n);
	} while (more && n);
	KUNIT_EXPECT_EQ(test, done, num);
	KUNIT_EXPECT_LE(test, most, RXE_LOCALS_MAX + RXE_RUN_WQES);
	sm_burst_end(sm);
	expect_end(sm, IB_QPS_RTS);
}

static void local_unsignaled(struct kunit *test)
{
	struct sm_conf conf = local_conf();
	struct rxe_mw *mw;
	struct sm *sm;

	conf.sig_req = true;
	sm = sm_make(test, &conf);
	mw = bound(sm);
	inv(sm, 1, mw);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_no_wc(sm);
	sm_bind(sm, mw);
	send(sm, 2);
	inv_flags(sm, 3, mw, IB_SEND_SIGNALED);
	sm_bind(sm, mw);
	inv(sm, 4, mw);
	expect_sent(sm, PSN);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->sq.tail, sm->qp->sq.head);
	/* An error is told in any case. */
	inv(sm, 5, mw);
	sm_expect_send_wc(sm, 5, IB_WC_LOC_QP_OP_ERR);
	expect_end(sm, IB_QPS_ERR);
}

/* ---- sent again ---- */

static void local_and_timeout(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);

	sm_ack_timeout(sm);
	expect_sent(sm, PSN);
	expect_sent(sm, PSN + 1);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	/* Now there is only one to be sent again. */
	sm_ack_timeout(sm);
	expect_sent(sm, PSN + 1);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_RTS);
}

/* In the middle of the message before, and of the one behind. */
static void local_between_long_messages(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);
	u32 i;

	sm_post(sm, 1, IB_WR_SEND, 0, 3 * MTU, 0);
	inv(sm, 2, mw);
	sm_post(sm, 3, IB_WR_SEND, 0, 3 * MTU, 0);
	sm_bind(sm, mw);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 6);
	sm_skip(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 0);
	sm_expect_no_wc(sm);
	sm_ack_timeout(sm);
	for (i = 2; i < 6; i++)
		KUNIT_EXPECT_EQ(test, sm_next(sm)->pkt.psn, PSN + i);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 3, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_ack_timeout(sm);
	for (i = 4; i < 6; i++)
		KUNIT_EXPECT_EQ(test, sm_next(sm)->pkt.psn, PSN + i);
	sm_ack(sm, PSN + 5, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_RTS);
}

/*
 * The network has no room for what is to be sent again, and meanwhile the answer
 * to the first time comes.
 */
static void local_and_a_late_ack(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);
	const struct rxe_sq *sq = &sm->qp->sq;

	sm->xmit_answer = NET_XMIT_DROP;
	sm_ack_timeout(sm);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sq->next, sq->tail);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_GE(test, (s32)(sq->next - sq->tail), 0);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	expect_sent(sm, PSN + 1);
	sm_expect_none(sm);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

/* The same, and it is an ACK of everything. */
static void local_and_a_late_ack_of_all(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);
	int i;

	inv(sm, 4, mw);
	sm_bind(sm, mw);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_ack_timeout(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	for (i = 1; i <= 4; i++)
		sm_expect_send_wc(sm, i, IB_WC_SUCCESS);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_RTS);
}

static void local_and_a_late_fatal_nak(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fatal); i++) {
		struct sm *sm = start(test);
		struct rxe_mw *mw = sandwich(sm);

		inv(sm, 4, mw);
		sm->xmit_answer = NET_XMIT_DROP;
		sm_ack_timeout(sm);
		sm_ack(sm, PSN + 1, fatal[i].nak, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 3, fatal[i].status);
		sm_expect_send_wc(sm, 4, IB_WC_WR_FLUSH_ERR);
		sm->xmit_answer = 0;
		sm_pause_over(sm);
		expect_end(sm, IB_QPS_ERR);
	}
}

/* ---- NAKs ---- */

static void local_before_what_is_refused(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fatal); i++) {
		struct sm *sm = start(test);

		sandwich(sm);
		sm_ack(sm, PSN + 1, fatal[i].nak, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_LOCAL_INV);
		sm_expect_send_wc(sm, 3, fatal[i].status);
		expect_end(sm, IB_QPS_ERR);
	}
}

/* Flushed, though it has been executed. */
static void local_behind_what_is_refused(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fatal); i++) {
		struct sm *sm = start(test);
		struct rxe_mw *mw = sandwich(sm);

		sm_ack(sm, PSN, fatal[i].nak, 0);
		sm_expect_send_wc(sm, 1, fatal[i].status);
		sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_TRUE(test, sm_bound(mw));
		expect_end(sm, IB_QPS_ERR);
	}
}

/* It stands between a READ whose answer is missing and what is refused. */
static void local_behind_a_read_at_a_nak(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
	inv(sm, 2, mw);
	send(sm, 3);
	sm_bind(sm, mw);
	sm_expect_read(sm, PSN, 0, 8);
	expect_sent(sm, PSN + 1);
	/* Who refuses the SEND has answered the READ: it is asked for again. */
	sm_ack(sm, PSN + 1, 0x62, 1);
	sm_expect_no_wc(sm);
	sm_expect_read(sm, PSN, 0, 8);
	expect_sent(sm, PSN + 1);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	sm_to_state(sm, IB_QPS_ERR);
	sm_expect_send_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	expect_end(sm, IB_QPS_ERR);
}

/* A NAK that asks for more, of the first SEND or the last. */
static void nak_again(struct kunit *test, u8 nak, u32 first)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);
	u32 i;

	sm_ack(sm, PSN + first, nak, first);
	if (first) {
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	}
	sm_expect_no_wc(sm);
	if (nak == RNR) {
		sm_expect_none(sm);
		sm_rnr_timeout(sm);
	}
	for (i = first; i < 2; i++)
		expect_sent(sm, PSN + i);
	sm_expect_none(sm);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	if (!first) {
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	}
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

static void local_and_a_sequence_nak(struct kunit *test)
{
	nak_again(test, NAK_SEQUENCE, 0);
	nak_again(test, NAK_SEQUENCE, 1);
}

static void local_and_an_rnr_nak(struct kunit *test)
{
	nak_again(test, RNR, 0);
	nak_again(test, RNR, 1);
}

/* The pause that a peer asks for is for what goes to it: nothing passes. */
static void local_posted_while_the_peer_is_not_ready(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	send(sm, 1);
	expect_sent(sm, PSN);
	sm_ack(sm, PSN, RNR, 0);
	inv(sm, 2, mw);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_rnr_timeout(sm);
	expect_sent(sm, PSN);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

/* ---- what is no key ---- */

/* In its turn, and nothing behind it is begun. */
static void local_key_is_bad(struct kunit *test)
{
	enum sm_bad_key bad;

	for (bad = 0; bad < SM_BAD_KEYS; bad++) {
		struct sm *sm = start(test);
		struct rxe_mw *mw = bound(sm);
		u32 key = sm_bad_key(sm, mw, bad);

		send(sm, 1);
		sm_post_inv(sm, 2, IB_WR_LOCAL_INV, key, 0, 0);
		send(sm, 3);
		inv(sm, 4, mw);
		expect_sent(sm, PSN);
		sm_expect_none(sm);
		sm_expect_no_wc(sm);
		sm_ack_timeout(sm);
		expect_sent(sm, PSN);
		sm_expect_none(sm);
		sm_expect_no_wc(sm);
		sm_ack(sm, PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_LOC_QP_OP_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_send_wc(sm, 4, IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_TRUE(test, sm_bound(mw));
		if (bad == SM_TYPE_1 || bad == SM_STRANGERS)
			KUNIT_EXPECT_TRUE(test, sm_bound(&sm->mws[1]));
		/* Who posted it is told by the completion. */
		sm_expect_no_event(sm);
		expect_end(sm, IB_QPS_ERR);
	}
}

static void local_key_is_bad_at_once(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	inv(sm, 1, mw);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	/* Closed is closed. */
	inv(sm, 2, mw);
	sm_expect_send_wc(sm, 2, IB_WC_LOC_QP_OP_ERR);
	sm_bind(sm, mw);
	inv(sm, 3, mw);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_ERR);
}

/* ---- READs ---- */

static void answer(struct sm *sm, u32 psn, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = READ_ONLY,
		.psn = psn,
		.len = len,
		.syndrome = UNLIMITED,
		.msn = 1,
	};

	sm_rx(sm, pkt);
}

static void local_and_fence(struct kunit *test)
{
	bool fence = false;

	do {
		struct sm *sm = start(test);
		struct rxe_mw *mw = bound(sm);

		sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
		inv_flags(sm, 2, mw, fence ? IB_SEND_FENCE : 0);
		sm_expect_read(sm, PSN, 0, 8);
		KUNIT_EXPECT_EQ(test, sm_bound(mw), fence);
		sm_expect_no_wc(sm);
		sm_ack_timeout(sm);
		sm_expect_read(sm, PSN, 0, 8);
		KUNIT_EXPECT_EQ(test, sm_bound(mw), fence);
		answer(sm, PSN, 8);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
		KUNIT_EXPECT_FALSE(test, sm_bound(mw));
		expect_end(sm, IB_QPS_RTS);
		fence = !fence;
	} while (fence);
}

/* Only READs are waited for. */
static void local_and_fence_behind_a_send(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	send(sm, 1);
	inv_flags(sm, 2, mw, IB_SEND_FENCE);
	expect_sent(sm, PSN);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

/* The answer is lost: asked for again, what is behind it is sent again. */
static void local_behind_a_lost_answer(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
	inv(sm, 2, mw);
	send(sm, 3);
	sm_bind(sm, mw);
	sm_skip(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_no_wc(sm);
	sm_expect_read(sm, PSN, 0, 8);
	expect_sent(sm, PSN + 1);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	answer(sm, PSN, 8);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

/* ---- states ---- */

static const struct ib_qp_attr sqd = {
	.qp_state = IB_QPS_SQD,
	.en_sqd_async_notify = 1,
};

static void local_waits_in_sqd(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	send(sm, 1);
	expect_sent(sm, PSN);
	sm_modify(sm, sqd, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
	inv(sm, 2, mw);
	send(sm, 3);
	sm_expect_none(sm);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_expect_no_event(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RTS), 0);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	expect_sent(sm, PSN + 1);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_no_event(sm);
	expect_end(sm, IB_QPS_RTS);
}

/* It has been executed: drained is when it has completed, too. */
static void local_is_drained(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	send(sm, 1);
	inv(sm, 2, mw);
	sm_bind(sm, mw);
	expect_sent(sm, PSN);
	sm_modify(sm, sqd, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
	sm_ack_timeout(sm);
	expect_sent(sm, PSN);
	sm_expect_no_wc(sm);
	sm_expect_no_event(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_SQD);
}

/* Nor is what is behind it forgotten when it is gone through again in SQD. */
static void local_in_sqd_before_a_send(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);

	sm_modify(sm, sqd, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
	sm_ack_timeout(sm);
	expect_sent(sm, PSN);
	expect_sent(sm, PSN + 1);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_event(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_SQD);
}

static void local_is_flushed(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);

	sm_to_state(sm, IB_QPS_ERR);
	sm_expect_send_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	/* What is posted there is not executed. */
	inv(sm, 4, mw);
	sm_expect_send_wc(sm, 4, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	expect_end(sm, IB_QPS_ERR);
}

static void local_is_forgotten_at_reset(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sandwich(sm);

	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RESET), 0);
	sm_expect_no_wc(sm);
	sm_connect(sm);
	sm_expect_none(sm);
	/* Windows outlive it. */
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	inv(sm, 4, mw);
	sm_expect_send_wc(sm, 4, IB_WC_SUCCESS);
	send(sm, 5);
	expect_sent(sm, PSN);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 5, IB_WC_SUCCESS);
	expect_end(sm, IB_QPS_RTS);
}

static struct kunit_case rxe_sm_local_cases[] = {
	KUNIT_CASE(local_between_sends),
	KUNIT_CASE(local_in_a_burst),
	KUNIT_CASE(local_alone),
	KUNIT_CASE(local_several_in_a_row),
	KUNIT_CASE(local_many),
	KUNIT_CASE(local_more_than_are_begun),
	KUNIT_CASE(local_unsignaled),
	KUNIT_CASE(local_and_timeout),
	KUNIT_CASE(local_between_long_messages),
	KUNIT_CASE(local_and_a_late_ack),
	KUNIT_CASE(local_and_a_late_ack_of_all),
	KUNIT_CASE(local_and_a_late_fatal_nak),
	KUNIT_CASE(local_before_what_is_refused),
	KUNIT_CASE(local_behind_what_is_refused),
	KUNIT_CASE(local_behind_a_read_at_a_nak),
	KUNIT_CASE(local_and_a_sequence_nak),
	KUNIT_CASE(local_and_an_rnr_nak),
	KUNIT_CASE(local_posted_while_the_peer_is_not_ready),
	KUNIT_CASE(local_key_is_bad),
	KUNIT_CASE(local_key_is_bad_at_once),
	KUNIT_CASE(local_and_fence),
	KUNIT_CASE(local_and_fence_behind_a_send),
	KUNIT_CASE(local_behind_a_lost_answer),
	KUNIT_CASE(local_waits_in_sqd),
	KUNIT_CASE(local_is_drained),
	KUNIT_CASE(local_in_sqd_before_a_send),
	KUNIT_CASE(local_is_flushed),
	KUNIT_CASE(local_is_forgotten_at_reset),
	{}
};

static struct kunit_suite rxe_sm_local_suite = {
	.name = "rxe_sm_local",
	.test_cases = rxe_sm_local_cases,
};

kunit_test_suite(rxe_sm_local_suite);
