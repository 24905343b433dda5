/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Netdevs that stand for a network of their own: VLANs, macvlans, and those that
 * belong to a VRF.
 *
 * Any interface takes what is for an address of another one, as the stack has it
 * (asymmetric routes need that).  But one VLAN or VRF is kept apart from
 * another: what is for its address does not come in there.
 *
 * Lifetime: nothing is held; all under RCU.
 */
#ifndef SOFTROCE_RXE_NDEV_H
#define SOFTROCE_RXE_NDEV_H

#include <linux/if_macvlan.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>

/* Is it for rxe_ndev_takes() to say what comes in for an address of @ndev? */
static inline bool rxe_ndev_is_apart(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) || netif_is_macvlan(ndev) ||
	       netif_is_l3_slave(ndev);
}

/* The netdev that what comes in on @ndev came in on first. */
static inline const struct net_device *
rxe_ndev_below(const struct net_device *ndev)
{
	return netif_is_macvlan(ndev) ? macvlan_dev_real_dev(ndev) : ndev;
}

/* May what is for an address of @ndev come in on @from? */
bool rxe_ndev_takes(const struct net_device *ndev,
		    const struct net_device *from);

#endif
