/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The invariant CRC of RoCEv2 (IBTA vol. 1, 7.8.1, and annex A17.3.3), in
 * parts: network headers, then the BTH (rxe_icrc_bth()), then rxe_crc32() over
 * the rest.  A pure leaf: no skbs, no flows.
 */
#ifndef SOFTROCE_RXE_ICRC_H
#define SOFTROCE_RXE_ICRC_H

#include <linux/types.h>

struct iphdr;
struct ipv6hdr;
struct udphdr;

/*
 * The CRC over the network headers of a packet of @len bytes from BTH to
 * ICRC.  What masks change may have any value in @ip and @udp, and so may the
 * lengths and IPv4's identification, for which @len and @id stand: in a train
 * the headers are those of the whole.
 */
u32 rxe_icrc_ip4(const struct iphdr *ip, const struct udphdr *udp, u32 len,
		 u16 id);
u32 rxe_icrc_ip6(const struct ipv6hdr *ip, const struct udphdr *udp, u32 len);

#endif
