// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What MPI programs do between ranks, each byte checked: messages of many sizes
 * around a ring, one-sided PUT and GET, an atomic counter, a reduction. Prints
 * "payload BYTES": so many at least every rank has sent, and received.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST	(1u << 20)
#define WORDS	1000
#define ADDS	10

static int rank, ranks;
static uint8_t *out, *in;
static unsigned long payload;

static uint8_t pattern(int from, size_t at, size_t len)
{
	return at * 131 + (at >> 8) * 7 + from * 29 + len;
}

static void fill(uint8_t *buf, int from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = pattern(from, i, len);
}

static void fail(const char *what, size_t len, size_t at)
{
	printf("not ok - rank %d: %s of %zu bytes: wrong from %zu on\n", rank, what, len, at);
	fflush(stdout);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(const char *what, const uint8_t *buf, int from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (buf[i] != pattern(from, i, len))
			fail(what, len, i);
}

static void ring(size_t len)
{
	int next = (rank + 1) % ranks, prev = (rank + ranks - 1) % ranks;

	fill(out, rank, len);
	memset(in, 0, len);
	MPI_Sendrecv(out, len, MPI_BYTE, next, 1, in, len, MPI_BYTE, prev, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	check("a message", in, prev, len);
	payload += len;
}

static void one_sided(size_t len)
{
	int next = (rank + 1) % ranks, prev = (rank + ranks - 1) % ranks;
	uint8_t *mine;
	MPI_Win win;

	MPI_Win_allocate(2 * len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	MPI_Win_fence(0, win);
	fill(out, rank, len);
	memset(mine, 0, len);
	fill(mine + len, rank + 100, len);
	memset(in, 0, len);
	MPI_Win_fence(0, win);
	MPI_Put(out, len, MPI_BYTE, next, 0, len, MPI_BYTE, win);
	MPI_Get(in, len, MPI_BYTE, next, len, len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	check("PUT", mine, prev, len);
	check("GET", in, next + 100, len);
	MPI_Win_free(&win);
	payload += 2 * len;
}

static void count_up(void)
{
	long *value, one = 1, before, last = 0;
	MPI_Win win;

	MPI_Win_allocate(sizeof(*value), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &value, &win);
	*value = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < ADDS; i++) {
		MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		if (before < last || before >= ADDS * ranks)
			fail("a counter", sizeof(before), before);
		last = before + 1;
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(&before, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
	MPI_Win_unlock(0, win);
	if (before != ADDS * ranks)
		fail("the counter's end", sizeof(before), before);
	MPI_Win_free(&win);
}

static void reduce(void)
{
	static long mine[WORDS], sum[WORDS];

	for (int i = 0; i < WORDS; i++)
		mine[i] = (long)i * (rank + 1);
	MPI_Allreduce(mine, sum, WORDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < WORDS; i++)
		if (sum[i] != (long)i * ranks * (ranks + 1) / 2)
			fail("a reduction", sizeof(sum), i);
	payload += sizeof(mine);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {
		1, 7, 64, 255, 1000, 4096, 8191, 16384, 65536, 300001, LONGEST,
	};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	out = malloc(LONGEST);
	in = malloc(LONGEST);
	if (!out || !in)
		fail("allocation", LONGEST, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		ring(sizes[i]);
	one_sided(1000);
	one_sided(LONGEST / 4);
	count_up();
	reduce();
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("ranks %d payload %lu\n", ranks, payload);
	MPI_Finalize();
	return 0;
}
