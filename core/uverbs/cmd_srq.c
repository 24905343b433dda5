// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Shared receive queues. */
#include <verbs_user.h>
#include "method.h"

static struct ib_usrq_object *uverbs_to_usrq(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_usrq_object, uobject);
}

static int uverbs_srq_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return ib_destroy_srq_user(uobj->object, udata);
}

static void uverbs_srq_detach(struct ib_uobject *uobj,
			      struct uverbs_events_told *told)
{
	struct ib_usrq_object *usrq = uverbs_to_usrq(uobj);

	uverbs_event_source_detach(&usrq->async);
	told->async = usrq->async.told;
}

const struct uverbs_object_type uverbs_srq_type = {
	.id = UVERBS_OBJECT_SRQ,
	.size = sizeof(struct ib_usrq_object),
	.rank = UVERBS_RANK_SRQ,
	.destroy = uverbs_srq_destroy,
	.detach = uverbs_srq_detach,
};

static void uverbs_srq_event(struct ib_event *event, void *context)
{
	struct ib_usrq_object *usrq = context;

	uverbs_event_source_post(&usrq->async, usrq->uobject.user_handle,
				 event->event);
}

/* @attr: sizes, replaced by what it has. */
static struct ib_uobject *create_srq(struct uverbs_cmd *cmd, u32 pd_handle,
				     u64 user_handle, u32 type, s64 async_fd,
				     struct ib_srq_attr *attr)
{
	struct ib_srq_init_attr init = {
		.event_handler = uverbs_srq_event,
		.attr = *attr,
		.srq_type = type,
	};
	struct ib_usrq_object *usrq;
	struct ib_uobject *uobj;
	struct ib_srq *srq;
	struct ib_pd *pd;
	int ret;

	pd = uverbs_object_use(cmd, &uverbs_pd_type, pd_handle);
	if (IS_ERR(pd))
		return ERR_CAST(pd);
	uobj = uverbs_object_create(cmd, &uverbs_srq_type);
	if (IS_ERR(uobj))
		return uobj;
	usrq = uverbs_to_usrq(uobj);
	uobj->user_handle = user_handle;
	ret = uverbs_event_source_open(cmd, &usrq->async, async_fd);
	if (ret)
		return ERR_PTR(ret);
	init.srq_context = usrq;
	srq = ib_create_srq_user(pd, &init, usrq, &cmd->bundle.driver_udata);
	if (IS_ERR(srq))
		return ERR_CAST(srq);
	uobj->object = srq;
	*attr = init.attr;
	return uobj;
}

static int create_by_write(struct uverbs_cmd *cmd, u32 pd_handle,
			   u64 user_handle, u32 type, struct ib_srq_attr attr)
{
	struct ib_uverbs_create_srq_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_create_srq_resp);
	struct ib_uobject *uobj;

	uobj = create_srq(cmd, pd_handle, user_handle, type, -1, &attr);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	resp->srq_handle = uobj->id;
	resp->max_wr = attr.max_wr;
	resp->max_sge = attr.max_sge;
	return 0;
}

int uverbs_w_create_srq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_create_srq *req =
		uverbs_req(cmd, struct ib_uverbs_create_srq);
	struct ib_srq_attr attr = {
		.max_wr = req->max_wr,
		.max_sge = req->max_sge,
		.srq_limit = req->srq_limit,
	};

	return create_by_write(cmd, req->pd_handle, req->user_handle,
			       IB_SRQT_BASIC, attr);
}

/* Of all types there are; XRC's and tag matching's are not made here. */
int uverbs_w_create_xsrq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_create_xsrq *req =
		uverbs_req(cmd, struct ib_uverbs_create_xsrq);
	struct ib_srq_attr attr = {
		.max_wr = req->max_wr,
		.max_sge = req->max_sge,
		.srq_limit = req->srq_limit,
	};

	return create_by_write(cmd, req->pd_handle, req->user_handle,
			       req->srq_type, attr);
}

int uverbs_m_srq_create(struct uverbs_cmd *cmd)
{
	struct ib_srq_attr attr = {
		.max_wr = uverbs_attr_u32(cmd, UVERBS_ATTR_CREATE_SRQ_MAX_WR),
		.max_sge = uverbs_attr_u32(cmd, UVERBS_ATTR_CREATE_SRQ_MAX_SGE),
		.srq_limit = uverbs_attr_u32(cmd, UVERBS_ATTR_CREATE_SRQ_LIMIT),
	};
	struct ib_uobject *uobj;
	u64 type;

	type = uverbs_attr_u64(cmd, UVERBS_ATTR_CREATE_SRQ_TYPE);
	if (type > U32_MAX)
		return -EINVAL;
	uobj = create_srq(cmd,
			  uverbs_attr_handle(cmd,
					     UVERBS_ATTR_CREATE_SRQ_PD_HANDLE),
			  uverbs_attr_u64(cmd,
					  UVERBS_ATTR_CREATE_SRQ_USER_HANDLE),
			  type,
			  uverbs_attr_fd(cmd, UVERBS_ATTR_CREATE_SRQ_EVENT_FD),
			  &attr);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uverbs_attr_put(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &attr.max_wr,
			sizeof(attr.max_wr));
	uverbs_attr_put(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
			&attr.max_sge, sizeof(attr.max_sge));
	return 0;
}

int uverbs_w_modify_srq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_modify_srq *req =
		uverbs_req(cmd, struct ib_uverbs_modify_srq);
	struct ib_srq_attr attr = {
		.max_wr = req->max_wr,
		.srq_limit = req->srq_limit,
	};
	struct ib_srq *srq;

	srq = uverbs_object_use(cmd, &uverbs_srq_type, req->srq_handle);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	return rdma_modify_user_srq(srq, &attr, req->attr_mask,
				&cmd->bundle.driver_udata);
}

int uverbs_w_query_srq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_query_srq *req =
		uverbs_req(cmd, struct ib_uverbs_query_srq);
	struct ib_uverbs_query_srq_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_query_srq_resp);
	struct ib_srq_attr attr;
	struct ib_srq *srq;
	int ret;

	srq = uverbs_object_use(cmd, &uverbs_srq_type, req->srq_handle);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	ret = ib_query_srq(srq, &attr);
	if (ret)
		return ret;
	resp->max_wr = attr.max_wr;
	resp->max_sge = attr.max_sge;
	resp->srq_limit = attr.srq_limit;
	return 0;
}

static int destroy_srq(struct uverbs_cmd *cmd, u32 id,
		       struct ib_uverbs_destroy_srq_resp *resp)
{
	struct uverbs_events_told told = {};
	int ret;

	ret = uverbs_object_destroy(cmd->file, &uverbs_srq_type, id, &told);
	if (!ret)
		resp->events_reported = told.async;
	return ret;
}

int uverbs_w_destroy_srq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_destroy_srq *req =
		uverbs_req(cmd, struct ib_uverbs_destroy_srq);

	return destroy_srq(cmd, req->srq_handle,
			   uverbs_resp(cmd, struct ib_uverbs_destroy_srq_resp));
}

int uverbs_m_srq_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_SRQ_HANDLE);
	struct ib_uverbs_destroy_srq_resp resp = {};
	int ret;

	ret = destroy_srq(cmd, id, &resp);
	if (!ret)
		uverbs_attr_put(cmd, UVERBS_ATTR_DESTROY_SRQ_RESP, &resp,
				sizeof(resp));
	return ret;
}
