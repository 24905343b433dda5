/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * RoCEv2 packets by hand, written from the specification and not from the
 * driver: what a stranger on the network may send.
 */
#ifndef SOFTROCE_TESTS_WIRE_H
#define SOFTROCE_TESTS_WIRE_H

#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Debian 12's headers are older than it. */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define WIRE_MAX	4096
#define BTH_BYTES	12
#define ICRC_BYTES	4

/* Where packets leave, and between which addresses. */
struct wire {
	int fd;
	struct sockaddr_ll to;
	bool v6;
	uint8_t src[16], dst[16];	/* the first four for IPv4 */
	uint16_t ip_id;
	unsigned long sent;
};

enum icrc { ICRC_GOOD, ICRC_BAD, ICRC_NONE };

/* What is unusual about the packet below and around the transport's headers. */
struct oddity {
	bool options;		/* IPv4 options, or an IPv6 extension header */
	int udp_len;		/* added to what is true */
	unsigned int fragment;	/* in two, the first of so many bytes (times 8) */
	bool half;		/* and the second is never sent */
	bool checksum;		/* a right UDP checksum instead of none */
};

/* The first three bits of an opcode; behind them are 32 operations. */
enum service { SERVICE_RC, SERVICE_UC, SERVICE_RD, SERVICE_UD, SERVICES = 8 };
#define OPCODE(service, operation)	((service) << 5 | (operation))
#define OPCODE_CNP			0x81

/* A base transport header and what follows, in host order. */
struct bth {
	uint8_t opcode, pad, tver;
	uint16_t pkey;
	uint32_t qpn, psn;
	bool ack_req;
};

/* Opens interface @ifname of namespace @netns; @mac is the next hop's. */
void wire_open(struct wire *w, const char *netns, const char *ifname, const char *mac);
/* IPv4 or IPv6 addresses as text. */
void wire_between(struct wire *w, const char *src, const char *dst);
/* Writes the 12 bytes. */
void wire_bth(uint8_t *out, const struct bth *bth);
void put16(uint8_t *out, uint16_t value);
void put32(uint8_t *out, uint32_t value);
void put64(uint8_t *out, uint64_t value);
/*
 * Sends @len bytes, BTH to ICRC: the last four are made here. False when the
 * interface does not take it.
 */
bool wire_send(struct wire *w, uint8_t *roce, size_t len, enum icrc icrc,
	       const struct oddity *odd);
/* What this packet would look like whole, from its IP header; the bytes. */
size_t wire_build(struct wire *w, uint8_t *out, uint8_t *roce, size_t len, enum icrc icrc,
		  const struct oddity *odd);

/* Attaches to the tun interface @ifname, whose kernel takes trains from us. */
void wire_open_tun(struct wire *w, const char *ifname);
/*
 * A train of @count packets of @len bytes each (BTH to ICRC) at @roce, in one
 * piece, which claims to be made of segments of @gso_size in the way of @gso_type
 * (VIRTIO_NET_HDR_GSO_*), and @hdr_len bytes of headers. False when the kernel
 * refuses it.
 */
bool wire_train(struct wire *w, uint8_t *roce, size_t len, unsigned int count,
		uint8_t gso_type, uint16_t gso_size, uint16_t hdr_len);

/* Bytes of the headers behind the BTH, -1 for no opcode of RC, UC, UD or CNP. */
int opcode_headers(uint8_t opcode);
/* May payload follow? */
bool opcode_has_data(uint8_t opcode);

#endif
