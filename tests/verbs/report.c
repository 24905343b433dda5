// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "report.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int good, bad, skipped;
static const char *_Atomic about = "start";

static void say(const char *head, const char *fmt, va_list args, const char *tail)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, args);
	printf("%s%s%s\n", head, text, tail);
	fflush(stdout);
}

bool report(bool ok, const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	if (ok)
		good++;
	else
		bad++;
	va_start(args, fmt);
	say(ok ? "ok " : "not ok ", fmt, args, "");
	va_end(args);
	pthread_mutex_unlock(&lock);
	return ok;
}

void report_skip(const char *why, const char *fmt, ...)
{
	char tail[256];
	va_list args;

	snprintf(tail, sizeof(tail), " # SKIP %s", why);
	pthread_mutex_lock(&lock);
	skipped++;
	va_start(args, fmt);
	say("ok ", fmt, args, tail);
	va_end(args);
	pthread_mutex_unlock(&lock);
}

void note(const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	va_start(args, fmt);
	say("# ", fmt, args, "");
	va_end(args);
	pthread_mutex_unlock(&lock);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say("not ok ", fmt, args, "");
	va_end(args);
	_exit(2);
}

int report_status(void)
{
	return bad || !(good + skipped);
}

/* Only async-signal-safe calls: the process may hang inside printf itself. */
static void bark(int sig)
{
	static const char text[] = "\nnot ok watchdog: no end in sight, stuck in: ";
	const char *what = about;

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDOUT_FILENO, what, strlen(what)) < 0 ||
	    write(STDOUT_FILENO, "\n", 1) < 0)
		_exit(4);
	_exit(3);
}

void watchdog(unsigned int seconds)
{
	struct utsname kernel;
	bool slow = !uname(&kernel) && strstr(kernel.release, "-softroce-");

	signal(SIGALRM, bark);
	alarm(slow ? seconds * 5 : seconds);
}

bool user_mode_linux(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, "User Mode Linux");
	if (f)
		fclose(f);
	return found;
}

void watchdog_about(const char *what)
{
	about = what;
}
