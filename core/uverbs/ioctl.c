// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Commands by ioctl(): an object, a method of it, and attributes.
 *
 * What the program gave is copied and compared with the method's table before
 * the handler runs; outputs are written after it has run, their places tried
 * before.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "method.h"

/* How the driver's attributes look: anything, of any size. */
static const struct uverbs_attr_spec uverbs_uhw_in = {
	.kind = UVERBS_ATTR_IN_BUFFER, .max = U16_MAX,
};

static const struct uverbs_attr_spec uverbs_uhw_out = {
	.kind = UVERBS_ATTR_OUT, .max = U16_MAX,
};

/* Finds the table's entry and the command's place for an attribute. */
static const struct uverbs_attr_spec *
uverbs_attr_find(const struct uverbs_ioctl_method *method, u16 id, u32 *slot)
{
	if (method->has_udata && id == UVERBS_ATTR_UHW_IN) {
		*slot = UVERBS_SLOT_UHW_IN;
		return &uverbs_uhw_in;
	}
	if (method->has_udata && id == UVERBS_ATTR_UHW_OUT) {
		*slot = UVERBS_SLOT_UHW_OUT;
		return &uverbs_uhw_out;
	}
	if (id >= method->num_specs ||
	    method->specs[id].kind == UVERBS_ATTR_UNKNOWN)
		return NULL;
	*slot = id;
	return &method->specs[id];
}

static const struct uverbs_attr_spec *
uverbs_slot_spec(const struct uverbs_ioctl_method *method, u32 slot)
{
	if (slot == UVERBS_SLOT_UHW_IN)
		return &uverbs_uhw_in;
	if (slot == UVERBS_SLOT_UHW_OUT)
		return &uverbs_uhw_out;
	return &method->specs[slot];
}

/* Input of more than eight bytes; the methods have one such at most. */
static int uverbs_attr_copy_in(struct uverbs_cmd *cmd,
			       const struct uverbs_attr_spec *spec,
			       struct uverbs_attr *attr)
{
	const void __user *from = u64_to_user_ptr(attr->data);
	size_t known = min(attr->len, spec->max);
	int ret;

	if (attr->len <= sizeof(attr->data)) {
		attr->in = &attr->data;
		return 0;
	}
	if (WARN_ON_ONCE(known > sizeof(cmd->req)))
		return -EINVAL;
	if (copy_from_user(cmd->req, from, known))
		return -EFAULT;
	attr->in = cmd->req;
	if (attr->len == known)
		return 0;
	ret = check_zeroed_user(from + known, attr->len - known);
	if (ret < 0)
		return ret;
	return ret ? 0 : -EOPNOTSUPP;
}

static int uverbs_attr_check(struct uverbs_cmd *cmd,
			     const struct uverbs_attr_spec *spec,
			     const struct ib_uverbs_attr *from,
			     struct uverbs_attr *attr)
{
	if (from->attr_data.reserved)
		return -EINVAL;
	attr->len = from->len;
	attr->data = from->data;
	switch (spec->kind) {
	case UVERBS_ATTR_HANDLE:
	case UVERBS_ATTR_NEW_HANDLE:
	case UVERBS_ATTR_FD:
	case UVERBS_ATTR_NEW_FD:
		return from->len ? -EINVAL : 0;
	case UVERBS_ATTR_IN:
	case UVERBS_ATTR_IN_BUFFER:
	case UVERBS_ATTR_OUT:
		if (from->len < spec->min ||
		    (from->len > spec->max && !spec->grows))
			return -EINVAL;
		if (spec->kind == UVERBS_ATTR_IN)
			return uverbs_attr_copy_in(cmd, spec, attr);
		return 0;
	default:
		return -EINVAL;
	}
}

static int uverbs_attrs_parse(struct uverbs_cmd *cmd,
			      const struct ib_uverbs_attr *from, u16 num)
{
	const struct uverbs_ioctl_method *method = cmd->method;
	const struct uverbs_attr_spec *spec;
	struct uverbs_attr *attr;
	u32 slot;
	u16 i;
	int ret;

	for (i = 0; i < num; i++) {
		spec = uverbs_attr_find(method, from[i].attr_id, &slot);
		if (!spec) {
			if (from[i].flags & UVERBS_ATTR_F_MANDATORY)
				return -EOPNOTSUPP;
			continue;
		}
		attr = &cmd->attrs[slot];
		if (attr->present)
			return -EINVAL;
		attr->present = true;
		attr->index = i;
		ret = uverbs_attr_check(cmd, spec, &from[i], attr);
		if (ret)
			return ret;
	}
	for (slot = 0; slot < method->num_specs; slot++)
		if (method->specs[slot].required && !cmd->attrs[slot].present)
			return -EINVAL;
	return 0;
}

/* The driver reads and writes its part by itself. */
static void uverbs_attrs_udata(struct uverbs_cmd *cmd,
			       struct ib_uverbs_attr __user *uattrs)
{
	const struct uverbs_attr *in = &cmd->attrs[UVERBS_SLOT_UHW_IN];
	const struct uverbs_attr *out = &cmd->attrs[UVERBS_SLOT_UHW_OUT];
	struct ib_udata *udata = &cmd->bundle.driver_udata;

	if (in->present && in->len) {
		udata->inlen = in->len;
		if (in->len <= sizeof(in->data))
			udata->inbuf = &uattrs[in->index].data;
		else
			udata->inbuf = u64_to_user_ptr(in->data);
	}
	if (out->present && out->len) {
		udata->outlen = out->len;
		udata->outbuf = u64_to_user_ptr(out->data);
	}
}

/* Writes what is there already to all places where the reply goes. */
static int uverbs_attr_probe(struct uverbs_cmd *cmd,
			     const struct uverbs_attr_spec *spec,
			     const struct uverbs_attr *attr,
			     struct ib_uverbs_attr __user *uattr, u16 flags)
{
	switch (spec->kind) {
	case UVERBS_ATTR_NEW_HANDLE:
	case UVERBS_ATTR_NEW_FD:
		return put_user(attr->data, &uattr->data);
	case UVERBS_ATTR_OUT:
		return uverbs_probe(u64_to_user_ptr(attr->data), attr->len) ?:
		       put_user(flags, &uattr->flags);
	default:
		return 0;
	}
}

/* Writes one output, and tells that it is there. */
static int uverbs_attr_reply(struct uverbs_cmd *cmd,
			     const struct uverbs_attr_spec *spec,
			     const struct uverbs_attr *attr,
			     struct ib_uverbs_attr __user *uattr, u16 flags)
{
	void __user *to = u64_to_user_ptr(attr->data);
	size_t len = min_t(size_t, attr->len, attr->out_len);

	switch (spec->kind) {
	case UVERBS_ATTR_NEW_HANDLE:
		return put_user((u64)cmd->created_id, &uattr->data);
	case UVERBS_ATTR_NEW_FD:
		return put_user((s64)cmd->new_fd, &uattr->data_s64);
	case UVERBS_ATTR_OUT:
		break;
	default:
		return 0;
	}
	if (spec != &uverbs_uhw_out) {
		if (!attr->out)
			return 0;
		if (copy_to_user(to, attr->out, len))
			return -EFAULT;
		if (spec->grows && clear_user(to + len, attr->len - len))
			return -EFAULT;
	}
	return put_user((u16)(flags | UVERBS_ATTR_F_VALID_OUTPUT),
			&uattr->flags);
}

/* What is done with one attribute that is there. */
typedef int (*uverbs_attr_fn)(struct uverbs_cmd *cmd,
			      const struct uverbs_attr_spec *spec,
			      const struct uverbs_attr *attr,
			      struct ib_uverbs_attr __user *uattr, u16 flags);

static int uverbs_attrs_each(struct uverbs_cmd *cmd, uverbs_attr_fn fn,
			     const struct ib_uverbs_attr *from,
			     struct ib_uverbs_attr __user *uattrs)
{
	const struct uverbs_attr *attr;
	u32 slot;
	int ret;

	for (slot = 0; slot < UVERBS_MAX_ATTRS; slot++) {
		attr = &cmd->attrs[slot];
		if (!attr->present)
			continue;
		ret = fn(cmd, uverbs_slot_spec(cmd->method, slot), attr,
			 &uattrs[attr->index], from[attr->index].flags);
		if (ret)
			return ret;
	}
	return 0;
}

static int uverbs_ioctl_command(struct ib_uverbs_file *file,
				const struct uverbs_ioctl_method *method,
				struct ib_uverbs_attr *from,
				struct ib_uverbs_attr __user *uattrs, u16 num)
{
	struct uverbs_cmd cmd;
	int ret;

	uverbs_cmd_init(&cmd, file);
	cmd.method = method;
	ret = uverbs_attrs_parse(&cmd, from, num);
	if (ret)
		return ret;
	uverbs_attrs_udata(&cmd, uattrs);
	ret = uverbs_attrs_each(&cmd, uverbs_attr_probe, from, uattrs);
	if (ret)
		return ret;
	if (method->prepare) {
		ret = method->prepare(&cmd);
		if (ret)
			return ret;
	}
	ret = uverbs_cmd_run(&cmd, method->handler, !method->no_context);
	if (!ret)
		ret = uverbs_attrs_each(&cmd, uverbs_attr_reply, from, uattrs);
	uverbs_cmd_finish(&cmd, ret);
	return ret;
}

/**
 * uverbs_ioctl - a command by ioctl()
 * @filp: the open device node
 * @code: RDMA_VERBS_IOCTL
 * @arg: address of a struct ib_uverbs_ioctl_hdr
 *
 * Context: process.
 * Return: 0 or an error.  -EPROTONOSUPPORT says that there is no such method,
 *	whereupon libibverbs tries write(), and means nothing else; -EOPNOTSUPP
 *	that a mandatory attribute is not known.
 */
long uverbs_ioctl(struct file *filp, unsigned int code, unsigned long arg)
{
	struct ib_uverbs_ioctl_hdr __user *uhdr = (void __user *)arg;
	struct ib_uverbs_file *file = filp->private_data;
	const struct uverbs_ioctl_method *method;
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr *attrs;
	int ret;

	if (code != RDMA_VERBS_IOCTL)
		return -ENOTTY;
	if (copy_from_user(&hdr, uhdr, sizeof(hdr)))
		return -EFAULT;
	if (hdr.length > PAGE_SIZE ||
	    hdr.length != struct_size(&hdr, attrs, hdr.num_attrs))
		return -EINVAL;
	if (hdr.reserved1 || hdr.reserved2)
		return -EPROTONOSUPPORT;
	if (hdr.driver_id != file->udev->driver_id)
		return -EINVAL;
	method = uverbs_find_method(hdr.object_id, hdr.method_id);
	if (!method)
		return -EPROTONOSUPPORT;

	attrs = memdup_user(uhdr->attrs,
			    array_size(hdr.num_attrs, sizeof(*attrs)));
	if (IS_ERR(attrs))
		return PTR_ERR(attrs);
	ret = uverbs_ioctl_command(file, method, attrs, uhdr->attrs,
				   hdr.num_attrs);
	kfree(attrs);
	if (WARN_ON_ONCE(ret == -EPROTONOSUPPORT))
		ret = -EINVAL;
	return ret;
}

/* ---- for handlers ---- */

/* Flags come as four or eight bytes; unknown ones are refused. */
int uverbs_attr_flags(const struct uverbs_cmd *cmd, u16 id, u32 known,
		      u32 *flags)
{
	const struct uverbs_attr *attr = &cmd->attrs[id];
	u64 value;

	*flags = 0;
	if (!attr->present)
		return 0;
	if (attr->len == sizeof(u64))
		value = attr->data;
	else if (attr->len == sizeof(u32))
		value = uverbs_attr_u32(cmd, id);
	else
		return -EINVAL;
	if (value & ~(u64)known)
		return -EINVAL;
	*flags = value;
	return 0;
}

u32 uverbs_attr_handle(const struct uverbs_cmd *cmd, u16 id)
{
	const struct uverbs_attr *attr = &cmd->attrs[id];

	return attr->present && attr->data <= INT_MAX ? attr->data : 0;
}

/*
 * A number that cannot be a descriptor becomes INT_MAX, which no program has
 * open.
 */
s32 uverbs_attr_fd(const struct uverbs_cmd *cmd, u16 id)
{
	const struct uverbs_attr *attr = &cmd->attrs[id];

	if (!attr->present)
		return -1;
	return attr->data < INT_MAX ? attr->data : INT_MAX;
}

/* Gives an output its value; an attribute that nobody asked for is skipped. */
void uverbs_attr_put(struct uverbs_cmd *cmd, u16 id, const void *from,
		     size_t len)
{
	struct uverbs_attr *attr = &cmd->attrs[id];
	void *place = cmd->resp + cmd->resp_used;

	if (!attr->present)
		return;
	if (WARN_ON_ONCE(len > sizeof(cmd->resp) - cmd->resp_used))
		return;
	memcpy(place, from, len);
	cmd->resp_used += len;
	attr->out = place;
	attr->out_len = len;
}
