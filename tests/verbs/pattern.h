/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Test data that tells where it belongs. A byte depends on a key (which message
 * it is of, or which round of stale filling) and on its position there, so a
 * byte that was moved, left over from before or taken from elsewhere does not
 * match.
 */
#ifndef SOFTROCE_TESTS_PATTERN_H
#define SOFTROCE_TESTS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A repeatable random number: the same key and index give the same value. */
uint64_t pattern_word(uint64_t key, uint64_t index);
/* Writes bytes @pos to @pos + @len of the pattern @key to @dst. */
void pattern_fill(void *dst, uint64_t key, uint64_t pos, size_t len);
/*
 * Compares @len bytes at @src. True when all are right; otherwise *@where is
 * the first wrong byte, *@wrong the number of wrong ones.
 */
bool pattern_check(const void *src, uint64_t key, uint64_t pos, size_t len,
		   size_t *where, size_t *wrong);
uint8_t pattern_byte(uint64_t key, uint64_t pos);

#endif
