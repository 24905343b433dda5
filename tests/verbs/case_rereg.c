// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Re-registration. The stock provider has no call for it, so the command is
 * written by hand.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"

#define PAGE 4096
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_MW_BIND)

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
static int rereg_at(struct place *p, uint32_t flags, const char *start, uint32_t length,
		    const char *virt, struct ibv_pd *pd, uint32_t access)
{
	return rereg_mr(p->mr, flags, start, length, virt, pd, access, &p->rkey);
}

static int rereg(struct place *p, uint32_t flags, const char *start, uint32_t length,
		 struct ibv_pd *pd, uint32_t access)
{
	return rereg_at(p, flags, start, length, start, pd, access);
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

#define LONG (64 << 10)

/* A region that is registered again and again while a peer writes there. */
struct busy {
	struct place place;	/* its pages: twice LONG bytes */
	bool moves;
	atomic_bool stop;
	unsigned long times, touched;
	int err;
};

/* Where it was is the program's own again: nothing is written there. */
static void own_again(struct busy *b, char *at)
{
	memset(at, 0x77, LONG);
	usleep(1000);
	for (size_t i = 0; i < LONG; i++)
		b->touched += at[i] != 0x77;
}

static void *rereg_often(void *arg)
{
	struct busy *b = arg;
	char *a = b->place.pages;

	for (; !b->stop && !b->err; b->times++) {
		bool odd = b->times & 1;

		if (b->moves) {
			b->err = rereg_at(&b->place, IBV_REREG_MR_CHANGE_TRANSLATION,
					  odd ? a : a + LONG, LONG, a, NULL, 0);
			if (!b->err && !(b->times % 16))
				own_again(b, odd ? a + LONG : a);
		} else {
			b->err = rereg(&b->place, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL,
				       ACCESS | (odd ? 0 : IBV_ACCESS_REMOTE_ATOMIC));
		}
		if (!(b->times % 8))
			usleep(200);
	}
	return NULL;
}

/* What the region allows before and after is never refused. */
static void rereg_traffic_of(const struct setting *set, bool moves)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	struct busy b = { .moves = moves };
	struct pair *p = &b.place.pair;
	unsigned int done = 0;
	pthread_t thread;
	uint64_t end;
	int result = 0;

	pair_open(set, p, LONG);
	b.place.pages = mmap(NULL, 2 * LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	b.place.mr = b.place.pages == MAP_FAILED ? NULL :
		     ibv_reg_mr(p->rig.pd, b.place.pages, LONG, ACCESS);
	if (!b.place.mr || pthread_create(&thread, NULL, rereg_often, &b))
		die("a region under traffic: %s", strerror(errno));
	for (end = now_ms() + 3000; now_ms() < end && !result; done++) {
		struct ibv_sge sge = { (uintptr_t)p->buf, LONG, p->mr->lkey };

		result = pair_do(p, ops[done & 1], &sge, 1, (uintptr_t)b.place.pages,
				 b.place.mr->rkey, 20000, NULL);
	}
	b.stop = true;
	pthread_join(thread, NULL);
	report(!result && !b.err && !b.touched,
	       "%s %lu times (%s) under %u WRITEs and READs: %s, %lu bytes written where it was",
	       moves ? "a region that moves" : "other rights to a region", b.times,
	       strerror(b.err), done, outcome(result), b.touched);
	if (ibv_dereg_mr(b.place.mr))
		die("ibv_dereg_mr");
	munmap(b.place.pages, 2 * LONG);
	pair_close(p);
}

static void rereg_traffic(const struct setting *set)
{
	if (set->foreign)
		return;
	rereg_traffic_of(set, false);
	rereg_traffic_of(set, true);
}

const struct test_case rereg_cases[] = {
	{ "REREG", "a region that is registered again", rereg_changes },
	{ "REREG_PINS", "pinning at re-registration", rereg_pins },
	{ "REREG_BAD", "re-registrations that are refused", rereg_refusals },
	{ "REREG_BUSY", "re-registration under traffic", rereg_traffic },
	{ 0 },
};
