// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* NLDEV: the counters of a device and of its ports, for "rdma statistic". */
#include <net/sock.h>

#include "device.h"
#include "hw_stats.h"
#include "nldev.h"

/* Upper limit of what one counter takes in a message, its name apart. */
#define COUNTER_ROOM 48

/* A port number is part of the answer when one was part of the question. */
static int put_subject(struct sk_buff *msg, const struct nldev_view *view)
{
	if (nldev_put_handle(msg, view->dev))
		return -EMSGSIZE;
	return view->port ? nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX,
					view->port) : 0;
}

static struct rdma_hw_stats *stats_of(const struct nldev_view *view)
{
	return ib_hw_stats_of(view->dev, view->port);
}

static size_t room_for(const struct nldev_view *view)
{
	struct rdma_hw_stats *stats = stats_of(view);
	size_t room = NLMSG_DEFAULT_SIZE;
	int i;

	for (i = 0; stats && i < stats->num_counters; i++)
		room += COUNTER_ROOM + strlen(stats->descs[i].name);
	return room;
}

static bool is_off(const struct rdma_hw_stats *stats, int i)
{
	return stats->is_disabled && test_bit(i, stats->is_disabled);
}

/**
 * nldev_put_counters - put a table of counters, but for those switched off
 * @msg: a message
 * @stats: the counters, up to date
 *
 * Context: process; the caller keeps them from changing.
 * Return: 0, or -EMSGSIZE.
 */
int nldev_put_counters(struct sk_buff *msg, const struct rdma_hw_stats *stats)
{
	struct nlattr *table, *entry;
	int i;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < stats->num_counters; i++) {
		if (is_off(stats, i))
			continue;
		entry = nla_nest_start(msg,
				       RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		if (!entry ||
		    nla_put_string(msg,
				   RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
				   stats->descs[i].name) ||
		    nla_put_u64_64bit(msg,
				      RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
				      stats->value[i], RDMA_NLDEV_ATTR_PAD))
			return -EMSGSIZE;
		nla_nest_end(msg, entry);
	}
	nla_nest_end(msg, table);
	return 0;
}

static int fill_values(struct sk_buff *msg, const struct nldev_view *view)
{
	struct rdma_hw_stats *stats = stats_of(view);
	int ret;

	if (put_subject(msg, view))
		return -EMSGSIZE;
	mutex_lock(&stats->lock);
	ret = ib_hw_stats_refresh(view->dev, stats, view->port,
				  stats->num_counters) ?:
	      nldev_put_counters(msg, stats);
	mutex_unlock(&stats->lock);
	return ret;
}

/* The list of counters, each with whether it can be and is switched off. */
static int fill_status(struct sk_buff *msg, const struct nldev_view *view)
{
	struct rdma_hw_stats *stats = stats_of(view);
	struct nlattr *table, *entry;
	int i;

	if (put_subject(msg, view))
		return -EMSGSIZE;
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < stats->num_counters; i++) {
		entry = nla_nest_start(msg,
				       RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		if (!entry ||
		    nla_put_string(msg,
				   RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
				   stats->descs[i].name) ||
		    nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, i))
			return -EMSGSIZE;
		nla_nest_end(msg, entry);
	}
	nla_nest_end(msg, table);
	return 0;
}

static int reply_counters(const struct rdma_nl_req *req,
			  const struct nldev_view *view, nldev_fill_fn fill)
{
	if (stats_of(view))
		return nldev_reply(req, view, room_for(view), fill);
	if (view->port)
		NL_SET_ERR_MSG(req->extack,
			       "the driver keeps no counters for this port");
	else
		NL_SET_ERR_MSG(req->extack,
			       "the driver keeps counters for ports alone; name one: DEV/PORT");
	return -EOPNOTSUPP;
}

static int get_counters(const struct rdma_nl_req *req, nldev_fill_fn fill)
{
	struct nldev_view view = { .dev = nldev_get_device(req) };
	int ret;

	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	ret = nldev_get_port(req, &view) ?: reply_counters(req, &view, fill);
	ib_device_put(view.dev);
	return ret;
}

/* Which kind of object a request is about; 0: the port or device itself. */
static u32 asked_kind(const struct rdma_nl_req *req)
{
	const struct nlattr *kind = req->tb[RDMA_NLDEV_ATTR_STAT_RES];

	return kind ? nla_get_u32(kind) : 0;
}

static int refuse_kind(const struct rdma_nl_req *req)
{
	NL_SET_ERR_MSG_ATTR(req->extack, req->tb[RDMA_NLDEV_ATTR_STAT_RES],
			    "counters are kept for ports and for queue pairs");
	return -EOPNOTSUPP;
}

/**
 * nldev_stat_get - answer RDMA_NLDEV_CMD_STAT_GET
 * @req: the request: counters of a port or device, one counter of queue pairs,
 *	or how those come to them
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_stat_get(const struct rdma_nl_req *req)
{
	switch (asked_kind(req)) {
	case 0:
		if (req->tb[RDMA_NLDEV_ATTR_STAT_MODE])
			return nldev_counter_mode(req);
		return get_counters(req, fill_values);
	case RDMA_NLDEV_ATTR_RES_QP:
		if (req->tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID])
			return nldev_res_object_get(req);
		return nldev_counter_mode(req);
	default:
		return refuse_kind(req);
	}
}

/**
 * nldev_stat_dump - answer RDMA_NLDEV_CMD_STAT_GET about all objects of a kind
 * @req: what is being filled
 * @cb: the dump
 *
 * Regions have no counters here, so their list is empty.
 *
 * Context: process.
 * Return: bytes filled, 0 at the end, or a negative errno with the reason told.
 */
int nldev_stat_dump(const struct rdma_nl_req *req, struct netlink_callback *cb)
{
	switch (asked_kind(req)) {
	case RDMA_NLDEV_ATTR_RES_QP:
		return nldev_res_object_dump(req, cb);
	case RDMA_NLDEV_ATTR_RES_MR:
		return 0;
	default:
		return refuse_kind(req);
	}
}

/**
 * nldev_stat_status - answer RDMA_NLDEV_CMD_STAT_GET_STATUS
 * @req: the request
 *
 * Context: process.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_stat_status(const struct rdma_nl_req *req)
{
	return get_counters(req, fill_status);
}
