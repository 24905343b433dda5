// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A command that needs a page which does not come.
 *
 *   holder -d DEV CASE
 *
 * The page is one of a file system of the program's own, whose server takes the
 * request for it and never answers: the access waits for as long as the server
 * lives, whatever signals come.  "# held PID" says that it has come to that; PID
 * is the server, to be killed.  Then the command has to end, with an error.
 *
 *   response   the core's part of a response is in the page
 *   driver     the driver's part is, the core's is not
 *   input      the driver's part of a request
 *   told       where a request says that the driver is to write
 *   region     a region of memory is registered there
 *   vanish     no such page: one that goes again and again while a command runs
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "report.h"

#define PAGE	4096u
#define ROUNDS	2000

static struct ibv_context *ctx;
static struct ibv_srq *srq;
/* Two pages: one that is there, and behind it the one that is not. */
static char *there, *absent;

/* ---- the file system: one file, /f ---- */

static void answer(int fuse, const struct fuse_in_header *to, int error,
		   const void *data, size_t len)
{
	char buf[512];
	struct fuse_out_header *out = (void *)buf;

	out->len = sizeof(*out) + len;
	out->error = error;
	out->unique = to->unique;
	if (len)
		memcpy(buf + sizeof(*out), data, len);
	if (write(fuse, buf, out->len) < 0)
		die("an answer of the file system: %s", strerror(errno));
}

static void serve_one(int fuse, const struct fuse_in_header *in)
{
	struct fuse_attr attr = {
		.ino = in->nodeid, .mode = S_IFREG | 0666, .nlink = 1, .size = PAGE,
		.blksize = PAGE,
	};
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = PAGE,
		.max_write = PAGE,
	};
	struct fuse_attr_out got = { .attr_valid = 1000 };
	struct fuse_entry_out entry = { .nodeid = 2, .attr_valid = 1000, .entry_valid = 1000 };
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fuse, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.attr = attr;
		entry.attr.ino = entry.nodeid;
		answer(fuse, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		if (in->nodeid == FUSE_ROOT_ID)
			attr.mode = S_IFDIR | 0755;
		got.attr = attr;
		answer(fuse, in, 0, &got, sizeof(got));
		break;
	case FUSE_OPEN:
		answer(fuse, in, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		printf("# held %d\n", (int)getpid());
		fflush(stdout);
		break;
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fuse, in, -EOPNOTSUPP, NULL, 0);
	}
}

_Noreturn static void serve(int fuse)
{
	static char buf[2 * FUSE_MIN_READ_BUFFER];
	ssize_t len;

	while ((len = read(fuse, buf, sizeof(buf))) > 0 || errno == EINTR)
		if (len >= (ssize_t)sizeof(struct fuse_in_header))
			serve_one(fuse, (void *)buf);
	_exit(0);
}

/* The server is a process: it has to be able to end when this one cannot. */
static void make_pages(void)
{
	char dir[] = "/tmp/holder.XXXXXX", path[64], options[100];
	int fuse, fd;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("a name space of mounts: %s", strerror(errno));
	fuse = open("/dev/fuse", O_RDWR);
	if (fuse < 0 && !mknod("/dev/fuse", S_IFCHR | 0666, makedev(10, 229)))
		fuse = open("/dev/fuse", O_RDWR);
	if (fuse < 0)
		die("/dev/fuse: %s", strerror(errno));
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (!mkdtemp(dir) || mount("holder", dir, "fuse", MS_NOSUID | MS_NODEV, options))
		die("mounting a file system: %s", strerror(errno));
	fflush(stdout);
	switch (fork()) {
	case -1:
		die("fork: %s", strerror(errno));
	case 0:
		serve(fuse);
	}
	close(fuse);
	snprintf(path, sizeof(path), "%s/f", dir);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	there = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (there == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	memset(there, 0, PAGE);
	absent = mmap(there + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (absent == MAP_FAILED)
		die("mmap of the file: %s", strerror(errno));
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

/* ---- the commands, as write() has them ---- */

static int command(const void *buf, size_t len)
{
	return write(ctx->cmd_fd, buf, len) < 0 ? errno : 0;
}

static int create_cq(void *response)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq cq;
	} cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_CREATE_CQ,
			.in_words = sizeof(cmd) / 4,
			.out_words = (sizeof(struct ib_uverbs_create_cq_resp) +
				      sizeof(struct rxe_create_cq_resp)) / 4,
		},
		.cq = { .response = (uintptr_t)response, .cqe = 15, .comp_channel = -1 },
	};

	return command(&cmd, sizeof(cmd));
}

/* The header, the core's part and the driver's: where to write of the new ring. */
#define RESIZE_CORE	(sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_modify_srq))
#define RESIZE_ALL	(RESIZE_CORE + sizeof(struct rxe_modify_srq_cmd))

static void fill_resize(char *buf, void *told)
{
	struct ib_uverbs_cmd_hdr hdr = {
		.command = IB_USER_VERBS_CMD_MODIFY_SRQ, .in_words = RESIZE_ALL / 4,
	};
	struct ib_uverbs_modify_srq req = {
		.srq_handle = srq->handle, .attr_mask = IBV_SRQ_MAX_WR, .max_wr = 63,
	};
	struct rxe_modify_srq_cmd mine = { .mmap_info_addr = (uintptr_t)told };

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), &req, sizeof(req));
	memcpy(buf + RESIZE_CORE, &mine, sizeof(mine));
}

static int resize_srq(void *told)
{
	char buf[RESIZE_ALL];

	fill_resize(buf, told);
	return command(buf, sizeof(buf));
}

static int response(void)
{
	return create_cq(absent);
}

static int driver(void)
{
	return create_cq(absent - sizeof(struct ib_uverbs_create_cq_resp));
}

static int input(void)
{
	char buf[RESIZE_ALL];

	fill_resize(buf, there);
	memcpy(absent - RESIZE_CORE, buf, RESIZE_CORE);
	return command(absent - RESIZE_CORE, RESIZE_ALL);
}

static int told(void)
{
	return resize_srq(absent);
}

static int region(void)
{
	return ibv_reg_mr(srq->pd, absent, PAGE, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

/* ---- vanish ---- */

static volatile bool stop;

static void *drop_pages(void *arg)
{
	while (!stop)
		madvise(there, PAGE, MADV_DONTNEED);
	return arg;
}

static void vanish(void)
{
	unsigned int done = 0, faults = 0;
	pthread_t thread;
	int err = 0;

	there = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (there == MAP_FAILED || pthread_create(&thread, NULL, drop_pages, NULL))
		die("a thread that drops a page");
	for (unsigned int i = 0; i < ROUNDS; i++) {
		err = i & 1 ? create_cq(there) : resize_srq(there);
		done += !err;
		faults += err == EFAULT;
		if (err && err != EFAULT)
			break;
	}
	stop = true;
	pthread_join(thread, NULL);
	note("%u commands done, %u EFAULT", done, faults);
	report(done + faults == ROUNDS && done, "a page that goes while commands use it (%s)",
	       strerror(err));
	report(!create_cq(there), "one that stays afterwards");
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "response", response }, { "driver", driver }, { "input", input }, { "told", told },
	{ "region", region },
};

static void open_device(const char *name)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 31, .max_sge = 1 } };
	struct ibv_device **list;
	struct ibv_pd *pd;
	int num;

	list = ibv_get_device_list(&num);
	for (int i = 0; list && i < num; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		die("no device %s", name);
	pd = ibv_alloc_pd(ctx);
	srq = pd ? ibv_create_srq(pd, &init) : NULL;
	if (!srq)
		die("a shared receive queue: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	int opt, err;

	while ((opt = getopt(argc, argv, "d:")) != -1)
		if (opt == 'd')
			name = optarg;
	if (!name || optind + 1 != argc)
		die("usage: holder -d DEV CASE");
	open_device(name);
	if (!strcmp(argv[optind], "vanish")) {
		vanish();
		return report_status();
	}
	make_pages();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[optind]))
			continue;
		err = cases[i].run();
		report(err, "%s: the command ended with '%s'", argv[optind], strerror(err));
		return report_status();
	}
	die("no case %s", argv[optind]);
}
