// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The tables of commands and methods: one entry, one thing a program can do. */
#include <linux/kernel.h>
#include <linux/nospec.h>
#include "method.h"

/* ---- write() commands ---- */

/* A request and no response. */
#define UVERBS_I(fn, req)                                                      \
	{                                                                      \
		.handler = fn, .req_size = sizeof(struct req),                 \
	}

/* A request that begins with the address of the response. */
#define UVERBS_IO(fn, req, resp)                                               \
	{                                                                      \
		.handler = fn, .has_resp = true,                               \
		.req_size = sizeof(struct req),                                \
		.resp_size = sizeof(struct resp),                              \
	}

/* The same with data of the driver after both. */
#define UVERBS_DRIVER_IO(fn, req, resp)                                        \
	{                                                                      \
		.handler = fn, .has_resp = true, .has_udata = true,            \
		.req_size = offsetof(struct req, driver_data),                 \
		.resp_size = offsetof(struct resp, driver_data),               \
	}

static const struct uverbs_write_method uverbs_plain[] = {
	[IB_USER_VERBS_CMD_GET_CONTEXT] = {
		.handler = uverbs_w_get_context,
		.req_size = sizeof(struct ib_uverbs_get_context),
		.resp_size = sizeof(struct ib_uverbs_get_context_resp),
		.has_resp = true,
		.has_udata = true,
		.no_context = true,
	},
	[IB_USER_VERBS_CMD_QUERY_DEVICE] =
		UVERBS_IO(uverbs_w_query_device, ib_uverbs_query_device,
			  ib_uverbs_query_device_resp),
	[IB_USER_VERBS_CMD_QUERY_PORT] =
		UVERBS_IO(uverbs_w_query_port, ib_uverbs_query_port,
			  ib_uverbs_query_port_resp),
	[IB_USER_VERBS_CMD_ALLOC_PD] =
		UVERBS_DRIVER_IO(uverbs_w_alloc_pd, ib_uverbs_alloc_pd,
				 ib_uverbs_alloc_pd_resp),
	[IB_USER_VERBS_CMD_DEALLOC_PD] =
		UVERBS_I(uverbs_w_dealloc_pd, ib_uverbs_dealloc_pd),
	[IB_USER_VERBS_CMD_CREATE_AH] =
		UVERBS_DRIVER_IO(uverbs_w_create_ah, ib_uverbs_create_ah,
				 ib_uverbs_create_ah_resp),
	[IB_USER_VERBS_CMD_DESTROY_AH] =
		UVERBS_I(uverbs_w_destroy_ah, ib_uverbs_destroy_ah),
	[IB_USER_VERBS_CMD_REG_MR] = {
		.handler = uverbs_w_reg_mr,
		.prepare = uverbs_reg_mr_prepare,
		.req_size = offsetof(struct ib_uverbs_reg_mr, driver_data),
		.resp_size = offsetof(struct ib_uverbs_reg_mr_resp,
				      driver_data),
		.has_resp = true,
		.has_udata = true,
	},
	[IB_USER_VERBS_CMD_REREG_MR] = {
		.handler = uverbs_w_rereg_mr,
		.prepare = uverbs_rereg_mr_prepare,
		.req_size = offsetof(struct ib_uverbs_rereg_mr, driver_data),
		.resp_size = offsetof(struct ib_uverbs_rereg_mr_resp,
				      driver_data),
		.has_resp = true,
		.has_udata = true,
	},
	[IB_USER_VERBS_CMD_DEREG_MR] =
		UVERBS_I(uverbs_w_dereg_mr, ib_uverbs_dereg_mr),
	[IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL] =
		UVERBS_IO(uverbs_w_create_comp_channel,
			  ib_uverbs_create_comp_channel,
			  ib_uverbs_create_comp_channel_resp),
	[IB_USER_VERBS_CMD_CREATE_CQ] =
		UVERBS_DRIVER_IO(uverbs_w_create_cq, ib_uverbs_create_cq,
				 ib_uverbs_create_cq_resp),
	[IB_USER_VERBS_CMD_RESIZE_CQ] =
		UVERBS_DRIVER_IO(uverbs_w_resize_cq, ib_uverbs_resize_cq,
				 ib_uverbs_resize_cq_resp),
	[IB_USER_VERBS_CMD_DESTROY_CQ] =
		UVERBS_IO(uverbs_w_destroy_cq, ib_uverbs_destroy_cq,
			  ib_uverbs_destroy_cq_resp),
	[IB_USER_VERBS_CMD_REQ_NOTIFY_CQ] =
		UVERBS_I(uverbs_w_req_notify_cq, ib_uverbs_req_notify_cq),
	[IB_USER_VERBS_CMD_CREATE_QP] =
		UVERBS_DRIVER_IO(uverbs_w_create_qp, ib_uverbs_create_qp,
				 ib_uverbs_create_qp_resp),
	[IB_USER_VERBS_CMD_QUERY_QP] =
		UVERBS_IO(uverbs_w_query_qp, ib_uverbs_query_qp,
			  ib_uverbs_query_qp_resp),
	[IB_USER_VERBS_CMD_MODIFY_QP] = {
		.handler = uverbs_w_modify_qp,
		.req_size = sizeof(struct ib_uverbs_modify_qp),
		.has_udata = true,
	},
	[IB_USER_VERBS_CMD_DESTROY_QP] =
		UVERBS_IO(uverbs_w_destroy_qp, ib_uverbs_destroy_qp,
			  ib_uverbs_destroy_qp_resp),
	[IB_USER_VERBS_CMD_ALLOC_MW] =
		UVERBS_DRIVER_IO(uverbs_w_alloc_mw, ib_uverbs_alloc_mw,
				 ib_uverbs_alloc_mw_resp),
	[IB_USER_VERBS_CMD_DEALLOC_MW] =
		UVERBS_I(uverbs_w_dealloc_mw, ib_uverbs_dealloc_mw),
	[IB_USER_VERBS_CMD_CREATE_SRQ] =
		UVERBS_DRIVER_IO(uverbs_w_create_srq, ib_uverbs_create_srq,
				 ib_uverbs_create_srq_resp),
	[IB_USER_VERBS_CMD_CREATE_XSRQ] =
		UVERBS_DRIVER_IO(uverbs_w_create_xsrq, ib_uverbs_create_xsrq,
				 ib_uverbs_create_srq_resp),
	[IB_USER_VERBS_CMD_MODIFY_SRQ] = {
		.handler = uverbs_w_modify_srq,
		.req_size = sizeof(struct ib_uverbs_modify_srq),
		.has_udata = true,
	},
	[IB_USER_VERBS_CMD_QUERY_SRQ] =
		UVERBS_IO(uverbs_w_query_srq, ib_uverbs_query_srq,
			  ib_uverbs_query_srq_resp),
	[IB_USER_VERBS_CMD_DESTROY_SRQ] =
		UVERBS_IO(uverbs_w_destroy_srq, ib_uverbs_destroy_srq,
			  ib_uverbs_destroy_srq_resp),
	[IB_USER_VERBS_CMD_ATTACH_MCAST] =
		UVERBS_I(uverbs_w_attach_mcast, ib_uverbs_attach_mcast),
	[IB_USER_VERBS_CMD_DETACH_MCAST] =
		UVERBS_I(uverbs_w_detach_mcast, ib_uverbs_detach_mcast),
	[IB_USER_VERBS_CMD_POST_SEND] = {
		.handler = uverbs_w_post_send,
		.req_size = sizeof(struct ib_uverbs_post_send),
		.resp_size = sizeof(struct ib_uverbs_post_send_resp),
		.has_resp = true,
		.has_tail = true,
	},
	[IB_USER_VERBS_CMD_POST_RECV] = {
		.handler = uverbs_w_post_recv,
		.req_size = sizeof(struct ib_uverbs_post_recv),
		.resp_size = sizeof(struct ib_uverbs_post_recv_resp),
		.has_resp = true,
		.has_tail = true,
	},
	/* The last of the ABI: what is between is known and not offered. */
	[IB_USER_VERBS_CMD_OPEN_QP] = {},
};

/* Requests and responses that have grown: the minimum is their first form. */
static const struct uverbs_write_method uverbs_extended[] = {
	[IB_USER_VERBS_EX_CMD_QUERY_DEVICE] = {
		.handler = uverbs_x_query_device,
		.req_size = sizeof(struct ib_uverbs_ex_query_device),
		.resp_size = sizeof(struct ib_uverbs_ex_query_device_resp),
		.resp_min = offsetofend(struct ib_uverbs_ex_query_device_resp,
					response_length),
	},
	[IB_USER_VERBS_EX_CMD_CREATE_CQ] = {
		.handler = uverbs_x_create_cq,
		.req_size = sizeof(struct ib_uverbs_ex_create_cq),
		.resp_size = sizeof(struct ib_uverbs_ex_create_cq_resp),
	},
	[IB_USER_VERBS_EX_CMD_CREATE_QP] = {
		.handler = uverbs_x_create_qp,
		.req_size = sizeof(struct ib_uverbs_ex_create_qp),
		.req_min = offsetofend(struct ib_uverbs_ex_create_qp,
				       create_flags),
		.resp_size = sizeof(struct ib_uverbs_ex_create_qp_resp),
	},
	[IB_USER_VERBS_EX_CMD_MODIFY_QP] = {
		.handler = uverbs_x_modify_qp,
		.req_size = sizeof(struct ib_uverbs_ex_modify_qp),
		.req_min = offsetofend(struct ib_uverbs_ex_modify_qp, base),
		.resp_size = sizeof(struct ib_uverbs_ex_modify_qp_resp),
	},
};

/**
 * uverbs_find_write - look up a write() command
 * @command: the command word of its header
 *
 * Return: the command, or an ERR_PTR: -EOPNOTSUPP for one that is not offered,
 *	-EINVAL for what is none.
 */
const struct uverbs_write_method *uverbs_find_write(u32 command)
{
	u32 num = command & IB_USER_VERBS_CMD_COMMAND_MASK;
	const struct uverbs_write_method *method;

	if (command & ~(u32)(IB_USER_VERBS_CMD_COMMAND_MASK |
			     IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return ERR_PTR(-EINVAL);
	if (command & IB_USER_VERBS_CMD_FLAG_EXTENDED) {
		if (num >= ARRAY_SIZE(uverbs_extended))
			return ERR_PTR(-EOPNOTSUPP);
		num = array_index_nospec(num, ARRAY_SIZE(uverbs_extended));
		method = &uverbs_extended[num];
	} else {
		if (num >= ARRAY_SIZE(uverbs_plain))
			return ERR_PTR(-EINVAL);
		num = array_index_nospec(num, ARRAY_SIZE(uverbs_plain));
		method = &uverbs_plain[num];
	}
	return method->handler ? method : ERR_PTR(-EOPNOTSUPP);
}

/* ---- ioctl methods ---- */

#define UVERBS_REQUIRED .required = true

#define UVERBS_U32_IN                                                          \
	.kind = UVERBS_ATTR_IN, .min = sizeof(u32), .max = sizeof(u32)

#define UVERBS_U64_IN                                                          \
	.kind = UVERBS_ATTR_IN, .min = sizeof(u64), .max = sizeof(u64)

/* A number or an enumeration always takes eight bytes. */
#define UVERBS_CONST_IN UVERBS_U64_IN

#define UVERBS_FLAGS_IN                                                        \
	.kind = UVERBS_ATTR_IN, .min = sizeof(u32), .max = sizeof(u64)

#define UVERBS_U32_OUT                                                         \
	.kind = UVERBS_ATTR_OUT, .min = sizeof(u32), .max = sizeof(u32)

#define UVERBS_U64_OUT                                                         \
	.kind = UVERBS_ATTR_OUT, .min = sizeof(u64), .max = sizeof(u64)

static const struct uverbs_attr_spec uverbs_invoke_write_attrs[] = {
	[UVERBS_ATTR_CORE_IN] = {
		.kind = UVERBS_ATTR_IN_BUFFER, .min = sizeof(u32),
		.max = U16_MAX,
	},
	[UVERBS_ATTR_CORE_OUT] = {
		.kind = UVERBS_ATTR_OUT, .max = U16_MAX, .grows = true,
	},
	[UVERBS_ATTR_WRITE_CMD] = { UVERBS_CONST_IN, UVERBS_REQUIRED },
};

static const struct uverbs_attr_spec uverbs_info_handles_attrs[] = {
	[UVERBS_ATTR_INFO_OBJECT_ID] = { UVERBS_CONST_IN, UVERBS_REQUIRED },
	[UVERBS_ATTR_INFO_TOTAL_HANDLES] = { UVERBS_U32_OUT },
	[UVERBS_ATTR_INFO_HANDLES_LIST] = {
		.kind = UVERBS_ATTR_OUT, .min = sizeof(u32), .max = U16_MAX,
	},
};

static const struct uverbs_attr_spec uverbs_query_port_attrs[] = {
	[UVERBS_ATTR_QUERY_PORT_PORT_NUM] = { UVERBS_CONST_IN,
					      UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_PORT_RESP] = {
		.kind = UVERBS_ATTR_OUT, UVERBS_REQUIRED, .grows = true,
		.min = offsetofend(struct ib_uverbs_query_port_resp_ex,
				   reserved),
		.max = sizeof(struct ib_uverbs_query_port_resp_ex),
	},
};

static const struct uverbs_attr_spec uverbs_get_context_attrs[] = {
	[UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS] = { UVERBS_U32_OUT },
	[UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT] = { UVERBS_U64_OUT },
};

static const struct uverbs_attr_spec uverbs_query_context_attrs[] = {
	[UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS] = {
		UVERBS_U32_OUT },
	[UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT] = { UVERBS_U64_OUT },
};

static const struct uverbs_attr_spec uverbs_query_gid_table_attrs[] = {
	[UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE] = { UVERBS_CONST_IN,
						     UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_GID_TABLE_FLAGS] = { UVERBS_FLAGS_IN },
	[UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES] = {
		.kind = UVERBS_ATTR_OUT, .max = U16_MAX, UVERBS_REQUIRED,
	},
	[UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES] = {
		UVERBS_U64_OUT, UVERBS_REQUIRED },
};

static const struct uverbs_attr_spec uverbs_query_gid_entry_attrs[] = {
	[UVERBS_ATTR_QUERY_GID_ENTRY_PORT] = { UVERBS_CONST_IN,
					       UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX] = { UVERBS_CONST_IN,
						    UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS] = { UVERBS_FLAGS_IN,
						UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY] = {
		.kind = UVERBS_ATTR_OUT, UVERBS_REQUIRED, .grows = true,
		.min = sizeof(struct ib_uverbs_gid_entry),
		.max = sizeof(struct ib_uverbs_gid_entry),
	},
};

static const struct uverbs_ioctl_method uverbs_device_methods[] = {
	[UVERBS_METHOD_INVOKE_WRITE] = {
		.handler = uverbs_m_invoke_write,
		.prepare = uverbs_invoke_write_prepare,
		.specs = uverbs_invoke_write_attrs,
		.num_specs = ARRAY_SIZE(uverbs_invoke_write_attrs),
		.has_udata = true,
		/* The command inside says whether it needs one. */
		.no_context = true,
	},
	[UVERBS_METHOD_INFO_HANDLES] = {
		.handler = uverbs_m_info_handles,
		.specs = uverbs_info_handles_attrs,
		.num_specs = ARRAY_SIZE(uverbs_info_handles_attrs),
	},
	[UVERBS_METHOD_QUERY_PORT] = {
		.handler = uverbs_m_query_port,
		.specs = uverbs_query_port_attrs,
		.num_specs = ARRAY_SIZE(uverbs_query_port_attrs),
	},
	[UVERBS_METHOD_GET_CONTEXT] = {
		.handler = uverbs_m_get_context,
		.specs = uverbs_get_context_attrs,
		.num_specs = ARRAY_SIZE(uverbs_get_context_attrs),
		.has_udata = true,
		.no_context = true,
	},
	[UVERBS_METHOD_QUERY_CONTEXT] = {
		.handler = uverbs_m_query_context,
		.specs = uverbs_query_context_attrs,
		.num_specs = ARRAY_SIZE(uverbs_query_context_attrs),
	},
	[UVERBS_METHOD_QUERY_GID_TABLE] = {
		.handler = uverbs_m_query_gid_table,
		.specs = uverbs_query_gid_table_attrs,
		.num_specs = ARRAY_SIZE(uverbs_query_gid_table_attrs),
	},
	[UVERBS_METHOD_QUERY_GID_ENTRY] = {
		.handler = uverbs_m_query_gid_entry,
		.specs = uverbs_query_gid_entry_attrs,
		.num_specs = ARRAY_SIZE(uverbs_query_gid_entry_attrs),
	},
};

static const struct uverbs_attr_spec uverbs_async_alloc_attrs[] = {
	[UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE] = {
		.kind = UVERBS_ATTR_NEW_FD, UVERBS_REQUIRED },
};

static const struct uverbs_ioctl_method uverbs_async_methods[] = {
	[UVERBS_METHOD_ASYNC_EVENT_ALLOC] = {
		.handler = uverbs_m_async_alloc,
		.specs = uverbs_async_alloc_attrs,
		.num_specs = ARRAY_SIZE(uverbs_async_alloc_attrs),
	},
};

/* PD, MR and AH go without a reply; each names its handle as attribute 0. */
static const struct uverbs_attr_spec uverbs_destroy_attrs[] = {
	[0] = { .kind = UVERBS_ATTR_HANDLE, UVERBS_REQUIRED },
};

static_assert(UVERBS_ATTR_DESTROY_PD_HANDLE == 0);
static_assert(UVERBS_ATTR_DESTROY_MR_HANDLE == 0);
static_assert(UVERBS_ATTR_DESTROY_AH_HANDLE == 0);

static const struct uverbs_ioctl_method uverbs_pd_methods[] = {
	[UVERBS_METHOD_PD_DESTROY] = {
		.handler = uverbs_m_pd_destroy,
		.specs = uverbs_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_destroy_attrs),
	},
};

static const struct uverbs_attr_spec uverbs_query_mr_attrs[] = {
	[UVERBS_ATTR_QUERY_MR_HANDLE] = { .kind = UVERBS_ATTR_HANDLE,
					  UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_MR_RESP_LKEY] = { UVERBS_U32_OUT,
					     UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_MR_RESP_RKEY] = { UVERBS_U32_OUT,
					     UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_MR_RESP_LENGTH] = { UVERBS_U64_OUT,
					       UVERBS_REQUIRED },
	[UVERBS_ATTR_QUERY_MR_RESP_IOVA] = { UVERBS_U64_OUT },
};

static const struct uverbs_ioctl_method uverbs_mr_methods[] = {
	[UVERBS_METHOD_MR_DESTROY] = {
		.handler = uverbs_m_mr_destroy,
		.specs = uverbs_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_destroy_attrs),
	},
	[UVERBS_METHOD_QUERY_MR] = {
		.handler = uverbs_m_query_mr,
		.specs = uverbs_query_mr_attrs,
		.num_specs = ARRAY_SIZE(uverbs_query_mr_attrs),
	},
};

static const struct uverbs_ioctl_method uverbs_ah_methods[] = {
	[UVERBS_METHOD_AH_DESTROY] = {
		.handler = uverbs_m_ah_destroy,
		.specs = uverbs_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_destroy_attrs),
	},
};

static_assert(UVERBS_ATTR_DESTROY_MW_HANDLE == 0);

static const struct uverbs_ioctl_method uverbs_mw_methods[] = {
	[UVERBS_METHOD_MW_DESTROY] = {
		.handler = uverbs_m_mw_destroy,
		.specs = uverbs_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_destroy_attrs),
	},
};

static const struct uverbs_attr_spec uverbs_cq_create_attrs[] = {
	[UVERBS_ATTR_CREATE_CQ_HANDLE] = { .kind = UVERBS_ATTR_NEW_HANDLE,
					   UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_CQ_CQE] = { UVERBS_U32_IN,
					UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_CQ_USER_HANDLE] = { UVERBS_U64_IN,
						UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL] = { .kind = UVERBS_ATTR_FD },
	[UVERBS_ATTR_CREATE_CQ_COMP_VECTOR] = { UVERBS_U32_IN,
						UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_CQ_FLAGS] = { UVERBS_FLAGS_IN },
	[UVERBS_ATTR_CREATE_CQ_RESP_CQE] = { UVERBS_U32_OUT,
					     UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_CQ_EVENT_FD] = { .kind = UVERBS_ATTR_FD },
};

static const struct uverbs_attr_spec uverbs_cq_destroy_attrs[] = {
	[UVERBS_ATTR_DESTROY_CQ_HANDLE] = { .kind = UVERBS_ATTR_HANDLE,
					    UVERBS_REQUIRED },
	[UVERBS_ATTR_DESTROY_CQ_RESP] = {
		.kind = UVERBS_ATTR_OUT, UVERBS_REQUIRED,
		.min = sizeof(struct ib_uverbs_destroy_cq_resp),
		.max = sizeof(struct ib_uverbs_destroy_cq_resp),
	},
};

static const struct uverbs_ioctl_method uverbs_cq_methods[] = {
	[UVERBS_METHOD_CQ_CREATE] = {
		.handler = uverbs_m_cq_create,
		.specs = uverbs_cq_create_attrs,
		.num_specs = ARRAY_SIZE(uverbs_cq_create_attrs),
		.has_udata = true,
	},
	[UVERBS_METHOD_CQ_DESTROY] = {
		.handler = uverbs_m_cq_destroy,
		.specs = uverbs_cq_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_cq_destroy_attrs),
	},
};

static const struct uverbs_attr_spec uverbs_qp_create_attrs[] = {
	[UVERBS_ATTR_CREATE_QP_HANDLE] = { .kind = UVERBS_ATTR_NEW_HANDLE,
					   UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_QP_XRCD_HANDLE] = { .kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_QP_PD_HANDLE] = { .kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_QP_SRQ_HANDLE] = { .kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE] = {
		.kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE] = {
		.kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE] = {
		.kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_QP_USER_HANDLE] = { UVERBS_U64_IN,
						UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_QP_CAP] = {
		.kind = UVERBS_ATTR_IN, UVERBS_REQUIRED, .grows = true,
		.min = sizeof(struct ib_uverbs_qp_cap),
		.max = sizeof(struct ib_uverbs_qp_cap),
	},
	[UVERBS_ATTR_CREATE_QP_TYPE] = { UVERBS_CONST_IN, UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_QP_FLAGS] = { UVERBS_FLAGS_IN },
	[UVERBS_ATTR_CREATE_QP_SOURCE_QPN] = { UVERBS_U32_IN },
	[UVERBS_ATTR_CREATE_QP_EVENT_FD] = { .kind = UVERBS_ATTR_FD },
	[UVERBS_ATTR_CREATE_QP_RESP_CAP] = {
		.kind = UVERBS_ATTR_OUT, UVERBS_REQUIRED, .grows = true,
		.min = sizeof(struct ib_uverbs_qp_cap),
		.max = sizeof(struct ib_uverbs_qp_cap),
	},
	[UVERBS_ATTR_CREATE_QP_RESP_QP_NUM] = { UVERBS_U32_OUT,
						UVERBS_REQUIRED },
};

static_assert(ARRAY_SIZE(uverbs_qp_create_attrs) <= UVERBS_SLOT_UHW_IN);

static const struct uverbs_attr_spec uverbs_qp_destroy_attrs[] = {
	[UVERBS_ATTR_DESTROY_QP_HANDLE] = { .kind = UVERBS_ATTR_HANDLE,
					    UVERBS_REQUIRED },
	[UVERBS_ATTR_DESTROY_QP_RESP] = {
		.kind = UVERBS_ATTR_OUT, UVERBS_REQUIRED,
		.min = sizeof(struct ib_uverbs_destroy_qp_resp),
		.max = sizeof(struct ib_uverbs_destroy_qp_resp),
	},
};

static const struct uverbs_ioctl_method uverbs_qp_methods[] = {
	[UVERBS_METHOD_QP_CREATE] = {
		.handler = uverbs_m_qp_create,
		.specs = uverbs_qp_create_attrs,
		.num_specs = ARRAY_SIZE(uverbs_qp_create_attrs),
		.has_udata = true,
	},
	[UVERBS_METHOD_QP_DESTROY] = {
		.handler = uverbs_m_qp_destroy,
		.specs = uverbs_qp_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_qp_destroy_attrs),
	},
};

static const struct uverbs_attr_spec uverbs_srq_create_attrs[] = {
	[UVERBS_ATTR_CREATE_SRQ_HANDLE] = { .kind = UVERBS_ATTR_NEW_HANDLE,
					    UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_PD_HANDLE] = { .kind = UVERBS_ATTR_HANDLE,
					       UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE] = { .kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE] = { .kind = UVERBS_ATTR_HANDLE },
	[UVERBS_ATTR_CREATE_SRQ_USER_HANDLE] = { UVERBS_U64_IN,
						 UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_MAX_WR] = { UVERBS_U32_IN, UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_MAX_SGE] = { UVERBS_U32_IN, UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_LIMIT] = { UVERBS_U32_IN, UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS] = { UVERBS_U32_IN },
	[UVERBS_ATTR_CREATE_SRQ_TYPE] = { UVERBS_CONST_IN, UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_EVENT_FD] = { .kind = UVERBS_ATTR_FD },
	[UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR] = { UVERBS_U32_OUT,
						 UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE] = { UVERBS_U32_OUT,
						  UVERBS_REQUIRED },
	[UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM] = { UVERBS_U32_OUT },
};

static_assert(ARRAY_SIZE(uverbs_srq_create_attrs) <= UVERBS_SLOT_UHW_IN);

static const struct uverbs_attr_spec uverbs_srq_destroy_attrs[] = {
	[UVERBS_ATTR_DESTROY_SRQ_HANDLE] = { .kind = UVERBS_ATTR_HANDLE,
					     UVERBS_REQUIRED },
	[UVERBS_ATTR_DESTROY_SRQ_RESP] = {
		.kind = UVERBS_ATTR_OUT, UVERBS_REQUIRED,
		.min = sizeof(struct ib_uverbs_destroy_srq_resp),
		.max = sizeof(struct ib_uverbs_destroy_srq_resp),
	},
};

static const struct uverbs_ioctl_method uverbs_srq_methods[] = {
	[UVERBS_METHOD_SRQ_CREATE] = {
		.handler = uverbs_m_srq_create,
		.specs = uverbs_srq_create_attrs,
		.num_specs = ARRAY_SIZE(uverbs_srq_create_attrs),
		.has_udata = true,
	},
	[UVERBS_METHOD_SRQ_DESTROY] = {
		.handler = uverbs_m_srq_destroy,
		.specs = uverbs_srq_destroy_attrs,
		.num_specs = ARRAY_SIZE(uverbs_srq_destroy_attrs),
	},
};

static const struct {
	const struct uverbs_ioctl_method *methods;
	u16 num;
} uverbs_objects[] = {
	[UVERBS_OBJECT_DEVICE] = { uverbs_device_methods,
				   ARRAY_SIZE(uverbs_device_methods) },
	[UVERBS_OBJECT_PD] = { uverbs_pd_methods, ARRAY_SIZE(uverbs_pd_methods) },
	[UVERBS_OBJECT_CQ] = { uverbs_cq_methods, ARRAY_SIZE(uverbs_cq_methods) },
	[UVERBS_OBJECT_QP] = { uverbs_qp_methods, ARRAY_SIZE(uverbs_qp_methods) },
	[UVERBS_OBJECT_SRQ] = { uverbs_srq_methods,
				ARRAY_SIZE(uverbs_srq_methods) },
	[UVERBS_OBJECT_MW] = { uverbs_mw_methods, ARRAY_SIZE(uverbs_mw_methods) },
	[UVERBS_OBJECT_AH] = { uverbs_ah_methods, ARRAY_SIZE(uverbs_ah_methods) },
	[UVERBS_OBJECT_MR] = { uverbs_mr_methods, ARRAY_SIZE(uverbs_mr_methods) },
	[UVERBS_OBJECT_ASYNC_EVENT] = { uverbs_async_methods,
					ARRAY_SIZE(uverbs_async_methods) },
};

/**
 * uverbs_find_method - look up an ioctl method
 * @object: number of the object
 * @method: number of the method
 *
 * Return: the method, or NULL for one that is not offered.
 */
const struct uverbs_ioctl_method *uverbs_find_method(u16 object, u16 method)
{
	const struct uverbs_ioctl_method *found;

	if (object >= ARRAY_SIZE(uverbs_objects))
		return NULL;
	object = array_index_nospec(object, ARRAY_SIZE(uverbs_objects));
	if (method >= uverbs_objects[object].num)
		return NULL;
	method = array_index_nospec(method, uverbs_objects[object].num);
	found = &uverbs_objects[object].methods[method];
	return found->handler ? found : NULL;
}
