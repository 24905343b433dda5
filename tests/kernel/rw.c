// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Transfers over lists, and pools of regions. */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/mr_pool.h>
#include <rdma/rw.h>
#include "rig.h"

#define PIECES 41

/* Pieces of odd lengths of the first half, with a hole behind each. */
static u32 make_list(struct end *end, struct scatterlist *sg, u32 pieces)
{
	u32 i, at = 1, total = 0;

	sg_init_table(sg, pieces);
	for (i = 0; i < pieces; i++) {
		u32 len = 1 + i * 37 % 700;

		sg_set_buf(&sg[i], end[0].buf + at, len);
		at += len + 3;
		total += len;
	}
	return total;
}

/* @pieces here to or from one piece there, without the first @skip bytes. */
static int transfer(struct end *end, u32 pieces, u32 skip,
		    enum dma_data_direction dir, u32 *wrs)
{
	struct scatterlist *sg = kcalloc(pieces, sizeof(*sg), GFP_KERNEL);
	u8 *there = end[1].buf + BUF_SIZE / 2, *flat = kzalloc(BUF_SIZE, GFP_KERNEL);
	u32 total, i, at = 1;
	struct rdma_rw_ctx ctx;
	struct op op;
	int ret = -ENOMEM;

	if (!sg || !flat)
		goto out;
	memset(end[0].buf, 0xee, BUF_SIZE / 2);
	memset(there, 0xee, BUF_SIZE / 2);
	total = make_list(end, sg, pieces);
	fill(flat, total, pieces);
	if (dir == DMA_TO_DEVICE)
		sg_copy_from_buffer(sg, pieces, flat, total);
	else
		memcpy(there, flat + skip, total - skip);
	op_init(&op);
	ret = rdma_rw_ctx_init(&ctx, end[0].qp, 1, sg, pieces, skip,
			       end[1].dma + BUF_SIZE / 2,
			       end[1].pd->unsafe_global_rkey, dir);
	if (ret < 0)
		goto out;
	*wrs = ret;
	ret = rdma_rw_ctx_post(&ctx, end[0].qp, 1, &op.cqe, NULL);
	ret = ret ?: op_wait(&end[0], &op);
	rdma_rw_ctx_destroy(&ctx, end[0].qp, 1, sg, pieces, dir);
	if (ret)
		goto out;
	if (dir == DMA_TO_DEVICE) {
		ret = memcmp(there, flat + skip, total - skip) ||
		      there[total - skip] != 0xee ? -EIO : 0;
		goto out;
	}
	/* The holes are as they were. */
	for (i = 0; i < pieces; at += sg[i].length + 3, i++)
		if (end[0].buf[at - 1] != 0xee)
			ret = -EFAULT;
	memset(end[1].buf, 0, total);
	sg_copy_to_buffer(sg, pieces, end[1].buf, total);
	if (memcmp(end[1].buf + skip, flat + skip, total - skip))
		ret = -EIO;
out:
	kfree(flat);
	kfree(sg);
	return ret;
}

void test_rw(void)
{
	static const struct {
		u32 pieces, skip, wrs;
	} tries[] = {
		{ 1, 0, 1 }, { 4, 0, 1 }, { 5, 0, 2 }, { PIECES, 0, 11 },
		{ PIECES, 20, 10 }, { PIECES, 700, 9 },
	};
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_RC };
	struct end end[2];
	u32 i, wrs = 0;
	int err;

	if (ends_open(end, &conf))
		return;
	for (i = 0; i < 2 * ARRAY_SIZE(tries); i++) {
		enum dma_data_direction dir = i & 1 ? DMA_FROM_DEVICE :
						      DMA_TO_DEVICE;
		u32 pieces = tries[i / 2].pieces, skip = tries[i / 2].skip;

		err = transfer(end, pieces, skip, dir, &wrs);
		ktest_report(!err && wrs == tries[i / 2].wrs,
			     "rdma_rw: %s of %u pieces without %u bytes: %d, %u requests",
			     i & 1 ? "READ" : "WRITE", pieces, skip, err, wrs);
	}
	ends_close(end);
}

void test_mr_pool(void)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_RC };
	struct ib_mr *mr[8] = {};
	struct list_head *list;
	struct end end[2];
	int err, i, got = 0;

	if (ends_open(end, &conf))
		return;
	list = &end[0].qp->rdma_mrs;
	err = ib_mr_pool_init(end[0].qp, list, 8, IB_MR_TYPE_MEM_REG, 16, 0);
	for (i = 0; i < 8 && !err; i++) {
		mr[i] = ib_mr_pool_get(end[0].qp, list);
		got += !!mr[i];
	}
	ktest_report(!err && got == 8 && !ib_mr_pool_get(end[0].qp, list),
		     "a pool of 8 regions: %d, %d taken", err, got);
	for (i = 0; i < 8; i++)
		if (mr[i])
			ib_mr_pool_put(end[0].qp, list, mr[i]);
	ib_mr_pool_destroy(end[0].qp, list);
	err = ib_mr_pool_init(end[0].qp, list, 8, IB_MR_TYPE_INTEGRITY, 16, 0);
	ktest_report(err == -EOPNOTSUPP && list_empty(list),
		     "a pool of regions that are not supported: %d", err);
	ends_close(end);
}
