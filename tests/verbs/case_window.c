// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define MR_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)

/* A pair whose second page can be reached through windows only. */
struct windows {
	struct pair pair;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static char *page_of(struct windows *w)
{
	return w->pair.buf + 4096;
}

static bool windows_open(const struct setting *set, struct windows *w, enum ibv_mw_type type)
{
	memset(w, 0, sizeof(*w));
	pair_open(set, &w->pair, 8192);
	w->mr = ibv_reg_mr(w->pair.rig.pd, page_of(w), 4096, MR_ACCESS);
	w->mw = ibv_alloc_mw(w->pair.rig.pd, type);
	if (!w->mr || !w->mw) {
		report(false, "a window of type %d: %s", type, strerror(errno));
		return false;
	}
	return true;
}

static void windows_close(struct windows *w)
{
	int err = w->mw ? ibv_dealloc_mw(w->mw) : 0;

	err = err ?: ibv_dereg_mr(w->mr);
	if (err)
		die("destroying windows: %s", strerror(err));
	pair_close(&w->pair);
}

/* One request of the pair's second queue pair, the owner of the memory. As pair_do(). */
static int owner_does(struct windows *w, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int err;

	wr->send_flags |= IBV_SEND_SIGNALED;
	err = ibv_post_send(w->pair.qp[1], wr, &bad);
	if (err)
		return -abs(err);
	err = rig_wait(w->pair.cq, &wc, 3000);
	return err == 1 ? (int)wc.status : err ?: -ETIMEDOUT;
}

static int bind_window(struct windows *w, uint32_t rkey, uint64_t off, uint64_t len,
		       unsigned int access)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	wr.bind_mw.mw = w->mw;
	wr.bind_mw.rkey = rkey;
	wr.bind_mw.bind_info.mr = w->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)page_of(w) + off;
	wr.bind_mw.bind_info.length = len;
	wr.bind_mw.bind_info.mw_access_flags = access;
	return owner_does(w, &wr);
}

static int write_at(struct windows *w, uint32_t rkey, unsigned int off, unsigned int len)
{
	return pair_write(&w->pair, (uintptr_t)page_of(w) + off, rkey, len);
}

/* What is written through the window of [256, 512) is there, and what is not is not. */
static void window_range(const struct setting *set)
{
	static const struct {
		unsigned int off, len;
		bool good;
	} tries[] = {
		{ 256, 256, true }, { 300, 1, true }, { 511, 1, true },
		{ 255, 1, false }, { 255, 2, false }, { 511, 2, false }, { 512, 1, false },
		{ 0, 4096, false },
	};

	for (unsigned int i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		bool clean = true, good = tries[i].good;
		struct windows w;
		uint32_t rkey;
		int bound, wrote;

		if (!windows_open(set, &w, IBV_MW_TYPE_2))
			return;
		rkey = ibv_inc_rkey(w.mw->rkey);
		memset(w.pair.buf, 0x5a, 4096);
		bound = bind_window(&w, rkey, 256, 256, IBV_ACCESS_REMOTE_WRITE);
		wrote = write_at(&w, rkey, tries[i].off, tries[i].len);
		for (unsigned int k = 0; k < 4096; k++)
			clean &= page_of(&w)[k] == (good && k >= tries[i].off &&
						    k < tries[i].off + tries[i].len ? 0x5a : 0);
		report(!bound && clean && (good ? !wrote : wrote == IBV_WC_REM_ACCESS_ERR),
		       "window of [256, 512): WRITE of [%u, %u): bound: %s, written: %s%s",
		       tries[i].off, tries[i].off + tries[i].len, outcome(bound), outcome(wrote),
		       clean ? "" : ", memory is wrong");
		windows_close(&w);
	}
}

/* Each as a queue pair of its own, since the refusal ends it. */
static void window_refusals(const struct setting *set)
{
	static const struct {
		uint64_t addr, len;
	} wraps[] = {
		{ 0xfffffffffffffc00, 0x400 }, { 0xfffffffffffffc00, 0x401 },
		{ 0xffffffffffffffff, 2 },
	};
	struct ibv_send_wr inv = { .opcode = IBV_WR_LOCAL_INV };
	struct windows w;
	uint32_t rkey;
	int result;

	if (!windows_open(set, &w, IBV_MW_TYPE_2))
		return;
	rkey = ibv_inc_rkey(w.mw->rkey);
	result = bind_window(&w, rkey, 4000, 200, IBV_ACCESS_REMOTE_WRITE);
	report(result == IBV_WC_MW_BIND_ERR, "a window beyond its region: %s", outcome(result));
	windows_close(&w);

	windows_open(set, &w, IBV_MW_TYPE_2);
	rkey = ibv_inc_rkey(w.mw->rkey);
	result = bind_window(&w, rkey, 0, 64, IBV_ACCESS_REMOTE_READ);
	result = result ?: write_at(&w, rkey, 0, 8);
	report(result == IBV_WC_REM_ACCESS_ERR, "WRITE through a window for reading: %s",
	       outcome(result));
	windows_close(&w);

	windows_open(set, &w, IBV_MW_TYPE_2);
	rkey = ibv_inc_rkey(w.mw->rkey);
	result = bind_window(&w, rkey, 0, 64, IBV_ACCESS_REMOTE_WRITE);
	report(!result && ibv_dereg_mr(w.mr) == EBUSY, "a region with a window stays: bound: %s",
	       outcome(result));
	inv.invalidate_rkey = rkey;
	result = owner_does(&w, &inv);
	result = result ?: write_at(&w, rkey, 0, 8);
	report(result == IBV_WC_REM_ACCESS_ERR, "WRITE through a window that was invalidated: %s",
	       outcome(result));
	windows_close(&w);

	windows_open(set, &w, IBV_MW_TYPE_2);
	rkey = ibv_inc_rkey(w.mw->rkey);
	result = bind_window(&w, rkey, 0, 64, IBV_ACCESS_REMOTE_WRITE);
	result = result ?: bind_window(&w, ibv_inc_rkey(rkey), 0, 32, IBV_ACCESS_REMOTE_WRITE);
	report(result == IBV_WC_MW_BIND_ERR, "a window of type 2 bound twice: %s", outcome(result));
	windows_close(&w);

	for (unsigned int i = 0; i < sizeof(wraps) / sizeof(*wraps); i++) {
		windows_open(set, &w, IBV_MW_TYPE_2);
		rkey = ibv_inc_rkey(w.mw->rkey);
		result = bind_window(&w, rkey, wraps[i].addr - (uintptr_t)page_of(&w),
				     wraps[i].len, IBV_ACCESS_REMOTE_WRITE);
		report(result == IBV_WC_MW_BIND_ERR,
		       "B25 a window of 0x%" PRIx64 " bytes from 0x%" PRIx64 " on: %s",
		       wraps[i].len, wraps[i].addr, outcome(result));
		windows_close(&w);
	}
}

/* ------------------------------------------------------------------ C14 */

/* What is wrong with a bind, if anything. */
static const struct bind {
	const char *what;
	unsigned int region, rights;	/* of the region and of the window */
	bool other_region, other_window; /* of another protection domain */
	bool same_key;
	int want;
} binds[] = {
	{ "a region of another PD", MR_ACCESS, IBV_ACCESS_REMOTE_WRITE, true, false, false,
	  IBV_WC_MW_BIND_ERR },
	{ "a window of another PD", MR_ACCESS, IBV_ACCESS_REMOTE_WRITE, false, true, false,
	  IBV_WC_MW_BIND_ERR },
	{ "window and region of another PD", MR_ACCESS, IBV_ACCESS_REMOTE_WRITE, true, true, false,
	  IBV_WC_MW_BIND_ERR },
	{ "REMOTE_WRITE on a region for reading", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_WRITE,
	  false, false, false, IBV_WC_MW_BIND_ERR },
	{ "REMOTE_ATOMIC on a region for reading", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_ATOMIC,
	  false, false, false, IBV_WC_MW_BIND_ERR },
	{ "a region without MW_BIND", IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, false, false,
	  false, IBV_WC_MW_BIND_ERR },
	{ "REMOTE_READ on a region for reading", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_READ, false,
	  false, false, IBV_WC_SUCCESS },
	{ "the same key byte", MR_ACCESS, IBV_ACCESS_REMOTE_WRITE, false, false, true,
	  IBV_WC_SUCCESS },
	{ "another key byte", MR_ACCESS, IBV_ACCESS_REMOTE_WRITE, false, false, false,
	  IBV_WC_SUCCESS },
};

/* The library gives windows of type 1 their keys, and knows some errors by itself. */
static int bind_type_1(struct windows *w, unsigned int access)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = w->mr, .addr = (uintptr_t)page_of(w), .length = 4096,
			       .mw_access_flags = access },
	};
	struct ibv_wc wc;
	int err = ibv_bind_mw(w->pair.qp[1], w->mw, &bind);

	if (err)
		return -abs(err);
	return rig_wait(w->pair.cq, &wc, 3000) == 1 ? (int)wc.status : -ETIMEDOUT;
}

static void c14_one(const struct setting *set, enum ibv_mw_type type, const struct bind *b)
{
	struct windows w = { 0 };
	struct ibv_pd *own, *other;
	int bound, wrote = 0;
	uint32_t rkey;
	bool right;

	pair_open(set, &w.pair, 8192);
	own = w.pair.rig.pd;
	other = ibv_alloc_pd(w.pair.rig.ctx);
	if (!other)
		die("C14 ibv_alloc_pd: %s", strerror(errno));
	w.mr = ibv_reg_mr(b->other_region ? other : own, page_of(&w), 4096, b->region);
	w.mw = ibv_alloc_mw(b->other_window ? other : own, type);
	if (!w.mr || !w.mw)
		die("C14 a region and a window: %s", strerror(errno));
	if (type == IBV_MW_TYPE_1) {
		bound = bind_type_1(&w, b->rights);
		rkey = w.mw->rkey;
	} else {
		rkey = b->same_key ? w.mw->rkey : ibv_inc_rkey(w.mw->rkey);
		bound = bind_window(&w, rkey, 0, 4096, b->rights);
	}
	if (!bound && b->rights & IBV_ACCESS_REMOTE_WRITE)
		wrote = write_at(&w, rkey, 0, 64);
	right = bound == b->want && !wrote;
	/* The library refuses some binds of type 1 before the kernel hears of them. */
	if (type == IBV_MW_TYPE_1 && b->want)
		right = is_refusal(bound);
	report(right, "C14 type %d, %s: %s", type, b->what, outcome(bound));
	if (ibv_dealloc_mw(w.mw) || ibv_dereg_mr(w.mr) || ibv_dealloc_pd(other))
		die("C14 taking things down");
	pair_close(&w.pair);
}

static void c14_binds(const struct setting *set)
{
	for (unsigned int i = 0; i < sizeof(binds) / sizeof(*binds); i++) {
		if (!binds[i].same_key)
			c14_one(set, IBV_MW_TYPE_1, &binds[i]);
		c14_one(set, IBV_MW_TYPE_2, &binds[i]);
	}
}

const struct test_case window_cases[] = {
	{ "C14", "what may be bound to what", c14_binds },
	{ "MW", "windows and their range", window_range },
	{ "MW_REFUSED", "what windows do not grant", window_refusals },
	{ 0 },
};
