// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a port asks its netdev, and that it asks none that is going.
 *
 * The device is one that was never registered, on a netdev of the test's own.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/kthread.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>
#include "device.h"

#define PORT 1
#define MAX_WAIT_MS 2000

struct port_fixture {
	struct ib_device dev;
	struct ib_device_core core;
	struct ib_port_core ports[PORT + 1];
	struct net_device *ndev;
	/* What the netdev was asked, and how often when it was going. */
	int asked;
	int asked_late;
	/* What the thread that asks got. */
	int err;
	u16 speed;
	u8 width;
};

struct port_netdev {
	struct port_fixture *fix;
};

static int say_speed(struct net_device *ndev,
		     struct ethtool_link_ksettings *link)
{
	struct port_netdev *priv = netdev_priv(ndev);

	priv->fix->asked++;
	if (ndev->reg_state != NETREG_REGISTERED)
		priv->fix->asked_late++;
	link->base.speed = SPEED_25000;
	return 0;
}

static const struct ethtool_ops ethtool_ops = {
	.get_link_ksettings = say_speed,
};

static netdev_tx_t swallow(struct sk_buff *skb, struct net_device *ndev)
{
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ndev_ops = {
	.ndo_start_xmit = swallow,
};

static enum rdma_link_layer ethernet(struct ib_device *dev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int port_test_init(struct kunit *test)
{
	struct port_fixture *fix;
	struct port_netdev *priv;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fix);
	fix->dev.core = &fix->core;
	fix->dev.phys_port_cnt = PORT;
	fix->dev.ops.get_link_layer = ethernet;
	fix->core.ibdev = &fix->dev;
	fix->core.num_ports = PORT + 1;
	fix->core.ports = fix->ports;
	spin_lock_init(&fix->core.netdev_lock);

	fix->ndev = alloc_etherdev(sizeof(*priv));
	KUNIT_ASSERT_NOT_NULL(test, fix->ndev);
	priv = netdev_priv(fix->ndev);
	priv->fix = fix;
	fix->ndev->netdev_ops = &ndev_ops;
	fix->ndev->ethtool_ops = &ethtool_ops;
	eth_hw_addr_random(fix->ndev);
	test->priv = fix;
	KUNIT_ASSERT_EQ(test, register_netdev(fix->ndev), 0);
	KUNIT_ASSERT_EQ(test, 0,
			ib_device_set_netdev(&fix->dev, fix->ndev, PORT));
	return 0;
}

static void port_test_exit(struct kunit *test)
{
	struct port_fixture *fix = test->priv;

	if (!fix)
		return;
	ib_ports_forget_netdevs(&fix->dev);
	if (fix->ndev->reg_state == NETREG_REGISTERED)
		unregister_netdev(fix->ndev);
	free_netdev(fix->ndev);
}

static int ask(void *arg)
{
	struct port_fixture *fix = arg;

	fix->err = ib_get_eth_speed(&fix->dev, PORT, &fix->speed, &fix->width);
	return 0;
}

static void port_speed(struct kunit *test)
{
	struct port_fixture *fix = test->priv;

	ask(fix);
	KUNIT_EXPECT_EQ(test, fix->err, 0);
	KUNIT_EXPECT_EQ(test, fix->asked, 1);
	KUNIT_EXPECT_EQ(test, fix->speed, IB_SPEED_EDR);
	KUNIT_EXPECT_EQ(test, fix->width, IB_WIDTH_1X);
}

/* The netdev goes while somebody waits for RTNL in order to ask it. */
static void port_speed_of_a_netdev_that_goes(struct kunit *test)
{
	struct port_fixture *fix = test->priv;
	struct task_struct *task;
	int ms;

	rtnl_lock();
	task = kthread_create(ask, fix, "port_test");
	if (IS_ERR(task)) {
		rtnl_unlock();
		KUNIT_FAIL(test, "no thread");
		return;
	}
	get_task_struct(task);
	wake_up_process(task);
	for (ms = 0; ms < MAX_WAIT_MS; ms++) {
		usleep_range(1000, 2000);
		if (READ_ONCE(task->__state) & TASK_UNINTERRUPTIBLE)
			break;
	}
	unregister_netdevice(fix->ndev);
	/* As the driver does from its notifier. */
	ib_ports_forget_netdevs(&fix->dev);
	rtnl_unlock();
	kthread_stop(task);
	put_task_struct(task);

	KUNIT_EXPECT_LT(test, ms, MAX_WAIT_MS);
	KUNIT_EXPECT_EQ(test, fix->err, -ENODEV);
	KUNIT_EXPECT_EQ(test, fix->asked_late, 0);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(port_speed),
	KUNIT_CASE(port_speed_of_a_netdev_that_goes),
	{}
};

static struct kunit_suite port_suite = {
	.name = "port",
	.init = port_test_init,
	.exit = port_test_exit,
	.test_cases = port_cases,
};

kunit_test_suite(port_suite);
