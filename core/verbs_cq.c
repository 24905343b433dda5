// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The verbs of completion queues; polling and arming go to the driver. */
#include <linux/export.h>
#include <rdma/uverbs_ioctl.h>
#include "verbs.h"
#include "verbs_user.h"

static int check_cqe(struct ib_device *device, unsigned int cqe)
{
	if (cqe && cqe <= (unsigned int)device->attrs.max_cqe)
		return 0;
	verbs_refuse(device, "CQ of %u entries, limit 1 to %d", cqe,
		     device->attrs.max_cqe);
	return -EINVAL;
}

static int check_cq(struct ib_device *device,
		    const struct ib_cq_init_attr *attr)
{
	if (!device->ops.create_cq || !device->ops.destroy_cq)
		return -EOPNOTSUPP;
	if (attr->comp_vector >= (u32)device->num_comp_vectors) {
		verbs_refuse(device, "completion vector %u of %d",
			     attr->comp_vector, device->num_comp_vectors);
		return -EINVAL;
	}
	return check_cqe(device, attr->cqe);
}

/* @cq has its consumer's members and its owner set; freed when this fails. */
static struct ib_cq *new_cq(struct ib_cq *cq, struct ib_device *device,
			    const struct ib_cq_init_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	int ret;

	cq->device = device;
	cq->comp_vector = attr->comp_vector;
	ret = device->ops.create_cq(cq, attr, attrs);
	if (ret) {
		rdma_restrack_put(&cq->res);
		kfree(cq);
		return ERR_PTR(ret);
	}
	rdma_restrack_add(&cq->res);
	return cq;
}

/**
 * __ib_create_cq - make a completion queue for a kernel consumer
 * @device: on which device
 * @comp: told of completions after ib_req_notify_cq(), in a context of its own,
 *	never in that of a verb, and once at a time
 * @event: told of the CQ's own errors, or NULL
 * @context: the handlers' argument
 * @attr: how large
 * @caller: name of the module that asks, for "rdma resource show"
 *
 * Consumers call ib_create_cq().
 *
 * Context: process, may sleep.
 * Return: the CQ, for ib_destroy_cq(), or an ERR_PTR.
 */
struct ib_cq *__ib_create_cq(struct ib_device *device, ib_comp_handler comp,
			     void (*event)(struct ib_event *, void *),
			     void *context, const struct ib_cq_init_attr *attr,
			     const char *caller)
{
	struct ib_cq *cq;
	int ret;

	ret = check_cq(device, attr);
	if (ret)
		return ERR_PTR(ret);
	cq = verbs_zalloc(device->ops.size_ib_cq, false);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->comp_handler = comp;
	cq->event_handler = event;
	cq->cq_context = context;
	verbs_name(&cq->res, RDMA_RESTRACK_CQ, caller);
	return new_cq(cq, device, attr, NULL);
}
EXPORT_SYMBOL(__ib_create_cq);

/**
 * rdma_create_user_cq - make a completion queue for a program
 * @uctx: the program's context
 * @attr: how large, and which completion vector
 * @comp: told of completions after a request to be, in any context
 * @event: told of the CQ's own errors
 * @cq_context: the handlers' argument
 * @uobj: what stands for the CQ in the program's file
 * @attrs: the command, with the driver's part
 *
 * Context: process, may sleep.
 * Return: the CQ, for ib_destroy_cq_user(), or an ERR_PTR: -EINVAL for a size
 * of 0 or beyond the device's limit, or a vector that it has not.
 */
struct ib_cq *rdma_create_user_cq(struct ib_ucontext *uctx,
				  const struct ib_cq_init_attr *attr,
				  ib_comp_handler comp,
				  void (*event)(struct ib_event *, void *),
				  void *cq_context,
				  struct ib_ucq_object *uobj,
				  struct uverbs_attr_bundle *attrs)
{
	struct ib_device *device = uctx->device;
	struct ib_cq *cq;
	int ret;

	ret = check_cq(device, attr);
	if (ret)
		return ERR_PTR(ret);
	cq = verbs_zalloc(device->ops.size_ib_cq, true);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->uobject = uobj;
	cq->comp_handler = comp;
	cq->event_handler = event;
	cq->cq_context = cq_context;
	verbs_name_as(&cq->res, RDMA_RESTRACK_CQ, &uctx->res);
	return new_cq(cq, device, attr, attrs);
}
EXPORT_SYMBOL(rdma_create_user_cq);

/**
 * ib_destroy_cq_user - destroy a completion queue
 * @cq: the CQ
 * @udata: the driver's part of the command; NULL for a kernel consumer's
 *
 * Context: process, may sleep.
 * Return: 0, @cq is gone and its handlers do not run any more; -EBUSY while a
 * QP reports to it.
 */
int ib_destroy_cq_user(struct ib_cq *cq, struct ib_udata *udata)
{
	int ret;

	if (atomic_read(&cq->usecnt)) {
		verbs_refuse(cq->device, "CQ has %d users",
			     atomic_read(&cq->usecnt));
		return -EBUSY;
	}
	rdma_restrack_del(&cq->res);
	ret = cq->device->ops.destroy_cq(cq, udata);
	if (ret) {
		verbs_track_again(&cq->res);
		return ret;
	}
	kfree(cq);
	return 0;
}
EXPORT_SYMBOL(ib_destroy_cq_user);

/**
 * ib_destroy_cq - destroy a kernel consumer's completion queue
 * @cq: the CQ; no QP may report to it any more
 *
 * Context: process, may sleep.
 */
void ib_destroy_cq(struct ib_cq *cq)
{
	int ret = ib_destroy_cq_user(cq, NULL);

	WARN_ONCE(ret, "CQ is still in use (%d)\n", ret);
}
EXPORT_SYMBOL(ib_destroy_cq);

/**
 * rdma_resize_user_cq - give a program's completion queue another size
 * @cq: the CQ
 * @cqe: entries, enough for the completions in it
 * @udata: the driver's part of the command
 *
 * Context: process, may sleep.
 * Return: 0 or an errno, and then the CQ is as before.
 */
int rdma_resize_user_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	int ret;

	if (!cq->device->ops.resize_cq)
		return -EOPNOTSUPP;
	/* A negative number is a large one here. */
	ret = check_cqe(cq->device, cqe);
	if (ret)
		return ret;
	return cq->device->ops.resize_cq(cq, cqe, udata);
}
EXPORT_SYMBOL(rdma_resize_user_cq);

/**
 * ib_resize_cq - give a kernel consumer's completion queue another size
 * @cq: the CQ
 * @cqe: entries, enough for the completions in it
 *
 * Context: process, may sleep.
 * Return: 0 or an errno, and then the CQ is as before.
 */
int ib_resize_cq(struct ib_cq *cq, int cqe)
{
	return rdma_resize_user_cq(cq, cqe, NULL);
}
EXPORT_SYMBOL(ib_resize_cq);
