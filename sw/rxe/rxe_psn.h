/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Arithmetic on 24-bit packet sequence numbers (IBTA vol. 1, 9.7.2). */
#ifndef SOFTROCE_RXE_PSN_H
#define SOFTROCE_RXE_PSN_H

#include <linux/types.h>

#define RXE_PSN_MASK 0xffffff

static inline u32 rxe_psn_add(u32 psn, u32 n)
{
	return (psn + n) & RXE_PSN_MASK;
}

/* How far @a is ahead of @b: -2^23 to 2^23-1. */
static inline s32 rxe_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif
