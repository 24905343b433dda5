// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Multicast groups of a program's queue pairs.  Each queue pair knows its own:
 * one that is in a group is busy, and when the program ends it leaves first.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "method.h"

struct uverbs_group {
	struct list_head entry;
	union ib_gid gid;
	u16 lid;
};

/* A program's GID, which its command has as bytes. */
static union ib_gid gid_from_user(const __u8 *raw)
{
	union ib_gid gid;

	memcpy(gid.raw, raw, sizeof(gid.raw));
	return gid;
}

static struct uverbs_group *find_group(struct ib_uqp_object *uqp,
				       const union ib_gid *gid, u16 lid)
{
	struct uverbs_group *group;

	list_for_each_entry(group, &uqp->groups, entry)
		if (group->lid == lid &&
		    !memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

static int attach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct ib_uqp_object *uqp = qp->uobject;
	struct uverbs_group *group;
	int ret;

	/* Once is enough, and twice no error. */
	if (find_group(uqp, gid, lid))
		return 0;
	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	ret = ib_attach_mcast(qp, gid, lid);
	if (ret) {
		kfree(group);
		return ret;
	}
	group->gid = *gid;
	group->lid = lid;
	list_add_tail(&group->entry, &uqp->groups);
	return 0;
}

static int detach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct ib_uqp_object *uqp = qp->uobject;
	struct uverbs_group *group = find_group(uqp, gid, lid);
	int ret;

	if (!group)
		return -EINVAL;
	ret = ib_detach_mcast(qp, gid, lid);
	if (ret)
		return ret;
	list_del(&group->entry);
	kfree(group);
	return 0;
}

int uverbs_w_attach_mcast(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_attach_mcast *req =
		uverbs_req(cmd, struct ib_uverbs_attach_mcast);
	union ib_gid gid = gid_from_user(req->gid);
	struct ib_qp *qp;
	int ret;

	qp = uverbs_object_use(cmd, &uverbs_qp_type, req->qp_handle);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	mutex_lock(&qp->uobject->groups_mutex);
	ret = attach(qp, &gid, req->mlid);
	mutex_unlock(&qp->uobject->groups_mutex);
	return ret;
}

int uverbs_w_detach_mcast(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_detach_mcast *req =
		uverbs_req(cmd, struct ib_uverbs_detach_mcast);
	union ib_gid gid = gid_from_user(req->gid);
	struct ib_qp *qp;
	int ret;

	qp = uverbs_object_use(cmd, &uverbs_qp_type, req->qp_handle);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	mutex_lock(&qp->uobject->groups_mutex);
	ret = detach(qp, &gid, req->mlid);
	mutex_unlock(&qp->uobject->groups_mutex);
	return ret;
}

/* The program has ended: nobody else uses @uqp. */
void uverbs_qp_leave_groups(struct ib_uqp_object *uqp)
{
	struct uverbs_group *group, *next;

	list_for_each_entry_safe(group, next, &uqp->groups, entry) {
		WARN_ON_ONCE(ib_detach_mcast(uqp->uobject.object, &group->gid,
					     group->lid));
		list_del(&group->entry);
		kfree(group);
	}
}
