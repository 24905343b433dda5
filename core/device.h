/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The core's own side of a device, and what the files of ib_core.ko offer each
 * other about devices.  Drivers and clients see <rdma/ib_verbs.h> only.
 *
 * Lifetime: two counts.  The memory (struct ib_device with the driver's
 * structure around it, and this structure) lives as long as the embedded
 * struct device has references, plus an RCU grace period.  The registration
 * count @refs says that the device works: it is 0 before publication, holders
 * get it with ib_device_try_get() or one of the look-ups, and unregistration
 * waits for all of them.  The way down, each step complete before the next:
 *
 *	unpublish	no look-up finds the device, try_get fails, events drop;
 *			its netdevs are let go, the GID tables become empty
 *	clients		each client's remove(), newest client first
 *	drain		@refs is given back by everyone
 *	CQ pools	the CQs that clients shared
 *	sysfs		views of the namespaces, then the device; waits for readers
 *	free parts	resources, GID tables, counters
 *	driver		dealloc_driver(), for drivers that leave freeing to the core
 *	memory		the last put_device()
 *
 * Until the driver step the device stays in the table of all devices, so that
 * ib_unregister_driver() finds and waits for unregistrations that others run.
 */
#ifndef SOFTROCE_CORE_DEVICE_H
#define SOFTROCE_CORE_DEVICE_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <cgroup.h>

struct gid_table;
struct ib_sysfs_view;
struct netlink_ext_ack;
struct rdma_hw_stats;
struct rdma_restrack_root;
struct sock;

/**
 * struct ib_port_core - one port of a device
 * @immutable: the driver's answer to get_port_immutable()
 * @netdev: the port's netdev, held; under ib_device_core.netdev_lock
 * @netdev_tracker: that hold
 * @gids: the GID table, of gid_table.c; set up before publication, freed after
 *	the drain, the pointer constant between
 * @pkeys: the P_Key table, immutable.pkey_tbl_len entries, READ_ONCE()
 * @state: enum ib_port_state as of the last event, READ_ONCE()
 * @hw_stats: the port's counters or NULL, constant while registered; in the
 *	slot of port 0 of a device that is no switch, those of the device
 * @hw_attrs: the sysfs files of @hw_stats, and one for the lifespan
 * @auto_mask: what queue pairs of one counter have in common, 0: none have one
 *	unless bound by hand; under ib_device_core.counter_lock
 * @num_counters: counters of queue pairs; under the same
 */
struct ib_port_core {
	struct ib_port_immutable immutable;
	struct net_device __rcu *netdev;
	netdevice_tracker netdev_tracker;
	struct gid_table *gids;
	u16 *pkeys;
	int state;
	struct rdma_hw_stats *hw_stats;
	struct attribute *hw_attrs;
	u32 auto_mask;
	u32 num_counters;
};

enum ib_device_core_flags {
	/* The base reference of @refs is given back; set once. */
	IB_DEVICE_UNPUBLISHED,
};

enum ib_device_stage {
	IB_DEVICE_ALLOCATED,
	IB_DEVICE_REGISTERED,
	IB_DEVICE_GONE,
};

/**
 * struct ib_device_core - the core's part of a device
 * @ibdev: the device
 * @rcu: delays the freeing
 * @refs: registration count
 * @drained: @refs has become 0
 * @flags: enum ib_device_core_flags, atomic bits
 * @stage_lock: held over all of registration and all of unregistration
 * @stage: under @stage_lock
 * @unregister_work: for ib_unregister_device_queued()
 * @reopen_work: for ib_device_reopen()
 * @netdev_lock: the ports' netdev pointers, but for comparing them
 * @num_ports: entries of @ports, port 0 included
 * @ports: by port number; allocated by the first ib_device_set_netdev() or by
 *	registration, freed with the device
 * @net: the namespace the device belongs to; of meaning in exclusive mode;
 *	changed under views_mutex, with the sysfs files
 * @clients_lock: attaching, detaching and calling of clients
 * @clients_open: clients may attach; under @clients_lock
 * @clients: struct client_link by client id; readers use RCU
 * @event_rwsem: read while handlers run, written to add and remove them
 * @event_handlers: struct ib_event_handler
 * @cq_pool_lock: the pools and how much of their CQs is given out
 * @cq_pool: CQs to share by poll context, of cq_pool.c
 * @counter_lock: whom the counters of queue pairs count
 * @counters: struct rdma_counter, of qp_counter.c
 * @res: the resource tables, of restrack.c
 * @view: the sysfs files below the device itself
 * @views: struct ib_sysfs_view by rdma_net.id, one for each other namespace
 * @views_entry: in the list of devices that have views
 * @cg_device: what the rdma cgroup knows
 */
struct ib_device_core {
	struct ib_device *ibdev;
	struct rcu_head rcu;

	refcount_t refs;
	struct completion drained;
	unsigned long flags;
	struct mutex stage_lock; /* outermost: docs/lock-order.md */
	enum ib_device_stage stage;
	struct work_struct unregister_work;
	struct work_struct reopen_work;

	spinlock_t netdev_lock; /* innermost */
	u32 num_ports;
	struct ib_port_core *ports;
	possible_net_t net;

	struct mutex clients_lock; /* inside stage_lock */
	bool clients_open;
	struct xarray clients;

	struct rw_semaphore event_rwsem;
	struct list_head event_handlers;

	struct mutex cq_pool_lock; /* inside clients_lock */
	struct list_head cq_pool[IB_POLL_LAST_POOL_TYPE + 1];

	struct mutex counter_lock; /* inside ib_qp.state_lock */
	struct list_head counters;

	struct rdma_restrack_root *res;

	struct ib_sysfs_view *view;
	struct xarray views;
	struct list_head views_entry;

	struct rdmacg_device_slot cg_device;
};

/**
 * struct rdma_net - the core's part of a network namespace
 * @net: the namespace
 * @id: index of its views in ib_device_core.views
 * @entry: in the list of namespaces
 * @nl_sock: its NETLINK_RDMA socket, of netlink.c
 */
struct rdma_net {
	struct net *net;
	u32 id;
	struct list_head entry;
	struct sock *nl_sock;
};

/* ---- device.c ---- */

int ib_device_init(void);
void ib_device_exit(void);

/* main.c: see <softroce.h> */
extern const int softroce_core_abi;

struct ib_port_core *ib_device_port(const struct ib_device *dev, u32 port);
struct ib_device *ib_device_get_by_index(const struct net *net, u32 index);
struct ib_device *ib_device_get_next(u32 *index);
struct ib_device *ib_device_hold_next(u32 *index);
bool ib_device_name_is_valid(const char *name);
int ib_device_rename(struct ib_device *dev, const char *name);
void ib_device_copy_name(const struct ib_device *dev, char *buf);
/* Any context: the device's clients leave and come back, in a work. */
void ib_device_reopen(struct ib_device *dev);

/**
 * ib_for_each_device - all published devices in the order of their indexes
 * @dev: struct ib_device *, a reference is held during each round
 * @i: u32
 *
 * The body may sleep.  Leaving by break or return keeps the reference: the
 * caller has to ib_device_put() then.  Devices that come and go while this
 * runs may be missed or seen.
 */
#define ib_for_each_device(dev, i)                                             \
	for ((i) = 0; ((dev) = ib_device_get_next(&(i))) != NULL;              \
	     ib_device_put(dev), (i)++)

/**
 * ib_for_each_device_memory - all devices between registration and freeing
 * @dev: struct ib_device *, get_device() is held during each round
 * @i: u32
 *
 * For those who have to meet devices that are not published yet or any more.
 */
#define ib_for_each_device_memory(dev, i)                                      \
	for ((i) = 0; ((dev) = ib_device_hold_next(&(i))) != NULL;             \
	     put_device(&(dev)->dev), (i)++)

/*
 * ---- port.c: what is said about a port, asked or cached ----
 *
 * Also zgid, ib_get_cached_pkey() and ib_get_cached_port_state(); the queries
 * of <rdma/ib_cache.h> that are about GIDs, and rdma_query_gid(), are in
 * gid_table.c.
 */

int ib_ports_setup(struct ib_device *dev);
void ib_ports_release(struct ib_device *dev);
int ib_ports_alloc(struct ib_device *dev);
void ib_ports_forget_netdevs(struct ib_device *dev);
void ib_port_refresh(struct ib_device *dev, u32 port);

/* ---- client.c ---- */

void ib_clients_attach(struct ib_device *dev);
void ib_clients_detach(struct ib_device *dev);
void ib_clients_renamed(struct ib_device *dev);
int ib_get_client_nl_info(struct ib_device *dev, const char *client_name,
			  bool may_load, struct ib_client_nl_info *res,
			  struct ib_client **owner);
void ib_put_client_nl_info(struct ib_client_nl_info *res,
			   struct ib_client *owner);

/* ---- event.c ---- */

int ib_event_init(void);
void ib_event_exit(void);

/* ---- device_net.c ---- */

int ib_device_net_init(void);
void ib_device_net_exit(void);

struct rdma_net *rdma_net_of(const struct net *net);
bool ib_devices_shared_netns(void);
void ib_device_net_assign(struct ib_device *dev);
int ib_devices_set_shared_netns(bool shared, struct netlink_ext_ack *extack);
void ib_device_views_lock(void);
void ib_device_views_unlock(void);
void ib_device_views_add(struct ib_device *dev);
void ib_device_views_remove(struct ib_device *dev);
void ib_device_views_grow(struct ib_device *dev);
int ib_device_views_rename(struct ib_device *dev, const char *name);

/* ---- gid_table.c and gid_events.c ---- */

/* Process context, before publication: empty tables for all ports. */
int gid_table_setup(struct ib_device *dev);
/*
 * Process context, without RTNL: brings the tables up to date with the
 * addresses that are there.  Just after publication, before clients; and again
 * just after the device is unpublished, when its ports have no netdevs any
 * more: every entry lets go of its netdev then.
 */
void gid_table_sync(struct ib_device *dev);
/*
 * After the drain: unpublishes every entry, tells the driver (del_gid), waits
 * until no entry is referenced.  Nobody can come for new references.
 */
void gid_table_cleanup(struct ib_device *dev);
/* Frees the tables; also when gid_table_sync() has never run. */
void gid_table_release(struct ib_device *dev);
/*
 * Any context: the same look at all devices, soon, at those that are unpublished
 * as well.  Unregistration may have to wait for somebody before its own turn
 * comes; a vanishing netdev does not wait for that.
 */
void gid_tables_look_again(void);

int gid_events_init(void);
/* After this no work of gid_events.c runs. */
void gid_events_exit(void);

/* ---- restrack.c ---- */

int rdma_restrack_init(struct ib_device *dev);
/* After the drain: complains about objects that are left, frees the tables. */
void rdma_restrack_clean(struct ib_device *dev);

/* ---- netlink.c and nldev.c ---- */

/* Makes and closes rdma_net_of(net)->nl_sock. */
int rdma_nl_net_init(struct net *net);
void rdma_nl_net_exit(struct net *net);
int nldev_init(void);
void nldev_exit(void);

#endif
