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

/* Slots of eight bytes, each with its number and whose it is. */
static u64 *slot(struct rxe_ring *ring, u32 index)
{
	return rxe_ring_elem(ring, index);
}

static void number_slots(struct rxe_ring *ring, u64 whose)
{
	u32 i;

	for (i = 0; i <= ring->mask; i++)
		*slot(ring, i) = whose << 32 | i;
}

/* Nothing but @count slots of @to from 0 on has changed, and they are @from's. */
static bool moved(struct rxe_ring *from, u32 first, u32 count,
		  struct rxe_ring *to)
{
	u32 i;

	for (i = 0; i <= to->mask; i++)
		if (*slot(to, i) != (i < count ? 1ull << 32 |
						 ((first + i) & from->mask) :
						 2ull << 32 | i))
			return false;
	return true;
}

/* From everywhere in a ring, in pieces of each size. */
static void move_all(struct kunit *test, struct rxe_ring *from,
		     struct rxe_ring *to, u32 count)
{
	u32 first, piece, done;

	for (first = 0; first <= from->mask; first++) {
		for (piece = 1; piece <= count + 1; piece++) {
			struct rxe_move m = {
				.from = from, .first = first, .left = count,
			};

			number_slots(to, 2);
			for (done = 0; m.left; done = min(done + piece, count)) {
				if (!moved(from, first, done, to))
					break;
				rxe_ring_move(&m, to, piece);
			}
			KUNIT_EXPECT_TRUE_MSG(test, moved(from, first, count, to),
					      "%u from %u of %u to %u, %u at once",
					      count, first, from->mask, to->mask,
					      piece);
			KUNIT_EXPECT_EQ(test, done, count);
			/* There is nothing more. */
			rxe_ring_move(&m, to, U32_MAX);
			KUNIT_EXPECT_TRUE(test, moved(from, first, count, to));
		}
	}
}

static void ring_moves(struct kunit *test)
{
	u32 from_room, to_room, count;

	for (from_room = 1; from_room <= 15; from_room = 2 * from_room + 1) {
		struct rxe_ring *from = rxe_ring_alloc(from_room, 8);

		KUNIT_ASSERT_NOT_NULL(test, from);
		number_slots(from, 1);
		for (to_room = 1; to_room <= 31; to_room = 2 * to_room + 1) {
			struct rxe_ring *to = rxe_ring_alloc(to_room, 8);

			KUNIT_ASSERT_NOT_NULL(test, to);
			for (count = 0; count <= min(from_room, to_room); count++)
				move_all(test, from, to, count);
			rxe_ring_put(to);
		}
		rxe_ring_put(from);
	}
}

/* No more at once than takes some microseconds, however large they are. */
static void ring_moves_a_piece(struct kunit *test)
{
	static const u32 elem_sizes[] = { 8, 64, 1000, PAGE_SIZE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(elem_sizes); i++) {
		struct rxe_ring *ring = rxe_ring_alloc(4, elem_sizes[i]);
		struct rxe_move m = { .from = ring, .left = 10000 };
		u32 pieces = 1;

		KUNIT_ASSERT_NOT_NULL(test, ring);
		while (rxe_ring_move_piece(&m, ring))
			pieces++;
		KUNIT_EXPECT_EQ(test, m.left, 0);
		KUNIT_EXPECT_EQ(test, pieces,
				DIV_ROUND_UP(10000u << ring->log2_elem, SZ_16K));
		rxe_ring_put(ring);
	}
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
	KUNIT_CASE(ring_moves),
	KUNIT_CASE(ring_moves_a_piece),
	KUNIT_CASE(ring_withdraw_without_offer),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "rxe_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
