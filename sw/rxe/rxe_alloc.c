// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What programs may take: numbers of objects, and memory of a size they choose. */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "rxe.h"

/* Kernel consumers that make one in an interrupt have nobody's rights, but theirs. */
static bool privileged(void)
{
	return !in_task() || capable(CAP_SYS_RESOURCE);
}

int rxe_count_object(atomic_t *count, int max)
{
	int now = atomic_inc_return(count);

	if (now <= rxe_object_limit(max, false) ||
	    (now <= rxe_object_limit(max, true) && privileged()))
		return 0;
	atomic_dec(count);
	return -ENOMEM;
}

/**
 * rxe_alloc_sized - memory of a size that a program chooses
 * @n: how many
 * @size: bytes of each
 * @gfp: __GFP_ZERO or 0
 *
 * Charged to the program's cgroup.  Where that has no room the OOM killer would
 * end it, or another one in it, for what may be one number that is too large:
 * this fails instead.
 *
 * Context: process, may sleep.
 * Return: the memory, for kvfree(), or NULL.
 */
void *rxe_alloc_sized(size_t n, size_t size, gfp_t gfp)
{
	void *mem = NULL;
	size_t bytes;

	if (check_mul_overflow(n, size, &bytes))
		return NULL;
	/* One piece where there is one, but no effort for it. */
	if (bytes <= PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER)
		mem = kmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NORETRY |
					     __GFP_NOWARN | gfp);
	return mem ?: __vmalloc(bytes, RXE_GFP_SIZED | gfp);
}
