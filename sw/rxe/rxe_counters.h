/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters of a link, per CPU: "rdma statistic" and sysfs hw_counters.
 *
 * rxe_counter_table.h lists them once: X(identifier, "shown name", "meaning").
 */
#ifndef SOFTROCE_RXE_COUNTERS_H
#define SOFTROCE_RXE_COUNTERS_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

enum rxe_counter {
#define X(id, name, meaning) RXE_CNT_##id,
#include "rxe_counter_table.h"
#undef X
	RXE_NUM_COUNTERS,
	/* Of these a queue pair can have its own. */
	RXE_NUM_QP_COUNTERS = RXE_CNT_LINK_DOWN,
};

struct rxe_counters {
	u64 value[RXE_NUM_COUNTERS];
};

#define rxe_count_add(rxe, counter, n)                                         \
	this_cpu_add((rxe)->counters->value[counter], n)
#define rxe_count(rxe, counter) rxe_count_add(rxe, counter, 1)

/*
 * What the QPs bound to one counter of the core did, for "rdma statistic qp".
 * The link counts it too: its counters are always whole.
 *
 * Lifetime: made when the counter's first QP is bound and in rxe_dev.qp_counts
 * under the counter's number from then on; freed a grace period after the last
 * QP was unbound.  A QP finds it under RCU.
 */
struct rxe_qp_counts {
	struct rcu_head rcu;
	atomic64_t value[RXE_NUM_QP_COUNTERS];
};

struct ib_device;
struct ib_port_counters;
struct ib_qp;
struct rdma_counter;
struct rdma_hw_stats;

/* rxe_hw_counters.c */
struct rdma_hw_stats *rxe_alloc_hw_port_stats(struct ib_device *ib, u32 port);
int rxe_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		     u32 port, int index);
struct rdma_hw_stats *rxe_counter_alloc_stats(struct rdma_counter *counter);
int rxe_query_port_counters(struct ib_device *ib, u32 port,
			    struct ib_port_counters *counters);

/* rxe_qp_counter.c */
int rxe_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int rxe_counter_unbind_qp(struct ib_qp *ibqp);
int rxe_counter_dealloc(struct rdma_counter *counter);
int rxe_counter_update_stats(struct rdma_counter *counter);

#endif
