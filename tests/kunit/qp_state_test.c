// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The QP state machine against what the specification says.
 *
 * The rows below were typed from the "Modify QP" tables of IBTA vol. 1,
 * 11.2.4.2, in their words: they know nothing of core/qp_state_table.h.
 */
#include <kunit/test.h>
#include "qp_state.h"

/* The attributes under the specification's names. */
#define P_KEY IB_QP_PKEY_INDEX
#define Q_KEY IB_QP_QKEY
#define PRIMARY_PORT IB_QP_PORT
#define REMOTE_OPS IB_QP_ACCESS_FLAGS
#define ADDRESS_VECTOR IB_QP_AV
#define PATH_MTU IB_QP_PATH_MTU
#define DEST_QP IB_QP_DEST_QPN
#define RECV_PSN IB_QP_RQ_PSN
#define SEND_PSN IB_QP_SQ_PSN
#define RESPONDER_RESOURCES IB_QP_MAX_DEST_RD_ATOMIC
#define INITIATOR_DEPTH IB_QP_MAX_QP_RD_ATOMIC
#define RNR_NAK_FIELD IB_QP_MIN_RNR_TIMER
#define ACK_TIMEOUT IB_QP_TIMEOUT
#define RETRIES IB_QP_RETRY_CNT
#define RNR_RETRIES IB_QP_RNR_RETRY
#define CURRENT_STATE IB_QP_CUR_STATE
#define ALTERNATE_PATH IB_QP_ALT_PATH
#define MIGRATION IB_QP_PATH_MIG_STATE
#define DRAIN_EVENT IB_QP_EN_SQD_ASYNC_NOTIFY

struct spec_row {
	enum ib_qp_type type;
	enum ib_qp_state from;
	enum ib_qp_state to;
	u32 must;
	u32 may;
};

static const struct spec_row spec[] = {
	/* Reliable connected. */
	{ IB_QPT_RC, IB_QPS_RESET, IB_QPS_INIT,
	  P_KEY + PRIMARY_PORT + REMOTE_OPS, 0 },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_INIT,
	  0, P_KEY + PRIMARY_PORT + REMOTE_OPS },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR,
	  ADDRESS_VECTOR + PATH_MTU + DEST_QP + RECV_PSN +
	  RESPONDER_RESOURCES + RNR_NAK_FIELD,
	  ALTERNATE_PATH + REMOTE_OPS + P_KEY },
	{ IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS,
	  SEND_PSN + ACK_TIMEOUT + RETRIES + RNR_RETRIES + INITIATOR_DEPTH,
	  CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION +
	  RNR_NAK_FIELD },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_RTS,
	  0, CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION +
	  RNR_NAK_FIELD },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_SQD, 0, DRAIN_EVENT },
	{ IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS,
	  0, CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION +
	  RNR_NAK_FIELD },
	{ IB_QPT_RC, IB_QPS_SQD, IB_QPS_SQD,
	  0, ADDRESS_VECTOR + ALTERNATE_PATH + INITIATOR_DEPTH +
	  RESPONDER_RESOURCES + P_KEY + ACK_TIMEOUT + RETRIES + RNR_RETRIES +
	  RNR_NAK_FIELD + MIGRATION + REMOTE_OPS + PRIMARY_PORT },

	/* Unreliable connected. */
	{ IB_QPT_UC, IB_QPS_RESET, IB_QPS_INIT,
	  P_KEY + PRIMARY_PORT + REMOTE_OPS, 0 },
	{ IB_QPT_UC, IB_QPS_INIT, IB_QPS_INIT,
	  0, P_KEY + PRIMARY_PORT + REMOTE_OPS },
	{ IB_QPT_UC, IB_QPS_INIT, IB_QPS_RTR,
	  ADDRESS_VECTOR + PATH_MTU + DEST_QP + RECV_PSN,
	  ALTERNATE_PATH + REMOTE_OPS + P_KEY },
	{ IB_QPT_UC, IB_QPS_RTR, IB_QPS_RTS,
	  SEND_PSN, CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION },
	{ IB_QPT_UC, IB_QPS_RTS, IB_QPS_RTS,
	  0, CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION },
	{ IB_QPT_UC, IB_QPS_RTS, IB_QPS_SQD, 0, DRAIN_EVENT },
	{ IB_QPT_UC, IB_QPS_SQD, IB_QPS_RTS,
	  0, CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION },
	{ IB_QPT_UC, IB_QPS_SQD, IB_QPS_SQD,
	  0, ADDRESS_VECTOR + ALTERNATE_PATH + P_KEY + MIGRATION +
	  REMOTE_OPS },
	{ IB_QPT_UC, IB_QPS_SQE, IB_QPS_RTS, 0, CURRENT_STATE + REMOTE_OPS },

	/* Unreliable datagram. */
	{ IB_QPT_UD, IB_QPS_RESET, IB_QPS_INIT,
	  P_KEY + PRIMARY_PORT + Q_KEY, 0 },
	{ IB_QPT_UD, IB_QPS_INIT, IB_QPS_INIT,
	  0, P_KEY + PRIMARY_PORT + Q_KEY },
	{ IB_QPT_UD, IB_QPS_INIT, IB_QPS_RTR, 0, P_KEY + Q_KEY },
	{ IB_QPT_UD, IB_QPS_RTR, IB_QPS_RTS,
	  SEND_PSN, CURRENT_STATE + Q_KEY },
	{ IB_QPT_UD, IB_QPS_RTS, IB_QPS_RTS, 0, CURRENT_STATE + Q_KEY },
	{ IB_QPT_UD, IB_QPS_RTS, IB_QPS_SQD, 0, DRAIN_EVENT },
	{ IB_QPT_UD, IB_QPS_SQD, IB_QPS_RTS, 0, CURRENT_STATE + Q_KEY },
	{ IB_QPT_UD, IB_QPS_SQD, IB_QPS_SQD, 0, P_KEY + Q_KEY },
	{ IB_QPT_UD, IB_QPS_SQE, IB_QPS_RTS, 0, CURRENT_STATE + Q_KEY },

	/* Some of the others, where they differ from these. */
	{ IB_QPT_GSI, IB_QPS_RESET, IB_QPS_INIT, P_KEY + Q_KEY, 0 },
	{ IB_QPT_SMI, IB_QPS_RESET, IB_QPS_INIT, P_KEY + Q_KEY, 0 },
	{ IB_QPT_GSI, IB_QPS_RTR, IB_QPS_RTS, SEND_PSN, CURRENT_STATE + Q_KEY },
	{ IB_QPT_RAW_PACKET, IB_QPS_RESET, IB_QPS_INIT, PRIMARY_PORT, 0 },
	{ IB_QPT_XRC_INI, IB_QPS_INIT, IB_QPS_RTR,
	  ADDRESS_VECTOR + PATH_MTU + DEST_QP + RECV_PSN,
	  ALTERNATE_PATH + REMOTE_OPS + P_KEY },
	{ IB_QPT_XRC_TGT, IB_QPS_RTR, IB_QPS_RTS,
	  SEND_PSN + ACK_TIMEOUT,
	  CURRENT_STATE + REMOTE_OPS + ALTERNATE_PATH + MIGRATION +
	  RNR_NAK_FIELD },
};

/* Types for which the rows above are all there are. */
static const enum ib_qp_type typed_in_full[] = { IB_QPT_RC, IB_QPT_UC, IB_QPT_UD };

static const enum ib_qp_type all_types[] = {
	IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD,
	IB_QPT_RAW_IPV6, IB_QPT_RAW_ETHERTYPE, IB_QPT_RAW_PACKET,
	IB_QPT_XRC_INI, IB_QPT_XRC_TGT, IB_QPT_DRIVER,
};

#define for_each_state(s) for ((s) = IB_QPS_RESET; (s) <= IB_QPS_ERR; (s)++)
#define for_each_type(i) for ((i) = 0; (i) < ARRAY_SIZE(all_types); (i)++)

static const struct spec_row *spec_find(enum ib_qp_type type,
					enum ib_qp_state from,
					enum ib_qp_state to)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(spec); i++)
		if (spec[i].type == type && spec[i].from == from &&
		    spec[i].to == to)
			return &spec[i];
	return NULL;
}

static bool ends_anything(enum ib_qp_state to)
{
	return to == IB_QPS_RESET || to == IB_QPS_ERR;
}

/* Take away and add each of the 32 bits: what counts is what comes out. */
static void expect_masks(struct kunit *test, enum ib_qp_type type, int from,
			 int to, u32 must, u32 may)
{
	u32 allowed = must | may | IB_QP_STATE;
	int bit;

	KUNIT_EXPECT_TRUE_MSG(test, qp_state_move_is_ok(from, to, type, must),
			      "type %d, %d to %d: %#x", type, from, to, must);
	KUNIT_EXPECT_TRUE_MSG(test,
			      qp_state_move_is_ok(from, to, type, allowed),
			      "type %d, %d to %d: %#x", type, from, to,
			      allowed);
	for (bit = 0; bit < 32; bit++) {
		u32 one = 1U << bit;

		KUNIT_EXPECT_EQ_MSG(test,
				    qp_state_move_is_ok(from, to, type,
							allowed & ~one),
				    !(must & one),
				    "type %d, %d to %d without bit %d", type,
				    from, to, bit);
		KUNIT_EXPECT_EQ_MSG(test,
				    qp_state_move_is_ok(from, to, type,
							must | one),
				    !!(allowed & one),
				    "type %d, %d to %d with bit %d", type, from,
				    to, bit);
	}
}

static void expect_never(struct kunit *test, int type, int from, int to)
{
	int bit;

	KUNIT_EXPECT_FALSE_MSG(test, qp_state_move(from, to, type).legal,
			       "type %d, %d to %d", type, from, to);
	for (bit = 0; bit < 32; bit++)
		KUNIT_EXPECT_FALSE_MSG(test,
				       qp_state_move_is_ok(from, to, type,
							   1U << bit),
				       "type %d, %d to %d with bit %d", type,
				       from, to, bit);
	KUNIT_EXPECT_FALSE(test, qp_state_move_is_ok(from, to, type, 0));
	KUNIT_EXPECT_FALSE(test, qp_state_move_is_ok(from, to, type, ~0U));
}

static void qp_state_spec_rows(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(spec); i++) {
		const struct spec_row *row = &spec[i];
		struct qp_move move = qp_state_move(row->from, row->to,
						    row->type);

		KUNIT_EXPECT_TRUE_MSG(test, move.legal, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, move.required, row->must, "row %d",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, move.optional, row->may, "row %d", i);
	}
}

/* Every pair of states and every bit, for the types that are complete. */
static void qp_state_every_pair(struct kunit *test)
{
	int from, to, i;

	for (i = 0; i < ARRAY_SIZE(typed_in_full); i++)
		for_each_state(from)
			for_each_state(to) {
				const struct spec_row *row =
					spec_find(typed_in_full[i], from, to);

				if (ends_anything(to))
					expect_masks(test, typed_in_full[i], from,
						     to, 0, 0);
				else if (row)
					expect_masks(test, typed_in_full[i], from,
						     to, row->must, row->may);
				else
					expect_never(test, typed_in_full[i], from,
						     to);
			}
}

/* The same for all types, the lookup against itself: no bit leaks. */
static void qp_state_every_bit(struct kunit *test)
{
	int from, to, i;

	for_each_type(i)
		for_each_state(from)
			for_each_state(to) {
				struct qp_move move =
					qp_state_move(from, to, all_types[i]);

				if (move.legal)
					expect_masks(test, all_types[i], from,
						     to, move.required,
						     move.optional);
				else
					expect_never(test, all_types[i], from,
						     to);
			}
}

static void qp_state_reset_and_error_from_anywhere(struct kunit *test)
{
	int from, i;

	for_each_type(i)
		for_each_state(from) {
			expect_masks(test, all_types[i], from, IB_QPS_RESET, 0,
				     0);
			expect_masks(test, all_types[i], from, IB_QPS_ERR, 0,
				     0);
		}
}

static void qp_state_dead_ends(struct kunit *test)
{
	int to, i;

	for_each_type(i)
		for_each_state(to) {
			if (!ends_anything(to)) {
				expect_never(test, all_types[i], IB_QPS_ERR,
					     to);
				if (to != IB_QPS_INIT)
					expect_never(test, all_types[i],
						     IB_QPS_RESET, to);
			}
			/* Nobody asks for SQE: it happens. */
			expect_never(test, all_types[i], to, IB_QPS_SQE);
		}
}

static void qp_state_disjoint(struct kunit *test)
{
	int from, to, i;

	for_each_type(i)
		for_each_state(from)
			for_each_state(to) {
				struct qp_move move =
					qp_state_move(from, to, all_types[i]);

				KUNIT_EXPECT_EQ(test,
						move.required & move.optional,
						0);
				if (!move.legal)
					KUNIT_EXPECT_EQ(test,
							move.required |
								move.optional,
							0);
			}
}

/* What an attribute means decides where it can be. */
static void qp_state_attributes_where_they_belong(struct kunit *test)
{
	int from, to, i;

	for_each_type(i)
		for_each_state(from)
			for_each_state(to) {
				enum ib_qp_type type = all_types[i];
				struct qp_move move =
					qp_state_move(from, to, type);
				u32 all = move.required | move.optional;
				bool datagram = type == IB_QPT_UD ||
						type == IB_QPT_GSI ||
						type == IB_QPT_SMI;

				if (from <= IB_QPS_INIT)
					KUNIT_EXPECT_FALSE(test,
							   all & CURRENT_STATE);
				if (to != IB_QPS_SQD || from != IB_QPS_RTS)
					KUNIT_EXPECT_FALSE(test,
							   all & DRAIN_EVENT);
				if (!datagram)
					KUNIT_EXPECT_FALSE(test, all & Q_KEY);
				else
					KUNIT_EXPECT_FALSE(test,
							   all &
							   (ADDRESS_VECTOR |
							    DEST_QP |
							    REMOTE_OPS));
				if (type == IB_QPT_UC || datagram)
					KUNIT_EXPECT_FALSE(test,
							   all &
							   (RETRIES |
							    RNR_RETRIES |
							    ACK_TIMEOUT |
							    RNR_NAK_FIELD));
				KUNIT_EXPECT_FALSE(test, all & IB_QP_STATE);
			}
}

static void qp_state_no_such_value(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, qp_state_move(7, IB_QPS_RESET, IB_QPT_RC)
					 .legal);
	KUNIT_EXPECT_FALSE(test, qp_state_move(IB_QPS_RTS, 7, IB_QPT_RC).legal);
	KUNIT_EXPECT_FALSE(test, qp_state_move(-1, IB_QPS_ERR, IB_QPT_RC)
					 .legal);
	KUNIT_EXPECT_FALSE(test, qp_state_move(IB_QPS_RTS, -1, IB_QPT_RC)
					 .legal);
	KUNIT_EXPECT_FALSE(test, qp_state_move(IB_QPS_RTS, IB_QPS_RTS,
					       IB_QPT_MAX).legal);
	KUNIT_EXPECT_FALSE(test, qp_state_move(IB_QPS_RTS, IB_QPS_RTS, -1)
					 .legal);
}

static struct kunit_case qp_state_cases[] = {
	KUNIT_CASE(qp_state_spec_rows),
	KUNIT_CASE(qp_state_every_pair),
	KUNIT_CASE(qp_state_every_bit),
	KUNIT_CASE(qp_state_reset_and_error_from_anywhere),
	KUNIT_CASE(qp_state_dead_ends),
	KUNIT_CASE(qp_state_disjoint),
	KUNIT_CASE(qp_state_attributes_where_they_belong),
	KUNIT_CASE(qp_state_no_such_value),
	{}
};

static struct kunit_suite qp_state_suite = {
	.name = "qp_state",
	.test_cases = qp_state_cases,
};

kunit_test_suite(qp_state_suite);
