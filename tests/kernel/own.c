// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Consumers that do without the core's CQ polling, or may not sleep. */
#include <rdma/ib_verbs.h>
#include "rig.h"

#define OWN_MSGS 16
#define OWN_LEN 200
#define GRH_LEN 40

/* A CQ whose consumer is told and polls by itself. */
struct own {
	struct end end;
	atomic_t calls;
	bool arms;
};

/* Until the CQ is empty and will tell of the next one. */
static void own_poll(struct ib_cq *cq, bool arms)
{
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) == 1)
			wc.wr_cqe->done(cq, &wc);
	} while (arms &&
		 ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				      IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

static void own_told(struct ib_cq *cq, void *arg)
{
	struct own *own = arg;

	atomic_inc(&own->calls);
	if (own->arms)
		own_poll(cq, true);
}

static int own_open(struct own *own, const struct end *at)
{
	struct ib_cq_init_attr attr = { .cqe = 4 * OWN_MSGS };
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_UD,
		.port_num = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 2 * OWN_MSGS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	own->end = *at;
	own->end.qp = NULL;
	atomic_set(&own->calls, 0);
	own->end.cq = ib_create_cq(at->dev, own_told, NULL, own, &attr);
	if (IS_ERR(own->end.cq))
		return PTR_ERR(own->end.cq);
	init.send_cq = own->end.cq;
	init.recv_cq = own->end.cq;
	own->end.qp = ib_create_qp(at->pd, &init);
	if (IS_ERR(own->end.qp)) {
		ib_destroy_cq(own->end.cq);
		return PTR_ERR(own->end.qp);
	}
	return end_ready(&own->end);
}

static void own_close(struct own *own)
{
	ib_destroy_qp(own->end.qp);
	ib_destroy_cq(own->end.cq);
}

static int own_send(struct end *from, struct ib_ah *ah, u32 qpn, u32 seed)
{
	struct ib_sge sge = ends_sge(from, 0, OWN_LEN);
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 },
		.ah = ah,
		.remote_qpn = qpn,
		.remote_qkey = QKEY,
		.port_num = 1,
	};
	struct op op;

	fill(from->buf, OWN_LEN, seed);
	return op_send(from, &wr.wr, &op) ?: op_wait(from, &op);
}

static u32 own_inbox(u32 i)
{
	return BUF_SIZE / 2 + i * 512;
}

/* @count datagrams to it, of which it is told. */
static int own_exchange(struct own *own, struct end *from, struct ib_ah *ah,
			struct op *recv, u32 count)
{
	int err = 0;
	u32 i;

	own->arms = true;
	own_poll(own->end.cq, true);
	for (i = 0; i < count && !err; i++)
		err = op_recv(&own->end, own_inbox(i), GRH_LEN + OWN_LEN,
			      &recv[i]);
	for (i = 0; i < count && !err; i++)
		err = own_send(from, ah, own->end.qp->qp_num, i);
	for (i = 0; i < count && !err; i++) {
		if (!wait_for_completion_timeout(&recv[i].done,
						 msecs_to_jiffies(WAIT_MS)))
			return -ETIMEDOUT;
		err = recv[i].wc.status;
		if (!err && !filled(own->end.buf + own_inbox(i) + GRH_LEN,
				    OWN_LEN, i))
			err = -EIO;
	}
	return err;
}

/* Two after one request to be told: the handler hears of one of them. */
static int own_once(struct own *own, struct end *from, struct ib_ah *ah,
		    struct op *recv)
{
	unsigned long until = jiffies + msecs_to_jiffies(WAIT_MS);
	int err = 0, i;

	own->arms = false;
	atomic_set(&own->calls, 0);
	for (i = 0; i < 2 && !err; i++)
		err = op_recv(&own->end, own_inbox(i), GRH_LEN + OWN_LEN,
			      &recv[i]);
	for (i = 0; i < 2 && !err; i++)
		err = own_send(from, ah, own->end.qp->qp_num, i);
	while (!err && !try_wait_for_completion(&recv[1].done)) {
		own_poll(own->end.cq, false);
		if (time_after(jiffies, until))
			return -ETIMEDOUT;
		schedule_timeout_uninterruptible(1);
	}
	return err;
}

/* ib_create_cq(): who has a handler of its own. */
static void own_handler(struct end *end, struct ib_ah *ah)
{
	struct op *recv = kcalloc(OWN_MSGS, sizeof(*recv), GFP_KERNEL);
	struct own own;
	int err;

	if (!recv)
		return;
	err = own_open(&own, &end[1]);
	if (err) {
		ktest_report(false, "a CQ with a handler: %d", err);
		goto free;
	}
	err = own_exchange(&own, &end[0], ah, recv, OWN_MSGS);
	ktest_report(!err && atomic_read(&own.calls),
		     "a CQ's own handler was called %d times for %d datagrams: %d",
		     atomic_read(&own.calls), OWN_MSGS, err);
	err = err ?: own_once(&own, &end[0], ah, recv);
	ktest_report(!err && atomic_read(&own.calls) == 1,
		     "and %d times when it asked once: %d",
		     atomic_read(&own.calls), err);
	own_close(&own);
free:
	kfree(recv);
}

/* Address handles are made and given back where nobody may sleep. */
static void own_addresses(struct end *end, struct rdma_ah_attr *way)
{
	struct op recv;
	struct ib_ah *ah;
	unsigned long flags;
	int err = 0, i;

	for (i = 0; i < OWN_MSGS && !err; i++) {
		local_irq_save(flags);
		ah = rdma_create_ah(end[0].pd, way, 0);
		local_irq_restore(flags);
		if (IS_ERR(ah)) {
			err = PTR_ERR(ah);
			break;
		}
		err = op_recv(&end[1], own_inbox(0), GRH_LEN + OWN_LEN, &recv);
		err = err ?: own_send(&end[0], ah, end[1].qp->qp_num, i);
		err = err ?: op_wait(&end[1], &recv);
		local_irq_save(flags);
		rdma_destroy_ah(ah, 0);
		local_irq_restore(flags);
	}
	ktest_report(!err && i == OWN_MSGS,
		     "address handles made and given back with interrupts off: %d",
		     err);
}

void test_own(void)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_UD };
	struct rdma_ah_attr way;
	struct end end[2];
	struct ib_ah *ah;

	if (ends_open(end, &conf))
		return;
	way = ends_address(&end[0], &end[1]);
	ah = rdma_create_ah(end[0].pd, &way, RDMA_CREATE_AH_SLEEPABLE);
	if (!IS_ERR(ah)) {
		own_handler(end, ah);
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	own_addresses(end, &way);
	ends_close(end);
}
