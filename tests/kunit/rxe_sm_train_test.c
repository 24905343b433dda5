// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Trains, in which packets come: several in one skb, for one QP.
 */
#include "rxe_sm_bench.h"

#define PSN 0x200		/* of requests to the QP */
#define MTU 1024
#define NAK_SEQUENCE 0x60
#define S_ONLY IB_OPCODE_RC_SEND_ONLY

static void train_of_messages(struct kunit *test)
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
static void train_with_a_gap(struct kunit *test)
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

static struct kunit_case rxe_sm_train_cases[] = {
	KUNIT_CASE(train_of_messages),
	KUNIT_CASE(train_with_a_gap),
	{}
};

static struct kunit_suite rxe_sm_train_suite = {
	.name = "rxe_sm_train",
	.test_cases = rxe_sm_train_cases,
};

kunit_test_suite(rxe_sm_train_suite);
