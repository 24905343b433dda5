// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory windows.  Their keys are in the upper half of all keys, given out in turn
 * like those of regions.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_qp.h"

#define MW_INDEX_MIN 0x800000
#define MW_INDEX_MAX 0xffffff
#define MW_INDEX(key) ((key) >> 8)

/* What a window can grant; that of local writing means nothing. */
#define MW_ACCESS                                                              \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC)
#define MW_ACCESS_WRITES (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

static DEFINE_XARRAY_FLAGS(mw_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static u32 mw_next = MW_INDEX_MIN;

static struct rxe_mw *to_rxe_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct rxe_mw, ibmw);
}

int rxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rxe(ibmw->device);
	struct rxe_mw_entry *entry;
	int ret;

	ret = rxe_count_object(&rxe->num_mw, RXE_MAX_MW);
	if (ret)
		return ret;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		goto uncount;
	entry->rxe = rxe;
	entry->pd = to_rxe_pd(ibmw->pd);
	entry->type = ibmw->type;
	spin_lock_init(&entry->lock);
	if (xa_alloc_cyclic(&mw_table, &entry->index, NULL,
			    XA_LIMIT(MW_INDEX_MIN, MW_INDEX_MAX), &mw_next,
			    GFP_KERNEL_ACCOUNT) < 0)
		goto free_entry;
	entry->rkey = entry->index << 8 | (get_random_u32() & 0xff);
	ibmw->rkey = entry->rkey;
	to_rxe_mw(ibmw)->entry = entry;
	/* The index is reserved: this needs no memory and cannot fail. */
	xa_store(&mw_table, entry->index, entry, GFP_KERNEL);
	return 0;

free_entry:
	kfree(entry);
uncount:
	atomic_dec(&rxe->num_mw);
	return -ENOMEM;
}

/* With the lock: there is no access through it any more. */
static void unbind(struct rxe_mw_entry *mw)
{
	if (mw->mr)
		atomic_dec(&mw->mr->num_mw);
	mw->mr = NULL;
	mw->closing = false;
}

/* With the lock: no access begins any more; false while some have not ended. */
static bool close_binding(struct rxe_mw_entry *mw)
{
	mw->closing = true;
	return !mw->users;
}

static bool try_unbind(struct rxe_mw_entry *mw)
{
	bool closed;

	spin_lock_bh(&mw->lock);
	closed = close_binding(mw);
	if (closed)
		unbind(mw);
	spin_unlock_bh(&mw->lock);
	return closed;
}

int rxe_dealloc_mw(struct ib_mw *ibmw)
{
	struct rxe_mw_entry *mw = to_rxe_mw(ibmw)->entry;

	might_sleep();
	xa_erase(&mw_table, mw->index);
	spin_lock_bh(&mw->lock);
	/* Who has found it already may not bind it any more, the last user tells. */
	mw->pd = NULL;
	spin_unlock_bh(&mw->lock);
	wait_var_event(&mw->users, try_unbind(mw));
	atomic_dec(&mw->rxe->num_mw);
	kfree_rcu(mw, rcu);
	return 0;
}

void rxe_mw_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&mw_table));
	xa_destroy(&mw_table);
}

/* ---- binding ---- */

/*
 * The region that is to be bound, with a reference; NULL: it may not be.  Those
 * of fast registration are the kernel's, which binds no windows.
 */
static struct rxe_mr *bindable(struct rxe_qp *qp, const struct rxe_bind *bind)
{
	int access = IB_ACCESS_MW_BIND;

	if (bind->access & MW_ACCESS_WRITES)
		access |= IB_ACCESS_LOCAL_WRITE;
	return rxe_mr_get(qp->pd, bind->mr_lkey, access, bind->addr,
			  bind->length);
}

/* With the lock: does the request fit the window (10.6.7.2)? */
static bool may_bind(const struct rxe_qp *qp, const struct rxe_mw_entry *mw,
		     const struct rxe_bind *bind)
{
	if (mw->pd != qp->pd || mw->rkey != bind->mw_rkey ||
	    MW_INDEX(bind->new_rkey) != mw->index ||
	    bind->access & ~MW_ACCESS)
		return false;
	/* Type 2 is bound when it is free, to something; type 1 at any time. */
	return mw->type == IB_MW_TYPE_1 || (!mw->mr && bind->length);
}

/* With the lock. */
static int bind_to(struct rxe_mw_entry *mw, struct rxe_mr *mr,
		   const struct rxe_qp *qp, const struct rxe_bind *bind)
{
	/* It is being registered again, or deregistered. */
	if (mr && !atomic_inc_unless_negative(&mr->num_mw))
		return -EAGAIN;
	if (!close_binding(mw)) {
		if (mr)
			atomic_dec(&mr->num_mw);
		return -EAGAIN;
	}
	unbind(mw);
	mw->rkey = bind->new_rkey;
	mw->mr = mr;
	mw->addr = bind->addr;
	mw->length = bind->length;
	mw->access = bind->access;
	mw->qpn = qp->qpn;
	return 0;
}

/* What is not bound anew stays what it was. */
void rxe_mw_reopen(struct rxe_qp *qp)
{
	u32 key = qp->req.closing;
	struct rxe_mw_entry *mw;

	if (!key)
		return;
	qp->req.closing = 0;
	rcu_read_lock();
	mw = xa_load(&mw_table, MW_INDEX(key));
	if (mw) {
		spin_lock_bh(&mw->lock);
		/* Another that closes it does so again. */
		if (mw->rkey == key && mw->pd == qp->pd)
			mw->closing = false;
		spin_unlock_bh(&mw->lock);
	}
	rcu_read_unlock();
}

int rxe_mw_bind(struct rxe_qp *qp, const struct rxe_bind *bind)
{
	struct rxe_mw_entry *mw;
	struct rxe_mr *mr = NULL;
	int ret = -EINVAL;

	rcu_read_lock();
	mw = rxe_key_is_mw(bind->mw_rkey) ?
		     xa_load(&mw_table, MW_INDEX(bind->mw_rkey)) : NULL;
	if (mw && bind->length)
		mr = bindable(qp, bind);
	if (!mw || (bind->length && !mr))
		goto unlock;
	spin_lock(&mw->lock);
	if (may_bind(qp, mw, bind))
		ret = bind_to(mw, mr, qp, bind);
	spin_unlock(&mw->lock);
unlock:
	rcu_read_unlock();
	if (mr)
		rxe_mr_put(mr);
	if (ret == -EAGAIN)
		qp->req.closing = bind->mw_rkey;
	else
		rxe_mw_reopen(qp);
	return ret;
}

int rxe_mw_invalidate(struct rxe_qp *qp, u32 rkey)
{
	struct rxe_mw_entry *mw;
	int ret = -EINVAL;

	rcu_read_lock();
	mw = xa_load(&mw_table, MW_INDEX(rkey));
	if (mw) {
		spin_lock(&mw->lock);
		if (mw->rkey == rkey && mw->pd == qp->pd && mw->mr &&
		    mw->type == IB_MW_TYPE_2 && mw->qpn == qp->qpn) {
			/* Only this QP comes through it, and its runner is here. */
			WARN_ON_ONCE(mw->users);
			unbind(mw);
			ret = 0;
		}
		spin_unlock(&mw->lock);
	}
	rcu_read_unlock();
	return ret;
}

int rxe_key_invalidate(struct rxe_qp *qp, u32 key, bool remote)
{
	if (rxe_key_is_mw(key))
		return rxe_mw_invalidate(qp, key);
	return rxe_mr_invalidate(qp->pd, key, remote);
}

/* ---- access ---- */

/* With the lock. */
static bool grants(const struct rxe_mw_entry *mw, const struct rxe_qp *qp,
		   u32 rkey, int access, u64 va, u64 len)
{
	return mw->mr && !mw->closing && mw->rkey == rkey && mw->pd == qp->pd &&
	       (mw->type == IB_MW_TYPE_1 || mw->qpn == qp->qpn) &&
	       (mw->access & access) == access && va >= mw->addr &&
	       va - mw->addr <= mw->length &&
	       len <= mw->length - (va - mw->addr);
}

bool rxe_rkey_get(struct rxe_qp *qp, u32 rkey, int access, u64 va, u64 len,
		  struct rxe_grant *grant)
{
	struct rxe_mw_entry *mw;

	*grant = (struct rxe_grant){};
	if (!rxe_key_is_mw(rkey)) {
		grant->mr = rxe_mr_get(qp->pd, rkey, access, va, len);
		return grant->mr;
	}
	rcu_read_lock();
	mw = xa_load(&mw_table, MW_INDEX(rkey));
	if (mw) {
		spin_lock(&mw->lock);
		/* While it is bound its region stays what it is. */
		if (grants(mw, qp, rkey, access, va, len)) {
			refcount_inc(&mw->mr->ref);
			mw->users++;
			*grant = (struct rxe_grant){ mw->mr, mw };
		}
		spin_unlock(&mw->lock);
	}
	rcu_read_unlock();
	return grant->mr;
}

bool rxe_rkey_good(struct rxe_qp *qp, u32 rkey, int access, u64 va, u64 len)
{
	struct rxe_grant grant;

	if (!rxe_rkey_get(qp, rkey, access, va, len, &grant))
		return false;
	rxe_grant_put(&grant);
	return true;
}

/* The entry is there until its last user has gone. */
static void leave(struct rxe_mw_entry *mw)
{
	bool awaited;

	spin_lock(&mw->lock);
	awaited = !--mw->users && !mw->pd;
	spin_unlock(&mw->lock);
	if (!awaited)
		return;
	/* No users before who is in the queue, which has only the address. */
	smp_mb();
	wake_up_var(&mw->users);
}

void rxe_grant_put(struct rxe_grant *grant)
{
	if (grant->mw)
		leave(grant->mw);
	rxe_mr_put(grant->mr);
	*grant = (struct rxe_grant){};
}
