// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pair 1 of both links: datagrams there, and back to whence they came. */
#include <linux/delay.h>
#include <rdma/ib_hw_stats.h>
#include <rdma/ib_mad.h>
#include "rig.h"

#define ROUNDS 20
#define LEN 256
#define GRH_LEN 40
/* Where datagrams are received. */
#define INBOX (BUF_SIZE / 2)

static const char *const families[] = {
	[KTEST_IPV4] = "IPv4",
	[KTEST_IPV6] = "IPv6",
	[KTEST_LINK_LOCAL] = "IPv6 link-local",
};

/* What nobody heard is flushed when its end is closed. */
static struct op inbox[2];

/* Of @dev, by its name; -1: there is none. */
static u64 counter(struct ib_device *dev, const char *name)
{
	struct rdma_hw_stats *stats = dev->ops.alloc_hw_port_stats(dev, 1);
	u64 value = -1;
	int i;

	if (!stats)
		return value;
	dev->ops.get_hw_stats(dev, stats, 1, stats->num_counters);
	for (i = 0; i < stats->num_counters; i++)
		if (!strcmp(stats->descs[i].name, name))
			value = stats->value[i];
	rdma_free_hw_stats_struct(stats);
	return value;
}

/* Datagrams come in at their own time. */
static bool counted(struct ib_device *dev, const char *name, u64 wanted)
{
	int ms;

	for (ms = 0; counter(dev, name) != wanted && ms < WAIT_MS; ms += 20)
		msleep(20);
	return counter(dev, name) == wanted;
}

/* To queue pair @qpn there. */
static int send(struct end *end, struct ib_ah *ah, u32 qpn, u32 qkey, u32 seed)
{
	struct ib_sge sge = ends_sge(end, 0, LEN);
	struct ib_ud_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 },
		.ah = ah,
		.remote_qpn = qpn,
		.remote_qkey = qkey,
		.port_num = 1,
	};
	struct op op;
	int err;

	fill(end->buf, LEN, seed);
	err = op_send(end, &wr.wr, &op);
	return err ?: op_wait(end, &op);
}

static int listen(struct end *end, struct op *recv)
{
	return op_recv(end, INBOX, GRH_LEN + LEN, recv);
}

/* What @recv waits for, from queue pair @qpn there. */
static int hear(struct end *end, struct op *recv, u32 qpn, u32 seed)
{
	const struct ib_wc *wc = &recv->wc;
	bool ipv4 = end->kind == KTEST_IPV4;
	int err = op_wait(end, recv);

	if (err)
		return err;
	return wc->byte_len == GRH_LEN + LEN && wc->src_qp == qpn &&
	       wc->qp == end->qp && wc->port_num == 1 && !wc->pkey_index &&
	       wc->wc_flags & IB_WC_GRH &&
	       wc->network_hdr_type == (ipv4 ? RDMA_NETWORK_IPV4 :
					       RDMA_NETWORK_IPV6) &&
	       filled(end->buf + INBOX + GRH_LEN, LEN, seed) ? 0 : -EIO;
}

/* The address is made from what was received. */
static int answer(struct end *end, const struct op *recv, u32 seed)
{
	const struct ib_grh *grh = (const void *)(end->buf + INBOX);
	struct ib_ah *ah;
	int err;

	ah = ib_create_ah_from_wc(end->pd, &recv->wc, grh, recv->wc.port_num);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	err = send(end, ah, recv->wc.src_qp, IB_QP_SET_QKEY, seed);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return err;
}

static int ask_and_answer(struct end *from, struct end *to, struct ib_ah *ah,
			  u32 seed)
{
	struct op *there = &inbox[0], *back = &inbox[1];
	int err;

	err = listen(to, there) ?: listen(from, back);
	err = err ?: send(from, ah, 1, IB_QP_SET_QKEY, seed);
	err = err ?: hear(to, there, 1, seed);
	err = err ?: answer(to, there, seed + 1);
	return err ?: hear(from, back, 1, seed + 1);
}

static void exchange(struct end *end, struct ib_ah *const ah[2])
{
	const char *family = families[end[0].kind];
	int err = 0, i;

	for (i = 0; i < ROUNDS && !err; i++)
		err = ask_and_answer(&end[i & 1], &end[!(i & 1)], ah[i & 1],
				     2 * i);
	ktest_report(!err, "GSI, %s: there and back: %d in round %d of %d",
		     family, err, i, ROUNDS);
}

/* Who has not the Q_Key of queue pair 1 cannot claim it in a work request. */
static void strangers(struct end *end)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_UD };
	struct ib_qp_attr attr = { .qkey = IB_QP1_QKEY };
	u64 before = counter(end[1].dev, "drop_qkey");
	struct rdma_ah_attr way;
	struct end ud[2];
	struct op *recv = &inbox[0];
	struct ib_ah *ah;
	bool refused;
	int err;

	if (ends_open(ud, &conf))
		return;
	way = ends_address(&ud[0], &ud[1]);
	ah = rdma_create_ah(ud[0].pd, &way, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah)) {
		ktest_report(false, "an address handle: %ld", PTR_ERR(ah));
		goto close;
	}
	err = listen(&end[1], recv);
	err = err ?: send(&ud[0], ah, 1, IB_QP1_QKEY, 1);
	err = err ?: send(&ud[0], ah, 1, QKEY, 2);
	refused = !err && counted(end[1].dev, "drop_qkey", before + 2) &&
		  !completion_done(&recv->done);
	err = err ?: ib_modify_qp(ud[0].qp, &attr, IB_QP_QKEY);
	err = err ?: send(&ud[0], ah, 1, IB_QP1_QKEY, 3);
	err = err ?: hear(&end[1], recv, ud[0].qp->qp_num, 3);
	ktest_report(refused && !err, "GSI: a UD queue pair needs the Q_Key: %s, then %d",
		     refused ? "dropped" : "not dropped", err);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
close:
	ends_close(ud);
}

static void only_one(struct end *end)
{
	struct ib_qp_init_attr init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = IB_QPT_GSI,
		.port_num = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	long second, smi, port;

	second = PTR_ERR(ib_create_qp(end->pd, &init));
	init.port_num = 2;
	port = PTR_ERR(ib_create_qp(end->pd, &init));
	init.port_num = 1;
	init.qp_type = IB_QPT_SMI;
	smi = PTR_ERR(ib_create_qp(end->pd, &init));
	ktest_report(end->qp->qp_num == 1 && second == -EBUSY &&
		     port == -EINVAL && smi == -EOPNOTSUPP,
		     "GSI: QP %u, a second one: %ld, of port 2: %ld, SMI: %ld",
		     end->qp->qp_num, second, port, smi);
}

/* There is one link without it now. */
static void nobody_there(struct end *end, struct ib_ah *const ah[2])
{
	u64 before = counter(end[1].dev, "drop_no_qp");
	int err;

	err = ib_destroy_qp(end[1].qp);
	end[1].qp = NULL;
	err = err ?: send(&end[0], ah[0], 1, IB_QP_SET_QKEY, 1);
	err = err ?: send(&end[0], ah[0], 1, IB_QP_SET_QKEY, 2);
	ktest_report(!err && counted(end[1].dev, "drop_no_qp", before + 2),
		     "GSI, %s: to a link without queue pair 1: %d, %llu of 2 counted",
		     families[end[0].kind], err,
		     counter(end[1].dev, "drop_no_qp") - before);
}

static void test_family(enum ktest_address kind)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_GSI,
					.kind = kind };
	struct ib_ah *ah[2] = {};
	struct rdma_ah_attr way;
	struct end end[2];
	int i;

	if (ends_open(end, &conf))
		return;
	for (i = 0; i < 2; i++) {
		way = ends_address(&end[i], &end[!i]);
		ah[i] = rdma_create_ah(end[i].pd, &way,
				       RDMA_CREATE_AH_SLEEPABLE);
		if (IS_ERR(ah[i])) {
			ktest_report(false, "GSI, %s: an address handle: %ld",
				     families[kind], PTR_ERR(ah[i]));
			goto destroy;
		}
	}
	exchange(end, ah);
	if (kind == KTEST_IPV4) {
		strangers(end);
		only_one(&end[0]);
	}
	nobody_there(end, ah);
destroy:
	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(ah[i]))
			rdma_destroy_ah(ah[i], RDMA_DESTROY_AH_SLEEPABLE);
	ends_close(end);
}

void test_gsi(void)
{
	enum ktest_address kind;

	for (kind = KTEST_IPV4; kind <= KTEST_LINK_LOCAL; kind++)
		test_family(kind);
}

/* ---- one that lives until its link goes ---- */

static struct end last;

void gsi_stay(void)
{
	const struct ends_conf conf = { IB_POLL_SOFTIRQ, IB_QPT_GSI };
	int err = end_open(&last, ktest_dev[0], &conf);

	err = err ?: end_ready(&last);
	err = err ?: listen(&last, &inbox[0]);
	if (!ktest_report(!err, "GSI: one that stays: %d", err))
		end_close(&last);
}

void gsi_leave(struct ib_device *dev)
{
	if (!last.qp || last.dev != dev)
		return;
	ib_drain_qp(last.qp);
	ktest_report(completion_done(&inbox[0].done) &&
		     inbox[0].wc.status == IB_WC_WR_FLUSH_ERR,
		     "GSI: what it had is flushed when its link goes");
	end_close(&last);
}
