// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The rdma cgroup's charges for contexts and objects. */
#include <rdma/ib_verbs.h>
#include <cgroup.h>
#include <device.h>
#include "verbs.h"

void ib_device_register_rdmacg(struct ib_device *dev)
{
#ifdef CONFIG_CGROUP_RDMA
	struct rdmacg_device *cg = &dev->core->cg_device.cg;

	/* The controller prints the name as it is then: renaming shows. */
	cg->name = dev->name;
	rdmacg_register_device(cg);
#endif
}

void ib_device_unregister_rdmacg(struct ib_device *dev)
{
#ifdef CONFIG_CGROUP_RDMA
	rdmacg_unregister_device(&dev->core->cg_device.cg);
#endif
}

/**
 * ib_rdmacg_try_charge - book one context or object on the caller's cgroup
 * @obj: what the charge is remembered in
 * @dev: the device it is made on
 * @type: context (HCA_HANDLE) or object (HCA_OBJECT)
 *
 * Context: process, may sleep.
 * Return: 0; -EAGAIN when the limit of this cgroup or one above it is reached,
 * which is what the program sees; -ENOMEM.
 */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *obj, struct ib_device *dev,
			 enum rdmacg_resource_type type)
{
#ifdef CONFIG_CGROUP_RDMA
	int ret;

	ret = rdmacg_try_charge(&obj->cg, &dev->core->cg_device.cg, type);
	if (ret == -EAGAIN)
		verbs_refuse(dev, "rdma.max of the cgroup allows no further %s",
			     type == RDMACG_RESOURCE_HCA_HANDLE ? "context" :
								  "object");
	return ret;
#else
	return 0;
#endif
}
EXPORT_SYMBOL(ib_rdmacg_try_charge);

/**
 * ib_rdmacg_uncharge - give a charge back
 * @obj: as charged
 * @dev: as charged
 * @type: as charged
 *
 * Context: process, may sleep.
 */
void ib_rdmacg_uncharge(struct ib_rdmacg_object *obj, struct ib_device *dev,
			enum rdmacg_resource_type type)
{
#ifdef CONFIG_CGROUP_RDMA
	rdmacg_uncharge(obj->cg, &dev->core->cg_device.cg, type);
#endif
}
EXPORT_SYMBOL(ib_rdmacg_uncharge);
