// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Completion channels and completion queues. */
#include <verbs_user.h>
#include "method.h"

#define UVERBS_CQ_FLAGS                                                        \
	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |                             \
	 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

static struct ib_ucq_object *uverbs_to_ucq(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_ucq_object, uobject);
}

static int uverbs_cq_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return ib_destroy_cq_user(uobj->object, udata);
}

static void uverbs_cq_detach(struct ib_uobject *uobj,
			     struct uverbs_events_told *told)
{
	struct ib_ucq_object *ucq = uverbs_to_ucq(uobj);

	uverbs_comp_source_detach(&ucq->comp);
	uverbs_event_source_detach(&ucq->async);
	told->comp = ucq->comp.told;
	told->async = ucq->async.told;
}

const struct uverbs_object_type uverbs_cq_type = {
	.id = UVERBS_OBJECT_CQ,
	.size = sizeof(struct ib_ucq_object),
	.rank = UVERBS_RANK_CQ,
	.destroy = uverbs_cq_destroy,
	.detach = uverbs_cq_detach,
};

static void uverbs_cq_completion(struct ib_cq *cq, void *context)
{
	struct ib_ucq_object *ucq = context;

	uverbs_comp_source_post(&ucq->comp);
}

static void uverbs_cq_event(struct ib_event *event, void *context)
{
	struct ib_ucq_object *ucq = context;

	uverbs_event_source_post(&ucq->async, ucq->uobject.user_handle,
				 event->event);
}

int uverbs_w_create_comp_channel(struct uverbs_cmd *cmd)
{
	int ret;

	ret = uverbs_event_file_create(cmd, false);
	if (ret)
		return ret;
	uverbs_resp(cmd, struct ib_uverbs_create_comp_channel_resp)->fd =
		cmd->new_fd;
	return 0;
}

static struct ib_cq *uverbs_create_cq(struct uverbs_cmd *cmd,
				      const struct ib_uverbs_ex_create_cq *req,
				      s64 async_fd)
{
	struct ib_cq_init_attr attr = {
		.cqe = req->cqe,
		.comp_vector = req->comp_vector,
		.flags = req->flags,
	};
	struct uverbs_event_file *channel = NULL;
	struct ib_ucq_object *ucq;
	struct ib_uobject *uobj;
	struct ib_cq *cq;
	int ret;

	if (req->flags & ~UVERBS_CQ_FLAGS ||
	    req->comp_vector >= cmd->file->udev->num_comp_vectors)
		return ERR_PTR(-EINVAL);
	uobj = uverbs_object_create(cmd, &uverbs_cq_type);
	if (IS_ERR(uobj))
		return ERR_CAST(uobj);
	ucq = uverbs_to_ucq(uobj);
	uobj->user_handle = req->user_handle;

	/* Everything opened here is closed when the object is detached. */
	if (req->comp_channel >= 0)
		channel = uverbs_event_file_get(cmd->file, req->comp_channel,
						false);
	uverbs_comp_source_init(&ucq->comp, IS_ERR(channel) ? NULL : channel,
				req->user_handle);
	ret = uverbs_event_source_open(cmd, &ucq->async, async_fd);
	if (ret)
		return ERR_PTR(ret);
	if (IS_ERR(channel))
		return ERR_CAST(channel);

	cq = rdma_create_user_cq(cmd->bundle.context, &attr,
				 uverbs_cq_completion, uverbs_cq_event, ucq,
				 ucq, &cmd->bundle);
	if (!IS_ERR(cq))
		uobj->object = cq;
	return cq;
}

int uverbs_w_create_cq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_create_cq *req =
		uverbs_req(cmd, struct ib_uverbs_create_cq);
	struct ib_uverbs_create_cq_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_create_cq_resp);
	const struct ib_uverbs_ex_create_cq full = {
		.user_handle = req->user_handle,
		.cqe = req->cqe,
		.comp_vector = req->comp_vector,
		.comp_channel = req->comp_channel,
	};
	struct ib_cq *cq;

	cq = uverbs_create_cq(cmd, &full, -1);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	resp->cq_handle = cmd->created_id;
	resp->cqe = cq->cqe;
	return 0;
}

int uverbs_x_create_cq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_ex_create_cq *req =
		uverbs_req(cmd, struct ib_uverbs_ex_create_cq);
	struct ib_uverbs_ex_create_cq_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_ex_create_cq_resp);
	struct ib_cq *cq;

	if (req->comp_mask || req->reserved)
		return -EINVAL;
	cq = uverbs_create_cq(cmd, req, -1);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	resp->base.cq_handle = cmd->created_id;
	resp->base.cqe = cq->cqe;
	resp->response_length = uverbs_response_length(cmd, sizeof(*resp));
	return 0;
}

int uverbs_m_cq_create(struct uverbs_cmd *cmd)
{
	struct ib_uverbs_ex_create_cq req = {
		.user_handle =
			uverbs_attr_u64(cmd, UVERBS_ATTR_CREATE_CQ_USER_HANDLE),
		.cqe = uverbs_attr_u32(cmd, UVERBS_ATTR_CREATE_CQ_CQE),
		.comp_vector =
			uverbs_attr_u32(cmd, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
		.comp_channel =
			uverbs_attr_fd(cmd, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
	};
	struct ib_cq *cq;
	u32 cqe;
	int ret;

	ret = uverbs_attr_flags(cmd, UVERBS_ATTR_CREATE_CQ_FLAGS,
				UVERBS_CQ_FLAGS, &req.flags);
	if (ret)
		return ret;
	cq = uverbs_create_cq(cmd, &req,
			      uverbs_attr_fd(cmd,
					     UVERBS_ATTR_CREATE_CQ_EVENT_FD));
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	cqe = cq->cqe;
	uverbs_attr_put(cmd, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	return 0;
}

int uverbs_w_resize_cq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_resize_cq *req =
		uverbs_req(cmd, struct ib_uverbs_resize_cq);
	struct ib_cq *cq;
	int ret;

	cq = uverbs_object_use(cmd, &uverbs_cq_type, req->cq_handle);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	if (req->cqe > INT_MAX)
		return -EINVAL;
	ret = rdma_resize_user_cq(cq, req->cqe, &cmd->bundle.driver_udata);
	if (ret)
		return ret;
	uverbs_resp(cmd, struct ib_uverbs_resize_cq_resp)->cqe =
		READ_ONCE(cq->cqe);
	return 0;
}

int uverbs_w_req_notify_cq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_req_notify_cq *req =
		uverbs_req(cmd, struct ib_uverbs_req_notify_cq);
	const struct ib_ucq_object *ucq;
	struct ib_cq *cq;
	int ret;

	cq = uverbs_object_use(cmd, &uverbs_cq_type, req->cq_handle);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	/* An event would have nowhere to go: its waiter would wait for ever. */
	ucq = cq->cq_context;
	if (!ucq->comp.file)
		return -EINVAL;
	ret = ib_req_notify_cq(cq, req->solicited_only ? IB_CQ_SOLICITED :
							 IB_CQ_NEXT_COMP);
	return ret < 0 ? ret : 0;
}

static int uverbs_destroy_cq(struct uverbs_cmd *cmd, u32 id,
			     struct ib_uverbs_destroy_cq_resp *resp)
{
	struct uverbs_events_told told = {};
	int ret;

	ret = uverbs_object_destroy(cmd->file, &uverbs_cq_type, id, &told);
	if (ret)
		return ret;
	resp->comp_events_reported = told.comp;
	resp->async_events_reported = told.async;
	return 0;
}

int uverbs_w_destroy_cq(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_destroy_cq *req =
		uverbs_req(cmd, struct ib_uverbs_destroy_cq);

	return uverbs_destroy_cq(cmd, req->cq_handle,
				 uverbs_resp(cmd,
					     struct ib_uverbs_destroy_cq_resp));
}

int uverbs_m_cq_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	struct ib_uverbs_destroy_cq_resp resp = {};
	int ret;

	ret = uverbs_destroy_cq(cmd, id, &resp);
	if (ret)
		return ret;
	uverbs_attr_put(cmd, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	return 0;
}
