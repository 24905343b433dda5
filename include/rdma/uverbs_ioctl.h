/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a driver sees of a user command.
 *
 * Lifetime: an attribute bundle lives on the stack of one command.
 */
#ifndef SOFTROCE_RDMA_UVERBS_IOCTL_H
#define SOFTROCE_RDMA_UVERBS_IOCTL_H

#include <rdma/ib_verbs.h>

/**
 * struct uverbs_attr_bundle - a user command on its way through the core
 * @driver_udata: the driver's own input and output
 * @ucore: the command's own input and output
 * @ufile: the open file the command came through
 * @context: the context of that file; NULL before GET_CONTEXT
 * @uobject: the object that the command creates, destroys or uses
 */
struct uverbs_attr_bundle {
	struct ib_udata driver_udata;
	struct ib_udata ucore;
	struct ib_uverbs_file *ufile;
	struct ib_ucontext *context;
	struct ib_uobject *uobject;
};

static inline struct uverbs_attr_bundle *
rdma_udata_to_uverbs_attr_bundle(struct ib_udata *udata)
{
	return container_of(udata, struct uverbs_attr_bundle, driver_udata);
}

/**
 * rdma_udata_to_drv_context - the driver's context of a user command
 * @udata: the command's driver part; NULL for a kernel consumer
 * @drv_dev_struct: the driver's structure around struct ib_ucontext
 * @member: the struct ib_ucontext in it
 *
 * Return: the driver's context, or NULL for a kernel consumer.
 */
#define rdma_udata_to_drv_context(udata, drv_dev_struct, member)               \
	((udata) ? container_of(rdma_udata_to_uverbs_attr_bundle(udata)        \
					->context,                             \
				drv_dev_struct, member) :                      \
		   (drv_dev_struct *)NULL)

#endif
