// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Address handles.  They are checked here, once; datagrams take the address
 * from here and never from memory that a program can write.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <softroce/rcu.h>
#include "rxe_ah.h"
#include "rxe_qp.h"

/* Handles come and go in any context. */
static DEFINE_XARRAY_FLAGS(ah_table, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ |
					      XA_FLAGS_ACCOUNT);
static u32 ah_next;

static int check_attr(const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || attr->port_num != 1 ||
	    !(attr->ah_flags & IB_AH_GRH) || !grh->sgid_attr)
		return -EINVAL;
	if (grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	if (rdma_is_zero_gid(&grh->dgid) ||
	    rdma_gid_is_ipv4(&grh->dgid) !=
		    rdma_gid_is_ipv4(&grh->sgid_attr->gid))
		return -EINVAL;
	return 0;
}

static int check_route(struct rxe_dev *rxe, const struct rdma_ah_attr *attr,
		       int oif)
{
	struct rxe_flow flow = {};
	int ret;

	rxe_flow_set(&flow, rxe, attr, oif, 0, 0);
	ret = rxe_flow_probe(&flow);
	rxe_flow_release(&flow);
	return ret;
}

static int add_entry(struct rxe_ah_entry *entry, gfp_t gfp)
{
	unsigned long flags;
	int ret;

	if (gfpflags_allow_blocking(gfp)) {
		ret = xa_alloc_cyclic_irq(&ah_table, &entry->num, entry,
					  xa_limit_31b, &ah_next, gfp);
	} else {
		xa_lock_irqsave(&ah_table, flags);
		ret = __xa_alloc_cyclic(&ah_table, &entry->num, entry,
					xa_limit_31b, &ah_next, gfp);
		xa_unlock_irqrestore(&ah_table, flags);
	}
	return ret < 0 ? -ENOMEM : 0;
}

static void free_entry_rcu(struct rcu_head *rcu)
{
	struct rxe_ah_entry *entry = container_of(rcu, struct rxe_ah_entry, rcu);

	rdma_destroy_ah_attr(&entry->attr);
	kfree(entry);
}

static void remove_entry(struct rxe_ah_entry *entry)
{
	unsigned long flags;

	xa_lock_irqsave(&ah_table, flags);
	__xa_erase(&ah_table, entry->num);
	xa_unlock_irqrestore(&ah_table, flags);
	/* Who sends may be about to take the source GID. */
	softroce_call_rcu_hurry(&entry->rcu, free_entry_rcu);
}

/* Programs older than numbered handles have no room for the answer. */
static int tell_number(const struct rxe_ah_entry *entry, struct ib_udata *udata)
{
	struct rxe_create_ah_resp resp = { .ah_num = entry->num };

	if (!udata || udata->outlen < sizeof(resp))
		return 0;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int rxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ?
			    GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct rxe_dev *rxe = to_rxe(ibah->device);
	struct rxe_ah_entry *entry;
	int ret;

	ret = check_attr(init->ah_attr);
	if (ret)
		return ret;
	ret = rxe_count_object(&rxe->num_ah, RXE_MAX_AH);
	if (ret)
		return ret;
	entry = kzalloc(sizeof(*entry), gfp);
	if (!entry) {
		ret = -ENOMEM;
		goto uncount;
	}
	entry->oif = rxe_gid_oif(init->ah_attr->grh.sgid_attr);
	ret = entry->oif ? 0 : -ENODEV;
	/* Others may be in any context, and hear of it when they send. */
	if (!ret && udata && init->flags & RDMA_CREATE_AH_SLEEPABLE)
		ret = check_route(rxe, init->ah_attr, entry->oif);
	if (ret) {
		kfree(entry);
		goto uncount;
	}
	rdma_copy_ah_attr(&entry->attr, init->ah_attr);
	entry->pd = to_rxe_pd(ibah->pd);
	ret = add_entry(entry, gfp);
	if (ret)
		goto free_entry;
	ret = tell_number(entry, udata);
	if (ret)
		goto remove_entry;
	to_rxe_ah(ibah)->entry = entry;
	return 0;

remove_entry:
	remove_entry(entry);
	goto uncount;
free_entry:
	free_entry_rcu(&entry->rcu);
uncount:
	atomic_dec(&rxe->num_ah);
	return ret;
}

int rxe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_rxe_ah(ibah)->entry->attr;
	attr->grh.sgid_attr = NULL;
	return 0;
}

int rxe_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	remove_entry(to_rxe_ah(ibah)->entry);
	atomic_dec(&to_rxe(ibah->device)->num_ah);
	return 0;
}

/*
 * The flow turns to another address.  Whether the addresses of the last time are
 * behind several interfaces decides if datagrams wait for room.
 */
static void turn_away(struct rxe_qp *qp)
{
	/* The end of the link's namespace may take it: rxe_routes_end(). */
	const struct dst_entry *dst = READ_ONCE(qp->flow.dst);
	struct rxe_req *req = &qp->req;
	int oif;

	/* Nothing has left that way if it has no route. */
	if (!qp->flow.valid || !dst)
		return;
	oif = dst->dev->ifindex;
	if (req->ud_oif && req->ud_oif != oif) {
		req->ud_several = true;
		req->ud_turned = jiffies;
	}
	req->ud_oif = oif;
}

bool rxe_ah_several(const struct rxe_qp *qp)
{
	const struct rxe_req *req = &qp->req;

	return req->ud_several &&
	       time_before(jiffies, req->ud_turned + RXE_AH_TURNED);
}

int rxe_ah_use(struct rxe_qp *qp, u32 num, u32 remote_qpn)
{
	const struct rxe_ah_entry *entry;
	bool found;

	rcu_read_lock();
	entry = xa_load(&ah_table, num);
	found = entry && entry->pd == qp->pd;
	if (found && !(qp->flow.valid && qp->req.ah_num == num)) {
		turn_away(qp);
		rxe_flow_set(&qp->flow, qp->rxe, &entry->attr, entry->oif,
			     qp->qpn, remote_qpn);
		qp->req.ah_num = num;
	}
	rcu_read_unlock();
	return found ? 0 : -ENOENT;
}

void rxe_ah_exit(void)
{
	WARN_ON_ONCE(!xa_empty(&ah_table));
	xa_destroy(&ah_table);
}
