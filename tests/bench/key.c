// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A key for atomics: that of a protection domain lets a peer read and write,
 * no more, so the responder registers its memory by a work request.
 */
#include <linux/delay.h>
#include <linux/scatterlist.h>
#include "bench.h"

static void key_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct bench *bench = container_of(wc->wr_cqe, struct bench, key_cqe);

	bench->key_status = wc->status;
}

int bench_key_get(struct bench *bench)
{
	struct bench_side *side = &bench->side[1];
	struct scatterlist sg;
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR, .wr_cqe = &bench->key_cqe,
			.send_flags = IB_SEND_SIGNALED },
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC,
	};
	struct ib_mr *mr;
	int ret, i;

	mr = ib_alloc_mr(side->pd, IB_MR_TYPE_MEM_REG, BENCH_KEY_PAGES);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	side->mr = mr;
	sg_init_one(&sg, side->mem.chunk[0], BENCH_KEY_PAGES * PAGE_SIZE);
	if (!ib_dma_map_sg(side->dev, &sg, 1, DMA_BIDIRECTIONAL))
		return -ENOMEM;
	ret = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (ret != 1)
		return ret < 0 ? ret : -EINVAL;
	wr.mr = mr;
	wr.key = mr->rkey;
	bench->key_cqe.done = key_done;
	bench->key_status = -1;
	ret = ib_post_send(bench->flow[0].qp[1], &wr.wr, NULL);
	for (i = 0; !ret && bench->key_status == -1 && i < 1000; i++) {
		ib_process_cq_direct(side->cq, -1);
		usleep_range(10, 100);
	}
	return ret ?: bench->key_status ? -EIO : 0;
}
