// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Completion queues.  A program polls its ring without the kernel; kernel
 * consumers poll here.
 */
#include <linux/sched.h>
#include "rxe_cq.h"

static u32 elem_size(const struct rxe_cq *cq)
{
	return cq->is_user ? sizeof(struct ib_uverbs_wc) : sizeof(struct ib_wc);
}

static void call_event_handler(struct rxe_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}

static void call_comp_handler(struct rxe_cq *cq)
{
	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

static void call_handlers(struct rxe_cq *cq)
{
	unsigned long flags;
	bool comp, err;

	spin_lock_irqsave(&cq->lock, flags);
	comp = cq->comp_due;
	err = cq->err_due;
	cq->comp_due = false;
	cq->err_due = false;
	spin_unlock_irqrestore(&cq->lock, flags);

	if (err)
		call_event_handler(cq);
	if (comp)
		call_comp_handler(cq);
}

static void cq_tasklet(struct tasklet_struct *t)
{
	call_handlers(container_of(t, struct rxe_cq, tasklet));
}

/* uverbs only wakes readers and may be called right here. */
static void notify_owner(struct rxe_cq *cq)
{
	if (cq->is_user)
		call_handlers(cq);
	else
		tasklet_schedule(&cq->tasklet);
}

/*
 * The user ABI knows no type of network header.  Programs read that of a
 * datagram in the service level, which RoCE has no other use for: bit 3 says
 * UDP, the bits below it 2 for IPv4 and 1 for IPv6 (IBTA annex A17.4.5.1).
 */
static u8 user_sl(const struct ib_wc *wc)
{
	if (!(wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE))
		return wc->sl;
	return BIT(3) | (wc->network_hdr_type == RDMA_NETWORK_IPV4 ? 2 : 1);
}

static void fill_user_wc(struct ib_uverbs_wc *to, const struct ib_wc *wc)
{
	*to = (struct ib_uverbs_wc){
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.ex.imm_data = wc->ex.imm_data,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = wc->wc_flags & ~IB_WC_WITH_NETWORK_HDR_TYPE,
		.pkey_index = wc->pkey_index,
		.slid = wc->slid,
		.sl = user_sl(wc),
		.dlid_path_bits = wc->dlid_path_bits,
		.port_num = wc->port_num,
	};
}

static bool ring_full(const struct rxe_ring *ring)
{
	return ((ring->index + 1) & ring->mask) == rxe_ring_consumer(ring);
}

int rxe_cq_post(struct rxe_cq *cq, const struct ib_wc *wc, bool solicited)
{
	struct rxe_ring *ring;
	unsigned long flags;
	bool tell = false;
	int ret = 0;
	void *elem;

	spin_lock_irqsave(&cq->lock, flags);
	ring = cq->ring;
	if (cq->dead) {
		ret = -ENOSPC;
	} else if (ring_full(ring)) {
		cq->dead = true;
		cq->err_due = true;
		tell = true;
		ret = -ENOSPC;
		rxe_count(cq->rxe, RXE_CNT_CQ_OVERFLOW);
	} else {
		elem = rxe_ring_elem(ring, ring->index);
		if (cq->is_user)
			fill_user_wc(elem, wc);
		else
			*(struct ib_wc *)elem = *wc;
		rxe_ring_set_producer(ring, ring->index + 1);
		if (cq->notify == IB_CQ_NEXT_COMP ||
		    (cq->notify == IB_CQ_SOLICITED &&
		     (solicited || wc->status != IB_WC_SUCCESS))) {
			cq->notify = 0;
			cq->comp_due = true;
			tell = true;
		}
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (tell)
		notify_owner(cq);
	return ret;
}

int rxe_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct rxe_cq *cq = to_rxe_cq(ibcq);
	struct rxe_ring *ring;
	unsigned long flags;
	u32 consumer;
	int i;

	if (cq->is_user || num < 0)
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	ring = cq->ring;
	if (unlikely(cq->move.left))
		rxe_ring_move(&cq->move, ring, num);
	consumer = ring->buf->consumer_index;
	for (i = 0; i < num && consumer != ring->index; i++) {
		wc[i] = *(struct ib_wc *)rxe_ring_elem(ring, consumer);
		consumer = (consumer + 1) & ring->mask;
	}
	ring->buf->consumer_index = consumer;
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int rxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct rxe_cq *cq = to_rxe_cq(ibcq);
	u8 notify = flags & IB_CQ_SOLICITED_MASK;
	unsigned long irq_flags;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq_flags);
	/* The next completion, once asked for, is not unasked. */
	if (cq->notify != IB_CQ_NEXT_COMP)
		cq->notify = notify;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS &&
	    rxe_ring_consumer(cq->ring) != cq->ring->index)
		missed = 1;
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return missed;
}

int rxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct rxe_dev *rxe = to_rxe(ibcq->device);
	struct rxe_create_cq_resp __user *resp;
	struct rxe_cq *cq = to_rxe_cq(ibcq);
	int ret;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > RXE_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(*resp))
		return -EINVAL;

	ret = rxe_count_object(&rxe->num_cq, RXE_MAX_CQ);
	if (ret)
		return ret;
	cq->rxe = rxe;
	cq->is_user = !!udata;
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_mutex);
	tasklet_setup(&cq->tasklet, cq_tasklet);
	cq->ring = rxe_ring_alloc(attr->cqe, elem_size(cq));
	if (!cq->ring) {
		ret = -ENOMEM;
		goto uncount;
	}
	if (udata) {
		resp = udata->outbuf;
		ret = rxe_ring_offer(cq->ring, udata, &resp->mi);
		if (ret)
			goto put_ring;
	}
	ibcq->cqe = rxe_ring_capacity(cq->ring);
	return 0;

put_ring:
	rxe_ring_put(cq->ring);
uncount:
	atomic_dec(&rxe->num_cq);
	return ret;
}

/* No QP reports here any more. */
int rxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct rxe_cq *cq = to_rxe_cq(ibcq);

	tasklet_kill(&cq->tasklet);
	rxe_ring_withdraw(cq->ring);
	rxe_ring_put(cq->ring);
	atomic_dec(&cq->rxe->num_cq);
	return 0;
}

int rxe_cq_switch(struct rxe_cq *cq, struct rxe_ring *to)
{
	struct rxe_ring *from = cq->ring;
	unsigned long flags;
	u32 first, count;
	int ret = -EINVAL;

	spin_lock_irqsave(&cq->lock, flags);
	first = rxe_ring_consumer(from);
	count = (from->index - first) & from->mask;
	if (count <= rxe_ring_capacity(to)) {
		cq->move = (struct rxe_move){
			.from = from, .first = first, .left = count,
		};
		rxe_ring_set_producer(to, count);
		cq->ring = to;
		WRITE_ONCE(cq->ibcq.cqe, rxe_ring_capacity(to));
		ret = 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

bool rxe_cq_move_piece(struct rxe_cq *cq)
{
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&cq->lock, flags);
	more = rxe_ring_move_piece(&cq->move, cq->ring);
	spin_unlock_irqrestore(&cq->lock, flags);
	return more;
}

/* The ring it was in until now is the caller's; NULL: what is there is too much. */
static struct rxe_ring *move_to_ring(struct rxe_cq *cq, struct rxe_ring *to)
{
	struct rxe_ring *from;

	mutex_lock(&cq->resize_mutex);
	from = cq->ring;
	if (rxe_cq_switch(cq, to))
		from = NULL;
	else
		while (rxe_cq_move_piece(cq))
			cond_resched();
	mutex_unlock(&cq->resize_mutex);
	return from;
}

/*
 * The program holds its own lock around the command: it does not poll before
 * it has mapped the new ring.
 */
int rxe_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct rxe_resize_cq_resp __user *resp;
	struct rxe_cq *cq = to_rxe_cq(ibcq);
	struct rxe_ring *from, *to;
	int ret;

	if (cqe < 1 || cqe > RXE_MAX_CQE || cq->is_user != !!udata ||
	    (udata && udata->outlen < sizeof(*resp)))
		return -EINVAL;
	to = rxe_ring_alloc(cqe, elem_size(cq));
	if (!to)
		return -ENOMEM;
	if (udata) {
		resp = udata->outbuf;
		ret = rxe_ring_offer(to, udata, &resp->mi);
		if (ret)
			goto put_ring;
	}

	from = move_to_ring(cq, to);
	if (!from) {
		ret = -EINVAL;
		goto withdraw;
	}

	rxe_ring_withdraw(from);
	rxe_ring_put(from);
	return 0;

withdraw:
	rxe_ring_withdraw(to);
put_ring:
	rxe_ring_put(to);
	return ret;
}
