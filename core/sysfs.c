// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The class, the device's own files, and the views. */
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include <softroce/class.h>
#include <device.h>
#include <sysfs.h>

/* The tree of a further namespace.  Lives until the device's last reference. */
struct net_view {
	struct device dev;
	struct ib_sysfs_view view;
};

static void release_net_view(struct device *dev)
{
	kfree(container_of(dev, struct net_view, dev));
}

/* ---- files ---- */

static ssize_t emit_guid(char *buf, __be64 guid)
{
	u64 g = be64_to_cpu(guid);

	return sysfs_emit(buf, "%04x:%04x:%04x:%04x\n", (u16)(g >> 48),
			  (u16)(g >> 32), (u16)(g >> 16), (u16)g);
}

static const char *const node_type_names[] = {
	[RDMA_NODE_IB_CA] = "CA",
	[RDMA_NODE_IB_SWITCH] = "switch",
	[RDMA_NODE_IB_ROUTER] = "router",
	[RDMA_NODE_RNIC] = "RNIC",
	[RDMA_NODE_USNIC] = "usNIC",
	[RDMA_NODE_USNIC_UDP] = "usNIC UDP",
	[RDMA_NODE_UNSPECIFIED] = "unspecified",
};

static ssize_t node_type_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	u8 type = rdma_device_to_ibdev(dev)->node_type;
	const char *name = NULL;

	if (type < ARRAY_SIZE(node_type_names))
		name = node_type_names[type];
	return sysfs_emit(buf, "%u: %s\n", type, name ?: "<unknown>");
}
static DEVICE_ATTR_RO(node_type);

static ssize_t node_guid_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	return emit_guid(buf, rdma_device_to_ibdev(dev)->node_guid);
}
static DEVICE_ATTR_RO(node_guid);

static ssize_t sys_image_guid_show(struct device *dev,
				   struct device_attribute *attr, char *buf)
{
	return emit_guid(buf, rdma_device_to_ibdev(dev)->attrs.sys_image_guid);
}
static DEVICE_ATTR_RO(sys_image_guid);

static ssize_t node_desc_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%.*s\n", IB_DEVICE_NODE_DESC_MAX,
			  rdma_device_to_ibdev(dev)->node_desc);
}

static ssize_t node_desc_store(struct device *dev,
			       struct device_attribute *attr, const char *buf,
			       size_t count)
{
	struct ib_device_modify change = {};
	int err;

	/* Without the newline of echo; the field need not end with a 0. */
	memcpy(change.node_desc, buf,
	       min_t(size_t, strcspn(buf, "\n"), sizeof(change.node_desc)));
	err = ib_modify_device(rdma_device_to_ibdev(dev),
			       IB_DEVICE_MODIFY_NODE_DESC, &change);
	return err ?: count;
}
static DEVICE_ATTR_RW(node_desc);

static ssize_t fw_ver_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	char version[IB_FW_VERSION_NAME_MAX];

	ib_get_device_fw_str(rdma_device_to_ibdev(dev), version);
	return sysfs_emit(buf, "%s\n", version);
}
static DEVICE_ATTR_RO(fw_ver);

static struct attribute *device_attrs[] = {
	&dev_attr_node_type.attr,
	&dev_attr_node_guid.attr,
	&dev_attr_sys_image_guid.attr,
	&dev_attr_node_desc.attr,
	&dev_attr_fw_ver.attr,
	NULL,
};
ATTRIBUTE_GROUPS(device);

/* ---- the class ---- */

static const void *namespace_of(class_const struct device *dev)
{
	if (dev->release == release_net_view)
		return container_of(dev, struct net_view, dev)->view.net;
	return rdma_dev_net(container_of(dev, struct ib_device, dev));
}

static int add_uevent(class_const struct device *dev, struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "NAME=%s", dev_name(dev));
}

struct class ib_class = {
	.name = "infiniband",
	.dev_groups = device_groups,
	.dev_uevent = add_uevent,
	.ns_type = &net_ns_type_operations,
	.namespace = namespace_of,
};

/* ---- trees ---- */

static int view_add(struct ib_sysfs_view *view)
{
	int err;

	/* Programs hear of a device when all its files are there. */
	dev_set_uevent_suppress(view->dev, true);
	err = device_add(view->dev);
	if (err)
		return err;
	err = ib_sysfs_ports_add(view);
	if (err)
		device_del(view->dev);
	return err;
}

static void view_del(struct ib_sysfs_view *view)
{
	ib_sysfs_ports_del(view);
	device_del(view->dev);
}

struct ib_sysfs_view *ib_sysfs_view_create(struct ib_device *ibdev,
					   struct net *net)
{
	struct net_view *nv;
	int err;

	nv = kzalloc(sizeof(*nv), GFP_KERNEL_ACCOUNT);
	if (!nv)
		return ERR_PTR(-ENOMEM);

	device_initialize(&nv->dev);
	nv->dev.class = &ib_class;
	nv->dev.release = release_net_view;
	nv->dev.parent = ibdev->dev.parent;
	nv->dev.groups = ibdev->dev.groups;
	dev_set_drvdata(&nv->dev, ibdev);
	/* Nothing to suspend: no files about it. */
	device_set_pm_not_required(&nv->dev);
	nv->view.dev = &nv->dev;
	nv->view.ibdev = ibdev;
	nv->view.net = net;
	INIT_LIST_HEAD(&nv->view.dirs);

	err = dev_set_name(&nv->dev, "%s", dev_name(&ibdev->dev));
	if (!err)
		err = view_add(&nv->view);
	if (err) {
		put_device(&nv->dev);
		return ERR_PTR(err);
	}
	return &nv->view;
}

void ib_sysfs_view_destroy(struct ib_sysfs_view *view)
{
	struct net_view *nv = container_of(view, struct net_view, view);

	view_del(view);
	put_device(&nv->dev);
}

/* The device's own tree; nobody is told before ib_sysfs_announce(). */
int ib_sysfs_add(struct ib_device *ibdev)
{
	struct ib_sysfs_view *view;
	int err;

	view = kzalloc(sizeof(*view), GFP_KERNEL);
	if (!view)
		return -ENOMEM;
	view->dev = &ibdev->dev;
	view->ibdev = ibdev;
	INIT_LIST_HEAD(&view->dirs);

	ibdev->groups[0] = ibdev->ops.device_group;
	ibdev->dev.groups = ibdev->groups;
	err = view_add(view);
	if (err) {
		kfree(view);
		return err;
	}
	ibdev->core->view = view;
	return 0;
}

void ib_sysfs_announce(struct ib_device *ibdev)
{
	dev_set_uevent_suppress(&ibdev->dev, false);
	kobject_uevent(&ibdev->dev.kobj, KOBJ_ADD);
}

void ib_sysfs_del(struct ib_device *ibdev)
{
	view_del(ibdev->core->view);
	kfree(ibdev->core->view);
	ibdev->core->view = NULL;
}

int ib_sysfs_init(void)
{
	int err;

	err = ib_sysfs_port_init();
	if (err)
		return err;
	err = class_register(&ib_class);
	if (err) {
		ib_sysfs_port_exit();
		if (err == -EEXIST)
			pr_err("softroce: class infiniband exists: another RDMA stack is loaded; unload it (rmmod ib_core and its users) first\n");
	}
	return err;
}

void ib_sysfs_exit(void)
{
	class_unregister(&ib_class);
	ib_sysfs_port_exit();
}
