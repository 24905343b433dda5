// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* NLDEV: devices, ports, character devices and the settings of the core. */
#include <linux/device.h>
#include <net/sock.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "nldev.h"

/*
 * What a request may hold; whatever else comes is not looked at.  Names have no
 * limit here: who looks for one that is too long can say so in a sentence.
 */
static const struct nla_policy nldev_policy[] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_LQPN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_NDEV_NAME] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_RES_PDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_MRN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CM_IDN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_RES_CTXN] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_LINK_TYPE] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = NLA_POLICY_MAX(NLA_U8, 1),
	[RDMA_NLDEV_NET_NS_FD] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = { .type = NLA_NUL_STRING },
	[RDMA_NLDEV_ATTR_STAT_MODE] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_RES] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_DEV_DIM] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_SRQN] = { .type = NLA_U32 },
	[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_DRIVER_DETAILS] = { .type = NLA_U8 },
};

/**
 * nldev_get_device - the device that a request is about
 * @req: a request
 *
 * Context: process.
 * Return: the device, held, or an ERR_PTR() with the reason told.
 */
struct ib_device *nldev_get_device(const struct rdma_nl_req *req)
{
	struct nlattr *index = req->tb[RDMA_NLDEV_ATTR_DEV_INDEX];
	struct ib_device *dev;

	if (!index) {
		NL_SET_ERR_MSG(req->extack,
			       "the request does not say which device");
		return ERR_PTR(-EINVAL);
	}
	dev = ib_device_get_by_index(sock_net(req->skb->sk),
				     nla_get_u32(index));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(req->extack, index,
				    "no RDMA device with this index in this namespace; 'rdma dev' lists them");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

/**
 * nldev_get_port - the port that a request is about
 * @req: a request
 * @view: of its device; the port is added
 *
 * Context: any.
 * Return: 0, or -EINVAL with the reason told.
 */
int nldev_get_port(const struct rdma_nl_req *req, struct nldev_view *view)
{
	struct nlattr *port = req->tb[RDMA_NLDEV_ATTR_PORT_INDEX];

	if (!port)
		return 0;
	view->port = nla_get_u32(port);
	if (view->port && rdma_is_port_valid(view->dev, view->port))
		return 0;
	NL_SET_ERR_MSG_ATTR(req->extack, port,
			    "the device has no such port; ports count from 1");
	return -EINVAL;
}

/**
 * nldev_put_handle - say which device a message is about
 * @msg: a message
 * @dev: the device
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE.
 */
int nldev_put_handle(struct sk_buff *msg, struct ib_device *dev)
{
	char name[IB_DEVICE_NAME_MAX];

	ib_device_copy_name(dev, name);
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index) ?:
	       nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name);
}

/**
 * nldev_reply - answer with one message
 * @req: the request
 * @view: what is told
 * @size: bytes of attributes, when it can be more than usual, else 0
 * @fill: puts the attributes
 *
 * Context: process.
 * Return: 0, or a negative errno.
 */
int nldev_reply(const struct rdma_nl_req *req, const struct nldev_view *view,
		size_t size, nldev_fill_fn fill)
{
	struct nlmsghdr *nlh;
	struct sk_buff *msg;
	int ret;

	msg = rdma_nl_reply_new(req, size, &nlh);
	if (!msg)
		return -ENOMEM;
	ret = fill(msg, view);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return rdma_nl_reply_send(req, msg, nlh);
}

/**
 * nldev_dump_msg - begin one message of many
 * @skb: where it goes
 * @cb: the dump
 *
 * Context: any.
 * Return: its header, or NULL when @skb is full.
 */
struct nlmsghdr *nldev_dump_msg(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			 cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
}

static int dump_one_device(struct sk_buff *skb, struct netlink_callback *cb,
			   struct ib_device *dev, nldev_fill_fn fill)
{
	struct nldev_view view = {
		.dev = dev,
		.net = sock_net(skb->sk),
		.admin = netlink_capable(cb->skb, CAP_NET_ADMIN),
	};
	struct nlmsghdr *nlh;
	int ret;

	nlh = nldev_dump_msg(skb, cb);
	if (!nlh)
		return -EMSGSIZE;
	ret = fill(skb, &view);
	if (ret)
		nlmsg_cancel(skb, nlh);
	else
		nlmsg_end(skb, nlh);
	return ret;
}

/**
 * nldev_dump_devices - one message for each device
 * @req: what is being filled
 * @cb: the dump; args[0] is the index to go on with
 * @fill: puts the attributes
 *
 * Context: process.
 * Return: bytes filled, 0 at the end, or a negative errno.
 */
int nldev_dump_devices(const struct rdma_nl_req *req,
		       struct netlink_callback *cb, nldev_fill_fn fill)
{
	struct sk_buff *skb = req->skb;
	struct ib_device *dev;
	int ret = 0;
	u32 i;

	for (i = cb->args[0]; (dev = ib_device_get_next(&i)); i++) {
		if (rdma_dev_access_netns(dev, sock_net(skb->sk)))
			ret = dump_one_device(skb, cb, dev, fill);
		ib_device_put(dev);
		if (ret)
			break;
	}
	cb->args[0] = i;
	return ret == -EMSGSIZE && skb->len ? skb->len : ret ?: skb->len;
}

static int put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, RDMA_NLDEV_ATTR_PAD);
}

static int fill_device(struct sk_buff *msg, const struct nldev_view *view)
{
	struct ib_device *dev = view->dev;
	char fw[IB_FW_VERSION_NAME_MAX] = "";
	const char *protocol = NULL;

	ib_get_device_fw_str(dev, fw);
	if (rdma_protocol_roce(dev, rdma_start_port(dev)))
		protocol = "roce";
	if (nldev_put_handle(msg, dev) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, rdma_end_port(dev)) ||
	    put_u64(msg, RDMA_NLDEV_ATTR_CAP_FLAGS,
		    dev->attrs.device_cap_flags) ||
	    (*fw && nla_put_string(msg, RDMA_NLDEV_ATTR_FW_VERSION, fw)) ||
	    put_u64(msg, RDMA_NLDEV_ATTR_NODE_GUID,
		    be64_to_cpu(dev->node_guid)) ||
	    put_u64(msg, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID,
		    be64_to_cpu(dev->attrs.sys_image_guid)) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, dev->node_type) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, 0) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE,
		       dev->name_assign_type))
		return -EMSGSIZE;
	if (protocol &&
	    nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_PROTOCOL, protocol))
		return -EMSGSIZE;
	return 0;
}

static int nldev_get(const struct rdma_nl_req *req)
{
	struct nldev_view view = { .dev = nldev_get_device(req) };
	int ret;

	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	ret = nldev_reply(req, &view, 0, fill_device);
	ib_device_put(view.dev);
	return ret;
}

static int nldev_get_dump(const struct rdma_nl_req *req,
			  struct netlink_callback *cb)
{
	return nldev_dump_devices(req, cb, fill_device);
}

static int rename_device(const struct rdma_nl_req *req, struct ib_device *dev)
{
	int ret;

	ret = ib_device_rename(dev,
			       nla_data(req->tb[RDMA_NLDEV_ATTR_DEV_NAME]));
	if (ret == -EEXIST)
		NL_SET_ERR_MSG(req->extack,
			       "another RDMA device has this name; choose a different one");
	else if (ret == -EINVAL)
		NL_SET_ERR_MSG(req->extack, NLDEV_BAD_NAME);
	else if (ret)
		NL_SET_ERR_MSG(req->extack, "the device cannot be renamed now");
	return ret;
}

static int nldev_set(const struct rdma_nl_req *req)
{
	struct ib_device *dev = nldev_get_device(req);
	int ret = -EOPNOTSUPP;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (req->tb[RDMA_NLDEV_ATTR_DEV_NAME])
		ret = rename_device(req, dev);
	else if (req->tb[RDMA_NLDEV_NET_NS_FD])
		NL_SET_ERR_MSG(req->extack,
			       "a soft device stays where its netdev is; move the netdev, then 'rdma link add' in that namespace");
	else if (req->tb[RDMA_NLDEV_ATTR_DEV_DIM])
		NL_SET_ERR_MSG(req->extack,
			       "there is no adaptive moderation: completions are not delayed");
	else
		NL_SET_ERR_MSG(req->extack, "nothing known to set");
	ib_device_put(dev);
	return ret;
}

/* The netdev is told to those who could see it with "ip link" as well. */
static int put_port_netdev(struct sk_buff *msg, const struct nldev_view *view)
{
	struct net_device *ndev = ib_device_get_netdev(view->dev, view->port);
	int ret = 0;

	if (!ndev)
		return 0;
	if (net_eq(dev_net(ndev), view->net))
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_NDEV_INDEX,
				  ndev->ifindex) ?:
		      nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME,
				     ndev->name);
	dev_put(ndev);
	return ret;
}

static int fill_port(struct sk_buff *msg, const struct nldev_view *view)
{
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(view->dev, view->port, &attr);
	if (ret)
		return ret;
	if (nldev_put_handle(msg, view->dev) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, view->port) ||
	    put_u64(msg, RDMA_NLDEV_ATTR_CAP_FLAGS,
		    (u64)attr.port_cap_flags2 << 32 | attr.port_cap_flags) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_PORT_STATE, attr.state) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, attr.phys_state))
		return -EMSGSIZE;
	/* Ethernet has neither LIDs nor a subnet manager to have one. */
	if (rdma_port_get_link_layer(view->dev, view->port) ==
		    IB_LINK_LAYER_INFINIBAND &&
	    (put_u64(msg, RDMA_NLDEV_ATTR_SUBNET_PREFIX, attr.subnet_prefix) ||
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_LID, attr.lid) ||
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_SM_LID, attr.sm_lid) ||
	     nla_put_u8(msg, RDMA_NLDEV_ATTR_LMC, attr.lmc)))
		return -EMSGSIZE;
	return put_port_netdev(msg, view);
}

static int nldev_port_get(const struct rdma_nl_req *req)
{
	struct nldev_view view = {
		.dev = nldev_get_device(req),
		.net = sock_net(req->skb->sk),
	};
	int ret;

	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	ret = nldev_get_port(req, &view) ?:
	      nldev_reply(req, &view, 0, fill_port);
	ib_device_put(view.dev);
	return ret;
}

/* All ports of one device; args[0] is the port to go on with. */
static int nldev_port_dump(const struct rdma_nl_req *req,
			   struct netlink_callback *cb)
{
	struct nldev_view view = {
		.dev = nldev_get_device(req),
		.net = sock_net(req->skb->sk),
	};
	struct sk_buff *skb = req->skb;
	struct nlmsghdr *nlh;
	int ret = 0;

	if (IS_ERR(view.dev))
		return PTR_ERR(view.dev);
	rdma_for_each_port(view.dev, view.port) {
		if (view.port < cb->args[0])
			continue;
		nlh = nldev_dump_msg(skb, cb);
		ret = nlh ? fill_port(skb, &view) : -EMSGSIZE;
		if (ret) {
			if (nlh)
				nlmsg_cancel(skb, nlh);
			break;
		}
		nlmsg_end(skb, nlh);
	}
	cb->args[0] = view.port;
	ib_device_put(view.dev);
	return ret == -EMSGSIZE && skb->len ? skb->len : ret ?: skb->len;
}

/* The client puts what only it knows; the character device is told here. */
static int put_chardev(struct sk_buff *msg, struct ib_device *dev,
		       const char *client, u32 port, bool may_load)
{
	struct ib_client_nl_info info = { .nl_msg = msg, .port = port };
	struct ib_client *owner;
	int ret;

	if (!nldev_sane_word(client))
		return -EINVAL;
	ret = ib_get_client_nl_info(dev, client, may_load, &info, &owner);
	if (ret)
		return ret;
	if (put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV,
		    huge_encode_dev(info.cdev->devt)) ||
	    put_u64(msg, RDMA_NLDEV_ATTR_CHARDEV_ABI, info.abi) ||
	    nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_NAME,
			   dev_name(info.cdev)))
		ret = -EMSGSIZE;
	ib_put_client_nl_info(&info, owner);
	return ret;
}

static int nldev_get_chardev(const struct rdma_nl_req *req)
{
	struct nldev_view view = {};
	struct nlmsghdr *nlh;
	struct sk_buff *msg;
	int ret;

	if (req->tb[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		view.dev = nldev_get_device(req);
		if (IS_ERR(view.dev))
			return PTR_ERR(view.dev);
		ret = nldev_get_port(req, &view);
		if (ret)
			goto put_device;
	} else if (req->tb[RDMA_NLDEV_ATTR_PORT_INDEX]) {
		NL_SET_ERR_MSG(req->extack, "a port without a device");
		return -EINVAL;
	}

	ret = -ENOMEM;
	msg = rdma_nl_reply_new(req, 0, &nlh);
	if (!msg)
		goto put_device;
	ret = put_chardev(msg, view.dev,
			  nla_data(req->tb[RDMA_NLDEV_ATTR_CHARDEV_TYPE]),
			  req->tb[RDMA_NLDEV_ATTR_PORT_INDEX] ? view.port :
								(u32)-1,
			  netlink_capable(req->skb, CAP_NET_ADMIN));
	if (ret) {
		NL_SET_ERR_MSG(req->extack,
			       "no such character device; is the module that makes it (ib_uverbs, rdma_ucm, ib_umad) loaded?");
		nlmsg_free(msg);
		goto put_device;
	}
	ret = rdma_nl_reply_send(req, msg, nlh);

put_device:
	if (view.dev)
		ib_device_put(view.dev);
	return ret;
}

static int fill_system(struct sk_buff *msg, const struct nldev_view *view)
{
	/*
	 * COPY_ON_FORK: pinned pages are copied for the child, so that programs
	 * need no madvise().  Controlled Q_Keys always need CAP_NET_RAW, and no
	 * events are sent to a monitor.
	 */
	if (nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_NETNS_MODE,
		       ib_devices_shared_netns()) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 0) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_MONITOR_MODE, 0) ||
	    nla_put_u8(msg, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1))
		return -EMSGSIZE;
	return 0;
}

static int nldev_sys_get(const struct rdma_nl_req *req)
{
	struct nldev_view view = {};

	return nldev_reply(req, &view, 0, fill_system);
}

static int nldev_sys_set(const struct rdma_nl_req *req)
{
	struct nlattr *mode = req->tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE];

	if (mode)
		return ib_devices_set_shared_netns(nla_get_u8(mode),
						   req->extack);
	if (req->tb[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE]) {
		NL_SET_ERR_MSG(req->extack,
			       "controlled Q_Keys always need CAP_NET_RAW here; give the program that capability");
		return -EOPNOTSUPP;
	}
	NL_SET_ERR_MSG(req->extack, "nothing known to set");
	return -EINVAL;
}

#define NO_RAW_DUMP "a soft device has no hardware context to dump"
#define NO_SUB_DEVICES "soft devices have no sub-devices; use 'rdma link add'"

#define RES_OBJECT_OP                                                          \
	{ .doit = nldev_res_object_get, .dump = nldev_res_object_dump,         \
	  .need = { RDMA_NLDEV_ATTR_DEV_INDEX } }

static const struct rdma_nl_op nldev_ops[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = {
		.doit = nldev_get, .dump = nldev_get_dump,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX },
	},
	[RDMA_NLDEV_CMD_SET] = {
		.doit = nldev_set, .perm = RDMA_NL_INIT_ADMIN,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX },
	},
	[RDMA_NLDEV_CMD_NEWLINK] = {
		.doit = nldev_newlink, .perm = RDMA_NL_NET_ADMIN,
		.need = { RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_LINK_TYPE,
			  RDMA_NLDEV_ATTR_NDEV_NAME },
	},
	[RDMA_NLDEV_CMD_DELLINK] = {
		.doit = nldev_dellink, .perm = RDMA_NL_NET_ADMIN,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX },
	},
	[RDMA_NLDEV_CMD_PORT_GET] = {
		.doit = nldev_port_get, .dump = nldev_port_dump,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX,
			  RDMA_NLDEV_ATTR_PORT_INDEX },
	},
	[RDMA_NLDEV_CMD_SYS_GET] = { .doit = nldev_sys_get },
	[RDMA_NLDEV_CMD_SYS_SET] = {
		.doit = nldev_sys_set, .perm = RDMA_NL_INIT_ADMIN,
	},
	[RDMA_NLDEV_CMD_RES_GET] = {
		.doit = nldev_res_get, .dump = nldev_res_dump,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX },
	},
	[RDMA_NLDEV_CMD_RES_QP_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_RES_CQ_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_RES_MR_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_RES_PD_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_RES_CTX_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = RES_OBJECT_OP,
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {
		.doit = nldev_get_chardev,
		.need = { RDMA_NLDEV_ATTR_CHARDEV_TYPE },
	},
	[RDMA_NLDEV_CMD_STAT_GET] = {
		.doit = nldev_stat_get, .dump = nldev_stat_dump,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX },
	},
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = {
		.doit = nldev_stat_status,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX },
	},
	[RDMA_NLDEV_CMD_STAT_SET] = {
		.doit = nldev_counter_set, .perm = RDMA_NL_NET_ADMIN,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX,
			  RDMA_NLDEV_ATTR_PORT_INDEX },
	},
	[RDMA_NLDEV_CMD_STAT_DEL] = {
		.doit = nldev_counter_del, .perm = RDMA_NL_NET_ADMIN,
		.need = { RDMA_NLDEV_ATTR_DEV_INDEX,
			  RDMA_NLDEV_ATTR_PORT_INDEX,
			  RDMA_NLDEV_ATTR_STAT_COUNTER_ID },
	},
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = { .why_not = NO_RAW_DUMP },
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = { .why_not = NO_RAW_DUMP },
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = { .why_not = NO_RAW_DUMP },
	[RDMA_NLDEV_CMD_RES_SRQ_GET_RAW] = { .why_not = NO_RAW_DUMP },
	[RDMA_NLDEV_CMD_NEWDEV] = { .why_not = NO_SUB_DEVICES },
	[RDMA_NLDEV_CMD_DELDEV] = { .why_not = NO_SUB_DEVICES },
};

static const struct rdma_nl_client nldev_client = {
	.owner = THIS_MODULE,
	.index = RDMA_NL_NLDEV,
	.ops = nldev_ops,
	.num_ops = ARRAY_SIZE(nldev_ops),
	.policy = nldev_policy,
	.max_attr = ARRAY_SIZE(nldev_policy) - 1,
	.all_nets = true,
};

/**
 * nldev_init - begin to answer NLDEV requests
 *
 * Context: process, module init.
 * Return: 0, or a negative errno.
 */
int nldev_init(void)
{
	return rdma_nl_register(&nldev_client);
}

/**
 * nldev_exit - stop answering NLDEV requests
 *
 * Context: process, module exit.
 */
void nldev_exit(void)
{
	rdma_nl_unregister(&nldev_client);
}
