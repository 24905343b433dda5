/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SOFTROCE_TESTS_KERNEL_MISTAKES_H
#define SOFTROCE_TESTS_KERNEL_MISTAKES_H

/**
 * make_mistake - do something wrong that a debug kernel should notice
 * @name: which, see the list in mistakes.c
 *
 * Only for kernels that run for nothing else.
 *
 * Context: process.
 * Return: -ECANCELED when it is done, -EINVAL when @name is unknown.
 */
int make_mistake(const char *name);

#endif
