/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A command of a program: one write() or one ioctl().
 *
 * Lifetime: on the stack of the system call.  It goes through the same steps
 * whichever way it came:
 *
 *	parse	find the method, check sizes, copy the request in
 *	probe	write to where the response goes: a bad address is EFAULT, and
 *		nothing has changed
 *	prepare	what waits for user memory, without the device: pin it
 *	run	with the device held: the handler turns req into resp
 *	reply	copy the response out
 *	finish	hand out new descriptors; or, when the reply could not be
 *		written, undo what was made
 *
 * Handlers see kernel memory only.  Each value of the request is read once;
 * the response begins as zeros.  Of the driver's part too no page is waited for
 * while the device is held: a run that finds one absent ends with an error, the
 * page is got without the device, and there is another run from the start.
 *
 * A reply fails, and something made is undone, only where the program takes the
 * memory away between the probe and the reply.
 */
#ifndef SOFTROCE_UVERBS_COMMAND_H
#define SOFTROCE_UVERBS_COMMAND_H

#include <linux/build_bug.h>
#include <linux/string.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include "file.h"
#include "object.h"

#define UVERBS_REQ_MAX sizeof(struct ib_uverbs_ex_modify_qp)
#define UVERBS_RESP_MAX sizeof(struct ib_uverbs_ex_query_device_resp)
/* A QP uses a PD and two CQs. */
#define UVERBS_MAX_USED 4
/* The most of any method, and the driver's two. */
#define UVERBS_MAX_ATTRS 17
#define UVERBS_SLOT_UHW_IN (UVERBS_MAX_ATTRS - 2)
#define UVERBS_SLOT_UHW_OUT (UVERBS_MAX_ATTRS - 1)

struct uverbs_ioctl_method;
struct uverbs_write_method;

/**
 * struct uverbs_attr - an attribute of an ioctl
 * @present: the program gave it
 * @index: its place in the program's list
 * @len: the program's idea of its size
 * @data: a value of up to eight bytes, a handle, a descriptor or a pointer
 * @in: input in kernel memory, @len bytes or as many as the method knows
 * @out: output in kernel memory, to be written when the handler has run
 * @out_len: bytes at @out
 */
struct uverbs_attr {
	bool present;
	u16 index;
	u16 len;
	u64 data;
	const void *in;
	const void *out;
	size_t out_len;
};

/**
 * struct uverbs_cmd - a command
 * @bundle: what the driver sees of it
 * @file: the file it came through
 * @ibdev: the device, while the handler runs
 * @running: in ib_uverbs_file.running, while the handler runs
 * @task: whose command it is
 * @created: the object that is being made
 * @created_id: its handle, 0 for none
 * @created_type: its type
 * @new_fd: descriptor of a new event file, reserved; or -1
 * @new_filp: the new event file
 * @used: objects shared by this command
 * @num_used: number of those
 * @write: the write() command, also when it came by ioctl
 * @method: the ioctl method, or NULL
 * @attrs: attributes of an ioctl, by number
 * @umem: memory that was pinned for this command, or was a region's before it
 * @large: output too large for @resp, from kvmalloc
 * @resp_used: bytes of @resp that hold output attributes
 * @req: the request
 * @resp: the response
 */
struct uverbs_cmd {
	struct uverbs_attr_bundle bundle;
	struct ib_uverbs_file *file;
	struct ib_device *ibdev;
	struct list_head running;
	struct task_struct *task;

	struct ib_uobject *created;
	u32 created_id;
	const struct uverbs_object_type *created_type;
	int new_fd;
	struct file *new_filp;
	struct ib_uobject *used[UVERBS_MAX_USED];
	u32 num_used;

	const struct uverbs_write_method *write;
	const struct uverbs_ioctl_method *method;
	struct uverbs_attr attrs[UVERBS_MAX_ATTRS];
	struct ib_umem *umem;
	void *large;
	u32 resp_used;

	u8 req[UVERBS_REQ_MAX] __aligned(8);
	u8 resp[UVERBS_RESP_MAX] __aligned(8);
};

typedef int (*uverbs_handler)(struct uverbs_cmd *cmd);

void uverbs_cmd_init(struct uverbs_cmd *cmd, struct ib_uverbs_file *file);
int uverbs_probe(void __user *to, size_t len);
int uverbs_cmd_run(struct uverbs_cmd *cmd, uverbs_handler handler,
		   bool needs_context);
void uverbs_cmd_finish(struct uverbs_cmd *cmd, int err);

/* ---- for the handlers of write() commands ---- */

#define uverbs_req(cmd, type)                                                  \
	({                                                                     \
		BUILD_BUG_ON(sizeof(type) > UVERBS_REQ_MAX);                   \
		(const type *)(cmd)->req;                                      \
	})

#define uverbs_resp(cmd, type)                                                 \
	({                                                                     \
		BUILD_BUG_ON(sizeof(type) > UVERBS_RESP_MAX);                  \
		(type *)(cmd)->resp;                                           \
	})

/* How much of an extended response the program has room for. */
static inline u32 uverbs_response_length(const struct uverbs_cmd *cmd,
					 size_t size)
{
	return min_t(size_t, cmd->bundle.ucore.outlen, size);
}

/* ---- for the handlers of ioctl methods ---- */

static inline bool uverbs_attr_given(const struct uverbs_cmd *cmd, u16 id)
{
	return cmd->attrs[id].present;
}

static inline u32 uverbs_attr_u32(const struct uverbs_cmd *cmd, u16 id)
{
	u32 value = 0;

	if (cmd->attrs[id].present)
		memcpy(&value, &cmd->attrs[id].data, sizeof(value));
	return value;
}

static inline u64 uverbs_attr_u64(const struct uverbs_cmd *cmd, u16 id)
{
	return cmd->attrs[id].present ? cmd->attrs[id].data : 0;
}

int uverbs_attr_flags(const struct uverbs_cmd *cmd, u16 id, u32 known,
		      u32 *flags);
/* The handle in an attribute; 0, which is none, when it is not there. */
u32 uverbs_attr_handle(const struct uverbs_cmd *cmd, u16 id);
/* The descriptor in an attribute; -1 when it is not there. */
s32 uverbs_attr_fd(const struct uverbs_cmd *cmd, u16 id);
void uverbs_attr_put(struct uverbs_cmd *cmd, u16 id, const void *from,
		     size_t len);

#endif
