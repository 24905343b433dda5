/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Faults that people met in the field, each made into a test that needs one
 * device only. The letter-digit names are those of the list they come from.
 */
#ifndef SOFTROCE_TESTS_CASES_H
#define SOFTROCE_TESTS_CASES_H

#include "report.h"
#include "rig.h"

#define MAX_DIRS 8

/* What a case gets: where to run, and how hard to try. */
struct setting {
	const char *dev, *gid;
	bool full;		/* the sizes and counts that take minutes */
	bool fork_init;		/* ibv_fork_init() was called, before all else */
	int fork_err;		/* what it said */
	bool foreign;		/* not our stack: spare it what is known to break it */
	const char *dirs[MAX_DIRS];	/* file systems to map files of */
	unsigned int dir_count;
};

/* Two connected queue pairs of one process, one memory region for both. */
struct pair {
	struct rig rig;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	char *buf;
	size_t len;
};

struct test_case {
	const char *id, *what;
	void (*run)(const struct setting *set);
};

extern const struct test_case memory_cases[], queue_cases[], device_cases[], ring_cases[],
	atomic_cases[], datagram_cases[], srq_cases[], window_cases[],
	rereg_cases[], cq_cases[], fork_cases[], rights_cases[], limits_cases[];

/* The device without any queue. */
void case_open(const struct setting *set, struct rig *rig);
/* A connected pair with @len bytes of zeroed memory. */
void pair_open(const struct setting *set, struct pair *p, size_t len);
/* The same with its queue pairs left in RESET. */
void pair_open_reset(const struct setting *set, struct pair *p, size_t len);
/* Connected by UC instead of RC. */
void pair_open_uc(const struct setting *set, struct pair *p, size_t len);
void pair_connect(struct pair *p);
void pair_close(struct pair *p);
/*
 * Posts one signalled request on QP 0 and waits for its end. Returns the
 * completion's status, or minus the errno that posting gave (a provider's
 * negative one included), or -ETIMEDOUT when nothing came in @ms.
 */
int pair_do(struct pair *p, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int sges,
	    uint64_t remote, uint32_t rkey, unsigned int ms, struct ibv_wc *wc);
/* The common one: @len bytes from the start of the buffer to @remote. */
int pair_write(struct pair *p, uint64_t remote, uint32_t rkey, uint32_t len);
/* "success", a completion's status or an error's name, for people. */
const char *outcome(int result);
/* True for what a refused request may give: a post that fails, or an error. */
bool is_refusal(int result);

#endif
