// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The verbs of shared receive queues; posting goes to the driver. */
#include <linux/export.h>
#include "verbs.h"
#include "verbs_user.h"

static int check_srq(struct ib_pd *pd, const struct ib_srq_init_attr *init)
{
	const struct ib_device_attr *max = &pd->device->attrs;
	const struct ib_srq_attr *attr = &init->attr;

	if (!pd->device->ops.create_srq || !pd->device->ops.destroy_srq ||
	    init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > (u32)max->max_srq_wr ||
	    attr->max_sge > (u32)max->max_srq_sge ||
	    attr->srq_limit > attr->max_wr) {
		verbs_refuse(pd->device,
			     "SRQ of %u WRs of %u SGEs, limit event at %u; there may be %d of %d",
			     attr->max_wr, attr->max_sge, attr->srq_limit,
			     max->max_srq_wr, max->max_srq_sge);
		return -EINVAL;
	}
	return 0;
}

/**
 * ib_create_srq_user - make a shared receive queue
 * @pd: whose regions its receives name
 * @srq_init_attr: what is wanted; holds the sizes that it has then
 * @uobject: what stands for it in a program's file; NULL for a kernel consumer
 * @udata: the driver's part of the command; NULL for a kernel consumer
 *
 * Context: process, may sleep.
 * Return: the SRQ, for ib_destroy_srq_user(), or an ERR_PTR: -EINVAL for sizes
 * beyond the device's limits, -EOPNOTSUPP for another type than basic.
 */
struct ib_srq *ib_create_srq_user(struct ib_pd *pd,
				  struct ib_srq_init_attr *srq_init_attr,
				  struct ib_usrq_object *uobject,
				  struct ib_udata *udata)
{
	struct ib_device *device = pd->device;
	struct ib_srq *srq;
	int ret;

	ret = check_srq(pd, srq_init_attr);
	if (ret)
		return ERR_PTR(ret);
	srq = verbs_zalloc(device->ops.size_ib_srq, udata);
	if (!srq)
		return ERR_PTR(-ENOMEM);
	srq->device = device;
	srq->pd = pd;
	srq->uobject = uobject;
	srq->event_handler = srq_init_attr->event_handler;
	srq->srq_context = srq_init_attr->srq_context;
	srq->srq_type = srq_init_attr->srq_type;
	verbs_name_as(&srq->res, RDMA_RESTRACK_SRQ, &pd->res);
	atomic_inc(&pd->usecnt);
	ret = device->ops.create_srq(srq, srq_init_attr, udata);
	if (ret) {
		atomic_dec(&pd->usecnt);
		rdma_restrack_put(&srq->res);
		kfree(srq);
		return ERR_PTR(ret);
	}
	rdma_restrack_add(&srq->res);
	return srq;
}
EXPORT_SYMBOL(ib_create_srq_user);

/**
 * rdma_modify_user_srq - change a shared receive queue
 * @srq: the SRQ
 * @attr: new values
 * @mask: which of them
 * @udata: the driver's part of the command; NULL for a kernel consumer
 *
 * Context: process, may sleep.
 * Return: 0 or an errno, and then the SRQ is as before.
 */
int rdma_modify_user_srq(struct ib_srq *srq, struct ib_srq_attr *attr,
			 enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	const struct ib_device *device = srq->device;

	if (!device->ops.modify_srq)
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_MAX_WR &&
	    (!attr->max_wr || attr->max_wr > (u32)device->attrs.max_srq_wr)) {
		verbs_refuse(srq->device, "SRQ of %u WRs, limit %d",
			     attr->max_wr, device->attrs.max_srq_wr);
		return -EINVAL;
	}
	return device->ops.modify_srq(srq, attr, mask, udata);
}
EXPORT_SYMBOL(rdma_modify_user_srq);

/**
 * ib_modify_srq - change a kernel consumer's shared receive queue
 * @srq: the SRQ
 * @srq_attr: new values
 * @srq_attr_mask: enum ib_srq_attr_mask
 *
 * Context: process, may sleep.
 * Return: 0 or an errno, and then the SRQ is as before.
 */
int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr,
		  enum ib_srq_attr_mask srq_attr_mask)
{
	return rdma_modify_user_srq(srq, srq_attr, srq_attr_mask, NULL);
}
EXPORT_SYMBOL(ib_modify_srq);

/**
 * ib_query_srq - tell size and limit of a shared receive queue
 * @srq: the SRQ
 * @srq_attr: result
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr)
{
	if (!srq->device->ops.query_srq)
		return -EOPNOTSUPP;
	memset(srq_attr, 0, sizeof(*srq_attr));
	return srq->device->ops.query_srq(srq, srq_attr);
}
EXPORT_SYMBOL(ib_query_srq);

/**
 * ib_destroy_srq_user - destroy a shared receive queue
 * @srq: the SRQ
 * @udata: the driver's part of the command; NULL for a kernel consumer
 *
 * Context: process, may sleep.
 * Return: 0, @srq is gone and its handler does not run any more; -EBUSY while a
 * QP receives from it.
 */
int ib_destroy_srq_user(struct ib_srq *srq, struct ib_udata *udata)
{
	struct ib_pd *pd = srq->pd;
	int ret;

	if (atomic_read(&srq->usecnt)) {
		verbs_refuse(srq->device, "SRQ has %d users",
			     atomic_read(&srq->usecnt));
		return -EBUSY;
	}
	rdma_restrack_del(&srq->res);
	ret = srq->device->ops.destroy_srq(srq, udata);
	if (ret) {
		verbs_track_again(&srq->res);
		return ret;
	}
	atomic_dec(&pd->usecnt);
	kfree(srq);
	return 0;
}
EXPORT_SYMBOL(ib_destroy_srq_user);
