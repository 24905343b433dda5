// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Multicast groups and who is in them. */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "rxe_join.h"
#include "rxe_mcast.h"
#include "rxe_qp.h"

/* A group on a link: in the table of all links' groups, with its members. */
struct rxe_group {
	struct hlist_node node;
	struct rxe_joins joins;
	struct list_head member;
	u32 num_members;
	struct rcu_head rcu;
};

struct rxe_member {
	struct list_head entry;
	struct rxe_qp_entry *qp;
	struct rcu_head rcu;
};

/* Changed with the mutex, which may be held while waiting for RTNL. */
static DEFINE_MUTEX(group_mutex);
static DEFINE_HASHTABLE(group_table, 8);

static u32 group_hash(const struct rxe_dev *rxe, const union ib_gid *mgid)
{
	return jhash(mgid, sizeof(*mgid), (u32)(uintptr_t)rxe);
}

/* With the mutex, or RCU. */
static struct rxe_group *find_group(struct rxe_dev *rxe,
				    const union ib_gid *mgid)
{
	struct rxe_group *group;

	hash_for_each_possible_rcu(group_table, group, node,
				   group_hash(rxe, mgid),
				   lockdep_is_held(&group_mutex))
		if (group->joins.rxe == rxe &&
		    !memcmp(&group->joins.mgid, mgid, sizeof(*mgid)))
			return group;
	return NULL;
}

static struct rxe_member *find_member(struct rxe_group *group,
				      const struct rxe_qp *qp)
{
	struct rxe_member *member;

	list_for_each_entry(member, &group->member, entry)
		if (member->qp == qp->entry)
			return member;
	return NULL;
}

/* ---- groups ---- */

static struct rxe_group *make_group(struct rxe_dev *rxe,
				    const union ib_gid *mgid)
{
	struct rxe_group *group;
	int ret;

	ret = rxe_count_object(&rxe->num_mcast_grp, RXE_MAX_MCAST_GRP);
	if (ret)
		return ERR_PTR(ret);
	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group) {
		ret = -ENOMEM;
		goto uncount;
	}
	rxe_joins_init(&group->joins, rxe, mgid);
	INIT_LIST_HEAD(&group->member);
	ret = rxe_joins_update(&group->joins);
	if (ret)
		goto leave;
	hash_add_rcu(group_table, &group->node, group_hash(rxe, mgid));
	return group;

leave:
	rxe_joins_end(&group->joins);
	kfree(group);
uncount:
	atomic_dec(&rxe->num_mcast_grp);
	return ERR_PTR(ret);
}

static void end_group(struct rxe_group *group)
{
	hash_del_rcu(&group->node);
	rxe_joins_end(&group->joins);
	atomic_dec(&group->joins.rxe->num_mcast_grp);
	kfree_rcu(group, rcu);
}

static int add_member(struct rxe_group *group, struct rxe_qp *qp)
{
	struct rxe_member *member;

	if (group->num_members == RXE_MAX_MCAST_QP_ATTACH)
		return -ENOMEM;
	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	member->qp = qp->entry;
	group->num_members++;
	list_add_tail_rcu(&member->entry, &group->member);
	return 0;
}

/**
 * rxe_attach_mcast - let a queue pair receive what is sent to a group
 * @ibqp: a UD queue pair
 * @gid: the group: an IPv6 or IPv4-mapped multicast address
 * @lid: means nothing here
 *
 * Context: process, takes RTNL.
 * Return: 0; -EINVAL when it is attached already; -ENOMEM, also beyond
 * RXE_MAX_MCAST_GRP groups, RXE_MAX_MCAST_JOIN memberships of them or
 * RXE_MAX_MCAST_QP_ATTACH queue pairs in one;
 * -ENODEV without a netdev; -EADDRNOTAVAIL when that has no such protocol.
 */
int rxe_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	struct rxe_group *group;
	int ret;

	mutex_lock(&group_mutex);
	group = find_group(qp->rxe, gid) ?: make_group(qp->rxe, gid);
	if (IS_ERR(group)) {
		ret = PTR_ERR(group);
		goto unlock;
	}
	ret = find_member(group, qp) ? -EINVAL : add_member(group, qp);
	if (!group->num_members)
		end_group(group);
unlock:
	mutex_unlock(&group_mutex);
	return ret;
}

/**
 * rxe_detach_mcast - undo rxe_attach_mcast()
 * @ibqp: the queue pair
 * @gid: the group
 * @lid: means nothing here
 *
 * Context: process, takes RTNL.
 * Return: 0; -EINVAL when it is not attached.
 */
int rxe_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct rxe_qp *qp = to_rxe_qp(ibqp);
	struct rxe_member *member = NULL;
	struct rxe_group *group;

	mutex_lock(&group_mutex);
	group = find_group(qp->rxe, gid);
	if (group)
		member = find_member(group, qp);
	if (member) {
		list_del_rcu(&member->entry);
		kfree_rcu(member, rcu);
		if (!--group->num_members)
			end_group(group);
	}
	mutex_unlock(&group_mutex);
	return member ? 0 : -EINVAL;
}

void rxe_mcast_follow(struct rxe_dev *rxe)
{
	struct rxe_group *group;
	int bkt, ret = 0;

	mutex_lock(&group_mutex);
	hash_for_each(group_table, bkt, group, node) {
		if (group->joins.rxe != rxe)
			continue;
		ret = rxe_joins_update(&group->joins);
		if (ret)
			ibdev_warn_ratelimited(&rxe->ib,
					       "group %pI6c is not joined everywhere: %d\n",
					       &group->joins.mgid, ret);
	}
	mutex_unlock(&group_mutex);
}

bool rxe_mcast_wanted(struct rxe_dev *rxe, const union ib_gid *mgid,
		      const struct net_device *ndev)
{
	struct rxe_group *group;
	bool wanted;

	rcu_read_lock();
	group = find_group(rxe, mgid);
	wanted = group && rxe_joins_has(&group->joins, ndev);
	rcu_read_unlock();
	return wanted;
}

bool rxe_mcast_doubled(struct rxe_dev *rxe, const union ib_gid *mgid,
		       const struct net_device *ndev)
{
	struct rxe_group *group;
	bool doubled;

	rcu_read_lock();
	group = find_group(rxe, mgid);
	doubled = group && rxe_joins_doubled(&group->joins, ndev);
	rcu_read_unlock();
	return doubled;
}

void rxe_mcast_for_each(struct rxe_dev *rxe, const union ib_gid *mgid,
			void (*take)(struct rxe_qp *qp, void *arg), void *arg)
{
	struct rxe_member *member;
	struct rxe_group *group;

	rcu_read_lock();
	group = find_group(rxe, mgid);
	if (group) {
		list_for_each_entry_rcu(member, &group->member, entry) {
			struct rxe_qp *qp = rxe_qp_tryget(member->qp);

			if (!qp)
				continue;
			take(qp, arg);
			rxe_qp_put(qp);
		}
	}
	rcu_read_unlock();
}
