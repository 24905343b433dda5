/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory regions and how the data path reaches into them.
 *
 * Lifetime: made by reg_umem_mr, get_dma_mr or alloc_mr with one reference, found
 * by key under RCU (rxe_mr_get()), which takes another.  dereg_mr unpublishes the
 * key and waits for the references that bursts hold (they are short, BH
 * context); then the core unpins the pages.  rereg_mr waits for them as well,
 * while a copy that is what the region becomes is found under the key: a packet
 * meets the region as it was or as it will be, and nothing between or neither.
 *
 * Fast registration (IBTA vol. 1, 10.6.4.4): a kernel consumer's region from
 * alloc_mr has a place in the table, but no key of it is good.  map_mr_sg fills
 * the list that is going to be its memory, REG_MR puts it into force under a
 * key, LOCAL_INV or the peer's SEND with invalidate ends that.  The list in
 * force changes only while nobody holds a reference.
 */
#ifndef SOFTROCE_RXE_MR_H
#define SOFTROCE_RXE_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include "rxe.h"

struct ib_umem;
struct scatterlist;
struct rxe_qp;

enum rxe_mr_state {
	RXE_MR_IN_FORCE,
	/* Of fast registration only: no key is good ... */
	RXE_MR_FREE,
	/* ... but bytes may be on their way through it. */
	RXE_MR_CLOSING,
};

#define RXE_MR_NO_WINDOWS (-1)

/* A run of bytes that are neighbours in memory. */
struct rxe_extent {
	u64 start;	/* offset of its first byte from @va */
	void *addr;
};

/**
 * struct rxe_mr - a memory region
 * @va: first address, as local and remote keys see it
 * @len: bytes
 * @dma: a kernel's DMA region: addresses are kernel virtual, all of memory
 * @num_mw: windows that are bound to it; with any it is neither deregistered
 *	nor registered again; or RXE_MR_NO_WINDOWS while it is
 * @extent: @num_extents runs, sorted by start, for binary search
 * @state: enum rxe_mr_state; of fast registration it changes with @state_lock
 * @next: of fast registration: what will be @extent, with room for @max_next
 * @max_next: 0 of all others
 * @next_len: bytes in it
 */
struct rxe_mr {
	struct ib_mr ibmr;
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	u32 key;
	int access;
	bool dma;
	u64 va;
	u64 len;
	struct rxe_extent *extent;
	u32 num_extents;
	int state;
	spinlock_t state_lock;
	struct rxe_extent *next;
	u32 num_next;
	u32 max_next;
	u64 next_len;
	atomic_t num_mw;
	refcount_t ref;
	struct completion unused;
	struct rcu_head rcu;
};

struct sg_table;

int rxe_mr_init(void);
void rxe_mr_exit(void);
struct ib_mr *rxe_reg_umem_mr(struct ib_pd *pd, struct ib_umem *umem, u64 virt,
			      int access);
struct ib_mr *rxe_get_dma_mr(struct ib_pd *pd, int access);
int rxe_rereg_umem_mr(struct ib_mr *mr, struct ib_umem *umem, u64 virt,
		      int access, struct ib_pd *pd);
int rxe_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
struct ib_mr *rxe_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg);
int rxe_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int num,
		  unsigned int *offset);

/*
 * REG_MR: what was mapped last, or was in force before, is in force under @key.
 * 0; -EAGAIN: what was in force is still being used; -EINVAL.  Runner's.
 */
int rxe_mr_enforce(struct rxe_pd *pd, struct rxe_mr *mr, u32 key, int access);
/*
 * LOCAL_INV, or invalidation by the peer (@remote): @key is not good any more.
 * 0 and nothing uses it; -EINVAL: it was not good, or not of fast registration;
 * -EAGAIN, to LOCAL_INV: bytes are still on their way through it.  Runner's, who
 * holds no region: for a peer it waits.
 */
int rxe_mr_invalidate(struct rxe_pd *pd, u32 key, bool remote);

/* The parts of a registration: a key that nobody finds yet ... */
struct rxe_mr *rxe_mr_alloc(struct rxe_pd *pd, int access);
/* ... its memory: @sgt from byte @first on; 0 or -ENOMEM ... */
int rxe_mr_map(struct rxe_mr *mr, struct sg_table *sgt, u32 first);
/* ... and from now on it can be found.  Undone by rxe_dereg_mr(). */
void rxe_mr_publish(struct rxe_mr *mr);
/* Undoes rxe_mr_alloc() and rxe_mr_map(); publication has been undone. */
void rxe_mr_free(struct rxe_mr *mr);

/* Tell whether [@va, @va + @len) lies in @mr; no sum can wrap. */
static inline bool rxe_mr_covers(const struct rxe_mr *mr, u64 va, u64 len)
{
	return va >= mr->va && va - mr->va <= mr->len &&
	       len <= mr->len - (va - mr->va);
}

/*
 * The region of @key in @pd, when it grants @access (IB_ACCESS_*; 0 = local
 * read) to all of [@va, @va + @len) without wrapping.  For @len 0 no region is
 * needed: callers do not ask.  A reference for the caller, put with
 * rxe_mr_put() before bottom halves come back on.
 * Return NULL when there is none.
 */
struct rxe_mr *rxe_mr_get(struct rxe_pd *pd, u32 key, int access, u64 va,
			  u64 len);
/* The same wherever it lies: for what is meant for all of a region. */
struct rxe_mr *rxe_mr_get_whole(struct rxe_pd *pd, u32 key, int access);
void rxe_mr_put(struct rxe_mr *mr);

/*
 * Kernel address of byte @va of @mr; *@len is cut to what follows there
 * without a break.  The range was checked by rxe_mr_get().
 */
void *rxe_mr_piece(const struct rxe_mr *mr, u64 va, u32 *len);

struct rxe_mw_entry;

/**
 * struct rxe_grant - leave to reach into a region, for the length of a burst
 * @mr: the region, with a reference
 * @mw: the window that it is reached through, or NULL
 */
struct rxe_grant {
	struct rxe_mr *mr;
	struct rxe_mw_entry *mw;
};

/* Give it back; it is empty then. */
void rxe_grant_put(struct rxe_grant *grant);

/**
 * struct rxe_cursor - a position in a scatter/gather list
 * @inl: inline data instead of a list
 * @off: position in sge[@cur]
 * @peer_of: the keys are those that this queue pair's peer uses
 * @held: region of sge[@cur]; empty when not looked up yet
 */
struct rxe_cursor {
	struct rxe_pd *pd;
	struct rxe_qp *peer_of;
	const struct ib_sge *sge;
	const void *inl;
	u32 num_sge;
	int access;
	u32 cur;
	u32 off;
	struct rxe_grant held;
};

/*
 * At byte @offset of the list; entries of length 0 are skipped.  Of an entry
 * only the bytes that are used have to lie in its region.
 */
void rxe_cursor_init(struct rxe_cursor *c, struct rxe_pd *pd,
		     const struct ib_sge *sge, u32 num_sge, int access,
		     u64 offset);
/* The same with one entry whose key is the peer's: rxe_rkey_get(). */
void rxe_cursor_init_remote(struct rxe_cursor *c, struct rxe_qp *qp,
			    const struct ib_sge *sge, int access, u64 offset);
void rxe_cursor_init_inline(struct rxe_cursor *c, const void *data, u32 offset);
/*
 * Next piece: kernel address of *@len bytes at most (cut as needed, never 0),
 * and go past it.  NULL: protection error, or the list is at its end.
 */
void *rxe_cursor_next(struct rxe_cursor *c, u32 *len);
/* Give back what it holds. */
void rxe_cursor_end(struct rxe_cursor *c);

#endif
