// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Fixtures of the suites in rdma_rxe.ko. */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rtnetlink.h>
#include <linux/scatterlist.h>
#include <net/addrconf.h>
#include "rxe_fixture.h"
#include "rxe_net.h"

static void put_counters(void *counters)
{
	free_percpu((struct rxe_counters __percpu *)counters);
}

struct rxe_dev *fake_dev(struct kunit *test)
{
	struct rxe_dev *rxe = kunit_kzalloc(test, sizeof(*rxe), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rxe);
	rxe->ib.num_comp_vectors = 1;
	xa_init_flags(&rxe->qp_counts, XA_FLAGS_ALLOC1);
	spin_lock_init(&rxe->route_lock);
	rxe_lanes_init(&rxe->lanes);
	rxe->counters = alloc_percpu(struct rxe_counters);
	KUNIT_ASSERT_NOT_NULL(test, (void *)rxe->counters);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, put_counters,
						  (void *)rxe->counters));
	return rxe;
}

/* ---- links ---- */

#define WAIT_FOR_GID_MS 10000

static netdev_tx_t swallow(struct sk_buff *skb, struct net_device *ndev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops ndev_ops = {
	.ndo_start_xmit = swallow,
};

static void end_netdev(void *ndev)
{
	unregister_netdev(ndev);
	free_netdev(ndev);
}

static void end_link(void *arg)
{
	struct rxe_dev *rxe = arg;

	if (ib_device_try_get(&rxe->ib))
		ib_unregister_device_and_put(&rxe->ib);
}

static struct net_device *real_netdev(struct kunit *test, const char *name)
{
	struct net_device *ndev = alloc_etherdev(0);
	int err;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	strscpy(ndev->name, name, sizeof(ndev->name));
	ndev->netdev_ops = &ndev_ops;
	/* Nobody is asked whether an address is free: it is good at once. */
	ndev->flags |= IFF_NOARP;
	eth_hw_addr_random(ndev);
	err = register_netdev(ndev);
	if (err)
		free_netdev(ndev);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, end_netdev, ndev));
	rtnl_lock();
	err = dev_open(ndev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	return ndev;
}

static bool has_gid(struct rxe_dev *rxe, const struct in6_addr *addr)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid(&rxe->ib, (const union ib_gid *)addr,
			     IB_GID_TYPE_ROCE_UDP_ENCAP, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

struct rxe_dev *real_link(struct kunit *test, const char *name,
			  struct in6_addr *addr)
{
	struct net_device *ndev = real_netdev(test, name);
	struct netlink_ext_ack extack = {};
	struct rxe_dev *rxe;
	int ms;

	KUNIT_ASSERT_EQ(test, rxe_link_add(name, ndev, &extack), 0);
	rcu_read_lock();
	rxe = rxe_net_find(&init_net, ndev);
	rcu_read_unlock();
	KUNIT_ASSERT_NOT_NULL(test, rxe);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end_link, rxe));
	ipv6_addr_set(addr, cpu_to_be32(0xfe800000), 0, 0, 0);
	addrconf_addr_eui48(addr->s6_addr + 8, (const char *)ndev->dev_addr);
	for (ms = 0; !has_gid(rxe, addr) && ms < WAIT_FOR_GID_MS; ms += 20)
		msleep(20);
	KUNIT_ASSERT_TRUE(test, has_gid(rxe, addr));
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
