// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fast registration: what is mapped, what is in force, and that a list in force
 * does not change under who uses it.
 */
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include "rxe_fixture.h"

#define REMOTE (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define MAX_SG 4

struct fast {
	struct kunit *test;
	struct rxe_pd *pd;
	struct page **pages;
	struct rxe_mr *mr;
};

static void start(struct kunit *test, struct fast *f)
{
	struct ib_mr *ibmr;

	f->test = test;
	f->pd = fake_pd(test, fake_dev(test));
	f->pages = fake_pages(test, 8);
	ibmr = rxe_alloc_mr(&f->pd->ibpd, IB_MR_TYPE_MEM_REG, MAX_SG);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ibmr));
	f->mr = container_of(ibmr, struct rxe_mr, ibmr);
}

static void end(struct fast *f)
{
	KUNIT_EXPECT_EQ(f->test, rxe_dereg_mr(&f->mr->ibmr, NULL), 0);
}

struct piece {
	u32 off;
	u32 len;
};

/* A list with a piece of each page from @first on, as ib_dma_map_sg() leaves it. */
static int map(struct fast *f, u32 first, const struct piece *piece, int num,
	       unsigned int *offset)
{
	struct scatterlist sg[8];
	int i;

	KUNIT_ASSERT_LE(f->test, num, 8);
	sg_init_table(sg, num);
	for (i = 0; i < num; i++) {
		sg_set_page(&sg[i], f->pages[first + i], piece[i].len,
			    piece[i].off);
		sg_dma_address(&sg[i]) = (uintptr_t)sg_virt(&sg[i]);
		sg_dma_len(&sg[i]) = piece[i].len;
	}
	return rxe_map_mr_sg(&f->mr->ibmr, sg, num, offset);
}

static bool found(struct fast *f, u32 key, int access, u64 va, u64 len)
{
	struct rxe_mr *mr = rxe_mr_get(f->pd, key, access, va, len);

	if (mr)
		rxe_mr_put(mr);
	return mr;
}

static void fast_pieces_are_in_order(struct kunit *test)
{
	static const struct piece pieces[] = {
		{ 100, 7 }, { 0, 1 }, { 4095, 1 }, { 2048, 2048 },
	};
	struct rxe_mr *mr;
	struct fast f;
	u64 va;
	u32 i, off = 0;

	start(test, &f);
	KUNIT_ASSERT_EQ(test, map(&f, 0, pieces, 4, NULL), 4);
	KUNIT_EXPECT_EQ(test, f.mr->ibmr.length, 7 + 1 + 1 + 2048);
	va = f.mr->ibmr.iova;
	KUNIT_ASSERT_EQ(test, 0, rxe_mr_enforce(f.pd, f.mr, f.mr->key, REMOTE));
	mr = rxe_mr_get(f.pd, f.mr->key, REMOTE, va, 2057);
	KUNIT_ASSERT_PTR_EQ(test, mr, f.mr);
	for (i = 0; i < 4; i++) {
		u32 len = 2057 - off;

		KUNIT_EXPECT_PTR_EQ(test, rxe_mr_piece(mr, va + off, &len),
				    page_address(f.pages[i]) + pieces[i].off);
		KUNIT_EXPECT_EQ(test, len, pieces[i].len);
		off += pieces[i].len;
	}
	rxe_mr_put(mr);
	KUNIT_EXPECT_FALSE(test, found(&f, mr->key, 0, va, 2058));
	KUNIT_EXPECT_FALSE(test, found(&f, mr->key, 0, va - 1, 1));
	end(&f);
}

/* No more than there is room for, from an offset in the first. */
static void fast_map_tells_how_many(struct kunit *test)
{
	static const struct piece pieces[] = {
		{ 0, 10 }, { 0, 10 }, { 0, 10 }, { 0, 10 }, { 0, 10 }, { 0, 10 },
	};
	unsigned int offset = 3;
	struct fast f;

	start(test, &f);
	KUNIT_EXPECT_EQ(test, map(&f, 0, pieces, 6, &offset), MAX_SG);
	KUNIT_EXPECT_EQ(test, f.mr->ibmr.length, 37);
	KUNIT_EXPECT_EQ(test, f.mr->ibmr.iova,
			(uintptr_t)page_address(f.pages[0]) + 3);
	KUNIT_EXPECT_EQ(test, offset, 0);
	offset = 10;
	KUNIT_EXPECT_EQ(test, map(&f, 0, pieces, 6, &offset), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_map_mr_sg(&f.mr->ibmr, NULL, 0, NULL), -EINVAL);
	end(&f);
}

/* Neighbours in memory are one entry: they take the room of one. */
static void fast_neighbours_are_one(struct kunit *test)
{
	struct page *block = alloc_pages(GFP_KERNEL, 3);
	struct page *pages[8];
	static const struct piece pieces[] = {
		{ 8, 4088 }, { 0, 4096 }, { 0, 4096 }, { 0, 4096 },
		{ 0, 4096 }, { 0, 4096 }, { 0, 4096 }, { 0, 96 },
	};
	struct fast f;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, block);
	for (i = 0; i < 8; i++)
		pages[i] = block + i;
	start(test, &f);
	f.pages = pages;
	KUNIT_EXPECT_EQ(test, map(&f, 0, pieces, 8, NULL), 8);
	KUNIT_EXPECT_EQ(test, f.mr->num_next, 1);
	end(&f);
	__free_pages(block, 3);
}

static void fast_is_checked(struct kunit *test)
{
	static const struct piece piece = { 0, 64 };
	struct rxe_pd *other;
	struct ib_mr *ibmr;
	struct fast f;
	u32 key;

	start(test, &f);
	key = f.mr->key;
	ibmr = rxe_alloc_mr(&f.pd->ibpd, IB_MR_TYPE_INTEGRITY, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ibmr), -EOPNOTSUPP);
	ibmr = rxe_alloc_mr(&f.pd->ibpd, IB_MR_TYPE_MEM_REG, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ibmr), -EINVAL);
	ibmr = rxe_alloc_mr(&f.pd->ibpd, IB_MR_TYPE_MEM_REG,
			    RXE_MAX_FAST_REG + 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ibmr), -EINVAL);

	/* Nothing is mapped. */
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, key, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, key, false), -EINVAL);
	map(&f, 0, &piece, 1, NULL);
	/* The index is not the consumer's to choose. */
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, key + 0x100, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, key, 1 << 19), -EINVAL);
	other = fake_pd(test, to_rxe(f.pd->ibpd.device));
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(other, f.mr, key, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, key, 0), 0);
	/* In force is in force. */
	map(&f, 1, &piece, 1, NULL);
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, key, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(other, key, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, key ^ 1, false), -EINVAL);
	/* A peer ends what peers can use. */
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, key, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, key, false), 0);
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, key, false), -EINVAL);
	end(&f);
}

/* C02: round after round, each under another key. */
static void fast_rounds(struct kunit *test)
{
	static const struct piece piece = { 64, 128 };
	struct fast f;
	u32 old = 0, key;
	int i;

	start(test, &f);
	key = f.mr->key;
	for (i = 0; i < 1000; i++) {
		struct rxe_mr *mr;
		u32 len = 128;
		u64 va;

		key = (key & ~0xffu) | ((key + 1) & 0xff);
		KUNIT_ASSERT_EQ(test, map(&f, i % 8, &piece, 1, NULL), 1);
		va = f.mr->ibmr.iova;
		KUNIT_ASSERT_EQ(test, 0,
				rxe_mr_enforce(f.pd, f.mr, key, REMOTE));
		KUNIT_ASSERT_FALSE(test, found(&f, old, 0, va, 1));
		mr = rxe_mr_get(f.pd, key, REMOTE, va, 128);
		KUNIT_ASSERT_PTR_EQ(test, mr, f.mr);
		KUNIT_ASSERT_PTR_EQ(test, rxe_mr_piece(mr, va, &len),
				    page_address(f.pages[i % 8]) + 64);
		rxe_mr_put(mr);
		KUNIT_ASSERT_EQ(test, 0, rxe_mr_invalidate(f.pd, key, i & 1));
		KUNIT_ASSERT_FALSE(test, found(&f, key, 0, va, 1));
		old = key;
	}
	end(&f);
}

/* Mapping the next list changes nothing of the one in force. */
static void fast_in_force_stays(struct kunit *test)
{
	static const struct piece one = { 0, 64 }, two[] = { { 5, 5 }, { 7, 7 } };
	struct rxe_mr *user;
	struct fast f;
	u32 len = 64;
	u64 va;

	start(test, &f);
	map(&f, 0, &one, 1, NULL);
	va = f.mr->ibmr.iova;
	rxe_mr_enforce(f.pd, f.mr, f.mr->key, REMOTE);
	user = rxe_mr_get(f.pd, f.mr->key, REMOTE, va, 64);
	KUNIT_ASSERT_NOT_NULL(test, user);
	map(&f, 3, two, 2, NULL);
	KUNIT_EXPECT_PTR_EQ(test, rxe_mr_piece(user, va, &len),
			    page_address(f.pages[0]));
	KUNIT_EXPECT_EQ(test, len, 64);
	/* It ends at once for who comes, and later for who is there. */
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, f.mr->key, false), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, found(&f, f.mr->key, REMOTE, va, 1));
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, f.mr->key, false), -EAGAIN);
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, f.mr->key, REMOTE),
			-EAGAIN);
	KUNIT_EXPECT_PTR_EQ(test, rxe_mr_piece(user, va + 63, &len),
			    page_address(f.pages[0]) + 63);
	rxe_mr_put(user);
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, f.mr->key, false), 0);
	KUNIT_EXPECT_EQ(test, rxe_mr_enforce(f.pd, f.mr, f.mr->key, REMOTE), 0);
	KUNIT_EXPECT_EQ(test, f.mr->len, 12);
	end(&f);
}

/* Without a new list it is the old one; never closed by who is too late. */
static void fast_same_list_again(struct kunit *test)
{
	static const struct piece piece = { 16, 64 };
	struct rxe_mr *mr;
	struct fast f;
	u32 key, len = 64;
	int i;

	start(test, &f);
	map(&f, 2, &piece, 1, NULL);
	key = f.mr->key;
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, 0,
				rxe_mr_enforce(f.pd, f.mr, key, REMOTE));
		mr = rxe_mr_get(f.pd, key, REMOTE, f.mr->ibmr.iova, 64);
		KUNIT_ASSERT_PTR_EQ(test, mr, f.mr);
		KUNIT_EXPECT_PTR_EQ(test,
				    rxe_mr_piece(mr, f.mr->ibmr.iova, &len),
				    page_address(f.pages[2]) + 16);
		rxe_mr_put(mr);
		/* The key before this one. */
		KUNIT_EXPECT_EQ(test, -EINVAL,
				rxe_mr_invalidate(f.pd, key ^ 1, i & 1));
		KUNIT_EXPECT_EQ(test, 0, rxe_mr_invalidate(f.pd, key, i & 1));
		key ^= 1;
	}
	end(&f);
}

/*
 * Deregistered after the peer's invalidation looked it up: the table's reference
 * has gone as well, and there is nobody to wait for.
 */
static void fast_ends_while_it_is_deregistered(struct kunit *test)
{
	static const struct piece piece = { 0, 64 };
	struct fast f;

	start(test, &f);
	KUNIT_ASSERT_EQ(test, map(&f, 0, &piece, 1, NULL), 1);
	KUNIT_ASSERT_EQ(test, 0, rxe_mr_enforce(f.pd, f.mr, f.mr->key, REMOTE));
	rxe_mr_put(f.mr);
	/* The peer's would try again for as long as this asks to. */
	KUNIT_EXPECT_EQ(test, rxe_mr_invalidate(f.pd, f.mr->key, false), 0);
	reinit_completion(&f.mr->unused);
	refcount_set(&f.mr->ref, 1);
	end(&f);
}

static struct kunit_case fast_cases[] = {
	KUNIT_CASE(fast_pieces_are_in_order),
	KUNIT_CASE(fast_map_tells_how_many),
	KUNIT_CASE(fast_neighbours_are_one),
	KUNIT_CASE(fast_is_checked),
	KUNIT_CASE(fast_rounds),
	KUNIT_CASE(fast_in_force_stays),
	KUNIT_CASE(fast_same_list_again),
	KUNIT_CASE(fast_ends_while_it_is_deregistered),
	{}
};

static struct kunit_suite fast_suite = {
	.name = "rxe_mr_fast",
	.test_cases = fast_cases,
};

kunit_test_suite(fast_suite);
