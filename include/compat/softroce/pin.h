/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Pinning for writing.  A page of a shared file mapping that is written back is
 * refused: giving it back takes the page's lock, which whoever serves the file may
 * keep for ever.  Linux 6.12 refuses it by itself.
 *
 * Pinning for reading.  The program has to go on with the very page that is
 * pinned, so a page it shares (the page of zeros, the cache of a file mapped
 * privately) has to be copied for it before, not at its next write.  Linux 6.12
 * sees to that.  Linux 6.1, where FOLL_WRITE is a macro and no enumerator, does
 * so for pins that are for writing, which can be forced where the program may
 * not write.
 */
#ifndef SOFTROCE_COMPAT_PIN_H
#define SOFTROCE_COMPAT_PIN_H

#include <linux/backing-dev.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pagemap.h>
#include <linux/sched.h>

#ifdef FOLL_WRITE
static inline bool softroce_pin_written_back(struct page *page)
{
	struct address_space *mapping;
	bool written_back;

	page = compound_head(page);
	if (PageAnon(page))
		return false;
	/* A file that is truncated meanwhile frees its inode under RCU. */
	rcu_read_lock();
	mapping = page_mapping(page);
	written_back = mapping && mapping_can_writeback(mapping);
	rcu_read_unlock();
	return written_back;
}

/* With mmap_lock: pages of one mapping, which the program may read. */
static inline int softroce_pin_readable(unsigned long addr, int count,
					struct page **pages)
{
	struct vm_area_struct *vma = find_vma(current->mm, addr);
	long got;

	/* Force passes over missing rights to read as well. */
	if (!vma || vma->vm_start > addr || !(vma->vm_flags & VM_READ))
		return -EFAULT;
	count = min_t(unsigned long, count, (vma->vm_end - addr) >> PAGE_SHIFT);
	got = pin_user_pages(addr, count,
			     FOLL_LONGTERM | FOLL_WRITE | FOLL_FORCE, pages,
			     NULL);
	/* A shared mapping that is read-only: there is nothing to copy. */
	if (got == -EFAULT)
		got = pin_user_pages(addr, count, FOLL_LONGTERM, pages, NULL);
	return got;
}

/* What the program may not write, and is to be as if it were written. */
static inline int softroce_pin_forced(unsigned long addr, int count,
				      struct page **pages)
{
	size_t len = (size_t)count << PAGE_SHIFT;
	int got;

	/* A file is waited for here: the pin keeps mmap_lock all the while. */
	len -= fault_in_readable((const char __user *)addr, len);
	count = len >> PAGE_SHIFT;
	if (!count)
		return -EFAULT;
	got = mmap_read_lock_killable(current->mm);
	if (got)
		return got;
	got = softroce_pin_readable(addr, count, pages);
	mmap_read_unlock(current->mm);
	return got;
}
#endif

static inline int softroce_pin_for_reading(unsigned long addr, int count,
					   struct page **pages)
{
#ifdef FOLL_WRITE
	int got = pin_user_pages_fast(addr, count, FOLL_LONGTERM | FOLL_WRITE,
				      pages);

	return got == -EFAULT ? softroce_pin_forced(addr, count, pages) : got;
#else
	return pin_user_pages_fast(addr, count, FOLL_LONGTERM, pages);
#endif
}

static inline int softroce_pin_for_writing(unsigned long addr, int count,
					   struct page **pages)
{
	int got = pin_user_pages_fast(addr, count, FOLL_LONGTERM | FOLL_WRITE,
				      pages);
#ifdef FOLL_WRITE
	int i;

	for (i = 0; i < got; i++)
		if (softroce_pin_written_back(pages[i])) {
			unpin_user_pages(pages, got);
			return -EFAULT;
		}
#endif
	return got;
}

#endif
