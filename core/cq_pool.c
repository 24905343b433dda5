// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Room in completion queues that several consumers share: fewer CQs, and so
 * fewer handlers, than queue pairs.
 *
 * Each device has a pool for each poll context.  A pool grows by one CQ when no
 * CQ of the wanted vector has room, and never shrinks before the device goes:
 * who came once with so many queue pairs comes again.
 */
#include <linux/export.h>
#include "cq_poll.h"
#include "device.h"

/* Entries of a CQ that many share. */
#define POOL_CQE 4095

/* The fullest that has room: so the others stay free for who wants much. */
static struct ib_cq *find_room(struct ib_device_core *core,
			       unsigned int nr_cqe, unsigned int vector,
			       enum ib_poll_context poll_ctx)
{
	struct ib_cq *cq, *best = NULL;

	list_for_each_entry(cq, &core->cq_pool[poll_ctx], pool_entry)
		if (cq->comp_vector == vector &&
		    nr_cqe <= cq->cqe - cq->cqe_used &&
		    (!best || cq->cqe_used > best->cqe_used))
			best = cq;
	return best;
}

static struct ib_cq *grow(struct ib_device *dev, unsigned int nr_cqe,
			  unsigned int vector, enum ib_poll_context poll_ctx)
{
	unsigned int limit = dev->attrs.max_cqe;
	struct ib_cq *cq;

	if (nr_cqe > limit)
		return ERR_PTR(-EINVAL);
	cq = ib_alloc_cq(dev, NULL, max(nr_cqe, min_t(u32, limit, POOL_CQE)),
			 vector, poll_ctx);
	if (IS_ERR(cq))
		return cq;
	cq->shared = true;
	list_add_tail(&cq->pool_entry, &dev->core->cq_pool[poll_ctx]);
	return cq;
}

/**
 * ib_cq_pool_get - find room for completions in a CQ of the device's pool
 * @dev: registered
 * @nr_cqe: entries: not more completions than that of the caller's may be there
 *	at a time
 * @comp_vector_hint: completion vector, any number; negative: whichever
 * @poll_ctx: context of done(); not IB_POLL_DIRECT
 *
 * Context: process, may sleep.
 * Return: the CQ, for ib_cq_pool_put(), which others use as well; or an
 * ERR_PTR: -EINVAL for a context that has no pool or more entries than a CQ of
 * the device has.
 */
struct ib_cq *ib_cq_pool_get(struct ib_device *dev, unsigned int nr_cqe,
			     int comp_vector_hint,
			     enum ib_poll_context poll_ctx)
{
	struct ib_device_core *core = dev->core;
	unsigned int vector;
	struct ib_cq *cq;

	if (WARN_ON_ONCE(poll_ctx > IB_POLL_LAST_POOL_TYPE) || !nr_cqe)
		return ERR_PTR(-EINVAL);
	vector = comp_vector_hint < 0 ?
			 ib_cq_next_vector(dev) :
			 comp_vector_hint % max(dev->num_comp_vectors, 1);

	mutex_lock(&core->cq_pool_lock);
	cq = find_room(core, nr_cqe, vector, poll_ctx);
	if (!cq)
		cq = grow(dev, nr_cqe, vector, poll_ctx);
	if (!IS_ERR(cq))
		cq->cqe_used += nr_cqe;
	mutex_unlock(&core->cq_pool_lock);
	return cq;
}
EXPORT_SYMBOL(ib_cq_pool_get);

/**
 * ib_cq_pool_put - give room back
 * @cq: from ib_cq_pool_get(); the caller's QPs do not report there any more
 * @nr_cqe: as asked for
 *
 * Context: process, may sleep.
 */
void ib_cq_pool_put(struct ib_cq *cq, unsigned int nr_cqe)
{
	struct ib_device_core *core = cq->device->core;

	mutex_lock(&core->cq_pool_lock);
	if (!WARN_ON_ONCE(nr_cqe > cq->cqe_used))
		cq->cqe_used -= nr_cqe;
	mutex_unlock(&core->cq_pool_lock);
}
EXPORT_SYMBOL(ib_cq_pool_put);

void ib_cq_pools_cleanup(struct ib_device *dev)
{
	struct ib_device_core *core = dev->core;
	struct ib_cq *cq, *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(core->cq_pool); i++)
		list_for_each_entry_safe(cq, next, &core->cq_pool[i],
					 pool_entry) {
			list_del(&cq->pool_entry);
			cq->shared = false;
			ib_free_cq(cq);
		}
}
