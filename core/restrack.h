/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Resource tracking inside the core.
 *
 * Lifetime: the tables of a device are made by rdma_restrack_init() before
 * anything can be made on the device, and freed by rdma_restrack_clean() after
 * everything is gone.  An entry lives in its object:
 *
 *	rdma_restrack_new() -> rdma_restrack_set_name() -> the driver makes the
 *	object -> rdma_restrack_add() -> findable -> rdma_restrack_del() -> the
 *	driver destroys the object -> memory freed.
 *
 * When the driver fails to make the object, rdma_restrack_put() undoes
 * rdma_restrack_new() and rdma_restrack_set_name().
 */
#ifndef SOFTROCE_CORE_RESTRACK_H
#define SOFTROCE_CORE_RESTRACK_H

#include <linux/xarray.h>
#include <rdma/restrack.h>

/**
 * struct rdma_restrack_root - the objects of one type on one device
 * @xa: entries by their number
 * @next_id: where the search for a free number begins
 */
struct rdma_restrack_root {
	struct xarray xa;
	u32 next_id;
};

/* Tables: made and freed with the device. */
int rdma_restrack_init(struct ib_device *dev);
void rdma_restrack_clean(struct ib_device *dev);

/* Objects. */
void rdma_restrack_new(struct rdma_restrack_entry *res,
		       enum rdma_restrack_type type);
void rdma_restrack_set_name(struct rdma_restrack_entry *res,
			    const char *caller);
void rdma_restrack_add(struct rdma_restrack_entry *res);
void rdma_restrack_del(struct rdma_restrack_entry *res);
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent);

/* Readers. */
bool rdma_restrack_visible(const struct rdma_restrack_entry *res);
struct rdma_restrack_entry *rdma_restrack_get_next(struct ib_device *dev,
						   enum rdma_restrack_type type,
						   unsigned long *id);

#endif
