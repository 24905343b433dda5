/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Objects of a program, by handle.
 *
 * Lifetime: uverbs_object_create() reserves a handle that nobody can use yet;
 * when the command succeeds the handle is published, otherwise it is given
 * back.  A command that uses an object shares it for its duration; destruction
 * needs the object for itself.  Neither waits for the other: what is busy is
 * -EBUSY.  Look-ups run under RCU, the memory is freed after a grace period.
 * An object that depends on another (a QP on its PD and CQs) keeps that one
 * from being destroyed by the use counts of the verbs core.  What is left when
 * the file is closed or the device goes is destroyed by rank.
 */
#ifndef SOFTROCE_UVERBS_OBJECT_H
#define SOFTROCE_UVERBS_OBJECT_H

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <rdma/ib_verbs.h>
#include "event_file.h"

struct ib_uverbs_file;
struct uverbs_cmd;
struct uverbs_object_type;

/* Users go first: at each step nothing uses what is destroyed. */
enum uverbs_object_rank {
	UVERBS_RANK_AH,
	UVERBS_RANK_MW,
	UVERBS_RANK_QP,
	UVERBS_RANK_SRQ,
	UVERBS_RANK_CQ,
	UVERBS_RANK_MR,
	UVERBS_RANK_PD,
	UVERBS_NUM_RANKS
};

/**
 * struct ib_uobject - one object of a program
 * @ufile: the program's file
 * @type: what it is
 * @object: the verbs object, NULL until it is made
 * @user_handle: the program's own name for it, told in events
 * @id: the handle
 * @uses: commands that use it now; UVERBS_OBJECT_EXCLUSIVE for one that
 *	destroys it
 * @cg_obj: the cgroup's charge
 * @rcu: delays the freeing
 */
struct ib_uobject {
	struct ib_uverbs_file *ufile;
	const struct uverbs_object_type *type;
	void *object;
	u64 user_handle;
	u32 id;
	atomic_t uses;
	struct ib_rdmacg_object cg_obj;
	struct rcu_head rcu;
};

#define UVERBS_OBJECT_EXCLUSIVE (-1)

struct ib_ucq_object {
	struct ib_uobject uobject;
	struct uverbs_comp_source comp;
	struct uverbs_event_source async;
};

/* @groups: of multicast, with @groups_mutex: cmd_mcast.c */
struct ib_uqp_object {
	struct ib_uobject uobject;
	struct uverbs_event_source async;
	struct mutex groups_mutex;
	struct list_head groups;
};

struct ib_usrq_object {
	struct ib_uobject uobject;
	struct uverbs_event_source async;
};

/* How many events of a destroyed object the program has read. */
struct uverbs_events_told {
	u32 comp;
	u32 async;
};

/**
 * struct uverbs_object_type - a kind of object
 * @id: enum uverbs_default_objects
 * @size: of the structure that begins with struct ib_uobject
 * @rank: when it goes
 * @abandon: the program has ended: gives up what keeps the object from being
 *	destroyed; may be NULL
 * @destroy: destroys the verbs object; after an error it is as before
 * @detach: the verbs object is gone: lets go of event files; may be NULL
 */
struct uverbs_object_type {
	u16 id;
	u16 size;
	enum uverbs_object_rank rank;
	void (*abandon)(struct ib_uobject *uobj);
	int (*destroy)(struct ib_uobject *uobj, struct ib_udata *udata);
	void (*detach)(struct ib_uobject *uobj,
		       struct uverbs_events_told *told);
};

extern const struct uverbs_object_type uverbs_pd_type;
extern const struct uverbs_object_type uverbs_mr_type;
extern const struct uverbs_object_type uverbs_cq_type;
extern const struct uverbs_object_type uverbs_qp_type;
extern const struct uverbs_object_type uverbs_ah_type;
extern const struct uverbs_object_type uverbs_srq_type;
extern const struct uverbs_object_type uverbs_mw_type;

struct ib_uobject *uverbs_object_share(struct ib_uverbs_file *file,
				       const struct uverbs_object_type *type,
				       u32 id);

static inline void uverbs_object_unshare(struct ib_uobject *uobj)
{
	/* All that was done with it comes before its destruction. */
	(void)atomic_fetch_dec_release(&uobj->uses);
}

struct ib_uobject *uverbs_object_create(struct uverbs_cmd *cmd,
					const struct uverbs_object_type *type);
void uverbs_object_publish(struct ib_uobject *uobj);
void uverbs_object_abort(struct ib_uobject *uobj);
struct ib_uobject *uverbs_object_claim(struct ib_uverbs_file *file,
				       const struct uverbs_object_type *type,
				       u32 id);
void uverbs_object_release(struct ib_uobject *uobj);
void *uverbs_object_use(struct uverbs_cmd *cmd,
			const struct uverbs_object_type *type, u32 id);
int uverbs_object_destroy(struct ib_uverbs_file *file,
			  const struct uverbs_object_type *type, u32 id,
			  struct uverbs_events_told *told);
void uverbs_objects_destroy_all(struct ib_uverbs_file *file);

#endif
