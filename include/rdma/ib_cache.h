/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The GID table of a port.
 *
 * Lifetime: an entry is published when an address appears on the port's netdev
 * or on an upper of it, and unpublished when the address goes.  Users (AHs,
 * QPs, CM) hold references; an unpublished entry keeps its memory and its slot
 * until the last one is put, and then the slot is free for another address.
 * The entry's ndev is NULL from when it is unpublished; the netdev is let go a
 * grace period later.
 */
#ifndef SOFTROCE_RDMA_IB_CACHE_H
#define SOFTROCE_RDMA_IB_CACHE_H

#include <rdma/ib_verbs.h>

const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device,
					    u32 port_num, int index);
void rdma_put_gid_attr(const struct ib_gid_attr *attr);
void rdma_hold_gid_attr(const struct ib_gid_attr *attr);
const struct ib_gid_attr *rdma_find_gid(struct ib_device *device,
					const union ib_gid *gid,
					enum ib_gid_type gid_type,
					struct net_device *ndev);
const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *ib_dev,
						const union ib_gid *gid,
						enum ib_gid_type gid_type,
						u32 port,
						struct net_device *ndev);
struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr);
int rdma_read_gid_l2_fields(const struct ib_gid_attr *attr, u16 *vlan_id,
			    u8 *smac);
ssize_t rdma_query_gid_table(struct ib_device *device,
			     struct ib_uverbs_gid_entry *entries,
			     size_t max_entries);
u64 ib_gids_refused(const struct ib_device *device, u32 port_num);
u32 ib_ifindex_for_caller(const struct net_device *ndev);
int ib_get_cached_pkey(struct ib_device *device_handle, u32 port_num,
		       int index, u16 *pkey);
int ib_find_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey,
			u16 *index);
int ib_get_cached_port_state(struct ib_device *device, u32 port_num,
			     enum ib_port_state *port_active);

static inline bool rdma_is_zero_gid(const union ib_gid *gid)
{
	return !gid->global.subnet_prefix && !gid->global.interface_id;
}

#endif
