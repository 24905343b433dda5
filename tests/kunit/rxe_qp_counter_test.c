// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What queue pairs count for themselves, beside their link. */
#include <kunit/test.h>
#include <rdma/ib_hw_stats.h>
#include <rdma/rdma_counter.h>
#include "rxe_fixture.h"
#include "rxe_qp.h"

struct env {
	struct rxe_dev *rxe;
	struct rdma_counter counter;
	struct rxe_qp qp[2];
};

static struct env *make_env(struct kunit *test)
{
	struct env *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->rxe = fake_dev(test);
	for (i = 0; i < 2; i++)
		e->qp[i].rxe = e->rxe;
	e->counter.device = &e->rxe->ib;
	e->counter.stats = rxe_counter_alloc_stats(&e->counter);
	KUNIT_ASSERT_NOT_NULL(test, e->counter.stats);
	return e;
}

static void free_env(struct kunit *test, struct env *e)
{
	KUNIT_EXPECT_EQ(test, rxe_counter_dealloc(&e->counter), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&e->rxe->qp_counts));
	rdma_free_hw_stats_struct(e->counter.stats);
}

static u64 own(struct kunit *test, struct env *e, enum rxe_counter which)
{
	KUNIT_EXPECT_EQ(test, rxe_counter_update_stats(&e->counter), 0);
	return e->counter.stats->value[which];
}

static u64 of_link(const struct env *e, enum rxe_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(e->rxe->counters, cpu)->value[which];
	return sum;
}

static void counts_of_two(struct kunit *test)
{
	struct env *e = make_env(test);

	KUNIT_ASSERT_EQ(test, rxe_counter_bind_qp(&e->counter, &e->qp[0].ibqp), 0);
	KUNIT_ASSERT_NE(test, e->counter.id, 0);
	rxe_qp_count_add(&e->qp[0], RXE_CNT_SENT_BYTES, 1000);
	rxe_qp_count_add(&e->qp[1], RXE_CNT_SENT_BYTES, 30);
	KUNIT_EXPECT_EQ(test, own(test, e, RXE_CNT_SENT_BYTES), 1000);
	KUNIT_EXPECT_EQ(test, of_link(e, RXE_CNT_SENT_BYTES), 1030);

	KUNIT_ASSERT_EQ(test, rxe_counter_bind_qp(&e->counter, &e->qp[1].ibqp), 0);
	rxe_qp_count(&e->qp[1], RXE_CNT_SENT_BYTES);
	rxe_qp_count(&e->qp[1], RXE_CNT_NO_TRAIN);
	KUNIT_EXPECT_EQ(test, own(test, e, RXE_CNT_SENT_BYTES), 1001);
	KUNIT_EXPECT_EQ(test, own(test, e, RXE_CNT_NO_TRAIN), 1);
	/* A copy of a datagram to a group is the member's alone. */
	rxe_qp_count_own(&e->qp[1], RXE_CNT_RCVD_PKTS, 1);
	KUNIT_EXPECT_EQ(test, own(test, e, RXE_CNT_RCVD_PKTS), 1);
	KUNIT_EXPECT_EQ(test, of_link(e, RXE_CNT_RCVD_PKTS), 0);
	free_env(test, e);
}

static void counts_until_unbound(struct kunit *test)
{
	struct env *e = make_env(test);

	KUNIT_ASSERT_EQ(test, rxe_counter_bind_qp(&e->counter, &e->qp[0].ibqp), 0);
	rxe_qp_count(&e->qp[0], RXE_CNT_TIMEOUT);
	KUNIT_EXPECT_EQ(test, rxe_counter_unbind_qp(&e->qp[0].ibqp), 0);
	rxe_qp_count(&e->qp[0], RXE_CNT_TIMEOUT);
	KUNIT_EXPECT_EQ(test, own(test, e, RXE_CNT_TIMEOUT), 1);
	KUNIT_EXPECT_EQ(test, of_link(e, RXE_CNT_TIMEOUT), 2);
	free_env(test, e);
}

/* The core tells them by place: the names of the first ones are the same. */
static void counts_have_the_links_names(struct kunit *test)
{
	struct env *e = make_env(test);
	struct rdma_hw_stats *link = rxe_alloc_hw_port_stats(&e->rxe->ib, 1);
	struct rdma_hw_stats *own = e->counter.stats;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, link);
	KUNIT_EXPECT_LT(test, own->num_counters, link->num_counters);
	for (i = 0; i < own->num_counters; i++)
		KUNIT_EXPECT_STREQ(test, own->descs[i].name,
				   link->descs[i].name);
	KUNIT_EXPECT_STREQ(test, link->descs[i].name, "link_downed");
	rdma_free_hw_stats_struct(link);
	free_env(test, e);
}

static struct kunit_case counts_cases[] = {
	KUNIT_CASE(counts_of_two),
	KUNIT_CASE(counts_until_unbound),
	KUNIT_CASE(counts_have_the_links_names),
	{}
};

static struct kunit_suite counts_suite = {
	.name = "rxe_qp_counter",
	.test_cases = counts_cases,
};

kunit_test_suite(counts_suite);
