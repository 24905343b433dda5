/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Allocation failures on demand: of the system calls that libibverbs makes for
 * a verb, the kernel's Nth allocation fails. The program's own calls of ioctl(),
 * write(), mmap() and open() stand before those of the C library, so that nothing
 * but what goes to the device is counted, over all calls of a verb.
 */
#ifndef SOFTROCE_TESTS_FAIL_NTH_H
#define SOFTROCE_TESTS_FAIL_NTH_H

#include <stdbool.h>

/* Which half of the ABI is taken away, as refuse.c does it. */
enum refuse { REFUSE_NOTHING, REFUSE_IOCTL, REFUSE_WRITE };

/* False when this kernel has no fault injection. */
bool fail_nth_setup(enum refuse refuse);
/* From here on the @n'th allocation fails. */
void fail_nth_begin(unsigned int n);
/* No more. True when it came so far. */
bool fail_nth_end(void);
/* Around one system call that is not among those above. */
void fail_nth_enter(void);
void fail_nth_leave(void);
/* How many commands went each way, to know that refusing worked. */
unsigned long fail_nth_ioctls(void);
unsigned long fail_nth_writes(void);

#endif
