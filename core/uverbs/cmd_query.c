// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Questions about the device, its ports, its GIDs and a program's handles. */
#include <linux/mm.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "method.h"

/* What needs commands that are not here. */
#define UVERBS_CAPS_NOT_OFFERED                                                \
	(IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A | IB_UVERBS_DEVICE_XRC |          \
	 IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING |                              \
	 IB_UVERBS_DEVICE_AUTO_PATH_MIG)

static void uverbs_fill_device(struct ib_uverbs_query_device_resp *resp,
			       const struct ib_device *ibdev,
			       const struct ib_device_attr *attr)
{
	resp->fw_ver = attr->fw_ver;
	resp->node_guid = ibdev->node_guid;
	resp->sys_image_guid = attr->sys_image_guid;
	resp->vendor_id = attr->vendor_id;
	resp->vendor_part_id = attr->vendor_part_id;
	resp->hw_ver = attr->hw_ver;
	resp->device_cap_flags = lower_32_bits(attr->device_cap_flags &
					       ~UVERBS_CAPS_NOT_OFFERED);
	resp->atomic_cap = attr->atomic_cap;
	resp->local_ca_ack_delay = attr->local_ca_ack_delay;
	resp->phys_port_cnt = min_t(u32, ibdev->phys_port_cnt, U8_MAX);
	resp->max_pkeys = attr->max_pkeys;

	resp->max_pd = attr->max_pd;
	resp->max_ah = attr->max_ah;
	resp->max_mr = attr->max_mr;
	resp->max_mr_size = attr->max_mr_size;
	resp->page_size_cap = attr->page_size_cap;
	resp->max_cq = attr->max_cq;
	resp->max_cqe = attr->max_cqe;

	resp->max_qp = attr->max_qp;
	resp->max_qp_wr = attr->max_qp_wr;
	/* One number for both queues. */
	resp->max_sge = min(attr->max_send_sge, attr->max_recv_sge);
	resp->max_sge_rd = attr->max_sge_rd;
	resp->max_qp_rd_atom = attr->max_qp_rd_atom;
	resp->max_qp_init_rd_atom = attr->max_qp_init_rd_atom;
	resp->max_res_rd_atom = attr->max_res_rd_atom;

	resp->max_mw = attr->max_mw;
	resp->max_srq = attr->max_srq;
	resp->max_srq_wr = attr->max_srq_wr;
	resp->max_srq_sge = attr->max_srq_sge;
	resp->max_mcast_grp = attr->max_mcast_grp;
	resp->max_mcast_qp_attach = attr->max_mcast_qp_attach;
	resp->max_total_mcast_qp_attach = attr->max_total_mcast_qp_attach;
}

int uverbs_w_query_device(struct uverbs_cmd *cmd)
{
	uverbs_fill_device(uverbs_resp(cmd, struct ib_uverbs_query_device_resp),
			   cmd->ibdev, &cmd->ibdev->attrs);
	return 0;
}

int uverbs_x_query_device(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_ex_query_device *req =
		uverbs_req(cmd, struct ib_uverbs_ex_query_device);
	struct ib_uverbs_ex_query_device_resp *resp =
		uverbs_resp(cmd, struct ib_uverbs_ex_query_device_resp);
	struct ib_device_attr *attr;
	int ret;

	if (req->comp_mask || req->reserved)
		return -EINVAL;
	attr = kzalloc(sizeof(*attr), GFP_KERNEL_ACCOUNT);
	if (!attr)
		return -ENOMEM;
	ret = cmd->ibdev->ops.query_device(cmd->ibdev, attr,
					   &cmd->bundle.driver_udata);
	if (ret)
		goto free;
	uverbs_fill_device(&resp->base, cmd->ibdev, attr);
	resp->response_length = uverbs_response_length(cmd, sizeof(*resp));
	resp->device_cap_flags_ex = attr->device_cap_flags &
				    ~(u64)UVERBS_CAPS_NOT_OFFERED;
	resp->timestamp_mask = attr->timestamp_mask;
	resp->hca_core_clock = attr->hca_core_clock;
free:
	kfree(attr);
	return ret;
}

static int uverbs_fill_port(struct uverbs_cmd *cmd, u32 port,
			    struct ib_uverbs_query_port_resp *resp,
			    struct ib_port_attr *attr)
{
	struct ib_device *ibdev = cmd->ibdev;
	int ret;

	ret = ib_query_port(ibdev, port, attr);
	if (ret)
		return ret;
	resp->state = attr->state;
	resp->phys_state = attr->phys_state;
	resp->link_layer = rdma_port_get_link_layer(ibdev, port);
	resp->max_mtu = attr->max_mtu;
	resp->active_mtu = attr->active_mtu;
	resp->max_msg_sz = attr->max_msg_sz;
	resp->active_width = attr->active_width;
	/* The field is too small for what came after NDR. */
	resp->active_speed = min_t(u16, attr->active_speed, IB_SPEED_NDR);
	resp->gid_tbl_len = attr->gid_tbl_len;
	resp->pkey_tbl_len = attr->pkey_tbl_len;
	resp->port_cap_flags = attr->port_cap_flags;
	if (attr->ip_gids)
		resp->port_cap_flags |= IB_UVERBS_PCF_IP_BASED_GIDS;
	if (rdma_protocol_roce(ibdev, port))
		resp->flags |= IB_UVERBS_QPF_GRH_REQUIRED;
	resp->bad_pkey_cntr = attr->bad_pkey_cntr;
	resp->qkey_viol_cntr = attr->qkey_viol_cntr;
	resp->lid = attr->lid;
	resp->lmc = attr->lmc;
	resp->sm_lid = attr->sm_lid;
	resp->sm_sl = attr->sm_sl;
	resp->max_vl_num = attr->max_vl_num;
	resp->subnet_timeout = attr->subnet_timeout;
	resp->init_type_reply = attr->init_type_reply;
	return 0;
}

int uverbs_w_query_port(struct uverbs_cmd *cmd)
{
	const struct ib_uverbs_query_port *req =
		uverbs_req(cmd, struct ib_uverbs_query_port);
	struct ib_port_attr attr = {};

	return uverbs_fill_port(cmd, req->port_num,
				uverbs_resp(cmd,
					    struct ib_uverbs_query_port_resp),
				&attr);
}

/* The number of a port in an attribute; 0, which is none, when too large. */
static u32 uverbs_attr_port(const struct uverbs_cmd *cmd, u16 id)
{
	u64 port = uverbs_attr_u64(cmd, id);

	return port <= U8_MAX ? port : 0;
}

int uverbs_m_query_port(struct uverbs_cmd *cmd)
{
	u32 port = uverbs_attr_port(cmd, UVERBS_ATTR_QUERY_PORT_PORT_NUM);
	struct ib_uverbs_query_port_resp_ex resp = {};
	struct ib_port_attr attr = {};
	int ret;

	if (!rdma_is_port_valid(cmd->ibdev, port))
		return -EINVAL;
	ret = uverbs_fill_port(cmd, port, &resp.legacy_resp, &attr);
	if (ret)
		return ret;
	resp.port_cap_flags2 = attr.port_cap_flags2;
	resp.active_speed_ex = attr.active_speed;
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	return 0;
}

/* Lays @num entries out as the program knows them, in place of @entries. */
static int uverbs_gid_table_stride(struct ib_uverbs_gid_entry **entries,
				   size_t num, size_t stride)
{
	size_t known = min(stride, sizeof(**entries));
	u8 *to;
	size_t i;

	to = kvcalloc(num, stride, GFP_KERNEL_ACCOUNT);
	if (!to)
		return -ENOMEM;
	for (i = 0; i < num; i++)
		memcpy(to + i * stride, &(*entries)[i], known);
	kvfree(*entries);
	*entries = (void *)to;
	return 0;
}

int uverbs_m_query_gid_table(struct uverbs_cmd *cmd)
{
	struct uverbs_attr *out =
		&cmd->attrs[UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES];
	u64 stride = uverbs_attr_u64(cmd,
				     UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	struct ib_uverbs_gid_entry *entries;
	u64 num_entries;
	ssize_t num;
	u32 flags;
	int ret;

	ret = uverbs_attr_flags(cmd, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0,
				&flags);
	if (ret)
		return ret;
	if (!stride || stride > out->len || out->len % (u32)stride)
		return -EINVAL;
	num = out->len / (u32)stride;
	entries = kvcalloc(num, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (!entries)
		return -ENOMEM;
	num = rdma_query_gid_table(cmd->ibdev, entries, num);
	if (num < 0) {
		ret = num;
		goto free;
	}
	if (num && stride != sizeof(*entries)) {
		ret = uverbs_gid_table_stride(&entries, num, stride);
		if (ret)
			goto free;
	}
	/* The end of the command frees it. */
	cmd->large = entries;
	out->out = entries;
	out->out_len = num * stride;
	num_entries = num;
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
			&num_entries, sizeof(num_entries));
	return 0;

free:
	kvfree(entries);
	return ret;
}

int uverbs_m_query_gid_entry(struct uverbs_cmd *cmd)
{
	u32 port = uverbs_attr_port(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
	u64 index = uverbs_attr_u64(cmd,
				    UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	struct ib_uverbs_gid_entry entry = {};
	const struct ib_gid_attr *gid;
	struct net_device *ndev;
	u32 flags;
	int ret;

	ret = uverbs_attr_flags(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0,
				&flags);
	if (ret)
		return ret;
	if (!rdma_is_port_valid(cmd->ibdev, port) || index > INT_MAX)
		return -EINVAL;
	gid = rdma_get_gid_attr(cmd->ibdev, port, index);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	memcpy(entry.gid, gid->gid.raw, sizeof(entry.gid));
	entry.gid_index = gid->index;
	entry.port_num = gid->port_num;
	entry.gid_type = gid->gid_type;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	if (!IS_ERR(ndev))
		entry.netdev_ifindex = ib_ifindex_for_caller(ndev);
	rcu_read_unlock();
	rdma_put_gid_attr(gid);
	uverbs_attr_put(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry,
			sizeof(entry));
	return 0;
}

/* Which handles of a kind the program has. */
int uverbs_m_info_handles(struct uverbs_cmd *cmd)
{
	struct uverbs_attr *out =
		&cmd->attrs[UVERBS_ATTR_INFO_HANDLES_LIST];
	u64 object_id = uverbs_attr_u64(cmd, UVERBS_ATTR_INFO_OBJECT_ID);
	u32 room = out->present ? out->len / sizeof(u32) : 0;
	struct ib_uobject *uobj;
	unsigned long id;
	u32 total = 0;
	u32 *list;

	if (!room || out->len % sizeof(u32))
		return -EINVAL;
	list = kvcalloc(room, sizeof(u32), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	rcu_read_lock();
	xa_for_each(&cmd->file->objects, id, uobj) {
		if (total == room)
			break;
		if (uobj->type->id == object_id)
			list[total++] = id;
		cond_resched_rcu();
	}
	rcu_read_unlock();
	cmd->large = list;
	out->out = list;
	out->out_len = total * sizeof(u32);
	uverbs_attr_put(cmd, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total,
			sizeof(total));
	return 0;
}
