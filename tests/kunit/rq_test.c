// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Receive queues: what is taken out, whatever a program wrote into them. */
#include <kunit/test.h>
#include "rxe_fixture.h"
#include "rxe_qp.h"

struct rq_test {
	struct rxe_qp qp;
	struct rxe_rwqe wqe;
};

static void put_ring(void *ring)
{
	rxe_ring_put(ring);
}

static int rq_init(struct kunit *test)
{
	struct rq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct rxe_rq *rq;

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	rq = &t->qp.rq;
	t->qp.state = IB_QPS_INIT;
	spin_lock_init(&rq->lock);
	rq->max_wr = 7;
	rq->max_sge = 3;
	rq->ring = rxe_ring_alloc(7, sizeof(struct rxe_recv_wqe) +
				  3 * sizeof(struct rxe_sge));
	KUNIT_ASSERT_NOT_NULL(test, rq->ring);
	return kunit_add_action_or_reset(test, put_ring, rq->ring);
}

/* As a program does it. */
static struct rxe_recv_wqe *write_wqe(struct rq_test *t, u64 id, u32 num_sge)
{
	struct rxe_ring *ring = t->qp.rq.ring;
	struct rxe_recv_wqe *wqe = rxe_ring_elem(ring,
						 ring->buf->producer_index);
	u32 i;

	wqe->wr_id = id;
	wqe->dma.num_sge = num_sge;
	for (i = 0; i < 3; i++)
		wqe->dma.sge[i] = (struct rxe_sge){
			.addr = id << 32 | i, .length = 100 + i, .lkey = i,
		};
	ring->buf->producer_index++;
	return wqe;
}

static void rq_takes_in_order(struct kunit *test)
{
	struct rq_test *t = test->priv;
	u32 i, j;

	KUNIT_EXPECT_EQ(test, -ENOENT, rxe_rq_take(&t->qp, &t->wqe, 0));
	for (i = 0; i < 50; i++) {
		write_wqe(t, i, i % 4);
		KUNIT_EXPECT_EQ(test, rxe_rq_count(&t->qp.rq), 1);
		KUNIT_ASSERT_EQ(test, 0, rxe_rq_take(&t->qp, &t->wqe, 0));
		KUNIT_EXPECT_EQ(test, t->wqe.wr_id, i);
		KUNIT_ASSERT_EQ(test, t->wqe.num_sge, i % 4);
		KUNIT_EXPECT_EQ(test, t->wqe.len, (i % 4) * 100 +
				(i % 4) * (i % 4 - 1) / 2);
		for (j = 0; j < i % 4; j++) {
			KUNIT_EXPECT_EQ(test, t->wqe.sge[j].addr,
					(u64)i << 32 | j);
			KUNIT_EXPECT_EQ(test, t->wqe.sge[j].length, 100 + j);
			KUNIT_EXPECT_EQ(test, t->wqe.sge[j].lkey, j);
		}
		KUNIT_EXPECT_EQ(test, t->qp.rq.ring->buf->consumer_index,
				(i + 1) % 8);
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, rxe_rq_take(&t->qp, &t->wqe, 0));
}

static void rq_refuses_long_list(struct kunit *test)
{
	struct rq_test *t = test->priv;
	static const u32 bad[] = { 4, 32, 33, 0x10000003, 0x80000000,
				   0xffffffff };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		write_wqe(t, 1000 + i, bad[i]);
		KUNIT_EXPECT_EQ(test, -EINVAL, rxe_rq_take(&t->qp, &t->wqe, 0));
		KUNIT_EXPECT_EQ(test, t->wqe.wr_id, 1000 + i);
		KUNIT_EXPECT_EQ(test, t->wqe.num_sge, 0);
		KUNIT_EXPECT_EQ(test, -ENOENT, rxe_rq_take(&t->qp, &t->wqe, 0));
	}
}

/* Lengths add up beyond 32 bits; no message is longer than 2 GiB. */
static void rq_sums_in_64_bits(struct kunit *test)
{
	struct rq_test *t = test->priv;
	struct rxe_recv_wqe *wqe = write_wqe(t, 1, 3);
	u32 i;

	for (i = 0; i < 3; i++)
		wqe->dma.sge[i].length = U32_MAX;
	KUNIT_ASSERT_EQ(test, 0, rxe_rq_take(&t->qp, &t->wqe, 0));
	KUNIT_EXPECT_EQ(test, t->wqe.len, 0x80000000ull);
}

/* A lie yields a ring full of what is in the ring, and then an end. */
static void rq_survives_wild_index(struct kunit *test)
{
	struct rq_test *t = test->priv;
	struct rxe_ring *ring = t->qp.rq.ring;
	u32 i, taken;

	for (i = 0; i < 100; i++) {
		ring->buf->producer_index = i * 0x9e3779b9u + 5;
		ring->buf->consumer_index = i * 0x85ebca6bu;
		KUNIT_EXPECT_LE(test, rxe_rq_count(&t->qp.rq), 7);
		for (taken = 0; taken < 10; taken++)
			if (rxe_rq_take(&t->qp, &t->wqe, 0) == -ENOENT)
				break;
		KUNIT_EXPECT_LE(test, taken, 7);
	}
}

static void rq_kernel_posts(struct kunit *test)
{
	struct rq_test *t = test->priv;
	struct ib_sge sge[4] = { { 1, 2, 3 }, { 4, 5, 6 } };
	struct ib_recv_wr wr[9] = {};
	const struct ib_recv_wr *bad = NULL;
	int i;

	for (i = 0; i < 9; i++)
		wr[i] = (struct ib_recv_wr){
			.wr_id = i, .sg_list = sge, .num_sge = 2,
			.next = i < 8 ? &wr[i + 1] : NULL,
		};
	KUNIT_EXPECT_EQ(test, -ENOMEM, rxe_post_recv(&t->qp.ibqp, wr, &bad));
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr[7]);
	KUNIT_EXPECT_EQ(test, rxe_rq_count(&t->qp.rq), 7);
	for (i = 0; i < 7; i++) {
		KUNIT_ASSERT_EQ(test, 0, rxe_rq_take(&t->qp, &t->wqe, 0));
		KUNIT_EXPECT_EQ(test, t->wqe.wr_id, i);
		KUNIT_EXPECT_EQ(test, t->wqe.len, 7);
		KUNIT_EXPECT_EQ(test, t->wqe.sge[1].lkey, 6);
	}
	KUNIT_EXPECT_EQ(test, -ENOENT, rxe_rq_take(&t->qp, &t->wqe, 0));

	wr[8].num_sge = 4;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_post_recv(&t->qp.ibqp, &wr[8], &bad));
	KUNIT_EXPECT_PTR_EQ(test, bad, &wr[8]);
	wr[8].num_sge = -1;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_post_recv(&t->qp.ibqp, &wr[8], &bad));
	wr[8].num_sge = 0;
	KUNIT_EXPECT_EQ(test, 0, rxe_post_recv(&t->qp.ibqp, &wr[8], &bad));
	t->qp.state = IB_QPS_RESET;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_post_recv(&t->qp.ibqp, &wr[8], &bad));
	t->qp.state = IB_QPS_INIT;
	t->qp.is_user = true;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_post_recv(&t->qp.ibqp, &wr[8], &bad));
}

static struct kunit_case rq_cases[] = {
	KUNIT_CASE(rq_takes_in_order),
	KUNIT_CASE(rq_refuses_long_list),
	KUNIT_CASE(rq_sums_in_64_bits),
	KUNIT_CASE(rq_survives_wild_index),
	KUNIT_CASE(rq_kernel_posts),
	{}
};

static struct kunit_suite rq_suite = {
	.name = "rxe_rq",
	.init = rq_init,
	.test_cases = rq_cases,
};

kunit_test_suite(rq_suite);
