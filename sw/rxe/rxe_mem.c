// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From addresses in regions and scatter/gather lists to bytes in memory.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/scatterlist.h>
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_qp.h"

/* Extents between two chances for others to run. */
#define MAP_BATCH 4096

int rxe_mr_map(struct rxe_mr *mr, struct sg_table *sgt, u32 first)
{
	struct rxe_extent *extent;
	struct scatterlist *sg;
	u64 start = 0;
	unsigned int i;
	u32 n = 0;

	extent = rxe_alloc_sized(sgt->orig_nents, sizeof(*extent), 0);
	if (!extent)
		return -ENOMEM;

	for_each_sgtable_sg(sgt, sg, i) {
		void *addr = sg_virt(sg) + first;
		u32 len = sg->length - first;

		/* An entry's length is limited, an extent's is not. */
		if (!n || extent[n - 1].addr + (start - extent[n - 1].start) !=
				  addr)
			extent[n++] = (struct rxe_extent){ start, addr };
		start += len;
		first = 0;
		if (!((i + 1) % MAP_BATCH))
			cond_resched();
	}
	mr->extent = extent;
	mr->num_extents = n;
	return 0;
}

/* The last extent that starts at or before @offset. */
static u32 find_extent(const struct rxe_mr *mr, u64 offset)
{
	u32 lo = 0, hi = mr->num_extents;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (mr->extent[mid].start <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void *rxe_mr_piece(const struct rxe_mr *mr, u64 va, u32 *len)
{
	u64 offset = va - mr->va;
	u64 room;
	u32 i;

	if (mr->dma)
		return (void *)(uintptr_t)va;

	i = find_extent(mr, offset);
	if (i + 1 < mr->num_extents) {
		room = mr->extent[i + 1].start - offset;
		if (*len > room)
			*len = room;
	}
	return mr->extent[i].addr + (offset - mr->extent[i].start);
}

void rxe_cursor_init(struct rxe_cursor *c, struct rxe_pd *pd,
		     const struct ib_sge *sge, u32 num_sge, int access,
		     u64 offset)
{
	*c = (struct rxe_cursor){
		.pd = pd,
		.sge = sge,
		.num_sge = num_sge,
		.access = access,
	};
	while (c->cur < num_sge && offset >= sge[c->cur].length)
		offset -= sge[c->cur++].length;
	if (c->cur < num_sge)
		c->off = offset;
}

void rxe_cursor_init_remote(struct rxe_cursor *c, struct rxe_qp *qp,
			    const struct ib_sge *sge, int access, u64 offset)
{
	rxe_cursor_init(c, qp->pd, sge, 1, access, offset);
	c->peer_of = qp;
}

void rxe_cursor_init_inline(struct rxe_cursor *c, const void *data, u32 offset)
{
	*c = (struct rxe_cursor){ .inl = data, .off = offset };
}

/*
 * The region of [@va, @va + @len), which is kept for what follows.  A window may
 * be smaller than its region and is asked now for all that the peer may come to.
 */
static struct rxe_mr *cursor_mr(struct rxe_cursor *c, u32 key, u64 va, u32 len)
{
	if (!c->held.mr && c->peer_of)
		rxe_rkey_get(c->peer_of, key, c->access, va,
			     c->sge[c->cur].length - c->off, &c->held);
	else if (!c->held.mr)
		c->held.mr = rxe_mr_get(c->pd, key, c->access, va, len);
	else if (!rxe_mr_covers(c->held.mr, va, len))
		return NULL;
	return c->held.mr;
}

void *rxe_cursor_next(struct rxe_cursor *c, u32 *len)
{
	const struct ib_sge *sge;
	struct rxe_mr *mr;
	void *addr;
	u64 va;
	u32 n;

	if (c->inl) {
		addr = (void *)c->inl + c->off;
		c->off += *len;
		return addr;
	}

	while (c->cur < c->num_sge && c->off == c->sge[c->cur].length) {
		rxe_cursor_end(c);
		c->cur++;
		c->off = 0;
	}
	if (c->cur == c->num_sge)
		return NULL;

	sge = &c->sge[c->cur];
	n = min(*len, sge->length - c->off);
	if (check_add_overflow(sge->addr, (u64)c->off, &va))
		return NULL;
	mr = cursor_mr(c, sge->lkey, va, n);
	if (!mr)
		return NULL;
	addr = rxe_mr_piece(mr, va, &n);
	c->off += n;
	*len = n;
	return addr;
}

void rxe_cursor_end(struct rxe_cursor *c)
{
	if (c->held.mr)
		rxe_grant_put(&c->held);
}
