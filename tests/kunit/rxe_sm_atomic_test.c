// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Atomics, ATOMIC WRITE and FLUSH, on both sides: what they do, that they do it
 * once however often they are sent, and what they are answered with.
 */
#include "rxe_sm_bench.h"

#define SQ_PSN 0x100
#define PSN 0x200
#define MTU 1024
/* Aligned, unlike SM_VA. */
#define VA 0x123456789000ull
#define REMOTE_VA 0xfedcba9876543210
#define REMOTE_KEY 0x13572468
#define ATOMIC_ACK IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE
#define READ_ONLY IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY
#define NAK_SEQUENCE 0x60
#define NAK_INVALID 0x61
#define NAK_ACCESS 0x62
#define UNLIMITED 0x1f

/* FETH: where to, and how much. */
#define GLOBAL 0x1
#define PERSISTENT 0x2
#define RANGE 0x00
#define REGION 0x10

#define ALL_ACCESS                                                             \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |                     \
	 IB_ACCESS_FLUSH_GLOBAL)

static struct sm_conf atomic_conf(void)
{
	struct sm_conf conf = sm_defaults();

	conf.va = VA;
	conf.mr_access = ALL_ACCESS;
	conf.qp_access = ALL_ACCESS;
	return conf;
}

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = atomic_conf();

	return sm_make(test, &conf);
}

static u64 *word(struct sm *sm, u32 off)
{
	return (u64 *)sm_mem(sm, off);
}

/* ---- requests by hand ---- */

static struct rxe_pkt request(struct sm *sm, u8 opcode, u32 psn, u32 off)
{
	return (struct rxe_pkt){
		.opcode = opcode,
		.psn = psn,
		.va = VA + off,
		.rkey = sm->mr->key,
	};
}

static void fetch_add(struct sm *sm, u32 psn, u32 off, u64 add)
{
	struct rxe_pkt pkt = request(sm, IB_OPCODE_RC_FETCH_ADD, psn, off);

	pkt.swap_add = add;
	sm_rx(sm, pkt);
}

static void compare_swap(struct sm *sm, u32 psn, u32 off, u64 compare, u64 swap)
{
	struct rxe_pkt pkt = request(sm, IB_OPCODE_RC_COMPARE_SWAP, psn, off);

	pkt.compare = compare;
	pkt.swap_add = swap;
	sm_rx(sm, pkt);
}

static void atomic_write(struct sm *sm, u32 psn, u32 off, u64 value)
{
	struct rxe_pkt pkt = request(sm, IB_OPCODE_RC_ATOMIC_WRITE, psn, off);

	pkt.dmalen = sizeof(value);
	pkt.len = sizeof(value);
	sm_rx_data(sm, pkt, (const u8 *)&value);
}

static void flush(struct sm *sm, u32 psn, u32 off, u32 len, u32 feth)
{
	struct rxe_pkt pkt = request(sm, IB_OPCODE_RC_FLUSH, psn, off);

	pkt.dmalen = len;
	pkt.feth = feth;
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

static void read(struct sm *sm, u32 psn, u32 off, u32 len)
{
	struct rxe_pkt pkt = request(sm, IB_OPCODE_RC_RDMA_READ_REQUEST, psn, off);

	pkt.dmalen = len;
	sm_rx(sm, pkt);
}

static void expect_answer_at(struct sm *sm, int line, u8 opcode, u32 psn,
			     u64 orig, u32 msn)
{
	const struct sm_sent *sent = sm_next_at(sm, line);

	if (!sent)
		return;
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.opcode, opcode, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.psn, psn, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.syndrome & 0xe0, 0, "line %d",
			    line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.msn, msn, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.len, 0, "line %d", line);
	if (opcode == ATOMIC_ACK)
		KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.orig, orig, "line %d",
				    line);
}

#define expect_atomic_ack(sm, psn, orig, msn)                                  \
	expect_answer_at(sm, __LINE__, ATOMIC_ACK, psn, orig, msn)
/* Of ATOMIC WRITE and FLUSH: a READ's answer without data. */
#define expect_done(sm, psn, msn)                                              \
	expect_answer_at(sm, __LINE__, READ_ONLY, psn, 0, msn)

/* It was refused at PSN with @nak, and that is the end of the QP. */
static void expect_refused_at(struct sm *sm, int line, u8 nak)
{
	sm_expect_aeth_at(sm, line, PSN, nak, 0);
	sm_expect_none_at(sm, line);
	sm_expect_events_at(sm, line, nak == NAK_ACCESS ?
			    IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR, 1);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->qp->state, IB_QPS_ERR, "line %d", line);
	sm_end(sm);
}

#define expect_refused(sm, nak) expect_refused_at(sm, __LINE__, nak)

/* ---- what they do ---- */

static void fetch_add_works(struct kunit *test)
{
	struct sm *sm = start(test);

	*word(sm, 64) = 0x1122334455667788;
	*word(sm, 72) = U64_MAX - 1;
	fetch_add(sm, PSN, 64, 0x100);
	expect_atomic_ack(sm, PSN, 0x1122334455667788, 1);
	KUNIT_EXPECT_EQ(test, *word(sm, 64), 0x1122334455667888);
	/* It wraps, and touches no neighbour. */
	fetch_add(sm, PSN + 1, 72, 3);
	expect_atomic_ack(sm, PSN + 1, U64_MAX - 1, 2);
	KUNIT_EXPECT_EQ(test, *word(sm, 72), 1);
	KUNIT_EXPECT_EQ(test, *word(sm, 64), 0x1122334455667888);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 64, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 80, 64, 80));
	/* Each took one PSN. */
	sm_post_recv(sm, 1, 1024, 64);
	send(sm, PSN + 2);
	sm_expect_ack(sm, PSN + 2, 3);
	sm_expect_none(sm);
	sm_expect_recv_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_event(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_ATOMICS), 2);
	sm_end(sm);
}

static void compare_swap_works(struct kunit *test)
{
	struct sm *sm = start(test);

	*word(sm, 8) = 5;
	compare_swap(sm, PSN, 8, 5, 9);
	expect_atomic_ack(sm, PSN, 5, 1);
	KUNIT_EXPECT_EQ(test, *word(sm, 8), 9);
	/* Not what it is compared with: told, and left. */
	compare_swap(sm, PSN + 1, 8, 5, 11);
	expect_atomic_ack(sm, PSN + 1, 9, 2);
	KUNIT_EXPECT_EQ(test, *word(sm, 8), 9);
	/* The upper half counts. */
	*word(sm, 8) = 9 | 1ull << 63;
	compare_swap(sm, PSN + 2, 8, 9, 1);
	expect_atomic_ack(sm, PSN + 2, 9 | 1ull << 63, 3);
	KUNIT_EXPECT_EQ(test, *word(sm, 8), 9 | 1ull << 63);
	sm_expect_none(sm);
	sm_end(sm);
}

static void atomic_at_the_ends(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 last = sm->conf.pages * PAGE_SIZE - 8;

	*word(sm, 0) = 1;
	*word(sm, last) = 2;
	fetch_add(sm, PSN, 0, 10);
	expect_atomic_ack(sm, PSN, 1, 1);
	fetch_add(sm, PSN + 1, last, 10);
	expect_atomic_ack(sm, PSN + 1, 2, 2);
	KUNIT_EXPECT_EQ(test, *word(sm, last), 12);
	sm_end(sm);
}

static void atomic_write_writes(struct kunit *test)
{
	struct sm *sm = start(test);

	atomic_write(sm, PSN, 16, 0x0102030405060708);
	expect_done(sm, PSN, 1);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 16), 0x0102030405060708);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 16, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 24, 64, 24));
	sm_end(sm);
}

static void flush_is_answered(struct kunit *test)
{
	struct sm *sm = start(test);

	flush(sm, PSN, 0, 4096, GLOBAL | RANGE);
	expect_done(sm, PSN, 1);
	/* All of the region: address and length mean nothing. */
	flush(sm, PSN + 1, 1u << 30, U32_MAX, GLOBAL | REGION);
	expect_done(sm, PSN + 1, 2);
	flush(sm, PSN + 2, 1u << 30, 0, GLOBAL | RANGE);
	expect_done(sm, PSN + 2, 3);
	/* Again. */
	flush(sm, PSN, 0, 4096, GLOBAL | RANGE);
	expect_done(sm, PSN, 3);
	sm_expect_none(sm);
	sm_end(sm);
}

/* In one burst: answers leave in the order of the requests. */
static void atomic_in_order(struct kunit *test)
{
	struct sm *sm = start(test);

	sm_post_recv(sm, 1, 8192, 64);
	*word(sm, 4096) = 3;
	sm_burst(sm);
	read(sm, PSN, 0, 2 * MTU);
	fetch_add(sm, PSN + 2, 4096, 1);
	atomic_write(sm, PSN + 3, 4104, 1);
	send(sm, PSN + 4);
	sm_burst_end(sm);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST, PSN, 0, MTU,
		       false);
	sm_expect_data(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST, PSN + 1, MTU,
		       MTU, false);
	expect_atomic_ack(sm, PSN + 2, 3, 4);
	expect_done(sm, PSN + 3, 4);
	sm_expect_ack(sm, PSN + 4, 4);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- again ---- */

static void atomic_again(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 i;

	*word(sm, 0) = 100;
	for (i = 0; i < 5; i++)
		fetch_add(sm, PSN + i, 0, 1);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 105);
	*word(sm, 0) = 7;
	/* The last max_dest_rd_atomic are known, and not done again. */
	for (i = 1; i < 5; i++) {
		fetch_add(sm, PSN + i, 0, 1);
		expect_atomic_ack(sm, PSN + i, 100 + i, 5);
	}
	/* The one before them has been answered for sure. */
	fetch_add(sm, PSN, 0, 1);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 7);
	/* Any number of times, from the middle, and other things between. */
	read(sm, PSN + 5, 8, 8);
	sm_skip(sm);
	for (i = 0; i < 5; i++) {
		fetch_add(sm, PSN + 3, 0, 1);
		expect_atomic_ack(sm, PSN + 3, 103, 6);
	}
	/* Nothing was ever done there. */
	fetch_add(sm, PSN - 1, 0, 1);
	fetch_add(sm, PSN + 5, 0, 1);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 7);
	fetch_add(sm, PSN + 6, 0, 1);
	expect_atomic_ack(sm, PSN + 6, 7, 7);
	sm_end(sm);
}

static void atomic_again_before_its_answer(struct kunit *test)
{
	struct sm *sm = start(test);

	*word(sm, 0) = 1;
	sm_burst(sm);
	fetch_add(sm, PSN, 0, 1);
	fetch_add(sm, PSN, 0, 1);
	atomic_write(sm, PSN + 1, 8, 1);
	atomic_write(sm, PSN + 1, 8, 2);
	/* Another request where an atomic is: from a liar. */
	read(sm, PSN, 0, 8);
	sm_burst_end(sm);
	expect_atomic_ack(sm, PSN, 1, 2);
	expect_done(sm, PSN + 1, 2);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 2);
	KUNIT_EXPECT_EQ(test, *word(sm, 8), 1);
	sm_end(sm);
}

static void atomic_write_again(struct kunit *test)
{
	struct sm *sm = start(test);

	atomic_write(sm, PSN, 0, 1);
	expect_done(sm, PSN, 1);
	*word(sm, 0) = 2;
	atomic_write(sm, PSN, 0, 1);
	expect_done(sm, PSN, 1);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 2);
	sm_end(sm);
}

/* What was not asked for is not acknowledged. */
static void atomic_again_otherwise(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_pkt gone = request(sm, IB_OPCODE_RC_FLUSH, PSN + 2, 0);

	fetch_add(sm, PSN, 0, 1);
	atomic_write(sm, PSN + 1, 8, 1);
	flush(sm, PSN + 2, 0, 4096, GLOBAL | RANGE);
	send(sm, PSN + 3);
	sm_skip(sm);
	fetch_add(sm, PSN, 0, 2);
	fetch_add(sm, PSN, 16, 1);
	fetch_add(sm, PSN + 1, 8, 1);
	compare_swap(sm, PSN, 0, 0, 1);
	atomic_write(sm, PSN + 1, 8, 2);
	atomic_write(sm, PSN + 1, 0, 1);
	atomic_write(sm, PSN + 2, 8, 1);
	flush(sm, PSN + 2, 0, 4097, GLOBAL | RANGE);
	flush(sm, PSN + 2, 8, 4096, GLOBAL | RANGE);
	flush(sm, PSN + 2, 0, 4096, GLOBAL | REGION);
	flush(sm, PSN + 1, 0, 4096, GLOBAL | RANGE);
	flush(sm, PSN - 1, 0, 4096, GLOBAL | RANGE);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DROP_AGAIN), 12);
	flush(sm, PSN + 2, 0, 4096, GLOBAL | RANGE);
	expect_done(sm, PSN + 2, sm->qp->resp.msn);
	/* Nothing is left to make visible. */
	gone.dmalen = 4096;
	gone.feth = GLOBAL | RANGE;
	rxe_dereg_mr(&sm->mr->ibmr, NULL);
	sm->mr = NULL;
	sm_rx(sm, gone);
	sm_expect_none(sm);
	sm_end(sm);
}

/* What is as it was changes nothing; answers are given again all the same. */
static void atomic_again_after_modify(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_qp_attr attr = { .max_dest_rd_atomic = 4 };

	*word(sm, 0) = 1;
	fetch_add(sm, PSN, 0, 1);
	expect_atomic_ack(sm, PSN, 1, 1);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_SQD), 0);
	KUNIT_EXPECT_EQ(test, sm_modify(sm, attr, IB_QP_MAX_DEST_RD_ATOMIC), 0);
	fetch_add(sm, PSN, 0, 1);
	expect_atomic_ack(sm, PSN, 1, 1);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 2);
	sm_end(sm);
}

/* With more room, with less and with more again: the newest are known. */
static void atomic_again_after_other_room(struct kunit *test)
{
	static const struct {
		u32 room;
		u32 known;
	} steps[] = { { 128, 4 }, { 5, 4 }, { 2, 2 }, { 16, 2 }, { 1, 1 } };
	struct sm *sm = start(test);
	u32 i, step;

	*word(sm, 0) = 100;
	for (i = 0; i < 5; i++)
		fetch_add(sm, PSN + i, 0, 1);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_SQD), 0);
	for (step = 0; step < ARRAY_SIZE(steps); step++) {
		struct ib_qp_attr attr = { .max_dest_rd_atomic = steps[step].room };

		KUNIT_EXPECT_EQ(test, sm_modify(sm, attr, IB_QP_MAX_DEST_RD_ATOMIC), 0);
		for (i = 0; i < 5 - steps[step].known; i++)
			fetch_add(sm, PSN + i, 0, 1);
		sm_expect_none(sm);
		for (; i < 5; i++) {
			fetch_add(sm, PSN + i, 0, 1);
			expect_atomic_ack(sm, PSN + i, 100 + i, 5);
		}
		KUNIT_EXPECT_EQ(test, *word(sm, 0), 105);
	}
	fetch_add(sm, PSN + 5, 0, 1);
	expect_atomic_ack(sm, PSN + 5, 105, 6);
	sm_end(sm);
}

/* Answers that are due while the room changes are given all the same. */
static void atomic_due_while_room_changes(struct kunit *test)
{
	static const u8 rooms[] = { 16, 2, 1, 0 };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		struct ib_qp_attr attr = { .max_dest_rd_atomic = rooms[i] };
		struct sm *sm = start(test);

		*word(sm, 4096) = 3;
		KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_SQD), 0);
		sm->xmit_answer = NET_XMIT_DROP;
		read(sm, PSN, 0, 8);
		for (k = 1; k < 4; k++)
			fetch_add(sm, PSN + k, 4096, 1);
		sm_skip(sm);
		KUNIT_EXPECT_EQ(test, sm_modify(sm, attr, IB_QP_MAX_DEST_RD_ATOMIC), 0);
		sm_skip(sm);
		sm->xmit_answer = 0;
		sm_pause_over(sm);
		sm_expect_data(sm, IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, PSN, 0, 8, false);
		for (k = 1; k < 4; k++)
			expect_atomic_ack(sm, PSN + k, 2 + k, 4);
		sm_expect_none(sm);
		sm_end(sm);
	}
}

/* The number was that of another one, long ago. */
static void atomic_again_takes_the_newest(struct kunit *test)
{
	struct sm *sm = start(test);

	*word(sm, 0) = 1;
	fetch_add(sm, PSN, 0, 1);
	fetch_add(sm, PSN + 1, 0, 1);
	sm_skip(sm);
	/* 2^24 later. */
	sm->qp->resp.psn = PSN;
	fetch_add(sm, PSN, 0, 1);
	expect_atomic_ack(sm, PSN, 3, 3);
	fetch_add(sm, PSN, 0, 1);
	expect_atomic_ack(sm, PSN, 3, 3);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 4);
	sm_end(sm);
}

/* A QP that starts anew knows nothing of its last life. */
static void atomic_forgotten_by_reset(struct kunit *test)
{
	struct sm *sm = start(test);

	*word(sm, 0) = 1;
	fetch_add(sm, PSN, 0, 1);
	expect_atomic_ack(sm, PSN, 1, 1);
	KUNIT_ASSERT_EQ(test, sm_to_state(sm, IB_QPS_RESET), 0);
	sm_connect(sm);
	read(sm, PSN, 8, 8);
	sm_skip(sm);
	fetch_add(sm, PSN, 0, 1);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 2);
	sm_end(sm);
}

/* ---- what is refused ---- */

/* C22 */
static void atomic_misaligned(struct kunit *test)
{
	static const u32 offs[] = { 1, 4, 7, 4095 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		struct sm *sm = start(test);

		fetch_add(sm, PSN, offs[i], 1);
		KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 8192, 0));
		expect_refused(sm, NAK_INVALID);
		sm = start(test);
		atomic_write(sm, PSN, offs[i], 1);
		KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 8192, 0));
		expect_refused(sm, NAK_INVALID);
	}
}

/* In the region it would be aligned, in memory it is not. */
static void atomic_misaligned_in_memory(struct kunit *test)
{
	struct sm_conf conf = atomic_conf();
	struct sm *sm;

	conf.va = SM_VA;
	sm = sm_make(test, &conf);
	fetch_add(sm, PSN, SM_VA - VA + 5, 1);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 4096, 0));
	expect_refused(sm, NAK_INVALID);
}

static void atomic_without_key(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_pkt pkt = request(sm, IB_OPCODE_RC_FETCH_ADD, PSN, 0);

	pkt.rkey ^= 1;
	sm_rx(sm, pkt);
	expect_refused(sm, NAK_ACCESS);

	sm = start(test);
	fetch_add(sm, PSN, sm->conf.pages * PAGE_SIZE, 1);
	expect_refused(sm, NAK_ACCESS);

	sm = start(test);
	pkt = request(sm, IB_OPCODE_RC_COMPARE_SWAP, PSN, 0);
	pkt.va = VA - 8;
	sm_rx(sm, pkt);
	expect_refused(sm, NAK_ACCESS);

	sm = start(test);
	pkt = request(sm, IB_OPCODE_RC_FETCH_ADD, PSN, 0);
	pkt.va = U64_MAX - 7;
	sm_rx(sm, pkt);
	expect_refused(sm, NAK_ACCESS);
}

/* Each right is asked for, of the region and of the QP. */
static void atomic_without_right(struct kunit *test)
{
	u32 i;

	for (i = 0; i < 6; i++) {
		static const int right[] = { IB_ACCESS_REMOTE_ATOMIC,
					     IB_ACCESS_REMOTE_WRITE,
					     IB_ACCESS_FLUSH_GLOBAL };
		struct sm_conf conf = atomic_conf();
		struct sm *sm;

		if (i % 2)
			conf.mr_access &= ~right[i / 2];
		else
			conf.qp_access &= ~right[i / 2];
		sm = sm_make(test, &conf);
		if (i / 2 == 0)
			fetch_add(sm, PSN, 0, 1);
		else if (i / 2 == 1)
			atomic_write(sm, PSN, 0, 1);
		else
			flush(sm, PSN, 0, 8, GLOBAL | RANGE);
		KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 4096, 0));
		expect_refused(sm, NAK_ACCESS);
	}
}

static void atomic_more_than_agreed(struct kunit *test)
{
	struct sm_conf conf = atomic_conf();
	struct sm *sm;

	conf.max_dest_rd_atomic = 2;
	sm = sm_make(test, &conf);
	*word(sm, 0) = 1;
	sm_burst(sm);
	fetch_add(sm, PSN, 0, 1);
	read(sm, PSN + 1, 8, 8);
	fetch_add(sm, PSN + 2, 0, 1);
	sm_burst_end(sm);
	expect_atomic_ack(sm, PSN, 1, 2);
	sm_expect_data(sm, READ_ONLY, PSN + 1, 8, 8, false);
	sm_expect_aeth(sm, PSN + 2, NAK_INVALID, 2);
	sm_expect_none(sm);
	sm_expect_event(sm, IB_EVENT_QP_REQ_ERR);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 2);
	sm_end(sm);

	conf.max_dest_rd_atomic = 0;
	sm = sm_make(test, &conf);
	fetch_add(sm, PSN, 0, 1);
	expect_refused(sm, NAK_INVALID);
}

/* B24 */
static void atomic_write_of_other_lengths(struct kunit *test)
{
	static const u32 lens[][2] = { { 0, 0 }, { 4, 4 }, { 7, 7 }, { 9, 9 },
				       { 16, 16 }, { 8, 16 }, { 16, 8 }, { 8, 0 } };
	static const u8 data[16];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct sm *sm = start(test);
		struct rxe_pkt pkt =
			request(sm, IB_OPCODE_RC_ATOMIC_WRITE, PSN, 0);

		pkt.len = lens[i][0];
		pkt.dmalen = lens[i][1];
		sm_rx_data(sm, pkt, data);
		KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 4096, 0));
		expect_refused(sm, NAK_INVALID);
	}
}

static void flush_of_what_cannot_be(struct kunit *test)
{
	struct sm *sm = start(test);

	/* No memory here keeps anything. */
	flush(sm, PSN, 0, 8, PERSISTENT | RANGE);
	expect_refused(sm, NAK_ACCESS);
	sm = start(test);
	flush(sm, PSN, 0, 8, RANGE);
	expect_refused(sm, NAK_ACCESS);
	sm = start(test);
	flush(sm, PSN, 0, 8, GLOBAL | 0x20);
	expect_refused(sm, NAK_INVALID);
	sm = start(test);
	flush(sm, PSN, 0, sm->conf.pages * PAGE_SIZE + 1, GLOBAL | RANGE);
	expect_refused(sm, NAK_ACCESS);
}

/* ---- the requester's side ---- */

static int post_atomic(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode,
		       struct ib_sge *sge, int num, int flags)
{
	const struct ib_send_wr *bad;
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.opcode = opcode,
			.send_flags = flags,
			.sg_list = sge,
			.num_sge = num,
		},
		.remote_addr = REMOTE_VA,
		.rkey = REMOTE_KEY,
		.compare_add = 0x1111,
		.swap = 0x2222,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr.wr, &bad);

	sm_settle(sm);
	return ret;
}

static void post_fetch_add(struct sm *sm, u64 wr_id, u32 off, int flags)
{
	struct ib_sge sge = { VA + off, 8, sm->mr->key };

	KUNIT_EXPECT_EQ(sm->test, post_atomic(sm, wr_id, IB_WR_ATOMIC_FETCH_AND_ADD,
					      &sge, 1, flags), 0);
}

static void expect_atomic_at(struct sm *sm, int line, u8 opcode, u32 psn)
{
	const struct sm_sent *sent = sm_next_at(sm, line);

	if (!sent)
		return;
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.opcode, opcode, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.psn, psn, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.va, REMOTE_VA, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.rkey, REMOTE_KEY, "line %d",
			    line);
	if (opcode == IB_OPCODE_RC_FETCH_ADD) {
		KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.swap_add, 0x1111,
				    "line %d", line);
	} else {
		KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.compare, 0x1111,
				    "line %d", line);
		KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.swap_add, 0x2222,
				    "line %d", line);
	}
}

#define expect_fetch_add(sm, psn)                                              \
	expect_atomic_at(sm, __LINE__, IB_OPCODE_RC_FETCH_ADD, psn)

static void answer(struct sm *sm, u8 opcode, u32 psn, u64 orig)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.syndrome = UNLIMITED,
		.msn = 1,
		.orig = orig,
	};

	sm_rx(sm, pkt);
}

static void atomic_completes(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sge = { VA + 101, 100, sm->mr->key };

	post_fetch_add(sm, 1, 64, 0);
	expect_fetch_add(sm, SQ_PSN);
	answer(sm, ATOMIC_ACK, SQ_PSN, 0x8877665544332211);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 8);
	KUNIT_EXPECT_EQ(test, *word(sm, 64), 0x8877665544332211);
	/* Anywhere, with more room than it needs. */
	KUNIT_EXPECT_EQ(test, post_atomic(sm, 2, IB_WR_ATOMIC_CMP_AND_SWP, &sge, 1,
					  0), 0);
	expect_atomic_at(sm, __LINE__, IB_OPCODE_RC_COMPARE_SWAP, SQ_PSN + 1);
	answer(sm, ATOMIC_ACK, SQ_PSN + 1, 0x8877665544332211);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_COMP_SWAP);
	KUNIT_EXPECT_MEMEQ(test, sm_mem(sm, 101), word(sm, 64), 8);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 109, 1000, 109));
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

static void atomic_write_is_sent(struct kunit *test)
{
	struct sm *sm = start(test);
	const struct sm_sent *sent;

	sm_post(sm, 1, IB_WR_ATOMIC_WRITE, 24, 8, 0);
	sent = sm_next(sm);
	if (sent) {
		KUNIT_EXPECT_EQ(test, sent->pkt.opcode,
				IB_OPCODE_RC_ATOMIC_WRITE);
		KUNIT_EXPECT_EQ(test, sent->pkt.va, REMOTE_VA);
		KUNIT_EXPECT_EQ(test, sent->pkt.rkey, REMOTE_KEY);
		KUNIT_EXPECT_EQ(test, sent->pkt.dmalen, 8);
		KUNIT_ASSERT_EQ(test, sent->pkt.len, 8);
		KUNIT_EXPECT_MEMEQ(test, sent->data, sm_mem(sm, 24), 8);
	}
	/* An ACK is no answer to it: it is asked for again. */
	sm_ack(sm, SQ_PSN, UNLIMITED, 1);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 1);
	sm_skip(sm);
	answer(sm, READ_ONLY, SQ_PSN, 0);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_ATOMIC_WRITE);
	sm_end(sm);
}

/* D23, C16: too small for the answer, in pieces, or not to be written. */
static void atomic_with_bad_list(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sge = { VA, 7, sm->mr->key };
	struct ib_sge two[] = { { VA, 4, sm->mr->key }, { VA + 4, 4, sm->mr->key } };

	KUNIT_EXPECT_EQ(test, post_atomic(sm, 1, IB_WR_ATOMIC_FETCH_AND_ADD, &sge,
					  1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_atomic(sm, 1, IB_WR_ATOMIC_FETCH_AND_ADD, NULL,
					  0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_atomic(sm, 1, IB_WR_ATOMIC_FETCH_AND_ADD, two,
					  2, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, sm_post(sm, 1, IB_WR_ATOMIC_WRITE, 0, 7, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, post_atomic(sm, 1, IB_WR_ATOMIC_FETCH_AND_ADD, &sge,
					  1, IB_SEND_INLINE), -EINVAL);
	sm_expect_none(sm);
	sge.length = 8;
	sge.lkey ^= 1;
	KUNIT_EXPECT_EQ(test, post_atomic(sm, 1, IB_WR_ATOMIC_FETCH_AND_ADD, &sge,
					  1, 0), 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 8, 0);
	answer(sm, ATOMIC_ACK, SQ_PSN, 1);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 64, 0));
	sm_end(sm);

	sm = start(test);
	sge = (struct ib_sge){ VA, 8, sm->mr->key ^ 1 };
	KUNIT_EXPECT_EQ(test, sm_post_sges(sm, 1, IB_WR_ATOMIC_WRITE, &sge, 1, 0),
			0);
	sm_expect_none(sm);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	sm_end(sm);
}

static void atomic_answer_lost(struct kunit *test)
{
	struct sm *sm = start(test);

	post_fetch_add(sm, 1, 0, 0);
	post_fetch_add(sm, 2, 8, 0);
	sm_post(sm, 3, IB_WR_SEND, 16, 8, 0);
	sm_skip(sm);
	/* The second answer says that the first is missing: at once. */
	answer(sm, ATOMIC_ACK, SQ_PSN + 1, 22);
	sm_expect_no_wc(sm);
	expect_fetch_add(sm, SQ_PSN);
	expect_fetch_add(sm, SQ_PSN + 1);
	sm_expect_data(sm, IB_OPCODE_RC_SEND_ONLY, SQ_PSN + 2, 16, 8, true);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_IMPLIED_NAK), 1);
	answer(sm, ATOMIC_ACK, SQ_PSN, 11);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	/* No answer at all. */
	sm_expect_none(sm);
	sm_ack_timeout(sm);
	expect_fetch_add(sm, SQ_PSN + 1);
	sm_expect_data(sm, IB_OPCODE_RC_SEND_ONLY, SQ_PSN + 2, 16, 8, true);
	answer(sm, ATOMIC_ACK, SQ_PSN + 1, 22);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 11);
	KUNIT_EXPECT_EQ(test, *word(sm, 8), 22);
	/* Late ones change nothing. */
	answer(sm, ATOMIC_ACK, SQ_PSN, 33);
	KUNIT_EXPECT_EQ(test, *word(sm, 0), 11);
	sm_ack(sm, SQ_PSN + 2, UNLIMITED, 3);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_end(sm);
}

static void atomic_answer_of_another_kind(struct kunit *test)
{
	struct sm *sm = start(test);

	post_fetch_add(sm, 1, 0, 0);
	sm_post(sm, 2, IB_WR_SEND, 16, 8, 0);
	answer(sm, READ_ONLY, SQ_PSN, 0);
	sm_expect_send_wc(sm, 1, IB_WC_BAD_RESP_ERR);
	sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_end(sm);

	sm = start(test);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
	answer(sm, ATOMIC_ACK, SQ_PSN, 1);
	sm_expect_send_wc(sm, 1, IB_WC_BAD_RESP_ERR);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 64, 0));
	sm_end(sm);

	sm = start(test);
	sm_post(sm, 1, IB_WR_ATOMIC_WRITE, 0, 8, 0);
	answer(sm, ATOMIC_ACK, SQ_PSN, 1);
	sm_expect_send_wc(sm, 1, IB_WC_BAD_RESP_ERR);
	sm_end(sm);

	/* To what was not asked: none of the requester's business. */
	sm = start(test);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	answer(sm, ATOMIC_ACK, SQ_PSN, 1);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

static void atomic_refused_there(struct kunit *test)
{
	static const struct {
		u8 nak;
		enum ib_wc_status status;
	} naks[] = {
		{ NAK_INVALID, IB_WC_REM_INV_REQ_ERR },
		{ NAK_ACCESS, IB_WC_REM_ACCESS_ERR },
		{ 0x63, IB_WC_REM_OP_ERR },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		struct sm *sm = start(test);

		post_fetch_add(sm, 1, 0, 0);
		post_fetch_add(sm, 2, 8, 0);
		sm_post(sm, 3, IB_WR_SEND, 16, 8, 0);
		answer(sm, ATOMIC_ACK, SQ_PSN, 1);
		sm_ack(sm, SQ_PSN + 1, naks[i].nak, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, naks[i].status);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_end(sm);
	}
}

/* Atomics and READs share max_rd_atomic; a fence waits for all of them. */
static void atomic_limits_and_fence(struct kunit *test)
{
	struct sm_conf conf = atomic_conf();
	struct sm *sm;

	conf.max_rd_atomic = 2;
	sm = sm_make(test, &conf);
	post_fetch_add(sm, 1, 0, 0);
	sm_post(sm, 2, IB_WR_RDMA_READ, 8, 8, 0);
	post_fetch_add(sm, 3, 16, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 2);
	sm_skip(sm);
	answer(sm, ATOMIC_ACK, SQ_PSN, 1);
	expect_fetch_add(sm, SQ_PSN + 2);
	sm_expect_none(sm);
	sm_end(sm);

	sm = sm_make(test, &conf);
	post_fetch_add(sm, 1, 0, 0);
	sm_skip(sm);
	sm_post(sm, 2, IB_WR_SEND, 24, 8, IB_SEND_FENCE);
	sm_expect_none(sm);
	answer(sm, ATOMIC_ACK, SQ_PSN, 1);
	sm_expect_data(sm, IB_OPCODE_RC_SEND_ONLY, SQ_PSN + 1, 24, 8, true);
	sm_end(sm);

	/* None at all was agreed. */
	conf.max_rd_atomic = 0;
	sm = sm_make(test, &conf);
	post_fetch_add(sm, 1, 0, 0);
	sm_expect_none(sm);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_QP_OP_ERR);
	sm_end(sm);
}

static struct kunit_case rxe_sm_atomic_cases[] = {
	KUNIT_CASE(fetch_add_works),
	KUNIT_CASE(compare_swap_works),
	KUNIT_CASE(atomic_at_the_ends),
	KUNIT_CASE(atomic_write_writes),
	KUNIT_CASE(flush_is_answered),
	KUNIT_CASE(atomic_in_order),
	KUNIT_CASE(atomic_again),
	KUNIT_CASE(atomic_again_before_its_answer),
	KUNIT_CASE(atomic_write_again),
	KUNIT_CASE(atomic_again_otherwise),
	KUNIT_CASE(atomic_again_after_modify),
	KUNIT_CASE(atomic_again_after_other_room),
	KUNIT_CASE(atomic_due_while_room_changes),
	KUNIT_CASE(atomic_again_takes_the_newest),
	KUNIT_CASE(atomic_forgotten_by_reset),
	KUNIT_CASE(atomic_misaligned),
	KUNIT_CASE(atomic_misaligned_in_memory),
	KUNIT_CASE(atomic_without_key),
	KUNIT_CASE(atomic_without_right),
	KUNIT_CASE(atomic_more_than_agreed),
	KUNIT_CASE(atomic_write_of_other_lengths),
	KUNIT_CASE(flush_of_what_cannot_be),
	KUNIT_CASE(atomic_completes),
	KUNIT_CASE(atomic_write_is_sent),
	KUNIT_CASE(atomic_with_bad_list),
	KUNIT_CASE(atomic_answer_lost),
	KUNIT_CASE(atomic_answer_of_another_kind),
	KUNIT_CASE(atomic_refused_there),
	KUNIT_CASE(atomic_limits_and_fence),
	{}
};

static struct kunit_suite rxe_sm_atomic_suite = {
	.name = "rxe_sm_atomic",
	.test_cases = rxe_sm_atomic_cases,
};

kunit_test_suite(rxe_sm_atomic_suite);
