// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Event files: see event_file.h for who counts what. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include "command.h"

static const struct file_operations uverbs_event_fops;

static void uverbs_event_file_release(struct kref *ref)
{
	struct uverbs_event_file *ef = container_of(ref,
						    struct uverbs_event_file,
						    ref);
	struct uverbs_event *ev, *tmp;

	list_for_each_entry_safe(ev, tmp, &ef->queue, queue_entry)
		if (!ev->embedded)
			kfree(ev);
	kfree(ef);
}

void uverbs_event_file_put(struct uverbs_event_file *ef)
{
	if (ef)
		kref_put(&ef->ref, uverbs_event_file_release);
}

static void uverbs_event_file_wake(struct uverbs_event_file *ef)
{
	wake_up_interruptible(&ef->wait);
	kill_fasync(&ef->fasync, SIGIO, POLL_IN);
}

static struct uverbs_event *uverbs_event_unread(struct list_head *unread,
						u64 element, u32 type)
{
	struct uverbs_event *ev;

	list_for_each_entry(ev, unread, object_entry)
		if (ev->element == element && ev->type == type)
			return ev;
	return NULL;
}

/*
 * The same once more, unread: of an object it is told as often as it came; of a
 * port, whose state it tells, once and behind what came before.
 */
static void uverbs_event_repeat(struct uverbs_event_file *ef,
				struct uverbs_event *ev)
{
	if (!ev->told)
		list_move_tail(&ev->queue_entry, &ef->queue);
	else if (ev->times != U32_MAX)
		ev->times++;
}

/* Queues an asynchronous event; @src: of which object, NULL: of a port. */
static void uverbs_event_file_post(struct uverbs_event_file *ef,
				   struct uverbs_event_source *src,
				   u64 element, u32 type)
{
	struct list_head *unread = src ? &src->unread : &ef->unread;
	struct uverbs_event *ev;
	unsigned long flags;
	bool lost = false;

	spin_lock_irqsave(&ef->lock, flags);
	if (ef->closed)
		goto unlock;
	ev = uverbs_event_unread(unread, element, type);
	if (ev) {
		uverbs_event_repeat(ef, ev);
		goto unlock;
	}
	ev = kzalloc(sizeof(*ev), GFP_ATOMIC | __GFP_NOWARN);
	if (!ev) {
		lost = true;
		goto unlock;
	}
	ev->element = element;
	ev->type = type;
	ev->times = 1;
	ev->told = src ? &src->told : NULL;
	list_add_tail(&ev->object_entry, unread);
	list_add_tail(&ev->queue_entry, &ef->queue);
unlock:
	spin_unlock_irqrestore(&ef->lock, flags);
	if (lost)
		pr_warn_ratelimited("ib_uverbs: no memory for an asynchronous event, which is lost\n");
	uverbs_event_file_wake(ef);
}

static void uverbs_port_event(struct ib_event_handler *handler,
			      struct ib_event *event)
{
	struct uverbs_event_file *ef = container_of(handler,
						    struct uverbs_event_file,
						    port_events);

	uverbs_event_file_post(ef, NULL, event->element.port_num,
			       event->event);
}

/**
 * uverbs_event_file_create - make the event file of a command
 * @cmd: the command; its end hands out or takes back the descriptor, which is
 *	@cmd->new_fd
 * @async: for asynchronous events, otherwise a completion channel
 *
 * Context: process, between uverbs_enter() and uverbs_exit().
 * Return: 0 or an error.
 */
int uverbs_event_file_create(struct uverbs_cmd *cmd, bool async)
{
	struct ib_uverbs_file *ufile = cmd->file;
	struct uverbs_event_file *ef;
	struct file *filp;
	int ret;

	ef = kzalloc(sizeof(*ef), GFP_KERNEL_ACCOUNT);
	if (!ef)
		return -ENOMEM;
	kref_init(&ef->ref);
	ef->async = async;
	spin_lock_init(&ef->lock);
	INIT_LIST_HEAD(&ef->entry);
	INIT_LIST_HEAD(&ef->queue);
	INIT_LIST_HEAD(&ef->unread);
	INIT_LIST_HEAD(&ef->fatal.queue_entry);
	INIT_LIST_HEAD(&ef->fatal.object_entry);
	ef->fatal.embedded = true;
	init_waitqueue_head(&ef->wait);
	kref_get(&ufile->ref);
	ef->ufile = ufile;

	ret = get_unused_fd_flags(O_CLOEXEC);
	if (ret < 0)
		goto put_file;
	cmd->new_fd = ret;
	filp = anon_inode_getfile(async ? "[infinibandevent]" :
					  "[infinibandcomp]",
				  &uverbs_event_fops, ef, O_RDONLY);
	if (IS_ERR(filp)) {
		ret = PTR_ERR(filp);
		goto put_fd;
	}
	/* From here on the end of the command undoes all of it. */
	cmd->new_filp = filp;

	mutex_lock(&ufile->lock);
	list_add_tail(&ef->entry, &ufile->event_files);
	if (async) {
		INIT_IB_EVENT_HANDLER(&ef->port_events, cmd->ibdev,
				      uverbs_port_event);
		ib_register_event_handler(&ef->port_events);
		ef->listening = true;
	}
	mutex_unlock(&ufile->lock);
	return 0;

put_fd:
	put_unused_fd(cmd->new_fd);
	cmd->new_fd = -1;
put_file:
	uverbs_file_put(ufile);
	uverbs_event_file_put(ef);
	return ret;
}

/**
 * uverbs_event_file_get - the event file behind a descriptor
 * @ufile: the uverbs file that it has to come from
 * @fd: the program's descriptor
 * @async: which kind it has to be
 *
 * Context: process.
 * Return: the event file with a reference, or ERR_PTR(-EBADF).
 */
struct uverbs_event_file *uverbs_event_file_get(struct ib_uverbs_file *ufile,
						s64 fd, bool async)
{
	struct uverbs_event_file *ef = ERR_PTR(-EBADF);
	struct uverbs_event_file *found;
	struct file *filp;

	if (fd < 0 || fd > INT_MAX)
		return ef;
	filp = fget(fd);
	if (!filp)
		return ef;
	if (filp->f_op == &uverbs_event_fops) {
		found = filp->private_data;
		if (found->ufile == ufile && found->async == async) {
			kref_get(&found->ref);
			ef = found;
		}
	}
	fput(filp);
	return ef;
}

/* The first async file gets the events of objects that name none. */
void uverbs_event_file_make_default(struct uverbs_event_file *ef)
{
	struct ib_uverbs_file *ufile = ef->ufile;

	if (!ef->async)
		return;
	mutex_lock(&ufile->lock);
	if (!ufile->default_async && !ufile->torn_down) {
		kref_get(&ef->ref);
		ufile->default_async = ef;
	}
	mutex_unlock(&ufile->lock);
}

/* The device is gone.  Call with the uverbs file's lock held; does it once. */
void uverbs_event_file_fatal(struct uverbs_event_file *ef)
{
	if (!ef->async)
		return;
	spin_lock_irq(&ef->lock);
	if (!ef->closed && !ef->fatal.type) {
		ef->fatal.type = IB_EVENT_DEVICE_FATAL;
		ef->fatal.times = 1;
		list_add_tail(&ef->fatal.queue_entry, &ef->queue);
	}
	spin_unlock_irq(&ef->lock);
	uverbs_event_file_wake(ef);
}

/* Nothing more comes.  Call with the uverbs file's lock held. */
void uverbs_event_file_close(struct uverbs_event_file *ef)
{
	if (ef->listening) {
		ib_unregister_event_handler(&ef->port_events);
		ef->listening = false;
	}
	spin_lock_irq(&ef->lock);
	ef->closed = true;
	spin_unlock_irq(&ef->lock);
	uverbs_event_file_wake(ef);
}

/* ---- the objects' side ---- */

/**
 * uverbs_event_source_open - prepare the asynchronous events of a new object
 * @cmd: the command that makes it
 * @src: the object's events
 * @fd: the file where they go; negative for the default, if there is one
 *
 * Context: process, before the driver can know of the object.
 * Return: 0, or -EBADF; @src is valid in any case and to be detached.
 */
int uverbs_event_source_open(struct uverbs_cmd *cmd,
			     struct uverbs_event_source *src, s64 fd)
{
	struct ib_uverbs_file *ufile = cmd->file;
	struct uverbs_event_file *ef;

	INIT_LIST_HEAD(&src->unread);
	src->told = 0;
	src->file = NULL;
	if (fd >= 0) {
		ef = uverbs_event_file_get(ufile, fd, true);
		if (IS_ERR(ef))
			return PTR_ERR(ef);
		src->file = ef;
		return 0;
	}
	mutex_lock(&ufile->lock);
	if (ufile->default_async) {
		kref_get(&ufile->default_async->ref);
		src->file = ufile->default_async;
	}
	mutex_unlock(&ufile->lock);
	return 0;
}

/* Context: any. */
void uverbs_event_source_post(struct uverbs_event_source *src, u64 element,
			      u32 type)
{
	if (src->file)
		uverbs_event_file_post(src->file, src, element, type);
}

/* The object is gone: so are its unread events; @src->told is final. */
void uverbs_event_source_detach(struct uverbs_event_source *src)
{
	struct uverbs_event_file *ef = src->file;
	struct uverbs_event *ev, *tmp;

	if (!ef)
		return;
	spin_lock_irq(&ef->lock);
	list_for_each_entry_safe(ev, tmp, &src->unread, object_entry) {
		list_del(&ev->object_entry);
		list_del(&ev->queue_entry);
		kfree(ev);
	}
	spin_unlock_irq(&ef->lock);
	src->file = NULL;
	uverbs_event_file_put(ef);
}

/* @file: with a reference, which becomes the source's; may be NULL. */
void uverbs_comp_source_init(struct uverbs_comp_source *src,
			     struct uverbs_event_file *file, u64 element)
{
	src->file = file;
	src->told = 0;
	INIT_LIST_HEAD(&src->event.queue_entry);
	INIT_LIST_HEAD(&src->event.object_entry);
	src->event.element = element;
	src->event.times = 0;
	src->event.told = &src->told;
	src->event.embedded = true;
}

/* A completion has come; needs no memory.  Context: any. */
void uverbs_comp_source_post(struct uverbs_comp_source *src)
{
	struct uverbs_event_file *ef = src->file;
	unsigned long flags;

	if (!ef)
		return;
	spin_lock_irqsave(&ef->lock, flags);
	if (!ef->closed && src->event.times != U32_MAX && !src->event.times++)
		list_add_tail(&src->event.queue_entry, &ef->queue);
	spin_unlock_irqrestore(&ef->lock, flags);
	uverbs_event_file_wake(ef);
}

void uverbs_comp_source_detach(struct uverbs_comp_source *src)
{
	struct uverbs_event_file *ef = src->file;

	if (!ef)
		return;
	spin_lock_irq(&ef->lock);
	list_del_init(&src->event.queue_entry);
	src->event.times = 0;
	spin_unlock_irq(&ef->lock);
	src->file = NULL;
	uverbs_event_file_put(ef);
}

/* ---- the program's side ---- */

union uverbs_event_desc {
	struct ib_uverbs_async_event_desc async;
	struct ib_uverbs_comp_event_desc comp;
};

static bool uverbs_event_file_ready(struct uverbs_event_file *ef)
{
	return !list_empty_careful(&ef->queue) || READ_ONCE(ef->closed);
}

/* Takes the first event.  Call with the lock held. */
static void uverbs_event_take(struct uverbs_event_file *ef,
			      union uverbs_event_desc *desc)
{
	struct uverbs_event *ev = list_first_entry(&ef->queue,
						   struct uverbs_event,
						   queue_entry);

	if (ef->async) {
		desc->async.element = ev->element;
		desc->async.event_type = ev->type;
	} else {
		desc->comp.cq_handle = ev->element;
	}
	if (ev->told)
		(*ev->told)++;
	if (--ev->times) {
		/* Other CQs of the channel come in between. */
		list_move_tail(&ev->queue_entry, &ef->queue);
		return;
	}
	list_del_init(&ev->queue_entry);
	list_del_init(&ev->object_entry);
	if (!ev->embedded)
		kfree(ev);
}

static ssize_t uverbs_event_read(struct file *filp, char __user *buf,
				 size_t count, loff_t *pos)
{
	struct uverbs_event_file *ef = filp->private_data;
	size_t size = ef->async ? sizeof(struct ib_uverbs_async_event_desc) :
				  sizeof(struct ib_uverbs_comp_event_desc);
	union uverbs_event_desc desc = {};

	if (count < size)
		return -EINVAL;
	spin_lock_irq(&ef->lock);
	while (list_empty(&ef->queue)) {
		bool closed = ef->closed;

		spin_unlock_irq(&ef->lock);
		if (closed)
			return -EIO;
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(ef->wait,
					     uverbs_event_file_ready(ef)))
			return -ERESTARTSYS;
		spin_lock_irq(&ef->lock);
	}
	uverbs_event_take(ef, &desc);
	spin_unlock_irq(&ef->lock);
	return copy_to_user(buf, &desc, size) ? -EFAULT : size;
}

static __poll_t uverbs_event_poll(struct file *filp, poll_table *table)
{
	struct uverbs_event_file *ef = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &ef->wait, table);
	spin_lock_irq(&ef->lock);
	if (!list_empty(&ef->queue))
		mask = EPOLLIN | EPOLLRDNORM;
	else if (ef->closed)
		mask = EPOLLERR | EPOLLHUP;
	spin_unlock_irq(&ef->lock);
	return mask;
}

static int uverbs_event_fasync(int fd, struct file *filp, int on)
{
	struct uverbs_event_file *ef = filp->private_data;

	return fasync_helper(fd, filp, on, &ef->fasync);
}

static int uverbs_event_release(struct inode *inode, struct file *filp)
{
	struct uverbs_event_file *ef = filp->private_data;
	struct ib_uverbs_file *ufile = ef->ufile;

	mutex_lock(&ufile->lock);
	list_del_init(&ef->entry);
	uverbs_event_file_close(ef);
	mutex_unlock(&ufile->lock);
	ef->ufile = NULL;
	uverbs_file_put(ufile);
	uverbs_event_file_put(ef);
	return 0;
}

static const struct file_operations uverbs_event_fops = {
	.owner = THIS_MODULE,
	.read = uverbs_event_read,
	.poll = uverbs_event_poll,
	.fasync = uverbs_event_fasync,
	.release = uverbs_event_release,
	.llseek = noop_llseek,
};
