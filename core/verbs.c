// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The verbs of protection domains and address handles. */
#include <linux/export.h>
#include <rdma/ib_cache.h>
#include "verbs.h"
#include "verbs_user.h"

/* ---- protection domains ---- */

/*
 * What a kernel consumer addresses its own memory with: the device's key, or
 * a region of all memory that is made for this PD.
 */
static int give_dma_keys(struct ib_pd *pd)
{
	bool global = pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY;
	struct ib_device *device = pd->device;
	int access = 0;
	struct ib_mr *mr;

	pd->local_dma_lkey = device->local_dma_lkey;
	if (!pd->local_dma_lkey)
		access |= IB_ACCESS_LOCAL_WRITE;
	if (global)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_WRITE;
	if (!access)
		return 0;
	if (!device->ops.get_dma_mr)
		return -EOPNOTSUPP;

	mr = device->ops.get_dma_mr(pd, access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr->device = device;
	mr->pd = pd;
	mr->type = IB_MR_TYPE_DMA;
	mr->uobject = NULL;
	mr->umem = NULL;
	pd->__internal_mr = mr;
	if (!pd->local_dma_lkey)
		pd->local_dma_lkey = mr->lkey;
	if (global)
		pd->unsafe_global_rkey = mr->rkey;
	return 0;
}

static int take_dma_keys(struct ib_pd *pd)
{
	struct ib_mr *mr = pd->__internal_mr;
	int ret;

	if (!mr)
		return 0;
	ret = pd->device->ops.dereg_mr(mr, NULL);
	if (!ret)
		pd->__internal_mr = NULL;
	return ret;
}

/* @uctx and @uobj: NULL for a kernel consumer, which has @caller. */
static struct ib_pd *new_pd(struct ib_device *device, unsigned int flags,
			    struct ib_ucontext *uctx, struct ib_uobject *uobj,
			    struct ib_udata *udata, const char *caller)
{
	struct ib_pd *pd;
	int ret;

	if (!device->ops.alloc_pd)
		return ERR_PTR(-EOPNOTSUPP);
	pd = verbs_zalloc(device->ops.size_ib_pd, uctx);
	if (!pd)
		return ERR_PTR(-ENOMEM);
	pd->device = device;
	pd->flags = flags;
	pd->uobject = uobj;
	if (uctx)
		verbs_name_as(&pd->res, RDMA_RESTRACK_PD, &uctx->res);
	else
		verbs_name(&pd->res, RDMA_RESTRACK_PD, caller);

	ret = device->ops.alloc_pd(pd, udata);
	if (ret) {
		rdma_restrack_put(&pd->res);
		kfree(pd);
		return ERR_PTR(ret);
	}
	rdma_restrack_add(&pd->res);
	return pd;
}

/**
 * __ib_alloc_pd - make a protection domain for a kernel consumer
 * @device: on which device
 * @flags: enum ib_pd_flags
 * @caller: name of the module that asks, for "rdma resource show"
 *
 * Consumers call ib_alloc_pd().  The PD has a local_dma_lkey.
 *
 * Context: process, may sleep.
 * Return: the PD, for ib_dealloc_pd(), or an ERR_PTR.
 */
struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller)
{
	struct ib_pd *pd;
	int ret;

	pd = new_pd(device, flags, NULL, NULL, NULL, caller);
	if (IS_ERR(pd))
		return pd;
	ret = give_dma_keys(pd);
	if (ret) {
		ib_dealloc_pd(pd);
		return ERR_PTR(ret);
	}
	return pd;
}
EXPORT_SYMBOL(__ib_alloc_pd);

/**
 * rdma_alloc_user_pd - make a protection domain for a program
 * @uctx: the program's context
 * @uobj: what stands for the PD in the program's file
 * @udata: the driver's part of the command
 *
 * Context: process, may sleep.
 * Return: the PD, for ib_dealloc_pd_user(), or an ERR_PTR.
 */
struct ib_pd *rdma_alloc_user_pd(struct ib_ucontext *uctx,
				 struct ib_uobject *uobj,
				 struct ib_udata *udata)
{
	return new_pd(uctx->device, 0, uctx, uobj, udata, NULL);
}
EXPORT_SYMBOL(rdma_alloc_user_pd);

/**
 * ib_dealloc_pd_user - destroy a protection domain
 * @pd: the PD
 * @udata: the driver's part of the command; NULL for a kernel consumer's PD
 *
 * Context: process, may sleep.
 * Return: 0 and @pd is gone; -EBUSY while something is left in it.
 */
int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	int ret;

	if (atomic_read(&pd->usecnt)) {
		verbs_refuse(pd->device, "PD has %d objects in it",
			     atomic_read(&pd->usecnt));
		return -EBUSY;
	}
	ret = take_dma_keys(pd);
	if (ret)
		return ret;

	rdma_restrack_del(&pd->res);
	ret = pd->device->ops.dealloc_pd(pd, udata);
	if (ret) {
		verbs_track_again(&pd->res);
		return ret;
	}
	kfree(pd);
	return 0;
}
EXPORT_SYMBOL(ib_dealloc_pd_user);

/**
 * ib_dealloc_pd - destroy a kernel consumer's protection domain
 * @pd: the PD; nothing may be left in it
 *
 * Context: process, may sleep.
 */
void ib_dealloc_pd(struct ib_pd *pd)
{
	int ret = ib_dealloc_pd_user(pd, NULL);

	WARN_ONCE(ret, "PD is still in use (%d)\n", ret);
}
EXPORT_SYMBOL(ib_dealloc_pd);

/* ---- address vectors and handles ---- */

/**
 * rdma_copy_ah_attr - copy an address vector with its reference
 * @dest: the copy, for rdma_destroy_ah_attr()
 * @src: the original
 *
 * Context: any.
 */
void rdma_copy_ah_attr(struct rdma_ah_attr *dest,
		       const struct rdma_ah_attr *src)
{
	*dest = *src;
	if (dest->grh.sgid_attr)
		rdma_hold_gid_attr(dest->grh.sgid_attr);
}
EXPORT_SYMBOL(rdma_copy_ah_attr);

/**
 * rdma_destroy_ah_attr - drop the reference of an address vector
 * @ah_attr: the address vector
 *
 * Context: any.
 */
void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr)
{
	if (ah_attr->grh.sgid_attr)
		rdma_put_gid_attr(ah_attr->grh.sgid_attr);
	ah_attr->grh.sgid_attr = NULL;
}
EXPORT_SYMBOL(rdma_destroy_ah_attr);

/**
 * rdma_move_ah_attr - pass an address vector on with its reference
 * @dest: where to; what it held is given back
 * @src: holds nothing afterwards
 *
 * Context: any.
 */
void rdma_move_ah_attr(struct rdma_ah_attr *dest, struct rdma_ah_attr *src)
{
	rdma_destroy_ah_attr(dest);
	*dest = *src;
	src->grh.sgid_attr = NULL;
}
EXPORT_SYMBOL(rdma_move_ah_attr);

/**
 * rdma_replace_ah_attr - copy an address vector over another
 * @old: what it held is given back
 * @new: the original, which may be @old
 *
 * Context: any.
 */
void rdma_replace_ah_attr(struct rdma_ah_attr *old,
			  const struct rdma_ah_attr *new)
{
	struct rdma_ah_attr copy;

	rdma_copy_ah_attr(&copy, new);
	rdma_move_ah_attr(old, &copy);
}
EXPORT_SYMBOL(rdma_replace_ah_attr);

/**
 * rdma_move_grh_sgid_attr - give an address vector a route from a known source
 * @attr: a vector that holds no source GID; it gets the caller's reference
 * @dgid: where to, or NULL for what is in it already
 * @flow_label: 20 bits
 * @hop_limit: as in the IP header
 * @traffic_class: the same
 * @sgid_attr: the source, or NULL
 *
 * Context: any.
 */
void rdma_move_grh_sgid_attr(struct rdma_ah_attr *attr, union ib_gid *dgid,
			     u32 flow_label, u8 hop_limit, u8 traffic_class,
			     const struct ib_gid_attr *sgid_attr)
{
	rdma_ah_set_grh(attr, dgid, flow_label,
			sgid_attr ? sgid_attr->index : 0, hop_limit,
			traffic_class);
	attr->grh.sgid_attr = sgid_attr;
}
EXPORT_SYMBOL(rdma_move_grh_sgid_attr);

/**
 * verbs_resolve_av - check an address vector and find its source address
 * @device: the device it is for
 * @attr: a private copy; a source that the consumer found already has to fit
 *
 * Context: any.
 * Return: 0 and the source address is referenced, for rdma_destroy_ah_attr(),
 * or an errno and nothing is.
 */
int verbs_resolve_av(struct ib_device *device, struct rdma_ah_attr *attr)
{
	const struct ib_gid_attr *sgid = attr->grh.sgid_attr;
	bool has_grh = attr->ah_flags & IB_AH_GRH;

	attr->grh.sgid_attr = NULL;
	if (!rdma_is_port_valid(device, attr->port_num)) {
		verbs_refuse(device, "no port %u", attr->port_num);
		return -EINVAL;
	}
	if (!has_grh) {
		/* RoCE has no other address than a GID. */
		if (!rdma_protocol_roce(device, attr->port_num))
			return 0;
		verbs_refuse(device, "address without a global route");
		return -EINVAL;
	}

	attr->grh.flow_label &= 0xfffff;
	if (sgid) {
		if (sgid->device != device || sgid->port_num != attr->port_num ||
		    sgid->index != attr->grh.sgid_index) {
			verbs_refuse(device, "source GID of another port");
			return -EINVAL;
		}
		rdma_hold_gid_attr(sgid);
	} else {
		sgid = rdma_get_gid_attr(device, attr->port_num,
					 attr->grh.sgid_index);
		if (IS_ERR(sgid)) {
			verbs_refuse(device, "port %u has no GID %u",
				     attr->port_num, attr->grh.sgid_index);
			return PTR_ERR(sgid);
		}
	}
	attr->grh.sgid_attr = sgid;
	return 0;
}

static int driver_create_ah(struct ib_ah *ah, struct rdma_ah_attr *attr,
			    u32 flags, struct ib_udata *udata)
{
	const struct ib_device_ops *ops = &ah->device->ops;
	struct rdma_ah_init_attr init = { .ah_attr = attr, .flags = flags };

	if (udata && ops->create_user_ah)
		return ops->create_user_ah(ah, &init, udata);
	return ops->create_ah(ah, &init, udata);
}

static struct ib_ah *new_ah(struct ib_pd *pd, const struct rdma_ah_attr *attr,
			    u32 flags, struct ib_udata *udata)
{
	struct rdma_ah_attr av = *attr;
	struct ib_device *device = pd->device;
	gfp_t gfp = udata ? GFP_KERNEL_ACCOUNT :
		    flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct ib_ah *ah;
	int ret;

	might_sleep_if(flags & RDMA_CREATE_AH_SLEEPABLE);
	if (!(udata && device->ops.create_user_ah) && !device->ops.create_ah)
		return ERR_PTR(-EOPNOTSUPP);
	ret = verbs_resolve_av(device, &av);
	if (ret)
		return ERR_PTR(ret);

	ah = kzalloc(device->ops.size_ib_ah, gfp);
	if (!ah) {
		ret = -ENOMEM;
		goto put_sgid;
	}
	ah->device = device;
	ah->pd = pd;
	ah->type = av.type;
	ah->sgid_attr = av.grh.sgid_attr;
	atomic_inc(&pd->usecnt);
	ret = driver_create_ah(ah, &av, flags, udata);
	if (ret)
		goto uncount;
	return ah;

uncount:
	atomic_dec(&pd->usecnt);
	kfree(ah);
put_sgid:
	rdma_destroy_ah_attr(&av);
	return ERR_PTR(ret);
}

/**
 * rdma_create_ah - make an address handle for a kernel consumer
 * @pd: the PD it will be in
 * @ah_attr: the address; a source address the caller has found is used as it
 *	is, else grh.sgid_index is looked up; not changed
 * @flags: enum rdma_create_ah_flags
 *
 * Context: any; process with RDMA_CREATE_AH_SLEEPABLE.
 * Return: the AH, for rdma_destroy_ah(), or an ERR_PTR.
 */
struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr,
			     u32 flags)
{
	return new_ah(pd, ah_attr, flags, NULL);
}
EXPORT_SYMBOL(rdma_create_ah);

/**
 * rdma_create_user_ah - make an address handle for a program
 * @pd: the PD it will be in
 * @ah_attr: the address, with the index of its source; not changed
 * @udata: the driver's part of the command
 *
 * Context: process, may sleep.
 * Return: the AH, for rdma_destroy_ah_user(), or an ERR_PTR.
 */
struct ib_ah *rdma_create_user_ah(struct ib_pd *pd,
				  struct rdma_ah_attr *ah_attr,
				  struct ib_udata *udata)
{
	return new_ah(pd, ah_attr, RDMA_CREATE_AH_SLEEPABLE, udata);
}
EXPORT_SYMBOL(rdma_create_user_ah);

/**
 * rdma_query_ah - tell the address of a handle
 * @ah: the AH
 * @ah_attr: result; holds no reference
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int rdma_query_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)
{
	int ret;

	if (!ah->device->ops.query_ah)
		return -EOPNOTSUPP;
	ret = ah->device->ops.query_ah(ah, ah_attr);
	ah_attr->grh.sgid_attr = NULL;
	return ret;
}
EXPORT_SYMBOL(rdma_query_ah);

/**
 * rdma_destroy_ah_user - destroy an address handle
 * @ah: the AH
 * @flags: enum rdma_destroy_ah_flags
 * @udata: the driver's part of the command; NULL for a kernel consumer's
 *
 * Context: any; process with RDMA_DESTROY_AH_SLEEPABLE.
 * Return: 0 and @ah is gone, or the driver's error.
 */
int rdma_destroy_ah_user(struct ib_ah *ah, u32 flags, struct ib_udata *udata)
{
	const struct ib_gid_attr *sgid = ah->sgid_attr;
	struct ib_pd *pd = ah->pd;
	int ret;

	might_sleep_if(flags & RDMA_DESTROY_AH_SLEEPABLE);
	ret = ah->device->ops.destroy_ah(ah, flags);
	if (ret)
		return ret;
	if (sgid)
		rdma_put_gid_attr(sgid);
	atomic_dec(&pd->usecnt);
	kfree(ah);
	return 0;
}
EXPORT_SYMBOL(rdma_destroy_ah_user);

/**
 * rdma_destroy_ah - destroy a kernel consumer's address handle
 * @ah: the AH
 * @flags: enum rdma_destroy_ah_flags
 *
 * Context: any; process with RDMA_DESTROY_AH_SLEEPABLE.
 * Return: 0 and @ah is gone, or the driver's error.
 */
int rdma_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return rdma_destroy_ah_user(ah, flags, NULL);
}
EXPORT_SYMBOL(rdma_destroy_ah);
