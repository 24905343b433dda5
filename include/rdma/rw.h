/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Reading and writing a peer's memory from and to a scatter/gather list of any
 * length: for targets of storage protocols.
 *
 * Lifetime of a context: rdma_rw_ctx_init() maps the list and makes the work
 * requests, which are posted once, with rdma_rw_ctx_post() or in a chain from
 * rdma_rw_ctx_wrs(); when the last one is done, rdma_rw_ctx_destroy().
 */
#ifndef SOFTROCE_RDMA_RW_H
#define SOFTROCE_RDMA_RW_H

#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/signature.h>

/**
 * struct rdma_rw_ctx - one transfer
 * @nr_ops: its work requests
 * @single: where there is one, of one piece
 * @many: else
 * @reg: NULL; its region would hold protection information, of which no device
 *	here knows
 */
struct rdma_rw_ctx {
	u32 nr_ops;
	struct {
		struct ib_sge sge;
		struct ib_rdma_wr wr;
	} single;
	struct {
		struct ib_sge *sges;
		struct ib_rdma_wr *wrs;
	} many;
	struct rdma_rw_reg_ctx {
		struct ib_mr *mr;
	} *reg;
};

int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct scatterlist *sg, u32 sg_cnt, u32 sg_offset,
		     u64 remote_addr, u32 rkey, enum dma_data_direction dir);
void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			 u32 port_num, struct scatterlist *sg, u32 sg_cnt,
			 enum dma_data_direction dir);
struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
				   u32 port_num, struct ib_cqe *cqe,
				   struct ib_send_wr *chain_wr);
int rdma_rw_ctx_post(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct ib_cqe *cqe, struct ib_send_wr *chain_wr);
unsigned int rdma_rw_mr_factor(struct ib_device *device, u32 port_num,
			       unsigned int maxpages);
unsigned int rdma_rw_max_send_wr(struct ib_device *dev, u32 port_num,
				 unsigned int max_rdma_ctxs, u32 create_flags);
int rdma_rw_ctx_signature_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			       u32 port_num, struct scatterlist *sg, u32 sg_cnt,
			       struct scatterlist *prot_sg, u32 prot_sg_cnt,
			       struct ib_sig_attrs *sig_attrs, u64 remote_addr,
			       u32 rkey, enum dma_data_direction dir);
void rdma_rw_ctx_destroy_signature(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
				   u32 port_num, struct scatterlist *sg,
				   u32 sg_cnt, struct scatterlist *prot_sg,
				   u32 prot_sg_cnt,
				   enum dma_data_direction dir);
void rdma_rw_init_qp(struct ib_device *dev, struct ib_qp_init_attr *attr);

#endif
