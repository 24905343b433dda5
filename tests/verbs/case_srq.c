// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
#define PAIRS	3

/* Some connections whose receiving ends share one queue. */
struct shared {
	struct rig rig;
	struct ibv_cq *scq, *rcq;
	struct ibv_srq *srq;
	struct ibv_pd *srq_pd;
	struct ibv_mr *mr, *srq_mr;
	struct ibv_qp *from[PAIRS], *to[PAIRS];
	char *buf;		/* sends from the first page, receives into the others */
};

static struct ibv_qp *qp_on(struct shared *s, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = s->scq, .recv_cq = s->rcq, .srq = srq,
		.cap = { .max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(s->rig.pd, &init);

	if (!qp)
		die("ibv_create_qp on an SRQ: %s", strerror(errno));
	return qp;
}

static void connect_both(struct shared *s, unsigned int i)
{
	struct tuning tune = tuning_default;
	struct peer to = { .psn = 7, .gid = s->rig.gid };
	int err;

	if (s->rig.port.active_mtu < tune.mtu)
		tune.mtu = s->rig.port.active_mtu;
	to.qpn = s->to[i]->qp_num;
	err = rig_connect(&s->rig, s->from[i], &to, 7, &tune);
	to.qpn = s->from[i]->qp_num;
	err = err ?: rig_connect(&s->rig, s->to[i], &to, 7, &tune);
	if (err)
		die("connecting queue pairs: %s", strerror(err));
}

static bool shared_open(const struct setting *set, struct shared *s, uint32_t max_wr)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = 2 } };

	memset(s, 0, sizeof(*s));
	case_open(set, &s->rig);
	s->srq_pd = ibv_alloc_pd(s->rig.ctx);
	s->srq = s->srq_pd ? ibv_create_srq(s->srq_pd, &init) : NULL;
	if (!s->srq) {
		report(false, "ibv_create_srq: %s", strerror(errno));
		ibv_dealloc_pd(s->srq_pd);
		rig_close(&s->rig);
		return false;
	}
	s->buf = aligned_alloc(4096, 65 * 4096);
	s->mr = s->buf ? ibv_reg_mr(s->rig.pd, s->buf, 65 * 4096, ACCESS) : NULL;
	s->srq_mr = s->buf ? ibv_reg_mr(s->srq_pd, s->buf, 65 * 4096, ACCESS) : NULL;
	s->scq = ibv_create_cq(s->rig.ctx, 256, NULL, NULL, 0);
	s->rcq = ibv_create_cq(s->rig.ctx, 256, NULL, NULL, 0);
	if (!s->mr || !s->srq_mr || !s->scq || !s->rcq)
		die("queues: %s", strerror(errno));
	for (unsigned int i = 0; i < PAIRS; i++) {
		s->from[i] = qp_on(s, NULL);
		s->to[i] = qp_on(s, s->srq);
		connect_both(s, i);
	}
	return true;
}

static void shared_close(struct shared *s)
{
	int err = 0;

	for (unsigned int i = 0; i < PAIRS; i++)
		err = err ?: ibv_destroy_qp(s->from[i]) ?: ibv_destroy_qp(s->to[i]);
	err = err ?: ibv_destroy_srq(s->srq);
	err = err ?: ibv_destroy_cq(s->scq) ?: ibv_destroy_cq(s->rcq);
	err = err ?: ibv_dereg_mr(s->mr) ?: ibv_dereg_mr(s->srq_mr) ?: ibv_dealloc_pd(s->srq_pd);
	if (err)
		die("destroying an SRQ and what is on it: %s", strerror(err));
	rig_close(&s->rig);
	free(s->buf);
}

/* Receive number @id, into a page of its own. Returns errno. */
static int post(struct shared *s, uint64_t id, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)s->buf + (1 + id % 64) * 4096, 4096, lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return abs(ibv_post_srq_recv(s->srq, &wr, &bad));
}

static int send_on(struct shared *s, unsigned int i, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, len, s->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;

	if (ibv_post_send(s->from[i], &wr, &bad))
		die("ibv_post_send");
	return rig_wait(s->scq, &wc, 5000) == 1 ? (int)wc.status : -ETIMEDOUT;
}

/* In the order of posting, whoever receives. */
static void srq_is_shared(const struct setting *set)
{
	struct ibv_srq_attr attr;
	unsigned int good = 0;
	struct shared s;
	int err;

	if (!shared_open(set, &s, 20))
		return;
	err = ibv_query_srq(s.srq, &attr);
	report(!err && attr.max_wr >= 20 && attr.max_sge >= 2 && !attr.srq_limit,
	       "SRQ of 20: query says %d, %u WRs of %u SGEs, limit %u", err, attr.max_wr,
	       attr.max_sge, attr.srq_limit);
	for (uint64_t id = 0; id < 20; id++)
		post(&s, id, s.srq_mr->lkey);
	for (unsigned int k = 0; k < 20; k++) {
		unsigned int i = (k * 7 / 3) % PAIRS, len = 100 * k + 1;
		size_t where, wrong;
		struct ibv_wc wc;

		pattern_fill((uint8_t *)s.buf, k, 0, len);
		good += !send_on(&s, i, len) && rig_wait(s.rcq, &wc, 5000) == 1 && !wc.status &&
			wc.wr_id == k && wc.byte_len == len && wc.qp_num == s.to[i]->qp_num &&
			pattern_check((uint8_t *)s.buf + (1 + k) * 4096, k, 0, len, &where, &wrong);
	}
	report(good == 20, "SRQ: %u of 20 messages to three queue pairs, in order", good);
	err = ibv_destroy_srq(s.srq);
	report(err == EBUSY, "B34 an SRQ in use is busy: %s", strerror(err));
	/* Empty: the sender waits, and goes on. */
	post(&s, 77, s.srq_mr->lkey);
	report(!send_on(&s, 0, 8), "SRQ: one more");
	shared_close(&s);
}

/* D23: as many as fit, and no more. */
static void d23_srq_overflow(const struct setting *set)
{
	struct ibv_srq_attr attr;
	struct shared s;
	unsigned int n;

	if (!shared_open(set, &s, 10))
		return;
	ibv_query_srq(s.srq, &attr);
	for (n = 0; n < 1000 && !post(&s, n, s.srq_mr->lkey); n++)
		;
	report(n >= 10 && n <= attr.max_wr && post(&s, n, s.srq_mr->lkey) == ENOMEM,
	       "D23 an SRQ of %u takes %u receives, the next one is %s", attr.max_wr, n,
	       strerror(post(&s, n, s.srq_mr->lkey)));
	shared_close(&s);
}

/* Events of the context until none comes for @ms; how many of @type. */
static int count_events(struct ibv_context *ctx, enum ibv_event_type type, int ms)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n = 0;

	while (poll(&pfd, 1, ms) == 1 && !ibv_get_async_event(ctx, &event)) {
		n += event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return n;
}

static void d15_resize_and_limit(const struct setting *set)
{
	struct ibv_srq_attr attr = { .max_wr = 100 };
	int err, before, once, again, other;
	unsigned int good = 0;
	struct shared s;

	if (!shared_open(set, &s, 10))
		return;
	for (uint64_t id = 0; id < 8; id++)
		post(&s, id, s.srq_mr->lkey);
	err = ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR);
	memset(&attr, 0, sizeof(attr));
	ibv_query_srq(s.srq, &attr);
	report(!err && attr.max_wr >= 100, "D15 an SRQ resized to 100: %s, it has %u",
	       strerror(err), attr.max_wr);
	for (uint64_t id = 8; id < 60; id++)
		good += !post(&s, id, s.srq_mr->lkey);
	for (uint64_t id = 0; id < 20; id++) {
		struct ibv_wc wc;

		good += !send_on(&s, id % PAIRS, 50) && rig_wait(s.rcq, &wc, 5000) == 1 &&
			!wc.status && wc.wr_id == id;
	}
	report(good == 72, "D15 what was posted before and after is received in order (%u of 72)",
	       good);
	/* 40 are left. */
	attr = (struct ibv_srq_attr){ .max_wr = 20 };
	err = ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR);
	report(err == EINVAL || err == ENOMEM, "D15 less than is posted: %s", strerror(err));
	attr = (struct ibv_srq_attr){ .srq_limit = 38 };
	err = ibv_modify_srq(s.srq, &attr, IBV_SRQ_LIMIT);
	for (unsigned int i = 0; i < 2; i++)
		send_on(&s, 0, 1);
	before = count_events(s.rig.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, 200);
	for (unsigned int i = 0; i < 5; i++)
		send_on(&s, i % PAIRS, 1);
	once = count_events(s.rig.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, 300);
	ibv_query_srq(s.srq, &attr);
	other = attr.srq_limit;
	attr = (struct ibv_srq_attr){ .srq_limit = 33 };
	err = err ?: ibv_modify_srq(s.srq, &attr, IBV_SRQ_LIMIT);
	send_on(&s, 0, 1);
	again = count_events(s.rig.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, 300);
	report(!err && !before && once == 1 && again == 1 && !other,
	       "D15 limit events: %d before, %d at the limit, %d armed again; then armed at %d: %s",
	       before, once, again, other, strerror(err));
	shared_close(&s);
}

#define D15_AHEAD 200	/* receives that are posted and not used */

struct sender {
	struct shared *s;
	unsigned int pair, count;
	atomic_uint sent;
	pthread_t thread;
};

static void *send_many(void *arg)
{
	struct sender *by = arg;

	while (by->sent < by->count && !send_on(by->s, by->pair, 64))
		by->sent++;
	return NULL;
}

/* Takes what has been received: each receive once, and in order on each pair. */
static unsigned int d15_take(struct shared *s, unsigned int *got, uint8_t *seen,
			     int64_t last[PAIRS])
{
	unsigned int wrong = 0;
	struct ibv_wc wc;

	while (ibv_poll_cq(s->rcq, 1, &wc) == 1) {
		unsigned int i = 0;

		while (i < PAIRS - 1 && wc.qp_num != s->to[i]->qp_num)
			i++;
		wrong += wc.status || seen[wc.wr_id]++ || (int64_t)wc.wr_id < last[i];
		last[i] = wc.wr_id;
		++*got;
	}
	return wrong;
}

/* Another size, never less than what is posted, while three senders use it. */
static void d15_under_traffic(const struct setting *set)
{
	unsigned int count = set->full ? 20000 : 1000, all = count * PAIRS;
	unsigned int posted = 0, got = 0, wrong = 0, resized = 0;
	int64_t last[PAIRS] = { -1, -1, -1 };
	uint64_t end = now_ms() + 120000;
	struct sender by[PAIRS];
	struct shared s;
	uint8_t *seen;

	if (!shared_open(set, &s, D15_AHEAD))
		return;
	seen = calloc(all, 1);
	for (unsigned int i = 0; i < PAIRS; i++) {
		by[i] = (struct sender){ .s = &s, .pair = i, .count = count };
		pthread_create(&by[i].thread, NULL, send_many, &by[i]);
	}
	while (got < all && !wrong && now_ms() < end) {
		struct ibv_srq_attr attr = {
			.max_wr = D15_AHEAD + pattern_word(15, resized) % 1000,
		};

		while (posted < all && posted - got < D15_AHEAD && !wrong)
			wrong += !!post(&s, posted++, s.srq_mr->lkey);
		wrong += !!ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR);
		resized++;
		wrong += d15_take(&s, &got, seen, last);
	}
	for (unsigned int i = 0; i < PAIRS; i++)
		pthread_join(by[i].thread, NULL);
	report(!wrong && got == all,
	       "D15 %u times another size under traffic: %u of %u receives once and in order, %u wrong",
	       resized, got, all, wrong);
	free(seen);
	shared_close(&s);
}

static void d15_resize(const struct setting *set)
{
	d15_resize_and_limit(set);
	d15_under_traffic(set);
}

/* C15: the regions are those of the SRQ's protection domain. */
static void c15_srq_regions(const struct setting *set)
{
	struct ibv_wc wc = { 0 };
	struct shared s;
	int sent, got;

	if (!shared_open(set, &s, 10))
		return;
	post(&s, 1, s.mr->lkey);
	post(&s, 2, s.srq_mr->lkey);
	sent = send_on(&s, 0, 64);
	got = rig_wait(s.rcq, &wc, 5000) == 1 ? (int)wc.status : -ETIMEDOUT;
	report(sent == IBV_WC_REM_OP_ERR && got == IBV_WC_LOC_PROT_ERR && wc.wr_id == 1,
	       "C15 an SRQ's receive with a region of the queue pair's PD: %s, the sender: %s",
	       outcome(got), outcome(sent));
	/* The others go on. */
	sent = send_on(&s, 1, 64);
	got = rig_wait(s.rcq, &wc, 5000) == 1 ? (int)wc.status : -ETIMEDOUT;
	report(!sent && !got && wc.wr_id == 2, "C15 another queue pair takes the next one: %s",
	       outcome(got));
	shared_close(&s);
}

/*
 * What is asked for of a receive queue that a queue pair on an SRQ does not have is
 * not looked at, and there is none of it.
 */
static void srq_ignores_capacities(const struct setting *set)
{
	static const struct ibv_qp_cap caps[] = {
		{ .max_recv_wr = 0, .max_recv_sge = 0 },
		{ .max_recv_wr = 1 << 20, .max_recv_sge = 1 },
		{ .max_recv_wr = 1, .max_recv_sge = 1000 },
		{ .max_recv_wr = UINT32_MAX, .max_recv_sge = UINT32_MAX },
	};
	struct shared s;

	if (!shared_open(set, &s, 10))
		return;
	for (unsigned int i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		struct ibv_qp_init_attr init = {
			.qp_type = IBV_QPT_RC, .send_cq = s.scq, .recv_cq = s.rcq, .srq = s.srq,
			.cap = caps[i],
		};
		struct ibv_qp *qp;

		init.cap.max_send_wr = 1;
		init.cap.max_send_sge = 1;
		qp = ibv_create_qp(s.rig.pd, &init);
		report(qp && !init.cap.max_recv_wr && !init.cap.max_recv_sge,
		       "SRQ: a queue pair that asks for %u receives of %u SGEs: %s, has %u of %u",
		       caps[i].max_recv_wr, caps[i].max_recv_sge, qp ? "made" : strerror(errno),
		       init.cap.max_recv_wr, init.cap.max_recv_sge);
		if (qp)
			ibv_destroy_qp(qp);
		init.srq = NULL;
		init.cap.max_recv_wr = caps[i].max_recv_wr;
		init.cap.max_recv_sge = caps[i].max_recv_sge;
		qp = ibv_create_qp(s.rig.pd, &init);
		report(!qp == (i > 0), "without an SRQ: %s", qp ? "made" : strerror(errno));
		if (qp)
			ibv_destroy_qp(qp);
	}
	shared_close(&s);
}

/* A queue pair that ends takes nothing of the queue with it, and says when. */
static void srq_last_wqe(const struct setting *set)
{
	struct ibv_wc wc;
	struct shared s;
	int events, flushed;

	if (!shared_open(set, &s, 10))
		return;
	post(&s, 5, s.srq_mr->lkey);
	rig_to_error(s.to[0]);
	events = count_events(s.rig.ctx, IBV_EVENT_QP_LAST_WQE_REACHED, 500);
	flushed = rig_wait(s.rcq, &wc, 200);
	report(events == 1 && !flushed, "SRQ: a queue pair in ERR: %d last-WQE events, %d flushed",
	       events, flushed);
	report(!send_on(&s, 1, 8) && rig_wait(s.rcq, &wc, 5000) == 1 && wc.wr_id == 5,
	       "SRQ: its receives are for the others");
	shared_close(&s);
}

const struct test_case srq_cases[] = {
	{ "SRQ", "a shared receive queue", srq_is_shared },
	{ "D23", "an SRQ that is full", d23_srq_overflow },
	{ "D15", "its size and its limit", d15_resize },
	{ "C15", "its regions", c15_srq_regions },
	{ "SRQ_CAP", "the capacities of a queue pair on it", srq_ignores_capacities },
	{ "LAST_WQE", "the end of a queue pair on it", srq_last_wqe },
	{ 0 },
};
