/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The verbs as ib_uverbs calls them: objects made on behalf of a program.
 *
 * Lifetime: each function that makes an object hands it to the caller, which
 * gives it back exactly once, to ib_dealloc_pd_user(), ib_dereg_mr_user(),
 * rdma_destroy_ah_user(), ib_destroy_cq_user() or ib_destroy_qp_user().  These
 * free the memory when they return 0; after an error (-EBUSY: something still
 * uses the object) the object lives on as before.  The ib_uobject, like the
 * file behind it, outlives the object that points to it.  A function that
 * fails to make an object leaves nothing behind.
 */
#ifndef SOFTROCE_CORE_VERBS_USER_H
#define SOFTROCE_CORE_VERBS_USER_H

#include <rdma/ib_verbs.h>

struct ib_ucq_object;
struct ib_uobject;
struct ib_uqp_object;
struct uverbs_attr_bundle;

struct ib_pd *rdma_alloc_user_pd(struct ib_ucontext *uctx,
				 struct ib_uobject *uobj,
				 struct ib_udata *udata);

/**
 * struct rdma_pin - what a command wants pinned before it has the device
 * @wanted: it wants something
 * @start: first byte
 * @length: bytes
 * @access: enum ib_access_flags
 */
struct rdma_pin {
	bool wanted;
	u64 start;
	u64 length;
	int access;
};

int rdma_reg_user_mr_pin(struct ib_device *device, u64 start, u64 length,
			 u64 virt, int access, struct rdma_pin *pin);
struct ib_mr *rdma_reg_user_mr(struct ib_pd *pd, struct ib_umem **umem,
			       u64 start, u64 length, u64 virt, int access,
			       struct ib_uobject *uobj,
			       struct ib_udata *udata);
int rdma_rereg_user_mr_pin(struct ib_mr *mr, int flags, u64 start, u64 length,
			   u64 virt, int access, struct rdma_pin *pin);
int rdma_rereg_user_mr(struct ib_mr *mr, struct ib_umem **umem, int flags,
		       u64 start, u64 length, u64 virt, int access,
		       struct ib_pd *pd, struct ib_udata *udata);

struct ib_cq *rdma_create_user_cq(struct ib_ucontext *uctx,
				  const struct ib_cq_init_attr *attr,
				  ib_comp_handler comp,
				  void (*event)(struct ib_event *, void *),
				  void *cq_context,
				  struct ib_ucq_object *uobj,
				  struct uverbs_attr_bundle *attrs);
struct ib_mw *rdma_alloc_user_mw(struct ib_pd *pd, enum ib_mw_type type,
				 struct ib_uobject *uobj,
				 struct ib_udata *udata);
int rdma_dealloc_user_mw(struct ib_mw *mw);

int rdma_modify_user_srq(struct ib_srq *srq, struct ib_srq_attr *attr,
			 enum ib_srq_attr_mask mask, struct ib_udata *udata);
int rdma_resize_user_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata);

/*
 * An address handle: rdma_create_user_ah() of <rdma/ib_verbs.h>; the caller
 * sets ah->uobject.  A QP: ib_create_qp_user(), with the event handler and its
 * context in the attributes, and ib_modify_qp_with_udata().
 */

#endif
