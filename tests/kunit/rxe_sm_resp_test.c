// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The responder: what a stranger's requests do to memory and queues, and what
 * he is answered.  Numbers are typed from the rules, not computed by the code.
 */
#include "rxe_sm_bench.h"

#define PSN 0x200		/* the first one it expects */
#define MTU 1024

/* Syndromes, as table 44 and 46 of the specification have them. */
#define NAK_SEQUENCE 0x60
#define NAK_INVALID 0x61
#define NAK_ACCESS 0x62
#define NAK_OPERATIONAL 0x63
#define RNR_NAK_12 0x2c

static void send(struct sm *sm, u8 opcode, u32 psn, u32 first, u32 len,
		 bool ack_req)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = first,
		.len = len,
		.ack_req = ack_req,
		.imm = cpu_to_be32(0xcafe0000 | psn),
	};

	sm_rx(sm, pkt);
}

static void write(struct sm *sm, u8 opcode, u32 psn, u32 off, u32 total,
		  u32 first, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = first,
		.len = len,
		.ack_req = true,
		.imm = cpu_to_be32(0xcafe0000 | psn),
		.va = SM_VA + off,
		.rkey = sm->mr->key,
		.dmalen = total,
	};

	sm_rx(sm, pkt);
}

/* ---- in order ---- */

static void resp_send(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post_recv(sm, 1, 10, 4096);
	sm_post_recv(sm, 2, 5000, 8);
	sm_burst(sm);
	send(sm, IB_OPCODE_RC_SEND_FIRST, PSN, 0, MTU, false);
	send(sm, IB_OPCODE_RC_SEND_MIDDLE, PSN + 1, MTU, MTU, false);
	send(sm, IB_OPCODE_RC_SEND_LAST, PSN + 2, 2 * MTU, 5, true);
	sm_burst_end(sm);
	/* One more receive is posted. */
	sm_expect_aeth(sm, PSN + 2, 1, 1);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 2 * MTU + 5);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags, 0);
	KUNIT_EXPECT_EQ(test, sm->wc.src_qp, SM_DEST_QPN);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 10, 2 * MTU + 5, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 10));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 10 + 2 * MTU + 5, 3000));

	send(sm, IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE, PSN + 3, 7, 8, true);
	sm_expect_aeth(sm, PSN + 3, 0, 2);
	sm_expect_recv_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 8);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sm->wc.ex.imm_data),
			0xcafe0000 | (PSN + 3));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 5000, 8, 7));
	sm_expect_no_wc(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void resp_write(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post_recv(sm, 1, 60000, 1);
	sm_burst(sm);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_FIRST, PSN, 4000, 2 * MTU + 1, 0,
	      MTU);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, PSN + 1, 0, 0, MTU, MTU);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_LAST, PSN + 2, 0, 0, 2 * MTU, 1);
	sm_burst_end(sm);
	sm_expect_ack(sm, PSN + 2, 1);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 4000, 2 * MTU + 1, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4000));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 4000 + 2 * MTU + 1, 1000));

	write(sm, IB_OPCODE_RC_RDMA_WRITE_FIRST, PSN + 3, 0, MTU + 4, 0, MTU);
	sm_expect_ack(sm, PSN + 3, 1);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, PSN + 4, 0, 0,
	      MTU, 4);
	sm_expect_ack(sm, PSN + 4, 2);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, MTU + 4);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sm->wc.ex.imm_data),
			0xcafe0000 | (PSN + 4));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, MTU + 4, 0));
	/* Its receive buffer is not touched. */
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 60000, 1));
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void resp_one_ack_a_burst(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	int i;

	for (i = 0; i < 9; i++)
		sm_post_recv(sm, i, 0, 64);
	sm_burst(sm);
	for (i = 0; i < 8; i++)
		send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + i, 0, 64, true);
	sm_burst_end(sm);
	sm_expect_aeth(sm, PSN + 7, 1, 8);
	sm_expect_none(sm);
	/* Nobody asked: nobody is answered. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 8, 0, 64, false);
	sm_expect_none(sm);
	for (i = 0; i < 9; i++)
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	sm_end(sm);
}

static void resp_zero_length(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_RDMA_WRITE_ONLY,
		.psn = PSN,
		.ack_req = true,
		.va = U64_MAX,
		.rkey = 0xdeadbeef,
	};

	/* No key is looked at (IBTA vol. 1, 9.7.4.1.5). */
	sm_rx(sm, pkt);
	sm_expect_ack(sm, PSN, 1);
	pkt.opcode = IB_OPCODE_RC_RDMA_READ_REQUEST;
	pkt.psn = PSN + 1;
	sm_rx(sm, pkt);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN + 1, 0, 0,
		       false);
	sm_post_recv(sm, 1, 0, 0);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 2, 0, 0, true);
	sm_expect_ack(sm, PSN + 2, 3);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 0);
	sm_expect_none(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void resp_first_packet_in_rtr(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.state = IB_QPS_RTR;
	sm = sm_make(test, &conf);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN, 0, 4, 0, 4);
	sm_expect_event(sm, IB_EVENT_COMM_EST);
	sm_expect_ack(sm, PSN, 1);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN + 1, 0, 4, 0, 4);
	sm_expect_no_event(sm);
	sm_expect_ack(sm, PSN + 1, 2);
	sm_end(sm);
}

/* ---- gaps, duplicates, the wrap ---- */

static void resp_gap(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	int i;

	for (i = 0; i < 6; i++)
		sm_post_recv(sm, i, 0, 64);
	sm_burst(sm);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 2, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 3, 0, 64, true);
	sm_burst_end(sm);
	/* The NAK acknowledges what is before it. */
	sm_expect_aeth(sm, PSN + 1, NAK_SEQUENCE, 1);
	sm_expect_none(sm);
	/* Once for each gap. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 4, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 2, 0, 64, true);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SENT_SEQ_ERR), 1);
	sm_expect_recv_wc(sm, 0, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	/* The sender goes back; then another gap. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 1, 0, 64, true);
	sm_expect_ack(sm, PSN + 1, 2);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 3, 0, 64, true);
	sm_expect_aeth(sm, PSN + 2, NAK_SEQUENCE, 2);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* What was missing comes in the same burst: an answer, and the right one. */
static void resp_gap_closes_in_its_burst(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 0, 64);
	sm_post_recv(sm, 2, 0, 64);
	sm_burst(sm);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 1, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 1, 0, 64, true);
	sm_burst_end(sm);
	sm_expect_ack(sm, PSN + 1, 2);
	sm_expect_none(sm);
	sm_end(sm);
}

static void resp_duplicates(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 0, 64);
	sm_post_recv(sm, 2, 100, 64);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 5, 64, true);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN + 1, 1000, 32, 9, 32);
	sm_skip(sm);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	sm_clear(sm);
	/* Acknowledged again, with the newest PSN, and not executed. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 5, 64, true);
	sm_expect_aeth(sm, PSN + 1, 1, 2);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN + 1, 1000, 32, 9, 32);
	sm_expect_aeth(sm, PSN + 1, 1, 2);
	/* From long ago, and both in one burst. */
	sm_burst(sm);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN - 0x1ff, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	sm_burst_end(sm);
	sm_expect_aeth(sm, PSN + 1, 1, 2);
	sm_expect_none(sm);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4096));
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DUPLICATE), 4);
	/* Goes on where it was. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 2, 0, 64, true);
	sm_expect_aeth(sm, PSN + 2, 0, 3);
	sm_expect_recv_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* A part of an open message again does not disturb it. */
static void resp_duplicate_inside_a_message(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post_recv(sm, 1, 0, 4096);
	send(sm, IB_OPCODE_RC_SEND_FIRST, PSN, 0, MTU, false);
	send(sm, IB_OPCODE_RC_SEND_MIDDLE, PSN + 1, MTU, MTU, false);
	send(sm, IB_OPCODE_RC_SEND_FIRST, PSN, 0, MTU, true);
	sm_expect_ack(sm, PSN + 1, 0);
	send(sm, IB_OPCODE_RC_SEND_LAST, PSN + 2, 2 * MTU, 100, true);
	sm_expect_ack(sm, PSN + 2, 1);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 2 * MTU + 100);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 2 * MTU + 100, 0));
	sm_end(sm);
}

static void resp_psn_wraps(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.rq_psn = 0xfffffe;
	sm = sm_make(test, &conf);
	for (i = 0; i < 5; i++)
		sm_post_recv(sm, i, 0, 64);
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0xfffffe, 0, 4, true);
	sm_expect_aeth(sm, 0xfffffe, 4, 1);
	/* A gap across the wrap. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0x000001, 0, 4, true);
	sm_expect_aeth(sm, 0xffffff, NAK_SEQUENCE, 1);
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0xffffff, 0, 4, true);
	sm_expect_aeth(sm, 0xffffff, 3, 2);
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0x000000, 0, 4, true);
	sm_expect_aeth(sm, 0x000000, 2, 3);
	/* Duplicates from before the wrap. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0xffffff, 0, 4, true);
	sm_expect_aeth(sm, 0x000000, 2, 3);
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0x800001, 0, 4, true);
	sm_expect_aeth(sm, 0x000000, 2, 3);
	send(sm, IB_OPCODE_RC_SEND_ONLY, 0x000001, 0, 4, true);
	sm_expect_aeth(sm, 0x000001, 1, 4);
	for (i = 0; i < 4; i++)
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- no receive ---- */

static void resp_rnr(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	sm_expect_aeth(sm, PSN, RNR_NAK_12, 0);
	/* What follows it is not another gap. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 1, 0, 64, true);
	sm_expect_none(sm);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	sm_expect_aeth(sm, PSN, RNR_NAK_12, 0);
	sm_post_recv(sm, 1, 0, 64);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	sm_expect_aeth(sm, PSN, 0, 1);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SENT_RNR), 2);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SENT_SEQ_ERR), 0);

	/* The receive of a WRITE with immediate is needed at its end. */
	sm_clear(sm);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_FIRST, PSN + 1, 0, MTU + 4, 0, MTU);
	sm_expect_ack(sm, PSN + 1, 1);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, PSN + 2, 0, 0,
	      MTU, 4);
	sm_expect_aeth(sm, PSN + 2, RNR_NAK_12, 1);
	sm_post_recv(sm, 2, 0, 0);
	write(sm, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, PSN + 2, 0, 0,
	      MTU, 4);
	sm_expect_ack(sm, PSN + 2, 2);
	sm_expect_recv_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, MTU + 4, 0));
	sm_expect_none(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* The last of three has none: two are acknowledged by the RNR NAK. */
static void resp_rnr_at_the_end_of_a_burst(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 0, 64);
	sm_post_recv(sm, 2, 0, 64);
	sm_burst(sm);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 1, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 2, 0, 64, true);
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 3, 0, 64, true);
	sm_burst_end(sm);
	sm_expect_aeth(sm, PSN + 2, RNR_NAK_12, 2);
	sm_expect_none(sm);
	/* A duplicate meanwhile is acknowledged as ever. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, PSN + 1, 0, 64, true);
	sm_expect_ack(sm, PSN + 1, 2);
	sm_end(sm);
}

static void resp_rnr_timer_values(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	u8 code;

	for (code = 0; code < 32; code++) {
		struct ib_qp_attr attr = { .min_rnr_timer = code };

		sm_modify(sm, attr, IB_QP_MIN_RNR_TIMER);
		send(sm, IB_OPCODE_RC_SEND_ONLY, PSN, 0, 64, true);
		sm_expect_aeth(sm, PSN, 0x20 + code, 0);
	}
	sm_end(sm);
}

/* ---- what is no valid request ---- */

/* NAK at @psn, the event, ERR, receives flushed. */
static void expect_refused(struct sm *sm, int row, u32 psn, u8 syndrome,
			   enum ib_event_type event)
{
	struct kunit *test = sm->test;
	const struct sm_sent *sent = sm_next(sm);

	if (sent) {
		KUNIT_EXPECT_EQ_MSG(test, sent->pkt.opcode, 0x11, "row %d",
				    row);
		KUNIT_EXPECT_EQ_MSG(test, sent->pkt.syndrome, syndrome,
				    "row %d", row);
		KUNIT_EXPECT_EQ_MSG(test, sent->pkt.psn, psn, "row %d", row);
		KUNIT_EXPECT_EQ_MSG(test, sent->pkt.msn, 0, "row %d", row);
	}
	KUNIT_EXPECT_EQ_MSG(test, sm->qp->state, IB_QPS_ERR, "row %d", row);
	KUNIT_EXPECT_EQ_MSG(test, sm->qp_events[event], 1, "row %d", row);
	sm_expect_event(sm, event);
	sm_expect_recv_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_expect_recv_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	/* And not a word more. */
	send(sm, IB_OPCODE_RC_SEND_ONLY, psn, 0, 4, true);
	sm_expect_none(sm);
}

struct shape {
	u8 opcode;
	u32 len;
	u32 dmalen;
	/* A packet before it that is right: its opcode, and RETH's length. */
	int before;
	u32 before_dmalen;
};

#define NONE (-1)
#define S_FIRST IB_OPCODE_RC_SEND_FIRST
#define S_MIDDLE IB_OPCODE_RC_SEND_MIDDLE
#define S_LAST IB_OPCODE_RC_SEND_LAST
#define S_LAST_IMM IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE
#define S_ONLY IB_OPCODE_RC_SEND_ONLY
#define S_ONLY_IMM IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE
#define W_FIRST IB_OPCODE_RC_RDMA_WRITE_FIRST
#define W_MIDDLE IB_OPCODE_RC_RDMA_WRITE_MIDDLE
#define W_LAST IB_OPCODE_RC_RDMA_WRITE_LAST
#define W_LAST_IMM IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE
#define W_ONLY IB_OPCODE_RC_RDMA_WRITE_ONLY
#define W_ONLY_IMM IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE
#define R_REQ IB_OPCODE_RC_RDMA_READ_REQUEST

static void refuse_shapes(struct kunit *test, const struct shape *rows,
			  int count)
{
	int i;

	for (i = 0; i < count; i++) {
		const struct shape *row = &rows[i];
		struct sm *sm = sm_start(test);
		u32 psn = PSN;

		sm_post_recv(sm, 1, 0, 65536);
		sm_post_recv(sm, 2, 0, 65536);
		if (row->before != NONE) {
			struct rxe_pkt pkt = {
				.opcode = row->before,
				.psn = psn++,
				.len = MTU,
				.va = SM_VA,
				.rkey = sm->mr->key,
				.dmalen = row->before_dmalen,
			};

			sm_rx(sm, pkt);
			sm_expect_none(sm);
		}
		write(sm, row->opcode, psn, 0, row->dmalen, 0, row->len);
		expect_refused(sm, i, psn, NAK_INVALID, IB_EVENT_QP_REQ_ERR);
		sm_end(sm);
	}
}

static void resp_bad_lengths(struct kunit *test)
{
	static const struct shape rows[] = {
		/* FIRST and MIDDLE are as long as the MTU. */
		{ S_FIRST, 0, 0, NONE, 0 },
		{ S_FIRST, 1020, 0, NONE, 0 },
		{ S_FIRST, 1023, 0, NONE, 0 },
		{ S_FIRST, 1025, 0, NONE, 0 },
		{ S_FIRST, 2048, 0, NONE, 0 },
		{ S_MIDDLE, 0, 0, S_FIRST, 0 },
		{ S_MIDDLE, 1023, 0, S_FIRST, 0 },
		{ S_MIDDLE, 1028, 0, S_FIRST, 0 },
		{ W_FIRST, 0, 2048, NONE, 0 },
		{ W_FIRST, 1023, 2048, NONE, 0 },
		{ W_FIRST, 1028, 2048, NONE, 0 },
		{ W_MIDDLE, 512, 0, W_FIRST, 4096 },
		{ W_MIDDLE, 1028, 0, W_FIRST, 4096 },
		/* LAST has a byte at least, and the MTU at most. */
		{ S_LAST, 0, 0, S_FIRST, 0 },
		{ S_LAST, 1025, 0, S_FIRST, 0 },
		{ S_LAST_IMM, 0, 0, S_FIRST, 0 },
		{ S_LAST_IMM, 1028, 0, S_FIRST, 0 },
		{ W_LAST, 0, 0, W_FIRST, 2048 },
		{ W_LAST, 1028, 0, W_FIRST, 2052 },
		/* ONLY has the MTU at most. */
		{ S_ONLY, 1025, 0, NONE, 0 },
		{ S_ONLY_IMM, 1028, 0, NONE, 0 },
		{ W_ONLY, 1028, 1028, NONE, 0 },
		{ W_ONLY_IMM, 1028, 1028, NONE, 0 },
		/* RETH says something else. */
		{ W_ONLY, 8, 12, NONE, 0 },
		{ W_ONLY, 12, 8, NONE, 0 },
		{ W_ONLY, 0, 1, NONE, 0 },
		{ W_ONLY, 1, 0, NONE, 0 },
		{ W_ONLY, 1024, 2048, NONE, 0 },
		{ W_ONLY_IMM, 4, 5, NONE, 0 },
		{ W_FIRST, 1024, 1024, NONE, 0 },
		{ W_FIRST, 1024, 100, NONE, 0 },
		{ W_FIRST, 1024, 0, NONE, 0 },
		{ W_LAST, 5, 0, W_FIRST, 1030 },
		{ W_LAST, 7, 0, W_FIRST, 1030 },
		{ W_LAST_IMM, 7, 0, W_FIRST, 1030 },
		{ W_LAST, 1024, 0, W_FIRST, 4096 },
		{ W_MIDDLE, 1024, 0, W_FIRST, 2048 },
		{ W_MIDDLE, 1024, 0, W_FIRST, 1030 },
		/* More than 2 GiB. */
		{ W_FIRST, 1024, 0x80000001, NONE, 0 },
		{ R_REQ, 0, 0x80000001, NONE, 0 },
		{ R_REQ, 0, 0xffffffff, NONE, 0 },
	};

	refuse_shapes(test, rows, ARRAY_SIZE(rows));
}

static void resp_wrong_order_of_opcodes(struct kunit *test)
{
	static const struct shape rows[] = {
		{ S_MIDDLE, 1024, 0, NONE, 0 },
		{ S_LAST, 4, 0, NONE, 0 },
		{ S_LAST_IMM, 4, 0, NONE, 0 },
		{ W_MIDDLE, 1024, 0, NONE, 0 },
		{ W_LAST, 4, 0, NONE, 0 },
		{ W_LAST_IMM, 4, 0, NONE, 0 },
		{ S_FIRST, 1024, 0, S_FIRST, 0 },
		{ S_ONLY, 4, 0, S_FIRST, 0 },
		{ S_ONLY_IMM, 4, 0, S_FIRST, 0 },
		{ W_FIRST, 1024, 4096, S_FIRST, 0 },
		{ W_MIDDLE, 1024, 0, S_FIRST, 0 },
		{ W_LAST, 4, 0, S_FIRST, 0 },
		{ W_ONLY, 4, 4, S_FIRST, 0 },
		{ R_REQ, 0, 4, S_FIRST, 0 },
		{ W_FIRST, 1024, 4096, W_FIRST, 4096 },
		{ W_ONLY, 4, 4, W_FIRST, 4096 },
		{ S_FIRST, 1024, 0, W_FIRST, 4096 },
		{ S_MIDDLE, 1024, 0, W_FIRST, 4096 },
		{ S_LAST, 1024, 0, W_FIRST, 2048 },
		{ S_LAST_IMM, 1024, 0, W_FIRST, 2048 },
		{ S_ONLY, 4, 0, W_FIRST, 4096 },
		{ R_REQ, 0, 4, W_FIRST, 4096 },
	};

	refuse_shapes(test, rows, ARRAY_SIZE(rows));
}

/* ---- keys, ranges, rights ---- */

enum wrong {
	RIGHT,
	WRONG_KEY,
	WRONG_KEY_BYTE,
	WRONG_PD,
	NO_MR_RIGHT,
	NO_QP_RIGHT,
};

struct access_row {
	u64 va;
	u32 len;
	enum wrong wrong;
};

#define LEN 65536ull		/* of the region */

static const struct access_row access_rows[] = {
	{ SM_VA, 16, WRONG_KEY },
	{ SM_VA, 16, WRONG_KEY_BYTE },
	{ SM_VA, 16, WRONG_PD },
	{ SM_VA, 16, NO_MR_RIGHT },
	{ SM_VA, 16, NO_QP_RIGHT },
	{ SM_VA - 1, 16, RIGHT },
	{ SM_VA - 16, 16, RIGHT },
	{ SM_VA + LEN - 15, 16, RIGHT },
	{ SM_VA + LEN, 16, RIGHT },
	{ SM_VA + LEN, 1, RIGHT },
	{ 0, 16, RIGHT },
	{ U64_MAX, 16, RIGHT },
	{ U64_MAX - 15, 16, RIGHT },
	{ U64_MAX - 3, 8, RIGHT },
	{ SM_VA + (1ull << 63), 16, RIGHT },
};

static void refuse_access(struct kunit *test, u8 opcode)
{
	bool reads = opcode == R_REQ;
	int i;

	for (i = 0; i < ARRAY_SIZE(access_rows); i++) {
		const struct access_row *row = &access_rows[i];
		struct sm_conf conf = sm_defaults();
		struct rxe_pkt pkt = {
			.opcode = opcode,
			.psn = PSN,
			.ack_req = true,
			.len = reads ? 0 : row->len,
			.va = row->va,
			.dmalen = row->len,
		};
		struct sm *sm;

		if (row->wrong == NO_MR_RIGHT)
			conf.mr_access &= ~(reads ? IB_ACCESS_REMOTE_READ :
						    IB_ACCESS_REMOTE_WRITE);
		if (row->wrong == NO_QP_RIGHT)
			conf.qp_access &= ~(reads ? IB_ACCESS_REMOTE_READ :
						    IB_ACCESS_REMOTE_WRITE);
		sm = sm_make(test, &conf);
		sm_clear(sm);
		sm_post_recv(sm, 1, 0, 16);
		sm_post_recv(sm, 2, 0, 16);
		pkt.rkey = sm->mr->key;
		if (row->wrong == WRONG_KEY)
			pkt.rkey ^= 0x100;
		if (row->wrong == WRONG_KEY_BYTE)
			pkt.rkey ^= 1;
		if (row->wrong == WRONG_PD)
			sm->mr->pd = (struct rxe_pd *)sm;
		sm_rx(sm, pkt);
		KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, LEN));
		expect_refused(sm, i, PSN, NAK_ACCESS, IB_EVENT_QP_ACCESS_ERR);
		sm_end(sm);
	}
}

static void resp_write_access(struct kunit *test)
{
	refuse_access(test, W_ONLY);
	refuse_access(test, W_ONLY_IMM);
}

static void resp_read_access(struct kunit *test)
{
	refuse_access(test, R_REQ);
}

/* What just fits. */
static void resp_access_at_the_limits(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	write(sm, W_ONLY, PSN, 0, 1, 0, 1);
	sm_expect_ack(sm, PSN, 1);
	write(sm, W_ONLY, PSN + 1, LEN - 1, 1, 0, 1);
	sm_expect_ack(sm, PSN + 1, 2);
	write(sm, W_ONLY, PSN + 2, LEN - MTU, MTU, 0, MTU);
	sm_expect_ack(sm, PSN + 2, 3);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 1, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, LEN - MTU, MTU, 0));
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* A message whose length runs beyond the region is refused at its FIRST. */
static void resp_write_range_is_checked_at_first(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post_recv(sm, 1, 0, 16);
	sm_post_recv(sm, 2, 0, 16);
	write(sm, W_FIRST, PSN, LEN - 2 * MTU, 2 * MTU + 1, 0, MTU);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, LEN));
	expect_refused(sm, 0, PSN, NAK_ACCESS, IB_EVENT_QP_ACCESS_ERR);
	sm_end(sm);
}

static void resp_region_goes_inside_a_write(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	write(sm, W_FIRST, PSN, 0, 3 * MTU, 0, MTU);
	sm_expect_ack(sm, PSN, 0);
	rxe_dereg_mr(&sm->mr->ibmr, NULL);
	sm->mr = NULL;
	send(sm, W_MIDDLE, PSN + 1, 0, MTU, true);
	sm_expect_aeth(sm, PSN + 1, NAK_ACCESS, 0);
	sm_expect_event(sm, IB_EVENT_QP_ACCESS_ERR);
	sm_end(sm);
}

/* ---- receives that cannot take what comes ---- */

static void resp_message_too_long(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post_recv(sm, 1, 0, MTU + 50);
	sm_post_recv(sm, 2, 4096, 64);
	send(sm, S_FIRST, PSN, 0, MTU, true);
	sm_expect_ack(sm, PSN, 0);
	send(sm, S_LAST, PSN + 1, MTU, 51, true);
	sm_expect_aeth(sm, PSN + 1, NAK_INVALID, 0);
	sm_expect_recv_wc(sm, 1, IB_WC_LOC_LEN_ERR);
	sm_expect_recv_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, MTU, 2 * MTU));
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_end(sm);
}

static void resp_receive_protection(struct kunit *test)
{
	int i;

	for (i = 0; i < 3; i++) {
		struct sm *sm = sm_start(test);

		if (i == 0)		/* no such key */
			sm->mr->key ^= 1;
		if (i == 1)		/* beyond the region */
			sm_post_recv(sm, 1, LEN - 63, 64);
		else
			sm_post_recv(sm, 1, 0, 64);
		if (i == 0)
			sm->mr->key ^= 1;
		if (i == 2)		/* nobody may write there */
			sm->mr->access = 0;
		sm_post_recv(sm, 2, 0, 64);
		send(sm, S_ONLY, PSN, 0, 64, true);
		sm_expect_aeth(sm, PSN, NAK_OPERATIONAL, 0);
		sm_expect_recv_wc(sm, 1, IB_WC_LOC_PROT_ERR);
		sm_expect_recv_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
		sm_end(sm);
	}
}

/* A program wrote nonsense into its ring. */
static void resp_receive_ring_lies(struct kunit *test)
{
	static const u32 lies[] = { 5, 33, 0xffffffff };
	int i;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		struct sm *sm = sm_start(test);
		struct rxe_recv_wqe *wqe;

		sm_post_recv(sm, 1, 0, 64);
		sm_post_recv(sm, 2, 0, 64);
		wqe = rxe_ring_elem(sm->qp->rq.ring, sm->qp->rq.ring->index);
		wqe->dma.num_sge = lies[i];
		send(sm, S_ONLY, PSN, 0, 64, true);
		sm_expect_aeth(sm, PSN, NAK_OPERATIONAL, 0);
		sm_expect_recv_wc(sm, 1, IB_WC_LOC_QP_OP_ERR);
		sm_expect_recv_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_end(sm);
	}
}

/* A receive list of several pieces, and pieces of nothing. */
static void resp_receive_list(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge sge[] = {
		{ SM_VA + 10, 3, sm->mr->key },
		{ 0xbad, 0, 0xbad },
		{ SM_VA + 5000, 1500, sm->mr->key },
		{ SM_VA + 20000, 4000, sm->mr->key },
	};
	struct ib_recv_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = 4 };
	const struct ib_recv_wr *bad;

	sm_clear(sm);
	KUNIT_EXPECT_EQ(test, rxe_post_recv(&sm->qp->ibqp, &wr, &bad), 0);
	send(sm, S_FIRST, PSN, 0, MTU, false);
	send(sm, S_LAST, PSN + 1, MTU, 1000, true);
	sm_expect_ack(sm, PSN + 1, 1);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 10, 3, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 5000, 1500, 3));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 20000, 2024 - 1503, 1503));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 20000 + 2024 - 1503, 500));
	sm_end(sm);
}

/* ---- credits ---- */

static void resp_credits(struct kunit *test)
{
	/* Receives posted, and the code (table 46) for the next lower count. */
	static const struct { u32 posted; u8 code; } rows[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 5, 4 },
		{ 6, 5 }, { 7, 5 }, { 8, 6 }, { 11, 6 }, { 12, 7 }, { 15, 7 },
	};
	int i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sm *sm = sm_start(test);

		for (n = 0; n < rows[i].posted; n++)
			sm_post_recv(sm, n, 0, 4096);
		write(sm, W_ONLY, PSN, 0, 4, 0, 4);
		sm_expect_aeth(sm, PSN, rows[i].code, 1);
		/* The message under way has its receive, and its credit. */
		if (n) {
			send(sm, S_FIRST, PSN + 1, 0, MTU, true);
			sm_expect_aeth(sm, PSN + 1, rows[i].code, 1);
		}
		sm_end(sm);
	}
}

static struct kunit_case rxe_sm_resp_cases[] = {
	KUNIT_CASE(resp_send),
	KUNIT_CASE(resp_write),
	KUNIT_CASE(resp_one_ack_a_burst),
	KUNIT_CASE(resp_zero_length),
	KUNIT_CASE(resp_first_packet_in_rtr),
	KUNIT_CASE(resp_gap),
	KUNIT_CASE(resp_gap_closes_in_its_burst),
	KUNIT_CASE(resp_duplicates),
	KUNIT_CASE(resp_duplicate_inside_a_message),
	KUNIT_CASE(resp_psn_wraps),
	KUNIT_CASE(resp_rnr),
	KUNIT_CASE(resp_rnr_at_the_end_of_a_burst),
	KUNIT_CASE(resp_rnr_timer_values),
	KUNIT_CASE(resp_bad_lengths),
	KUNIT_CASE(resp_wrong_order_of_opcodes),
	KUNIT_CASE(resp_write_access),
	KUNIT_CASE(resp_read_access),
	KUNIT_CASE(resp_access_at_the_limits),
	KUNIT_CASE(resp_write_range_is_checked_at_first),
	KUNIT_CASE(resp_region_goes_inside_a_write),
	KUNIT_CASE(resp_message_too_long),
	KUNIT_CASE(resp_receive_protection),
	KUNIT_CASE(resp_receive_ring_lies),
	KUNIT_CASE(resp_receive_list),
	KUNIT_CASE(resp_credits),
	{}
};

static struct kunit_suite rxe_sm_resp_suite = {
	.name = "rxe_sm_resp",
	.test_cases = rxe_sm_resp_cases,
};

kunit_test_suite(rxe_sm_resp_suite);
