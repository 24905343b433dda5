// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Shared rings: their size, and that no index a program writes leads out of
 * them.
 */
#include <kunit/test.h>
#include "rxe_ring.h"

struct ring_size {
	u32 count;
	u32 elem_size;
	u32 mask;
	u32 log2_elem;
	size_t size;
};

/* By hand: header 384 bytes, then (mask + 1) << log2_elem, in pages of 4096. */
static const struct ring_size sizes[] = {
	{ 0, 1, 0, 0, 4096 },
	{ 1, 48, 1, 6, 4096 },
	{ 2, 64, 3, 6, 4096 },
	{ 3, 65, 3, 7, 4096 },
	{ 4, 128, 7, 7, 4096 },
	{ 28, 128, 31, 7, 8192 },
	{ 57, 64, 63, 6, 8192 },
	{ 65536, 672, 131071, 10, 134221824 },
	{ (1 << 20) - 1, 64, (1 << 20) - 1, 6, 67112960 },
	{ 1, 4096, 1, 12, 12288 },
};

static void ring_size_desc(const struct ring_size *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u elements of %u bytes",
		 p->count, p->elem_size);
}

KUNIT_ARRAY_PARAM(ring_size, sizes, ring_size_desc);

static void ring_has_room(struct kunit *test)
{
	const struct ring_size *p = test->param_value;
	struct rxe_ring *ring = rxe_ring_alloc(p->count, p->elem_size);

	if (!ring && p->size > SZ_32M)
		kunit_skip(test, "not enough memory here");
	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_EXPECT_EQ(test, ring->mask, p->mask);
	KUNIT_EXPECT_EQ(test, ring->log2_elem, p->log2_elem);
	KUNIT_EXPECT_EQ(test, ring->size, p->size);
	KUNIT_EXPECT_GE(test, rxe_ring_capacity(ring), p->count);
	KUNIT_EXPECT_EQ(test, ring->buf->index_mask, p->mask);
	KUNIT_EXPECT_EQ(test, ring->buf->log2_elem_size, p->log2_elem);
	rxe_ring_put(ring);
}

static void ring_refuses_sizes(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, rxe_ring_alloc(1, 0));
	KUNIT_EXPECT_NULL(test, rxe_ring_alloc(1, PAGE_SIZE + 1));
	KUNIT_EXPECT_NULL(test, rxe_ring_alloc(1u << 30, 64));
	KUNIT_EXPECT_NULL(test, rxe_ring_alloc(U32_MAX, 64));
}

/* What a program may have written into its indexes. */
static const u32 lies[] = {
	0, 1, 6, 7, 8, 9, 15, 16, 0x7fffffff, 0x80000000, 0x80000001,
	0xfffffff8, 0xffffffff,
};

static void ring_masks_program_index(struct kunit *test)
{
	struct rxe_ring *ring = rxe_ring_alloc(7, 64);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		ring->buf->producer_index = lies[i];
		ring->buf->consumer_index = ~lies[i];
		KUNIT_EXPECT_EQ(test, rxe_ring_producer(ring), lies[i] % 8);
		KUNIT_EXPECT_EQ(test, rxe_ring_consumer(ring), ~lies[i] % 8);
	}
	rxe_ring_put(ring);
}

static void ring_element_is_inside(struct kunit *test)
{
	struct rxe_ring *ring = rxe_ring_alloc(7, 100);
	u8 *begin, *end, *elem;
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	/* The program may change what the header says. */
	ring->buf->index_mask = U32_MAX;
	ring->buf->log2_elem_size = 31;
	begin = ring->buf->data;
	end = (u8 *)ring->buf + ring->size;
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		elem = rxe_ring_elem(ring, lies[i]);
		KUNIT_EXPECT_PTR_EQ(test, elem, begin + lies[i] % 8 * 128);
		KUNIT_EXPECT_TRUE(test, elem + 128 <= end);
		/* Also one that the sanitizer looks at. */
		memset(elem, 0x5a, 128);
	}
	rxe_ring_put(ring);
}

static void ring_keeps_own_index(struct kunit *test)
{
	struct rxe_ring *ring = rxe_ring_alloc(3, 64);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, ring->index, i % 4);
		rxe_ring_set_producer(ring, ring->index + 1);
		KUNIT_EXPECT_EQ(test, ring->buf->producer_index, (i + 1) % 4);
		ring->buf->producer_index = 0xdeadbeef;
	}
	ring->index = 0;
	for (i = 0; i < 10; i++) {
		rxe_ring_set_consumer(ring, ring->index + 1);
		KUNIT_EXPECT_EQ(test, ring->buf->consumer_index, (i + 1) % 4);
		ring->buf->consumer_index = 0xdeadbeef;
	}
	rxe_ring_put(ring);
}

static void ring_withdraw_without_offer(struct kunit *test)
{
	struct rxe_ring *ring = rxe_ring_alloc(3, 64);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	rxe_ring_withdraw(ring);
	rxe_ring_withdraw(NULL);
	KUNIT_EXPECT_EQ(test, kref_read(&ring->ref), 1);
	rxe_ring_put(ring);
	rxe_ring_put(NULL);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE_PARAM(ring_has_room, ring_size_gen_params),
	KUNIT_CASE(ring_refuses_sizes),
	KUNIT_CASE(ring_masks_program_index),
	KUNIT_CASE(ring_element_is_inside),
	KUNIT_CASE(ring_keeps_own_index),
	KUNIT_CASE(ring_withdraw_without_offer),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "rxe_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
