// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Pinning a program's memory.
 *
 * Pages are pinned in batches of one page of pointers, so that a region of any
 * size needs little memory while it is made, gives the CPU away in between and
 * ends soon when its program is killed.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <rdma/ib_umem.h>
#include <softroce/pin.h>

#define PIN_BATCH (PAGE_SIZE / sizeof(struct page *))

static int charge_pinned(struct mm_struct *mm, unsigned long npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(npages, &mm->pinned_vm) <= limit ||
	    capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(npages, &mm->pinned_vm);
	return -ENOMEM;
}

static void uncharge_pinned(struct mm_struct *mm, unsigned long npages)
{
	atomic64_sub(npages, &mm->pinned_vm);
}

/* An extent can be 4 GiB long: unpinned in batches as well. */
static void unpin_extent(struct scatterlist *sg, bool dirty)
{
	unsigned long left = PAGE_ALIGN((u64)sg->length) >> PAGE_SHIFT;
	unsigned long pfn = page_to_pfn(sg_page(sg));

	while (left) {
		unsigned long n = min_t(unsigned long, left, PIN_BATCH);

		unpin_user_page_range_dirty_lock(pfn_to_page(pfn), n, dirty);
		pfn += n;
		left -= n;
		cond_resched();
	}
}

/* Also for a region that is half made: the table holds what is pinned. */
static void unpin_all(struct ib_umem *umem, bool dirty)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&umem->sgt_append.sgt, sg, i)
		unpin_extent(sg, dirty);
	sg_free_append_table(&umem->sgt_append);
}

static unsigned int longest_extent(struct ib_device *device)
{
	return ib_uses_virt_dma(device) ?
		       UINT_MAX : dma_get_max_seg_size(device->dma_device);
}

static int pin_all(struct ib_umem *umem, struct page **pages,
		   unsigned long npages, unsigned int longest)
{
	unsigned long addr = umem->address & PAGE_MASK;
	int got, ret;

	while (npages) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;

		got = min_t(unsigned long, npages, PIN_BATCH);
		if (umem->writable)
			got = softroce_pin_for_writing(addr, got, pages);
		else
			got = softroce_pin_for_reading(addr, got, pages);
		if (got <= 0)
			return got ?: -EFAULT;
		npages -= got;
		addr += (unsigned long)got << PAGE_SHIFT;

		ret = sg_alloc_append_table_from_pages(&umem->sgt_append, pages,
						       got, 0,
						       (unsigned long)got
							       << PAGE_SHIFT,
						       longest, npages,
						       GFP_KERNEL_ACCOUNT);
		if (ret) {
			unpin_user_pages(pages, got);
			return ret;
		}
	}
	return 0;
}

/* A device that moves data with the CPU has no use for bus addresses. */
static int map_for_device(struct ib_umem *umem, struct ib_device *device)
{
	int ret;

	if (ib_uses_virt_dma(device) || !umem->sgt_append.sgt.sgl)
		return 0;
	ret = dma_map_sgtable(device->dma_device, &umem->sgt_append.sgt,
			      DMA_BIDIRECTIONAL, 0);
	if (!ret)
		umem->ibdev = device;
	return ret;
}

static void unmap_for_device(struct ib_umem *umem)
{
	if (umem->ibdev)
		dma_unmap_sgtable(umem->ibdev->dma_device,
				  &umem->sgt_append.sgt, DMA_BIDIRECTIONAL, 0);
}

static struct ib_umem *pin_range(unsigned long addr, size_t size, int access,
				 unsigned int longest)
{
	struct mm_struct *mm = current->mm;
	unsigned long end, npages;
	struct ib_umem *umem;
	struct page **pages;
	int ret;

	if (!mm || check_add_overflow(addr, (unsigned long)size, &end) ||
	    PAGE_ALIGN(end) < end)
		return ERR_PTR(-EINVAL);
	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);

	umem = kzalloc(sizeof(*umem), GFP_KERNEL_ACCOUNT);
	if (!umem)
		return ERR_PTR(-ENOMEM);
	umem->address = addr;
	umem->length = size;
	umem->writable = !!(access & IB_UMEM_WRITING);

	pages = (struct page **)__get_free_page(GFP_KERNEL);
	if (!pages) {
		ret = -ENOMEM;
		goto free_umem;
	}

	npages = ib_umem_num_pages(umem);
	/* Tables of pages count with 32 bits. */
	if (npages > UINT_MAX) {
		ret = -EINVAL;
		goto free_pages;
	}
	ret = charge_pinned(mm, npages);
	if (ret)
		goto free_pages;

	ret = pin_all(umem, pages, npages, longest);
	if (ret)
		goto unpin;

	free_page((unsigned long)pages);
	mmgrab(mm);
	umem->owning_mm = mm;
	return umem;

unpin:
	unpin_all(umem, false);
	uncharge_pinned(mm, npages);
free_pages:
	free_page((unsigned long)pages);
free_umem:
	kfree(umem);
	return ERR_PTR(ret);
}

/**
 * ib_umem_pin - pin a range of the calling program's memory for no device
 * @addr: first byte; need not be aligned
 * @size: bytes; a range of none pins nothing and is fine
 * @access: enum ib_access_flags
 *
 * The memory is for devices that move data with the CPU; neither this nor
 * ib_umem_release() needs the device to be there.  The pages are charged to
 * RLIMIT_MEMLOCK unless the caller has CAP_IPC_LOCK.
 *
 * Context: process, may sleep, as long as whoever serves the memory likes: no
 * device is held.  A fatal signal ends it between two faults.
 * Return: the memory, for ib_umem_release(), or an ERR_PTR: -EINVAL when the
 * range wraps around or has 2^32 pages, -ENOMEM beyond the limit, -EFAULT where
 * nothing is mapped or not writable, -EOPNOTSUPP for memory that cannot be
 * pinned for long (file-system DAX) and for on-demand paging, -EINTR.
 */
struct ib_umem *ib_umem_pin(unsigned long addr, size_t size, int access)
{
	return pin_range(addr, size, access, UINT_MAX);
}
EXPORT_SYMBOL(ib_umem_pin);

/**
 * ib_umem_get - pin a range of the calling program's memory
 * @device: the device that will use it
 * @addr: first byte; need not be aligned
 * @size: bytes; a range of none pins nothing and is fine
 * @access: enum ib_access_flags
 *
 * For drivers whose reg_user_mr pins by itself.  It is called within a command,
 * which waits here for the program's memory.  A file system of the program's
 * own can keep a page for as long as it likes, and the removal of the device
 * waits for the command all the while.  A driver that moves data with the CPU
 * has reg_umem_mr instead, which gets memory that is pinned already.
 *
 * Context: process, may sleep; a fatal signal ends it between two faults.
 * Return: as ib_umem_pin().
 */
struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr,
			    size_t size, int access)
{
	struct ib_umem *umem = pin_range(addr, size, access,
					 longest_extent(device));
	int ret;

	if (IS_ERR(umem))
		return umem;
	ret = map_for_device(umem, device);
	if (!ret)
		return umem;
	ib_umem_release(umem);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_umem_get);

/**
 * ib_umem_release - give pinned memory back
 * @umem: from ib_umem_pin() or ib_umem_get(), or NULL
 *
 * Nothing may use the pages any more.
 *
 * Context: process, may sleep; any program, not only the one that pinned it.
 */
void ib_umem_release(struct ib_umem *umem)
{
	if (!umem)
		return;
	unmap_for_device(umem);
	unpin_all(umem, umem->writable);
	uncharge_pinned(umem->owning_mm, ib_umem_num_pages(umem));
	mmdrop(umem->owning_mm);
	kfree(umem);
}
EXPORT_SYMBOL(ib_umem_release);
