// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Netdevs that stand for a network of their own. */
#include <net/l3mdev.h>
#include "rxe_ndev.h"

static bool same_vrf(const struct net_device *ndev,
		     const struct net_device *from)
{
	const int vrf = l3mdev_master_ifindex_rcu(ndev);

	/* Without one any may route to it. */
	return !vrf || l3mdev_master_ifindex_rcu(from) == vrf;
}

static bool same_vlan(const struct net_device *ndev,
		      const struct net_device *from)
{
	const struct net_device *below = rxe_ndev_below(ndev);

	if (!is_vlan_dev(ndev) && !netif_is_macvlan(ndev))
		return true;
	from = rxe_ndev_below(from);
	if (from == below)
		return true;
	if (is_vlan_dev(from))
		return false;
	/* Without a tag, where others have one. */
	return !is_vlan_dev(below) || from != vlan_dev_real_dev(below);
}

bool rxe_ndev_takes(const struct net_device *ndev,
		    const struct net_device *from)
{
	/* What is sent from here to here comes in on lo. */
	if (from == ndev || from->flags & IFF_LOOPBACK)
		return true;
	return same_vrf(ndev, from) && same_vlan(ndev, from);
}
