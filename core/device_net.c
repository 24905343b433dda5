// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Devices and network namespaces.
 *
 * In shared mode, the default, every namespace may use every device.  A device
 * is registered in the initial namespace and has a view, a second set of sysfs
 * files, in each other one, since user libraries look for it there.  In
 * exclusive mode a device belongs to one namespace and is seen nowhere else.
 *
 * Lifetime: a view exists while its device is published and its namespace
 * lives.  Whichever comes second, device or namespace, creates it; whichever
 * goes first removes it, the namespace in its pre_exit.  All under views_mutex.
 * A namespace that dies in exclusive mode leaves its devices to the initial
 * one.  Nothing here holds a struct net.
 *
 * All ends of namespaces, and those who make new ones, wait for a pre_exit.  So
 * that waits for readers of sysfs files alone, and neither for clients nor for
 * programs: it takes no lock of a device that is held over such a wait.
 */
#include <linux/idr.h>
#include <linux/moduleparam.h>
#include <linux/netlink.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <rdma/ib_verbs.h>
#include <device.h>
#include <sysfs.h>

static unsigned int rdma_net_id;
static DEFINE_IDA(net_ids);

/* Both lists, all views, the mode, and the namespace of each device. */
static DEFINE_MUTEX(views_mutex);
static LIST_HEAD(nets);
static LIST_HEAD(viewed_devices);

static bool shared_netns = true;
module_param_named(netns_mode, shared_netns, bool, 0444);
MODULE_PARM_DESC(netns_mode,
		 "Devices in network namespaces: 1 = shared, the default, 0 = exclusive");

struct rdma_net *rdma_net_of(const struct net *net)
{
	return net_generic(net, rdma_net_id);
}

void ib_device_views_lock(void)
{
	mutex_lock(&views_mutex);
}

void ib_device_views_unlock(void)
{
	mutex_unlock(&views_mutex);
}

bool ib_devices_shared_netns(void)
{
	return READ_ONCE(shared_netns);
}

/**
 * rdma_dev_net - the namespace that a device belongs to
 * @device: the device
 *
 * Context: any.
 * Return: the namespace, without a reference; in shared mode the initial one.
 */
struct net *rdma_dev_net(struct ib_device *device)
{
	return read_pnet(&device->core->net);
}
EXPORT_SYMBOL(rdma_dev_net);

/**
 * rdma_dev_access_netns - whether a namespace may use a device
 * @device: the device
 * @net: the namespace
 *
 * Context: any.
 * Return: whether it may.
 */
bool rdma_dev_access_netns(const struct ib_device *device,
			   const struct net *net)
{
	return ib_devices_shared_netns() ||
	       net_eq(net, read_pnet(&device->core->net));
}
EXPORT_SYMBOL(rdma_dev_access_netns);

/* The net of the first port's netdev, if that is still alive. */
static struct net *birthplace(struct ib_device *dev)
{
	struct net_device *ndev = ib_device_get_netdev(dev,
						       rdma_start_port(dev));
	struct net *net = &init_net;
	struct rdma_net *rn;

	if (!ndev)
		return net;
	list_for_each_entry(rn, &nets, entry)
		if (net_eq(rn->net, dev_net(ndev)))
			net = rn->net;
	dev_put(ndev);
	return net;
}

/* Before the device has sysfs files; with views_mutex held until it has them. */
void ib_device_net_assign(struct ib_device *dev)
{
	lockdep_assert_held(&views_mutex);

	if (!shared_netns)
		write_pnet(&dev->core->net, birthplace(dev));
}

/* A namespace without the files is better than no namespace or no device. */
static void view_add(struct ib_device *dev, struct rdma_net *rn)
{
	struct ib_sysfs_view *view;
	int err;

	lockdep_assert_held(&views_mutex);

	if (!shared_netns || net_eq(rn->net, &init_net))
		return;

	view = ib_sysfs_view_create(dev, rn->net);
	err = PTR_ERR_OR_ZERO(view);
	if (!err) {
		err = xa_err(xa_store(&dev->core->views, rn->id, view,
				      GFP_KERNEL));
		if (err)
			ib_sysfs_view_destroy(view);
	}
	if (err)
		ibdev_warn(dev, "no sysfs files in a network namespace: %d\n",
			   err);
}

static void view_remove(struct ib_device *dev, u32 id)
{
	struct ib_sysfs_view *view;

	lockdep_assert_held(&views_mutex);

	view = xa_erase(&dev->core->views, id);
	if (view)
		ib_sysfs_view_destroy(view);
}

void ib_device_views_add(struct ib_device *dev)
{
	struct rdma_net *rn;

	mutex_lock(&views_mutex);
	list_add_tail(&dev->core->views_entry, &viewed_devices);
	list_for_each_entry(rn, &nets, entry)
		view_add(dev, rn);
	mutex_unlock(&views_mutex);
}

void ib_device_views_remove(struct ib_device *dev)
{
	struct ib_sysfs_view *view;
	unsigned long id;

	mutex_lock(&views_mutex);
	list_del_init(&dev->core->views_entry);
	xa_for_each(&dev->core->views, id, view)
		view_remove(dev, id);
	mutex_unlock(&views_mutex);
}

/**
 * ib_device_views_grow - show GIDs at indexes that were not in use before
 * @dev: a device whose GID table has changed
 *
 * Context: process, without views_mutex.
 */
void ib_device_views_grow(struct ib_device *dev)
{
	struct ib_sysfs_view *view;
	unsigned long id;

	mutex_lock(&views_mutex);
	xa_for_each(&dev->core->views, id, view)
		if (ib_sysfs_ports_grow(view))
			ibdev_warn_ratelimited(dev,
					       "no sysfs files for new GIDs in a network namespace\n");
	mutex_unlock(&views_mutex);
}

/* All names or none; with views_mutex held. */
int ib_device_views_rename(struct ib_device *dev, const char *name)
{
	struct ib_sysfs_view *view;
	unsigned long id, failed;
	int err;

	lockdep_assert_held(&views_mutex);

	err = device_rename(&dev->dev, name);
	if (err)
		return err;
	xa_for_each(&dev->core->views, id, view) {
		err = device_rename(view->dev, name);
		if (err)
			goto name_back;
	}
	return 0;

name_back:
	failed = id;
	xa_for_each_range(&dev->core->views, id, view, 0, failed)
		if (id != failed && device_rename(view->dev, dev->name))
			ibdev_warn(dev, "a sysfs view keeps the name %s\n",
				   name);
	if (device_rename(&dev->dev, dev->name))
		ibdev_warn(dev, "sysfs keeps the name %s\n", name);
	return err;
}

/*
 * To the initial namespace, when its own ends.  Its clients leave and come back
 * later, so that nobody from there goes on with the device.
 */
static void move_home(struct ib_device *dev)
{
	lockdep_assert_held(&views_mutex);

	write_pnet(&dev->core->net, &init_net);
	/*
	 * The driver core moves what it renames to the namespace it is in.
	 * Nobody adds or removes the files meanwhile.
	 */
	if (device_is_registered(&dev->dev) &&
	    device_rename(&dev->dev, dev->name))
		ibdev_warn(dev, "has lost its sysfs files\n");
	ib_device_reopen(dev);
}

int ib_devices_set_shared_netns(bool shared, struct netlink_ext_ack *extack)
{
	int err = 0;

	mutex_lock(&views_mutex);
	if (shared != shared_netns && !list_is_singular(&nets)) {
		NL_SET_ERR_MSG(extack,
			       "The mode can change only while there is no network namespace but the initial one");
		err = -EBUSY;
	} else {
		WRITE_ONCE(shared_netns, shared);
	}
	mutex_unlock(&views_mutex);
	return err;
}

static int __net_init net_begins(struct net *net)
{
	struct rdma_net *rn = rdma_net_of(net);
	struct ib_device_core *core;
	int id, err;

	id = ida_alloc(&net_ids, GFP_KERNEL);
	if (id < 0)
		return id;
	rn->id = id;
	rn->net = net;

	err = rdma_nl_net_init(net);
	if (err) {
		ida_free(&net_ids, id);
		return err;
	}

	mutex_lock(&views_mutex);
	list_add_tail(&rn->entry, &nets);
	list_for_each_entry(core, &viewed_devices, views_entry)
		view_add(core->ibdev, rn);
	mutex_unlock(&views_mutex);
	return 0;
}

static void __net_exit net_leaves(struct net *net)
{
	struct rdma_net *rn = rdma_net_of(net);
	struct ib_device_core *core;
	struct ib_device *dev;
	u32 i;

	mutex_lock(&views_mutex);
	list_del(&rn->entry);
	list_for_each_entry(core, &viewed_devices, views_entry)
		view_remove(core->ibdev, rn->id);
	if (net_eq(net, &init_net))
		goto unlock;
	ib_for_each_device_memory(dev, i)
		if (net_eq(rdma_dev_net(dev), net))
			move_home(dev);
unlock:
	mutex_unlock(&views_mutex);
}

static void __net_exit net_ends(struct net *net)
{
	rdma_nl_net_exit(net);
	ida_free(&net_ids, rdma_net_of(net)->id);
}

static struct pernet_operations net_operations = {
	.init = net_begins,
	.pre_exit = net_leaves,
	.exit = net_ends,
	.id = &rdma_net_id,
	.size = sizeof(struct rdma_net),
};

int ib_device_net_init(void)
{
	return register_pernet_subsys(&net_operations);
}

void ib_device_net_exit(void)
{
	unregister_pernet_subsys(&net_operations);
	ida_destroy(&net_ids);
}
