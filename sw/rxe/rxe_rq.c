// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Receive queues: filled by the program in its ring, or by kernel consumers
 * here; emptied by the QP's runner.
 */
#include <linux/interrupt.h>
#include <linux/string.h>
#include "rxe_qp.h"
#include "rxe_srq.h"

static_assert(sizeof(struct rxe_sge) == sizeof(struct ib_sge));
static_assert(offsetof(struct rxe_sge, addr) == offsetof(struct ib_sge, addr));
static_assert(offsetof(struct rxe_sge, length) ==
	      offsetof(struct ib_sge, length));
static_assert(offsetof(struct rxe_sge, lkey) == offsetof(struct ib_sge, lkey));

/* How many stand between the consumer @from and the producer @to. */
static u32 distance(const struct rxe_ring *ring, u32 from, u32 to)
{
	return (to - from) & ring->mask;
}

static int post_one(struct rxe_rq *rq, const struct ib_recv_wr *wr)
{
	struct rxe_ring *ring = rq->ring;
	struct rxe_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (distance(ring, rxe_ring_consumer(ring), rq->producer) >=
	    rq->max_wr)
		return -ENOMEM;

	wqe = rxe_ring_elem(ring, rq->producer);
	wqe->wr_id = wr->wr_id;
	wqe->dma.num_sge = wr->num_sge;
	memcpy(wqe->dma.sge, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	rq->producer = (rq->producer + 1) & ring->mask;
	/* The WQE before the index that shows it: rxe_rq_take(). */
	smp_store_release(&ring->buf->producer_index, rq->producer);
	return 0;
}

int rxe_rq_init(struct rxe_rq *rq, u32 max_wr, u32 max_sge, u32 limit)
{
	memset(rq, 0, sizeof(*rq));
	spin_lock_init(&rq->lock);
	rq->ring = rxe_ring_alloc(max_wr, sizeof(struct rxe_recv_wqe) +
				  max_sge * sizeof(struct rxe_sge));
	if (!rq->ring)
		return -ENOMEM;
	rq->max_sge = max_sge;
	rq->max_wr = min(rxe_ring_capacity(rq->ring), limit);
	return 0;
}

int rxe_rq_post(struct rxe_rq *rq, const struct ib_recv_wr *wr,
		const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr; wr = wr->next) {
		ret = post_one(rq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

int rxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	int ret;

	/* A program posts in its ring, who has an SRQ posts there. */
	if (qp->is_user || qp->srq || READ_ONCE(qp->state) == IB_QPS_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}
	ret = rxe_rq_post(&qp->rq, wr, bad_wr);

	smp_mb();	/* what was posted before the state: rxe_qp_to_err() */
	/* It is flushed, and not in the chain of this verb. */
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		tasklet_schedule(&qp->tasklet);
	return ret;
}

int rxe_rq_take(struct rxe_qp *qp, struct rxe_rwqe *wqe, u32 need)
{
	return qp->srq ? rxe_srq_take(qp->srq, wqe, need) :
			 rxe_rq_take_from(&qp->rq, wqe, need);
}

int rxe_rq_take_from(struct rxe_rq *rq, struct rxe_rwqe *wqe, u32 need)
{
	struct rxe_ring *ring = rq->ring;
	const struct rxe_recv_wqe *elem;
	int ret = 0;
	u32 i;

	if (rxe_ring_producer(ring) == ring->index)
		return -ENOENT;

	/* Once out of the ring, nothing changes any more. */
	elem = rxe_ring_elem(ring, ring->index);
	wqe->wr_id = READ_ONCE(elem->wr_id);
	wqe->num_sge = READ_ONCE(elem->dma.num_sge);
	wqe->len = 0;
	if (wqe->num_sge > rq->max_sge) {
		wqe->num_sge = 0;
		ret = -EINVAL;
	}
	memcpy(wqe->sge, elem->dma.sge, wqe->num_sge * sizeof(wqe->sge[0]));
	barrier();
	for (i = 0; i < wqe->num_sge; i++)
		wqe->len += wqe->sge[i].length;
	/* No message is longer, whatever there is room for. */
	wqe->len = min_t(u64, wqe->len, RXE_MAX_MSG_SZ);
	if (!ret && wqe->len < need)
		return -EMSGSIZE;

	rxe_ring_set_consumer(ring, ring->index + 1);
	return ret;
}

u32 rxe_rq_count(const struct rxe_rq *rq)
{
	const struct rxe_ring *ring = rq->ring;

	return min(distance(ring, ring->index, rxe_ring_producer(ring)),
		   rq->max_wr);
}
