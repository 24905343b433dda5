/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the core's own files ask of the CQs that it polls.
 *
 * Lifetime of a pool: with the memory of its device.  Its CQs are made when
 * somebody asks for room, and freed when the device goes, after its clients.
 */
#ifndef SOFTROCE_CORE_CQ_POLL_H
#define SOFTROCE_CORE_CQ_POLL_H

#include <rdma/ib_verbs.h>

int ib_cq_poll_init(void);
void ib_cq_poll_exit(void);

/*
 * Process context: all completions that are there now have been handed over on
 * return, unless the CQ's owner polls it with a handler of his own.
 */
void ib_cq_poll_flush(struct ib_cq *cq);

/* Some completion vector, another one at each call. */
int ib_cq_next_vector(const struct ib_device *dev);

/* Frees the CQs of @dev's pools; nobody has room in them any more. */
void ib_cq_pools_cleanup(struct ib_device *dev);

#endif
