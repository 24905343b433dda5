// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory windows. */
#include <verbs_user.h>
#include "method.h"

static int uverbs_mw_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return rdma_dealloc_user_mw(uobj->object);
}

const struct uverbs_object_type uverbs_mw_type = {
	.id = UVERBS_OBJECT_MW,
	.size = sizeof(struct ib_uobject),
	.rank = UVERBS_RANK_MW,
	.destroy = uverbs_mw_destroy,
};

int uverbs_w_alloc_mw(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_alloc_mw *req =
		uverbs_req(cmd, struct ib_uverbs_alloc_mw);
	struct ib_uverbs_alloc_mw_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_alloc_mw_resp);
	struct ib_uobject *uobj;
	struct ib_pd *pd;
	struct ib_mw *mw;

	pd = uverbs_object_use(cmd, &uverbs_pd_type, req->pd_handle);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	uobj = uverbs_object_create(cmd, &uverbs_mw_type);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	mw = rdma_alloc_user_mw(pd, req->mw_type, uobj,
				&cmd->bundle.driver_udata);
	if (IS_ERR(mw))
		return PTR_ERR(mw);
	uobj->object = mw;
	resp->mw_handle = uobj->id;
	resp->rkey = mw->rkey;
	return 0;
}

int uverbs_w_dealloc_mw(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_dealloc_mw *req =
		uverbs_req(cmd, struct ib_uverbs_dealloc_mw);

	return uverbs_object_destroy(cmd->file, &uverbs_mw_type,
				     req->mw_handle, NULL);
}

int uverbs_m_mw_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_MW_HANDLE);

	return uverbs_object_destroy(cmd->file, &uverbs_mw_type, id, NULL);
}
