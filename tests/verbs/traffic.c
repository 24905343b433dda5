// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Traffic that goes on until something happens to it, and what happened.
 *
 *   traffic --server -d DEV -p PORT --expect none|retry|fatal
 *   traffic --client HOST -d DEV -p PORT --expect ...
 *   traffic --hold N -d DEV
 *
 * Each side keeps SENDs, WRITEs and READs outstanding on each queue pair and
 * prints "# done N" while they end. It stops at the first of
 *
 *   SIGTERM                 what "none" expects
 *   a failed completion     "retry": the peer is silent. The oldest request
 *                           fails, all behind it are flushed in their order
 *   IBV_EVENT_DEVICE_FATAL  "fatal": from then on every call gives EIO, and so
 *                           does a read of the completion channel
 *
 * Findings are printed, and the status is 0 when it was as expected. --hold
 * makes N queue pairs and waits: so much does a leak of N weigh.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "rig.h"

#define MAX_QPS	256
#define DEPTH	6
#define ROOM	16384u	/* of a queue pair in each of three parts of the buffer */
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define RECV_ID	(1ull << 63)

enum expect { EXPECT_NONE, EXPECT_RETRY, EXPECT_FATAL };

struct flow {
	struct ibv_qp *qp;
	uint64_t posted, done;		/* sends; also their wr_id */
	uint64_t recv_posted, recv_done;
	enum ibv_wc_status failed;	/* of the first send that did */
	enum ibv_wc_status recv_failed;
};

struct traffic {
	struct rig rig;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *quiet;
	struct ibv_mr *mr;
	char *buf;
	uint64_t remote;
	uint32_t rkey;
	struct flow flow[MAX_QPS];
	unsigned int qps, failed, wrong;
	uint64_t done;
	bool fatal, dead;
};

struct hello {
	union ibv_gid gid;
	uint64_t base;
	uint32_t rkey, qpn[MAX_QPS];
};

static _Atomic bool stop;

static void on_term(int sig)
{
	(void)sig;
	stop = true;
}

/* Part 0 is sent from, 1 received into, 2 the peer's WRITEs and READs' target. */
static uint64_t room_of(const struct traffic *t, unsigned int qp, unsigned int part)
{
	return ((uint64_t)part * t->qps + qp) * ROOM;
}

static void open_all(struct traffic *t, const struct tuning *tune)
{
	size_t len = room_of(t, 0, 3);

	/* Room for everything that can be outstanding: nothing overflows. */
	t->buf = aligned_alloc(4096, len);
	t->channel = ibv_create_comp_channel(t->rig.ctx);
	if (!t->buf || !t->channel)
		die("memory and a channel: %s", strerror(errno));
	memset(t->buf, 7, len);
	t->mr = ibv_reg_mr(t->rig.pd, t->buf, len, ACCESS);
	t->cq = ibv_create_cq(t->rig.ctx, t->qps * 3 * DEPTH + 1, NULL, NULL, 0);
	t->quiet = ibv_create_cq(t->rig.ctx, 1, NULL, t->channel, 0);
	if (!t->mr || !t->cq || !t->quiet)
		die("memory region and CQs: %s", strerror(errno));
	for (unsigned int i = 0; i < t->qps; i++) {
		t->flow[i].qp = rig_qp(&t->rig, IBV_QPT_RC, t->cq, t->cq, tune);
		if (!t->flow[i].qp)
			die("ibv_create_qp: %s", strerror(errno));
	}
}

static int post_recv(struct traffic *t, unsigned int i)
{
	struct ibv_sge sge = {
		(uintptr_t)t->buf + room_of(t, i, 1), ROOM, t->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = RECV_ID | t->flow[i].recv_posted << 10 | i, .sg_list = &sge, .num_sge = 1,
	}, *bad;
	int err = ibv_post_recv(t->flow[i].qp, &wr, &bad);

	if (!err)
		t->flow[i].recv_posted++;
	return err;
}

static int post_send(struct traffic *t, unsigned int i)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	static const uint32_t sizes[] = { 64, 4096, ROOM, 1, 1500 };
	struct flow *f = &t->flow[i];
	struct ibv_sge sge = {
		(uintptr_t)t->buf + room_of(t, i, 0), sizes[f->posted % 5], t->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = f->posted << 10 | i, .sg_list = &sge, .num_sge = 1,
		.opcode = ops[f->posted % 3], .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { t->remote + room_of(t, i, 2), t->rkey },
	}, *bad;
	int err = ibv_post_send(f->qp, &wr, &bad);

	/*
	 * The library has put it into the ring before it asks the kernel: on a
	 * device that ends right now it may still run.
	 */
	if (err == EIO)
		t->dead = true;
	if (!err || err == EIO)
		f->posted++;
	return err;
}

static void setup(struct traffic *t, int wire, const struct tuning *tune)
{
	struct hello mine = { .gid = t->rig.gid }, theirs;
	char c = 0;

	mine.base = (uintptr_t)t->buf;
	mine.rkey = t->mr->rkey;
	for (unsigned int i = 0; i < t->qps; i++)
		mine.qpn[i] = t->flow[i].qp->qp_num;
	if (!wire_swap(wire, &mine, &theirs, sizeof(mine)))
		die("the peer is gone before the start");
	t->remote = theirs.base;
	t->rkey = theirs.rkey;
	for (unsigned int i = 0; i < t->qps; i++) {
		struct peer to = { .qpn = theirs.qpn[i], .psn = 77, .gid = theirs.gid };
		int err = rig_connect(&t->rig, t->flow[i].qp, &to, 77, tune);

		for (unsigned int n = 0; n < 2 * DEPTH && !err; n++)
			err = post_recv(t, i);
		if (err)
			die("connecting a queue pair: %s", strerror(err));
	}
	if (!wire_swap(wire, &c, &c, 1))
		die("the peer is gone before the start");
	close(wire);
}

static void wrong(struct traffic *t, const struct ibv_wc *wc, const char *what)
{
	if (!t->wrong++)
		report(false, "%s: wr_id %llx, %s", what, (unsigned long long)wc->wr_id,
		       ibv_wc_status_str(wc->status));
}

/* One kind of queue ends in order: successes, one failure, flushes. */
static void in_order(struct traffic *t, const struct ibv_wc *wc, uint64_t *done,
		     enum ibv_wc_status *failed)
{
	uint64_t serial = (wc->wr_id & ~RECV_ID) >> 10;

	if (serial != (*done)++)
		wrong(t, wc, "a completion out of order");
	if (*failed && wc->status != IBV_WC_WR_FLUSH_ERR)
		wrong(t, wc, "not flushed behind a failure");
	if (!*failed && wc->status) {
		*failed = wc->status;
		t->failed++;
	}
	if (!wc->status)
		t->done++;
}

static void take(struct traffic *t, const struct ibv_wc *wc)
{
	unsigned int i = wc->wr_id & 1023;
	struct flow *f = &t->flow[i];

	if (!(wc->wr_id & RECV_ID)) {
		in_order(t, wc, &f->done, &f->failed);
		return;
	}
	in_order(t, wc, &f->recv_done, &f->recv_failed);
	if (wc->status && wc->status != IBV_WC_WR_FLUSH_ERR)
		wrong(t, wc, "a receive that failed by itself");
	if (!wc->status)
		post_recv(t, i);
}

static unsigned int poll_all(struct traffic *t)
{
	struct ibv_wc wc[32];
	int n = ibv_poll_cq(t->cq, 32, wc);

	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	for (int i = 0; i < n; i++)
		take(t, &wc[i]);
	return n;
}

static void look_for_events(struct traffic *t)
{
	struct pollfd pfd = { .fd = t->rig.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&pfd, 1, 0) > 0 && !ibv_get_async_event(t->rig.ctx, &event)) {
		note("event %s", ibv_event_type_str(event.event_type));
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			t->fatal = true;
		ibv_ack_async_event(&event);
		if (t->fatal)
			break;
	}
}

static void run(struct traffic *t, unsigned int seconds)
{
	uint64_t began = now_ms(), told = began, done = 0;

	for (unsigned int round = 0; !stop && !t->fatal && !t->failed; round++) {
		uint64_t now = now_ms();

		for (unsigned int i = 0; i < t->qps; i++)
			while (!t->dead && t->flow[i].posted - t->flow[i].done < DEPTH &&
			       !post_send(t, i))
				;
		/* Others need the processor to do their harm. */
		if (!poll_all(t))
			usleep(1000);
		if (round % 64 == 0 || now - told >= 100)
			look_for_events(t);
		if (now - told >= 100 && t->done != done) {
			note("done %llu", (unsigned long long)t->done);
			told = now;
			done = t->done;
		}
		if (now - began > seconds * 1000ull) {
			report(false, "nothing happened in %u s, %llu done", seconds,
			       (unsigned long long)t->done);
			break;
		}
	}
}

static const char *name_of(enum ibv_wc_status status)
{
	return status ? ibv_wc_status_str(status) : "nothing";
}

/* Each queue pair has failed by itself, and nothing of it is missing. */
static void check_retry(struct traffic *t)
{
	uint64_t end = now_ms() + 60000;
	unsigned int i = 0;

	while (i < t->qps && now_ms() < end) {
		struct flow *f = &t->flow[i];

		/* A queue pair that was idle at that moment needs a request. */
		if (!f->failed && f->posted - f->done < DEPTH)
			post_send(t, i);
		if (!poll_all(t))
			usleep(1000);
		if (f->failed && f->done == f->posted && f->recv_done == f->recv_posted)
			i++;
	}
	for (i = 0; i < t->qps; i++) {
		struct flow *f = &t->flow[i];

		if (f->failed != IBV_WC_RETRY_EXC_ERR || f->done != f->posted ||
		    f->recv_done != f->recv_posted) {
			report(false, "QP %u: %s, %llu of %llu sends and %llu of %llu receives ended",
			       i, name_of(f->failed), (unsigned long long)f->done,
			       (unsigned long long)f->posted, (unsigned long long)f->recv_done,
			       (unsigned long long)f->recv_posted);
			return;
		}
	}
	report(!t->wrong, "%u queue pairs: the oldest request failed for want of answers, the rest was flushed in order",
	       t->qps);
}

static bool is_eio(const char *what, int err)
{
	if (err == EIO)
		return true;
	report(false, "%s on the dead device: %s", what, err ? strerror(err) : "succeeded");
	return false;
}

static void check_fatal(struct traffic *t)
{
	struct ibv_port_attr port;
	uint64_t end = now_ms() + 30000;
	struct ibv_cq *cq;
	void *context;
	int got, err;
	bool good;

	/* The event comes first, then the commands under way end. */
	do
		err = ibv_query_port(t->rig.ctx, 1, &port);
	while (!err && now_ms() < end);
	good = is_eio("ibv_query_port", err);
	good &= is_eio("ibv_modify_qp", rig_to_error(t->flow[0].qp));
	errno = 0;
	cq = ibv_create_cq(t->rig.ctx, 4, NULL, NULL, 0);
	good &= is_eio("ibv_create_cq", cq ? 0 : errno);
	errno = 0;
	got = ibv_get_cq_event(t->channel, &cq, &context);
	good &= is_eio("ibv_get_cq_event", got ? errno : 0);
	/* Until the ring is full, a dead doorbell says so. */
	while (poll_all(t))
		;
	for (unsigned int i = 0; i < t->qps; i++)
		/* The network may have been silent for a while before. */
		if (t->flow[i].failed && t->flow[i].failed != IBV_WC_WR_FLUSH_ERR &&
		    t->flow[i].failed != IBV_WC_RETRY_EXC_ERR)
			wrong(t, &(struct ibv_wc){ .wr_id = i, .status = t->flow[i].failed },
			      "a request failed on the dead device");
	err = post_send(t, 0);
	good &= err == ENOMEM || is_eio("ibv_post_send", err);
	report(good && !t->wrong, "the device is dead in an orderly way");
}

static void end_checks(struct traffic *t, enum expect expect)
{
	static const char *const names[] = { "nothing", "silence", "the device's end" };
	enum expect saw = t->fatal ? EXPECT_FATAL : t->failed ? EXPECT_RETRY : EXPECT_NONE;

	/* A device that ends may still have flushed something first. */
	if (saw == EXPECT_RETRY && expect == EXPECT_FATAL) {
		for (uint64_t end = now_ms() + 30000; !t->fatal && now_ms() < end;) {
			usleep(10000);
			look_for_events(t);
		}
		saw = t->fatal ? EXPECT_FATAL : saw;
	}
	if (saw != expect) {
		report(false, "expected %s, saw %s", names[expect], names[saw]);
		for (unsigned int i = 0; i < t->qps; i++)
			if (t->flow[i].failed)
				note("QP %u: request %llu: %s", i,
				     (unsigned long long)t->flow[i].done - 1,
				     name_of(t->flow[i].failed));
		return;
	}
	if (saw == EXPECT_RETRY)
		check_retry(t);
	else if (saw == EXPECT_FATAL)
		check_fatal(t);
	else
		report(!t->wrong && t->done, "traffic until told to stop: %llu",
		       (unsigned long long)t->done);
}

static enum expect expect_from(const char *name)
{
	if (!strcmp(name, "none"))
		return EXPECT_NONE;
	if (!strcmp(name, "retry"))
		return EXPECT_RETRY;
	if (!strcmp(name, "fatal"))
		return EXPECT_FATAL;
	die("--expect %s is not none, retry or fatal", name);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "server", 0, NULL, 'S' }, { "client", 1, NULL, 'C' }, { "dev", 1, NULL, 'd' },
		{ "gid", 1, NULL, 'g' }, { "port", 1, NULL, 'p' }, { "qps", 1, NULL, 'q' },
		{ "expect", 1, NULL, 'e' }, { "hold", 1, NULL, 'H' }, { "retry", 1, NULL, 'r' },
		{ "seconds", 1, NULL, 's' }, { "timeout", 1, NULL, 't' }, { 0 },
	};
	struct tuning tune = tuning_default;
	const char *host = NULL, *dev = "", *gid = "v4", *port = "18600";
	enum expect expect = EXPECT_NONE;
	unsigned int hold = 0, seconds = 120;
	static struct traffic t;
	int ch;

	/* 67 ms: silence is noticed after one to two seconds. */
	tune.timeout = 14;
	tune.retry_cnt = 5;
	tune.depth = 2 * DEPTH;
	t.qps = 4;
	while ((ch = getopt_long(argc, argv, "d:g:p:q:e:r:s:t:", longs, NULL)) != -1) {
		switch (ch) {
		case 'S':
			host = NULL;
			break;
		case 'C':
			host = optarg;
			break;
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid = optarg;
			break;
		case 'p':
			port = optarg;
			break;
		case 'q':
			t.qps = strtoul(optarg, NULL, 0);
			break;
		case 'e':
			expect = expect_from(optarg);
			break;
		case 'H':
			hold = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			tune.retry_cnt = strtoul(optarg, NULL, 0);
			break;
		case 't':
			tune.timeout = strtoul(optarg, NULL, 0);
			break;
		case 's':
			seconds = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (hold)
		t.qps = hold;
	if (!t.qps || t.qps > MAX_QPS)
		die("--qps and --hold take 1 to %u", MAX_QPS);
	watchdog(seconds + 120);
	watchdog_about("traffic");
	signal(SIGTERM, on_term);
	rig_open(&t.rig, dev, gid);
	if (t.rig.port.active_mtu < tune.mtu)
		tune.mtu = t.rig.port.active_mtu;
	open_all(&t, &tune);
	if (hold) {
		note("holding %u", hold);
		while (!stop)
			pause();
		return 0;
	}
	setup(&t, host ? wire_connect(host, port, 60) : wire_listen_accept(port, 60), &tune);
	note("running");
	run(&t, seconds);
	end_checks(&t, expect);
	return report_status();
}
