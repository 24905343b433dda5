// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The memory of messages, and what has to be in it. */
#include <linux/slab.h>
#include <linux/string.h>
#include "bench.h"

#define POISON 0x6b

static int memory_chunk(struct bench_memory *mem, struct ib_device *dev)
{
	u32 i = mem->chunks;

	mem->chunk[i] = (u8 *)__get_free_pages(GFP_KERNEL,
					       get_order(BENCH_CHUNK));
	if (!mem->chunk[i])
		return -ENOMEM;
	mem->chunks++;
	mem->dma[i] = ib_dma_map_single(dev, mem->chunk[i], BENCH_CHUNK,
					DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev, mem->dma[i])) {
		mem->dma[i] = 0;
		return -ENOMEM;
	}
	return 0;
}

int bench_memory_get(struct bench_memory *mem, struct ib_device *dev,
		     u32 stride, u32 slots)
{
	u32 in_chunk = BENCH_CHUNK / stride, i;
	int ret = 0;

	if (slots > BENCH_MAX_CHUNKS * in_chunk)
		return -EINVAL;
	mem->slot = kvcalloc(slots, sizeof(*mem->slot), GFP_KERNEL);
	if (!mem->slot)
		return -ENOMEM;
	for (i = 0; !ret && i < slots; i++) {
		u32 chunk = i / in_chunk, off = i % in_chunk * stride;

		if (!off)
			ret = memory_chunk(mem, dev);
		mem->slot[i].at = mem->chunk[chunk] + off;
		mem->slot[i].dma = mem->dma[chunk] + off;
	}
	return ret;
}

void bench_memory_put(struct bench_memory *mem, struct ib_device *dev)
{
	u32 i;

	for (i = 0; i < mem->chunks; i++) {
		if (mem->dma[i])
			ib_dma_unmap_single(dev, mem->dma[i], BENCH_CHUNK,
					    DMA_BIDIRECTIONAL);
		free_pages((unsigned long)mem->chunk[i],
			   get_order(BENCH_CHUNK));
	}
	mem->chunks = 0;
	kvfree(mem->slot);
}

/* Each word tells of which message it is, and where in it. */
static u64 memory_word(u32 number, u32 i)
{
	return ((u64)number << 32 | i) * 0x9e3779b97f4a7c15ull;
}

void bench_fill(u8 *buf, u32 len, u32 number)
{
	u64 word;
	u32 i;

	for (i = 0; i < len / 8; i++)
		((u64 *)buf)[i] = memory_word(number, i);
	word = memory_word(number, i);
	memcpy(buf + i * 8, &word, len % 8);
}

void bench_poison(u8 *buf, u32 len)
{
	memset(buf, POISON, len);
}

bool bench_filled(const u8 *buf, u32 len, u32 number)
{
	u64 word;
	u32 i;

	for (i = 0; i < len / 8; i++)
		if (((const u64 *)buf)[i] != memory_word(number, i))
			return false;
	word = memory_word(number, i);
	return !memcmp(buf + i * 8, &word, len % 8);
}
