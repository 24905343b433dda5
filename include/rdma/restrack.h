/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Resource tracking: every PD, CQ, QP, MR and context is on a list of its
 * device, with a number and an owner, for "rdma resource show".
 *
 * Lifetime: an entry is embedded in its object.  Between rdma_restrack_add()
 * and rdma_restrack_del() it can be found; whoever finds it takes a reference
 * (rdma_restrack_get()), and rdma_restrack_del() waits until those are gone.
 * So an object never disappears under a netlink reader, and its destruction
 * never depends on user space giving something back.
 */
#ifndef SOFTROCE_RDMA_RESTRACK_H
#define SOFTROCE_RDMA_RESTRACK_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/sched.h>
#include <linux/types.h>

struct ib_device;
struct sk_buff;

enum rdma_restrack_type {
	RDMA_RESTRACK_PD,
	RDMA_RESTRACK_CQ,
	RDMA_RESTRACK_QP,
	RDMA_RESTRACK_CM_ID,
	RDMA_RESTRACK_MR,
	RDMA_RESTRACK_CTX,
	RDMA_RESTRACK_COUNTER,
	RDMA_RESTRACK_SRQ,
	RDMA_RESTRACK_MAX
};

/**
 * struct rdma_restrack_entry - one tracked object
 * @valid: it is in the device's table
 * @no_track: it never goes there
 * @task: owner of a user object, with a reference; NULL for the kernel's
 * @kern_name: module that made a kernel object
 * @ctxn: number of the context that a user object was made in, 0 if unknown
 * @id: number in its device's table; the QPN of a QP
 * @user: made on behalf of a user program
 */
struct rdma_restrack_entry {
	bool valid;
	u8 no_track:1;
	struct kref kref;
	struct completion comp;
	struct task_struct *task;
	const char *kern_name;
	enum rdma_restrack_type type;
	bool user;
	u32 ctxn;
	u32 id;
};

/* Before rdma_restrack_add(): nobody shall find the object. */
static inline void rdma_restrack_no_track(struct rdma_restrack_entry *res)
{
	res->no_track = true;
}

static inline bool rdma_restrack_is_tracked(struct rdma_restrack_entry *res)
{
	return !res->no_track;
}

int rdma_restrack_count(struct ib_device *dev, enum rdma_restrack_type type);
bool rdma_is_kernel_res(const struct rdma_restrack_entry *res);
int __must_check rdma_restrack_get(struct rdma_restrack_entry *res);
int rdma_restrack_put(struct rdma_restrack_entry *res);
struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *dev,
						   enum rdma_restrack_type type,
						   u32 id);
int rdma_nl_put_driver_u32(struct sk_buff *msg, const char *name, u32 value);
int rdma_nl_put_driver_u32_hex(struct sk_buff *msg, const char *name,
			       u32 value);
int rdma_nl_put_driver_u64(struct sk_buff *msg, const char *name, u64 value);
int rdma_nl_put_driver_u64_hex(struct sk_buff *msg, const char *name,
			       u64 value);

#endif
