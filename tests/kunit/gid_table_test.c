// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The GID table: which index an address gets, keeps and gives back, and what
 * somebody holds who still uses an address that has gone.
 *
 * The device is one that was never registered, with two netdevs of no network.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>
#include "device.h"
#include "gid_table.h"

#define TABLE_LEN 4
#define PORT 1

struct gid_fixture {
	struct ib_device dev;
	struct ib_device_core core;
	struct ib_port_core ports[PORT + 1];
	struct gid_table *table;
	struct net_device *ndev[2];
	/* What the driver was told. */
	int added;
	int deleted;
	int refuse;
	/* For the user that gives back late. */
	struct delayed_work late_work;
	const struct ib_gid_attr *late;
};

static struct gid_fixture *fixture_of(const struct ib_gid_attr *attr)
{
	return container_of(attr->device, struct gid_fixture, dev);
}

static int count_add(const struct ib_gid_attr *attr, void **context)
{
	struct gid_fixture *fix = fixture_of(attr);

	if (fix->refuse)
		return fix->refuse;
	fix->added++;
	*context = fix;
	return 0;
}

static int count_del(const struct ib_gid_attr *attr, void **context)
{
	struct gid_fixture *fix = fixture_of(attr);

	/* The context is the one that add_gid() left. */
	if (*context == fix)
		fix->deleted++;
	return 0;
}

static int gid_test_init(struct kunit *test)
{
	struct gid_fixture *fix;
	int i;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fix);
	test->priv = fix;
	fix->dev.core = &fix->core;
	fix->dev.phys_port_cnt = PORT;
	fix->dev.dev.init_name = "gid_test";
	fix->dev.ops.add_gid = count_add;
	fix->dev.ops.del_gid = count_del;
	fix->core.ibdev = &fix->dev;
	fix->core.num_ports = PORT + 1;
	fix->core.ports = fix->ports;
	for (i = 0; i < ARRAY_SIZE(fix->ndev); i++) {
		fix->ndev[i] = alloc_etherdev(0);
		KUNIT_ASSERT_NOT_NULL(test, fix->ndev[i]);
	}
	fix->table = gid_table_alloc(&fix->dev, PORT, TABLE_LEN);
	KUNIT_ASSERT_NOT_NULL(test, fix->table);
	fix->ports[PORT].gids = fix->table;
	return 0;
}

static void gid_test_exit(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	int i;

	if (!fix)
		return;
	if (fix->table) {
		gid_table_drain(fix->table);
		KUNIT_EXPECT_EQ(test, fix->added, fix->deleted);
		gid_table_free(fix->table);
	}
	for (i = 0; i < ARRAY_SIZE(fix->ndev); i++)
		if (fix->ndev[i])
			free_netdev(fix->ndev[i]);
}

/* Address number @n: 10.0.0.n as a GID. */
static union ib_gid gid_no(u8 n)
{
	union ib_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 10,
				      [15] = n } };

	return gid;
}

/* Make the table hold these addresses, all on the first netdev. */
static bool want(struct gid_fixture *fix, const u8 *numbers, int count)
{
	struct gid_wanted wanted[8];
	int i;

	for (i = 0; i < count; i++) {
		wanted[i].gid = gid_no(numbers[i]);
		wanted[i].ndev = fix->ndev[0];
	}
	return gid_table_update(fix->table, wanted, count);
}

#define WANT(fix, ...)                                                         \
	want(fix, (const u8[]){ __VA_ARGS__ },                                 \
	     sizeof((const u8[]){ __VA_ARGS__ }))

static const struct ib_gid_attr *get(struct gid_fixture *fix, int index)
{
	return rdma_get_gid_attr(&fix->dev, PORT, index);
}

/* The number of the address at an index, 0 when there is none. */
static int at(struct gid_fixture *fix, int index)
{
	union ib_gid gid;

	return rdma_query_gid(&fix->dev, PORT, index, &gid) ? 0 : gid.raw[15];
}

/* The index of an address, -1 when it has none. */
static int index_of(struct gid_fixture *fix, u8 number,
		    struct net_device *ndev)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid = gid_no(number);
	int index;

	attr = rdma_find_gid_by_port(&fix->dev, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, PORT, ndev);
	if (IS_ERR(attr))
		return -1;
	index = attr->index;
	rdma_put_gid_attr(attr);
	return index;
}

static void gid_empty(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	union ib_gid gid = gid_no(1);

	KUNIT_EXPECT_EQ(test, gid_table_top(fix->table), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(fix, 0)), -ENODATA);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(fix, -1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(fix, TABLE_LEN)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_get_gid_attr(&fix->dev, 0, 0)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_get_gid_attr(&fix->dev, 2, 0)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&fix->dev, PORT, 0, &gid),
			-ENODATA);
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, NULL), -1);
	KUNIT_EXPECT_FALSE(test, gid_table_update(fix->table, NULL, 0));
}

/* The best address has index 0, and nothing happens twice. */
static void gid_in_order(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;

	KUNIT_EXPECT_TRUE(test, WANT(fix, 5, 9, 7));
	KUNIT_EXPECT_EQ(test, at(fix, 0), 5);
	KUNIT_EXPECT_EQ(test, at(fix, 1), 9);
	KUNIT_EXPECT_EQ(test, at(fix, 2), 7);
	KUNIT_EXPECT_EQ(test, at(fix, 3), 0);
	KUNIT_EXPECT_EQ(test, index_of(fix, 9, NULL), 1);
	KUNIT_EXPECT_EQ(test, fix->added, 3);

	KUNIT_EXPECT_FALSE(test, WANT(fix, 7, 5, 9));
	KUNIT_EXPECT_EQ(test, at(fix, 0), 5);
	KUNIT_EXPECT_EQ(test, fix->added, 3);
}

static void gid_index_stays(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;

	WANT(fix, 1, 2, 3);
	KUNIT_EXPECT_TRUE(test, WANT(fix, 3, 4, 5));
	KUNIT_EXPECT_EQ(test, at(fix, 2), 3);
	KUNIT_EXPECT_EQ(test, at(fix, 0), 4);
	KUNIT_EXPECT_EQ(test, at(fix, 1), 5);
	KUNIT_EXPECT_EQ(test, fix->deleted, 2);
}

/* An index in use never comes to mean another address. */
static void gid_in_use_when_it_goes(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	const struct ib_gid_attr *attr;
	union ib_gid gid = gid_no(2);
	int before;

	before = netdev_refcnt_read(fix->ndev[0]);
	WANT(fix, 1, 2);
	attr = get(fix, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	WANT(fix, 3, 4, 5);

	/* Not found, but unchanged for who has it, and the netdev is free. */
	KUNIT_EXPECT_EQ(test, index_of(fix, 2, NULL), -1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(fix, 1)), -ENODATA);
	KUNIT_EXPECT_EQ(test, attr->index, 1);
	KUNIT_EXPECT_EQ(test, memcmp(&attr->gid, &gid, sizeof(gid)), 0);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, NULL),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, fix->deleted, 1);
	KUNIT_EXPECT_EQ(test, at(fix, 0), 3);
	KUNIT_EXPECT_EQ(test, at(fix, 2), 4);
	KUNIT_EXPECT_EQ(test, at(fix, 3), 5);

	/* A second holder is as good as the first. */
	rdma_hold_gid_attr(attr);
	rdma_put_gid_attr(attr);
	flush_workqueue(gid_wq);
	KUNIT_EXPECT_EQ(test, fix->deleted, 1);

	rdma_put_gid_attr(attr);
	flush_workqueue(gid_wq);
	KUNIT_EXPECT_EQ(test, fix->deleted, 2);
	WANT(fix, 3, 4, 5, 6);
	KUNIT_EXPECT_EQ(test, at(fix, 1), 6);

	WANT(fix, 6);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(fix->ndev[0]), before + 1);
}

/* It comes back while the old one is in use: found is the new one. */
static void gid_comes_back(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	const struct ib_gid_attr *attr;

	WANT(fix, 1);
	attr = get(fix, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	gid_table_update(fix->table, NULL, 0);
	WANT(fix, 1);
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, NULL), 1);
	rdma_put_gid_attr(attr);
	flush_workqueue(gid_wq);
	KUNIT_EXPECT_EQ(test, at(fix, 0), 0);
	KUNIT_EXPECT_EQ(test, at(fix, 1), 1);
}

static void gid_table_full(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;

	KUNIT_EXPECT_TRUE(test, WANT(fix, 1, 2, 3, 4, 5, 6));
	KUNIT_EXPECT_EQ(test, at(fix, TABLE_LEN - 1), 4);
	KUNIT_EXPECT_EQ(test, index_of(fix, 5, NULL), -1);
	KUNIT_EXPECT_EQ(test, fix->added, TABLE_LEN);
	KUNIT_EXPECT_EQ(test, ib_gids_refused(&fix->dev, PORT), 2);
	/* Those that are left out are counted once, not with each look. */
	KUNIT_EXPECT_FALSE(test, WANT(fix, 1, 2, 3, 4, 5, 6));
	KUNIT_EXPECT_EQ(test, ib_gids_refused(&fix->dev, PORT), 2);
	KUNIT_EXPECT_FALSE(test, WANT(fix, 1, 2, 3, 4, 5, 6, 7));
	KUNIT_EXPECT_EQ(test, ib_gids_refused(&fix->dev, PORT), 3);
	/* A better address takes nobody's place. */
	KUNIT_EXPECT_FALSE(test, WANT(fix, 8, 1, 2, 3, 4));
	KUNIT_EXPECT_EQ(test, index_of(fix, 4, NULL), TABLE_LEN - 1);
	KUNIT_EXPECT_EQ(test, index_of(fix, 8, NULL), -1);
	/* Room is made before it is needed. */
	KUNIT_EXPECT_TRUE(test, WANT(fix, 1, 2, 3, 6));
	KUNIT_EXPECT_EQ(test, index_of(fix, 6, NULL), TABLE_LEN - 1);
	KUNIT_EXPECT_EQ(test, ib_gids_refused(&fix->dev, PORT), 3);
	KUNIT_EXPECT_EQ(test, gid_table_top(fix->table), TABLE_LEN);
	WANT(fix, 1);
	KUNIT_EXPECT_EQ(test, gid_table_top(fix->table), 1);
}

static void gid_driver_refuses(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	int before = netdev_refcnt_read(fix->ndev[0]);

	fix->refuse = -ENOMEM;
	KUNIT_EXPECT_FALSE(test, WANT(fix, 1));
	KUNIT_EXPECT_EQ(test, at(fix, 0), 0);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(fix->ndev[0]), before);
	fix->refuse = 0;
	KUNIT_EXPECT_TRUE(test, WANT(fix, 1));
	KUNIT_EXPECT_EQ(test, at(fix, 0), 1);
}

static void gid_same_address_twice(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	struct gid_wanted both[] = {
		{ .gid = gid_no(1), .ndev = fix->ndev[0] },
		{ .gid = gid_no(1), .ndev = fix->ndev[1] },
	};

	KUNIT_EXPECT_TRUE(test, gid_table_update(fix->table, both, 2));
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, NULL), 0);
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, fix->ndev[0]), 0);
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, fix->ndev[1]), 1);
	KUNIT_EXPECT_TRUE(test, gid_table_update(fix->table, both + 1, 1));
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, fix->ndev[0]), -1);
	KUNIT_EXPECT_EQ(test, index_of(fix, 1, NULL), 1);
}

static void gid_mac_changes(struct kunit *test)
{
	static const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 9 };
	struct gid_fixture *fix = test->priv;
	const struct ib_gid_attr *attr;
	u8 smac[ETH_ALEN];
	u16 vlan;

	WANT(fix, 1);
	eth_hw_addr_set(fix->ndev[0], mac);
	KUNIT_EXPECT_TRUE(test, WANT(fix, 1));
	KUNIT_EXPECT_FALSE(test, WANT(fix, 1));
	KUNIT_EXPECT_EQ(test, fix->added, 1);

	attr = get(fix, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, &vlan, smac), 0);
	KUNIT_EXPECT_EQ(test, vlan, 0xffff);
	KUNIT_EXPECT_EQ(test, memcmp(smac, mac, sizeof(mac)), 0);
	rdma_put_gid_attr(attr);
}

static void gid_listing(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;
	struct ib_uverbs_gid_entry list[3];

	WANT(fix, 1, 2, 3);
	WANT(fix, 1, 3);
	KUNIT_EXPECT_EQ(test, rdma_query_gid_table(&fix->dev, list, 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid_table(&fix->dev, list, 3), 2);
	KUNIT_EXPECT_EQ(test, list[0].gid_index, 0);
	KUNIT_EXPECT_EQ(test, list[1].gid_index, 2);
	KUNIT_EXPECT_EQ(test, list[1].port_num, PORT);
	KUNIT_EXPECT_EQ(test, list[1].gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
}

static void give_back_late(struct work_struct *work)
{
	struct gid_fixture *fix = container_of(to_delayed_work(work),
					       struct gid_fixture, late_work);

	rdma_put_gid_attr(fix->late);
}

static void gid_drain_waits(struct kunit *test)
{
	struct gid_fixture *fix = test->priv;

	WANT(fix, 1, 2);
	fix->late = get(fix, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fix->late));
	INIT_DELAYED_WORK(&fix->late_work, give_back_late);
	schedule_delayed_work(&fix->late_work, msecs_to_jiffies(30));
	gid_table_drain(fix->table);
	KUNIT_EXPECT_EQ(test, fix->deleted, 2);
	flush_delayed_work(&fix->late_work);
}

static struct kunit_case gid_table_cases[] = {
	KUNIT_CASE(gid_empty),
	KUNIT_CASE(gid_in_order),
	KUNIT_CASE(gid_index_stays),
	KUNIT_CASE(gid_in_use_when_it_goes),
	KUNIT_CASE(gid_comes_back),
	KUNIT_CASE(gid_table_full),
	KUNIT_CASE(gid_driver_refuses),
	KUNIT_CASE(gid_same_address_twice),
	KUNIT_CASE(gid_mac_changes),
	KUNIT_CASE(gid_listing),
	KUNIT_CASE(gid_drain_waits),
	{}
};

static struct kunit_suite gid_table_suite = {
	.name = "gid_table",
	.init = gid_test_init,
	.exit = gid_test_exit,
	.test_cases = gid_table_cases,
};

kunit_test_suite(gid_table_suite);
