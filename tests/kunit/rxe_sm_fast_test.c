// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fast registration by work requests: REG_MR and LOCAL_INV between others, and
 * the peer's SEND with invalidate.  What is common to all requests that are
 * executed here is tested with windows, in rxe_sm_local_test.c.
 */
#include <linux/scatterlist.h>
#include "rxe_sm_bench.h"

#define SQ_PSN 0x100
#define PSN 0x200
#define MTU 1024
#define UNLIMITED 0x1f
#define NAK_ACCESS 0x62
#define S_ONLY IB_OPCODE_RC_SEND_ONLY
#define REMOTE (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/* ---- regions of fast registration ---- */

static void map(struct sm *sm, struct rxe_mr *mr)
{
	struct scatterlist sg;

	sg_init_table(&sg, 1);
	sg_set_page(&sg, sm->pages[0], 64, 0);
	sg_dma_address(&sg) = (uintptr_t)sg_virt(&sg);
	sg_dma_len(&sg) = 64;
	KUNIT_ASSERT_EQ(sm->test, rxe_map_mr_sg(&mr->ibmr, &sg, 1, NULL), 1);
}

/* One that is mapped; in force as well: @reg. */
static struct rxe_mr *fast(struct sm *sm, bool reg)
{
	struct ib_mr *ibmr = rxe_alloc_mr(&sm->pd->ibpd, IB_MR_TYPE_MEM_REG, 4);
	struct rxe_mr *mr;

	KUNIT_ASSERT_FALSE(sm->test, IS_ERR(ibmr));
	mr = container_of(ibmr, struct rxe_mr, ibmr);
	map(sm, mr);
	if (reg)
		KUNIT_ASSERT_EQ(sm->test, 0,
				rxe_mr_enforce(sm->pd, mr, mr->key, REMOTE));
	return mr;
}

/* The same memory again, under the same key, behind the queue's back. */
static void reg_again(struct sm *sm, struct rxe_mr *mr)
{
	map(sm, mr);
	KUNIT_ASSERT_EQ(sm->test, 0,
			rxe_mr_enforce(sm->pd, mr, mr->key, REMOTE));
}

static bool in_force(const struct rxe_mr *mr)
{
	return mr->state == RXE_MR_IN_FORCE;
}

static void drop(struct sm *sm, struct rxe_mr *mr)
{
	KUNIT_EXPECT_EQ(sm->test, rxe_dereg_mr(&mr->ibmr, NULL), 0);
}

/* ---- posting ---- */

static int post_inv(struct sm *sm, u64 wr_id, u32 key, int flags)
{
	const struct ib_send_wr *bad;
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = flags,
		.ex.invalidate_rkey = key,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr, &bad);

	sm_settle(sm);
	return ret;
}

static int post_reg(struct sm *sm, u64 wr_id, struct rxe_mr *mr, u32 key)
{
	const struct ib_send_wr *bad;
	struct ib_reg_wr wr = {
		.wr = { .wr_id = wr_id, .opcode = IB_WR_REG_MR },
		.mr = &mr->ibmr,
		.key = key,
		.access = REMOTE,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr.wr, &bad);

	sm_settle(sm);
	return ret;
}

static void post_send(struct sm *sm, u64 wr_id)
{
	KUNIT_EXPECT_EQ(sm->test, 0, sm_post(sm, wr_id, IB_WR_SEND, 0, 4, 0));
}

static void expect_send_at(struct sm *sm, int line, u32 psn)
{
	sm_expect_data_at(sm, line, S_ONLY, psn, 0, 4, true);
}

#define expect_send(sm, psn) expect_send_at(sm, __LINE__, psn)

/* ---- in their turn ---- */

/* Nothing before them: they wait for nobody. */
static void fast_alone(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_mr *mr = fast(sm, false);
	u32 key = mr->key ^ 0x55;
	int i;

	for (i = 0; i < 40; i++) {
		KUNIT_EXPECT_EQ(test, 0, post_reg(sm, 2 * i, mr, key));
		sm_expect_send_wc(sm, 2 * i, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_REG_MR);
		KUNIT_EXPECT_TRUE(test, in_force(mr));
		KUNIT_EXPECT_EQ(test, mr->ibmr.rkey, key);
		post_inv(sm, 2 * i + 1, key, 0);
		sm_expect_send_wc(sm, 2 * i + 1, IB_WC_SUCCESS);
		KUNIT_EXPECT_FALSE(test, in_force(mr));
		map(sm, mr);
	}
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	drop(sm, mr);
	sm_end(sm);
}

static void fast_on_uc(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct rxe_mr *mr;
	struct sm *sm;

	conf.type = IB_QPT_UC;
	sm = sm_make(test, &conf);
	mr = fast(sm, false);
	post_send(sm, 1);
	post_reg(sm, 2, mr, mr->key);
	post_send(sm, 3);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 2);
	KUNIT_EXPECT_TRUE(test, in_force(mr));
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_skip(sm);
	drop(sm, mr);
	sm_end(sm);
}

/* Somebody is in the middle of it: executed again until nobody is. */
static void fast_waits_for_users(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_mr *mr = fast(sm, true), *user;
	const struct ib_send_wr *bad;
	struct ib_send_wr wr = {
		.wr_id = 1,
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = mr->key,
	};

	user = rxe_mr_get_whole(sm->pd, mr->key, REMOTE);
	KUNIT_ASSERT_NOT_NULL(test, user);
	/* Nothing runs but the pass that is asked for. */
	sm_burst(sm);
	KUNIT_EXPECT_EQ(test, 0, rxe_post_send(&sm->qp->ibqp, &wr, &bad));
	KUNIT_EXPECT_TRUE(test, sm_burst_pass(sm));
	KUNIT_EXPECT_FALSE(test, in_force(mr));
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_burst_pass(sm));
	sm_expect_no_wc(sm);
	rxe_mr_put(user);
	KUNIT_EXPECT_FALSE(test, sm_burst_pass(sm));
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_burst_end(sm);
	drop(sm, mr);
	sm_end(sm);
}

/* ---- going back ---- */

/* What is on its way may have to be sent again, from the region. */
static void fast_end_waits(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_mr *mr = fast(sm, true);
	struct ib_sge sge = { mr->ibmr.iova, 4, mr->key };
	int i;

	sm_post_sges(sm, 1, IB_WR_SEND, &sge, 1, 0);
	post_inv(sm, 2, mr->key, 0);
	post_send(sm, 3);
	for (i = 0; i < 3; i++) {
		const struct sm_sent *sent = sm_next(sm);

		KUNIT_EXPECT_EQ(test, sent->pkt.psn, SQ_PSN);
		sm_expect_none(sm);
		KUNIT_EXPECT_TRUE(test, in_force(mr));
		sm_ack_timeout(sm);
	}
	sm_skip(sm);
	sm_ack(sm, SQ_PSN, UNLIMITED, 1);
	KUNIT_EXPECT_FALSE(test, in_force(mr));
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_LOCAL_INV);
	expect_send(sm, SQ_PSN + 1);
	sm_ack(sm, SQ_PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	drop(sm, mr);
	sm_end(sm);
}

/* ---- errors ---- */

enum bad_key {
	NOT_IN_FORCE,
	OTHER_BYTE,
	OF_A_PROGRAM,
	OF_NOTHING,
	OF_ANOTHER_PD,
	BAD_KEYS
};

static void fast_bad_key(struct kunit *test)
{
	enum bad_key bad;

	for (bad = 0; bad < BAD_KEYS; bad++) {
		struct sm *sm = sm_start(test);
		struct rxe_pd *pd = sm->pd, *other = fake_pd(test, sm->rxe);
		struct rxe_mr *mr = fast(sm, bad != NOT_IN_FORCE);
		u32 key = mr->key;

		if (bad == OTHER_BYTE)
			key ^= 1;
		else if (bad == OF_A_PROGRAM)
			key = sm->mr->key;
		else if (bad == OF_NOTHING)
			key = 0;
		else if (bad == OF_ANOTHER_PD)
			mr->pd = other;
		post_send(sm, 1);
		post_inv(sm, 2, key, 0);
		post_send(sm, 3);
		expect_send(sm, SQ_PSN);
		sm_expect_none(sm);
		/* Its turn to fail comes behind the one before it. */
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
		sm_ack(sm, SQ_PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_LOC_QP_OP_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_none(sm);
		KUNIT_EXPECT_EQ(test, in_force(mr), bad != NOT_IN_FORCE);
		mr->pd = pd;
		drop(sm, mr);
		sm_end(sm);
	}
}

static void fast_bad_reg(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_mr *mr = fast(sm, true);

	/* Of a program: this needs no completion to be refused. */
	KUNIT_EXPECT_EQ(test, post_reg(sm, 1, sm->mr, sm->mr->key), -EINVAL);
	/* In force already. */
	map(sm, mr);
	post_reg(sm, 2, mr, mr->key);
	sm_expect_send_wc(sm, 2, IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	drop(sm, mr);
	sm_end(sm);
}

/* ---- SEND with invalidate ---- */

static struct rxe_pkt inv(u8 opcode, u32 psn, u32 len, u32 key)
{
	return (struct rxe_pkt){
		.opcode = opcode,
		.psn = psn,
		.len = len,
		.ieth = key,
		.ack_req = true,
	};
}

static void fast_closed_by_peer(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_mr *mr = fast(sm, true);
	struct rxe_pkt pkt = inv(IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, PSN, 4,
				 mr->key);

	sm_post_recv(sm, 1, 0, 64);
	sm_rx(sm, pkt);
	KUNIT_EXPECT_FALSE(test, in_force(mr));
	sm_expect_ack(sm, PSN, 1);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags, IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, sm->wc.ex.invalidate_rkey, mr->key);
	/* The duplicate is answered and does nothing. */
	reg_again(sm, mr);
	sm_rx(sm, pkt);
	sm_expect_ack(sm, PSN, 1);
	KUNIT_EXPECT_TRUE(test, in_force(mr));

	/* With the last packet, not before. */
	sm_post_recv(sm, 2, 0, 2 * MTU);
	sm_rx(sm, inv(IB_OPCODE_RC_SEND_FIRST, PSN + 1, MTU, 0));
	KUNIT_EXPECT_TRUE(test, in_force(mr));
	sm_rx(sm, inv(IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE, PSN + 2, 4,
		      mr->key));
	KUNIT_EXPECT_FALSE(test, in_force(mr));
	sm_expect_recv_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, MTU + 4);
	sm_skip(sm);
	drop(sm, mr);
	sm_end(sm);
}

static void fast_bad_key_of_peer(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 0, 64);
	sm_rx(sm, inv(IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, PSN, 4,
		      sm->mr->key));
	sm_expect_aeth(sm, PSN, NAK_ACCESS, 0);
	sm_expect_recv_wc(sm, 1, IB_WC_REM_INV_REQ_ERR);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_end(sm);
}

static struct kunit_case fast_cases[] = {
	KUNIT_CASE(fast_alone),
	KUNIT_CASE(fast_on_uc),
	KUNIT_CASE(fast_waits_for_users),
	KUNIT_CASE(fast_end_waits),
	KUNIT_CASE(fast_bad_key),
	KUNIT_CASE(fast_bad_reg),
	KUNIT_CASE(fast_closed_by_peer),
	KUNIT_CASE(fast_bad_key_of_peer),
	{}
};

static struct kunit_suite fast_suite = {
	.name = "rxe_sm_fast",
	.test_cases = fast_cases,
};

kunit_test_suite(fast_suite);
