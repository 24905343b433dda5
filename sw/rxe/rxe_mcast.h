/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Multicast groups (IBTA vol. 1, 10.5; the address is the GID, annex A17.4.5.2).
 *
 * Lifetime: a group is made with its first member, which joins it on the
 * netdevs that have the link's addresses (rxe_join.h), and goes with the last.
 * The core keeps a queue pair while it is attached.  Who receives finds groups
 * and members under RCU and takes a reference to the queue pair.
 */
#ifndef SOFTROCE_RXE_MCAST_H
#define SOFTROCE_RXE_MCAST_H

#include <linux/types.h>
#include "rxe.h"

struct rxe_qp;

/* The destination of all multicast packets (IBTA vol. 1, 9.4.3). */
#define RXE_MCAST_QPN 0xffffff

int rxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int rxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/*
 * Call @take with each queue pair of @rxe that is attached to @mgid, and with
 * @arg.  BH off.
 */
void rxe_mcast_for_each(struct rxe_dev *rxe, const union ib_gid *mgid,
			void (*take)(struct rxe_qp *qp, void *arg), void *arg);

/* Is there any, and has @rxe joined the group on @ndev?  A hint. */
bool rxe_mcast_wanted(struct rxe_dev *rxe, const union ib_gid *mgid,
		      const struct net_device *ndev);
/* Does @rxe get what comes in on @ndev for the group on another netdev as well? */
bool rxe_mcast_doubled(struct rxe_dev *rxe, const union ib_gid *mgid,
		       const struct net_device *ndev);
/* The addresses of @rxe have changed: its groups follow.  Takes RTNL. */
void rxe_mcast_follow(struct rxe_dev *rxe);

#endif
