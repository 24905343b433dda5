// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The choice between CRC engines.
 *
 * Lifetime: the crypto API's transform is taken when the module loads and put
 * when it goes, after the last packet.  Between these crc_shash is constant,
 * so that engines may change under traffic: both compute the same.
 */
#include <crypto/hash.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <asm/simd.h>
#include "rxe_crc.h"

#define CRC_TRIAL_LEN 4096
/* Calls a round, and rounds: the best of them counts. */
#define CRC_TRIAL_CALLS 8
#define CRC_TRIAL_ROUNDS 5

DEFINE_STATIC_KEY_FALSE(rxe_crc_folds);

static struct crypto_shash *crc_shash;
/* Whether folding was the faster one when the module was loaded. */
static bool crc_fold_wins;
/* Serializes changes of the engine. */
static DEFINE_MUTEX(crc_lock);
static DEFINE_PER_CPU(unsigned long, crc_busy_fpu);

/* The state of "crc32-pclmul" is its CRC; rxe_crc_init() has seen its size. */
static u32 crc_fold(u32 crc, const void *data, u32 len)
{
	u8 room[sizeof(struct shash_desc) + sizeof(u32)]
		__aligned(__alignof__(struct shash_desc));
	struct shash_desc *desc = (void *)room;
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = crc_shash;
	*state = crc;
	crypto_shash_update(desc, data, len);
	return *state;
}

/* In an interrupt of somebody who uses the registers in the kernel, the table. */
u32 rxe_crc_fold(u32 crc, const void *data, u32 len)
{
	if (likely(may_use_simd()))
		return crc_fold(crc, data, len);
	this_cpu_inc(crc_busy_fpu);
	return crc32_le(crc, data, len);
}

/* Nanoseconds of CRC_TRIAL_CALLS; @sum takes what keeps a compiler from skipping. */
static u64 crc_time(u32 (*fn)(u32, const void *, u32), const void *data,
		    u32 *sum)
{
	u64 best = U64_MAX, begin;
	int round, i;

	for (round = 0; round < CRC_TRIAL_ROUNDS; round++) {
		preempt_disable();
		begin = ktime_get_ns();
		for (i = 0; i < CRC_TRIAL_CALLS; i++)
			*sum = fn(*sum, data, CRC_TRIAL_LEN);
		best = min(best, ktime_get_ns() - begin);
		preempt_enable();
	}
	return best;
}

static u32 crc_table(u32 crc, const void *data, u32 len)
{
	return crc32_le(crc, data, len);
}

/* It has to be faster by half, for what saving registers costs others. */
static int crc_try(void)
{
	u32 by_table = ~0, by_fold = ~0;
	u64 table, fold;
	u8 *data;

	data = kmalloc(CRC_TRIAL_LEN, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	memset(data, 0x5a, CRC_TRIAL_LEN);
	table = crc_time(crc_table, data, &by_table);
	fold = crc_time(crc_fold, data, &by_fold);
	kfree(data);
	if (by_table != by_fold) {
		pr_warn("rdma_rxe: %s computes another CRC-32\n",
			crypto_shash_driver_name(crc_shash));
		return -EINVAL;
	}
	crc_fold_wins = table * 2 >= fold * 3;
	return 0;
}

static const char *crc_engine(void)
{
	return static_key_enabled(&rxe_crc_folds) ? "pclmul" : "table";
}

int rxe_crc_choose(const char *name)
{
	bool fold;

	if (sysfs_streq(name, "auto"))
		fold = crc_shash && crc_fold_wins;
	else if (sysfs_streq(name, "pclmul"))
		fold = true;
	else if (sysfs_streq(name, "table"))
		fold = false;
	else
		return -EINVAL;
	if (fold && !crc_shash)
		return -EOPNOTSUPP;

	mutex_lock(&crc_lock);
	if (fold)
		static_branch_enable(&rxe_crc_folds);
	else
		static_branch_disable(&rxe_crc_folds);
	mutex_unlock(&crc_lock);
	return 0;
}

/* What the module was loaded with, before there is anything to choose from. */
static char crc_wanted[8] = "auto";
static bool crc_ready;

static int crc_param_set(const char *val, const struct kernel_param *kp)
{
	if (crc_ready)
		return rxe_crc_choose(val);
	return strscpy(crc_wanted, val, sizeof(crc_wanted)) < 0 ? -EINVAL : 0;
}

static int crc_param_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", crc_engine());
}

static const struct kernel_param_ops crc_param_ops = {
	.set = crc_param_set,
	.get = crc_param_get,
};

module_param_cb(crc, &crc_param_ops, NULL, 0644);
MODULE_PARM_DESC(crc,
		 "CRC engine: auto, the faster one, the default; table; pclmul");

static int crc_busy_get(char *buf, const struct kernel_param *kp)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(crc_busy_fpu, cpu);
	return sysfs_emit(buf, "%lu\n", sum);
}

static const struct kernel_param_ops crc_busy_ops = {
	.get = crc_busy_get,
};

module_param_cb(crc_busy_fpu, &crc_busy_ops, NULL, 0444);
MODULE_PARM_DESC(crc_busy_fpu,
		 "Packets whose CRC went by the table since the FPU was in use");

int rxe_crc_init(void)
{
	int err;

	crc_shash = crypto_alloc_shash("crc32-pclmul", 0, 0);
	if (IS_ERR(crc_shash)) {
		crc_shash = NULL;
	} else if (crypto_shash_descsize(crc_shash) != sizeof(u32) ||
		   crc_try()) {
		rxe_crc_exit();
	}
	err = rxe_crc_choose(crc_wanted);
	if (err) {
		pr_err("rdma_rxe: crc=%s: %s\n", crc_wanted,
		       err == -EINVAL ? "there are auto, table and pclmul" :
					"this machine has no crc32-pclmul");
		rxe_crc_exit();
		return err;
	}
	crc_ready = true;
	pr_info("rdma_rxe: CRC engine %s\n", crc_engine());
	return 0;
}

void rxe_crc_exit(void)
{
	if (crc_shash)
		crypto_free_shash(crc_shash);
	crc_shash = NULL;
}
