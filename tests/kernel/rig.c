// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_mad.h>
#include "rig.h"

static enum ktest_address kind_of(const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return KTEST_IPV4;
	return ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL ? KTEST_LINK_LOCAL :
							    KTEST_IPV6;
}

static int find_gid(struct end *end)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < 64; i++) {
		attr = rdma_get_gid_attr(end->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		if (kind_of((const struct in6_addr *)&attr->gid) == end->kind) {
			end->gid = attr;
			return 0;
		}
		rdma_put_gid_attr(attr);
	}
	return -ENODATA;
}

static int make_qp(struct end *end, const struct ends_conf *conf)
{
	struct ib_srq_init_attr srq = {
		.attr = { .max_wr = QUEUE_LEN, .max_sge = 4 },
	};
	struct ib_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = conf->type,
		.port_num = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = QUEUE_LEN, .max_recv_wr = QUEUE_LEN,
			 .max_send_sge = 4, .max_recv_sge = 4 },
	};

	if (conf->srq) {
		end->srq = ib_create_srq(end->pd, &srq);
		if (IS_ERR(end->srq)) {
			int err = PTR_ERR(end->srq);

			end->srq = NULL;
			return err;
		}
		init.srq = end->srq;
	}
	end->qp = ib_create_qp(end->pd, &init);
	if (IS_ERR(end->qp)) {
		int err = PTR_ERR(end->qp);

		end->qp = NULL;
		return err;
	}
	return 0;
}

int end_open(struct end *end, struct ib_device *dev,
	     const struct ends_conf *conf)
{
	end->dev = dev;
	end->kind = conf->kind;
	end->buf = kzalloc(BUF_SIZE, GFP_KERNEL);
	if (!end->buf)
		return -ENOMEM;
	end->dma = ib_dma_map_single(dev, end->buf, BUF_SIZE,
				     DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev, end->dma))
		return -ENOMEM;
	end->pd = ib_alloc_pd(dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(end->pd)) {
		int err = PTR_ERR(end->pd);

		end->pd = NULL;
		return err;
	}
	end->cq = ib_alloc_cq(dev, end, 4 * QUEUE_LEN, 0, conf->poll_ctx);
	if (IS_ERR(end->cq)) {
		int err = PTR_ERR(end->cq);

		end->cq = NULL;
		return err;
	}
	return find_gid(end) ?: make_qp(end, conf);
}

struct rdma_ah_attr ends_address(const struct end *from, const struct end *to)
{
	return (struct rdma_ah_attr){
		.type = RDMA_AH_ATTR_TYPE_ROCE,
		.port_num = 1,
		.ah_flags = IB_AH_GRH,
		.grh = { .dgid = to->gid->gid, .sgid_index = from->gid->index,
			 .hop_limit = 64 },
	};
}

static int connect_rc(struct end *end, const struct end *peer, u32 qpn)
{
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ALL_ACCESS,
	}, rtr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = qpn,
		.rq_psn = 100,
		.max_dest_rd_atomic = 8,
		.min_rnr_timer = 1,
		.ah_attr = ends_address(end, peer),
	}, rts = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = 100,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 8,
	};

	return ib_modify_qp(end->qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_ACCESS_FLAGS) ?:
	       ib_modify_qp(end->qp, &rtr, IB_QP_STATE | IB_QP_AV |
			    IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER) ?:
	       ib_modify_qp(end->qp, &rts, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

int end_ready(struct end *end)
{
	bool gsi = end->qp->qp_type == IB_QPT_GSI;
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qkey = gsi ? IB_QP1_QKEY : QKEY,
	}, rtr = { .qp_state = IB_QPS_RTR }, rts = { .qp_state = IB_QPS_RTS };

	return ib_modify_qp(end->qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    (gsi ? 0 : IB_QP_PORT) | IB_QP_QKEY) ?:
	       ib_modify_qp(end->qp, &rtr, IB_QP_STATE) ?:
	       ib_modify_qp(end->qp, &rts, IB_QP_STATE | IB_QP_SQ_PSN);
}

int ends_open(struct end *end, const struct ends_conf *conf)
{
	int err, i;

	memset(end, 0, 2 * sizeof(*end));
	err = end_open(&end[0], ktest_dev[0], conf) ?:
	      end_open(&end[1], ktest_dev[1], conf);
	for (i = 0; !err && i < 2; i++) {
		const struct end *peer = &end[!i];

		err = conf->type != IB_QPT_RC ? end_ready(&end[i]) :
		      connect_rc(&end[i], peer, conf->apart ?
				 0xfffff1 : peer->qp->qp_num);
	}
	if (err) {
		ktest_report(false, "two ends: %d", err);
		ends_close(end);
	}
	return err;
}

void end_close(struct end *end)
{
	if (end->qp) {
		ib_drain_qp(end->qp);
		ib_destroy_qp(end->qp);
	}
	if (end->srq)
		ib_destroy_srq(end->srq);
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	if (end->gid)
		rdma_put_gid_attr(end->gid);
	if (end->dma)
		ib_dma_unmap_single(end->dev, end->dma, BUF_SIZE,
				    DMA_BIDIRECTIONAL);
	kfree(end->buf);
	memset(end, 0, sizeof(*end));
}

void ends_close(struct end *end)
{
	end_close(&end[0]);
	end_close(&end[1]);
}

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct op *op = container_of(wc->wr_cqe, struct op, cqe);

	op->wc = *wc;
	complete(&op->done);
}

void op_init(struct op *op)
{
	op->cqe.done = op_done;
	init_completion(&op->done);
}

int op_wait(struct end *end, struct op *op)
{
	unsigned long until = jiffies + msecs_to_jiffies(WAIT_MS);

	if (end->cq->poll_ctx != IB_POLL_DIRECT) {
		if (!wait_for_completion_timeout(&op->done,
						 msecs_to_jiffies(WAIT_MS)))
			return -ETIMEDOUT;
		return op->wc.status;
	}
	while (!try_wait_for_completion(&op->done)) {
		if (time_after(jiffies, until))
			return -ETIMEDOUT;
		if (!ib_process_cq_direct(end->cq, -1))
			schedule_timeout_uninterruptible(1);
	}
	return op->wc.status;
}

int op_send(struct end *end, struct ib_send_wr *wr, struct op *op)
{
	op_init(op);
	wr->wr_cqe = &op->cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	return ib_post_send(end->qp, wr, NULL);
}

struct ib_sge ends_sge(const struct end *end, u32 off, u32 len)
{
	return (struct ib_sge){
		.addr = end->dma + off,
		.length = len,
		.lkey = end->pd->local_dma_lkey,
	};
}

int op_recv(struct end *end, u32 off, u32 len, struct op *op)
{
	struct ib_sge sge = ends_sge(end, off, len);
	struct ib_recv_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.wr_cqe = &op->cqe,
	};

	op_init(op);
	return end->srq ? ib_post_srq_recv(end->srq, &wr, NULL) :
			  ib_post_recv(end->qp, &wr, NULL);
}

static u8 byte_at(u32 i, u32 seed)
{
	return (i ^ i >> 8) * 31 + seed * 7 + 1;
}

void fill(u8 *buf, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = byte_at(i, seed);
}

bool filled(const u8 *buf, u32 len, u32 seed)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (buf[i] != byte_at(i, seed))
			return false;
	return true;
}
