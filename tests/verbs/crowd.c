// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Many queue pairs from one link to another, all busy at the same time.
 *
 *   crowd -d DEV -D DEV [-g GID] [--name NAME] [--qps N] [--size BYTES]
 *         [--count N] [--op write|read|send] [--mtu BYTES] [--timeout CODE]
 *
 * Each of --qps queue pairs (32) moves --count messages (1) of --size bytes
 * (65536), one after the other; each must end without an error, and its bytes
 * are compared. Prints "# took MS" and "# running PERCENT" (of that time this
 * machine did not stand still) at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"

#define PSN	0xfffff0
#define MAX_QPS	1024

static struct options {
	const char *dev[2], *gid, *name;
	unsigned int qps, size, count;
	enum ibv_wr_opcode op;
} opt = { .dev = { "rxa", "rxb" }, .gid = "v4", .name = "a crowd", .qps = 32,
	  .size = 65536, .count = 1, .op = IBV_WR_RDMA_WRITE };
static struct tuning tune;

static struct end {
	struct rig rig;
	struct ibv_cq *cq;
	struct ibv_qp *qp[MAX_QPS];
	struct ibv_mr *mr;
	uint8_t *mem;
} near_end, far_end;

static void open_end(struct end *e, const char *dev)
{
	size_t len = (size_t)opt.size * opt.qps;

	rig_open(&e->rig, dev, opt.gid);
	e->cq = ibv_create_cq(e->rig.ctx, 2 * opt.qps, NULL, NULL, 0);
	e->mem = calloc(1, len);
	if (!e->cq || !e->mem)
		die("a CQ and %zu bytes: %s", len, strerror(errno));
	e->mr = ibv_reg_mr(e->rig.pd, e->mem, len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!e->mr)
		die("ibv_reg_mr: %s", strerror(errno));
	for (unsigned int i = 0; i < opt.qps; i++) {
		e->qp[i] = rig_qp(&e->rig, IBV_QPT_RC, e->cq, e->cq, &tune);
		if (!e->qp[i])
			die("queue pair %u: %s", i, strerror(errno));
	}
}

static void connect_to(struct end *e, const struct end *to)
{
	for (unsigned int i = 0; i < opt.qps; i++) {
		struct peer peer = { .qpn = to->qp[i]->qp_num, .psn = PSN, .gid = to->rig.gid };
		int err = rig_connect(&e->rig, e->qp[i], &peer, PSN, &tune);

		if (err)
			die("connecting queue pair %u: %s", i, strerror(err));
	}
}

static uint64_t key(unsigned int q, unsigned int n)
{
	return (uint64_t)q << 32 | n;
}

static uint8_t *bytes_of(const struct end *e, unsigned int q)
{
	return e->mem + (size_t)q * opt.size;
}

/* Message @n of queue pair @q. */
static void post(unsigned int q, unsigned int n)
{
	struct end *from = opt.op == IBV_WR_RDMA_READ ? &far_end : &near_end;
	struct ibv_sge here = { (uintptr_t)bytes_of(&near_end, q), opt.size, near_end.mr->lkey };
	struct ibv_sge there = { (uintptr_t)bytes_of(&far_end, q), opt.size, far_end.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = q, .sg_list = &here, .num_sge = 1, .opcode = opt.op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = there.addr, .rkey = far_end.mr->rkey },
	}, *bad;
	struct ibv_recv_wr recv = { .wr_id = q, .sg_list = &there, .num_sge = 1 }, *bad_recv;

	pattern_fill(bytes_of(from, q), key(q, n), 0, opt.size);
	if (opt.op == IBV_WR_SEND && ibv_post_recv(far_end.qp[q], &recv, &bad_recv))
		die("ibv_post_recv");
	if (ibv_post_send(near_end.qp[q], &wr, &bad))
		die("ibv_post_send");
}

/* For so long this program slept beyond its time: the machine stood still. */
static uint64_t stalled_ms;

/* Sleeps between looks, for at most a minute. */
static bool wait_idly(struct ibv_cq *cq, struct ibv_wc *wc)
{
	uint64_t now = now_ms(), end = now + 60000, woken;

	while (now < end) {
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
		usleep(1000);
		woken = now_ms();
		if (woken - now > 10)
			stalled_ms += woken - now - 10;
		now = woken;
	}
	return false;
}

static bool arrived(unsigned int q, unsigned int n)
{
	struct end *to = opt.op == IBV_WR_RDMA_READ ? &near_end : &far_end;
	size_t where, wrong;

	if (pattern_check(bytes_of(to, q), key(q, n), 0, opt.size, &where, &wrong))
		return true;
	note("queue pair %u, message %u: %zu bytes are wrong from %zu on", q, n, wrong, where);
	return false;
}

static void run(void)
{
	unsigned int *done = calloc(opt.qps, sizeof(*done)), left = opt.qps, bad = 0, q;
	uint64_t start = now_ms();
	struct ibv_wc wc;

	if (!done)
		die("no memory");
	for (q = 0; q < opt.qps; q++)
		post(q, 0);
	while (left) {
		if (!wait_idly(near_end.cq, &wc))
			die("%s: nothing completed for a minute, %u queue pairs are left",
			    opt.name, left);
		q = wc.wr_id;
		if (wc.status || !arrived(q, done[q])) {
			note("queue pair %u: %s after %" PRIu64 " ms", q,
			     ibv_wc_status_str(wc.status), now_ms() - start);
			bad++;
			left--;
			continue;
		}
		if (++done[q] < opt.count)
			post(q, done[q]);
		else
			left--;
	}
	start = now_ms() - start;
	note("took %" PRIu64, start);
	note("running %" PRIu64, 100 - stalled_ms * 100 / (start + 1));
	report(!bad, "%s: %u of %u queue pairs ended without an error", opt.name, opt.qps - bad,
	       opt.qps);
	free(done);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "name", 1, NULL, 'n' }, { "qps", 1, NULL, 'q' }, { "size", 1, NULL, 's' },
		{ "count", 1, NULL, 'c' }, { "op", 1, NULL, 'o' }, { "mtu", 1, NULL, 'm' },
		{ "timeout", 1, NULL, 't' }, { 0 },
	};
	int ch;

	tune = tuning_default;
	while ((ch = getopt_long(argc, argv, "d:D:g:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			opt.dev[0] = optarg;
			break;
		case 'D':
			opt.dev[1] = optarg;
			break;
		case 'g':
			opt.gid = optarg;
			break;
		case 'n':
			opt.name = optarg;
			break;
		case 'q':
			opt.qps = strtoul(optarg, NULL, 0);
			break;
		case 's':
			opt.size = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			opt.count = strtoul(optarg, NULL, 0);
			break;
		case 'o':
			opt.op = !strcmp(optarg, "read") ? IBV_WR_RDMA_READ :
				 !strcmp(optarg, "send") ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
			break;
		case 'm':
			tune.mtu = mtu_from_bytes(strtoul(optarg, NULL, 0));
			break;
		case 't':
			tune.timeout = strtoul(optarg, NULL, 0);
			break;
		default:
			exit(2);
		}
	}
	if (!opt.qps || opt.qps > MAX_QPS || !opt.count || !opt.size)
		die("--qps is 1 to %d", MAX_QPS);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	watchdog(240);
	watchdog_about(opt.name);
	open_end(&near_end, opt.dev[0]);
	open_end(&far_end, opt.dev[1]);
	connect_to(&near_end, &far_end);
	connect_to(&far_end, &near_end);
	run();
	return report_status();
}
