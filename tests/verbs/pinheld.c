// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A command over memory that does not come: a page of a file system whose daemon
 * never answers.
 *
 *   pinheld -d DEV -m DIR register|reregister|answer
 *
 * It mounts that file system on DIR, with a child of its own as the daemon, and
 * prints "# daemon PID". When the page is asked for it prints "# held"; then it is
 * stuck until the daemon has died. In the end it prints "# command: ERROR" and has
 * status 0 when there was one.
 *
 * register and reregister have the page pinned, answer has the kernel write there
 * where the ring of a new completion queue is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/fuse.h>
#include <rdma/ib_user_verbs.h>

#include "report.h"
#include "rig.h"

#define PAGE 4096

/* ---- the daemon ---- */

static void reply(int fd, uint64_t unique, int err, const void *data, size_t len)
{
	struct {
		struct fuse_out_header head;
		char data[256];
	} out = { .head = { .len = sizeof(out.head) + len, .error = err, .unique = unique } };

	memcpy(out.data, data, len);
	if (write(fd, &out, out.head.len) < 0)
		note("the daemon: %s", strerror(errno));
}

static struct fuse_attr file_attr(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0666, .nlink = 1,
		.size = 16 * PAGE, .blksize = PAGE,
	};
}

/* Whatever its name, there is one file. It is never read. */
static void serve_one(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = 7, .minor = 31, .max_readahead = PAGE, .max_write = PAGE,
	};
	struct fuse_attr_out attr = { .attr_valid = 1000, .attr = file_attr(in->nodeid) };
	struct fuse_entry_out entry = {
		.nodeid = 2, .attr_valid = 1000, .entry_valid = 1000, .attr = file_attr(2),
	};
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		return reply(fd, in->unique, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return reply(fd, in->unique, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(fd, in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return reply(fd, in->unique, 0, &open, sizeof(open));
	case FUSE_READ:
		note("held");
		return;
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		reply(fd, in->unique, -EOPNOTSUPP, NULL, 0);
	}
}

static void serve(int fd)
{
	static union {
		struct fuse_in_header head;
		char space[64 << 10];
	} in;

	for (;;) {
		if (read(fd, &in, sizeof(in)) >= 0)
			serve_one(fd, &in.head);
		else if (errno != EINTR)
			_exit(0);
	}
}

/* A page of the file, of which nothing is there yet. */
static char *held_page(const char *dir)
{
	char text[256];
	int fd = open("/dev/fuse", O_RDWR), file;
	pid_t daemon;
	char *at;

	if (fd < 0)
		die("/dev/fuse: %s", strerror(errno));
	snprintf(text, sizeof(text), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("pinheld", dir, "fuse", MS_NOSUID | MS_NODEV, text))
		die("mounting on %s: %s", dir, strerror(errno));
	daemon = fork();
	if (!daemon)
		serve(fd);
	/* The file system is there as long as somebody has the descriptor. */
	close(fd);
	note("daemon %d", daemon);
	snprintf(text, sizeof(text), "%s/file", dir);
	file = open(text, O_RDONLY);
	if (file < 0)
		die("%s: %s", text, strerror(errno));
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	if (at == MAP_FAILED)
		die("mapping %s: %s", text, strerror(errno));
	close(file);
	return at;
}

/* ---- the commands: 0 or an errno ---- */

static int do_register(struct rig *rig, char *page)
{
	return ibv_reg_mr(rig->pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

static int do_reregister(struct rig *rig, char *page)
{
	char *mine = aligned_alloc(PAGE, PAGE);
	struct ibv_mr *mr = mine ? ibv_reg_mr(rig->pd, mine, PAGE, IBV_ACCESS_LOCAL_WRITE) : NULL;

	if (!mr)
		die("a region to begin with: %s", strerror(errno));
	return rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, page, PAGE, page, NULL, 0, NULL);
}

/* The driver's part, a struct mminfo, begins with the page. */
static int do_answer(struct rig *rig, char *page)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
		struct ib_uverbs_ex_create_cq req;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ,
		.hdr.in_words = sizeof(cmd.req) / 8,
		.hdr.out_words = sizeof(struct ib_uverbs_ex_create_cq_resp) / 8,
		.ex.response = (uintptr_t)page - sizeof(struct ib_uverbs_ex_create_cq_resp),
		.ex.provider_out_words = 2,
		.req.cqe = 16,
		.req.comp_channel = -1,
	};

	return write(rig->ctx->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd) ? 0 : errno;
}

static const struct {
	const char *name;
	int (*run)(struct rig *rig, char *page);
} commands[] = {
	{ "register", do_register },
	{ "reregister", do_reregister },
	{ "answer", do_answer },
};

int main(int argc, char **argv)
{
	const char *dev = "", *dir = NULL;
	unsigned int which = 0;
	struct rig rig;
	char *page;
	int ch, err;

	while ((ch = getopt(argc, argv, "d:m:")) != -1) {
		if (ch == 'd')
			dev = optarg;
		else if (ch == 'm')
			dir = optarg;
		else
			return 2;
	}
	while (optind < argc && which < sizeof(commands) / sizeof(*commands) &&
	       strcmp(argv[optind], commands[which].name))
		which++;
	if (!dir || optind + 1 != argc || which == sizeof(commands) / sizeof(*commands))
		die("usage: pinheld -d DEV -m DIR register|reregister|answer");
	setvbuf(stdout, NULL, _IOLBF, 0);
	rig_open(&rig, dev, "0");
	page = held_page(dir);
	/* Before the file's page is one that is there: the core's part of an answer. */
	if (!strcmp(commands[which].name, "answer")) {
		char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (two == MAP_FAILED ||
		    mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, two + PAGE) !=
			    two + PAGE)
			die("moving the page: %s", strerror(errno));
		page = two + PAGE;
	}
	err = commands[which].run(&rig, page);
	note("command: %s", strerror(err));
	return err ? 0 : 1;
}
