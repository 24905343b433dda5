/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Pinning for reading.  The program has to go on with the very page that is
 * pinned, so a page it shares (the page of zeros, the cache of a file mapped
 * privately) has to be copied for it before, not at its next write.  Linux 6.12
 * sees to that.  Linux 6.1, where FOLL_WRITE is a macro and no enumerator, does
 * so for pins that are for writing, which can be forced where the program may
 * not write.
 */
#ifndef SOFTROCE_COMPAT_PIN_H
#define SOFTROCE_COMPAT_PIN_H

#include <linux/mm.h>

static inline int softroce_pin_for_reading(unsigned long addr, int count,
					   struct page **pages)
{
#ifdef FOLL_WRITE
	int got = pin_user_pages_fast(addr, count,
				      FOLL_LONGTERM | FOLL_WRITE | FOLL_FORCE,
				      pages);

	if (got != -EFAULT)
		return got;
	/*
	 * A shared mapping that is read-only: there is nothing to copy.  The
	 * page behind it can be of another kind.
	 */
	count = 1;
#endif
	return pin_user_pages_fast(addr, count, FOLL_LONGTERM, pages);
}

#endif
