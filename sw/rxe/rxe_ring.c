// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Rings of single pages: none of them needs a contiguous range, and each is
 * counted by whoever maps it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "rxe_ring.h"

static void free_pages_of(struct rxe_ring *ring)
{
	while (ring->num_pages)
		__free_page(ring->pages[--ring->num_pages]);
	kvfree(ring->pages);
}

static int alloc_pages_of(struct rxe_ring *ring, u32 count)
{
	struct page *page;

	ring->pages = rxe_alloc_sized(count, sizeof(*ring->pages), 0);
	if (!ring->pages)
		return -ENOMEM;
	while (ring->num_pages < count) {
		page = alloc_page(RXE_GFP_SIZED | __GFP_ZERO);
		if (!page) {
			free_pages_of(ring);
			return -ENOMEM;
		}
		ring->pages[ring->num_pages++] = page;
		cond_resched();
	}
	return 0;
}

struct rxe_ring *rxe_ring_alloc(u32 count, u32 elem_size)
{
	struct rxe_ring *ring;
	size_t size;

	if (count >= 1u << 30 || !elem_size || elem_size > PAGE_SIZE)
		return NULL;
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return NULL;
	kref_init(&ring->ref);
	ring->mask = roundup_pow_of_two(count + 1) - 1;
	ring->log2_elem = order_base_2(elem_size);
	size = sizeof(*ring->buf) + (((size_t)ring->mask + 1) <<
				     ring->log2_elem);
	ring->size = PAGE_ALIGN(size);

	if (alloc_pages_of(ring, ring->size >> PAGE_SHIFT))
		goto free_ring;
	ring->buf = vmap(ring->pages, ring->num_pages, VM_MAP, PAGE_KERNEL);
	if (!ring->buf)
		goto free_pages;
	ring->buf->log2_elem_size = ring->log2_elem;
	ring->buf->index_mask = ring->mask;
	return ring;

free_pages:
	free_pages_of(ring);
free_ring:
	kfree(ring);
	return NULL;
}

static void ring_release(struct kref *ref)
{
	struct rxe_ring *ring = container_of(ref, struct rxe_ring, ref);

	vunmap(ring->buf);
	free_pages_of(ring);
	kfree(ring);
}

void rxe_ring_put(struct rxe_ring *ring)
{
	if (ring)
		kref_put(&ring->ref, ring_release);
}

int rxe_ring_offer(struct rxe_ring *ring, struct ib_udata *udata,
		   struct mminfo __user *info)
{
	struct ib_ucontext *ibuc =
		rdma_udata_to_uverbs_attr_bundle(udata)->context;
	struct rxe_ucontext *uctx = to_rxe_ucontext(ibuc);
	struct mminfo where = { .size = ring->size };
	int ret;

	kref_get(&ring->ref);
	ret = xa_alloc_cyclic(&uctx->pending, &ring->pgoff, ring,
			      xa_limit_32b, &uctx->next_pgoff,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		rxe_ring_put(ring);
		return -ENOMEM;
	}
	ring->uctx = uctx;

	where.offset = (u64)ring->pgoff << PAGE_SHIFT;
	ret = ib_udata_write(udata, info, &where, sizeof(where));
	if (ret)
		rxe_ring_withdraw(ring);
	return ret;
}

/* The owner and a mmap() may both come: one of them finds it. */
void rxe_ring_withdraw(struct rxe_ring *ring)
{
	if (!ring || !ring->uctx)
		return;
	if (xa_cmpxchg(&ring->uctx->pending, ring->pgoff, ring, NULL, 0) ==
	    ring)
		rxe_ring_put(ring);
}

void rxe_ring_move(struct rxe_move *move, struct rxe_ring *to, u32 max)
{
	u32 n = min(max, move->left);

	move->left -= n;
	while (n--)
		memcpy(rxe_ring_elem(to, move->next++),
		       rxe_ring_elem(move->from, move->first++),
		       1u << to->log2_elem);
}

bool rxe_ring_move_piece(struct rxe_move *move, struct rxe_ring *to)
{
	rxe_ring_move(move, to, RXE_MOVE_BYTES >> to->log2_elem);
	return move->left;
}

static struct rxe_ring *ring_get_offered(struct rxe_ucontext *uctx,
					 unsigned long pgoff)
{
	struct rxe_ring *ring;

	xa_lock(&uctx->pending);
	ring = xa_load(&uctx->pending, pgoff);
	if (ring)
		kref_get(&ring->ref);
	xa_unlock(&uctx->pending);
	return ring;
}

/*
 * The program maps the ring that it was told of: all of it and shared, since
 * a private copy would be one that the kernel never sees.
 */
int rxe_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rxe_ring *ring = ring_get_offered(to_rxe_ucontext(ibuc),
						 vma->vm_pgoff);
	unsigned long count;
	int ret = -EINVAL;

	if (!ring)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) ||
	    vma->vm_end - vma->vm_start != ring->size)
		goto put_ring;

	count = ring->num_pages;
	ret = vm_insert_pages(vma, vma->vm_start, ring->pages, &count);
	if (!ret)
		rxe_ring_withdraw(ring);
put_ring:
	rxe_ring_put(ring);
	return ret;
}

void rxe_ring_ucontext_init(struct rxe_ucontext *uctx)
{
	xa_init_flags(&uctx->pending, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	uctx->next_pgoff = 1;
}

/* All owners are gone and took their offers back. */
void rxe_ring_ucontext_cleanup(struct rxe_ucontext *uctx)
{
	WARN_ON_ONCE(!xa_empty(&uctx->pending));
	xa_destroy(&uctx->pending);
}
