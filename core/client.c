// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Clients meet devices.
 *
 * Lifetime: a link stands for one client on one device.  It exists from before
 * the client's add() until after its remove() and is created, used and removed
 * under the device's clients_lock; each link holds a use of its client, which
 * ib_unregister_client() waits for.  There is one lock for each device, so that
 * a client that is slow to leave one device delays no other.
 *
 * Who attaches whom: a new device attaches all clients of the table, a new
 * client, once in the table, goes to all published devices that have opened for
 * clients.  Both can meet; the second finds the link.  A client that leaves is
 * taken out of the table first, which attaching checks under clients_lock, and
 * then visits every device that has memory.
 */
#include <linux/kmod.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <device.h>

struct client_link {
	struct ib_client *client;
	void *data;
	struct rcu_head rcu;
};

/* By client_id, which grow with registration: attach up, detach down. */
static DEFINE_XARRAY(clients);
/* Gives out ids, none twice. */
static DEFINE_MUTEX(clients_mutex);
static u32 next_client_id;

static void client_put(struct ib_client *client)
{
	if (refcount_dec_and_test(&client->uses))
		complete(&client->uses_zero);
}

/* The first client at or after *id, with a use of it. */
static struct ib_client *client_get_next(u32 *id)
{
	unsigned long index = *id;
	struct ib_client *client;

	/* The lock, since a client's memory ends when it is out of the table. */
	xa_lock(&clients);
	client = xa_find(&clients, &index, U32_MAX, XA_PRESENT);
	if (client)
		refcount_inc(&client->uses);
	xa_unlock(&clients);
	*id = index;
	return client;
}

static void link_remove(struct ib_device_core *core, struct client_link *link)
{
	struct ib_client *client = link->client;

	xa_erase(&core->clients, client->client_id);
	kfree_rcu(link, rcu);
	client_put(client);
}

static void attach_one(struct ib_device *dev, struct ib_client *client)
{
	struct ib_device_core *core = dev->core;
	struct client_link *link;
	int err;

	lockdep_assert_held(&core->clients_lock);

	if (!core->clients_open || xa_load(&core->clients, client->client_id) ||
	    xa_load(&clients, client->client_id) != client)
		return;
	if (!dev->kverbs_provider && !client->no_kverbs_req)
		return;

	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		goto no_memory;
	link->client = client;
	if (xa_err(xa_store(&core->clients, client->client_id, link,
			    GFP_KERNEL))) {
		kfree(link);
		goto no_memory;
	}
	refcount_inc(&client->uses);

	err = client->add ? client->add(dev) : 0;
	if (err) {
		if (err != -EOPNOTSUPP)
			ibdev_warn_ratelimited(dev,
					       "%s does not take this device: %d\n",
					       client->name, err);
		link_remove(core, link);
	}
	return;

no_memory:
	ibdev_warn(dev, "no memory to attach %s\n", client->name);
}

static void detach_one(struct ib_device *dev, struct client_link *link)
{
	lockdep_assert_held(&dev->core->clients_lock);

	if (link->client->remove)
		link->client->remove(dev, link->data);
	link_remove(dev->core, link);
}

void ib_clients_attach(struct ib_device *dev)
{
	struct ib_client *client;
	u32 id;

	mutex_lock(&dev->core->clients_lock);
	dev->core->clients_open = true;
	for (id = 0; (client = client_get_next(&id)); id++) {
		attach_one(dev, client);
		client_put(client);
	}
	mutex_unlock(&dev->core->clients_lock);
}

void ib_clients_detach(struct ib_device *dev)
{
	struct ib_device_core *core = dev->core;
	struct client_link *link, *newest;
	unsigned long id;

	mutex_lock(&core->clients_lock);
	core->clients_open = false;
	do {
		newest = NULL;
		xa_for_each(&core->clients, id, link)
			newest = link;
		if (newest)
			detach_one(dev, newest);
	} while (newest);
	mutex_unlock(&core->clients_lock);
}

void ib_clients_renamed(struct ib_device *dev)
{
	struct ib_device_core *core = dev->core;
	struct client_link *link;
	unsigned long id;

	mutex_lock(&core->clients_lock);
	xa_for_each(&core->clients, id, link)
		if (link->client->rename)
			link->client->rename(dev, link->data);
	mutex_unlock(&core->clients_lock);
}

/**
 * ib_register_client - hear of all devices, those that are there included
 * @client: static; its add() may be called before this returns
 *
 * Context: process, without RTNL.
 * Return: 0, or -ENOMEM.
 */
int ib_register_client(struct ib_client *client)
{
	struct ib_device *dev;
	u32 i;
	int err;

	refcount_set(&client->uses, 1);
	init_completion(&client->uses_zero);

	mutex_lock(&clients_mutex);
	client->client_id = next_client_id;
	err = xa_err(xa_store(&clients, client->client_id, client, GFP_KERNEL));
	if (!err)
		next_client_id++;
	mutex_unlock(&clients_mutex);
	if (err)
		return err;

	ib_for_each_device(dev, i) {
		mutex_lock(&dev->core->clients_lock);
		attach_one(dev, client);
		mutex_unlock(&dev->core->clients_lock);
	}
	return 0;
}
EXPORT_SYMBOL(ib_register_client);

/**
 * ib_unregister_client - leave all devices
 * @client: as registered; none of its functions runs on return
 *
 * Context: process, without RTNL, not from a function of the client.
 */
void ib_unregister_client(struct ib_client *client)
{
	struct client_link *link;
	struct ib_device *dev;
	u32 i;

	/* Unpublish. */
	xa_erase(&clients, client->client_id);

	ib_for_each_device_memory(dev, i) {
		mutex_lock(&dev->core->clients_lock);
		link = xa_load(&dev->core->clients, client->client_id);
		if (link)
			detach_one(dev, link);
		mutex_unlock(&dev->core->clients_lock);
	}

	/* Drain. */
	client_put(client);
	wait_for_completion(&client->uses_zero);
}
EXPORT_SYMBOL(ib_unregister_client);

/**
 * ib_set_client_data - what a client remembers of a device
 * @device: a device on which @client's add() was called
 * @client: the client
 * @data: handed to remove(), rename() and ib_get_client_data()
 *
 * Context: any, between the beginning of add() and the end of remove().
 */
void ib_set_client_data(struct ib_device *device, struct ib_client *client,
			void *data)
{
	struct client_link *link;

	rcu_read_lock();
	link = xa_load(&device->core->clients, client->client_id);
	if (!WARN_ON(!link))
		WRITE_ONCE(link->data, data);
	rcu_read_unlock();
}
EXPORT_SYMBOL(ib_set_client_data);

/**
 * ib_get_client_data - what ib_set_client_data() has stored
 * @device: a device
 * @client: a client
 *
 * Context: any.
 * Return: the data; NULL also when the client is not on that device.
 */
void *ib_get_client_data(struct ib_device *device, struct ib_client *client)
{
	struct client_link *link;
	void *data = NULL;

	rcu_read_lock();
	link = xa_load(&device->core->clients, client->client_id);
	if (link)
		data = READ_ONCE(link->data);
	rcu_read_unlock();
	return data;
}
EXPORT_SYMBOL(ib_get_client_data);

/*
 * Called while the client cannot remove its device.  The last reference to that
 * runs code of the client's module: so the client is used until it is put.
 */
static int nl_info_keep(struct ib_client *client, struct ib_client_nl_info *res,
			struct ib_client **owner)
{
	if (!res->cdev)
		return -EINVAL;
	get_device(res->cdev);
	refcount_inc(&client->uses);
	*owner = client;
	return 0;
}

static int device_nl_info(struct ib_device *dev, const char *client_name,
			  struct ib_client_nl_info *res,
			  struct ib_client **owner)
{
	struct ib_device_core *core = dev->core;
	struct client_link *link;
	int err = -ENOENT;
	unsigned long id;

	mutex_lock(&core->clients_lock);
	xa_for_each(&core->clients, id, link) {
		if (strcmp(link->client->name, client_name))
			continue;
		err = -EOPNOTSUPP;
		if (link->client->get_nl_info)
			err = link->client->get_nl_info(dev, link->data, res);
		if (!err)
			err = nl_info_keep(link->client, res, owner);
		break;
	}
	mutex_unlock(&core->clients_lock);
	return err;
}

static int global_nl_info(const char *client_name,
			  struct ib_client_nl_info *res,
			  struct ib_client **owner)
{
	struct ib_client *client;
	int err = -ENOENT;
	u32 id;

	for (id = 0; (client = client_get_next(&id)); id++) {
		bool found = !strcmp(client->name, client_name);

		if (found) {
			err = -EOPNOTSUPP;
			if (client->get_global_nl_info)
				err = client->get_global_nl_info(res);
			if (!err)
				err = nl_info_keep(client, res, owner);
		}
		client_put(client);
		if (found)
			break;
	}
	return err;
}

/*
 * Which character device a client, "uverbs" say, has for @dev, or, with @dev
 * NULL, for all devices.  With @may_load, which is for who administers the host,
 * loads the client's module when it is not there; the name has been checked.  On
 * success the caller gives @res->cdev and @owner, the client, back with
 * ib_put_client_nl_info().  -ENOENT: no such client, or it does not take this
 * device; -EOPNOTSUPP: it has no character device.
 */
int ib_get_client_nl_info(struct ib_device *dev, const char *client_name,
			  bool may_load, struct ib_client_nl_info *res,
			  struct ib_client **owner)
{
	int attempt, err = -ENOENT;

	for (attempt = 0; attempt < 1 + may_load && err == -ENOENT; attempt++) {
		if (attempt)
			request_module("rdma-client-%s", client_name);
		err = dev ? device_nl_info(dev, client_name, res, owner) :
			    global_nl_info(client_name, res, owner);
	}
	return err;
}

void ib_put_client_nl_info(struct ib_client_nl_info *res,
			   struct ib_client *owner)
{
	put_device(res->cdev);
	client_put(owner);
}
