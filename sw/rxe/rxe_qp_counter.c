// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Counters of single queue pairs: "rdma statistic qp".
 *
 * Who counts pays for a counter only when bound to one, and then with an atomic
 * addition: queue pairs of several processors can share it.  The core calls what
 * changes anything here one at a time for each link.
 */
#include <linux/slab.h>
#include <rdma/ib_hw_stats.h>
#include <rdma/rdma_counter.h>
#include "rxe_qp.h"

void rxe_qp_count_bound(struct rxe_qp *qp, enum rxe_counter counter, u64 n)
{
	struct rxe_qp_counts *counts;

	if (WARN_ON_ONCE(counter >= RXE_NUM_QP_COUNTERS))
		return;
	rcu_read_lock();
	counts = rcu_dereference(qp->counts);
	if (counts)
		atomic64_add(n, &counts->value[counter]);
	rcu_read_unlock();
}

static struct rxe_qp_counts *new_counts(struct rdma_counter *counter)
{
	struct rxe_dev *rxe = to_rxe(counter->device);
	struct rxe_qp_counts *counts;

	counts = kzalloc(sizeof(*counts), GFP_KERNEL_ACCOUNT);
	if (!counts)
		return NULL;
	if (xa_alloc_cyclic(&rxe->qp_counts, &counter->id, counts, xa_limit_32b,
			    &rxe->next_qp_counts, GFP_KERNEL_ACCOUNT) < 0) {
		counter->id = 0;
		kfree(counts);
		return NULL;
	}
	return counts;
}

int rxe_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	struct rxe_qp_counts *counts;

	if (counter->id)
		counts = xa_load(&qp->rxe->qp_counts, counter->id);
	else
		counts = new_counts(counter);
	if (!counts)
		return -ENOMEM;
	rcu_assign_pointer(qp->counts, counts);
	return 0;
}

/* What counts just now still does so there; the link has it in any case. */
int rxe_counter_unbind_qp(struct ib_qp *ibqp)
{
	RCU_INIT_POINTER(to_rxe_qp(ibqp)->counts, NULL);
	return 0;
}

int rxe_counter_dealloc(struct rdma_counter *counter)
{
	struct rxe_qp_counts *counts;

	counts = xa_erase(&to_rxe(counter->device)->qp_counts, counter->id);
	if (counts)
		kfree_rcu(counts, rcu);
	return 0;
}

int rxe_counter_update_stats(struct rdma_counter *counter)
{
	struct rxe_qp_counts *counts;
	unsigned int i;

	counts = xa_load(&to_rxe(counter->device)->qp_counts, counter->id);
	if (!counts)
		return -ENOENT;
	for (i = 0; i < RXE_NUM_QP_COUNTERS; i++)
		counter->stats->value[i] = atomic64_read(&counts->value[i]);
	return 0;
}
