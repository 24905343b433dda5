// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <endian.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

#define NOBODY 65534

/* How far a plain user got: the exit status of the process that played it. */
enum step { ALL_WELL, CRASHED, NO_DEVICE /* what die() gives */, NOT_NOBODY, NO_MEMORY,
	    SMALL_REFUSED, LARGE_ALLOWED, WRONG_ERRNO, DEREG_FAILED, LIMIT_LEAKS };

static const char *const steps[] = {
	[ALL_WELL] = "all as it should be",
	[CRASHED] = "crashed",
	[NO_DEVICE] = "the device cannot be opened",
	[NOT_NOBODY] = "cannot become nobody",
	[NO_MEMORY] = "no memory",
	[SMALL_REFUSED] = "ibv_reg_mr within the limit fails",
	[LARGE_ALLOWED] = "ibv_reg_mr beyond the limit works",
	[WRONG_ERRNO] = "ibv_reg_mr beyond the limit does not say ENOMEM",
	[DEREG_FAILED] = "ibv_dereg_mr fails",
	[LIMIT_LEAKS] = "the limit leaks",
};

static void a26_identity(const struct setting *set)
{
	struct rig rig;

	case_open(set, &rig);
	report(rig.dev.node_guid && rig.dev.sys_image_guid,
	       "A26 node GUID %016llx and system image GUID %016llx are set",
	       (unsigned long long)be64toh(rig.dev.node_guid),
	       (unsigned long long)be64toh(rig.dev.sys_image_guid));
	report(rig.dev.vendor_id == 0xffffff, "A26 vendor id 0x%06x", rig.dev.vendor_id);
	report(rig.dev.phys_port_cnt == 1, "A26 %u port", rig.dev.phys_port_cnt);
	rig_close(&rig);
}

/* Runs in a process of its own. */
static enum step as_nobody(const struct setting *set)
{
	struct rlimit limit = { 64 << 10, 64 << 10 };
	size_t len = 1 << 20;
	struct ibv_mr *small, *large;
	struct rig rig;
	char *buf;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgroups(0, NULL) || setgid(NOBODY) ||
	    setuid(NOBODY))
		return NOT_NOBODY;
	case_open(set, &rig);
	buf = aligned_alloc(4096, len);
	if (!buf)
		return NO_MEMORY;
	small = ibv_reg_mr(rig.pd, buf, 16 << 10, IBV_ACCESS_LOCAL_WRITE);
	if (!small)
		return SMALL_REFUSED;
	errno = 0;
	large = ibv_reg_mr(rig.pd, buf, len, IBV_ACCESS_LOCAL_WRITE);
	if (large)
		return LARGE_ALLOWED;
	if (errno != ENOMEM) {
		note("A34 ibv_reg_mr gave %s", strerror(errno));
		return WRONG_ERRNO;
	}
	/* What was refused is not kept: the small amount still fits. */
	if (ibv_dereg_mr(small))
		return DEREG_FAILED;
	for (int i = 0; i < 64; i++) {
		small = ibv_reg_mr(rig.pd, buf, 32 << 10, IBV_ACCESS_LOCAL_WRITE);
		if (!small || ibv_dereg_mr(small))
			return LIMIT_LEAKS;
	}
	rig_close(&rig);
	return ALL_WELL;
}

static void a34_plain_user(const struct setting *set)
{
	int status, code;
	struct stat st;
	char path[64];
	pid_t pid;

	for (int i = 0; i < 32; i++) {
		snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", i);
		if (stat(path, &st))
			continue;
		report((st.st_mode & 0777) == 0666, "A34 %s has mode %o", path,
		       st.st_mode & 0777);
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(as_nobody(set));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("A34 fork: %s", strerror(errno));
	code = WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
	if (code > LIMIT_LEAKS)
		code = CRASHED;
	report(code == ALL_WELL, "A34 a plain user with 64 KiB of lockable memory: %s",
	       steps[code]);
}

const struct test_case device_cases[] = {
	{ "A26", "GUIDs and vendor id are what tools expect", a26_identity },
	{ "A34", "a plain user can open the device, and RLIMIT_MEMLOCK holds", a34_plain_user },
	{ 0 },
};
