// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory regions: keys, registration and its end, fast registration.
 *
 * A key is an index into the table, given out in turn, and a random byte.  A
 * key that was given back comes again after 16 million others, most likely
 * with another byte.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <rdma/ib_umem.h>
#include "rxe_mr.h"

/* The upper half are windows: rxe_mw.c. */
#define MR_INDEX_MAX 0x7fffff
#define MR_INDEX(key) ((key) >> 8)

/* What can be asked for; what grants nothing that exists is harmless. */
#define MR_ACCESS_SUPPORTED                                                    \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | \
	 IB_ACCESS_HUGETLB | IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)

#define MR_ACCESS_REMOTE                                                       \
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

static DEFINE_XARRAY_FLAGS(mr_table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 mr_next;

static struct rxe_mr *to_rxe_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct rxe_mr, ibmr);
}

int rxe_mr_init(void)
{
	mr_next = get_random_u32() & MR_INDEX_MAX;
	return 0;
}

void rxe_mr_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&mr_table));
	xa_destroy(&mr_table);
}

/* The table is going to have the one reference. */
static void rxe_mr_ready(struct rxe_mr *mr)
{
	smp_wmb();	/* what it is before who can have it: rxe_mr_get_whole() */
	refcount_set(&mr->ref, 1);
}

struct rxe_mr *rxe_mr_alloc(struct rxe_pd *pd, int access)
{
	struct rxe_dev *rxe = to_rxe(pd->ibpd.device);
	struct rxe_mr *mr;
	u32 index;
	int ret;

	ret = rxe_count_object(&rxe->num_mr, RXE_MAX_MR);
	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr) {
		ret = -ENOMEM;
		goto uncount;
	}
	ret = xa_alloc_cyclic(&mr_table, &index, NULL,
			      XA_LIMIT(1, MR_INDEX_MAX), &mr_next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		ret = -ENOMEM;
		goto free_mr;
	}

	mr->rxe = rxe;
	mr->pd = pd;
	mr->access = access;
	mr->key = index << 8 | (get_random_u32() & 0xff);
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	spin_lock_init(&mr->state_lock);
	init_completion(&mr->unused);
	rxe_mr_ready(mr);
	return mr;

free_mr:
	kfree(mr);
uncount:
	atomic_dec(&rxe->num_mr);
	return ERR_PTR(ret);
}

/* The index is reserved: to store there needs no memory and cannot fail. */
void rxe_mr_publish(struct rxe_mr *mr)
{
	xa_store(&mr_table, MR_INDEX(mr->key), mr, GFP_KERNEL);
}

void rxe_mr_free(struct rxe_mr *mr)
{
	xa_erase(&mr_table, MR_INDEX(mr->key));
	kvfree(mr->extent);
	kvfree(mr->next);
	atomic_dec(&mr->rxe->num_mr);
	/* A look-up may still hold the pointer. */
	kfree_rcu(mr, rcu);
}

struct ib_mr *rxe_get_dma_mr(struct ib_pd *pd, int access)
{
	struct rxe_mr *mr = rxe_mr_alloc(to_rxe_pd(pd), access);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->dma = true;
	mr->len = U64_MAX;
	rxe_mr_publish(mr);
	return &mr->ibmr;
}

/* ---- memory of programs ---- */

static int check_user(u64 length, u64 virt, int access)
{
	if (access & ~MR_ACCESS_SUPPORTED)
		return -EOPNOTSUPP;
	if (length > RXE_MAX_MR_SIZE ||
	    (length && virt + (length - 1) < virt))
		return -EINVAL;
	return 0;
}

struct ib_mr *rxe_reg_umem_mr(struct ib_pd *pd, struct ib_umem *umem, u64 virt,
			      int access)
{
	struct rxe_mr *mr;
	int ret;

	ret = check_user(umem->length, virt, access);
	if (ret)
		return ERR_PTR(ret);
	mr = rxe_mr_alloc(to_rxe_pd(pd), access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->va = virt;
	mr->len = umem->length;
	ret = rxe_mr_map(mr, &umem->sgt_append.sgt, ib_umem_offset(umem));
	if (ret) {
		rxe_mr_free(mr);
		return ERR_PTR(ret);
	}
	rxe_mr_publish(mr);
	return &mr->ibmr;
}

/* Windows are neither bound to it from now on nor were; or -EBUSY. */
static int close_to_windows(struct rxe_mr *mr)
{
	return atomic_cmpxchg(&mr->num_mw, 0, RXE_MR_NO_WINDOWS) ? -EBUSY : 0;
}

/* @by is found in the place of @mr, which nobody uses any more then. */
static void replace(struct rxe_mr *mr, struct rxe_mr *by)
{
	/* The index is reserved. */
	xa_store(&mr_table, MR_INDEX(mr->key), by, GFP_KERNEL);
	rxe_mr_put(mr);
	wait_for_completion(&mr->unused);
}

/* A copy of @mr that nobody finds, and nobody binds a window to. */
static struct rxe_mr *rxe_mr_stand_in(const struct rxe_mr *mr)
{
	struct rxe_mr *copy = kzalloc(sizeof(*copy), GFP_KERNEL_ACCOUNT);

	if (!copy)
		return NULL;
	copy->pd = mr->pd;
	copy->key = mr->key;
	copy->access = mr->access;
	copy->va = mr->va;
	copy->len = mr->len;
	copy->extent = mr->extent;
	copy->num_extents = mr->num_extents;
	atomic_set(&copy->num_mw, RXE_MR_NO_WINDOWS);
	init_completion(&copy->unused);
	rxe_mr_ready(copy);
	return copy;
}

/* Nobody has a reference to @mr, but who has found it before may look at it. */
static void rxe_mr_become(struct rxe_mr *mr, const struct rxe_mr *other)
{
	WRITE_ONCE(mr->pd, other->pd);
	WRITE_ONCE(mr->access, other->access);
	mr->va = other->va;
	mr->len = other->len;
	mr->extent = other->extent;
	mr->num_extents = other->num_extents;
	reinit_completion(&mr->unused);
	rxe_mr_ready(mr);
}

/*
 * In place, under the same key.  All that makes the region changes at once: a
 * copy that is what the region will be takes its place for as long as somebody
 * uses the region as it was.
 */
int rxe_rereg_umem_mr(struct ib_mr *ibmr, struct ib_umem *umem, u64 virt,
		      int access, struct ib_pd *pd)
{
	struct rxe_mr *mr = to_rxe_mr(ibmr);
	u64 len = umem ? umem->length : mr->len;
	struct rxe_mr *next;
	int ret;

	ret = check_user(len, virt, access);
	if (ret)
		return ret;
	next = rxe_mr_stand_in(mr);
	if (!next)
		return -ENOMEM;
	next->pd = to_rxe_pd(pd);
	next->access = access;
	next->va = virt;
	next->len = len;
	if (umem)
		ret = rxe_mr_map(next, &umem->sgt_append.sgt,
				 ib_umem_offset(umem));
	if (ret)
		goto free_next;
	/* The windows go first (10.6.7.2.4). */
	ret = close_to_windows(mr);
	if (ret)
		goto free_extent;

	replace(mr, next);
	if (umem)
		kvfree(mr->extent);
	rxe_mr_become(mr, next);
	replace(next, mr);
	atomic_set(&mr->num_mw, 0);
	kfree_rcu(next, rcu);
	return 0;

free_extent:
	if (umem)
		kvfree(next->extent);
free_next:
	kfree(next);
	return ret;
}

int rxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rxe_mr *mr = to_rxe_mr(ibmr);
	int ret = close_to_windows(mr);

	if (ret)
		return ret;
	replace(mr, NULL);
	rxe_mr_free(mr);
	return 0;
}

/* ---- look-up ---- */

static bool grants(const struct rxe_mr *mr, const struct rxe_pd *pd, u32 key,
		   int access)
{
	/* Before what is in force: rxe_mr_enforce(). */
	return smp_load_acquire(&mr->state) == RXE_MR_IN_FORCE &&
	       READ_ONCE(mr->key) == key && READ_ONCE(mr->pd) == pd &&
	       (READ_ONCE(mr->access) & access) == access;
}

/* With RCU. */
static struct rxe_mr *find(struct rxe_pd *pd, u32 key, int access)
{
	struct rxe_mr *mr;

	for (;;) {
		mr = xa_load(&mr_table, MR_INDEX(key));
		if (!mr || !grants(mr, pd, key, access))
			return NULL;
		if (refcount_inc_not_zero(&mr->ref))
			return mr;
		/* It has been replaced before its end: replace(). */
		smp_rmb();
	}
}

struct rxe_mr *rxe_mr_get_whole(struct rxe_pd *pd, u32 key, int access)
{
	struct rxe_mr *mr;

	rcu_read_lock();
	mr = find(pd, key, access);
	rcu_read_unlock();
	if (!mr)
		return NULL;
	smp_mb__after_atomic(); /* who changes it sees the reference, or: */
	if (grants(mr, pd, key, access))
		return mr;
	rxe_mr_put(mr);
	return NULL;
}

struct rxe_mr *rxe_mr_get(struct rxe_pd *pd, u32 key, int access, u64 va,
			  u64 len)
{
	struct rxe_mr *mr = rxe_mr_get_whole(pd, key, access);

	if (!mr || rxe_mr_covers(mr, va, len))
		return mr;
	rxe_mr_put(mr);
	return NULL;
}

void rxe_mr_put(struct rxe_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->unused);
}

/* ---- fast registration ---- */

struct ib_mr *rxe_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	struct rxe_mr *mr;

	/* Entries begin and end where they like: gaps are no matter. */
	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > RXE_MAX_FAST_REG)
		return ERR_PTR(-EINVAL);
	mr = rxe_mr_alloc(to_rxe_pd(pd), 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->state = RXE_MR_FREE;
	mr->max_next = max_sg;
	mr->extent = kvmalloc_array(max_sg, sizeof(*mr->extent), GFP_KERNEL);
	mr->next = kvmalloc_array(max_sg, sizeof(*mr->next), GFP_KERNEL);
	if (!mr->extent || !mr->next) {
		rxe_mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	rxe_mr_publish(mr);
	return &mr->ibmr;
}

static void map_entry(struct rxe_mr *mr, void *addr, u32 len)
{
	struct rxe_extent *last = mr->next + mr->num_next - 1;

	if (!mr->num_next || last->addr + (mr->next_len - last->start) != addr)
		mr->next[mr->num_next++] =
			(struct rxe_extent){ mr->next_len, addr };
	mr->next_len += len;
}

/* As many entries as there is room for; their addresses are the kernel's own. */
int rxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sgl, int num,
		  unsigned int *offset)
{
	struct rxe_mr *mr = to_rxe_mr(ibmr);
	u32 skip = offset ? *offset : 0;
	struct scatterlist *sg;
	int i;

	if (num < 1 || skip >= sg_dma_len(sgl))
		return -EINVAL;
	mr->num_next = 0;
	mr->next_len = 0;
	ibmr->iova = sg_dma_address(sgl) + skip;
	for_each_sg(sgl, sg, num, i) {
		if (mr->num_next == mr->max_next)
			break;
		map_entry(mr, (void *)(uintptr_t)sg_dma_address(sg) + skip,
			  sg_dma_len(sg) - skip);
		skip = 0;
	}
	ibmr->length = mr->next_len;
	if (offset)
		*offset = 0;
	return i;
}

/*
 * Nobody uses what is not in force any more.  The table's own reference may have
 * gone as well: dereg_mr waits for who is left, nobody has to wait for that.
 */
static bool unused(const struct rxe_mr *mr)
{
	smp_mb();	/* the end before who is there: rxe_mr_get_whole() */
	return refcount_read(&mr->ref) <= 1;
}

static int enforce(struct rxe_mr *mr, u32 key, int access)
{
	if (mr->state == RXE_MR_IN_FORCE || MR_INDEX(key) != MR_INDEX(mr->key))
		return -EINVAL;
	/* Without a new list it is the one before. */
	if (!mr->num_next && !mr->num_extents)
		return -EINVAL;
	if (!unused(mr))
		return -EAGAIN;
	if (mr->num_next) {
		swap(mr->extent, mr->next);
		mr->num_extents = mr->num_next;
		mr->num_next = 0;
		mr->len = mr->next_len;
	}
	mr->va = mr->ibmr.iova;
	WRITE_ONCE(mr->access, access);
	WRITE_ONCE(mr->key, key);
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	/* All of it before who finds it in force: grants(). */
	smp_store_release(&mr->state, RXE_MR_IN_FORCE);
	return 0;
}

int rxe_mr_enforce(struct rxe_pd *pd, struct rxe_mr *mr, u32 key, int access)
{
	int ret;

	if (mr->pd != pd || access & ~MR_ACCESS_SUPPORTED)
		return -EINVAL;
	spin_lock_bh(&mr->state_lock);
	ret = enforce(mr, key, access);
	spin_unlock_bh(&mr->state_lock);
	return ret;
}

/* With the lock. */
static int end_force(struct rxe_mr *mr, u32 key, bool remote)
{
	if (mr->key != key || mr->state == RXE_MR_FREE ||
	    (remote && !(mr->access & MR_ACCESS_REMOTE)))
		return -EINVAL;
	WRITE_ONCE(mr->state, RXE_MR_CLOSING);
	if (!unused(mr))
		return -EAGAIN;
	WRITE_ONCE(mr->state, RXE_MR_FREE);
	return 0;
}

int rxe_mr_invalidate(struct rxe_pd *pd, u32 key, bool remote)
{
	struct rxe_mr *mr;
	int ret = -EINVAL;

	rcu_read_lock();
	mr = xa_load(&mr_table, MR_INDEX(key));
	while (mr && mr->max_next && READ_ONCE(mr->pd) == pd) {
		spin_lock_bh(&mr->state_lock);
		ret = end_force(mr, key, remote);
		spin_unlock_bh(&mr->state_lock);
		/*
		 * A packet cannot be put off.  Who has a reference is about to
		 * finish, on another processor, and waits for nobody.
		 */
		if (ret != -EAGAIN || !remote)
			break;
		cpu_relax();
	}
	rcu_read_unlock();
	return ret;
}
