/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/* All ioctl numbers of the RDMA character devices that softroce offers */
#ifndef UAPI_RDMA_RDMA_USER_IOCTL_H
#define UAPI_RDMA_RDMA_USER_IOCTL_H

#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/ib_user_mad.h>

#define IB_IOCTL_MAGIC			RDMA_IOCTL_MAGIC

/* umad files */
#define IB_USER_MAD_REGISTER_AGENT	_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_user_mad_reg_req)
#define IB_USER_MAD_UNREGISTER_AGENT	_IOW(RDMA_IOCTL_MAGIC, 2, __u32)
#define IB_USER_MAD_ENABLE_PKEY		_IO(RDMA_IOCTL_MAGIC, 3)
#define IB_USER_MAD_REGISTER_AGENT2	_IOWR(RDMA_IOCTL_MAGIC, 4, struct ib_user_mad_reg_req2)

#endif
