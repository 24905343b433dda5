// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* PSN arithmetic, above all where 24 bits wrap. */
#include <kunit/test.h>
#include "rxe_psn.h"

struct psn_case {
	u32 a;
	u32 b;
	s32 diff;	/* how far a is ahead of b */
};

static const struct psn_case psn_cases[] = {
	{ 0, 0, 0 },
	{ 1, 0, 1 },
	{ 0, 1, -1 },
	{ 0xffffff, 0xffffff, 0 },
	{ 0, 0xffffff, 1 },
	{ 0xffffff, 0, -1 },
	{ 5, 0xfffffb, 10 },
	{ 0xfffffb, 5, -10 },
	{ 0x7fffff, 0, 0x7fffff },
	{ 0, 0x7fffff, -0x7fffff },
	{ 0x800000, 0, -0x800000 },
	{ 0, 0x800000, -0x800000 },
	{ 0x800000, 1, 0x7fffff },
	{ 0x7ffffe, 0xffffff, 0x7fffff },
	{ 0x7fffff, 0xffffff, -0x800000 },
	{ 0x123456, 0x123455, 1 },
};

static void psn_desc(const struct psn_case *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%#x - %#x", p->a, p->b);
}

KUNIT_ARRAY_PARAM(psn, psn_cases, psn_desc);

static void psn_distance(struct kunit *test)
{
	const struct psn_case *p = test->param_value;

	KUNIT_EXPECT_EQ(test, rxe_psn_diff(p->a, p->b), p->diff);
	/* Bits beyond the 24 do not count. */
	KUNIT_EXPECT_EQ(test, rxe_psn_diff(p->a | 0xab000000, p->b), p->diff);
	KUNIT_EXPECT_EQ(test, rxe_psn_diff(p->a, p->b | 0x01000000), p->diff);
	/* Going the distance arrives. */
	KUNIT_EXPECT_EQ(test, rxe_psn_add(p->b, p->diff), p->a);
}

static void psn_addition(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rxe_psn_add(0, 0), 0);
	KUNIT_EXPECT_EQ(test, rxe_psn_add(0xffffff, 1), 0);
	KUNIT_EXPECT_EQ(test, rxe_psn_add(0xfffff0, 0x20), 0x10);
	KUNIT_EXPECT_EQ(test, rxe_psn_add(0, -1), 0xffffff);
	KUNIT_EXPECT_EQ(test, rxe_psn_add(5, -6), 0xffffff);
	KUNIT_EXPECT_EQ(test, rxe_psn_add(0x800000, 0x800000), 0);
}

/* In a window around the wrap, order is that of the steps. */
static void psn_order_over_the_wrap(struct kunit *test)
{
	const u32 first = 0xffff80;
	int i, j;

	for (i = 0; i < 256; i++)
		for (j = 0; j < 256; j++)
			KUNIT_EXPECT_EQ(test,
					rxe_psn_diff(rxe_psn_add(first, i),
						     rxe_psn_add(first, j)),
					i - j);
}

static struct kunit_case psn_tests[] = {
	KUNIT_CASE_PARAM(psn_distance, psn_gen_params),
	KUNIT_CASE(psn_addition),
	KUNIT_CASE(psn_order_over_the_wrap),
	{}
};

static struct kunit_suite psn_suite = {
	.name = "rxe_psn",
	.test_cases = psn_tests,
};

kunit_test_suite(psn_suite);
