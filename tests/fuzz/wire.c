// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "report.h"
#include "wire.h"

#define UDP_PORT 4791

/* ------------------------------------------------------------------ opcodes */

/* RETH 16, AETH 4, ImmDt 4, IETH 4, AtomicETH 28, AtomicAckETH 8, FETH 4. */
static const int8_t rc_headers[32] = {
	0, 0, 0, 4, 0, 4,		/* SEND */
	16, 0, 0, 4, 16, 20,		/* WRITE */
	16, 4, 0, 4, 4,			/* READ and its answers */
	4, 12, 28, 28,			/* ACK, atomics */
	-1, 4, 4,			/* SEND with invalidate */
	-1, -1, -1, -1, 20, 16, -1, -1,	/* FLUSH, ATOMIC_WRITE */
};

int opcode_headers(uint8_t opcode)
{
	switch (opcode) {
	case 0x00 ... 0x1f:
		return rc_headers[opcode];
	case 0x20 ... 0x2b:
		return rc_headers[opcode - 0x20];
	case 0x64:
		return 8;
	case 0x65:
		return 12;
	case OPCODE_CNP:
		return 0;
	default:
		return -1;
	}
}

bool opcode_has_data(uint8_t opcode)
{
	switch (opcode) {
	case 0x0c:
	case 0x11 ... 0x14:
	case 0x1c:
		return false;
	default:
		return opcode_headers(opcode) >= 0;
	}
}

/* ------------------------------------------------------------------ bytes */

void put16(uint8_t *out, uint16_t value)
{
	out[0] = value >> 8;
	out[1] = value;
}

void put32(uint8_t *out, uint32_t value)
{
	put16(out, value >> 16);
	put16(out + 2, value);
}

void put64(uint8_t *out, uint64_t value)
{
	put32(out, value >> 32);
	put32(out + 4, value);
}

void wire_bth(uint8_t *out, const struct bth *bth)
{
	out[0] = bth->opcode;
	out[1] = 0x40 | bth->pad << 4 | bth->tver;
	put16(out + 2, bth->pkey);
	put32(out + 4, bth->qpn & 0xffffff);
	put32(out + 8, (bth->psn & 0xffffff) | (uint32_t)bth->ack_req << 31);
}

static uint32_t crc_table[256];

static uint32_t crc32_more(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (!crc_table[1]) {
		for (unsigned int i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int k = 0; k < 8; k++)
				c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
			crc_table[i] = c;
		}
	}
	while (len--)
		crc = crc_table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return crc;
}

/* @ip is a header without options; what may change on the way counts as ones. */
static uint32_t icrc_of(const uint8_t *ip, bool v6, const uint8_t *udp, const uint8_t *roce,
			size_t len)
{
	uint8_t head[8 + 40 + 8 + BTH_BYTES];
	size_t ip_len = v6 ? 40 : 20;
	uint8_t *h = head + 8, *u = h + ip_len, *b = u + 8;

	memset(head, 0xff, 8);
	memcpy(h, ip, ip_len);
	memcpy(u, udp, 8);
	memcpy(b, roce, BTH_BYTES);
	if (v6) {
		h[0] |= 0x0f;
		memset(h + 1, 0xff, 3);
		h[7] = 0xff;
	} else {
		h[1] = 0xff;
		h[8] = 0xff;
		memset(h + 10, 0xff, 2);
	}
	memset(u + 6, 0xff, 2);
	b[4] = 0xff;
	return ~crc32_more(crc32_more(~0u, head, 8 + ip_len + 8 + BTH_BYTES), roce + BTH_BYTES,
			   len - BTH_BYTES - ICRC_BYTES);
}

static uint32_t sum16(uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i += 2)
		sum += data[i] << 8 | (i + 1 < len ? data[i + 1] : 0);
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* ------------------------------------------------------------------ packets */

static size_t ip4_header(struct wire *w, uint8_t *ip, size_t payload, bool options)
{
	size_t len = options ? 24 : 20;

	memset(ip, 0, len);
	ip[0] = 0x40 | len / 4;
	put16(ip + 2, len + payload);
	put16(ip + 4, w->ip_id++);
	put16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, w->src, 4);
	memcpy(ip + 16, w->dst, 4);
	if (options)
		memset(ip + 20, 1, 4);	/* no-operation */
	put16(ip + 10, fold(sum16(0, ip, len)));
	return len;
}

static size_t ip6_header(struct wire *w, uint8_t *ip, size_t payload, bool options)
{
	size_t extra = options ? 8 : 0;

	memset(ip, 0, 48);
	ip[0] = 0x60;
	put16(ip + 4, payload + extra);
	ip[6] = options ? 60 : 17;
	ip[7] = 64;
	memcpy(ip + 8, w->src, 16);
	memcpy(ip + 24, w->dst, 16);
	if (options) {
		ip[40] = 17;
		ip[42] = 1;	/* PadN of four bytes */
		ip[43] = 4;
	}
	return 40 + extra;
}

static uint16_t udp_checksum(const struct wire *w, const uint8_t *udp, size_t len)
{
	size_t addr = w->v6 ? 16 : 4;
	uint32_t sum = 17 + len;
	uint16_t got;

	sum = sum16(sum, w->src, addr);
	sum = sum16(sum, w->dst, addr);
	got = fold(sum16(sum, udp, len));
	return got ?: 0xffff;
}

size_t wire_build(struct wire *w, uint8_t *out, uint8_t *roce, size_t len, enum icrc icrc,
		  const struct oddity *odd)
{
	static const struct oddity none;
	uint8_t *udp;
	uint32_t crc;
	size_t ip_len;

	odd = odd ?: &none;
	if (w->v6)
		ip_len = ip6_header(w, out, 8 + len, odd->options);
	else
		ip_len = ip4_header(w, out, 8 + len, odd->options);
	udp = out + ip_len;
	put16(udp, 0xc123);
	put16(udp + 2, UDP_PORT);
	put16(udp + 4, 8 + len + odd->udp_len);
	put16(udp + 6, 0);
	if (icrc != ICRC_NONE && len >= BTH_BYTES + ICRC_BYTES) {
		crc = icrc_of(out, w->v6, udp, roce, len);
		if (icrc == ICRC_BAD)
			crc ^= 0x00010000;
		for (int i = 0; i < 4; i++)
			roce[len - ICRC_BYTES + i] = crc >> 8 * i;
	}
	memcpy(udp + 8, roce, len);
	if (odd->checksum)
		put16(udp + 6, udp_checksum(w, udp, 8 + len));
	return ip_len + 8 + len;
}

static bool put_out(struct wire *w, const uint8_t *ip, size_t len)
{
	ssize_t n;

	do {
		n = sendto(w->fd, ip, len, 0, (struct sockaddr *)&w->to, sizeof(w->to));
	} while (n < 0 && (errno == ENOBUFS || errno == EAGAIN || errno == EINTR));
	w->sent += n > 0;
	return n > 0;
}

/* IPv4 only; the identification is the packet's. */
static bool put_fragments(struct wire *w, const uint8_t *ip, size_t len, const struct oddity *odd)
{
	uint8_t part[WIRE_MAX];
	size_t first = odd->fragment * 8, body = len - 20;

	if (first >= body)
		return put_out(w, ip, len);
	memcpy(part, ip, 20 + first);
	put16(part + 2, 20 + first);
	put16(part + 6, 0x2000);
	put16(part + 10, 0);
	put16(part + 10, fold(sum16(0, part, 20)));
	if (!put_out(w, part, 20 + first) || odd->half)
		return false;
	memcpy(part + 20, ip + 20 + first, body - first);
	put16(part + 2, 20 + body - first);
	put16(part + 6, odd->fragment);
	put16(part + 10, 0);
	put16(part + 10, fold(sum16(0, part, 20)));
	return put_out(w, part, 20 + body - first);
}

bool wire_send(struct wire *w, uint8_t *roce, size_t len, enum icrc icrc,
	       const struct oddity *odd)
{
	uint8_t ip[WIRE_MAX + 100];
	size_t total = wire_build(w, ip, roce, len, icrc, odd);

	if (odd && odd->fragment && !w->v6)
		return put_fragments(w, ip, total, odd);
	return put_out(w, ip, total);
}

/* ------------------------------------------------------------------ opening */

static void enter_netns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s: %s", path, strerror(errno));
	close(fd);
}

void wire_open(struct wire *w, const char *netns, const char *ifname, const char *mac)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	char path[128];

	if (netns) {
		snprintf(path, sizeof(path), "/run/netns/%s", netns);
		enter_netns(path);
	}
	w->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (w->fd < 0)
		die("packet socket: %s", strerror(errno));
	w->to.sll_family = AF_PACKET;
	w->to.sll_ifindex = if_nametoindex(ifname);
	w->to.sll_halen = 6;
	if (!w->to.sll_ifindex)
		die("no interface %s", ifname);
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &w->to.sll_addr[0], &w->to.sll_addr[1],
		   &w->to.sll_addr[2], &w->to.sll_addr[3], &w->to.sll_addr[4],
		   &w->to.sll_addr[5]) != 6)
		die("'%s' is no MAC address", mac);
	if (setns(home, CLONE_NEWNET))
		die("back to the own namespace: %s", strerror(errno));
	close(home);
}

void wire_between(struct wire *w, const char *src, const char *dst)
{
	w->v6 = strchr(src, ':');
	if (inet_pton(w->v6 ? AF_INET6 : AF_INET, src, w->src) != 1 ||
	    inet_pton(w->v6 ? AF_INET6 : AF_INET, dst, w->dst) != 1)
		die("'%s' or '%s' is no address", src, dst);
	w->to.sll_protocol = htons(w->v6 ? 0x86dd : 0x0800);
}

/* ------------------------------------------------------------------ trains */

void wire_open_tun(struct wire *w, const char *ifname)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	w->fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (w->fd < 0 || ioctl(w->fd, TUNSETIFF, &ifr))
		die("tun interface %s: %s", ifname, strerror(errno));
}

bool wire_train(struct wire *w, uint8_t *roce, size_t len, unsigned int count,
		uint8_t gso_type, uint16_t gso_size, uint16_t hdr_len)
{
	struct {
		struct virtio_net_hdr hdr;
		uint8_t ip[65536];
	} out = { 0 };
	uint8_t one[WIRE_MAX + 100];
	uint16_t id = w->ip_id;
	ssize_t n;
	size_t total;

	/* Each packet's ICRC is that of the packet by itself. */
	for (unsigned int i = 0; i < count; i++)
		wire_build(w, one, roce + i * len, len, ICRC_GOOD, NULL);
	w->ip_id = id;
	total = wire_build(w, out.ip, roce, count * len, ICRC_NONE, NULL);
	w->ip_id = id + count;
	out.hdr.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	out.hdr.gso_type = gso_type;
	out.hdr.hdr_len = hdr_len;
	out.hdr.gso_size = gso_size;
	out.hdr.csum_start = total - count * len - 8;
	out.hdr.csum_offset = 6;
	n = write(w->fd, &out, sizeof(out.hdr) + total);
	w->sent += n > 0;
	return n > 0;
}
