// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Pools of regions: see <rdma/mr_pool.h>. */
#include <linux/export.h>
#include <rdma/mr_pool.h>

/**
 * ib_mr_pool_get - take a region
 * @qp: whose pool it is
 * @list: the pool, &ib_qp.rdma_mrs
 *
 * Context: any.
 * Return: the region, or NULL when all have been taken.
 */
struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct list_head *list)
{
	struct ib_mr *mr = NULL;
	unsigned long irq;

	spin_lock_irqsave(&qp->mr_lock, irq);
	if (!list_empty(list)) {
		qp->mrs_used++;
		mr = list_first_entry(list, struct ib_mr, qp_entry);
		list_del_init(&mr->qp_entry);
	}
	spin_unlock_irqrestore(&qp->mr_lock, irq);
	return mr;
}
EXPORT_SYMBOL(ib_mr_pool_get);

/**
 * ib_mr_pool_put - give a region back
 * @qp: whose pool it is
 * @list: the pool
 * @mr: the region, which is not registered any more
 *
 * Context: any.
 */
void ib_mr_pool_put(struct ib_qp *qp, struct list_head *list, struct ib_mr *mr)
{
	unsigned long irq;

	spin_lock_irqsave(&qp->mr_lock, irq);
	qp->mrs_used--;
	/* The one used last is the one that caches know. */
	list_add(&mr->qp_entry, list);
	spin_unlock_irqrestore(&qp->mr_lock, irq);
}
EXPORT_SYMBOL(ib_mr_pool_put);

/**
 * ib_mr_pool_init - fill a pool
 * @qp: whose pool it is
 * @list: the pool, which is empty
 * @nr: how many regions
 * @type: IB_MR_TYPE_MEM_REG or IB_MR_TYPE_SG_GAPS
 * @max_num_sg: entries of each
 * @max_num_meta_sg: 0: there is no metadata
 *
 * Context: process, may sleep.
 * Return: 0; or an errno and the pool is empty.
 */
int ib_mr_pool_init(struct ib_qp *qp, struct list_head *list, int nr,
		    enum ib_mr_type type, u32 max_num_sg, u32 max_num_meta_sg)
{
	struct ib_mr *mr;
	int i;

	if (max_num_meta_sg)
		return -EOPNOTSUPP;
	for (i = 0; i < nr; i++) {
		mr = ib_alloc_mr(qp->pd, type, max_num_sg);
		if (IS_ERR(mr)) {
			ib_mr_pool_destroy(qp, list);
			return PTR_ERR(mr);
		}
		/* As if it had been taken. */
		qp->mrs_used++;
		ib_mr_pool_put(qp, list, mr);
	}
	return 0;
}
EXPORT_SYMBOL(ib_mr_pool_init);

/**
 * ib_mr_pool_destroy - end the regions of a pool
 * @qp: whose pool it is
 * @list: the pool; all have been given back
 *
 * Context: process, may sleep.
 */
void ib_mr_pool_destroy(struct ib_qp *qp, struct list_head *list)
{
	struct ib_mr *mr;

	while ((mr = ib_mr_pool_get(qp, list))) {
		qp->mrs_used--;
		WARN_ON_ONCE(ib_dereg_mr(mr));
	}
}
EXPORT_SYMBOL(ib_mr_pool_destroy);
