// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Both ends of an RC connection in one program, so that it sees at once what
 * each of them knows: how long an error takes, what it names, how fast data
 * passes. The devices may be in different network namespaces; what is between
 * them, and whether it lets anything through, is the caller's doing.
 *
 *   pair rate|silent|rnr|mtu|vanish [OPTION...]
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"

#define FIRST_ID	100
#define MAX_DEPTH	64

struct end {
	struct rig rig;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *mem;
};

static struct options {
	const char *dev[2], *gid[2], *name;
	enum ibv_wr_opcode op;
	unsigned int size, depth, seconds, count, mtu[2];
	bool kill;
	struct tuning tune;
} opt = {
	.gid = { "v4", "v4" }, .dev = { "", "" }, .name = "pair",
	.op = IBV_WR_RDMA_WRITE, .size = 16384, .depth = 16, .seconds = 4, .count = 5,
};

static struct end near, far;

/* ------------------------------------------------------------- the two ends */

static void end_open(struct end *e, unsigned int i)
{
	size_t len = (size_t)opt.size * opt.depth;

	rig_open(&e->rig, opt.dev[i], opt.gid[i]);
	e->cq = ibv_create_cq(e->rig.ctx, 4 * MAX_DEPTH, NULL, NULL, 0);
	e->mem = aligned_alloc(4096, (len + 4095) & ~4095ul);
	if (!e->cq || !e->mem)
		die("%s: a CQ and memory: %s", opt.dev[i], strerror(errno));
	memset(e->mem, 0xee, len);
	e->mr = ibv_reg_mr(e->rig.pd, e->mem, len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	e->qp = rig_qp(&e->rig, IBV_QPT_RC, e->cq, e->cq, &opt.tune);
	if (!e->mr || !e->qp)
		die("%s: a region and a queue pair: %s", opt.dev[i], strerror(errno));
}

static void end_connect(struct end *e, const struct end *to, unsigned int i)
{
	struct peer peer = { .qpn = to->qp->qp_num, .psn = 0xffff00, .gid = to->rig.gid };
	struct tuning tune = opt.tune;
	int err;

	if (opt.mtu[i])
		tune.mtu = mtu_from_bytes(opt.mtu[i]);
	else
		tune.mtu = near.rig.port.active_mtu < far.rig.port.active_mtu ?
			   near.rig.port.active_mtu : far.rig.port.active_mtu;
	err = rig_connect(&e->rig, e->qp, &peer, 0xffff00, &tune);
	if (err)
		die("%s: connecting: %s", opt.dev[i], strerror(err));
}

static void both_up(void)
{
	end_open(&near, 0);
	end_open(&far, 1);
	end_connect(&near, &far, 0);
	end_connect(&far, &near, 1);
}

static void end_qp(struct end *e)
{
	int err = e->qp ? ibv_destroy_qp(e->qp) : 0;

	if (err)
		die("ibv_destroy_qp: %s", strerror(err));
	e->qp = NULL;
}

static void both_down(void)
{
	struct end *ends[] = { &near, &far };

	for (int i = 0; i < 2; i++) {
		end_qp(ends[i]);
		if (ibv_destroy_cq(ends[i]->cq) || ibv_dereg_mr(ends[i]->mr))
			die("taking things down: %s", strerror(errno));
		rig_close(&ends[i]->rig);
		free(ends[i]->mem);
	}
}

static bool is_send(void)
{
	return opt.op == IBV_WR_SEND;
}

static void post_recv(unsigned int slot)
{
	struct ibv_sge sge = { (uintptr_t)far.mem + (size_t)slot * opt.size, opt.size,
			       far.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_recv(far.qp, &wr, &bad);

	if (err)
		die("ibv_post_recv: %s", strerror(err));
}

static int try_post(uint64_t id, unsigned int slot)
{
	size_t at = (size_t)slot * opt.size;
	struct ibv_sge sge = { (uintptr_t)near.mem + at, opt.size, near.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = opt.op,
		.send_flags = IBV_SEND_SIGNALED,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)far.mem + at;
	wr.wr.rdma.rkey = far.mr->rkey;
	return ibv_post_send(near.qp, &wr, &bad);
}

static void post(uint64_t id, unsigned int slot)
{
	int err = try_post(id, slot);

	if (err)
		die("ibv_post_send: %s", strerror(err));
}

/* For so long this program slept beyond its time: the machine stood still. */
static uint64_t stalled_ms;

/* Sleeps between looks, so that a busy poller is not what is measured. */
static int wait_idly(struct ibv_cq *cq, struct ibv_wc *wc, uint64_t ms)
{
	uint64_t now = now_ms(), end = now + ms, woken;

	for (;;) {
		int n = ibv_poll_cq(cq, 1, wc);

		if (n || now >= end)
			return n;
		usleep(1000);
		woken = now_ms();
		if (woken - now > 10)
			stalled_ms += woken - now - 10;
		now = woken;
	}
}

/* Where the data comes from, and where it goes to. */
static uint8_t *source(unsigned int slot)
{
	return (opt.op == IBV_WR_RDMA_READ ? far.mem : near.mem) + (size_t)slot * opt.size;
}

static uint8_t *target(unsigned int slot)
{
	return (opt.op == IBV_WR_RDMA_READ ? near.mem : far.mem) + (size_t)slot * opt.size;
}

/* --------------------------------------------------------------------- rate */

static void rate_begin(uint64_t id)
{
	unsigned int slot = id % opt.depth;

	pattern_fill(source(slot), id, 0, opt.size);
	if (is_send())
		post_recv(slot);
	post(id, slot);
}

/* The next completion in its order, with the data where it belongs. */
static bool rate_check(const struct ibv_wc *wc, uint64_t id)
{
	size_t where, wrong;

	if (wc->status)
		return report(false, "%s: message %" PRIu64 ": %s", opt.name, id,
			      ibv_wc_status_str(wc->status));
	if (wc->wr_id != id)
		return report(false, "%s: completion of %" PRIu64 " where %" PRIu64 " was due",
			      opt.name, wc->wr_id, id);
	if (!pattern_check(target(id % opt.depth), id, 0, opt.size, &where, &wrong))
		return report(false, "%s: message %" PRIu64 ": %zu bytes wrong, from %zu on",
			      opt.name, id, wrong, where);
	return true;
}

static bool drain_recvs(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(far.cq, 1, &wc) == 1)
		if (wc.status)
			return report(false, "%s: receive: %s", opt.name,
				      ibv_wc_status_str(wc.status));
	return true;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Streams messages; what passes after the first second is the rate. */
static void do_rate(void)
{
	uint64_t begun = 0, done = 0, counted = 0, stalled = 0, from, stop;
	struct ibv_wc wc;

	both_up();
	from = now_ms() + 1000;
	stop = from + opt.seconds * 1000;
	while (begun < opt.depth)
		rate_begin(begun++);
	while (done < begun) {
		if (!drain_recvs())
			return;
		if (wait_idly(near.cq, &wc, 60000) != 1) {
			report(false, "%s: no completion within a minute", opt.name);
			return;
		}
		if (!drain_recvs() || !rate_check(&wc, done))
			return;
		done++;
		if (now_ms() < from)
			stalled_ms = 0;
		else if (now_ms() < stop)
			counted += opt.size;
		else
			stalled = stalled ?: stalled_ms;
		if (now_ms() < stop)
			rate_begin(begun++);
	}
	report(true, "%s: %" PRIu64 " messages of %u bytes, all intact", opt.name, done, opt.size);
	note("moved %" PRIu64, done * opt.size);
	/* In hundredths: how much of the time the machine went on. */
	stalled = lesser(stalled, opt.seconds * 1000);
	note("running %" PRIu64, 100 - stalled / 10 / opt.seconds);
	note("rate %" PRIu64, counted / opt.seconds);
	both_down();
}

/* ------------------------------------------------------------------- silent */

/* What the peer may take to be given up: after T, 2T, then 4T each time. */
static uint64_t give_up_ms(void)
{
	double t = 4.096e-3 * (1ull << opt.tune.timeout), sum = 0;

	for (unsigned int i = 0; i <= opt.tune.retry_cnt; i++)
		sum += i < 2 ? t * (1 << i) : 4 * t;
	return sum;
}

static uint64_t give_up_limit_ms(void)
{
	return 4 * (opt.tune.retry_cnt + 1) * 4.096e-3 * (1ull << opt.tune.timeout) + 2000;
}

/* The first one fails with @status, the others are flushed behind it. */
static bool failed_in_order(enum ibv_wc_status status, uint64_t first, unsigned int count)
{
	struct ibv_wc wc;

	for (unsigned int i = 1; i < count; i++) {
		if (wait_idly(near.cq, &wc, 5000) != 1 || wc.wr_id != first + i ||
		    wc.status != IBV_WC_WR_FLUSH_ERR)
			return report(false, "%s: request %u is flushed in its turn (%s, wr_id %"
				      PRIu64 ")", opt.name, i, ibv_wc_status_str(wc.status),
				      wc.wr_id);
	}
	if (try_post(first + count, 0) || wait_idly(near.cq, &wc, 5000) != 1 ||
	    wc.wr_id != first + count || wc.status != IBV_WC_WR_FLUSH_ERR)
		return report(false, "%s: what is posted afterwards is flushed", opt.name);
	return report(true, "%s: %s names the right request, and what is behind it is flushed",
		      opt.name, ibv_wc_status_str(status));
}

static bool first_fails(enum ibv_wc_status status, uint64_t id, uint64_t limit)
{
	struct ibv_wc wc = {};

	if (wait_idly(near.cq, &wc, limit) != 1)
		return report(false, "%s: no error within %" PRIu64 " ms", opt.name, limit);
	if (wc.status != status || wc.wr_id != id)
		return report(false, "%s: %s for wr_id %" PRIu64 ", due was %s for %" PRIu64,
			      opt.name, ibv_wc_status_str(wc.status), wc.wr_id,
			      ibv_wc_status_str(status), id);
	return true;
}

static bool destroyed_at_once(void)
{
	uint64_t began = now_ms();

	end_qp(&near);
	return report(now_ms() - began < 1000, "%s: the queue pair is destroyed at once (%"
		      PRIu64 " ms)", opt.name, now_ms() - began);
}

static void nothing_happens(void)
{
	struct ibv_wc wc;

	report(!wait_idly(near.cq, &wc, opt.seconds * 1000),
	       "%s: no completion in %u s", opt.name, opt.seconds);
	destroyed_at_once();
}

/* A peer that says nothing; with --kill it did before. */
static void do_silent(void)
{
	uint64_t began, took, least = give_up_ms();
	struct ibv_wc wc;

	both_up();
	if (is_send())
		for (unsigned int i = 0; i <= opt.count; i++)
			post_recv(i % opt.depth);
	if (opt.kill) {
		post(1, 0);
		if (wait_idly(near.cq, &wc, 30000) != 1 || wc.status)
			die("%s: not even the first message got through", opt.name);
		end_qp(&far);
	}
	began = now_ms();
	for (unsigned int i = 0; i < opt.count; i++)
		post(FIRST_ID + i, i % opt.depth);
	if (!opt.tune.timeout) {
		nothing_happens();
	} else if (first_fails(IBV_WC_RETRY_EXC_ERR, FIRST_ID, give_up_limit_ms())) {
		took = now_ms() - began;
		/* A clock may tick coarsely, but nothing may end early. */
		report(took + 11 >= least && took <= give_up_limit_ms(),
		       "%s: timeout %u, retry_cnt %u: error after %" PRIu64 " ms, %" PRIu64
		       " are due", opt.name, opt.tune.timeout, opt.tune.retry_cnt, took, least);
		failed_in_order(IBV_WC_RETRY_EXC_ERR, FIRST_ID, opt.count);
	}
	both_down();
}

/* ---------------------------------------------------------------------- rnr */

/* Hundredths of the time that all processors were not idle. */
static unsigned int load_since(uint64_t old[2])
{
	FILE *f = fopen("/proc/stat", "r");
	uint64_t v[8] = {}, all = 0, idle, was_all = old[0], was_idle = old[1];

	if (!f || fscanf(f, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			 " %" SCNu64 " %" SCNu64, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6) < 4)
		die("/proc/stat cannot be read");
	fclose(f);
	for (int i = 0; i < 8; i++)
		all += v[i];
	idle = v[3] + v[4];
	old[0] = all;
	old[1] = idle;
	if (all == was_all)
		return 0;
	return 100 - 100 * (idle - was_idle) / (all - was_all);
}

/* No receive is ever posted. */
static void do_rnr(void)
{
	uint64_t stat[2] = {}, began;
	unsigned int load, before;
	struct ibv_wc wc;

	opt.op = IBV_WR_SEND;
	both_up();
	/* Others may keep the machine busy. */
	load_since(stat);
	if (opt.tune.rnr_retry == 7)
		sleep(1);
	before = load_since(stat);
	began = now_ms();
	for (unsigned int i = 0; i < opt.count; i++)
		post(FIRST_ID + i, i % opt.depth);
	if (opt.tune.rnr_retry == 7) {
		sleep(opt.seconds);
		load = load_since(stat);
		report(!ibv_poll_cq(near.cq, 1, &wc), "%s: it goes on trying for %u s", opt.name,
		       opt.seconds);
		/* There each timer that ends makes a tick that finds it busy. */
		if (user_mode_linux())
			report_skip("User Mode Linux", "%s: the machine's load", opt.name);
		else
			report(load < before + 40,
			       "%s: and the machine is idle (load %u %%, before %u %%)", opt.name,
			       load, before);
		destroyed_at_once();
	} else if (first_fails(IBV_WC_RNR_RETRY_EXC_ERR, FIRST_ID, 30000)) {
		note("rnr_retry %u: %" PRIu64 " ms", opt.tune.rnr_retry, now_ms() - began);
		failed_in_order(IBV_WC_RNR_RETRY_EXC_ERR, FIRST_ID, opt.count);
	}
	both_down();
}

/* ---------------------------------------------------------------------- mtu */

/* The two have different path MTUs (--mtu A,B) and the far end notices. */
static void do_mtu(void)
{
	both_up();
	if (is_send())
		post_recv(0);
	for (unsigned int i = 0; i < opt.count; i++)
		post(FIRST_ID + i, i % opt.depth);
	if (first_fails(IBV_WC_REM_INV_REQ_ERR, FIRST_ID, 10000))
		failed_in_order(IBV_WC_REM_INV_REQ_ERR, FIRST_ID, opt.count);
	both_down();
}

/* ------------------------------------------------------------------- vanish */

/* The far end goes in the middle of a message. */
static void do_vanish(void)
{
	uint64_t limit = give_up_limit_ms(), began;
	const uint8_t *to;
	struct ibv_wc wc;

	both_up();
	pattern_fill(source(0), 1, 0, opt.size);
	to = target(0);
	if (is_send())
		post_recv(0);
	post(FIRST_ID, 0);
	post(FIRST_ID + 1, 1 % opt.depth);
	for (began = now_ms(); to[opt.size / 8] == 0xee && now_ms() - began < 30000;)
		usleep(1000);
	end_qp(&far);
	report(to[0] == pattern_byte(1, 0) && to[opt.size - 1] == 0xee &&
	       !ibv_poll_cq(near.cq, 1, &wc), "%s: the peer goes in mid-message", opt.name);
	began = now_ms();
	if (first_fails(IBV_WC_RETRY_EXC_ERR, FIRST_ID, limit)) {
		report(now_ms() - began <= limit, "%s: error %" PRIu64 " ms later", opt.name,
		       now_ms() - began);
		failed_in_order(IBV_WC_RETRY_EXC_ERR, FIRST_ID, 2);
	}
	both_down();
}

/* ------------------------------------------------------------------ options */

static const char usage[] =
	"usage: pair rate|silent|rnr|mtu|vanish [options]\n"
	"  -d, --dev NAME, -D, --dev2 NAME   the near and the far end's device\n"
	"  -g, --gid INDEX|v4|v6, -G, --gid2 INDEX|v4|v6\n"
	"      --name TEXT       what the findings are called\n"
	"      --op send|write|read\n"
	"      --size BYTES, --depth N, --count N   of requests\n"
	"      --seconds N       rate: how long; silent, rnr: how long nothing happens\n"
	"      --mtu NEAR,FAR    path MTUs in bytes (that of the ports)\n"
	"      --timeout N, --retry-cnt N, --rnr-retry N, --min-rnr N   attributes\n"
	"      --kill            silent: the peer is there, and then not\n";

static unsigned int number(const char *text, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || end == text || n > max)
		die("'%s' is no number up to %lu", text, max);
	return n;
}

static enum ibv_wr_opcode opcode(const char *text)
{
	if (!strcmp(text, "send"))
		return IBV_WR_SEND;
	if (!strcmp(text, "write"))
		return IBV_WR_RDMA_WRITE;
	if (!strcmp(text, "read"))
		return IBV_WR_RDMA_READ;
	die("'%s' is no operation", text);
}

static void parse(int argc, char **argv)
{
	enum { NAME = 256, OP, SIZE, DEPTH, COUNT, SECONDS, MTU, TIMEOUT, RETRY, RNR, MIN_RNR,
	       KILL };
	static const struct option names[] = {
		{ "dev", 1, NULL, 'd' }, { "dev2", 1, NULL, 'D' }, { "gid", 1, NULL, 'g' },
		{ "gid2", 1, NULL, 'G' }, { "name", 1, NULL, NAME }, { "op", 1, NULL, OP },
		{ "size", 1, NULL, SIZE }, { "depth", 1, NULL, DEPTH }, { "count", 1, NULL, COUNT },
		{ "seconds", 1, NULL, SECONDS }, { "mtu", 1, NULL, MTU },
		{ "timeout", 1, NULL, TIMEOUT }, { "retry-cnt", 1, NULL, RETRY },
		{ "rnr-retry", 1, NULL, RNR }, { "min-rnr", 1, NULL, MIN_RNR },
		{ "kill", 0, NULL, KILL }, { 0 },
	};
	int ch;

	opt.tune = tuning_default;
	while ((ch = getopt_long(argc, argv, "d:D:g:G:", names, NULL)) != -1) {
		switch (ch) {
		case 'd':
			opt.dev[0] = optarg;
			break;
		case 'D':
			opt.dev[1] = optarg;
			break;
		case 'g':
			opt.gid[0] = optarg;
			break;
		case 'G':
			opt.gid[1] = optarg;
			break;
		case NAME:
			opt.name = optarg;
			break;
		case OP:
			opt.op = opcode(optarg);
			break;
		case SIZE:
			opt.size = number(optarg, 1 << 30);
			break;
		case DEPTH:
			opt.depth = number(optarg, MAX_DEPTH);
			break;
		case COUNT:
			opt.count = number(optarg, MAX_DEPTH - 2);
			break;
		case SECONDS:
			opt.seconds = number(optarg, 600);
			break;
		case MTU:
			if (sscanf(optarg, "%u,%u", &opt.mtu[0], &opt.mtu[1]) != 2 ||
			    !mtu_from_bytes(opt.mtu[0]) || !mtu_from_bytes(opt.mtu[1]))
				die("'%s' are no two MTUs", optarg);
			break;
		case TIMEOUT:
			opt.tune.timeout = number(optarg, 31);
			break;
		case RETRY:
			opt.tune.retry_cnt = number(optarg, 7);
			break;
		case RNR:
			opt.tune.rnr_retry = number(optarg, 7);
			break;
		case MIN_RNR:
			opt.tune.min_rnr = number(optarg, 31);
			break;
		case KILL:
			opt.kill = true;
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} commands[] = {
		{ "rate", do_rate }, { "silent", do_silent }, { "rnr", do_rnr },
		{ "mtu", do_mtu }, { "vanish", do_vanish },
	};

	parse(argc, argv);
	watchdog_about(opt.name);
	watchdog(300);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (optind == argc - 1 && !strcmp(argv[optind], commands[i].name)) {
			commands[i].run();
			return report_status();
		}
	fputs(usage, stderr);
	return 2;
}
