/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the files of the verbs share: memory and tracking of an object.
 *
 * Lifetime of any verbs object: verbs_zalloc() -> rdma_restrack_new() -> the
 * driver's create -> rdma_restrack_add(), from where netlink finds it; back:
 * refuse while something uses it -> rdma_restrack_del(), which waits for those
 * who look at it -> the driver's destroy -> kfree().
 */
#ifndef SOFTROCE_CORE_VERBS_H
#define SOFTROCE_CORE_VERBS_H

#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include "restrack.h"

/* Says why a verb is refused, for whoever switches dynamic debugging on. */
#define verbs_refuse(device, fmt, ...)                                         \
	ibdev_dbg_ratelimited(device, "refused: " fmt "\n", ##__VA_ARGS__)

/* @size is the driver's; what a program causes is charged to its cgroup. */
static inline void *verbs_zalloc(size_t size, bool for_user)
{
	return kzalloc(size, for_user ? GFP_KERNEL_ACCOUNT : GFP_KERNEL);
}

/* It belongs to a kernel module. */
static inline void verbs_name(struct rdma_restrack_entry *res,
			      enum rdma_restrack_type type, const char *caller)
{
	rdma_restrack_new(res, type);
	rdma_restrack_set_name(res, caller);
}

/* It belongs to whom @parent belongs: the context, or the PD it is made in. */
static inline void verbs_name_as(struct rdma_restrack_entry *res,
				 enum rdma_restrack_type type,
				 const struct rdma_restrack_entry *parent)
{
	rdma_restrack_new(res, type);
	rdma_restrack_parent_name(res, parent);
}

/*
 * The driver would not destroy it: it has to be found again, by now under the
 * program that tried.
 */
static inline void verbs_track_again(struct rdma_restrack_entry *res)
{
	u32 ctxn = res->ctxn;

	verbs_name(res, res->type, res->user ? NULL : res->kern_name);
	res->ctxn = ctxn;
	rdma_restrack_add(res);
}

int verbs_resolve_av(struct ib_device *device, struct rdma_ah_attr *attr);

#endif
