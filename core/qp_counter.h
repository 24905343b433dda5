/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters of single queue pairs: who is counted where.
 *
 * Lifetime: see <rdma/rdma_counter.h>.
 */
#ifndef SOFTROCE_CORE_QP_COUNTER_H
#define SOFTROCE_CORE_QP_COUNTER_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

struct netlink_ext_ack;

/* For netlink. */
enum rdma_nl_counter_mode qp_counter_mode(struct ib_device *dev, u32 port,
					  u32 *mask);
int qp_counter_set_auto(struct ib_device *dev, u32 port, u32 mask,
			struct netlink_ext_ack *extack);
int qp_counter_bind(struct ib_device *dev, u32 port, u32 qpn, u32 *id,
		    struct netlink_ext_ack *extack);
int qp_counter_unbind(struct ib_device *dev, u32 port, u32 qpn, u32 id,
		      struct netlink_ext_ack *extack);

/* For the verbs. */
void qp_counter_bind_auto(struct ib_qp *qp);
void qp_counter_forget(struct ib_qp *qp);

#endif
