// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The GID table of a port: slots, references and look-ups. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/nsproxy.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "gid_table.h"

struct workqueue_struct *gid_wq;

/* Between two complaints about a user that keeps an entry for ever. */
#define DRAIN_REPORT_PERIOD (10 * HZ)

/**
 * struct gid_entry - an address while it is in a table
 * @attr: what users see
 * @ref: one for being live, one for each user
 * @table: where it is
 * @context: the driver's, from add_gid()
 * @gone: the netdev that is let go after a grace period
 * @smac: MAC address of the netdev when it was last looked at
 * @seen: the update in progress wants it
 * @release_work: for the last reference given back in atomic context
 * @rcu: delays the freeing for lockless readers
 */
struct gid_entry {
	struct ib_gid_attr attr;
	struct kref ref;
	struct gid_table *table;
	void *context;
	struct net_device *gone;
	u8 smac[ETH_ALEN];
	bool seen;
	struct work_struct release_work;
	struct rcu_head rcu;
};

/**
 * struct gid_slot - an index
 * @live: the entry that look-ups find
 * @holder: the entry that keeps the index busy, live or not; under
 *	gid_table.lock
 */
struct gid_slot {
	struct gid_entry __rcu *live;
	struct gid_entry *holder;
};

/**
 * struct gid_table - all indexes of a port
 * @dev: the device
 * @port: the port's number
 * @lock: serialises changes; held over the driver's add_gid() and del_gid()
 * @idle: woken when @entries becomes 0
 * @entries: busy slots; under @lock
 * @top: no busy slot at or above this; read without @lock
 * @left_out: addresses without an index since the last update, all being busy;
 *	under @lock
 * @refused: how many were left out since the beginning; read without @lock
 * @len: number of slots
 * @slots: the slots
 */
struct gid_table {
	struct ib_device *dev;
	u32 port;
	/* Outside: gid_sync_lock of gid_events.c; inside: the driver's own. */
	struct mutex lock;
	wait_queue_head_t idle;
	int entries;
	int top;
	int left_out;
	u64 refused;
	int len;
	struct gid_slot slots[];
};

static struct gid_entry *to_entry(const struct ib_gid_attr *attr)
{
	return container_of(attr, struct gid_entry, attr);
}

static struct gid_entry *slot_locked(struct gid_table *table, int i)
{
	return rcu_dereference_protected(table->slots[i].live,
					 lockdep_is_held(&table->lock));
}

/* The last reference is gone: the index is free again. */
static void entry_free_locked(struct kref *ref)
{
	struct gid_entry *entry = container_of(ref, struct gid_entry, ref);
	struct gid_table *table = entry->table;
	struct ib_device *dev = table->dev;
	int top = table->top;

	lockdep_assert_held(&table->lock);
	if (dev->ops.del_gid)
		dev->ops.del_gid(&entry->attr, &entry->context);
	table->slots[entry->attr.index].holder = NULL;
	while (top && !table->slots[top - 1].holder)
		top--;
	WRITE_ONCE(table->top, top);
	if (!--table->entries)
		wake_up(&table->idle);
	kfree_rcu(entry, rcu);
}

static void entry_release_work(struct work_struct *work)
{
	struct gid_entry *entry =
		container_of(work, struct gid_entry, release_work);
	struct gid_table *table = entry->table;

	mutex_lock(&table->lock);
	entry_free_locked(&entry->ref);
	mutex_unlock(&table->lock);
}

static void entry_free_later(struct kref *ref)
{
	struct gid_entry *entry = container_of(ref, struct gid_entry, ref);

	queue_work(gid_wq, &entry->release_work);
}

/**
 * gid_table_alloc - make an empty table
 * @dev: the device
 * @port: its port
 * @len: number of indexes
 *
 * Context: process.
 * Return: the table, or NULL.
 */
struct gid_table *gid_table_alloc(struct ib_device *dev, u32 port, int len)
{
	struct gid_table *table;

	table = kvzalloc(struct_size(table, slots, len), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->dev = dev;
	table->port = port;
	table->len = len;
	mutex_init(&table->lock);
	init_waitqueue_head(&table->idle);
	return table;
}

/**
 * gid_table_top - how far the table is in use
 * @table: a table
 *
 * Context: any.
 * Return: a number that all busy indexes are below, for now.
 */
int gid_table_top(const struct gid_table *table)
{
	return READ_ONCE(table->top);
}

static struct gid_entry *find_live(struct gid_table *table,
				   const struct gid_wanted *want)
{
	struct gid_entry *entry;
	int i;

	for (i = 0; i < table->top; i++) {
		entry = slot_locked(table, i);
		if (entry && rcu_access_pointer(entry->attr.ndev) ==
				     want->ndev &&
		    !memcmp(&entry->attr.gid, &want->gid, sizeof(want->gid)))
			return entry;
	}
	return NULL;
}

static int free_slot(struct gid_table *table)
{
	int i;

	for (i = 0; i < table->len; i++)
		if (!table->slots[i].holder)
			return i;
	return -ENOSPC;
}

static int publish(struct gid_table *table, const struct gid_wanted *want)
{
	struct ib_device *dev = table->dev;
	struct gid_entry *entry;
	int slot, ret;

	slot = free_slot(table);
	if (slot < 0)
		return slot;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;

	kref_init(&entry->ref);
	INIT_WORK(&entry->release_work, entry_release_work);
	entry->table = table;
	entry->seen = true;
	ether_addr_copy(entry->smac, want->ndev->dev_addr);
	entry->attr.device = dev;
	entry->attr.port_num = table->port;
	entry->attr.index = slot;
	entry->attr.gid = want->gid;
	entry->attr.gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	dev_hold(want->ndev);
	rcu_assign_pointer(entry->attr.ndev, want->ndev);

	if (dev->ops.add_gid) {
		ret = dev->ops.add_gid(&entry->attr, &entry->context);
		if (ret) {
			dev_put(want->ndev);
			kfree(entry);
			return ret;
		}
	}

	table->slots[slot].holder = entry;
	table->entries++;
	rcu_assign_pointer(table->slots[slot].live, entry);
	if (slot >= table->top)
		WRITE_ONCE(table->top, slot + 1);
	return 0;
}

/*
 * Makes zombies of all live entries that the update has not seen.  Entries and
 * netdev pointers are read under RCU: after one grace period nobody comes to
 * the netdevs this way, and they can go, whatever users of the entries do.
 */
static bool unpublish_unseen(struct gid_table *table)
{
	struct gid_entry *entry;
	bool any = false;
	int i;

	for (i = 0; i < table->top; i++) {
		entry = slot_locked(table, i);
		if (!entry || entry->seen)
			continue;
		rcu_assign_pointer(table->slots[i].live, NULL);
		entry->gone = rcu_replace_pointer(entry->attr.ndev, NULL,
						  lockdep_is_held(&table->lock));
		any = true;
	}
	if (!any)
		return false;

	synchronize_rcu();
	for (i = table->top - 1; i >= 0; i--) {
		entry = table->slots[i].holder;
		if (!entry || !entry->gone)
			continue;
		dev_put(entry->gone);
		entry->gone = NULL;
		kref_put(&entry->ref, entry_free_locked);
	}
	return true;
}

/* Said when it becomes so or worse, not with each look at the addresses. */
static void tell_left_out(struct gid_table *table, int left_out)
{
	int more = left_out - table->left_out;

	table->left_out = left_out;
	if (more <= 0)
		return;
	WRITE_ONCE(table->refused, table->refused + more);
	ibdev_warn_ratelimited(table->dev,
			       "port %u: the GID table of %d entries is full, %d addresses are not in it\n",
			       table->port, table->len, left_out);
}

/* Addresses that are not there yet get the lowest free indexes, in order. */
static bool publish_new(struct gid_table *table,
			const struct gid_wanted *wanted, int count)
{
	int i, err, left_out = 0;
	bool changed = false;

	for (i = 0; i < count; i++) {
		cond_resched();
		if (find_live(table, &wanted[i]))
			continue;
		err = left_out ? -ENOSPC : publish(table, &wanted[i]);
		if (!err)
			changed = true;
		else if (err == -ENOSPC)
			left_out++;
		else
			ibdev_warn_ratelimited(table->dev,
					       "port %u: no GID for %pI6c: %d\n",
					       table->port, &wanted[i].gid,
					       err);
	}
	tell_left_out(table, left_out);
	return changed;
}

/**
 * gid_table_update - make a table hold exactly the wanted addresses
 * @table: the table
 * @wanted: addresses with their netdevs, best first
 * @count: how many; they can be more than there are indexes
 *
 * What stays keeps its index; what is new gets the lowest free ones, in order.
 * In a full table the new addresses are left out, however good.
 *
 * Context: process; sleeps for grace periods when addresses go.
 * Return: true when users should hear IB_EVENT_GID_CHANGE.
 */
bool gid_table_update(struct gid_table *table, const struct gid_wanted *wanted,
		      int count)
{
	struct gid_entry *entry;
	bool changed = false;
	int i;

	mutex_lock(&table->lock);
	for (i = 0; i < table->top; i++) {
		entry = slot_locked(table, i);
		if (entry)
			entry->seen = false;
	}
	for (i = 0; i < count; i++) {
		cond_resched();
		entry = find_live(table, &wanted[i]);
		if (!entry)
			continue;
		entry->seen = true;
		if (!ether_addr_equal(entry->smac, wanted[i].ndev->dev_addr)) {
			ether_addr_copy(entry->smac, wanted[i].ndev->dev_addr);
			changed = true;
		}
	}
	changed |= unpublish_unseen(table);
	changed |= publish_new(table, wanted, count);
	mutex_unlock(&table->lock);
	return changed;
}

/* Names who is waited for, as far as one can tell. */
static void report_busy(struct gid_table *table)
{
	struct gid_entry *entry;
	int i;

	mutex_lock(&table->lock);
	for (i = 0; i < table->top; i++) {
		entry = table->slots[i].holder;
		if (entry)
			ibdev_warn(table->dev,
				   "port %u: waiting for users of GID %d (%pI6c), %u references\n",
				   table->port, i, &entry->attr.gid,
				   kref_read(&entry->ref));
	}
	mutex_unlock(&table->lock);
}

/**
 * gid_table_drain - take every address out and wait for its users
 * @table: a table that is not updated any more
 *
 * Context: process, sleeps.
 */
void gid_table_drain(struct gid_table *table)
{
	gid_table_update(table, NULL, 0);
	while (!wait_event_timeout(table->idle, !READ_ONCE(table->entries),
				   DRAIN_REPORT_PERIOD))
		report_busy(table);
	/* Whoever freed the last entry may not have left the lock yet. */
	flush_workqueue(gid_wq);
}

/**
 * gid_table_free - end of a table
 * @table: an empty table, or NULL
 *
 * Context: process.
 */
void gid_table_free(struct gid_table *table)
{
	kvfree(table);
}

static struct gid_table *port_table(const struct ib_device *device, u32 port)
{
	if (!rdma_is_port_valid(device, port))
		return NULL;
	return ib_device_port(device, port)->gids;
}

/**
 * ib_gids_refused - how many addresses have found the GID table full
 * @device: a device that the caller keeps from unregistering
 * @port_num: its port
 *
 * For the counters of a driver; Linux has no such function.
 *
 * Context: any.
 * Return: how many, since the device's registration.
 */
u64 ib_gids_refused(const struct ib_device *device, u32 port_num)
{
	const struct gid_table *table = port_table(device, port_num);

	return table ? READ_ONCE(table->refused) : 0;
}
EXPORT_SYMBOL(ib_gids_refused);

/* Takes a reference to what is live at an index. */
static struct gid_entry *get_live(struct gid_table *table, int index)
{
	struct gid_entry *entry;

	rcu_read_lock();
	entry = rcu_dereference(table->slots[index].live);
	if (entry && !kref_get_unless_zero(&entry->ref))
		entry = NULL;
	rcu_read_unlock();
	return entry;
}

/**
 * rdma_get_gid_attr - take a reference to a GID table entry
 * @device: a device that the caller keeps from unregistering
 * @port_num: its port
 * @index: the index in the table
 *
 * Context: any.
 * Return: the entry, for rdma_put_gid_attr(); ERR_PTR(-EINVAL) for a port or
 * an index that does not exist, ERR_PTR(-ENODATA) for an empty one.
 */
const struct ib_gid_attr *rdma_get_gid_attr(struct ib_device *device,
					    u32 port_num, int index)
{
	struct gid_table *table = port_table(device, port_num);
	struct gid_entry *entry;

	if (!table || index < 0 || index >= table->len)
		return ERR_PTR(-EINVAL);
	entry = get_live(table, index);
	return entry ? &entry->attr : ERR_PTR(-ENODATA);
}
EXPORT_SYMBOL(rdma_get_gid_attr);

/**
 * rdma_hold_gid_attr - take another reference
 * @attr: an entry that the caller holds already
 *
 * Context: any.
 */
void rdma_hold_gid_attr(const struct ib_gid_attr *attr)
{
	kref_get(&to_entry(attr)->ref);
}
EXPORT_SYMBOL(rdma_hold_gid_attr);

/**
 * rdma_put_gid_attr - give a reference back
 * @attr: an entry that the caller holds
 *
 * Context: any.
 */
void rdma_put_gid_attr(const struct ib_gid_attr *attr)
{
	kref_put(&to_entry(attr)->ref, entry_free_later);
}
EXPORT_SYMBOL(rdma_put_gid_attr);

/**
 * rdma_query_gid - the address at an index
 * @device: a device that the caller keeps from unregistering
 * @port_num: its port
 * @index: the index in the table
 * @gid: result
 *
 * Context: any.
 * Return: 0, -EINVAL for a port or an index that does not exist, -ENODATA for
 * an empty one.
 */
int rdma_query_gid(struct ib_device *device, u32 port_num, int index,
		   union ib_gid *gid)
{
	struct gid_table *table = port_table(device, port_num);
	struct gid_entry *entry;

	if (!table || index < 0 || index >= table->len)
		return -EINVAL;
	rcu_read_lock();
	entry = rcu_dereference(table->slots[index].live);
	if (entry)
		*gid = entry->attr.gid;
	rcu_read_unlock();
	return entry ? 0 : -ENODATA;
}
EXPORT_SYMBOL(rdma_query_gid);

static const struct ib_gid_attr *find_in_table(struct gid_table *table,
					       const union ib_gid *gid,
					       enum ib_gid_type gid_type,
					       struct net_device *ndev)
{
	const struct ib_gid_attr *found = NULL;
	struct gid_entry *entry;
	int top = READ_ONCE(table->top);
	int i;

	rcu_read_lock();
	for (i = 0; i < top && !found; i++) {
		entry = rcu_dereference(table->slots[i].live);
		if (!entry || entry->attr.gid_type != gid_type ||
		    memcmp(&entry->attr.gid, gid, sizeof(*gid)))
			continue;
		if (ndev && rcu_access_pointer(entry->attr.ndev) != ndev)
			continue;
		if (kref_get_unless_zero(&entry->ref))
			found = &entry->attr;
	}
	rcu_read_unlock();
	return found;
}

/**
 * ib_find_gid - where an address stands
 * @device: the device, registered
 * @gid: the address
 * @port_num: result: on which port
 * @index: result: where in its table; or NULL
 *
 * Context: any.
 * Return: 0, or -ENOENT.
 */
int ib_find_gid(struct ib_device *device, union ib_gid *gid, u32 *port_num,
		u16 *index)
{
	struct gid_table *table;
	struct gid_entry *entry;
	u32 port;
	int i;

	rdma_for_each_port(device, port) {
		table = port_table(device, port);
		for (i = 0; table && i < READ_ONCE(table->top); i++) {
			bool found;

			rcu_read_lock();
			entry = rcu_dereference(table->slots[i].live);
			found = entry && !memcmp(&entry->attr.gid, gid,
						 sizeof(*gid));
			rcu_read_unlock();
			if (!found)
				continue;
			*port_num = port;
			if (index)
				*index = i;
			return 0;
		}
	}
	return -ENOENT;
}
EXPORT_SYMBOL(ib_find_gid);

/**
 * rdma_find_gid_by_port - the entry of an address on a port
 * @ib_dev: a device that the caller keeps from unregistering
 * @gid: the address
 * @gid_type: how packets with it look
 * @port: the port
 * @ndev: the netdev that has it, or NULL for any
 *
 * Context: any.
 * Return: the entry, for rdma_put_gid_attr(), or ERR_PTR(-ENOENT).
 */
const struct ib_gid_attr *rdma_find_gid_by_port(struct ib_device *ib_dev,
						const union ib_gid *gid,
						enum ib_gid_type gid_type,
						u32 port,
						struct net_device *ndev)
{
	struct gid_table *table = port_table(ib_dev, port);
	const struct ib_gid_attr *attr = NULL;

	if (table)
		attr = find_in_table(table, gid, gid_type, ndev);
	return attr ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_find_gid_by_port);

/**
 * rdma_find_gid - the entry of an address on any port
 * @device: a device that the caller keeps from unregistering
 * @gid: the address
 * @gid_type: how packets with it look
 * @ndev: the netdev that has it, or NULL for any
 *
 * Context: any.
 * Return: the entry, for rdma_put_gid_attr(), or ERR_PTR(-ENOENT).
 */
const struct ib_gid_attr *rdma_find_gid(struct ib_device *device,
					const union ib_gid *gid,
					enum ib_gid_type gid_type,
					struct net_device *ndev)
{
	const struct ib_gid_attr *attr = ERR_PTR(-ENOENT);
	u32 port;

	rdma_for_each_port(device, port) {
		attr = rdma_find_gid_by_port(device, gid, gid_type, port, ndev);
		if (!IS_ERR(attr))
			break;
	}
	return attr;
}
EXPORT_SYMBOL(rdma_find_gid);

/**
 * rdma_read_gid_attr_ndev_rcu - the netdev that has an entry's address
 * @attr: an entry that the caller holds
 *
 * Context: inside rcu_read_lock(), which keeps the netdev.
 * Return: the netdev, or ERR_PTR(-ENODEV) when the address has gone.
 */
struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr)
{
	return rcu_dereference(attr->ndev) ?: ERR_PTR(-ENODEV);
}
EXPORT_SYMBOL(rdma_read_gid_attr_ndev_rcu);

/**
 * rdma_read_gid_l2_fields - what is sent below IP from an address
 * @attr: an entry that the caller holds
 * @vlan_id: result, 0xffff without a VLAN; may be NULL
 * @smac: result, the MAC address; may be NULL
 *
 * Context: any.
 * Return: 0, or -ENODEV when the address has gone.
 */
int rdma_read_gid_l2_fields(const struct ib_gid_attr *attr, u16 *vlan_id,
			    u8 *smac)
{
	struct net_device *ndev;
	int ret = 0;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (!ndev) {
		ret = -ENODEV;
		goto unlock;
	}
	if (smac)
		ether_addr_copy(smac, ndev->dev_addr);
	if (vlan_id)
		*vlan_id = rdma_vlan_dev_vlan_id(ndev);
unlock:
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL(rdma_read_gid_l2_fields);

/**
 * ib_ifindex_for_caller - what a netdev is for the current program
 * @ndev: a netdev
 *
 * Its number and its name are its own namespace's affair: one policy for the
 * answers of uverbs, for sysfs and for netlink.  Linux has no such function.
 *
 * Context: process, inside rcu_read_lock().
 * Return: its index, or 0 for a netdev of another namespace.
 */
u32 ib_ifindex_for_caller(const struct net_device *ndev)
{
	return net_eq(dev_net(ndev), current->nsproxy->net_ns) ?
		       ndev->ifindex : 0;
}
EXPORT_SYMBOL(ib_ifindex_for_caller);

/* Appends the live entries of a table; -EINVAL when there is no room. */
static ssize_t list_table(struct gid_table *table,
			  struct ib_uverbs_gid_entry *entries, size_t room)
{
	const struct ib_gid_attr *attr;
	struct gid_entry *entry;
	struct net_device *ndev;
	int top = READ_ONCE(table->top);
	ssize_t n = 0;
	int i;

	rcu_read_lock();
	for (i = 0; i < top; i++) {
		entry = rcu_dereference(table->slots[i].live);
		if (!entry)
			continue;
		if (n == room) {
			n = -EINVAL;
			break;
		}
		attr = &entry->attr;
		ndev = rcu_dereference(attr->ndev);
		memset(&entries[n], 0, sizeof(entries[n]));
		memcpy(entries[n].gid, &attr->gid, sizeof(attr->gid));
		entries[n].gid_index = attr->index;
		entries[n].gid_type = attr->gid_type;
		entries[n].port_num = attr->port_num;
		entries[n].netdev_ifindex =
			ndev ? ib_ifindex_for_caller(ndev) : 0;
		n++;
	}
	rcu_read_unlock();
	return n;
}

/**
 * rdma_query_gid_table - list all addresses of a device
 * @device: a device that the caller keeps from unregistering
 * @entries: result
 * @max_entries: room at @entries
 *
 * The netdevs of another namespace than the caller's are left out.
 *
 * Context: process.
 * Return: how many there are, or -EINVAL when @max_entries is not enough.
 */
ssize_t rdma_query_gid_table(struct ib_device *device,
			     struct ib_uverbs_gid_entry *entries,
			     size_t max_entries)
{
	struct gid_table *table;
	ssize_t total = 0, n;
	u32 port;

	rdma_for_each_port(device, port) {
		table = port_table(device, port);
		if (!table)
			continue;
		n = list_table(table, entries + total, max_entries - total);
		if (n < 0)
			return n;
		total += n;
	}
	return total;
}
EXPORT_SYMBOL(rdma_query_gid_table);
