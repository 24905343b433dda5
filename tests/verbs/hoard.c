// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A program that takes all it can get of one kind of object.
 *
 *   hoard -d DEV [-g GID] [-n COUNT] [-f FILE -m LIMIT] KIND
 *
 * It makes them until an error or, with -n, until it has COUNT; prints
 *
 *   made N, then NAME OF THE ERROR
 *
 * and keeps them until its input ends. Once FILE, its cgroup's memory.current, says
 * more than LIMIT, it prints "made N so far" and waits for a line before it goes on. `hoard --kinds` lists the kinds. It gives
 * nothing back by itself: that is for the kernel to do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "report.h"
#include "rig.h"

#define MESSAGE 2048
#define WIDE 256	/* pages */

static struct rig rig;
static struct ibv_cq *cq;
static char *buf, *wide;
static struct ibv_mr *mr;

/* ---- one of each kind; NULL or false with errno ---- */

static bool make_context(void)
{
	return ibv_open_device(rig.ctx->device);
}

static bool make_pd(void)
{
	return ibv_alloc_pd(rig.ctx);
}

static bool make_mr(void)
{
	return ibv_reg_mr(rig.pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE);
}

/* One page, many times: no two of the region are side by side in memory. */
static bool make_mr_wide(void)
{
	return ibv_reg_mr(rig.pd, wide, WIDE * 4096, IBV_ACCESS_LOCAL_WRITE);
}

static bool make_mw(void)
{
	return ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1);
}

static bool make_ah(void)
{
	struct ibv_ah_attr attr = {
		.grh = { .dgid = rig.gid, .sgid_index = rig.gid_index, .hop_limit = 1 },
		.is_global = 1, .port_num = 1,
	};

	return ibv_create_ah(rig.pd, &attr);
}

static bool make_channel(void)
{
	return ibv_create_comp_channel(rig.ctx);
}

static bool make_cq(void)
{
	return ibv_create_cq(rig.ctx, 1, NULL, NULL, 0);
}

static bool make_cq_max(void)
{
	return ibv_create_cq(rig.ctx, rig.dev.max_cqe, NULL, NULL, 0);
}

static bool make_cq_large(void)
{
	return ibv_create_cq(rig.ctx, 1 << 16, NULL, NULL, 0);
}

static bool srq_of(uint32_t wrs, uint32_t sges)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = wrs, .max_sge = sges } };

	return ibv_create_srq(rig.pd, &init);
}

static bool make_srq(void)
{
	return srq_of(1, 1);
}

static bool make_srq_large(void)
{
	return srq_of(1 << 12, 32);
}

static struct ibv_qp *qp_of(uint32_t wrs, uint32_t sges)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = wrs, .max_recv_wr = wrs,
			 .max_send_sge = sges, .max_recv_sge = sges },
	};

	return ibv_create_qp(rig.pd, &init);
}

static bool make_qp(void)
{
	return qp_of(1, 1);
}

static bool make_qp_large(void)
{
	return qp_of(1 << 12, 32);
}

static bool transfer_to_itself(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)buf, MESSAGE, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED }, *bad_send;
	struct ibv_wc wc;

	if (ibv_post_recv(qp, &recv, &bad_recv) || ibv_post_send(qp, &send, &bad_send))
		die("posting to a queue pair of one's own");
	for (int i = 0; i < 2; i++)
		if (rig_wait(cq, &wc, 20000) != 1 || wc.status)
			die("a message to oneself did not arrive: %s",
			    ibv_wc_status_str(wc.status));
	return true;
}

/* One that has sent and received, and has room for many READs. */
static bool make_qp_used(void)
{
	struct tuning tune = tuning_default;
	struct peer self = { .psn = 1, .gid = rig.gid };
	struct ibv_qp *qp = qp_of(1, 1);

	if (!qp)
		return false;
	self.qpn = qp->qp_num;
	tune.rd_atomic = rig.dev.max_qp_rd_atom;
	if (rig.port.active_mtu < tune.mtu)
		tune.mtu = rig.port.active_mtu;
	errno = rig_connect(&rig, qp, &self, 1, &tune);
	return !errno && transfer_to_itself(qp);
}

static const struct kind {
	const char *name;
	bool (*make)(void);
} kinds[] = {
	{ "context", make_context },
	{ "pd", make_pd },
	{ "mr", make_mr },
	{ "mr-wide", make_mr_wide },
	{ "mw", make_mw },
	{ "ah", make_ah },
	{ "channel", make_channel },
	{ "cq", make_cq },
	{ "cq-large", make_cq_large },
	{ "cq-max", make_cq_max },
	{ "srq", make_srq },
	{ "srq-large", make_srq_large },
	{ "qp", make_qp },
	{ "qp-large", make_qp_large },
	{ "qp-used", make_qp_used },
};

#define NUM_KINDS (sizeof(kinds) / sizeof(*kinds))

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < NUM_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	die("no kind '%s': hoard --kinds", name);
}

static void list_kinds(void)
{
	for (size_t i = 0; i < NUM_KINDS; i++)
		puts(kinds[i].name);
}

/* Descriptors are limited by themselves; that is not what is looked for. */
static void all_descriptors(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };

	if (!setrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit: %s", strerror(errno));
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit: %s", strerror(errno));
}

/* Is the cgroup filled as far as is wanted? */
static bool is_full(int fd, unsigned long long limit)
{
	char text[32] = "";

	return fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) > 0 &&
	       strtoull(text, NULL, 10) > limit;
}

static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static char *map_wide(void)
{
	int fd = memfd_create("hoard", MFD_CLOEXEC);
	char *at = mmap(NULL, WIDE * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || at == MAP_FAILED || ftruncate(fd, 4096))
		die("a page to map: %s", strerror(errno));
	for (int i = 0; i < WIDE; i++)
		if (mmap(at + i * 4096, 4096, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			die("mapping a page: %s", strerror(errno));
	return at;
}

/* What the kinds need besides; not part of what is counted. */
static void prepare(const struct kind *kind, const char *dev, const char *gid)
{
	bool queues = !strncmp(kind->name, "qp", 2);

	rig_open(&rig, dev, gid);
	buf = aligned_alloc(4096, 4096);
	if (!buf)
		die("no memory");
	memset(buf, 0, 4096);
	if (kind->make == make_mr_wide)
		wide = map_wide();
	if (!queues)
		return;
	cq = ibv_create_cq(rig.ctx, 16, NULL, NULL, 0);
	mr = ibv_reg_mr(rig.pd, buf, MESSAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!cq || !mr)
		die("what a queue pair needs: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "kinds", 0, NULL, 'k' }, { } };
	unsigned long count = -1ul, made = 0;
	unsigned long long limit = 0;
	const char *dev = "", *gid = "v4";
	const struct kind *kind;
	int opt, err = 0, file = -1;

	while ((opt = getopt_long(argc, argv, "d:g:n:f:m:", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid = optarg;
			break;
		case 'n':
			count = strtoul(optarg, NULL, 0);
			break;
		case 'f':
			file = open(optarg, O_RDONLY);
			break;
		case 'm':
			limit = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			list_kinds();
			return 0;
		default:
			die("usage: hoard -d DEV [-g GID] [-n COUNT] [-f FILE -m LIMIT] KIND");
		}
	}
	if (optind + 1 != argc)
		die("usage: hoard -d DEV [-g GID] [-n COUNT] [-f FILE -m LIMIT] KIND");
	kind = kind_of(argv[optind]);
	all_descriptors();
	prepare(kind, dev, gid);
	while (made < count && !err) {
		errno = 0;
		if (kind->make())
			made++;
		else
			err = errno ?: EIO;
		if (limit && !err && is_full(file, limit)) {
			printf("made %lu so far\n", made);
			fflush(stdout);
			wait_for_line();
			limit = 0;
		}
	}
	printf("made %lu, then %s\n", made, err ? strerrorname_np(err) : "enough");
	fflush(stdout);
	wait_for_line();
	return 0;
}
