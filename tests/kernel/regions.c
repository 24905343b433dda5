// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Fast registration, datagrams, and CQs from the pool. */
#include <linux/interrupt.h>
#include <linux/scatterlist.h>
#include "rig.h"

#define ROUNDS 400
#define PIECES 3

static int post_reg(struct end *end, struct ib_mr *mr, u32 key)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR },
		.mr = mr,
		.key = key,
		.access = ALL_ACCESS,
	};
	struct op op;
	int err = op_send(end, &wr.wr, &op);

	return err ?: op_wait(end, &op);
}

static int post_inv(struct end *end, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = key,
	};
	struct op op;
	int err = op_send(end, &wr, &op);

	return err ?: op_wait(end, &op);
}

static int write_to(struct end *end, u64 addr, u32 key, u32 len)
{
	struct ib_sge sge = ends_sge(end, 0, len);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge,
			.num_sge = 1 },
		.remote_addr = addr,
		.rkey = key,
	};
	struct op op;
	int err = op_send(end, &wr.wr, &op);

	return err ?: op_wait(end, &op);
}

static int send_inv(struct end *end, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV,
		.ex.invalidate_rkey = key,
	};
	struct op op, recv;
	int err = op_recv(&end[1], 0, 64, &recv);

	err = err ?: op_send(&end[0], &wr, &op);
	err = err ?: op_wait(&end[0], &op);
	err = err ?: op_wait(&end[1], &recv);
	if (!err && (!(recv.wc.wc_flags & IB_WC_WITH_INVALIDATE) ||
		     recv.wc.ex.invalidate_rkey != key))
		err = -EIO;
	return err;
}

/* Three odd pieces of the second half of end 1's buffer, apart from each other. */
static const struct { u32 off, len; } piece[PIECES] = {
	{ 33001, 999 }, { 40000, 1 }, { 50000, 2501 },
};

static int map(struct end *end, struct ib_mr *mr)
{
	struct scatterlist sg[PIECES];
	int i, n;

	sg_init_table(sg, PIECES);
	for (i = 0; i < PIECES; i++)
		sg_set_buf(&sg[i], end[1].buf + piece[i].off, piece[i].len);
	n = ib_dma_map_sg(end[1].dev, sg, PIECES, DMA_BIDIRECTIONAL);
	if (n != PIECES)
		return -EIO;
	n = ib_map_mr_sg(mr, sg, PIECES, NULL, PAGE_SIZE);
	return n == PIECES && mr->length == 3501 ? 0 : -EIO;
}

static bool arrived(const struct end *end, const u8 *sent)
{
	u32 i, at = 0;

	for (i = 0; i < PIECES; i++) {
		if (memcmp(end[1].buf + piece[i].off, sent + at, piece[i].len))
			return false;
		at += piece[i].len;
	}
	return !end[1].buf[40001] && !end[1].buf[39999];
}

/*
 * C02: registered, written to, closed by this side or by the peer, again and
 * again, each time under another key.
 */
static int one_round(struct end *end, struct ib_mr *mr, u32 i)
{
	int err;

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	err = map(end, mr);
	err = err ?: post_reg(&end[1], mr, mr->rkey);
	fill(end[0].buf, 3501, i);
	err = err ?: write_to(end, mr->iova, mr->rkey, 3501);
	if (!err && !arrived(end, end[0].buf))
		err = -EIO;
	if (!err)
		err = i & 1 ? send_inv(end, mr->rkey) :
			      post_inv(&end[1], mr->rkey);
	return err;
}

static int atomic(struct end *end, const struct ib_mr *mr,
		  enum ib_wr_opcode opcode, u64 compare_add, u64 swap)
{
	struct ib_sge sge = ends_sge(&end[0], 0, 8);
	struct ib_atomic_wr wr = {
		.wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = mr->iova,
		.rkey = mr->rkey,
		.compare_add = compare_add,
		.swap = swap,
	};
	struct op op;
	int err = op_send(&end[0], &wr.wr, &op);

	return err ?: op_wait(&end[0], &op);
}

/* The key of all memory does not grant these. */
static int atomics(struct end *end, struct ib_mr *mr)
{
	u64 *here = (u64 *)end[0].buf, *there = (u64 *)end[1].buf;
	struct scatterlist sg;
	int err;

	sg_init_one(&sg, there, sizeof(*there));
	ib_dma_map_sg(end[1].dev, &sg, 1, DMA_BIDIRECTIONAL);
	err = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE) == 1 ? 0 : -EIO;
	err = err ?: post_reg(&end[1], mr, mr->rkey);
	*there = 40;
	err = err ?: atomic(end, mr, IB_WR_ATOMIC_FETCH_AND_ADD, 2, 0);
	if (!err && (*here != 40 || *there != 42))
		err = -EIO;
	err = err ?: atomic(end, mr, IB_WR_ATOMIC_CMP_AND_SWP, 42, 7);
	if (!err && (*here != 42 || *there != 7))
		err = -EIO;
	return err ?: post_inv(&end[1], mr->rkey);
}

/* The region begins at address 0, wherever its memory is. */
static int zero_based(struct end *end, struct ib_mr *mr)
{
	struct scatterlist sg;
	int err;

	sg_init_one(&sg, end[1].buf + 100, 2000);
	ib_dma_map_sg(end[1].dev, &sg, 1, DMA_BIDIRECTIONAL);
	err = ib_map_mr_sg_zbva(mr, &sg, 1, NULL, PAGE_SIZE) == 1 ? 0 : -EIO;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	err = err ?: post_reg(&end[1], mr, mr->rkey);
	fill(end[0].buf, 500, 77);
	err = err ?: write_to(end, 10, mr->rkey, 500);
	if (!err && !filled(end[1].buf + 110, 500, 77))
		err = -EIO;
	return err ?: post_inv(&end[1], mr->rkey);
}

void test_fast_reg(void)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_RC };
	struct end end[2];
	struct ib_mr *mr;
	int err = 0;
	u32 i;

	if (ends_open(end, &conf))
		return;
	mr = ib_alloc_mr(end[1].pd, IB_MR_TYPE_SG_GAPS, PIECES);
	if (IS_ERR(mr)) {
		ktest_report(false, "ib_alloc_mr: %ld", PTR_ERR(mr));
		goto close;
	}
	for (i = 0; i < ROUNDS && !err; i++)
		err = one_round(end, mr, i);
	ktest_report(!err, "C02 REG_MR, WRITE, LOCAL_INV or SEND with invalidate: %d in round %u of %u",
		     err, i, ROUNDS);
	err = atomics(end, mr);
	ktest_report(!err, "atomics on a region of fast registration: %d", err);
	err = zero_based(end, mr);
	ktest_report(!err, "WRITE to a region that begins at 0: %d", err);
	err = write_to(end, mr->iova, mr->rkey, 1);
	ktest_report(err == IB_WC_REM_ACCESS_ERR,
		     "C02 WRITE under the key that was invalidated: %s",
		     err < 0 ? "no completion" : ib_wc_status_msg(err));
	ib_dereg_mr(mr);
close:
	ends_close(end);
}

/* ---- datagrams ---- */

struct maker {
	struct tasklet_struct tasklet;
	struct completion done;
	struct end *end;
	struct ib_ah *ah;
};

static void make_ah(struct tasklet_struct *t)
{
	struct maker *maker = container_of(t, struct maker, tasklet);
	struct rdma_ah_attr attr = ends_address(&maker->end[0], &maker->end[1]);

	maker->ah = rdma_create_ah(maker->end[0].pd, &attr, 0);
	complete(&maker->done);
}

static int datagram(struct end *end, struct ib_ah *ah)
{
	struct ib_sge sge = ends_sge(&end[0], 0, 700);
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 },
		.ah = ah,
		.remote_qpn = end[1].qp->qp_num,
		.remote_qkey = QKEY,
		.port_num = 1,
	};
	struct op op, recv;
	int err = op_recv(&end[1], BUF_SIZE / 2, 1024, &recv);

	fill(end[0].buf, 700, 9);
	err = err ?: op_send(&end[0], &wr.wr, &op);
	err = err ?: op_wait(&end[0], &op);
	err = err ?: op_wait(&end[1], &recv);
	if (!err && (recv.wc.byte_len != 740 ||
		     recv.wc.src_qp != end[0].qp->qp_num ||
		     !filled(end[1].buf + BUF_SIZE / 2 + 40, 700, 9)))
		err = -EIO;
	return err;
}

void test_datagrams(void)
{
	const struct ends_conf conf = { IB_POLL_WORKQUEUE, IB_QPT_UD };
	struct maker maker = {};
	struct end end[2];
	int err;

	if (ends_open(end, &conf))
		return;
	maker.end = end;
	init_completion(&maker.done);
	tasklet_setup(&maker.tasklet, make_ah);
	tasklet_schedule(&maker.tasklet);
	wait_for_completion(&maker.done);
	tasklet_kill(&maker.tasklet);
	err = PTR_ERR_OR_ZERO(maker.ah);
	if (!err) {
		err = datagram(end, maker.ah);
		rdma_destroy_ah(maker.ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	ktest_report(!err, "a datagram by an address handle made in a tasklet: %d",
		     err);
	ends_close(end);
}

/* ---- pools ---- */

void test_pools(void)
{
	struct ib_device *dev = ktest_dev[0];
	struct ib_cq *one, *two, *big;
	bool shared, other;

	one = ib_cq_pool_get(dev, 100, -1, IB_POLL_SOFTIRQ);
	two = IS_ERR(one) ? one : ib_cq_pool_get(dev, 100, one->comp_vector,
						 IB_POLL_SOFTIRQ);
	if (IS_ERR(one) || IS_ERR(two)) {
		ktest_report(false, "a CQ of the pool: %ld", PTR_ERR(two));
		return;
	}
	shared = one == two;
	big = ib_cq_pool_get(dev, one->cqe - 100, one->comp_vector,
			     IB_POLL_SOFTIRQ);
	other = !IS_ERR(big) && big != one;
	ktest_report(shared && other, "CQs of the pool are shared while there is room");
	if (!IS_ERR(big))
		ib_cq_pool_put(big, one->cqe - 100);
	ib_cq_pool_put(two, 100);
	ib_cq_pool_put(one, 100);
	one = ib_cq_pool_get(dev, dev->attrs.max_cqe + 1, -1, IB_POLL_SOFTIRQ);
	ktest_report(IS_ERR(one), "more entries than a CQ has: %ld",
		     PTR_ERR(one));
}
