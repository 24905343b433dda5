/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A uverbs device node and the files that programs open on it.
 *
 * Lifetime of the node: struct uverbs_device is made when a device comes and
 * lives as long as its struct device has references: open files hold one each.
 * @ibdev is set between the client's add and remove; whoever uses it is between
 * uverbs_enter() and uverbs_exit(), and removal waits for those, after it has
 * cleared @ibdev so that none begins.
 *
 * No page of a program is waited for in that stretch: a file system of the
 * program's own may serve it, and never do so, and not even SIGKILL ends such a
 * fault.  Commands read and write user memory outside; a driver's accesses fail
 * where a page is absent, and the command gets it outside and begins again
 * (command.h).  What a driver does without the core's functions, copying or
 * pinning by itself, can hold the removal up; a removal that has waited for some
 * seconds says in the log for whom.
 *
 * Lifetime of a file: references are held by the open file and by each event
 * file that came from it.  Its context and objects die in
 * uverbs_file_teardown(), when the file is closed or the device goes, whichever
 * is first.
 *
 * Locks, outer to inner: uverbs_device.files_lock, ib_uverbs_file.lock.
 * Neither is held over an access to user memory.
 */
#ifndef SOFTROCE_UVERBS_FILE_H
#define SOFTROCE_UVERBS_FILE_H

#include <linux/cdev.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/srcu.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

struct uverbs_event_file;

/**
 * struct uverbs_device - /dev/infiniband/uverbsN
 * @dev: uverbsN in sysfs
 * @cdev: the device node
 * @srcu: read-held by what uses @ibdev
 * @ibdev: the device, NULL once it goes
 * @driver_id: what a program's ioctl has to name
 * @num_comp_vectors: the device's, constant
 * @minor: number of the node
 * @owner: whose it is: the user namespace of the device's network namespace when
 *	the node was made, with a reference
 * @minor_entry: in the list of those that have a minor
 * @leaving: the device, while its removal waits for commands
 * @tell_work: says for whose
 * @files_lock: guards @files
 * @files: struct ib_uverbs_file, all that are open
 */
struct uverbs_device {
	struct device dev;
	struct cdev cdev;
	struct srcu_struct srcu;
	struct ib_device __rcu *ibdev;
	u32 driver_id;
	u32 num_comp_vectors;
	int minor;
	struct user_namespace *owner;
	struct list_head minor_entry;
	struct ib_device *leaving;
	struct delayed_work tell_work;
	/* guards files */
	struct mutex files_lock;
	struct list_head files;
};

/**
 * struct ib_uverbs_file - one open() of a device node
 * @ref: references
 * @udev: the node, with a reference
 * @entry: in uverbs_device.files
 * @objects: struct ib_uobject by handle
 * @running_lock: guards @running
 * @running: struct uverbs_cmd that is between uverbs_enter() and uverbs_exit()
 * @lock: guards what follows, and the teardown
 * @torn_down: context and objects are gone for good
 * @ucontext: set once by GET_CONTEXT, smp_load_acquire() without @lock
 * @event_files: struct uverbs_event_file whose descriptor is open
 * @default_async: where events of objects go that name no event file
 */
struct ib_uverbs_file {
	struct kref ref;
	struct uverbs_device *udev;
	struct list_head entry;
	struct xarray objects;
	spinlock_t running_lock; /* guards running */
	struct list_head running;
	/* guards what follows */
	struct mutex lock;
	bool torn_down;
	struct ib_ucontext *ucontext;
	struct list_head event_files;
	struct uverbs_event_file *default_async;
};

/*
 * Returns the device, usable until uverbs_exit(), or NULL when it is gone;
 * uverbs_exit() has to come in either case.
 */
static inline struct ib_device *uverbs_enter(struct uverbs_device *udev,
					     int *idx) __acquires(&udev->srcu)
{
	*idx = srcu_read_lock(&udev->srcu);
	return srcu_dereference(udev->ibdev, &udev->srcu);
}

static inline void uverbs_exit(struct uverbs_device *udev, int idx)
	__releases(&udev->srcu)
{
	srcu_read_unlock(&udev->srcu, idx);
}

extern const struct file_operations uverbs_fops;

void uverbs_file_put(struct ib_uverbs_file *file);
void uverbs_files_fatal(struct uverbs_device *udev);
void uverbs_files_tell(struct uverbs_device *udev);
void uverbs_files_teardown(struct uverbs_device *udev);

long uverbs_ioctl(struct file *filp, unsigned int code, unsigned long arg);
ssize_t uverbs_write(struct file *filp, const char __user *buf, size_t count,
		     loff_t *pos);

#endif
