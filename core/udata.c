// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A driver's access to the memory of the program whose command it executes. */
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

static int absent(struct ib_udata *udata, const void __user *at, size_t len,
		  bool write)
{
	udata->absent = at;
	udata->absent_len = len;
	udata->absent_write = write;
	return -EFAULT;
}

/**
 * ib_udata_read - read user memory in a command
 * @udata: the command's driver part
 * @to: kernel memory
 * @from: user memory that the command names
 * @len: bytes
 *
 * Context: process; takes no page fault.
 * Return: 0, or -EFAULT: the driver ends with an error, having changed nothing,
 * and may be called again.
 */
int ib_udata_read(struct ib_udata *udata, void *to, const void __user *from,
		  size_t len)
{
	return copy_from_user_nofault(to, from, len) ?
		       absent(udata, from, len, false) : 0;
}
EXPORT_SYMBOL(ib_udata_read);

/**
 * ib_udata_write - write user memory in a command
 * @udata: the command's driver part
 * @to: user memory that the command names
 * @from: kernel memory
 * @len: bytes
 *
 * Context: process; takes no page fault.
 * Return: 0, or -EFAULT: the driver ends with an error, having changed nothing,
 * and may be called again.
 */
int ib_udata_write(struct ib_udata *udata, void __user *to, const void *from,
		   size_t len)
{
	return copy_to_user_nofault(to, from, len) ?
		       absent(udata, to, len, true) : 0;
}
EXPORT_SYMBOL(ib_udata_write);
