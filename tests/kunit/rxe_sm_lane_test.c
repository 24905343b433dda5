// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pairs of a link that wait for room in the same queue, in turn. */
#include "rxe_sm_bench.h"

#define PSN 0x100
#define MTU 1024
#define S_FIRST IB_OPCODE_RC_SEND_FIRST
#define S_LAST IB_OPCODE_RC_SEND_LAST
#define S_ONLY IB_OPCODE_RC_SEND_ONLY

/* Its pause is so long that all before it can be looked at. */
static void wait_long(struct sm *sm)
{
	struct rxe_pause *p = &sm->qp->pause;

	local_bh_disable();
	p->until = ktime_add_ms(ktime_get(), 100);
	hrtimer_start(&p->timer, p->until, HRTIMER_MODE_ABS_PINNED_SOFT);
	local_bh_enable();
}

/* @a waits for room, and @b comes and finds it waiting. */
static void two(struct kunit *test, struct sm **a, struct sm **b, u32 len)
{
	struct sm_conf conf = sm_defaults();

	conf.retry_cnt = 1;
	*a = sm_make(test, &conf);
	conf.link_of = *a;
	*b = sm_make(test, &conf);
	(*a)->xmit_answer = NET_XMIT_DROP;
	sm_post(*a, 1, IB_WR_SEND, 0, len, 0);
	wait_long(*a);
	KUNIT_EXPECT_EQ(test, (*a)->rxe->lanes.waiting, 1);
	sm_post(*b, 2, IB_WR_SEND, 0, 4, 0);
}

static void end_two(struct sm *a, struct sm *b)
{
	KUNIT_EXPECT_EQ(a->test, a->rxe->lanes.waiting, 0);
	sm_end(b);
	sm_end(a);
}

/* Who comes later waits, although there would be room for it. */
static void lane_keeps_order(struct kunit *test)
{
	struct sm *a, *b;

	two(test, &a, &b, 4);
	sm_expect_none(b);
	KUNIT_EXPECT_EQ(test, a->rxe->lanes.waiting, 2);
	a->xmit_answer = 0;
	sm_pause_over(a);
	sm_expect_data(a, S_ONLY, PSN, 0, 4, true);
	sm_pause_over(b);
	sm_expect_data(b, S_ONLY, PSN, 0, 4, true);
	end_two(a, b);
}

/* Who got something through goes behind the others for the rest. */
static void lane_goes_round(struct kunit *test)
{
	struct sm *a, *b;

	two(test, &a, &b, MTU + 4);
	a->room = 1;
	sm_pause_over(a);
	sm_expect_data(a, S_FIRST, PSN, 0, MTU, true);
	sm_expect_none(a);
	sm_pause_over(b);
	sm_expect_data(b, S_ONLY, PSN, 0, 4, true);
	a->xmit_answer = 0;
	sm_pause_over(a);
	sm_expect_data(a, S_LAST, PSN + 1, MTU, 4, true);
	end_two(a, b);
}

/* What never fits keeps nobody else for long. */
static void lane_passes_who_is_stuck(struct kunit *test)
{
	struct sm *a, *b;

	two(test, &a, &b, 4);
	sm_pause_over(b);
	sm_expect_data(b, S_ONLY, PSN, 0, 4, true);
	KUNIT_EXPECT_TRUE(test, a->qp->pause.stuck);
	sm_expect_none(a);
	a->xmit_answer = 0;
	sm_pause_over(a);
	sm_expect_data(a, S_ONLY, PSN, 0, 4, true);
	end_two(a, b);
}

/* Waiting for a turn spends no retry, and makes no window smaller. */
static void lane_spends_no_retry(struct kunit *test)
{
	struct sm *a, *b;
	int i;

	two(test, &a, &b, 4);
	local_bh_disable();
	for (i = 0; i < 4; i++) {
		set_bit(RXE_TODO_TIMEOUT, &b->qp->todo);
		b->qp->req.ack_deadline = 1;
		rxe_run(b->qp);
		KUNIT_EXPECT_NE(test, b->qp->req.ack_deadline, 0);
	}
	local_bh_enable();
	sm_expect_no_wc(b);
	KUNIT_EXPECT_EQ(test, sm_counted(b, RXE_CNT_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, b->qp->req.retries_left, b->conf.retry_cnt);
	a->xmit_answer = 0;
	sm_pause_over(b);
	sm_expect_data(b, S_ONLY, PSN, 0, 4, true);
	end_two(a, b);
}

/* Who ends makes way. */
static void lane_forgets_who_ends(struct kunit *test)
{
	struct sm *a, *b;

	two(test, &a, &b, 4);
	sm_to_state(a, IB_QPS_RESET);
	KUNIT_EXPECT_NULL(test, a->qp->pause.lane);
	sm_pause_over(b);
	sm_expect_data(b, S_ONLY, PSN, 0, 4, true);
	end_two(a, b);

	two(test, &a, &b, 4);
	sm_to_state(a, IB_QPS_ERR);
	sm_expect_send_wc(a, 1, IB_WC_WR_FLUSH_ERR);
	sm_pause_over(b);
	sm_expect_data(b, S_ONLY, PSN, 0, 4, true);
	end_two(a, b);
}

/* Another interface is another lane. */
static void lane_by_interface(struct kunit *test)
{
	struct net_device *other = kunit_kzalloc(test, sizeof(*other),
						 GFP_KERNEL);
	struct sm *a, *b;

	KUNIT_ASSERT_NOT_NULL(test, other);
	other->ifindex = 4711;
	other->gso_max_size = 65536;
	other->gso_max_segs = 65535;
	two(test, &a, &b, 4);
	b->xmit_answer = 0;
	sm_pause_over(b);
	sm_skip(b);
	b->dst.dev = other;
	sm_post(b, 3, IB_WR_SEND, 0, 4, 0);
	sm_expect_data(b, S_ONLY, PSN + 1, 0, 4, true);
	a->xmit_answer = 0;
	sm_pause_over(a);
	sm_skip(a);
	end_two(a, b);
}

static struct kunit_case rxe_sm_lane_cases[] = {
	KUNIT_CASE(lane_keeps_order),
	KUNIT_CASE(lane_goes_round),
	KUNIT_CASE(lane_passes_who_is_stuck),
	KUNIT_CASE(lane_spends_no_retry),
	KUNIT_CASE(lane_forgets_who_ends),
	KUNIT_CASE(lane_by_interface),
	{}
};

static struct kunit_suite rxe_sm_lane_suite = {
	.name = "rxe_sm_lane",
	.test_cases = rxe_sm_lane_cases,
};

kunit_test_suite(rxe_sm_lane_suite);
