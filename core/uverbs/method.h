/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a program can ask for, as tables: write() commands and ioctl methods
 * with the shape of their input and output.  Nothing here has a lifetime.
 */
#ifndef SOFTROCE_UVERBS_METHOD_H
#define SOFTROCE_UVERBS_METHOD_H

#include "command.h"

/**
 * struct uverbs_write_method - a write() command
 * @handler: does it; NULL for a command that is not offered
 * @prepare: runs before @handler, without the device: pins memory; may be NULL
 * @req_size: bytes of the request that @handler knows
 * @req_min: bytes of the request that have to be there; 0 for all
 * @resp_size: bytes of the response that @handler fills
 * @resp_min: bytes of the response that there has to be room for; 0 for all
 * @has_resp: a plain command whose request begins with the response's address
 * @has_udata: what follows the request and the response is the driver's
 * @has_tail: what follows the request is the command's own; otherwise it has to
 *	be zero
 * @no_context: works before GET_CONTEXT
 */
struct uverbs_write_method {
	uverbs_handler handler;
	uverbs_handler prepare;
	u16 req_size;
	u16 req_min;
	u16 resp_size;
	u16 resp_min;
	bool has_resp;
	bool has_udata;
	bool has_tail;
	bool no_context;
};

static inline size_t uverbs_req_min(const struct uverbs_write_method *method)
{
	return method->req_min ?: method->req_size;
}

static inline size_t uverbs_resp_min(const struct uverbs_write_method *method)
{
	return method->resp_min ?: method->resp_size;
}

enum uverbs_attr_kind {
	UVERBS_ATTR_UNKNOWN,
	/* input, min to max bytes, copied before the handler runs */
	UVERBS_ATTR_IN,
	/* input, at least min bytes, that the method copies by itself */
	UVERBS_ATTR_IN_BUFFER,
	/* output, min to max bytes */
	UVERBS_ATTR_OUT,
	/* the handle of an object, of a new object */
	UVERBS_ATTR_HANDLE,
	UVERBS_ATTR_NEW_HANDLE,
	/* the descriptor of an event file, of a new event file */
	UVERBS_ATTR_FD,
	UVERBS_ATTR_NEW_FD,
};

/**
 * struct uverbs_attr_spec - an attribute of a method
 * @kind: what it is; UVERBS_ATTR_UNKNOWN for a hole
 * @required: the method does not work without
 * @grows: a structure that may get longer: more input than @max has to be
 *	zero, more room for output is zeroed
 * @min: least bytes
 * @max: most bytes, unless @grows
 */
struct uverbs_attr_spec {
	u8 kind;
	bool required;
	bool grows;
	u16 min;
	u16 max;
};

/**
 * struct uverbs_ioctl_method - a method of an object
 * @handler: does it; NULL for a method that is not offered
 * @prepare: runs before @handler, without the device: copies more input
 * @specs: attributes by number
 * @num_specs: number of those
 * @has_udata: takes the driver's two attributes
 * @no_context: works before GET_CONTEXT
 */
struct uverbs_ioctl_method {
	uverbs_handler handler;
	uverbs_handler prepare;
	const struct uverbs_attr_spec *specs;
	u8 num_specs;
	bool has_udata;
	bool no_context;
};

const struct uverbs_write_method *uverbs_find_write(u32 command);
const struct uverbs_ioctl_method *uverbs_find_method(u16 object, u16 method);

/* ---- context, device, port ---- */

int uverbs_w_get_context(struct uverbs_cmd *cmd);
int uverbs_m_get_context(struct uverbs_cmd *cmd);
int uverbs_m_query_context(struct uverbs_cmd *cmd);
int uverbs_m_async_alloc(struct uverbs_cmd *cmd);
void uverbs_context_destroy(struct ib_ucontext *ctx);

int uverbs_w_query_device(struct uverbs_cmd *cmd);
int uverbs_x_query_device(struct uverbs_cmd *cmd);
int uverbs_w_query_port(struct uverbs_cmd *cmd);
int uverbs_m_query_port(struct uverbs_cmd *cmd);
int uverbs_m_query_gid_table(struct uverbs_cmd *cmd);
int uverbs_m_query_gid_entry(struct uverbs_cmd *cmd);
int uverbs_m_info_handles(struct uverbs_cmd *cmd);

int uverbs_invoke_write_prepare(struct uverbs_cmd *cmd);
int uverbs_m_invoke_write(struct uverbs_cmd *cmd);

/* ---- PD, MR, AH ---- */

int uverbs_w_alloc_pd(struct uverbs_cmd *cmd);
int uverbs_w_dealloc_pd(struct uverbs_cmd *cmd);
int uverbs_m_pd_destroy(struct uverbs_cmd *cmd);
int uverbs_reg_mr_prepare(struct uverbs_cmd *cmd);
int uverbs_w_reg_mr(struct uverbs_cmd *cmd);
int uverbs_rereg_mr_prepare(struct uverbs_cmd *cmd);
int uverbs_w_rereg_mr(struct uverbs_cmd *cmd);
int uverbs_w_dereg_mr(struct uverbs_cmd *cmd);
int uverbs_m_mr_destroy(struct uverbs_cmd *cmd);
int uverbs_m_query_mr(struct uverbs_cmd *cmd);
int uverbs_w_create_ah(struct uverbs_cmd *cmd);
int uverbs_w_destroy_ah(struct uverbs_cmd *cmd);
int uverbs_w_alloc_mw(struct uverbs_cmd *cmd);
int uverbs_w_dealloc_mw(struct uverbs_cmd *cmd);
int uverbs_m_mw_destroy(struct uverbs_cmd *cmd);
int uverbs_w_create_srq(struct uverbs_cmd *cmd);
int uverbs_w_create_xsrq(struct uverbs_cmd *cmd);
int uverbs_w_modify_srq(struct uverbs_cmd *cmd);
int uverbs_w_query_srq(struct uverbs_cmd *cmd);
int uverbs_w_destroy_srq(struct uverbs_cmd *cmd);
int uverbs_m_srq_create(struct uverbs_cmd *cmd);
int uverbs_m_srq_destroy(struct uverbs_cmd *cmd);
int uverbs_w_attach_mcast(struct uverbs_cmd *cmd);
int uverbs_w_detach_mcast(struct uverbs_cmd *cmd);
void uverbs_qp_leave_groups(struct ib_uqp_object *uqp);
int uverbs_m_ah_destroy(struct uverbs_cmd *cmd);
void uverbs_ah_attr_from_user(struct ib_device *ibdev, struct rdma_ah_attr *to,
			      const struct ib_uverbs_ah_attr *from);

/* ---- completion channel, CQ ---- */

int uverbs_w_create_comp_channel(struct uverbs_cmd *cmd);
int uverbs_w_create_cq(struct uverbs_cmd *cmd);
int uverbs_x_create_cq(struct uverbs_cmd *cmd);
int uverbs_m_cq_create(struct uverbs_cmd *cmd);
int uverbs_w_resize_cq(struct uverbs_cmd *cmd);
int uverbs_w_req_notify_cq(struct uverbs_cmd *cmd);
int uverbs_w_destroy_cq(struct uverbs_cmd *cmd);
int uverbs_m_cq_destroy(struct uverbs_cmd *cmd);

/* ---- QP ---- */

int uverbs_w_create_qp(struct uverbs_cmd *cmd);
int uverbs_x_create_qp(struct uverbs_cmd *cmd);
int uverbs_m_qp_create(struct uverbs_cmd *cmd);
int uverbs_w_query_qp(struct uverbs_cmd *cmd);
int uverbs_w_modify_qp(struct uverbs_cmd *cmd);
int uverbs_x_modify_qp(struct uverbs_cmd *cmd);
int uverbs_w_destroy_qp(struct uverbs_cmd *cmd);
int uverbs_m_qp_destroy(struct uverbs_cmd *cmd);
int uverbs_w_post_send(struct uverbs_cmd *cmd);
int uverbs_w_post_recv(struct uverbs_cmd *cmd);
int uverbs_doorbell(struct ib_uverbs_file *file, u32 qp_handle);

#endif
