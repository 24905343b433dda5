// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Which objects exist on a device, and whose they are. */
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "device.h"
#include "restrack.h"

/**
 * rdma_restrack_init - make the tables of a device
 * @dev: a device that nobody else knows yet
 *
 * Context: process.
 * Return: 0, or -ENOMEM.
 */
int rdma_restrack_init(struct ib_device *dev)
{
	struct rdma_restrack_root *root;
	int type;

	root = kcalloc(RDMA_RESTRACK_MAX, sizeof(*root), GFP_KERNEL_ACCOUNT);
	if (!root)
		return -ENOMEM;
	for (type = 0; type < RDMA_RESTRACK_MAX; type++)
		xa_init_flags(&root[type].xa,
			      XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	dev->core->res = root;
	return 0;
}

/**
 * rdma_restrack_clean - free the tables of a device
 * @dev: a device on which nothing exists any more
 *
 * Whatever is left was forgotten by a consumer; it is named in the log, since
 * its owner is the one to mend.
 *
 * Context: process.
 */
void rdma_restrack_clean(struct ib_device *dev)
{
	struct rdma_restrack_root *root = dev->core->res;
	struct rdma_restrack_entry *res;
	unsigned long id;
	int type;

	if (!root)
		return;
	for (type = 0; type < RDMA_RESTRACK_MAX; type++) {
		xa_for_each(&root[type].xa, id, res)
			ibdev_err(dev, "type %d object %lu of %s left behind\n",
				  type, id, res->kern_name ?: "a program");
		xa_destroy(&root[type].xa);
	}
	kfree(root);
	dev->core->res = NULL;
}

/* Where an object of each type keeps its entry and its device. */
static const struct {
	size_t entry;
	size_t device;
} res_layout[RDMA_RESTRACK_MAX] = {
	[RDMA_RESTRACK_CTX] = {
		offsetof(struct ib_ucontext, res), offsetof(struct ib_ucontext, device),
	},
	[RDMA_RESTRACK_PD] = {
		offsetof(struct ib_pd, res), offsetof(struct ib_pd, device),
	},
	[RDMA_RESTRACK_MR] = {
		offsetof(struct ib_mr, res), offsetof(struct ib_mr, device),
	},
	[RDMA_RESTRACK_CQ] = {
		offsetof(struct ib_cq, res), offsetof(struct ib_cq, device),
	},
	[RDMA_RESTRACK_SRQ] = {
		offsetof(struct ib_srq, res), offsetof(struct ib_srq, device),
	},
	[RDMA_RESTRACK_QP] = {
		offsetof(struct ib_qp, res), offsetof(struct ib_qp, device),
	},
	[RDMA_RESTRACK_COUNTER] = {
		offsetof(struct rdma_counter, res),
		offsetof(struct rdma_counter, device),
	},
};

static struct ib_device *res_device(const struct rdma_restrack_entry *res)
{
	const void *object = (const void *)res - res_layout[res->type].entry;

	if (!res_layout[res->type].entry)
		return NULL;
	return *(struct ib_device *const *)(object +
					    res_layout[res->type].device);
}

static struct rdma_restrack_root *res_root(const struct rdma_restrack_entry *res)
{
	struct ib_device *dev = res_device(res);

	return WARN_ON_ONCE(!dev) ? NULL : &dev->core->res[res->type];
}

/**
 * rdma_is_kernel_res - tell a kernel module's object from a program's
 * @res: a named entry
 *
 * Context: any.
 * Return: true when a kernel module made the object.
 */
bool rdma_is_kernel_res(const struct rdma_restrack_entry *res)
{
	return !res->user;
}
EXPORT_SYMBOL(rdma_is_kernel_res);

/**
 * rdma_restrack_visible - may the current program know of an object?
 * @res: an entry, held
 *
 * The first pid namespace sees everything, objects of dead programs whose
 * descriptors somebody else inherited as well.  Any other sees what its own
 * processes made.
 *
 * Context: process.
 * Return: true when the object may be shown.
 */
bool rdma_restrack_visible(const struct rdma_restrack_entry *res)
{
	struct pid_namespace *ns = task_active_pid_ns(current);

	if (ns == &init_pid_ns)
		return true;
	return res->user && res->task && task_pid_nr_ns(res->task, ns);
}

/**
 * rdma_restrack_count - how many objects of a type the caller can see
 * @dev: a registered device
 * @type: which objects
 *
 * Context: process.
 * Return: the number.
 */
int rdma_restrack_count(struct ib_device *dev, enum rdma_restrack_type type)
{
	struct rdma_restrack_entry *res;
	unsigned long id = 0;
	int count = 0;

	/* One at a time: who makes or ends objects does not wait for a million. */
	while ((res = rdma_restrack_get_next(dev, type, &id))) {
		count += rdma_restrack_visible(res);
		rdma_restrack_put(res);
		id++;
		cond_resched();
		/* Nobody waits for the answer, or all wait for this one. */
		if (fatal_signal_pending(current) ||
		    test_bit(IB_DEVICE_UNPUBLISHED, &dev->core->flags))
			break;
	}
	return count;
}
EXPORT_SYMBOL(rdma_restrack_count);

/**
 * rdma_restrack_new - begin the life of an entry
 * @res: entry in a new object
 * @type: what the object is
 *
 * Context: any.
 */
void rdma_restrack_new(struct rdma_restrack_entry *res,
		       enum rdma_restrack_type type)
{
	memset(res, 0, sizeof(*res));
	kref_init(&res->kref);
	init_completion(&res->comp);
	res->type = type;
}
EXPORT_SYMBOL(rdma_restrack_new);

static void res_set_task(struct rdma_restrack_entry *res,
			 struct task_struct *task)
{
	if (res->task)
		put_task_struct(res->task);
	res->task = task ? get_task_struct(task) : NULL;
}

/**
 * rdma_restrack_set_name - say whose an object is
 * @res: a new entry
 * @caller: the kernel module's name, which has to stay; NULL for the current
 *	program
 *
 * The owner is the process and not the thread, which may end earlier.
 *
 * Context: process.
 */
void rdma_restrack_set_name(struct rdma_restrack_entry *res, const char *caller)
{
	res->kern_name = caller;
	res->user = !caller;
	res_set_task(res, caller ? NULL : current->group_leader);
}
EXPORT_SYMBOL(rdma_restrack_set_name);

/**
 * rdma_restrack_parent_name - an object belongs to whom another belongs
 * @dst: a new entry
 * @parent: a named entry, held; the context for what is made in a context
 *
 * Context: process.
 */
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent)
{
	dst->kern_name = parent->kern_name;
	dst->user = parent->user;
	dst->ctxn = parent->type == RDMA_RESTRACK_CTX ? parent->id :
							parent->ctxn;
	res_set_task(dst, parent->task);
}
EXPORT_SYMBOL(rdma_restrack_parent_name);

/**
 * rdma_restrack_add - let an object be found
 * @res: a named entry, whose object is ready
 *
 * A QP's number is its QPN, with the port in the upper byte for the special
 * QPs 0 and 1, of which each port has its own.  A counter's is what the driver
 * chose.  Without memory for the table the object works and is not listed.
 *
 * Context: process.
 */
void rdma_restrack_add(struct rdma_restrack_entry *res)
{
	struct rdma_restrack_root *root = res_root(res);
	struct ib_qp *qp;
	int ret;

	if (!root || res->no_track)
		return;

	if (res->type == RDMA_RESTRACK_QP) {
		qp = container_of(res, struct ib_qp, res);
		res->id = qp->qp_num < 2 ? qp->port << 24 | qp->qp_num :
					   qp->qp_num;
		ret = xa_insert(&root->xa, res->id, res, GFP_KERNEL);
		WARN_ONCE(ret == -EBUSY, "QPN %u exists twice\n", res->id);
	} else if (res->type == RDMA_RESTRACK_COUNTER) {
		res->id = container_of(res, struct rdma_counter, res)->id;
		ret = xa_insert(&root->xa, res->id, res, GFP_KERNEL);
	} else {
		ret = xa_alloc_cyclic(&root->xa, &res->id, res, xa_limit_32b,
				      &root->next_id, GFP_KERNEL);
	}
	res->valid = ret >= 0;
}
EXPORT_SYMBOL(rdma_restrack_add);

static void res_release(struct kref *kref)
{
	struct rdma_restrack_entry *res =
		container_of(kref, struct rdma_restrack_entry, kref);

	res_set_task(res, NULL);
	complete(&res->comp);
}

/**
 * rdma_restrack_get - hold an entry, and with it the object
 * @res: an entry that was found under the table's lock
 *
 * Context: any.
 * Return: 1, or 0 when the object is on its way out.
 */
int __must_check rdma_restrack_get(struct rdma_restrack_entry *res)
{
	return kref_get_unless_zero(&res->kref);
}
EXPORT_SYMBOL(rdma_restrack_get);

/**
 * rdma_restrack_put - give an entry back
 * @res: an entry that is held
 *
 * Context: any.
 * Return: 1 when it was the last reference, else 0.
 */
int rdma_restrack_put(struct rdma_restrack_entry *res)
{
	return kref_put(&res->kref, res_release);
}
EXPORT_SYMBOL(rdma_restrack_put);

/**
 * rdma_restrack_get_byid - find an object
 * @dev: a registered device
 * @type: what it is
 * @id: its number
 *
 * Context: any.
 * Return: the entry, held, or ERR_PTR(-ENOENT).
 */
struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *dev,
						   enum rdma_restrack_type type,
						   u32 id)
{
	struct rdma_restrack_root *root = &dev->core->res[type];
	struct rdma_restrack_entry *res;

	xa_lock(&root->xa);
	res = xa_load(&root->xa, id);
	if (!res || !rdma_restrack_get(res))
		res = ERR_PTR(-ENOENT);
	xa_unlock(&root->xa);
	return res;
}
EXPORT_SYMBOL(rdma_restrack_get_byid);

/**
 * rdma_restrack_get_next - walk over the objects of a type
 * @dev: a registered device
 * @type: which objects
 * @id: in: the first number to look at; out: the number of what was found
 *
 * Context: any.
 * Return: the entry, held, or NULL at the end.
 */
struct rdma_restrack_entry *rdma_restrack_get_next(struct ib_device *dev,
						   enum rdma_restrack_type type,
						   unsigned long *id)
{
	struct rdma_restrack_root *root = &dev->core->res[type];
	struct rdma_restrack_entry *res;

	xa_lock(&root->xa);
	res = xa_find(&root->xa, id, U32_MAX, XA_PRESENT);
	while (res && !rdma_restrack_get(res))
		res = xa_find_after(&root->xa, id, U32_MAX, XA_PRESENT);
	xa_unlock(&root->xa);
	return res;
}

/**
 * rdma_restrack_del - let nobody find an object any more
 * @res: an entry from rdma_restrack_new(), added or not
 *
 * Waits for readers, which are bounded: netlink fills one message for one
 * object under a reference.  Call it before the driver destroys the object,
 * and without a lock that ib_query_qp() takes.
 *
 * Context: process, sleeps.
 */
void rdma_restrack_del(struct rdma_restrack_entry *res)
{
	struct rdma_restrack_root *root;

	if (res->valid) {
		root = res_root(res);
		xa_erase(&root->xa, res->id);
		res->valid = false;
	}
	rdma_restrack_put(res);
	wait_for_completion(&res->comp);
}
EXPORT_SYMBOL(rdma_restrack_del);
