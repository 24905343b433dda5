// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* NLDEV: counters of single queue pairs, for "rdma statistic qp". */
#include <net/sock.h>
#include <rdma/ib_hw_stats.h>

#include "device.h"
#include "nldev.h"
#include "qp_counter.h"
#include "restrack.h"

/* Names of more queue pairs than this do not fit into a page with the rest. */
#define MAX_NAMED_QPS 128

/* ---- telling ---- */

static int put_mode(struct sk_buff *msg, const struct rdma_counter *counter)
{
	const struct rdma_counter_mode *mode = &counter->mode;

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_MODE, mode->mode))
		return -EMSGSIZE;
	if (mode->mask & RDMA_COUNTER_MASK_QP_TYPE &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, mode->param.qp_type))
		return -EMSGSIZE;
	/* Queue pairs that were bound by hand can have several owners. */
	return mode->mask & RDMA_COUNTER_MASK_PID ?
		       nldev_put_owner(msg, &counter->res) : 0;
}

static int put_qps(struct sk_buff *msg, const struct rdma_counter *counter)
{
	struct nlattr *table, *entry;
	unsigned int named = 0;
	struct ib_qp *qp;
	bool visible;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP);
	if (!table)
		return -EMSGSIZE;
	list_for_each_entry(qp, &counter->qps, counter_entry) {
		/* One counter can count for several programs; one may be going. */
		if (!rdma_restrack_get(&qp->res))
			continue;
		visible = rdma_restrack_visible(&qp->res);
		rdma_restrack_put(&qp->res);
		if (!visible)
			continue;
		if (++named > MAX_NAMED_QPS)
			break;
		entry = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
		if (!entry ||
		    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num))
			return -EMSGSIZE;
		nla_nest_end(msg, entry);
	}
	nla_nest_end(msg, table);
	return 0;
}

/**
 * nldev_fill_counter - put a counter of queue pairs
 * @msg: a message
 * @view: the device, and the port if one was named
 * @res: the counter's entry, held
 *
 * Context: process.
 * Return: 0, -EAGAIN for a counter of another port or one that ends just now,
 * -EMSGSIZE, or the driver's error.
 */
int nldev_fill_counter(struct sk_buff *msg, const struct nldev_view *view,
		       struct rdma_restrack_entry *res)
{
	struct rdma_counter *counter = container_of(res, struct rdma_counter,
						    res);
	int ret = -EAGAIN;

	if (view->port && view->port != counter->port)
		return -EAGAIN;
	mutex_lock(&view->dev->core->counter_lock);
	if (list_empty(&counter->qps))
		goto unlock;
	ret = view->dev->ops.counter_update_stats(counter);
	if (ret)
		goto unlock;
	ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, counter->port) ?:
	      nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter->id) ?:
	      put_mode(msg, counter) ?:
	      put_qps(msg, counter) ?:
	      nldev_put_counters(msg, counter->stats);
unlock:
	mutex_unlock(&view->dev->core->counter_lock);
	return ret;
}

static int fill_port_mode(struct sk_buff *msg, const struct nldev_view *view)
{
	enum rdma_nl_counter_mode mode;
	u32 mask;

	mode = qp_counter_mode(view->dev, view->port, &mask);
	if (nldev_put_handle(msg, view->dev) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, view->port) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_MODE, mode))
		return -EMSGSIZE;
	return mask ? nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK,
				  mask) : 0;
}

/* Device and port of a request; the caller puts the device. */
static int get_subject(const struct rdma_nl_req *req, struct nldev_view *view)
{
	int ret;

	view->dev = nldev_get_device(req);
	if (IS_ERR(view->dev))
		return PTR_ERR(view->dev);
	ret = nldev_get_port(req, view);
	if (!ret && !view->port) {
		NL_SET_ERR_MSG(req->extack,
			       "queue pairs are counted by port; name one: DEV/PORT");
		ret = -EINVAL;
	}
	if (ret)
		ib_device_put(view->dev);
	return ret;
}

/**
 * nldev_counter_mode - answer how queue pairs of a port come to counters
 * @req: the request
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_counter_mode(const struct rdma_nl_req *req)
{
	struct nldev_view view = {};
	int ret;

	ret = get_subject(req, &view);
	if (ret)
		return ret;
	ret = nldev_reply(req, &view, 0, fill_port_mode);
	ib_device_put(view.dev);
	return ret;
}

/* ---- changing ---- */

/* What a change is about, and that the asker may make it. */
static int get_changeable(const struct rdma_nl_req *req,
			  struct nldev_view *view)
{
	int ret;

	ret = get_subject(req, view);
	if (ret || nldev_may_change(req, view->dev))
		return ret;
	NL_SET_ERR_MSG(req->extack,
		       "the link's netdev is in another network namespace; count there or on the host");
	ib_device_put(view->dev);
	return -EPERM;
}

static int check_kind(const struct rdma_nl_req *req)
{
	const struct nlattr *kind = req->tb[RDMA_NLDEV_ATTR_STAT_RES];

	if (kind && nla_get_u32(kind) == RDMA_NLDEV_ATTR_RES_QP)
		return 0;
	NL_SET_ERR_MSG(req->extack,
		       "only queue pairs can have counters of their own");
	return -EOPNOTSUPP;
}

static int get_qpn(const struct rdma_nl_req *req, u32 *qpn)
{
	if (!req->tb[RDMA_NLDEV_ATTR_RES_LQPN]) {
		NL_SET_ERR_MSG(req->extack,
			       "the request does not say which queue pair: lqpn NUMBER");
		return -EINVAL;
	}
	*qpn = nla_get_u32(req->tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	return 0;
}

static u32 get_counter_id(const struct rdma_nl_req *req)
{
	const struct nlattr *id = req->tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID];

	return id ? nla_get_u32(id) : 0;
}

static int put_pair(struct sk_buff *msg, u32 id, u32 qpn)
{
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id) ?:
	       nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
}

static int set_bound(const struct rdma_nl_req *req,
		     const struct nldev_view *view, struct sk_buff *msg)
{
	u32 id = get_counter_id(req);
	u32 qpn;
	int ret;

	ret = get_qpn(req, &qpn);
	if (ret)
		return ret;
	/* 0 would make a new one; no counter has that number. */
	if (!id && req->tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]) {
		NL_SET_ERR_MSG(req->extack,
			       "counters are numbered from 1; without a number bind makes one");
		return -EINVAL;
	}
	ret = qp_counter_bind(view->dev, view->port, qpn, &id, req->extack);
	/* There is room in it. */
	return ret ?: put_pair(msg, id, qpn);
}

static int set_mode(const struct rdma_nl_req *req,
		    const struct nldev_view *view, struct sk_buff *msg)
{
	const struct nlattr *mask =
		req->tb[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK];
	int ret;

	ret = check_kind(req);
	if (ret)
		return ret;
	switch (nla_get_u32(req->tb[RDMA_NLDEV_ATTR_STAT_MODE])) {
	case RDMA_COUNTER_MODE_AUTO:
		return qp_counter_set_auto(view->dev, view->port,
					   mask ? nla_get_u32(mask) : 0,
					   req->extack);
	case RDMA_COUNTER_MODE_MANUAL:
		return set_bound(req, view, msg);
	default:
		NL_SET_ERR_MSG(req->extack,
			       "queue pairs are bound by hand ('bind') or by a rule ('set ... auto')");
		return -EINVAL;
	}
}

/* None can be switched: a list of optional counters has to be empty. */
static int set_optional(const struct rdma_nl_req *req)
{
	if (!nla_len(req->tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]))
		return 0;
	NL_SET_ERR_MSG(req->extack,
		       "no counter is optional here: all are always on");
	return -EINVAL;
}

/*
 * A change to the port that @req names.  @act makes it and adds to the reply,
 * which holds next to nothing so far.
 */
static int change(const struct rdma_nl_req *req,
		  int (*act)(const struct rdma_nl_req *req,
			     const struct nldev_view *view,
			     struct sk_buff *msg))
{
	struct nldev_view view = {};
	struct nlmsghdr *nlh;
	struct sk_buff *msg;
	int ret;

	ret = get_changeable(req, &view);
	if (ret)
		return ret;
	ret = -ENOMEM;
	msg = rdma_nl_reply_new(req, 0, &nlh);
	if (!msg)
		goto put_device;
	ret = nldev_put_handle(msg, view.dev) ?:
	      nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, view.port) ?:
	      act(req, &view, msg);
	if (ret)
		nlmsg_free(msg);
	else
		ret = rdma_nl_reply_send(req, msg, nlh);
put_device:
	ib_device_put(view.dev);
	return ret;
}

static int set_counting(const struct rdma_nl_req *req,
			const struct nldev_view *view, struct sk_buff *msg)
{
	if (req->tb[RDMA_NLDEV_ATTR_STAT_MODE])
		return set_mode(req, view, msg);
	if (req->tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return set_optional(req);
	NL_SET_ERR_MSG(req->extack, "nothing known to set");
	return -EINVAL;
}

/**
 * nldev_counter_set - answer RDMA_NLDEV_CMD_STAT_SET
 * @req: the request, about a port
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_counter_set(const struct rdma_nl_req *req)
{
	return change(req, set_counting);
}

static int delete(const struct rdma_nl_req *req, const struct nldev_view *view,
		  struct sk_buff *msg)
{
	u32 id = get_counter_id(req);
	u32 qpn;
	int ret;

	ret = check_kind(req) ?: get_qpn(req, &qpn) ?: put_pair(msg, id, qpn);
	return ret ?: qp_counter_unbind(view->dev, view->port, qpn, id,
					req->extack);
}

/**
 * nldev_counter_del - answer RDMA_NLDEV_CMD_STAT_DEL
 * @req: the request: unbind a queue pair of a port from a counter
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_counter_del(const struct rdma_nl_req *req)
{
	return change(req, delete);
}
