// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A link's counters for the core: "rdma statistic", sysfs hw_counters, and the
 * ones that every kind of port has, sysfs counters.
 */
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

/* The first of them are those of queue pairs. */
struct rdma_hw_stats *rxe_counter_alloc_stats(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(counter_descs, RXE_NUM_QP_COUNTERS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static u64 counted(const struct rxe_dev *rxe, enum rxe_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(rxe->counters, cpu)
					 ->value[counter]);
	return sum;
}

int rxe_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	unsigned int i;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < RXE_NUM_COUNTERS; i++)
		stats->value[i] = counted(to_rxe(ib), i);
	/* That one is the core's. */
	stats->value[RXE_CNT_GID_FULL] = ib_gids_refused(ib, port);
	return RXE_NUM_COUNTERS;
}

int rxe_query_port_counters(struct ib_device *ib, u32 port,
			    struct ib_port_counters *counters)
{
	const struct rxe_dev *rxe = to_rxe(ib);

	counters->xmit_bytes = counted(rxe, RXE_CNT_SENT_BYTES);
	counters->rcv_bytes = counted(rxe, RXE_CNT_RCVD_BYTES);
	counters->xmit_packets = counted(rxe, RXE_CNT_SENT_PKTS);
	counters->rcv_packets = counted(rxe, RXE_CNT_RCVD_PKTS);
	counters->xmit_discards = counted(rxe, RXE_CNT_SEND_ERR);
	counters->rcv_errors = counted(rxe, RXE_CNT_DROP_SHORT) +
			       counted(rxe, RXE_CNT_DROP_ICRC);
	counters->link_downed = counted(rxe, RXE_CNT_LINK_DOWN);
	return 0;
}
