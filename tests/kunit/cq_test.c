// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Completion queues: order, notification, overflow, resize. */
#include <kunit/test.h>
#include <linux/completion.h>
#include "rxe_cq.h"
#include "rxe_fixture.h"

struct cq_test {
	struct rxe_dev *rxe;
	struct rxe_cq *cq;
	struct ib_qp qp;
	int comps;
	int errs;
	struct completion told;
};

static void on_comp(struct ib_cq *cq, void *context)
{
	struct cq_test *t = context;

	t->comps++;
	complete(&t->told);
}

static void on_event(struct ib_event *event, void *context)
{
	struct cq_test *t = context;

	if (event->event == IB_EVENT_CQ_ERR &&
	    event->element.cq == &t->cq->ibcq)
		t->errs++;
	complete(&t->told);
}

static int cq_init(struct kunit *test)
{
	struct cq_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->rxe = fake_dev(test);
	t->qp.qp_num = 0x1234;
	init_completion(&t->told);
	t->cq = kunit_kzalloc(test, sizeof(*t->cq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->cq);
	t->cq->ibcq.device = &t->rxe->ib;
	t->cq->ibcq.comp_handler = on_comp;
	t->cq->ibcq.event_handler = on_event;
	t->cq->ibcq.cq_context = t;
	return 0;
}

static void make(struct kunit *test, u32 cqe)
{
	struct cq_test *t = test->priv;
	struct ib_cq_init_attr attr = { .cqe = cqe };

	KUNIT_ASSERT_EQ(test, 0, rxe_create_cq(&t->cq->ibcq, &attr, NULL));
}

static void end(struct kunit *test)
{
	struct cq_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, 0, rxe_destroy_cq(&t->cq->ibcq, NULL));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->rxe->num_cq), 0);
}

static int post(struct kunit *test, u64 id, enum ib_wc_status status,
		bool solicited)
{
	struct cq_test *t = test->priv;
	struct ib_wc wc = {
		.wr_id = id, .status = status, .qp = &t->qp,
		.opcode = IB_WC_RECV, .byte_len = id * 3,
		.ex.imm_data = cpu_to_be32(0xabcd), .wc_flags = IB_WC_WITH_IMM,
	};
	int ret;

	local_bh_disable();
	ret = rxe_cq_post(t->cq, &wc, solicited);
	local_bh_enable();
	return ret;
}

static void expect_polled(struct kunit *test, u64 first, int count)
{
	struct cq_test *t = test->priv;
	struct ib_wc wc;
	int i;

	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(test, rxe_poll_cq(&t->cq->ibcq, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.wr_id, first + i);
		KUNIT_EXPECT_EQ(test, wc.byte_len, (first + i) * 3);
		KUNIT_EXPECT_PTR_EQ(test, wc.qp, &t->qp);
	}
}

static bool told(struct cq_test *t)
{
	return wait_for_completion_timeout(&t->told, HZ);
}

static void cq_refuses(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_cq_init_attr attr = { .cqe = 0 };

	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_create_cq(&t->cq->ibcq, &attr, NULL));
	attr.cqe = RXE_MAX_CQE + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_create_cq(&t->cq->ibcq, &attr, NULL));
	attr.cqe = U32_MAX;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_create_cq(&t->cq->ibcq, &attr, NULL));
	attr.cqe = 1;
	attr.comp_vector = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_create_cq(&t->cq->ibcq, &attr, NULL));
	attr.comp_vector = 0;
	attr.flags = 1;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			rxe_create_cq(&t->cq->ibcq, &attr, NULL));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->rxe->num_cq), 0);
}

static void cq_keeps_order(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_wc wc[8];
	u64 id = 1;
	int i;

	make(test, 5);
	KUNIT_EXPECT_EQ(test, t->cq->ibcq.cqe, 7);
	KUNIT_EXPECT_EQ(test, rxe_poll_cq(&t->cq->ibcq, 8, wc), 0);
	for (i = 0; i < 20; i++, id += 3) {
		KUNIT_EXPECT_EQ(test, 0, post(test, id, 0, false));
		KUNIT_EXPECT_EQ(test, 0, post(test, id + 1, 0, false));
		KUNIT_EXPECT_EQ(test, 0, post(test, id + 2, 0, false));
		expect_polled(test, id, 3);
	}
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_EQ(test, 0, post(test, i, 0, false));
	KUNIT_EXPECT_EQ(test, rxe_poll_cq(&t->cq->ibcq, 8, wc), 7);
	KUNIT_EXPECT_EQ(test, t->comps, 0);
	end(test);
}

static void cq_overflow_is_told_once(struct kunit *test)
{
	struct cq_test *t = test->priv;
	int i;

	make(test, 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, post(test, i, 0, false));
	KUNIT_EXPECT_EQ(test, -ENOSPC, post(test, 3, 0, false));
	KUNIT_EXPECT_TRUE(test, told(t));
	/* What it took is still there, but it takes nothing any more. */
	expect_polled(test, 0, 3);
	KUNIT_EXPECT_EQ(test, -ENOSPC, post(test, 4, 0, false));
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_EQ(test, t->errs, 1);
	KUNIT_EXPECT_EQ(test, t->comps, 0);
	end(test);
}

static void cq_notifies(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_cq *cq = &t->cq->ibcq;

	make(test, 31);
	post(test, 0, 0, true);
	KUNIT_EXPECT_EQ(test, 0, rxe_req_notify_cq(cq, IB_CQ_SOLICITED));
	post(test, 1, 0, false);
	KUNIT_EXPECT_EQ(test, 1,
			rxe_req_notify_cq(cq, IB_CQ_SOLICITED |
					  IB_CQ_REPORT_MISSED_EVENTS));
	post(test, 2, 0, true);
	KUNIT_EXPECT_TRUE(test, told(t));
	KUNIT_EXPECT_EQ(test, t->comps, 1);
	/* Once only. */
	post(test, 3, 0, true);
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_EQ(test, t->comps, 1);

	/* An error is solicited; and the stronger request stays. */
	rxe_req_notify_cq(cq, IB_CQ_SOLICITED);
	post(test, 4, IB_WC_WR_FLUSH_ERR, false);
	KUNIT_EXPECT_TRUE(test, told(t));
	rxe_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	rxe_req_notify_cq(cq, IB_CQ_SOLICITED);
	post(test, 5, 0, false);
	KUNIT_EXPECT_TRUE(test, told(t));
	KUNIT_EXPECT_EQ(test, t->comps, 3);

	expect_polled(test, 0, 6);
	KUNIT_EXPECT_EQ(test, 0,
			rxe_req_notify_cq(cq, IB_CQ_NEXT_COMP |
					  IB_CQ_REPORT_MISSED_EVENTS));
	end(test);
}

static void cq_resizes(struct kunit *test)
{
	struct cq_test *t = test->priv;
	int i;

	make(test, 7);
	for (i = 0; i < 6; i++)
		post(test, i, 0, false);
	expect_polled(test, 0, 5);
	/* Around the end of the old ring. */
	for (; i < 12; i++)
		KUNIT_EXPECT_EQ(test, 0, post(test, i, 0, false));
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_resize_cq(&t->cq->ibcq, 0, NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_resize_cq(&t->cq->ibcq, 3, NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			rxe_resize_cq(&t->cq->ibcq, RXE_MAX_CQE + 1, NULL));
	KUNIT_EXPECT_EQ(test, t->cq->ibcq.cqe, 7);
	KUNIT_EXPECT_EQ(test, 0, rxe_resize_cq(&t->cq->ibcq, 100, NULL));
	KUNIT_EXPECT_EQ(test, t->cq->ibcq.cqe, 127);
	for (; i < 100; i++)
		KUNIT_EXPECT_EQ(test, 0, post(test, i, 0, false));
	expect_polled(test, 5, 90);
	KUNIT_EXPECT_EQ(test, 0, rxe_resize_cq(&t->cq->ibcq, 5, NULL));
	KUNIT_EXPECT_EQ(test, t->cq->ibcq.cqe, 7);
	expect_polled(test, 95, 5);
	end(test);
}

/* Between two pieces it is polled and posted to as ever. */
static void cq_moves_in_pieces(struct kunit *test)
{
	struct cq_test *t = test->priv;
	u32 posted = 0, polled = 0, pieces = 0, x = 1;
	struct rxe_ring *from, *to;
	bool more;

	make(test, 2047);
	from = t->cq->ring;
	to = rxe_ring_alloc(4095, sizeof(struct ib_wc));
	KUNIT_ASSERT_NOT_NULL(test, to);
	for (; posted < 1000; posted++)
		post(test, posted, 0, false);
	expect_polled(test, 0, 1000);
	for (polled = 1000; posted < 3000; posted++)
		post(test, posted, 0, false);
	KUNIT_EXPECT_EQ(test, 0, rxe_cq_switch(t->cq, to));
	KUNIT_EXPECT_EQ(test, t->cq->ibcq.cqe, 4095);
	do {
		u32 n;

		x = x * 1664525 + 1013904223;
		/* None, a few, or more than a piece has. */
		n = min((x >> 16) % 700, posted - polled);
		expect_polled(test, polled, n);
		polled += n;
		for (n = (x >> 8) % 500; n; n--, posted++)
			KUNIT_EXPECT_EQ(test, 0, post(test, posted, 0, false));
		more = rxe_cq_move_piece(t->cq);
		pieces++;
	} while (more);
	KUNIT_EXPECT_GT(test, pieces, 2);
	/* It is not looked at any more. */
	memset(from->buf, 0xff, from->size);
	expect_polled(test, polled, posted - polled);
	KUNIT_EXPECT_EQ(test, 0, rxe_poll_cq(&t->cq->ibcq, 1, &(struct ib_wc){}));
	rxe_ring_put(from);
	end(test);
}

/* Full to the last slot while nothing has been moved, and nothing is written over. */
static void cq_is_full_while_it_moves(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct rxe_ring *from, *to;
	int i, n;

	make(test, 1023);
	from = t->cq->ring;
	to = rxe_ring_alloc(1023, sizeof(struct ib_wc));
	KUNIT_ASSERT_NOT_NULL(test, to);
	for (i = 0; i < 1000; i++)
		post(test, i, 0, false);
	KUNIT_EXPECT_EQ(test, 0, rxe_cq_switch(t->cq, to));
	for (; i < 1023; i++)
		KUNIT_EXPECT_EQ(test, 0, post(test, i, 0, false));
	for (n = 0; n < 600; n++, i++) {
		expect_polled(test, n, 1);
		KUNIT_EXPECT_EQ(test, 0, post(test, i, 0, false));
	}
	while (rxe_cq_move_piece(t->cq))
		;
	KUNIT_EXPECT_EQ(test, -ENOSPC, post(test, i, 0, false));
	expect_polled(test, 600, 1023);
	KUNIT_EXPECT_TRUE(test, told(t));
	rxe_ring_put(from);
	end(test);
}

/* Whatever the program says of what it has polled, then or while it is moved. */
static void cq_of_liar_moves(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct rxe_cq *cq = t->cq;
	int i, ret;

	cq->is_user = true;
	cq->rxe = t->rxe;
	spin_lock_init(&cq->lock);
	cq->ring = rxe_ring_alloc(1023, sizeof(struct ib_uverbs_wc));
	KUNIT_ASSERT_NOT_NULL(test, cq->ring);
	for (i = 0; i < 1000; i++) {
		u32 lie = i * 0x9e3779b9u, said;
		struct rxe_ring *from = cq->ring, *to;

		to = rxe_ring_alloc(i % 3 ? 1023 : 63,
				    sizeof(struct ib_uverbs_wc));
		KUNIT_ASSERT_NOT_NULL(test, to);
		from->buf->consumer_index = lie;
		from->buf->producer_index = ~lie;
		said = (from->index - lie) & from->mask;
		ret = rxe_cq_switch(cq, to);
		KUNIT_EXPECT_EQ(test, ret, said <= to->mask ? 0 : -EINVAL);
		if (ret) {
			rxe_ring_put(to);
			continue;
		}
		KUNIT_EXPECT_EQ(test, cq->move.left, said);
		do {
			from->buf->consumer_index = ~lie;
			to->buf->consumer_index = lie / 2;
			to->buf->producer_index = lie / 3;
			post(test, i, 0, false);
		} while (rxe_cq_move_piece(cq));
		cq->dead = false;
		rxe_ring_put(from);
	}
	rxe_ring_put(cq->ring);
}

/* A program's: its own layout, handlers at once, and whatever index it likes. */
static void cq_of_program(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct rxe_cq *cq = t->cq;
	struct ib_uverbs_wc *wc;
	struct ib_wc none;
	int i;

	cq->is_user = true;
	cq->rxe = t->rxe;
	spin_lock_init(&cq->lock);
	cq->ring = rxe_ring_alloc(3, sizeof(*wc));
	KUNIT_ASSERT_NOT_NULL(test, cq->ring);
	rxe_req_notify_cq(&cq->ibcq, IB_CQ_NEXT_COMP);
	KUNIT_EXPECT_EQ(test, 0, post(test, 7, 0, false));
	KUNIT_EXPECT_EQ(test, t->comps, 1);
	wc = rxe_ring_elem(cq->ring, 0);
	KUNIT_EXPECT_EQ(test, wc->wr_id, 7);
	KUNIT_EXPECT_EQ(test, wc->byte_len, 21);
	KUNIT_EXPECT_EQ(test, wc->opcode, 128);
	KUNIT_EXPECT_EQ(test, wc->qp_num, 0x1234);
	KUNIT_EXPECT_EQ(test, wc->wc_flags, 2);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc->ex.imm_data), 0xabcd);
	KUNIT_EXPECT_EQ(test, cq->ring->buf->producer_index, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, rxe_poll_cq(&cq->ibcq, 1, &none));

	for (i = 0; i < 1000; i++) {
		cq->ring->buf->consumer_index = i * 0x9e3779b9u;
		cq->ring->buf->producer_index = i * 0x85ebca6bu;
		if (post(test, i, 0, false))
			break;
	}
	KUNIT_EXPECT_EQ(test, t->errs, i < 1000);
	rxe_ring_put(cq->ring);
}

/* The service level as a program and as a kernel consumer finds it. */
static void expect_sl(struct kunit *test, const struct ib_wc *wc, u8 sl)
{
	struct cq_test *t = test->priv;
	struct ib_uverbs_wc *user;
	struct ib_wc kernel;

	t->cq->is_user = true;
	t->cq->rxe = t->rxe;
	spin_lock_init(&t->cq->lock);
	t->cq->ring = rxe_ring_alloc(3, sizeof(*user));
	KUNIT_ASSERT_NOT_NULL(test, t->cq->ring);
	KUNIT_EXPECT_EQ(test, 0, rxe_cq_post(t->cq, wc, false));
	user = rxe_ring_elem(t->cq->ring, 0);
	KUNIT_EXPECT_EQ(test, user->sl, sl);
	KUNIT_EXPECT_EQ(test, user->wc_flags, wc->wc_flags & IB_WC_GRH);
	rxe_ring_put(t->cq->ring);

	t->cq->is_user = false;
	make(test, 3);
	KUNIT_EXPECT_EQ(test, 0, rxe_cq_post(t->cq, wc, false));
	KUNIT_EXPECT_EQ(test, 1, rxe_poll_cq(&t->cq->ibcq, 1, &kernel));
	KUNIT_EXPECT_EQ(test, kernel.sl, 0);
	KUNIT_EXPECT_EQ(test, kernel.wc_flags, wc->wc_flags);
	end(test);
}

static void cq_tells_the_network_header(struct kunit *test)
{
	struct cq_test *t = test->priv;
	struct ib_wc wc = { .opcode = IB_WC_RECV, .qp = &t->qp };

	expect_sl(test, &wc, 0);
	wc.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc.network_hdr_type = RDMA_NETWORK_IPV4;
	expect_sl(test, &wc, 10);
	wc.network_hdr_type = RDMA_NETWORK_IPV6;
	expect_sl(test, &wc, 9);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(cq_refuses),
	KUNIT_CASE(cq_keeps_order),
	KUNIT_CASE(cq_overflow_is_told_once),
	KUNIT_CASE(cq_notifies),
	KUNIT_CASE(cq_resizes),
	KUNIT_CASE(cq_moves_in_pieces),
	KUNIT_CASE(cq_is_full_while_it_moves),
	KUNIT_CASE(cq_of_liar_moves),
	KUNIT_CASE(cq_of_program),
	KUNIT_CASE(cq_tells_the_network_header),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "rxe_cq",
	.init = cq_init,
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
