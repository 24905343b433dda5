// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fail_nth.h"
#include "report.h"

static int ctl = -1;
static enum refuse refusing;
static bool begun;
static unsigned int left;
static unsigned long ioctls, writes;

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (syscall(SYS_pwrite64, ctl, text, len, 0l) != len)
		die("fail-nth: %s", strerror(errno));
}

static bool set(const char *what, const char *name, const char *value)
{
	char path[128];
	ssize_t len = strlen(value);
	bool good;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", what, name);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY);
	good = fd >= 0 && syscall(SYS_write, fd, value, len) == len;
	syscall(SYS_close, fd);
	return good;
}

bool fail_nth_setup(enum refuse refuse)
{
	refusing = refuse;
	ctl = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/fail-nth", O_RDWR);
	/* What may sleep can fail as well, single pages too, and no stack is shown. */
	return ctl >= 0 && set("failslab", "ignore-gfp-wait", "N") &&
	       set("failslab", "verbose", "0") && set("fail_page_alloc", "verbose", "0") &&
	       set("fail_page_alloc", "ignore-gfp-wait", "N") &&
	       set("fail_page_alloc", "ignore-gfp-highmem", "N") &&
	       set("fail_page_alloc", "min-order", "0");
}

void fail_nth_begin(unsigned int n)
{
	begun = true;
	left = n;
}

bool fail_nth_end(void)
{
	begun = false;
	return !left;
}

void fail_nth_enter(void)
{
	if (begun && left)
		arm(left);
}

/* Keeps errno, which is the verb's. */
void fail_nth_leave(void)
{
	int saved = errno;
	char text[16] = "";

	if (begun && left) {
		if (syscall(SYS_pread64, ctl, text, sizeof(text) - 1, 0l) <= 0)
			die("fail-nth: %s", strerror(errno));
		left = strtoul(text, NULL, 10);
		arm(0);
	}
	errno = saved;
}

unsigned long fail_nth_ioctls(void)
{
	return ioctls;
}

unsigned long fail_nth_writes(void)
{
	return writes;
}

/* ---- what libibverbs calls ---- */

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if ((unsigned int)request != RDMA_VERBS_IOCTL)
		return syscall(SYS_ioctl, fd, request, arg);
	if (refusing == REFUSE_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	ioctls++;
	fail_nth_enter();
	ret = syscall(SYS_ioctl, fd, request, arg);
	fail_nth_leave();
	return ret;
}

static bool is_command(const void *buf, size_t len)
{
	struct ib_uverbs_cmd_hdr hdr;

	if (len < sizeof(hdr))
		return false;
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		return true;
	return hdr.command <= IB_USER_VERBS_CMD_OPEN_QP && hdr.in_words * 4u == len;
}

ssize_t write(int fd, const void *buf, size_t len)
{
	struct ib_uverbs_cmd_hdr hdr;
	ssize_t ret;

	if (fd <= STDERR_FILENO || !is_command(buf, len))
		return syscall(SYS_write, fd, buf, len);
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.command != IB_USER_VERBS_CMD_POST_SEND) {
		if (refusing == REFUSE_WRITE) {
			errno = EOPNOTSUPP;
			return -1;
		}
		writes++;
	}
	fail_nth_enter();
	ret = syscall(SYS_write, fd, buf, len);
	fail_nth_leave();
	return ret;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	bool ring = fd >= 0 && flags & MAP_SHARED;
	void *ret;

	if (ring)
		fail_nth_enter();
	ret = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
	if (ring)
		fail_nth_leave();
	return ret;
}

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	bool node = strstr(path, "uverbs") && !strstr(path, "/sys/");
	int ret;

	if (node)
		fail_nth_enter();
	ret = syscall(SYS_openat, dir, path, flags, mode);
	if (node)
		fail_nth_leave();
	return ret;
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return open_at(dir, path, flags, mode);
}
