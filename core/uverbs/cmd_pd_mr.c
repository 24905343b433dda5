// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Protection domains and memory regions. */
#include <rdma/ib_umem.h>
#include <verbs_user.h>
#include "method.h"

static int uverbs_pd_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return ib_dealloc_pd_user(uobj->object, udata);
}

const struct uverbs_object_type uverbs_pd_type = {
	.id = UVERBS_OBJECT_PD,
	.size = sizeof(struct ib_uobject),
	.rank = UVERBS_RANK_PD,
	.destroy = uverbs_pd_destroy,
};

static int uverbs_mr_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return ib_dereg_mr_user(uobj->object, udata);
}

const struct uverbs_object_type uverbs_mr_type = {
	.id = UVERBS_OBJECT_MR,
	.size = sizeof(struct ib_uobject),
	.rank = UVERBS_RANK_MR,
	.destroy = uverbs_mr_destroy,
};

int uverbs_w_alloc_pd(struct uverbs_cmd *cmd)
{
	struct ib_uobject *uobj;
	struct ib_pd *pd;

	uobj = uverbs_object_create(cmd, &uverbs_pd_type);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	pd = rdma_alloc_user_pd(cmd->bundle.context, uobj,
				&cmd->bundle.driver_udata);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	uobj->object = pd;
	uverbs_resp(cmd, struct ib_uverbs_alloc_pd_resp)->pd_handle = uobj->id;
	return 0;
}

int uverbs_w_dealloc_pd(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_dealloc_pd *req =
		uverbs_req(cmd, struct ib_uverbs_dealloc_pd);

	return uverbs_object_destroy(cmd->file, &uverbs_pd_type,
				     req->pd_handle, NULL);
}

int uverbs_m_pd_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_PD_HANDLE);

	return uverbs_object_destroy(cmd->file, &uverbs_pd_type, id, NULL);
}

/* With the device, if it is there: 0 and @uobj is shared, or an error. */
static int uverbs_mr_look(struct uverbs_cmd *cmd, struct ib_device *ibdev,
			  const struct uverbs_object_type *type, u32 id,
			  struct ib_uobject **uobj)
{
	if (!ibdev)
		return -EIO;
	/* Pairs with the release when GET_CONTEXT is complete. */
	if (!smp_load_acquire(&cmd->file->ucontext))
		return -EINVAL;
	*uobj = uverbs_object_share(cmd->file, type, id);
	return PTR_ERR_OR_ZERO(*uobj);
}

/*
 * The pages may be those of a file system that the program serves itself, and
 * not come for ever: nobody waits for that, but the program.
 */
static int uverbs_mr_pin(struct uverbs_cmd *cmd, const struct rdma_pin *pin)
{
	struct ib_umem *umem;

	if (!pin->wanted)
		return 0;
	umem = ib_umem_pin(pin->start, pin->length, pin->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	cmd->umem = umem;
	return 0;
}

int uverbs_reg_mr_prepare(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_reg_mr *req =
		uverbs_req(cmd, struct ib_uverbs_reg_mr);
	struct ib_device *ibdev;
	struct ib_uobject *pd;
	struct rdma_pin pin;
	int idx;
	int ret;

	/* The bit that would be the sign is nobody's flag. */
	if (req->access_flags > INT_MAX)
		return -EOPNOTSUPP;
	ibdev = uverbs_enter(cmd->file->udev, &idx);
	ret = uverbs_mr_look(cmd, ibdev, &uverbs_pd_type, req->pd_handle, &pd);
	if (!ret) {
		ret = rdma_reg_user_mr_pin(ibdev, req->start, req->length,
					   req->hca_va, req->access_flags,
					   &pin);
		uverbs_object_unshare(pd);
	}
	uverbs_exit(cmd->file->udev, idx);
	return ret ?: uverbs_mr_pin(cmd, &pin);
}

int uverbs_w_reg_mr(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_reg_mr *req =
		uverbs_req(cmd, struct ib_uverbs_reg_mr);
	struct ib_uverbs_reg_mr_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_reg_mr_resp);
	struct ib_uobject *uobj;
	struct ib_pd *pd;
	struct ib_mr *mr;

	pd = uverbs_object_use(cmd, &uverbs_pd_type, req->pd_handle);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	uobj = uverbs_object_create(cmd, &uverbs_mr_type);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	mr = rdma_reg_user_mr(pd, &cmd->umem, req->start, req->length,
			      req->hca_va, req->access_flags, uobj,
			      &cmd->bundle.driver_udata);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	uobj->object = mr;
	resp->mr_handle = uobj->id;
	resp->lkey = mr->lkey;
	resp->rkey = mr->rkey;
	return 0;
}

int uverbs_rereg_mr_prepare(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_rereg_mr *req =
		uverbs_req(cmd, struct ib_uverbs_rereg_mr);
	struct ib_device *ibdev;
	struct ib_uobject *mr;
	struct rdma_pin pin;
	int idx;
	int ret;

	if (!req->flags)
		return -EINVAL;
	if (req->flags & ~IB_MR_REREG_SUPPORTED || req->access_flags > INT_MAX)
		return -EOPNOTSUPP;
	ibdev = uverbs_enter(cmd->file->udev, &idx);
	ret = uverbs_mr_look(cmd, ibdev, &uverbs_mr_type, req->mr_handle, &mr);
	if (!ret) {
		ret = rdma_rereg_user_mr_pin(mr->object, req->flags, req->start,
					     req->length, req->hca_va,
					     req->access_flags, &pin);
		uverbs_object_unshare(mr);
	}
	uverbs_exit(cmd->file->udev, idx);
	return ret ?: uverbs_mr_pin(cmd, &pin);
}

int uverbs_w_rereg_mr(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_rereg_mr *req =
		uverbs_req(cmd, struct ib_uverbs_rereg_mr);
	struct ib_uverbs_rereg_mr_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_rereg_mr_resp);
	struct ib_uobject *uobj;
	struct ib_pd *pd = NULL;
	struct ib_mr *mr;
	int ret;

	if (req->flags & IB_MR_REREG_PD)
		pd = uverbs_object_use(cmd, &uverbs_pd_type, req->pd_handle);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	uobj = uverbs_object_claim(cmd->file, &uverbs_mr_type, req->mr_handle);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	mr = uobj->object;
	ret = rdma_rereg_user_mr(mr, &cmd->umem, req->flags, req->start,
				 req->length, req->hca_va, req->access_flags,
				 pd, &cmd->bundle.driver_udata);
	resp->lkey = mr->lkey;
	resp->rkey = mr->rkey;
	uverbs_object_release(uobj);
	return ret;
}

int uverbs_w_dereg_mr(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_dereg_mr *req =
		uverbs_req(cmd, struct ib_uverbs_dereg_mr);

	return uverbs_object_destroy(cmd->file, &uverbs_mr_type,
				     req->mr_handle, NULL);
}

int uverbs_m_mr_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_MR_HANDLE);

	return uverbs_object_destroy(cmd->file, &uverbs_mr_type, id, NULL);
}

int uverbs_m_query_mr(struct uverbs_cmd *cmd)
{
	struct ib_mr *mr;

	mr = uverbs_object_use(cmd, &uverbs_mr_type,
			       uverbs_attr_handle(cmd,
						  UVERBS_ATTR_QUERY_MR_HANDLE));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->lkey,
			sizeof(mr->lkey));
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->rkey,
			sizeof(mr->rkey));
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->length,
			sizeof(mr->length));
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->iova,
			sizeof(mr->iova));
	return 0;
}
