// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Commands that lie, thrown at a uverbs device from several threads.
 *
 *   commands -d DEV [-g GID] [--seconds N] [--threads N] [--seed N]
 *
 * A child process uses every verb there is. Each command that libibverbs sends
 * for it goes out in damaged copies first: with handles of something else or of
 * nothing, sizes and counts that are wrong, pointers to where nothing is, or where
 * the kernel is. In between go commands that are made up from the start. Half of
 * the children have no ioctl(), so that the write() commands have their turn.
 *
 * What the lies destroy is the child's own, so it may fail at anything and even
 * crash; then the next one comes, with the next seed. But it has to die when it
 * is told to, no command may fail with what is no errno, and the kernel has to
 * have taken some of the lies: or they were too stupid to find anything.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"

#define MAX_THREADS	16
#define MAX_ATTRS	48
#define MAX_BYTES	2048u
#define COPIES		3		/* damaged ones of each command, at most */
#define ARENA		(1u << 20)
#define SLOT		(128u << 10)	/* more than a length of 16 bits */
#define BUF		16384u
#define ERRNOS		134		/* the last errno that programs know is 133 */
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

enum way { BY_IOCTL, BY_WRITE, WAYS };

/* Shared between all processes; written without much care. */
static struct totals {
	unsigned long sent[WAYS], taken[WAYS], errors[WAYS][ERRNOS], rounds, verbs;
	unsigned int bad_errno, ended, killed, crashed;
} *totals;

static struct {
	const char *dev, *gid;
	unsigned int seconds, threads;
	uint64_t seed;
} opt = { .dev = "", .gid = "v4", .seconds = 20, .threads = 4 };

/* Of each thread: its numbers, and memory that ends at a page which is not there. */
static _Thread_local struct {
	uint64_t seed, count;
	uint8_t *arena;
	unsigned int slots;
	bool lying;
} self;

static bool no_ioctl;	/* of this child */

static uint64_t rnd(void)
{
	return pattern_word(self.seed, self.count++);
}

static uint32_t below(uint32_t n)
{
	return rnd() % n;
}

/* ------------------------------------------------------------------- the lies */

static uint32_t lie_number(void)
{
	static const uint32_t nasty[] = {
		0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 127, 128, 255, 256, 511, 512, 1024,
		4095, 4096, 8192, 0x7fff, 0x8000, 0xfffe, 0xffff, 0x10000, 0xfffff, 0xffffff,
		0x1000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	};

	switch (below(4)) {
	case 0:
		return rnd();
	case 1:
		return below(64);	/* a handle, as like as not */
	default:
		return nasty[below(sizeof(nasty) / sizeof(*nasty))];
	}
}

static void *arena_slot(void)
{
	return self.arena + self.slots++ % (ARENA / SLOT) * SLOT;
}

static uint64_t lie_pointer(void)
{
	switch (below(9)) {
	case 0:
		return 0;
	case 1:
		return below(4096);
	case 2:
		return 0xffff888000000000ull + below(1u << 30);
	case 3:
		return 0xffffffff81000000ull + below(1u << 24);
	case 4:
		return 0x8000000000000000ull;		/* not canonical */
	case 5:
		return (uintptr_t)lie_pointer;		/* not to be written */
	case 6:
		return -(uint64_t)below(64);
	case 7:
		return (uintptr_t)self.arena + ARENA - below(16);
	default:
		return (uintptr_t)arena_slot() + below(8);
	}
}

static bool is_pointer(uint64_t value)
{
	return value >= 0x10000 && value < 0x800000000000ull && value >> 40;
}

static void damage(void *bytes, size_t len)
{
	uint32_t number = lie_number();
	uint64_t pointer = lie_pointer();
	uint8_t *at = bytes;

	if (len >= 8 && !below(3))
		memcpy(at + below(len / 8) * 8, &pointer, 8);
	else if (len >= 4 && below(4))
		memcpy(at + below(len / 4) * 4, &number, 4);
	else if (len)
		at[below(len)] ^= 1u << below(8);
}

/* ---------------------------------------------------------- sending the lies */

static void count(enum way way, long ret)
{
	totals->sent[way]++;
	if (ret >= 0)
		totals->taken[way]++;
	else if (errno > 0 && errno < ERRNOS)
		totals->errors[way][errno]++;
	else
		totals->bad_errno = errno;
}

struct ioctl_lie {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

/*
 * What the kernel reads and writes for a lie is in the arena, so that the real
 * command still finds what it needs. A short value that looks like a pointer is one.
 */
static void redirect(struct ib_uverbs_attr *attr)
{
	void *slot;

	if (!is_pointer(attr->data))
		return;
	slot = arena_slot();
	memcpy(slot, (void *)(uintptr_t)attr->data, attr->len);
	attr->data = (uintptr_t)slot;
}

static void lie_about_attr(struct ib_uverbs_attr *attr)
{
	switch (below(7)) {
	case 0:
		attr->attr_id = below(4) ? below(24) : 0x1000 + below(4);
		break;
	case 1:
		attr->len = lie_number();
		break;
	case 2:
		attr->data = lie_pointer();
		break;
	case 3:
		attr->data = lie_number();
		break;
	case 4:
		attr->flags = rnd();
		break;
	case 5:
		attr->attr_data.reserved = rnd();
		break;
	default:
		if (is_pointer(attr->data))
			damage((void *)(uintptr_t)attr->data, attr->len);
	}
}

static void lie_about_ioctl(struct ioctl_lie *lie)
{
	/* One of the lies may be the count. */
	unsigned int n = lie->hdr.num_attrs > MAX_ATTRS ? 0 : lie->hdr.num_attrs;

	switch (below(8)) {
	case 0:
		lie->hdr.object_id = below(20);
		break;
	case 1:
		lie->hdr.method_id = below(12);
		break;
	case 2:
		if (n < MAX_ATTRS && n) {
			lie->attrs[n] = lie->attrs[below(n)];
			lie->hdr.num_attrs++;
			lie->hdr.length += sizeof(*lie->attrs);
		}
		break;
	case 3:
		if (n) {
			lie->attrs[below(n)] = lie->attrs[n - 1];
			lie->hdr.num_attrs--;
			lie->hdr.length -= sizeof(*lie->attrs);
		}
		break;
	case 4:
		damage(&lie->hdr, sizeof(lie->hdr));
		break;
	default:
		if (n)
			lie_about_attr(&lie->attrs[below(n)]);
	}
}

static void send_ioctl(int fd, struct ioctl_lie *lie)
{
	for (unsigned int i = 1 + below(3); i; i--)
		lie_about_ioctl(lie);
	count(BY_IOCTL, syscall(SYS_ioctl, fd, RDMA_VERBS_IOCTL,
				below(200) ? (uintptr_t)lie : lie_pointer()));
}

static void lie_by_ioctl(int fd, const struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ioctl_lie lie = { 0 };

	if (hdr->num_attrs > MAX_ATTRS)
		return;
	for (unsigned int i = below(COPIES + 1); i; i--) {
		memcpy(&lie, hdr, sizeof(*hdr) + hdr->num_attrs * sizeof(*hdr->attrs));
		for (unsigned int j = 0; j < lie.hdr.num_attrs; j++)
			redirect(&lie.attrs[j]);
		send_ioctl(fd, &lie);
	}
}

/* A command whose header and attributes agree, and nothing else. */
static void invent_ioctl(int fd)
{
	struct ioctl_lie lie = {
		.hdr = { .object_id = below(20), .method_id = below(12),
			 .num_attrs = below(10), .driver_id = 15 },
	};

	for (unsigned int i = 0; i < lie.hdr.num_attrs; i++) {
		static const uint16_t lens[] = { 0, 0, 4, 8, 16, 64, 128 };
		struct ib_uverbs_attr *attr = &lie.attrs[i];

		attr->attr_id = below(4) ? i : below(24);
		attr->len = lens[below(sizeof(lens) / sizeof(*lens))];
		attr->flags = below(2);
		attr->data = below(2) ? below(64) : (uintptr_t)arena_slot();
	}
	lie.hdr.length = sizeof(lie.hdr) + lie.hdr.num_attrs * sizeof(*lie.attrs);
	send_ioctl(fd, &lie);
}

static void lie_about_write(uint8_t *bytes, size_t *len)
{
	struct ib_uverbs_cmd_hdr *hdr = (void *)bytes;

	switch (below(8)) {
	case 0:
		hdr->command = below(64) | (below(3) ? 0 : IB_USER_VERBS_CMD_FLAG_EXTENDED);
		break;
	case 1:
		hdr->in_words = lie_number();
		break;
	case 2:
		hdr->out_words = lie_number();
		break;
	case 3:
		*len = below(4) ? below(*len + 1) : below(MAX_BYTES);
		break;
	case 4:		/* longer or shorter, and it says so */
		*len = sizeof(*hdr) + below(64) * 8;
		hdr->in_words = *len / (hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? 8 : 4);
		break;
	default:
		damage(bytes + sizeof(*hdr), *len > sizeof(*hdr) ? *len - sizeof(*hdr) : 0);
	}
}

static void send_write(int fd, uint8_t *bytes, size_t len)
{
	for (unsigned int i = 1 + below(3); i; i--)
		lie_about_write(bytes, &len);
	count(BY_WRITE, syscall(SYS_write, fd, below(200) ? (uintptr_t)bytes : lie_pointer(),
				len));
}

/* Where the kernel puts the response: the first words of both kinds of command. */
static void redirect_write(uint8_t *bytes, size_t len)
{
	uint64_t to;

	for (size_t at = sizeof(struct ib_uverbs_cmd_hdr); at <= 16 && at + 8 <= len; at += 8) {
		memcpy(&to, bytes + at, 8);
		if (!is_pointer(to))
			continue;
		to = (uintptr_t)arena_slot();
		memcpy(bytes + at, &to, 8);
	}
}

static void lie_by_write(int fd, const void *buf, size_t len)
{
	uint64_t bytes[MAX_BYTES / 8];

	if (len > MAX_BYTES)
		return;
	for (unsigned int i = below(COPIES + 1); i; i--) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, buf, len);
		redirect_write((uint8_t *)bytes, len);
		send_write(fd, (uint8_t *)bytes, len);
	}
}

static void invent_write(int fd)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t word[MAX_BYTES / 8 - 1];
	} cmd = { .hdr = { .command = below(64) } };
	size_t len = sizeof(cmd.hdr) + below(40) * 4;

	cmd.hdr.in_words = len / 4;
	cmd.hdr.out_words = below(64);
	for (unsigned int i = 0; i < len / 8; i++)
		cmd.word[i] = below(2) ? below(64) : (uint64_t)lie_number() << 32 | below(64);
	cmd.word[0] = (uintptr_t)arena_slot();
	send_write(fd, (uint8_t *)&cmd, len);
}

/* ------------------------------------------------------ what libibverbs calls */

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if ((unsigned int)request == RDMA_VERBS_IOCTL) {
		if (no_ioctl) {
			errno = ENOTTY;
			return -1;
		}
		if (self.lying) {
			lie_by_ioctl(fd, arg);
			totals->verbs++;
		}
	}
	return syscall(SYS_ioctl, fd, request, arg);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	if (self.lying && fd > STDERR_FILENO && len >= sizeof(struct ib_uverbs_cmd_hdr)) {
		lie_by_write(fd, buf, len);
		totals->verbs++;
	}
	return syscall(SYS_write, fd, buf, len);
}

/* ------------------------------------------------ a child, which uses all verbs */

struct objects {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	void *buf;
};

/* Whatever fails, the rest is tried with what there is. */
static void make(struct objects *o)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 2 } };
	struct ibv_ah_attr ah = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = o->rig->gid, .sgid_index = o->rig->gid_index, .hop_limit = 64 },
	};
	struct ibv_context *ctx = o->rig->ctx;

	o->pd = ibv_alloc_pd(ctx);
	o->channel = ibv_create_comp_channel(ctx);
	o->cq = ibv_create_cq(ctx, 32, NULL, below(2) ? o->channel : NULL, 0);
	if (!o->pd)
		return;
	o->mr = ibv_reg_mr(o->pd, o->buf, BUF, ACCESS);
	o->mw = ibv_alloc_mw(o->pd, below(2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	o->ah = ibv_create_ah(o->pd, &ah);
	o->srq = ibv_create_srq(o->pd, &srq);
	if (o->cq) {
		static const enum ibv_qp_type type[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
		struct ibv_qp_init_attr init = {
			.send_cq = o->cq, .recv_cq = o->cq, .srq = below(2) ? o->srq : NULL,
			.qp_type = type[below(3)], .cap = { 16, 16, 2, 2, 64 },
		};

		o->qp = ibv_create_qp(o->pd, &init);
	}
}

static void use(struct objects *o)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_srq_attr srq = { .max_wr = 8, .srq_limit = 4 };
	struct tuning tune = tuning_default;
	struct ibv_device_attr_ex dev;
	struct ibv_qp_init_attr init;
	struct ibv_wc wc[4];
	union ibv_gid gid = { .raw = { 0xff, 0x12 } };

	ibv_query_device_ex(o->rig->ctx, NULL, &dev);
	ibv_query_port(o->rig->ctx, 1, &o->rig->port);
	if (o->mr)
		ibv_rereg_mr(o->mr, IBV_REREG_MR_CHANGE_ACCESS, o->pd, o->buf, BUF, ACCESS);
	if (o->srq) {
		ibv_modify_srq(o->srq, &srq, below(2) ? IBV_SRQ_LIMIT : IBV_SRQ_MAX_WR);
		ibv_query_srq(o->srq, &srq);
	}
	if (o->cq) {
		ibv_req_notify_cq(o->cq, 0);
		ibv_resize_cq(o->cq, 1 + below(100));
	}
	if (o->qp) {
		struct peer to = { .qpn = o->qp->qp_num, .psn = 9, .gid = o->rig->gid };
		struct ibv_sge sge = { (uintptr_t)o->buf, 1024, o->mr ? o->mr->lkey : 0 };
		struct ibv_send_wr wr = {
			.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)o->buf + 4096, o->mr ? o->mr->rkey : 0 },
		}, *bad;

		rig_connect(o->rig, o->qp, &to, 9, &tune);
		ibv_query_qp(o->qp, &attr, IBV_QP_STATE, &init);
		if (o->qp->qp_type == IBV_QPT_UD)
			ibv_attach_mcast(o->qp, &gid, 0);
		else
			for (unsigned int i = 0; i < 4; i++)
				ibv_post_send(o->qp, &wr, &bad);
		if (o->cq)
			ibv_poll_cq(o->cq, 4, wc);
		attr.qp_state = IBV_QPS_ERR;
		if (below(2))
			ibv_modify_qp(o->qp, &attr, IBV_QP_STATE);
		if (o->qp->qp_type == IBV_QPT_UD)
			ibv_detach_mcast(o->qp, &gid, 0);
	}
}

static void unmake(struct objects *o)
{
	if (o->qp)
		ibv_destroy_qp(o->qp);
	if (o->srq)
		ibv_destroy_srq(o->srq);
	if (o->ah)
		ibv_destroy_ah(o->ah);
	if (o->mw)
		ibv_dealloc_mw(o->mw);
	if (o->mr)
		ibv_dereg_mr(o->mr);
	if (o->cq)
		ibv_destroy_cq(o->cq);
	if (o->channel)
		ibv_destroy_comp_channel(o->channel);
	if (o->pd)
		ibv_dealloc_pd(o->pd);
}

static struct rig rig;

static void *thread_main(void *arg)
{
	struct rig mine = rig;
	void *mem = mmap(NULL, ARENA + 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *buf = aligned_alloc(4096, BUF);

	if (mem == MAP_FAILED || !buf || mprotect(mem + ARENA, 4096, PROT_NONE))
		die("no memory");
	self.seed = (uintptr_t)arg;
	self.arena = mem;
	for (;;) {
		struct objects o = { .rig = &mine, .buf = buf };

		self.lying = true;
		make(&o);
		use(&o);
		for (unsigned int i = 0; i < 20; i++) {
			invent_ioctl(mine.ctx->cmd_fd);
			invent_write(mine.ctx->cmd_fd);
		}
		unmake(&o);
		self.lying = false;
		totals->rounds++;
	}
	return NULL;
}

static _Noreturn void child_main(uint64_t seed)
{
	struct rlimit limit = { 256, 256 };
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	no_ioctl = seed & 1;
	rig_open(&rig, opt.dev, opt.gid);
	/* Lies make files as well, and nobody closes them. */
	setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned int i = 0; i < opt.threads; i++)
		if (pthread_create(&thread, NULL, thread_main, (void *)(seed * 1000 + i)))
			die("pthread_create");
	for (;;)
		pause();
}

/* ------------------------------------------------------------ the supervisor */

/* True when @pid ended within @ms; *@status is how. */
static bool wait_for(pid_t pid, int *status, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (now_ms() >= end)
			return false;
		usleep(10000);
	}
	return true;
}

static void one_child(uint64_t seed, unsigned int ms)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid)
		child_main(seed);
	if (!wait_for(pid, &status, ms)) {
		kill(pid, SIGKILL);
		if (!wait_for(pid, &status, 60000))
			die("the child with seed %" PRIu64 " cannot be killed", seed);
		totals->killed++;
	} else if (WIFSIGNALED(status)) {
		totals->crashed++;
	} else {
		report(false, "the child with seed %" PRIu64 " ended by itself, status %d", seed,
		       WEXITSTATUS(status));
	}
}

/* So many lies, or they say little. */
static bool enough(enum way way)
{
	return totals->sent[way] > 1000 && totals->taken[way];
}

static void tell_errors(enum way way, const char *name)
{
	char text[900] = "";
	size_t at = 0;

	for (int i = 0; i < ERRNOS && at < sizeof(text) - 40; i++)
		if (totals->errors[way][i])
			at += snprintf(text + at, sizeof(text) - at, " %s %lu",
				       strerrorname_np(i), totals->errors[way][i]);
	note("%s: %lu lies,%s", name, totals->sent[way], text);
	report(enough(way), "lies by %s were sent: %lu, and some were taken: %lu", name,
	       totals->sent[way], totals->taken[way]);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seconds", 1, NULL, 's' }, { "seed", 1, NULL, 'S' },
		{ "threads", 1, NULL, 't' }, { 0 },
	};
	int ch;

	opt.seed = time(NULL) ^ getpid();
	while ((ch = getopt_long(argc, argv, "d:g:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			opt.dev = optarg;
			break;
		case 'g':
			opt.gid = optarg;
			break;
		case 's':
			opt.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			opt.threads = strtoul(optarg, NULL, 0);
			break;
		default:
			fprintf(stderr, "usage: commands -d DEV [-g INDEX|v4|v6] [--seconds N]\n"
					"                [--threads N] [--seed N]\n");
			exit(2);
		}
	}
	if (!opt.threads || opt.threads > MAX_THREADS)
		die("1 to %d threads", MAX_THREADS);
}

int main(int argc, char **argv)
{
	uint64_t end, late, seed;

	parse(argc, argv);
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (totals == MAP_FAILED)
		die("no memory");
	note("seed %" PRIu64 ", %u s, %u threads", opt.seed, opt.seconds, opt.threads);
	end = now_ms() + opt.seconds * 1000ull;
	/* A slow machine has longer. */
	late = end + opt.seconds * 9000ull;
	for (seed = opt.seed;
	     now_ms() < (enough(BY_IOCTL) && enough(BY_WRITE) ? end : late); seed++) {
		watchdog(300);
		self.seed = seed;
		one_child(seed, 1000 + below(4000));
	}
	note("%u children were killed, %u died of their lies; %lu rounds, %lu true commands",
	     totals->killed, totals->crashed, totals->rounds, totals->verbs);
	tell_errors(BY_IOCTL, "ioctl()");
	tell_errors(BY_WRITE, "write()");
	report(!totals->bad_errno, "every error is an errno (%u)", totals->bad_errno);
	report(totals->rounds > 0, "a child went through all verbs: %lu times", totals->rounds);
	return report_status();
}
