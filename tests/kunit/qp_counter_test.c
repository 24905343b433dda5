// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Counters of queue pairs: who is bound to what, by hand and by rule, and that
 * nothing is left of a counter without queue pairs.
 */
#include <kunit/test.h>
#include <linux/netlink.h>
#include <rdma/ib_hw_stats.h>
#include "device.h"
#include "qp_counter.h"
#include "restrack.h"

#define PORT 1
#define QPS 4
#define QPN 100
#define BY_TYPE RDMA_COUNTER_MASK_QP_TYPE
#define BY_BOTH (RDMA_COUNTER_MASK_QP_TYPE | RDMA_COUNTER_MASK_PID)

struct fix {
	struct ib_device dev;
	struct ib_device_core core;
	struct ib_port_core ports[PORT + 1];
	struct ib_qp qp[QPS];
	/* What the driver says next, and what it has. */
	int answer;
	u32 last_id;
	int counters;
	int bound;
	bool no_stats;
	struct netlink_ext_ack extack;
};

static struct fix *fix_of(struct ib_device *dev)
{
	return container_of(dev, struct fix, dev);
}

/* ---- the driver ---- */

static int drv_bind(struct rdma_counter *counter, struct ib_qp *qp)
{
	struct fix *fix = fix_of(qp->device);

	if (fix->answer)
		return fix->answer;
	if (!counter->id) {
		counter->id = ++fix->last_id;
		fix->counters++;
	}
	fix->bound++;
	return 0;
}

static int drv_unbind(struct ib_qp *qp)
{
	fix_of(qp->device)->bound--;
	return 0;
}

static int drv_dealloc(struct rdma_counter *counter)
{
	fix_of(counter->device)->counters--;
	return 0;
}

static const struct rdma_stat_desc names[] = { { .name = "things" } };

static struct rdma_hw_stats *drv_alloc_stats(struct rdma_counter *counter)
{
	if (fix_of(counter->device)->no_stats)
		return NULL;
	return rdma_alloc_hw_stats_struct(names, 1, 0);
}

/* ---- the fixture ---- */

/* The last one is a kernel module's, the one before it UD. */
static void make_qp(struct fix *fix, int i)
{
	struct ib_qp *qp = &fix->qp[i];

	qp->device = &fix->dev;
	qp->qp_num = QPN + i;
	qp->port = PORT;
	qp->qp_type = i == QPS - 2 ? IB_QPT_UD : IB_QPT_RC;
	rdma_restrack_new(&qp->res, RDMA_RESTRACK_QP);
	rdma_restrack_set_name(&qp->res, i == QPS - 1 ? "a_module" : NULL);
	rdma_restrack_add(&qp->res);
}

static int counter_test_init(struct kunit *test)
{
	struct fix *fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, fix);
	test->priv = fix;
	fix->dev.core = &fix->core;
	fix->dev.phys_port_cnt = PORT;
	fix->dev.ops.counter_bind_qp = drv_bind;
	fix->dev.ops.counter_unbind_qp = drv_unbind;
	fix->dev.ops.counter_dealloc = drv_dealloc;
	fix->dev.ops.counter_alloc_stats = drv_alloc_stats;
	fix->core.num_ports = PORT + 1;
	fix->core.ports = fix->ports;
	mutex_init(&fix->core.counter_lock);
	INIT_LIST_HEAD(&fix->core.counters);
	KUNIT_ASSERT_EQ(test, rdma_restrack_init(&fix->dev), 0);
	for (i = 0; i < QPS; i++)
		make_qp(fix, i);
	return 0;
}

/* What is left when all queue pairs are gone. */
static void counter_test_exit(struct kunit *test)
{
	struct fix *fix = test->priv;
	int i;

	for (i = 0; i < QPS; i++) {
		rdma_restrack_del(&fix->qp[i].res);
		qp_counter_forget(&fix->qp[i]);
	}
	KUNIT_EXPECT_EQ(test, fix->counters, 0);
	KUNIT_EXPECT_EQ(test, fix->bound, 0);
	KUNIT_EXPECT_EQ(test, fix->ports[PORT].num_counters, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&fix->core.counters));
	KUNIT_EXPECT_TRUE(test,
			  xa_empty(&fix->core.res[RDMA_RESTRACK_COUNTER].xa));
	rdma_restrack_clean(&fix->dev);
}

static int bind(struct fix *fix, int i, u32 *id)
{
	memset(&fix->extack, 0, sizeof(fix->extack));
	return qp_counter_bind(&fix->dev, PORT, QPN + i, id, &fix->extack);
}

static int unbind(struct fix *fix, int i, u32 id)
{
	memset(&fix->extack, 0, sizeof(fix->extack));
	return qp_counter_unbind(&fix->dev, PORT, QPN + i, id, &fix->extack);
}

static int set_auto(struct fix *fix, u32 mask)
{
	memset(&fix->extack, 0, sizeof(fix->extack));
	return qp_counter_set_auto(&fix->dev, PORT, mask, &fix->extack);
}

static enum rdma_nl_counter_mode mode_of(struct fix *fix)
{
	u32 mask;

	return qp_counter_mode(&fix->dev, PORT, &mask);
}

/* The refusal is that errno and comes with a sentence. */
#define EXPECT_REFUSED(test, fix, call, err)                                   \
	do {                                                                   \
		KUNIT_EXPECT_EQ(test, call, err);                              \
		KUNIT_EXPECT_NOT_NULL(test, (fix)->extack._msg);               \
	} while (0)

/* ---- by hand ---- */

static void counter_is_shared(struct kunit *test)
{
	struct fix *fix = test->priv;
	u32 id = 0;

	KUNIT_EXPECT_EQ(test, mode_of(fix), RDMA_COUNTER_MODE_NONE);
	KUNIT_ASSERT_EQ(test, bind(fix, 0, &id), 0);
	KUNIT_EXPECT_EQ(test, id, 1);
	KUNIT_ASSERT_EQ(test, bind(fix, 1, &id), 0);
	KUNIT_EXPECT_EQ(test, id, 1);
	KUNIT_EXPECT_EQ(test, fix->counters, 1);
	KUNIT_EXPECT_EQ(test, fix->bound, 2);
	KUNIT_EXPECT_PTR_EQ(test, fix->qp[0].counter, fix->qp[1].counter);
	KUNIT_EXPECT_EQ(test, mode_of(fix), RDMA_COUNTER_MODE_MANUAL);

	KUNIT_EXPECT_EQ(test, unbind(fix, 0, id), 0);
	KUNIT_EXPECT_EQ(test, fix->counters, 1);
	KUNIT_EXPECT_EQ(test, unbind(fix, 1, id), 0);
	KUNIT_EXPECT_EQ(test, fix->counters, 0);
	KUNIT_EXPECT_EQ(test, mode_of(fix), RDMA_COUNTER_MODE_NONE);
}

static void counter_ends_with_its_qps(struct kunit *test)
{
	struct fix *fix = test->priv;
	u32 id = 0;

	KUNIT_ASSERT_EQ(test, bind(fix, 0, &id), 0);
	KUNIT_ASSERT_EQ(test, bind(fix, 1, &id), 0);
	qp_counter_forget(&fix->qp[0]);
	KUNIT_EXPECT_EQ(test, fix->counters, 1);
	qp_counter_forget(&fix->qp[1]);
	KUNIT_EXPECT_EQ(test, fix->counters, 0);
	/* Once more is nothing. */
	qp_counter_forget(&fix->qp[1]);
	KUNIT_EXPECT_EQ(test, fix->bound, 0);
}

static void counter_refusals(struct kunit *test)
{
	struct fix *fix = test->priv;
	u32 one = 0, two = 0, none = 77;

	KUNIT_ASSERT_EQ(test, bind(fix, 0, &one), 0);
	KUNIT_ASSERT_EQ(test, bind(fix, 1, &two), 0);
	KUNIT_EXPECT_NE(test, one, two);
	EXPECT_REFUSED(test, fix, bind(fix, 0, &two), -EINVAL);
	EXPECT_REFUSED(test, fix, bind(fix, 2, &none), -ENOENT);
	EXPECT_REFUSED(test, fix, bind(fix, QPS, &one), -ENOENT);
	EXPECT_REFUSED(test, fix, bind(fix, QPS - 1, &one), -EINVAL);
	EXPECT_REFUSED(test, fix, unbind(fix, 0, two), -EINVAL);
	EXPECT_REFUSED(test, fix, unbind(fix, 2, one), -EINVAL);
	EXPECT_REFUSED(test, fix, unbind(fix, QPS, one), -ENOENT);
	EXPECT_REFUSED(test, fix, set_auto(fix, BY_TYPE), -EBUSY);
	EXPECT_REFUSED(test, fix, set_auto(fix, 1 << 7), -EINVAL);
	fix->qp[2].port = PORT + 1;
	EXPECT_REFUSED(test, fix, bind(fix, 2, &one), -ENOENT);
	KUNIT_EXPECT_EQ(test, fix->bound, 2);
	KUNIT_EXPECT_EQ(test, fix->counters, 2);
}

static void counter_without_driver(struct kunit *test)
{
	struct fix *fix = test->priv;
	u32 id = 0;

	fix->dev.ops.counter_bind_qp = NULL;
	EXPECT_REFUSED(test, fix, bind(fix, 0, &id), -EOPNOTSUPP);
	EXPECT_REFUSED(test, fix, unbind(fix, 0, 1), -EOPNOTSUPP);
	EXPECT_REFUSED(test, fix, set_auto(fix, BY_TYPE), -EOPNOTSUPP);
}

static void counter_driver_fails(struct kunit *test)
{
	struct fix *fix = test->priv;
	u32 id = 0;

	fix->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, bind(fix, 0, &id), -ENOSPC);
	KUNIT_EXPECT_NULL(test, fix->qp[0].counter);
	KUNIT_ASSERT_EQ(test, set_auto(fix, BY_TYPE), 0);
	qp_counter_bind_auto(&fix->qp[0]);
	KUNIT_EXPECT_NULL(test, fix->qp[0].counter);
	fix->answer = 0;
	fix->no_stats = true;
	qp_counter_bind_auto(&fix->qp[0]);
	KUNIT_EXPECT_NULL(test, fix->qp[0].counter);
	KUNIT_ASSERT_EQ(test, set_auto(fix, 0), 0);
	id = 0;
	KUNIT_EXPECT_EQ(test, bind(fix, 0, &id), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fix->ports[PORT].num_counters, 0);
}

/* ---- by the port's rule ---- */

static void counter_by_rule(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ib_qp *qp = fix->qp;
	u32 id = 0;
	int i;

	qp_counter_bind_auto(&qp[0]);
	KUNIT_EXPECT_NULL(test, qp[0].counter);
	KUNIT_ASSERT_EQ(test, set_auto(fix, BY_BOTH), 0);
	KUNIT_EXPECT_EQ(test, mode_of(fix), RDMA_COUNTER_MODE_AUTO);
	for (i = 0; i < QPS; i++)
		qp_counter_bind_auto(&qp[i]);
	KUNIT_ASSERT_NOT_NULL(test, qp[0].counter);
	KUNIT_EXPECT_PTR_EQ(test, qp[0].counter, qp[1].counter);
	KUNIT_ASSERT_NOT_NULL(test, qp[2].counter);
	KUNIT_EXPECT_PTR_NE(test, qp[0].counter, qp[2].counter);
	KUNIT_EXPECT_EQ(test, qp[2].counter->mode.param.qp_type, IB_QPT_UD);
	KUNIT_EXPECT_PTR_EQ(test, qp[0].counter->res.task,
			    current->group_leader);
	KUNIT_EXPECT_NULL(test, qp[3].counter);
	/* Once is enough: INIT can be entered again. */
	qp_counter_bind_auto(&qp[0]);
	KUNIT_EXPECT_EQ(test, fix->bound, 3);

	EXPECT_REFUSED(test, fix, bind(fix, 3, &id), -EINVAL);
	EXPECT_REFUSED(test, fix, unbind(fix, 0, qp[0].counter->id), -EINVAL);
	EXPECT_REFUSED(test, fix, set_auto(fix, BY_TYPE), -EBUSY);
	KUNIT_EXPECT_EQ(test, set_auto(fix, BY_BOTH), 0);
	KUNIT_EXPECT_EQ(test, set_auto(fix, 0), 0);
	KUNIT_EXPECT_EQ(test, mode_of(fix), RDMA_COUNTER_MODE_MANUAL);
	KUNIT_EXPECT_EQ(test, unbind(fix, 2, qp[2].counter->id), 0);
	KUNIT_EXPECT_EQ(test, fix->counters, 1);
}

static void counter_by_owner(struct kunit *test)
{
	struct fix *fix = test->priv;
	struct ib_qp *qp = fix->qp;
	struct task_struct *mine = qp[1].res.task;

	KUNIT_ASSERT_EQ(test, set_auto(fix, RDMA_COUNTER_MASK_PID), 0);
	qp[1].res.task = &init_task;
	qp_counter_bind_auto(&qp[0]);
	qp_counter_bind_auto(&qp[2]);
	KUNIT_EXPECT_PTR_EQ(test, qp[0].counter, qp[2].counter);
	qp_counter_bind_auto(&qp[1]);
	KUNIT_EXPECT_PTR_NE(test, qp[0].counter, qp[1].counter);
	qp[1].res.task = mine;
}

static struct kunit_case counter_cases[] = {
	KUNIT_CASE(counter_is_shared),
	KUNIT_CASE(counter_ends_with_its_qps),
	KUNIT_CASE(counter_refusals),
	KUNIT_CASE(counter_without_driver),
	KUNIT_CASE(counter_driver_fails),
	KUNIT_CASE(counter_by_rule),
	KUNIT_CASE(counter_by_owner),
	{}
};

static struct kunit_suite counter_suite = {
	.name = "qp_counter",
	.init = counter_test_init,
	.exit = counter_test_exit,
	.test_cases = counter_cases,
};

kunit_test_suite(counter_suite);
