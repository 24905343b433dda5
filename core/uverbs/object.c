// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The table of a program's objects. */
#include <linux/sched.h>
#include <linux/slab.h>
#include <cgroup.h>
#include "command.h"

#define UVERBS_HANDLES XA_LIMIT(1, INT_MAX)

/* Call under rcu_read_lock(). */
static struct ib_uobject *
uverbs_object_find(struct ib_uverbs_file *file,
		   const struct uverbs_object_type *type, u32 id)
{
	struct ib_uobject *uobj = xa_load(&file->objects, id);

	if (!uobj)
		return ERR_PTR(-ENOENT);
	if (uobj->type != type)
		return ERR_PTR(-EINVAL);
	return uobj;
}

/**
 * uverbs_object_share - use an object for a short while
 * @file: the program's file
 * @type: what the object has to be
 * @id: its handle
 *
 * Context: any, between uverbs_enter() and uverbs_exit(), where
 *	uverbs_object_unshare() has to come as well.
 * Return: the object, or an ERR_PTR: -ENOENT for no such handle, -EINVAL for
 *	one of another type, -EBUSY while it is being destroyed.
 */
struct ib_uobject *uverbs_object_share(struct ib_uverbs_file *file,
				       const struct uverbs_object_type *type,
				       u32 id)
{
	struct ib_uobject *uobj;

	rcu_read_lock();
	uobj = uverbs_object_find(file, type, id);
	if (!IS_ERR(uobj) &&
	    !atomic_add_unless(&uobj->uses, 1, UVERBS_OBJECT_EXCLUSIVE))
		uobj = ERR_PTR(-EBUSY);
	rcu_read_unlock();
	return uobj;
}

/* The same for a handler: given back at the end of the command. */
void *uverbs_object_use(struct uverbs_cmd *cmd,
			const struct uverbs_object_type *type, u32 id)
{
	struct ib_uobject *uobj;

	if (WARN_ON_ONCE(cmd->num_used == ARRAY_SIZE(cmd->used)))
		return ERR_PTR(-EINVAL);
	uobj = uverbs_object_share(cmd->file, type, id);
	if (IS_ERR(uobj))
		return uobj;
	cmd->used[cmd->num_used++] = uobj;
	return uobj->object;
}

/**
 * uverbs_object_create - reserve a handle for an object that is being made
 * @cmd: the command that makes it; its end publishes the object or undoes this
 * @type: what it will be
 *
 * Context: process.
 * Return: the object, zeroed after struct ib_uobject, or an ERR_PTR.
 */
struct ib_uobject *uverbs_object_create(struct uverbs_cmd *cmd,
					const struct uverbs_object_type *type)
{
	struct ib_uobject *uobj;
	int ret;

	uobj = kzalloc(type->size, GFP_KERNEL_ACCOUNT);
	if (!uobj)
		return ERR_PTR(-ENOMEM);
	uobj->ufile = cmd->file;
	uobj->type = type;
	ret = ib_rdmacg_try_charge(&uobj->cg_obj, cmd->ibdev,
				   RDMACG_RESOURCE_HCA_OBJECT);
	if (ret)
		goto free;
	ret = xa_alloc(&cmd->file->objects, &uobj->id, NULL, UVERBS_HANDLES,
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		goto uncharge;
	cmd->created = uobj;
	cmd->created_id = uobj->id;
	cmd->created_type = type;
	return uobj;

uncharge:
	ib_rdmacg_uncharge(&uobj->cg_obj, cmd->ibdev,
			   RDMACG_RESOURCE_HCA_OBJECT);
free:
	kfree(uobj);
	return ERR_PTR(ret);
}

void uverbs_object_publish(struct ib_uobject *uobj)
{
	/* The place is reserved: this needs no memory. */
	void *old = xa_store(&uobj->ufile->objects, uobj->id, uobj,
			     GFP_KERNEL_ACCOUNT);

	WARN_ON_ONCE(old);
}

/* Destroys the verbs object; the handle stays. */
static int uverbs_object_destroy_verbs(struct ib_uobject *uobj,
				       struct uverbs_events_told *told)
{
	struct uverbs_attr_bundle bundle = {
		.ufile = uobj->ufile,
		.context = uobj->ufile->ucontext,
		.uobject = uobj,
	};
	int ret;

	if (uobj->object) {
		ret = uobj->type->destroy(uobj, &bundle.driver_udata);
		if (ret)
			return ret;
	}
	if (uobj->type->detach)
		uobj->type->detach(uobj, told);
	return 0;
}

static void uverbs_object_free(struct ib_uobject *uobj)
{
	xa_erase(&uobj->ufile->objects, uobj->id);
	ib_rdmacg_uncharge(&uobj->cg_obj, uobj->ufile->ucontext->device,
			   RDMACG_RESOURCE_HCA_OBJECT);
	kfree_rcu(uobj, rcu);
}

/* Undoes uverbs_object_create() and what the driver has done since. */
void uverbs_object_abort(struct ib_uobject *uobj)
{
	struct uverbs_events_told told;

	if (WARN_ON_ONCE(uverbs_object_destroy_verbs(uobj, &told)))
		return;
	uverbs_object_free(uobj);
}

/**
 * uverbs_object_claim - have an object for oneself
 * @file: the program's file
 * @type: what the object has to be
 * @id: its handle
 *
 * Context: any, between uverbs_enter() and uverbs_exit(), where
 *	uverbs_object_release() has to come as well.
 * Return: the object, or an ERR_PTR: the errors of uverbs_object_share(), -EBUSY
 *	also for one that a command or another object uses.
 */
struct ib_uobject *uverbs_object_claim(struct ib_uverbs_file *file,
				       const struct uverbs_object_type *type,
				       u32 id)
{
	struct ib_uobject *uobj;

	rcu_read_lock();
	uobj = uverbs_object_find(file, type, id);
	if (!IS_ERR(uobj) &&
	    atomic_cmpxchg(&uobj->uses, 0, UVERBS_OBJECT_EXCLUSIVE))
		uobj = ERR_PTR(-EBUSY);
	rcu_read_unlock();
	return uobj;
}

void uverbs_object_release(struct ib_uobject *uobj)
{
	atomic_set_release(&uobj->uses, 0);
}

/**
 * uverbs_object_destroy - destroy an object and free its handle
 * @file: the program's file
 * @type: what the object has to be
 * @id: its handle
 * @told: filled when the type has events
 *
 * Context: process, between uverbs_enter() and uverbs_exit().
 * Return: 0, the errors of uverbs_object_claim(), or what the verb says; then it
 *	is as before.
 */
int uverbs_object_destroy(struct ib_uverbs_file *file,
			  const struct uverbs_object_type *type, u32 id,
			  struct uverbs_events_told *told)
{
	struct ib_uobject *uobj;
	int ret;

	uobj = uverbs_object_claim(file, type, id);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = uverbs_object_destroy_verbs(uobj, told);
	if (ret) {
		uverbs_object_release(uobj);
		return ret;
	}
	uverbs_object_free(uobj);
	return 0;
}

/* For uverbs_file_teardown(): nobody else is there. */
void uverbs_objects_destroy_all(struct ib_uverbs_file *file)
{
	struct uverbs_events_told told;
	struct ib_uobject *uobj;
	unsigned long id;
	unsigned int rank;

	for (rank = 0; rank < UVERBS_NUM_RANKS; rank++) {
		xa_for_each(&file->objects, id, uobj) {
			/* There may be a million of them. */
			cond_resched();
			if (uobj->type->rank != rank)
				continue;
			if (uobj->type->abandon)
				uobj->type->abandon(uobj);
			/* By rank nothing of the program's uses it. */
			if (WARN_ON_ONCE(uverbs_object_destroy_verbs(uobj,
								     &told)))
				continue;
			uverbs_object_free(uobj);
		}
	}
}
