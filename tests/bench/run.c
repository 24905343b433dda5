// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Messages from one side to the other, in rounds.  Before a round, each
 * message is written into memory of its own and its target is poisoned; after
 * it, each target is compared.  Neither is inside what is timed.
 */
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "bench.h"

/* So long nothing may come of what was posted. */
#define RUN_PATIENCE (30 * HZ)

static bool run_tells_responder(const struct bench *bench)
{
	return bench->conf.op->kind == BENCH_SEND;
}

static int run_status(struct bench *bench, struct ib_wc *wc)
{
	if (wc->status && !bench->status)
		bench->status = wc->status;
	return wc->status;
}

static void run_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct bench_flow *flow = container_of(wc->wr_cqe, struct bench_flow,
					       send_cqe);
	struct bench *bench = flow->bench;
	u32 n = bench->conf.each ? 1 : bench->conf.list, slot;
	u64 now;

	if (run_status(bench, wc))
		return;
	n = min(n, flow->posted - flow->sent);
	if (bench->begun) {
		now = bench_now();
		for (slot = flow->base + flow->sent;
		     slot < flow->base + flow->sent + n; slot++)
			bench->took[bench->first + slot] =
				now - bench->begun[slot];
	}
	flow->sent += n;
	bench->sent += n;
}

static int run_post_recv(struct bench *bench, struct bench_flow *flow)
{
	const struct bench_side *side = &bench->side[1];
	struct ib_sge sge = {
		.addr = side->mem.slot[flow->base + flow->recv_posted++].dma,
		.length = bench->conf.size,
		.lkey = side->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &flow->recv_cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (bench->conf.type == IB_QPT_UD)
		sge.length += BENCH_GRH;
	return ib_post_recv(flow->qp[1], &wr, NULL);
}

static void run_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct bench_flow *flow = container_of(wc->wr_cqe, struct bench_flow,
					       recv_cqe);
	struct bench *bench = flow->bench;

	if (run_status(bench, wc))
		return;
	flow->received++;
	bench->received++;
	if (flow->recv_posted < flow->total && run_post_recv(bench, flow))
		bench->status = -EIO;
}

/* As many receives as a queue pair's share of the round, or as its depth. */
static int run_first_recvs(struct bench *bench)
{
	struct bench_flow *flow;
	int ret = 0;

	for (flow = bench->flow; flow < bench->flow + bench->conf.qps; flow++)
		while (!ret && flow->recv_posted <
		       min(flow->total, bench->conf.depth))
			ret = run_post_recv(bench, flow);
	return ret;
}

/* ---- what a message is ---- */

/* Where the data come from, and where they have to be afterwards. */
static u8 *run_source(struct bench *bench, u32 slot)
{
	return bench->side[bench->conf.op->kind == BENCH_READ].mem.slot[slot].at;
}

static u8 *run_target(struct bench *bench, u32 slot)
{
	u8 *target =
		bench->side[bench->conf.op->kind != BENCH_READ].mem.slot[slot].at;

	return target + (bench->conf.type == IB_QPT_UD ? BENCH_GRH : 0);
}

/*
 * An atomic adds its number to its target, or swaps its number in for the
 * complement of it; what it brings back is what was there.
 */
static void run_prepare_atomic(struct bench *bench, u32 slot)
{
	u64 *there = (u64 *)bench->side[1].mem.slot[slot].at;

	*there = ~(u64)(bench->first + slot);
	bench_poison(bench->side[0].mem.slot[slot].at, 8);
}

static bool run_good_atomic(struct bench *bench, u32 slot)
{
	u64 there = *(u64 *)bench->side[1].mem.slot[slot].at;
	u64 here = *(u64 *)bench->side[0].mem.slot[slot].at;
	u64 number = bench->first + slot;

	if (here != ~number)
		return false;
	return there == (bench->conf.op->opcode == IB_WR_ATOMIC_CMP_AND_SWP ?
			 number : ~number + number);
}

static void run_prepare(struct bench *bench)
{
	u32 size = bench->conf.size, slot, q, base = 0;

	for (q = 0; q < bench->conf.qps; q++) {
		struct bench_flow *flow = &bench->flow[q];

		flow->base = base;
		flow->total = bench->slots / bench->conf.qps +
			      (q < bench->slots % bench->conf.qps);
		flow->posted = 0;
		flow->sent = 0;
		flow->received = 0;
		flow->recv_posted = 0;
		base += flow->total;
	}
	bench->sent = 0;
	bench->received = 0;
	for (slot = 0; slot < bench->slots; slot++) {
		if (bench->conf.op->kind == BENCH_ATOMIC) {
			run_prepare_atomic(bench, slot);
			continue;
		}
		bench_fill(run_source(bench, slot), size, bench->first + slot);
		bench_poison(run_target(bench, slot), size);
		if (!(slot % 256))
			cond_resched();
	}
}

static int run_compare(struct bench *bench)
{
	u32 size = bench->conf.size, slot;
	bool good;

	for (slot = 0; slot < bench->slots; slot++) {
		good = bench->conf.op->kind == BENCH_ATOMIC ?
		       run_good_atomic(bench, slot) :
		       bench_filled(run_target(bench, slot), size,
				    bench->first + slot);
		if (!good) {
			pr_err("softroce_bench: message %u is not what was sent\n",
			       bench->first + slot);
			return -EBADMSG;
		}
		if (!(slot % 256))
			cond_resched();
	}
	return 0;
}

/* ---- posting ---- */

static struct ib_send_wr *run_wr(struct bench *bench, u32 i)
{
	if (bench->conf.type == IB_QPT_UD)
		return &bench->wr.ud[i].wr;
	if (bench->conf.op->kind == BENCH_ATOMIC)
		return &bench->wr.atomic[i].wr;
	return &bench->wr.rdma[i].wr;
}

/* What is the same in all lists. */
static int run_make_list(struct bench *bench)
{
	const struct bench_conf *conf = &bench->conf;
	u32 i;
	int ret;

	ret = conf->op->kind == BENCH_ATOMIC ? bench_key_get(bench) : 0;
	if (ret)
		return ret;
	bench->wr.head = kcalloc(conf->list, max3(sizeof(*bench->wr.rdma),
						  sizeof(*bench->wr.atomic),
						  sizeof(*bench->wr.ud)),
				 GFP_KERNEL);
	if (!bench->wr.head)
		return -ENOMEM;
	for (i = 0; i < conf->list; i++) {
		struct ib_send_wr *wr = run_wr(bench, i);

		wr->opcode = conf->op->opcode;
		wr->sg_list = &bench->sge[i];
		wr->num_sge = 1;
		wr->ex.imm_data = cpu_to_be32(i);
		bench->sge[i].length = conf->size;
		bench->sge[i].lkey = bench->side[0].pd->local_dma_lkey;
		if (conf->type == IB_QPT_UD) {
			bench->wr.ud[i].ah = bench->side[0].ah;
			bench->wr.ud[i].remote_qkey = BENCH_QKEY;
		} else if (conf->op->kind == BENCH_ATOMIC) {
			bench->wr.atomic[i].rkey = bench->side[1].mr->rkey;
		} else {
			bench->wr.rdma[i].rkey =
				bench->side[1].pd->unsafe_global_rkey;
		}
	}
	return 0;
}

static void run_aim(struct bench *bench, u32 i, u32 slot, struct ib_qp *other)
{
	u64 there = bench->side[1].mem.slot[slot].dma;

	bench->sge[i].addr = bench->side[0].mem.slot[slot].dma;
	if (bench->conf.type == IB_QPT_UD) {
		bench->wr.ud[i].remote_qpn = other->qp_num;
	} else if (bench->conf.op->kind == BENCH_ATOMIC) {
		u64 number = bench->first + slot;
		bool swap = bench->conf.op->opcode == IB_WR_ATOMIC_CMP_AND_SWP;

		bench->wr.atomic[i].remote_addr = there;
		bench->wr.atomic[i].compare_add = swap ? ~number : number;
		bench->wr.atomic[i].swap = number;
	} else {
		bench->wr.rdma[i].remote_addr = there;
	}
}

/* The next list, or what is left of it. */
static int run_post(struct bench *bench, struct bench_flow *flow)
{
	u32 n = min(bench->conf.list, flow->total - flow->posted), i;
	struct ib_send_wr *wr = NULL;

	for (i = n; i-- > 0;) {
		u32 slot = flow->base + flow->posted + i;
		struct ib_send_wr *next = wr;

		wr = run_wr(bench, i);
		run_aim(bench, i, slot, flow->qp[1]);
		wr->wr_cqe = &flow->send_cqe;
		wr->next = next;
		wr->send_flags = bench->conf.each || i + 1 == n ?
				 IB_SEND_SIGNALED : 0;
		if (bench->begun)
			bench->begun[slot] = bench_now();
	}
	flow->posted += n;
	return ib_post_send(flow->qp[0], wr, NULL);
}

static bool run_room(const struct bench *bench, const struct bench_flow *flow)
{
	u32 done = flow->sent;

	if (run_tells_responder(bench))
		done = min(done, flow->received);
	return flow->posted < flow->total &&
	       flow->posted - done + bench->conf.list <= bench->conf.depth;
}

static bool run_over(const struct bench *bench)
{
	return bench->sent == bench->slots &&
	       (!run_tells_responder(bench) ||
		bench->received == bench->slots);
}

/* Where nothing came, somebody else may have to run for it to come. */
static int run_poll(struct bench *bench, unsigned long *last)
{
	int n = ib_process_cq_direct(bench->side[0].cq, -1) +
		ib_process_cq_direct(bench->side[1].cq, -1);

	if (n) {
		*last = jiffies;
		return 0;
	}
	if (time_after(jiffies, *last + RUN_PATIENCE))
		return -ETIMEDOUT;
	if (fatal_signal_pending(current))
		return -EINTR;
	yield();
	return 0;
}

static int run_round(struct bench *bench)
{
	unsigned long last = jiffies;
	u64 began = bench_now();
	int ret = 0;
	struct bench_flow *flow, *end = bench->flow + bench->conf.qps;

	bench_mark(BENCH_MARK_BEGIN);
	while (!ret && !bench->status && !run_over(bench)) {
		for (flow = bench->flow; !ret && flow < end; flow++)
			while (!ret && run_room(bench, flow))
				ret = run_post(bench, flow);
		ret = ret ?: run_poll(bench, &last);
	}
	bench_mark(BENCH_MARK_END);
	bench->result.ns += bench_now() - began;
	if (bench->status)
		pr_err("softroce_bench: a completion has status %d\n",
		       bench->status);
	return ret ?: bench->status ? -EIO : 0;
}

/* ---- the whole ---- */

static int run_cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void run_percentiles(struct bench *bench)
{
	u32 n = bench->conf.count;

	if (!bench->took)
		return;
	sort(bench->took, n, sizeof(*bench->took), run_cmp, NULL);
	bench->result.p50 = bench->took[n / 2];
	bench->result.p99 = bench->took[n - 1 - n / 100];
	bench->result.max = bench->took[n - 1];
}

static int run_rounds(struct bench *bench)
{
	u32 left = bench->conf.count;
	int ret = 0;

	while (!ret && left) {
		bench->slots = min(left, bench->conf.slots);
		run_prepare(bench);
		ret = run_tells_responder(bench) ? run_first_recvs(bench) : 0;
		ret = ret ?: run_round(bench) ?: run_compare(bench);
		bench->first += bench->slots;
		left -= bench->slots;
	}
	bench->result.messages = bench->first;
	return ret;
}

int bench_run(struct bench *bench)
{
	long nice = task_nice(current);
	int ret;
	u32 q;

	/* Whoever else has something to do for a message goes first. */
	set_user_nice(current, MAX_NICE);
	for (q = 0; q < bench->conf.qps; q++) {
		bench->flow[q].bench = bench;
		bench->flow[q].send_cqe.done = run_sent;
		bench->flow[q].recv_cqe.done = run_received;
	}
	if (bench->conf.times) {
		bench->begun = kvcalloc(bench->conf.slots, sizeof(u64),
					GFP_KERNEL);
		bench->took = kvcalloc(bench->conf.count, sizeof(u64),
				       GFP_KERNEL);
	}
	if (bench->conf.times && (!bench->begun || !bench->took))
		ret = -ENOMEM;
	else
		ret = bench_sides_open(bench) ?: run_make_list(bench) ?:
		      run_rounds(bench);
	bench_sides_close(bench);
	set_user_nice(current, nice);
	if (!ret)
		run_percentiles(bench);
	kfree(bench->wr.head);
	kvfree(bench->begun);
	kvfree(bench->took);
	return ret;
}
