/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Callbacks that somebody waits for.  Kernels that put off others (since Linux
 * 6.2, where configured) have a way to say so.
 */
#ifndef SOFTROCE_COMPAT_RCU_H
#define SOFTROCE_COMPAT_RCU_H

#include <linux/rcupdate.h>

#ifdef CONFIG_RCU_LAZY
#define softroce_call_rcu_hurry(head, func) call_rcu_hurry(head, func)
#else
#define softroce_call_rcu_hurry(head, func) call_rcu(head, func)
#endif

#endif
