// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The files of ports and counters: directories that the driver core does not
 * make.  Each is an ib_port_dir, whose kind says what its files show; the files
 * of tables are the numbers 0, 1, 2 ... and one set of those serves all.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_hw_stats.h>
#include <rdma/ib_verbs.h>
#include <device.h>
#include <gid_table.h>
#include <hw_stats.h>
#include <sysfs.h>

/* A larger table shows its first entries here, and all through netlink. */
#define TABLE_FILES 1024

struct ib_port_dir {
	struct kobject kobj;
	struct list_head entry;
	struct ib_device *ibdev;
	const struct net *net;	/* the view's */
	u32 port;
	bool by_gid;		/* its files are the indexes of the GID table */
	int files;		/* of a table: how many there are */
};

struct table_file {
	struct attribute attr;
	char name[8];
};

static struct table_file *table_files;

static struct ib_port_dir *to_dir(struct kobject *kobj)
{
	return container_of(kobj, struct ib_port_dir, kobj);
}

static void release_dir(struct kobject *kobj)
{
	kfree(to_dir(kobj));
}

/* ---- ports/N ---- */

struct port_file {
	struct attribute attr;
	ssize_t (*show)(struct ib_device *ibdev, u32 port,
			const struct ib_port_attr *state, char *buf);
};

static ssize_t state_show(struct ib_device *ibdev, u32 port,
			  const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "%d: %s\n", state->state,
			  ib_port_state_to_str(state->state));
}

static const char *phys_state_name(u8 state)
{
	switch (state) {
	case IB_PORT_PHYS_STATE_SLEEP:
		return "Sleep";
	case IB_PORT_PHYS_STATE_POLLING:
		return "Polling";
	case IB_PORT_PHYS_STATE_DISABLED:
		return "Disabled";
	case IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING:
		return "PortConfigurationTraining";
	case IB_PORT_PHYS_STATE_LINK_UP:
		return "LinkUp";
	case IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY:
		return "LinkErrorRecovery";
	case IB_PORT_PHYS_STATE_PHY_TEST:
		return "Phy Test";
	default:
		return "<unknown>";
	}
}

static ssize_t phys_state_show(struct ib_device *ibdev, u32 port,
			       const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "%u: %s\n", state->phys_state,
			  phys_state_name(state->phys_state));
}

/* One lane's signalling rate in units of 100 Mbit/s (IBTA vol. 2, 5.1). */
static const struct {
	u16 speed;
	u16 rate;
	const char *name;
} lane_speeds[] = {
	{ IB_SPEED_SDR, 25, "SDR" },	 { IB_SPEED_DDR, 50, "DDR" },
	{ IB_SPEED_QDR, 100, "QDR" },	 { IB_SPEED_FDR10, 100, "FDR10" },
	{ IB_SPEED_FDR, 140, "FDR" },	 { IB_SPEED_EDR, 250, "EDR" },
	{ IB_SPEED_HDR, 500, "HDR" },	 { IB_SPEED_NDR, 1000, "NDR" },
	{ IB_SPEED_XDR, 2000, "XDR" },
};

static ssize_t rate_show(struct ib_device *ibdev, u32 port,
			 const struct ib_port_attr *state, char *buf)
{
	int lanes = ib_width_enum_to_int(state->active_width);
	unsigned int width = lanes > 0 ? lanes : 1;
	unsigned int rate;
	size_t i;

	/* A speed that has no name is told as the lowest. */
	for (i = ARRAY_SIZE(lane_speeds) - 1; i > 0; i--)
		if (lane_speeds[i].speed == state->active_speed)
			break;
	rate = lane_speeds[i].rate * width;
	return sysfs_emit(buf, "%u%s Gb/sec (%uX %s)\n", rate / 10,
			  rate % 10 ? ".5" : "", width, lane_speeds[i].name);
}

static ssize_t lid_show(struct ib_device *ibdev, u32 port,
			const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "0x%x\n", state->lid);
}

static ssize_t lid_mask_count_show(struct ib_device *ibdev, u32 port,
				   const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "%u\n", state->lmc);
}

static ssize_t sm_lid_show(struct ib_device *ibdev, u32 port,
			   const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "0x%x\n", state->sm_lid);
}

static ssize_t sm_sl_show(struct ib_device *ibdev, u32 port,
			  const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "%u\n", state->sm_sl);
}

static ssize_t cap_mask_show(struct ib_device *ibdev, u32 port,
			     const struct ib_port_attr *state, char *buf)
{
	return sysfs_emit(buf, "0x%08x\n", state->port_cap_flags);
}

static ssize_t link_layer_show(struct ib_device *ibdev, u32 port,
			       const struct ib_port_attr *state, char *buf)
{
	const char *name = "Unknown";

	switch (rdma_port_get_link_layer(ibdev, port)) {
	case IB_LINK_LAYER_INFINIBAND:
		name = "InfiniBand";
		break;
	case IB_LINK_LAYER_ETHERNET:
		name = "Ethernet";
		break;
	default:
		break;
	}
	return sysfs_emit(buf, "%s\n", name);
}

#define PORT_FILE(_name)                                                       \
	static struct port_file port_file_##_name = {                          \
		.attr = { .name = __stringify(_name), .mode = 0444 },          \
		.show = _name##_show,                                          \
	}

PORT_FILE(state);
PORT_FILE(phys_state);
PORT_FILE(rate);
PORT_FILE(lid);
PORT_FILE(lid_mask_count);
PORT_FILE(sm_lid);
PORT_FILE(sm_sl);
PORT_FILE(cap_mask);
PORT_FILE(link_layer);

static struct attribute *port_attrs[] = {
	&port_file_state.attr,
	&port_file_phys_state.attr,
	&port_file_rate.attr,
	&port_file_lid.attr,
	&port_file_lid_mask_count.attr,
	&port_file_sm_lid.attr,
	&port_file_sm_sl.attr,
	&port_file_cap_mask.attr,
	&port_file_link_layer.attr,
	NULL,
};
ATTRIBUTE_GROUPS(port);

static ssize_t port_show(struct kobject *kobj, struct attribute *attr,
			 char *buf)
{
	struct port_file *file = container_of(attr, struct port_file, attr);
	struct ib_port_dir *dir = to_dir(kobj);
	struct ib_port_attr state;
	int err;

	err = ib_query_port(dir->ibdev, dir->port, &state);
	return err ?: file->show(dir->ibdev, dir->port, &state, buf);
}

static const struct sysfs_ops port_ops = {
	.show = port_show,
};

static const struct kobj_type port_kind = {
	.release = release_dir,
	.sysfs_ops = &port_ops,
	.default_groups = port_groups,
};

/* A directory without files. */
static const struct kobj_type plain_kind = {
	.release = release_dir,
	.sysfs_ops = &port_ops,
};

/* ---- tables: pkeys, gids, gid_attrs ---- */

static int index_of(const struct attribute *attr)
{
	return container_of(attr, struct table_file, attr) - table_files;
}

static ssize_t pkey_show(struct kobject *kobj, struct attribute *attr,
			 char *buf)
{
	struct ib_port_dir *dir = to_dir(kobj);
	u16 pkey;
	int err;

	err = ib_query_pkey(dir->ibdev, dir->port, index_of(attr), &pkey);
	return err ?: sysfs_emit(buf, "0x%04x\n", pkey);
}

/* An empty entry reads as zeros: that is how programs know one. */
static ssize_t gid_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct ib_port_dir *dir = to_dir(kobj);
	const struct ib_gid_attr *entry;
	union ib_gid gid = {};

	entry = rdma_get_gid_attr(dir->ibdev, dir->port, index_of(attr));
	if (!IS_ERR(entry)) {
		gid = entry->gid;
		rdma_put_gid_attr(entry);
	}
	return sysfs_emit(buf, "%pI6\n", gid.raw);
}

/* An empty entry has no type: -EINVAL is what libibverbs takes for that. */
static ssize_t gid_type_show(struct kobject *kobj, struct attribute *attr,
			     char *buf)
{
	struct ib_port_dir *dir = to_dir(kobj);
	const struct ib_gid_attr *entry;
	ssize_t length;

	entry = rdma_get_gid_attr(dir->ibdev, dir->port, index_of(attr));
	if (IS_ERR(entry))
		return -EINVAL;
	length = sysfs_emit(buf, "%s\n",
			    entry->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP ?
				    "RoCE v2" : "IB/RoCE v1");
	rdma_put_gid_attr(entry);
	return length;
}

/* What a namespace calls its netdevs is no other's business. */
static ssize_t gid_ndev_show(struct kobject *kobj, struct attribute *attr,
			     char *buf)
{
	struct ib_port_dir *dir = to_dir(kobj);
	const struct ib_gid_attr *entry;
	const struct net *net = dir->net ?: rdma_dev_net(dir->ibdev);
	struct net_device *ndev;
	ssize_t length = -EINVAL;

	entry = rdma_get_gid_attr(dir->ibdev, dir->port, index_of(attr));
	if (IS_ERR(entry))
		return -EINVAL;
	rcu_read_lock();
	ndev = rcu_dereference(entry->ndev);
	if (ndev && net_eq(dev_net(ndev), net))
		length = sysfs_emit(buf, "%s\n", ndev->name);
	rcu_read_unlock();
	rdma_put_gid_attr(entry);
	return length;
}

#define TABLE_KIND(_name)                                                      \
	static const struct sysfs_ops _name##_ops = {                          \
		.show = _name##_show,                                          \
	};                                                                     \
	static const struct kobj_type _name##_kind = {                         \
		.release = release_dir,                                        \
		.sysfs_ops = &_name##_ops,                                     \
	}

TABLE_KIND(pkey);
TABLE_KIND(gid);
TABLE_KIND(gid_type);
TABLE_KIND(gid_ndev);

/* ---- hw_counters ---- */

static ssize_t counter_show(struct kobject *kobj, struct attribute *attr,
			    char *buf)
{
	struct ib_port_dir *dir = to_dir(kobj);
	struct ib_port_core *slot = &dir->ibdev->core->ports[dir->port];
	struct rdma_hw_stats *stats = slot->hw_stats;
	int index = attr - slot->hw_attrs;
	u64 value = 0;
	int err = 0;

	mutex_lock(&stats->lock);
	if (index == stats->num_counters) {
		value = jiffies_to_msecs(stats->lifespan);
	} else {
		err = ib_hw_stats_refresh(dir->ibdev, stats, dir->port, index);
		value = stats->value[index];
	}
	mutex_unlock(&stats->lock);
	return err ?: sysfs_emit(buf, "%llu\n", value);
}

/* Only the lifespan can be written. */
static ssize_t counter_store(struct kobject *kobj, struct attribute *attr,
			     const char *buf, size_t count)
{
	struct ib_port_dir *dir = to_dir(kobj);
	struct ib_port_core *slot = &dir->ibdev->core->ports[dir->port];
	struct rdma_hw_stats *stats = slot->hw_stats;
	unsigned int msecs;
	int err;

	err = kstrtouint(buf, 10, &msecs);
	if (err)
		return err;
	if (msecs > 10 * MSEC_PER_SEC)
		return -EINVAL;

	mutex_lock(&stats->lock);
	stats->lifespan = msecs_to_jiffies(msecs);
	stats->timestamp = jiffies - stats->lifespan - 1;
	mutex_unlock(&stats->lock);
	return count;
}

static const struct sysfs_ops counter_ops = {
	.show = counter_show,
	.store = counter_store,
};

static const struct kobj_type counter_kind = {
	.release = release_dir,
	.sysfs_ops = &counter_ops,
};

/* ---- counters ---- */

/*
 * The names that monitoring looks for, on ports of any kind.  Data is told in
 * units of four bytes, as InfiniBand counts it.
 */
struct port_counter {
	struct attribute attr;
	int at;		/* in struct ib_port_counters; -1: stays 0 here */
	int unit;
};

#define PORT_COUNTER(_name, _at, _unit)                                        \
	{ .attr = { .name = __stringify(_name), .mode = 0444 },                \
	  .at = _at, .unit = _unit }
#define COUNTED(_name, _member)                                                \
	PORT_COUNTER(_name, offsetof(struct ib_port_counters, _member), 1)
#define COUNTED_DATA(_name, _member)                                           \
	PORT_COUNTER(_name, offsetof(struct ib_port_counters, _member), 4)
#define NOT_COUNTED(_name) PORT_COUNTER(_name, -1, 1)

static struct port_counter port_counters[] = {
	COUNTED_DATA(port_xmit_data, xmit_bytes),
	COUNTED_DATA(port_rcv_data, rcv_bytes),
	COUNTED(port_xmit_packets, xmit_packets),
	COUNTED(port_rcv_packets, rcv_packets),
	COUNTED(port_xmit_discards, xmit_discards),
	COUNTED(port_rcv_errors, rcv_errors),
	COUNTED(link_downed, link_downed),
	NOT_COUNTED(VL15_dropped),
	NOT_COUNTED(excessive_buffer_overrun_errors),
	NOT_COUNTED(link_error_recovery),
	NOT_COUNTED(local_link_integrity_errors),
	NOT_COUNTED(port_rcv_constraint_errors),
	NOT_COUNTED(port_rcv_remote_physical_errors),
	NOT_COUNTED(port_rcv_switch_relay_errors),
	NOT_COUNTED(port_xmit_constraint_errors),
	NOT_COUNTED(port_xmit_wait),
	NOT_COUNTED(symbol_error),
};

static ssize_t port_counter_show(struct kobject *kobj, struct attribute *attr,
				 char *buf)
{
	const struct port_counter *which =
		container_of(attr, struct port_counter, attr);
	struct ib_port_dir *dir = to_dir(kobj);
	struct ib_port_counters counters = {};
	u64 value = 0;
	int err;

	err = dir->ibdev->ops.query_port_counters(dir->ibdev, dir->port,
						  &counters);
	if (err)
		return err;
	if (which->at >= 0)
		value = *(u64 *)((void *)&counters + which->at);
	return sysfs_emit(buf, "%llu\n", value / which->unit);
}

static const struct sysfs_ops port_counter_ops = {
	.show = port_counter_show,
};

static const struct kobj_type port_counter_kind = {
	.release = release_dir,
	.sysfs_ops = &port_counter_ops,
};

/* ---- trees ---- */

/* On failure nothing is left of it; else ib_sysfs_ports_del() undoes it. */
static struct ib_port_dir *dir_add(struct ib_sysfs_view *view,
				   const struct kobj_type *kind,
				   struct kobject *parent, u32 port,
				   const char *name)
{
	struct ib_port_dir *dir;
	int err;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL_ACCOUNT);
	if (!dir)
		return ERR_PTR(-ENOMEM);
	dir->ibdev = view->ibdev;
	dir->net = view->net;
	dir->port = port;
	err = kobject_init_and_add(&dir->kobj, kind, parent, "%s", name);
	if (err) {
		kobject_put(&dir->kobj);
		return ERR_PTR(err);
	}
	list_add(&dir->entry, &view->dirs);
	return dir;
}

/* Files for the indexes below @count; what is there stays. */
static int table_grow(struct ib_port_dir *dir, int count)
{
	int err;

	while (dir->files < min(count, TABLE_FILES)) {
		err = sysfs_create_file(&dir->kobj,
					&table_files[dir->files].attr);
		if (err)
			return err;
		dir->files++;
	}
	return 0;
}

static int pkeys_add(struct ib_sysfs_view *view, struct kobject *parent,
		     u32 port)
{
	struct ib_port_dir *dir;

	dir = dir_add(view, &pkey_kind, parent, port, "pkeys");
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	return table_grow(dir, ib_device_port(view->ibdev, port)
				       ->immutable.pkey_tbl_len);
}

/* A program that takes an index without asking takes 0. */
static int gid_files(const struct ib_port_dir *dir)
{
	const struct ib_port_core *slot = ib_device_port(dir->ibdev, dir->port);

	return dir->net ? max(gid_table_top(slot->gids), 1) :
			  slot->immutable.gid_tbl_len;
}

static int gids_add(struct ib_sysfs_view *view, const struct kobj_type *kind,
		    struct kobject *parent, u32 port, const char *name)
{
	struct ib_port_dir *dir;

	dir = dir_add(view, kind, parent, port, name);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	dir->by_gid = true;
	return table_grow(dir, gid_files(dir));
}

static int counters_add(struct ib_sysfs_view *view, struct kobject *parent,
			u32 port)
{
	struct ib_port_core *slot = &view->ibdev->core->ports[port];
	struct ib_port_dir *dir;
	int i, err = 0;

	if (!slot->hw_stats || view->net)
		return 0;
	dir = dir_add(view, &counter_kind, parent, port, "hw_counters");
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (i = 0; i <= slot->hw_stats->num_counters && !err; i++)
		err = sysfs_create_file(&dir->kobj, &slot->hw_attrs[i]);
	return err;
}

static int port_counters_add(struct ib_sysfs_view *view, struct kobject *parent,
			     u32 port)
{
	struct ib_port_dir *dir;
	int i, err = 0;

	if (!view->ibdev->ops.query_port_counters)
		return 0;
	dir = dir_add(view, &port_counter_kind, parent, port, "counters");
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (i = 0; i < ARRAY_SIZE(port_counters) && !err; i++)
		err = sysfs_create_file(&dir->kobj, &port_counters[i].attr);
	return err;
}

static int port_add(struct ib_sysfs_view *view, u32 port)
{
	struct ib_port_dir *dir, *attrs;
	char name[12];
	int err;

	snprintf(name, sizeof(name), "%u", port);
	dir = dir_add(view, &port_kind, view->ports, port, name);
	if (IS_ERR(dir))
		return PTR_ERR(dir);

	err = pkeys_add(view, &dir->kobj, port);
	if (err)
		return err;
	err = gids_add(view, &gid_kind, &dir->kobj, port, "gids");
	if (err)
		return err;

	attrs = dir_add(view, &plain_kind, &dir->kobj, port, "gid_attrs");
	if (IS_ERR(attrs))
		return PTR_ERR(attrs);
	err = gids_add(view, &gid_type_kind, &attrs->kobj, port, "types");
	if (err)
		return err;
	err = gids_add(view, &gid_ndev_kind, &attrs->kobj, port, "ndevs");
	if (err)
		return err;

	err = port_counters_add(view, &dir->kobj, port);
	return err ?: counters_add(view, &dir->kobj, port);
}

int ib_sysfs_ports_add(struct ib_sysfs_view *view)
{
	u32 port;
	int err = 0;

	view->ports = kobject_create_and_add("ports", &view->dev->kobj);
	if (!view->ports)
		return -ENOMEM;

	if (!view->ibdev->is_switch)
		err = counters_add(view, &view->dev->kobj, 0);
	if (err)
		goto delete_dirs;
	rdma_for_each_port(view->ibdev, port) {
		err = port_add(view, port);
		if (err)
			goto delete_dirs;
	}
	return 0;

delete_dirs:
	ib_sysfs_ports_del(view);
	return err;
}

/* The indexes of the device's own tree are all there from the beginning. */
int ib_sysfs_ports_grow(struct ib_sysfs_view *view)
{
	struct ib_port_dir *dir;
	int err = 0;

	list_for_each_entry(dir, &view->dirs, entry)
		if (dir->by_gid && !err)
			err = table_grow(dir, gid_files(dir));
	return err;
}

/* Waits for the readers of each file. */
void ib_sysfs_ports_del(struct ib_sysfs_view *view)
{
	struct ib_port_dir *dir, *next;

	/* The newest, which lie deepest, come first. */
	list_for_each_entry_safe(dir, next, &view->dirs, entry) {
		list_del(&dir->entry);
		kobject_del(&dir->kobj);
		kobject_put(&dir->kobj);
	}
	kobject_del(view->ports);
	kobject_put(view->ports);
	view->ports = NULL;
}

int ib_sysfs_port_init(void)
{
	int i;

	table_files = kcalloc(TABLE_FILES, sizeof(*table_files), GFP_KERNEL);
	if (!table_files)
		return -ENOMEM;
	for (i = 0; i < TABLE_FILES; i++) {
		struct table_file *file = &table_files[i];

		snprintf(file->name, sizeof(file->name), "%d", i);
		sysfs_attr_init(&file->attr);
		file->attr.name = file->name;
		file->attr.mode = 0444;
	}
	return 0;
}

void ib_sysfs_port_exit(void)
{
	kfree(table_files);
}
