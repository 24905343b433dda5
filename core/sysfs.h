/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The files of class "infiniband".  Their names and formats are what
 * libibverbs, libibumad and monitoring tools parse.
 *
 *	DEVICE/node_type node_guid sys_image_guid node_desc fw_ver  sysfs.c
 *	DEVICE/...                                   ib_device_ops.device_group
 *	DEVICE/hw_counters/NAME, lifespan   H        the device's own counters
 *	DEVICE/ports/N/state rate lid ...            sysfs_port.c, as all below
 *	DEVICE/ports/N/pkeys/I  gids/I
 *	DEVICE/ports/N/gid_attrs/types/I  gid_attrs/ndevs/I
 *	DEVICE/ports/N/counters/NAME
 *	DEVICE/ports/N/hw_counters/NAME, lifespan    H
 *
 * Anybody can make network namespaces, and the kernel charges nobody for the
 * files of sysfs.  So a view in a further namespace is lean: it lacks what is
 * marked with H, which netlink tells there as well, and its GID tables have
 * files for the indexes that have been in use, where the device's own tree has
 * one for each.
 *
 * Lifetime: a view is one such tree: that of the device itself, or one in a
 * further network namespace with a struct device of its own.  Deleting a view
 * waits for the files' readers and lets no new ones in; so a show or store
 * function may use the device and its driver.  A directory's memory goes with
 * the last reference to its kobject and uses neither when it does.
 */
#ifndef SOFTROCE_CORE_SYSFS_H
#define SOFTROCE_CORE_SYSFS_H

#include <linux/device.h>
#include <linux/kobject.h>
#include <rdma/ib_verbs.h>

struct ib_port_dir;
struct net;

/**
 * struct ib_sysfs_view - one tree of files
 * @dev: the class device; that of the ib_device or the view's own
 * @ibdev: the device
 * @net: the further namespace, only to be compared; NULL: the device's own tree
 * @ports: the directory of that name
 * @dirs: all directories with files that are made by hand, in the order of
 *	their making
 */
struct ib_sysfs_view {
	struct device *dev;
	struct ib_device *ibdev;
	const struct net *net;
	struct kobject *ports;
	struct list_head dirs;
};

extern struct class ib_class;

int ib_sysfs_init(void);
void ib_sysfs_exit(void);

int ib_sysfs_add(struct ib_device *ibdev);
void ib_sysfs_announce(struct ib_device *ibdev);
void ib_sysfs_del(struct ib_device *ibdev);

struct ib_sysfs_view *ib_sysfs_view_create(struct ib_device *ibdev,
					   struct net *net);
void ib_sysfs_view_destroy(struct ib_sysfs_view *view);

/* ---- sysfs_port.c ---- */

int ib_sysfs_port_init(void);
void ib_sysfs_port_exit(void);

int ib_sysfs_ports_add(struct ib_sysfs_view *view);
void ib_sysfs_ports_del(struct ib_sysfs_view *view);
/* Files for the GID indexes that have come into use since. */
int ib_sysfs_ports_grow(struct ib_sysfs_view *view);

#endif
