// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A "crc32" for User Mode Linux, which has none of the processor's: 64 bytes
 * are folded onto the next 64 by carry-less multiplication (PCLMULQDQ), and the
 * table does the last few.  Both stacks of a benchmark get the same.
 *
 * This kernel is a process: its host saves SSE registers where it interrupts,
 * and without preemption nothing else of this kernel runs in between.
 */
#include <crypto/internal/hash.h>
#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/unaligned.h>

/* The intrinsics' headers want a hosted compiler: this is its vector. */
#define xmm long long __attribute__((vector_size(16)))

#define FOLD(x, k, next)                                                       \
	(__builtin_ia32_pclmulqdq128(x, k, 0x00) ^                             \
	 __builtin_ia32_pclmulqdq128(x, k, 0x11) ^ (next))

/* Bit-reflected x^n modulo the polynomial, for n = 544 and 480: 64 bytes on. */
static const xmm by_64 = { 0x154442bd4, 0x1c6e41596 };
/* For n = 160 and 96: 16 bytes on. */
static const xmm by_16 = { 0x1751997d0, 0x0ccaa009e };

static xmm fold_load(const u8 *from)
{
	xmm x;

	/* This kernel is compiled without the compiler's own memcpy(). */
	__builtin_memcpy(&x, from, sizeof(x));
	return x;
}

static u32 fold_crc32(u32 crc, const u8 *buf, size_t len)
{
	xmm a, b, c, d;
	u8 rest[16];

	if (len < 128)
		return crc32_le(crc, buf, len);
	a = fold_load(buf) ^ (xmm){ crc, 0 };
	b = fold_load(buf + 16);
	c = fold_load(buf + 32);
	d = fold_load(buf + 48);
	for (buf += 64, len -= 64; len >= 64; buf += 64, len -= 64) {
		a = FOLD(a, by_64, fold_load(buf));
		b = FOLD(b, by_64, fold_load(buf + 16));
		c = FOLD(c, by_64, fold_load(buf + 32));
		d = FOLD(d, by_64, fold_load(buf + 48));
	}
	b = FOLD(a, by_16, b);
	c = FOLD(b, by_16, c);
	d = FOLD(c, by_16, d);
	for (; len >= 16; buf += 16, len -= 16)
		d = FOLD(d, by_16, fold_load(buf));
	/* What is left of all that went before has the same remainder. */
	memcpy(rest, &d, sizeof(rest));
	return crc32_le(crc32_le(0, rest, sizeof(rest)), buf, len);
}

static int crc32_init(struct shash_desc *desc)
{
	*(u32 *)shash_desc_ctx(desc) = 0;
	return 0;
}

static int crc32_update(struct shash_desc *desc, const u8 *data,
			unsigned int len)
{
	u32 *crc = shash_desc_ctx(desc);

	*crc = fold_crc32(*crc, data, len);
	return 0;
}

static int crc32_final(struct shash_desc *desc, u8 *out)
{
	put_unaligned_le32(*(u32 *)shash_desc_ctx(desc), out);
	return 0;
}

static struct shash_alg alg = {
	.digestsize = sizeof(u32),
	.descsize = sizeof(u32),
	.init = crc32_init,
	.update = crc32_update,
	.final = crc32_final,
	.base = {
		.cra_name = "crc32",
		.cra_driver_name = "crc32-pclmul",
		.cra_priority = 300,
		.cra_blocksize = 1,
		.cra_module = THIS_MODULE,
	},
};

static bool crc32_is_right(void)
{
	u8 buf[600];
	size_t i, at;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = i * i + 7 * i + (i >> 3);
	for (at = 0; at < 17; at++)
		for (i = 0; i + at <= sizeof(buf); i++)
			if (fold_crc32(~i, buf + at, i) !=
			    crc32_le(~i, buf + at, i))
				return false;
	return true;
}

static int __init crc32_register(void)
{
	if (!crc32_is_right()) {
		pr_err("softroce_crc32: it computes something else\n");
		return -EINVAL;
	}
	return crypto_register_shash(&alg);
}

static void __exit crc32_unregister(void)
{
	crypto_unregister_shash(&alg);
}

module_init(crc32_register);
module_exit(crc32_unregister);
MODULE_DESCRIPTION("CRC-32 by PCLMULQDQ, for benchmarks in User Mode Linux");
MODULE_LICENSE("Dual BSD/GPL");
