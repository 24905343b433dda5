// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pairs on a shared receive queue, and the queue's limit. */
#include "rxe_sm_bench.h"

#define PSN 0x200
#define UNLIMITED 0x1f

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();

	conf.srq = true;
	return sm_make(test, &conf);
}

static void send(struct sm *sm, u32 psn, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_SEND_ONLY,
		.psn = psn,
		.len = len,
		.ack_req = true,
	};

	sm_rx(sm, pkt);
}

/* Nobody can be promised what others may take: IBTA vol. 1, 9.7.7.2. */
static void srq_promises_no_credit(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 i;

	for (i = 0; i < 5; i++)
		sm_post_recv(sm, i, i * 64, 64);
	for (i = 0; i < 5; i++) {
		send(sm, PSN + i, 64);
		sm_expect_aeth(sm, PSN + i, UNLIMITED, i + 1);
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	}
	/* An empty one is not ready, like any other. */
	send(sm, PSN + 5, 64);
	sm_expect_aeth(sm, PSN + 5, 0x20 + 12, 5);
	sm_post_recv(sm, 5, 0, 64);
	send(sm, PSN + 5, 64);
	sm_expect_aeth(sm, PSN + 5, UNLIMITED, 6);
	sm_expect_none(sm);
	sm_end(sm);
}

/* In ERR a queue pair completes what it has taken, and says that this is all. */
static void srq_is_not_flushed(struct kunit *test)
{
	struct rxe_pkt first = {
		.opcode = IB_OPCODE_RC_SEND_FIRST,
		.psn = PSN,
		.len = 1024,
	};
	struct sm *sm = start(test);

	sm_post_recv(sm, 1, 0, 4096);
	sm_post_recv(sm, 2, 0, 64);
	sm_rx(sm, first);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
	sm_expect_recv_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, rxe_rq_count(&sm->srq->rq), 1);
	sm_expect_event(sm, IB_EVENT_QP_LAST_WQE_REACHED);
	/* Once in each of its lives. */
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, rxe_rq_count(&sm->srq->rq), 1);
	sm_expect_no_event(sm);
	sm_connect(sm);
	send(sm, PSN, 64);
	sm_expect_recv_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
	sm_expect_event(sm, IB_EVENT_QP_LAST_WQE_REACHED);
	sm_end(sm);
}

/* D15: told once, below the limit, until it is armed again. */
static void srq_limit(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_srq_attr attr = { .srq_limit = 3 };
	u32 i;

	for (i = 0; i < 6; i++)
		sm_post_recv(sm, i, 0, 64);
	KUNIT_EXPECT_EQ(test, rxe_modify_srq(&sm->srq->ibsrq, &attr,
					     IB_SRQ_LIMIT, NULL), 0);
	for (i = 0; i < 6; i++) {
		send(sm, PSN + i, 64);
		KUNIT_EXPECT_EQ_MSG(test, sm->srq_limits, i >= 3, "message %u", i);
	}
	for (i = 0; i < 3; i++)
		sm_post_recv(sm, i, 0, 64);
	KUNIT_EXPECT_EQ(test, rxe_modify_srq(&sm->srq->ibsrq, &attr,
					     IB_SRQ_LIMIT, NULL), 0);
	send(sm, PSN + 6, 64);
	KUNIT_EXPECT_EQ(test, sm->srq_limits, 2);
	/* More than there can be. */
	attr.srq_limit = 1000;
	KUNIT_EXPECT_EQ(test, rxe_modify_srq(&sm->srq->ibsrq, &attr,
					     IB_SRQ_LIMIT, NULL), -EINVAL);
	sm_end(sm);
}

static void srq_grows_and_shrinks(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_srq_attr attr = { .max_wr = 100 };
	u32 i;

	/* Its indexes are somewhere in the middle. */
	for (i = 0; i < 12; i++)
		sm_post_recv(sm, i, 0, 64);
	for (i = 0; i < 10; i++)
		send(sm, PSN + i, 8);
	for (i = 12; i < 20; i++)
		sm_post_recv(sm, i, 0, 64);
	KUNIT_EXPECT_EQ(test, rxe_modify_srq(&sm->srq->ibsrq, &attr,
					     IB_SRQ_MAX_WR, NULL), 0);
	KUNIT_EXPECT_EQ(test, rxe_query_srq(&sm->srq->ibsrq, &attr), 0);
	KUNIT_EXPECT_GE(test, attr.max_wr, 100);
	for (i = 20; i < 100; i++)
		KUNIT_EXPECT_EQ(test, sm_post_recv(sm, i, 0, 64), 0);
	/* 90 do not fit into 50. */
	attr.max_wr = 50;
	KUNIT_EXPECT_EQ(test, rxe_modify_srq(&sm->srq->ibsrq, &attr,
					     IB_SRQ_MAX_WR, NULL), -EINVAL);
	for (i = 0; i < 10; i++)
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	for (i = 10; i < 60; i++) {
		send(sm, PSN + i, 8);
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	}
	KUNIT_EXPECT_EQ(test, rxe_modify_srq(&sm->srq->ibsrq, &attr,
					     IB_SRQ_MAX_WR, NULL), 0);
	for (i = 60; i < 100; i++) {
		send(sm, PSN + i, 8);
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	}
	sm_end(sm);
}

static struct kunit_case rxe_sm_srq_cases[] = {
	KUNIT_CASE(srq_promises_no_credit),
	KUNIT_CASE(srq_is_not_flushed),
	KUNIT_CASE(srq_limit),
	KUNIT_CASE(srq_grows_and_shrinks),
	{}
};

static struct kunit_suite rxe_sm_srq_suite = {
	.name = "rxe_sm_srq",
	.test_cases = rxe_sm_srq_cases,
};

kunit_test_suite(rxe_sm_srq_suite);
