// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A link's counters for the core: "rdma statistic" and sysfs hw_counters. */
#include <linux/cpumask.h>
#include <rdma/ib_hw_stats.h>
#include "rxe.h"

static const struct rdma_stat_desc counter_descs[RXE_NUM_COUNTERS] = {
#define X(id, shown, meaning) [RXE_CNT_##id] = { .name = shown },
#include "rxe_counter_table.h"
#undef X
};

struct rdma_hw_stats *rxe_alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(counter_descs, RXE_NUM_COUNTERS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int rxe_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	struct rxe_dev *rxe = to_rxe(ib);
	unsigned int i;
	int cpu;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < RXE_NUM_COUNTERS; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(rxe->counters, cpu)
						 ->value[i]);
		stats->value[i] = sum;
	}
	return RXE_NUM_COUNTERS;
}
