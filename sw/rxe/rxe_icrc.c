// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The invariant CRC: what a router or switch may change counts as ones.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>
#include "rxe_icrc.h"
#include "rxe_net.h"
#include "rxe_opcode.h"

/* InfiniBand's local route header, which RoCE does not have. */
#define LRH_LEN 8

struct masked_ip4 {
	u8 lrh[LRH_LEN];
	struct iphdr ip;
	struct udphdr udp;
} __packed;

struct masked_ip6 {
	u8 lrh[LRH_LEN];
	struct ipv6hdr ip;
	struct udphdr udp;
} __packed;

static void mask_udp(struct udphdr *to, const struct udphdr *udp, u32 len)
{
	to->source = udp->source;
	to->dest = udp->dest;
	to->len = htons(sizeof(*udp) + len);
	to->check = (__force __sum16)0xffff;
}

u32 rxe_icrc_ip4(const struct iphdr *ip, const struct udphdr *udp, u32 len,
		 u16 id)
{
	struct masked_ip4 m;

	memset(m.lrh, 0xff, sizeof(m.lrh));
	m.ip = *ip;
	m.ip.tos = 0xff;
	m.ip.ttl = 0xff;
	m.ip.check = (__force __sum16)0xffff;
	m.ip.tot_len = htons(sizeof(m.ip) + sizeof(m.udp) + len);
	m.ip.id = htons(id);
	mask_udp(&m.udp, udp, len);
	return crc32_le(~0, (const u8 *)&m, sizeof(m));
}

u32 rxe_icrc_ip6(const struct ipv6hdr *ip, const struct udphdr *udp, u32 len)
{
	struct masked_ip6 m;

	memset(m.lrh, 0xff, sizeof(m.lrh));
	m.ip = *ip;
	/* Traffic class and flow label: all but the version. */
	m.ip.priority = 0xf;
	memset(m.ip.flow_lbl, 0xff, sizeof(m.ip.flow_lbl));
	m.ip.hop_limit = 0xff;
	m.ip.payload_len = htons(sizeof(m.udp) + len);
	mask_udp(&m.udp, udp, len);
	return crc32_le(~0, (const u8 *)&m, sizeof(m));
}

u32 rxe_icrc_bth(u32 crc, const void *bth)
{
	struct rxe_bth masked;

	memcpy(&masked, bth, sizeof(masked));
	/* resv8a, home of FECN and BECN. */
	masked.qpn |= cpu_to_be32(0xff000000);
	return crc32_le(crc, (const u8 *)&masked, sizeof(masked));
}
