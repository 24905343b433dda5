// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Fixtures of the suites in rdma_rxe.ko. */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/scatterlist.h>
#include "rxe_fixture.h"

static void put_counters(void *counters)
{
	free_percpu((struct rxe_counters __percpu *)counters);
}

struct rxe_dev *fake_dev(struct kunit *test)
{
	struct rxe_dev *rxe = kunit_kzalloc(test, sizeof(*rxe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rxe);
	rxe->ib.num_comp_vectors = 1;
	rxe->counters = alloc_percpu(struct rxe_counters);
	KUNIT_ASSERT_NOT_NULL(test, (void *)rxe->counters);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, put_counters,
						  (void *)rxe->counters));
	return rxe;
}

struct rxe_pd *fake_pd(struct kunit *test, struct rxe_dev *rxe)
{
	struct rxe_pd *pd = kunit_kzalloc(test, sizeof(*pd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	pd->ibpd.device = &rxe->ib;
	return pd;
}

static void put_one_page(void *page)
{
	__free_page(page);
}

struct page **fake_pages(struct kunit *test, unsigned int count)
{
	struct page **pages = kunit_kcalloc(test, count, sizeof(*pages),
					    GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, pages[i]);
		KUNIT_ASSERT_EQ(test, 0,
				kunit_add_action_or_reset(test, put_one_page,
							  pages[i]));
		/* Never one that goes on where the last one ends. */
		if (i && page_to_pfn(pages[i]) == page_to_pfn(pages[i - 1]) + 1)
			swap(pages[i], pages[i - 1]);
	}
	return pages;
}

struct rxe_mr *fake_mr(struct kunit *test, struct rxe_pd *pd,
		       struct page **pages, u32 first, u64 va, u64 len,
		       int access)
{
	u32 count = DIV_ROUND_UP_ULL(first + len, PAGE_SIZE);
	struct rxe_mr *mr = rxe_mr_alloc(pd, access);
	struct scatterlist *sg;
	struct sg_table sgt;
	u32 i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_ASSERT_EQ(test, 0, sg_alloc_table(&sgt, count, GFP_KERNEL));
	for_each_sgtable_sg(&sgt, sg, i)
		sg_set_page(sg, pages[i], PAGE_SIZE, 0);
	KUNIT_ASSERT_EQ(test, 0, rxe_mr_map(mr, &sgt, first));
	sg_free_table(&sgt);
	mr->va = va;
	mr->len = len;
	rxe_mr_publish(mr);
	return mr;
}
