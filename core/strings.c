// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Words for numbers: events, completion statuses, port states. */
#include <linux/export.h>
#include <rdma/ib_verbs.h>

struct word {
	int value;
	const char *text;
};

static const struct word event_words[] = {
	{ IB_EVENT_COMM_EST, "first packet in RTR" },
	{ IB_EVENT_SQ_DRAINED, "send queue drained" },
	{ IB_EVENT_QP_LAST_WQE_REACHED, "last WQE of a QP on an SRQ" },
	{ IB_EVENT_PATH_MIG, "path migrated" },
	{ IB_EVENT_PATH_MIG_ERR, "path migration failed" },
	{ IB_EVENT_QP_FATAL, "QP failed" },
	{ IB_EVENT_QP_REQ_ERR, "invalid request at a QP" },
	{ IB_EVENT_QP_ACCESS_ERR, "access violation at a QP" },
	{ IB_EVENT_CQ_ERR, "CQ overrun or failed" },
	{ IB_EVENT_SRQ_ERR, "SRQ failed" },
	{ IB_EVENT_SRQ_LIMIT_REACHED, "SRQ below its limit" },
	{ IB_EVENT_WQ_FATAL, "WQ failed" },
	{ IB_EVENT_PORT_ACTIVE, "port became active" },
	{ IB_EVENT_PORT_ERR, "port went down" },
	{ IB_EVENT_GID_CHANGE, "GID table changed" },
	{ IB_EVENT_PKEY_CHANGE, "P_Key table changed" },
	{ IB_EVENT_LID_CHANGE, "LID changed" },
	{ IB_EVENT_SM_CHANGE, "subnet manager changed" },
	{ IB_EVENT_CLIENT_REREGISTER, "subnet manager wants reregistration" },
	{ IB_EVENT_DEVICE_FATAL, "device gone" },
};

static const struct word wc_status_words[] = {
	{ IB_WC_SUCCESS, "done" },
	{ IB_WC_LOC_LEN_ERR, "message and posted buffers do not fit" },
	{ IB_WC_LOC_QP_OP_ERR, "work request invalid for this QP" },
	{ IB_WC_LOC_EEC_OP_ERR, "work request invalid for this EE context" },
	{ IB_WC_LOC_PROT_ERR, "local buffer outside its memory region" },
	{ IB_WC_WR_FLUSH_ERR, "flushed, the QP is in the error state" },
	{ IB_WC_MW_BIND_ERR, "memory window bind refused" },
	{ IB_WC_BAD_RESP_ERR, "unexpected response opcode" },
	{ IB_WC_LOC_ACCESS_ERR, "local buffer not writable" },
	{ IB_WC_REM_INV_REQ_ERR, "peer: invalid request" },
	{ IB_WC_REM_ACCESS_ERR, "peer: access refused" },
	{ IB_WC_REM_OP_ERR, "peer: operation failed" },
	{ IB_WC_RETRY_EXC_ERR, "no answer, transport retries used up" },
	{ IB_WC_RNR_RETRY_EXC_ERR, "peer not ready, RNR retries used up" },
	{ IB_WC_LOC_RDD_VIOL_ERR, "reliable datagram domains differ" },
	{ IB_WC_REM_INV_RD_REQ_ERR, "peer: invalid reliable datagram" },
	{ IB_WC_REM_ABORT_ERR, "peer: operation aborted" },
	{ IB_WC_INV_EECN_ERR, "no such EE context" },
	{ IB_WC_INV_EEC_STATE_ERR, "EE context in the wrong state" },
	{ IB_WC_FATAL_ERR, "fatal error" },
	{ IB_WC_RESP_TIMEOUT_ERR, "no response in time" },
	{ IB_WC_GENERAL_ERR, "other error" },
};

static const struct word port_state_words[] = {
	{ IB_PORT_NOP, "NOP" },
	{ IB_PORT_DOWN, "DOWN" },
	{ IB_PORT_INIT, "INIT" },
	{ IB_PORT_ARMED, "ARMED" },
	{ IB_PORT_ACTIVE, "ACTIVE" },
	{ IB_PORT_ACTIVE_DEFER, "ACTIVE_DEFER" },
};

static const char *find_word(const struct word *words, size_t count, int value,
			     const char *otherwise)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (words[i].value == value)
			return words[i].text;
	return otherwise;
}

/**
 * ib_event_msg - an event in words
 * @event: the event
 *
 * Context: any.
 * Return: a constant string, never NULL.
 */
const char *ib_event_msg(enum ib_event_type event)
{
	return find_word(event_words, ARRAY_SIZE(event_words), event,
			 "unknown event");
}
EXPORT_SYMBOL(ib_event_msg);

/**
 * ib_wc_status_msg - a completion status in words
 * @status: the status
 *
 * Context: any.
 * Return: a constant string, never NULL.
 */
const char *ib_wc_status_msg(enum ib_wc_status status)
{
	return find_word(wc_status_words, ARRAY_SIZE(wc_status_words), status,
			 "unknown completion status");
}
EXPORT_SYMBOL(ib_wc_status_msg);

/**
 * ib_port_state_to_str - a port state as sysfs shows it
 * @state: the state
 *
 * Context: any.
 * Return: a constant string, never NULL.
 */
const char *ib_port_state_to_str(enum ib_port_state state)
{
	return find_word(port_state_words, ARRAY_SIZE(port_state_words), state,
			 "UNKNOWN");
}
EXPORT_SYMBOL(ib_port_state_to_str);
