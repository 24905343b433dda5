/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What ties a module to softroce's core: upper layers that are compiled for
 * softroce get this header force-included (-include softroce.h).
 *
 * The symbol namespace keeps a module built for the in-tree core off ours.
 * The symbol softroce_core_abi exists in our ib_core alone and keeps ours off
 * the in-tree one: whatever includes this header has a reference to it.
 */
#ifndef SOFTROCE_H
#define SOFTROCE_H

#include <linux/compiler.h>
#include <linux/module.h>

MODULE_IMPORT_NS(SOFTROCE);

extern const int softroce_core_abi;

static const int *const softroce_core_needed __used = &softroce_core_abi;

#endif
