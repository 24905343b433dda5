// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Addresses of lists for devices without a DMA device; <rdma/ib_dma.h>. */
#include <linux/export.h>
#include <rdma/ib_verbs.h>

/**
 * ib_dma_virt_map_sg - give the entries of a list their virtual addresses
 * @dev: a device that uses these
 * @sg: the list
 * @nents: its entries
 *
 * Consumers call ib_dma_map_sg().
 *
 * Context: any.
 * Return: @nents.
 */
int ib_dma_virt_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents)
{
	struct scatterlist *one;
	int i;

	for_each_sg(sg, one, nents, i) {
		sg_dma_address(one) = (uintptr_t)sg_virt(one);
		sg_dma_len(one) = one->length;
	}
	return nents;
}
EXPORT_SYMBOL(ib_dma_virt_map_sg);
