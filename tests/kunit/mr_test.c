// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory regions: keys, ranges at their limits, pieces, and the end. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include "rxe_fixture.h"

/* ---- ranges ---- */

struct mr_range {
	u64 va;
	u64 len;
	u64 ask;
	u64 ask_len;
	bool ok;
};

static const struct mr_range ranges[] = {
	{ 0x1000, 0x100, 0x1000, 0x100, true },
	{ 0x1000, 0x100, 0x1000, 0x101, false },
	{ 0x1000, 0x100, 0x0fff, 1, false },
	{ 0x1000, 0x100, 0x0fff, 2, false },
	{ 0x1000, 0x100, 0x10ff, 1, true },
	{ 0x1000, 0x100, 0x10ff, 2, false },
	{ 0x1000, 0x100, 0x1100, 0, true },
	{ 0x1000, 0x100, 0x1100, 1, false },
	{ 0x1000, 0x100, 0x1101, 0, false },
	{ 0x1000, 0x100, 0x1001, U64_MAX, false },
	{ 0x1000, 0x100, 0x1001, U64_MAX - 0x1000, false },
	{ 0x1000, 0x100, U64_MAX, 0x1002, false },
	{ 0x1000, 0x100, U64_MAX - 0xff, 0x1100, false },
	{ 0, 1, 0, 1, true },
	{ 0, 1, U64_MAX, 2, false },
	{ 0, 0, 0, 0, true },
	{ 0, 0, 0, 1, false },
	{ 0x7777, 0, 0x7777, 0, true },
	{ 0x7777, 0, 0x7776, 1, false },
	/* A region that ends with the address space. */
	{ -0x1000ull, 0x1000, -0x1000ull, 0x1000, true },
	{ -0x1000ull, 0x1000, -0x1000ull, 0x1001, false },
	{ -0x1000ull, 0x1000, -1ull, 1, true },
	{ -0x1000ull, 0x1000, -1ull, 2, false },
	{ -0x1000ull, 0x1000, 0, 1, false },
	{ -0x1000ull, 0x1000, 0, 0, false },
	{ -0x1000ull, 0x1000, -0x1001ull, 1, false },
	/* Larger than 32 bits can say. */
	{ 0x100000000, 0x200000001, 0x300000000, 1, true },
	{ 0x100000000, 0x200000001, 0x300000000, 2, false },
	{ 0x100000000, 0x200000001, 0x100000000, 0x200000001, true },
	{ 0, U64_MAX, 0, U64_MAX, true },
	{ 0, U64_MAX, U64_MAX, 0, true },
	{ 0, U64_MAX, U64_MAX, 1, false },
};

static void mr_range_desc(const struct mr_range *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%#llx+%#llx in %#llx+%#llx",
		 p->ask, p->ask_len, p->va, p->len);
}

KUNIT_ARRAY_PARAM(mr_range, ranges, mr_range_desc);

static void mr_covers_range(struct kunit *test)
{
	const struct mr_range *p = test->param_value;
	struct rxe_mr mr = { .va = p->va, .len = p->len };

	KUNIT_EXPECT_EQ(test, rxe_mr_covers(&mr, p->ask, p->ask_len), p->ok);
}

/* ---- keys ---- */

static void drop(struct rxe_mr *mr)
{
	rxe_dereg_mr(&mr->ibmr, NULL);
}

static bool finds(struct rxe_pd *pd, u32 key, int access, u64 va, u64 len)
{
	struct rxe_mr *mr = rxe_mr_get(pd, key, access, va, len);

	if (mr)
		rxe_mr_put(mr);
	return mr;
}

static void mr_key_is_exact(struct kunit *test)
{
	struct rxe_dev *rxe = fake_dev(test);
	struct rxe_pd *pd = fake_pd(test, rxe), *other = fake_pd(test, rxe);
	struct page **pages = fake_pages(test, 1);
	struct rxe_mr *mr = fake_mr(test, pd, pages, 0, 0x5000, 100,
				    IB_ACCESS_LOCAL_WRITE);
	u32 key = mr->key;
	int bit;

	KUNIT_EXPECT_EQ(test, mr->ibmr.lkey, key);
	KUNIT_EXPECT_EQ(test, mr->ibmr.rkey, key);
	KUNIT_EXPECT_NE(test, key >> 8, 0);
	KUNIT_EXPECT_TRUE(test, finds(pd, key, 0, 0x5000, 100));
	KUNIT_EXPECT_FALSE(test, finds(pd, key, 0, 0x5000, 101));
	KUNIT_EXPECT_FALSE(test, finds(other, key, 0, 0x5000, 100));
	KUNIT_EXPECT_FALSE(test, finds(pd, 0, 0, 0x5000, 100));
	for (bit = 0; bit < 32; bit++)
		KUNIT_EXPECT_FALSE(test, finds(pd, key ^ BIT(bit), 0, 0x5000,
					       100));
	drop(mr);
	KUNIT_EXPECT_FALSE(test, finds(pd, key, 0, 0x5000, 100));
	KUNIT_EXPECT_EQ(test, atomic_read(&rxe->num_mr), 0);
}

static void mr_access_is_granted(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct page **pages = fake_pages(test, 1);
	struct rxe_mr *ro = fake_mr(test, pd, pages, 0, 0, 64, 0);
	struct rxe_mr *rr = fake_mr(test, pd, pages, 0, 0, 64,
				    IB_ACCESS_REMOTE_READ);
	struct rxe_mr *rw = fake_mr(test, pd, pages, 0, 0, 64,
				    IB_ACCESS_LOCAL_WRITE |
				    IB_ACCESS_REMOTE_WRITE);

	KUNIT_EXPECT_TRUE(test, finds(pd, ro->key, 0, 0, 64));
	KUNIT_EXPECT_FALSE(test, finds(pd, ro->key, IB_ACCESS_LOCAL_WRITE, 0,
				       64));
	KUNIT_EXPECT_FALSE(test, finds(pd, ro->key, IB_ACCESS_REMOTE_READ, 0,
				       64));
	KUNIT_EXPECT_TRUE(test, finds(pd, rr->key, IB_ACCESS_REMOTE_READ, 0,
				      64));
	KUNIT_EXPECT_FALSE(test, finds(pd, rr->key, IB_ACCESS_REMOTE_WRITE, 0,
				       64));
	KUNIT_EXPECT_TRUE(test, finds(pd, rw->key, IB_ACCESS_REMOTE_WRITE, 0,
				      64));
	KUNIT_EXPECT_FALSE(test, finds(pd, rw->key, IB_ACCESS_REMOTE_READ, 0,
				       64));
	KUNIT_EXPECT_TRUE(test, finds(pd, rw->key, 0, 0, 64));
	drop(ro);
	drop(rr);
	drop(rw);
}

/* Some drivers run out of keys after 65,536 registrations. */
static void mr_keys_do_not_run_out(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	u32 last = 0;
	int i;

	for (i = 0; i < 70000; i++) {
		struct rxe_mr *mr = rxe_mr_alloc(pd, 0);

		if (IS_ERR(mr))
			break;
		/* No index comes twice in a row, so no stale key works. */
		if (mr->key >> 8 == last >> 8 ||
		    (last && finds(pd, last, 0, 0, 0)))
			break;
		last = mr->key;
		rxe_mr_publish(mr);
		drop(mr);
		cond_resched();
	}
	KUNIT_EXPECT_EQ(test, i, 70000);
}

static void mr_number_is_limited(struct kunit *test)
{
	struct rxe_dev *rxe = fake_dev(test);
	struct rxe_pd *pd = fake_pd(test, rxe);
	struct rxe_mr *mr;

	atomic_set(&rxe->num_mr, RXE_MAX_MR);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rxe_mr_alloc(pd, 0)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&rxe->num_mr), RXE_MAX_MR);
	atomic_dec(&rxe->num_mr);
	mr = rxe_mr_alloc(pd, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	rxe_mr_free(mr);
	KUNIT_EXPECT_EQ(test, atomic_read(&rxe->num_mr), RXE_MAX_MR - 1);
}

static void mr_registration_is_checked(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct ib_umem umem = { .length = 4096 };

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR(rxe_reg_umem_mr(&pd->ibpd, &umem, 0,
						IB_ACCESS_ON_DEMAND)));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR(rxe_reg_umem_mr(&pd->ibpd, &umem, 0,
						IB_ZERO_BASED)));
	umem.length = RXE_MAX_MR_SIZE + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(rxe_reg_umem_mr(&pd->ibpd, &umem, 0, 0)));
	umem.length = 4097;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(rxe_reg_umem_mr(&pd->ibpd, &umem, -4096ull,
						0)));
}

/* ---- pieces ---- */

/* Each byte of the region has to come from the page and offset it lies in. */
static void check_pieces(struct kunit *test, const struct rxe_mr *mr,
			 struct page **pages, u32 first)
{
	u64 off;

	for (off = 0; off < mr->len; off += 37) {
		u32 want = min_t(u64, mr->len - off, 10000);
		u32 len = want, at = first + off;
		u32 in_page = at % PAGE_SIZE;
		void *addr = rxe_mr_piece(mr, mr->va + off, &len);

		KUNIT_ASSERT_PTR_EQ(test, addr,
				    page_address(pages[at / PAGE_SIZE]) +
					    in_page);
		KUNIT_ASSERT_EQ(test, len, min_t(u32, want, PAGE_SIZE -
						 in_page));
	}
}

static void mr_pieces_of_pages(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct page **pages = fake_pages(test, 9);
	static const u32 firsts[] = { 0, 1, 2047, 4095 };
	static const u64 vas[] = { 0, 0x7f0000000123, 1, -0x9000ull };
	struct rxe_mr *mr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		mr = fake_mr(test, pd, pages, firsts[i], vas[i],
			     9 * PAGE_SIZE - 2 * firsts[i], 0);
		check_pieces(test, mr, pages, firsts[i]);
		drop(mr);
	}
}

static void mr_neighbours_are_one(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct page *block = alloc_pages(GFP_KERNEL, 3);
	struct page *pages[8];
	struct rxe_mr *mr;
	u32 len, i;

	KUNIT_ASSERT_NOT_NULL(test, block);
	for (i = 0; i < 8; i++)
		pages[i] = block + i;
	mr = fake_mr(test, pd, pages, 100, 0x1000, 8 * PAGE_SIZE - 100, 0);
	KUNIT_EXPECT_EQ(test, mr->num_extents, 1);
	len = 7 * PAGE_SIZE;
	KUNIT_EXPECT_PTR_EQ(test, rxe_mr_piece(mr, 0x1000 + 5000, &len),
			    page_address(block) + 100 + 5000);
	KUNIT_EXPECT_EQ(test, len, 7 * PAGE_SIZE);
	drop(mr);

	/* The second half first: two extents. */
	for (i = 0; i < 8; i++)
		pages[i] = block + (i + 4) % 8;
	mr = fake_mr(test, pd, pages, 0, 0, 8 * PAGE_SIZE, 0);
	KUNIT_EXPECT_EQ(test, mr->num_extents, 2);
	len = 8 * PAGE_SIZE;
	KUNIT_EXPECT_PTR_EQ(test, rxe_mr_piece(mr, 0, &len),
			    page_address(block + 4));
	KUNIT_EXPECT_EQ(test, len, 4 * PAGE_SIZE);
	drop(mr);
	__free_pages(block, 3);
}

static void mr_dma_is_all_memory(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct ib_mr *ibmr = rxe_get_dma_mr(&pd->ibpd, IB_ACCESS_LOCAL_WRITE);
	struct rxe_mr *mr;
	u64 here = (uintptr_t)&mr;
	u32 len = 12345678;

	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	KUNIT_EXPECT_FALSE(test, finds(pd, ibmr->lkey, 0, here, -here));
	KUNIT_EXPECT_FALSE(test, finds(pd, ibmr->lkey, IB_ACCESS_REMOTE_WRITE,
				       here, 8));
	mr = rxe_mr_get(pd, ibmr->lkey, IB_ACCESS_LOCAL_WRITE, here, len);
	KUNIT_ASSERT_NOT_NULL(test, mr);
	KUNIT_EXPECT_PTR_EQ(test, rxe_mr_piece(mr, here, &len), (void *)&mr);
	KUNIT_EXPECT_EQ(test, len, 12345678);
	rxe_mr_put(mr);
	rxe_dereg_mr(ibmr, NULL);
}

/* ---- registration again ---- */

#define RW (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

struct rereg {
	struct work_struct work;
	struct rxe_mr *mr;
	struct rxe_pd *pd;
	u64 virt;
	int access;
	unsigned int times;
	int ret;
	bool done;
};

static void rereg_work(struct work_struct *work)
{
	struct rereg *r = container_of(work, struct rereg, work);
	unsigned int i;

	for (i = 0; i < r->times && !r->ret; i++) {
		r->ret = rxe_rereg_umem_mr(&r->mr->ibmr, NULL, r->virt,
					   r->access, &r->pd->ibpd);
		r->virt ^= 16;
		r->access ^= IB_ACCESS_REMOTE_READ;
	}
	WRITE_ONCE(r->done, true);
}

/*
 * Who uses the region keeps it as it was, and the call waits for them; who looks
 * it up meanwhile finds it, as it was or as it will be.
 */
static void mr_rereg_leaves_no_gap(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct page **pages = fake_pages(test, 1);
	struct rereg r = { .pd = pd, .virt = 0x5010, .times = 1,
			   .access = RW | IB_ACCESS_REMOTE_READ };
	unsigned int misses = 0, ticks = 0;
	struct rxe_mr *used;
	u32 key;

	r.mr = fake_mr(test, pd, pages, 0, 0x5000, 64, RW);
	key = r.mr->key;
	used = rxe_mr_get(pd, key, IB_ACCESS_REMOTE_WRITE, 0x5000, 64);
	KUNIT_ASSERT_PTR_EQ(test, used, r.mr);
	INIT_WORK_ONSTACK(&r.work, rereg_work);
	schedule_work(&r.work);
	while (!finds(pd, key, r.access, 0x5010, 64) && ticks++ < 100) {
		misses += !finds(pd, key, RW, 0x5010, 48);
		schedule_timeout_uninterruptible(1);
	}
	KUNIT_EXPECT_EQ(test, misses, 0);
	KUNIT_EXPECT_LE(test, ticks, 100);
	KUNIT_EXPECT_FALSE(test, finds(pd, key, RW, 0x5000, 64));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(r.done));
	KUNIT_EXPECT_EQ(test, used->va, 0x5000);
	KUNIT_EXPECT_EQ(test, used->access, RW);
	rxe_mr_put(used);
	flush_work(&r.work);
	KUNIT_EXPECT_EQ(test, r.ret, 0);
	KUNIT_EXPECT_TRUE(test, finds(pd, key, RW | IB_ACCESS_REMOTE_READ,
				      0x5010, 64));
	KUNIT_EXPECT_FALSE(test, finds(pd, key, RW, 0x5000, 64));
	check_pieces(test, r.mr, pages, 0);
	drop(r.mr);
	KUNIT_EXPECT_FALSE(test, finds(pd, key, 0, 0x5010, 64));
	destroy_work_on_stack(&r.work);
}

/* What each of its forms grants is never refused. */
static void mr_rereg_under_look_ups(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct page **pages = fake_pages(test, 1);
	struct rereg r = { .pd = pd, .virt = 0x5010, .times = 5000,
			   .access = RW | IB_ACCESS_REMOTE_READ };
	unsigned long n, misses = 0, wrong = 0;

	r.mr = fake_mr(test, pd, pages, 0, 0x5000, 64, RW);
	INIT_WORK_ONSTACK(&r.work, rereg_work);
	queue_work(system_unbound_wq, &r.work);
	for (n = 0; !READ_ONCE(r.done); n++) {
		struct rxe_mr *mr = rxe_mr_get(pd, r.mr->key, RW, 0x5010, 48);
		u32 len = 1;

		if (!mr) {
			misses++;
			continue;
		}
		/* 0x5010 with reading, 0x5000 without, and nothing between. */
		wrong += (mr->va == 0x5010) !=
				 !!(mr->access & IB_ACCESS_REMOTE_READ) ||
			 rxe_mr_piece(mr, 0x5010, &len) !=
				 page_address(pages[0]) + (0x5010 - mr->va);
		rxe_mr_put(mr);
		if (!(n % 64))
			cond_resched();
	}
	flush_work(&r.work);
	KUNIT_EXPECT_EQ(test, r.ret, 0);
	KUNIT_EXPECT_EQ(test, misses, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	drop(r.mr);
	destroy_work_on_stack(&r.work);
}

/* PD and rights change together, and what fails changes nothing. */
static void mr_rereg_changes_pd(struct kunit *test)
{
	struct rxe_dev *rxe = fake_dev(test);
	struct rxe_pd *pd = fake_pd(test, rxe), *other = fake_pd(test, rxe);
	struct rxe_mr *mr = fake_mr(test, pd, fake_pages(test, 1), 0, 0x5000,
				    64, RW);

	KUNIT_EXPECT_EQ(test, rxe_rereg_umem_mr(&mr->ibmr, NULL, 0x5000,
						IB_ZERO_BASED, &other->ibpd),
			-EOPNOTSUPP);
	KUNIT_EXPECT_TRUE(test, finds(pd, mr->key, RW, 0x5000, 64));
	KUNIT_EXPECT_FALSE(test, finds(other, mr->key, 0, 0x5000, 64));
	atomic_inc(&mr->num_mw);
	KUNIT_EXPECT_EQ(test, rxe_rereg_umem_mr(&mr->ibmr, NULL, 0x5000, 0,
						&other->ibpd), -EBUSY);
	atomic_dec(&mr->num_mw);
	KUNIT_EXPECT_TRUE(test, finds(pd, mr->key, RW, 0x5000, 64));
	KUNIT_EXPECT_EQ(test, rxe_rereg_umem_mr(&mr->ibmr, NULL, 0x5000, 0,
						&other->ibpd), 0);
	KUNIT_EXPECT_FALSE(test, finds(pd, mr->key, 0, 0x5000, 64));
	KUNIT_EXPECT_FALSE(test, finds(other, mr->key, RW, 0x5000, 64));
	KUNIT_EXPECT_TRUE(test, finds(other, mr->key, 0, 0x5000, 64));
	KUNIT_EXPECT_EQ(test, atomic_read(&mr->num_mw), 0);
	drop(mr);
}

/* ---- the end ---- */

struct dereg {
	struct work_struct work;
	struct rxe_mr *mr;
	bool done;
};

static void dereg_work(struct work_struct *work)
{
	struct dereg *d = container_of(work, struct dereg, work);

	drop(d->mr);
	WRITE_ONCE(d->done, true);
}

static void mr_dereg_waits_for_users(struct kunit *test)
{
	struct rxe_pd *pd = fake_pd(test, fake_dev(test));
	struct page **pages = fake_pages(test, 1);
	struct dereg d = {};
	struct rxe_mr *used;
	u32 key;

	d.mr = fake_mr(test, pd, pages, 0, 0, 64, 0);
	key = d.mr->key;
	used = rxe_mr_get(pd, key, 0, 0, 64);
	KUNIT_ASSERT_PTR_EQ(test, used, d.mr);
	INIT_WORK_ONSTACK(&d.work, dereg_work);
	schedule_work(&d.work);
	while (finds(pd, key, 0, 0, 64))
		schedule_timeout_uninterruptible(1);
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(d.done));
	KUNIT_EXPECT_EQ(test, used->len, 64);
	rxe_mr_put(used);
	flush_work(&d.work);
	KUNIT_EXPECT_TRUE(test, d.done);
	destroy_work_on_stack(&d.work);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE_PARAM(mr_covers_range, mr_range_gen_params),
	KUNIT_CASE(mr_key_is_exact),
	KUNIT_CASE(mr_access_is_granted),
	KUNIT_CASE(mr_keys_do_not_run_out),
	KUNIT_CASE(mr_number_is_limited),
	KUNIT_CASE(mr_registration_is_checked),
	KUNIT_CASE(mr_pieces_of_pages),
	KUNIT_CASE(mr_neighbours_are_one),
	KUNIT_CASE(mr_dma_is_all_memory),
	KUNIT_CASE(mr_rereg_leaves_no_gap),
	KUNIT_CASE(mr_rereg_under_look_ups),
	KUNIT_CASE(mr_rereg_changes_pd),
	KUNIT_CASE(mr_dereg_waits_for_users),
	{}
};

static struct kunit_suite mr_suite = {
	.name = "rxe_mr",
	.test_cases = mr_cases,
};

kunit_test_suite(mr_suite);
