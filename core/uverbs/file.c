// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Opening, mapping and closing a uverbs device node. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "method.h"

static void uverbs_file_release(struct kref *ref)
{
	struct ib_uverbs_file *file = container_of(ref, struct ib_uverbs_file,
						   ref);

	put_device(&file->udev->dev);
	xa_destroy(&file->objects);
	mutex_destroy(&file->lock);
	kfree(file);
}

void uverbs_file_put(struct ib_uverbs_file *file)
{
	kref_put(&file->ref, uverbs_file_release);
}

static int uverbs_open(struct inode *inode, struct file *filp)
{
	struct uverbs_device *udev = container_of(inode->i_cdev,
						  struct uverbs_device, cdev);
	struct ib_uverbs_file *file;
	struct ib_device *ibdev;
	int ret = 0;
	int idx;

	ibdev = uverbs_enter(udev, &idx);
	if (!ibdev) {
		ret = -ENODEV;
		goto exit;
	}
	if (!rdma_dev_access_netns(ibdev, current->nsproxy->net_ns)) {
		ret = -EPERM;
		goto exit;
	}
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file) {
		ret = -ENOMEM;
		goto exit;
	}
	kref_init(&file->ref);
	get_device(&udev->dev);
	file->udev = udev;
	xa_init_flags(&file->objects, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	spin_lock_init(&file->running_lock);
	INIT_LIST_HEAD(&file->running);
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->event_files);

	/* Within uverbs_enter(): a removal that comes now finds the file. */
	mutex_lock(&udev->files_lock);
	list_add_tail(&file->entry, &udev->files);
	mutex_unlock(&udev->files_lock);

	filp->private_data = file;
	stream_open(inode, filp);
exit:
	uverbs_exit(udev, idx);
	return ret;
}

/*
 * Destroys all the program made.  No command runs: either the descriptor is
 * closed, or the device is gone and the commands that had begun have ended.
 */
static void uverbs_file_teardown(struct ib_uverbs_file *file, bool fatal)
{
	struct uverbs_event_file *ef;

	mutex_lock(&file->lock);
	if (file->torn_down)
		goto unlock;
	file->torn_down = true;
	uverbs_objects_destroy_all(file);
	list_for_each_entry(ef, &file->event_files, entry) {
		if (fatal)
			uverbs_event_file_fatal(ef);
		uverbs_event_file_close(ef);
	}
	if (file->default_async) {
		uverbs_event_file_put(file->default_async);
		file->default_async = NULL;
	}
	if (file->ucontext) {
		uverbs_context_destroy(file->ucontext);
		file->ucontext = NULL;
	}
unlock:
	mutex_unlock(&file->lock);
}

static int uverbs_release(struct inode *inode, struct file *filp)
{
	struct ib_uverbs_file *file = filp->private_data;

	uverbs_file_teardown(file, false);
	mutex_lock(&file->udev->files_lock);
	list_del(&file->entry);
	mutex_unlock(&file->udev->files_lock);
	uverbs_file_put(file);
	return 0;
}

/* Tells every program that the device is gone, without waiting for commands. */
void uverbs_files_fatal(struct uverbs_device *udev)
{
	struct uverbs_event_file *ef;
	struct ib_uverbs_file *file;

	mutex_lock(&udev->files_lock);
	list_for_each_entry(file, &udev->files, entry) {
		mutex_lock(&file->lock);
		list_for_each_entry(ef, &file->event_files, entry)
			uverbs_event_file_fatal(ef);
		mutex_unlock(&file->lock);
	}
	mutex_unlock(&udev->files_lock);
}

/* Whose commands are it that the device's removal waits for? */
void uverbs_files_tell(struct uverbs_device *udev)
{
	const struct uverbs_cmd *cmd;
	struct ib_uverbs_file *file;
	char comm[TASK_COMM_LEN];
	pid_t pid;

	mutex_lock(&udev->files_lock);
	list_for_each_entry(file, &udev->files, entry) {
		/* A command that is listed has not returned to its program. */
		spin_lock(&file->running_lock);
		cmd = list_first_entry_or_null(&file->running,
					       struct uverbs_cmd, running);
		if (cmd) {
			pid = task_pid_nr(cmd->task);
			get_task_comm(comm, cmd->task);
		}
		spin_unlock(&file->running_lock);
		if (cmd)
			ibdev_warn_ratelimited(udev->leaving,
					       "cannot go before a command of %s (pid %d) ends\n",
					       comm, pid);
	}
	mutex_unlock(&udev->files_lock);
}

/* A file that is being closed stays listed until its own teardown is over. */
void uverbs_files_teardown(struct uverbs_device *udev)
{
	struct ib_uverbs_file *file;

	mutex_lock(&udev->files_lock);
	list_for_each_entry(file, &udev->files, entry)
		uverbs_file_teardown(file, true);
	mutex_unlock(&udev->files_lock);
}

/* Rings are plain kernel pages that the mapping holds: they outlive us. */
static int uverbs_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct ib_ucontext *ctx;
	struct ib_device *ibdev;
	int idx;
	int ret;

	ibdev = uverbs_enter(file->udev, &idx);
	/* Pairs with the release when GET_CONTEXT is complete. */
	ctx = smp_load_acquire(&file->ucontext);
	if (!ibdev)
		ret = -EIO;
	else if (!ctx)
		ret = -EINVAL;
	else if (!ibdev->ops.mmap)
		ret = -EOPNOTSUPP;
	else
		ret = ibdev->ops.mmap(ctx, vma);
	uverbs_exit(file->udev, idx);
	return ret;
}

const struct file_operations uverbs_fops = {
	.owner = THIS_MODULE,
	.open = uverbs_open,
	.release = uverbs_release,
	.write = uverbs_write,
	.unlocked_ioctl = uverbs_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = uverbs_mmap,
};
