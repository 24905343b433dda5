// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ib_modify_qp() and ib_query_qp(): attributes and what a change of state does
 * (IBTA vol. 1, 10.3.1).  The core has checked values and the transition; here
 * the caller becomes the runner, so that nothing else happens to the QP, and
 * whatever can fail is made before anything is changed.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include "rxe_mw.h"
#include "rxe_psn.h"
#include "rxe_qp.h"
#include "rxe_resp.h"
#include "rxe_sq.h"

/* What a modification needs and may not get. */
struct new_parts {
	struct rxe_flow flow;
	struct rxe_rd_res *res;
	u32 res_slots;
};

/* For non-posted requests; what is as it was keeps what it holds. */
static bool changes_room(const struct rxe_qp *qp, const struct ib_qp_attr *attr,
			 int mask)
{
	return mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	       attr->max_dest_rd_atomic != qp->resp.res_size;
}

static int make_parts(struct rxe_qp *qp, const struct ib_qp_attr *attr,
		      int mask, struct new_parts *new)
{
	u32 dqpn = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : qp->dest_qpn;
	u32 room = max_t(u32, attr->max_dest_rd_atomic, rxe_resp_jobs(qp));
	int err;

	memset(new, 0, sizeof(*new));
	if (changes_room(qp, attr, mask) && room) {
		new->res_slots = roundup_pow_of_two(room);
		new->res = kcalloc(new->res_slots, sizeof(*new->res),
				   GFP_KERNEL_ACCOUNT);
		if (!new->res)
			return -ENOMEM;
	}
	if (mask & IB_QP_AV) {
		err = rxe_flow_init(&new->flow, qp->rxe, &attr->ah_attr,
				    qp->qpn, dqpn);
		if (!err && qp->is_user)
			err = rxe_flow_probe(&new->flow);
		if (err) {
			rxe_flow_release(&new->flow);
			kfree(new->res);
			return err;
		}
	}
	return 0;
}

static void take_address(struct rxe_qp *qp, const struct ib_qp_attr *attr,
			 int mask, struct new_parts *new)
{
	if (mask & IB_QP_DEST_QPN) {
		qp->attr.dest_qp_num = attr->dest_qp_num & RXE_PSN_MASK;
		WRITE_ONCE(qp->dest_qpn, qp->attr.dest_qp_num);
	}
	if (mask & IB_QP_PATH_MTU) {
		qp->attr.path_mtu = attr->path_mtu;
		WRITE_ONCE(qp->mtu, ib_mtu_enum_to_int(attr->path_mtu));
	}
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
	if (mask & IB_QP_QKEY)
		qp->attr.qkey = attr->qkey;
	if (!(mask & IB_QP_AV))
		return;
	rxe_flow_release(&qp->flow);
	new->flow.valid = false;
	qp->flow = new->flow;
	/* Receivers look at the addresses as soon as the flow is valid. */
	smp_store_release(&qp->flow.valid, true);
	qp->attr.ah_attr = attr->ah_attr;
	/* The flow has the reference. */
	qp->attr.ah_attr.grh.sgid_attr = NULL;
}

static void take_send_attrs(struct rxe_qp *qp, const struct ib_qp_attr *attr,
			    int mask)
{
	struct rxe_req *req = &qp->req;

	if (mask & IB_QP_SQ_PSN) {
		req->psn = attr->sq_psn & RXE_PSN_MASK;
		req->max_psn = req->psn;
		req->recover_psn = req->psn;
		req->una = req->psn;
		qp->attr.sq_psn = req->psn;
	}
	if (mask & IB_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout & 31;
	if (mask & IB_QP_RETRY_CNT) {
		qp->attr.retry_cnt = attr->retry_cnt & 7;
		req->retries_left = qp->attr.retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		qp->attr.rnr_retry = attr->rnr_retry & 7;
		req->rnr_left = qp->attr.rnr_retry;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		qp->attr.en_sqd_async_notify = attr->en_sqd_async_notify;
}

static void take_recv_attrs(struct rxe_qp *qp, const struct ib_qp_attr *attr,
			    int mask, struct new_parts *new)
{
	struct rxe_resp *resp = &qp->resp;

	if (mask & IB_QP_RQ_PSN) {
		resp->psn = attr->rq_psn & RXE_PSN_MASK;
		qp->attr.rq_psn = resp->psn;
	}
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = attr->min_rnr_timer & 31;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (changes_room(qp, attr, mask))
		rxe_resp_move(qp, new->res, new->res_slots, attr->max_dest_rd_atomic);
}

static void take_attrs(struct rxe_qp *qp, const struct ib_qp_attr *attr,
		       int mask, struct new_parts *new)
{
	take_address(qp, attr, mask, new);
	take_recv_attrs(qp, attr, mask, new);
	take_send_attrs(qp, attr, mask);
}

/* Throw away receives without completion: the QP was reset. */
static void discard_recvs(struct rxe_qp *qp)
{
	struct rxe_ring *ring = qp->rq.ring;

	if (ring)
		rxe_ring_set_consumer(ring, rxe_ring_producer(ring));
}

static void reset(struct rxe_qp *qp)
{
	struct ib_qp_cap cap = qp->attr.cap;

	WRITE_ONCE(qp->state, IB_QPS_RESET);
	rxe_run_timers_off(qp);
	rxe_run_purge(qp);
	rxe_flow_release(&qp->flow);
	rxe_sq_discard(qp);
	discard_recvs(qp);
	rxe_req_reset(qp);
	rxe_resp_reset(qp);
	clear_bit(RXE_TODO_TIMEOUT, &qp->todo);
	clear_bit(RXE_TODO_RNR, &qp->todo);
	/* What has not been told is of a life that is over. */
	clear_bit(IB_EVENT_QP_LAST_WQE_REACHED, &qp->events);
	qp->dest_qpn = 0;
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.cap = cap;
}

/*
 * The state the QP is in may be ERR or SQE, which the core does not see, nor did
 * who says that it is in another.
 */
static bool transition_ok(const struct rxe_qp *qp, enum ib_qp_state to,
			  const struct ib_qp_attr *attr, int mask)
{
	switch (qp->state) {
	case IB_QPS_ERR:
		return to == IB_QPS_ERR || to == IB_QPS_RESET;
	case IB_QPS_SQE:
		return to != IB_QPS_SQD &&
		       (to != IB_QPS_RTS || !(mask & IB_QP_CUR_STATE) ||
			attr->cur_qp_state == IB_QPS_SQE);
	default:
		return true;
	}
}

static void enter_state(struct rxe_qp *qp, enum ib_qp_state to)
{
	rxe_mw_reopen(qp);
	switch (to) {
	case IB_QPS_RESET:
		reset(qp);
		return;
	case IB_QPS_ERR:
		rxe_qp_to_err(qp);
		return;
	case IB_QPS_SQD:
		if (qp->state != IB_QPS_SQD)
			qp->req.drain_told = false;
		break;
	case IB_QPS_RTS:
		/* What was posted too early was refused and never runs. */
		if (qp->state == IB_QPS_RTR && qp->is_user)
			rxe_sq_discard(qp);
		break;
	default:
		break;
	}
	WRITE_ONCE(qp->state, to);
	qp->attr.qp_state = to;
}

/**
 * rxe_modify_qp - change attributes and state of a queue pair
 * @ibqp: the queue pair
 * @attr: new values
 * @mask: which of them, enum ib_qp_attr_mask
 * @udata: the program's part; nothing is in it
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP for an alternate path and unknown bits of @mask; -EINVAL
 * in ERR for any state but RESET and ERR, from SQE to SQD, or where @mask names a
 * current state that it is not in; -ENOMEM; what rxe_flow_init() says of the
 * address, and for programs rxe_flow_probe() of the way there.
 */
int rxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	enum ib_qp_state to;
	struct new_parts new;
	int err;

	if (mask & ~(IB_QP_ATTR_STANDARD_BITS & ~IB_QP_ALT_PATH))
		return -EOPNOTSUPP;
	rxe_run_own(qp);
	to = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	err = transition_ok(qp, to, attr, mask) ?
		      make_parts(qp, attr, mask, &new) : -EINVAL;
	if (err)
		goto disown;
	if (to != IB_QPS_RESET)
		take_attrs(qp, attr, mask, &new);
	if (mask & IB_QP_STATE)
		enter_state(qp, to);
disown:
	rxe_run_disown(qp);
	return err;
}

/**
 * rxe_query_qp - tell attributes and state of a queue pair
 * @ibqp: the queue pair
 * @attr: result
 * @mask: what is asked for; all is told
 * @init: result: how the queue pair was made
 *
 * Anybody may ask, "rdma resource" for one, and must not come to execute what
 * others posted: this takes nothing from the runner.  What the runner changes
 * is read as it is just now.  All else only modify_qp() changes, and the core
 * calls that and this one at a time (ib_qp.state_lock).
 *
 * Context: process.
 * Return: 0.
 */
int rxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	enum ib_qp_state state = READ_ONCE(qp->state);

	/* The state in it is the runner's; it is told from elsewhere. */
	data_race(*attr = qp->attr);
	attr->qp_state = state;
	attr->cur_qp_state = state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->sq_psn = READ_ONCE(qp->req.psn);
	attr->rq_psn = READ_ONCE(qp->resp.psn);
	/* Queue pair 1 was made on its port. */
	if (rxe_qp_is_gsi(qp))
		attr->port_num = ibqp->port;
	attr->sq_draining = state == IB_QPS_SQD &&
			    !READ_ONCE(qp->req.drain_told);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	return 0;
}
