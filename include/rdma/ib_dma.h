/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses for devices.  A device with a dma_device uses the addresses of the
 * DMA API; one without, which a program drives, uses kernel virtual addresses.
 * Consumers include <rdma/ib_verbs.h>, which brings this file.
 *
 * Lifetime: a mapping belongs to who made it and is unmapped with the same
 * arguments.  A virtual mapping holds nothing: unmapping and synchronising do
 * nothing.  Context of all functions: any, unless the DMA API says otherwise.
 */
#ifndef SOFTROCE_RDMA_IB_DMA_H
#define SOFTROCE_RDMA_IB_DMA_H

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

static_assert(sizeof(dma_addr_t) >= sizeof(void *));

/**
 * ib_uses_virt_dma - tell whether a device uses virtual addresses
 * @dev: the device
 */
static inline bool ib_uses_virt_dma(struct ib_device *dev)
{
	return !dev->dma_device;
}

/**
 * ib_dma_pci_p2p_dma_supported - tell whether memory of PCI devices can be mapped
 * @dev: the device
 */
static inline bool ib_dma_pci_p2p_dma_supported(struct ib_device *dev)
{
	return !ib_uses_virt_dma(dev) &&
	       dma_pci_p2pdma_supported(dev->dma_device);
}

/**
 * ib_virt_dma_to_ptr - the memory at an address of a device with virtual ones
 * @dma_addr: the address
 */
static inline void *ib_virt_dma_to_ptr(u64 dma_addr)
{
	return (void *)(uintptr_t)dma_addr;
}

/**
 * ib_virt_dma_to_page - its page
 * @dma_addr: the address, of memory that has pages
 */
static inline struct page *ib_virt_dma_to_page(u64 dma_addr)
{
	return virt_to_page(ib_virt_dma_to_ptr(dma_addr));
}

/**
 * ib_dma_mapping_error - tell whether a mapping failed
 * @dev: the device
 * @dma_addr: what ib_dma_map_single() or ib_dma_map_page() returned
 *
 * Return: 0: it is good; -ENOMEM: it is not, and not to be unmapped.
 */
static inline int ib_dma_mapping_error(struct ib_device *dev, u64 dma_addr)
{
	return ib_uses_virt_dma(dev) ?
		       0 : dma_mapping_error(dev->dma_device, dma_addr);
}

/**
 * ib_dma_map_single - the address of memory that is in one piece
 * @dev: the device
 * @cpu_addr: the memory
 * @size: bytes
 * @direction: what will be done with it
 *
 * Return: the address, to be looked at with ib_dma_mapping_error().
 */
static inline u64 ib_dma_map_single(struct ib_device *dev, void *cpu_addr,
				    size_t size,
				    enum dma_data_direction direction)
{
	return ib_uses_virt_dma(dev) ?
		       (uintptr_t)cpu_addr :
		       dma_map_single(dev->dma_device, cpu_addr, size,
				      direction);
}

static inline void ib_dma_unmap_single(struct ib_device *dev, u64 addr,
				       size_t size,
				       enum dma_data_direction direction)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_single(dev->dma_device, addr, size, direction);
}

/**
 * ib_dma_map_page - the address of a part of a page
 * @dev: the device
 * @page: the page, which the kernel has mapped
 * @offset: of the first byte in it
 * @size: bytes
 * @direction: what will be done with it
 *
 * Return: the address, to be looked at with ib_dma_mapping_error().
 */
static inline u64 ib_dma_map_page(struct ib_device *dev, struct page *page,
				  unsigned long offset, size_t size,
				  enum dma_data_direction direction)
{
	return ib_uses_virt_dma(dev) ?
		       (uintptr_t)page_address(page) + offset :
		       dma_map_page(dev->dma_device, page, offset, size,
				    direction);
}

static inline void ib_dma_unmap_page(struct ib_device *dev, u64 addr,
				     size_t size,
				     enum dma_data_direction direction)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_page(dev->dma_device, addr, size, direction);
}

int ib_dma_virt_map_sg(struct ib_device *dev, struct scatterlist *sg,
		       int nents);

/**
 * ib_dma_map_sg_attrs - the addresses of a scatter/gather list
 * @dev: the device
 * @sg: the list; each entry gets an address and its length there
 * @nents: its entries
 * @direction: what will be done with it
 * @dma_attrs: DMA_ATTR_*
 *
 * Return: how many of the entries have one (neighbours may have become one), 0
 * for an error.
 */
static inline int ib_dma_map_sg_attrs(struct ib_device *dev,
				      struct scatterlist *sg, int nents,
				      enum dma_data_direction direction,
				      unsigned long dma_attrs)
{
	return ib_uses_virt_dma(dev) ?
		       ib_dma_virt_map_sg(dev, sg, nents) :
		       dma_map_sg_attrs(dev->dma_device, sg, nents, direction,
					dma_attrs);
}

static inline void ib_dma_unmap_sg_attrs(struct ib_device *dev,
					 struct scatterlist *sg, int nents,
					 enum dma_data_direction direction,
					 unsigned long dma_attrs)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_sg_attrs(dev->dma_device, sg, nents, direction,
				   dma_attrs);
}

static inline int ib_dma_map_sg(struct ib_device *dev, struct scatterlist *sg,
				int nents, enum dma_data_direction direction)
{
	return ib_dma_map_sg_attrs(dev, sg, nents, direction, 0);
}

static inline void ib_dma_unmap_sg(struct ib_device *dev,
				   struct scatterlist *sg, int nents,
				   enum dma_data_direction direction)
{
	ib_dma_unmap_sg_attrs(dev, sg, nents, direction, 0);
}

/**
 * ib_dma_map_sgtable_attrs - the addresses of a scatter/gather table
 * @dev: the device
 * @sgt: the table; nents says on return how many entries have one
 * @direction: what will be done with it
 * @dma_attrs: DMA_ATTR_*
 *
 * Return: 0, or -EIO; the DMA API's error.
 */
static inline int ib_dma_map_sgtable_attrs(struct ib_device *dev,
					   struct sg_table *sgt,
					   enum dma_data_direction direction,
					   unsigned long dma_attrs)
{
	int nents;

	if (!ib_uses_virt_dma(dev))
		return dma_map_sgtable(dev->dma_device, sgt, direction,
				       dma_attrs);
	nents = ib_dma_virt_map_sg(dev, sgt->sgl, sgt->orig_nents);
	if (!nents)
		return -EIO;
	sgt->nents = nents;
	return 0;
}

static inline void
ib_dma_unmap_sgtable_attrs(struct ib_device *dev, struct sg_table *sgt,
			   enum dma_data_direction direction,
			   unsigned long dma_attrs)
{
	if (!ib_uses_virt_dma(dev))
		dma_unmap_sgtable(dev->dma_device, sgt, direction, dma_attrs);
}

/**
 * ib_dma_max_seg_size - how long one entry may be
 * @dev: the device
 */
static inline unsigned int ib_dma_max_seg_size(struct ib_device *dev)
{
	return ib_uses_virt_dma(dev) ? UINT_MAX :
				       dma_get_max_seg_size(dev->dma_device);
}

/**
 * ib_dma_sync_single_for_cpu - see what the device has written
 * @dev: the device
 * @addr: in a mapping
 * @size: bytes
 * @dir: as it was mapped
 */
static inline void ib_dma_sync_single_for_cpu(struct ib_device *dev, u64 addr,
					      size_t size,
					      enum dma_data_direction dir)
{
	if (!ib_uses_virt_dma(dev))
		dma_sync_single_for_cpu(dev->dma_device, addr, size, dir);
}

/**
 * ib_dma_sync_single_for_device - let the device see what was written here
 * @dev: the device
 * @addr: in a mapping
 * @size: bytes
 * @dir: as it was mapped
 */
static inline void ib_dma_sync_single_for_device(struct ib_device *dev,
						 u64 addr, size_t size,
						 enum dma_data_direction dir)
{
	if (!ib_uses_virt_dma(dev))
		dma_sync_single_for_device(dev->dma_device, addr, size, dir);
}

#endif
