/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The GID table of a port, from the side of those who fill it.
 *
 * Lifetime: gid_table_alloc() -> gid_table_update() any number of times ->
 * gid_table_drain() -> gid_table_free().  A slot goes through
 *
 *	free -> live (found, held by the table and by users)
 *	     -> zombie (not found, held by users only) -> free
 *
 * so that an index never means another address while somebody uses the old
 * one.  An entry that becomes a zombie lets go of its netdev at once.  Users
 * may give back an entry in any context; del_gid and the freeing of the slot
 * then happen in gid_wq.
 */
#ifndef SOFTROCE_CORE_GID_TABLE_H
#define SOFTROCE_CORE_GID_TABLE_H

#include <rdma/ib_verbs.h>

struct gid_table;
struct workqueue_struct;

/* Ordered; made and destroyed by gid_events.c. */
extern struct workqueue_struct *gid_wq;

/**
 * struct gid_wanted - an address that belongs into a table
 * @gid: the address
 * @ndev: the netdev that has it, held by whoever made the list
 */
struct gid_wanted {
	union ib_gid gid;
	struct net_device *ndev;
};

struct gid_table *gid_table_alloc(struct ib_device *dev, u32 port, int len);
int gid_table_top(const struct gid_table *table);
bool gid_table_update(struct gid_table *table, const struct gid_wanted *wanted,
		      int count);
void gid_table_drain(struct gid_table *table);
void gid_table_free(struct gid_table *table);

#endif
