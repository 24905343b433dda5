// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Data between kernel buffers, in every context that a completion may come in. */
#include <linux/slab.h>
#include "rig.h"

static const char *const contexts[] = {
	[IB_POLL_SOFTIRQ] = "softirq",
	[IB_POLL_WORKQUEUE] = "work",
	[IB_POLL_UNBOUND_WORKQUEUE] = "unbound work",
	[IB_POLL_DIRECT] = "direct",
};

/* One of the operations on the other's memory, at its offset 32 KiB. */
static int remote(struct end *end, enum ib_wr_opcode opcode, u32 off, u32 len)
{
	struct ib_sge sge = ends_sge(&end[0], off, len);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcode, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = end[1].dma + BUF_SIZE / 2,
		.rkey = end[1].pd->unsafe_global_rkey,
	};
	struct op op;
	int err = op_send(&end[0], &wr.wr, &op);

	return err ?: op_wait(&end[0], &op);
}

static int send(struct end *end, u32 len)
{
	struct ib_sge sge = ends_sge(&end[0], 0, len);
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_IMM,
		.sg_list = &sge,
		.num_sge = 1,
		.ex.imm_data = cpu_to_be32(len),
	};
	struct op op, recv;
	int err = op_recv(&end[1], BUF_SIZE / 2, BUF_SIZE / 2, &recv);

	err = err ?: op_send(&end[0], &wr, &op);
	err = err ?: op_wait(&end[0], &op);
	err = err ?: op_wait(&end[1], &recv);
	if (!err && (recv.wc.byte_len != len ||
		     recv.wc.ex.imm_data != cpu_to_be32(len)))
		err = -EIO;
	return err;
}

static void each_operation(enum ib_poll_context ctx, bool srq)
{
	const struct ends_conf conf = { ctx, IB_QPT_RC, srq };
	const char *how = contexts[ctx];
	struct end end[2];
	u8 *there;
	int err;

	if (ends_open(end, &conf))
		return;
	there = end[1].buf + BUF_SIZE / 2;
	fill(end[0].buf, 5000, 1);
	err = send(end, 5000);
	ktest_report(!err && filled(there, 5000, 1), "%s%s: SEND: %d", how,
		     srq ? ", SRQ" : "", err);
	if (srq)
		goto close;
	fill(end[0].buf, 20001, 2);
	err = remote(end, IB_WR_RDMA_WRITE, 0, 20001);
	ktest_report(!err && filled(there, 20001, 2), "%s: WRITE: %d", how, err);
	fill(there, 20001, 3);
	err = remote(end, IB_WR_RDMA_READ, 0, 20001);
	ktest_report(!err && filled(end[0].buf, 20001, 3), "%s: READ: %d", how,
		     err);
close:
	ends_close(end);
}

void test_transfers(void)
{
	enum ib_poll_context ctx;

	for (ctx = IB_POLL_SOFTIRQ; ctx <= IB_POLL_DIRECT; ctx++)
		each_operation(ctx, false);
	each_operation(IB_POLL_SOFTIRQ, true);
}

/* ---- posting from everywhere ---- */

#define CHAIN 3000

/* Each completion posts the next WRITE, of its own bytes to its own place. */
struct chain {
	struct ib_cqe cqe;
	struct end *end;
	struct completion over;
	u32 left;
	int err;
};

static int chain_post(struct chain *chain)
{
	u32 off = chain->left % 16 * 1024;
	struct ib_sge sge = ends_sge(&chain->end[0], off, 1000);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge,
			.num_sge = 1, .wr_cqe = &chain->cqe,
			.send_flags = IB_SEND_SIGNALED },
		.remote_addr = chain->end[1].dma + off,
		.rkey = chain->end[1].pd->unsafe_global_rkey,
	};

	fill(chain->end[0].buf + off, 1000, chain->left);
	return ib_post_send(chain->end[0].qp, &wr.wr, NULL);
}

static void chain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct chain *chain = container_of(wc->wr_cqe, struct chain, cqe);
	u32 off = chain->left % 16 * 1024;

	if (wc->status)
		chain->err = wc->status;
	else if (!filled(chain->end[1].buf + off, 1000, chain->left))
		chain->err = -EIO;
	if (!chain->err && --chain->left)
		chain->err = chain_post(chain);
	if (chain->err || !chain->left)
		complete(&chain->over);
}

static void from_done(enum ib_poll_context ctx)
{
	const struct ends_conf conf = { ctx, IB_QPT_RC };
	struct chain chain = { .cqe.done = chain_done, .left = CHAIN };
	struct end end[2];

	if (ends_open(end, &conf))
		return;
	chain.end = end;
	init_completion(&chain.over);
	chain.err = chain_post(&chain);
	if (!chain.err &&
	    !wait_for_completion_timeout(&chain.over, 3 * WAIT_MS * HZ / 1000))
		chain.err = -ETIMEDOUT;
	ktest_report(!chain.err, "%u WRITEs, each posted in the done() of the last, %s: %d, %u left",
		     CHAIN, contexts[ctx], chain.err, chain.left);
	ends_close(end);
}

/* With interrupts off nothing may be waited for, in either direction. */
static void with_interrupts_off(void)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_RC };
	struct op *op = kcalloc(64, sizeof(*op), GFP_KERNEL);
	struct end end[2];
	unsigned long flags;
	int err = 0, i;

	if (!op || ends_open(end, &conf)) {
		kfree(op);
		return;
	}
	for (i = 0; i < 32 && !err; i++) {
		struct ib_sge sge = ends_sge(&end[0], i * 512, 500);
		struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &sge,
					 .num_sge = 1 };

		fill(end[0].buf + i * 512, 500, i);
		local_irq_save(flags);
		err = op_recv(&end[1], BUF_SIZE / 2 + i * 512, 512,
			      &op[32 + i]);
		err = err ?: op_send(&end[0], &wr, &op[i]);
		local_irq_restore(flags);
	}
	for (i = 0; i < 32 && !err; i++) {
		err = op_wait(&end[0], &op[i]) ?: op_wait(&end[1], &op[32 + i]);
		if (!err && !filled(end[1].buf + BUF_SIZE / 2 + i * 512, 500, i))
			err = -EIO;
	}
	ktest_report(!err, "SENDs and receives posted with interrupts off: %d",
		     err);
	ends_close(end);
	kfree(op);
}

void test_contexts(void)
{
	from_done(IB_POLL_SOFTIRQ);
	from_done(IB_POLL_WORKQUEUE);
	with_interrupts_off();
}

/* ---- the end ---- */

struct many {
	struct ib_cqe cqe;
	atomic_t flushed;
	atomic_t others;
};

static void many_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct many *many = container_of(wc->wr_cqe, struct many, cqe);

	atomic_inc(wc->status == IB_WC_WR_FLUSH_ERR ? &many->flushed :
						      &many->others);
}

/* Nobody answers: all of it is there when the queues are drained. */
static void drain_in(enum ib_poll_context ctx)
{
	const struct ends_conf conf = { ctx, IB_QPT_RC, .apart = true };
	struct many many = { .cqe.done = many_done };
	struct ib_sge sge;
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED, .wr_cqe = &many.cqe,
	};
	struct ib_recv_wr recv = {
		.sg_list = &sge, .num_sge = 1, .wr_cqe = &many.cqe,
	};
	struct end end[2];
	int err = 0, i;

	if (ends_open(end, &conf))
		return;
	sge = ends_sge(&end[0], 0, 64);
	for (i = 0; i < QUEUE_LEN && !err; i++)
		err = ib_post_recv(end[0].qp, &recv, NULL) ?:
		      ib_post_send(end[0].qp, &wr, NULL);
	ib_drain_qp(end[0].qp);
	/* Nothing may come after that. */
	ktest_report(!err && atomic_read(&many.flushed) == 2 * QUEUE_LEN &&
			     !atomic_read(&many.others),
		     "drained, %s: posting: %d, %d flushed of %d", contexts[ctx],
		     err, atomic_read(&many.flushed), 2 * QUEUE_LEN);
	ib_drain_qp(end[0].qp);
	ends_close(end);
}

void test_drain(void)
{
	enum ib_poll_context ctx;

	for (ctx = IB_POLL_SOFTIRQ; ctx <= IB_POLL_DIRECT; ctx++)
		drain_in(ctx);
}
