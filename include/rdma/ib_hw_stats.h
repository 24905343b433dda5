/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Driver counters, shown by "rdma statistic" and sysfs hw_counters.
 *
 * Lifetime: allocated by the driver's alloc_hw_*_stats, owned and freed by the
 * core at unregistration.
 */
#ifndef SOFTROCE_RDMA_IB_HW_STATS_H
#define SOFTROCE_RDMA_IB_HW_STATS_H

#include <linux/mutex.h>
#include <linux/types.h>

struct rdma_stat_desc {
	const char *name;
	unsigned int flags;
	const void *priv;
};

/**
 * struct rdma_hw_stats - one device's or port's counters
 * @lock: serialises readers
 * @timestamp: jiffies of the last update
 * @lifespan: for how many jiffies values may be reused
 * @descs: @num_counters names
 * @value: @num_counters values
 */
struct rdma_hw_stats {
	struct mutex lock;
	unsigned long timestamp;
	unsigned long lifespan;
	const struct rdma_stat_desc *descs;
	unsigned long *is_disabled;
	int num_counters;
	u64 value[];
};

/**
 * struct ib_port_counters - what ports of all kinds count
 * @xmit_bytes: sent, from BTH to ICRC
 * @rcv_bytes: received
 * @xmit_packets: sent
 * @rcv_packets: received
 * @xmit_discards: could not be sent
 * @rcv_errors: were received and cannot be right
 * @link_downed: times the port left ACTIVE
 *
 * InfiniBand's own other ones (symbols, lanes, VL15) stay 0 on Ethernet.
 */
struct ib_port_counters {
	u64 xmit_bytes;
	u64 rcv_bytes;
	u64 xmit_packets;
	u64 rcv_packets;
	u64 xmit_discards;
	u64 rcv_errors;
	u64 link_downed;
};

#define RDMA_HW_STATS_DEFAULT_LIFESPAN 10

struct rdma_hw_stats *
rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs, int num_counters,
			   unsigned long lifespan);
void rdma_free_hw_stats_struct(struct rdma_hw_stats *stats);

#endif
