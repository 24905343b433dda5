// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pair 1 of a link: that there is one, and what it takes and sends. */
#include <rdma/ib_mad.h>
#include "rxe_ah.h"
#include "rxe_sm_bench.h"

#define GRH 40

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();

	conf.type = IB_QPT_GSI;
	return sm_make(test, &conf);
}

/* Another one with the bench's queues. */
static struct rxe_qp *new_qp(struct sm *sm, struct rxe_dev *rxe,
			     enum ib_qp_type type, int expected)
{
	struct rxe_qp *qp = kunit_kzalloc(sm->test, sizeof(*qp), GFP_KERNEL);
	struct ib_qp_init_attr init = {
		.qp_type = type,
		.port_num = 1,
		.send_cq = &sm->scq->ibcq,
		.recv_cq = &sm->rcq->ibcq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	KUNIT_ASSERT_NOT_NULL(sm->test, qp);
	qp->ibqp.device = &rxe->ib;
	qp->ibqp.pd = &sm->pd->ibpd;
	qp->ibqp.qp_type = type;
	KUNIT_EXPECT_EQ(sm->test, rxe_create_qp(&qp->ibqp, &init, NULL),
			expected);
	return qp;
}

static void expect_found(struct sm *sm, struct rxe_dev *rxe,
			 const struct rxe_qp *wanted)
{
	struct rxe_qp *qp = rxe_qp_get_gsi(rxe);

	KUNIT_EXPECT_PTR_EQ(sm->test, qp, wanted);
	if (qp)
		rxe_qp_put(qp);
}

static void gsi_is_one_of_each_link(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_dev *rxe = fake_dev(test);
	struct rxe_qp *there, *again;

	KUNIT_EXPECT_EQ(test, sm->qp->ibqp.qp_num, 1);
	expect_found(sm, sm->rxe, sm->qp);
	/* A second one is refused, and the first does not suffer. */
	new_qp(sm, sm->rxe, IB_QPT_GSI, -EBUSY);
	new_qp(sm, sm->rxe, IB_QPT_GSI, -EBUSY);
	expect_found(sm, sm->rxe, sm->qp);
	/* It is no number of the table that all links share. */
	KUNIT_EXPECT_NULL(test, rxe_qp_get(1));

	expect_found(sm, rxe, NULL);
	there = new_qp(sm, rxe, IB_QPT_GSI, 0);
	KUNIT_EXPECT_EQ(test, there->ibqp.qp_num, 1);
	expect_found(sm, rxe, there);
	expect_found(sm, sm->rxe, sm->qp);
	rxe_destroy_qp(&there->ibqp, NULL);
	expect_found(sm, rxe, NULL);
	again = new_qp(sm, rxe, IB_QPT_GSI, 0);
	expect_found(sm, rxe, again);
	rxe_destroy_qp(&again->ibqp, NULL);

	new_qp(sm, rxe, IB_QPT_SMI, -EOPNOTSUPP);
	sm_end(sm);
}

static struct rxe_pkt datagram(u32 qkey)
{
	return (struct rxe_pkt){
		.opcode = IB_OPCODE_UD_SEND_ONLY,
		.payload = 5,
		.len = 256,
		.qkey = qkey,
		.sqpn = 1,
	};
}

static void gsi_receives(struct kunit *test)
{
	static const u32 wrong[] = { 0, SM_QKEY, 0x00010000, 0x80010001 };
	struct sm *sm = start(test);
	u32 i;

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, GRH + 256);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		sm_rx(sm, datagram(wrong[i]));
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DROP_QKEY), i + 1);
	}
	sm_rx(sm, datagram(0x80010000));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, GRH + 256);
	KUNIT_EXPECT_EQ(test, sm->wc.src_qp, 1);
	KUNIT_EXPECT_EQ(test, sm->wc.port_num, 1);
	KUNIT_EXPECT_EQ(test, sm->wc.pkey_index, 0);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags,
			IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE);
	KUNIT_EXPECT_EQ(test, sm->wc.network_hdr_type, RDMA_NETWORK_IPV4);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, GRH, 256, 5));
	sm_expect_none(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void gsi_tells_its_port(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	rxe_query_qp(&sm->qp->ibqp, &attr, 0, &init);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, attr.qkey, 0x80010000);
	sm_end(sm);
}

static int post(struct sm *sm, enum ib_wr_opcode opcode, u16 pkey_index)
{
	struct ib_sge sge = { SM_VA, 8, sm->mr->key };
	struct rxe_ah_entry entry = { .num = 0 };
	struct rxe_ah ah = { .entry = &entry };
	const struct ib_send_wr *bad;
	struct ib_ud_wr wr = {
		.wr = { .wr_id = 31, .opcode = opcode, .sg_list = &sge,
			.num_sge = 1 },
		.ah = &ah.ibah,
		.remote_qpn = 1,
		.remote_qkey = IB_QP1_QKEY,
		.pkey_index = pkey_index,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr.wr, &bad);

	sm_settle(sm);
	return ret;
}

static void gsi_sends_datagrams_under_a_pkey(struct kunit *test)
{
	struct sm *sm = start(test);

	KUNIT_EXPECT_EQ(test, post(sm, IB_WR_RDMA_WRITE, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(sm, IB_WR_LOCAL_INV, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(sm, IB_WR_SEND, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(sm, IB_WR_SEND, 0xffff), -EINVAL);
	sm_expect_no_wc(sm);
	/* What is refused later is its address, of which there is none. */
	KUNIT_EXPECT_EQ(test, post(sm, IB_WR_SEND, 0), 0);
	sm_expect_send_wc(sm, 31, IB_WC_LOC_QP_OP_ERR);
	sm_expect_none(sm);
	sm_end(sm);
}

static struct kunit_case rxe_sm_gsi_cases[] = {
	KUNIT_CASE(gsi_is_one_of_each_link),
	KUNIT_CASE(gsi_receives),
	KUNIT_CASE(gsi_tells_its_port),
	KUNIT_CASE(gsi_sends_datagrams_under_a_pkey),
	{}
};

static struct kunit_suite rxe_sm_gsi_suite = {
	.name = "rxe_sm_gsi",
	.test_cases = rxe_sm_gsi_cases,
};

kunit_test_suite(rxe_sm_gsi_suite);
