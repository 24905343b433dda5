// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Unreliable connections: nothing is answered, a message arrives whole or not at
 * all, and an error of the send queue leaves the receive queue alone.
 */
#include "rxe_sm_bench.h"

#define PSN 0x200
#define SQ_PSN 0x100
#define MTU 1024
#define OP(name) IB_OPCODE_UC_##name

static struct sm_conf uc_conf(void)
{
	struct sm_conf conf = sm_defaults();

	conf.type = IB_QPT_UC;
	return conf;
}

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = uc_conf();

	return sm_make(test, &conf);
}

static void send(struct sm *sm, u8 opcode, u32 psn, u32 from, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = from,
		.len = len,
		.imm = cpu_to_be32(0x11223344),
	};

	sm_rx(sm, pkt);
}

static void write(struct sm *sm, u8 opcode, u32 psn, u32 off, u32 len, u32 total)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = off + 1,
		.len = len,
		.va = SM_VA + off,
		.dmalen = total,
		.rkey = sm->mr->key,
		.imm = cpu_to_be32(0x55667788),
	};

	sm_rx(sm, pkt);
}

/* Nothing came of it: no answer, no completion, and the QP lives. */
static void expect_dropped_at(struct sm *sm, int line, u32 messages)
{
	sm_expect_none_at(sm, line);
	sm_expect_no_wc_at(sm, line);
	sm_expect_events_at(sm, line, IB_EVENT_QP_FATAL, 0);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->qp->state, IB_QPS_RTS, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm_counted(sm, RXE_CNT_DROP_MESSAGE),
			    messages, "line %d", line);
}

#define expect_dropped(sm, messages) expect_dropped_at(sm, __LINE__, messages)

/* ---- sending ---- */

static void uc_send_is_done_when_sent(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_post(sm, 1, IB_WR_SEND, 10, 2 * MTU + 100, 0);
	sm_expect_data(sm, OP(SEND_FIRST), SQ_PSN, 10, MTU, false);
	sm_expect_data(sm, OP(SEND_MIDDLE), SQ_PSN + 1, 10 + MTU, MTU, false);
	sm_expect_data(sm, OP(SEND_LAST), SQ_PSN + 2, 10 + 2 * MTU, 100, false);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_SEND);
	sm_post(sm, 2, IB_WR_SEND_WITH_IMM, 0, 0, 0);
	sm_expect_data(sm, OP(SEND_ONLY_WITH_IMMEDIATE), SQ_PSN + 3, 0, 0, false);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_post(sm, 3, IB_WR_RDMA_WRITE, 0, MTU + 1, 0);
	sm_expect_data(sm, OP(RDMA_WRITE_FIRST), SQ_PSN + 4, 0, MTU, false);
	sm_expect_data(sm, OP(RDMA_WRITE_LAST), SQ_PSN + 5, MTU, 1, false);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_RDMA_WRITE);
	sm_post(sm, 4, IB_WR_RDMA_WRITE_WITH_IMM, 0, 5, 0);
	sm_expect_data(sm, OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), SQ_PSN + 6, 0, 5,
		       false);
	sm_expect_send_wc(sm, 4, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	/* Nothing is waited for. */
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	sm_end(sm);
}

/* More than a window, which only answers would open. */
static void uc_has_no_window(struct kunit *test)
{
	struct sm_conf conf = uc_conf();
	struct sm *sm;
	u32 i;

	conf.pages = 128;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 500 * MTU, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 500);
	for (i = 0; i < 500; i++)
		sm_expect_data(sm, i == 0 ? OP(SEND_FIRST) :
				   i == 499 ? OP(SEND_LAST) : OP(SEND_MIDDLE),
			       SQ_PSN + i, i * MTU, MTU, false);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

static void uc_waits_for_room(struct kunit *test)
{
	struct sm *sm = start(test);

	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_SEND, 0, 100, 0);
	sm_expect_no_wc(sm);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	sm_expect_data(sm, OP(SEND_ONLY), SQ_PSN, 0, 100, false);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

/* Not for ever: what is always refused is lost, and what is behind it goes on. */
static void uc_gives_up_waiting(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 i;

	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_SEND, 0, 100, 0);
	for (i = 0; i < 20 && sm->qp->sq.tail != sm->qp->sq.head; i++)
		sm_pause_over(sm);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_TX_PAUSE), RXE_PAUSE_GIVE_UP);
	sm->xmit_answer = 0;
	sm_post(sm, 2, IB_WR_SEND, 0, 100, 0);
	sm_expect_data(sm, OP(SEND_ONLY), SQ_PSN + 1, 0, 100, false);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_end(sm);
}

/* Of a message that lost a packet here no other leaves. */
static void uc_drops_a_message_that_is_refused(struct kunit *test)
{
	struct sm_conf conf = uc_conf();
	struct sm *sm;

	conf.pages = 128;
	sm = sm_make(test, &conf);
	sm->xmit_answer = -EPERM;
	sm_post(sm, 1, IB_WR_SEND, 0, 500 * MTU, 0);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_LT(test, sm_counted(sm, RXE_CNT_SEND_ERR), 65);
	sm->xmit_answer = 0;
	sm_post(sm, 2, IB_WR_SEND, 0, 100, 0);
	sm_expect_data(sm, OP(SEND_ONLY), SQ_PSN + 500, 0, 100, false);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_end(sm);
}

static void uc_does_not_what_needs_answers(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_WRITE, IB_WR_FLUSH,
	};
	struct sm *sm = start(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		KUNIT_EXPECT_EQ(test, sm_post(sm, 1, opcodes[i], 0, 8, 0), -EINVAL);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- SQE ---- */

static void uc_send_error_is_sqe(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge bad = { SM_VA, 8, sm->mr->key ^ 1 };
	struct ib_qp_attr attr;
	struct ib_qp_init_attr init;

	sm_post_recv(sm, 21, 4096, 64);
	sm_burst(sm);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post_sges(sm, 2, IB_WR_SEND, &bad, 1, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	sm_burst_end(sm);
	sm_expect_data(sm, OP(SEND_ONLY), SQ_PSN, 0, 8, false);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_LOC_PROT_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_event(sm);
	KUNIT_EXPECT_EQ(test, rxe_query_qp(&sm->qp->ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_SQE);
	/* What is posted is flushed, what comes in is received. */
	sm_post(sm, 4, IB_WR_SEND, 0, 8, 0);
	sm_expect_send_wc(sm, 4, IB_WC_WR_FLUSH_ERR);
	sm_expect_none(sm);
	send(sm, OP(SEND_ONLY), PSN, 100, 8);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	/* The way out, and not any other, nor for who thinks it is elsewhere. */
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_SQD), -EINVAL);
	attr = (struct ib_qp_attr){ .qp_state = IB_QPS_RTS,
				    .cur_qp_state = IB_QPS_RTS };
	KUNIT_EXPECT_EQ(test, sm_modify(sm, attr, IB_QP_STATE | IB_QP_CUR_STATE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RTS), 0);
	sm_post(sm, 5, IB_WR_SEND, 0, 8, 0);
	sm_expect_data(sm, OP(SEND_ONLY), SQ_PSN + 1, 0, 8, false);
	sm_expect_send_wc(sm, 5, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* In the middle of a message; then on to ERR, which flushes the receives. */
static void uc_send_error_in_the_middle(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sges[] = { { SM_VA, 3 * MTU, sm->mr->key },
				 { SM_VA, 8, sm->mr->key ^ 1 } };

	sm_post_recv(sm, 21, 0, 64);
	sm_post_sges(sm, 1, IB_WR_SEND, sges, 2, 0);
	sm_skip(sm);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_SQE);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
	sm_expect_recv_wc(sm, 21, IB_WC_WR_FLUSH_ERR);
	sm_end(sm);
}

/* ---- receiving ---- */

static void uc_receives(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, 4096);
	sm_post_recv(sm, 22, 8192, 64);
	sm_post_recv(sm, 23, 8192, 64);
	send(sm, OP(SEND_FIRST), PSN, 0, MTU);
	send(sm, OP(SEND_MIDDLE), PSN + 1, MTU, MTU);
	sm_expect_no_wc(sm);
	send(sm, OP(SEND_LAST_WITH_IMMEDIATE), PSN + 2, 2 * MTU, 7);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 2 * MTU + 7);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sm->wc.ex.imm_data), 0x11223344);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 2 * MTU + 7, 0));
	write(sm, OP(RDMA_WRITE_FIRST), PSN + 3, 20000, MTU, MTU + 4);
	write(sm, OP(RDMA_WRITE_LAST), PSN + 4, 20000 + MTU, 4, 0);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 20000, MTU + 4, 20001));
	write(sm, OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), PSN + 5, 30000, 9, 9);
	sm_expect_recv_wc(sm, 22, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 9);
	expect_dropped(sm, 0);
	sm_end(sm);
}

/* A gap costs the message it is in; the next is received where that would be. */
static void uc_gap_in_a_message(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_post_recv(sm, 21, 0, 4096);
	send(sm, OP(SEND_FIRST), PSN, 0, MTU);
	send(sm, OP(SEND_MIDDLE), PSN + 2, 5, MTU);
	send(sm, OP(SEND_LAST), PSN + 3, 5, 4);
	expect_dropped(sm, 1);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_OUT_OF_SEQ), 1);
	sm_clear(sm);
	send(sm, OP(SEND_ONLY), PSN + 4, 100, 50);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 50);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 50, 100));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 50, 4000));
	/* Whole messages that are missing are nobody's loss here. */
	sm_post_recv(sm, 22, 0, 64);
	send(sm, OP(SEND_ONLY), PSN + 1000, 100, 50);
	sm_expect_recv_wc(sm, 22, IB_WC_SUCCESS);
	/* Nor is an old number. */
	sm_post_recv(sm, 23, 0, 64);
	send(sm, OP(SEND_ONLY), PSN, 100, 50);
	sm_expect_recv_wc(sm, 23, IB_WC_SUCCESS);
	expect_dropped(sm, 1);
	sm_end(sm);
}

/* The last packet is lost and another message begins; or it has another kind. */
static void uc_message_without_end(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_post_recv(sm, 21, 0, 4096);
	send(sm, OP(SEND_FIRST), PSN, 0, MTU);
	send(sm, OP(SEND_ONLY), PSN + 1, 200, 8);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 8);
	expect_dropped(sm, 1);
	sm_post_recv(sm, 22, 0, 4096);
	send(sm, OP(SEND_FIRST), PSN + 2, 0, MTU);
	write(sm, OP(RDMA_WRITE_MIDDLE), PSN + 3, 0, MTU, 0);
	send(sm, OP(SEND_LAST), PSN + 4, 0, 8);
	expect_dropped(sm, 2);
	/* A message that has no beginning. */
	send(sm, OP(SEND_MIDDLE), PSN + 9, 0, MTU);
	send(sm, OP(SEND_LAST), PSN + 10, 0, 8);
	expect_dropped(sm, 2);
	write(sm, OP(RDMA_WRITE_LAST_WITH_IMMEDIATE), PSN + 11, 0, 8, 0);
	expect_dropped(sm, 2);
	send(sm, OP(SEND_ONLY), PSN + 12, 200, 8);
	sm_expect_recv_wc(sm, 22, IB_WC_SUCCESS);
	sm_end(sm);
}

static void uc_without_receive(struct kunit *test)
{
	struct sm *sm = start(test);

	send(sm, OP(SEND_ONLY), PSN, 0, 8);
	expect_dropped(sm, 1);
	send(sm, OP(SEND_FIRST), PSN + 1, 0, MTU);
	/* Too late for this one. */
	sm_post_recv(sm, 21, 0, 4096);
	send(sm, OP(SEND_LAST), PSN + 2, 0, 8);
	expect_dropped(sm, 2);
	send(sm, OP(SEND_ONLY), PSN + 3, 0, 8);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	write(sm, OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), PSN + 4, 0, 8, 8);
	expect_dropped(sm, 3);
	sm_end(sm);
}

static void uc_refuses_quietly(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_qp_attr attr = { .qp_access_flags = 0 };
	struct rxe_pkt bad_key = {
		.opcode = OP(RDMA_WRITE_ONLY),
		.psn = PSN + 3,
		.len = 8,
		.dmalen = 8,
		.va = SM_VA,
	};

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, 64);
	/* Longer than the receive; then one of no valid length. */
	send(sm, OP(SEND_ONLY), PSN, 0, 65);
	expect_dropped(sm, 1);
	send(sm, OP(SEND_FIRST), PSN + 1, 0, 100);
	expect_dropped(sm, 2);
	write(sm, OP(RDMA_WRITE_ONLY), PSN + 2, 0, 8, 9);
	expect_dropped(sm, 3);
	bad_key.rkey = sm->mr->key ^ 1;
	sm_rx(sm, bad_key);
	expect_dropped(sm, 4);
	sm_modify(sm, attr, IB_QP_ACCESS_FLAGS);
	write(sm, OP(RDMA_WRITE_ONLY), PSN + 4, 0, 8, 8);
	expect_dropped(sm, 5);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4096));
	send(sm, OP(SEND_ONLY), PSN + 5, 0, 64);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	sm_end(sm);
}

/* The receiver's own fault is told, to the receiver. */
static void uc_receive_cannot_be_written(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sge = { SM_VA, 64, sm->mr->key ^ 1 };
	struct ib_recv_wr wr = { .wr_id = 21, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, rxe_post_recv(&sm->qp->ibqp, &wr, &bad), 0);
	sm_post_recv(sm, 22, 0, 64);
	send(sm, OP(SEND_ONLY), PSN, 0, 8);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 21, IB_WC_LOC_PROT_ERR);
	sm_expect_recv_wc(sm, 22, IB_WC_WR_FLUSH_ERR);
	sm_expect_event(sm, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_end(sm);
}

static struct kunit_case rxe_sm_uc_cases[] = {
	KUNIT_CASE(uc_send_is_done_when_sent),
	KUNIT_CASE(uc_has_no_window),
	KUNIT_CASE(uc_waits_for_room),
	KUNIT_CASE(uc_gives_up_waiting),
	KUNIT_CASE(uc_drops_a_message_that_is_refused),
	KUNIT_CASE(uc_does_not_what_needs_answers),
	KUNIT_CASE(uc_send_error_is_sqe),
	KUNIT_CASE(uc_send_error_in_the_middle),
	KUNIT_CASE(uc_receives),
	KUNIT_CASE(uc_gap_in_a_message),
	KUNIT_CASE(uc_message_without_end),
	KUNIT_CASE(uc_without_receive),
	KUNIT_CASE(uc_refuses_quietly),
	KUNIT_CASE(uc_receive_cannot_be_written),
	{}
};

static struct kunit_suite rxe_sm_uc_suite = {
	.name = "rxe_sm_uc",
	.test_cases = rxe_sm_uc_cases,
};

kunit_test_suite(rxe_sm_uc_suite);
