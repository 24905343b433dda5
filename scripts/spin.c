// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Takes 2 * 10^8 instructions, no more and no less, and prints how many
 * picoseconds of the machine's clock each of them took: 1000 in the lab with
 * --exact, whose clock counts instructions.  Best of three, since the timer
 * interrupts in between are instructions as well.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 100000000ull

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int main(void)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 3; i++) {
		uint64_t left = ROUNDS, began = now(), took;

		__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left) : : "cc");
		took = now() - began;
		if (took < best)
			best = took;
	}
	printf("%llu\n", (unsigned long long)(best * 1000 / (2 * ROUNDS)));
	return 0;
}
