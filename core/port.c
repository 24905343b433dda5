// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is said about a port: asked of the driver, or as of the last event.
 *
 * Lifetime: the ports are allocated when the driver names the first netdev or
 * registers, and freed with the device's memory.  A port's netdev is held from
 * ib_device_set_netdev() until it is replaced or the device is unpublished:
 * then every netdev is let go at once, since a netdev that is being
 * unregistered waits for us with the whole machine's network behind it.
 */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <device.h>

/* IBTA vol. 1, 10.9.1.1: a P_Key's number, and its holder's membership. */
#define PKEY_NUMBER 0x7fff
#define PKEY_FULL_MEMBER 0x8000

union ib_gid zgid;
EXPORT_SYMBOL(zgid);

/* fe80::/64, where every IB subnet starts (IBTA vol. 1, 4.1.1). */
#define DEFAULT_SUBNET_PREFIX 0xfe80000000000000ULL

/* NULL for a port that is not there. */
struct ib_port_core *ib_device_port(const struct ib_device *dev, u32 port)
{
	if (!dev->core->ports || !rdma_is_port_valid(dev, port))
		return NULL;
	return &dev->core->ports[port];
}

int ib_ports_alloc(struct ib_device *dev)
{
	struct ib_device_core *core = dev->core;
	u32 count = rdma_end_port(dev) + 1;

	if (core->ports)
		return core->num_ports == count ? 0 : -EINVAL;
	if (!dev->is_switch && !dev->phys_port_cnt)
		return -EINVAL;

	core->ports = kcalloc(count, sizeof(*core->ports), GFP_KERNEL_ACCOUNT);
	if (!core->ports)
		return -ENOMEM;
	core->num_ports = count;
	return 0;
}

static void refresh_pkeys(struct ib_device *dev, u32 port)
{
	struct ib_port_core *p = ib_device_port(dev, port);
	u16 pkey;
	int i;

	for (i = 0; i < p->immutable.pkey_tbl_len; i++)
		if (!ib_query_pkey(dev, port, i, &pkey))
			WRITE_ONCE(p->pkeys[i], pkey);
}

/* Asks the driver again for what ib_get_cached_*() answer. */
void ib_port_refresh(struct ib_device *dev, u32 port)
{
	struct ib_port_core *p = ib_device_port(dev, port);
	struct ib_port_attr attr;

	if (!p)
		return;
	if (!ib_query_port(dev, port, &attr))
		WRITE_ONCE(p->state, attr.state);
	refresh_pkeys(dev, port);
}

int ib_ports_setup(struct ib_device *dev)
{
	struct ib_port_core *p;
	u32 port;
	int err;

	err = ib_ports_alloc(dev);
	if (err)
		return err;

	rdma_for_each_port(dev, port) {
		p = &dev->core->ports[port];
		err = dev->ops.get_port_immutable(dev, port, &p->immutable);
		if (err)
			return err;
		if (p->immutable.pkey_tbl_len < 0 ||
		    p->immutable.pkey_tbl_len > U16_MAX ||
		    p->immutable.gid_tbl_len < 0 ||
		    p->immutable.gid_tbl_len > U16_MAX)
			return -EINVAL;

		p->pkeys = kcalloc(p->immutable.pkey_tbl_len, sizeof(u16),
				   GFP_KERNEL_ACCOUNT);
		if (!p->pkeys)
			return -ENOMEM;
		ib_port_refresh(dev, port);
	}
	return 0;
}

/* Undoes all or part of ib_ports_setup(). */
void ib_ports_release(struct ib_device *dev)
{
	u32 port;

	rdma_for_each_port(dev, port) {
		struct ib_port_core *p = ib_device_port(dev, port);

		if (!p)
			break;
		kfree(p->pkeys);
		p->pkeys = NULL;
	}
}

/* Any context. */
static int set_netdev(struct ib_device *dev, struct ib_port_core *p,
		      struct net_device *ndev)
{
	struct ib_device_core *core = dev->core;
	struct net_device *old;
	int err = 0;

	spin_lock_bh(&core->netdev_lock);
	if (ndev && test_bit(IB_DEVICE_UNPUBLISHED, &core->flags)) {
		err = -ENODEV;
		goto unlock;
	}
	old = rcu_dereference_protected(p->netdev,
					lockdep_is_held(&core->netdev_lock));
	if (old == ndev)
		goto unlock;

	rcu_assign_pointer(p->netdev, ndev);
	netdev_put(old, &p->netdev_tracker);
	netdev_hold(ndev, &p->netdev_tracker, GFP_ATOMIC);
unlock:
	spin_unlock_bh(&core->netdev_lock);
	return err;
}

void ib_ports_forget_netdevs(struct ib_device *dev)
{
	u32 port;

	rdma_for_each_port(dev, port) {
		struct ib_port_core *p = ib_device_port(dev, port);

		if (p)
			set_netdev(dev, p, NULL);
	}
}

/**
 * ib_device_set_netdev - tell which netdev carries a port
 * @ib_dev: the device, not registered yet unless @ndev is NULL
 * @ndev: the netdev, which the core holds from now on; NULL: none
 * @port: the port
 *
 * The driver gives the netdev back, with NULL, when that is unregistered, or
 * unregisters the device; ib_unregister_device_queued() is enough.
 *
 * Context: process or RTNL, before registration; any with NULL.
 * Return: 0; -EINVAL for a port that is not there; -EBUSY for another netdev
 * after registration; -ENOMEM; -ENODEV when the device is going.
 */
int ib_device_set_netdev(struct ib_device *ib_dev, struct net_device *ndev,
			 u32 port)
{
	struct ib_port_core *p;
	int err;

	if (ndev && refcount_read(&ib_dev->core->refs))
		return -EBUSY;
	if (!ib_dev->core->ports) {
		err = ib_ports_alloc(ib_dev);
		if (err)
			return err;
	}
	p = ib_device_port(ib_dev, port);
	return p ? set_netdev(ib_dev, p, ndev) : -EINVAL;
}
EXPORT_SYMBOL(ib_device_set_netdev);

/**
 * ib_device_get_netdev - the netdev that carries a port
 * @ib_dev: the device
 * @port: the port
 *
 * What is asked of the netdev's driver is asked under RTNL, taken before this is
 * called: without it the netdev's unregistration may begin at any moment.
 *
 * Context: any but interrupts; process, RTNL included, when the driver has a
 *	get_netdev of its own.
 * Return: the netdev, with a dev_hold() for the caller, or NULL when there is
 * none or it is being unregistered.
 */
struct net_device *ib_device_get_netdev(struct ib_device *ib_dev, u32 port)
{
	struct ib_port_core *p = ib_device_port(ib_dev, port);
	struct ib_device_core *core = ib_dev->core;
	struct net_device *ndev;

	if (!p)
		return NULL;

	if (ib_dev->ops.get_netdev) {
		ndev = ib_dev->ops.get_netdev(ib_dev, port);
	} else {
		/*
		 * RCU would not do: the netdev's end may wait for this pointer
		 * to be cleared alone, and not for readers then.
		 */
		spin_lock_bh(&core->netdev_lock);
		ndev = rcu_dereference_protected(p->netdev,
						 lockdep_is_held(&core->netdev_lock));
		dev_hold(ndev);
		spin_unlock_bh(&core->netdev_lock);
	}

	if (ndev && READ_ONCE(ndev->reg_state) != NETREG_REGISTERED) {
		dev_put(ndev);
		return NULL;
	}
	return ndev;
}
EXPORT_SYMBOL(ib_device_get_netdev);

/**
 * ib_query_port - ask a driver for the state of a port
 * @device: the device, registered
 * @port_num: the port
 * @port_attr: result
 *
 * Context: process, without RTNL.
 * Return: 0; -EINVAL for a port that is not there; the driver's error.
 */
int ib_query_port(struct ib_device *device, u32 port_num,
		  struct ib_port_attr *port_attr)
{
	int err;

	memset(port_attr, 0, sizeof(*port_attr));
	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;

	err = device->ops.query_port(device, port_num, port_attr);
	if (!err && !port_attr->subnet_prefix)
		port_attr->subnet_prefix = DEFAULT_SUBNET_PREFIX;
	return err;
}
EXPORT_SYMBOL(ib_query_port);

/**
 * ib_query_pkey - ask a driver for a P_Key
 * @device: the device, registered
 * @port_num: the port
 * @index: in the port's P_Key table
 * @pkey: result
 *
 * Context: process.
 * Return: 0; -EINVAL for a port or index that is not there; -EOPNOTSUPP for a
 * device without P_Keys; the driver's error.
 */
int ib_query_pkey(struct ib_device *device, u32 port_num, u16 index,
		  u16 *pkey)
{
	struct ib_port_core *p = ib_device_port(device, port_num);

	if (!p || index >= p->immutable.pkey_tbl_len)
		return -EINVAL;
	if (!device->ops.query_pkey)
		return -EOPNOTSUPP;
	return device->ops.query_pkey(device, port_num, index, pkey);
}
EXPORT_SYMBOL(ib_query_pkey);

/**
 * ib_get_cached_pkey - a P_Key as of the last P_Key event
 * @device_handle: the device, registered
 * @port_num: the port
 * @index: in the port's P_Key table
 * @pkey: result
 *
 * Context: any.
 * Return: 0, or -EINVAL for a port or index that is not there.
 */
int ib_get_cached_pkey(struct ib_device *device_handle, u32 port_num,
		       int index, u16 *pkey)
{
	struct ib_port_core *p = ib_device_port(device_handle, port_num);

	if (!p || index < 0 || index >= p->immutable.pkey_tbl_len)
		return -EINVAL;
	*pkey = READ_ONCE(p->pkeys[index]);
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_pkey);

/**
 * ib_find_cached_pkey - where a P_Key stands, as of the last P_Key event
 * @device: the device, registered
 * @port_num: the port
 * @pkey: the P_Key; whether of a full or a limited member does not count
 * @index: result: the first that fits, of a full member where there is one
 *
 * Context: any.
 * Return: 0; -EINVAL for a port that is not there; -ENOENT.
 */
int ib_find_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey,
			u16 *index)
{
	struct ib_port_core *p = ib_device_port(device, port_num);
	int limited = -1;
	u16 here;
	int i;

	if (!p)
		return -EINVAL;
	for (i = 0; i < p->immutable.pkey_tbl_len; i++) {
		here = READ_ONCE(p->pkeys[i]);
		if ((here ^ pkey) & PKEY_NUMBER)
			continue;
		if (here & PKEY_FULL_MEMBER) {
			*index = i;
			return 0;
		}
		if (limited < 0)
			limited = i;
	}
	if (limited < 0)
		return -ENOENT;
	*index = limited;
	return 0;
}
EXPORT_SYMBOL(ib_find_cached_pkey);

/**
 * ib_find_pkey - where a P_Key stands
 * @device: the device, registered
 * @port_num: the port
 * @pkey: the P_Key; whether of a full or a limited member does not count
 * @index: result: the first that fits, of a full member where there is one
 *
 * Context: process.
 * Return: 0; -EINVAL for a port that is not there; -ENOENT.
 */
int ib_find_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	/* The table is read anew at each event of a change. */
	return ib_find_cached_pkey(device, port_num, pkey, index);
}
EXPORT_SYMBOL(ib_find_pkey);

/**
 * ib_get_cached_port_state - a port's state as of the last port event
 * @device: the device, registered
 * @port_num: the port
 * @port_active: result
 *
 * Context: any.
 * Return: 0, or -EINVAL for a port that is not there.
 */
int ib_get_cached_port_state(struct ib_device *device, u32 port_num,
			     enum ib_port_state *port_active)
{
	struct ib_port_core *p = ib_device_port(device, port_num);

	if (!p)
		return -EINVAL;
	*port_active = READ_ONCE(p->state);
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_port_state);

/**
 * ib_modify_port - change the capabilities that a port announces
 * @device: the device, registered
 * @port_num: the port
 * @port_modify_mask: what of the port
 * @port_modify: to which values
 *
 * A RoCE port announces nothing to a subnet manager, but the CM asks for its
 * bit on every port: that alone is granted to drivers without the operation.
 *
 * Context: process.
 * Return: 0; -EINVAL for a port that is not there; -EOPNOTSUPP; the driver's
 * error.
 */
int ib_modify_port(struct ib_device *device, u32 port_num,
		   int port_modify_mask, struct ib_port_modify *port_modify)
{
	u32 bits = port_modify->set_port_cap_mask |
		   port_modify->clr_port_cap_mask;

	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	if (device->ops.modify_port)
		return device->ops.modify_port(device, port_num,
					       port_modify_mask, port_modify);
	if (rdma_protocol_roce(device, port_num) && !(bits & ~IB_PORT_CM_SUP))
		return 0;
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_modify_port);

/**
 * rdma_port_core_cap_flags - which protocols and services a port has
 * @device: the device
 * @port_num: the port
 *
 * Context: any, once the device is being registered.
 * Return: RDMA_CORE_CAP_* bits; 0 for a port that is not there.
 */
u32 rdma_port_core_cap_flags(const struct ib_device *device, u32 port_num)
{
	struct ib_port_core *p = ib_device_port(device, port_num);

	return p ? p->immutable.core_cap_flags : 0;
}
EXPORT_SYMBOL(rdma_port_core_cap_flags);

/**
 * rdma_max_mad_size - the longest management datagram of a port
 * @device: the device
 * @port_num: the port
 *
 * Context: any, once the device is being registered.
 * Return: bytes without the headers below it; 0 for a port that takes none.
 */
size_t rdma_max_mad_size(const struct ib_device *device, u32 port_num)
{
	struct ib_port_core *p = ib_device_port(device, port_num);

	return p ? p->immutable.max_mad_size : 0;
}
EXPORT_SYMBOL(rdma_max_mad_size);

/**
 * rdma_port_get_link_layer - what lies under a port
 * @device: the device
 * @port_num: the port
 *
 * Context: any.
 * Return: the driver's answer; without one Ethernet for RoCE, else InfiniBand.
 */
enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device,
					      u32 port_num)
{
	if (device->ops.get_link_layer)
		return device->ops.get_link_layer(device, port_num);
	return rdma_protocol_roce(device, port_num) ?
		       IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}
EXPORT_SYMBOL(rdma_port_get_link_layer);

/*
 * The smallest IB link that carries so many Mbit/s of Ethernet.  An Ethernet
 * link that does not know its speed (a bridge, a tunnel, a link that is down)
 * is taken for one of 10 Gbit/s.
 */
static const struct {
	u32 mbps;
	u16 speed;
	u8 width;
} eth_speeds[] = {
	{ SPEED_2500, IB_SPEED_SDR, IB_WIDTH_1X },
	{ SPEED_5000, IB_SPEED_DDR, IB_WIDTH_1X },
	{ SPEED_10000, IB_SPEED_QDR, IB_WIDTH_1X },
	{ SPEED_20000, IB_SPEED_DDR, IB_WIDTH_4X },
	{ SPEED_25000, IB_SPEED_EDR, IB_WIDTH_1X },
	{ SPEED_40000, IB_SPEED_QDR, IB_WIDTH_4X },
	{ SPEED_50000, IB_SPEED_HDR, IB_WIDTH_1X },
	{ SPEED_56000, IB_SPEED_FDR, IB_WIDTH_4X },
	{ SPEED_100000, IB_SPEED_EDR, IB_WIDTH_4X },
	{ SPEED_200000, IB_SPEED_HDR, IB_WIDTH_4X },
	{ SPEED_400000, IB_SPEED_NDR, IB_WIDTH_4X },
	{ 800000, IB_SPEED_XDR, IB_WIDTH_4X },
};

/*
 * A netdev is asked while it is registered and RTNL keeps it so: one that is
 * merely held has let go of what its driver looks at, an ipvlan of its parent.
 * So RTNL is taken first, and nothing is held while waiting for it.
 */
static int netdev_speed(struct ib_device *dev, u32 port, u32 *mbps)
{
	struct ethtool_link_ksettings link = {};
	struct net_device *ndev;

	rtnl_lock();
	ndev = ib_device_get_netdev(dev, port);
	if (ndev && !__ethtool_get_link_ksettings(ndev, &link))
		*mbps = link.base.speed;
	dev_put(ndev);
	rtnl_unlock();
	return ndev ? 0 : -ENODEV;
}

/**
 * ib_get_eth_speed - the IB speed and width nearest to a port's Ethernet link
 * @dev: the device
 * @port_num: the port
 * @speed: result, enum ib_port_speed
 * @width: result, enum ib_port_width
 *
 * Context: process, without RTNL, which it takes.
 * Return: 0; -EINVAL for a port that is no Ethernet port; -ENODEV for one that
 * has no netdev.
 */
int ib_get_eth_speed(struct ib_device *dev, u32 port_num, u16 *speed,
		     u8 *width)
{
	u32 mbps = SPEED_UNKNOWN;
	size_t i;
	int err;

	if (rdma_port_get_link_layer(dev, port_num) != IB_LINK_LAYER_ETHERNET)
		return -EINVAL;
	err = netdev_speed(dev, port_num, &mbps);
	if (err)
		return err;

	if (!mbps || mbps == (u32)SPEED_UNKNOWN)
		mbps = SPEED_10000;
	for (i = 0; i < ARRAY_SIZE(eth_speeds) - 1; i++)
		if (mbps <= eth_speeds[i].mbps)
			break;
	*speed = eth_speeds[i].speed;
	*width = eth_speeds[i].width;
	return 0;
}
EXPORT_SYMBOL(ib_get_eth_speed);
