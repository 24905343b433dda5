// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the core can ask of a link: the table of operations, and what the
 * device and its port say of themselves.  What a link adds is in rxe_link.c.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include "rxe_ah.h"
#include "rxe_cq.h"
#include "rxe_mcast.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_qp.h"
#include "rxe_ring.h"
#include "rxe_srq.h"

/* IEEE has given this number to nobody: a vendor that makes no hardware. */
#define RXE_VENDOR_ID 0xffffff

/* 4.096 us * 2^15: how late an ACK may be on a machine that is busy. */
#define RXE_CA_ACK_DELAY 15

static unsigned int gid_table_len = RXE_DEFAULT_GIDS;
module_param(gid_table_len, uint, 0644);
MODULE_PARM_DESC(gid_table_len,
		 "How many addresses the GID table of a new link takes: 1 to 1024, 128 by default");

/* ---- device ---- */

static int rxe_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	*attr = (struct ib_device_attr){
		.sys_image_guid = ib->node_guid,
		.vendor_id = RXE_VENDOR_ID,
		.max_mr_size = RXE_MAX_MR_SIZE,
		.page_size_cap = ~(u64)(PAGE_SIZE - 1) & U32_MAX,
		.device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD |
				    IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_RC_RNR_NAK_GEN |
				    IB_DEVICE_SRQ_RESIZE |
				    IB_DEVICE_MEM_WINDOW |
				    IB_DEVICE_MEM_MGT_EXTENSIONS |
				    IB_DEVICE_MEM_WINDOW_TYPE_2B |
				    IB_DEVICE_FLUSH_GLOBAL |
				    IB_DEVICE_ATOMIC_WRITE,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG |
				    IBK_SG_GAPS_REG,
		.max_qp = RXE_MAX_QP,
		.max_qp_wr = RXE_MAX_QP_WR,
		.max_send_sge = RXE_MAX_SGE,
		.max_recv_sge = RXE_MAX_SGE,
		.max_sge_rd = RXE_MAX_SGE,
		.max_cq = RXE_MAX_CQ,
		.max_cqe = RXE_MAX_CQE,
		.max_mr = RXE_MAX_MR,
		.max_pd = RXE_MAX_PD,
		.max_ah = RXE_MAX_AH,
		.max_mw = RXE_MAX_MW,
		.max_fast_reg_page_list_len = RXE_MAX_FAST_REG,
		.max_srq = RXE_MAX_SRQ,
		.max_srq_wr = RXE_MAX_SRQ_WR,
		.max_srq_sge = RXE_MAX_SGE,
		.max_mcast_grp = RXE_MAX_MCAST_GRP,
		.max_mcast_qp_attach = RXE_MAX_MCAST_QP_ATTACH,
		.max_total_mcast_qp_attach =
			RXE_MAX_MCAST_GRP * RXE_MAX_MCAST_QP_ATTACH,
		.max_qp_rd_atom = RXE_MAX_RD_ATOMIC,
		.max_qp_init_rd_atom = RXE_MAX_RD_ATOMIC,
		.max_res_rd_atom = RXE_MAX_RD_ATOMIC * RXE_MAX_QP,
		/* It is true, and programs look for it; rxe_resp_atomic.c does more. */
		.atomic_cap = IB_ATOMIC_HCA,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_pkeys = RXE_PKEY_TABLE_LEN,
		.local_ca_ack_delay = RXE_CA_ACK_DELAY,
	};
	return 0;
}

static int rxe_modify_device(struct ib_device *ib, int mask,
			     struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ib->node_desc, modify->node_desc, sizeof(ib->node_desc));
	return 0;
}

/* Before registration; who the device is, rxe_link.c says. */
void rxe_dev_init_attrs(struct rxe_dev *rxe)
{
	struct ib_device *ib = &rxe->ib;

	ib->num_comp_vectors = num_possible_cpus();
	ib->local_dma_lkey = 0;
	rxe->gid_tbl_len = clamp_t(unsigned int, READ_ONCE(gid_table_len), 1,
				   RXE_MAX_GIDS);
	strscpy(ib->node_desc, "soft RoCE", sizeof(ib->node_desc));
}

/* ---- port ---- */

static void netdev_state(const struct rxe_dev *rxe, struct ib_port_attr *attr)
{
	const struct net_device *ndev;

	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	rcu_read_lock();
	/* A link that ends may have given it back. */
	ndev = READ_ONCE(rxe->ndev);
	if (ndev)
		attr->phys_mtu = READ_ONCE(ndev->mtu);
	if (!ndev || READ_ONCE(rxe->gone) || !netif_running(ndev))
		goto unlock;
	if (netif_carrier_ok(ndev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	}
unlock:
	rcu_read_unlock();
}

/* Asks the netdev's driver for its speed: may sleep, takes RTNL. */
static int rxe_query_port(struct ib_device *ib, u32 port,
			  struct ib_port_attr *attr)
{
	struct rxe_dev *rxe = to_rxe(ib);

	if (port != 1)
		return -EINVAL;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(READ_ONCE(rxe->mtu));
	attr->gid_tbl_len = rxe->gid_tbl_len;
	attr->ip_gids = true;
	attr->max_msg_sz = RXE_MAX_MSG_SZ;
	attr->pkey_tbl_len = RXE_PKEY_TABLE_LEN;
	attr->max_vl_num = 1;
	netdev_state(rxe, attr);
	if (ib_get_eth_speed(ib, port, &attr->active_speed,
			     &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	return 0;
}

/* No MAD capabilities: nothing here speaks MADs, whoever uses QP 1. */
static int rxe_get_port_immutable(struct ib_device *ib, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = RXE_PKEY_TABLE_LEN;
	immutable->gid_tbl_len = to_rxe(ib)->gid_tbl_len;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
				    RDMA_CORE_CAP_ETH_AH;
	return 0;
}

static enum rdma_link_layer rxe_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int rxe_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index >= RXE_PKEY_TABLE_LEN)
		return -EINVAL;
	*pkey = RXE_DEFAULT_PKEY;
	return 0;
}

/* ---- contexts and protection domains ---- */

static int rxe_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	int ret = rxe_count_object(&to_rxe(ibuc->device)->num_ucontext,
				   RXE_MAX_UCONTEXT);

	if (!ret)
		rxe_ring_ucontext_init(to_rxe_ucontext(ibuc));
	return ret;
}

static void rxe_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	rxe_ring_ucontext_cleanup(to_rxe_ucontext(ibuc));
	atomic_dec(&to_rxe(ibuc->device)->num_ucontext);
}

static int rxe_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return rxe_count_object(&to_rxe(ibpd->device)->num_pd, RXE_MAX_PD);
}

static int rxe_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	atomic_dec(&to_rxe(ibpd->device)->num_pd);
	return 0;
}

const struct ib_device_ops rxe_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = RXE_UVERBS_ABI_VERSION,

	.query_device = rxe_query_device,
	.modify_device = rxe_modify_device,
	.query_port = rxe_query_port,
	.get_port_immutable = rxe_get_port_immutable,
	.get_link_layer = rxe_get_link_layer,
	.query_pkey = rxe_query_pkey,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, rxe_ucontext, ibuc),
	.alloc_ucontext = rxe_alloc_ucontext,
	.dealloc_ucontext = rxe_dealloc_ucontext,
	.mmap = rxe_mmap,

	INIT_RDMA_OBJ_SIZE(ib_pd, rxe_pd, ibpd),
	.alloc_pd = rxe_alloc_pd,
	.dealloc_pd = rxe_dealloc_pd,
	INIT_RDMA_OBJ_SIZE(ib_ah, rxe_ah, ibah),
	.create_ah = rxe_create_ah,
	.create_user_ah = rxe_create_ah,
	.query_ah = rxe_query_ah,
	.destroy_ah = rxe_destroy_ah,
	INIT_RDMA_OBJ_SIZE(ib_mw, rxe_mw, ibmw),
	.alloc_mw = rxe_alloc_mw,
	.dealloc_mw = rxe_dealloc_mw,
	INIT_RDMA_OBJ_SIZE(ib_srq, rxe_srq, ibsrq),
	.create_srq = rxe_create_srq,
	.modify_srq = rxe_modify_srq,
	.query_srq = rxe_query_srq,
	.destroy_srq = rxe_destroy_srq,
	.post_srq_recv = rxe_post_srq_recv,
	.attach_mcast = rxe_attach_mcast,
	.detach_mcast = rxe_detach_mcast,
	.get_dma_mr = rxe_get_dma_mr,
	.reg_umem_mr = rxe_reg_umem_mr,
	.rereg_umem_mr = rxe_rereg_umem_mr,
	.alloc_mr = rxe_alloc_mr,
	.map_mr_sg = rxe_map_mr_sg,
	.dereg_mr = rxe_dereg_mr,

	INIT_RDMA_OBJ_SIZE(ib_cq, rxe_cq, ibcq),
	.create_cq = rxe_create_cq,
	.destroy_cq = rxe_destroy_cq,
	.resize_cq = rxe_resize_cq,
	.poll_cq = rxe_poll_cq,
	.req_notify_cq = rxe_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_qp, rxe_qp, ibqp),
	.create_qp = rxe_create_qp,
	.modify_qp = rxe_modify_qp,
	.query_qp = rxe_query_qp,
	.destroy_qp = rxe_destroy_qp,
	.post_send = rxe_post_send,
	.post_recv = rxe_post_recv,
};
