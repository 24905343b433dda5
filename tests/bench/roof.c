// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The roofline of a soft-RoCE: what no message can do without.  A copy into a
 * packet and a CRC over it, a CRC over what came in and a copy out of it, by
 * the fastest "crc32" that the kernel has.
 */
#include <crypto/hash.h>
#include <linux/slab.h>
#include "bench.h"

static int roof_message(struct bench *bench, struct crypto_shash *crc, u8 *via,
			u32 slot)
{
	SHASH_DESC_ON_STACK(desc, crc);
	u8 *from = bench->side[0].mem.slot[slot].at;
	u8 *to = bench->side[1].mem.slot[slot].at;
	__le32 sum[2];
	int ret;

	desc->tfm = crc;
	memcpy(via, from, bench->conf.size);
	ret = crypto_shash_digest(desc, via, bench->conf.size, (u8 *)&sum[0]) ?:
	      crypto_shash_digest(desc, via, bench->conf.size, (u8 *)&sum[1]);
	memcpy(to, via, bench->conf.size);
	return ret ?: sum[0] != sum[1] ? -EBADMSG : 0;
}

int bench_roof(struct bench *bench)
{
	struct crypto_shash *crc = crypto_alloc_shash("crc32", 0, 0);
	u8 *via = kvmalloc(bench->conf.size, GFP_KERNEL);
	u64 began;
	u32 i;
	int ret;

	if (IS_ERR(crc)) {
		kvfree(via);
		return PTR_ERR(crc);
	}
	ret = via ? bench_sides_open(bench) : -ENOMEM;
	if (!ret)
		pr_info("softroce_bench: the roof's CRC is %s\n",
			crypto_shash_driver_name(crc));
	began = bench_now();
	bench_mark(BENCH_MARK_BEGIN);
	for (i = 0; !ret && i < bench->conf.count; i++) {
		ret = roof_message(bench, crc, via, i % bench->conf.slots);
		if (!(i % 256))
			cond_resched();
	}
	bench_mark(BENCH_MARK_END);
	bench->result.ns = bench_now() - began;
	bench->result.messages = i;
	bench_sides_close(bench);
	crypto_free_shash(crc);
	kvfree(via);
	return ret;
}
