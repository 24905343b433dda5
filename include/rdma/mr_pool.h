/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Regions of fast registration that a queue pair's owner takes and gives back
 * in contexts where none can be made.
 *
 * Lifetime: ib_mr_pool_init() -> get and put -> ib_mr_pool_destroy(), when all
 * have been put and before the queue pair goes.
 */
#ifndef SOFTROCE_RDMA_MR_POOL_H
#define SOFTROCE_RDMA_MR_POOL_H

#include <rdma/ib_verbs.h>

int ib_mr_pool_init(struct ib_qp *qp, struct list_head *list, int nr,
		    enum ib_mr_type type, u32 max_num_sg,
		    u32 max_num_meta_sg);
void ib_mr_pool_destroy(struct ib_qp *qp, struct list_head *list);
struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct list_head *list);
void ib_mr_pool_put(struct ib_qp *qp, struct list_head *list,
		    struct ib_mr *mr);

#endif
