// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Networks that have no room: a full queue of this machine, which says so
 * (rxe_pause.h), and one elsewhere, which is found by its losses (rxe_req.h).
 */
#include "rxe_req.h"
#include "rxe_sm_bench.h"

#define PSN 0x100		/* of the QP's own requests */
#define RESP_PSN 0x200		/* of requests to it */
#define MTU 1024
#define UNLIMITED 0x1f
#define NAK_SEQUENCE 0x60
#define NAK_ACCESS 0x62
#define S_FIRST IB_OPCODE_RC_SEND_FIRST
#define S_MIDDLE IB_OPCODE_RC_SEND_MIDDLE
#define S_LAST IB_OPCODE_RC_SEND_LAST
#define S_ONLY IB_OPCODE_RC_SEND_ONLY

/*
 * Nothing behind what was refused is tried, and as soon as there is room it
 * goes on there, packet by packet, with nothing counted as sent again.
 */
static void room_is_waited_for(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	sm_expect_data(sm, S_ONLY, PSN, 0, 4, true);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 2, IB_WR_SEND, 0, 2 * MTU + 4, 0);
	sm_post(sm, 3, IB_WR_SEND, 64, 4, 0);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.psn, PSN + 1);
	/* A part of it may have left all the same. */
	KUNIT_EXPECT_EQ(test, sm->qp->req.max_psn, PSN + 4);
	KUNIT_EXPECT_GT(test, sm_counted(sm, RXE_CNT_TX_PAUSE), 0);
	/* An answer to what was sent before does not end the pause. */
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, S_FIRST, PSN + 1, 0, MTU, true);
	sm_expect_data(sm, S_MIDDLE, PSN + 2, MTU, MTU, true);
	sm_expect_data(sm, S_LAST, PSN + 3, 2 * MTU, 4, true);
	sm_expect_data(sm, S_ONLY, PSN + 4, 64, 4, true);
	KUNIT_EXPECT_EQ(test, sm->trains, 1 + 4);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RETRY), 0);
	sm_ack(sm, PSN + 4, UNLIMITED, 3);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_end(sm);
}

/* An ACK does not shorten the time that what waits has. */
static void room_after_an_ack(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_qp_attr attr = { .timeout = 1 };
	ktime_t before;

	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	sm_skip(sm);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 2, IB_WR_SEND, 0, 4, 0);
	sm_modify(sm, attr, IB_QP_TIMEOUT);
	before = ktime_get();
	sm_ack(sm, PSN, UNLIMITED, 1);
	KUNIT_EXPECT_GE(test, sm->qp->req.ack_deadline,
			ktime_add_ns(before, RXE_PAUSE_PATIENCE_NS));
	sm_end(sm);
}

/* Trains come back when so many packets have got through. */
static void room_for_trains_again(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_SEND, 0, 4 * MTU, 0);
	local_bh_disable();
	sm->xmit_answer = 0;
	sm->qp->pause.singles = 2;
	sm->rxe->lanes.tight = jiffies;
	local_bh_enable();
	sm_pause_over(sm);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 4);
	KUNIT_EXPECT_EQ(test, sm->trains, 2 + 1);
	sm_skip(sm);
	sm_end(sm);
}

/* It has been refused so often that its own network seems to be at fault. */
static void wait_until_stuck(struct sm *sm)
{
	int i;

	for (i = 0; i < 20 && !sm->qp->pause.stuck; i++)
		sm_pause_over(sm);
	KUNIT_EXPECT_TRUE(sm->test, sm->qp->pause.stuck);
}

/* A queue without room for ever is a network that loses everything. */
static void room_never(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.retry_cnt = 1;
	sm = sm_make(test, &conf);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 4, 0);
	KUNIT_EXPECT_NE(test, sm->qp->req.ack_deadline, 0);
	wait_until_stuck(sm);
	sm_ack_timeout(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_NE(test, sm->qp->req.ack_deadline, 0);
	sm_ack_timeout(sm);
	sm_expect_send_wc(sm, 1, IB_WC_RETRY_EXC_ERR);
	sm_expect_none(sm);
	sm_end(sm);
}

/* A part of the refused train did leave: its ACK counts. */
static void room_for_a_part(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_SEND, 0, 2 * MTU + 4, 0);
	sm_ack(sm, PSN + 1, UNLIMITED, 0);
	KUNIT_EXPECT_EQ(test, sm->qp->req.una, PSN + 2);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, S_LAST, PSN + 2, 2 * MTU, 4, true);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 2, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

/* What was tried has been begun: SQD finishes it, and then is drained. */
static void room_in_sqd(struct kunit *test)
{
	const struct ib_qp_attr sqd = {
		.qp_state = IB_QPS_SQD,
		.en_sqd_async_notify = 1,
	};
	struct sm *sm = sm_start(test);

	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	sm_modify(sm, sqd, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
	sm_expect_events_at(sm, __LINE__, IB_EVENT_SQ_DRAINED, 0);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, S_ONLY, PSN, 0, 4, true);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_SQD);
	sm_end(sm);
}

/* An answer that finds no room keeps requests back, but not for ever. */
static void room_never_for_an_answer(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct rxe_pkt pkt = {
		.opcode = S_ONLY,
		.psn = RESP_PSN,
		.len = 4,
		.ack_req = true,
	};
	struct sm *sm;

	conf.retry_cnt = 0;
	sm = sm_make(test, &conf);
	sm_post_recv(sm, 7, 0, 64);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_rx(sm, pkt);
	sm_expect_recv_wc(sm, 7, IB_WC_SUCCESS);
	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	KUNIT_EXPECT_NE(test, sm->qp->req.ack_deadline, 0);
	wait_until_stuck(sm);
	sm_ack_timeout(sm);
	sm_expect_send_wc(sm, 1, IB_WC_RETRY_EXC_ERR);
	sm_end(sm);
}

/* A fatal NAK is worth some tries; the owner hears of it in any case. */
static void room_for_a_nak(struct kunit *test)
{
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY,
		.psn = RESP_PSN,
		.len = 4,
		.dmalen = 4,
		.rkey = 0xbad,
		.ack_req = true,
	};
	struct sm *sm = sm_start(test);
	int i;

	sm->xmit_answer = NET_XMIT_DROP;
	sm_rx(sm, pkt);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_aeth(sm, RESP_PSN, NAK_ACCESS, 0);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_end(sm);

	sm = sm_start(test);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_rx(sm, pkt);
	for (i = 0; i < RXE_PAUSE_GIVE_UP; i++)
		sm_pause_over(sm);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_end(sm);

	/* It goes to ERR before: the event is not lost. */
	sm = sm_start(test);
	sm->xmit_answer = NET_XMIT_DROP;
	sm_rx(sm, pkt);
	sm_to_state(sm, IB_QPS_ERR);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	sm_end(sm);
}

/* ---- no memory for a packet ---- */

/* The next packet has none; then nothing is lost, and it leaves a little later. */
static void expect_a_pause(struct sm *sm)
{
	struct kunit *test = sm->test;

	KUNIT_EXPECT_TRUE(test, sm_memory_was_short());
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_TX_PAUSE), 1);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SEND_ERR), 0);
	sm_pause_over(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, RXE_WINDOW_PKTS);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RETRY), 0);
}

static void memory_for_requests(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_no_memory(sm);
	sm_post(sm, 1, IB_WR_SEND, 0, MTU + 4, 0);
	expect_a_pause(sm);
	sm_expect_data(sm, S_FIRST, PSN, 0, MTU, false);
	sm_expect_data(sm, S_LAST, PSN + 1, MTU, 4, true);
	sm_end(sm);

	sm = sm_start(test);
	sm_no_memory(sm);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 64, 0);
	expect_a_pause(sm);
	sm_expect_read(sm, PSN, 0, 64);
	sm_expect_none(sm);
	sm_end(sm);
}

/* Neither a retry nor the window pays for it, however long it takes. */
static void memory_is_no_loss(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.retry_cnt = 1;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	sm_skip(sm);
	/* The pause is a long one. */
	sm->qp->pause.refused = RXE_PAUSE_DOUBLINGS;
	sm_no_memory(sm);
	sm_post(sm, 2, IB_WR_SEND, 0, 4, 0);
	for (i = 0; i < 3; i++)
		sm_ack_timeout(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_memory_was_short());
	KUNIT_EXPECT_EQ(test, sm->qp->req.retries_left, conf.retry_cnt);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, RXE_WINDOW_PKTS);
	sm_pause_over(sm);
	sm_expect_data(sm, S_ONLY, PSN + 1, 0, 4, true);
	sm_expect_none(sm);
	sm_end(sm);
}

static void memory_for_answers(struct kunit *test)
{
	struct rxe_pkt pkt = {
		.opcode = S_ONLY,
		.psn = RESP_PSN,
		.len = 4,
		.ack_req = true,
	};
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 7, 0, 64);
	sm_no_memory(sm);
	sm_rx(sm, pkt);
	sm_expect_recv_wc(sm, 7, IB_WC_SUCCESS);
	expect_a_pause(sm);
	sm_expect_ack(sm, RESP_PSN, 1);
	sm_end(sm);

	sm = sm_start(test);
	pkt.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST;
	pkt.len = 0;
	pkt.va = sm->mr->va;
	pkt.rkey = sm->mr->key;
	pkt.dmalen = 4;
	sm_no_memory(sm);
	sm_rx(sm, pkt);
	expect_a_pause(sm);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, RESP_PSN, 0, 4,
		       false);
	sm_end(sm);

	sm = sm_start(test);
	pkt.rkey = 0xbad;
	sm_no_memory(sm);
	sm_rx(sm, pkt);
	sm_expect_no_event(sm);
	expect_a_pause(sm);
	sm_expect_aeth(sm, RESP_PSN, NAK_ACCESS, 0);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	sm_end(sm);
}

/* It is not reported as sent before it is. */
static void memory_for_the_unreliable(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.type = IB_QPT_UC;
	sm = sm_make(test, &conf);
	sm_no_memory(sm);
	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	expect_a_pause(sm);
	sm_expect_data(sm, IB_OPCODE_UC_SEND_ONLY, PSN, 0, 4, false);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

/* Half of it after a loss; one more for two that are acknowledged. */
static void window_after_loss(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.pages = 75;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 300 * MTU, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 256);
	sm_skip(sm);
	sm_ack(sm, PSN + 10, 0x60, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 128);
	sm_skip(sm);
	sm_ack(sm, PSN + 137, UNLIMITED, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 128);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, 128);
	sm_ack(sm, PSN + 265, UNLIMITED, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 34);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, 129);
	/* It does not close. */
	for (i = 0; i < 7; i++) {
		sm_ack_timeout(sm);
		sm_skip(sm);
	}
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, RXE_WINDOW_MIN);
	sm_ack(sm, PSN + 299, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

/* A window that a loss has made smaller is for READs, too. */
static void window_of_reads(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm->qp->req.window = 8;
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 6 * MTU, 0);
	sm_post(sm, 2, IB_WR_RDMA_READ, 0, 6 * MTU, 0);
	sm_post(sm, 3, IB_WR_RDMA_READ, 0, 2 * MTU, 0);
	sm_expect_read(sm, PSN, 0, 6 * MTU);
	sm_expect_none(sm);
	sm_end(sm);
}

/* Two holes in what was on its way are one event; a hole in the next another. */
static void window_counts_events(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.pages = 75;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 300 * MTU, 0);
	sm_ack(sm, PSN + 10, NAK_SEQUENCE, 0);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, 128);
	sm_ack(sm, PSN + 40, NAK_SEQUENCE, 0);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, 128);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RETRY), 2);
	sm_ack(sm, PSN + 255, UNLIMITED, 0);
	sm_ack(sm, PSN + 270, NAK_SEQUENCE, 0);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, 64);
	sm_skip(sm);
	sm_end(sm);
}

/* The network doubles a NAK: no retry is spent on the copy. */
static void window_and_a_nak_twice(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_SEND, 0, 4, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 4, 0);
	sm_skip(sm);
	sm_burst(sm);
	sm_ack(sm, PSN, NAK_SEQUENCE, 0);
	sm_ack(sm, PSN, NAK_SEQUENCE, 0);
	sm_burst_end(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RETRY), 1);
	KUNIT_EXPECT_EQ(test, sm->qp->req.retries_left, sm->qp->attr.retry_cnt - 1);
	sm_skip(sm);
	sm_end(sm);
}

static struct kunit_case rxe_sm_room_cases[] = {
	KUNIT_CASE(room_is_waited_for),
	KUNIT_CASE(room_after_an_ack),
	KUNIT_CASE(room_for_trains_again),
	KUNIT_CASE(room_never),
	KUNIT_CASE(room_for_a_part),
	KUNIT_CASE(room_in_sqd),
	KUNIT_CASE(room_never_for_an_answer),
	KUNIT_CASE(room_for_a_nak),
	KUNIT_CASE(memory_for_requests),
	KUNIT_CASE(memory_is_no_loss),
	KUNIT_CASE(memory_for_answers),
	KUNIT_CASE(memory_for_the_unreliable),
	KUNIT_CASE(window_after_loss),
	KUNIT_CASE(window_of_reads),
	KUNIT_CASE(window_counts_events),
	KUNIT_CASE(window_and_a_nak_twice),
	{}
};

static struct kunit_suite rxe_sm_room_suite = {
	.name = "rxe_sm_room",
	.test_cases = rxe_sm_room_cases,
};

kunit_test_suite(rxe_sm_room_suite);
