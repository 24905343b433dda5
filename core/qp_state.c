// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The QP state machine: qp_state_table.h made into lookups. */
#include "qp_state.h"

#define QP_STATES (IB_QPS_ERR + 1)

/* A row that is typed twice is a warning of the compiler (override-init). */
static const struct qp_move moves[QP_STATES][QP_STATES][IB_QPT_MAX] = {
#define QP_MOVE_ANY(to)
#define QP_MOVE(from, to, type, req, opt)                                            \
	[IB_QPS_##from][IB_QPS_##to][IB_QPT_##type] = {                        \
		.legal = true, .required = req, .optional = opt                \
	},
#include "qp_state_table.h"
#undef QP_MOVE
#undef QP_MOVE_ANY
};

/* Bit n: state n is reached from everywhere. */
static const u32 from_anywhere = 0
#define QP_MOVE_ANY(to) | (1U << IB_QPS_##to)
#define QP_MOVE(from, to, type, req, opt)
#include "qp_state_table.h"
#undef QP_MOVE
#undef QP_MOVE_ANY
	;

/**
 * qp_state_move - what a transition takes
 * @from: the state a QP is in
 * @to: the state it is to be in
 * @type: its type
 *
 * Any value may be asked for, also one that no enum has.
 *
 * Context: any.
 * Return: the transition; not legal where there is none.
 */
struct qp_move qp_state_move(enum ib_qp_state from, enum ib_qp_state to,
			     enum ib_qp_type type)
{
	static const struct qp_move never = { .legal = false };
	static const struct qp_move plain = { .legal = true };

	if ((u32)from >= QP_STATES || (u32)to >= QP_STATES)
		return never;
	if (from_anywhere & (1U << to))
		return plain;
	if ((u32)type >= IB_QPT_MAX)
		return never;
	return moves[from][to][type];
}

/**
 * qp_state_move_is_ok - tell whether a transition with these attributes is one
 * @from: the state a QP is in, or is said to be in with IB_QP_CUR_STATE
 * @to: the state it is to be in
 * @type: its type
 * @mask: enum ib_qp_attr_mask, the attributes that come with it
 *
 * Context: any.
 * Return: whether it is legal, has what it requires and nothing unknown.
 */
bool qp_state_move_is_ok(enum ib_qp_state from, enum ib_qp_state to,
			 enum ib_qp_type type, u32 mask)
{
	struct qp_move move = qp_state_move(from, to, type);

	return move.legal && !(move.required & ~mask) &&
	       !(mask & ~(IB_QP_STATE | move.required | move.optional));
}
