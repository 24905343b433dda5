// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Datagrams: what is received, what is not, and what cannot be sent. */
#include <linux/ip.h>
#include "rxe_sm_bench.h"

#define GRH 40
#define SEND IB_OPCODE_UD_SEND_ONLY
#define SEND_IMM IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();

	conf.type = IB_QPT_UD;
	return sm_make(test, &conf);
}

static struct rxe_pkt datagram(u8 opcode, u32 from, u32 len)
{
	return (struct rxe_pkt){
		.opcode = opcode,
		.psn = 0x777777,
		.payload = from,
		.len = len,
		.qkey = SM_QKEY,
		.sqpn = 0xabcdef,
		.imm = cpu_to_be32(0x11223344),
	};
}

static void expect_dropped_at(struct sm *sm, int line, enum rxe_counter counter)
{
	sm_expect_none_at(sm, line);
	sm_expect_no_wc_at(sm, line);
	sm_expect_events_at(sm, line, IB_EVENT_QP_FATAL, 0);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->qp->state, IB_QPS_RTS, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm_counted(sm, counter), 1, "line %d", line);
}

#define expect_dropped(sm, counter) expect_dropped_at(sm, __LINE__, counter)

static void ud_receives_behind_a_grh(struct kunit *test)
{
	struct sm *sm = start(test);
	const struct iphdr *ip = (const void *)sm_mem(sm, 20);

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, GRH + 100);
	sm_post_recv(sm, 22, 4096, GRH);
	sm_rx(sm, datagram(SEND, 7, 98));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, GRH + 98);
	KUNIT_EXPECT_EQ(test, sm->wc.src_qp, 0xabcdef);
	KUNIT_EXPECT_EQ(test, sm->wc.wc_flags,
			IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE);
	KUNIT_EXPECT_EQ(test, sm->wc.network_hdr_type, RDMA_NETWORK_IPV4);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, GRH, 98, 7));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 20));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, GRH + 98, 1000));
	/* A header as it was, and whole. */
	KUNIT_EXPECT_EQ(test, *(const u8 *)ip, 0x45);
	KUNIT_EXPECT_EQ(test, ip->saddr, cpu_to_be32(0x0a000002));
	KUNIT_EXPECT_EQ(test, ip->daddr, cpu_to_be32(0x0a000001));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(ip->tot_len),
			20 + 8 + 12 + 8 + 98 + 2 + 4);
	KUNIT_EXPECT_EQ(test, ip_fast_csum(ip, 5), 0);
	/* Nothing but a header fits as well. */
	sm_rx(sm, datagram(SEND_IMM, 0, 0));
	sm_expect_recv_wc(sm, 22, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, GRH);
	KUNIT_EXPECT_TRUE(test, sm->wc.wc_flags & IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(sm->wc.ex.imm_data), 0x11223344);
	sm_expect_none(sm);
	sm_expect_no_event(sm);
	sm_end(sm);
}

/* The parts of a receive are any size; the header goes into the first. */
static void ud_scatters(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sge[] = { { SM_VA + 100, 13, sm->mr->key },
				{ SM_VA + 200, 40, sm->mr->key },
				{ SM_VA + 300, 100, sm->mr->key } };
	struct ib_recv_wr wr = { .wr_id = 21, .sg_list = sge, .num_sge = 3 };
	const struct ib_recv_wr *bad;

	sm_clear(sm);
	KUNIT_ASSERT_EQ(test, rxe_post_recv(&sm->qp->ibqp, &wr, &bad), 0);
	sm_rx(sm, datagram(SEND, 0, 50));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 200 + 27, 13, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 300, 37, 13));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 337, 100));
	sm_end(sm);
}

/* B09: what is too long costs no receive. */
static void ud_too_long(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_clear(sm);
	sm_post_recv(sm, 21, 0, GRH + 512);
	sm_rx(sm, datagram(SEND, 0, 513));
	expect_dropped(sm, RXE_CNT_DROP_MESSAGE);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4096));
	sm_rx(sm, datagram(SEND, 0, 512));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	sm_end(sm);
}

/* Longer than any packet here may be. */
static void ud_beyond_the_mtu(struct kunit *test)
{
	struct sm *sm = start(test);

	sm->rxe->mtu = 1024;
	sm_post_recv(sm, 21, 0, 4096);
	sm_rx(sm, datagram(SEND, 0, 1025));
	expect_dropped(sm, RXE_CNT_DROP_MESSAGE);
	sm_rx(sm, datagram(SEND, 0, 1024));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	sm_end(sm);
}

/* Others may have room for what one has not: nothing of an SRQ is kept. */
static void ud_too_long_for_an_srq(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.type = IB_QPT_UD;
	conf.srq = true;
	sm = sm_make(test, &conf);
	sm_post_recv(sm, 21, 0, GRH + 100);
	sm_rx(sm, datagram(SEND, 0, 101));
	expect_dropped(sm, RXE_CNT_DROP_MESSAGE);
	KUNIT_EXPECT_EQ(test, rxe_rq_count(&sm->srq->rq), 1);
	sm_rx(sm, datagram(SEND, 0, 100));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	sm_end(sm);
}

static void ud_without_receive(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_rx(sm, datagram(SEND, 0, 8));
	expect_dropped(sm, RXE_CNT_DROP_MESSAGE);
	sm_post_recv(sm, 21, 0, 64);
	sm_rx(sm, datagram(SEND, 0, 8));
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	sm_end(sm);
}

static void ud_other_qkey(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_pkt pkt = datagram(SEND, 0, 8);
	struct ib_qp_attr attr = { .qkey = 0x22222222 };

	sm_post_recv(sm, 21, 0, 64);
	pkt.qkey ^= 1;
	sm_rx(sm, pkt);
	expect_dropped(sm, RXE_CNT_DROP_QKEY);
	pkt.qkey = 0x22222222;
	sm_modify(sm, attr, IB_QP_QKEY);
	sm_rx(sm, pkt);
	sm_expect_recv_wc(sm, 21, IB_WC_SUCCESS);
	sm_end(sm);
}

/* Any order, any number. */
static void ud_knows_no_psn(struct kunit *test)
{
	static const u32 psns[] = { 5, 5, 0xffffff, 0, 0x800000 };
	struct sm *sm = start(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		struct rxe_pkt pkt = datagram(SEND, 0, 8);

		sm_post_recv(sm, i, 0, 64);
		pkt.psn = psns[i];
		sm_rx(sm, pkt);
		sm_expect_recv_wc(sm, i, IB_WC_SUCCESS);
	}
	sm_end(sm);
}

static void ud_receive_cannot_be_written(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sge = { SM_VA, 100, sm->mr->key ^ 1 };
	struct ib_recv_wr wr = { .wr_id = 21, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	KUNIT_ASSERT_EQ(test, rxe_post_recv(&sm->qp->ibqp, &wr, &bad), 0);
	sm_post_recv(sm, 22, 0, 64);
	sm_rx(sm, datagram(SEND, 0, 8));
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 21, IB_WC_LOC_PROT_ERR);
	sm_expect_recv_wc(sm, 22, IB_WC_WR_FLUSH_ERR);
	sm_expect_event(sm, IB_EVENT_QP_FATAL);
	sm_end(sm);
}

/* ---- sending ---- */

static int post(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode, struct ib_ah *ah,
		u32 len)
{
	struct ib_sge sge = { SM_VA, len, sm->mr->key };
	const struct ib_send_wr *bad;
	struct ib_ud_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.opcode = opcode,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.ah = ah,
		.remote_qpn = SM_DEST_QPN,
		.remote_qkey = SM_QKEY,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr.wr, &bad);

	sm_settle(sm);
	return ret;
}

static void ud_sends_nothing_but_datagrams(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_ATOMIC_WRITE, IB_WR_FLUSH,
	};
	struct sm *sm = start(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		KUNIT_EXPECT_EQ(test, post(sm, 1, opcodes[i], NULL, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(sm, 1, IB_WR_SEND, NULL, 8), -EINVAL);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

static struct kunit_case rxe_sm_ud_cases[] = {
	KUNIT_CASE(ud_receives_behind_a_grh),
	KUNIT_CASE(ud_scatters),
	KUNIT_CASE(ud_too_long),
	KUNIT_CASE(ud_beyond_the_mtu),
	KUNIT_CASE(ud_too_long_for_an_srq),
	KUNIT_CASE(ud_without_receive),
	KUNIT_CASE(ud_other_qkey),
	KUNIT_CASE(ud_knows_no_psn),
	KUNIT_CASE(ud_receive_cannot_be_written),
	KUNIT_CASE(ud_sends_nothing_but_datagrams),
	{}
};

static struct kunit_suite rxe_sm_ud_suite = {
	.name = "rxe_sm_ud",
	.test_cases = rxe_sm_ud_cases,
};

kunit_test_suite(rxe_sm_ud_suite);
