/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Inside the scribbler: the random half (scribble.c), the exact one (lies.c). */
#ifndef SOFTROCE_TESTS_SCRIBBLE_H
#define SOFTROCE_TESTS_SCRIBBLE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define SLOTS		4
#define HELPERS		2	/* scribblers, and as many ringers */
#define TABLE_SIZE	32
#define BUF_BYTES	65536
#define CANARY_BYTES	65536
#define NASTY_KEYS	8

enum { CHILD_WELL = 0, CHILD_CANARY = 10 };

struct rng {
	uint64_t seed, count;
};

/* Shared between all processes; written without much care. */
struct totals {
	unsigned long slots, connections, scribbles, rings, errors, successes;
	unsigned int ended, killed, crashed;
};

struct options {
	const char *dev, *gid, *peer_dev, *peer_gid;
	unsigned int seconds;
	uint64_t seed;
	bool lies_only, random_only;
};

/* A region with a pattern that has to stay. */
struct canary {
	uint8_t *mem;
	uint64_t key;
	struct ibv_mr *mr;
};

struct side_mem {
	uint64_t addr;
	uint32_t key;
};

/* What lies are made of: keys and addresses that are, and are not, the liar's. */
struct nasty {
	struct side_mem side[2];
	uint32_t own_key, peer_key;
	uint64_t peer_addr;
	uint32_t key[NASTY_KEYS];
	uint64_t addr[NASTY_KEYS];
};

extern struct totals *totals;
extern struct options opt;
extern struct canary parent_canary;

uint64_t rnd(struct rng *r);
uint32_t below(struct rng *r, uint32_t n);
void canary_make(struct canary *c, struct ibv_pd *pd, uint64_t key);
bool canary_sings(const struct canary *c);
/* lies.c: every malformed request by itself, and how it ends. */
void tell_lies(void);

#endif
