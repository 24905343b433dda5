/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a test program says: one "ok" or "not ok" line per finding, "# " in
 * front of everything else, and an exit status that agrees with the lines.
 */
#ifndef SOFTROCE_TESTS_REPORT_H
#define SOFTROCE_TESTS_REPORT_H

#include <stdbool.h>

/* One finding. Returns @ok, so that a caller can stop after a failure. */
[[gnu::format(printf, 2, 3)]]
bool report(bool ok, const char *fmt, ...);
/* A finding that cannot be made here, and why not. */
[[gnu::format(printf, 2, 3)]]
void report_skip(const char *why, const char *fmt, ...);
/* Detail for the reader; never counted. */
[[gnu::format(printf, 1, 2)]]
void note(const char *fmt, ...);
/* The test itself cannot go on: says so as "not ok" and exits with 2. */
[[gnu::format(printf, 1, 2)]]
_Noreturn void die(const char *fmt, ...);
/* 0 when no finding was bad and there was at least one, else 1. */
int report_status(void);

/*
 * Ends the process with status 3 and a "not ok" line after @seconds, whatever
 * it is blocked in; on a debug kernel (docs/debug-kernels.md) after five times as
 * long. Calling it again starts the time anew; 0 stops it.
 */
void watchdog(unsigned int seconds);
/* What the watchdog names as the thing that hung; kept by reference. */
void watchdog_about(const char *what);

bool user_mode_linux(void);

#endif
