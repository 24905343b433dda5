// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory windows: ranges, rights, whose they are, keys, and their regions. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include "rxe_fixture.h"
#include "rxe_mw.h"
#include "rxe_qp.h"

#define VA 0x10000
#define LEN 0x4000
#define RD IB_ACCESS_REMOTE_READ
#define WR IB_ACCESS_REMOTE_WRITE
#define AT IB_ACCESS_REMOTE_ATOMIC
/* All that a region needs: remote rights are the window's own. */
#define REGION (IB_ACCESS_MW_BIND | IB_ACCESS_LOCAL_WRITE)
#define MAX_MW 4

struct env {
	struct kunit *test;
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	struct page **pages;
	struct rxe_mr *mr;
	struct rxe_mw mw[MAX_MW];
	u32 num_mw;
	/* Two of the PD, and one of another. */
	struct rxe_qp *qp;
	struct rxe_qp *twin;
	struct rxe_qp *alien;
};

/* ---- making ---- */

static struct rxe_qp *fake_qp(struct env *e, struct rxe_pd *pd, u32 qpn)
{
	struct rxe_qp *qp = kunit_kzalloc(e->test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(e->test, qp);
	qp->pd = pd;
	qp->qpn = qpn;
	return qp;
}

static void end_windows(struct env *e)
{
	while (e->num_mw)
		rxe_dealloc_mw(&e->mw[--e->num_mw].ibmw);
}

static void end(void *arg)
{
	struct env *e = arg;

	end_windows(e);
	if (e->mr)
		KUNIT_EXPECT_EQ(e->test, rxe_dereg_mr(&e->mr->ibmr, NULL), 0);
	KUNIT_EXPECT_EQ(e->test, atomic_read(&e->rxe->num_mw), 0);
}

static struct env *start_at(struct kunit *test, u64 va, int access)
{
	struct env *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->test = test;
	e->rxe = fake_dev(test);
	e->pd = fake_pd(test, e->rxe);
	e->pages = fake_pages(test, LEN / PAGE_SIZE);
	e->qp = fake_qp(e, e->pd, 0x11);
	e->twin = fake_qp(e, e->pd, 0x12);
	e->alien = fake_qp(e, fake_pd(test, e->rxe), 0x11);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end, e), 0);
	e->mr = fake_mr(test, e->pd, e->pages, 0, va, LEN, access);
	return e;
}

static struct env *start(struct kunit *test)
{
	return start_at(test, VA, REGION);
}

static struct rxe_mw *window(struct env *e, enum ib_mw_type type)
{
	struct rxe_mw *mw = &e->mw[e->num_mw];

	KUNIT_ASSERT_LT(e->test, e->num_mw, MAX_MW);
	mw->ibmw.device = &e->rxe->ib;
	mw->ibmw.pd = &e->pd->ibpd;
	mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(e->test, rxe_alloc_mw(&mw->ibmw, NULL), 0);
	e->num_mw++;
	return mw;
}

/* ---- doing ---- */

/* What binds @mw to all of the region for reading, under the key it has. */
static struct rxe_bind all(const struct env *e, const struct rxe_mw *mw)
{
	return (struct rxe_bind){
		.mw_rkey = mw->entry->rkey,
		.new_rkey = mw->entry->rkey,
		.mr_lkey = e->mr->key,
		.access = RD,
		.addr = e->mr->va,
		.length = e->mr->len,
	};
}

static int bind_by(struct rxe_qp *qp, struct rxe_bind bind)
{
	int ret;

	local_bh_disable();
	ret = rxe_mw_bind(qp, &bind);
	local_bh_enable();
	return ret;
}

static bool binds(struct rxe_qp *qp, struct rxe_bind bind)
{
	return !bind_by(qp, bind);
}

static void refuse_at(struct env *e, int line, struct rxe_qp *qp,
		      const struct rxe_mw *mw, struct rxe_bind bind)
{
	const struct rxe_mw_entry before = *mw->entry;

	KUNIT_EXPECT_EQ_MSG(e->test, bind_by(qp, bind), -EINVAL, "line %d", line);
	/* And all is as it was. */
	KUNIT_EXPECT_EQ_MSG(e->test, mw->entry->rkey, before.rkey, "line %d",
			    line);
	KUNIT_EXPECT_PTR_EQ_MSG(e->test, mw->entry->mr, before.mr, "line %d",
				line);
	KUNIT_EXPECT_EQ_MSG(e->test, mw->entry->access, before.access,
			    "line %d", line);
	KUNIT_EXPECT_EQ_MSG(e->test, atomic_read(&e->mr->num_mw),
			    before.mr == e->mr, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(e->test, refcount_read(&e->mr->ref), 1, "line %d",
			    line);
}

#define refuse(e, qp, mw, bind) refuse_at(e, __LINE__, qp, mw, bind)

static int invalidate(struct rxe_qp *qp, u32 key)
{
	int ret;

	local_bh_disable();
	ret = rxe_mw_invalidate(qp, key);
	local_bh_enable();
	return ret;
}

static bool grants(struct rxe_qp *qp, u32 key, int access, u64 va, u64 len)
{
	bool good;

	local_bh_disable();
	good = rxe_rkey_good(qp, key, access, va, len);
	local_bh_enable();
	return good;
}

static bool readable(struct rxe_qp *qp, u32 key)
{
	return grants(qp, key, RD, VA, LEN);
}

/* A burst of a peer's begins, and ends. */
static void burst_begins(struct env *e, struct rxe_qp *qp, u32 key,
			 struct rxe_grant *grant)
{
	bool begun;

	local_bh_disable();
	begun = rxe_rkey_get(qp, key, RD, VA, LEN, grant);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(e->test, begun);
}

static void burst_ends(struct rxe_grant *grant)
{
	local_bh_disable();
	if (grant->mr)
		rxe_grant_put(grant);
	local_bh_enable();
}

/* ---- ranges ---- */

struct mw_range {
	u64 mr_va;
	u64 va;
	u64 len;
	u64 ask;
	u64 ask_len;
	bool ok;
};

#define TOP (-0x4000ull)

static const struct mw_range ranges[] = {
	{ VA, 0x10100, 0x200, 0x10100, 0x200, true },
	{ VA, 0x10100, 0x200, 0x10100, 0x201, false },
	{ VA, 0x10100, 0x200, 0x10100, 1, true },
	{ VA, 0x10100, 0x200, 0x100ff, 1, false },
	{ VA, 0x10100, 0x200, 0x100ff, 2, false },
	{ VA, 0x10100, 0x200, 0x102ff, 1, true },
	{ VA, 0x10100, 0x200, 0x102ff, 2, false },
	{ VA, 0x10100, 0x200, 0x10300, 1, false },
	{ VA, 0x10100, 0x200, 0x10300, 0, true },
	{ VA, 0x10100, 0x200, 0x10301, 0, false },
	{ VA, 0x10100, 0x200, 0x100ff, 0, false },
	/* The region's, not the window's. */
	{ VA, 0x10100, 0x200, 0x10000, 0x4000, false },
	{ VA, 0x10100, 0x200, 0x10000, 1, false },
	{ VA, 0x10100, 0x200, 0x13fff, 1, false },
	/* Sums that wrap. */
	{ VA, 0x10100, 0x200, 0x10101, U64_MAX, false },
	{ VA, 0x10100, 0x200, 0x10101, U64_MAX - 0x10100, false },
	{ VA, 0x10100, 0x200, U64_MAX, 0x10102, false },
	{ VA, 0x10100, 0x200, U64_MAX, 2, false },
	{ VA, 0x10100, 1, 0x10100, 1, true },
	{ VA, 0x10100, 1, 0x10101, 1, false },
	{ VA, VA, LEN, VA, LEN, true },
	{ VA, VA, LEN, VA, LEN + 1, false },
	{ VA, VA, LEN, VA - 1, 1, false },
	/* One that ends with the address space. */
	{ TOP, -0x1000ull, 0x1000, -0x1000ull, 0x1000, true },
	{ TOP, -0x1000ull, 0x1000, -0x1000ull, 0x1001, false },
	{ TOP, -0x1000ull, 0x1000, -0x1001ull, 1, false },
	{ TOP, -0x1000ull, 0x1000, -1ull, 1, true },
	{ TOP, -0x1000ull, 0x1000, -1ull, 2, false },
	{ TOP, -0x1000ull, 0x1000, 0, 1, false },
	{ TOP, -0x1000ull, 0x1000, 0, 0, false },
	{ 0, 0, 1, 0, 1, true },
	{ 0, 0, 1, 0, 2, false },
	{ 0, 0, 1, U64_MAX, 2, false },
};

static void mw_range_desc(const struct mw_range *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%#llx+%#llx in %#llx+%#llx",
		 p->ask, p->ask_len, p->va, p->len);
}

KUNIT_ARRAY_PARAM(mw_range, ranges, mw_range_desc);

static void mw_covers_range(struct kunit *test)
{
	const struct mw_range *p = test->param_value;
	struct env *e = start_at(test, p->mr_va, REGION);
	enum ib_mw_type type;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rxe_mw *mw = window(e, type);
		struct rxe_bind bind = all(e, mw);

		bind.addr = p->va;
		bind.length = p->len;
		KUNIT_ASSERT_TRUE(test, binds(e->qp, bind));
		KUNIT_EXPECT_EQ(test, p->ok, grants(e->qp, mw->entry->rkey, RD,
						    p->ask, p->ask_len));
	}
}

/* What can be bound: all of it in its region. */
static const struct mw_range bindings[] = {
	{ VA, VA, LEN, 0, 0, true },
	{ VA, VA, LEN + 1, 0, 0, false },
	{ VA, VA - 1, 1, 0, 0, false },
	{ VA, VA - 1, LEN, 0, 0, false },
	{ VA, VA + LEN - 1, 1, 0, 0, true },
	{ VA, VA + LEN - 1, 2, 0, 0, false },
	{ VA, VA + LEN, 1, 0, 0, false },
	{ VA, VA + 1, U64_MAX, 0, 0, false },
	{ VA, VA + 1, U64_MAX - VA, 0, 0, false },
	{ VA, U64_MAX, VA + 2, 0, 0, false },
	{ TOP, TOP, LEN, 0, 0, true },
	{ TOP, TOP, LEN + 1, 0, 0, false },
	{ TOP, -1ull, 1, 0, 0, true },
	{ TOP, -1ull, 2, 0, 0, false },
	{ TOP, 0, 1, 0, 0, false },
};

static void mw_binding_desc(const struct mw_range *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%#llx+%#llx of %#llx", p->va,
		 p->len, p->mr_va);
}

KUNIT_ARRAY_PARAM(mw_binding, bindings, mw_binding_desc);

static void mw_lies_in_its_region(struct kunit *test)
{
	const struct mw_range *p = test->param_value;
	struct env *e = start_at(test, p->mr_va, REGION);
	enum ib_mw_type type;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rxe_mw *mw = window(e, type);
		struct rxe_bind bind = all(e, mw);

		bind.addr = p->va;
		bind.length = p->len;
		if (p->ok)
			KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
		else
			refuse(e, e->qp, mw, bind);
		end_windows(e);
	}
}

static void mw_larger_than_32_bits(struct kunit *test)
{
	const u64 va = 0x100000000, len = 0x200000001;
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	struct rxe_bind bind = all(e, mw);
	struct ib_mr *dma = rxe_get_dma_mr(&e->pd->ibpd, REGION);

	KUNIT_ASSERT_FALSE(test, IS_ERR(dma));
	bind.mr_lkey = dma->lkey;
	bind.addr = va;
	bind.length = len;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_TRUE(test, grants(e->qp, bind.new_rkey, RD, va, len));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, bind.new_rkey, RD, va, len + 1));
	KUNIT_EXPECT_TRUE(test, grants(e->qp, bind.new_rkey, RD, 0x300000000,
				       1));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, bind.new_rkey, RD, 0x300000000,
					2));
	end_windows(e);
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(dma, NULL), 0);
}

/* ---- rights ---- */

static void mw_rights_are_its_own(struct kunit *test)
{
	static const int rights[] = { RD, WR, AT };
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct rxe_bind bind = all(e, mw);
	int i, k;

	/* The region itself grants a peer nothing. */
	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		bind.access = rights[i];
		KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
		KUNIT_EXPECT_FALSE(test, grants(e->qp, e->mr->key, rights[i], VA,
						8));
		for (k = 0; k < ARRAY_SIZE(rights); k++)
			KUNIT_EXPECT_EQ(test, i == k,
					grants(e->qp, bind.new_rkey, rights[k],
					       VA, 8));
		KUNIT_EXPECT_FALSE(test, grants(e->qp, bind.new_rkey,
						RD | WR, VA, 8));
	}
	bind.access = RD | WR | AT | IB_ACCESS_LOCAL_WRITE;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_TRUE(test, grants(e->qp, bind.new_rkey,
				       RD | WR | AT, VA, 8));
	/* A window for nothing is one. */
	bind.access = 0;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_FALSE(test, readable(e->qp, bind.new_rkey));
}

static void mw_needs_rights_of_its_region(struct kunit *test)
{
	struct env *e = start_at(test, VA, IB_ACCESS_MW_BIND | RD);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	struct rxe_bind bind = all(e, mw);
	struct rxe_mr *closed;

	/* Nobody writes through a window where the owner may not. */
	bind.access = WR;
	refuse(e, e->qp, mw, bind);
	bind.access = AT;
	refuse(e, e->qp, mw, bind);
	bind.access = RD | WR;
	refuse(e, e->qp, mw, bind);
	bind.access = RD;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, bind.new_rkey), 0);

	closed = fake_mr(test, e->pd, e->pages, 0, VA, LEN,
			 IB_ACCESS_LOCAL_WRITE | RD | WR | AT);
	bind.mr_lkey = closed->key;
	refuse(e, e->qp, mw, bind);
	KUNIT_EXPECT_EQ(test, atomic_read(&closed->num_mw), 0);
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&closed->ibmr, NULL), 0);
	/* Nor one that has gone, or the window itself. */
	refuse(e, e->qp, mw, bind);
	bind.mr_lkey = bind.mw_rkey;
	refuse(e, e->qp, mw, bind);
}

static void mw_unknown_rights(struct kunit *test)
{
	struct env *e = start_at(test, VA, -1);
	enum ib_mw_type type;
	int bit;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rxe_mw *mw = window(e, type);
		struct rxe_bind bind = all(e, mw);

		for (bit = 0; bit < 32; bit++) {
			bind.access = RD | BIT(bit);
			if (BIT(bit) & (RD | WR | AT |
					IB_ACCESS_LOCAL_WRITE))
				continue;
			refuse(e, e->qp, mw, bind);
		}
	}
}

/* ---- whose it is ---- */

static void mw_type_2_is_of_one_qp(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	u32 key = mw->entry->rkey;

	refuse(e, e->alien, mw, all(e, mw));
	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	KUNIT_EXPECT_FALSE(test, readable(e->twin, key));
	KUNIT_EXPECT_FALSE(test, readable(e->alien, key));
	KUNIT_EXPECT_EQ(test, invalidate(e->twin, key), -EINVAL);
	KUNIT_EXPECT_EQ(test, invalidate(e->alien, key), -EINVAL);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, key), 0);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, key), -EINVAL);
	/* Free for another. */
	KUNIT_EXPECT_TRUE(test, binds(e->twin, all(e, mw)));
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	KUNIT_EXPECT_TRUE(test, readable(e->twin, key));
}

static void mw_type_1_is_of_the_pd(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	u32 key = mw->entry->rkey;

	refuse(e, e->alien, mw, all(e, mw));
	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	KUNIT_EXPECT_TRUE(test, readable(e->twin, key));
	KUNIT_EXPECT_FALSE(test, readable(e->alien, key));
	refuse(e, e->alien, mw, all(e, mw));
	/* It is not invalidated but bound to nothing. */
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, key), -EINVAL);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	KUNIT_EXPECT_TRUE(test, binds(e->twin, all(e, mw)));
}

/* A window and a region of different PDs have nothing to do with each other. */
static void mw_region_of_another_pd(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct rxe_mr *far = fake_mr(test, e->alien->pd, e->pages, 0, VA, LEN,
				     REGION);
	struct rxe_bind bind = all(e, mw);

	bind.mr_lkey = far->key;
	refuse(e, e->qp, mw, bind);
	refuse(e, e->alien, mw, bind);
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&far->ibmr, NULL), 0);
}

/* ---- keys ---- */

static void mw_key_is_exact(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	struct rxe_bind bind = all(e, mw);
	u32 key = mw->entry->rkey;
	int bit;

	KUNIT_EXPECT_EQ(test, mw->ibmw.rkey, key);
	/* Not good before it is bound. */
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, key), -EINVAL);
	for (bit = 0; bit < 32; bit++) {
		bind.mw_rkey = key ^ BIT(bit);
		refuse(e, e->qp, mw, bind);
	}
	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	for (bit = 0; bit < 32; bit++) {
		KUNIT_EXPECT_FALSE(test, readable(e->qp, key ^ BIT(bit)));
		KUNIT_EXPECT_EQ(test, invalidate(e->qp, key ^ BIT(bit)), -EINVAL);
	}
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
}

/* The binder chooses the low byte, and nothing else. */
static void mw_new_key(struct kunit *test)
{
	struct env *e = start(test);
	enum ib_mw_type type;
	int bit;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rxe_mw *mw = window(e, type);
		struct rxe_bind bind = all(e, mw);
		u32 old = bind.mw_rkey;

		for (bit = 8; bit < 32; bit++) {
			bind.new_rkey = old ^ BIT(bit);
			refuse(e, e->qp, mw, bind);
		}
		bind.new_rkey = old ^ 0xff;
		KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
		KUNIT_EXPECT_TRUE(test, readable(e->qp, old ^ 0xff));
		KUNIT_EXPECT_FALSE(test, readable(e->qp, old));
		KUNIT_EXPECT_EQ(test, invalidate(e->qp, old), -EINVAL);
		/* What names the old one comes too late. */
		refuse(e, e->qp, mw, bind);
		end_windows(e);
	}
}

static void mw_type_1_bound_again(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct rxe_bind bind = all(e, mw);
	u32 first = bind.mw_rkey, second = first ^ 1, third = first ^ 2;

	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	bind.new_rkey = second;
	bind.access = WR;
	bind.addr = VA + 16;
	bind.length = 16;
	KUNIT_EXPECT_TRUE(test, binds(e->twin, bind));
	KUNIT_EXPECT_EQ(test, atomic_read(&e->mr->num_mw), 1);
	/* Nothing is left of what it was. */
	KUNIT_EXPECT_FALSE(test, readable(e->qp, first));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, first, WR, VA + 16, 16));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, second, RD, VA + 16, 16));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, second, WR, VA + 15, 16));
	KUNIT_EXPECT_TRUE(test, grants(e->qp, second, WR, VA + 16, 16));
	/* To nothing: wherever that is. */
	bind.mw_rkey = second;
	bind.new_rkey = third;
	bind.mr_lkey = 0;
	bind.addr = 0;
	bind.length = 0;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_EQ(test, atomic_read(&e->mr->num_mw), 0);
	KUNIT_EXPECT_FALSE(test, grants(e->qp, second, WR, VA + 16, 1));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, third, WR, VA + 16, 1));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, third, WR, 0, 0));
	/* Once more, and then something again. */
	bind.mw_rkey = third;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	KUNIT_EXPECT_TRUE(test, readable(e->qp, third));
}

static void mw_type_2_bound_twice(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	struct rxe_bind bind = all(e, mw);
	u32 key = bind.mw_rkey;

	bind.length = 0;
	refuse(e, e->qp, mw, bind);
	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	refuse(e, e->qp, mw, all(e, mw));
	refuse(e, e->twin, mw, all(e, mw));
	refuse(e, e->qp, mw, bind);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, key), 0);
	bind = all(e, mw);
	bind.new_rkey = key ^ 0x80;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key ^ 0x80));
}

/* The upper half of all keys are windows', no index comes twice in a row. */
static void mw_keys_are_no_regions(struct kunit *test)
{
	struct env *e = start(test);
	u32 last = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		struct rxe_mw *mw = window(e, 1 + i % 2);
		struct rxe_mr *mr = rxe_mr_alloc(e->pd, 0);
		u32 key = mw->entry->rkey;

		KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
		if (!rxe_key_is_mw(key) || rxe_key_is_mw(mr->key) ||
		    key >> 8 == last >> 8)
			KUNIT_FAIL(test, "window %#x after %#x, region %#x", key,
				   last, mr->key);
		last = key;
		rxe_mr_free(mr);
		end_windows(e);
	}
	/* The key of a region, where one of a window is meant. */
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, e->mr->key), -EINVAL);
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, U32_MAX), -EINVAL);
}

/* A region's key is what it is without windows. */
static void mw_region_keys_still_work(struct kunit *test)
{
	struct env *e = start_at(test, VA, REGION | RD);

	KUNIT_EXPECT_TRUE(test, readable(e->qp, e->mr->key));
	KUNIT_EXPECT_TRUE(test, readable(e->twin, e->mr->key));
	KUNIT_EXPECT_FALSE(test, readable(e->alien, e->mr->key));
	KUNIT_EXPECT_FALSE(test, grants(e->qp, e->mr->key, WR, VA, LEN));
}

/* ---- ends ---- */

static int dereg(struct env *e)
{
	int ret = rxe_dereg_mr(&e->mr->ibmr, NULL);

	if (!ret)
		e->mr = NULL;
	return ret;
}

static void mw_keeps_its_region(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	struct rxe_mw *other = window(e, IB_MW_TYPE_1);
	struct rxe_bind bind;

	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, other)));
	KUNIT_EXPECT_EQ(test, dereg(e), -EBUSY);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, mw->entry->rkey));
	KUNIT_EXPECT_EQ(test, invalidate(e->qp, mw->entry->rkey), 0);
	KUNIT_EXPECT_EQ(test, dereg(e), -EBUSY);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, other->entry->rkey));
	bind = all(e, other);
	bind.length = 0;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_EQ(test, dereg(e), 0);
}

static void mw_dealloc_frees_its_region(struct kunit *test)
{
	struct env *e = start(test);
	enum ib_mw_type type;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct rxe_mw *mw = window(e, type);
		u32 key = mw->entry->rkey;

		KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
		KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&e->mr->ibmr, NULL), -EBUSY);
		end_windows(e);
		KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
		KUNIT_EXPECT_EQ(test, invalidate(e->qp, key), -EINVAL);
		KUNIT_EXPECT_EQ(test, atomic_read(&e->mr->num_mw), 0);
	}
	KUNIT_EXPECT_EQ(test, dereg(e), 0);
}

/* Bound to another region, it lets the first go. */
static void mw_moves_to_another_region(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct rxe_mr *second = fake_mr(test, e->pd, e->pages, 0, 0, LEN, REGION);
	struct rxe_bind bind;

	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	bind = all(e, mw);
	bind.mr_lkey = second->key;
	bind.addr = 0;
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_EQ(test, dereg(e), 0);
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&second->ibmr, NULL), -EBUSY);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, bind.new_rkey));
	KUNIT_EXPECT_TRUE(test, grants(e->qp, bind.new_rkey, RD, 0, LEN));
	end_windows(e);
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&second->ibmr, NULL), 0);
}

struct late {
	struct work_struct work;
	struct rxe_mr *mr;
	int ret;
};

static void late_dereg(struct work_struct *work)
{
	struct late *l = container_of(work, struct late, work);

	l->ret = rxe_dereg_mr(&l->mr->ibmr, NULL);
}

/* Who binds has found the region just before it is to go: too late. */
static void mw_bound_while_its_region_goes(struct kunit *test)
{
	struct env *e = start_at(test, VA, REGION | RD);
	struct late l = { .mr = e->mr };
	u32 key = e->mr->key;
	struct rxe_mr *found = rxe_mr_get(e->pd, key, IB_ACCESS_MW_BIND, VA, LEN);

	KUNIT_ASSERT_PTR_EQ(test, found, e->mr);
	INIT_WORK_ONSTACK(&l.work, late_dereg);
	schedule_work(&l.work);
	while (readable(e->qp, key))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, atomic_inc_unless_negative(&found->num_mw));
	rxe_mr_put(found);
	flush_work(&l.work);
	KUNIT_EXPECT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	e->mr = NULL;
	destroy_work_on_stack(&l.work);
}

static void late_rereg(struct work_struct *work)
{
	struct late *l = container_of(work, struct late, work);

	l->ret = rxe_rereg_umem_mr(&l->mr->ibmr, NULL, VA, l->mr->access,
				   &l->mr->pd->ibpd);
}

/* A window is not bound to what is being registered again, but afterwards. */
static void mw_bind_awaits_registration(struct kunit *test)
{
	struct env *e = start_at(test, VA, REGION | RD);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_2);
	struct rxe_bind bind = all(e, mw);
	struct late l = { .mr = e->mr };
	struct rxe_mr *found = rxe_mr_get(e->pd, e->mr->key, 0, VA, LEN);

	KUNIT_ASSERT_PTR_EQ(test, found, e->mr);
	INIT_WORK_ONSTACK(&l.work, late_rereg);
	schedule_work(&l.work);
	while (!atomic_read(&found->num_mw))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, bind.new_rkey));
	rxe_mr_put(found);
	flush_work(&l.work);
	KUNIT_EXPECT_EQ(test, l.ret, 0);
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_TRUE(test, readable(e->qp, bind.new_rkey));
	KUNIT_EXPECT_EQ(test, atomic_read(&e->mr->num_mw), 1);
	destroy_work_on_stack(&l.work);
}

/* Another queue pair's burst is inside: nothing more begins, and then it is bound. */
static void mw_bind_awaits_bursts(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct rxe_bind bind = all(e, mw);
	u32 first = bind.mw_rkey, second = first ^ 1;
	struct rxe_grant one, two;

	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	burst_begins(e, e->twin, first, &one);
	burst_begins(e, e->twin, first, &two);
	bind.new_rkey = second;
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, first));
	KUNIT_EXPECT_FALSE(test, readable(e->twin, first));
	KUNIT_EXPECT_FALSE(test, readable(e->qp, second));
	burst_ends(&one);
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EAGAIN);
	burst_ends(&two);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, first));
	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	KUNIT_EXPECT_FALSE(test, readable(e->qp, first));
	KUNIT_EXPECT_TRUE(test, readable(e->twin, second));
	KUNIT_EXPECT_EQ(test, atomic_read(&e->mr->num_mw), 1);
}

/* What is not bound in the end is as it was. */
static void mw_bind_gives_up(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct rxe_bind bind = all(e, mw);
	u32 key = bind.mw_rkey;
	struct rxe_grant grant;

	KUNIT_EXPECT_TRUE(test, binds(e->qp, bind));
	burst_begins(e, e->twin, key, &grant);
	/* Refused at once. */
	bind.new_rkey = key ^ BIT(8);
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EINVAL);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	/* Refused while it waits: the region has gone. */
	bind.new_rkey = key ^ 1;
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EAGAIN);
	bind.mr_lkey ^= 1;
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EINVAL);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	/* Flushed while it waits. */
	bind.mr_lkey ^= 1;
	KUNIT_EXPECT_EQ(test, bind_by(e->qp, bind), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	rxe_mw_reopen(e->qp);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key));
	/* Once is enough: who binds it now is another. */
	KUNIT_EXPECT_EQ(test, bind_by(e->twin, bind), -EAGAIN);
	rxe_mw_reopen(e->qp);
	KUNIT_EXPECT_FALSE(test, readable(e->qp, key));
	burst_ends(&grant);
	KUNIT_EXPECT_TRUE(test, binds(e->twin, bind));
	rxe_mw_reopen(e->twin);
	KUNIT_EXPECT_TRUE(test, readable(e->qp, key ^ 1));
}

struct late_dealloc {
	struct work_struct work;
	struct env *e;
	bool done;
};

static void late_dealloc(struct work_struct *work)
{
	struct late_dealloc *l = container_of(work, struct late_dealloc, work);

	end_windows(l->e);
	WRITE_ONCE(l->done, true);
}

static void mw_dealloc_awaits_bursts(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw *mw = window(e, IB_MW_TYPE_1);
	struct late_dealloc l = { .e = e };
	u32 key = mw->entry->rkey;
	struct rxe_grant grant;

	KUNIT_EXPECT_TRUE(test, binds(e->qp, all(e, mw)));
	burst_begins(e, e->qp, key, &grant);
	INIT_WORK_ONSTACK(&l.work, late_dealloc);
	schedule_work(&l.work);
	while (readable(e->qp, key))
		schedule_timeout_uninterruptible(1);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(l.done));
	KUNIT_EXPECT_EQ(test, rxe_dereg_mr(&e->mr->ibmr, NULL), -EBUSY);
	burst_ends(&grant);
	flush_work(&l.work);
	KUNIT_EXPECT_TRUE(test, l.done);
	KUNIT_EXPECT_EQ(test, dereg(e), 0);
	destroy_work_on_stack(&l.work);
}

static void mw_number_is_limited(struct kunit *test)
{
	struct env *e = start(test);
	struct rxe_mw mw = {
		.ibmw.device = &e->rxe->ib,
		.ibmw.pd = &e->pd->ibpd,
		.ibmw.type = IB_MW_TYPE_2,
	};

	atomic_set(&e->rxe->num_mw, RXE_MAX_MW);
	KUNIT_EXPECT_EQ(test, rxe_alloc_mw(&mw.ibmw, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&e->rxe->num_mw), RXE_MAX_MW);
	atomic_dec(&e->rxe->num_mw);
	KUNIT_EXPECT_EQ(test, rxe_alloc_mw(&mw.ibmw, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&e->rxe->num_mw), RXE_MAX_MW);
	KUNIT_EXPECT_EQ(test, rxe_dealloc_mw(&mw.ibmw), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&e->rxe->num_mw), RXE_MAX_MW - 1);
	atomic_set(&e->rxe->num_mw, 0);
}

static struct kunit_case mw_cases[] = {
	KUNIT_CASE_PARAM(mw_covers_range, mw_range_gen_params),
	KUNIT_CASE_PARAM(mw_lies_in_its_region, mw_binding_gen_params),
	KUNIT_CASE(mw_larger_than_32_bits),
	KUNIT_CASE(mw_rights_are_its_own),
	KUNIT_CASE(mw_needs_rights_of_its_region),
	KUNIT_CASE(mw_unknown_rights),
	KUNIT_CASE(mw_type_2_is_of_one_qp),
	KUNIT_CASE(mw_type_1_is_of_the_pd),
	KUNIT_CASE(mw_region_of_another_pd),
	KUNIT_CASE(mw_key_is_exact),
	KUNIT_CASE(mw_new_key),
	KUNIT_CASE(mw_type_1_bound_again),
	KUNIT_CASE(mw_type_2_bound_twice),
	KUNIT_CASE(mw_keys_are_no_regions),
	KUNIT_CASE(mw_region_keys_still_work),
	KUNIT_CASE(mw_keeps_its_region),
	KUNIT_CASE(mw_dealloc_frees_its_region),
	KUNIT_CASE(mw_moves_to_another_region),
	KUNIT_CASE(mw_bound_while_its_region_goes),
	KUNIT_CASE(mw_bind_awaits_registration),
	KUNIT_CASE(mw_bind_awaits_bursts),
	KUNIT_CASE(mw_bind_gives_up),
	KUNIT_CASE(mw_dealloc_awaits_bursts),
	KUNIT_CASE(mw_number_is_limited),
	{}
};

static struct kunit_suite mw_suite = {
	.name = "rxe_mw",
	.test_cases = mw_cases,
};

kunit_test_suite(mw_suite);
