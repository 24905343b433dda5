/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Protection information (T10 PI) that a device makes and checks as it moves
 * data: how upper layers describe it.  No device of this stack does that, and
 * each call answers -EOPNOTSUPP; who asks for IB_QP_CREATE_INTEGRITY_EN first,
 * as upper layers do, gets no further.
 */
#ifndef SOFTROCE_RDMA_SIGNATURE_H
#define SOFTROCE_RDMA_SIGNATURE_H

#include <linux/types.h>

struct ib_mr;
struct ib_pd;
struct scatterlist;

enum ib_signature_type {
	IB_SIG_TYPE_NONE,
	IB_SIG_TYPE_T10_DIF,
};

enum ib_signature_prot_cap {
	IB_PROT_T10DIF_TYPE_1 = 1 << 0,
	IB_PROT_T10DIF_TYPE_2 = 1 << 1,
	IB_PROT_T10DIF_TYPE_3 = 1 << 2,
};

enum ib_signature_guard_cap {
	IB_GUARD_T10DIF_CRC = 1 << 0,
	IB_GUARD_T10DIF_CSUM = 1 << 1,
};

enum ib_t10_dif_bg_type {
	IB_T10DIF_CRC,
	IB_T10DIF_CSUM,
};

/* Bits of ib_sig_attrs.check_mask: a bit for each byte of the tuple. */
enum {
	IB_SIG_CHECK_REFTAG = 0x0f,
	IB_SIG_CHECK_APPTAG = 0x30,
	IB_SIG_CHECK_GUARD = 0xc0,
};

enum ib_sig_err_type {
	IB_SIG_BAD_GUARD,
	IB_SIG_BAD_REFTAG,
	IB_SIG_BAD_APPTAG,
};

enum ib_mr_status_check {
	IB_MR_CHECK_SIG_STATUS = 1 << 0,
};

/**
 * struct ib_t10_dif_domain - T10 PI of one side
 * @pi_interval: bytes of data between two tuples
 * @bg: seed of the guard
 * @bg_type: how the guard is computed
 * @app_tag: application tag
 * @ref_tag: reference tag of the first tuple
 * @ref_remap: the reference tag grows by one for each tuple
 * @app_escape: an application tag of all ones switches checks off
 * @ref_escape: so does a reference tag of all ones
 * @apptag_check_mask: the bits of the application tag that count
 */
struct ib_t10_dif_domain {
	enum ib_t10_dif_bg_type bg_type;
	u32 ref_tag;
	u16 pi_interval;
	u16 bg;
	u16 app_tag;
	u16 apptag_check_mask;
	bool ref_remap;
	bool app_escape;
	bool ref_escape;
};

struct ib_sig_domain {
	enum ib_signature_type sig_type;
	union {
		struct ib_t10_dif_domain dif;
	} sig;
};

/**
 * struct ib_sig_attrs - what to check, and on which side it is there
 * @check_mask: IB_SIG_CHECK_*
 * @mem: in memory
 * @wire: on the wire
 * @meta_length: bytes of protection information in memory
 */
struct ib_sig_attrs {
	u8 check_mask;
	struct ib_sig_domain mem;
	struct ib_sig_domain wire;
	int meta_length;
};

struct ib_sig_err {
	enum ib_sig_err_type err_type;
	u32 expected;
	u32 actual;
	u32 key;
	u64 sig_err_offset;
};

struct ib_mr_status {
	u32 fail_status;
	struct ib_sig_err sig_err;
};

struct ib_mr *ib_alloc_mr_integrity(struct ib_pd *pd, u32 max_num_data_sg,
				    u32 max_num_meta_sg);
int ib_map_mr_sg_pi(struct ib_mr *mr, struct scatterlist *data_sg,
		    int data_sg_nents, unsigned int *data_sg_offset,
		    struct scatterlist *meta_sg, int meta_sg_nents,
		    unsigned int *meta_sg_offset, unsigned int page_size);
int ib_check_mr_status(struct ib_mr *mr, u32 check_mask,
		       struct ib_mr_status *mr_status);

#endif
