// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Preloaded into a program: the pages of its large allocations are touched in
 * an order that leaves no two neighbours side by side in physical memory, as a
 * program's are that has run for long.  (Transparent huge pages have to be off.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096
#define LARGE (4 * PAGE)

/* Odd pages before even ones, each lot from its end. */
static void touch(volatile char *at, size_t size)
{
	size_t pages = size / PAGE, i, odd;

	for (odd = 2; odd-- > 0;)
		for (i = pages; i-- > 0;)
			if (i % 2 == odd)
				at[i * PAGE] = 0;
}

void *memalign(size_t align, size_t size)
{
	void *(*real)(size_t, size_t) = dlsym(RTLD_NEXT, "memalign");
	void *at = real(align, size);

	if (at && size >= LARGE)
		touch(at, size);
	return at;
}

int posix_memalign(void **at, size_t align, size_t size)
{
	int (*real)(void **, size_t, size_t) = dlsym(RTLD_NEXT, "posix_memalign");
	int ret = real(at, align, size);

	if (!ret && size >= LARGE)
		touch(*at, size);
	return ret;
}
