/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Flags of a mapping: written directly until Linux 6.3. */
#ifndef SOFTROCE_COMPAT_VMA_H
#define SOFTROCE_COMPAT_VMA_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#endif

#endif
