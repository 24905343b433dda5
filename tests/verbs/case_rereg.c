// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Re-registration. The stock provider has no call for it, so the command is
 * written by hand.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#include "cases.h"

#define PAGE 4096
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND)

/* A pair, and two pages of which one is registered. */
struct place {
	struct pair pair;
	char *pages;
	struct ibv_mr *mr;
	uint32_t rkey;
};

static void place_open(const struct setting *set, struct place *p)
{
	memset(p, 0, sizeof(*p));
	pair_open(set, &p->pair, PAGE);
	memset(p->pair.buf, 0x5a, PAGE);
	p->pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->pages == MAP_FAILED)
		die("no memory");
	p->mr = ibv_reg_mr(p->pair.rig.pd, p->pages, PAGE, ACCESS);
	if (!p->mr)
		die("ibv_reg_mr: %s", strerror(errno));
	p->rkey = p->mr->rkey;
}

static void place_close(struct place *p)
{
	int err = ibv_dereg_mr(p->mr);

	if (err)
		die("ibv_dereg_mr: %s", strerror(err));
	munmap(p->pages, 2 * PAGE);
	pair_close(&p->pair);
}

/* 0 and the new key is known, or an errno. */
static int rereg(struct place *p, uint32_t flags, const char *start, uint32_t length,
		 struct ibv_pd *pd, uint32_t access)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr req;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_REREG_MR,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.req.response = (uintptr_t)&resp,
		.req.mr_handle = p->mr->handle,
		.req.flags = flags,
		.req.start = (uintptr_t)start,
		.req.length = length,
		.req.hca_va = (uintptr_t)start,
		.req.pd_handle = pd ? pd->handle : 0,
		.req.access_flags = access,
	};

	if (write(p->pair.rig.ctx->cmd_fd, &cmd, sizeof(cmd)) != sizeof(cmd))
		return errno;
	p->rkey = resp.rkey;
	return 0;
}

/* Eight bytes to the start of page @page: what came of it, and are they there? */
static int try_write(struct place *p, int page, bool *there)
{
	static const char marks[8] = "ZZZZZZZZ";
	int result;

	memset(p->pages, 0, 2 * PAGE);
	result = pair_write(&p->pair, (uintptr_t)p->pages + page * PAGE, p->rkey, 8);
	*there = !memcmp(p->pages + page * PAGE, marks, 8);
	return result;
}

/* How often a page was pinned since boot; -1 where the kernel does not count. */
static long pins(void)
{
	FILE *fold = fopen("/proc/sys/vm/stat_refresh", "r"), *file;
	char line[128];
	long n = -1;

	/* Each processor counts for itself; reading this adds up. */
	if (fold) {
		fgetc(fold);
		fclose(fold);
	}
	file = fopen("/proc/vmstat", "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "nr_foll_pin_acquired %ld", &n) == 1)
			break;
	if (file)
		fclose(file);
	return n;
}

/* Memory that stays is not pinned anew, but for a right it was not pinned for. */
static void rereg_pins(const struct setting *set)
{
	struct place p;
	long before, same, moved;
	int err;

	if (set->foreign)
		return;
	before = pins();
	place_open(set, &p);
	if (before < 0 || pins() == before) {
		report_skip("this kernel does not count pins", "pins of a re-registration");
		place_close(&p);
		return;
	}
	before = pins();
	err = rereg(&p, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL, IBV_ACCESS_LOCAL_WRITE);
	same = pins() - before;
	report(!err && !same, "other rights to the same memory pin %ld pages: %s", same,
	       strerror(err));
	before = pins();
	err = rereg(&p, IBV_REREG_MR_CHANGE_TRANSLATION, p.pages + PAGE, PAGE, NULL, 0);
	moved = pins() - before;
	report(!err && moved == 1, "one page of other memory pins %ld: %s", moved, strerror(err));
	place_close(&p);
}

static void rereg_changes(const struct setting *set)
{
	struct ibv_pd *pd;
	struct place p;
	bool there;
	int err, result;

	if (set->foreign)
		return;
	place_open(set, &p);
	err = rereg(&p, IBV_REREG_MR_CHANGE_TRANSLATION, p.pages + PAGE, PAGE, NULL, 0);
	result = try_write(&p, 1, &there);
	report(!err && !result && there, "a region moved to another page: %s, WRITE there: %s",
	       strerror(err), outcome(result));
	result = try_write(&p, 0, &there);
	report(result == IBV_WC_REM_ACCESS_ERR && !there, "WRITE to where it was: %s",
	       outcome(result));
	place_close(&p);

	place_open(set, &p);
	err = rereg(&p, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL, IBV_ACCESS_LOCAL_WRITE);
	result = try_write(&p, 0, &there);
	report(!err && result == IBV_WC_REM_ACCESS_ERR && !there,
	       "a region without remote write any more: %s, WRITE: %s", strerror(err),
	       outcome(result));
	place_close(&p);

	place_open(set, &p);
	pd = ibv_alloc_pd(p.pair.rig.ctx);
	if (!pd)
		die("ibv_alloc_pd: %s", strerror(errno));
	err = rereg(&p, IBV_REREG_MR_CHANGE_PD, NULL, 0, pd, 0);
	report(!err && ibv_dealloc_pd(pd) == EBUSY, "a region in another PD, which is in use: %s",
	       strerror(err));
	result = try_write(&p, 0, &there);
	report(result == IBV_WC_REM_ACCESS_ERR && !there, "WRITE from a queue pair of the first PD: %s",
	       outcome(result));
	err = rereg(&p, IBV_REREG_MR_CHANGE_PD, NULL, 0, p.pair.rig.pd, 0);
	report(!err && !ibv_dealloc_pd(pd), "back again, and the other PD is free: %s", strerror(err));
	place_close(&p);
}

/* After each refusal the region is what it was. */
static void rereg_refusals(const struct setting *set)
{
	static const struct {
		const char *name;
		uint32_t flags;
		uintptr_t start;
		uint32_t access;
		int err;
	} tries[] = {
		{ "nothing to change", 0, 0, 0, EINVAL },
		{ "an unknown change", 8, 0, 0, EOPNOTSUPP },
		{ "memory that is not there", IBV_REREG_MR_CHANGE_TRANSLATION, PAGE, 0, EFAULT },
		{ "a range that wraps", IBV_REREG_MR_CHANGE_TRANSLATION, -8, 0, EINVAL },
		{ "remote write without local", IBV_REREG_MR_CHANGE_ACCESS, 0, IBV_ACCESS_REMOTE_WRITE,
		  EINVAL },
	};
	struct place p;
	bool there;
	int result;

	if (set->foreign)
		return;
	place_open(set, &p);
	for (unsigned int i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		uint32_t key = p.rkey;
		int err = rereg(&p, tries[i].flags, (const char *)tries[i].start, PAGE, NULL,
				tries[i].access);

		result = try_write(&p, 0, &there);
		report(err == tries[i].err && p.rkey == key && !result && there,
		       "re-registration, %s: %s, WRITE as before: %s", tries[i].name,
		       strerror(err), outcome(result));
	}
	place_close(&p);
}

const struct test_case rereg_cases[] = {
	{ "REREG", "a region that is registered again", rereg_changes },
	{ "REREG_PINS", "pinning at re-registration", rereg_pins },
	{ "REREG_BAD", "re-registrations that are refused", rereg_refusals },
	{ 0 },
};
