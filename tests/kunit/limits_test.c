// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What programs may take: numbers of objects, and memory of a size they choose. */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "rxe.h"

static void the_last_are_kept(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rxe_object_limit(160, true), 160);
	KUNIT_EXPECT_EQ(test, rxe_object_limit(160, false), 150);
	KUNIT_EXPECT_EQ(test, rxe_object_limit(15, false), 15);
	KUNIT_EXPECT_EQ(test, rxe_object_limit(RXE_MAX_UCONTEXT, false), 61440);
}

/* How many of @max there can be from here on. */
static int count_all(atomic_t *count, int max)
{
	int made = 0;

	while (made <= max && !rxe_count_object(count, max))
		made++;
	return made;
}

static void root_has_all(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);

	KUNIT_EXPECT_EQ(test, count_all(&count, 32), 32);
	KUNIT_EXPECT_EQ(test, rxe_count_object(&count, 32), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 32);
	atomic_dec(&count);
	KUNIT_EXPECT_EQ(test, rxe_count_object(&count, 32), 0);
}

static void others_leave_some(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	const struct cred *old;
	struct cred *plain;

	plain = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, plain);
	cap_lower(plain->cap_effective, CAP_SYS_RESOURCE);
	old = override_creds(plain);
	KUNIT_EXPECT_EQ(test, count_all(&count, 32), 30);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 30);
	revert_creds(old);
	put_cred(plain);
	KUNIT_EXPECT_EQ(test, count_all(&count, 32), 2);
}

static void memory_of_any_size(struct kunit *test)
{
	static const size_t sizes[] = { 1, PAGE_SIZE, 9 * PAGE_SIZE, SZ_4M + 1 };
	unsigned int i;
	void *mem;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		mem = rxe_alloc_sized(sizes[i], 1, __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, mem);
		KUNIT_EXPECT_NULL(test, memchr_inv(mem, 0, sizes[i]));
		kvfree(mem);
	}
}

/* A region of no bytes has an array of none. */
static void memory_of_no_size(struct kunit *test)
{
	void *mem = rxe_alloc_sized(0, 16, 0);

	KUNIT_EXPECT_NOT_NULL(test, mem);
	kvfree(mem);
}

static void memory_that_is_not_there(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, rxe_alloc_sized(SIZE_MAX / 2, 3, 0));
	KUNIT_EXPECT_NULL(test, rxe_alloc_sized(1ul << 40, 1, 0));
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(the_last_are_kept),
	KUNIT_CASE(root_has_all),
	KUNIT_CASE(others_leave_some),
	KUNIT_CASE(memory_of_any_size),
	KUNIT_CASE(memory_of_no_size),
	KUNIT_CASE(memory_that_is_not_there),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "rxe_limits",
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);
