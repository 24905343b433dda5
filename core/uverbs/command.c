// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The steps of a command that do not depend on how it came. */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <rdma/ib_umem.h>
#include "method.h"

/* A page that another thread of the program takes away again and again. */
#define UVERBS_MAX_RUNS 16

void uverbs_cmd_init(struct uverbs_cmd *cmd, struct ib_uverbs_file *file)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->bundle.ufile = file;
	cmd->file = file;
	cmd->new_fd = -1;
}

/**
 * uverbs_probe - can a response be written?
 * @to: where it goes
 * @len: bytes
 *
 * What is there may be overwritten.
 *
 * Context: process, without the device.
 * Return: 0, or -EFAULT.
 */
int uverbs_probe(void __user *to, size_t len)
{
	return fault_in_writeable(to, len) ? -EFAULT : 0;
}

static void uverbs_cmd_begin(struct uverbs_cmd *cmd)
{
	struct ib_uverbs_file *file = cmd->file;

	cmd->task = current;
	spin_lock(&file->running_lock);
	list_add_tail(&cmd->running, &file->running);
	spin_unlock(&file->running_lock);
}

static void uverbs_cmd_end(struct uverbs_cmd *cmd)
{
	struct ib_uverbs_file *file = cmd->file;

	spin_lock(&file->running_lock);
	list_del(&cmd->running);
	spin_unlock(&file->running_lock);
}

static int uverbs_cmd_run_once(struct uverbs_cmd *cmd, uverbs_handler handler,
			       bool needs_context)
{
	struct uverbs_device *udev = cmd->file->udev;
	int idx;
	int ret;

	cmd->ibdev = uverbs_enter(udev, &idx);
	uverbs_cmd_begin(cmd);
	/* Pairs with the release when GET_CONTEXT is complete. */
	cmd->bundle.context = smp_load_acquire(&cmd->file->ucontext);
	if (!cmd->ibdev)
		ret = -EIO;
	else if (needs_context && !cmd->bundle.context)
		ret = -EINVAL;
	else
		ret = handler(cmd);

	while (cmd->num_used)
		uverbs_object_unshare(cmd->used[--cmd->num_used]);
	if (cmd->created) {
		if (ret)
			uverbs_object_abort(cmd->created);
		else
			uverbs_object_publish(cmd->created);
		cmd->created = NULL;
		if (ret)
			cmd->created_id = 0;
	}
	uverbs_cmd_end(cmd);
	uverbs_exit(udev, idx);
	cmd->ibdev = NULL;
	return ret;
}

/* Gets the page that the driver has not found; false: there is none. */
static bool uverbs_cmd_get_page(struct uverbs_cmd *cmd)
{
	struct ib_udata *udata = &cmd->bundle.driver_udata;
	const void __user *at = udata->absent;
	size_t rest;

	if (!at)
		return false;
	udata->absent = NULL;
	if (udata->absent_write)
		rest = fault_in_writeable((void __user *)at, udata->absent_len);
	else
		rest = fault_in_readable(at, udata->absent_len);
	return !rest && !fatal_signal_pending(current);
}

static void uverbs_cmd_drop_fd(struct uverbs_cmd *cmd)
{
	if (!cmd->new_filp)
		return;
	put_unused_fd(cmd->new_fd);
	fput(cmd->new_filp);
	cmd->new_filp = NULL;
	cmd->new_fd = -1;
}

/* As before the run that has failed. */
static void uverbs_cmd_reset(struct uverbs_cmd *cmd)
{
	unsigned int i;

	uverbs_cmd_drop_fd(cmd);
	kvfree(cmd->large);
	cmd->large = NULL;
	for (i = 0; i < UVERBS_MAX_ATTRS; i++)
		cmd->attrs[i].out = NULL;
	cmd->resp_used = 0;
	memset(cmd->resp, 0, sizeof(cmd->resp));
}

/**
 * uverbs_cmd_run - run the handler of a command
 * @cmd: the command, its request read
 * @handler: the handler, which changes nothing when it fails
 * @needs_context: it does not work before GET_CONTEXT
 *
 * Context: process.
 * Return: 0 or an error; -EIO when the device is gone.  After 0 a new object is
 *	published: it cannot be left to uverbs_cmd_finish(), which runs without
 *	the device.
 */
int uverbs_cmd_run(struct uverbs_cmd *cmd, uverbs_handler handler,
		   bool needs_context)
{
	unsigned int runs;
	int ret;

	for (runs = 1;; runs++) {
		ret = uverbs_cmd_run_once(cmd, handler, needs_context);
		if (!ret || runs == UVERBS_MAX_RUNS ||
		    !uverbs_cmd_get_page(cmd))
			return ret;
		uverbs_cmd_reset(cmd);
	}
}

/* The program never learned its handle. */
static void uverbs_cmd_undo_object(struct uverbs_cmd *cmd)
{
	struct uverbs_device *udev = cmd->file->udev;
	struct uverbs_events_told told;
	int idx;

	/*
	 * Without a device it is destroyed already.  A program that guessed
	 * the handle may use it now: then it stays until the file is closed.
	 */
	if (uverbs_enter(udev, &idx))
		uverbs_object_destroy(cmd->file, cmd->created_type,
				      cmd->created_id, &told);
	uverbs_exit(udev, idx);
}

/**
 * uverbs_cmd_finish - end a command
 * @cmd: the command, which has run
 * @err: 0 when the reply is written, else why there is none
 *
 * Context: process, without the device.
 */
void uverbs_cmd_finish(struct uverbs_cmd *cmd, int err)
{
	if (err && cmd->created_id)
		uverbs_cmd_undo_object(cmd);
	if (err) {
		uverbs_cmd_drop_fd(cmd);
	} else if (cmd->new_filp) {
		uverbs_event_file_make_default(cmd->new_filp->private_data);
		fd_install(cmd->new_fd, cmd->new_filp);
	}
	ib_umem_release(cmd->umem);
	kvfree(cmd->large);
}
