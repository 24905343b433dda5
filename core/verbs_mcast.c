// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Multicast groups of UD queue pairs. */
#include <linux/module.h>
#include <rdma/ib_addr.h>
#include "verbs.h"

static int check_group(struct ib_qp *qp, union ib_gid *gid)
{
	struct ib_device *device = qp->device;

	if (qp->qp_type != IB_QPT_UD) {
		verbs_refuse(device, "QP %u is no UD QP: it has no groups",
			     qp->qp_num);
		return -EINVAL;
	}
	if (!rdma_is_multicast_addr((struct in6_addr *)gid)) {
		verbs_refuse(device, "%pI6c is no multicast address", gid);
		return -EINVAL;
	}
	return 0;
}

/**
 * ib_attach_mcast - let a queue pair receive what is sent to a group
 * @qp: a UD QP; it cannot be destroyed before it is detached again
 * @gid: the group (IBTA vol. 1, 11.3.1)
 * @lid: its LID; RoCE has none
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL for another type of QP or an address of no group;
 * -EOPNOTSUPP; what the driver says.
 */
int ib_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	int ret;

	if (!qp->device->ops.attach_mcast)
		return -EOPNOTSUPP;
	ret = check_group(qp, gid);
	if (!ret)
		ret = qp->device->ops.attach_mcast(qp, gid, lid);
	if (!ret)
		atomic_inc(&qp->usecnt);
	return ret;
}
EXPORT_SYMBOL(ib_attach_mcast);

/**
 * ib_detach_mcast - undo ib_attach_mcast()
 * @qp: the QP
 * @gid: the group
 * @lid: its LID
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL when it is not in that group; -EOPNOTSUPP.
 */
int ib_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	int ret;

	if (!qp->device->ops.detach_mcast)
		return -EOPNOTSUPP;
	ret = check_group(qp, gid);
	if (!ret)
		ret = qp->device->ops.detach_mcast(qp, gid, lid);
	if (!ret)
		atomic_dec(&qp->usecnt);
	return ret;
}
EXPORT_SYMBOL(ib_detach_mcast);
