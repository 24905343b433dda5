// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The requester: which packets come out of work requests, and what holds them
 * back: window, READ limit, fence, credits, SQD.
 */
#include <net/netevent.h>
#include "rxe_sm_bench.h"

#define PSN 0x100		/* the first one it sends */
#define MTU 1024
#define UNLIMITED 0x1f		/* credits of an ACK that counts none */

#define S_FIRST IB_OPCODE_RC_SEND_FIRST
#define S_MIDDLE IB_OPCODE_RC_SEND_MIDDLE
#define S_LAST IB_OPCODE_RC_SEND_LAST
#define S_ONLY IB_OPCODE_RC_SEND_ONLY

/* A READ answer from the bench; byte @off of the message is its first. */
static void answer(struct sm *sm, u8 opcode, u32 psn, u32 off, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = off,
		.len = len,
		.msn = 1,
		.syndrome = UNLIMITED,
	};

	sm_rx(sm, pkt);
}

/* ---- shapes ---- */

static void req_send_shapes(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	const struct sm_sent *sent;

	sm_post(sm, 1, IB_WR_SEND, 0, 0, 0);
	sm_expect_data(sm, S_ONLY, PSN, 0, 0, true);
	sm_post(sm, 2, IB_WR_SEND, 3, MTU, 0);
	sm_expect_data(sm, S_ONLY, PSN + 1, 3, MTU, true);
	sm_post(sm, 3, IB_WR_SEND, 5, MTU + 1, 0);
	sm_expect_data(sm, S_FIRST, PSN + 2, 5, MTU, false);
	sm_expect_data(sm, S_LAST, PSN + 3, 5 + MTU, 1, true);
	sm_post(sm, 4, IB_WR_SEND, 0, 3 * MTU, IB_SEND_SOLICITED);
	sm_expect_data(sm, S_FIRST, PSN + 4, 0, MTU, false);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode, S_MIDDLE);
		KUNIT_EXPECT_FALSE(test, sent->pkt.solicited);
		KUNIT_EXPECT_FALSE(test, sent->pkt.ack_req);
	}
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode, S_LAST);
		KUNIT_EXPECT_TRUE(test, sent->pkt.solicited);
		KUNIT_EXPECT_TRUE(test, sent->pkt.ack_req);
	}
	sm_post(sm, 5, IB_WR_SEND_WITH_IMM, 0, 4, 0);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode,
				IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(sent->pkt.imm), 0x1005);
		KUNIT_EXPECT_EQ(test, sent->pkt.psn, PSN + 7);
	}
	sm_post(sm, 6, IB_WR_SEND_WITH_IMM, 0, MTU + 4, 0);
	sm_expect_data(sm, S_FIRST, PSN + 8, 0, MTU, false);
	sm_expect_data(sm, IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE, PSN + 9, MTU,
		       4, true);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

static void req_write_shapes(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	const struct sm_sent *sent;

	sm_post(sm, 1, IB_WR_RDMA_WRITE, 0, 3 * MTU - 1, 0);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode,
				IB_OPCODE_RC_RDMA_WRITE_FIRST);
		KUNIT_EXPECT_EQ(test, sent->pkt.va, 0xfedcba9876543210);
		KUNIT_EXPECT_EQ(test, sent->pkt.rkey, 0x13572468);
		KUNIT_EXPECT_EQ(test, sent->pkt.dmalen, 3071);
		KUNIT_EXPECT_EQ(test, sent->pkt.len, MTU);
	}
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, PSN + 1, MTU, MTU,
		       false);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_LAST, PSN + 2, 2 * MTU,
		       MTU - 1, true);
	sm_post(sm, 2, IB_WR_RDMA_WRITE_WITH_IMM, 0, MTU + 1, 0);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_FIRST, PSN + 3, 0, MTU,
		       false);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode,
				IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(sent->pkt.imm), 0x1002);
	}
	sm_post(sm, 3, IB_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode,
				IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(sent->pkt.imm), 0x1003);
		KUNIT_EXPECT_EQ(test, sent->pkt.dmalen, 0);
	}
	sm_post(sm, 4, IB_WR_RDMA_WRITE, 9, 100, 0);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN + 6, 9, 100, true);
	sm_expect_none(sm);
	sm_end(sm);
}

static void req_inline_and_lists(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge sge[] = {
		{ SM_VA + 100, 700, sm->mr->key },
		{ 0xbad, 0, 0xbad },
		{ SM_VA + 800, 800, sm->mr->key },
	};
	struct ib_sge inl = { (uintptr_t)sm_mem(sm, 0), 48, 0 };

	sm_post_sges(sm, 1, IB_WR_SEND, sge, 3, 0);
	sm_expect_data(sm, S_FIRST, PSN, 100, MTU, false);
	sm_expect_data(sm, S_LAST, PSN + 1, 100 + MTU, 1500 - MTU, true);
	sm_post_sges(sm, 2, IB_WR_SEND, &inl, 1, IB_SEND_INLINE);
	sm_clear(sm);
	sm_expect_data(sm, S_ONLY, PSN + 2, 0, 48, true);
	/* Sent again, it is what it was. */
	sm_ack_timeout(sm);
	sm_next(sm);
	sm_next(sm);
	sm_expect_data(sm, S_ONLY, PSN + 2, 0, 48, true);
	sm_expect_none(sm);
	sm_end(sm);
}

static void req_refuses_to_post(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge big = { SM_VA, 1 << 30, sm->mr->key };
	struct ib_sge list[3] = { big, big, { SM_VA, 1, sm->mr->key } };
	int i;

	KUNIT_EXPECT_EQ(test, sm_post_sges(sm, 1, IB_WR_SEND, list, 3, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sm_post_sges(sm, 1, IB_WR_SEND, list, 5, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 1, IB_WR_REG_MR_INTEGRITY, 0, 4, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 1, IB_WR_BIND_MW, 0, 4, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 1, IB_WR_RDMA_READ, 0, 4,
				      IB_SEND_INLINE), -EINVAL);
	sm_expect_none(sm);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, sm_post(sm, i, IB_WR_SEND, 0, 4, 0), 0);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 16, IB_WR_SEND, 0, 4, 0), -ENOMEM);
	sm_skip(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 16, IB_WR_SEND, 0, 4, 0), 0);
	sm_expect_data(sm, S_ONLY, PSN + 16, 0, 4, true);
	sm_end(sm);
}

static void req_not_before_rts(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.state = IB_QPS_RTR;
	sm = sm_make(test, &conf);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 1, IB_WR_SEND, 0, 4, 0), -EINVAL);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- the window ---- */

static void req_window(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	int asked = 0;
	struct sm *sm;
	u32 i;

	conf.pages = 75;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 300 * MTU, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 256);
	for (i = 0; i < 256; i++) {
		const struct sm_sent *sent = sm_next(sm);

		if (!sent)
			break;
		KUNIT_EXPECT_EQ(test, sent->pkt.psn, PSN + i);
		/* Not a word before a quarter is on its way. */
		if (sent->pkt.ack_req) {
			KUNIT_EXPECT_GE(test, i, 64);
			asked++;
		}
	}
	/* Somebody is asked before the window closes: it opens again. */
	KUNIT_EXPECT_GT(test, asked, 0);
	sm_ack(sm, PSN + 99, UNLIMITED, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 44);
	sm_expect_data(sm, S_MIDDLE, PSN + 256, 256 * MTU, MTU, false);
	sm_skip(sm);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN + 299, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_end(sm);
}

/* READ answers take none of it, those that came least of all. */
static void req_window_beside_reads(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.pages = 75;
	sm = sm_make(test, &conf);
	/* 200 answers, all but one READ done, one always under way. */
	for (i = 0; i < 3; i++)
		sm_post(sm, i, IB_WR_RDMA_READ, 0, 100 * MTU, 0);
	sm_skip(sm);
	for (i = 0; i < 200; i++)
		answer(sm, i % 100 == 0 ? IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST :
			   i % 100 == 99 ?
				     IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
				     IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
		       PSN + i, i % 100 * MTU, MTU);
	sm_expect_send_wc(sm, 0, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_post(sm, 9, IB_WR_SEND, 0, 300 * MTU, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 256);
	sm_skip(sm);
	sm_end(sm);
}

static void req_trains(struct kunit *test)
{
	int trains;

	for (trains = 0; trains < 2; trains++) {
		struct sm *sm = sm_start(test);

		sm->rxe->trains = trains;
		sm_post(sm, 1, IB_WR_RDMA_WRITE, 0, 16 * MTU, 0);
		KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 16);
		/* FIRST is 16 bytes longer than the others: 1 + 15. */
		KUNIT_EXPECT_EQ(test, sm->trains, trains ? 2 : 16);
		sm_skip(sm);
		sm_end(sm);
	}
}

static void req_psn_wraps(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.sq_psn = 0xfffffe;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 3 * MTU, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 4, 0);
	sm_expect_data(sm, S_FIRST, 0xfffffe, 0, MTU, false);
	sm_expect_data(sm, S_MIDDLE, 0xffffff, MTU, MTU, false);
	sm_expect_data(sm, S_LAST, 0x000000, 2 * MTU, MTU, true);
	sm_expect_data(sm, S_ONLY, 0x000001, 0, 4, true);
	/* Half of the first, then back across the wrap. */
	sm_ack(sm, 0xfffffe, UNLIMITED, 0);
	sm_expect_no_wc(sm);
	sm_ack(sm, 0xffffff, 0x60, 0);
	sm_expect_data(sm, S_MIDDLE, 0xffffff, MTU, MTU, true);
	sm_expect_data(sm, S_LAST, 0x000000, 2 * MTU, MTU, true);
	sm_expect_data(sm, S_ONLY, 0x000001, 0, 4, true);
	/* From the other side, and from beyond: not for us. */
	sm_ack(sm, 0xfffffe, UNLIMITED, 0);
	sm_ack(sm, 0x000002, UNLIMITED, 2);
	sm_expect_no_wc(sm);
	sm_ack(sm, 0x000000, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_ack(sm, 0x000001, UNLIMITED, 2);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_end(sm);
}

/* Something here refuses a packet: those behind it wait for what comes of it. */
static void req_local_errors(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	/* The pause is a long one. */
	sm->qp->pause.refused = RXE_PAUSE_DOUBLINGS;
	sm->xmit_answer = -EPERM;
	sm_post(sm, 1, IB_WR_SEND, 0, MTU + 4, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 4, 0);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SEND_ERR), 2);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_TX_PAUSE), 0);
	/* No network is asked twice at a time, but a retry is spent. */
	sm_ack_timeout(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.retries_left, sm->conf.retry_cnt - 1);
	KUNIT_EXPECT_EQ(test, sm->qp->req.window, RXE_WINDOW_PKTS);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, S_FIRST, PSN, 0, MTU, true);
	sm_expect_data(sm, S_LAST, PSN + 1, MTU, 4, true);
	sm_expect_data(sm, S_ONLY, PSN + 2, 0, 4, true);
	sm_ack(sm, PSN + 2, UNLIMITED, 2);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_end(sm);
}

/* The same with requests that have answers of their own. */
static void req_local_errors_of_reads(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm->qp->pause.refused = RXE_PAUSE_DOUBLINGS;
	sm->xmit_answer = -EHOSTUNREACH;
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 64, 0);
	sm_post(sm, 2, IB_WR_RDMA_READ, 64, 64, 0);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_SEND_ERR), 1);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_read(sm, PSN, 0, 64);
	sm_expect_read(sm, PSN + 1, 0, 64);
	sm_expect_none(sm);
	sm_end(sm);
}

/* The next hop's address changes, or is lost. */
static void set_neigh(struct sm *sm, u8 nud_state)
{
	sm->neigh.nud_state = nud_state;
	call_netevent_notifiers(NETEVENT_NEIGH_UPDATE, &sm->neigh);
}

/* One packet asks for the next hop's address; the others wait for its answer. */
static void req_first_to_a_neighbour(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	set_neigh(sm, NUD_NONE);
	sm_post(sm, 1, IB_WR_SEND, 0, 2 * MTU + 4, 0);
	sm_post(sm, 2, IB_WR_SEND, 64, 4, 0);
	sm_expect_data(sm, S_FIRST, PSN, 0, MTU, true);
	sm_expect_none(sm);
	set_neigh(sm, NUD_REACHABLE);
	sm_ack(sm, PSN, UNLIMITED, 0);
	sm_expect_data(sm, S_MIDDLE, PSN + 1, MTU, MTU, false);
	sm_expect_data(sm, S_LAST, PSN + 2, 2 * MTU, 4, true);
	sm_expect_data(sm, S_ONLY, PSN + 3, 64, 4, true);
	/* It is lost while much is under way, which nobody answers. */
	set_neigh(sm, NUD_FAILED);
	sm_post(sm, 3, IB_WR_SEND, 0, 2 * MTU, 0);
	sm_expect_data(sm, S_FIRST, PSN + 4, 0, MTU, true);
	sm_expect_none(sm);
	/* So is the packet: it is sent again, alone. */
	sm_ack(sm, PSN + 3, UNLIMITED, 2);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_ack_timeout(sm);
	sm_expect_data(sm, S_FIRST, PSN + 4, 0, MTU, true);
	sm_expect_none(sm);
	set_neigh(sm, NUD_STALE);
	sm_ack(sm, PSN + 4, UNLIMITED, 2);
	sm_expect_data(sm, S_LAST, PSN + 5, MTU, MTU, true);
	sm_end(sm);
}

/* ---- READ ---- */

#define PART_PKTS 256u		/* 256 KiB */
#define READ_PKTS 600u
#define READ_PAGES 150

static void answer_part(struct sm *sm, u32 from, u32 to)
{
	u32 i;

	for (i = from; i < to; i++)
		answer(sm, i == from ? IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST :
			   i == to - 1 ?
				IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST :
				IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
		       PSN + i, i * MTU, MTU);
}

static void req_read_is_split_and_paced(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.pages = READ_PAGES;
	conf.max_rd_atomic = 2;
	sm = sm_make(test, &conf);
	sm_clear(sm);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, READ_PKTS * MTU, 0);
	sm_expect_read(sm, PSN, 0, 262144);
	sm_expect_read(sm, PSN + 256, 262144, 262144);
	sm_expect_none(sm);
	answer_part(sm, 0, PART_PKTS);
	sm_expect_read(sm, PSN + 512, 524288, 90112);
	sm_expect_none(sm);
	answer_part(sm, PART_PKTS, 2 * PART_PKTS);
	sm_expect_no_wc(sm);
	answer_part(sm, 2 * PART_PKTS, READ_PKTS);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, READ_PKTS * MTU);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_RDMA_READ);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, READ_PKTS * MTU, 0));
	sm_expect_none(sm);
	sm_end(sm);
}

static void req_max_rd_atomic(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.max_rd_atomic = 2;
	sm = sm_make(test, &conf);
	for (i = 0; i < 4; i++)
		sm_post(sm, i, IB_WR_RDMA_READ, 0, 8, 0);
	sm_post(sm, 4, IB_WR_SEND, 0, 8, 0);
	sm_expect_read(sm, PSN, 0, 8);
	sm_expect_read(sm, PSN + 1, 0, 8);
	sm_expect_none(sm);
	answer(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN, 0, 8);
	sm_expect_read(sm, PSN + 2, 0, 8);
	sm_expect_none(sm);
	answer(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN + 1, 0, 8);
	sm_expect_read(sm, PSN + 3, 0, 8);
	sm_expect_data(sm, S_ONLY, PSN + 4, 0, 8, true);
	sm_expect_none(sm);
	sm_end(sm);

	/* A peer that answers none is asked none. */
	conf.max_rd_atomic = 0;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post(sm, 2, IB_WR_RDMA_READ, 0, 8, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	sm_expect_data(sm, S_ONLY, PSN, 0, 8, true);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_LOC_QP_OP_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	sm_end(sm);
}

static void req_fence(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 8, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, IB_SEND_FENCE);
	sm_expect_read(sm, PSN, 0, 8);
	sm_expect_data(sm, S_ONLY, PSN + 1, 0, 8, true);
	sm_expect_none(sm);
	answer(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN, 0, 8);
	sm_expect_data(sm, S_ONLY, PSN + 2, 0, 8, true);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- credits ---- */

static void req_credit_codes(struct kunit *test)
{
	/* IBTA vol. 1, table 46, codes 0 to 30. */
	static const u32 counts[] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
		12288, 16384, 24576, 32768,
	};
	u8 code;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(counts), 31);
	for (code = 0; code < 31; code++) {
		KUNIT_EXPECT_EQ(test, rxe_credits_decode(code), counts[code]);
		KUNIT_EXPECT_EQ(test, rxe_credits_encode(counts[code]), code);
		/* Never more than there are. */
		if (code)
			KUNIT_EXPECT_EQ(test,
					rxe_credits_encode(counts[code] - 1),
					code - 1);
	}
	KUNIT_EXPECT_EQ(test, rxe_credits_encode(40000), 30);
	KUNIT_EXPECT_EQ(test, rxe_credits_encode(U32_MAX), 30);
}

static void req_limited_by_credits(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_expect_data(sm, S_ONLY, PSN, 0, 8, true);
	/* One more: message 2 may go, 3 may not. */
	sm_ack(sm, PSN, 1, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_post(sm, 2, IB_WR_SEND, 0, 2 * MTU, 0);
	sm_expect_data(sm, S_FIRST, PSN + 1, 0, MTU, false);
	sm_expect_data(sm, S_LAST, PSN + 2, MTU, MTU, true);
	sm_post(sm, 3, IB_WR_SEND, 0, 2 * MTU, 0);
	sm_expect_none(sm);
	/* None at all: one packet asks how it stands. */
	sm_ack(sm, PSN + 2, 0, 2);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_data(sm, S_FIRST, PSN + 3, 0, MTU, true);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 3, 1, 2);
	sm_expect_data(sm, S_LAST, PSN + 4, MTU, MTU, true);
	/* WRITE and READ need none; WRITE with immediate does. */
	sm_ack(sm, PSN + 4, 0, 3);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_post(sm, 4, IB_WR_RDMA_WRITE, 0, 8, 0);
	sm_post(sm, 5, IB_WR_RDMA_WRITE_WITH_IMM, 0, 8, 0);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN + 5, 0, 8, true);
	sm_expect_none(sm);
	/* Nothing is counted any more. */
	sm_ack(sm, PSN + 5, UNLIMITED, 4);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, PSN + 6,
		       0, 8, true);
	sm_post(sm, 6, IB_WR_SEND, 0, 8, 0);
	sm_post(sm, 7, IB_WR_SEND, 0, 8, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 2);
	sm_end(sm);
}

/* Without credit all of a WRITE goes but what takes the receive. */
static void req_write_imm_without_credit(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	u32 i;

	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	sm_ack(sm, PSN, 0, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_post(sm, 2, IB_WR_RDMA_WRITE_WITH_IMM, 0, 6 * MTU, 0);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_FIRST, PSN + 1, 0, MTU,
		       false);
	for (i = 1; i < 5; i++)
		sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_MIDDLE, PSN + 1 + i,
			       i * MTU, MTU, i == 4);
	sm_expect_none(sm);
	/* Nothing behind it either: the last one asks how it stands. */
	sm_post(sm, 3, IB_WR_RDMA_WRITE, 0, 8, 0);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 5, 0, 1);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, PSN + 6,
		       5 * MTU, MTU, true);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_WRITE_ONLY, PSN + 7, 0, 8, true);
	sm_ack(sm, PSN + 7, UNLIMITED, 3);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_end(sm);
}

/* A READ in three parts is three messages to the responder that counts. */
static void req_credits_behind_a_split_read(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct rxe_pkt last = {
		.opcode = IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
		.len = MTU,
		.syndrome = 1,
		.msn = 3,
	};
	struct sm *sm;

	conf.pages = READ_PAGES;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, READ_PKTS * MTU, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 3);
	sm_skip(sm);
	answer_part(sm, 0, PART_PKTS);
	answer_part(sm, PART_PKTS, 2 * PART_PKTS);
	answer(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
	       PSN + 2 * PART_PKTS, 0, MTU);
	for (last.psn = PSN + 2 * PART_PKTS + 1;
	     last.psn < PSN + READ_PKTS - 1; last.psn++)
		answer(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE, last.psn, 0,
		       MTU);
	/* All done, and one receive for the fourth. */
	sm_rx(sm, last);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_post(sm, 2, IB_WR_SEND, 0, 2 * MTU, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 2 * MTU, 0);
	sm_expect_data(sm, S_FIRST, PSN + READ_PKTS, 0, MTU, false);
	sm_expect_data(sm, S_LAST, PSN + READ_PKTS + 1, MTU, MTU, true);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- WQEs that cannot be read ---- */

static void req_protection_waits_its_turn(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge bad = { SM_VA, 8, sm->mr->key ^ 1 };

	sm_post_recv(sm, 10, 0, 8);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post_sges(sm, 2, IB_WR_SEND, &bad, 1, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	sm_expect_data(sm, S_ONLY, PSN, 0, 8, true);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_LOC_PROT_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	sm_expect_recv_wc(sm, 10, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	sm_expect_none(sm);
	sm_end(sm);
}

/* The list ends badly: what could be read may go, and the right one fails. */
static void req_protection_inside_a_message(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge sge[] = {
		{ SM_VA, 2 * MTU, sm->mr->key },
		{ SM_VA + 65536 - MTU, MTU + 1, sm->mr->key },
	};

	sm_post_sges(sm, 1, IB_WR_SEND, sge, 2, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_end(sm);
}

/* ---- SQD ---- */

static int drain(struct sm *sm, bool notify)
{
	return sm_modify(sm, (struct ib_qp_attr){
				.qp_state = IB_QPS_SQD,
				.en_sqd_async_notify = notify },
			 IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY);
}

static bool draining(struct sm *sm)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	rxe_query_qp(&sm->qp->ibqp, &attr, 0, &init);
	KUNIT_EXPECT_EQ(sm->test, attr.qp_state, IB_QPS_SQD);
	return attr.sq_draining;
}

static void req_sqd(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_pkt request = {
		.opcode = S_ONLY,
		.psn = 0x200,
		.len = 8,
		.ack_req = true,
	};

	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post(sm, 2, IB_WR_RDMA_READ, 0, 8, 0);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, drain(sm, true), 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	sm_expect_none(sm);
	sm_expect_no_event(sm);
	KUNIT_EXPECT_TRUE(test, draining(sm));
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_event(sm);
	/* What was begun is sent again as ever. */
	sm_ack_timeout(sm);
	sm_expect_read(sm, PSN + 1, 0, 8);
	answer(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN + 1, 0, 8);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_FALSE(test, draining(sm));
	/* As responder it works on. */
	sm_post_recv(sm, 10, 0, 8);
	sm_rx(sm, request);
	sm_expect_ack(sm, 0x200, 1);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 10, IB_WC_SUCCESS);
	/* Once. */
	sm_expect_no_event(sm);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RTS), 0);
	sm_expect_data(sm, S_ONLY, PSN + 2, 0, 8, true);
	sm_ack(sm, PSN + 2, UNLIMITED, 3);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	/* Nothing to wait for, nobody to tell. */
	KUNIT_EXPECT_EQ(test, drain(sm, true), 0);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RTS), 0);
	KUNIT_EXPECT_EQ(test, drain(sm, false), 0);
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* A message that was begun is finished. */
static void req_sqd_inside_a_message(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.pages = 75;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 300 * MTU, 0);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, drain(sm, true), 0);
	sm_expect_no_event(sm);
	sm_ack(sm, PSN + 255, UNLIMITED, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 44);
	sm_expect_no_event(sm);
	sm_ack(sm, PSN + 299, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_event(sm, IB_EVENT_SQ_DRAINED);
	sm_end(sm);
}

static struct kunit_case rxe_sm_req_cases[] = {
	KUNIT_CASE(req_send_shapes),
	KUNIT_CASE(req_write_shapes),
	KUNIT_CASE(req_inline_and_lists),
	KUNIT_CASE(req_refuses_to_post),
	KUNIT_CASE(req_not_before_rts),
	KUNIT_CASE(req_window),
	KUNIT_CASE(req_window_beside_reads),
	KUNIT_CASE(req_trains),
	KUNIT_CASE(req_psn_wraps),
	KUNIT_CASE(req_first_to_a_neighbour),
	KUNIT_CASE(req_local_errors),
	KUNIT_CASE(req_local_errors_of_reads),
	KUNIT_CASE(req_read_is_split_and_paced),
	KUNIT_CASE(req_max_rd_atomic),
	KUNIT_CASE(req_fence),
	KUNIT_CASE(req_credit_codes),
	KUNIT_CASE(req_limited_by_credits),
	KUNIT_CASE(req_write_imm_without_credit),
	KUNIT_CASE(req_credits_behind_a_split_read),
	KUNIT_CASE(req_protection_waits_its_turn),
	KUNIT_CASE(req_protection_inside_a_message),
	KUNIT_CASE(req_sqd),
	KUNIT_CASE(req_sqd_inside_a_message),
	{}
};

static struct kunit_suite rxe_sm_req_suite = {
	.name = "rxe_sm_req",
	.test_cases = rxe_sm_req_cases,
};

kunit_test_suite(rxe_sm_req_suite);
