// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A program's context, and its asynchronous event files. */
#include <linux/slab.h>
#include <cgroup.h>
#include <restrack.h>
#include "method.h"

/* What this core understands beyond the first ABI. */
static const u64 uverbs_core_support =
	IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;

static struct ib_ucontext *uverbs_context_alloc(struct uverbs_cmd *cmd)
{
	struct ib_device *ibdev = cmd->ibdev;
	struct ib_ucontext *ctx;
	int ret;

	ctx = kzalloc(ibdev->ops.size_ib_ucontext, GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->device = ibdev;
	ctx->ufile = cmd->file;
	ret = ib_rdmacg_try_charge(&ctx->cg_obj, ibdev,
				   RDMACG_RESOURCE_HCA_HANDLE);
	if (ret)
		goto free;
	rdma_restrack_new(&ctx->res, RDMA_RESTRACK_CTX);
	rdma_restrack_set_name(&ctx->res, NULL);
	cmd->bundle.context = ctx;
	ret = ibdev->ops.alloc_ucontext(ctx, &cmd->bundle.driver_udata);
	if (ret)
		goto untrack;
	rdma_restrack_add(&ctx->res);
	return ctx;

untrack:
	cmd->bundle.context = NULL;
	rdma_restrack_put(&ctx->res);
	ib_rdmacg_uncharge(&ctx->cg_obj, ibdev, RDMACG_RESOURCE_HCA_HANDLE);
free:
	kfree(ctx);
	return ERR_PTR(ret);
}

/* Everything made in the context is gone. */
void uverbs_context_destroy(struct ib_ucontext *ctx)
{
	struct ib_device *ibdev = ctx->device;

	rdma_restrack_del(&ctx->res);
	if (ibdev->ops.dealloc_ucontext)
		ibdev->ops.dealloc_ucontext(ctx);
	ib_rdmacg_uncharge(&ctx->cg_obj, ibdev, RDMACG_RESOURCE_HCA_HANDLE);
	kfree(ctx);
}

/* A file has one context, once. */
static int uverbs_get_context(struct uverbs_cmd *cmd)
{
	struct ib_uverbs_file *file = cmd->file;
	struct ib_ucontext *ctx;
	int ret = 0;

	if (cmd->bundle.context)
		return -EINVAL;
	ctx = uverbs_context_alloc(cmd);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);

	mutex_lock(&file->lock);
	if (file->ucontext)
		ret = -EINVAL;
	else
		/* Pairs with the acquire of those who use the context. */
		smp_store_release(&file->ucontext, ctx);
	mutex_unlock(&file->lock);
	if (ret)
		uverbs_context_destroy(ctx);
	return ret;
}

int uverbs_w_get_context(struct uverbs_cmd *cmd)
{
	struct ib_uverbs_get_context_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_get_context_resp);
	int ret;

	ret = uverbs_event_file_create(cmd, true);
	if (ret)
		return ret;
	ret = uverbs_get_context(cmd);
	if (ret)
		return ret;
	resp->async_fd = cmd->new_fd;
	resp->num_comp_vectors = cmd->file->udev->num_comp_vectors;
	return 0;
}

int uverbs_m_get_context(struct uverbs_cmd *cmd)
{
	int ret;

	ret = uverbs_get_context(cmd);
	if (ret)
		return ret;
	uverbs_attr_put(cmd, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			&cmd->file->udev->num_comp_vectors, sizeof(u32));
	uverbs_attr_put(cmd, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
			&uverbs_core_support, sizeof(u64));
	return 0;
}

int uverbs_m_query_context(struct uverbs_cmd *cmd)
{
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
			&cmd->file->udev->num_comp_vectors, sizeof(u32));
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
			&uverbs_core_support, sizeof(u64));
	return 0;
}

int uverbs_m_async_alloc(struct uverbs_cmd *cmd)
{
	return uverbs_event_file_create(cmd, true);
}
