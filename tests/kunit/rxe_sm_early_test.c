// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Trains, in which packets come, and packets that overtook others on another
 * processor.  There is one here: which one the last in order came by is set.
 */
#include "rxe_sm_bench.h"

#define PSN 0x200		/* of requests to the QP */
#define SQ_PSN 0x100		/* of its own */
#define MTU 1024
#define NAK_SEQUENCE 0x60
#define S_ONLY IB_OPCODE_RC_SEND_ONLY
#define R_FIRST IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define R_MIDDLE IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define R_LAST IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST

static void send(struct sm *sm, u32 psn)
{
	struct rxe_pkt pkt = {
		.opcode = S_ONLY,
		.psn = psn,
		.len = 8,
		.ack_req = true,
	};

	sm_rx(sm, pkt);
}

static void answer(struct sm *sm, u8 opcode, u32 psn)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = (psn - SQ_PSN) * MTU,
		.len = MTU,
		.syndrome = 0x1f,
		.msn = 1,
	};

	sm_rx(sm, pkt);
}

/* What comes next comes by another processor than what came before. */
static void move_away(struct sm *sm)
{
	sm->qp->early_req.cpu = raw_smp_processor_id() + 1;
	sm->qp->early_resp.cpu = raw_smp_processor_id() + 1;
}

static void time_is_up(struct sm *sm)
{
	hrtimer_cancel(&sm->qp->early_timer);
	set_bit(RXE_TODO_EARLY, &sm->qp->todo);
	rxe_run_task(sm->qp);
	sm_settle(sm);
}

static void early_train(struct kunit *test)
{
	struct rxe_pkt pkts[4];
	struct sm *sm = sm_start(test);
	int i;

	/* Two messages in one train: FIRST, MIDDLE, LAST; a duplicate. */
	sm_clear(sm);
	sm_post_recv(sm, 1, 0, 4096);
	memset(pkts, 0, sizeof(pkts));
	for (i = 0; i < 4; i++) {
		pkts[i].opcode = i < 3 ? IB_OPCODE_RC_SEND_FIRST + i :
					 IB_OPCODE_RC_SEND_LAST;
		pkts[i].psn = PSN + min(i, 2);
		pkts[i].payload = i * MTU;
		pkts[i].len = i < 3 ? MTU : 5;
		pkts[i].ack_req = i >= 2;
	}
	sm_rx_train(sm, pkts, 4);
	sm_expect_ack(sm, PSN + 2, 1);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 3 * MTU);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 3 * MTU, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 3 * MTU, MTU));
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DUPLICATE), 1);
	sm_end(sm);
}

/* A gap inside a train: one NAK, and the rest of it is no other gap. */
static void early_gap_in_a_train(struct kunit *test)
{
	struct rxe_pkt pkts[4];
	struct sm *sm = sm_start(test);
	int i;

	for (i = 0; i < 4; i++)
		sm_post_recv(sm, i, 0, 8);
	memset(pkts, 0, sizeof(pkts));
	for (i = 0; i < 4; i++) {
		pkts[i].opcode = S_ONLY;
		pkts[i].psn = PSN + i + (i > 1);
		pkts[i].len = 8;
		pkts[i].ack_req = true;
	}
	sm_rx_train(sm, pkts, 4);
	sm_expect_aeth(sm, PSN + 2, NAK_SEQUENCE, 2);
	sm_expect_none(sm);
	sm_end(sm);
}

static void early_requests_wait(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	int i;

	for (i = 0; i < 5; i++)
		sm_post_recv(sm, i, 0, 8);
	send(sm, PSN);
	sm_expect_ack(sm, PSN, 1);
	move_away(sm);
	/* In any order, and one of them twice. */
	send(sm, PSN + 3);
	send(sm, PSN + 2);
	send(sm, PSN + 4);
	send(sm, PSN + 2);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 0, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	send(sm, PSN + 1);
	sm_expect_ack(sm, PSN + 4, 5);
	sm_expect_none(sm);
	for (i = 1; i < 5; i++)
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SENT_SEQ_ERR), 0);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_EARLY), 4);
	KUNIT_EXPECT_EQ(test, sm->qp->early_req.bytes, 0);
	sm_end(sm);
}

/* Lost after all: one NAK, late. */
static void early_requests_in_vain(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	move_away(sm);
	send(sm, PSN + 2);
	move_away(sm);
	send(sm, PSN + 1);
	sm_expect_none(sm);
	time_is_up(sm);
	sm_expect_aeth(sm, PSN, NAK_SEQUENCE, 0);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->early_req.bytes, 0);
	sm_end(sm);
}

/* By the same processor nothing overtakes: that is a loss. */
static void early_not_on_the_same_cpu(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 0, 8);
	send(sm, PSN);
	sm_skip(sm);
	send(sm, PSN + 2);
	sm_expect_aeth(sm, PSN + 1, NAK_SEQUENCE, 1);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_EARLY), 0);
	sm_end(sm);
}

static void early_answers_wait(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 4 * MTU, 0);
	sm_skip(sm);
	answer(sm, R_FIRST, SQ_PSN);
	move_away(sm);
	answer(sm, R_LAST, SQ_PSN + 3);
	answer(sm, R_MIDDLE, SQ_PSN + 2);
	sm_expect_none(sm);
	answer(sm, R_MIDDLE, SQ_PSN + 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 4 * MTU, 0));
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_IMPLIED_NAK), 0);
	sm_expect_none(sm);

	/* In vain. */
	sm_post(sm, 2, IB_WR_RDMA_READ, 0, 3 * MTU, 0);
	sm_skip(sm);
	move_away(sm);
	answer(sm, R_MIDDLE, SQ_PSN + 5);
	sm_expect_none(sm);
	time_is_up(sm);
	sm_expect_read(sm, SQ_PSN + 4, 0, 3 * MTU);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_IMPLIED_NAK), 1);
	sm_end(sm);
}

/* Kept packets end with the QP, its state, or its life. */
static void early_and_then_the_end(struct kunit *test)
{
	struct sm *sm;
	int way;

	for (way = 0; way < 3; way++) {
		sm = sm_start(test);
		sm_post_recv(sm, 1, 0, 8);
		move_away(sm);
		send(sm, PSN + 1);
		if (way)
			sm_to_state(sm, way == 1 ? IB_QPS_ERR : IB_QPS_RESET);
		if (way == 2) {
			KUNIT_EXPECT_EQ(test, sm->qp->early_req.bytes, 0);
			sm_connect(sm);
			sm_post_recv(sm, 2, 0, 8);
			send(sm, PSN);
			/* It is another life's, and is not executed. */
			sm_expect_ack(sm, PSN, 1);
			sm_expect_recv_wc(sm, 2, IB_WC_SUCCESS);
			sm_expect_no_wc(sm);
		}
		sm_expect_none(sm);
		sm_end(sm);
	}
}

static struct kunit_case rxe_sm_early_cases[] = {
	KUNIT_CASE(early_train),
	KUNIT_CASE(early_gap_in_a_train),
	KUNIT_CASE(early_requests_wait),
	KUNIT_CASE(early_requests_in_vain),
	KUNIT_CASE(early_not_on_the_same_cpu),
	KUNIT_CASE(early_answers_wait),
	KUNIT_CASE(early_and_then_the_end),
	{}
};

static struct kunit_suite rxe_sm_early_suite = {
	.name = "rxe_sm_early",
	.test_cases = rxe_sm_early_cases,
};

kunit_test_suite(rxe_sm_early_suite);
