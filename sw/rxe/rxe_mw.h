/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory windows (IBTA vol. 1, 10.6.7): a part of a region, with rights of its
 * own, that a program opens and closes with work requests.
 *
 * Lifetime: the core allocates and frees the window around alloc_mw and
 * dealloc_mw.  Its state is in an entry of its own, which the table of keys holds
 * until dealloc_mw and which lives for a grace period longer.  A window that is
 * bound keeps its region from being deregistered (rxe_mr.num_mw); who reaches
 * into memory through it is counted (@users) and has a reference to the region, as
 * with any key.  dealloc_mw sleeps until they have gone, a request that binds a
 * window of type 1 anew asks to be executed again: bursts of other queue pairs,
 * which wait for nobody.  Type 2 is reached by one queue pair, whose runner is not
 * in the middle of a burst when it ends the binding.
 */
#ifndef SOFTROCE_RXE_MW_H
#define SOFTROCE_RXE_MW_H

#include <linux/spinlock.h>
#include "rxe.h"

struct rxe_grant;
struct rxe_mr;
struct rxe_qp;

/**
 * struct rxe_mw_entry - a window
 * @pd: whose queue pairs may use it
 * @type: 1, or 2 (2B: good on the queue pair that bound it)
 * @lock: what is below; BH off
 * @rkey: the present one; its low byte is the binder's choice
 * @mr: bound to, or NULL
 * @users: accesses that have not ended
 * @closing: none begins any more
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
	u32 users;
	bool closing;
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

/*
 * 0; -EINVAL; -EAGAIN: bytes are on their way through the window, and until the
 * next try none set out.  Runner's.
 */
int rxe_mw_bind(struct rxe_qp *qp, const struct rxe_bind *bind);
/* There may be no next try: it is flushed, or waits. Runner's or owner's. */
void rxe_mw_reopen(struct rxe_qp *qp);
/* Type 2 only: no key of it is good any more. 0, or -EINVAL: it was not. */
int rxe_mw_invalidate(struct rxe_qp *qp, u32 rkey);

/* The same of a window or of fast registration. */
int rxe_key_invalidate(struct rxe_qp *qp, u32 key, bool remote);

/* Is that the key of a window, if of anything? */
static inline bool rxe_key_is_mw(u32 key)
{
	return key >> 31;
}

/*
 * As rxe_mr_get(), for what comes from the peer of @qp: @rkey may be that of a
 * window, whose rights and range count then.  BH off, until rxe_grant_put().
 * Return false, and @grant is empty, when there is none.
 */
bool rxe_rkey_get(struct rxe_qp *qp, u32 rkey, int access, u64 va, u64 len,
		  struct rxe_grant *grant);
/* Would there be one now? */
bool rxe_rkey_good(struct rxe_qp *qp, u32 rkey, int access, u64 va, u64 len);

#endif
