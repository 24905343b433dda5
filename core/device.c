// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * RDMA devices: from allocation to the last reference, names and look-ups.
 * core/device.h tells the lifetime.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <cq_poll.h>
#include <device.h>
#include <hw_stats.h>
#include <sysfs.h>

/*
 * All devices from registration until they are freed, by index.  Entered,
 * removed and renamed under devices_rwsem; found under RCU, since the memory
 * outlives the entry by a grace period.
 */
static DEFINE_XARRAY_ALLOC(devices);
static DECLARE_RWSEM(devices_rwsem);
static u32 next_index;

static struct workqueue_struct *unregister_wq;

#define DRAIN_REPORT_PERIOD (10 * HZ)

/* ---- memory ---- */

static void free_core(struct rcu_head *rcu)
{
	struct ib_device_core *core = container_of(rcu, struct ib_device_core,
						   rcu);
	struct ib_device *dev = core->ibdev;

	kfree(core->ports);
	mutex_destroy(&core->stage_lock);
	mutex_destroy(&core->clients_lock);
	mutex_destroy(&core->cq_pool_lock);
	kfree(core);
	/* The driver's structure starts with the device. */
	kfree(dev);
}

static void release_device(struct device *device)
{
	struct ib_device *dev = container_of(device, struct ib_device, dev);

	ib_ports_forget_netdevs(dev);
	/* Empty; not in the callback, since their locks are no softirq locks. */
	xa_destroy(&dev->core->clients);
	xa_destroy(&dev->core->views);
	call_rcu(&dev->core->rcu, free_core);
}

static void unregister_later(struct work_struct *work);
static void reopen_later(struct work_struct *work);

static void core_init(struct ib_device_core *core, struct ib_device *dev)
{
	unsigned int i;

	core->ibdev = dev;
	refcount_set(&core->refs, 0);
	init_completion(&core->drained);
	mutex_init(&core->stage_lock);
	INIT_WORK(&core->unregister_work, unregister_later);
	INIT_WORK(&core->reopen_work, reopen_later);
	spin_lock_init(&core->netdev_lock);
	write_pnet(&core->net, &init_net);
	mutex_init(&core->clients_lock);
	xa_init(&core->clients);
	init_rwsem(&core->event_rwsem);
	INIT_LIST_HEAD(&core->event_handlers);
	mutex_init(&core->cq_pool_lock);
	mutex_init(&core->counter_lock);
	INIT_LIST_HEAD(&core->counters);
	for (i = 0; i < ARRAY_SIZE(core->cq_pool); i++)
		INIT_LIST_HEAD(&core->cq_pool[i]);
	xa_init(&core->views);
	INIT_LIST_HEAD(&core->views_entry);
}

/**
 * _ib_alloc_device - what ib_alloc_device() calls
 * @size: of the driver's structure around struct ib_device
 *
 * Context: process.
 * Return: the device, or NULL.
 */
struct ib_device *_ib_alloc_device(size_t size)
{
	struct ib_device *dev;

	if (WARN_ON(size < sizeof(*dev)))
		return NULL;
	/* In a namespace of their own programs may make links. */
	dev = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!dev)
		return NULL;
	dev->core = kzalloc(sizeof(*dev->core), GFP_KERNEL_ACCOUNT);
	if (!dev->core) {
		kfree(dev);
		return NULL;
	}

	core_init(dev->core, dev);
	device_initialize(&dev->dev);
	dev->dev.class = &ib_class;
	dev->dev.release = release_device;
	dev_set_drvdata(&dev->dev, dev);
	return dev;
}
EXPORT_SYMBOL(_ib_alloc_device);

/**
 * ib_dealloc_device - give the device back to the core
 * @device: never registered, or unregistered; with a dealloc_driver, which is
 *	called here, only never (successfully) registered, since
 *	unregistration frees such a device
 *
 * Context: process.
 */
void ib_dealloc_device(struct ib_device *device)
{
	WARN_ON(device->core->stage == IB_DEVICE_REGISTERED);

	if (device->ops.dealloc_driver)
		device->ops.dealloc_driver(device);
	put_device(&device->dev);
}
EXPORT_SYMBOL(ib_dealloc_device);

/**
 * ib_set_device_ops - say what the driver does
 * @device: not registered
 * @ops: every member that is set here and not yet in the device is taken over,
 *	so that a driver can combine several tables
 *
 * Context: process.
 */
void ib_set_device_ops(struct ib_device *device,
		       const struct ib_device_ops *ops)
{
	/* From here to its end the structure is pointers and sizes. */
	const size_t start = offsetof(struct ib_device_ops, device_group);
	size_t at;

	BUILD_BUG_ON(sizeof(void *) != sizeof(size_t));
	BUILD_BUG_ON((sizeof(*ops) - start) % sizeof(size_t));

	if (ops->owner)
		device->ops.owner = ops->owner;
	if (ops->driver_id != RDMA_DRIVER_UNKNOWN)
		device->ops.driver_id = ops->driver_id;
	if (ops->uverbs_abi_ver)
		device->ops.uverbs_abi_ver = ops->uverbs_abi_ver;
	if (ops->uverbs_no_driver_id_binding)
		device->ops.uverbs_no_driver_id_binding = 1;

	for (at = start; at < sizeof(*ops); at += sizeof(size_t)) {
		const size_t *from = (const void *)ops + at;
		size_t *to = (void *)&device->ops + at;

		if (*from && !*to)
			*to = *from;
	}
}
EXPORT_SYMBOL(ib_set_device_ops);

/* ---- references and look-ups ---- */

/**
 * ib_device_try_get - hold a device's registration
 * @dev: memory is the caller's business
 *
 * Context: any.
 * Return: whether the device is published; then ib_device_put() it.
 */
bool ib_device_try_get(struct ib_device *dev)
{
	if (!refcount_inc_not_zero(&dev->core->refs))
		return false;
	/* With publish(): what was set up before is seen. */
	smp_acquire__after_ctrl_dep();
	return true;
}
EXPORT_SYMBOL(ib_device_try_get);

/**
 * ib_device_put - undo ib_device_try_get() or a look-up
 * @device: may be freed by others from here on
 *
 * Context: any.
 */
void ib_device_put(struct ib_device *device)
{
	if (refcount_dec_and_test(&device->core->refs))
		complete(&device->core->drained);
}
EXPORT_SYMBOL(ib_device_put);

/*
 * The first published device at or after *index, with a reference, or NULL;
 * *index becomes its index.
 */
struct ib_device *ib_device_get_next(u32 *index)
{
	struct ib_device *dev;
	unsigned long i;

	rcu_read_lock();
	xa_for_each_start(&devices, i, dev, *index)
		if (ib_device_try_get(dev))
			break;
	rcu_read_unlock();
	*index = i;
	return dev;
}

/* The same for any device that has memory, with get_device(). */
struct ib_device *ib_device_hold_next(u32 *index)
{
	unsigned long i = *index;
	struct ib_device *dev;

	/* The entry has a reference of its own until it is removed. */
	down_read(&devices_rwsem);
	dev = xa_find(&devices, &i, U32_MAX, XA_PRESENT);
	if (dev)
		get_device(&dev->dev);
	up_read(&devices_rwsem);
	*index = i;
	return dev;
}

/*
 * The published device of that index that @net may use, with a reference, or
 * NULL.
 */
struct ib_device *ib_device_get_by_index(const struct net *net, u32 index)
{
	struct ib_device *dev;

	rcu_read_lock();
	dev = xa_load(&devices, index);
	if (dev && !ib_device_try_get(dev))
		dev = NULL;
	rcu_read_unlock();

	if (dev && !rdma_dev_access_netns(dev, net)) {
		ib_device_put(dev);
		dev = NULL;
	}
	return dev;
}

/**
 * ib_device_get_by_netdev - the device that has a port on a netdev
 * @ndev: the netdev
 * @driver_id: of which driver; RDMA_DRIVER_UNKNOWN: of any
 *
 * Context: any, RTNL included.
 * Return: the device, to be put, or NULL.
 */
struct ib_device *ib_device_get_by_netdev(struct net_device *ndev,
					  enum rdma_driver_id driver_id)
{
	struct ib_device *dev;
	u32 i, port;

	ib_for_each_device(dev, i) {
		if (driver_id != RDMA_DRIVER_UNKNOWN &&
		    driver_id != dev->ops.driver_id)
			continue;
		rdma_for_each_port(dev, port) {
			struct ib_port_core *p = ib_device_port(dev, port);

			if (rcu_access_pointer(p->netdev) == ndev)
				return dev;
		}
	}
	return NULL;
}
EXPORT_SYMBOL(ib_device_get_by_netdev);

static struct ib_device *find_by_name(const char *name)
{
	struct ib_device *dev;
	unsigned long i;

	lockdep_assert_held(&devices_rwsem);

	xa_for_each(&devices, i, dev)
		if (!strcmp(dev->name, name))
			return dev;
	return NULL;
}

/**
 * ib_device_get_by_name - the device of a name
 * @name: the name
 * @driver_id: of which driver; RDMA_DRIVER_UNKNOWN: of any
 *
 * Context: process, RTNL allowed.
 * Return: the device, to be put, or NULL.
 */
struct ib_device *ib_device_get_by_name(const char *name,
					enum rdma_driver_id driver_id)
{
	struct ib_device *dev;

	down_read(&devices_rwsem);
	dev = find_by_name(name);
	if (dev && driver_id != RDMA_DRIVER_UNKNOWN &&
	    driver_id != dev->ops.driver_id)
		dev = NULL;
	if (dev && !ib_device_try_get(dev))
		dev = NULL;
	up_read(&devices_rwsem);
	return dev;
}
EXPORT_SYMBOL(ib_device_get_by_name);

/* ---- names ---- */

/* @buf has IB_DEVICE_NAME_MAX bytes.  Does not tear while others rename. */
void ib_device_copy_name(const struct ib_device *dev, char *buf)
{
	down_read(&devices_rwsem);
	strscpy(buf, dev->name, IB_DEVICE_NAME_MAX);
	up_read(&devices_rwsem);
}

/* A name is a directory of sysfs and a word of tools' output. */
bool ib_device_name_is_valid(const char *name)
{
	size_t length = strnlen(name, IB_DEVICE_NAME_MAX);
	size_t i;

	if (!length || length == IB_DEVICE_NAME_MAX || !strcmp(name, ".") ||
	    !strcmp(name, ".."))
		return false;
	for (i = 0; i < length; i++)
		if (!isgraph(name[i]) || strchr("/:%", name[i]))
			return false;
	return true;
}

/* "rxe%d" becomes the first of rxe0, rxe1, ... that is not taken. */
static int expand_name(const char *template, char *buf)
{
	const char *percent = strchr(template, '%');
	int i;

	if (!percent) {
		if (strscpy(buf, template, IB_DEVICE_NAME_MAX) < 0)
			return -EINVAL;
		return ib_device_name_is_valid(buf) ? 0 : -EINVAL;
	}
	if (percent[1] != 'd')
		return -EINVAL;

	for (i = 0; i < INT_MAX; i++) {
		if (snprintf(buf, IB_DEVICE_NAME_MAX, "%.*s%d%s",
			     (int)(percent - template), template, i,
			     percent + 2) >= IB_DEVICE_NAME_MAX ||
		    !ib_device_name_is_valid(buf))
			return -EINVAL;
		if (!find_by_name(buf))
			return 0;
	}
	return -ENFILE;
}

/* Into the table, under a name that nobody else has. */
static int enter(struct ib_device *dev, const char *template)
{
	char name[IB_DEVICE_NAME_MAX];
	int err;

	down_write(&devices_rwsem);
	err = expand_name(template, name);
	if (err)
		goto unlock;
	if (find_by_name(name)) {
		err = -EEXIST;
		goto unlock;
	}
	err = dev_set_name(&dev->dev, "%s", name);
	if (err)
		goto unlock;
	strscpy(dev->name, name, sizeof(dev->name));

	err = xa_alloc_cyclic(&devices, &dev->index, dev, xa_limit_31b,
			      &next_index, GFP_KERNEL);
	if (err >= 0) {
		get_device(&dev->dev);
		err = 0;
	}
unlock:
	up_write(&devices_rwsem);
	return err;
}

static void leave(struct ib_device *dev)
{
	down_write(&devices_rwsem);
	xa_erase(&devices, dev->index);
	up_write(&devices_rwsem);
	put_device(&dev->dev);
}

/*
 * Context: process, without RTNL; the caller holds the device.  -EEXIST for a
 * name that is taken, -EINVAL for what cannot be a name.
 */
int ib_device_rename(struct ib_device *dev, const char *name)
{
	struct ib_device *other;
	int err;

	if (!ib_device_name_is_valid(name))
		return -EINVAL;

	ib_device_views_lock();
	down_write(&devices_rwsem);
	other = find_by_name(name);
	if (other == dev) {
		err = 0;
		goto unlock;
	}
	if (other) {
		err = -EEXIST;
		goto unlock;
	}
	err = ib_device_views_rename(dev, name);
	if (!err)
		strscpy(dev->name, name, sizeof(dev->name));
unlock:
	up_write(&devices_rwsem);
	ib_device_views_unlock();

	if (!err && !other)
		ib_clients_renamed(dev);
	return err;
}

/* ---- registration ---- */

static int check_driver(struct ib_device *dev)
{
	const struct ib_device_ops *ops = &dev->ops;

	if (!ops->query_device || !ops->query_port ||
	    !ops->get_port_immutable) {
		WARN(1, "softroce: a driver lacks its mandatory operations\n");
		return -EINVAL;
	}

	/* Enough for consumers in the kernel? */
	dev->kverbs_provider = ops->alloc_pd && ops->dealloc_pd &&
			       ops->create_cq && ops->destroy_cq &&
			       ops->create_qp && ops->modify_qp &&
			       ops->destroy_qp && ops->post_send &&
			       ops->post_recv && ops->poll_cq &&
			       ops->req_notify_cq && ops->get_dma_mr &&
			       ops->dereg_mr;
	return 0;
}

static int query_attrs(struct ib_device *dev)
{
	struct ib_udata nothing = {};

	memset(&dev->attrs, 0, sizeof(dev->attrs));
	return dev->ops.query_device(dev, &dev->attrs, &nothing);
}

/* The parts of a device that nobody sees yet; undone by free_parts(). */
static int make_parts(struct ib_device *dev)
{
	int err;

	err = ib_ports_setup(dev);
	if (err)
		goto release_ports;
	err = ib_hw_stats_setup(dev);
	if (err)
		goto release_hw_stats;
	err = rdma_restrack_init(dev);
	if (err)
		goto release_hw_stats;
	err = gid_table_setup(dev);
	if (err)
		goto release_gids;
	ib_device_register_rdmacg(dev);
	return 0;

release_gids:
	gid_table_release(dev);
	rdma_restrack_clean(dev);
release_hw_stats:
	ib_hw_stats_release(dev);
release_ports:
	ib_ports_release(dev);
	return err;
}

static void free_parts(struct ib_device *dev)
{
	ib_device_unregister_rdmacg(dev);
	gid_table_release(dev);
	rdma_restrack_clean(dev);
	ib_hw_stats_release(dev);
	ib_ports_release(dev);
}

static void publish(struct ib_device *dev)
{
	dev->core->stage = IB_DEVICE_REGISTERED;
	/* Pairs with ib_device_try_get(). */
	smp_wmb();
	refcount_set(&dev->core->refs, 1);
}

/* One step for a namespace's end, so that no files stay in one that is gone. */
static int add_to_net(struct ib_device *dev)
{
	int err;

	ib_device_views_lock();
	ib_device_net_assign(dev);
	err = ib_sysfs_add(dev);
	ib_device_views_unlock();
	return err;
}

static void remove_from_net(struct ib_device *dev)
{
	ib_device_views_lock();
	ib_sysfs_del(dev);
	ib_device_views_unlock();
}

static int register_locked(struct ib_device *dev, const char *name)
{
	int err;

	if (dev->core->stage != IB_DEVICE_ALLOCATED)
		return -EINVAL;
	err = check_driver(dev);
	if (err)
		return err;

	err = enter(dev, name);
	if (err)
		return err;
	err = query_attrs(dev);
	if (err)
		goto leave_table;
	err = make_parts(dev);
	if (err)
		goto leave_table;
	err = add_to_net(dev);
	if (err)
		goto free_parts;
	if (dev->ops.enable_driver) {
		err = dev->ops.enable_driver(dev);
		if (err)
			goto delete_sysfs;
	}

	/* No way back from here but unregistration. */
	publish(dev);
	gid_table_sync(dev);
	ib_device_views_add(dev);
	ib_clients_attach(dev);
	ib_sysfs_announce(dev);
	return 0;

delete_sysfs:
	remove_from_net(dev);
free_parts:
	free_parts(dev);
leave_table:
	leave(dev);
	return err;
}

/**
 * ib_register_device - publish a device
 * @device: from ib_alloc_device(), with operations and ports
 * @name: its name, or a template with %d for the first free number
 * @dma_device: whose DMA addresses are used; NULL: none, addresses are virtual
 *
 * On return the device may be gone already, when somebody has unregistered it:
 * a driver that lets the core free its devices does not touch @device after
 * success, unless it holds a reference of its own.
 *
 * Context: process, without RTNL.
 * Return: 0; -EEXIST for a name that is taken; -EINVAL for what cannot be a
 * name or for a driver without its mandatory operations; -ENOMEM; the driver's
 * error.  After an error the driver calls ib_dealloc_device().
 */
int ib_register_device(struct ib_device *device, const char *name,
		       struct device *dma_device)
{
	struct ib_device_core *core = device->core;
	int err;

	/* For the unlock, see above. */
	get_device(&device->dev);
	mutex_lock(&core->stage_lock);
	device->dma_device = dma_device;
	if (!device->dev.parent)
		device->dev.parent = dma_device;
	err = register_locked(device, name);
	mutex_unlock(&core->stage_lock);
	put_device(&device->dev);
	return err;
}
EXPORT_SYMBOL(ib_register_device);

/* Any context.  The first caller of many gives the base reference back. */
static void unpublish(struct ib_device *dev)
{
	if (test_and_set_bit(IB_DEVICE_UNPUBLISHED, &dev->core->flags))
		return;
	ib_ports_forget_netdevs(dev);
	ib_device_put(dev);
}

/* Each of them has a moment only, unless it is a client that has a fault. */
static void wait_for_users(struct ib_device *dev)
{
	struct ib_device_core *core = dev->core;

	while (!wait_for_completion_timeout(&core->drained,
					    DRAIN_REPORT_PERIOD))
		ibdev_warn(dev, "cannot go before its %u users in the kernel let go\n",
			   refcount_read(&core->refs));
}

static void unregister_locked(struct ib_device *dev)
{
	struct ib_device_core *core = dev->core;

	unpublish(dev);
	/* Without netdevs the tables become empty and let go of theirs. */
	gid_table_sync(dev);
	ib_clients_detach(dev);
	wait_for_users(dev);
	ib_cq_pools_cleanup(dev);
	ib_device_views_remove(dev);
	remove_from_net(dev);
	gid_table_cleanup(dev);
	free_parts(dev);
	core->stage = IB_DEVICE_GONE;

	if (dev->ops.dealloc_driver) {
		dev->ops.dealloc_driver(dev);
		leave(dev);
		put_device(&dev->dev);
	} else {
		leave(dev);
	}
}

/* The caller has a reference to the memory. */
static void unregister(struct ib_device *dev)
{
	mutex_lock(&dev->core->stage_lock);
	if (dev->core->stage == IB_DEVICE_REGISTERED)
		unregister_locked(dev);
	mutex_unlock(&dev->core->stage_lock);
}

/**
 * ib_unregister_device - take a device away
 * @ib_dev: registered; freed, if its driver has a dealloc_driver
 *
 * When another unregistration is under way, this waits for it and does nothing.
 *
 * Context: process, without RTNL, without a reference to @ib_dev.
 */
void ib_unregister_device(struct ib_device *ib_dev)
{
	get_device(&ib_dev->dev);
	unregister(ib_dev);
	put_device(&ib_dev->dev);
}
EXPORT_SYMBOL(ib_unregister_device);

/**
 * ib_unregister_device_and_put - ib_unregister_device() for a device looked up
 * @device: held by ib_device_get_by_*() or ib_device_try_get(), which is put
 *
 * Context: process, without RTNL.
 */
void ib_unregister_device_and_put(struct ib_device *device)
{
	WARN_ON(!device->ops.dealloc_driver);
	get_device(&device->dev);
	ib_device_put(device);
	unregister(device);
	put_device(&device->dev);
}
EXPORT_SYMBOL(ib_unregister_device_and_put);

static void unregister_later(struct work_struct *work)
{
	struct ib_device_core *core = container_of(work, struct ib_device_core,
						   unregister_work);
	struct ib_device *dev = core->ibdev;

	unregister(dev);
	put_device(&dev->dev);
}

/**
 * ib_unregister_device_queued - unpublish now, do the rest of it later
 * @ib_dev: published or being unregistered; its driver has a dealloc_driver
 *
 * On return no look-up finds the device and its ports have let go of their
 * netdevs; the GIDs do so soon, whatever the rest has to wait for.  The caller
 * still holds its reference, if it has one, and has to put it.
 *
 * Context: any process context, RTNL included.
 */
void ib_unregister_device_queued(struct ib_device *ib_dev)
{
	WARN_ON(!ib_dev->ops.dealloc_driver);
	get_device(&ib_dev->dev);
	unpublish(ib_dev);
	gid_tables_look_again();
	if (!queue_work(unregister_wq, &ib_dev->core->unregister_work))
		put_device(&ib_dev->dev);
}
EXPORT_SYMBOL(ib_unregister_device_queued);

static void reopen_later(struct work_struct *work)
{
	struct ib_device_core *core = container_of(work, struct ib_device_core,
						   reopen_work);
	struct ib_device *dev = core->ibdev;

	mutex_lock(&core->stage_lock);
	if (core->stage == IB_DEVICE_REGISTERED) {
		ib_clients_detach(dev);
		if (!test_bit(IB_DEVICE_UNPUBLISHED, &core->flags))
			ib_clients_attach(dev);
	}
	mutex_unlock(&core->stage_lock);
	put_device(&dev->dev);
}

void ib_device_reopen(struct ib_device *dev)
{
	get_device(&dev->dev);
	if (!queue_work(unregister_wq, &dev->core->reopen_work))
		put_device(&dev->dev);
}

/**
 * ib_unregister_driver - take all devices of a driver away
 * @driver_id: the driver, which makes no new ones any more
 *
 * On return none is left, whoever has begun to unregister it, and nobody runs
 * the driver's code.
 *
 * Context: process, without RTNL.
 */
void ib_unregister_driver(enum rdma_driver_id driver_id)
{
	struct ib_device *dev;
	u32 i;

	ib_for_each_device_memory(dev, i)
		if (dev->ops.driver_id == driver_id)
			unregister(dev);
	flush_workqueue(unregister_wq);
}
EXPORT_SYMBOL(ib_unregister_driver);

/* ---- the device's own attributes ---- */

/**
 * ib_modify_device - change what a device says of itself
 * @device: registered
 * @device_modify_mask: enum ib_device_modify_flags
 * @device_modify: the values
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP; the driver's error.
 */
int ib_modify_device(struct ib_device *device, int device_modify_mask,
		     struct ib_device_modify *device_modify)
{
	if (!device->ops.modify_device)
		return -EOPNOTSUPP;
	return device->ops.modify_device(device, device_modify_mask,
					 device_modify);
}
EXPORT_SYMBOL(ib_modify_device);

/**
 * ib_get_device_fw_str - the version of a device's firmware
 * @device: registered
 * @str: result, IB_FW_VERSION_NAME_MAX bytes; empty when there is none
 *
 * Context: process.
 */
void ib_get_device_fw_str(struct ib_device *device, char *str)
{
	str[0] = '\0';
	if (device->ops.get_dev_fw_str)
		device->ops.get_dev_fw_str(device, str);
}
EXPORT_SYMBOL(ib_get_device_fw_str);

int ib_device_init(void)
{
	unregister_wq = alloc_workqueue("softroce_unregister", WQ_UNBOUND, 0);
	return unregister_wq ? 0 : -ENOMEM;
}

void ib_device_exit(void)
{
	WARN_ON(!xa_empty(&devices));
	destroy_workqueue(unregister_wq);
	/* Devices are freed by an RCU callback of this module. */
	rcu_barrier();
	xa_destroy(&devices);
}
