/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Rings that are shared with a program (struct rxe_queue_buf of the user ABI)
 * or kept in the kernel.
 *
 * Lifetime: pages of plain kernel memory, mapped once into the kernel (vmap)
 * and, on mmap(), page by page into the program (vm_insert_page), which counts
 * them: the program's mapping outlives ring, QP and device.  The ring itself
 * has a reference of its owner and one while it waits for mmap().
 *
 * Trust: everything in the pages can be written by the program.  The kernel
 * keeps its own index and the mask; the program's index is read once a use and
 * masked; elements are copied out once.
 *
 * Another size: the kernel's side goes over to the new ring at once, where the
 * first slots are left free for what the old one holds.  That is copied in
 * pieces, each with the owner's lock (struct rxe_move): its length is a program's
 * to choose, so interrupts are not off for all of it.  Who takes elements moves
 * those first that it is going to take.
 */
#ifndef SOFTROCE_RXE_RING_H
#define SOFTROCE_RXE_RING_H

#include <linux/kref.h>
#include "rxe.h"

/**
 * struct rxe_ring - a ring of 2^n elements, of which 2^n - 1 can be used
 * @buf: header and elements
 * @mask: number of slots - 1
 * @log2_elem: element size
 * @index: the kernel's own index, masked: producer's for a CQ, consumer's for
 *	send and receive queues
 */
struct rxe_ring {
	struct kref ref;
	struct rxe_queue_buf *buf;
	struct page **pages;
	u32 num_pages;
	size_t size;
	u32 mask;
	u32 log2_elem;
	u32 index;
	/* Set by rxe_ring_offer(): where it waits, or waited, for mmap(). */
	struct rxe_ucontext *uctx;
	u32 pgoff;
};

/**
 * struct rxe_move - what a ring is to get from the one before it
 * @from: the ring before; only its elements are used
 * @first: the next element in it, and
 * @next: the slot of the new ring where that belongs
 * @left: how many are to be moved still; 0: there is no ring before
 */
struct rxe_move {
	const struct rxe_ring *from;
	u32 first;
	u32 next;
	u32 left;
};

/* Bytes of elements that are moved at once: some microseconds. */
#define RXE_MOVE_BYTES 16384

struct vm_area_struct;

/*
 * Room for at least @count elements of @elem_size bytes.  Process context.
 * Return NULL without memory.
 */
struct rxe_ring *rxe_ring_alloc(u32 count, u32 elem_size);
void rxe_ring_put(struct rxe_ring *ring);
/*
 * Offer @ring for mmap() by the program that @udata came from and tell it where
 * in @info.  Return 0; -ENOMEM, or -EFAULT: it is not offered.
 */
int rxe_ring_offer(struct rxe_ring *ring, struct ib_udata *udata,
		   struct mminfo __user *info);
/* Take the offer back, if it stands (owner dies or creation fails). */
void rxe_ring_withdraw(struct rxe_ring *ring);
/*
 * Move @max elements to @to, which has as large ones, or what is left.  With the
 * lock of their owner.
 */
void rxe_ring_move(struct rxe_move *move, struct rxe_ring *to, u32 max);
/* As many as RXE_MOVE_BYTES has; false: none is left. */
bool rxe_ring_move_piece(struct rxe_move *move, struct rxe_ring *to);
int rxe_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void rxe_ring_ucontext_init(struct rxe_ucontext *uctx);
void rxe_ring_ucontext_cleanup(struct rxe_ucontext *uctx);

/* How many elements fit. */
static inline u32 rxe_ring_capacity(const struct rxe_ring *ring)
{
	return ring->mask;
}

static inline void *rxe_ring_elem(const struct rxe_ring *ring, u32 index)
{
	return ring->buf->data + ((size_t)(index & ring->mask) <<
				  ring->log2_elem);
}

/* The program's producer index, read once, masked, with acquire order. */
static inline u32 rxe_ring_producer(const struct rxe_ring *ring)
{
	/* The program fills an element, then releases the index. */
	return smp_load_acquire(&ring->buf->producer_index) & ring->mask;
}

static inline u32 rxe_ring_consumer(const struct rxe_ring *ring)
{
	/* The program reads an element, then releases the index. */
	return smp_load_acquire(&ring->buf->consumer_index) & ring->mask;
}

/* The kernel consumed up to @index: keep it and show it. */
static inline void rxe_ring_set_consumer(struct rxe_ring *ring, u32 index)
{
	ring->index = index & ring->mask;
	/* The element has been read when the program may write it. */
	smp_store_release(&ring->buf->consumer_index, ring->index);
}

static inline void rxe_ring_set_producer(struct rxe_ring *ring, u32 index)
{
	ring->index = index & ring->mask;
	/* The element is complete when the program may read it. */
	smp_store_release(&ring->buf->producer_index, ring->index);
}

#endif
