// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * SENDs that invalidate: sent with the peer's key, received with one of ours.
 */
#include "rxe_sm_bench.h"

#define SQ_PSN 0x100
#define PSN 0x200
#define MTU 1024
#define UNLIMITED 0x1f
#define NAK_INVALID 0x61
#define NAK_ACCESS 0x62
#define OP(name) IB_OPCODE_RC_##name
#define S_INV OP(SEND_ONLY_WITH_INVALIDATE)
#define THEIR_KEY 0x87654321

static struct sm *start_type(struct kunit *test, enum ib_qp_type type)
{
	struct sm_conf conf = sm_defaults();

	conf.type = type;
	conf.mr_access |= IB_ACCESS_MW_BIND;
	return sm_make(test, &conf);
}

static struct sm *start(struct kunit *test)
{
	return start_type(test, IB_QPT_RC);
}

static struct rxe_mw *bound(struct sm *sm)
{
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);

	sm_bind(sm, mw);
	return mw;
}

static u32 key_of(const struct rxe_mw *mw)
{
	return mw->entry->rkey;
}

/* ---- sent ---- */

static void expect_inv_at(struct sm *sm, int line, u8 opcode, u32 psn, u32 off,
			  u32 len)
{
	const struct sm_sent *sent;

	sm_expect_data_at(sm, line, opcode, psn, off, len, true);
	if (list_empty(&sm->seen))
		return;
	sent = list_last_entry(&sm->seen, struct sm_sent, entry);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.ieth, THEIR_KEY, "line %d", line);
}

#define expect_inv(sm, opcode, psn, off, len)                                  \
	expect_inv_at(sm, __LINE__, opcode, psn, off, len)

static void inv_send_is_sent(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 last = OP(SEND_LAST_WITH_INVALIDATE);
	u32 again;

	for (again = 0; again < 2; again++) {
		if (again)
			sm_ack_timeout(sm);
		else
			sm_post_inv(sm, 1, IB_WR_SEND_WITH_INV, THEIR_KEY, 8, 0);
		expect_inv(sm, S_INV, SQ_PSN, 0, 8);
		sm_expect_none(sm);
	}
	sm_ack(sm, SQ_PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_SEND);
	for (again = 0; again < 2; again++) {
		if (again)
			sm_ack_timeout(sm);
		else
			sm_post_inv(sm, 2, IB_WR_SEND_WITH_INV, THEIR_KEY,
				    2 * MTU + 5, 0);
		sm_expect_data(sm, OP(SEND_FIRST), SQ_PSN + 1, 0, MTU, again);
		sm_expect_data(sm, OP(SEND_MIDDLE), SQ_PSN + 2, MTU, MTU, again);
		expect_inv(sm, last, SQ_PSN + 3, 2 * MTU, 5);
		sm_expect_none(sm);
	}
	sm_ack(sm, SQ_PSN + 3, UNLIMITED, 2);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	/* Of nothing. */
	sm_post_inv(sm, 3, IB_WR_SEND_WITH_INV, THEIR_KEY, 0, 0);
	expect_inv(sm, S_INV, SQ_PSN + 4, 0, 0);
	sm_ack(sm, SQ_PSN + 4, UNLIMITED, 3);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* The key is one of the peer's: a window here that has it is not meant. */
static void inv_send_leaves_ours(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);

	sm_post_inv(sm, 1, IB_WR_SEND_WITH_INV, key_of(mw), 8, 0);
	sm_skip(sm);
	sm_ack(sm, SQ_PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	/* The peer refuses it. */
	sm_post_inv(sm, 2, IB_WR_SEND_WITH_INV, key_of(mw), 8, 0);
	sm_skip(sm);
	sm_ack(sm, SQ_PSN + 1, NAK_ACCESS, 1);
	sm_expect_send_wc(sm, 2, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_end(sm);
}

static void ud_and_uc_refuse(struct kunit *test)
{
	struct sm *sm = start_type(test, IB_QPT_UC);

	KUNIT_EXPECT_EQ(test, -EINVAL,
			sm_post_inv(sm, 1, IB_WR_SEND_WITH_INV, 0, 8, 0));
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_end(sm);
	sm = start_type(test, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			sm_post_inv(sm, 1, IB_WR_SEND_WITH_INV, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			sm_post_inv(sm, 2, IB_WR_LOCAL_INV, 0, 0, 0));
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- received ---- */

static void peer_sends(struct sm *sm, u8 opcode, u32 psn, u32 from, u32 len,
		       u32 key)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = from,
		.len = len,
		.ieth = key,
		.ack_req = true,
	};

	sm_rx(sm, pkt);
}

static void expect_inv_wc_at(struct sm *sm, int line, u64 wr_id, u32 key, u32 len)
{
	sm_expect_wc_at(sm, line, false, wr_id, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->wc.opcode, IB_WC_RECV, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->wc.byte_len, len, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->wc.wc_flags, IB_WC_WITH_INVALIDATE,
			    "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->wc.ex.invalidate_rkey, key, "line %d",
			    line);
}

#define expect_inv_wc(sm, wr_id, key, len)                                     \
	expect_inv_wc_at(sm, __LINE__, wr_id, key, len)

static void inv_received(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);
	u32 key = key_of(mw);
	int i;

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, 64);
	sm_post_recv(sm, 22, 64, 64);
	peer_sends(sm, S_INV, PSN, 30, 16, key);
	sm_expect_ack(sm, PSN, 1);
	expect_inv_wc(sm, 21, key, 16);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 16, 30));
	/* The same again: acknowledged, and closes nothing any more. */
	sm_bind(sm, mw);
	for (i = 0; i < 2; i++) {
		peer_sends(sm, S_INV, PSN, 30, 16, key);
		sm_expect_ack(sm, PSN, 1);
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	}
	/* The next one does. */
	peer_sends(sm, S_INV, PSN + 1, 30, 0, key);
	sm_expect_ack(sm, PSN + 1, 2);
	expect_inv_wc(sm, 22, key, 0);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* With the last packet, not before. */
static void inv_received_in_parts(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);
	u32 key = key_of(mw);

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, 4096);
	peer_sends(sm, OP(SEND_FIRST), PSN, 0, MTU, 0);
	peer_sends(sm, OP(SEND_MIDDLE), PSN + 1, MTU, MTU, 0);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_skip(sm);
	/* Too early is not now. */
	peer_sends(sm, OP(SEND_LAST_WITH_INVALIDATE), PSN + 3, 9, 9, key);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_skip(sm);
	peer_sends(sm, OP(SEND_LAST_WITH_INVALIDATE), PSN + 2, 2 * MTU, 9, key);
	sm_expect_ack(sm, PSN + 2, 1);
	expect_inv_wc(sm, 21, key, 2 * MTU + 9);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 2 * MTU + 9, 0));
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* What is not received closes nothing. */
static void inv_without_receive(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = bound(sm);
	u32 key = key_of(mw);

	peer_sends(sm, S_INV, PSN, 0, 16, key);
	sm_expect_aeth(sm, PSN, 0x20 | sm->conf.min_rnr_timer, 0);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_post_recv(sm, 21, 0, 8);
	peer_sends(sm, S_INV, PSN, 0, 16, key);
	sm_expect_aeth(sm, PSN, NAK_INVALID, 0);
	sm_expect_recv_wc(sm, 21, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_end(sm);
}

static void inv_received_with_a_bad_key(struct kunit *test)
{
	enum sm_bad_key bad;

	for (bad = 0; bad < SM_BAD_KEYS; bad++) {
		struct sm *sm = start(test);
		struct rxe_mw *mw = bound(sm);
		u32 key = sm_bad_key(sm, mw, bad);

		sm_post_recv(sm, 21, 0, 4096);
		sm_post_recv(sm, 22, 0, 64);
		sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
		sm_skip(sm);
		peer_sends(sm, OP(SEND_FIRST), PSN, 0, MTU, 0);
		sm_skip(sm);
		peer_sends(sm, OP(SEND_LAST_WITH_INVALIDATE), PSN + 1, 0, 8, key);
		sm_expect_recv_wc(sm, 21, IB_WC_REM_INV_REQ_ERR);
		sm_expect_recv_wc(sm, 22, IB_WC_WR_FLUSH_ERR);
		sm_expect_send_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_TRUE(test, sm_bound(mw));
		if (bad == SM_TYPE_1 || bad == SM_STRANGERS)
			KUNIT_EXPECT_TRUE(test, sm_bound(&sm->mws[1]));
		sm_expect_aeth(sm, PSN + 1, NAK_ACCESS, 0);
		sm_expect_none(sm);
		sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
		KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
		sm_end(sm);
	}
}

static struct kunit_case rxe_sm_inv_cases[] = {
	KUNIT_CASE(inv_send_is_sent),
	KUNIT_CASE(inv_send_leaves_ours),
	KUNIT_CASE(ud_and_uc_refuse),
	KUNIT_CASE(inv_received),
	KUNIT_CASE(inv_received_in_parts),
	KUNIT_CASE(inv_without_receive),
	KUNIT_CASE(inv_received_with_a_bad_key),
	{}
};

static struct kunit_suite rxe_sm_inv_suite = {
	.name = "rxe_sm_inv",
	.test_cases = rxe_sm_inv_cases,
};

kunit_test_suite(rxe_sm_inv_suite);
