/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The rdma cgroup: how many contexts and objects a container may have.
 *
 * Lifetime: a charge is made before an object is created and given back after
 * it is destroyed, both while the device is registered; the cgroup stays alive
 * by the charge.  It is that of the process which made the object, whoever
 * destroys it.  Objects go before their context, and so do their charges.  The
 * device's slot lives from registration, before programs find the device, to
 * unregistration, when ib_uverbs has destroyed all they made.
 *
 * What is charged: a context is a HCA_HANDLE; a PD, MR, MW, AH, CQ, SRQ or QP of
 * a program is a HCA_OBJECT.  Kernel consumers' objects and event files are not.
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
