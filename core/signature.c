// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Protection information, which no device here makes or checks: see
 * <rdma/signature.h>.
 */
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/export.h>
#include <rdma/rw.h>
#include <rdma/signature.h>

/**
 * ib_alloc_mr_integrity - a region for transfers with protection information
 * @pd: the PD it would be in
 * @max_num_data_sg: entries of its data's list
 * @max_num_meta_sg: entries of the list of protection information
 *
 * Context: process.
 * Return: -EOPNOTSUPP: no device does that.
 */
struct ib_mr *ib_alloc_mr_integrity(struct ib_pd *pd, u32 max_num_data_sg,
				    u32 max_num_meta_sg)
{
	return ERR_PTR(-EOPNOTSUPP);
}
EXPORT_SYMBOL(ib_alloc_mr_integrity);

/**
 * ib_map_mr_sg_pi - describe data and its protection information in a region
 * @mr: the region
 * @data_sg: the list of the data
 * @data_sg_nents: its entries
 * @data_sg_offset: bytes of it to leave out
 * @meta_sg: the list of the protection information
 * @meta_sg_nents: its entries
 * @meta_sg_offset: bytes of it to leave out
 * @page_size: bytes of a page
 *
 * Context: any.
 * Return: -EOPNOTSUPP: no region is made for that.
 */
int ib_map_mr_sg_pi(struct ib_mr *mr, struct scatterlist *data_sg,
		    int data_sg_nents, unsigned int *data_sg_offset,
		    struct scatterlist *meta_sg, int meta_sg_nents,
		    unsigned int *meta_sg_offset, unsigned int page_size)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_map_mr_sg_pi);

/**
 * ib_check_mr_status - what a device found as it checked
 * @mr: the region
 * @check_mask: IB_MR_CHECK_*
 * @mr_status: result
 *
 * Context: any.
 * Return: -EOPNOTSUPP: no device checks.
 */
int ib_check_mr_status(struct ib_mr *mr, u32 check_mask,
		       struct ib_mr_status *mr_status)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_check_mr_status);

/**
 * rdma_rw_ctx_signature_init - prepare a transfer with protection information
 * @ctx: the context
 * @qp: the QP it would go over
 * @port_num: the QP's port
 * @sg: the list here
 * @sg_cnt: its entries
 * @prot_sg: that of the protection information
 * @prot_sg_cnt: its entries
 * @sig_attrs: what to check
 * @remote_addr: where the peer's memory begins
 * @rkey: its key
 * @dir: the way of the data
 *
 * Context: process.
 * Return: -EOPNOTSUPP: no device does that.
 */
int rdma_rw_ctx_signature_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			       u32 port_num, struct scatterlist *sg, u32 sg_cnt,
			       struct scatterlist *prot_sg, u32 prot_sg_cnt,
			       struct ib_sig_attrs *sig_attrs, u64 remote_addr,
			       u32 rkey, enum dma_data_direction dir)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(rdma_rw_ctx_signature_init);

/**
 * rdma_rw_ctx_destroy_signature - end such a transfer
 * @ctx: the context
 * @qp: its QP
 * @port_num: its port
 * @sg: its list
 * @sg_cnt: the list's entries
 * @prot_sg: its protection information
 * @prot_sg_cnt: entries of that
 * @dir: the way of the data
 *
 * There is none to end: rdma_rw_ctx_signature_init() makes none.
 */
void rdma_rw_ctx_destroy_signature(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
				   u32 port_num, struct scatterlist *sg,
				   u32 sg_cnt, struct scatterlist *prot_sg,
				   u32 prot_sg_cnt,
				   enum dma_data_direction dir)
{
	WARN_ON_ONCE(1);
}
EXPORT_SYMBOL(rdma_rw_ctx_destroy_signature);
