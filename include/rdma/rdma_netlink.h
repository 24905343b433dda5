/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What drivers and clients register with NETLINK_RDMA.
 *
 * Lifetime: a link type is static in its driver, between rdma_link_register()
 * and rdma_link_unregister(), which waits for a running newlink.
 */
#ifndef SOFTROCE_RDMA_RDMA_NETLINK_KERNEL_H
#define SOFTROCE_RDMA_RDMA_NETLINK_KERNEL_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <uapi/rdma/rdma_netlink.h>

struct net_device;

/* For the module's aliases: val is RDMA_NL_NLDEV and the like, a number. */
#define MODULE_ALIAS_RDMA_NETLINK(_index, _val)                                \
	MODULE_ALIAS("rdma-netlink-subsys-" __stringify(_val));                \
	static_assert((_index) == (_val))

#define MODULE_ALIAS_RDMA_LINK(type) MODULE_ALIAS("rdma-link-" type)
#define MODULE_ALIAS_RDMA_CLIENT(type) MODULE_ALIAS("rdma-client-" type)

/**
 * struct rdma_link_ops - how "rdma link add NAME type TYPE netdev DEV" works
 * @type: TYPE
 * @newlink: makes the device NAME on @ndev, which is held; called with RTNL
 *	not held, process context
 * @newlink_extack: the same with a place for the sentence that says why not;
 *	used instead of @newlink where it is set
 */
struct rdma_link_ops {
	struct list_head list;
	const char *type;
	int (*newlink)(const char *ibdev_name, struct net_device *ndev);
	int (*newlink_extack)(const char *ibdev_name, struct net_device *ndev,
			      struct netlink_ext_ack *extack);
};

void rdma_link_register(struct rdma_link_ops *ops);
void rdma_link_unregister(struct rdma_link_ops *ops);

#endif
