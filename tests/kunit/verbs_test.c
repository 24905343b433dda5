// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The verbs above a driver that says yes, or what it is told to say: use
 * counts, attribute checks, references to GIDs, and nothing left after errors.
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/rw.h>
#include "device.h"
#include "gid_table.h"
#include "restrack.h"

#define PORT 1
#define GIDS 2

struct verbs_fixture {
	struct ib_device dev;
	struct ib_device_core core;
	struct ib_port_core ports[PORT + 1];
	struct net_device *ndev;
	/* What the driver says next, and in which state its QP is. */
	int answer;
	enum ib_qp_state real_state;
	/* What it was told last. */
	struct ib_qp_attr told;
	int modified;
	int objects;
	/* What most tests need. */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
};

static struct verbs_fixture *fix_of(struct ib_device *dev)
{
	return container_of(dev, struct verbs_fixture, dev);
}

/* ---- the driver ---- */

static int make(struct ib_device *dev)
{
	struct verbs_fixture *fix = fix_of(dev);

	if (!fix->answer)
		fix->objects++;
	return fix->answer;
}

static int unmake(struct ib_device *dev)
{
	struct verbs_fixture *fix = fix_of(dev);

	if (!fix->answer)
		fix->objects--;
	return fix->answer;
}

static int drv_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return make(pd->device);
}

static int drv_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return unmake(pd->device);
}

static int drv_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			 struct uverbs_attr_bundle *attrs)
{
	cq->cqe = attr->cqe;
	return make(cq->device);
}

static int drv_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return unmake(cq->device);
}

static int drv_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata)
{
	qp->qp_num = attr->qp_type == IB_QPT_GSI ? 1 : 17;
	return make(qp->device);
}

static int drv_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return unmake(qp->device);
}

static int drv_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct verbs_fixture *fix = fix_of(qp->device);

	if (fix->answer)
		return fix->answer;
	fix->told = *attr;
	fix->modified++;
	if (mask & IB_QP_STATE)
		fix->real_state = attr->qp_state;
	return 0;
}

static int drv_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init)
{
	*attr = fix_of(qp->device)->told;
	attr->qp_state = fix_of(qp->device)->real_state;
	return 0;
}

static struct ib_mr *new_mr(struct ib_device *dev)
{
	struct ib_mr *mr;
	int ret = make(dev);

	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->lkey = 0x1234;
	mr->rkey = 0x5678;
	return mr;
}

static struct ib_mr *drv_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				     u64 virt, int access,
				     struct ib_udata *udata)
{
	return new_mr(pd->device);
}

static struct ib_mr *drv_get_dma_mr(struct ib_pd *pd, int access)
{
	return new_mr(pd->device);
}

static int drv_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	int ret = unmake(mr->device);

	if (!ret)
		kfree(mr);
	return ret;
}

static int drv_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
			 struct ib_udata *udata)
{
	return make(ah->device);
}

static int drv_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return unmake(ah->device);
}

static int drv_query_port(struct ib_device *dev, u32 port,
			  struct ib_port_attr *attr)
{
	attr->active_mtu = IB_MTU_1024;
	attr->max_mtu = IB_MTU_4096;
	return 0;
}

static int drv_query_pkey(struct ib_device *dev, u32 port, u16 index,
			  u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static const struct ib_device_ops drv_ops = {
	.alloc_pd = drv_alloc_pd,
	.dealloc_pd = drv_dealloc_pd,
	.create_cq = drv_create_cq,
	.destroy_cq = drv_destroy_cq,
	.create_qp = drv_create_qp,
	.destroy_qp = drv_destroy_qp,
	.modify_qp = drv_modify_qp,
	.query_qp = drv_query_qp,
	.reg_user_mr = drv_reg_user_mr,
	.get_dma_mr = drv_get_dma_mr,
	.dereg_mr = drv_dereg_mr,
	.create_ah = drv_create_ah,
	.destroy_ah = drv_destroy_ah,
	.query_port = drv_query_port,
	.query_pkey = drv_query_pkey,
	.size_ib_ah = sizeof(struct ib_ah),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_qp = sizeof(struct ib_qp),
};

/* ---- the fixture ---- */

static void set_gids(struct verbs_fixture *fix, int count)
{
	struct gid_wanted wanted[GIDS] = {};
	int i;

	for (i = 0; i < count; i++) {
		wanted[i].gid.raw[15] = i + 1;
		wanted[i].ndev = fix->ndev;
	}
	gid_table_update(fix->ports[PORT].gids, wanted, count);
}

static struct ib_qp_init_attr qp_init(struct verbs_fixture *fix)
{
	struct ib_qp_init_attr attr = {
		.send_cq = fix->cq,
		.recv_cq = fix->cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 2, .max_recv_sge = 2 },
		.qp_type = IB_QPT_RC,
	};

	return attr;
}

static int verbs_test_init(struct kunit *test)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 16 };
	struct ib_qp_init_attr qp_attr;
	struct verbs_fixture *fix;

	fix = kunit_kzalloc(test, sizeof(*fix), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fix);
	test->priv = fix;
	fix->dev.core = &fix->core;
	fix->dev.phys_port_cnt = PORT;
	fix->dev.num_comp_vectors = 1;
	fix->dev.dev.init_name = "verbs_test";
	fix->dev.ops = drv_ops;
	fix->dev.attrs.max_qp_wr = 64;
	fix->dev.attrs.max_send_sge = 4;
	fix->dev.attrs.max_recv_sge = 4;
	fix->dev.attrs.max_sge_rd = 1;
	fix->dev.attrs.max_cqe = 100;
	fix->dev.attrs.max_mr_size = 1UL << 40;
	fix->dev.attrs.max_qp_rd_atom = 16;
	fix->dev.attrs.max_qp_init_rd_atom = 8;
	fix->core.ibdev = &fix->dev;
	fix->core.num_ports = PORT + 1;
	fix->core.ports = fix->ports;
	fix->ports[PORT].immutable.core_cap_flags =
		RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	fix->ports[PORT].immutable.pkey_tbl_len = 1;
	fix->ports[PORT].immutable.gid_tbl_len = GIDS;

	KUNIT_ASSERT_EQ(test, rdma_restrack_init(&fix->dev), 0);
	fix->ndev = alloc_etherdev(0);
	KUNIT_ASSERT_NOT_NULL(test, fix->ndev);
	fix->ports[PORT].gids = gid_table_alloc(&fix->dev, PORT, GIDS);
	KUNIT_ASSERT_NOT_NULL(test, fix->ports[PORT].gids);
	set_gids(fix, 1);

	fix->pd = ib_alloc_pd(&fix->dev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fix->pd));
	fix->cq = ib_create_cq(&fix->dev, NULL, NULL, NULL, &cq_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fix->cq));
	qp_attr = qp_init(fix);
	fix->qp = ib_create_qp(fix->pd, &qp_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fix->qp));
	return 0;
}

/* Whatever a test did, nothing may be left of it. */
static void verbs_test_exit(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;

	if (!fix || !fix->qp)
		return;
	fix->answer = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(fix->qp), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->cq->usecnt), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->pd->usecnt), 0);
	ib_destroy_cq(fix->cq);
	ib_dealloc_pd(fix->pd);
	KUNIT_EXPECT_EQ(test, fix->objects, 0);
	gid_table_drain(fix->ports[PORT].gids);
	gid_table_free(fix->ports[PORT].gids);
	free_netdev(fix->ndev);
	rdma_restrack_clean(&fix->dev);
}

/* ---- what it takes to get to RTS ---- */

#define TO_INIT (IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |                 \
		 IB_QP_ACCESS_FLAGS)
#define TO_RTR (IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |     \
		IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |                      \
		IB_QP_MIN_RNR_TIMER)
#define TO_RTS (IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |                   \
		IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC)

static struct ib_qp_attr qp_attr(enum ib_qp_state state)
{
	struct ib_qp_attr attr = {
		.qp_state = state,
		.port_num = PORT,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = 18,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.ah_attr = { .port_num = PORT, .ah_flags = IB_AH_GRH,
			     .type = RDMA_AH_ATTR_TYPE_ROCE },
	};

	return attr;
}

static int mask_to(enum ib_qp_state state)
{
	return state == IB_QPS_INIT ? TO_INIT :
	       state == IB_QPS_RTR ? TO_RTR :
	       state == IB_QPS_RTS ? TO_RTS : IB_QP_STATE;
}

static int go(struct verbs_fixture *fix, enum ib_qp_state state)
{
	struct ib_qp_attr attr = qp_attr(state);

	return ib_modify_qp(fix->qp, &attr, mask_to(state));
}

/* Modify to @to with one attribute set to @value; the QP stays where it is. */
#define EXPECT_REFUSED(test, fix, to, member, value)                           \
	do {                                                                   \
		struct ib_qp_attr _attr = qp_attr(to);                         \
		int _before = (fix)->modified;                                 \
									       \
		_attr.member = (value);                                        \
		KUNIT_EXPECT_EQ(test, ib_modify_qp((fix)->qp, &_attr,          \
						   mask_to(to)), -EINVAL);     \
		KUNIT_EXPECT_EQ(test, (fix)->modified, _before);               \
	} while (0)

/* ---- the tests ---- */

static void verbs_in_use(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;

	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(fix->pd, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(fix->cq, NULL), -EBUSY);
	atomic_inc(&fix->qp->usecnt);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(fix->qp), -EBUSY);
	atomic_dec(&fix->qp->usecnt);
	KUNIT_EXPECT_EQ(test, fix->objects, 4);
	KUNIT_EXPECT_EQ(test, fix->pd->local_dma_lkey, 0x1234);
}

static void verbs_driver_will_not_create(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct ib_cq_init_attr cq = { .cqe = 1 };
	struct ib_qp_init_attr qp = qp_init(fix);

	fix->answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_pd(&fix->dev, 0)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_cq(&fix->dev, NULL, NULL, NULL,
						   &cq)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_qp(fix->pd, &qp)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_reg_user_mr(fix->pd, 0x1000, 1,
						     0x1000, 0)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->cq->usecnt), 2);
}

/* What the driver does not destroy is there, and can be found, as before. */
static void verbs_driver_will_not_destroy(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct rdma_restrack_entry *res;

	fix->answer = -EAGAIN;
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(fix->qp), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->cq->usecnt), 2);
	res = rdma_restrack_get_byid(&fix->dev, RDMA_RESTRACK_QP, 17);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(res));
	KUNIT_EXPECT_PTR_EQ(test, res, &fix->qp->res);
	rdma_restrack_put(res);
}

static void verbs_cq_limits(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct ib_cq_init_attr bad[] = {
		{ .cqe = 0 }, { .cqe = 101 }, { .cqe = ~0U },
		{ .cqe = 1, .comp_vector = 1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_cq(&fix->dev, NULL,
							   NULL, NULL,
							   &bad[i])), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(fix->cq, 10), -EOPNOTSUPP);
}

static void verbs_qp_limits(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct ib_device *other;
	struct ib_qp_init_attr bad;
	struct ib_cq foreign = {};

#define EXPECT_BAD(member, value, error)                                       \
	do {                                                                   \
		bad = qp_init(fix);                                            \
		bad.member = value;                                            \
		KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_qp(fix->pd, &bad)),    \
				error);                                        \
	} while (0)

	other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	foreign.device = other;
	EXPECT_BAD(cap.max_send_wr, 65, -EINVAL);
	EXPECT_BAD(cap.max_recv_wr, ~0U, -EINVAL);
	EXPECT_BAD(cap.max_send_sge, 5, -EINVAL);
	EXPECT_BAD(cap.max_recv_sge, 5, -EINVAL);
	EXPECT_BAD(send_cq, NULL, -EINVAL);
	EXPECT_BAD(recv_cq, &foreign, -EINVAL);
	EXPECT_BAD(sq_sig_type, 2, -EINVAL);
	EXPECT_BAD(qp_type, IB_QPT_RAW_PACKET, -EOPNOTSUPP);
	EXPECT_BAD(qp_type, IB_QPT_RAW_IPV6, -EINVAL);
	EXPECT_BAD(qp_type, IB_QPT_GSI, -EINVAL);
	EXPECT_BAD(qp_type, -1, -EINVAL);
	/* Room for transfers is room in the send queue, as far as there is. */
	bad = qp_init(fix);
	bad.cap.max_send_wr = 60;
	bad.cap.max_rdma_ctxs = 100;
	rdma_rw_init_qp(&fix->dev, &bad);
	KUNIT_EXPECT_EQ(test, bad.cap.max_send_wr, 64);
	bad.cap.max_send_wr = 10;
	bad.cap.max_rdma_ctxs = 20;
	rdma_rw_init_qp(&fix->dev, &bad);
	KUNIT_EXPECT_EQ(test, bad.cap.max_send_wr, 30);
	KUNIT_EXPECT_EQ(test, fix->qp->max_write_sge, 2);
	KUNIT_EXPECT_EQ(test, fix->qp->max_read_sge, 1);
}

/* Queue pair 1: for the kernel, on a port, with the Q_Key that all know. */
static void verbs_qp_gsi(struct kunit *test)
{
	const int to_init = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_QKEY;
	struct verbs_fixture *fix = test->priv;
	struct ib_qp_init_attr init = qp_init(fix);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = PORT };
	struct ib_udata program = {};
	struct ib_qp *qp;

	init.qp_type = IB_QPT_GSI;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_qp(fix->pd, &init)), -EINVAL);
	init.port_num = PORT + 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_qp(fix->pd, &init)), -EINVAL);
	init.port_num = PORT;
	qp = ib_create_qp_user(&fix->dev, fix->pd, &init, &program, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(qp), -EINVAL);
	qp = ib_create_qp(fix->pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));

	attr.qkey = 0x11111111;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, to_init), -EINVAL);
	attr.qkey = IB_QP1_QKEY;
	attr.pkey_index = 1;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, to_init), -EINVAL);
	attr.pkey_index = 0;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, to_init | IB_QP_PORT),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(qp, &attr, to_init), 0);
	KUNIT_EXPECT_EQ(test, fix->told.qkey, IB_QP1_QKEY);
	KUNIT_EXPECT_EQ(test, ib_query_qp(qp, &attr, 0, &init), 0);
	KUNIT_EXPECT_EQ(test, init.port_num, PORT);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp(qp), 0);
}

static void verbs_qp_states(struct kunit *test)
{
	static const enum ib_qp_state way[] = {
		IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_ERR,
		IB_QPS_RESET,
	};
	struct verbs_fixture *fix = test->priv;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int i;

	KUNIT_EXPECT_EQ(test, go(fix, IB_QPS_RTR), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(way); i++) {
		KUNIT_EXPECT_EQ(test, go(fix, way[i]), 0);
		KUNIT_EXPECT_EQ(test, ib_query_qp(fix->qp, &attr, IB_QP_STATE,
						  &init), 0);
		KUNIT_EXPECT_EQ(test, attr.qp_state, way[i]);
		KUNIT_EXPECT_EQ(test, attr.cur_qp_state, way[i]);
		KUNIT_EXPECT_NULL(test, attr.ah_attr.grh.sgid_attr);
		KUNIT_EXPECT_PTR_EQ(test, init.send_cq, fix->cq);
		KUNIT_EXPECT_EQ(test, init.qp_type, IB_QPT_RC);
	}
}

/* A QP that went to ERR by itself is not brought on as if it had not. */
static void verbs_qp_left_by_itself(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct ib_qp_attr attr = qp_attr(IB_QPS_RTS);

	go(fix, IB_QPS_INIT);
	go(fix, IB_QPS_RTR);
	attr.cur_qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr,
					   TO_RTS | IB_QP_CUR_STATE), -EINVAL);
	attr.cur_qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr,
					   TO_RTS | IB_QP_CUR_STATE), 0);
	fix->real_state = IB_QPS_ERR;
	attr.qp_state = IB_QPS_SQD;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr, IB_QP_STATE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, fix->qp->state, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, go(fix, IB_QPS_RESET), 0);
}

static void verbs_qp_attributes(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct ib_qp_attr attr;

	EXPECT_REFUSED(test, fix, IB_QPS_INIT, port_num, 0);
	EXPECT_REFUSED(test, fix, IB_QPS_INIT, port_num, 2);
	EXPECT_REFUSED(test, fix, IB_QPS_INIT, pkey_index, 1);
	EXPECT_REFUSED(test, fix, IB_QPS_INIT, qp_access_flags, 1 << 15);
	EXPECT_REFUSED(test, fix, IB_QPS_INIT, qp_state, 7);
	KUNIT_EXPECT_EQ(test, go(fix, IB_QPS_INIT), 0);

	EXPECT_REFUSED(test, fix, IB_QPS_RTR, path_mtu, IB_MTU_2048);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, path_mtu, 0);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, path_mtu, 6);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, dest_qp_num, 1 << 24);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, max_dest_rd_atomic, 17);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, min_rnr_timer, 32);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, ah_attr.port_num, 2);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, ah_attr.ah_flags, 0);
	EXPECT_REFUSED(test, fix, IB_QPS_RTR, ah_attr.grh.sgid_index, GIDS);
	attr = qp_attr(IB_QPS_RTR);
	attr.rq_psn = 0xff123456;
	attr.ah_attr.grh.flow_label = 0xfff12345;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr, TO_RTR), 0);
	KUNIT_EXPECT_EQ(test, fix->told.rq_psn, 0x123456);
	KUNIT_EXPECT_EQ(test, fix->told.ah_attr.grh.flow_label, 0x12345);
	/* The consumer's own copy is as it was. */
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0xff123456);
	KUNIT_EXPECT_NULL(test, attr.ah_attr.grh.sgid_attr);

	EXPECT_REFUSED(test, fix, IB_QPS_RTS, timeout, 32);
	EXPECT_REFUSED(test, fix, IB_QPS_RTS, retry_cnt, 8);
	EXPECT_REFUSED(test, fix, IB_QPS_RTS, rnr_retry, 8);
	EXPECT_REFUSED(test, fix, IB_QPS_RTS, max_rd_atomic, 9);
	attr = qp_attr(IB_QPS_RTS);
	attr.path_mig_state = IB_MIG_ARMED;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr,
					   TO_RTS | IB_QP_PATH_MIG_STATE),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr,
					   TO_RTS | IB_QP_ALT_PATH),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, go(fix, IB_QPS_RTS), 0);
}

/* The QP keeps the GID it was given, and no other. */
static void verbs_qp_holds_gid(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct ib_qp_attr attr = qp_attr(IB_QPS_RTR);

	go(fix, IB_QPS_INIT);
	attr.ah_attr.grh.sgid_index = 1;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr, TO_RTR), -ENODATA);
	set_gids(fix, 2);
	fix->answer = -EIO;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr, TO_RTR), -EIO);
	KUNIT_EXPECT_NULL(test, fix->qp->av_sgid_attr);
	fix->answer = 0;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr, TO_RTR), 0);
	KUNIT_ASSERT_NOT_NULL(test, fix->qp->av_sgid_attr);
	KUNIT_EXPECT_EQ(test, fix->qp->av_sgid_attr->index, 1);

	/* Another address in SQD; the first can go then. */
	go(fix, IB_QPS_RTS);
	go(fix, IB_QPS_SQD);
	attr.ah_attr.grh.sgid_index = 0;
	KUNIT_EXPECT_EQ(test, ib_modify_qp(fix->qp, &attr, IB_QP_AV), 0);
	KUNIT_EXPECT_EQ(test, fix->qp->av_sgid_attr->index, 0);
}

/* ::ffff:10.0.0.1 and 2001:db8::1 here, 10.0.0.2 and 2001:db8::2 there. */
static void set_both_gids(struct verbs_fixture *fix)
{
	struct gid_wanted wanted[GIDS] = {
		{ .ndev = fix->ndev }, { .ndev = fix->ndev },
	};

	ipv6_addr_set_v4mapped(cpu_to_be32(0x0a000001),
			       (struct in6_addr *)&wanted[0].gid);
	ipv6_addr_set((struct in6_addr *)&wanted[1].gid,
		      cpu_to_be32(0x20010db8), 0, 0, cpu_to_be32(1));
	gid_table_update(fix->ports[PORT].gids, wanted, GIDS);
}

/* A datagram from there to here, as its receiver sees it. */
static struct ib_wc came(union rdma_network_hdr *hdr, bool ipv4)
{
	struct ib_wc wc = {
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = ipv4 ? RDMA_NETWORK_IPV4 :
					   RDMA_NETWORK_IPV6,
		.sl = 3,
	};

	memset(hdr, 0xee, sizeof(*hdr));
	if (ipv4) {
		hdr->roce4grh.tos = 0xb9;
		hdr->roce4grh.saddr = cpu_to_be32(0x0a000002);
		hdr->roce4grh.daddr = cpu_to_be32(0x0a000001);
	} else {
		hdr->ibgrh.version_tclass_flow = cpu_to_be32(0x6b912345);
		ipv6_addr_set((struct in6_addr *)&hdr->ibgrh.sgid,
			      cpu_to_be32(0x20010db8), 0, 0, cpu_to_be32(2));
		ipv6_addr_set((struct in6_addr *)&hdr->ibgrh.dgid,
			      cpu_to_be32(0x20010db8), 0, 0, cpu_to_be32(1));
	}
	return wc;
}

static void verbs_ah_from_wc(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	union rdma_network_hdr hdr;
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int ipv4;

	set_both_gids(fix);
	for (ipv4 = 0; ipv4 < 2; ipv4++) {
		struct ib_wc wc = came(&hdr, ipv4);
		struct in6_addr from;

		if (ipv4)
			ipv6_addr_set_v4mapped(cpu_to_be32(0x0a000002), &from);
		else
			from = *(struct in6_addr *)&hdr.ibgrh.sgid;
		KUNIT_ASSERT_EQ(test, 0,
				ib_init_ah_attr_from_wc(&fix->dev, PORT, &wc,
							&hdr.ibgrh, &attr));
		KUNIT_EXPECT_EQ(test, attr.type, RDMA_AH_ATTR_TYPE_ROCE);
		KUNIT_EXPECT_EQ(test, attr.port_num, PORT);
		KUNIT_EXPECT_EQ(test, attr.ah_flags, IB_AH_GRH);
		KUNIT_EXPECT_EQ(test, attr.sl, 3);
		KUNIT_EXPECT_MEMEQ(test, &attr.grh.dgid, &from, sizeof(from));
		KUNIT_EXPECT_EQ(test, attr.grh.sgid_index, ipv4 ? 0 : 1);
		KUNIT_EXPECT_EQ(test, attr.grh.sgid_attr->index, ipv4 ? 0 : 1);
		KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 0xb8);
		KUNIT_EXPECT_EQ(test, attr.grh.flow_label, ipv4 ? 0 : 0x12345);
		KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 64);
		rdma_destroy_ah_attr(&attr);

		ah = ib_create_ah_from_wc(fix->pd, &wc, &hdr.ibgrh, PORT);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
		KUNIT_EXPECT_EQ(test, ah->sgid_attr->index, ipv4 ? 0 : 1);
		KUNIT_EXPECT_EQ(test, rdma_destroy_ah(ah, 0), 0);
	}
}

/* Errors hold nothing: the fixture's end would wait for ever. */
static void verbs_ah_from_odd_wc(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	union rdma_network_hdr hdr;
	struct rdma_ah_attr attr;
	struct ib_wc wc = came(&hdr, true);
	struct ib_ah *ah;

#define EXPECT_NO_AH(port, error)                                              \
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&fix->dev, port, &wc,    \
						      &hdr.ibgrh, &attr),      \
			error)

	/* It went to an address that is not here. */
	EXPECT_NO_AH(PORT, -ENOENT);
	ah = ib_create_ah_from_wc(fix->pd, &wc, &hdr.ibgrh, PORT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ah), -ENOENT);
	set_both_gids(fix);
	EXPECT_NO_AH(PORT + 1, -EOPNOTSUPP);
	wc.network_hdr_type = RDMA_NETWORK_IB;
	EXPECT_NO_AH(PORT, -EPROTOTYPE);
	wc.network_hdr_type = RDMA_NETWORK_IPV4;
	wc.wc_flags = IB_WC_GRH;
	EXPECT_NO_AH(PORT, -EPROTOTYPE);
	wc.wc_flags = IB_WC_WITH_NETWORK_HDR_TYPE;
	EXPECT_NO_AH(PORT, -EPROTOTYPE);
	wc.wc_flags |= IB_WC_GRH;
	fix->answer = -ENOMEM;
	ah = ib_create_ah_from_wc(fix->pd, &wc, &hdr.ibgrh, PORT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ah), -ENOMEM);
	fix->answer = 0;
}

static void verbs_ah(struct kunit *test)
{
	struct verbs_fixture *fix = test->priv;
	struct rdma_ah_attr attr = qp_attr(IB_QPS_RTR).ah_attr;
	struct ib_ah *ah;

	attr.grh.sgid_index = 1;
	ah = rdma_create_ah(fix->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ah), -ENODATA);
	attr.grh.sgid_index = 0;
	attr.ah_flags = 0;
	ah = rdma_create_ah(fix->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ah), -EINVAL);
	attr.ah_flags = IB_AH_GRH;
	fix->answer = -ENOMEM;
	ah = rdma_create_ah(fix->pd, &attr, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ah), -ENOMEM);
	fix->answer = 0;
	ah = rdma_create_ah(fix->pd, &attr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	KUNIT_EXPECT_NOT_NULL(test, ah->sgid_attr);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->pd->usecnt), 2);
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah(ah, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fix->pd->usecnt), 1);
}

static void verbs_mr(struct kunit *test)
{
	static const struct {
		u64 start;
		u64 length;
		u64 virt;
		int access;
		int error;
	} bad[] = {
		{ 0x1000, 1, 0x1000, IB_ACCESS_REMOTE_WRITE, -EINVAL },
		{ 0x1000, 1, 0x1000, IB_ACCESS_REMOTE_ATOMIC, -EINVAL },
		{ 0x1000, 1, 0x1000, 1 << 15, -EOPNOTSUPP },
		{ 0x1000, 1, 0x1000, IB_ACCESS_ON_DEMAND, -EOPNOTSUPP },
		{ 0x1000, 1, 0x1000, IB_ACCESS_FLUSH_GLOBAL, -EOPNOTSUPP },
		{ 0x1000, (1UL << 40) + 1, 0x1000, 0, -EINVAL },
		{ ~0xfffULL, 0x1000, ~0xfffULL, 0, -EINVAL },
		{ 0x1000, 0x1000, ~0xfffULL, 0, -EINVAL },
		{ 0x1000, 0x1000, 0x1001, 0, -EINVAL },
	};
	struct verbs_fixture *fix = test->priv;
	struct ib_mr *mr;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		mr = ib_reg_user_mr(fix->pd, bad[i].start, bad[i].length,
				    bad[i].virt, bad[i].access);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(mr), bad[i].error, "case %d",
				    i);
	}
	mr = ib_reg_user_mr(fix->pd, 0x1001, 0, 0x5001,
			    IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, mr->iova, 0x5001);
	KUNIT_EXPECT_EQ(test, ib_dealloc_pd_user(fix->pd, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE(verbs_in_use),
	KUNIT_CASE(verbs_driver_will_not_create),
	KUNIT_CASE(verbs_driver_will_not_destroy),
	KUNIT_CASE(verbs_cq_limits),
	KUNIT_CASE(verbs_qp_limits),
	KUNIT_CASE(verbs_qp_gsi),
	KUNIT_CASE(verbs_qp_states),
	KUNIT_CASE(verbs_qp_left_by_itself),
	KUNIT_CASE(verbs_qp_attributes),
	KUNIT_CASE(verbs_qp_holds_gid),
	KUNIT_CASE(verbs_ah),
	KUNIT_CASE(verbs_ah_from_wc),
	KUNIT_CASE(verbs_ah_from_odd_wc),
	KUNIT_CASE(verbs_mr),
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "verbs",
	.init = verbs_test_init,
	.exit = verbs_test_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);
