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

static void expect_taken(struct sm *sm, u32 first, u32 count)
{
	struct rxe_rwqe wqe;
	u32 i;

	local_bh_disable();
	for (i = 0; i < count; i++) {
		if (rxe_srq_take(sm->srq, &wqe, 0) || wqe.wr_id != first + i)
			break;
	}
	local_bh_enable();
	KUNIT_EXPECT_EQ_MSG(sm->test, i, count, "receives from %u on", first);
}

/* Between two pieces receives are posted and taken as ever. */
static void srq_moves_in_pieces(struct kunit *test)
{
	u32 posted = 0, taken = 1000, pieces = 0, x = 1;
	struct sm_conf conf = sm_defaults();
	struct rxe_ring *from;
	struct rxe_rq new;
	struct sm *sm;
	bool more;

	conf.srq = true;
	conf.max_wr = 2047;
	sm = sm_make(test, &conf);
	for (; posted < 1000; posted++)
		sm_post_recv(sm, posted, 0, 64);
	expect_taken(sm, 0, 1000);
	for (; posted < 3000; posted++)
		sm_post_recv(sm, posted, 0, 64);
	KUNIT_ASSERT_EQ(test, 0, rxe_rq_init(&new, 1023, sm->srq->rq.max_sge,
					     RXE_MAX_SRQ_WR));
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_srq_switch(sm->srq, &new));
	rxe_ring_put(new.ring);
	KUNIT_ASSERT_EQ(test, 0, rxe_rq_init(&new, 4095, sm->srq->rq.max_sge,
					     RXE_MAX_SRQ_WR));
	from = sm->srq->rq.ring;
	KUNIT_EXPECT_EQ(test, 0, rxe_srq_switch(sm->srq, &new));
	do {
		u32 n;

		x = x * 1664525 + 1013904223;
		n = min((x >> 16) % 200, posted - taken);
		expect_taken(sm, taken, n);
		taken += n;
		for (n = (x >> 8) % 150; n; n--, posted++)
			KUNIT_EXPECT_EQ(test, 0, sm_post_recv(sm, posted, 0, 64));
		KUNIT_EXPECT_EQ(test, rxe_rq_count(&sm->srq->rq), posted - taken);
		more = rxe_srq_move_piece(sm->srq);
		pieces++;
	} while (more);
	KUNIT_EXPECT_GT(test, pieces, 2);
	memset(from->buf, 0xff, from->size);
	expect_taken(sm, taken, posted - taken);
	KUNIT_EXPECT_EQ(test, rxe_rq_count(&sm->srq->rq), 0);
	rxe_ring_put(from);
	sm_end(sm);
}

/* Whatever the program writes into its index, before and while it is moved. */
static void srq_of_liar_moves(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct rxe_rwqe wqe;
	struct rxe_rq new;
	struct sm *sm;
	u32 i;

	conf.srq = true;
	conf.max_wr = 1023;
	sm = sm_make(test, &conf);
	for (i = 0; i < 1000; i++) {
		struct rxe_ring *from = sm->srq->rq.ring;
		u32 lie = i * 0x9e3779b9u, said;
		int ret;

		from->buf->producer_index = lie;
		from->buf->consumer_index = ~lie;
		said = rxe_rq_count(&sm->srq->rq);
		KUNIT_ASSERT_EQ(test, 0, rxe_rq_init(&new, i % 3 ? 1023 : 63,
						     sm->srq->rq.max_sge,
						     RXE_MAX_SRQ_WR));
		ret = rxe_srq_switch(sm->srq, &new);
		KUNIT_EXPECT_EQ(test, ret, said <= new.max_wr ? 0 : -EINVAL);
		if (ret) {
			rxe_ring_put(new.ring);
			continue;
		}
		KUNIT_EXPECT_EQ(test, sm->srq->move.left, said);
		do {
			from->buf->producer_index = ~lie;
			new.ring->buf->producer_index = lie / 3;
			local_bh_disable();
			rxe_srq_take(sm->srq, &wqe, 0);
			local_bh_enable();
		} while (rxe_srq_move_piece(sm->srq));
		rxe_ring_put(from);
	}
	sm_end(sm);
}

static struct kunit_case rxe_sm_srq_cases[] = {
	KUNIT_CASE(srq_promises_no_credit),
	KUNIT_CASE(srq_is_not_flushed),
	KUNIT_CASE(srq_limit),
	KUNIT_CASE(srq_grows_and_shrinks),
	KUNIT_CASE(srq_moves_in_pieces),
	KUNIT_CASE(srq_of_liar_moves),
	{}
};

static struct kunit_suite rxe_sm_srq_suite = {
	.name = "rxe_sm_srq",
	.test_cases = rxe_sm_srq_cases,
};

kunit_test_suite(rxe_sm_srq_suite);
