// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pairs. */
#include <linux/capability.h>
#include <linux/slab.h>
#include <verbs_user.h>
#include "method.h"

/* Q_Keys with the top bit set are those of privileged services. */
#define UVERBS_QKEY_CONTROLLED BIT(31)

static struct ib_uqp_object *uverbs_to_uqp(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uqp_object, uobject);
}

static int uverbs_qp_destroy(struct ib_uobject *uobj, struct ib_udata *udata)
{
	return ib_destroy_qp_user(uobj->object, udata);
}

static void uverbs_qp_abandon(struct ib_uobject *uobj)
{
	uverbs_qp_leave_groups(uverbs_to_uqp(uobj));
}

static void uverbs_qp_detach(struct ib_uobject *uobj,
			     struct uverbs_events_told *told)
{
	struct ib_uqp_object *uqp = uverbs_to_uqp(uobj);

	mutex_destroy(&uqp->groups_mutex);
	uverbs_event_source_detach(&uqp->async);
	told->async = uqp->async.told;
}

const struct uverbs_object_type uverbs_qp_type = {
	.id = UVERBS_OBJECT_QP,
	.size = sizeof(struct ib_uqp_object),
	.rank = UVERBS_RANK_QP,
	.abandon = uverbs_qp_abandon,
	.destroy = uverbs_qp_destroy,
	.detach = uverbs_qp_detach,
};

static void uverbs_qp_event(struct ib_event *event, void *context)
{
	struct ib_uqp_object *uqp = context;

	uverbs_event_source_post(&uqp->async, uqp->uobject.user_handle,
				 event->event);
}

/* Fills what the QP is made of. */
static int uverbs_qp_parts(struct uverbs_cmd *cmd,
			   const struct ib_uverbs_ex_create_qp *req,
			   struct ib_pd **pd, struct ib_qp_init_attr *attr)
{
	*pd = uverbs_object_use(cmd, &uverbs_pd_type, req->pd_handle);
	if (IS_ERR(*pd))
		return PTR_ERR(*pd);
	attr->send_cq = uverbs_object_use(cmd, &uverbs_cq_type,
					  req->send_cq_handle);
	if (IS_ERR(attr->send_cq))
		return PTR_ERR(attr->send_cq);
	attr->recv_cq = uverbs_object_use(cmd, &uverbs_cq_type,
					  req->recv_cq_handle);
	if (IS_ERR(attr->recv_cq) || !req->is_srq)
		return PTR_ERR_OR_ZERO(attr->recv_cq);
	attr->srq = uverbs_object_use(cmd, &uverbs_srq_type, req->srq_handle);
	return PTR_ERR_OR_ZERO(attr->srq);
}

static int uverbs_create_qp(struct uverbs_cmd *cmd,
			    const struct ib_uverbs_ex_create_qp *req,
			    s64 async_fd,
			    struct ib_uverbs_create_qp_resp *resp)
{
	struct ib_qp_init_attr attr = {
		.event_handler = uverbs_qp_event,
		.sq_sig_type = req->sq_sig_all ? IB_SIGNAL_ALL_WR :
						 IB_SIGNAL_REQ_WR,
		.qp_type = req->qp_type,
		.cap.max_send_wr = req->max_send_wr,
		.cap.max_recv_wr = req->max_recv_wr,
		.cap.max_send_sge = req->max_send_sge,
		.cap.max_recv_sge = req->max_recv_sge,
		.cap.max_inline_data = req->max_inline_data,
	};
	struct ib_uqp_object *uqp;
	struct ib_uobject *uobj;
	struct ib_pd *pd;
	struct ib_qp *qp;
	int ret;

	/* No indirection tables, no special QPs. */
	if (req->comp_mask || req->create_flags ||
	    req->source_qpn)
		return -EOPNOTSUPP;
	/* Before what they name is looked for: there are no XRC domains. */
	if (req->qp_type == IB_QPT_XRC_INI || req->qp_type == IB_QPT_XRC_TGT)
		return -EOPNOTSUPP;
	ret = uverbs_qp_parts(cmd, req, &pd, &attr);
	if (ret)
		return ret;
	uobj = uverbs_object_create(cmd, &uverbs_qp_type);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uqp = uverbs_to_uqp(uobj);
	mutex_init(&uqp->groups_mutex);
	INIT_LIST_HEAD(&uqp->groups);
	uobj->user_handle = req->user_handle;
	ret = uverbs_event_source_open(cmd, &uqp->async, async_fd);
	if (ret)
		return ret;

	attr.qp_context = uqp;
	qp = ib_create_qp_user(cmd->ibdev, pd, &attr,
			       &cmd->bundle.driver_udata, uqp, KBUILD_MODNAME);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	uobj->object = qp;
	resp->qp_handle = uobj->id;
	resp->qpn = qp->qp_num;
	resp->max_send_wr = attr.cap.max_send_wr;
	resp->max_recv_wr = attr.cap.max_recv_wr;
	resp->max_send_sge = attr.cap.max_send_sge;
	resp->max_recv_sge = attr.cap.max_recv_sge;
	resp->max_inline_data = attr.cap.max_inline_data;
	return 0;
}

int uverbs_w_create_qp(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_create_qp *req =
		uverbs_req(cmd, struct ib_uverbs_create_qp);
	const struct ib_uverbs_ex_create_qp full = {
		.user_handle = req->user_handle,
		.pd_handle = req->pd_handle,
		.send_cq_handle = req->send_cq_handle,
		.recv_cq_handle = req->recv_cq_handle,
		.srq_handle = req->srq_handle,
		.max_send_wr = req->max_send_wr,
		.max_recv_wr = req->max_recv_wr,
		.max_send_sge = req->max_send_sge,
		.max_recv_sge = req->max_recv_sge,
		.max_inline_data = req->max_inline_data,
		.sq_sig_all = req->sq_sig_all,
		.qp_type = req->qp_type,
		.is_srq = req->is_srq,
	};

	return uverbs_create_qp(cmd, &full, -1,
				uverbs_resp(cmd,
					    struct ib_uverbs_create_qp_resp));
}

int uverbs_x_create_qp(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_ex_create_qp *req =
		uverbs_req(cmd, struct ib_uverbs_ex_create_qp);
	struct ib_uverbs_ex_create_qp_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_ex_create_qp_resp);

	if (req->reserved ||
	    req->comp_mask & ~(u32)IB_UVERBS_CREATE_QP_SUP_COMP_MASK)
		return -EINVAL;
	resp->response_length = uverbs_response_length(cmd, sizeof(*resp));
	return uverbs_create_qp(cmd, req, -1, &resp->base);
}

int uverbs_m_qp_create(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_qp_cap *cap =
		cmd->attrs[UVERBS_ATTR_CREATE_QP_CAP].in;
	u64 type = uverbs_attr_u64(cmd, UVERBS_ATTR_CREATE_QP_TYPE);
	struct ib_uverbs_ex_create_qp req = {
		.user_handle =
			uverbs_attr_u64(cmd, UVERBS_ATTR_CREATE_QP_USER_HANDLE),
		.max_send_wr = cap->max_send_wr,
		.max_recv_wr = cap->max_recv_wr,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = cap->max_recv_sge,
		.max_inline_data = cap->max_inline_data,
		.qp_type = type,
		.source_qpn =
			uverbs_attr_u32(cmd, UVERBS_ATTR_CREATE_QP_SOURCE_QPN),
	};
	struct ib_uverbs_create_qp_resp resp = {};
	struct ib_uverbs_qp_cap got;
	u32 flags;
	int ret;

	if (type > U8_MAX)
		return -EINVAL;
	req.is_srq = uverbs_attr_given(cmd, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	req.srq_handle =
		uverbs_attr_handle(cmd, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	if (uverbs_attr_given(cmd, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
	    uverbs_attr_given(cmd, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE))
		return -EOPNOTSUPP;
	ret = uverbs_attr_flags(cmd, UVERBS_ATTR_CREATE_QP_FLAGS,
				IB_UVERBS_QP_CREATE_SQ_SIG_ALL, &flags);
	if (ret)
		return ret;
	req.pd_handle = uverbs_attr_handle(cmd,
					   UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	req.send_cq_handle =
		uverbs_attr_handle(cmd, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	req.recv_cq_handle =
		uverbs_attr_handle(cmd, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	req.sq_sig_all = !!(flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL);
	ret = uverbs_create_qp(cmd, &req,
			       uverbs_attr_fd(cmd,
					      UVERBS_ATTR_CREATE_QP_EVENT_FD),
			       &resp);
	if (ret)
		return ret;
	got.max_send_wr = resp.max_send_wr;
	got.max_recv_wr = resp.max_recv_wr;
	got.max_send_sge = resp.max_send_sge;
	got.max_recv_sge = resp.max_recv_sge;
	got.max_inline_data = resp.max_inline_data;
	uverbs_attr_put(cmd, UVERBS_ATTR_CREATE_QP_RESP_CAP, &got, sizeof(got));
	uverbs_attr_put(cmd, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &resp.qpn,
			sizeof(resp.qpn));
	return 0;
}

static void uverbs_qp_dest_to_user(struct ib_uverbs_qp_dest *to,
				   const struct rdma_ah_attr *from)
{
	to->port_num = from->port_num;
	to->sl = from->sl;
	to->static_rate = from->static_rate;
	if (from->type == RDMA_AH_ATTR_TYPE_IB) {
		to->dlid = from->ib.dlid;
		to->src_path_bits = from->ib.src_path_bits;
	}
	if (!(from->ah_flags & IB_AH_GRH))
		return;
	to->is_global = 1;
	memcpy(to->dgid, from->grh.dgid.raw, sizeof(to->dgid));
	to->sgid_index = from->grh.sgid_index;
	to->flow_label = from->grh.flow_label;
	to->hop_limit = from->grh.hop_limit;
	to->traffic_class = from->grh.traffic_class;
}

static void uverbs_qp_to_user(struct ib_uverbs_query_qp_resp *to,
			      const struct ib_qp_attr *attr,
			      const struct ib_qp_init_attr *init)
{
	uverbs_qp_dest_to_user(&to->dest, &attr->ah_attr);
	uverbs_qp_dest_to_user(&to->alt_dest, &attr->alt_ah_attr);

	to->qp_state = attr->qp_state;
	to->cur_qp_state = attr->cur_qp_state;
	to->sq_draining = attr->sq_draining;
	to->path_mig_state = attr->path_mig_state;
	to->path_mtu = attr->path_mtu;
	to->port_num = attr->port_num;
	to->alt_port_num = attr->alt_port_num;
	to->pkey_index = attr->pkey_index;
	to->alt_pkey_index = attr->alt_pkey_index;
	to->qkey = attr->qkey;
	to->dest_qp_num = attr->dest_qp_num;
	to->rq_psn = attr->rq_psn;
	to->sq_psn = attr->sq_psn;
	to->qp_access_flags = attr->qp_access_flags;
	to->max_rd_atomic = attr->max_rd_atomic;
	to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	to->timeout = attr->timeout;
	to->alt_timeout = attr->alt_timeout;
	to->retry_cnt = attr->retry_cnt;
	to->rnr_retry = attr->rnr_retry;
	to->min_rnr_timer = attr->min_rnr_timer;

	to->max_send_wr = init->cap.max_send_wr;
	to->max_recv_wr = init->cap.max_recv_wr;
	to->max_send_sge = init->cap.max_send_sge;
	to->max_recv_sge = init->cap.max_recv_sge;
	to->max_inline_data = init->cap.max_inline_data;
	to->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
}

int uverbs_w_query_qp(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_query_qp *req =
		uverbs_req(cmd, struct ib_uverbs_query_qp);
	struct {
		struct ib_qp_attr attr;
		struct ib_qp_init_attr init;
	} *ask;
	struct ib_qp *qp;
	int ret;

	qp = uverbs_object_use(cmd, &uverbs_qp_type, req->qp_handle);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ask = kzalloc(sizeof(*ask), GFP_KERNEL_ACCOUNT);
	if (!ask)
		return -ENOMEM;
	ret = ib_query_qp(qp, &ask->attr, req->attr_mask, &ask->init);
	if (!ret)
		uverbs_qp_to_user(uverbs_resp(cmd,
					      struct ib_uverbs_query_qp_resp),
				  &ask->attr, &ask->init);
	kfree(ask);
	return ret;
}

static void uverbs_qp_dest_from_user(struct ib_device *ibdev,
				     struct rdma_ah_attr *to,
				     const struct ib_uverbs_qp_dest *from)
{
	struct ib_uverbs_ah_attr attr = {
		.grh.sgid_index = from->sgid_index,
		.grh.flow_label = from->flow_label,
		.grh.hop_limit = from->hop_limit,
		.grh.traffic_class = from->traffic_class,
		.dlid = from->dlid,
		.sl = from->sl,
		.src_path_bits = from->src_path_bits,
		.static_rate = from->static_rate,
		.is_global = from->is_global,
		.port_num = from->port_num,
	};

	memcpy(attr.grh.dgid, from->dgid, sizeof(attr.grh.dgid));
	uverbs_ah_attr_from_user(ibdev, to, &attr);
}

/* The core looks at no more of this than the mask says. */
static void uverbs_qp_from_user(struct ib_device *ibdev, struct ib_qp_attr *to,
				const struct ib_uverbs_modify_qp *from)
{
	uverbs_qp_dest_from_user(ibdev, &to->ah_attr, &from->dest);
	uverbs_qp_dest_from_user(ibdev, &to->alt_ah_attr, &from->alt_dest);

	to->qp_state = from->qp_state;
	to->cur_qp_state = from->cur_qp_state;
	to->en_sqd_async_notify = from->en_sqd_async_notify;
	to->path_mig_state = from->path_mig_state;
	to->path_mtu = from->path_mtu;
	to->port_num = from->port_num;
	to->alt_port_num = from->alt_port_num;
	to->pkey_index = from->pkey_index;
	to->alt_pkey_index = from->alt_pkey_index;
	to->qkey = from->qkey;
	to->dest_qp_num = from->dest_qp_num;
	to->rq_psn = from->rq_psn;
	to->sq_psn = from->sq_psn;
	to->qp_access_flags = from->qp_access_flags;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->timeout = from->timeout;
	to->alt_timeout = from->alt_timeout;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
	to->min_rnr_timer = from->min_rnr_timer;
}

static int uverbs_modify_qp(struct uverbs_cmd *cmd,
			    const struct ib_uverbs_modify_qp *req,
			    u32 rate_limit)
{
	struct ib_qp_attr *attr;
	struct ib_qp *qp;
	int ret;

	if (req->attr_mask & IB_QP_QKEY &&
	    req->qkey & UVERBS_QKEY_CONTROLLED && !capable(CAP_NET_RAW))
		return -EPERM;
	qp = uverbs_object_use(cmd, &uverbs_qp_type, req->qp_handle);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	attr = kzalloc(sizeof(*attr), GFP_KERNEL_ACCOUNT);
	if (!attr)
		return -ENOMEM;
	uverbs_qp_from_user(cmd->ibdev, attr, req);
	attr->rate_limit = rate_limit;
	ret = ib_modify_qp_with_udata(qp, attr, req->attr_mask,
				      &cmd->bundle.driver_udata);
	kfree(attr);
	return ret;
}

int uverbs_w_modify_qp(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_modify_qp *req =
		uverbs_req(cmd, struct ib_uverbs_modify_qp);

	if (req->attr_mask & ~(u32)IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	return uverbs_modify_qp(cmd, req, 0);
}

int uverbs_x_modify_qp(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_ex_modify_qp *req =
		uverbs_req(cmd, struct ib_uverbs_ex_modify_qp);
	struct ib_uverbs_ex_modify_qp_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_ex_modify_qp_resp);

	if (req->base.attr_mask &
	    ~(u32)(IB_QP_ATTR_STANDARD_BITS | IB_QP_RATE_LIMIT))
		return -EOPNOTSUPP;
	resp->response_length = uverbs_response_length(cmd, sizeof(*resp));
	return uverbs_modify_qp(cmd, &req->base, req->rate_limit);
}

static int uverbs_destroy_qp(struct uverbs_cmd *cmd, u32 id,
			     struct ib_uverbs_destroy_qp_resp *resp)
{
	struct uverbs_events_told told = {};
	int ret;

	ret = uverbs_object_destroy(cmd->file, &uverbs_qp_type, id, &told);
	if (ret)
		return ret;
	resp->events_reported = told.async;
	return 0;
}

int uverbs_w_destroy_qp(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_destroy_qp *req =
		uverbs_req(cmd, struct ib_uverbs_destroy_qp);

	return uverbs_destroy_qp(cmd, req->qp_handle,
				 uverbs_resp(cmd,
					     struct ib_uverbs_destroy_qp_resp));
}

int uverbs_m_qp_destroy(struct uverbs_cmd *cmd)
{
	u32 id = uverbs_attr_handle(cmd, UVERBS_ATTR_DESTROY_QP_HANDLE);
	struct ib_uverbs_destroy_qp_resp resp = {};
	int ret;

	ret = uverbs_destroy_qp(cmd, id, &resp);
	if (ret)
		return ret;
	uverbs_attr_put(cmd, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	return 0;
}

/**
 * uverbs_doorbell - tell the driver to look at a QP's send ring
 * @file: the program's file
 * @qp_handle: the QP
 *
 * The hot path of every message: no allocation, no mutex, no user memory.
 *
 * Context: process.
 * Return: 0 or what the driver says.
 */
int uverbs_doorbell(struct ib_uverbs_file *file, u32 qp_handle)
{
	const struct ib_send_wr *bad;
	struct ib_uobject *uobj;
	struct ib_device *ibdev;
	int ret = -EIO;
	int idx;

	ibdev = uverbs_enter(file->udev, &idx);
	if (!ibdev)
		goto exit;
	uobj = uverbs_object_share(file, &uverbs_qp_type, qp_handle);
	if (IS_ERR(uobj)) {
		ret = PTR_ERR(uobj);
	} else {
		ret = ibdev->ops.post_send(uobj->object, NULL, &bad);
		uverbs_object_unshare(uobj);
	}
exit:
	uverbs_exit(file->udev, idx);
	return ret;
}

/* Work requests in a command: the list has to be there, nobody takes it. */
static int uverbs_check_wr_list(const struct uverbs_cmd *cmd, size_t req_size,
				u32 wr_count, u32 wr_size, u32 sge_count)
{
	u64 tail = cmd->bundle.ucore.inlen - req_size;

	if ((u64)wr_count * wr_size > tail ||
	    (u64)sge_count * sizeof(struct ib_uverbs_sge) >
		    tail - (u64)wr_count * wr_size)
		return -EINVAL;
	return wr_count ? -EOPNOTSUPP : 0;
}

int uverbs_w_post_send(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_post_send *req =
		uverbs_req(cmd, struct ib_uverbs_post_send);
	int ret;

	if (req->wqe_size < sizeof(struct ib_uverbs_send_wr))
		return -EINVAL;
	ret = uverbs_check_wr_list(cmd, sizeof(*req), req->wr_count,
				   req->wqe_size, req->sge_count);
	if (ret)
		return ret;
	return uverbs_doorbell(cmd->file, req->qp_handle);
}

int uverbs_w_post_recv(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_post_recv *req =
		uverbs_req(cmd, struct ib_uverbs_post_recv);
	struct ib_qp *qp;
	int ret;

	if (req->wqe_size < sizeof(struct ib_uverbs_recv_wr))
		return -EINVAL;
	ret = uverbs_check_wr_list(cmd, sizeof(*req), req->wr_count,
				   req->wqe_size, req->sge_count);
	if (ret)
		return ret;
	qp = uverbs_object_use(cmd, &uverbs_qp_type, req->qp_handle);
	return PTR_ERR_OR_ZERO(qp);
}
