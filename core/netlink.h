/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NETLINK_RDMA: who answers which request.
 *
 * Lifetime: a socket of each network namespace is in its struct rdma_net.  A
 * client's tables are static in its module, between rdma_nl_register() and
 * rdma_nl_unregister(), which waits for requests that are being answered.  A
 * dump goes on between calls of recvmsg(); it holds a reference to the module
 * of its client.
 */
#ifndef SOFTROCE_CORE_NETLINK_H
#define SOFTROCE_CORE_NETLINK_H

#include <linux/netlink.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>

struct rdma_nl_client;

/* Who may send a request. */
enum rdma_nl_perm {
	RDMA_NL_ANYBODY,
	/* CAP_NET_ADMIN in the user namespace of the network namespace */
	RDMA_NL_NET_ADMIN,
	/* CAP_NET_ADMIN in the initial user namespace */
	RDMA_NL_INIT_ADMIN,
};

/**
 * struct rdma_nl_req - a request that is being answered
 * @client: whose request it is
 * @skb: what was received; its sk is the kernel's socket
 * @nlh: the message in it
 * @tb: attributes by type, validated by the client's policy
 * @extack: where the sentence about what went wrong belongs
 */
struct rdma_nl_req {
	const struct rdma_nl_client *client;
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct nlattr **tb;
	struct netlink_ext_ack *extack;
};

#define RDMA_NL_MAX_NEED 3

/**
 * struct rdma_nl_op - a kind of request
 * @doit: answers a request
 * @dump: answers a request with NLM_F_DUMP, as many messages as it takes;
 *	@req->skb is the message in work here, and the request in @cb
 * @perm: who may ask
 * @need: attribute types without which @doit is not called
 * @why_not: why there is neither @doit nor @dump
 */
struct rdma_nl_op {
	int (*doit)(const struct rdma_nl_req *req);
	int (*dump)(const struct rdma_nl_req *req, struct netlink_callback *cb);
	enum rdma_nl_perm perm;
	u16 need[RDMA_NL_MAX_NEED];
	const char *why_not;
};

/**
 * struct rdma_nl_client - a set of requests
 * @owner: the module that has the tables
 * @index: RDMA_NL_NLDEV and the like
 * @ops: by operation number, @num_ops of them
 * @policy: of the attributes of a request, types 0 to @max_attr
 * @all_nets: serves every namespace, not the initial one alone
 */
struct rdma_nl_client {
	struct module *owner;
	unsigned int index;
	const struct rdma_nl_op *ops;
	unsigned int num_ops;
	const struct nla_policy *policy;
	unsigned int max_attr;
	bool all_nets;
};

/* Attributes of a request live on the stack of the dispatcher. */
#define RDMA_NL_MAX_ATTR RDMA_NLDEV_ATTR_MAX

int rdma_nl_register(const struct rdma_nl_client *client);
void rdma_nl_unregister(const struct rdma_nl_client *client);

struct sk_buff *rdma_nl_reply_new(const struct rdma_nl_req *req, size_t size,
				  struct nlmsghdr **nlh);
int rdma_nl_reply_send(const struct rdma_nl_req *req, struct sk_buff *msg,
		       struct nlmsghdr *nlh);

#endif
