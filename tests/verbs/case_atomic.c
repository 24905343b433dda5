// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC)

/* An atomic of the pair's first queue pair, with the answer in *@sge's memory. */
static int atomic(struct pair *p, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int sges,
		  uint64_t remote, uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = sges, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;
	int err;

	wr.wr.atomic.remote_addr = remote;
	wr.wr.atomic.rkey = rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	err = ibv_post_send(p->qp[0], &wr, &bad);
	if (err)
		return -abs(err);
	err = rig_wait(p->cq, &wc, 5000);
	if (err < 0)
		return err;
	return err ? (int)wc.status : -ETIMEDOUT;
}

/* ---- what is refused, and changes nothing ---- */

struct bad_atomic {
	const char *what;
	unsigned int off;	/* of the target in the region */
	size_t len;		/* of the region */
	int access;
	uint32_t rkey_error, lkey_error;
	int sges;
	int want;		/* 0: the library may refuse it as well */
};

static void bad_atomic(const struct setting *set, const char *id, const struct bad_atomic *bad,
		       enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge[2];
	struct ibv_mr *mr;
	struct pair p;
	int result;
	bool same;

	pair_open(set, &p, 8192);
	memset(p.buf, 0x5a, p.len);
	mr = ibv_reg_mr(p.rig.pd, p.buf + 4096, bad->len, bad->access);
	if (!mr)
		die("%s: ibv_reg_mr: %s", id, strerror(errno));
	sge[0] = (struct ibv_sge){ (uintptr_t)p.buf, 8u / bad->sges, p.mr->lkey ^ bad->lkey_error };
	sge[1] = (struct ibv_sge){ (uintptr_t)p.buf + 64, 4, p.mr->lkey };
	/* What a swap would compare with is there. */
	result = atomic(&p, opcode, sge, bad->sges, (uintptr_t)p.buf + 4096 + bad->off,
			mr->rkey ^ bad->rkey_error, 0x5a5a5a5a5a5a5a5a, 0);
	same = true;
	for (size_t i = bad->lkey_error ? 4096 + 16 : 0; i < p.len; i++)
		same = same && p.buf[i] == 0x5a;
	report(same && (bad->want ? result == bad->want : is_refusal(result)),
	       "%s %s %s: %s%s", id, opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? "CMP_SWP" : "FETCH_ADD",
	       bad->what, outcome(result), same ? "" : ", and memory changed");
	ibv_dereg_mr(mr);
	pair_close(&p);
}

static void bad_atomics(const struct setting *set, const char *id, const struct bad_atomic *bad)
{
	bad_atomic(set, id, bad, IBV_WR_ATOMIC_FETCH_AND_ADD);
	bad_atomic(set, id, bad, IBV_WR_ATOMIC_CMP_AND_SWP);
}

/* UC has no answers, so it has no atomics. */
static void c22_unreliable(const struct setting *set)
{
	struct ibv_sge sge;
	struct pair p;
	int result;

	pair_open_uc(set, &p, 8192);
	sge = (struct ibv_sge){ (uintptr_t)p.buf, 8, p.mr->lkey };
	result = atomic(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1, (uintptr_t)p.buf + 4096,
			p.mr->rkey, 1, 0);
	report(is_refusal(result) && !p.buf[4096], "C22 FETCH_ADD on UC: %s", outcome(result));
	pair_close(&p);
}

static void c22_bad_atomics(const struct setting *set)
{
	static const struct bad_atomic bad[] = {
		{ "at an odd address", 1, 4096, ACCESS, 0, 0, 1, 0 },
		{ "four bytes off", 4, 4096, ACCESS, 0, 0, 1, 0 },
		{ "in a region of four bytes", 0, 4, ACCESS, 0, 0, 1, IBV_WC_REM_ACCESS_ERR },
		{ "behind the region", 4096, 4096, ACCESS, 0, 0, 1, IBV_WC_REM_ACCESS_ERR },
		{ "without the right", 0, 4096, ACCESS & ~IBV_ACCESS_REMOTE_ATOMIC, 0, 0, 1,
		  IBV_WC_REM_ACCESS_ERR },
		{ "with another key", 0, 4096, ACCESS, 1, 0, 1, IBV_WC_REM_ACCESS_ERR },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		bad_atomics(set, "C22", &bad[i]);
	c22_unreliable(set);
}

static void c16_bad_local_key(const struct setting *set)
{
	static const struct bad_atomic bad = {
		"with a bad local key", 0, 4096, ACCESS, 0, 1, 1, IBV_WC_LOC_PROT_ERR,
	};

	bad_atomics(set, "C16", &bad);
}

static void d23_split_list(const struct setting *set)
{
	static const struct bad_atomic bad = {
		"with the answer in two places", 0, 4096, ACCESS, 0, 0, 2, 0,
	};

	if (set->foreign)
		report_skip("accepted there", "D23 atomics with two SGEs");
	else
		bad_atomics(set, "D23", &bad);
}

/* ---- what they are for ---- */

#define THREADS	4
#define ROUNDS	300

/* One that counts, with a queue pair of its own. */
struct counter {
	struct pair pair;	/* with the region and the protection domain of all */
	pthread_t thread;
	bool swap;
	uint64_t seen[ROUNDS];	/* what the counter was, each time it was raised */
	char error[80];
};

/* Raises the counter at the start of the region; its value before in *@seen. */
static int raise(struct counter *c, uint64_t *seen)
{
	struct pair *p = &c->pair;
	uint64_t *answer = (uint64_t *)(p->buf + 64), guess;
	struct ibv_sge sge = { (uintptr_t)answer, 8, p->mr->lkey };
	uint64_t at = (uintptr_t)p->mr->addr;
	int result;

	if (!c->swap) {
		result = atomic(p, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1, at, p->mr->rkey, 1, 0);
		*seen = *answer;
		return result;
	}
	guess = 0;
	do {
		*seen = guess;
		result = atomic(p, IBV_WR_ATOMIC_CMP_AND_SWP, &sge, 1, at, p->mr->rkey, guess,
				guess + 1);
		guess = *answer;
	} while (!result && guess != *seen);
	return result;
}

static void *count_up(void *arg)
{
	struct counter *c = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		int result = raise(c, &c->seen[i]);

		if (result) {
			snprintf(c->error, sizeof(c->error), "%s", outcome(result));
			break;
		}
	}
	return NULL;
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void counter_open(struct counter *c, const struct pair *all, unsigned int n)
{
	struct tuning tune = tuning_default;

	c->pair = *all;
	c->pair.buf = all->buf + 128 * (n + 1);
	c->swap = n % 2;
	c->pair.cq = ibv_create_cq(all->rig.ctx, 16, NULL, NULL, 0);
	for (int i = 0; i < 2; i++)
		c->pair.qp[i] = c->pair.cq ? rig_qp(&c->pair.rig, IBV_QPT_RC, c->pair.cq,
						   c->pair.cq, &tune) : NULL;
	if (!c->pair.qp[0] || !c->pair.qp[1])
		die("queue pairs: %s", strerror(errno));
	pair_connect(&c->pair);
}

static void counter_close(struct counter *c)
{
	ibv_destroy_qp(c->pair.qp[0]);
	ibv_destroy_qp(c->pair.qp[1]);
	ibv_destroy_cq(c->pair.cq);
}

/* Atomics of several queue pairs, of both kinds, and the processor's own. */
static void one_counter_for_all(const struct setting *set)
{
	static struct counter counters[THREADS];
	static uint64_t seen[(THREADS + 1) * ROUNDS];
	unsigned int total = 0, missing = 0;
	const char *error = "";
	struct pair p;
	bool glob;

	pair_open(set, &p, 8192);
	/* UCX before 1.16 and others look for this word, though ours does more. */
	report(set->foreign || p.rig.dev.atomic_cap == IBV_ATOMIC_HCA,
	       "the device says IBV_ATOMIC_HCA: %d", p.rig.dev.atomic_cap);
	glob = !set->foreign || p.rig.dev.atomic_cap == IBV_ATOMIC_GLOB;
	for (unsigned int n = 0; n < THREADS; n++)
		counter_open(&counters[n], &p, n);
	for (unsigned int n = 0; n < THREADS; n++)
		if (pthread_create(&counters[n].thread, NULL, count_up, &counters[n]))
			die("pthread_create");
	for (unsigned int i = 0; glob && i < ROUNDS; i++) {
		seen[total++] = __atomic_fetch_add((uint64_t *)p.buf, 1, __ATOMIC_SEQ_CST);
		usleep(1000);
	}
	for (unsigned int n = 0; n < THREADS; n++) {
		pthread_join(counters[n].thread, NULL);
		memcpy(&seen[total], counters[n].seen, sizeof(counters[n].seen));
		total += ROUNDS;
		if (counters[n].error[0])
			error = counters[n].error;
		counter_close(&counters[n]);
	}
	/* Each number was seen by exactly one of them. */
	qsort(seen, total, sizeof(*seen), compare_words);
	for (unsigned int i = 0; i < total; i++)
		missing += seen[i] != i;
	report(!*error && !missing && *(uint64_t *)p.buf == total,
	       "%u of %d QPs%s raise one counter to %" PRIu64 ", each number seen once (%u not) %s",
	       total, THREADS, glob ? " and the processor" : "", *(uint64_t *)p.buf, missing, error);
	pair_close(&p);
}

/* ibv_wr_atomic_write() of the extended queue pair. */
static void atomic_write(const struct setting *set)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE,
	};
	const uint64_t value = 0x0123456789abcdef;
	struct ibv_qp *plain;
	struct ibv_qp_ex *ex;
	struct ibv_wc wc = { 0 };
	struct pair p;
	int err;

	pair_open_reset(set, &p, 8192);
	plain = p.qp[0];
	init.pd = p.rig.pd;
	init.send_cq = p.cq;
	init.recv_cq = p.cq;
	p.qp[0] = ibv_create_qp_ex(p.rig.ctx, &init);
	if (!p.qp[0]) {
		report_skip(strerror(errno), "ATOMIC WRITE");
		p.qp[0] = plain;
		pair_close(&p);
		return;
	}
	pair_connect(&p);
	ex = ibv_qp_to_qp_ex(p.qp[0]);
	ibv_wr_start(ex);
	ex->wr_id = 7;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(ex, p.mr->rkey, (uintptr_t)p.buf + 4096, &value);
	err = ibv_wr_complete(ex);
	err = err ?: rig_wait(p.cq, &wc, 5000) != 1;
	report(!err && !wc.status && wc.wr_id == 7 && *(uint64_t *)(p.buf + 4096) == value,
	       "ATOMIC WRITE: error %d, %s, there is 0x%" PRIx64, err,
	       ibv_wc_status_str(wc.status), *(uint64_t *)(p.buf + 4096));
	ibv_destroy_qp(p.qp[0]);
	p.qp[0] = plain;
	pair_close(&p);
}

const struct test_case atomic_cases[] = {
	{ "C16", "an atomic with a bad local key", c16_bad_local_key },
	{ "C22", "atomics at wrong places", c22_bad_atomics },
	{ "D23", "an atomic with a list of two", d23_split_list },
	{ "ATOMIC", "a counter for all", one_counter_for_all },
	{ "ATOMIC_WRITE", "eight bytes at once", atomic_write },
	{ 0 },
};
