/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The host's memberships of multicast groups: on which netdevs a group is
 * joined, so that switches hear of it and the netdev lets its hardware address in.
 *
 * A program names a group and no interface.  So a group is joined wherever the
 * link has an address of its family: on the link's netdev, on VLANs, macvlans
 * and bonds above it.
 *
 * Lifetime: a membership holds no netdev.  It ends with its group, with the
 * link's last address on the netdev, or when the netdev is unregistered, which
 * has forgotten it by then.  Who receives looks under RCU.
 */
#ifndef SOFTROCE_RXE_JOIN_H
#define SOFTROCE_RXE_JOIN_H

#include <linux/list.h>
#include <linux/types.h>
#include "rxe.h"

/**
 * struct rxe_joins - the memberships of a group
 * @rxe: its link
 * @mgid: its address
 * @list: struct rxe_join, changed under RTNL
 */
struct rxe_joins {
	struct rxe_dev *rxe;
	union ib_gid mgid;
	struct list_head list;
};

/* No membership yet. */
void rxe_joins_init(struct rxe_joins *joins, struct rxe_dev *rxe,
		    const union ib_gid *mgid);
/*
 * Join where the link's addresses are now, and leave where they are not.  Takes
 * RTNL; one at a time for each group.  Return 0, or why there is no membership
 * where there ought to be one.
 */
int rxe_joins_update(struct rxe_joins *joins);
/* Leave everywhere.  Takes RTNL; @joins may go after a grace period. */
void rxe_joins_end(struct rxe_joins *joins);
/* Is the group joined on @ndev?  RCU. */
bool rxe_joins_has(const struct rxe_joins *joins, const struct net_device *ndev);
/*
 * Does what comes in on @ndev come in once more on another netdev that the group
 * is joined on?  RCU.
 */
bool rxe_joins_doubled(const struct rxe_joins *joins,
		       const struct net_device *ndev);
/*
 * @ndev is being unregistered (@gone), or may have lost IPv6 or IPv4 with all
 * memberships, which it does below their least MTU.  RTNL.
 */
void rxe_joins_forget(const struct net_device *ndev, bool gone);

#endif
