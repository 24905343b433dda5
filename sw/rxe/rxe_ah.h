/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Address handles.
 *
 * Lifetime: the core allocates and frees the memory of a handle.  Its address is
 * in an entry of its own, which the table holds until destroy_ah and which lives
 * for a grace period longer: work requests name handles by number, and who sends
 * looks the address up under RCU.  The entry holds the source GID.
 */
#ifndef SOFTROCE_RXE_AH_H
#define SOFTROCE_RXE_AH_H

#include "rxe.h"

struct rxe_qp;

/**
 * struct rxe_ah_entry - an address
 * @attr: where to, with a reference to the source GID
 * @pd: whose queue pairs may use it
 * @oif: interface of the source address, also when that comes and goes
 * @num: what work requests call it
 */
struct rxe_ah_entry {
	struct rdma_ah_attr attr;
	struct rxe_pd *pd;
	int oif;
	u32 num;
	struct rcu_head rcu;
};

struct rxe_ah {
	struct ib_ah ibah;
	struct rxe_ah_entry *entry;
};

static inline struct rxe_ah *to_rxe_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct rxe_ah, ibah);
}

int rxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int rxe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int rxe_destroy_ah(struct ib_ah *ibah, u32 flags);
void rxe_ah_exit(void);

/*
 * Make @qp's flow lead to address @num, if it does not yet.  As the runner.
 * Return 0, or -ENOENT: its PD has no such address.
 */
int rxe_ah_use(struct rxe_qp *qp, u32 num, u32 remote_qpn);
/*
 * Do the addresses that @qp turns to lead out of several interfaces?  So they did
 * within RXE_AH_TURNED.
 */
#define RXE_AH_TURNED HZ
bool rxe_ah_several(const struct rxe_qp *qp);

#endif
