/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rdma cgroup: how many contexts and objects a container may have.
 *
 * Lifetime: a charge is made before an object is created and given back after
 * it is destroyed, both while the device is registered; the cgroup stays alive
 * by the charge.  The device's slot lives from registration to
 * unregistration.
 */
#ifndef SOFTROCE_CORE_CGROUP_H
#define SOFTROCE_CORE_CGROUP_H

#include <linux/cgroup_rdma.h>

struct ib_device;
struct ib_rdmacg_object;

/* The cgroup controller's handle of a device, empty without the controller. */
struct rdmacg_device_slot {
#ifdef CONFIG_CGROUP_RDMA
	struct rdmacg_device cg;
#endif
};

/* Without the controller these do nothing and succeed. */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *obj, struct ib_device *dev,
			 enum rdmacg_resource_type type);
void ib_rdmacg_uncharge(struct ib_rdmacg_object *obj, struct ib_device *dev,
			enum rdmacg_resource_type type);

void ib_device_register_rdmacg(struct ib_device *dev);
void ib_device_unregister_rdmacg(struct ib_device *dev);

#endif
