// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Scatter/gather lists: every byte once and in order, none that is not ours. */
#include <kunit/test.h>
#include <linux/mm.h>
#include "rxe_fixture.h"

#define NUM_PAGES 4
#define MR_VA 0x10000

struct list_test {
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	struct page **pages;
	struct rxe_mr *mr;
};

/* The byte at offset @i of the region. */
static u8 pattern(u32 i)
{
	return i * 31 + (i >> 8);
}

static int list_init(struct kunit *test)
{
	struct list_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->rxe = fake_dev(test);
	t->pd = fake_pd(test, t->rxe);
	t->pages = fake_pages(test, NUM_PAGES);
	t->mr = fake_mr(test, t->pd, t->pages, 0, MR_VA, NUM_PAGES * PAGE_SIZE,
			IB_ACCESS_REMOTE_READ);
	for (i = 0; i < NUM_PAGES * PAGE_SIZE; i++)
		((u8 *)page_address(t->pages[i / PAGE_SIZE]))[i % PAGE_SIZE] =
			pattern(i);
	return 0;
}

/* Nobody may have kept a reference, or this waits for ever. */
static void list_exit(struct kunit *test)
{
	struct list_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, refcount_read(&t->mr->ref), 1);
	if (refcount_read(&t->mr->ref) == 1)
		rxe_dereg_mr(&t->mr->ibmr, NULL);
}

/* Read from byte @offset on in steps of @step and compare with the lists. */
static void read_list(struct kunit *test, const struct ib_sge *sge, u32 num,
		      u64 offset, u32 step)
{
	struct list_test *t = test->priv;
	struct rxe_cursor c;
	u64 at = 0;
	u32 len, i, j;
	u8 *piece;

	rxe_cursor_init(&c, t->pd, sge, num, 0, offset);
	len = step;
	piece = rxe_cursor_next(&c, &len);
	for (i = 0; i < num; i++) {
		for (j = 0; j < sge[i].length; j++, at++) {
			if (at < offset)
				continue;
			KUNIT_ASSERT_NOT_NULL(test, piece);
			KUNIT_ASSERT_EQ(test, *piece,
					pattern(sge[i].addr - MR_VA + j));
			piece++;
			if (--len)
				continue;
			len = step;
			piece = rxe_cursor_next(&c, &len);
			if (piece) {
				KUNIT_ASSERT_NE(test, len, 0);
				KUNIT_ASSERT_LE(test, len, step);
			}
		}
	}
	KUNIT_EXPECT_NULL(test, piece);
	rxe_cursor_end(&c);
}

static void list_every_byte(struct kunit *test)
{
	struct list_test *t = test->priv;
	u32 key = t->mr->key;
	const struct ib_sge sge[] = {
		{ MR_VA + 3, 0, key },
		{ MR_VA + 4090, 13, key },
		{ MR_VA, 1, key },
		{ MR_VA + 77, 0, 0xbad },
		{ MR_VA + 100, 9001, key },
		{ MR_VA + 2 * PAGE_SIZE, PAGE_SIZE, key },
		{ MR_VA + NUM_PAGES * PAGE_SIZE - 1, 1, key },
		{ MR_VA + 5, 0, key },
	};
	static const u32 steps[] = { 1, 7, 256, 1024, 4096, 1 << 20 };
	static const u64 offsets[] = { 0, 1, 12, 13, 14, 15, 4000, 9014, 9015,
				       9016, 13110, 13111, 13112 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		for (j = 0; j < ARRAY_SIZE(offsets); j++)
			read_list(test, sge, ARRAY_SIZE(sge), offsets[j],
				  steps[i]);
}

static void list_ends(struct kunit *test)
{
	struct list_test *t = test->priv;
	const struct ib_sge sge[] = {
		{ MR_VA, 10, t->mr->key },
		{ MR_VA, 0xffffffff, t->mr->key },
		{ MR_VA, 0xffffffff, t->mr->key },
	};

	read_list(test, NULL, 0, 0, 10);
	read_list(test, NULL, 0, 7, 10);
	read_list(test, sge, 1, 10, 10);
	read_list(test, sge, 1, 11, 10);
	read_list(test, sge, 1, U64_MAX, 10);
}

/* Lengths whose sum does not fit into 32 bits. */
static void list_longer_than_32_bits(struct kunit *test)
{
	struct list_test *t = test->priv;
	const struct ib_sge sge[] = {
		{ MR_VA, 0xffffffff, t->mr->key },
		{ MR_VA, 0xffffffff, t->mr->key },
		{ MR_VA + 99, 5, t->mr->key },
	};
	struct rxe_cursor c;
	u32 len = 100;
	u8 *piece;

	rxe_cursor_init(&c, t->pd, sge, 3, 0, 2 * 0xffffffffull + 2);
	piece = rxe_cursor_next(&c, &len);
	KUNIT_ASSERT_NOT_NULL(test, piece);
	KUNIT_EXPECT_EQ(test, len, 3);
	KUNIT_EXPECT_EQ(test, *piece, pattern(101));
	rxe_cursor_end(&c);
}

/* Of an entry that reaches beyond its region, what lies inside can be used. */
static void list_stops_at_region(struct kunit *test)
{
	struct list_test *t = test->priv;
	struct ib_sge sge = {
		MR_VA + NUM_PAGES * PAGE_SIZE - 10, 20, t->mr->key
	};
	struct rxe_cursor c;
	u32 len = 10;

	rxe_cursor_init(&c, t->pd, &sge, 1, 0, 0);
	KUNIT_EXPECT_NOT_NULL(test, rxe_cursor_next(&c, &len));
	len = 1;
	KUNIT_EXPECT_NULL(test, rxe_cursor_next(&c, &len));
	rxe_cursor_end(&c);

	len = 11;
	rxe_cursor_init(&c, t->pd, &sge, 1, 0, 0);
	KUNIT_EXPECT_NULL(test, rxe_cursor_next(&c, &len));
	rxe_cursor_end(&c);

	len = 1;
	rxe_cursor_init(&c, t->pd, &sge, 1, 0, 10);
	KUNIT_EXPECT_NULL(test, rxe_cursor_next(&c, &len));
	rxe_cursor_end(&c);
}

static void expect_refused(struct kunit *test, struct ib_sge sge, int access,
			   struct rxe_pd *pd, u64 offset)
{
	struct rxe_cursor c;
	u32 len = 1;

	rxe_cursor_init(&c, pd, &sge, 1, access, offset);
	KUNIT_EXPECT_NULL(test, rxe_cursor_next(&c, &len));
	rxe_cursor_end(&c);
}

static void list_refuses(struct kunit *test)
{
	struct list_test *t = test->priv;
	struct ib_sge sge = { MR_VA, 16, t->mr->key };
	struct ib_sge bad = sge;

	expect_refused(test, sge, IB_ACCESS_LOCAL_WRITE, t->pd, 0);
	expect_refused(test, sge, 0, fake_pd(test, t->rxe), 0);
	bad.lkey ^= 1;
	expect_refused(test, bad, 0, t->pd, 0);
	bad.lkey ^= 1 ^ 0x100;
	expect_refused(test, bad, 0, t->pd, 0);
	bad = sge;
	bad.addr = MR_VA - 1;
	expect_refused(test, bad, 0, t->pd, 0);
	/* An address that wraps around into the region. */
	bad.addr = -0x1000ull;
	bad.length = 0x20000;
	expect_refused(test, bad, 0, t->pd, 0x1000 + MR_VA);
}

static void list_inline(struct kunit *test)
{
	static const u8 data[] = "inline data";
	struct rxe_cursor c;
	u32 len = 3;

	rxe_cursor_init_inline(&c, data, 2);
	KUNIT_EXPECT_PTR_EQ(test, rxe_cursor_next(&c, &len),
			    (void *)(data + 2));
	KUNIT_EXPECT_EQ(test, len, 3);
	len = 4;
	KUNIT_EXPECT_PTR_EQ(test, rxe_cursor_next(&c, &len),
			    (void *)(data + 5));
	rxe_cursor_end(&c);
}

static struct kunit_case list_cases[] = {
	KUNIT_CASE(list_every_byte),
	KUNIT_CASE(list_ends),
	KUNIT_CASE(list_longer_than_32_bits),
	KUNIT_CASE(list_stops_at_region),
	KUNIT_CASE(list_refuses),
	KUNIT_CASE(list_inline),
	{}
};

static struct kunit_suite list_suite = {
	.name = "rxe_cursor",
	.init = list_init,
	.exit = list_exit,
	.test_cases = list_cases,
};

kunit_test_suite(list_suite);
