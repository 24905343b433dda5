/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NLDEV, the netlink client behind the `rdma` program: what its files share.
 *
 * Lifetime: a request holds its device, from nldev_get_device() to
 * ib_device_put(); a dump holds one device for one message.
 */
#ifndef SOFTROCE_CORE_NLDEV_H
#define SOFTROCE_CORE_NLDEV_H

#include <rdma/ib_verbs.h>

#include "netlink.h"

/**
 * struct nldev_view - what is told, and to whom
 * @dev: about this device
 * @port: about this port of it, or 0
 * @net: the asker's namespace
 * @admin: the asker may see keys
 */
struct nldev_view {
	struct ib_device *dev;
	u32 port;
	const struct net *net;
	bool admin;
};

/* Puts attributes about a view; -EMSGSIZE when there is no room. */
typedef int (*nldev_fill_fn)(struct sk_buff *msg,
			     const struct nldev_view *view);

#define NLDEV_BAD_NAME                                                         \
	"not a device name: take 1 to 63 letters, digits or signs, none of them '/', ':', '%' or a blank"

/* ---- nldev.c ---- */

struct ib_device *nldev_get_device(const struct rdma_nl_req *req);
int nldev_get_port(const struct rdma_nl_req *req, struct nldev_view *view);
int nldev_put_handle(struct sk_buff *msg, struct ib_device *dev);
int nldev_reply(const struct rdma_nl_req *req, const struct nldev_view *view,
		size_t size, nldev_fill_fn fill);
int nldev_dump_devices(const struct rdma_nl_req *req,
		       struct netlink_callback *cb, nldev_fill_fn fill);
struct nlmsghdr *nldev_dump_msg(struct sk_buff *skb,
				struct netlink_callback *cb);

/* ---- nldev_link.c ---- */

int nldev_newlink(const struct rdma_nl_req *req);
int nldev_dellink(const struct rdma_nl_req *req);
bool nldev_may_change(const struct rdma_nl_req *req, struct ib_device *dev);
bool nldev_sane_word(const char *word);

/* ---- nldev_res.c ---- */

int nldev_res_get(const struct rdma_nl_req *req);
int nldev_res_dump(const struct rdma_nl_req *req, struct netlink_callback *cb);
int nldev_res_object_get(const struct rdma_nl_req *req);
int nldev_res_object_dump(const struct rdma_nl_req *req,
			  struct netlink_callback *cb);
int nldev_put_owner(struct sk_buff *msg, const struct rdma_restrack_entry *res);

/* ---- nldev_stat.c ---- */

int nldev_stat_get(const struct rdma_nl_req *req);
int nldev_stat_dump(const struct rdma_nl_req *req, struct netlink_callback *cb);
int nldev_stat_status(const struct rdma_nl_req *req);
int nldev_put_counters(struct sk_buff *msg, const struct rdma_hw_stats *stats);

/* ---- nldev_counter.c ---- */

int nldev_counter_set(const struct rdma_nl_req *req);
int nldev_counter_del(const struct rdma_nl_req *req);
int nldev_counter_mode(const struct rdma_nl_req *req);
int nldev_fill_counter(struct sk_buff *msg, const struct nldev_view *view,
		       struct rdma_restrack_entry *res);

#endif
