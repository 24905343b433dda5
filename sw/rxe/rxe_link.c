// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Links: "rdma link add NAME type rxe netdev DEV", and what happens to DEV
 * afterwards.
 */
#include <linux/dmi.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/siphash.h>
#include <linux/udp.h>
#include <linux/utsname.h>
#include <net/addrconf.h>
#include <rdma/rdma_netlink.h>
#include <softroce/extack.h>
#include "rxe.h"
#include "rxe_hdr.h"
#include "rxe_join.h"
#include "rxe_mcast.h"
#include "rxe_net.h"

/* What a packet has besides payload, at most. */
#define RXE_OVERHEAD							       \
	((u32)(sizeof(struct ipv6hdr) + sizeof(struct udphdr)) +	       \
	 RXE_MAX_DATA_HDR_LEN + RXE_ICRC_LEN)
#define RXE_MIN_MTU 256

static u32 rxe_payload_mtu(const struct net_device *ndev)
{
	int room = READ_ONCE(ndev->mtu) - (int)RXE_OVERHEAD;

	return ib_mtu_enum_to_int(ib_mtu_int_to_enum(room));
}

/* Admin state and carrier, as query_port() tells them. */
static bool rxe_ndev_active(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

static int rxe_check_netdev(struct net_device *ndev,
			    struct netlink_ext_ack *extack)
{
	if (is_vlan_dev(ndev)) {
		softroce_extack(extack,
				"%s is a VLAN: add the link on %s, its GIDs cover VLANs",
				ndev->name, vlan_dev_real_dev(ndev)->name);
		return -EOPNOTSUPP;
	}
	switch (ndev->type) {
	case ARPHRD_INFINIBAND:
	case ARPHRD_CAN:
	case ARPHRD_NETLINK:
	case ARPHRD_VSOCKMON:
	case ARPHRD_IEEE80211_RADIOTAP:
	case ARPHRD_IEEE802154:
	case ARPHRD_6LOWPAN:
		softroce_extack(extack,
				"%s does not carry plain IP packets: choose another netdev",
				ndev->name);
		return -EOPNOTSUPP;
	}
	if (READ_ONCE(ndev->mtu) < RXE_MIN_MTU + RXE_OVERHEAD) {
		softroce_extack(extack,
				"MTU %u of %s is too small: at least %u is needed",
				READ_ONCE(ndev->mtu), ndev->name,
				RXE_MIN_MTU + RXE_OVERHEAD);
		return -EINVAL;
	}
	return 0;
}

/*
 * A MAC address for a link whose netdev has none, of the locally administered
 * ones.  The same name on the same machine gets the same, tomorrow as well.
 * What tells machines apart is the firmware's number of this one or, where the
 * firmware gives none, the name of the host.
 */
static void rxe_derive_mac(u8 *mac, const char *link)
{
	static const siphash_key_t key = {{ 0x736f6674726f6365, 1 }};
	const char *number = dmi_get_system_info(DMI_PRODUCT_UUID);
	struct {
		char machine[__NEW_UTS_LEN + 1];
		char link[IB_DEVICE_NAME_MAX];
	} of = {};
	__le64 hash;

	if (number) {
		strscpy(of.machine, number, sizeof(of.machine));
	} else {
		strscpy(of.machine, init_utsname()->nodename,
			sizeof(of.machine));
	}
	strscpy(of.link, link, sizeof(of.link));
	hash = cpu_to_le64(siphash(&of, sizeof(of), &key));
	memcpy(mac, &hash, ETH_ALEN);
	mac[0] = (mac[0] & ~0x01) | 0x02;
}

/* EUI-64 of the MAC. */
static __be64 rxe_make_guid(const struct net_device *ndev, const char *link)
{
	u8 mac[ETH_ALEN];
	__be64 guid;

	if (ndev->addr_len == ETH_ALEN && !is_zero_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		rxe_derive_mac(mac, link);
	addrconf_addr_eui48((u8 *)&guid, (const char *)mac);
	return guid;
}

/*
 * Give the netdev back, early or late but once.  A command in flight can hold
 * the end of a link up; a netdev that is being unregistered does not wait for
 * that.  Readers have RCU, which the netdev's end waits for.
 */
void rxe_forget_netdev(struct rxe_dev *rxe)
{
	netdev_put(xchg(&rxe->ndev, NULL), &rxe->tracker);
}

/* The core's last call for a device, registered or not. */
static void rxe_dealloc(struct ib_device *ib)
{
	struct rxe_dev *rxe = to_rxe(ib);

	rxe_net_put(rxe);
	rxe_forget_netdev(rxe);
	xa_destroy(&rxe->qp_counts);
	free_percpu(rxe->counters);
}

static const struct ib_device_ops rxe_link_dev_ops = {
	.device_group = &rxe_sysfs_group,
	.alloc_hw_port_stats = rxe_alloc_hw_port_stats,
	.get_hw_stats = rxe_get_hw_stats,
	.query_port_counters = rxe_query_port_counters,
	.counter_bind_qp = rxe_counter_bind_qp,
	.counter_unbind_qp = rxe_counter_unbind_qp,
	.counter_dealloc = rxe_counter_dealloc,
	.counter_alloc_stats = rxe_counter_alloc_stats,
	.counter_update_stats = rxe_counter_update_stats,
	.dealloc_driver = rxe_dealloc,
};

static void rxe_own_event(struct ib_event_handler *handler,
			  struct ib_event *event)
{
	if (event->event == IB_EVENT_GID_CHANGE)
		rxe_mcast_follow(to_rxe(event->device));
}

static struct rxe_dev *rxe_alloc(struct net_device *ndev, const char *name)
{
	struct rxe_dev *rxe;

	rxe = ib_alloc_device(rxe_dev, ib);
	if (!rxe)
		return NULL;
	rxe->counters = alloc_percpu_gfp(struct rxe_counters,
					 GFP_KERNEL_ACCOUNT);
	if (!rxe->counters) {
		ib_dealloc_device(&rxe->ib);
		return NULL;
	}
	xa_init_flags(&rxe->qp_counts, XA_FLAGS_ALLOC1);
	rxe_lanes_init(&rxe->lanes);
	rxe->ndev = ndev;
	netdev_hold(ndev, &rxe->tracker, GFP_KERNEL);
	spin_lock_init(&rxe->route_lock);
	rxe->mtu = rxe_payload_mtu(ndev);
	rxe->trains = true;

	ib_set_device_ops(&rxe->ib, &rxe_dev_ops);
	ib_set_device_ops(&rxe->ib, &rxe_link_dev_ops);
	ib_mark_name_assigned_by_user(&rxe->ib);
	rxe->ib.node_type = RDMA_NODE_IB_CA;
	rxe->ib.phys_port_cnt = 1;
	rxe->ib.node_guid = rxe_make_guid(ndev, name);
	rxe_dev_init_attrs(rxe);
	rxe->ib.attrs.sys_image_guid = rxe->ib.node_guid;
	/* It goes with the device. */
	INIT_IB_EVENT_HANDLER(&rxe->event_handler, &rxe->ib, rxe_own_event);
	ib_register_event_handler(&rxe->event_handler);
	return rxe;
}

/* Its namespace, with a reference; NULL where one of the two is ending. */
static struct net *rxe_netdev_net(const struct net_device *ndev)
{
	struct net *net = NULL;

	/* Under RTNL a namespace that has netdevs has its memory. */
	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	return net;
}

/*
 * On the list of links from here on: whatever becomes of the netdev after
 * this check reaches the link through rxe_netdev_event(), and the namespace's
 * end finds it.
 */
static int rxe_join_netdev(struct rxe_dev *rxe, struct net_device *ndev,
			   struct netlink_ext_ack *extack)
{
	struct net *net = rxe_netdev_net(ndev);
	int err;

	if (!net)
		return -ENODEV;
	err = rxe_net_get(rxe, net, extack);
	if (err)
		goto put_net;
	rtnl_lock();
	if (READ_ONCE(rxe->gone) || ndev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(ndev), net))
		err = -ENODEV;
	else
		rxe->port_active = rxe_ndev_active(ndev);
	rtnl_unlock();
put_net:
	put_net(net);
	return err;
}

int rxe_link_add(const char *name, struct net_device *ndev,
		 struct netlink_ext_ack *extack)
{
	struct rxe_dev *rxe;
	int err;

	err = rxe_check_netdev(ndev, extack);
	if (err)
		return err;
	rxe = rxe_alloc(ndev, name);
	if (!rxe)
		return -ENOMEM;
	err = rxe_join_netdev(rxe, ndev, extack);
	if (err)
		goto dealloc;
	err = ib_device_set_netdev(&rxe->ib, ndev, 1);
	if (err)
		goto dealloc;

	/* Once registered it can be deleted: keep the memory to look at. */
	get_device(&rxe->ib.dev);
	err = ib_register_device(&rxe->ib, name, NULL);
	if (err) {
		put_device(&rxe->ib.dev);
		goto dealloc;
	}
	/* An event before the registration could not unregister. */
	if (READ_ONCE(rxe->gone)) {
		if (ib_device_try_get(&rxe->ib))
			ib_unregister_device_and_put(&rxe->ib);
		err = -ENODEV;
	}
	put_device(&rxe->ib.dev);
	if (err)
		softroce_extack(extack, "netdev went away meanwhile");
	return err;

dealloc:
	ib_dealloc_device(&rxe->ib);
	return err;
}

static struct rdma_link_ops rxe_link_ops = {
	.type = "rxe",
	.newlink_extack = rxe_link_add,
};

void rxe_link_end(struct rxe_dev *rxe)
{
	WRITE_ONCE(rxe->gone, true);
	if (!ib_device_try_get(&rxe->ib))
		return;
	ib_unregister_device_queued(&rxe->ib);
	ib_device_put(&rxe->ib);
}

static void rxe_port_event(struct rxe_dev *rxe, const struct net_device *ndev)
{
	bool active = rxe_ndev_active(ndev);
	struct ib_event event = {
		.device = &rxe->ib,
		.element.port_num = 1,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	if (active == rxe->port_active)
		return;
	rxe->port_active = active;
	if (!active)
		rxe_count(rxe, RXE_CNT_LINK_DOWN);
	ib_dispatch_event(&event);
}

/*
 * Under RTNL: nothing here waits.  A new hardware address needs nothing, the
 * neighbour tables carry it; a move to another namespace comes as UNREGISTER
 * in the old one.
 */
static int rxe_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct rxe_dev *rxe;

	/* Groups are joined on other netdevs than the links' own as well. */
	if (event == NETDEV_UNREGISTER || event == NETDEV_CHANGEMTU)
		rxe_joins_forget(ndev, event == NETDEV_UNREGISTER);
	rcu_read_lock();
	rxe = rxe_net_find(dev_net(ndev), ndev);
	if (!rxe)
		goto unlock;
	switch (event) {
	case NETDEV_UNREGISTER:
		rxe_link_end(rxe);
		rxe_forget_netdev(rxe);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		rxe_port_event(rxe, ndev);
		break;
	case NETDEV_CHANGEMTU:
		WRITE_ONCE(rxe->mtu, rxe_payload_mtu(ndev));
		break;
	}
unlock:
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block rxe_netdev_notifier = {
	.notifier_call = rxe_netdev_event,
};

int rxe_link_init(void)
{
	int err;

	err = register_netdevice_notifier(&rxe_netdev_notifier);
	if (err)
		return err;
	rdma_link_register(&rxe_link_ops);
	return 0;
}

void rxe_link_exit(void)
{
	rdma_link_unregister(&rxe_link_ops);
	ib_unregister_driver(RDMA_DRIVER_RXE);
	unregister_netdevice_notifier(&rxe_netdev_notifier);
}
