/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * CRC-32 of packets, by the fastest engine that this machine has.
 *
 * crc32_le() goes by a table on kernels before 6.14.  The crypto API's
 * "crc32-pclmul" folds with PCLMULQDQ, five to seven times faster on a real
 * processor and many times slower on an emulated one: so it is timed when the
 * module loads.  The parameter "crc" tells and changes the choice.
 */
#ifndef SOFTROCE_RXE_CRC_H
#define SOFTROCE_RXE_CRC_H

#include <linux/crc32.h>
#include <linux/jump_label.h>

/*
 * Where folding begins to pay: below it, saving the program's FPU registers
 * costs more than the table does.
 */
#define RXE_CRC_FOLD_MIN 512

DECLARE_STATIC_KEY_FALSE(rxe_crc_folds);

u32 rxe_crc_fold(u32 crc, const void *data, u32 len);

/* As crc32_le().  Any context. */
static inline u32 rxe_crc32(u32 crc, const void *data, u32 len)
{
	if (static_branch_unlikely(&rxe_crc_folds) && len >= RXE_CRC_FOLD_MIN)
		return rxe_crc_fold(crc, data, len);
	return crc32_le(crc, data, len);
}

/*
 * Take the engine "auto", "table" or "pclmul".  Process context.
 * -EINVAL: there is no such engine; -EOPNOTSUPP: this machine lacks it.
 */
int rxe_crc_choose(const char *name);

int rxe_crc_init(void);
void rxe_crc_exit(void);

#endif
