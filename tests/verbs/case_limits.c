// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * More than there is room for, kinds that there are not, and what is in use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* ------------------------------------------------------------------ D04 */

static void d04_sends(const struct setting *set, const char *what, struct ibv_send_wr *third)
{
	struct ibv_sge sge[64];
	struct ibv_send_wr wr[4] = { 0 }, *bad = NULL;
	struct ibv_wc wc = { 0 };
	unsigned int done = 0;
	struct pair p;
	int err;

	pair_open(set, &p, 8192);
	for (int i = 0; i < 64; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)p.buf + 64 * (i & 1), 64, p.mr->lkey };
	for (int i = 0; i < 4; i++) {
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .sg_list = &sge[i & 1], .num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)p.buf + 4096 + 64 * i, p.mr->rkey },
			.next = i < 3 ? &wr[i + 1] : NULL,
		};
	}
	memset(p.buf, 0x5a, 128);
	wr[2].num_sge = third->num_sge ?: 1;
	wr[2].sg_list = sge;
	wr[2].opcode = third->opcode ?: IBV_WR_RDMA_WRITE;
	wr[2].send_flags |= third->send_flags;
	err = ibv_post_send(p.qp[0], wr, &bad);
	while (done < 2 && rig_wait(p.cq, &wc, 10000) == 1 && !wc.status && wc.wr_id == done)
		done++;
	report(err > 0 && bad == &wr[2] && done == 2 && p.buf[4096] == 0x5a &&
	       p.buf[4096 + 127] == 0x5a && !p.buf[4096 + 128],
	       "D04 good, good, %s: %s, bad_wr is number %td, %u complete", what,
	       err ? strerror(abs(err)) : "accepted", bad ? bad - wr + 1 : 0, done);
	report(!rig_wait(p.cq, &wc, 100), "D04 and no more than these");
	report(!pair_write(&p, (uintptr_t)p.buf + 4096 + 128, p.mr->rkey, 64),
	       "D04 and the queue pair goes on");
	pair_close(&p);
}

static void d04_receives(const struct setting *set)
{
	struct ibv_recv_wr wr[4] = { 0 }, *bad = NULL;
	struct ibv_sge sge[64];
	unsigned int done = 0;
	struct ibv_wc wc;
	struct pair p;
	int err;

	pair_open(set, &p, 8192);
	for (int i = 0; i < 64; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)p.buf + 4096, 64, p.mr->lkey };
	for (int i = 0; i < 4; i++)
		wr[i] = (struct ibv_recv_wr){
			.wr_id = 100 + i, .sg_list = sge, .num_sge = i == 2 ? 64 : 1,
			.next = i < 3 ? &wr[i + 1] : NULL,
		};
	err = ibv_post_recv(p.qp[1], wr, &bad);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc got[2] = { 0 };

		if (pair_do(&p, IBV_WR_SEND, sge, 1, 0, 0, 10000, &got[0]) < 0 ||
		    rig_wait(p.cq, &got[1], 10000) != 1)
			break;
		done += !got[0].status && !got[1].status &&
			(got[0].wr_id == 100u + i || got[1].wr_id == 100u + i);
	}
	report(err > 0 && bad == &wr[2] && done == 2 && !ibv_poll_cq(p.cq, 1, &wc),
	       "D04 receives, good, good, too many SGEs: %s, bad_wr is number %td, %u complete",
	       err ? strerror(abs(err)) : "accepted", bad ? bad - wr + 1 : 0, done);
	pair_close(&p);
}

static void d04_lists(const struct setting *set)
{
	d04_sends(set, "too many SGEs", &(struct ibv_send_wr){ .num_sge = 64 });
	d04_sends(set, "too much inline",
		  &(struct ibv_send_wr){ .num_sge = 32, .send_flags = IBV_SEND_INLINE });
	d04_receives(set);
}

/* ------------------------------------------------------------------ D23 */

/* Without a receive at the other end nothing leaves the queue. */
static void d23_send_overflow(const struct setting *set)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	unsigned int posted = 0, flushed = 0;
	struct ibv_send_wr *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	int err = 0;

	pair_open(set, &p, 8192);
	if (ibv_query_qp(p.qp[0], &attr, IBV_QP_CAP, &init))
		die("D23 ibv_query_qp");
	sge = (struct ibv_sge){ (uintptr_t)p.buf, 64, p.mr->lkey };
	while (posted < 10000) {
		struct ibv_send_wr wr = {
			.wr_id = posted, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};

		err = ibv_post_send(p.qp[0], &wr, &bad);
		if (err)
			break;
		posted++;
	}
	report(err == ENOMEM && posted >= init.cap.max_send_wr && posted < 10000,
	       "D23 a send queue of %u takes %u requests, the next one: %s", init.cap.max_send_wr,
	       posted, strerror(abs(err)));
	rig_to_error(p.qp[0]);
	while (flushed < posted && rig_wait(p.cq, &wc, 5000) == 1 && wc.wr_id == flushed)
		flushed++;
	report(flushed == posted, "D23 each of these ends: %u of %u", flushed, posted);
	pair_close(&p);
}

static void d23_unknown_type(const struct setting *set)
{
	static const unsigned int types[] = { 0, 1, 5, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND,
					      77, IBV_QPT_DRIVER,
					      0xffffffff };
	struct tuning tune = tuning_default;
	struct pair p;

	pair_open(set, &p, 4096);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct ibv_qp *qp;

		errno = 0;
		qp = rig_qp(&p.rig, types[i], p.cq, p.cq, &tune);
		report(!qp && (errno == EINVAL || errno == EOPNOTSUPP || errno == EPERM),
		       "D23 a queue pair of type %u: %s", types[i], qp ? "made" : strerror(errno));
		if (qp)
			ibv_destroy_qp(qp);
	}
	pair_close(&p);
}

/* A queue without a channel has nowhere to send an event. */
static void d23_no_channel(const struct setting *set)
{
	struct pair p;
	int err;

	if (set->foreign) {
		report_skip("accepted there", "D23 arming a queue without a channel");
		return;
	}
	pair_open(set, &p, 8192);
	err = abs(ibv_req_notify_cq(p.cq, 0));
	report(err == EINVAL, "D23 arming a queue without a channel: %s",
	       err ? strerror(err) : "accepted");
	err = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey, 64);
	report(!err, "D23 the queue works as before: %s", outcome(err));
	pair_close(&p);
}

/*
 * The library waits in ibv_destroy_cq() until as many events are acknowledged as
 * the kernel says it gave: with the right number it must not wait. (With more it
 * waits for ever, whatever the kernel says: the library counts for itself.)
 */
static void d23_acknowledged(const struct setting *set)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *from;
	void *context;
	struct pair p;
	unsigned int n, rounds = 5;
	int err = 0;

	pair_open(set, &p, 8192);
	channel = ibv_create_comp_channel(p.rig.ctx);
	cq = channel ? ibv_create_cq(p.rig.ctx, 64, NULL, channel, 0) : NULL;
	if (!cq || ibv_destroy_qp(p.qp[0]))
		die("D23 a channel: %s", strerror(errno));
	p.qp[0] = rig_qp(&p.rig, IBV_QPT_RC, cq, p.cq, &tuning_default);
	if (!p.qp[0])
		die("D23 ibv_create_qp: %s", strerror(errno));
	for (n = 0; n < rounds && !err; n++) {
		struct ibv_send_wr wr = { .wr_id = n, .opcode = IBV_WR_SEND,
					  .send_flags = IBV_SEND_SIGNALED }, *bad;

		/* In ERR each request is a completion. */
		err = n ? 0 : rig_to_error(p.qp[0]);
		err = err ?: ibv_req_notify_cq(cq, 0);
		err = err ?: ibv_post_send(p.qp[0], &wr, &bad);
		err = err ?: ibv_get_cq_event(channel, &from, &context);
	}
	if (err)
		die("D23 event %u: %s", n, strerror(abs(err)));
	ibv_ack_cq_events(cq, rounds);
	err = ibv_destroy_qp(p.qp[0]) ?: ibv_destroy_cq(cq);
	report(!err, "D23 %u events acknowledged at once: the queue goes: %s", rounds,
	       strerror(err));
	ibv_destroy_comp_channel(channel);
	p.qp[0] = rig_qp(&p.rig, IBV_QPT_RC, p.cq, p.cq, &tuning_default);
	pair_close(&p);
}

static void d23_limits(const struct setting *set)
{
	d23_send_overflow(set);
	d23_unknown_type(set);
	d23_no_channel(set);
	d23_acknowledged(set);
}

/* ------------------------------------------------------------------ B34 */

static void b34_busy(const char *what, int err)
{
	report(abs(err) == EBUSY, "B34 %s: %s", what, err ? strerror(abs(err)) : "destroyed");
}

static void b34_in_use(const struct setting *set)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct pair p;
	int err;

	pair_open(set, &p, 8192);
	b34_busy("a CQ with queue pairs", ibv_destroy_cq(p.cq));
	b34_busy("a PD with queue pairs and regions", ibv_dealloc_pd(p.rig.pd));
	pd = ibv_alloc_pd(p.rig.ctx);
	srq = pd ? ibv_create_srq(pd, &attr) : NULL;
	channel = ibv_create_comp_channel(p.rig.ctx);
	cq = channel ? ibv_create_cq(p.rig.ctx, 8, NULL, channel, 0) : NULL;
	if (!srq || !cq)
		die("B34 objects: %s", strerror(errno));
	b34_busy("a PD with an SRQ", ibv_dealloc_pd(pd));
	b34_busy("a channel with a CQ", ibv_destroy_comp_channel(channel));
	err = ibv_destroy_srq(srq) ?: ibv_dealloc_pd(pd) ?: ibv_destroy_cq(cq) ?:
	      ibv_destroy_comp_channel(channel);
	report(!err, "B34 in the right order they go: %s", strerror(err));
	err = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey, 64);
	report(!err, "B34 what was refused to go still works: %s", outcome(err));
	pair_close(&p);
}

const struct test_case limits_cases[] = {
	{ "D04", "a list whose third request is bad", d04_lists },
	{ "D23", "overflow and unknown types", d23_limits },
	{ "B34", "what is in use is not destroyed", b34_in_use },
	{ 0 },
};
