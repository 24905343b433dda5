// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The verbs of memory windows: made here, opened and closed by work requests. */
#include <linux/export.h>
#include "verbs.h"
#include "verbs_user.h"

/**
 * rdma_alloc_user_mw - make a memory window for a program
 * @pd: whose regions it may be bound to
 * @type: IB_MW_TYPE_1 or IB_MW_TYPE_2
 * @uobj: what stands for it in the program's file
 * @udata: the driver's part of the command
 *
 * Context: process, may sleep.
 * Return: the window, for rdma_dealloc_user_mw(), or an ERR_PTR: -EINVAL for
 * another type, -EOPNOTSUPP.
 */
struct ib_mw *rdma_alloc_user_mw(struct ib_pd *pd, enum ib_mw_type type,
				 struct ib_uobject *uobj,
				 struct ib_udata *udata)
{
	struct ib_device *device = pd->device;
	struct ib_mw *mw;
	int ret;

	if (!device->ops.alloc_mw || !device->ops.dealloc_mw)
		return ERR_PTR(-EOPNOTSUPP);
	if (type != IB_MW_TYPE_1 && type != IB_MW_TYPE_2) {
		verbs_refuse(device, "no type %d of memory windows", type);
		return ERR_PTR(-EINVAL);
	}
	mw = verbs_zalloc(device->ops.size_ib_mw, true);
	if (!mw)
		return ERR_PTR(-ENOMEM);
	mw->device = device;
	mw->pd = pd;
	mw->uobject = uobj;
	mw->type = type;
	atomic_inc(&pd->usecnt);
	ret = device->ops.alloc_mw(mw, udata);
	if (ret) {
		atomic_dec(&pd->usecnt);
		kfree(mw);
		return ERR_PTR(ret);
	}
	return mw;
}
EXPORT_SYMBOL(rdma_alloc_user_mw);

/**
 * rdma_dealloc_user_mw - free a memory window, bound or not
 * @mw: the window
 *
 * Context: process, may sleep.
 * Return: 0, and its key is good for nothing any more; or an errno.
 */
int rdma_dealloc_user_mw(struct ib_mw *mw)
{
	struct ib_pd *pd = mw->pd;
	int ret;

	ret = mw->device->ops.dealloc_mw(mw);
	if (ret)
		return ret;
	atomic_dec(&pd->usecnt);
	kfree(mw);
	return 0;
}
EXPORT_SYMBOL(rdma_dealloc_user_mw);
