// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Shared receive queues: a receive queue with many consumers and a limit. */
#include <linux/atomic.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include "rxe_srq.h"

/* Only XRC would address one by its number. */
static atomic_t srq_number;

static void tell_owner(struct rxe_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}

static void event_work(struct work_struct *work)
{
	tell_owner(container_of(work, struct rxe_srq, event_work));
}

static void limit_reached(struct rxe_srq *srq)
{
	if (!srq->ibsrq.event_handler)
		return;
	/* uverbs only queues the event; others may do anything. */
	if (srq->is_user)
		tell_owner(srq);
	else
		schedule_work(&srq->event_work);
}

int rxe_srq_take(struct rxe_srq *srq, struct rxe_rwqe *wqe, u32 need)
{
	unsigned long flags;
	bool below;
	int ret;

	spin_lock_irqsave(&srq->rq.lock, flags);
	if (unlikely(srq->move.left))
		rxe_ring_move(&srq->move, srq->rq.ring, 1);
	ret = rxe_rq_take_from(&srq->rq, wqe, need);
	below = (!ret || ret == -EINVAL) && rxe_rq_count(&srq->rq) < srq->limit;
	/* Told once, until it is armed again (IBTA vol. 1, 10.2.9.4). */
	if (below)
		srq->limit = 0;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (below)
		limit_reached(srq);
	return ret;
}

int rxe_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct rxe_srq *srq = to_rxe_srq(ibsrq);

	/* A program posts in its ring. */
	if (srq->is_user) {
		*bad_wr = wr;
		return -EINVAL;
	}
	return rxe_rq_post(&srq->rq, wr, bad_wr);
}

static int check_size(const struct ib_srq_attr *attr)
{
	return !attr->max_wr || attr->max_wr > RXE_MAX_SRQ_WR ||
	       attr->srq_limit > attr->max_wr ? -EINVAL : 0;
}

/**
 * rxe_create_srq - make a shared receive queue
 * @ibsrq: allocated by the core
 * @init: what is asked for, and what there is then
 * @udata: the program's part: where its ring is
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP for all but basic ones; -EINVAL beyond the limits;
 * -ENOMEM; -EFAULT.
 */
int rxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		   struct ib_udata *udata)
{
	struct rxe_srq *srq = to_rxe_srq(ibsrq);
	struct rxe_dev *rxe = to_rxe(ibsrq->device);
	struct rxe_create_srq_resp __user *resp;
	u32 num;
	int ret;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (check_size(&init->attr) || init->attr.max_sge > RXE_MAX_SGE ||
	    (udata && udata->outlen < sizeof(*resp)))
		return -EINVAL;
	ret = rxe_count_object(&rxe->num_srq, RXE_MAX_SRQ);
	if (ret)
		return ret;
	srq->rxe = rxe;
	srq->pd = to_rxe_pd(ibsrq->pd);
	srq->is_user = !!udata;
	srq->limit = init->attr.srq_limit;
	INIT_WORK(&srq->event_work, event_work);
	mutex_init(&srq->resize_mutex);
	ret = rxe_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge,
			  RXE_MAX_SRQ_WR);
	if (ret)
		goto uncount;
	if (udata) {
		resp = udata->outbuf;
		num = atomic_inc_return(&srq_number);
		ret = rxe_ring_offer(srq->rq.ring, udata, &resp->mi);
		if (ret)
			goto put_ring;
		ret = ib_udata_write(udata, &resp->srq_num, &num, sizeof(num));
		if (ret)
			goto withdraw;
	}
	init->attr.max_wr = srq->rq.max_wr;
	init->attr.max_sge = srq->rq.max_sge;
	return 0;

withdraw:
	rxe_ring_withdraw(srq->rq.ring);
put_ring:
	rxe_ring_put(srq->rq.ring);
uncount:
	atomic_dec(&rxe->num_srq);
	return ret;
}

int rxe_srq_switch(struct rxe_srq *srq, const struct rxe_rq *new)
{
	struct rxe_rq *rq = &srq->rq;
	unsigned long flags;
	int ret = -EINVAL;
	u32 count;

	spin_lock_irqsave(&rq->lock, flags);
	count = rxe_rq_count(rq);
	if (count <= new->max_wr) {
		srq->move = (struct rxe_move){
			.from = rq->ring, .first = rq->ring->index, .left = count,
		};
		/* The other side's index, from where it goes on. */
		smp_store_release(&new->ring->buf->producer_index, count);
		rq->ring = new->ring;
		WRITE_ONCE(rq->max_wr, new->max_wr);
		rq->producer = count;
		ret = 0;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

bool rxe_srq_move_piece(struct rxe_srq *srq)
{
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&srq->rq.lock, flags);
	more = rxe_ring_move_piece(&srq->move, srq->rq.ring);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return more;
}

/* The ring it was in until now is the caller's; NULL: it does not fit. */
static struct rxe_ring *exchange_ring(struct rxe_srq *srq,
				      const struct rxe_rq *new)
{
	struct rxe_ring *from;

	mutex_lock(&srq->resize_mutex);
	from = srq->rq.ring;
	if (rxe_srq_switch(srq, new))
		from = NULL;
	else
		while (rxe_srq_move_piece(srq))
			cond_resched();
	mutex_unlock(&srq->resize_mutex);
	return from;
}

/*
 * The program holds its own lock around the command: it does not post before
 * it has mapped the new ring, whose place it is told in memory of its own.
 */
static int resize(struct rxe_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct rxe_modify_srq_cmd cmd;
	struct rxe_ring *from;
	struct rxe_rq new;
	int ret;

	if (udata && udata->inlen < sizeof(cmd))
		return -EINVAL;
	if (udata && ib_copy_from_udata(&cmd, udata, sizeof(cmd)))
		return -EFAULT;
	ret = rxe_rq_init(&new, max_wr, srq->rq.max_sge, RXE_MAX_SRQ_WR);
	if (ret)
		return ret;
	if (udata) {
		ret = rxe_ring_offer(new.ring, udata,
				     u64_to_user_ptr(cmd.mmap_info_addr));
		if (ret)
			goto put_ring;
	}
	from = exchange_ring(srq, &new);
	if (!from) {
		ret = -EINVAL;
		goto withdraw;
	}
	rxe_ring_withdraw(from);
	rxe_ring_put(from);
	return 0;

withdraw:
	rxe_ring_withdraw(new.ring);
put_ring:
	rxe_ring_put(new.ring);
	return ret;
}

/**
 * rxe_modify_srq - change the size of a shared receive queue, or arm its limit
 * @ibsrq: the queue
 * @attr: new values
 * @mask: which of them
 * @udata: the program's part: where it wants to read of its new ring
 *
 * Context: process.
 * Return: 0; -EINVAL when what is posted does not fit, or the limit is beyond
 * the size; -ENOMEM; -EFAULT.
 */
int rxe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct rxe_srq *srq = to_rxe_srq(ibsrq);
	struct ib_srq_attr to = { .max_wr = READ_ONCE(srq->rq.max_wr) };
	unsigned long flags;
	int ret;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_MAX_WR)
		to.max_wr = attr->max_wr;
	if (mask & IB_SRQ_LIMIT)
		to.srq_limit = attr->srq_limit;
	ret = check_size(&to);
	if (!ret && mask & IB_SRQ_MAX_WR)
		ret = resize(srq, to.max_wr, udata);
	if (ret || !(mask & IB_SRQ_LIMIT))
		return ret;
	spin_lock_irqsave(&srq->rq.lock, flags);
	srq->limit = to.srq_limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

int rxe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct rxe_srq *srq = to_rxe_srq(ibsrq);
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	attr->max_wr = srq->rq.max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

int rxe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct rxe_srq *srq = to_rxe_srq(ibsrq);

	cancel_work_sync(&srq->event_work);
	rxe_ring_withdraw(srq->rq.ring);
	rxe_ring_put(srq->rq.ring);
	atomic_dec(&srq->rxe->num_srq);
	return 0;
}
