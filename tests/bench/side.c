// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Two sides, connected: protection domain, completion queue, queue pairs. */
#include <linux/etherdevice.h>
#include <net/ipv6.h>
#include "bench.h"

/* ERR_PTR() becomes NULL and an error, so that what is not NULL can be freed. */
#define BENCH_TAKE(to, made)                                                   \
({                                                                             \
	typeof(made) __made = (made);                                          \
	(to) = IS_ERR(__made) ? NULL : __made;                                 \
	PTR_ERR_OR_ZERO(__made);                                               \
})

static int side_find_gid(struct bench_side *side)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	int i;

	for (i = 0; i < 64; i++) {
		attr = rdma_get_gid_attr(side->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP ||
		    !ipv6_addr_v4mapped((const struct in6_addr *)&attr->gid)) {
			rdma_put_gid_attr(attr);
			continue;
		}
		side->gid = attr;
		rcu_read_lock();
		ndev = rdma_read_gid_attr_ndev_rcu(attr);
		if (!IS_ERR(ndev) && ndev->addr_len == ETH_ALEN)
			ether_addr_copy(side->mac, ndev->dev_addr);
		rcu_read_unlock();
		return 0;
	}
	return -ENODATA;
}

static int side_open(struct bench *bench, int n, const char *name)
{
	const struct bench_conf *conf = &bench->conf;
	struct bench_side *side = &bench->side[n];
	u32 queue = roundup_pow_of_two(conf->depth + conf->list);
	struct ib_qp_init_attr init = {
		.qp_type = conf->type,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.port_num = 1,
		.cap = { .max_send_wr = queue, .max_recv_wr = queue,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	u32 i;
	int ret;

	side->dev = bench_device(name);
	if (!side->dev)
		return -ENODEV;
	ret = side_find_gid(side) ?:
	      BENCH_TAKE(side->pd, ib_alloc_pd(side->dev,
					       IB_PD_UNSAFE_GLOBAL_RKEY)) ?:
	      BENCH_TAKE(side->cq, ib_alloc_cq(side->dev, NULL,
					       min_t(u32, 2 * queue * conf->qps,
						     side->dev->attrs.max_cqe),
					       0, IB_POLL_DIRECT));
	init.send_cq = side->cq;
	init.recv_cq = side->cq;
	for (i = 0; !ret && i < conf->qps; i++)
		ret = BENCH_TAKE(bench->flow[i].qp[n],
				 ib_create_qp(side->pd, &init));
	return ret ?: bench_memory_get(&side->mem, side->dev, conf->stride,
				       conf->slots);
}

static struct rdma_ah_attr side_address(const struct bench_side *from,
					const struct bench_side *to)
{
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_ROCE,
		.port_num = 1,
		.ah_flags = IB_AH_GRH,
		.grh = { .dgid = to->gid->gid, .sgid_index = from->gid->index,
			 .hop_limit = 64 },
	};

	ether_addr_copy(attr.roce.dmac, to->mac);
	return attr;
}

static int side_to_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qkey = BENCH_QKEY,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | (qp->qp_type == IB_QPT_UD ?
					  IB_QP_QKEY : IB_QP_ACCESS_FLAGS));
}

static int side_to_rts(const struct bench_side *side, struct ib_qp *qp,
		       const struct bench_side *peer, struct ib_qp *other,
		       u32 mtu)
{
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = ib_mtu_int_to_enum(mtu),
		.dest_qp_num = other->qp_num,
		.rq_psn = 0xfffff0,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
		.ah_attr = side_address(side, peer),
	}, rts = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = 0xfffff0,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};
	int to_rtr = IB_QP_STATE, to_rts = IB_QP_STATE | IB_QP_SQ_PSN;

	if (qp->qp_type != IB_QPT_UD)
		to_rtr |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			  IB_QP_RQ_PSN;
	if (qp->qp_type == IB_QPT_RC) {
		to_rtr |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		to_rts |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			  IB_QP_MAX_QP_RD_ATOMIC;
	}
	return ib_modify_qp(qp, &rtr, to_rtr) ?: ib_modify_qp(qp, &rts, to_rts);
}

static int sides_connect(struct bench *bench)
{
	struct bench_side *a = &bench->side[0], *b = &bench->side[1];
	struct rdma_ah_attr attr = side_address(a, b);
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < bench->conf.qps; i++) {
		struct ib_qp *qp = bench->flow[i].qp[0];
		struct ib_qp *other = bench->flow[i].qp[1];

		ret = side_to_init(qp) ?: side_to_init(other) ?:
		      side_to_rts(b, other, a, qp, bench->conf.mtu) ?:
		      side_to_rts(a, qp, b, other, bench->conf.mtu);
	}
	if (!ret && bench->conf.type == IB_QPT_UD)
		ret = BENCH_TAKE(a->ah, rdma_create_ah(a->pd, &attr, 0));
	return ret;
}

int bench_sides_open(struct bench *bench)
{
	return side_open(bench, 0, bench->conf.a) ?:
	       side_open(bench, 1, bench->conf.b) ?:
	       sides_connect(bench);
}

void bench_sides_close(struct bench *bench)
{
	struct bench_side *side;
	u32 i;

	for (i = 0; i < 2 * bench->conf.qps; i++)
		if (bench->flow[i / 2].qp[i % 2])
			ib_destroy_qp(bench->flow[i / 2].qp[i % 2]);
	for (side = bench->side; side < bench->side + 2; side++) {
		if (!side->dev)
			continue;
		if (side->ah)
			rdma_destroy_ah(side->ah, 0);
		if (side->mr)
			ib_dereg_mr(side->mr);
		if (side->cq)
			ib_free_cq(side->cq);
		if (side->pd)
			ib_dealloc_pd(side->pd);
		if (side->gid)
			rdma_put_gid_attr(side->gid);
		bench_memory_put(&side->mem, side->dev);
	}
}
