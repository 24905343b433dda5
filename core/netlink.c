// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* NETLINK_RDMA: the sockets, and the way from a message to who answers it. */
#include <linux/capability.h>
#include <linux/kmod.h>
#include <linux/rwsem.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "device.h"
#include "netlink.h"

/**
 * struct nl_slot - place of a client
 * @lock: read while one of its requests is answered
 * @client: who is there, or NULL
 */
struct nl_slot {
	struct rw_semaphore lock;
	const struct rdma_nl_client *client;
};

static struct nl_slot slots[RDMA_NL_NUM_CLIENTS] = {
	[RDMA_NL_IWCM] = { __RWSEM_INITIALIZER(slots[RDMA_NL_IWCM].lock) },
	[RDMA_NL_LS] = { __RWSEM_INITIALIZER(slots[RDMA_NL_LS].lock) },
	[RDMA_NL_NLDEV] = { __RWSEM_INITIALIZER(slots[RDMA_NL_NLDEV].lock) },
};

static struct nl_slot *nl_slot(unsigned int index)
{
	switch (index) {
	case RDMA_NL_IWCM:
	case RDMA_NL_LS:
	case RDMA_NL_NLDEV:
		return &slots[index];
	default:
		return NULL;
	}
}

/**
 * rdma_nl_register - begin to answer a client's requests
 * @client: its tables
 *
 * Context: process.
 * Return: 0, or -EEXIST when the place is taken, -EINVAL when there is none.
 */
int rdma_nl_register(const struct rdma_nl_client *client)
{
	struct nl_slot *slot = nl_slot(client->index);
	int ret = 0;

	if (!slot || WARN_ON(client->max_attr >= RDMA_NL_MAX_ATTR))
		return -EINVAL;
	down_write(&slot->lock);
	if (slot->client)
		ret = -EEXIST;
	else
		slot->client = client;
	up_write(&slot->lock);
	return ret;
}
EXPORT_SYMBOL(rdma_nl_register);

/**
 * rdma_nl_unregister - stop answering
 * @client: from rdma_nl_register()
 *
 * Context: process, waits for requests in work.
 */
void rdma_nl_unregister(const struct rdma_nl_client *client)
{
	struct nl_slot *slot = nl_slot(client->index);

	down_write(&slot->lock);
	slot->client = NULL;
	up_write(&slot->lock);
}
EXPORT_SYMBOL(rdma_nl_unregister);

static int check_perm(const struct sk_buff *skb, enum rdma_nl_perm perm,
		      struct netlink_ext_ack *extack)
{
	switch (perm) {
	case RDMA_NL_ANYBODY:
		return 0;
	case RDMA_NL_NET_ADMIN:
		if (netlink_net_capable(skb, CAP_NET_ADMIN))
			return 0;
		NL_SET_ERR_MSG(extack,
			       "this needs CAP_NET_ADMIN in the network namespace; run it as root");
		return -EPERM;
	default:
		if (netlink_capable(skb, CAP_NET_ADMIN))
			return 0;
		NL_SET_ERR_MSG(extack,
			       "this changes what all namespaces share and needs CAP_NET_ADMIN on the host; run it as root outside containers");
		return -EPERM;
	}
}

/*
 * Known attributes have to be well-formed.  Unknown ones are passed over, so
 * that a newer tool can ask for more than there is.
 */
static int parse(const struct rdma_nl_client *client,
		 const struct nlmsghdr *nlh, struct nlattr **tb,
		 struct netlink_ext_ack *extack)
{
	return __nlmsg_parse(nlh, 0, tb, client->max_attr, client->policy,
			     NL_VALIDATE_TRAILING | NL_VALIDATE_STRICT_ATTRS,
			     extack);
}

static int check_need(const struct rdma_nl_op *op, const struct nlmsghdr *nlh,
		      struct nlattr **tb, struct netlink_ext_ack *extack)
{
	int i;

	for (i = 0; i < RDMA_NL_MAX_NEED && op->need[i]; i++) {
		if (tb[op->need[i]])
			continue;
		NL_SET_ERR_MSG(extack,
			       "the request lacks an attribute that says what it is about");
		return -EINVAL;
	}
	return 0;
}

/* Called until everything is told; a copy of the request is in @cb. */
static int dump_more(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct rdma_nl_client *client = cb->data;
	struct nlattr *tb[RDMA_NL_MAX_ATTR];
	struct rdma_nl_req req = {
		.client = client,
		.skb = skb,
		.nlh = cb->nlh,
		.tb = tb,
		.extack = cb->extack,
	};
	int ret;

	ret = parse(client, cb->nlh, tb, cb->extack);
	if (ret)
		return ret;
	return client->ops[RDMA_NL_GET_OP(cb->nlh->nlmsg_type)].dump(&req, cb);
}

static int dump_start(struct sk_buff *skb, const struct nlmsghdr *nlh,
		      const struct rdma_nl_client *client)
{
	struct netlink_dump_control control = {
		.dump = dump_more,
		.data = (void *)client,
		.module = client->owner,
	};

	return netlink_dump_start(skb->sk, skb, nlh, &control);
}

static int answer(struct sk_buff *skb, const struct nlmsghdr *nlh,
		  const struct rdma_nl_client *client,
		  struct netlink_ext_ack *extack)
{
	unsigned int num = RDMA_NL_GET_OP(nlh->nlmsg_type);
	const struct rdma_nl_op *op;
	struct nlattr *tb[RDMA_NL_MAX_ATTR];
	struct rdma_nl_req req = {
		.client = client,
		.skb = skb,
		.nlh = nlh,
		.tb = tb,
		.extack = extack,
	};
	/* Two bits: each alone means something else, NLM_F_EXCL for one. */
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	int ret;

	if (!client->all_nets && !net_eq(sock_net(skb->sk), &init_net)) {
		NL_SET_ERR_MSG(extack,
			       "only the host's network namespace has this");
		return -EOPNOTSUPP;
	}
	op = num < client->num_ops ? &client->ops[num] : NULL;
	if (!op || (!op->doit && !op->dump)) {
		NL_SET_ERR_MSG(extack, "this softroce does not know the operation");
		if (op && op->why_not)
			extack->_msg = op->why_not;
		return -EOPNOTSUPP;
	}

	ret = check_perm(skb, op->perm, extack);
	if (ret)
		return ret;
	if (dump && op->dump)
		return dump_start(skb, nlh, client);
	if (!op->doit) {
		NL_SET_ERR_MSG(extack,
			       "the operation is a list, NLM_F_DUMP is missing");
		return -EOPNOTSUPP;
	}
	if (dump) {
		NL_SET_ERR_MSG(extack, "the operation has no list");
		return -EOPNOTSUPP;
	}
	ret = parse(client, nlh, tb, extack) ?: check_need(op, nlh, tb, extack);
	return ret ?: op->doit(&req);
}

static int receive_one(struct sk_buff *skb, struct nlmsghdr *nlh,
		       struct netlink_ext_ack *extack)
{
	unsigned int index = RDMA_NL_GET_CLIENT(nlh->nlmsg_type);
	struct nl_slot *slot = nl_slot(index);
	int ret;

	if (!slot) {
		NL_SET_ERR_MSG(extack, "no such netlink client");
		return -EINVAL;
	}

	down_read(&slot->lock);
	/* Only who administers the host has modules loaded. */
	if (!slot->client && netlink_capable(skb, CAP_NET_ADMIN)) {
		up_read(&slot->lock);
		request_module("rdma-netlink-subsys-%u", index);
		down_read(&slot->lock);
	}
	if (slot->client) {
		ret = answer(skb, nlh, slot->client, extack);
	} else {
		NL_SET_ERR_MSG(extack,
			       "the module that answers this is not loaded");
		ret = -EOPNOTSUPP;
	}
	up_read(&slot->lock);
	return ret;
}

static void receive(struct sk_buff *skb)
{
	netlink_rcv_skb(skb, receive_one);
}

/**
 * rdma_nl_reply_new - begin the answer to a request
 * @req: the request, not a dump
 * @size: bytes of attributes that will fit at least
 * @nlh: the header of the answer
 *
 * Context: process.
 * Return: the answer, for rdma_nl_reply_send() or nlmsg_free(), or NULL.
 */
struct sk_buff *rdma_nl_reply_new(const struct rdma_nl_req *req, size_t size,
				  struct nlmsghdr **nlh)
{
	struct sk_buff *msg;

	msg = nlmsg_new(max_t(size_t, size, NLMSG_DEFAULT_SIZE), GFP_KERNEL);
	if (!msg)
		return NULL;
	*nlh = nlmsg_put(msg, NETLINK_CB(req->skb).portid, req->nlh->nlmsg_seq,
			 req->nlh->nlmsg_type, 0, 0);
	if (!*nlh) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}
EXPORT_SYMBOL(rdma_nl_reply_new);

/**
 * rdma_nl_reply_send - complete the answer to a request
 * @req: the request
 * @msg: the answer, which is taken
 * @nlh: its header
 *
 * Context: process.
 * Return: 0, or a negative errno.
 */
int rdma_nl_reply_send(const struct rdma_nl_req *req, struct sk_buff *msg,
		       struct nlmsghdr *nlh)
{
	nlmsg_end(msg, nlh);
	return nlmsg_unicast(req->skb->sk, msg, NETLINK_CB(req->skb).portid);
}
EXPORT_SYMBOL(rdma_nl_reply_send);

/**
 * rdma_nl_net_init - make the socket of a namespace
 * @net: the namespace, which has its struct rdma_net
 *
 * Context: process.
 * Return: 0, or -ENOMEM.
 */
int rdma_nl_net_init(struct net *net)
{
	struct netlink_kernel_cfg cfg = {
		.groups = RDMA_NL_NUM_GROUPS,
		.flags = NL_CFG_F_NONROOT_RECV,
		.input = receive,
	};
	struct sock *sk;

	sk = netlink_kernel_create(net, NETLINK_RDMA, &cfg);
	if (!sk)
		return -ENOMEM;
	rdma_net_of(net)->nl_sock = sk;
	return 0;
}

/**
 * rdma_nl_net_exit - close the socket of a namespace
 * @net: a namespace without processes
 *
 * Context: process.
 */
void rdma_nl_net_exit(struct net *net)
{
	netlink_kernel_release(rdma_net_of(net)->nl_sock);
	rdma_net_of(net)->nl_sock = NULL;
}
