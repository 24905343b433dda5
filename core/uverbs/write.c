// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Commands by write(): a header, the request and, in the request or in a second
 * header, the address of the response.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include "method.h"

/* The request and the response as the program gave them. */
struct uverbs_write_layout {
	const void __user *in;
	void __user *out;
	size_t in_len;
	size_t out_len;
	size_t driver_in_len;
	size_t driver_out_len;
};

/* Copies the request, as much as the method knows; the rest has to be zero. */
static int uverbs_copy_request(struct uverbs_cmd *cmd,
			       const struct uverbs_write_method *method,
			       const void __user *in, size_t len)
{
	size_t known = min_t(size_t, len, method->req_size);
	int ret;

	if (copy_from_user(cmd->req, in, known))
		return -EFAULT;
	if (len == known || method->has_tail)
		return 0;
	ret = check_zeroed_user(in + known, len - known);
	if (ret < 0)
		return ret;
	return ret ? 0 : -EOPNOTSUPP;
}

/* Copies the response, as much as there is room for; the rest becomes zero. */
static int uverbs_copy_response(struct uverbs_cmd *cmd,
				const struct uverbs_write_method *method)
{
	size_t room = cmd->bundle.ucore.outlen;
	size_t len = min_t(size_t, room, method->resp_size);

	if (copy_to_user(cmd->bundle.ucore.outbuf, cmd->resp, len) ||
	    clear_user(cmd->bundle.ucore.outbuf + len, room - len))
		return -EFAULT;
	return 0;
}

static int uverbs_plain_layout(struct uverbs_write_layout *lay,
			       const struct uverbs_write_method *method,
			       const struct ib_uverbs_cmd_hdr *hdr,
			       const char __user *buf, size_t count)
{
	if (hdr->in_words * 4 != count)
		return -EINVAL;
	lay->in = buf + sizeof(*hdr);
	lay->in_len = count - sizeof(*hdr);
	lay->out_len = method->has_resp ? hdr->out_words * 4 : 0;
	if (lay->in_len < uverbs_req_min(method) ||
	    lay->out_len < uverbs_resp_min(method))
		return -ENOSPC;
	if (!method->has_udata)
		return 0;
	lay->driver_in_len = lay->in_len - method->req_size;
	lay->in_len = method->req_size;
	lay->driver_out_len = lay->out_len - method->resp_size;
	lay->out_len = method->resp_size;
	return 0;
}

static int uverbs_extended_layout(struct uverbs_write_layout *lay,
				  const struct uverbs_write_method *method,
				  const struct ib_uverbs_cmd_hdr *hdr,
				  const char __user *buf, size_t count)
{
	struct ib_uverbs_ex_cmd_hdr ex;

	if (count < sizeof(*hdr) + sizeof(ex))
		return -EINVAL;
	if (copy_from_user(&ex, buf + sizeof(*hdr), sizeof(ex)))
		return -EFAULT;
	lay->in = buf + sizeof(*hdr) + sizeof(ex);
	lay->in_len = hdr->in_words * 8;
	lay->driver_in_len = ex.provider_in_words * 8;
	lay->out = u64_to_user_ptr(ex.response);
	lay->out_len = hdr->out_words * 8;
	lay->driver_out_len = ex.provider_out_words * 8;

	if (lay->in_len + lay->driver_in_len !=
		    count - sizeof(*hdr) - sizeof(ex) ||
	    ex.cmd_hdr_reserved)
		return -EINVAL;
	if (!ex.response != !(lay->out_len + lay->driver_out_len))
		return -EINVAL;
	if (lay->in_len < uverbs_req_min(method) ||
	    (ex.response && lay->out_len < uverbs_resp_min(method)))
		return -ENOSPC;
	return 0;
}

static void uverbs_set_udata(struct ib_udata *udata, const void __user *in,
			     size_t in_len, void __user *out, size_t out_len)
{
	udata->inbuf = in_len ? in : NULL;
	udata->inlen = in_len;
	udata->outbuf = out_len ? out : NULL;
	udata->outlen = out_len;
}

static noinline ssize_t uverbs_write_command(struct ib_uverbs_file *file,
					     struct ib_uverbs_cmd_hdr *hdr,
					     const char __user *buf,
					     size_t count)
{
	const struct uverbs_write_method *method;
	struct uverbs_write_layout lay = {};
	struct uverbs_cmd cmd;
	u64 response;
	int ret;

	method = uverbs_find_write(hdr->command);
	if (IS_ERR(method))
		return PTR_ERR(method);
	if (hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		ret = uverbs_extended_layout(&lay, method, hdr, buf, count);
	else
		ret = uverbs_plain_layout(&lay, method, hdr, buf, count);
	if (ret)
		return ret;

	uverbs_cmd_init(&cmd, file);
	cmd.write = method;
	ret = uverbs_copy_request(&cmd, method, lay.in, lay.in_len);
	if (ret)
		return ret;
	if (method->has_resp) {
		memcpy(&response, cmd.req, sizeof(response));
		lay.out = u64_to_user_ptr(response);
	}
	uverbs_set_udata(&cmd.bundle.ucore, lay.in, lay.in_len, lay.out,
			 lay.out_len);
	uverbs_set_udata(&cmd.bundle.driver_udata, lay.in + lay.in_len,
			 lay.driver_in_len, lay.out + lay.out_len,
			 lay.driver_out_len);

	ret = uverbs_probe(lay.out, lay.out_len + lay.driver_out_len);
	if (ret)
		return ret;
	if (method->prepare) {
		ret = method->prepare(&cmd);
		if (ret)
			return ret;
	}
	ret = uverbs_cmd_run(&cmd, method->handler, !method->no_context);
	if (!ret)
		ret = uverbs_copy_response(&cmd, method);
	uverbs_cmd_finish(&cmd, ret);
	return ret ?: count;
}

/*
 * A doorbell: POST_SEND without work requests, since those are in the ring.
 * Each message of a program comes through here.  Its response would say which
 * request is bad, and there is none: nothing is written.
 */
static ssize_t uverbs_write_doorbell(struct ib_uverbs_file *file,
				     struct ib_uverbs_cmd_hdr *hdr,
				     const char __user *buf, size_t count)
{
	struct ib_uverbs_post_send db;
	int ret;

	if (copy_from_user(&db, buf + sizeof(*hdr), sizeof(db)))
		return -EFAULT;
	/* Nothing follows: a list of whatever length and size is not there. */
	if (db.wqe_size < sizeof(struct ib_uverbs_send_wr) || db.wr_count ||
	    db.sge_count)
		return -EINVAL;
	ret = uverbs_doorbell(file, db.qp_handle);
	return ret ?: count;
}

/**
 * uverbs_write - a command by write()
 * @filp: the open device node
 * @buf: the command
 * @count: its size, to the byte
 * @pos: not used
 *
 * The command makes the kernel write to addresses that it names.  So it has to
 * come from whoever opened the file: a privileged program that can be talked
 * into writing to a descriptor it was given is none of ours.
 *
 * Context: process.
 * Return: @count or an error.
 */
ssize_t uverbs_write(struct file *filp, const char __user *buf, size_t count,
		     loff_t *pos)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct ib_uverbs_cmd_hdr hdr;

	if (filp->f_cred != current_cred())
		return -EACCES;
	if (count < sizeof(hdr))
		return -EINVAL;
	if (copy_from_user(&hdr, buf, sizeof(hdr)))
		return -EFAULT;
	if (hdr.command == IB_USER_VERBS_CMD_POST_SEND &&
	    count == sizeof(hdr) + sizeof(struct ib_uverbs_post_send) &&
	    hdr.in_words * 4 == count && hdr.out_words)
		return uverbs_write_doorbell(file, &hdr, buf, count);
	return uverbs_write_command(file, &hdr, buf, count);
}

/* ---- the same commands through the ioctl ---- */

int uverbs_invoke_write_prepare(struct uverbs_cmd *cmd)
{
	const struct uverbs_attr *in = &cmd->attrs[UVERBS_ATTR_CORE_IN];
	const struct uverbs_attr *out = &cmd->attrs[UVERBS_ATTR_CORE_OUT];
	u64 command = uverbs_attr_u64(cmd, UVERBS_ATTR_WRITE_CMD);
	const struct uverbs_write_method *method;
	size_t in_len = in->present ? in->len : 0;
	size_t out_len = out->present ? out->len : 0;
	int ret;

	if (command > U32_MAX)
		return -EINVAL;
	method = uverbs_find_write(command);
	if (IS_ERR(method))
		return PTR_ERR(method);
	if (in_len < uverbs_req_min(method) ||
	    out_len < uverbs_resp_min(method))
		return -ENOSPC;
	cmd->write = method;
	/* Short requests come in the attribute itself. */
	if (in_len <= sizeof(in->data)) {
		memcpy(cmd->req, &in->data,
		       min_t(size_t, in_len, method->req_size));
		if (in_len > method->req_size && !method->has_tail &&
		    memchr_inv((const u8 *)&in->data + method->req_size, 0,
			       in_len - method->req_size))
			return -EOPNOTSUPP;
	} else {
		ret = uverbs_copy_request(cmd, method,
					  u64_to_user_ptr(in->data), in_len);
		if (ret)
			return ret;
	}
	uverbs_set_udata(&cmd->bundle.ucore, u64_to_user_ptr(in->data), in_len,
			 u64_to_user_ptr(out->data), out_len);
	return method->prepare ? method->prepare(cmd) : 0;
}

int uverbs_m_invoke_write(struct uverbs_cmd *cmd)
{
	struct uverbs_attr *out = &cmd->attrs[UVERBS_ATTR_CORE_OUT];
	int ret;

	if (!cmd->write->no_context && !cmd->bundle.context)
		return -EINVAL;
	ret = cmd->write->handler(cmd);
	if (!ret && out->present) {
		out->out = cmd->resp;
		out->out_len = cmd->write->resp_size;
	}
	return ret;
}
