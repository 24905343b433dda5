// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A link's files in sysfs that the core does not know: what scripts and
 * monitoring look for.
 */
#include <linux/device.h>
#include <linux/netdevice.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>
#include "rxe.h"

static struct rxe_dev *rxe_sysfs_link(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct rxe_dev, ib);
}

/* The namespace in whose tree a file is. */
static const struct net *rxe_sysfs_net(struct device *dev)
{
	return dev->class->namespace(dev);
}

/* As by netlink, the netdev is told to those whom "ip link" tells it. */
static ssize_t parent_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	const struct net_device *ndev;
	ssize_t length = -ENODEV;

	rcu_read_lock();
	ndev = READ_ONCE(rxe_sysfs_link(dev)->ndev);
	if (ndev && net_eq(dev_net(ndev), rxe_sysfs_net(dev)))
		length = sysfs_emit(buf, "%s\n", ndev->name);
	rcu_read_unlock();
	return length;
}
static DEVICE_ATTR_RO(parent);

/* There is neither a board nor a revision of it: the driver has a name. */
static ssize_t board_id_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "softroce\n");
}
static DEVICE_ATTR_RO(board_id);

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "softroce\n");
}
static DEVICE_ATTR_RO(hca_type);

static struct attribute *rxe_sysfs_attrs[] = {
	&dev_attr_parent.attr,
	&dev_attr_board_id.attr,
	&dev_attr_hca_type.attr,
	NULL,
};

static umode_t rxe_sysfs_is_visible(struct kobject *kobj,
				    struct attribute *attr, int index)
{
	struct device *dev = kobj_to_dev(kobj);

	if (attr == &dev_attr_parent.attr &&
	    !net_eq(rxe_sysfs_link(dev)->net, rxe_sysfs_net(dev)))
		return 0;
	return attr->mode;
}

const struct attribute_group rxe_sysfs_group = {
	.attrs = rxe_sysfs_attrs,
	.is_visible = rxe_sysfs_is_visible,
};
