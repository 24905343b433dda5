// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Counters that a driver keeps: the core's side. */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rdma/ib_hw_stats.h>
#include <rdma/ib_verbs.h>
#include <device.h>
#include <hw_stats.h>

/**
 * rdma_alloc_hw_stats_struct - room for counters
 * @descs: their names; has to stay until the counters are freed
 * @num_counters: how many
 * @lifespan: for how many milliseconds values may be told again
 *
 * Context: process.
 * Return: the counters, or NULL.
 */
struct rdma_hw_stats *
rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs, int num_counters,
			   unsigned long lifespan)
{
	struct rdma_hw_stats *stats;

	stats = kzalloc(struct_size(stats, value, num_counters), GFP_KERNEL);
	if (!stats)
		return NULL;
	stats->is_disabled = bitmap_zalloc(num_counters, GFP_KERNEL);
	if (!stats->is_disabled) {
		kfree(stats);
		return NULL;
	}

	mutex_init(&stats->lock);
	stats->descs = descs;
	stats->num_counters = num_counters;
	stats->lifespan = msecs_to_jiffies(lifespan);
	stats->timestamp = jiffies - stats->lifespan - 1;
	return stats;
}
EXPORT_SYMBOL(rdma_alloc_hw_stats_struct);

/**
 * rdma_free_hw_stats_struct - undo rdma_alloc_hw_stats_struct()
 * @stats: the counters, or NULL
 *
 * Context: process.
 */
void rdma_free_hw_stats_struct(struct rdma_hw_stats *stats)
{
	if (!stats)
		return;
	bitmap_free(stats->is_disabled);
	kfree(stats);
}
EXPORT_SYMBOL(rdma_free_hw_stats_struct);

/* Port 0 of a device that is no switch stands for the device as a whole. */
static struct ib_port_core *stats_slot(struct ib_device *dev, u32 port)
{
	return port < dev->core->num_ports ? &dev->core->ports[port] : NULL;
}

struct rdma_hw_stats *ib_hw_stats_of(struct ib_device *dev, u32 port)
{
	struct ib_port_core *slot = stats_slot(dev, port);

	return slot ? slot->hw_stats : NULL;
}

int ib_hw_stats_refresh(struct ib_device *dev, struct rdma_hw_stats *stats,
			u32 port, int index)
{
	int done;

	lockdep_assert_held(&stats->lock);

	if (time_is_after_eq_jiffies(stats->timestamp + stats->lifespan))
		return 0;
	done = dev->ops.get_hw_stats(dev, stats, port, index);
	if (done < 0)
		return done;
	if (done == stats->num_counters)
		stats->timestamp = jiffies;
	return 0;
}

static int setup_slot(struct ib_port_core *slot, struct rdma_hw_stats *stats)
{
	int i;

	if (!stats)
		return -ENOMEM;
	slot->hw_stats = stats;

	slot->hw_attrs = kcalloc(stats->num_counters + 1,
				 sizeof(*slot->hw_attrs), GFP_KERNEL);
	if (!slot->hw_attrs)
		return -ENOMEM;
	for (i = 0; i <= stats->num_counters; i++) {
		struct attribute *attr = &slot->hw_attrs[i];
		bool lifespan = i == stats->num_counters;

		sysfs_attr_init(attr);
		attr->name = lifespan ? "lifespan" : stats->descs[i].name;
		attr->mode = lifespan ? 0644 : 0444;
	}
	return 0;
}

int ib_hw_stats_setup(struct ib_device *dev)
{
	const struct ib_device_ops *ops = &dev->ops;
	u32 port;
	int err;

	if (!ops->get_hw_stats)
		return 0;

	if (ops->alloc_hw_device_stats && !dev->is_switch) {
		err = setup_slot(stats_slot(dev, 0),
				 ops->alloc_hw_device_stats(dev));
		if (err)
			return err;
	}

	if (!ops->alloc_hw_port_stats)
		return 0;
	rdma_for_each_port(dev, port) {
		err = setup_slot(stats_slot(dev, port),
				 ops->alloc_hw_port_stats(dev, port));
		if (err)
			return err;
	}
	return 0;
}

/* Undoes all or part of ib_hw_stats_setup(). */
void ib_hw_stats_release(struct ib_device *dev)
{
	struct ib_port_core *slot;
	u32 port;

	for (port = 0; (slot = stats_slot(dev, port)); port++) {
		kfree(slot->hw_attrs);
		slot->hw_attrs = NULL;
		rdma_free_hw_stats_struct(slot->hw_stats);
		slot->hw_stats = NULL;
	}
}
