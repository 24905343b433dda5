// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* NLDEV: which objects exist on a device, for "rdma resource show". */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "nldev.h"
#include "restrack.h"

/* ---- details that a driver adds ---- */

static int put_driver_name(struct sk_buff *msg, const char *name, bool hex)
{
	if (nla_put_string(msg, RDMA_NLDEV_ATTR_DRIVER_STRING, name))
		return -EMSGSIZE;
	if (hex && nla_put_u8(msg, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE,
			      RDMA_NLDEV_PRINT_TYPE_HEX))
		return -EMSGSIZE;
	return 0;
}

static int put_driver_u32(struct sk_buff *msg, const char *name, u32 value,
			  bool hex)
{
	return put_driver_name(msg, name, hex) ?:
	       nla_put_u32(msg, RDMA_NLDEV_ATTR_DRIVER_U32, value);
}

static int put_driver_u64(struct sk_buff *msg, const char *name, u64 value,
			  bool hex)
{
	return put_driver_name(msg, name, hex) ?:
	       nla_put_u64_64bit(msg, RDMA_NLDEV_ATTR_DRIVER_U64, value,
				 RDMA_NLDEV_ATTR_PAD);
}

/**
 * rdma_nl_put_driver_u32 - tell a detail, to be printed in decimal
 * @msg: the message of a fill_res_*_entry callback
 * @name: what it is
 * @value: how much
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE.
 */
int rdma_nl_put_driver_u32(struct sk_buff *msg, const char *name, u32 value)
{
	return put_driver_u32(msg, name, value, false);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u32);

/**
 * rdma_nl_put_driver_u32_hex - tell a detail, to be printed in hexadecimal
 * @msg: the message of a fill_res_*_entry callback
 * @name: what it is
 * @value: how much
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE.
 */
int rdma_nl_put_driver_u32_hex(struct sk_buff *msg, const char *name, u32 value)
{
	return put_driver_u32(msg, name, value, true);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u32_hex);

/**
 * rdma_nl_put_driver_u64 - tell a long detail, to be printed in decimal
 * @msg: the message of a fill_res_*_entry callback
 * @name: what it is
 * @value: how much
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE.
 */
int rdma_nl_put_driver_u64(struct sk_buff *msg, const char *name, u64 value)
{
	return put_driver_u64(msg, name, value, false);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u64);

/**
 * rdma_nl_put_driver_u64_hex - tell a long detail, to be printed in hexadecimal
 * @msg: the message of a fill_res_*_entry callback
 * @name: what it is
 * @value: how much
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE.
 */
int rdma_nl_put_driver_u64_hex(struct sk_buff *msg, const char *name, u64 value)
{
	return put_driver_u64(msg, name, value, true);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u64_hex);

/* ---- one object of each type ---- */

static int put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, RDMA_NLDEV_ATTR_PAD);
}

/**
 * nldev_put_owner - say whose an object is
 * @msg: a message
 * @res: the object's entry, held
 *
 * A dead owner has no number; then none is told.
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE.
 */
int nldev_put_owner(struct sk_buff *msg, const struct rdma_restrack_entry *res)
{
	pid_t pid;

	if (rdma_is_kernel_res(res))
		return nla_put_string(msg, RDMA_NLDEV_ATTR_RES_KERN_NAME,
				      res->kern_name ?: "ib_core");
	pid = res->task ? task_pid_vnr(res->task) : 0;
	return pid ? nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PID, pid) : 0;
}

static int put_context(struct sk_buff *msg,
		       const struct rdma_restrack_entry *res)
{
	return res->ctxn ? nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CTXN,
				       res->ctxn) : 0;
}

static int put_pd_number(struct sk_buff *msg,
			 const struct rdma_restrack_entry *res,
			 const struct ib_pd *pd)
{
	if (!pd || rdma_is_kernel_res(res))
		return 0;
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, pd->res.id);
}

static int fill_qp_peer(struct sk_buff *msg, const struct ib_qp *qp,
			const struct ib_qp_attr *attr)
{
	if (qp->qp_type != IB_QPT_RC && qp->qp_type != IB_QPT_UC)
		return 0;
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RQPN, attr->dest_qp_num) ?:
	       nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RQ_PSN, attr->rq_psn) ?:
	       nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE,
			  attr->path_mig_state);
}

static int fill_qp(struct sk_buff *msg, const struct nldev_view *view,
		   struct rdma_restrack_entry *res)
{
	struct ib_qp *qp = container_of(res, struct ib_qp, res);
	struct ib_qp_init_attr init_attr;
	struct ib_qp_attr attr = {};
	u32 port;
	int ret;

	ret = ib_query_qp(qp, &attr, 0, &init_attr);
	if (ret)
		return ret;
	port = init_attr.port_num;
	/* -EAGAIN: not what was asked for. */
	if (view->port && port && port != view->port)
		return -EAGAIN;
	if ((port && nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port)) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num) ||
	    put_pd_number(msg, res, qp->pd) ||
	    fill_qp_peer(msg, qp, &attr) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_SQ_PSN, attr.sq_psn) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, qp->qp_type) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_STATE, attr.qp_state) ||
	    nldev_put_owner(msg, res))
		return -EMSGSIZE;
	return qp->device->ops.fill_res_qp_entry ?
		       qp->device->ops.fill_res_qp_entry(msg, qp) : 0;
}

static int fill_cq(struct sk_buff *msg, const struct nldev_view *view,
		   struct rdma_restrack_entry *res)
{
	struct ib_cq *cq = container_of(res, struct ib_cq, res);

	/* It may be resized just now. */
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQE, READ_ONCE(cq->cqe)) ||
	    put_u64(msg, RDMA_NLDEV_ATTR_RES_USECNT,
		    atomic_read(&cq->usecnt)) ||
	    (rdma_is_kernel_res(res) &&
	     nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_POLL_CTX, cq->poll_ctx)) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, 0) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQN, res->id) ||
	    put_context(msg, res) || nldev_put_owner(msg, res))
		return -EMSGSIZE;
	return cq->device->ops.fill_res_cq_entry ?
		       cq->device->ops.fill_res_cq_entry(msg, cq) : 0;
}

static int fill_mr(struct sk_buff *msg, const struct nldev_view *view,
		   struct rdma_restrack_entry *res)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);

	/* Keys and addresses are what protects memory on the wire. */
	if (view->admin &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RKEY, mr->rkey) ||
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LKEY, mr->lkey) ||
	     put_u64(msg, RDMA_NLDEV_ATTR_RES_IOVA, mr->iova)))
		return -EMSGSIZE;
	if (put_u64(msg, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_MRN, res->id) ||
	    put_pd_number(msg, res, mr->pd) || nldev_put_owner(msg, res))
		return -EMSGSIZE;
	return mr->device->ops.fill_res_mr_entry ?
		       mr->device->ops.fill_res_mr_entry(msg, mr) : 0;
}

static int fill_pd(struct sk_buff *msg, const struct nldev_view *view,
		   struct rdma_restrack_entry *res)
{
	struct ib_pd *pd = container_of(res, struct ib_pd, res);

	if (view->admin &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY,
			 pd->local_dma_lkey) ||
	     (pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY &&
	      nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY,
			  pd->unsafe_global_rkey))))
		return -EMSGSIZE;
	if (put_u64(msg, RDMA_NLDEV_ATTR_RES_USECNT,
		    atomic_read(&pd->usecnt)) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, res->id) ||
	    put_context(msg, res) || nldev_put_owner(msg, res))
		return -EMSGSIZE;
	return 0;
}

static int fill_ctx(struct sk_buff *msg, const struct nldev_view *view,
		    struct rdma_restrack_entry *res)
{
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CTXN, res->id) ||
	    nldev_put_owner(msg, res))
		return -EMSGSIZE;
	return 0;
}

/*
 * A walk over all objects ends early when nobody waits for its answer any more,
 * and when the device goes, which waits for who holds it.
 */
static int give_up(const struct ib_device *dev)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	return test_bit(IB_DEVICE_UNPUBLISHED, &dev->core->flags) ? -ENODEV : 0;
}

/* Queue pairs from @first to @last. */
static int put_qp_range(struct sk_buff *msg, u32 first, u32 last)
{
	struct nlattr *entry = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	int ret;

	if (!entry)
		return -EMSGSIZE;
	if (first == last)
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, first);
	else
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_MIN_RANGE, first) ?:
		      nla_put_u32(msg, RDMA_NLDEV_ATTR_MAX_RANGE, last);
	nla_nest_end(msg, entry);
	return ret;
}

/* Only the numbers: one page has to hold what there is to say of an SRQ. */
#define MAX_QP_RANGES 128

/* The queue pairs on an SRQ, the first ranges of their numbers. */
static int put_srq_qps(struct sk_buff *msg, const struct ib_srq *srq)
{
	struct rdma_restrack_entry *res;
	unsigned int ranges = 0;
	unsigned long id = 0;
	u32 first = 0, last = 0;
	struct nlattr *table;
	bool on_it;
	int ret;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP);
	if (!table)
		return -EMSGSIZE;
	while ((res = rdma_restrack_get_next(srq->device, RDMA_RESTRACK_QP,
					     &id))) {
		on_it = container_of(res, struct ib_qp, res)->srq == srq;
		rdma_restrack_put(res);
		/* For each of the SRQs in a message: a million times a million. */
		cond_resched();
		ret = give_up(srq->device);
		if (ret)
			return ret;
		if (on_it && first && id == last + 1) {
			last = id;
		} else if (on_it) {
			if (first && put_qp_range(msg, first, last))
				return -EMSGSIZE;
			if (++ranges > MAX_QP_RANGES)
				break;
			first = id;
			last = id;
		}
		id++;
	}
	if (first && ranges <= MAX_QP_RANGES && put_qp_range(msg, first, last))
		return -EMSGSIZE;
	nla_nest_end(msg, table);
	return 0;
}

static int fill_srq(struct sk_buff *msg, const struct nldev_view *view,
		    struct rdma_restrack_entry *res)
{
	struct ib_srq *srq = container_of(res, struct ib_srq, res);

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_SRQN, res->id) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, srq->srq_type) ||
	    put_pd_number(msg, res, srq->pd) || put_srq_qps(msg, srq) ||
	    nldev_put_owner(msg, res))
		return -EMSGSIZE;
	return 0;
}

/**
 * struct res_kind - how a type of object is told
 * @name: in the summary, or NULL: it is not there
 * @type: in the resource tables
 * @op: the operation that asks for it
 * @table: attribute around all of them in a dump
 * @entry: attribute around one of them in a dump
 * @id: attribute that picks one
 * @fill: puts one; NULL where nothing makes such objects yet
 */
struct res_kind {
	const char *name;
	enum rdma_restrack_type type;
	u16 op;
	u16 table;
	u16 entry;
	u16 id;
	int (*fill)(struct sk_buff *msg, const struct nldev_view *view,
		    struct rdma_restrack_entry *res);
};

#define RES_KIND(_name, _KIND, _id, _fill)                                     \
	{ .name = _name, .type = RDMA_RESTRACK_##_KIND,                        \
	  .op = RDMA_NLDEV_CMD_RES_##_KIND##_GET,                              \
	  .table = RDMA_NLDEV_ATTR_RES_##_KIND,                                \
	  .entry = RDMA_NLDEV_ATTR_RES_##_KIND##_ENTRY,                        \
	  .id = RDMA_NLDEV_ATTR_RES_##_id, .fill = _fill }

static const struct res_kind res_kinds[] = {
	RES_KIND("pd", PD, PDN, fill_pd),
	RES_KIND("cq", CQ, CQN, fill_cq),
	RES_KIND("qp", QP, LQPN, fill_qp),
	RES_KIND("cm_id", CM_ID, CM_IDN, NULL),
	RES_KIND("mr", MR, MRN, fill_mr),
	RES_KIND("ctx", CTX, CTXN, fill_ctx),
	RES_KIND("srq", SRQ, SRQN, fill_srq),
	/* Told as statistics: see nldev_stat.c. */
	{ .type = RDMA_RESTRACK_COUNTER,
	  .op = RDMA_NLDEV_CMD_STAT_GET,
	  .table = RDMA_NLDEV_ATTR_STAT_COUNTER,
	  .entry = RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
	  .id = RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
	  .fill = nldev_fill_counter },
};

static const struct res_kind *requested_kind(const struct rdma_nl_req *req)
{
	unsigned int op = RDMA_NL_GET_OP(req->nlh->nlmsg_type);
	int i;

	for (i = 0; i < ARRAY_SIZE(res_kinds); i++)
		if (res_kinds[i].op == op)
			return &res_kinds[i];
	return NULL;
}

/* ---- one object ---- */

/**
 * nldev_res_object_get - answer RDMA_NLDEV_CMD_RES_*_GET for one object
 * @req: the request
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_res_object_get(const struct rdma_nl_req *req)
{
	const struct res_kind *kind = requested_kind(req);
	struct rdma_restrack_entry *res;
	struct nldev_view view = {
		.net = sock_net(req->skb->sk),
		.admin = netlink_capable(req->skb, CAP_NET_ADMIN),
	};
	struct nlmsghdr *nlh;
	struct sk_buff *msg;
	int ret;

	if (!req->tb[kind->id]) {
		NL_SET_ERR_MSG(req->extack,
			       "the request does not say which object");
		return -EINVAL;
	}
	view.dev = nldev_get_device(req);
	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	ret = nldev_get_port(req, &view);
	if (ret)
		goto put_device;

	res = rdma_restrack_get_byid(view.dev, kind->type,
				     nla_get_u32(req->tb[kind->id]));
	if (IS_ERR(res)) {
		ret = PTR_ERR(res);
		goto not_there;
	}
	ret = -ENOENT;
	if (!kind->fill || !rdma_restrack_visible(res))
		goto put_res;

	ret = -ENOMEM;
	msg = rdma_nl_reply_new(req, 0, &nlh);
	if (!msg)
		goto put_res;
	ret = nldev_put_handle(msg, view.dev) ?: kind->fill(msg, &view, res);
	if (ret) {
		nlmsg_free(msg);
		if (ret == -EAGAIN)
			ret = -ENOENT;
		goto put_res;
	}
	ret = rdma_nl_reply_send(req, msg, nlh);

put_res:
	rdma_restrack_put(res);
not_there:
	if (ret == -ENOENT)
		NL_SET_ERR_MSG_ATTR(req->extack, req->tb[kind->id],
				    "no such object on this device and port; 'rdma resource show' lists them");
put_device:
	ib_device_put(view.dev);
	return ret;
}

/* ---- all objects of a type ---- */

static int dump_one(struct sk_buff *skb, const struct nldev_view *view,
		    const struct res_kind *kind,
		    struct rdma_restrack_entry *res)
{
	struct nlattr *entry;
	int ret;

	if (!kind->fill || !rdma_restrack_visible(res))
		return 0;
	entry = nla_nest_start_noflag(skb, kind->entry);
	if (!entry)
		return -EMSGSIZE;
	ret = kind->fill(skb, view, res);
	if (!ret) {
		nla_nest_end(skb, entry);
		return 0;
	}
	nla_nest_cancel(skb, entry);
	/* What cannot be queried just now is left out; the others are told. */
	return ret == -EMSGSIZE ? ret : 0;
}

/* As many objects as fit, beginning with *id; *id is where to go on. */
static int dump_some(struct sk_buff *skb, const struct nldev_view *view,
		     const struct res_kind *kind, unsigned long *id)
{
	struct rdma_restrack_entry *res;
	int ret;

	while ((res = rdma_restrack_get_next(view->dev, kind->type, id))) {
		ret = dump_one(skb, view, kind, res);
		rdma_restrack_put(res);
		if (ret)
			return ret;
		/* Those that the asker may not see fill no message. */
		cond_resched();
		ret = give_up(view->dev);
		if (ret)
			return ret;
		++*id;
	}
	return 0;
}

/**
 * nldev_res_object_dump - answer RDMA_NLDEV_CMD_RES_*_GET for all objects
 * @req: what is being filled
 * @cb: the dump; args[0] is the number to go on with, args[1] says it is over
 *
 * Context: process.
 * Return: bytes filled, 0 at the end, or a negative errno.
 */
int nldev_res_object_dump(const struct rdma_nl_req *req,
			  struct netlink_callback *cb)
{
	const struct res_kind *kind = requested_kind(req);
	unsigned long id = cb->args[0];
	struct sk_buff *skb = req->skb;
	struct nldev_view view = {
		.net = sock_net(skb->sk),
		.admin = netlink_capable(cb->skb, CAP_NET_ADMIN),
	};
	struct nlattr *table;
	struct nlmsghdr *nlh;
	int ret;

	if (cb->args[1])
		return 0;
	view.dev = nldev_get_device(req);
	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	ret = nldev_get_port(req, &view);
	if (ret)
		goto put_device;

	ret = -EMSGSIZE;
	nlh = nldev_dump_msg(skb, cb);
	if (!nlh)
		goto put_device;
	if (nldev_put_handle(skb, view.dev))
		goto cancel_msg;
	table = nla_nest_start_noflag(skb, kind->table);
	if (!table)
		goto cancel_msg;
	ret = dump_some(skb, &view, kind, &id);
	/* Not even one: it never will fit. */
	if (ret && id == cb->args[0])
		goto cancel_msg;
	nla_nest_end(skb, table);
	nlmsg_end(skb, nlh);
	cb->args[0] = id;
	cb->args[1] = !ret;
	ret = skb->len;
	goto put_device;

cancel_msg:
	nlmsg_cancel(skb, nlh);
put_device:
	ib_device_put(view.dev);
	return ret;
}

/* ---- the summary ---- */

static int fill_summary(struct sk_buff *msg, const struct nldev_view *view)
{
	struct nlattr *table, *entry;
	int i;

	if (nldev_put_handle(msg, view->dev))
		return -EMSGSIZE;
	table = nla_nest_start_noflag(msg, RDMA_NLDEV_ATTR_RES_SUMMARY);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(res_kinds); i++) {
		if (!res_kinds[i].name)
			continue;
		entry = nla_nest_start_noflag(msg,
					      RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
		if (!entry ||
		    nla_put_string(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
				   res_kinds[i].name) ||
		    put_u64(msg, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR,
			    rdma_restrack_count(view->dev, res_kinds[i].type)))
			return -EMSGSIZE;
		nla_nest_end(msg, entry);
	}
	nla_nest_end(msg, table);
	return 0;
}

/**
 * nldev_res_get - answer RDMA_NLDEV_CMD_RES_GET for one device
 * @req: the request
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_res_get(const struct rdma_nl_req *req)
{
	struct nldev_view view = { .dev = nldev_get_device(req) };
	int ret;

	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	ret = nldev_reply(req, &view, 0, fill_summary);
	ib_device_put(view.dev);
	return ret;
}

/**
 * nldev_res_dump - answer RDMA_NLDEV_CMD_RES_GET for all devices
 * @req: what is being filled
 * @cb: the dump
 *
 * Context: process.
 * Return: bytes filled, 0 at the end, or a negative errno.
 */
int nldev_res_dump(const struct rdma_nl_req *req, struct netlink_callback *cb)
{
	return nldev_dump_devices(req, cb, fill_summary);
}
