/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which state a QP may go to, and what has to be told for it.
 *
 * A leaf: constant data and a lookup.  Nothing here has a lifetime.
 */
#ifndef SOFTROCE_CORE_QP_STATE_H
#define SOFTROCE_CORE_QP_STATE_H

#include <linux/types.h>
#include <rdma/ib_defs.h>

/**
 * struct qp_move - one transition of the state machine
 * @legal: it exists
 * @required: attributes without which it is refused
 * @optional: attributes that may come with it
 */
struct qp_move {
	bool legal;
	u32 required;
	u32 optional;
};

struct qp_move qp_state_move(enum ib_qp_state from, enum ib_qp_state to,
			     enum ib_qp_type type);
bool qp_state_move_is_ok(enum ib_qp_state from, enum ib_qp_state to,
			 enum ib_qp_type type, u32 mask);

#endif
