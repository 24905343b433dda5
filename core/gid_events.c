// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * GID tables follow the addresses of the network.
 *
 * Notifiers say no more than "look again": they may run in atomic context and
 * under RTNL, often before the change they announce is complete.  One work item
 * then compares each port's table with the addresses that are there.  Events
 * cannot be lost, reordered or misread this way, and a burst of them costs one
 * look.
 *
 * Looking takes no RTNL, since RCU and the IPv6 device's own lock are enough.
 * So a netdev or a namespace whose unregistration waits under RTNL for a table
 * to let go of it gets what it waits for.
 */
#include <linux/if_macvlan.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/bonding.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "gid_table.h"

/*
 * The end of duplicate address detection is not announced, nor does a netdev
 * that comes back tell when its tentative addresses have become usable.
 */
#define TENTATIVE_RECHECK msecs_to_jiffies(200)

static void gid_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(gid_work, gid_work_fn);

/* Collecting and updating belong together: the later look has to win. */
static DEFINE_MUTEX(gid_sync_lock);

/**
 * struct gid_look - a look at the addresses of a port
 * @ndev: the port's netdev
 * @found: usable addresses, their netdevs held
 * @count: how many there are, in @found or not
 * @room: how many @found has room for; further ones are counted only
 * @pending: some address is going to be usable soon
 */
struct gid_look {
	struct net_device *ndev;
	struct gid_wanted *found;
	int count;
	int room;
	bool pending;
};

static void look_add(struct gid_look *look, struct net_device *ndev,
		     const struct in6_addr *addr)
{
	struct gid_wanted *want;

	if (look->count++ >= look->room)
		return;
	want = &look->found[look->count - 1];
	memcpy(&want->gid, addr, sizeof(want->gid));
	want->ndev = ndev;
	dev_hold(ndev);
}

static void look_at_ipv4(struct gid_look *look, struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	struct in_ifaddr *ifa;
	struct in6_addr addr;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		ipv6_addr_set_v4mapped(ifa->ifa_local, &addr);
		look_add(look, ndev, &addr);
	}
}

#if IS_ENABLED(CONFIG_IPV6)
/* May packets be sent from this address already, and still? */
static bool ipv6_usable(struct gid_look *look, struct net_device *ndev,
			const struct inet6_ifaddr *ifp)
{
	u32 flags = READ_ONCE(ifp->flags);

	if (READ_ONCE(ifp->state) == INET6_IFADDR_STATE_DEAD ||
	    flags & IFA_F_DADFAILED)
		return false;
	if (!(flags & IFA_F_TENTATIVE) || flags & IFA_F_OPTIMISTIC)
		return true;
	/* Without a carrier the detection waits, and its event will come. */
	if (netif_running(ndev) && netif_carrier_ok(ndev))
		look->pending = true;
	return false;
}

static void look_at_ipv6(struct gid_look *look, struct net_device *ndev,
			 bool link_local)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifp;

	if (!idev)
		return;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifp, &idev->addr_list, if_list) {
		if (!!(ipv6_addr_type(&ifp->addr) & IPV6_ADDR_LINKLOCAL) ==
			    link_local &&
		    ipv6_usable(look, ndev, ifp))
			look_add(look, ndev, &ifp->addr);
	}
	read_unlock_bh(&idev->lock);
}
#else
static void look_at_ipv6(struct gid_look *look, struct net_device *ndev,
			 bool link_local)
{
}
#endif

/*
 * Does another netdev take all that comes in on @ndev?  A bond, a team and a
 * bridge do with their ports: no packet reaches the address of one.  A VRF does
 * not: its ports keep their addresses, and so does the netdev below a macvlan.
 */
static bool is_port_of_another(struct net_device *ndev)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(ndev);

	return master && (netif_is_lag_master(master) ||
			  netif_is_bridge_master(master) ||
			  netif_is_ovs_master(master));
}

/*
 * The order decides about indexes when a link is made.  No entry is derived
 * from the MAC address: an address that the netdev does not have answers no
 * neighbour, and whoever picks index 0 would hang on it.
 */
static void look_at_netdev(struct gid_look *look, struct net_device *ndev)
{
	if (READ_ONCE(ndev->reg_state) != NETREG_REGISTERED ||
	    is_port_of_another(ndev))
		return;
	look_at_ipv6(look, ndev, true);
	look_at_ipv4(look, ndev);
	look_at_ipv6(look, ndev, false);
}

/*
 * Does what an upper device sends leave through the port's netdev?  That is so
 * for VLANs and macvlans on it, and for a bond of which it is a part, unless
 * the bond has chosen another part.
 */
static bool sends_through(struct net_device *upper, struct net_device *ndev)
{
	struct net_device *active;
	struct bonding *bond;

	while (upper != ndev) {
		if (is_vlan_dev(upper)) {
			upper = vlan_dev_real_dev(upper);
		} else if (netif_is_macvlan(upper)) {
			upper = macvlan_dev_real_dev(upper);
		} else if (netif_is_lag_master(upper)) {
			if (netdev_master_upper_dev_get_rcu(ndev) != upper)
				return false;
			if (!netif_is_bond_master(upper))
				return true;
			bond = netdev_priv(upper);
			active = bond_option_active_slave_get_rcu(bond);
			return !active || active == ndev;
		} else {
			return false;
		}
	}
	return true;
}

static int look_at_upper(struct net_device *upper,
			 struct netdev_nested_priv *priv)
{
	struct gid_look *look = priv->data;

	/* An upper in a container belongs to that, not to this device. */
	if (net_eq(dev_net(upper), dev_net(look->ndev)) &&
	    sends_through(upper, look->ndev))
		look_at_netdev(look, upper);
	return 0;
}

static void look_at_port(struct gid_look *look)
{
	struct netdev_nested_priv priv = { .data = look };

	look->count = 0;
	look->pending = false;
	rcu_read_lock();
	look_at_netdev(look, look->ndev);
	/* While the port's netdev goes its uppers do not count either. */
	if (READ_ONCE(look->ndev->reg_state) == NETREG_REGISTERED)
		netdev_walk_all_upper_dev_rcu(look->ndev, look_at_upper, &priv);
	rcu_read_unlock();
}

static void look_end(struct gid_look *look)
{
	int i;

	for (i = 0; i < min(look->count, look->room); i++)
		dev_put(look->found[i].ndev);
	kvfree(look->found);
	look->found = NULL;
}

/*
 * All addresses, also when they are more than the table takes: which of them
 * have an index already is for the table to know.
 */
static int look_at_all(struct gid_look *look)
{
	do {
		look_end(look);
		look->room = max(look->count + look->count / 4, 16);
		look->found = kvmalloc_array(look->room, sizeof(*look->found),
					     GFP_KERNEL);
		if (!look->found)
			return -ENOMEM;
		look_at_port(look);
	} while (look->count > look->room);
	return 0;
}

/* Returns true when the port wants to be looked at again soon. */
static bool sync_port(struct ib_device *dev, u32 port)
{
	struct ib_port_core *core = ib_device_port(dev, port);
	struct ib_event event = { .device = dev };
	struct gid_look look = {};
	bool changed = false;
	int err = 0;

	if (!core->immutable.gid_tbl_len ||
	    !rdma_protocol_roce_udp_encap(dev, port))
		return false;
	mutex_lock(&gid_sync_lock);
	look.ndev = ib_device_get_netdev(dev, port);
	if (look.ndev) {
		err = look_at_all(&look);
		dev_put(look.ndev);
	}
	/* Of a device that goes it may be freed already. */
	if (core->gids && !err)
		changed = gid_table_update(core->gids, look.found, look.count);
	mutex_unlock(&gid_sync_lock);
	if (err)
		return true;
	look_end(&look);

	if (changed) {
		/* Who hears of it may look there. */
		ib_device_views_grow(dev);
		event.event = IB_EVENT_GID_CHANGE;
		event.element.port_num = port;
		ib_dispatch_event(&event);
	}
	return look.pending;
}

static bool sync_device(struct ib_device *dev)
{
	bool pending = false;
	u32 port;

	rdma_for_each_port(dev, port)
		pending |= sync_port(dev, port);
	return pending;
}

/*
 * Of a device that is unpublished, but not yet unregistered, the tables let go
 * of their netdevs here: what unregistration waits for these do not.
 */
static bool sync_any_device(struct ib_device *dev)
{
	bool pending = false;

	if (ib_device_try_get(dev)) {
		pending = sync_device(dev);
		ib_device_put(dev);
	} else if (test_bit(IB_DEVICE_UNPUBLISHED, &dev->core->flags)) {
		sync_device(dev);
	}
	return pending;
}

static void gid_work_fn(struct work_struct *work)
{
	struct ib_device *dev;
	bool pending = false;
	u32 i;

	ib_for_each_device_memory(dev, i)
		pending |= sync_any_device(dev);
	if (pending)
		queue_delayed_work(gid_wq, &gid_work, TENTATIVE_RECHECK);
}

/**
 * gid_table_sync - bring a device's tables up to date now
 * @dev: a published device that the caller keeps from going
 *
 * Context: process, sleeps; without a lock that add_gid() or del_gid() takes.
 */
void gid_table_sync(struct ib_device *dev)
{
	if (sync_device(dev))
		queue_delayed_work(gid_wq, &gid_work, TENTATIVE_RECHECK);
}

/**
 * gid_table_setup - make empty tables for all ports of a device
 * @dev: a device that nobody else knows yet
 *
 * Context: process.
 * Return: 0, or -ENOMEM; then gid_table_release() undoes what was done.
 */
int gid_table_setup(struct ib_device *dev)
{
	struct ib_port_core *core;
	u32 port;

	rdma_for_each_port(dev, port) {
		core = ib_device_port(dev, port);
		core->gids = gid_table_alloc(dev, port,
					     core->immutable.gid_tbl_len);
		if (!core->gids)
			return -ENOMEM;
	}
	return 0;
}

/**
 * gid_table_cleanup - empty the tables and wait for the users of their entries
 * @dev: an unpublished device without a user
 *
 * Context: process, sleeps.
 */
void gid_table_cleanup(struct ib_device *dev)
{
	u32 port;

	rdma_for_each_port(dev, port)
		if (ib_device_port(dev, port)->gids)
			gid_table_drain(ib_device_port(dev, port)->gids);
}

/**
 * gid_table_release - free the tables
 * @dev: a device after gid_table_cleanup(), or one that never was published
 *
 * Context: process.
 */
void gid_table_release(struct ib_device *dev)
{
	struct ib_port_core *core;
	u32 port;

	mutex_lock(&gid_sync_lock);
	rdma_for_each_port(dev, port) {
		core = ib_device_port(dev, port);
		gid_table_free(core->gids);
		core->gids = NULL;
	}
	mutex_unlock(&gid_sync_lock);
}

/**
 * gid_tables_look_again - have all tables compared with the addresses, soon
 *
 * Context: any.
 */
void gid_tables_look_again(void)
{
	mod_delayed_work(gid_wq, &gid_work, 0);
}

static int look_again(void)
{
	gid_tables_look_again();
	return NOTIFY_DONE;
}

static int on_netdev_event(struct notifier_block *nb, unsigned long event,
			   void *info)
{
	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEADDR:
	case NETDEV_CHANGEUPPER:
	case NETDEV_BONDING_FAILOVER:
		return look_again();
	default:
		return NOTIFY_DONE;
	}
}

static int on_address_event(struct notifier_block *nb, unsigned long event,
			    void *info)
{
	return look_again();
}

static struct notifier_block netdev_notifier = {
	.notifier_call = on_netdev_event,
};

static struct notifier_block inet_notifier = {
	.notifier_call = on_address_event,
};

static struct notifier_block inet6_notifier = {
	.notifier_call = on_address_event,
};

/**
 * gid_events_init - begin to follow the network
 *
 * Context: process, module init.
 * Return: 0, or a negative errno.
 */
int gid_events_init(void)
{
	int ret;

	gid_wq = alloc_ordered_workqueue("softroce_gid", 0);
	if (!gid_wq)
		return -ENOMEM;
	ret = register_inetaddr_notifier(&inet_notifier);
	if (ret)
		goto destroy_wq;
	ret = register_inet6addr_notifier(&inet6_notifier);
	if (ret)
		goto unregister_inet;
	ret = register_netdevice_notifier(&netdev_notifier);
	if (ret)
		goto unregister_inet6;
	return 0;

unregister_inet6:
	unregister_inet6addr_notifier(&inet6_notifier);
unregister_inet:
	unregister_inetaddr_notifier(&inet_notifier);
	cancel_delayed_work_sync(&gid_work);
destroy_wq:
	destroy_workqueue(gid_wq);
	return ret;
}

/**
 * gid_events_exit - stop following the network
 *
 * Context: process, module exit; no device is left.
 */
void gid_events_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	unregister_inet6addr_notifier(&inet6_notifier);
	unregister_inetaddr_notifier(&inet_notifier);
	cancel_delayed_work_sync(&gid_work);
	destroy_workqueue(gid_wq);
}
