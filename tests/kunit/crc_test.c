// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Every CRC engine against the definition: a bit at a time, over all lengths,
 * offsets and seeds that could fall differently into an engine's blocks.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include "rxe_crc.h"

#define MAX_LEN 4200
#define OFFSETS 17

/* x^32 + x^26 + ... + 1 with the bits of each byte in reverse order. */
static u32 slow_crc(u32 crc, const u8 *data, u32 len)
{
	int bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

static u8 *some_bytes(struct kunit *test)
{
	u8 *bytes = kunit_kmalloc(test, MAX_LEN + OFFSETS, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (i = 0; i < MAX_LEN + OFFSETS; i++)
		bytes[i] = i * i + 13 * i + (i >> 8);
	return bytes;
}

static void engine_is_right(struct kunit *test)
{
	const u32 seeds[] = { 0, ~0, 0x12345678 };
	u32 seed, at, len, want;
	u8 *bytes = some_bytes(test);

	for (seed = 0; seed < ARRAY_SIZE(seeds); seed++) {
		for (at = 0; at < OFFSETS; at++) {
			want = seeds[seed];
			for (len = 0; len < MAX_LEN; len++) {
				if (rxe_crc32(seeds[seed], bytes + at, len) !=
				    want)
					break;
				want = slow_crc(want, bytes + at + len, 1);
			}
			KUNIT_EXPECT_EQ_MSG(test, len, MAX_LEN,
					    "seed %x, offset %u",
					    seeds[seed], at);
		}
	}
}

static void crc_table(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, rxe_crc_choose("table"), 0);
	engine_is_right(test);
	KUNIT_EXPECT_EQ(test, rxe_crc_choose("auto"), 0);
}

static void crc_pclmul(struct kunit *test)
{
	if (rxe_crc_choose("pclmul"))
		kunit_skip(test, "this machine has no crc32-pclmul");
	engine_is_right(test);
	KUNIT_EXPECT_EQ(test, rxe_crc_choose("auto"), 0);
}

static void crc_names(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rxe_crc_choose(""), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_crc_choose("pclmulx"), -EINVAL);
	KUNIT_EXPECT_EQ(test, rxe_crc_choose("table\n"), 0);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&rxe_crc_folds));
	KUNIT_EXPECT_EQ(test, rxe_crc_choose("auto"), 0);
}

static struct kunit_case crc_tests[] = {
	KUNIT_CASE(crc_table),
	KUNIT_CASE(crc_pclmul),
	KUNIT_CASE(crc_names),
	{}
};

static struct kunit_suite crc_suite = {
	.name = "rxe_crc",
	.test_cases = crc_tests,
};

kunit_test_suite(crc_suite);
