/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters of single queue pairs, for "rdma statistic qp".
 *
 * Lifetime: a counter is made with its first queue pair, by "rdma statistic qp
 * bind" or, where that was asked for, when a program's queue pair gets its port.
 * It ends with its last one: unlinked under the device's counter_lock, then, with
 * the lock dropped, its readers are waited for and the driver's part and the
 * counter are freed.  A queue pair leaves its counter before the driver destroys
 * it, so a counter never sees a queue pair that is gone.
 */
#ifndef SOFTROCE_RDMA_COUNTER_H
#define SOFTROCE_RDMA_COUNTER_H

#include <linux/list.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

struct ib_device;
struct rdma_hw_stats;

/* What the queue pairs have in common. */
struct auto_mode_param {
	int qp_type;
};

/**
 * struct rdma_counter_mode - how a counter comes to its queue pairs
 * @mode: by hand, or by the port's rule
 * @mask: the rule: what they have in common
 * @param: and what that is, but for the owner, who is in the counter's @res
 */
struct rdma_counter_mode {
	enum rdma_nl_counter_mode mode;
	enum rdma_nl_counter_mask mask;
	struct auto_mode_param param;
};

/**
 * struct rdma_counter - what some queue pairs did
 * @device: their device
 * @port: their port
 * @id: its number; the driver's bind function chooses it, from 1 on
 * @mode: how it comes to its queue pairs
 * @stats: its values as of the driver's last update
 * @entry: in the device's list
 * @qps: the queue pairs
 * @res: for those who look for it by number; its owner is that of the first
 *	queue pair
 */
struct rdma_counter {
	struct ib_device *device;
	u32 port;
	u32 id;
	struct rdma_counter_mode mode;
	struct rdma_hw_stats *stats;
	struct list_head entry;
	struct list_head qps;
	struct rdma_restrack_entry res;
};

#endif
