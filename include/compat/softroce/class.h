/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Callbacks of struct class: class_const is what Linux 6.12 has before their
 * struct device, and Linux 6.1, where class_register() was a macro, has not.
 */
#ifndef SOFTROCE_COMPAT_CLASS_H
#define SOFTROCE_COMPAT_CLASS_H

#include <linux/device.h>

#ifdef class_register
#define class_const
#else
#define class_const const
#endif

#endif
