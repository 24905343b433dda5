/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Sentences with values in them for netlink's extended ACK.
 *
 * Linux 6.1 has no buffer for them in struct netlink_ext_ack.  There the text
 * lies in one of a few static buffers, used in turn: a message is read right
 * after the command that failed, long before its buffer's turn comes again.
 */
#ifndef SOFTROCE_COMPAT_EXTACK_H
#define SOFTROCE_COMPAT_EXTACK_H

#include <linux/netlink.h>

#ifdef NL_SET_ERR_MSG_FMT

#define softroce_extack NL_SET_ERR_MSG_FMT

#else

#include <linux/atomic.h>
#include <linux/kernel.h>

#define SOFTROCE_EXTACK_LEN 96
#define SOFTROCE_EXTACK_NUM 32

#define softroce_extack(extack, fmt, args...)                                  \
	do {                                                                   \
		static char text[SOFTROCE_EXTACK_NUM][SOFTROCE_EXTACK_LEN];    \
		static atomic_t turn = ATOMIC_INIT(0);                         \
		struct netlink_ext_ack *to = (extack);                         \
		char *line = text[(u32)atomic_inc_return(&turn) %              \
				  SOFTROCE_EXTACK_NUM];                        \
									       \
		if (to) {                                                      \
			snprintf(line, SOFTROCE_EXTACK_LEN, fmt, ##args);      \
			to->_msg = line;                                       \
		}                                                              \
	} while (0)

#endif

#endif
