// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The module, and a node /dev/infiniband/uverbsN for each device. */
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <softroce.h>
#include <softroce/class.h>
#include "file.h"

MODULE_DESCRIPTION("softroce: RDMA devices for programs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_CLIENT("uverbs");

#define UVERBS_MAX_DEVICES 1024
/*
 * Where devices stay in their namespaces, anybody can be the root of one and make
 * links.  One user namespace gets a part of the minors, and all of them together
 * leave some to the host.
 */
#define UVERBS_OWNER_DEVICES (UVERBS_MAX_DEVICES / 16)
#define UVERBS_HOST_DEVICES (UVERBS_MAX_DEVICES / 8)
/* So long a removal waits in silence. */
#define UVERBS_PATIENCE (5 * HZ)

static struct ib_client uverbs_client;

static dev_t uverbs_base;
static DEFINE_IDA(uverbs_minors);
static DEFINE_MUTEX(uverbs_minors_lock);
/* struct uverbs_device that has a minor, under the lock. */
static LIST_HEAD(uverbs_nodes);

static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct uverbs_device *udev = container_of(dev, struct uverbs_device,
						  dev);
	struct ib_device *ibdev;
	ssize_t ret = -ENODEV;
	int idx;

	ibdev = uverbs_enter(udev, &idx);
	if (ibdev)
		/* Not dev_name(), which a renaming frees. */
		ret = sysfs_emit(buf, "%s\n", ibdev->name);
	uverbs_exit(udev, idx);
	return ret;
}
static DEVICE_ATTR_RO(ibdev);

/* The version of the driver's own part of the ABI, not of ours. */
static ssize_t abi_version_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct uverbs_device *udev = container_of(dev, struct uverbs_device,
						  dev);
	struct ib_device *ibdev;
	ssize_t ret = -ENODEV;
	int idx;

	ibdev = uverbs_enter(udev, &idx);
	if (ibdev)
		ret = sysfs_emit(buf, "%u\n", ibdev->ops.uverbs_abi_ver);
	uverbs_exit(udev, idx);
	return ret;
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *uverbs_device_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_abi_version.attr,
	NULL
};
ATTRIBUTE_GROUPS(uverbs_device);

/* Anyone may open the node: what a program can do there it does to itself. */
static char *uverbs_devnode(class_const struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

static struct class uverbs_class = {
	.name = "infiniband_verbs",
	.devnode = uverbs_devnode,
};

static CLASS_ATTR_STRING(abi_version, 0444,
			 __stringify(IB_USER_VERBS_ABI_VERSION));

/* The device's own namespace may be ending: then it belongs to the host soon. */
static struct user_namespace *uverbs_owner(struct ib_device *ibdev)
{
	struct user_namespace *owner;

	rcu_read_lock();
	owner = get_user_ns(rdma_dev_net(ibdev)->user_ns);
	rcu_read_unlock();
	return owner;
}

static bool uverbs_may_have_minor(const struct user_namespace *owner)
{
	const struct uverbs_device *other;
	unsigned int own = 0, strangers = 0;

	lockdep_assert_held(&uverbs_minors_lock);

	if (owner == &init_user_ns)
		return true;
	list_for_each_entry(other, &uverbs_nodes, minor_entry) {
		own += other->owner == owner;
		strangers += other->owner != &init_user_ns;
	}
	return own < UVERBS_OWNER_DEVICES &&
	       strangers < UVERBS_MAX_DEVICES - UVERBS_HOST_DEVICES;
}

static int uverbs_take_minor(struct uverbs_device *udev,
			     struct ib_device *ibdev)
{
	int minor = -ENOSPC;

	udev->owner = uverbs_owner(ibdev);
	mutex_lock(&uverbs_minors_lock);
	if (uverbs_may_have_minor(udev->owner))
		minor = ida_alloc_max(&uverbs_minors, UVERBS_MAX_DEVICES - 1,
				      GFP_KERNEL);
	if (minor >= 0) {
		udev->minor = minor;
		list_add(&udev->minor_entry, &uverbs_nodes);
	}
	mutex_unlock(&uverbs_minors_lock);
	if (minor == -ENOSPC)
		ibdev_warn_ratelimited(ibdev, "programs cannot use it: no minor number is left for its user namespace\n");
	return minor < 0 ? minor : 0;
}

static void uverbs_give_minor(struct uverbs_device *udev)
{
	mutex_lock(&uverbs_minors_lock);
	list_del(&udev->minor_entry);
	ida_free(&uverbs_minors, udev->minor);
	mutex_unlock(&uverbs_minors_lock);
}

static void uverbs_device_release(struct device *dev)
{
	struct uverbs_device *udev = container_of(dev, struct uverbs_device,
						  dev);

	cleanup_srcu_struct(&udev->srcu);
	mutex_destroy(&udev->files_lock);
	put_user_ns(udev->owner);
	kfree(udev);
}

/*
 * The device goes.  Programs learn it first, then commands drain (those that
 * begin from now on fail), then all that programs made is destroyed.
 */
static void uverbs_disconnect(struct uverbs_device *udev,
			      struct ib_device *ibdev)
{
	rcu_assign_pointer(udev->ibdev, NULL);
	uverbs_files_fatal(udev);
	udev->leaving = ibdev;
	schedule_delayed_work(&udev->tell_work, UVERBS_PATIENCE);
	synchronize_srcu(&udev->srcu);
	cancel_delayed_work_sync(&udev->tell_work);
	uverbs_files_teardown(udev);
}

static void uverbs_tell(struct work_struct *work)
{
	struct uverbs_device *udev = container_of(to_delayed_work(work),
						  struct uverbs_device,
						  tell_work);

	uverbs_files_tell(udev);
	schedule_delayed_work(&udev->tell_work, 6 * UVERBS_PATIENCE);
}

static int uverbs_add(struct ib_device *ibdev)
{
	struct uverbs_device *udev;
	int ret;

	if (!ibdev->ops.alloc_ucontext)
		return -EOPNOTSUPP;

	udev = kzalloc(sizeof(*udev), GFP_KERNEL_ACCOUNT);
	if (!udev)
		return -ENOMEM;
	ret = init_srcu_struct(&udev->srcu);
	if (ret) {
		kfree(udev);
		return ret;
	}
	mutex_init(&udev->files_lock);
	INIT_LIST_HEAD(&udev->files);
	INIT_DELAYED_WORK(&udev->tell_work, uverbs_tell);
	udev->driver_id = ibdev->ops.driver_id;
	udev->num_comp_vectors = ibdev->num_comp_vectors;

	device_initialize(&udev->dev);
	udev->dev.class = &uverbs_class;
	udev->dev.parent = ibdev->dev.parent;
	udev->dev.release = uverbs_device_release;
	udev->dev.groups = uverbs_device_groups;

	ret = uverbs_take_minor(udev, ibdev);
	if (ret)
		goto put_device;
	udev->dev.devt = MKDEV(MAJOR(uverbs_base),
			       MINOR(uverbs_base) + udev->minor);
	ret = dev_set_name(&udev->dev, "uverbs%d", udev->minor);
	if (ret)
		goto free_minor;

	rcu_assign_pointer(udev->ibdev, ibdev);
	cdev_init(&udev->cdev, &uverbs_fops);
	udev->cdev.owner = THIS_MODULE;
	ret = cdev_device_add(&udev->cdev, &udev->dev);
	if (ret)
		goto disconnect;

	ib_set_client_data(ibdev, &uverbs_client, udev);
	return 0;

disconnect:
	/* The node worked for a moment: somebody may have opened it. */
	uverbs_disconnect(udev, ibdev);
free_minor:
	uverbs_give_minor(udev);
put_device:
	put_device(&udev->dev);
	return ret;
}

static void uverbs_remove(struct ib_device *ibdev, void *client_data)
{
	struct uverbs_device *udev = client_data;

	if (!udev)
		return;
	cdev_device_del(&udev->cdev, &udev->dev);
	uverbs_disconnect(udev, ibdev);
	uverbs_give_minor(udev);
	put_device(&udev->dev);
}

static int uverbs_get_nl_info(struct ib_device *ibdev, void *client_data,
			      struct ib_client_nl_info *res)
{
	struct uverbs_device *udev = client_data;

	if (res->port != (u32)-1)
		return -EINVAL;
	res->abi = ibdev->ops.uverbs_abi_ver;
	res->cdev = &udev->dev;
	if (ibdev->ops.uverbs_no_driver_id_binding)
		return 0;
	return nla_put_u32(res->nl_msg, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID,
			   ibdev->ops.driver_id);
}

static struct ib_client uverbs_client = {
	.name = "uverbs",
	.no_kverbs_req = true,
	.add = uverbs_add,
	.remove = uverbs_remove,
	.get_nl_info = uverbs_get_nl_info,
};

static int __init uverbs_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&uverbs_base, 0, UVERBS_MAX_DEVICES,
				  "infiniband_verbs");
	if (ret)
		return ret;
	ret = class_register(&uverbs_class);
	if (ret)
		goto unregister_chrdev;
	ret = class_create_file(&uverbs_class, &class_attr_abi_version.attr);
	if (ret)
		goto unregister_class;
	ret = ib_register_client(&uverbs_client);
	if (ret)
		goto unregister_class;
	return 0;

unregister_class:
	class_unregister(&uverbs_class);
unregister_chrdev:
	unregister_chrdev_region(uverbs_base, UVERBS_MAX_DEVICES);
	return ret;
}

static void __exit uverbs_exit_module(void)
{
	ib_unregister_client(&uverbs_client);
	class_unregister(&uverbs_class);
	unregister_chrdev_region(uverbs_base, UVERBS_MAX_DEVICES);
	ida_destroy(&uverbs_minors);
}

module_init(uverbs_init);
module_exit(uverbs_exit_module);
