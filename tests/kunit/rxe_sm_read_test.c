// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The responder's READs: order, replay, limits, and regions that go. */
#include "rxe_sm_bench.h"

#define PSN 0x200
#define MTU 1024
#define FIRST IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define MIDDLE IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define LAST IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define ONLY IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
#define NAK_SEQUENCE 0x60
#define NAK_INVALID 0x61
#define NAK_ACCESS 0x62

/* Long enough for several passes of the runner. */
#define LONG_PKTS 300u
#define LONG_LEN (LONG_PKTS * MTU)
#define LONG_PAGES 76

static void read(struct sm *sm, u32 psn, u32 off, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST,
		.psn = psn,
		.va = SM_VA + off,
		.dmalen = len,
		.rkey = sm->mr->key,
		.ack_req = true,
	};

	sm_rx(sm, pkt);
}

static void send(struct sm *sm, u32 psn)
{
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_SEND_ONLY,
		.psn = psn,
		.len = 4,
		.ack_req = true,
	};

	sm_rx(sm, pkt);
}

static struct sm *start_long(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();

	conf.pages = LONG_PAGES;
	return sm_make(test, &conf);
}

/* The answers @from to @to - 1 of a READ from offset 0 at PSN. */
static void expect_long(struct sm *sm, u32 from, u32 to, bool starts)
{
	u32 i;

	for (i = from; i < to; i++) {
		u8 opcode = i == LONG_PKTS - 1 ? LAST :
			    starts && i == from ? FIRST : MIDDLE;

		sm_expect_data(sm, opcode, PSN + i, i * MTU, MTU, false);
	}
}

static void read_is_answered(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	const struct sm_sent *sent;

	sm_post_recv(sm, 1, 0, 64);
	read(sm, PSN, 7, 2 * MTU + 452);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 3);
	sent = sm_next(sm);
	if (sent) {
		/* FIRST and LAST have an AETH: MSN, credits. */
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode, FIRST);
		KUNIT_EXPECT_EQ(test, sent->pkt.psn, PSN);
		KUNIT_EXPECT_EQ(test, sent->pkt.msn, 1);
		KUNIT_EXPECT_EQ(test, sent->pkt.syndrome, 1);
		KUNIT_EXPECT_EQ(test, sent->data[0], sm_byte(7));
	}
	sm_expect_data(sm, MIDDLE, PSN + 1, 7 + MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 7 + 2 * MTU, 452, false);
	/* It took three PSNs. */
	read(sm, PSN + 3, 100, 1);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode, ONLY);
		KUNIT_EXPECT_EQ(test, sent->pkt.psn, PSN + 3);
		KUNIT_EXPECT_EQ(test, sent->pkt.msn, 2);
		KUNIT_EXPECT_EQ(test, sent->pkt.len, 1);
		KUNIT_EXPECT_EQ(test, sent->data[0], sm_byte(100));
	}
	read(sm, PSN + 4, 0, 2 * MTU);
	sm_expect_data(sm, FIRST, PSN + 4, 0, MTU, false);
	sm_expect_data(sm, LAST, PSN + 5, MTU, MTU, false);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void read_psn_wraps(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.rq_psn = 0xfffffe;
	sm = sm_make(test, &conf);
	read(sm, 0xfffffe, 0, 4 * MTU);
	sm_expect_data(sm, FIRST, 0xfffffe, 0, MTU, false);
	sm_expect_data(sm, MIDDLE, 0xffffff, MTU, MTU, false);
	sm_expect_data(sm, MIDDLE, 0x000000, 2 * MTU, MTU, false);
	sm_expect_data(sm, LAST, 0x000001, 3 * MTU, MTU, false);
	/* A part of it again, from the other side of the wrap. */
	read(sm, 0xffffff, MTU, 3 * MTU);
	sm_expect_data(sm, FIRST, 0xffffff, MTU, MTU, false);
	sm_expect_data(sm, MIDDLE, 0x000000, 2 * MTU, MTU, false);
	sm_expect_data(sm, LAST, 0x000001, 3 * MTU, MTU, false);
	read(sm, 0x000002, 0, 1);
	sm_expect_data(sm, ONLY, 0x000002, 0, 1, false);
	sm_expect_none(sm);
	sm_end(sm);
}

/* An ACK overtakes no answer, however long they take. */
static void read_before_the_ack(struct kunit *test)
{
	struct sm *sm = start_long(test);

	sm_post_recv(sm, 1, 0, 64);
	sm_burst(sm);
	read(sm, PSN, 0, LONG_LEN);
	send(sm, PSN + LONG_PKTS);
	sm_burst_end(sm);
	expect_long(sm, 0, LONG_PKTS, true);
	sm_expect_ack(sm, PSN + LONG_PKTS, 2);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

static void read_before_the_nak(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_burst(sm);
	read(sm, PSN, 0, 3 * MTU);
	send(sm, PSN + 4);
	sm_burst_end(sm);
	sm_expect_data(sm, FIRST, PSN, 0, MTU, false);
	sm_expect_data(sm, MIDDLE, PSN + 1, MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 2 * MTU, MTU, false);
	sm_expect_aeth(sm, PSN + 3, NAK_SEQUENCE, 1);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- again ---- */

static void read_again(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_pkt bad = {
		.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST,
		.psn = PSN,
		.va = SM_VA,
		.dmalen = MTU,
	};

	sm_post_recv(sm, 1, 50000, 64);
	read(sm, PSN, 100, 2 * MTU + 452);
	send(sm, PSN + 3);
	sm_skip(sm);
	/* All of it, a tail, the last packet. */
	read(sm, PSN, 100, 2 * MTU + 452);
	sm_expect_data(sm, FIRST, PSN, 100, MTU, false);
	sm_expect_data(sm, MIDDLE, PSN + 1, 100 + MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 100 + 2 * MTU, 452, false);
	read(sm, PSN + 1, 100 + MTU, MTU + 452);
	sm_expect_data(sm, FIRST, PSN + 1, 100 + MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 100 + 2 * MTU, 452, false);
	read(sm, PSN + 2, 100 + 2 * MTU, 452);
	sm_expect_data(sm, ONLY, PSN + 2, 100 + 2 * MTU, 452, false);
	/* Answers beyond what was executed: from a liar. */
	read(sm, PSN + 2, 100 + 2 * MTU, 3 * MTU);
	read(sm, PSN, 0, LONG_LEN);
	sm_expect_none(sm);
	/* Without the key, or the right: silence, and the QP lives. */
	bad.rkey = sm->mr->key ^ 1;
	sm_rx(sm, bad);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	/* Nothing of that moved it on. */
	sm_post_recv(sm, 2, 50000, 64);
	send(sm, PSN + 4);
	sm_expect_ack(sm, PSN + 4, 3);
	sm_expect_none(sm);
	sm_end(sm);
}

/* Only what was asked for is read again: the part of it that the PSNs say. */
static void read_again_elsewhere(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST,
		.psn = PSN + 1,
		.va = SM_VA + 100,
		.dmalen = 3 * MTU + 4,
	};
	struct rxe_mr *other;

	sm_post_recv(sm, 1, 50000, 64);
	send(sm, PSN);
	read(sm, PSN + 1, 100, 3 * MTU + 4);
	sm_skip(sm);
	/* Another address, another length, whole packets or not. */
	read(sm, PSN + 1, 104, 3 * MTU + 4);
	read(sm, PSN + 2, 100, 2 * MTU + 4);
	read(sm, PSN + 1, 100, 3 * MTU + 3);
	read(sm, PSN + 1, 100, 3 * MTU + 5);
	read(sm, PSN + 1, 100, MTU + 4);
	read(sm, PSN + 1, 100, 0);
	read(sm, PSN + 2, 100 + MTU, 3 * MTU + 4);
	/* Another region, with a key that is good. */
	other = fake_mr(test, sm->pd, sm->pages, 0, SM_VA, PAGE_SIZE * 4,
			IB_ACCESS_REMOTE_READ);
	pkt.rkey = other->key;
	sm_rx(sm, pkt);
	rxe_dereg_mr(&other->ibmr, NULL);
	/* Where a SEND was, and before all that was. */
	read(sm, PSN, 100, 4);
	read(sm, PSN, 100 - MTU, 4 * MTU + 4);
	read(sm, PSN - 1, 100, MTU);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DROP_AGAIN), 11);
	/* The packets in the middle, the first ones, all of it. */
	read(sm, PSN + 2, 100 + MTU, MTU);
	sm_expect_data(sm, ONLY, PSN + 2, 100 + MTU, MTU, false);
	read(sm, PSN + 1, 100, 2 * MTU);
	sm_expect_data(sm, FIRST, PSN + 1, 100, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 100 + MTU, MTU, false);
	read(sm, PSN + 1, 100, 3 * MTU + 4);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 4);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DROP_AGAIN), 11);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	sm_end(sm);
}

/* The last max_dest_rd_atomic are remembered: no requester waits for others. */
static void read_again_too_late(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.max_dest_rd_atomic = 4;
	sm = sm_make(test, &conf);
	for (i = 0; i < 5; i++)
		read(sm, PSN + i, i, 10);
	sm_skip(sm);
	read(sm, PSN, 0, 10);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DROP_AGAIN), 1);
	for (i = 1; i < 5; i++) {
		read(sm, PSN + i, i, 10);
		sm_expect_data(sm, ONLY, PSN + i, i, 10, false);
	}
	sm_end(sm);
}

/* A region that has gone is not read again, though it was once. */
static void read_again_without_region(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST,
		.psn = PSN,
		.va = SM_VA,
		.dmalen = MTU,
		.rkey = sm->mr->key,
	};

	sm_rx(sm, pkt);
	sm_skip(sm);
	rxe_dereg_mr(&sm->mr->ibmr, NULL);
	sm->mr = NULL;
	sm_rx(sm, pkt);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	sm_end(sm);
}

/* Twice in one burst: each answer once. */
static void read_again_before_its_answer(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_burst(sm);
	read(sm, PSN, 0, 2 * MTU);
	read(sm, PSN, 0, 2 * MTU);
	read(sm, PSN + 1, MTU, MTU);
	sm_burst_end(sm);
	sm_expect_data(sm, FIRST, PSN, 0, MTU, false);
	sm_expect_data(sm, LAST, PSN + 1, MTU, MTU, false);
	sm_expect_none(sm);
	sm_end(sm);
}

/* In the middle of its answers: back to what was lost, no further. */
static void read_again_while_answering(struct kunit *test)
{
	struct sm *sm = start_long(test);
	u32 n;

	sm_burst(sm);
	read(sm, PSN, 0, LONG_LEN);
	KUNIT_EXPECT_TRUE(test, sm_burst_pass(sm));
	n = sm_num_sent(sm);
	/* A run's budget is 128 KiB, a train more or less. */
	KUNIT_EXPECT_GE(test, n, 124);
	KUNIT_EXPECT_LT(test, n, 200);
	expect_long(sm, 0, n, true);
	sm_burst(sm);
	read(sm, PSN + 10, 10 * MTU, LONG_LEN - 10 * MTU);
	sm_burst_end(sm);
	expect_long(sm, 10, LONG_PKTS, true);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- limits ---- */

static void read_more_than_agreed(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.max_dest_rd_atomic = 2;
	sm = sm_make(test, &conf);
	sm_post_recv(sm, 1, 0, 64);
	sm_burst(sm);
	read(sm, PSN, 0, MTU);
	read(sm, PSN + 1, MTU, MTU);
	read(sm, PSN + 2, 2 * MTU, MTU);
	sm_burst_end(sm);
	sm_expect_data(sm, ONLY, PSN, 0, MTU, false);
	sm_expect_data(sm, ONLY, PSN + 1, MTU, MTU, false);
	sm_expect_aeth(sm, PSN + 2, NAK_INVALID, 2);
	sm_expect_none(sm);
	sm_expect_event(sm, IB_EVENT_QP_REQ_ERR);
	sm_expect_recv_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_end(sm);
}

/* One after the other is no more than was agreed. */
static void read_as_many_as_agreed(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.max_dest_rd_atomic = 1;
	sm = sm_make(test, &conf);
	for (i = 0; i < 5; i++) {
		read(sm, PSN + i, i, 10);
		sm_expect_data(sm, ONLY, PSN + i, i, 10, false);
	}
	sm_expect_none(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void read_none_agreed(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.max_dest_rd_atomic = 0;
	sm = sm_make(test, &conf);
	read(sm, PSN, 0, 10);
	sm_expect_aeth(sm, PSN, NAK_INVALID, 0);
	sm_expect_event(sm, IB_EVENT_QP_REQ_ERR);
	sm_end(sm);
}

/*
 * The answers were only late: the requester asked again, got them after all
 * and goes on.  What he has does not count against what he may ask for.
 */
static void read_late_answers_cost_nothing(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.max_dest_rd_atomic = 1;
	sm = sm_make(test, &conf);
	read(sm, PSN, 0, 2 * MTU);
	sm_skip(sm);
	sm_burst(sm);
	read(sm, PSN, 0, 2 * MTU);
	read(sm, PSN + 2, 2 * MTU, MTU);
	sm_burst_end(sm);
	while (sm_num_sent(sm) > 1)
		sm_next(sm);
	sm_expect_data(sm, ONLY, PSN + 2, 2 * MTU, MTU, false);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void read_region_goes(struct kunit *test)
{
	struct sm *sm = start_long(test);
	u32 n;

	sm_post_recv(sm, 1, 0, 64);
	sm_burst(sm);
	read(sm, PSN, 0, LONG_LEN);
	KUNIT_EXPECT_TRUE(test, sm_burst_pass(sm));
	n = sm_num_sent(sm);
	expect_long(sm, 0, n, true);
	rxe_dereg_mr(&sm->mr->ibmr, NULL);
	sm->mr = NULL;
	sm_burst(sm);
	sm_burst_end(sm);
	sm_expect_aeth(sm, PSN + n, NAK_ACCESS, 1);
	sm_expect_none(sm);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	sm_expect_recv_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_end(sm);
}

/* Without room for an answer it, and what is behind it, waits. */
static void read_waits_for_room(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 3 * MTU, 64);
	sm->xmit_answer = NET_XMIT_DROP;
	read(sm, PSN, 0, 2 * MTU + 4);
	send(sm, PSN + 3);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, FIRST, PSN, 0, MTU, false);
	sm_expect_data(sm, MIDDLE, PSN + 1, MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 2 * MTU, 4, false);
	sm_expect_ack(sm, PSN + 3, 2);
	KUNIT_EXPECT_EQ(test, sm->trains, 4);
	KUNIT_EXPECT_GT(test, sm_counted(sm, RXE_CNT_TX_PAUSE), 0);
	sm_end(sm);
}

/* Asked for again while it waits, it waits: nothing of it is lost. */
static void read_asked_again_while_it_waits(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	u32 i;

	sm->xmit_answer = NET_XMIT_DROP;
	read(sm, PSN, 0, 2 * MTU + 4);
	for (i = 0; i < 5; i++)
		read(sm, PSN, 0, 2 * MTU + 4);
	KUNIT_EXPECT_EQ(test, sm->qp->resp.again, 0);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, FIRST, PSN, 0, MTU, false);
	sm_expect_data(sm, MIDDLE, PSN + 1, MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 2 * MTU, 4, false);
	sm_expect_none(sm);
	sm_end(sm);
}

/* A firewall here refuses an answer: those behind it are not tried. */
static void read_answers_are_refused(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	u32 i;

	sm->rxe->trains = false;
	sm->qp->pause.refused = RXE_PAUSE_GIVE_UP - 2;
	sm->xmit_answer = -EPERM;
	read(sm, PSN, 0, 3 * MTU);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SEND_ERR), 1);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, FIRST, PSN, 0, MTU, false);
	sm_expect_data(sm, MIDDLE, PSN + 1, MTU, MTU, false);
	sm_expect_data(sm, LAST, PSN + 2, 2 * MTU, MTU, false);
	/* Not for ever: it is the requester that asks again. */
	sm->xmit_answer = -EPERM;
	read(sm, PSN + 3, 0, MTU);
	for (i = 0; i < 20 && sm->qp->resp.job_tail != sm->qp->resp.job_head; i++)
		sm_pause_over(sm);
	KUNIT_EXPECT_LT(test, i, 20);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_none(sm);
	sm_end(sm);
}

/* Answers in trains, and one by one where the link says so. */
static void read_trains(struct kunit *test)
{
	int trains;

	for (trains = 0; trains < 2; trains++) {
		struct sm *sm = sm_start(test);

		sm->rxe->trains = trains;
		read(sm, PSN, 0, 16 * MTU);
		KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 16);
		/* FIRST is four bytes longer than MIDDLE: 1 + 14 + 1. */
		if (trains)
			KUNIT_EXPECT_LE(test, sm->trains, 3);
		else
			KUNIT_EXPECT_EQ(test, sm->trains, 16);
		sm_skip(sm);
		sm_end(sm);
	}
}

static struct kunit_case rxe_sm_read_cases[] = {
	KUNIT_CASE(read_is_answered),
	KUNIT_CASE(read_psn_wraps),
	KUNIT_CASE(read_before_the_ack),
	KUNIT_CASE(read_before_the_nak),
	KUNIT_CASE(read_again),
	KUNIT_CASE(read_again_elsewhere),
	KUNIT_CASE(read_again_too_late),
	KUNIT_CASE(read_again_without_region),
	KUNIT_CASE(read_again_before_its_answer),
	KUNIT_CASE(read_again_while_answering),
	KUNIT_CASE(read_more_than_agreed),
	KUNIT_CASE(read_as_many_as_agreed),
	KUNIT_CASE(read_none_agreed),
	KUNIT_CASE(read_late_answers_cost_nothing),
	KUNIT_CASE(read_region_goes),
	KUNIT_CASE(read_waits_for_room),
	KUNIT_CASE(read_asked_again_while_it_waits),
	KUNIT_CASE(read_answers_are_refused),
	KUNIT_CASE(read_trains),
	{}
};

static struct kunit_suite rxe_sm_read_suite = {
	.name = "rxe_sm_read",
	.test_cases = rxe_sm_read_cases,
};

kunit_test_suite(rxe_sm_read_suite);
