/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Address handles.
 *
 * Lifetime: the core allocates and frees the memory and holds the source GID
 * (ib_ah.sgid_attr).  A program's handle has a number, by which its work
 * requests name it; kernel consumers pass pointers.
 */
#ifndef SOFTROCE_RXE_AH_H
#define SOFTROCE_RXE_AH_H

#include "rxe.h"

/**
 * struct rxe_ah - an address handle
 * @attr: where to; without a GID reference of its own
 * @num: what the program calls it; 0 for a kernel consumer's
 */
struct rxe_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
	u32 num;
};

static inline struct rxe_ah *to_rxe_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct rxe_ah, ibah);
}

int rxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int rxe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int rxe_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif
