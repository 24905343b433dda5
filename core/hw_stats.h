/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters that a driver keeps, read by sysfs and by netlink.
 *
 * Lifetime: as <rdma/ib_hw_stats.h> says; a reader holds the device's
 * registration count or runs in one of its sysfs files.
 */
#ifndef SOFTROCE_CORE_HW_STATS_H
#define SOFTROCE_CORE_HW_STATS_H

#include <rdma/ib_hw_stats.h>
#include <rdma/ib_verbs.h>

int ib_hw_stats_setup(struct ib_device *dev);
void ib_hw_stats_release(struct ib_device *dev);

/*
 * The counters of @port, or those of the device when @port is 0 and the device
 * is no switch; NULL when the driver has none.
 */
struct rdma_hw_stats *ib_hw_stats_of(struct ib_device *dev, u32 port);

/*
 * Brings @stats->value up to date, all of it when @index is
 * @stats->num_counters, else at least that one.  The caller holds @stats->lock
 * and reads the values before it lets go.  0 or a negative errno.
 */
int ib_hw_stats_refresh(struct ib_device *dev, struct rdma_hw_stats *stats,
			u32 port, int index);

#endif
