// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The verbs of queue pairs; posting goes to the driver.
 *
 * Everything a consumer says is checked here, once, on a copy that nobody else
 * can change.  A driver has to check only what it alone knows: how much inline
 * data fits, which types it has, and whether the QP left its state by itself
 * between the check and the change.
 */
#include <linux/export.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/rw.h>
#include "qp_counter.h"
#include "qp_state.h"
#include "verbs.h"
#include "verbs_user.h"

#define PSN_MASK 0xffffff
#define QPN_MASK 0xffffff

/**
 * ib_modify_qp_is_ok - tell whether a change of state is one
 * @cur_state: the state the QP is in
 * @next_state: the state it is to be in
 * @type: its type
 * @mask: the attributes that come with it
 *
 * Context: any.
 * Return: whether it is legal, has what it requires and nothing unknown.
 */
bool ib_modify_qp_is_ok(enum ib_qp_state cur_state, enum ib_qp_state next_state,
			enum ib_qp_type type, enum ib_qp_attr_mask mask)
{
	return qp_state_move_is_ok(cur_state, next_state, type, mask);
}
EXPORT_SYMBOL(ib_modify_qp_is_ok);

/* ---- creation ---- */

static int check_qp_cap(struct ib_device *device,
			const struct ib_qp_init_attr *attr)
{
	const struct ib_device_attr *max = &device->attrs;
	const struct ib_qp_cap *cap = &attr->cap;

	if (cap->max_send_wr > (u32)max->max_qp_wr ||
	    cap->max_send_sge > (u32)max->max_send_sge) {
		verbs_refuse(device, "%u send WRs of %u SGEs, limit %d of %d",
			     cap->max_send_wr, cap->max_send_sge,
			     max->max_qp_wr, max->max_send_sge);
		return -EINVAL;
	}
	/* With a shared receive queue a QP has none of its own. */
	if (!attr->srq && (cap->max_recv_wr > (u32)max->max_qp_wr ||
			   cap->max_recv_sge > (u32)max->max_recv_sge)) {
		verbs_refuse(device, "%u receive WRs of %u SGEs, limit %d of %d",
			     cap->max_recv_wr, cap->max_recv_sge,
			     max->max_qp_wr, max->max_recv_sge);
		return -EINVAL;
	}
	return 0;
}

static int check_qp_type(struct ib_device *device,
			 const struct ib_qp_init_attr *attr, bool for_user)
{
	switch (attr->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		return 0;
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		if (!for_user && rdma_is_port_valid(device, attr->port_num))
			return 0;
		verbs_refuse(device, "management QP of %s on port %u",
			     for_user ? "a program" : "the kernel",
			     attr->port_num);
		return -EINVAL;
	case IB_QPT_RAW_PACKET:
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
	case IB_QPT_DRIVER:
		return -EOPNOTSUPP;
	default:
		verbs_refuse(device, "no QP type %d", attr->qp_type);
		return -EINVAL;
	}
}

static int check_qp_init(struct ib_device *device, struct ib_pd *pd,
			 const struct ib_qp_init_attr *attr, bool for_user)
{
	int ret;

	if (!device->ops.create_qp || !device->ops.modify_qp)
		return -EOPNOTSUPP;
	ret = check_qp_type(device, attr, for_user);
	if (ret)
		return ret;
	if (attr->xrcd || attr->rwq_ind_tbl)
		return -EOPNOTSUPP;

	if (!pd || !attr->send_cq || !attr->recv_cq) {
		verbs_refuse(device, "QP without a PD or a CQ");
		return -EINVAL;
	}
	if (pd->device != device || attr->send_cq->device != device ||
	    attr->recv_cq->device != device ||
	    (attr->srq && attr->srq->device != device)) {
		verbs_refuse(device, "QP with parts of two devices");
		return -EINVAL;
	}
	if (attr->sq_sig_type != IB_SIGNAL_ALL_WR &&
	    attr->sq_sig_type != IB_SIGNAL_REQ_WR) {
		verbs_refuse(device, "no signal type %d", attr->sq_sig_type);
		return -EINVAL;
	}
	return check_qp_cap(device, attr);
}

/* What a QP is made of stays for as long as it does. */
static void use_parts(struct ib_qp *qp)
{
	atomic_inc(&qp->pd->usecnt);
	atomic_inc(&qp->send_cq->usecnt);
	atomic_inc(&qp->recv_cq->usecnt);
	if (qp->srq)
		atomic_inc(&qp->srq->usecnt);
}

static void unuse_parts(struct ib_qp *qp)
{
	if (qp->srq)
		atomic_dec(&qp->srq->usecnt);
	atomic_dec(&qp->recv_cq->usecnt);
	atomic_dec(&qp->send_cq->usecnt);
	atomic_dec(&qp->pd->usecnt);
}

static void free_qp(struct ib_qp *qp)
{
	unuse_parts(qp);
	mutex_destroy(&qp->state_lock);
	kfree(qp);
}

static void set_read_write_sges(struct ib_qp *qp, const struct ib_qp_cap *cap)
{
	qp->max_write_sge = cap->max_send_sge;
	qp->max_read_sge = min_t(u32, cap->max_send_sge,
				 qp->device->attrs.max_sge_rd);
}

/* Between a kernel consumer's QP on an SRQ and its handler: ib_drain_qp(). */
static void note_last_wqe(struct ib_event *event, void *context)
{
	struct ib_qp *qp = event->element.qp;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		complete_all(&qp->srq_completion);
	if (qp->registered_event_handler)
		qp->registered_event_handler(event, context);
}

static struct ib_qp *new_qp(struct ib_device *device, struct ib_pd *pd,
			    struct ib_qp_init_attr *attr,
			    struct ib_udata *udata, struct ib_uqp_object *uobj,
			    const char *caller)
{
	struct ib_qp *qp;
	int ret;

	ret = check_qp_init(device, pd, attr, udata);
	if (ret)
		return ERR_PTR(ret);
	qp = verbs_zalloc(device->ops.size_ib_qp, udata);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	qp->device = device;
	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->real_qp = qp;
	qp->uobject = uobj;
	qp->registered_event_handler = attr->event_handler;
	qp->event_handler = attr->srq && !udata ? note_last_wqe :
						  attr->event_handler;
	init_completion(&qp->srq_completion);
	qp->qp_context = attr->qp_context;
	qp->qp_type = attr->qp_type;
	qp->port = attr->port_num;
	qp->state = IB_QPS_RESET;
	mutex_init(&qp->state_lock);
	spin_lock_init(&qp->mr_lock);
	INIT_LIST_HEAD(&qp->rdma_mrs);
	INIT_LIST_HEAD(&qp->sig_mrs);
	use_parts(qp);
	if (udata)
		verbs_name_as(&qp->res, RDMA_RESTRACK_QP, &pd->res);
	else
		verbs_name(&qp->res, RDMA_RESTRACK_QP, caller);

	ret = device->ops.create_qp(qp, attr, udata);
	if (ret) {
		rdma_restrack_put(&qp->res);
		free_qp(qp);
		return ERR_PTR(ret);
	}
	set_read_write_sges(qp, &attr->cap);
	rdma_restrack_add(&qp->res);
	return qp;
}

/**
 * ib_create_qp_user - make a queue pair for a program
 * @dev: on which device
 * @pd: the PD it will be in
 * @attr: what it is like, its event handler included; @attr->cap says on
 *	return what it really got
 * @udata: the driver's part of the command
 * @uobj: what stands for the QP in the program's file
 * @caller: module that asks when there is no program
 *
 * Context: process, may sleep.
 * Return: the QP in RESET, for ib_destroy_qp_user(), or an ERR_PTR: -EINVAL
 * for sizes beyond the device's limits or parts of another device,
 * -EOPNOTSUPP for a type or a feature there is not.
 */
struct ib_qp *ib_create_qp_user(struct ib_device *dev, struct ib_pd *pd,
				struct ib_qp_init_attr *attr,
				struct ib_udata *udata,
				struct ib_uqp_object *uobj, const char *caller)
{
	return new_qp(dev, pd, attr, udata, uobj, caller);
}
EXPORT_SYMBOL(ib_create_qp_user);

/**
 * ib_create_qp_kernel - make a queue pair for a kernel consumer
 * @pd: the PD it will be in
 * @qp_init_attr: what it is like; cap says on return what it really got, with
 *	room for cap.max_rdma_ctxs transfers of <rdma/rw.h>
 * @caller: name of the module that asks, for "rdma resource show"
 *
 * Consumers call ib_create_qp().
 *
 * Context: process, may sleep.
 * Return: the QP in RESET, for ib_destroy_qp(), or an ERR_PTR: as
 * ib_create_qp_user(), and -EBUSY for a second queue pair 1 (IB_QPT_GSI) of
 * port qp_init_attr->port_num.
 */
struct ib_qp *ib_create_qp_kernel(struct ib_pd *pd,
				  struct ib_qp_init_attr *qp_init_attr,
				  const char *caller)
{
	if (qp_init_attr->cap.max_rdma_ctxs)
		rdma_rw_init_qp(pd->device, qp_init_attr);
	return new_qp(pd->device, pd, qp_init_attr, NULL, NULL, caller);
}
EXPORT_SYMBOL(ib_create_qp_kernel);

/**
 * ib_destroy_qp_user - destroy a queue pair in whatever state
 * @qp: the QP
 * @udata: the driver's part of the command; NULL for a kernel consumer's
 *
 * Context: process, may sleep.
 * Return: 0, @qp is gone and its handler does not run any more; -EBUSY while
 * something (a multicast group) uses it.
 */
int ib_destroy_qp_user(struct ib_qp *qp, struct ib_udata *udata)
{
	const struct ib_gid_attr *sgid;
	int ret;

	if (atomic_read(&qp->usecnt)) {
		verbs_refuse(qp->device, "QP %u has %d users", qp->qp_num,
			     atomic_read(&qp->usecnt));
		return -EBUSY;
	}
	WARN_ON_ONCE(qp->mrs_used);
	rdma_restrack_del(&qp->res);
	qp_counter_forget(qp);
	ret = qp->device->ops.destroy_qp(qp, udata);
	if (ret) {
		verbs_track_again(&qp->res);
		return ret;
	}
	sgid = qp->av_sgid_attr;
	if (sgid)
		rdma_put_gid_attr(sgid);
	free_qp(qp);
	return 0;
}
EXPORT_SYMBOL(ib_destroy_qp_user);

/**
 * ib_destroy_qp - destroy a kernel consumer's queue pair
 * @qp: the QP
 *
 * Context: process, may sleep.
 * Return: 0 and @qp is gone, or an errno.
 */
int ib_destroy_qp(struct ib_qp *qp)
{
	return ib_destroy_qp_user(qp, NULL);
}
EXPORT_SYMBOL(ib_destroy_qp);

/* ---- modification ---- */

/*
 * A QP can leave its state by itself, for SQE or ERR, so ask the driver where
 * it can tell.
 */
static void refresh_state(struct ib_qp *qp)
{
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};

	if (!qp->device->ops.query_qp ||
	    qp->device->ops.query_qp(qp, &attr, IB_QP_STATE, &init))
		return;
	qp->state = attr.qp_state;
}

static int check_transition(struct ib_qp *qp, const struct ib_qp_attr *attr,
			    u32 mask)
{
	enum ib_qp_state from = qp->state;
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;
	struct qp_move move;

	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != from) {
		verbs_refuse(qp->device, "QP %u is in state %d, not %d",
			     qp->qp_num, from, attr->cur_qp_state);
		return -EINVAL;
	}
	if (qp_state_move_is_ok(from, to, qp->qp_type, mask))
		return 0;

	move = qp_state_move(from, to, qp->qp_type);
	if (!move.legal)
		verbs_refuse(qp->device, "QP %u cannot go from state %d to %d",
			     qp->qp_num, from, to);
	else
		verbs_refuse(qp->device,
			     "QP %u from state %d to %d: attributes %#x are missing, %#x too many",
			     qp->qp_num, from, to, move.required & ~mask,
			     mask & ~(move.required | move.optional |
				      IB_QP_STATE));
	return -EINVAL;
}

/* An attribute that is a number, by its largest value. */
static int check_range(struct ib_qp *qp, const char *what, u32 value, u32 max)
{
	if (value <= max)
		return 0;
	verbs_refuse(qp->device, "QP %u: %s %u, limit %u", qp->qp_num, what,
		     value, max);
	return -EINVAL;
}

static int check_numbers(struct ib_qp *qp, const struct ib_qp_attr *attr,
			 u32 mask)
{
	const struct ib_device_attr *max = &qp->device->attrs;
	int ret = 0;

	if (mask & IB_QP_TIMEOUT)
		ret = ret ?: check_range(qp, "timeout", attr->timeout, 31);
	if (mask & IB_QP_RETRY_CNT)
		ret = ret ?: check_range(qp, "retry_cnt", attr->retry_cnt, 7);
	if (mask & IB_QP_RNR_RETRY)
		ret = ret ?: check_range(qp, "rnr_retry", attr->rnr_retry, 7);
	if (mask & IB_QP_MIN_RNR_TIMER)
		ret = ret ?: check_range(qp, "min_rnr_timer",
					 attr->min_rnr_timer, 31);
	if (mask & IB_QP_DEST_QPN)
		ret = ret ?: check_range(qp, "dest_qp_num", attr->dest_qp_num,
					 QPN_MASK);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		ret = ret ?: check_range(qp, "max_rd_atomic",
					 attr->max_rd_atomic,
					 max->max_qp_init_rd_atom);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		ret = ret ?: check_range(qp, "max_dest_rd_atomic",
					 attr->max_dest_rd_atomic,
					 max->max_qp_rd_atom);
	return ret;
}

/* The port that the QP has or will have with this change. */
static u32 port_of(const struct ib_qp *qp, const struct ib_qp_attr *attr,
		   u32 mask)
{
	return mask & IB_QP_PORT ? attr->port_num : qp->port;
}

static int check_port(struct ib_qp *qp, const struct ib_qp_attr *attr,
		      u32 mask)
{
	u32 port = port_of(qp, attr, mask);
	u16 pkey;

	if (mask & IB_QP_PORT && !rdma_is_port_valid(qp->device, port)) {
		verbs_refuse(qp->device, "QP %u: no port %u", qp->qp_num, port);
		return -EINVAL;
	}
	if (mask & IB_QP_PKEY_INDEX &&
	    ib_query_pkey(qp->device, port, attr->pkey_index, &pkey)) {
		verbs_refuse(qp->device, "QP %u: port %u has no P_Key %u",
			     qp->qp_num, port, attr->pkey_index);
		return -EINVAL;
	}
	return 0;
}

/* That of queue pair 1 is well known: peers have no other way to learn it. */
static int check_qkey(struct ib_qp *qp, const struct ib_qp_attr *attr,
		      u32 mask)
{
	if (!(mask & IB_QP_QKEY) || qp->qp_type != IB_QPT_GSI ||
	    attr->qkey == IB_QP1_QKEY)
		return 0;
	verbs_refuse(qp->device, "QP %u: Q_Key %#x, not %#x", qp->qp_num,
		     attr->qkey, IB_QP1_QKEY);
	return -EINVAL;
}

static int check_path_mtu(struct ib_qp *qp, enum ib_mtu mtu, u32 port_num)
{
	struct ib_port_attr port;
	int ret;

	if (ib_mtu_enum_to_int(mtu) < 0) {
		verbs_refuse(qp->device, "QP %u: no path MTU code %d",
			     qp->qp_num, mtu);
		return -EINVAL;
	}
	ret = ib_query_port(qp->device, port_num, &port);
	if (ret)
		return ret;
	if (mtu > port.active_mtu) {
		verbs_refuse(qp->device,
			     "QP %u: path MTU %d, port %u has %d",
			     qp->qp_num, ib_mtu_enum_to_int(mtu), port_num,
			     ib_mtu_enum_to_int(port.active_mtu));
		return -EINVAL;
	}
	return 0;
}

static int check_path(struct ib_qp *qp, const struct ib_qp_attr *attr,
		      u32 mask)
{
	u32 port = port_of(qp, attr, mask);

	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED) {
		verbs_refuse(qp->device, "QP %u: no path migration",
			     qp->qp_num);
		return -EOPNOTSUPP;
	}
	if (mask & IB_QP_ALT_PATH) {
		verbs_refuse(qp->device, "QP %u: no alternate path",
			     qp->qp_num);
		return -EOPNOTSUPP;
	}
	if (mask & IB_QP_AV && attr->ah_attr.port_num != port) {
		verbs_refuse(qp->device,
			     "QP %u is on port %u, its address on %u",
			     qp->qp_num, port, attr->ah_attr.port_num);
		return -EINVAL;
	}
	return mask & IB_QP_PATH_MTU ?
		       check_path_mtu(qp, attr->path_mtu, port) : 0;
}

static int check_modify(struct ib_qp *qp, const struct ib_qp_attr *attr,
			u32 mask)
{
	int ret;

	ret = check_transition(qp, attr, mask);
	if (ret)
		return ret;
	ret = check_numbers(qp, attr, mask);
	if (ret)
		return ret;
	ret = check_port(qp, attr, mask);
	if (ret)
		return ret;
	ret = check_qkey(qp, attr, mask);
	if (ret)
		return ret;
	if (mask & IB_QP_ACCESS_FLAGS &&
	    attr->qp_access_flags & ~IB_ACCESS_SUPPORTED) {
		verbs_refuse(qp->device, "QP %u: access flags %#x", qp->qp_num,
			     attr->qp_access_flags);
		return -EINVAL;
	}
	return check_path(qp, attr, mask);
}

/* The driver agreed: what the core knows of the QP follows. */
static void commit_modify(struct ib_qp *qp, const struct ib_qp_attr *attr,
			  u32 mask)
{
	const struct ib_gid_attr *old = qp->av_sgid_attr;

	if (mask & IB_QP_STATE)
		qp->state = attr->qp_state;
	if (mask & IB_QP_PORT) {
		/* Who binds a counter looks at it without the lock. */
		WRITE_ONCE(qp->port, attr->port_num);
		qp_counter_bind_auto(qp);
	}
	if (mask & IB_QP_AV) {
		qp->av_sgid_attr = attr->ah_attr.grh.sgid_attr;
		if (old)
			rdma_put_gid_attr(old);
	}
}

/* @attr is a copy of the core's own. */
static int modify_locked(struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask,
			 struct ib_udata *udata)
{
	int ret;

	refresh_state(qp);
	ret = check_modify(qp, attr, mask);
	if (ret)
		return ret;

	attr->rq_psn &= PSN_MASK;
	attr->sq_psn &= PSN_MASK;
	attr->xmit_slave = NULL;
	if (mask & IB_QP_AV) {
		ret = verbs_resolve_av(qp->device, &attr->ah_attr);
		if (ret)
			return ret;
	}
	ret = qp->device->ops.modify_qp(qp, attr, mask, udata);
	/* A new life has a last receive of its own. */
	if (!ret && mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		reinit_completion(&qp->srq_completion);
	if (!ret)
		commit_modify(qp, attr, mask);
	else if (mask & IB_QP_AV)
		rdma_destroy_ah_attr(&attr->ah_attr);
	return ret;
}

/**
 * ib_modify_qp_with_udata - change a queue pair's state and attributes
 * @ib_qp: the QP
 * @attr: the new values; not changed
 * @attr_mask: enum ib_qp_attr_mask, which of them count
 * @udata: the driver's part of the command; NULL for a kernel consumer's
 *
 * The transition and each attribute are checked before the driver sees them.
 * PSNs are cut to their 24 bits.  The source of an address vector is found by
 * its index unless the caller did, and referenced for as long as the QP uses
 * it.
 *
 * Context: process, may sleep.
 * Return: 0 or an errno, and then the QP is as before: -EINVAL for a
 * transition or a value that is not allowed, -ENODATA for a GID index without
 * a GID, -EOPNOTSUPP for path migration, or the driver's error.
 */
int ib_modify_qp_with_udata(struct ib_qp *ib_qp, struct ib_qp_attr *attr,
			    int attr_mask, struct ib_udata *udata)
{
	struct ib_qp *qp = ib_qp->real_qp;
	struct ib_qp_attr copy = *attr;
	int ret;

	mutex_lock(&qp->state_lock);
	ret = modify_locked(qp, &copy, attr_mask, udata);
	mutex_unlock(&qp->state_lock);
	return ret;
}
EXPORT_SYMBOL(ib_modify_qp_with_udata);

/**
 * ib_modify_qp - change the state and attributes of a kernel consumer's QP
 * @qp: the QP
 * @qp_attr: the new values; not changed
 * @qp_attr_mask: enum ib_qp_attr_mask, which of them count
 *
 * Context: process, may sleep.
 * Return: as ib_modify_qp_with_udata().
 */
int ib_modify_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr,
		 int qp_attr_mask)
{
	return ib_modify_qp_with_udata(qp, qp_attr, qp_attr_mask, NULL);
}
EXPORT_SYMBOL(ib_modify_qp);

/* What the core knows better than a driver. */
static void fill_init_attr(const struct ib_qp *qp,
			   struct ib_qp_init_attr *init)
{
	init->event_handler = qp->registered_event_handler;
	init->qp_context = qp->qp_context;
	init->send_cq = qp->send_cq;
	init->recv_cq = qp->recv_cq;
	init->srq = qp->srq;
	init->qp_type = qp->qp_type;
	init->port_num = qp->port;
}

/**
 * ib_query_qp - tell a queue pair's state and attributes
 * @qp: the QP
 * @qp_attr: result; both qp_state and cur_qp_state are the state it is in
 * @qp_attr_mask: enum ib_qp_attr_mask, what is wanted at least
 * @qp_init_attr: result: what it was made of
 *
 * The address vectors in the result hold no reference.
 *
 * Context: process, may sleep.
 * Return: 0 or an errno.
 */
int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask,
		struct ib_qp_init_attr *qp_init_attr)
{
	int ret;

	qp = qp->real_qp;
	if (!qp->device->ops.query_qp)
		return -EOPNOTSUPP;
	memset(qp_attr, 0, sizeof(*qp_attr));
	memset(qp_init_attr, 0, sizeof(*qp_init_attr));

	mutex_lock(&qp->state_lock);
	ret = qp->device->ops.query_qp(qp, qp_attr, qp_attr_mask, qp_init_attr);
	if (!ret)
		qp->state = qp_attr->qp_state;
	fill_init_attr(qp, qp_init_attr);
	mutex_unlock(&qp->state_lock);

	qp_attr->cur_qp_state = qp_attr->qp_state;
	qp_attr->ah_attr.grh.sgid_attr = NULL;
	qp_attr->alt_ah_attr.grh.sgid_attr = NULL;
	return ret;
}
EXPORT_SYMBOL(ib_query_qp);
