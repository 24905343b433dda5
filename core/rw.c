// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Transfers from and to scatter/gather lists: see <rdma/rw.h>.
 *
 * No region is registered for them: on every device of this stack the target of
 * an RDMA READ needs no more rights than local memory has.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <rdma/rw.h>

/**
 * rdma_rw_max_send_wr - the room of transfers in a send queue
 * @dev: on which device
 * @port_num: on which port
 * @max_rdma_ctxs: so many are there at a time, of one work request each; longer
 *	ones take the room of several
 * @create_flags: of the queue pair
 *
 * Context: any.
 * Return: work requests, no more than a queue has.
 */
unsigned int rdma_rw_max_send_wr(struct ib_device *dev, u32 port_num,
				 unsigned int max_rdma_ctxs, u32 create_flags)
{
	return min_t(u32, max_rdma_ctxs, dev->attrs.max_qp_wr);
}
EXPORT_SYMBOL(rdma_rw_max_send_wr);

/**
 * rdma_rw_init_qp - make room for transfers in a queue pair that will be made
 * @dev: on which device
 * @attr: its cap.max_send_wr grows by what cap.max_rdma_ctxs transfers take
 */
void rdma_rw_init_qp(struct ib_device *dev, struct ib_qp_init_attr *attr)
{
	u64 room = rdma_rw_max_send_wr(dev, attr->port_num,
				       attr->cap.max_rdma_ctxs,
				       attr->create_flags);

	attr->cap.max_send_wr = min_t(u64, attr->cap.max_send_wr + room,
				      dev->attrs.max_qp_wr);
}

/**
 * rdma_rw_mr_factor - how many contexts a transfer of some size takes
 * @device: the device
 * @port_num: the port
 * @maxpages: pages of it
 *
 * Return: contexts to count for it in cap.max_rdma_ctxs.
 */
unsigned int rdma_rw_mr_factor(struct ib_device *device, u32 port_num,
			       unsigned int maxpages)
{
	unsigned int sges = min(device->attrs.max_send_sge,
				device->attrs.max_sge_rd ?:
					device->attrs.max_send_sge);

	return DIV_ROUND_UP(maxpages, max(sges, 1u));
}
EXPORT_SYMBOL(rdma_rw_mr_factor);

static void init_wr(struct ib_rdma_wr *wr, u64 remote_addr, u32 rkey,
		    enum dma_data_direction dir, struct ib_sge *sge)
{
	*wr = (struct ib_rdma_wr){
		.wr.opcode = dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE :
						    IB_WR_RDMA_READ,
		.wr.sg_list = sge,
		.remote_addr = remote_addr,
		.rkey = rkey,
	};
}

/* @sg from byte @offset on, in as few requests as the QP's lists allow. */
static int init_many(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
		     struct scatterlist *sg, u32 count, u32 offset,
		     u64 remote_addr, u32 rkey, enum dma_data_direction dir)
{
	u32 per_wr = max(1u, dir == DMA_TO_DEVICE ? qp->max_write_sge :
						    qp->max_read_sge);
	struct ib_rdma_wr *wr;
	struct ib_sge *sge;
	u32 i;

	ctx->nr_ops = DIV_ROUND_UP(count, per_wr);
	ctx->many.sges = kcalloc(count, sizeof(*ctx->many.sges), GFP_KERNEL);
	ctx->many.wrs = kcalloc(ctx->nr_ops, sizeof(*ctx->many.wrs),
				GFP_KERNEL);
	if (!ctx->many.sges || !ctx->many.wrs) {
		kfree(ctx->many.wrs);
		kfree(ctx->many.sges);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++, sg = sg_next(sg), offset = 0) {
		wr = &ctx->many.wrs[i / per_wr];
		sge = &ctx->many.sges[i];
		if (i % per_wr == 0) {
			init_wr(wr, remote_addr, rkey, dir, sge);
			if (i)
				(wr - 1)->wr.next = &wr->wr;
		}
		sge->addr = sg_dma_address(sg) + offset;
		sge->length = sg_dma_len(sg) - offset;
		sge->lkey = qp->pd->local_dma_lkey;
		remote_addr += sge->length;
		wr->wr.num_sge++;
	}
	return 0;
}

static int init_mapped(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
		       struct scatterlist *sg, u32 count, u32 offset,
		       u64 remote_addr, u32 rkey, enum dma_data_direction dir)
{
	memset(ctx, 0, sizeof(*ctx));
	/* What lies before the first byte. */
	while (count && offset >= sg_dma_len(sg)) {
		offset -= sg_dma_len(sg);
		sg = sg_next(sg);
		count--;
	}
	if (!count)
		return -EINVAL;
	ctx->reg = NULL;
	if (count > 1)
		return init_many(ctx, qp, sg, count, offset, remote_addr, rkey,
				 dir);
	ctx->nr_ops = 1;
	ctx->single.sge = (struct ib_sge){
		.addr = sg_dma_address(sg) + offset,
		.length = sg_dma_len(sg) - offset,
		.lkey = qp->pd->local_dma_lkey,
	};
	init_wr(&ctx->single.wr, remote_addr, rkey, dir, &ctx->single.sge);
	ctx->single.wr.wr.num_sge = 1;
	return 0;
}

/**
 * rdma_rw_ctx_init - prepare a transfer
 * @ctx: the context
 * @qp: the QP it will go over
 * @port_num: the QP's port
 * @sg: the list here; is mapped for the device
 * @sg_cnt: its entries
 * @sg_offset: bytes of it to leave out at its beginning
 * @remote_addr: where the peer's memory begins
 * @rkey: its key
 * @dir: DMA_TO_DEVICE: to the peer (WRITE), DMA_FROM_DEVICE: from it (READ)
 *
 * Context: process, may sleep.
 * Return: how many work requests it takes; -ENOMEM; -EINVAL for an empty list.
 */
int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct scatterlist *sg, u32 sg_cnt, u32 sg_offset,
		     u64 remote_addr, u32 rkey, enum dma_data_direction dir)
{
	int mapped, ret;

	mapped = ib_dma_map_sg(qp->device, sg, sg_cnt, dir);
	if (!mapped)
		return -ENOMEM;
	ret = init_mapped(ctx, qp, sg, mapped, sg_offset, remote_addr, rkey,
			  dir);
	if (ret) {
		ib_dma_unmap_sg(qp->device, sg, sg_cnt, dir);
		return ret;
	}
	return ctx->nr_ops;
}
EXPORT_SYMBOL(rdma_rw_ctx_init);

/**
 * rdma_rw_ctx_destroy - give back what a transfer took
 * @ctx: the context; its requests are done
 * @qp: as at rdma_rw_ctx_init()
 * @port_num: the same
 * @sg: the same
 * @sg_cnt: the same
 * @dir: the same
 *
 * Context: any.
 */
void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			 u32 port_num, struct scatterlist *sg, u32 sg_cnt,
			 enum dma_data_direction dir)
{
	kfree(ctx->many.wrs);
	kfree(ctx->many.sges);
	ib_dma_unmap_sg(qp->device, sg, sg_cnt, dir);
}
EXPORT_SYMBOL(rdma_rw_ctx_destroy);

/**
 * rdma_rw_ctx_wrs - the work requests of a transfer, for a chain
 * @ctx: the context
 * @qp: its QP
 * @port_num: the QP's port
 * @cqe: told when the transfer is done; NULL: @chain_wr's is
 * @chain_wr: work requests to follow, or NULL
 *
 * Return: the first one, for ib_post_send().
 */
struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
				   u32 port_num, struct ib_cqe *cqe,
				   struct ib_send_wr *chain_wr)
{
	struct ib_rdma_wr *wrs = ctx->many.wrs ?: &ctx->single.wr;
	struct ib_send_wr *last = &wrs[ctx->nr_ops - 1].wr;

	last->next = chain_wr;
	if (!chain_wr) {
		last->wr_cqe = cqe;
		last->send_flags |= IB_SEND_SIGNALED;
	}
	return &wrs->wr;
}
EXPORT_SYMBOL(rdma_rw_ctx_wrs);

/**
 * rdma_rw_ctx_post - post a transfer
 * @ctx: the context
 * @qp: its QP
 * @port_num: the QP's port
 * @cqe: told when the transfer is done; NULL: @chain_wr's is
 * @chain_wr: work requests to follow, or NULL
 *
 * Context: any.
 * Return: 0, or the error of ib_post_send().
 */
int rdma_rw_ctx_post(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	return ib_post_send(qp, rdma_rw_ctx_wrs(ctx, qp, port_num, cqe,
						chain_wr), NULL);
}
EXPORT_SYMBOL(rdma_rw_ctx_post);
