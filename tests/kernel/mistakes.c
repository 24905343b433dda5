// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Mistakes made on purpose: a debug kernel has to notice each of them, or its
 * silence about our modules says nothing.
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include "mistakes.h"

#define RACE_MS 5000

static int use_after_free(void)
{
	u8 *gone = kmalloc(64, GFP_KERNEL);

	if (!gone)
		return -ENOMEM;
	kfree(gone);
	/* The compiler would see through it. */
	OPTIMIZER_HIDE_VAR(gone);
	(void)READ_ONCE(gone[10]);
	return 0;
}

static int out_of_bounds(void)
{
	u8 *few = kmalloc(64, GFP_KERNEL);

	if (!few)
		return -ENOMEM;
	OPTIMIZER_HIDE_VAR(few);
	WRITE_ONCE(few[64], 1);
	kfree(few);
	return 0;
}

static int leak(void)
{
	u8 *lost = kmalloc(4096, GFP_KERNEL);

	if (!lost)
		return -ENOMEM;
	/* kmemleak finds what nothing points to. */
	memset(lost, 0x5a, 4096);
	OPTIMIZER_HIDE_VAR(lost);
	return 0;
}

static int sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
	return 0;
}

static void nobody_comes(struct timer_list *timer)
{
}

static int timer_freed(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return -ENOMEM;
	timer_setup(timer, nobody_comes, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	/* What notices it takes it away, too. */
	kfree(timer);
	return 0;
}

static int lock_order(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

static u64 shared_number;

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		shared_number++;
		barrier();
		cond_resched();
	}
	return 0;
}

static int race(void)
{
	struct task_struct *threads[2];
	int err = 0, i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_run(count, NULL, "softroce_race/%d", i);
		if (IS_ERR(threads[i])) {
			err = PTR_ERR(threads[i]);
			break;
		}
	}
	if (!err)
		msleep(RACE_MS);
	while (i--)
		kthread_stop(threads[i]);
	return err;
}

static const struct {
	const char *name;
	int (*make)(void);
} mistakes[] = {
	{ "use_after_free", use_after_free },
	{ "out_of_bounds", out_of_bounds },
	{ "leak", leak },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "timer_freed", timer_freed },
	{ "lock_order", lock_order },
	{ "race", race },
};

int make_mistake(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (!strcmp(name, mistakes[i].name)) {
			pr_info("softroce_ktest: on purpose: %s\n", name);
			return mistakes[i].make() ?: -ECANCELED;
		}
	pr_err("softroce_ktest: no mistake %s is known\n", name);
	return -EINVAL;
}
