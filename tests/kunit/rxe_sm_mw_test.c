// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Windows on queue pairs: bound by a program's ring, invalidated by UC, and what
 * a peer reaches through one.
 */
#include "rxe_sm_bench.h"

#define SQ_PSN 0x100
#define PSN 0x200
#define MTU 1024
/* Aligned, unlike SM_VA. */
#define VA 0x123456789000ull
#define UNLIMITED 0x1f
#define NAK_ACCESS 0x62
#define OP(name) IB_OPCODE_RC_##name
#define S_ONLY OP(SEND_ONLY)
#define U_ONLY IB_OPCODE_UC_SEND_ONLY

#define RIGHTS                                                                 \
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* The region itself grants the peer nothing. */
static struct sm_conf mw_conf(void)
{
	struct sm_conf conf = sm_defaults();

	conf.va = VA;
	conf.mr_access = IB_ACCESS_MW_BIND | IB_ACCESS_LOCAL_WRITE;
	conf.qp_access = RIGHTS | IB_ACCESS_FLUSH_GLOBAL;
	return conf;
}

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = mw_conf();

	return sm_make(test, &conf);
}

static struct sm *start_type(struct kunit *test, enum ib_qp_type type)
{
	struct sm_conf conf = mw_conf();

	conf.type = type;
	return sm_make(test, &conf);
}

static struct rxe_mw *bound(struct sm *sm)
{
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);

	sm_bind(sm, mw);
	return mw;
}

static u32 key_of(const struct rxe_mw *mw)
{
	return mw->entry->rkey;
}

/* ---- bound through a program's ring ---- */

static struct rxe_send_wqe *put(struct sm *sm, u32 index, enum ib_wr_opcode opcode)
{
	struct rxe_send_wqe *wqe = sm_ring_wqe(sm, index);

	memset(wqe, 0, sizeof(*wqe) + sizeof(struct rxe_sge));
	wqe->wr.wr_id = index + 1;
	wqe->wr.opcode = opcode;
	return wqe;
}

static struct rxe_send_wqe *put_data(struct sm *sm, u32 index,
				     enum ib_wr_opcode opcode)
{
	struct rxe_send_wqe *wqe = put(sm, index, opcode);

	wqe->dma.length = 8;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0].addr = VA;
	wqe->dma.sge[0].length = 8;
	wqe->dma.sge[0].lkey = sm->mr->key;
	return wqe;
}

/* For reading; the key's low byte changes. */
static struct rxe_send_wqe *put_bind(struct sm *sm, u32 index,
				     const struct rxe_mw *mw, u32 off, u32 len)
{
	struct rxe_send_wqe *wqe = put(sm, index, IB_WR_BIND_MW);

	wqe->wr.wr.mw.addr = VA + off;
	wqe->wr.wr.mw.length = len;
	wqe->wr.wr.mw.mr_lkey = sm->mr->key;
	wqe->wr.wr.mw.mw_rkey = key_of(mw);
	wqe->wr.wr.mw.rkey = key_of(mw) ^ 1;
	wqe->wr.wr.mw.access = IB_ACCESS_REMOTE_READ;
	return wqe;
}

static void expect_sent_at(struct sm *sm, int line, u32 psn)
{
	sm_expect_data_at(sm, line, S_ONLY, psn, 0, 8, true);
}

#define expect_sent(sm, psn) expect_sent_at(sm, __LINE__, psn)

/* What WRITE or READ asks for, by the peer. */
static void ask(struct sm *sm, u8 opcode, u32 psn, u32 key, u64 off, u32 len,
		u32 total)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = off + 1,
		.len = len,
		.va = VA + off,
		.rkey = key,
		.dmalen = total,
		.ack_req = true,
	};

	sm_rx(sm, pkt);
}

static void peer_writes(struct sm *sm, u32 psn, u32 key, u64 off, u32 len)
{
	ask(sm, OP(RDMA_WRITE_ONLY), psn, key, off, len, len);
}

static void peer_reads(struct sm *sm, u32 psn, u32 key, u64 off, u32 len)
{
	ask(sm, OP(RDMA_READ_REQUEST), psn, key, off, 0, len);
}

static void expect_read_at(struct sm *sm, int line, u32 psn, u32 off, u32 len)
{
	sm_expect_data_at(sm, line, OP(RDMA_READ_RESPONSE_ONLY), psn, off, len,
			  false);
}

#define expect_read(sm, psn, off, len) expect_read_at(sm, __LINE__, psn, off, len)

/* The request at @psn was refused, and that is the end of the QP. */
static void expect_refused_at(struct sm *sm, int line, u32 psn, u32 msn)
{
	sm_expect_aeth_at(sm, line, psn, NAK_ACCESS, msn);
	sm_expect_none_at(sm, line);
	sm_expect_events_at(sm, line, IB_EVENT_QP_ACCESS_ERR, 1);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->qp->state, IB_QPS_ERR, "line %d", line);
	sm_end(sm);
}

#define expect_refused(sm, psn, msn) expect_refused_at(sm, __LINE__, psn, msn)

static void ring_binds(struct kunit *test)
{
	enum ib_mw_type type;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct sm *sm = start(test);
		struct rxe_mw *mw = sm_mw(sm, type);
		u32 old = key_of(mw);

		sm_give_ring(sm);
		put_data(sm, 0, IB_WR_SEND);
		put_bind(sm, 1, mw, 100, 50);
		put_data(sm, 2, IB_WR_SEND);
		sm_doorbell(sm, 3);
		expect_sent(sm, SQ_PSN);
		expect_sent(sm, SQ_PSN + 1);
		sm_expect_no_wc(sm);
		/* At once, but it does not complete yet. */
		KUNIT_EXPECT_EQ(test, key_of(mw), old ^ 1);
		peer_reads(sm, PSN, old ^ 1, 100, 50);
		expect_read(sm, PSN, 100, 50);
		sm_ack_timeout(sm);
		expect_sent(sm, SQ_PSN);
		expect_sent(sm, SQ_PSN + 1);
		sm_ack(sm, SQ_PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_BIND_MW);
		sm_expect_no_wc(sm);
		sm_ack(sm, SQ_PSN + 1, UNLIMITED, 2);
		sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, sm->qp->sq.ring->buf->consumer_index, 3);
		/* The old key is good for nothing. */
		peer_reads(sm, PSN + 1, old, 100, 50);
		expect_refused(sm, PSN + 1, 1);
	}
}

/* A window's whole life in one list; the last LOCAL_INV is one too many. */
static void ring_binds_and_invalidates(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);
	u32 key = key_of(mw), i;

	sm_give_ring(sm);
	for (i = 0; i < 6; i++) {
		struct rxe_send_wqe *wqe = put_bind(sm, i, mw, 0, 64);

		wqe->wr.wr.mw.mw_rkey = key;
		wqe->wr.wr.mw.rkey = ++key;
		put(sm, ++i, IB_WR_LOCAL_INV)->wr.ex.invalidate_rkey = key;
	}
	put(sm, 6, IB_WR_LOCAL_INV)->wr.ex.invalidate_rkey = key;
	sm_doorbell(sm, 7);
	for (i = 0; i < 6; i++) {
		sm_expect_send_wc(sm, i + 1, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, sm->wc.opcode, i % 2 ? IB_WC_LOCAL_INV :
							     IB_WC_BIND_MW);
	}
	sm_expect_send_wc(sm, 7, IB_WC_LOC_QP_OP_ERR);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	sm_expect_none(sm);
	sm_end(sm);
}

enum lie {
	MW_KEY,
	MW_KEY_OF_REGION,
	NEW_KEY,
	MR_KEY,
	ACCESS,
	ADDR,
	LENGTH,
	NO_LENGTH,
	LIES
};

static void tell_lie(struct sm *sm, struct rxe_send_wqe *wqe, enum lie lie)
{
	switch (lie) {
	case MW_KEY:
		wqe->wr.wr.mw.mw_rkey ^= 2;
		break;
	case MW_KEY_OF_REGION:
		wqe->wr.wr.mw.mw_rkey = sm->mr->key;
		wqe->wr.wr.mw.rkey = sm->mr->key;
		break;
	case NEW_KEY:
		wqe->wr.wr.mw.rkey ^= 0x100;
		break;
	case MR_KEY:
		wqe->wr.wr.mw.mr_lkey ^= 1;
		break;
	case ACCESS:
		wqe->wr.wr.mw.access |= IB_ACCESS_MW_BIND;
		break;
	case ADDR:
		wqe->wr.wr.mw.addr--;
		break;
	case LENGTH:
		wqe->wr.wr.mw.length = U64_MAX;
		break;
	default:
		wqe->wr.wr.mw.length = 0;
	}
}

/* In its turn; what is behind it is flushed, and nothing has been bound. */
static void ring_bind_lies(struct kunit *test)
{
	enum lie lie;

	for (lie = 0; lie < LIES; lie++) {
		struct sm *sm = start(test);
		struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);
		u32 key = key_of(mw);

		sm_give_ring(sm);
		put_data(sm, 0, IB_WR_SEND);
		tell_lie(sm, put_bind(sm, 1, mw, 0, 64), lie);
		put_data(sm, 2, IB_WR_SEND);
		sm_doorbell(sm, 3);
		expect_sent(sm, SQ_PSN);
		sm_expect_none(sm);
		sm_expect_no_wc(sm);
		sm_ack(sm, SQ_PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_MW_BIND_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_none(sm);
		KUNIT_EXPECT_FALSE(test, sm_bound(mw));
		KUNIT_EXPECT_EQ(test, key_of(mw), key);
		KUNIT_EXPECT_EQ(test, atomic_read(&sm->mr->num_mw), 0);
		KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
		sm_end(sm);
	}
}

/* While it waits for a READ the program writes it over. */
static void ring_bind_is_read_once(struct kunit *test)
{
	struct rxe_pkt answer = {
		.opcode = OP(RDMA_READ_RESPONSE_ONLY),
		.psn = SQ_PSN,
		.len = 8,
		.syndrome = UNLIMITED,
		.msn = 1,
	};
	struct sm *sm = start(test);
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);
	u32 key = key_of(mw);

	sm_give_ring(sm);
	put_data(sm, 0, IB_WR_RDMA_READ);
	put_bind(sm, 1, mw, 100, 50)->wr.send_flags = IB_SEND_FENCE;
	sm_doorbell(sm, 2);
	sm_skip(sm);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	memset(sm_ring_wqe(sm, 1), 0xff, sizeof(struct rxe_send_wqe) + 16);
	sm_rx(sm, answer);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, key_of(mw), key ^ 1);
	KUNIT_EXPECT_EQ(test, mw->entry->addr, VA + 100);
	KUNIT_EXPECT_EQ(test, mw->entry->length, 50);
	KUNIT_EXPECT_EQ(test, mw->entry->access, IB_ACCESS_REMOTE_READ);
	sm_end(sm);
}

/* The kernel's API has none. */
static void kernel_does_not_bind(struct kunit *test)
{
	struct sm *sm = start(test);

	KUNIT_EXPECT_EQ(test, -EINVAL,
			sm_post_inv(sm, 1, IB_WR_BIND_MW, 0, 0, 0));
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- UC ---- */

static void uc_local_between_sends(struct kunit *test)
{
	struct sm *sm = start_type(test, IB_QPT_UC);
	struct rxe_mw *mw = bound(sm);
	int i;

	sm_burst(sm);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post_inv(sm, 2, IB_WR_LOCAL_INV, key_of(mw), 0, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	sm_burst_end(sm);
	sm_expect_data(sm, U_ONLY, SQ_PSN, 0, 8, false);
	sm_expect_data(sm, U_ONLY, SQ_PSN + 1, 0, 8, false);
	for (i = 1; i <= 3; i++)
		sm_expect_send_wc(sm, i, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_no_wc(sm);
	sm_end(sm);
}

static void uc_local_behind_what_waits(struct kunit *test)
{
	struct sm *sm = start_type(test, IB_QPT_UC);
	struct rxe_mw *mw = bound(sm);
	int i;

	sm->xmit_answer = NET_XMIT_DROP;
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post_inv(sm, 2, IB_WR_LOCAL_INV, key_of(mw), 0, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	sm_expect_no_wc(sm);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	for (i = 1; i <= 3; i++)
		sm_expect_send_wc(sm, i, IB_WC_SUCCESS);
	sm_expect_data(sm, U_ONLY, SQ_PSN, 0, 8, false);
	sm_expect_data(sm, U_ONLY, SQ_PSN + 1, 0, 8, false);
	sm_expect_none(sm);
	sm_end(sm);
}

/* The send queue stops, and nothing else; then it goes on. */
static void uc_local_key_is_bad(struct kunit *test)
{
	struct sm *sm = start_type(test, IB_QPT_UC);
	struct rxe_mw *mw = bound(sm);

	sm_burst(sm);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post_inv(sm, 2, IB_WR_LOCAL_INV, key_of(mw) ^ 1, 0, 0);
	sm_post_inv(sm, 3, IB_WR_LOCAL_INV, key_of(mw), 0, 0);
	sm_post(sm, 4, IB_WR_SEND, 0, 8, 0);
	sm_burst_end(sm);
	sm_expect_data(sm, U_ONLY, SQ_PSN, 0, 8, false);
	sm_expect_none(sm);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_LOC_QP_OP_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	sm_expect_send_wc(sm, 4, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, sm_bound(mw));
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_SQE);
	KUNIT_EXPECT_EQ(test, sm_to_state(sm, IB_QPS_RTS), 0);
	sm_post_inv(sm, 5, IB_WR_LOCAL_INV, key_of(mw), 0, 0);
	sm_expect_send_wc(sm, 5, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, sm_bound(mw));
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* UC's WRITEs through a window: outside of it they are dropped. */
static void uc_peer_writes(struct kunit *test)
{
	struct sm *sm = start_type(test, IB_QPT_UC);
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);

	sm_bind_by(sm, sm->qp, mw, 100, 50, IB_ACCESS_REMOTE_WRITE);
	sm_clear(sm);
	ask(sm, IB_OPCODE_UC_RDMA_WRITE_ONLY, PSN, key_of(mw), 100, 50, 50);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 100, 50, 101));
	sm_clear(sm);
	ask(sm, IB_OPCODE_UC_RDMA_WRITE_ONLY, PSN + 1, key_of(mw), 101, 50, 50);
	sm_post_inv(sm, 1, IB_WR_LOCAL_INV, key_of(mw), 0, 0);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	ask(sm, IB_OPCODE_UC_RDMA_WRITE_ONLY, PSN + 2, key_of(mw), 100, 50, 50);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4096));
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_DROP_MESSAGE), 2);
	sm_expect_no_event(sm);
	sm_expect_none(sm);
	sm_end(sm);
}

/* ---- through a window ---- */

static struct rxe_mw *window(struct sm *sm, u32 off, u32 len, int access)
{
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_2);

	KUNIT_EXPECT_EQ(sm->test, IB_WC_SUCCESS,
			sm_bind_by(sm, sm->qp, mw, off, len, access));
	return mw;
}

static void peer_inside(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 key = key_of(window(sm, 4000, 200, RIGHTS));

	peer_reads(sm, PSN, key, 4000, 200);
	expect_read(sm, PSN, 4000, 200);
	peer_reads(sm, PSN + 1, key, 4199, 1);
	expect_read(sm, PSN + 1, 4199, 1);
	sm_clear(sm);
	peer_writes(sm, PSN + 2, key, 4000, 1);
	peer_writes(sm, PSN + 3, key, 4199, 1);
	peer_writes(sm, PSN + 4, key, 4010, 180);
	sm_expect_ack(sm, PSN + 2, 3);
	sm_expect_ack(sm, PSN + 3, 4);
	sm_expect_ack(sm, PSN + 4, 5);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 4000, 1, 4001));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 4010, 180, 4011));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 4199, 1, 4200));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4000));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 4200, 4000));
	/* Nothing is nowhere. */
	peer_writes(sm, PSN + 5, 0, 9, 0);
	sm_expect_ack(sm, PSN + 5, 6);
	sm_expect_no_event(sm);
	sm_end(sm);
}

static void peer_writes_parts(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 key = key_of(window(sm, 100, 2 * MTU + 7, IB_ACCESS_REMOTE_WRITE));

	sm_clear(sm);
	ask(sm, OP(RDMA_WRITE_FIRST), PSN, key, 100, MTU, 2 * MTU + 7);
	ask(sm, OP(RDMA_WRITE_MIDDLE), PSN + 1, key, 100 + MTU, MTU, 0);
	ask(sm, OP(RDMA_WRITE_LAST), PSN + 2, key, 100 + 2 * MTU, 7, 0);
	sm_skip(sm);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 100, 2 * MTU + 7, 101));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 107 + 2 * MTU, 4096));
	/* One byte more than that is seen at the beginning. */
	sm_clear(sm);
	ask(sm, OP(RDMA_WRITE_FIRST), PSN + 3, key, 100, MTU, 2 * MTU + 8);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 8192));
	expect_refused(sm, PSN + 3, 1);
}

static void peer_outside(struct kunit *test)
{
	static const struct {
		u64 off;
		u32 len;
	} asked[] = {
		{ 3999, 1 }, { 3999, 2 }, { 4199, 2 }, { 4200, 1 },
		{ 4000, 201 }, { 0, 8 }, { -VA, 8 }, { -VA - 1, 8 },
	};
	int i, write;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		for (write = 0; write < 2; write++) {
			struct sm *sm = start(test);
			u32 key = key_of(window(sm, 4000, 200, RIGHTS));

			sm_clear(sm);
			if (write)
				peer_writes(sm, PSN, key, asked[i].off,
					    asked[i].len);
			else
				peer_reads(sm, PSN, key, asked[i].off,
					   asked[i].len);
			KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 8192));
			expect_refused(sm, PSN, 0);
		}
	}
}

/* Each request, through a window that grants all but the right it needs. */
static void peer_without_right(struct kunit *test)
{
	static const struct {
		u8 opcode;
		u32 len;
		int needs;
	} requests[] = {
		{ OP(RDMA_READ_REQUEST), 0, IB_ACCESS_REMOTE_READ },
		{ OP(RDMA_WRITE_ONLY), 8, IB_ACCESS_REMOTE_WRITE },
		{ OP(ATOMIC_WRITE), 8, IB_ACCESS_REMOTE_WRITE },
		{ OP(FETCH_ADD), 0, IB_ACCESS_REMOTE_ATOMIC },
		{ OP(COMPARE_SWAP), 0, IB_ACCESS_REMOTE_ATOMIC },
	};
	int i, allowed;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		for (allowed = 0; allowed < 2; allowed++) {
			struct sm *sm = start(test);
			u32 key = key_of(window(sm, 64, 64, allowed ?
						requests[i].needs :
						RIGHTS & ~requests[i].needs));

			ask(sm, requests[i].opcode, PSN, key, 64,
			    requests[i].len, 8);
			if (allowed) {
				KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 1);
				sm_expect_no_event(sm);
				KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
				sm_end(sm);
				continue;
			}
			KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 4096, 0));
			expect_refused(sm, PSN, 0);
		}
	}
}

static void peer_adds(struct sm *sm, u32 psn, u32 key, u32 off)
{
	struct rxe_pkt pkt = {
		.opcode = OP(FETCH_ADD),
		.psn = psn,
		.va = VA + off,
		.rkey = key,
		.swap_add = 5,
	};

	sm_rx(sm, pkt);
}

static void peer_atomics(struct kunit *test)
{
	struct sm *sm = start(test);
	u32 key = key_of(window(sm, 64, 12, IB_ACCESS_REMOTE_ATOMIC));
	u64 *word = (u64 *)sm_mem(sm, 64);

	*word = 7;
	peer_adds(sm, PSN, key, 64);
	KUNIT_EXPECT_EQ(test, sm_next(sm)->pkt.orig, 7);
	KUNIT_EXPECT_EQ(test, *word, 12);
	/* Half of these eight bytes are outside. */
	peer_adds(sm, PSN + 1, key, 72);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 72, 64, 72));
	expect_refused(sm, PSN + 1, 1);
}

/* FLUSH is no right that a window can grant. */
static void peer_flushes(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_pkt pkt = {
		.opcode = OP(FLUSH),
		.psn = PSN,
		.va = VA,
		.dmalen = 8,
		.feth = 1,
	};

	pkt.rkey = key_of(window(sm, 0, 64, RIGHTS));
	sm_rx(sm, pkt);
	expect_refused(sm, PSN, 0);
}

static void peer_with_other_keys(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw;

	/* The region has no right for the peer, whatever its windows have. */
	window(sm, 0, 64, RIGHTS);
	peer_reads(sm, PSN, sm->mr->key, 0, 8);
	expect_refused(sm, PSN, 0);

	sm = start(test);
	mw = sm_mw(sm, IB_MW_TYPE_2);
	sm_bind_by(sm, sm_stranger(sm), mw, 0, 64, RIGHTS);
	peer_reads(sm, PSN, key_of(mw), 0, 8);
	expect_refused(sm, PSN, 0);

	/* Type 1 is good on every QP of the PD. */
	sm = start(test);
	mw = sm_mw(sm, IB_MW_TYPE_1);
	sm_bind_by(sm, sm_stranger(sm), mw, 0, 64, RIGHTS);
	peer_reads(sm, PSN, key_of(mw), 0, 8);
	expect_read(sm, PSN, 0, 8);
	sm_end(sm);

	/* A window's rights are not beyond the QP's. */
	sm = start(test);
	mw = window(sm, 0, 64, RIGHTS);
	sm_modify(sm, (struct ib_qp_attr){ .qp_access_flags =
						   IB_ACCESS_REMOTE_WRITE },
		  IB_QP_ACCESS_FLAGS);
	peer_reads(sm, PSN, key_of(mw), 0, 8);
	expect_refused(sm, PSN, 0);
}

/* A window's key is for peers, not for lists. */
static void key_is_not_local(struct kunit *test)
{
	struct sm *sm = start(test);
	struct ib_sge sge = { VA, 8 };

	sge.lkey = key_of(window(sm, 0, 64, RIGHTS));
	sm_post_sges(sm, 1, IB_WR_SEND, &sge, 1, 0);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	sm_expect_none(sm);
	sm_end(sm);
}

/* Nothing is written any more, and no byte of what is behind. */
static void write_is_ended_by_closing(struct kunit *test)
{
	bool dealloc = false;

	do {
		struct sm *sm = start(test);
		struct rxe_mw *mw = window(sm, 0, 4096, IB_ACCESS_REMOTE_WRITE);
		u32 key = key_of(mw);

		sm_clear(sm);
		ask(sm, OP(RDMA_WRITE_FIRST), PSN, key, 0, MTU, 2 * MTU + 8);
		ask(sm, OP(RDMA_WRITE_MIDDLE), PSN + 1, key, MTU, MTU, 0);
		sm_skip(sm);
		if (dealloc) {
			rxe_dealloc_mw(&mw->ibmw);
			sm->num_mws = 0;
		} else {
			sm_post_inv(sm, 1, IB_WR_LOCAL_INV, key, 0, 0);
			sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		}
		ask(sm, OP(RDMA_WRITE_LAST), PSN + 2, key, 2 * MTU, 8, 0);
		KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 2 * MTU, 1));
		KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 2 * MTU, 4096));
		expect_refused(sm, PSN + 2, 0);
		dealloc = !dealloc;
	} while (dealloc);
}

/* Smaller now, under the same key, than when the message began. */
static void write_is_ended_by_narrowing(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = sm_mw(sm, IB_MW_TYPE_1);
	struct rxe_pkt rest[] = {
		{ .opcode = OP(RDMA_WRITE_MIDDLE), .psn = PSN + 1, .len = MTU },
		{ .opcode = OP(RDMA_WRITE_LAST), .psn = PSN + 2, .len = 8 },
	};

	sm_bind_by(sm, sm->qp, mw, 0, 4096, IB_ACCESS_REMOTE_WRITE);
	sm_clear(sm);
	ask(sm, OP(RDMA_WRITE_FIRST), PSN, key_of(mw), 0, MTU, 2 * MTU + 8);
	sm_skip(sm);
	sm_bind_by(sm, sm->qp, mw, 0, 2 * MTU, IB_ACCESS_REMOTE_WRITE);
	/* In one skb: the region is looked up once. */
	sm_rx_train(sm, rest, ARRAY_SIZE(rest));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, MTU, 1));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 2 * MTU, 4096));
	expect_refused(sm, PSN + 1, 0);
}

/*
 * A burst of another queue pair, on another processor, is inside of a window of
 * type 1, and it is to be bound anew.
 */
static struct sm *start_bind_of_used(struct kunit *test, struct rxe_mw **mw,
				     struct rxe_grant *grant)
{
	struct sm *sm = start(test);
	struct rxe_qp *stranger = sm_stranger(sm);
	bool begun;

	*mw = sm_mw(sm, IB_MW_TYPE_1);
	sm_bind(sm, *mw);
	local_bh_disable();
	begun = rxe_rkey_get(stranger, key_of(*mw), IB_ACCESS_REMOTE_READ, VA, 64,
			     grant);
	local_bh_enable();
	KUNIT_ASSERT_TRUE(test, begun);
	sm_give_ring(sm);
	put_bind(sm, 0, *mw, 0, 64);
	/* Nothing runs but the pass that is asked for. */
	sm_burst(sm);
	sm_doorbell(sm, 1);
	KUNIT_EXPECT_TRUE(test, sm_burst_pass(sm));
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_TRUE(test, sm_burst_pass(sm));
	sm_expect_no_wc(sm);
	return sm;
}

static void end_burst(struct rxe_grant *grant)
{
	local_bh_disable();
	rxe_grant_put(grant);
	local_bh_enable();
}

static bool readable(struct sm *sm, u32 key)
{
	bool good;

	local_bh_disable();
	good = rxe_rkey_good(sm->qp, key, IB_ACCESS_REMOTE_READ, VA, 64);
	local_bh_enable();
	return good;
}

static void bind_waits_for_bursts(struct kunit *test)
{
	struct rxe_grant grant;
	struct rxe_mw *mw;
	struct sm *sm = start_bind_of_used(test, &mw, &grant);
	u32 key = key_of(mw);

	KUNIT_EXPECT_FALSE(test, readable(sm, key));
	end_burst(&grant);
	KUNIT_EXPECT_FALSE(test, sm_burst_pass(sm));
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, readable(sm, key));
	KUNIT_EXPECT_TRUE(test, readable(sm, key ^ 1));
	sm_burst_end(sm);
	sm_end(sm);
}

/* It is flushed, thrown away or put off, and the window is what it was. */
static void bind_waits_in_vain(struct kunit *test)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_ERR, IB_QPS_RESET, IB_QPS_SQD
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		struct rxe_grant grant;
		struct rxe_mw *mw;
		struct sm *sm = start_bind_of_used(test, &mw, &grant);
		u32 key = key_of(mw);

		KUNIT_EXPECT_FALSE(test, readable(sm, key));
		KUNIT_EXPECT_EQ(test, sm_to_state(sm, states[i]), 0);
		KUNIT_EXPECT_TRUE_MSG(test, readable(sm, key), "state %d", states[i]);
		if (states[i] == IB_QPS_ERR)
			sm_expect_send_wc(sm, 1, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		end_burst(&grant);
		sm_end(sm);
	}
}

/* Closed while its answers wait for room. */
static void read_is_ended_by_closing(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = window(sm, 0, 4096, IB_ACCESS_REMOTE_READ);

	sm->xmit_answer = NET_XMIT_DROP;
	peer_reads(sm, PSN, key_of(mw), 0, 64);
	sm_post_inv(sm, 1, IB_WR_LOCAL_INV, key_of(mw), 0, 0);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm->xmit_answer = 0;
	sm_pause_over(sm);
	expect_refused(sm, PSN, 1);
}

static struct kunit_case rxe_sm_mw_cases[] = {
	KUNIT_CASE(ring_binds),
	KUNIT_CASE(ring_binds_and_invalidates),
	KUNIT_CASE(ring_bind_lies),
	KUNIT_CASE(ring_bind_is_read_once),
	KUNIT_CASE(kernel_does_not_bind),
	KUNIT_CASE(uc_local_between_sends),
	KUNIT_CASE(uc_local_behind_what_waits),
	KUNIT_CASE(uc_local_key_is_bad),
	KUNIT_CASE(uc_peer_writes),
	KUNIT_CASE(peer_inside),
	KUNIT_CASE(peer_writes_parts),
	KUNIT_CASE(peer_outside),
	KUNIT_CASE(peer_without_right),
	KUNIT_CASE(peer_atomics),
	KUNIT_CASE(peer_flushes),
	KUNIT_CASE(peer_with_other_keys),
	KUNIT_CASE(key_is_not_local),
	KUNIT_CASE(write_is_ended_by_closing),
	KUNIT_CASE(write_is_ended_by_narrowing),
	KUNIT_CASE(read_is_ended_by_closing),
	KUNIT_CASE(bind_waits_for_bursts),
	KUNIT_CASE(bind_waits_in_vain),
	{}
};

static struct kunit_suite rxe_sm_mw_suite = {
	.name = "rxe_sm_mw",
	.test_cases = rxe_sm_mw_cases,
};

kunit_test_suite(rxe_sm_mw_suite);
