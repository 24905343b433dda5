// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* "rdma link add" and "rdma link del": soft devices come and go. */
#include <linux/ctype.h>
#include <linux/kmod.h>
#include <linux/netdevice.h>
#include <linux/rwsem.h>
#include <net/sock.h>

#include "device.h"
#include "nldev.h"

/* Read while a driver makes a link, so that it cannot leave meanwhile. */
static DECLARE_RWSEM(link_types_lock);
static LIST_HEAD(link_types);

/**
 * rdma_link_register - offer a type of link
 * @ops: the type, static in the driver
 *
 * Context: process.
 */
void rdma_link_register(struct rdma_link_ops *ops)
{
	down_write(&link_types_lock);
	list_add_tail(&ops->list, &link_types);
	up_write(&link_types_lock);
}
EXPORT_SYMBOL(rdma_link_register);

/**
 * rdma_link_unregister - offer it no more
 * @ops: from rdma_link_register()
 *
 * Context: process; waits for a link of any type that is being made.
 */
void rdma_link_unregister(struct rdma_link_ops *ops)
{
	down_write(&link_types_lock);
	list_del(&ops->list);
	up_write(&link_types_lock);
}
EXPORT_SYMBOL(rdma_link_unregister);

static const struct rdma_link_ops *find_type(const char *type)
{
	const struct rdma_link_ops *ops;

	lockdep_assert_held(&link_types_lock);
	list_for_each_entry(ops, &link_types, list)
		if (!strcmp(ops->type, type))
			return ops;
	return NULL;
}

/**
 * nldev_sane_word - may a word of a request go into the name of a module?
 * @word: the word
 *
 * Context: any.
 * Return: whether it looks like a part of one.
 */
bool nldev_sane_word(const char *word)
{
	const char *c;

	for (c = word; *c; c++)
		if (!isalnum(*c) && *c != '_' && *c != '-')
			return false;
	return *word;
}

/* Makes the link with link_types_lock held for reading. */
static int make_link(const struct rdma_link_ops *ops, const char *name,
		     struct net_device *ndev, struct netlink_ext_ack *extack)
{
	int ret;

	if (ops->newlink_extack)
		ret = ops->newlink_extack(name, ndev, extack);
	else
		ret = ops->newlink(name, ndev);
	if (!ret || extack->_msg)
		return ret;
	switch (ret) {
	case -EEXIST:
		NL_SET_ERR_MSG(extack,
			       "the netdev has an RDMA link already, or the name is taken; see 'rdma link'");
		break;
	case -ENFILE:
		NL_SET_ERR_MSG(extack,
			       "an RDMA device with this name exists; choose another or 'rdma link del' that one");
		break;
	default:
		NL_SET_ERR_MSG(extack,
			       "the driver cannot make a link on this netdev; the kernel log may say more");
	}
	return ret;
}

static bool name_taken(const char *name)
{
	struct ib_device *dev;

	dev = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	if (!dev)
		return false;
	ib_device_put(dev);
	return true;
}

/* The caller holds link_types_lock for reading; it is dropped to load a module. */
static const struct rdma_link_ops *get_type(const char *type, bool may_load)
{
	const struct rdma_link_ops *ops = find_type(type);

	if (ops || !may_load)
		return ops;
	up_read(&link_types_lock);
	request_module("rdma-link-%s", type);
	down_read(&link_types_lock);
	return find_type(type);
}

/* No netdev is held while a module is loaded. */
static int add_link(const struct rdma_nl_req *req, const char *type,
		    const char *name)
{
	struct netlink_ext_ack *extack = req->extack;
	const struct rdma_link_ops *ops;
	struct net_device *ndev;
	int ret = -EINVAL;

	down_read(&link_types_lock);
	ops = get_type(type, netlink_capable(req->skb, CAP_NET_ADMIN));
	if (!ops) {
		NL_SET_ERR_MSG(extack,
			       "unknown link type, and no module rdma-link-TYPE could be loaded; for type rxe: insmod rdma_rxe.ko");
		goto unlock;
	}
	ndev = dev_get_by_name(sock_net(req->skb->sk),
			       nla_data(req->tb[RDMA_NLDEV_ATTR_NDEV_NAME]));
	if (!ndev) {
		NL_SET_ERR_MSG_ATTR(extack, req->tb[RDMA_NLDEV_ATTR_NDEV_NAME],
				    "no such netdev in this network namespace; 'ip link' lists them");
		ret = -ENODEV;
		goto unlock;
	}
	ret = make_link(ops, name, ndev, extack);
	dev_put(ndev);
unlock:
	up_read(&link_types_lock);
	return ret;
}

/*
 * While namespaces share all devices a new one is everybody's: its name, its
 * node below /dev/infiniband, its place in the list from which programs take
 * the first.  The root of a user namespace, which anybody can be, may have that
 * only where devices stay in their own network namespace.
 */
static bool may_add(const struct rdma_nl_req *req)
{
	if (!ib_devices_shared_netns() ||
	    netlink_capable(req->skb, CAP_NET_ADMIN))
		return true;
	NL_SET_ERR_MSG(req->extack,
		       "all namespaces would see the link: this needs CAP_NET_ADMIN on the host, or 'rdma system set netns exclusive' there");
	return false;
}

/**
 * nldev_newlink - answer RDMA_NLDEV_CMD_NEWLINK
 * @req: the request, with all its attributes
 *
 * Context: process, without RTNL.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_newlink(const struct rdma_nl_req *req)
{
	const char *name = nla_data(req->tb[RDMA_NLDEV_ATTR_DEV_NAME]);
	const char *type = nla_data(req->tb[RDMA_NLDEV_ATTR_LINK_TYPE]);
	struct netlink_ext_ack *extack = req->extack;

	if (!may_add(req))
		return -EPERM;
	if (!ib_device_name_is_valid(name)) {
		NL_SET_ERR_MSG_ATTR(extack, req->tb[RDMA_NLDEV_ATTR_DEV_NAME],
				    NLDEV_BAD_NAME);
		return -EINVAL;
	}
	if (!nldev_sane_word(type)) {
		NL_SET_ERR_MSG_ATTR(extack, req->tb[RDMA_NLDEV_ATTR_LINK_TYPE],
				    "not a link type; softroce has 'rxe'");
		return -EINVAL;
	}
	if (name_taken(name)) {
		NL_SET_ERR_MSG_ATTR(extack, req->tb[RDMA_NLDEV_ATTR_DEV_NAME],
				    "an RDMA device with this name exists (names are unique across namespaces); choose another or 'rdma link del' that one");
		return -EEXIST;
	}
	return add_link(req, type, name);
}

/**
 * nldev_may_change - may the asker change a device?
 * @req: the request; its operation needs RDMA_NL_NET_ADMIN
 * @dev: the device
 *
 * Devices are visible in all namespaces.  The administrator of one namespace
 * may change those whose netdev is in it.
 *
 * Context: process.
 * Return: whether.
 */
bool nldev_may_change(const struct rdma_nl_req *req, struct ib_device *dev)
{
	struct net_device *ndev;
	bool inside = false;

	if (netlink_capable(req->skb, CAP_NET_ADMIN))
		return true;
	ndev = ib_device_get_netdev(dev, rdma_start_port(dev));
	if (ndev) {
		inside = net_eq(dev_net(ndev), sock_net(req->skb->sk));
		dev_put(ndev);
	}
	return inside;
}

/**
 * nldev_dellink - answer RDMA_NLDEV_CMD_DELLINK
 * @req: the request
 *
 * Context: process, without RTNL.
 * Return: 0, or a negative errno with the reason told.
 */
int nldev_dellink(const struct rdma_nl_req *req)
{
	struct ib_device *dev = nldev_get_device(req);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (!nldev_may_change(req, dev)) {
		NL_SET_ERR_MSG(req->extack,
			       "the link's netdev is in another network namespace; delete it there or on the host");
		ib_device_put(dev);
		return -EPERM;
	}
	if (!(dev->attrs.kernel_cap_flags & IBK_ALLOW_USER_UNREG)) {
		NL_SET_ERR_MSG(req->extack,
			       "not made by 'rdma link add': the device goes with its driver");
		ib_device_put(dev);
		return -EOPNOTSUPP;
	}
	ib_unregister_device_and_put(dev);
	return 0;
}
