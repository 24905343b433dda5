// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queue pairs: their numbers, their making and their end.
 *
 * All links of the module share one space of numbers, given out in turn, so
 * that a late packet for a QP that is gone rarely meets another one.  Queue
 * pair 1 is each link's own.
 */
#include <linux/random.h>
#include "rxe_mw.h"
#include "rxe_qp.h"
#include "rxe_srq.h"

#define QPN_MIN 16
#define QPN_LIMIT XA_LIMIT(QPN_MIN, QPN_MIN + RXE_MAX_QP - 1)

static DEFINE_XARRAY_FLAGS(qp_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static u32 qpn_next;
static atomic_t num_qp;	/* of all links */

int rxe_qp_table_init(void)
{
	qpn_next = QPN_MIN + get_random_u32() % RXE_MAX_QP;
	return 0;
}

void rxe_qp_table_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&qp_table));
	xa_destroy(&qp_table);
}

struct rxe_qp *rxe_qp_tryget(struct rxe_qp_entry *entry)
{
	return refcount_inc_not_zero(&entry->ref) ? entry->qp : NULL;
}

struct rxe_qp *rxe_qp_get(u32 qpn)
{
	struct rxe_qp_entry *entry;
	struct rxe_qp *qp = NULL;

	rcu_read_lock();
	entry = xa_load(&qp_table, qpn);
	if (entry)
		qp = rxe_qp_tryget(entry);
	rcu_read_unlock();
	return qp;
}

struct rxe_qp *rxe_qp_get_gsi(struct rxe_dev *rxe)
{
	struct rxe_qp_entry *entry;
	struct rxe_qp *qp = NULL;

	rcu_read_lock();
	entry = rcu_dereference(rxe->gsi);
	if (entry)
		qp = rxe_qp_tryget(entry);
	rcu_read_unlock();
	return qp;
}

void rxe_qp_put(struct rxe_qp *qp)
{
	if (refcount_dec_and_test(&qp->entry->ref))
		complete(&qp->unused);
}

static int alloc_number(struct rxe_qp *qp)
{
	if (rxe_qp_is_gsi(qp)) {
		qp->qpn = RXE_GSI_QPN;
		return 0;
	}
	return xa_alloc_cyclic(&qp_table, &qp->qpn, NULL, QPN_LIMIT, &qpn_next,
			       GFP_KERNEL_ACCOUNT) < 0 ? -ENOMEM : 0;
}

/* A number and its entry, which nobody finds yet. */
static int alloc_entry(struct rxe_qp *qp)
{
	struct rxe_qp_entry *entry;
	int ret;

	ret = rxe_count_object(&num_qp, RXE_MAX_QP);
	if (ret)
		return ret;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		goto uncount;
	if (alloc_number(qp))
		goto free_entry;
	entry->qp = qp;
	refcount_set(&entry->ref, 1);
	init_completion(&qp->unused);
	qp->entry = entry;
	return 0;

free_entry:
	kfree(entry);
uncount:
	atomic_dec(&num_qp);
	return -ENOMEM;
}

static void free_entry(struct rxe_qp *qp)
{
	if (!rxe_qp_is_gsi(qp))
		xa_erase(&qp_table, qp->qpn);
	atomic_dec(&num_qp);
	/* A look-up may still hold the pointer. */
	kfree_rcu(qp->entry, rcu);
}

static int publish(struct rxe_qp *qp)
{
	struct rxe_qp_entry __rcu *entry = RCU_INITIALIZER(qp->entry);

	if (rxe_qp_is_gsi(qp))
		return cmpxchg(&qp->rxe->gsi, NULL, entry) ? -EBUSY : 0;
	/* The number is reserved: this needs no memory and cannot fail. */
	xa_store(&qp_table, qp->qpn, qp->entry, GFP_KERNEL);
	return 0;
}

static void unpublish(struct rxe_qp *qp)
{
	if (rxe_qp_is_gsi(qp))
		RCU_INIT_POINTER(qp->rxe->gsi, NULL);
	else
		xa_erase(&qp_table, qp->qpn);
}

/* ---- events ---- */

static void tell_owner(struct rxe_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static void event_work(struct work_struct *work)
{
	struct rxe_qp *qp = container_of(work, struct rxe_qp, event_work);
	unsigned int type;

	for (type = 0; type < BITS_PER_LONG; type++)
		if (test_and_clear_bit(type, &qp->events))
			tell_owner(qp, type);
}

void rxe_qp_event(struct rxe_qp *qp, enum ib_event_type type)
{
	if (!qp->ibqp.event_handler)
		return;
	/* uverbs only queues the event; others may do anything. */
	if (qp->is_user) {
		tell_owner(qp, type);
		return;
	}
	set_bit(type, &qp->events);
	schedule_work(&qp->event_work);
}

/* ---- making ---- */

static int check_cap(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (cap->max_send_wr > RXE_MAX_QP_WR ||
	    cap->max_send_sge > RXE_MAX_SGE ||
	    cap->max_inline_data > RXE_MAX_INLINE)
		return -EINVAL;
	/* On an SRQ it has no receive queue (IBTA vol. 1, 11.2.4.1). */
	if (!init->srq && (cap->max_recv_wr > RXE_MAX_QP_WR ||
			   cap->max_recv_sge > RXE_MAX_SGE))
		return -EINVAL;
	return 0;
}

static int check_init(struct ib_qp *ibqp, const struct ib_qp_init_attr *init,
		      const struct ib_udata *udata)
{
	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_GSI:	/* The core lets no program ask for it. */
		break;
	default:
		ibdev_dbg_ratelimited(ibqp->device,
				      "QP type %d is not supported, RC, UC, UD and GSI are\n",
				      init->qp_type);
		return -EOPNOTSUPP;
	}
	if (init->create_flags || init->rwq_ind_tbl || init->xrcd) {
		ibdev_dbg_ratelimited(ibqp->device,
				      "QPs with XRCD, indirection table or creation flags are not supported\n");
		return -EOPNOTSUPP;
	}
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(struct rxe_create_qp_resp))
		return -EINVAL;
	return check_cap(init);
}

static void free_rq(struct rxe_qp *qp)
{
	if (qp->rq.ring)
		rxe_ring_put(qp->rq.ring);
}

static int offer_rings(struct rxe_qp *qp, struct ib_udata *udata)
{
	struct rxe_create_qp_resp __user *resp = udata->outbuf;
	int ret;

	ret = rxe_ring_offer(qp->sq.ring, udata, &resp->sq_mi);
	/* There is none of a queue pair on an SRQ: no size. */
	if (ret || qp->srq)
		return ret;
	ret = rxe_ring_offer(qp->rq.ring, udata, &resp->rq_mi);
	if (ret)
		rxe_ring_withdraw(qp->sq.ring);
	return ret;
}

/* What was really made, for the owner. */
static void tell_cap(struct rxe_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.max_wr;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_inline_data = qp->sq.max_inline;
	cap->max_recv_wr = qp->rq.max_wr;
	cap->max_recv_sge = qp->rq.max_sge;
	qp->attr.cap = *cap;
}

int rxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	int ret;

	ret = check_init(ibqp, init, udata);
	if (ret)
		return ret;

	qp->rxe = to_rxe(ibqp->device);
	qp->pd = to_rxe_pd(ibqp->pd);
	qp->scq = to_rxe_cq(init->send_cq);
	qp->rcq = to_rxe_cq(init->recv_cq);
	qp->srq = init->srq ? to_rxe_srq(init->srq) : NULL;
	qp->is_user = !!udata;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	/* The largest; connections agree on theirs. */
	qp->mtu = ib_mtu_enum_to_int(IB_MTU_4096);
	INIT_WORK(&qp->event_work, event_work);

	ret = alloc_entry(qp);
	if (ret)
		return ret;
	ibqp->qp_num = qp->qpn;
	if (!qp->srq) {
		ret = rxe_rq_init(&qp->rq, init->cap.max_recv_wr,
				  init->cap.max_recv_sge, RXE_MAX_QP_WR);
		if (ret)
			goto free_entry;
	}
	ret = rxe_sq_init(qp, &init->cap);
	if (ret)
		goto free_rq;
	rxe_run_init(qp);
	if (udata) {
		ret = offer_rings(qp, udata);
		if (ret)
			goto stop_runner;
	}
	tell_cap(qp, &init->cap);
	ret = publish(qp);
	if (ret)
		goto stop_runner;
	return 0;

stop_runner:
	rxe_run_stop(qp);
	rxe_sq_free(qp);
free_rq:
	free_rq(qp);
free_entry:
	free_entry(qp);
	return ret;
}

int rxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);

	unpublish(qp);
	rxe_run_stop(qp);
	rxe_mw_reopen(qp);
	cancel_work_sync(&qp->event_work);
	rxe_qp_put(qp);
	wait_for_completion(&qp->unused);
	/* Who held a reference may have left the rest of a run to it. */
	tasklet_kill(&qp->tasklet);

	rxe_flow_release(&qp->flow);
	rxe_ring_withdraw(qp->sq.ring);
	rxe_ring_withdraw(qp->rq.ring);
	rxe_sq_free(qp);
	free_rq(qp);
	kfree_rcu(qp->entry, rcu);
	atomic_dec(&num_qp);
	return 0;
}
