// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Holds a device open and tells its asynchronous events.
 *
 *   events -d DEV --want PORT_ERR,PORT_ACTIVE [--seconds 10] [--dead] [--traffic]
 *
 * Prints "# ready" once it listens, then "# event NAME" for each event, and
 * ends when the wanted ones came, in their order (others may come between).
 * --traffic keeps a queue pair busy with RDMA WRITEs to itself meanwhile.
 * --dead checks, after them, that the device is gone in an orderly way: every
 * call ends with EIO, one that waited as well, polling and the mapped rings still
 * work, closing works.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"
#include "rig.h"

static const struct {
	enum ibv_event_type type;
	const char *name;
} names[] = {
	{ IBV_EVENT_DEVICE_FATAL, "DEVICE_FATAL" },
	{ IBV_EVENT_PORT_ACTIVE, "PORT_ACTIVE" },
	{ IBV_EVENT_PORT_ERR, "PORT_ERR" },
	{ IBV_EVENT_GID_CHANGE, "GID_CHANGE" },
	{ IBV_EVENT_QP_FATAL, "QP_FATAL" },
	{ IBV_EVENT_CQ_ERR, "CQ_ERR" },
	{ IBV_EVENT_SQ_DRAINED, "SQ_DRAINED" },
	{ IBV_EVENT_COMM_EST, "COMM_EST" },
};

struct traffic {
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;	/* of a CQ without a completion */
	struct ibv_cq *quiet;
	pthread_t reader;			/* waits at that channel */
	int reader_err;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *buf;
	unsigned long done;
};

static const char *event_name(enum ibv_event_type type)
{
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].type == type)
			return names[i].name;
	return ibv_event_type_str(type);
}

static void traffic_start(struct rig *rig, struct traffic *t, bool busy)
{
	struct tuning tune = tuning_default;
	struct peer self;
	int err;

	t->buf = aligned_alloc(4096, 8192);
	t->mr = t->buf ? ibv_reg_mr(rig->pd, t->buf, 8192, IBV_ACCESS_LOCAL_WRITE |
							   IBV_ACCESS_REMOTE_WRITE) : NULL;
	/* Room for all that both queues can hold: nothing overflows. */
	t->cq = ibv_create_cq(rig->ctx, 2 * tune.depth, NULL, NULL, 0);
	t->qp = t->cq ? rig_qp(rig, IBV_QPT_RC, t->cq, t->cq, &tune) : NULL;
	t->channel = ibv_create_comp_channel(rig->ctx);
	t->quiet = t->channel ? ibv_create_cq(rig->ctx, 4, NULL, t->channel, 0) : NULL;
	if (!t->mr || !t->qp || !t->quiet)
		die("queue pair, memory and channel: %s", strerror(errno));
	if (!busy)
		return;
	self = (struct peer){ .qpn = t->qp->qp_num, .psn = 7, .gid = rig->gid };
	err = rig_connect(rig, t->qp, &self, 7, &tune);
	if (err)
		die("connecting a queue pair to itself: %s", strerror(err));
}

/* Posts one WRITE and polls what there is. Returns what the post returned. */
static int traffic_step(struct traffic *t)
{
	struct ibv_sge sge = { (uintptr_t)t->buf, 4096, t->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)t->buf + 4096, t->mr->rkey },
	}, *bad;
	struct ibv_wc wc[16];
	int err = ibv_post_send(t->qp, &wr, &bad);
	int n;

	while ((n = ibv_poll_cq(t->cq, 16, wc)) > 0)
		t->done += n;
	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	return err;
}

/* Nothing comes there but the device's end. */
static void *wait_for_event(void *arg)
{
	struct traffic *t = arg;
	struct ibv_cq *cq;
	void *context;

	t->reader_err = ibv_get_cq_event(t->channel, &cq, &context) ? errno : 0;
	return NULL;
}

static bool call_fails_with_eio(const char *name, int err)
{
	return report(err == EIO, "%s on the dead device: %s", name,
		      err ? strerror(err) : "succeeded");
}

static void check_dead(struct rig *rig, struct traffic *t, bool busy)
{
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct timespec end;
	void *context;
	int got;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	if (pthread_timedjoin_np(t->reader, NULL, &end)) {
		report(false, "a program that waits for a completion is woken");
		exit(1);
	}
	call_fails_with_eio("ibv_get_cq_event that waited", t->reader_err);
	errno = 0;
	pd = ibv_alloc_pd(rig->ctx);
	call_fails_with_eio("ibv_alloc_pd", pd ? 0 : errno);
	errno = 0;
	cq = ibv_create_cq(rig->ctx, 4, NULL, NULL, 0);
	call_fails_with_eio("ibv_create_cq", cq ? 0 : errno);
	errno = 0;
	mr = ibv_reg_mr(rig->pd, t->buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	call_fails_with_eio("ibv_reg_mr", mr ? 0 : errno);
	call_fails_with_eio("ibv_query_port", ibv_query_port(rig->ctx, 1, &port));
	call_fails_with_eio("ibv_modify_qp", rig_to_error(t->qp));
	errno = 0;
	got = ibv_get_cq_event(t->channel, &cq, &context);
	call_fails_with_eio("ibv_get_cq_event", got ? errno : 0);
	if (busy)
		call_fails_with_eio("ibv_post_send", traffic_step(t));
	else
		traffic_step(t);
	report(true, "polling and posting go on without a fault (%lu completions)", t->done);
	/* The library may pass the kernel's EIO on, or take the object for gone. */
	ibv_destroy_qp(t->qp);
	ibv_destroy_cq(t->cq);
	ibv_destroy_cq(t->quiet);
	ibv_destroy_comp_channel(t->channel);
	ibv_dereg_mr(t->mr);
	ibv_dealloc_pd(rig->pd);
	report(!ibv_close_device(rig->ctx), "ibv_close_device on the dead device");
}

/* Waits for one event; false when none came in time. */
static bool next_event(struct rig *rig, struct traffic *t, bool busy, uint64_t end,
		       const char **name)
{
	struct pollfd pfd = { .fd = rig->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	for (;;) {
		int64_t left = end - now_ms();

		if (left <= 0)
			return false;
		if (poll(&pfd, 1, busy ? 0 : left) > 0)
			break;
		if (busy)
			traffic_step(t);
	}
	if (ibv_get_async_event(rig->ctx, &event))
		die("ibv_get_async_event: %s", strerror(errno));
	*name = event_name(event.event_type);
	note("event %s", *name);
	ibv_ack_async_event(&event);
	return true;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "gid", 1, NULL, 'g' }, { "want", 1, NULL, 'w' },
		{ "seconds", 1, NULL, 's' }, { "dead", 0, NULL, 'x' },
		{ "traffic", 0, NULL, 't' }, { 0 },
	};
	const char *dev = "", *gid = "0", *name = "";
	char *want = NULL, *step, *save;
	bool dead = false, busy = false;
	unsigned int seconds = 10;
	struct traffic t = { 0 };
	struct rig rig;
	uint64_t end;
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:w:s:xt", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid = optarg;
			break;
		case 'w':
			want = optarg;
			break;
		case 's':
			seconds = strtoul(optarg, NULL, 0);
			break;
		case 'x':
			dead = true;
			break;
		case 't':
			busy = true;
			break;
		default:
			return 2;
		}
	}
	watchdog(seconds + 30);
	watchdog_about("waiting for events");
	rig_open(&rig, dev, gid);
	traffic_start(&rig, &t, busy);
	if (dead && pthread_create(&t.reader, NULL, wait_for_event, &t))
		die("pthread_create");
	note("ready");

	end = now_ms() + seconds * 1000ull;
	for (step = want ? strtok_r(want, ",", &save) : NULL; step;
	     step = strtok_r(NULL, ",", &save)) {
		bool came;

		do
			came = next_event(&rig, &t, busy, end, &name);
		while (came && strcmp(name, step));
		if (!report(came, "event %s came", step))
			return report_status();
	}
	watchdog_about("calls on a dead device");
	if (dead)
		check_dead(&rig, &t, busy);
	return report_status();
}
