// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Ends and new beginnings: rings that lie, queues that overflow, flushing,
 * and a QP that is used again.
 */
#include "rxe_sm_bench.h"

#define PSN 0x100
#define RQ_PSN 0x200
#define MTU 1024
#define UNLIMITED 0x1f
#define S_ONLY IB_OPCODE_RC_SEND_ONLY

static void request(struct sm *sm, u8 opcode, u32 psn, u32 len, bool ack_req)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.len = len,
		.ack_req = ack_req,
	};

	sm_rx(sm, pkt);
}

/* ---- being looked at ---- */

/* Who asks neither waits for the runner nor becomes it. */
static void end_query_beside_the_runner(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	sm_give_ring(sm);
	rxe_run_own(sm->qp);
	KUNIT_EXPECT_EQ(test, rxe_query_qp(&sm->qp->ibqp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, PSN);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, RQ_PSN);
	rxe_run_disown(sm->qp);
	sm_end(sm);
}

/* ---- a program's send ring ---- */

/* A SEND of 8 bytes with wr_id @index + 1, as a program would write it. */
static struct rxe_send_wqe *fill(struct sm *sm, u32 index)
{
	struct rxe_send_wqe *wqe = sm_ring_wqe(sm, index);

	memset(wqe, 0, sizeof(*wqe) + sizeof(struct rxe_sge));
	wqe->wr.wr_id = index + 1;
	wqe->wr.opcode = IB_WR_SEND;
	wqe->dma.length = 8;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0].addr = SM_VA + index;
	wqe->dma.sge[0].length = 8;
	wqe->dma.sge[0].lkey = sm->mr->key;
	return wqe;
}

static void end_ring_works(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct rxe_send_wqe *wqe;
	u32 i;

	sm_give_ring(sm);
	/* Around the ring of 32, and once more. */
	for (i = 0; i < 80; i++) {
		fill(sm, i);
		KUNIT_EXPECT_EQ(test, sm_doorbell(sm, (i + 1) & 31), 0);
		sm_expect_data(sm, S_ONLY, PSN + i, i, 8, true);
		sm_ack(sm, PSN + i, UNLIMITED, i + 1);
		sm_expect_send_wc(sm, i + 1, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, sm->qp->sq.ring->buf->consumer_index,
				(i + 1) & 31);
	}
	/* Inline data lie where the list would. */
	wqe = fill(sm, i);
	wqe->wr.send_flags = IB_SEND_INLINE;
	wqe->dma.length = 64;
	wqe->dma.num_sge = 0;
	for (i = 0; i < 64; i++)
		wqe->dma.inline_data[i] = sm_byte(5 + i);
	sm_doorbell(sm, 81 & 31);
	sm_expect_data(sm, S_ONLY, PSN + 80, 5, 64, true);
	sm_expect_none(sm);
	sm_end(sm);
}

/* What was taken is taken: writing it over changes nothing. */
static void end_ring_is_read_once(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	u32 i;

	sm_give_ring(sm);
	for (i = 0; i < 3; i++)
		fill(sm, i);
	sm_doorbell(sm, 3);
	for (i = 0; i < 3; i++)
		memset(sm_ring_wqe(sm, i), 0xff, sizeof(struct rxe_send_wqe) + 16);
	sm->qp->sq.ring->buf->index_mask = 0xffffffff;
	sm->qp->sq.ring->buf->log2_elem_size = 31;
	sm->qp->sq.ring->buf->consumer_index = 0xffffffff;
	sm_skip(sm);
	sm_ack_timeout(sm);
	for (i = 0; i < 3; i++)
		sm_expect_data(sm, S_ONLY, PSN + i, i, 8, true);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 2, UNLIMITED, 3);
	for (i = 0; i < 3; i++)
		sm_expect_send_wc(sm, i + 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->qp->sq.ring->buf->consumer_index, 3);
	sm_end(sm);
}

enum lie {
	NUM_SGE_5,
	NUM_SGE_33,
	NUM_SGE_MAX,
	OPCODE_255,
	OPCODE_256,
	OPCODE_MAX,
	OPCODE_REG_MR,
	OPCODE_LOCAL_INV,
	OPCODE_MASKED_ATOMIC,
	ATOMIC_INLINE,
	ATOMIC_SPLIT,
	ATOMIC_SHORT,
	INLINE_65,
	INLINE_MAX,
	INLINE_READ,
	LENGTHS,
	KEY,
	WRAP,
	LIES
};

static enum ib_wc_status tell_lie(struct rxe_send_wqe *wqe, enum lie lie)
{
	int i;

	switch (lie) {
	case NUM_SGE_5:
		wqe->dma.num_sge = 5;
		return IB_WC_LOC_QP_OP_ERR;
	case NUM_SGE_33:
		wqe->dma.num_sge = 33;
		return IB_WC_LOC_QP_OP_ERR;
	case NUM_SGE_MAX:
		wqe->dma.num_sge = 0xffffffff;
		return IB_WC_LOC_QP_OP_ERR;
	case OPCODE_255:
		wqe->wr.opcode = 255;
		return IB_WC_LOC_QP_OP_ERR;
	case OPCODE_256:
		/* The low byte is a WRITE's. */
		wqe->wr.opcode = 256;
		return IB_WC_LOC_QP_OP_ERR;
	case OPCODE_MAX:
		wqe->wr.opcode = 0xffffffff;
		return IB_WC_LOC_QP_OP_ERR;
	case OPCODE_REG_MR:
		wqe->wr.opcode = IB_WR_REG_MR;
		return IB_WC_LOC_QP_OP_ERR;
	case OPCODE_LOCAL_INV:
		wqe->wr.opcode = IB_WR_LOCAL_INV;
		return IB_WC_LOC_QP_OP_ERR;
	case OPCODE_MASKED_ATOMIC:
		wqe->wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP;
		return IB_WC_LOC_QP_OP_ERR;
	case ATOMIC_INLINE:
		wqe->wr.send_flags = IB_SEND_INLINE;
		wqe->wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
		return IB_WC_LOC_QP_OP_ERR;
	case ATOMIC_SPLIT:
		wqe->wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
		wqe->dma.num_sge = 2;
		return IB_WC_LOC_LEN_ERR;
	case ATOMIC_SHORT:
		wqe->wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
		wqe->dma.sge[0].length = 7;
		return IB_WC_LOC_LEN_ERR;
	case INLINE_65:
		wqe->wr.send_flags = IB_SEND_INLINE;
		wqe->dma.length = 65;
		return IB_WC_LOC_LEN_ERR;
	case INLINE_MAX:
		wqe->wr.send_flags = IB_SEND_INLINE;
		wqe->dma.length = 0xffffffff;
		return IB_WC_LOC_LEN_ERR;
	case INLINE_READ:
		wqe->wr.send_flags = IB_SEND_INLINE;
		wqe->wr.opcode = IB_WR_RDMA_READ;
		return IB_WC_LOC_QP_OP_ERR;
	case LENGTHS:
		/* The sum is 2^32 + 8. */
		wqe->dma.num_sge = 3;
		for (i = 0; i < 3; i++)
			wqe->dma.sge[i] = wqe->dma.sge[0];
		wqe->dma.sge[1].length = 0x80000000;
		wqe->dma.sge[2].length = 0x80000000;
		return IB_WC_LOC_LEN_ERR;
	case KEY:
		wqe->dma.sge[0].lkey ^= 1;
		return IB_WC_LOC_PROT_ERR;
	default:
		wqe->dma.sge[0].addr = U64_MAX - 3;
		return IB_WC_LOC_PROT_ERR;
	}
}

/* Its neighbours before it are done, those behind it flushed. */
static void end_ring_lies(struct kunit *test)
{
	enum lie lie;

	for (lie = 0; lie < LIES; lie++) {
		struct sm *sm = sm_start(test);
		enum ib_wc_status status;

		sm_post_recv(sm, 21, 0, 8);
		sm_give_ring(sm);
		fill(sm, 0);
		status = tell_lie(fill(sm, 1), lie);
		fill(sm, 2);
		sm_doorbell(sm, 3);
		sm_expect_data(sm, S_ONLY, PSN, 0, 8, true);
		sm_expect_none(sm);
		sm_expect_no_wc(sm);
		sm_ack(sm, PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, status);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_recv_wc(sm, 21, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_expect_none(sm);
		sm_end(sm);
	}
}

/* An index of nonsense is some index: never more than a ring full. */
static void end_ring_index_lies(struct kunit *test)
{
	static const u32 lies[] = { 31, 0xffffffff, 0x7fffffff, 0x80000010 };
	int i;

	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		struct sm_conf conf = sm_defaults();
		struct sm *sm;
		int n;

		conf.cqe = 255;
		sm = sm_make(test, &conf);
		sm_give_ring(sm);
		/* All zeroes: WRITEs of nothing. */
		for (n = 0; n < 5; n++) {
			sm_doorbell(sm, lies[i]);
			sm_doorbell(sm, lies[i] + 7 * n);
		}
		n = sm_num_sent(sm);
		KUNIT_EXPECT_GT(test, n, 0);
		KUNIT_EXPECT_LE(test, n, 31);
		sm_skip(sm);
		/* Through, and on. */
		sm_ack(sm, PSN + n - 1, UNLIMITED, n);
		while (n--)
			sm_expect_send_wc(sm, 0, IB_WC_SUCCESS);
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
		sm_end(sm);
	}
}

/* Too early: refused, and it never runs. */
static void end_doorbell_before_rts(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = PSN,
		.timeout = 31,
	};
	struct sm *sm;

	conf.state = IB_QPS_RTR;
	sm = sm_make(test, &conf);
	sm_give_ring(sm);
	fill(sm, 0);
	fill(sm, 1);
	KUNIT_EXPECT_EQ(test, sm_doorbell(sm, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, sm_modify(sm, rts, IB_QP_STATE | IB_QP_SQ_PSN |
						 IB_QP_TIMEOUT), 0);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	fill(sm, 2);
	KUNIT_EXPECT_EQ(test, sm_doorbell(sm, 3), 0);
	sm_expect_data(sm, S_ONLY, PSN, 2, 8, true);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- completion queues ---- */

static void end_send_cq_overflows(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.cqe = 3;
	sm = sm_make(test, &conf);
	sm_post_recv(sm, 21, 0, 8);
	for (i = 1; i <= 6; i++)
		sm_post(sm, i, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	sm_ack(sm, PSN + 4, UNLIMITED, 5);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_expect_event(sm, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, sm->cq_errs, 1);
	/* What was there stays; the other queue is whole. */
	for (i = 1; i <= 3; i++)
		sm_expect_send_wc(sm, i, IB_WC_SUCCESS);
	sm_expect_recv_wc(sm, 21, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	/* Every slot is free, and nothing is sent. */
	KUNIT_EXPECT_EQ(test, sm->qp->sq.tail, sm->qp->sq.head);
	sm_ack_timeout(sm);
	sm_expect_none(sm);
	sm_end(sm);
}

static void end_recv_cq_overflows(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.cqe = 3;
	sm = sm_make(test, &conf);
	for (i = 1; i <= 6; i++)
		sm_post_recv(sm, i, 0, 8);
	sm_post(sm, 11, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	for (i = 0; i < 5; i++)
		request(sm, S_ONLY, RQ_PSN + i, 8, false);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_expect_event(sm, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, sm->cq_errs, 1);
	for (i = 1; i <= 3; i++)
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 11, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- ERR and RESET ---- */

static void end_flush(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.sig_req = true;
	sm = sm_make(test, &conf);
	for (i = 1; i <= 8; i++)
		sm_post_recv(sm, 20 + i, 0, 8);
	/* A receive that a message has begun to fill is the first. */
	request(sm, S_ONLY, RQ_PSN, 8, false);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	for (i = 1; i <= 12; i++)
		sm_post(sm, i, i % 3 ? IB_WR_SEND : IB_WR_RDMA_READ, 0, 8, 0);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
	for (i = 2; i <= 12; i++)
		sm_expect_send_wc(sm, i, IB_WC_WR_FLUSH_ERR);
	for (i = 2; i <= 8; i++)
		sm_expect_recv_wc(sm, 20 + i, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	/* What is posted there is flushed as well. */
	sm_post(sm, 13, IB_WR_SEND, 0, 8, 0);
	sm_post_recv(sm, 29, 0, 8);
	sm_expect_send_wc(sm, 13, IB_WC_WR_FLUSH_ERR);
	sm_expect_recv_wc(sm, 29, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	/* Nothing goes out, nothing comes in. */
	request(sm, S_ONLY, RQ_PSN + 1, 8, true);
	sm_ack_timeout(sm);
	sm_rnr_timeout(sm);
	sm_expect_none(sm);
	/* The owner asked for it: nobody tells him. */
	sm_expect_no_event(sm);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RTS), -EINVAL);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_SQD), -EINVAL);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_ERR), 0);
	sm_end(sm);
}

static void end_flush_of_an_open_message(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post_recv(sm, 1, 0, 4096);
	sm_post_recv(sm, 2, 0, 8);
	request(sm, IB_OPCODE_RC_SEND_FIRST, RQ_PSN, MTU, false);
	sm_to_state(sm, IB_QPS_ERR);
	sm_expect_recv_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
	sm_expect_recv_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* More than one run's budget, by the task and by softirqs. */
static void end_flush_of_many(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int way, i;

	conf.max_wr = 200;
	conf.cqe = 255;
	for (way = 0; way < 2; way++) {
		sm = sm_make(test, &conf);
		for (i = 0; i < 200; i++)
			sm_post_recv(sm, 1000 + i, 0, 8);
		for (i = 0; i < 200; i++)
			sm_post(sm, i, IB_WR_SEND, 0, 8, 0);
		sm_skip(sm);
		if (way)
			sm_to_state(sm, IB_QPS_ERR);
		else
			sm_ack(sm, PSN, 0x63, 0);
		sm_expect_send_wc(sm, 0, way ? IB_WC_WR_FLUSH_ERR :
					       IB_WC_REM_OP_ERR);
		for (i = 1; i < 200; i++)
			sm_expect_send_wc(sm, i, IB_WC_WR_FLUSH_ERR);
		for (i = 0; i < 200; i++)
			sm_expect_recv_wc(sm, 1000 + i, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_end(sm);
	}
}

/* In the middle of everything, then from the beginning. */
static void end_reset_and_again(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	int round, i;

	for (round = 0; round < 3; round++) {
		sm_post_recv(sm, 21, 0, 4096);
		sm_post_recv(sm, 22, 0, 8);
		request(sm, IB_OPCODE_RC_SEND_FIRST, RQ_PSN, MTU, false);
		request(sm, S_ONLY, RQ_PSN + 9, 8, false);
		sm_expect_aeth(sm, RQ_PSN + 1, 0x60, 0);
		for (i = 1; i <= 5; i++)
			sm_post(sm, i, i == 3 ? IB_WR_RDMA_READ : IB_WR_SEND,
				i, 8, 0);
		sm_expect_data(sm, S_ONLY, PSN, 1, 8, true);
		sm_skip(sm);
		/* Limited, waiting, and with a wait that grew. */
		sm_ack(sm, PSN, 1, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_ack_timeout(sm);
		sm_ack(sm, PSN + 1, 0x20, 1);
		sm_skip(sm);
		if (round == 1) {
			sm_to_state(sm, IB_QPS_ERR);
			while (rxe_poll_cq(&sm->scq->ibcq, 1, &sm->wc) == 1)
				;
			while (rxe_poll_cq(&sm->rcq->ibcq, 1, &sm->wc) == 1)
				;
		}
		KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RESET), 0);
		/* What was posted is forgotten. */
		sm_expect_no_wc(sm);
		sm_ack_timeout(sm);
		sm_rnr_timeout(sm);
		sm_expect_none(sm);
		KUNIT_EXPECT_EQ(test, sm_post(sm, 9, IB_WR_SEND, 0, 8, 0),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, sm_post_recv(sm, 9, 0, 8), -EINVAL);
		sm_connect(sm);
		sm_expect_none(sm);
		sm_expect_no_event(sm);
	}
	/* And it works. */
	sm_post_recv(sm, 31, 0, 8);
	request(sm, S_ONLY, RQ_PSN, 8, true);
	sm_expect_aeth(sm, RQ_PSN, 0, 1);
	sm_expect_recv_wc(sm, 31, IB_WC_SUCCESS);
	sm_post(sm, 32, IB_WR_SEND, 0, 8, 0);
	sm_post(sm, 33, IB_WR_SEND, 0, 8, 0);
	sm_expect_data(sm, S_ONLY, PSN, 0, 8, true);
	sm_expect_data(sm, S_ONLY, PSN + 1, 0, 8, true);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_expect_send_wc(sm, 32, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 33, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_end(sm);
}

static struct kunit_case rxe_sm_end_cases[] = {
	KUNIT_CASE(end_ring_works),
	KUNIT_CASE(end_ring_is_read_once),
	KUNIT_CASE(end_ring_lies),
	KUNIT_CASE(end_ring_index_lies),
	KUNIT_CASE(end_doorbell_before_rts),
	KUNIT_CASE(end_query_beside_the_runner),
	KUNIT_CASE(end_send_cq_overflows),
	KUNIT_CASE(end_recv_cq_overflows),
	KUNIT_CASE(end_flush),
	KUNIT_CASE(end_flush_of_an_open_message),
	KUNIT_CASE(end_flush_of_many),
	KUNIT_CASE(end_reset_and_again),
	{}
};

static struct kunit_suite rxe_sm_end_suite = {
	.name = "rxe_sm_end",
	.test_cases = rxe_sm_end_cases,
};

kunit_test_suite(rxe_sm_end_suite);
