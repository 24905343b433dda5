// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The host's memberships of multicast groups. */
#include <linux/hashtable.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include "rxe_join.h"
#include "rxe_ndev.h"

/**
 * struct rxe_join - a group's membership on a netdev, or the wish for one
 * @entry: in rxe_joins.list, or in the list of those that are wanted
 * @node: in join_table, while it is a membership; under RTNL
 * @joins: the group
 * @ndev: the netdev; held as long as it is only wanted
 * @rcu: delays the freeing for those who receive
 */
struct rxe_join {
	struct list_head entry;
	struct hlist_node node;
	struct rxe_joins *joins;
	struct net_device *ndev;
	struct rcu_head rcu;
};

/* All memberships, by netdev.  RTNL. */
static DEFINE_HASHTABLE(join_table, 8);

static unsigned long join_key(const struct net_device *ndev)
{
	return (unsigned long)ndev;
}

/* ---- the network ---- */

#if IS_ENABLED(CONFIG_IPV6)
static int join6(struct net_device *ndev, const union ib_gid *mgid)
{
	int ret = ipv6_dev_mc_inc(ndev, (const struct in6_addr *)mgid);

	/* It says so where IPv6 is switched off. */
	return ret == -EINVAL ? -EADDRNOTAVAIL : ret;
}

static void leave6(struct net_device *ndev, const union ib_gid *mgid)
{
	ipv6_dev_mc_dec(ndev, (const struct in6_addr *)mgid);
}
#else
static int join6(struct net_device *ndev, const union ib_gid *mgid)
{
	return -EAFNOSUPPORT;
}

static void leave6(struct net_device *ndev, const union ib_gid *mgid)
{
}
#endif

static int join4(struct net_device *ndev, const union ib_gid *mgid)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -EADDRNOTAVAIL;
	ip_mc_inc_group(in_dev, ((const struct in6_addr *)mgid)->s6_addr32[3]);
	return 0;
}

static void leave4(struct net_device *ndev, const union ib_gid *mgid)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev,
				((const struct in6_addr *)mgid)->s6_addr32[3]);
}

/* ---- one membership ---- */

static void forget(struct rxe_join *join)
{
	ASSERT_RTNL();
	hash_del(&join->node);
	list_del_rcu(&join->entry);
	atomic_dec(&join->joins->rxe->num_mcast_join);
	kfree_rcu(join, rcu);
}

static void leave(struct rxe_join *join)
{
	const union ib_gid *mgid = &join->joins->mgid;

	if (rdma_gid_is_ipv4(mgid))
		leave4(join->ndev, mgid);
	else
		leave6(join->ndev, mgid);
	forget(join);
}

/* Make a membership of @want, which then belongs to the group. */
static int join(struct rxe_joins *joins, struct rxe_join *want)
{
	const union ib_gid *mgid = &joins->mgid;
	int ret;

	/* Nobody would tell that one that is going, or has moved, has gone. */
	if (want->ndev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(want->ndev), READ_ONCE(joins->rxe->net)))
		return -ENODEV;
	ret = rxe_count_object(&joins->rxe->num_mcast_join, RXE_MAX_MCAST_JOIN);
	if (ret)
		return ret;
	ret = rdma_gid_is_ipv4(mgid) ? join4(want->ndev, mgid) :
				       join6(want->ndev, mgid);
	if (ret) {
		atomic_dec(&joins->rxe->num_mcast_join);
		return ret;
	}
	list_del(&want->entry);
	dev_put(want->ndev);
	want->joins = joins;
	hash_add(join_table, &want->node, join_key(want->ndev));
	list_add_tail_rcu(&want->entry, &joins->list);
	return 0;
}

/* ---- where to join ---- */

static struct rxe_join *find_in(const struct list_head *list,
				const struct net_device *ndev)
{
	struct rxe_join *join;

	list_for_each_entry(join, list, entry)
		if (join->ndev == ndev)
			return join;
	return NULL;
}

static int want(struct list_head *wanted, struct net_device *ndev)
{
	struct rxe_join *join;

	if (find_in(wanted, ndev))
		return 0;
	join = kzalloc(sizeof(*join), GFP_KERNEL_ACCOUNT);
	if (!join)
		return -ENOMEM;
	dev_hold(ndev);
	join->ndev = ndev;
	list_add_tail(&join->entry, wanted);
	return 0;
}

/* The netdev of an address, held; NULL: it has gone. */
static struct net_device *hold_ndev(const struct ib_gid_attr *attr)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	if (ndev)
		dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/* All netdevs that the link has an address of the group's family on. */
static int want_all(const struct rxe_joins *joins, struct list_head *wanted)
{
	const bool ipv4 = rdma_gid_is_ipv4(&joins->mgid);
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	int i, ret = 0;

	for (i = 0; !ret; i++) {
		attr = rdma_get_gid_attr(&joins->rxe->ib, 1, i);
		if (PTR_ERR(attr) == -EINVAL)
			break;
		if (IS_ERR(attr))
			continue;
		ndev = NULL;
		if (rdma_gid_is_ipv4(&attr->gid) == ipv4)
			ndev = hold_ndev(attr);
		rdma_put_gid_attr(attr);
		if (!ndev)
			continue;
		ret = want(wanted, ndev);
		dev_put(ndev);
	}
	return ret;
}

/* Without any address yet: the link's own, as long as there is one. */
static int want_own(const struct rxe_joins *joins, struct list_head *wanted)
{
	struct net_device *ndev;
	int ret;

	rcu_read_lock();
	ndev = READ_ONCE(joins->rxe->ndev);
	if (ndev)
		dev_hold(ndev);
	rcu_read_unlock();
	if (!ndev)
		return -ENODEV;
	ret = want(wanted, ndev);
	dev_put(ndev);
	return ret;
}

static void drop_wanted(struct list_head *wanted)
{
	struct rxe_join *join, *next;

	list_for_each_entry_safe(join, next, wanted, entry) {
		dev_put(join->ndev);
		kfree(join);
	}
}

static void leave_unwanted(struct rxe_joins *joins,
			   const struct list_head *wanted)
{
	struct rxe_join *join, *next;

	list_for_each_entry_safe(join, next, &joins->list, entry)
		if (!find_in(wanted, join->ndev))
			leave(join);
}

/* Where there is no such protocol, or no netdev any more, there is nothing to join. */
static int join_wanted(struct rxe_joins *joins, struct list_head *wanted)
{
	struct rxe_join *join_new, *next;
	int ret = 0, err;

	list_for_each_entry_safe(join_new, next, wanted, entry) {
		if (find_in(&joins->list, join_new->ndev))
			continue;
		err = join(joins, join_new);
		if (err && (!ret || ret == -EADDRNOTAVAIL || ret == -ENODEV))
			ret = err;
	}
	if ((ret == -EADDRNOTAVAIL || ret == -ENODEV) &&
	    !list_empty(&joins->list))
		return 0;
	return ret;
}

void rxe_joins_init(struct rxe_joins *joins, struct rxe_dev *rxe,
		    const union ib_gid *mgid)
{
	joins->rxe = rxe;
	joins->mgid = *mgid;
	INIT_LIST_HEAD(&joins->list);
}

int rxe_joins_update(struct rxe_joins *joins)
{
	LIST_HEAD(wanted);
	int ret;

	ret = want_all(joins, &wanted);
	/* Addresses that have gone may be on their way back: stay. */
	if (!ret && list_empty(&wanted) && list_empty(&joins->list))
		ret = want_own(joins, &wanted);
	if (!ret && !list_empty(&wanted)) {
		rtnl_lock();
		leave_unwanted(joins, &wanted);
		ret = join_wanted(joins, &wanted);
		rtnl_unlock();
	}
	drop_wanted(&wanted);
	return ret;
}

void rxe_joins_end(struct rxe_joins *joins)
{
	struct rxe_join *join, *next;

	rtnl_lock();
	list_for_each_entry_safe(join, next, &joins->list, entry)
		leave(join);
	rtnl_unlock();
}

/* Whether @ndev, which is there, still has the protocol of the group. */
static bool join_holds(const struct rxe_join *join,
		       const struct net_device *ndev)
{
	if (rdma_gid_is_ipv4(&join->joins->mgid))
		return __in_dev_get_rtnl(ndev);
	return IS_ENABLED(CONFIG_IPV6) && __in6_dev_get(ndev);
}

void rxe_joins_forget(const struct net_device *ndev, bool gone)
{
	struct hlist_node *next;
	struct rxe_join *join;

	hash_for_each_possible_safe(join_table, join, next, node,
				    join_key(ndev))
		if (join->ndev == ndev && (gone || !join_holds(join, ndev)))
			forget(join);
}

/* ---- packets ---- */

bool rxe_joins_has(const struct rxe_joins *joins, const struct net_device *ndev)
{
	const struct rxe_join *join;

	list_for_each_entry_rcu(join, &joins->list, entry)
		if (join->ndev == ndev)
			return true;
	return false;
}

/*
 * A netdev hands what comes in from outside to each macvlan above it as well.  The
 * first one of those takes it for all.
 */
bool rxe_joins_doubled(const struct rxe_joins *joins,
		       const struct net_device *ndev)
{
	const struct net_device *real = rxe_ndev_below(ndev);
	const struct rxe_join *join;

	list_for_each_entry_rcu(join, &joins->list, entry)
		if (netif_is_macvlan(join->ndev) &&
		    rxe_ndev_below(join->ndev) == real &&
		    netif_running(join->ndev))
			return join->ndev != ndev;
	return false;
}
