/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Management datagrams (IBTA vol. 1, 13): the Q_Keys of their queue pairs. */
#ifndef SOFTROCE_RDMA_IB_MAD_H
#define SOFTROCE_RDMA_IB_MAD_H

/* Queue pair 1's own Q_Key. */
#define IB_QP1_QKEY 0x80010000
/* In a work request: the Q_Key of the queue pair that sends. */
#define IB_QP_SET_QKEY 0x80000000

#endif
