// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory windows: what they grant, to whom, and how they are opened and closed. */
#include "rxe_mw.h"
#include "rxe_sm_bench.h"

#define VA 0x123456789000ull
#define LEN 0x2000
#define MR_ACCESS                                                              \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_MW_BIND)

static struct sm *start(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();

	conf.va = VA;
	conf.pages = 2;
	conf.mr_access = MR_ACCESS;
	return sm_make(test, &conf);
}

static struct rxe_mw *window(struct sm *sm, struct rxe_pd *pd,
			     enum ib_mw_type type)
{
	struct rxe_mw *mw = kunit_kzalloc(sm->test, sizeof(*mw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(sm->test, mw);
	mw->ibmw.device = &sm->rxe->ib;
	mw->ibmw.pd = &pd->ibpd;
	mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(sm->test, 0, rxe_alloc_mw(&mw->ibmw, NULL));
	KUNIT_EXPECT_TRUE(sm->test, rxe_key_is_mw(mw->ibmw.rkey));
	return mw;
}

static struct rxe_bind to(struct sm *sm, struct rxe_mw *mw, u64 addr, u64 len,
			  int access)
{
	return (struct rxe_bind){
		.mw_rkey = mw->entry->rkey,
		.new_rkey = mw->entry->rkey ^ 0x5a,
		.mr_lkey = sm->mr->key,
		.access = access,
		.addr = addr,
		.length = len,
	};
}

static int bind(struct sm *sm, struct rxe_mw *mw, u64 addr, u64 len, int access)
{
	struct rxe_bind b = to(sm, mw, addr, len, access);

	return rxe_mw_bind(sm->qp, &b);
}

static bool grants(struct rxe_qp *qp, u32 rkey, int access, u64 va, u64 len)
{
	struct rxe_mr *mr = rxe_rkey_get(qp, rkey, access, va, len);

	if (mr)
		rxe_mr_put(mr);
	return mr;
}

static void mw_has_a_range(struct kunit *test)
{
	static const struct {
		u64 off, len;
		bool ok;
	} asks[] = {
		{ 0x100, 0x80, true }, { 0x100, 1, true }, { 0x17f, 1, true },
		{ 0x100, 0x81, false }, { 0xff, 1, false }, { 0xff, 2, false },
		{ 0x17f, 2, false }, { 0x180, 1, false }, { 0x180, 0, true },
		{ 0, LEN, false }, { 0x100, U64_MAX, false },
		{ 0x110, -0x10ull, false }, { -VA, 1, false },
		{ U64_MAX - VA, 2, false },
	};
	struct sm *sm = start(test);
	struct rxe_mw *mw = window(sm, sm->pd, IB_MW_TYPE_2);
	size_t i;

	KUNIT_ASSERT_EQ(test, IB_WC_SUCCESS,
			bind(sm, mw, VA + 0x100, 0x80, IB_ACCESS_REMOTE_WRITE));
	for (i = 0; i < ARRAY_SIZE(asks); i++)
		KUNIT_EXPECT_EQ_MSG(test, asks[i].ok,
				    grants(sm->qp, mw->entry->rkey,
					   IB_ACCESS_REMOTE_WRITE,
					   VA + asks[i].off, asks[i].len),
				    "%#llx+%#llx", asks[i].off, asks[i].len);
	rxe_dealloc_mw(&mw->ibmw);
	sm_end(sm);
}

/* The window's rights count, not those that its region grants to peers. */
static void mw_has_rights(struct kunit *test)
{
	static const int rights[] = { IB_ACCESS_REMOTE_READ,
				      IB_ACCESS_REMOTE_WRITE,
				      IB_ACCESS_REMOTE_ATOMIC };
	struct sm *sm = start(test);
	size_t i, k;

	for (i = 0; i < 3; i++) {
		struct rxe_mw *mw = window(sm, sm->pd, IB_MW_TYPE_1);

		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
				bind(sm, mw, VA, LEN, rights[i]));
		for (k = 0; k < 3; k++)
			KUNIT_EXPECT_EQ(test, i == k,
					grants(sm->qp, mw->entry->rkey,
					       rights[k], VA, 8));
		rxe_dealloc_mw(&mw->ibmw);
	}
	sm_end(sm);
}

static void mw_binds_what_may_be_bound(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_pd *other = fake_pd(test, sm->rxe);
	struct rxe_mw *mw = window(sm, sm->pd, IB_MW_TYPE_2);
	struct rxe_mw *foreign = window(sm, other, IB_MW_TYPE_2);
	struct rxe_bind b;

	/* Beyond the region, at its end, around the address space. */
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, LEN + 1, 0), IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA + LEN, 1, 0), IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA - 1, 2, 0), IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA + 8, -8ull, 0), IB_WC_MW_BIND_ERR);
	/* No length, a right that is none, another PD's window. */
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 0, 0), IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, IB_ACCESS_MW_BIND),
			IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, bind(sm, foreign, VA, 8, 0), IB_WC_MW_BIND_ERR);
	/* Keys: an old one, another window's, that of a region. */
	b = to(sm, mw, VA, 8, 0);
	b.mw_rkey ^= 1;
	KUNIT_EXPECT_EQ(test, rxe_mw_bind(sm->qp, &b), IB_WC_MW_BIND_ERR);
	b = to(sm, mw, VA, 8, 0);
	b.new_rkey += 0x100;
	KUNIT_EXPECT_EQ(test, rxe_mw_bind(sm->qp, &b), IB_WC_MW_BIND_ERR);
	b = to(sm, mw, VA, 8, 0);
	b.mw_rkey = sm->mr->key;
	KUNIT_EXPECT_EQ(test, rxe_mw_bind(sm->qp, &b), IB_WC_MW_BIND_ERR);
	b = to(sm, mw, VA, 8, 0);
	b.mr_lkey ^= 1;
	KUNIT_EXPECT_EQ(test, rxe_mw_bind(sm->qp, &b), IB_WC_MW_BIND_ERR);
	/* A region that is for reading, or for no windows. */
	sm->mr->access = IB_ACCESS_MW_BIND;
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, IB_ACCESS_REMOTE_WRITE),
			IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, IB_ACCESS_REMOTE_ATOMIC),
			IB_WC_MW_BIND_ERR);
	sm->mr->access = MR_ACCESS & ~IB_ACCESS_MW_BIND;
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, 0), IB_WC_MW_BIND_ERR);
	sm->mr->access = MR_ACCESS;
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, 0), IB_WC_SUCCESS);
	rxe_dealloc_mw(&mw->ibmw);
	rxe_dealloc_mw(&foreign->ibmw);
	sm_end(sm);
}

/* Type 2: free before it is bound, and good where it was bound only. */
static void mw_type_2(struct kunit *test)
{
	struct sm *sm = start(test), *peer = start(test);
	struct rxe_mw *mw = window(sm, sm->pd, IB_MW_TYPE_2);
	u32 first = mw->entry->rkey, key;

	KUNIT_EXPECT_EQ(test, rxe_mw_invalidate(sm->qp, first), -EINVAL);
	bind(sm, mw, VA, 8, IB_ACCESS_REMOTE_READ);
	key = mw->entry->rkey;
	KUNIT_EXPECT_NE(test, key, first);
	KUNIT_EXPECT_TRUE(test, grants(sm->qp, key, IB_ACCESS_REMOTE_READ, VA, 8));
	KUNIT_EXPECT_FALSE(test, grants(sm->qp, first, IB_ACCESS_REMOTE_READ,
					VA, 8));
	/* The same PD, and another queue pair. */
	peer->qp->pd = sm->pd;
	KUNIT_EXPECT_FALSE(test, grants(peer->qp, key, IB_ACCESS_REMOTE_READ,
					VA, 8));
	KUNIT_EXPECT_EQ(test, rxe_mw_invalidate(peer->qp, key), -EINVAL);
	peer->qp->pd = peer->pd;
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, 0), IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, rxe_mw_invalidate(sm->qp, key ^ 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mw_invalidate(sm->qp, key), 0);
	KUNIT_EXPECT_EQ(test, rxe_mw_invalidate(sm->qp, key), -EINVAL);
	KUNIT_EXPECT_FALSE(test, grants(sm->qp, key, IB_ACCESS_REMOTE_READ,
					VA, 8));
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 8, 0), IB_WC_SUCCESS);
	rxe_dealloc_mw(&mw->ibmw);
	sm_end(peer);
	sm_end(sm);
}

/* Type 1: bound anew at any time, to nothing as well, and good in its PD. */
static void mw_type_1(struct kunit *test)
{
	struct sm *sm = start(test), *peer = start(test);
	struct rxe_mw *mw = window(sm, sm->pd, IB_MW_TYPE_1);
	struct rxe_pd *pd = peer->qp->pd;
	u32 key;

	bind(sm, mw, VA, 8, IB_ACCESS_REMOTE_READ);
	key = mw->entry->rkey;
	KUNIT_EXPECT_FALSE(test, grants(peer->qp, key, IB_ACCESS_REMOTE_READ,
					VA, 8));
	peer->qp->pd = sm->pd;
	KUNIT_EXPECT_TRUE(test, grants(peer->qp, key, IB_ACCESS_REMOTE_READ,
				       VA, 8));
	peer->qp->pd = pd;
	KUNIT_EXPECT_EQ(test, rxe_mw_invalidate(sm->qp, key), -EINVAL);
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA + 8, 8, IB_ACCESS_REMOTE_READ),
			IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, grants(sm->qp, key, IB_ACCESS_REMOTE_READ,
					VA, 8));
	KUNIT_EXPECT_TRUE(test, grants(sm->qp, mw->entry->rkey,
				       IB_ACCESS_REMOTE_READ, VA + 8, 8));
	KUNIT_EXPECT_EQ(test, bind(sm, mw, VA, 0, 0), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&sm->mr->num_mw), 0);
	KUNIT_EXPECT_FALSE(test, grants(sm->qp, mw->entry->rkey, 0, VA, 0));
	rxe_dealloc_mw(&mw->ibmw);
	sm_end(peer);
	sm_end(sm);
}

/* A region stays while windows are bound to it, with its key. */
static void mw_keeps_its_region(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *one = window(sm, sm->pd, IB_MW_TYPE_2);
	struct rxe_mw *two = window(sm, sm->pd, IB_MW_TYPE_1);

	bind(sm, one, VA, 8, IB_ACCESS_REMOTE_READ);
	bind(sm, two, VA, 8, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&sm->mr->ibmr, NULL), -EBUSY);
	KUNIT_EXPECT_TRUE(test, grants(sm->qp, sm->mr->key,
				       IB_ACCESS_REMOTE_READ, VA, 8));
	KUNIT_EXPECT_EQ(test, 0, rxe_mw_invalidate(sm->qp, one->entry->rkey));
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&sm->mr->ibmr, NULL), -EBUSY);
	rxe_dealloc_mw(&two->ibmw);
	KUNIT_EXPECT_EQ(test, atomic_read(&sm->mr->num_mw), 0);
	rxe_dealloc_mw(&one->ibmw);
	sm_end(sm);
}

static void mw_number_is_limited(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw mw = { .ibmw = { .device = &sm->rxe->ib,
				       .pd = &sm->pd->ibpd,
				       .type = IB_MW_TYPE_1 } };

	atomic_set(&sm->rxe->num_mw, RXE_MAX_MW);
	KUNIT_EXPECT_EQ(test, rxe_alloc_mw(&mw.ibmw, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&sm->rxe->num_mw), RXE_MAX_MW);
	atomic_set(&sm->rxe->num_mw, 0);
	sm_end(sm);
}

/* A WRITE of several packets whose window closes in between. */
static void mw_closes_in_the_middle(struct kunit *test)
{
	struct sm *sm = start(test);
	struct rxe_mw *mw = window(sm, sm->pd, IB_MW_TYPE_2);
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_RDMA_WRITE_FIRST,
		.psn = 0x200,
		.va = VA,
		.dmalen = 1024 + 8,
		.len = 1024,
	};

	bind(sm, mw, VA, 4096, IB_ACCESS_REMOTE_WRITE);
	pkt.rkey = mw->entry->rkey;
	sm_clear(sm);
	sm_rx(sm, pkt);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 1024, 0));
	KUNIT_EXPECT_EQ(test, 0, rxe_mw_invalidate(sm->qp, pkt.rkey));
	pkt.opcode = IB_OPCODE_RC_RDMA_WRITE_LAST;
	pkt.psn++;
	pkt.len = 8;
	pkt.ack_req = true;
	sm_rx(sm, pkt);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 1024, 8));
	sm_expect_aeth(sm, 0x201, 0x62, 0);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
	rxe_dealloc_mw(&mw->ibmw);
	sm_end(sm);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE(mw_has_a_range),
	KUNIT_CASE(mw_has_rights),
	KUNIT_CASE(mw_binds_what_may_be_bound),
	KUNIT_CASE(mw_type_2),
	KUNIT_CASE(mw_type_1),
	KUNIT_CASE(mw_keeps_its_region),
	KUNIT_CASE(mw_number_is_limited),
	KUNIT_CASE(mw_closes_in_the_middle),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "rxe_mw",
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);
