// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * LD_PRELOAD this to take one half of the uverbs ABI away from a program:
 *
 *   REFUSE=ioctl   RDMA_VERBS_IOCTL fails with ENOTTY, as on a kernel without it
 *   REFUSE=write   every write() command but the doorbell fails with EOPNOTSUPP
 *   REFUSE=both    both of these, after which nothing can work
 *
 * When the process ends, one line on stderr says how many calls were refused
 * and how many doorbells passed; with REFUSE_LOG=FILE it is appended there too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*real_ioctl)(int fd, unsigned long request, ...);
static ssize_t (*real_write)(int fd, const void *buf, size_t len);
static bool no_ioctl, no_write;
static unsigned long refused_ioctls, refused_writes, passed_ioctls, doorbells;

__attribute__((constructor)) static void setup(void)
{
	const char *what = getenv("REFUSE");

	real_ioctl = dlsym(RTLD_NEXT, "ioctl");
	real_write = dlsym(RTLD_NEXT, "write");
	no_ioctl = what && (!strcmp(what, "ioctl") || !strcmp(what, "both"));
	no_write = what && (!strcmp(what, "write") || !strcmp(what, "both"));
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("REFUSE_LOG");
	char line[200];
	int len, fd;

	if (!refused_ioctls && !refused_writes && !passed_ioctls && !doorbells)
		return;
	len = snprintf(line, sizeof(line),
		       "# refuse: %lu ioctl() and %lu write() refused, %lu ioctl() and %lu doorbells passed (%s)\n",
		       refused_ioctls, refused_writes, passed_ioctls, doorbells,
		       program_invocation_short_name);
	if (real_write(STDERR_FILENO, line, len) < 0 || !path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0)
		return;
	if (real_write(fd, line, len) != len)
		fprintf(stderr, "# refuse: cannot write to %s\n", path);
	close(fd);
}

/* A command on its way to a uverbs device, and not a file that looks like one. */
static bool is_uverbs(int fd)
{
	static const char dir[] = "/dev/infiniband/uverbs";
	char link[64], path[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	return len >= (ssize_t)sizeof(dir) - 1 && !memcmp(path, dir, sizeof(dir) - 1);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if ((unsigned int)request == RDMA_VERBS_IOCTL) {
		if (no_ioctl) {
			__atomic_fetch_add(&refused_ioctls, 1, __ATOMIC_RELAXED);
			errno = ENOTTY;
			return -1;
		}
		__atomic_fetch_add(&passed_ioctls, 1, __ATOMIC_RELAXED);
	}
	return real_ioctl(fd, request, arg);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	struct ib_uverbs_cmd_hdr hdr;

	if (len < sizeof(hdr))
		return real_write(fd, buf, len);
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.command == IB_USER_VERBS_CMD_POST_SEND && hdr.in_words * 4u == len) {
		__atomic_fetch_add(&doorbells, 1, __ATOMIC_RELAXED);
		return real_write(fd, buf, len);
	}
	if (no_write && is_uverbs(fd)) {
		__atomic_fetch_add(&refused_writes, 1, __ATOMIC_RELAXED);
		errno = EOPNOTSUPP;
		return -1;
	}
	return real_write(fd, buf, len);
}
