// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who waits for a runner, or for the last access through a window, sleeps until
 * it is told: how often such a task gives up the processor says whether it looks
 * again and again.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include "rxe_sm_bench.h"

struct waiter {
	struct task_struct *task;
	struct rxe_qp *qp;
	struct rxe_mw *mw;	/* or NULL: it waits for the runner of @qp */
	struct completion done;
};

static int wait_thread(void *arg)
{
	struct waiter *w = arg;

	if (w->mw) {
		rxe_dealloc_mw(&w->mw->ibmw);
	} else {
		rxe_run_own(w->qp);
		rxe_run_disown(w->qp);
	}
	complete(&w->done);
	return 0;
}

static void begin(struct kunit *test, struct waiter *w)
{
	init_completion(&w->done);
	w->task = kthread_create(wait_thread, w, "waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(w->task));
	get_task_struct(w->task);
	wake_up_process(w->task);
}

static void expect_asleep(struct kunit *test, struct waiter *w)
{
	unsigned long switches;

	schedule_timeout_uninterruptible(2);
	switches = READ_ONCE(w->task->nvcsw);
	schedule_timeout_uninterruptible(max(HZ / 20, 2));
	KUNIT_EXPECT_EQ(test, READ_ONCE(w->task->nvcsw), switches);
	KUNIT_EXPECT_FALSE(test, completion_done(&w->done));
}

static void expect_done(struct kunit *test, struct waiter *w)
{
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&w->done, 5 * HZ));
	kthread_stop(w->task);
	put_task_struct(w->task);
}

static void wait_for_owners(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct waiter w[3] = {};
	int i;

	rxe_run_own(sm->qp);
	for (i = 0; i < 3; i++) {
		w[i].qp = sm->qp;
		begin(test, &w[i]);
	}
	for (i = 0; i < 3; i++)
		expect_asleep(test, &w[i]);
	rxe_run_disown(sm->qp);
	for (i = 0; i < 3; i++)
		expect_done(test, &w[i]);
	KUNIT_EXPECT_EQ(test, atomic_read(&sm->qp->wanted), 0);
	/* The runner is as ever. */
	KUNIT_EXPECT_EQ(test, 0, sm_post(sm, 1, IB_WR_SEND, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 1);
	sm_skip(sm);
	sm_end(sm);
}

/* A run leaves the runner's place to who waits, and he runs what it left. */
static void wait_for_a_run(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct waiter w = { .qp = sm->qp };

	sm_burst(sm);
	KUNIT_EXPECT_EQ(test, 0, sm_post(sm, 1, IB_WR_SEND, 0, 8, 0));
	begin(test, &w);
	expect_asleep(test, &w);
	sm_expect_none(sm);
	KUNIT_EXPECT_FALSE(test, sm_burst_pass(sm));
	sm_expect_none(sm);
	expect_done(test, &w);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 1);
	sm_skip(sm);
	sm_end(sm);
}

static void wait_for_a_window(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct rxe_mw mw = {};
	struct waiter w = { .mw = &mw };
	struct rxe_grant grant[2];
	struct sm *sm;
	bool found;
	int i;

	conf.mr_access |= IB_ACCESS_MW_BIND;
	sm = sm_make(test, &conf);
	mw.ibmw.device = &sm->rxe->ib;
	mw.ibmw.pd = &sm->pd->ibpd;
	mw.ibmw.type = IB_MW_TYPE_2;
	KUNIT_ASSERT_EQ(test, rxe_alloc_mw(&mw.ibmw, NULL), 0);
	sm_bind(sm, &mw);
	for (i = 0; i < 2; i++) {
		local_bh_disable();
		found = rxe_rkey_get(sm->qp, mw.entry->rkey,
				     IB_ACCESS_REMOTE_READ, sm->mr->va, 8,
				     &grant[i]);
		local_bh_enable();
		KUNIT_ASSERT_TRUE(test, found);
	}
	begin(test, &w);
	for (i = 0; i < 2; i++) {
		expect_asleep(test, &w);
		local_bh_disable();
		rxe_grant_put(&grant[i]);
		local_bh_enable();
	}
	expect_done(test, &w);
	KUNIT_EXPECT_EQ(test, atomic_read(&sm->mr->num_mw), 0);
	sm_end(sm);
}

static struct kunit_case rxe_sm_wait_cases[] = {
	KUNIT_CASE(wait_for_owners),
	KUNIT_CASE(wait_for_a_run),
	KUNIT_CASE(wait_for_a_window),
	{}
};

static struct kunit_suite rxe_sm_wait_suite = {
	.name = "rxe_sm_wait",
	.test_cases = rxe_sm_wait_cases,
};

kunit_test_suite(rxe_sm_wait_suite);
