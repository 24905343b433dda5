/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Pinned user memory.
 *
 * Lifetime: from ib_umem_pin() or ib_umem_get() to ib_umem_release().  Pages are pinned
 * long-term and charged to RLIMIT_MEMLOCK of the mm that registered them,
 * which is held (mmgrab) for the uncharge.
 */
#ifndef SOFTROCE_RDMA_IB_UMEM_H
#define SOFTROCE_RDMA_IB_UMEM_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

/* Whoever may write through a region: its owner, a peer or a window. */
#define IB_UMEM_WRITING                                                        \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND)

/**
 * struct ib_umem - a pinned range of a program's memory
 * @ibdev: the device it is mapped for, or NULL
 * @address: first byte, in the program's address space
 * @length: bytes
 * @writable: pinned for writing, for one of IB_UMEM_WRITING
 * @sgt_append: the pages; neighbours in memory are merged into extents
 */
struct ib_umem {
	struct ib_device *ibdev;
	struct mm_struct *owning_mm;
	unsigned long address;
	size_t length;
	u32 writable:1;
	struct sg_append_table sgt_append;
};

/* Ours: without a device. */
struct ib_umem *ib_umem_pin(unsigned long addr, size_t size, int access);
struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr,
			    size_t size, int access);
void ib_umem_release(struct ib_umem *umem);

static inline int ib_umem_offset(struct ib_umem *umem)
{
	return umem->address & ~PAGE_MASK;
}

static inline size_t ib_umem_num_pages(struct ib_umem *umem)
{
	if (!umem->length)
		return 0;
	return (PAGE_ALIGN(umem->address + umem->length) -
		ALIGN_DOWN(umem->address, PAGE_SIZE)) >> PAGE_SHIFT;
}

#endif
