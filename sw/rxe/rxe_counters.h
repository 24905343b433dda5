/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters of a link, per CPU: "rdma statistic" and sysfs hw_counters.
 *
 * rxe_counter_table.h lists them once: X(identifier, "shown name", "meaning").
 */
#ifndef SOFTROCE_RXE_COUNTERS_H
#define SOFTROCE_RXE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

enum rxe_counter {
#define X(id, name, meaning) RXE_CNT_##id,
#include "rxe_counter_table.h"
#undef X
	RXE_NUM_COUNTERS
};

struct rxe_counters {
	u64 value[RXE_NUM_COUNTERS];
};

#define rxe_count_add(rxe, counter, n)                                         \
	this_cpu_add((rxe)->counters->value[counter], n)
#define rxe_count(rxe, counter) rxe_count_add(rxe, counter, 1)

struct ib_device;
struct rdma_hw_stats;

/* rxe_hw_counters.c */
struct rdma_hw_stats *rxe_alloc_hw_port_stats(struct ib_device *ib, u32 port);
int rxe_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		     u32 port, int index);

#endif
