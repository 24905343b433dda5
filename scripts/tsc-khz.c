// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * How fast this machine's time stamp counter runs, in kHz. The emulator shows it
 * to its guests, and a guest that measures it on a busy machine gets it wrong.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(void)
{
	unsigned long long ns = now_ns(), ticks = __rdtsc(), spent;

	do
		spent = now_ns() - ns;
	while (spent < 200 * 1000 * 1000);
	ticks = __rdtsc() - ticks;
	printf("%llu\n", ticks * 1000000 / spent);
	return 0;
}
