/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory windows (IBTA vol. 1, 10.6.7): a part of a region, with rights of its
 * own, that a program opens and closes with work requests.
 *
 * Lifetime: the core allocates and frees the window around alloc_mw and
 * dealloc_mw.  Its state is in an entry of its own, which the table of keys holds
 * until dealloc_mw and which lives for a grace period longer.  A window that is
 * bound keeps its region from being deregistered (rxe_mr.num_mw); who reaches
 * into memory through it takes a reference to the region, as with any key.
 */
#ifndef SOFTROCE_RXE_MW_H
#define SOFTROCE_RXE_MW_H

#include <linux/spinlock.h>
#include "rxe.h"

struct rxe_mr;
struct rxe_qp;

/**
 * struct rxe_mw_entry - a window
 * @pd: whose queue pairs may use it
 * @type: 1, or 2 (2B: good on the queue pair that bound it)
 * @lock: what is below; BH off
 * @rkey: the present one; its low byte is the binder's choice
 * @mr: bound to, or NULL
 * @qpn: type 2: who bound it
 */
struct rxe_mw_entry {
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	enum ib_mw_type type;
	u32 index;
	spinlock_t lock;
	u32 rkey;
	struct rxe_mr *mr;
	u64 addr;
	u64 length;
	int access;
	u32 qpn;
	struct rcu_head rcu;
};

struct rxe_mw {
	struct ib_mw ibmw;
	struct rxe_mw_entry *entry;
};

/* What a work request to bind one says. */
struct rxe_bind {
	u32 mw_rkey;
	u32 new_rkey;
	u32 mr_lkey;
	int access;
	u64 addr;
	u64 length;
};

int rxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int rxe_dealloc_mw(struct ib_mw *ibmw);
void rxe_mw_exit(void);

/* Runner's: enum ib_wc_status. */
int rxe_mw_bind(struct rxe_qp *qp, const struct rxe_bind *bind);
/* Type 2 only: no key of it is good any more. 0, or -EINVAL: it was not. */
int rxe_mw_invalidate(struct rxe_qp *qp, u32 rkey);

/* The same of a window or of fast registration: rxe_mr_invalidate(). */
int rxe_key_invalidate(struct rxe_qp *qp, u32 key, bool remote);

/* Is that the key of a window, if of anything? */
static inline bool rxe_key_is_mw(u32 key)
{
	return key >> 31;
}

/*
 * As rxe_mr_get(), for what comes from the peer of @qp: @rkey may be that of a
 * window, whose rights and range count then.
 */
struct rxe_mr *rxe_rkey_get(struct rxe_qp *qp, u32 rkey, int access, u64 va,
			    u64 len);

#endif
