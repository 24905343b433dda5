/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What suites of rdma_rxe.ko need around the code under test: a device that
 * was never registered, PDs, regions of pages that the test chose, links.
 *
 * Lifetime: everything ends with the test case.
 */
#ifndef SOFTROCE_TESTS_RXE_FIXTURE_H
#define SOFTROCE_TESTS_RXE_FIXTURE_H

#include <kunit/test.h>
#include "rxe.h"
#include "rxe_mr.h"

struct rxe_dev *fake_dev(struct kunit *test);
struct rxe_pd *fake_pd(struct kunit *test, struct rxe_dev *rxe);

/*
 * A link @name on a netdev of that name, which swallows what is sent; it is up
 * and has @addr, a link-local address.
 */
struct rxe_dev *real_link(struct kunit *test, const char *name,
			  struct in6_addr *addr);

/* @count zeroed pages, no two of them neighbours in the array's order. */
struct page **fake_pages(struct kunit *test, unsigned int count);

/*
 * A region of @len bytes at @va that begins at byte @first of @pages, an
 * extent a page unless pages are neighbours.  The test deregisters it.
 */
struct rxe_mr *fake_mr(struct kunit *test, struct rxe_pd *pd,
		       struct page **pages, u32 first, u64 va, u64 len,
		       int access);

#endif
