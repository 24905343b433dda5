// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <string.h>

#include "pattern.h"

uint64_t pattern_word(uint64_t key, uint64_t index)
{
	uint64_t x = (key + 1) * 0xd6e8feb86659fd93u + index;

	x ^= x >> 32;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 29;
	return x * 0x9fb21c651e98df25u;
}

uint8_t pattern_byte(uint64_t key, uint64_t pos)
{
	uint64_t word = pattern_word(key, pos / 8);

	return ((const uint8_t *)&word)[pos % 8];
}

void pattern_fill(void *dst, uint64_t key, uint64_t pos, size_t len)
{
	uint8_t *out = dst;

	while (len) {
		uint64_t word = pattern_word(key, pos / 8);
		size_t skip = pos % 8, part = 8 - skip;

		if (part > len)
			part = len;
		memcpy(out, (uint8_t *)&word + skip, part);
		out += part;
		pos += part;
		len -= part;
	}
}

bool pattern_check(const void *src, uint64_t key, uint64_t pos, size_t len,
		   size_t *where, size_t *wrong)
{
	const uint8_t *in = src;
	uint8_t want[4096];
	size_t done = 0, count = 0;

	while (done < len) {
		size_t part = len - done < sizeof(want) ? len - done : sizeof(want);

		pattern_fill(want, key, pos + done, part);
		if (memcmp(want, in + done, part)) {
			for (size_t i = 0; i < part; i++) {
				if (want[i] == in[done + i])
					continue;
				if (!count++)
					*where = done + i;
			}
		}
		done += part;
	}
	*wrong = count;
	return !count;
}
