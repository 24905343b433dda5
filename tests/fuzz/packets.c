// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Packets that lie: everything a stranger, and a peer, can send to port 4791.
 *
 *   victims' queue pairs on DEV  <--- UDP 4791 ---  raw packets from --netns, --if
 *
 * What each packet is worth is computed here from the specification, and the
 * link's counters have to say the same. Queue pairs stay in RTS, but for those
 * that their own peer sent, in order and with everything else right, what
 * cannot be executed (in_order_faults[]). Memory outside of regions stays.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"
#include "rings.h"
#include "wire.h"

#define FIRST_PSN	1000
#define PEER_QPN	0x123456
#define NOBODY_QPN	0xffffff
#define ARENA_BYTES	65536
#define REGION_AT	(8192 + 100)
#define REGION_BYTES	8000
#define ARENA_KEY	77
#define QKEY		0x11111111
#define GRH		40

/* What happens to a packet; the counters' names, in this order. */
enum fate { MALFORMED, NO_QP, WRONG_PEER, WRONG_SERVICE, QP_STATE, PKEY, BAD_ICRC, FATES,
	    RECEIVED = FATES, QUIET };

static const char *const fate_names[FATES] = {
	"drop_malformed", "drop_no_qp", "drop_wrong_peer", "drop_wrong_service",
	"drop_qp_state", "drop_pkey", "drop_icrc",
};

static struct {
	const char *dev, *netns, *ifname, *mac;
	const char *tun, *tun_dev;
	const char *src[3], *dst[3];	/* IPv4, IPv6, over tun */
	unsigned int stride, fuzz;
	uint64_t seed;
} opt = { .dev = "", .ifname = "vb", .mac = "", .stride = 1, .fuzz = 20000 };

static struct wire wire;
static struct rig rig;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static uint8_t *arena;
static const char *family;
static uint64_t draws;

static uint64_t rnd(void)
{
	return pattern_word(opt.seed, draws++);
}

/* ------------------------------------------------------------------ counters */

static unsigned long want[FATES], before[FATES], softnet_before;

static unsigned long counter(const char *name)
{
	unsigned long value = 0;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s", opt.dev,
		 name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lu", &value) != 1)
		die("%s: %s", path, strerror(errno));
	fclose(f);
	return value;
}

/* Packets that the kernel lost before anybody looked at them. */
static unsigned long softnet_drops(void)
{
	FILE *f = fopen("/proc/net/softnet_stat", "r");
	unsigned long sum = 0;
	unsigned int dropped;

	while (f && fscanf(f, "%*x %x%*[^\n]", &dropped) == 1)
		sum += dropped;
	if (f)
		fclose(f);
	return sum;
}

static void tally_begin(void)
{
	memset(want, 0, sizeof(want));
	softnet_before = softnet_drops();
	for (int i = 0; i < FATES; i++)
		before[i] = counter(fate_names[i]);
}

static void expect(enum fate fate)
{
	if (fate < FATES)
		want[fate]++;
}

static unsigned long tally_missing(void)
{
	unsigned long missing = 0;

	for (int i = 0; i < FATES; i++) {
		unsigned long got = counter(fate_names[i]) - before[i];

		missing += got < want[i] ? want[i] - got : 0;
	}
	return missing;
}

/* The counters say what was expected, less what the network itself lost. */
static void tally_end(const char *name)
{
	uint64_t end = now_ms() + 5000;
	unsigned long total = 0, missing, lost;
	bool right = true;
	char text[300] = "";
	size_t len = 0;

	while ((missing = tally_missing()) && now_ms() < end)
		usleep(2000);
	lost = softnet_drops() - softnet_before;
	for (int i = 0; i < FATES; i++) {
		unsigned long got = counter(fate_names[i]) - before[i];

		total += want[i];
		if (got != want[i] || got)
			len += snprintf(text + len, sizeof(text) - len, " %s %lu", fate_names[i],
					got);
		if (got > want[i])
			right = false;
		if (got != want[i])
			len += snprintf(text + len, sizeof(text) - len, " (not %lu)", want[i]);
	}
	report(right && missing <= lost, "%s, %s: %lu packets to drop:%s%s", name, family, total,
	       text, lost ? ", the network lost some itself" : "");
}

/* ------------------------------------------------------------------ victims */

enum victim_kind { LIVE, FOREIGN, RESET, ENDED, LIVE_UC, LIVE_UD, VICTIMS };

static struct ibv_qp *victim[VICTIMS];

static union ibv_gid gid_of(const uint8_t *addr)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	memcpy(wire.v6 ? gid.raw : gid.raw + 12, addr, wire.v6 ? 16 : 4);
	return gid;
}

static int listen_to_all(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					   IBV_QP_QKEY);

	attr.qp_state = IBV_QPS_RTR;
	err = err ?: ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	return err ?: ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static struct ibv_qp *make_victim(enum victim_kind kind)
{
	struct tuning tune = tuning_default;
	struct peer to = { .qpn = PEER_QPN, .psn = FIRST_PSN, .gid = gid_of(wire.src) };
	enum ibv_qp_type type = kind == LIVE_UC ? IBV_QPT_UC :
				kind == LIVE_UD ? IBV_QPT_UD : IBV_QPT_RC;
	struct ibv_qp *qp = rig_qp(&rig, type, cq, cq, &tune);
	int err = 0;

	if (!qp)
		die("ibv_create_qp: %s", strerror(errno));
	if (kind == FOREIGN)
		to.gid.raw[15] ^= 0x40;
	if (kind == LIVE_UD)
		err = listen_to_all(qp);
	else if (kind != RESET)
		err = rig_connect(&rig, qp, &to, FIRST_PSN, &tune);
	if (err)
		die("connecting a victim over %s: %s", family, strerror(err));
	if (kind == ENDED)
		rig_to_error(qp);
	return qp;
}

static void victims_rest(const char *name)
{
	int live = rings_qp_state(victim[LIVE]), foreign = rings_qp_state(victim[FOREIGN]);

	report(live == IBV_QPS_RTS && foreign == IBV_QPS_RTS &&
	       rings_qp_state(victim[LIVE_UC]) == IBV_QPS_RTS &&
	       rings_qp_state(victim[LIVE_UD]) == IBV_QPS_RTS &&
	       rings_qp_state(victim[RESET]) == IBV_QPS_RESET &&
	       rings_qp_state(victim[ENDED]) == IBV_QPS_ERR,
	       "%s, %s: all queue pairs are where they were (%d, %d)", name, family, live, foreign);
}

static void arena_check(const char *name, bool with_region)
{
	size_t where, wrong;
	bool whole;

	whole = pattern_check(arena, ARENA_KEY, 0, REGION_AT, &where, &wrong) &&
		pattern_check(arena + REGION_AT + REGION_BYTES, ARENA_KEY,
			      REGION_AT + REGION_BYTES, ARENA_BYTES - REGION_AT - REGION_BYTES,
			      &where, &wrong);
	if (with_region)
		whole = whole && pattern_check(arena + REGION_AT, ARENA_KEY, REGION_AT,
					       REGION_BYTES, &where, &wrong);
	report(whole, "%s, %s: memory %s is untouched", name, family,
	       with_region ? "in and around the region" : "around the region");
	pattern_fill(arena, ARENA_KEY, 0, ARENA_BYTES);
}

/* ------------------------------------------------------------------ prediction */

static enum service service_of(enum victim_kind kind)
{
	switch (kind) {
	case LIVE_UC:
		return SERVICE_UC;
	case LIVE_UD:
		return SERVICE_UD;
	default:
		return SERVICE_RC;
	}
}

/* The checks of IBTA vol. 1, 9.6, in the order of docs/troubleshooting.md's table. */
static enum fate fate_of(const struct bth *b, size_t len, enum victim_kind kind, bool nobody,
			 enum icrc icrc)
{
	int headers = opcode_headers(b->opcode);
	size_t least = BTH_BYTES + headers + b->pad + ICRC_BYTES;

	if (len < BTH_BYTES + ICRC_BYTES || len % 4 || headers < 0 || b->tver || len < least ||
	    (!opcode_has_data(b->opcode) && len != least - b->pad))
		return MALFORMED;
	if (b->opcode == OPCODE_CNP)
		return QUIET;
	if ((b->pkey & 0x7fff) != 0x7fff)
		return PKEY;
	if (nobody)
		return NO_QP;
	if (kind == FOREIGN || kind == RESET)
		return WRONG_PEER;
	if (b->opcode >> 5 != service_of(kind))
		return WRONG_SERVICE;
	if (kind == ENDED)
		return QP_STATE;
	return icrc == ICRC_GOOD ? RECEIVED : BAD_ICRC;
}

/* Sends @b with @len bytes in all, the headers' contents at random. */
static enum fate shoot(struct bth *b, size_t len, enum victim_kind kind, enum icrc icrc)
{
	uint8_t roce[WIRE_MAX];
	enum fate fate;

	b->qpn = victim[kind] ? victim[kind]->qp_num : NOBODY_QPN;
	for (size_t i = BTH_BYTES; i < len; i += 8) {
		uint64_t word = rnd();

		memcpy(roce + i, &word, 8);
	}
	wire_bth(roce, b);
	if (!wire_send(&wire, roce, len, icrc, NULL))
		die("sending %zu bytes: %s", len, strerror(errno));
	fate = fate_of(b, len, kind, !victim[kind], icrc);
	expect(fate);
	if (wire.sent % 64 == 0)
		sched_yield();
	return fate;
}

/* ------------------------------------------------------------------ B04 to B06 */

static void b04_sweep(const char *name, enum victim_kind kind)
{
	unsigned int turn = 0;

	tally_begin();
	for (unsigned int opcode = 0; opcode < 256; opcode++)
		for (unsigned int len = 0; len <= 96; len++)
			for (unsigned int pad = 0; pad < 4; pad++) {
				struct bth b = { .opcode = opcode, .pad = pad, .pkey = 0xffff,
						 .psn = FIRST_PSN, .ack_req = true };

				if (turn++ % opt.stride == 0)
					shoot(&b, len, kind, ICRC_NONE);
			}
	tally_end(name);
}

/* The one that was reported, which a sweep with a stride may leave out. */
static void b04_the_one(void)
{
	struct bth b = { .opcode = 0xff, .pkey = 0xffff };

	tally_begin();
	for (b.pad = 0; b.pad < 4; b.pad++) {
		shoot(&b, 40, LIVE, ICRC_NONE);
		shoot(&b, 48, LIVE, ICRC_NONE);
	}
	tally_end("B04 opcode 0xff in 48 bytes, with the UDP header and without");
}

static void b05_forged_pad(void)
{
	tally_begin();
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		int headers = opcode_headers(opcode);

		for (unsigned int pad = 0; pad < 4 && headers >= 0; pad++) {
			struct bth b = { .opcode = opcode, .pad = pad, .pkey = 0xffff,
					 .psn = FIRST_PSN };
			size_t len = BTH_BYTES + headers + pad + ICRC_BYTES - 1;

			/* A byte short, and the whole word that this leaves. */
			shoot(&b, len, LIVE, ICRC_GOOD);
			if (len / 4 * 4 >= BTH_BYTES)
				shoot(&b, len / 4 * 4, LIVE, ICRC_GOOD);
		}
	}
	tally_end("B05 headers and pad, less one byte");
}

static void b06_runts(void)
{
	tally_begin();
	for (unsigned int round = 0; round < 8; round++)
		for (unsigned int len = 0; len < BTH_BYTES + ICRC_BYTES; len++) {
			struct bth b = { .opcode = round, .pkey = 0xffff, .psn = FIRST_PSN };

			shoot(&b, len, LIVE, ICRC_NONE);
		}
	tally_end("B06 shorter than headers and ICRC");
}

/* ------------------------------------------------------------------ B07 and more */

/* @b with each opcode that is known, and the lengths that it may have. */
static void each_opcode(struct bth *b, enum service from, enum service to,
			enum victim_kind kind, enum icrc icrc)
{
	for (unsigned int opcode = OPCODE(from, 0); opcode < OPCODE(to, 0); opcode++) {
		int headers = opcode_headers(opcode);

		b->opcode = opcode;
		if (headers < 0)
			headers = 16;
		for (unsigned int payload = 0; payload <= 64; payload += 16) {
			b->pad = payload ? rnd() % 4 : 0;
			if (!opcode_has_data(opcode) && payload)
				break;
			shoot(b, BTH_BYTES + headers + payload + ICRC_BYTES, kind, icrc);
		}
	}
}

static void b07_other_services(void)
{
	struct bth b = { .pkey = 0xffff, .psn = FIRST_PSN, .ack_req = true };

	tally_begin();
	each_opcode(&b, SERVICE_UC, SERVICES, LIVE, ICRC_GOOD);
	tally_end("B07 UC, RD, UD, XRC and unknown opcodes to an RC queue pair, in order");
	tally_begin();
	each_opcode(&b, SERVICE_RC, SERVICE_UC, LIVE_UC, ICRC_GOOD);
	each_opcode(&b, SERVICE_RD, SERVICES, LIVE_UC, ICRC_GOOD);
	tally_end("B07 all but UC's own opcodes to a UC queue pair, in order");
	tally_begin();
	each_opcode(&b, SERVICE_RC, SERVICE_UD, LIVE_UD, ICRC_GOOD);
	each_opcode(&b, SERVICE_UD + 1, SERVICES, LIVE_UD, ICRC_GOOD);
	tally_end("B07 all but UD's own opcodes to a UD queue pair");
	victims_rest("B07");
}

static void wrong_in_one_thing(void)
{
	struct bth b = { .pkey = 0xffff, .psn = FIRST_PSN };

	tally_begin();
	each_opcode(&b, SERVICE_RC, SERVICE_UC, LIVE, ICRC_BAD);
	tally_end("in order, but for the ICRC");
	tally_begin();
	for (unsigned int i = 0; i < 16; i++) {
		b.pkey = i ? 0xffff ^ (1 << (i - 1)) : 0;
		if ((b.pkey & 0x7fff) != 0x7fff)
			each_opcode(&b, SERVICE_RC, SERVICE_UC, LIVE, ICRC_GOOD);
	}
	tally_end("in order, but for the P_Key");
	b.pkey = 0xffff;
	tally_begin();
	for (b.tver = 1; b.tver < 16; b.tver++)
		each_opcode(&b, SERVICE_RC, SERVICE_UC, LIVE, ICRC_GOOD);
	tally_end("in order, but for the version");
	b.tver = 0;
	tally_begin();
	each_opcode(&b, SERVICE_RC, SERVICE_UC, FOREIGN, ICRC_GOOD);
	each_opcode(&b, SERVICE_RC, SERVICE_UC, RESET, ICRC_GOOD);
	tally_end("in order, but not from the peer");
	victims_rest("wrong in one thing");
}

/* From the peer, whole, but not what comes next: nothing of it is executed. */
static void odd_psns(void)
{
	static const int offsets[] = { -1, -2, -100, -0x7fffff, 1, 2, 100, 0x7ffffe };
	struct bth b = { .pkey = 0xffff };
	unsigned int wrong = 0;

	tally_begin();
	for (unsigned int i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		for (unsigned int opcode = 0; opcode < 0x20; opcode++) {
			b.psn = FIRST_PSN + offsets[i];
			b.ack_req = i & 1;
			each_opcode(&b, opcode, opcode + 1, LIVE, ICRC_GOOD);
			if (rings_qp_state(victim[LIVE]) == IBV_QPS_RTS)
				continue;
			note("opcode 0x%02x, PSN %+d", opcode, offsets[i]);
			wrong++;
			ibv_destroy_qp(victim[LIVE]);
			victim[LIVE] = make_victim(LIVE);
		}
	tally_end("each opcode at eight PSNs that are not next");
	report(!wrong, "PSNs that are not next, %s: the queue pair stays in RTS", family);
	arena_check("PSNs that are not next", true);
}

/* ------------------------------------------------------------------ IP and UDP */

static void shoot_odd(const struct oddity *odd, unsigned int payload, enum icrc icrc)
{
	struct bth b = { .opcode = 4, .pkey = 0xffff, .psn = FIRST_PSN, .qpn = NOBODY_QPN };
	uint8_t roce[WIRE_MAX] = { 0 };

	wire_bth(roce, &b);
	wire_send(&wire, roce, BTH_BYTES + payload + ICRC_BYTES, icrc, odd);
}

static void odd_ip_and_udp(void)
{
	tally_begin();
	for (unsigned int i = 0; i < 50; i++) {
		shoot_odd(&(struct oddity){ .checksum = true }, i * 4, ICRC_GOOD);
		expect(NO_QP);
		shoot_odd(&(struct oddity){ .options = true }, i * 4, ICRC_GOOD);
		expect(MALFORMED);
		if (wire.v6)
			continue;
		/* Put together again, this is an ordinary packet. */
		shoot_odd(&(struct oddity){ .fragment = 1 + i % 5 }, 64 + i * 4, ICRC_GOOD);
		expect(NO_QP);
		shoot_odd(&(struct oddity){ .fragment = 1 + i % 5, .half = true }, 64 + i * 4,
			  ICRC_GOOD);
	}
	tally_end("UDP checksums, IP options, fragments");
	/* What the UDP length says less or more of is not for us to count. */
	for (int d = -80; d <= 80; d++)
		shoot_odd(&(struct oddity){ .udp_len = d }, 60, ICRC_GOOD);
	victims_rest("UDP lengths that are not true");
}

/* ------------------------------------------------------------------ in order */

/* What the peer itself sends, next, whole and right, and how that ends. */
static const struct fault {
	const char *name;
	uint8_t opcode;
	uint64_t va;		/* added to the region's start */
	uint32_t key_bits, dmalen;
	unsigned int payload;
	bool absolute;		/* va is one */
} in_order_faults[] = {
	{ "B25 WRITE at an address that wraps", 0x0a, 0xfffffffffffffc00, 0, 0x400, 0x400, true },
	{ "B25 READ at an address that wraps", 0x0c, 0xfffffffffffffc00, 0, 0x400, 0, true },
	{ "B25 FETCH_ADD at an address that wraps", 0x14, ~7ull, 0, 0, 0, true },
	{ "B25 WRITE of a length that wraps", 0x06, 0, 0, 0xffffffff, 1024, false },
	{ "B25 READ of 4 GiB", 0x0c, 0, 0, 0xffffffff, 0, false },
	{ "WRITE behind the region", 0x0a, REGION_BYTES - 32, 0, 64, 64, false },
	{ "WRITE before the region", 0x0a, -32ull, 0, 64, 64, false },
	{ "WRITE to a kernel address", 0x0a, 0xffff888000100000, 0, 64, 64, true },
	{ "READ behind the region", 0x0c, REGION_BYTES - 32, 0, 64, 0, false },
	{ "READ of a kernel address", 0x0c, 0xffff888000100000, 0, 64, 0, true },
	{ "WRITE with an old key", 0x0a, 0, 1, 64, 64, false },
	{ "READ with another's key", 0x0c, 0, 0x5500, 64, 0, false },
	{ "WRITE with more payload than length", 0x0a, 0, 0, 32, 64, false },
	{ "WRITE with less payload than length", 0x0a, 0, 0, 65, 64, false },
	{ "WRITE FIRST that is no MTU", 0x06, 0, 0, 4096, 512, false },
	{ "WRITE MIDDLE of nothing", 0x07, 0, 0, 0, 1024, false },
	{ "SEND LAST of nothing", 0x02, 0, 0, 0, 64, false },
	{ "SEND longer than the MTU", 0x04, 0, 0, 0, 1028, false },
	{ "CMP_SWAP without the right", 0x13, 0, 0, 0, 0, false },
	{ "FLUSH without the right", 0x1c, 0, 0, 64, 0, false },
};

/* The extended headers of @f at @out. */
static void fill_fault(uint8_t *out, const struct fault *f)
{
	uint64_t va = f->absolute ? f->va : (uintptr_t)arena + REGION_AT + f->va;
	unsigned int at = f->opcode == 0x1c ? 4 : 0;

	memset(out, 0, 28);
	put64(out + at, va);
	put32(out + at + 8, mr->rkey ^ f->key_bits);
	put32(out + at + 12, f->dmalen);
}

static void send_in_order(struct ibv_qp *qp, const struct fault *f, uint32_t psn)
{
	struct bth b = { .opcode = f->opcode, .pkey = 0xffff, .psn = psn, .qpn = qp->qp_num,
			 .ack_req = true };
	uint8_t roce[WIRE_MAX];
	size_t at = BTH_BYTES + opcode_headers(f->opcode);

	wire_bth(roce, &b);
	fill_fault(roce + BTH_BYTES, f);
	memset(roce + at, 0x5a, f->payload);
	wire_send(&wire, roce, at + f->payload + ICRC_BYTES, ICRC_GOOD, NULL);
}

static int state_after(struct ibv_qp *qp, int wanted, unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	int state;

	while ((state = rings_qp_state(qp)) != wanted && now_ms() < end)
		usleep(1000);
	return state;
}

/* What @name has grown by: counters are read anew some times a second only. */
static unsigned long more_than(const char *name, unsigned long old)
{
	uint64_t end = now_ms() + 3000;

	while (counter(name) == old && now_ms() < end)
		usleep(2000);
	return counter(name) - old;
}

static void in_order(void)
{
	static const struct fault good = { "WRITE", 0x0a, 0, 0, 64, 64, false };
	static const struct fault send = { "SEND", 0x04, 0, 0, 0, 64, false };
	unsigned int wrong = 0, n = sizeof(in_order_faults) / sizeof(*in_order_faults);
	struct ibv_qp *qp;
	uint64_t end = now_ms() + 5000;

	/* The control: without a fault it is executed. */
	qp = make_victim(LIVE);
	send_in_order(qp, &good, FIRST_PSN);
	while (arena[REGION_AT + 63] != 0x5a && now_ms() < end)
		usleep(1000);
	report(arena[REGION_AT] == 0x5a && arena[REGION_AT + 63] == 0x5a &&
	       rings_qp_state(qp) == IBV_QPS_RTS, "a good WRITE by hand is executed, %s", family);
	send_in_order(qp, &send, FIRST_PSN + 1);
	usleep(20000);
	report(rings_qp_state(qp) == IBV_QPS_RTS,
	       "a SEND that finds no receive does not end the queue pair, %s", family);
	ibv_destroy_qp(qp);
	arena_check("a good WRITE", false);

	for (unsigned int i = 0; i < n; i++) {
		const struct fault *f = &in_order_faults[i];
		unsigned long naks = counter("sent_nak");
		int state;

		qp = make_victim(LIVE);
		send_in_order(qp, f, FIRST_PSN);
		state = state_after(qp, IBV_QPS_ERR, 5000);
		naks = more_than("sent_nak", naks);
		if (f->name[0] == 'B' || state != IBV_QPS_ERR || naks != 1)
			report(state == IBV_QPS_ERR && naks == 1,
			       "%s, %s: a NAK and the queue pair in error (%lu, %d)", f->name,
			       family, naks, state);
		wrong += state != IBV_QPS_ERR || naks != 1;
		ibv_destroy_qp(qp);
	}
	report(!wrong, "%u requests in order that cannot be executed, %s: each is NAKed", n, family);
	arena_check("requests in order that cannot be executed", true);
}

/* ------------------------------------------------------------------ anything */

static uint8_t any_opcode(enum victim_kind kind)
{
	switch (kind) {
	case LIVE_UC:
		return OPCODE(SERVICE_UC, rnd() % 12);
	case LIVE_UD:
		return OPCODE(SERVICE_UD, 4 + rnd() % 2);
	default:
		return OPCODE(SERVICE_RC, rnd() % 32);
	}
}

/* A packet that may be right in everything or wrong in something. */
static size_t any_packet(uint8_t *roce, enum victim_kind kind, uint32_t qpn, uint32_t *psn)
{
	struct bth b = { .opcode = any_opcode(kind), .pkey = 0xffff, .qpn = qpn,
			 .ack_req = rnd() & 1 };
	uint64_t r = rnd();
	int headers = opcode_headers(b.opcode);
	struct fault f = { .opcode = b.opcode };
	size_t len;

	if (headers < 0)
		headers = 0;
	f.payload = opcode_has_data(b.opcode) ? (r & 7 ? (r >> 8) % 64 * 4 : 1024) : 0;
	f.va = (r >> 16) % (REGION_BYTES + 100);
	f.dmalen = (r >> 5) & 3 ? f.payload : (uint32_t)rnd();
	f.key_bits = (r >> 30) % 8 ? 0 : (uint32_t)rnd();
	f.absolute = !((r >> 34) % 16);
	if (f.absolute)
		f.va = rnd();
	b.psn = (r >> 38) % 8 ? *psn : *psn + (r >> 41) % 5 - 2;
	b.pad = (r >> 46) % 4 ? 0 : (r >> 48) & 3;
	b.pkey ^= (r >> 50) % 32 ? 0 : 1;
	fill_fault(roce + BTH_BYTES, &f);
	/* Answers: mostly ACKs, NAKs of each kind, any message number. */
	if (b.opcode >= 0x0d && b.opcode <= 0x12)
		put32(roce + BTH_BYTES, (uint32_t)((r >> 55) & 7) << 29 | (uint32_t)rnd() >> 3);
	if (kind == LIVE_UD) {
		put32(roce + BTH_BYTES, r & 31 ? QKEY : (uint32_t)rnd());
		put32(roce + BTH_BYTES + 4, PEER_QPN);
	}
	wire_bth(roce, &b);
	len = BTH_BYTES + headers + f.payload + ICRC_BYTES;
	if ((r >> 58) % 32 == 0)
		len = rnd() % 100;
	if (b.psn == *psn)
		(*psn)++;
	return len;
}

/* READs and SENDs of the victim's own, so that answers find something. */
static void keep_busy(struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)arena + REGION_AT, rnd() % 5000, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
				  .opcode = rnd() & 1 ? IBV_WR_RDMA_READ : IBV_WR_SEND,
				  .wr.rdma = { 4096, 1 } }, *bad_send;
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_wc wc[16];

	while (ibv_poll_cq(cq, 16, wc) > 0)
		;
	ibv_post_send(qp, &wr, &bad_send);
	ibv_post_recv(qp, &recv, &bad_recv);
}

static void fuzz(void)
{
	unsigned int lives = 0, i;
	struct ibv_qp *qp = make_victim(LIVE);
	uint32_t psn = FIRST_PSN;
	uint8_t roce[WIRE_MAX];

	memset(roce, 0xa5, sizeof(roce));
	for (i = 0; i < opt.fuzz; i++) {
		size_t len;
		bool dead;

		if (i % 16 == 0)
			keep_busy(qp);
		len = any_packet(roce, LIVE, qp->qp_num, &psn);
		wire_send(&wire, roce, len, rnd() % 32 ? ICRC_GOOD : ICRC_BAD, NULL);
		if (i % 16 != 15)
			continue;
		dead = rings_qp_state(qp) == IBV_QPS_ERR;
		lives += dead;
		/* One that hears of a gap executes nothing any more. */
		if (dead || i % 64 == 63) {
			ibv_destroy_qp(qp);
			qp = make_victim(LIVE);
			psn = FIRST_PSN;
		}
	}
	ibv_destroy_qp(qp);
	report(lives > 0, "%u packets from the peer that may be right or wrong, %s: %u queue pairs ended",
	       i, family, lives);
	arena_check("packets that may be right or wrong", false);
	victims_rest("packets that may be right or wrong");
}

/* The same to one that has nobody to answer to: nothing ends it. */
static void fuzz_unanswered(enum victim_kind kind)
{
	const char *name = kind == LIVE_UC ? "UC" : "UD";
	struct ibv_sge sge = { (uintptr_t)arena + REGION_AT, 0, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad;
	unsigned int taken = 0, i;
	uint32_t psn = FIRST_PSN;
	uint8_t roce[WIRE_MAX];
	struct ibv_wc wc;
	size_t len;

	memset(roce, 0xa5, sizeof(roce));
	for (i = 0; i < opt.fuzz / 2; i++) {
		/* A datagram that does not fit leaves the receive: some have to. */
		sge.length = (kind == LIVE_UD ? GRH : 0) + rnd() % 1000;
		if (i % 2 == 0)
			ibv_post_recv(victim[kind], &recv, &bad);
		while (ibv_poll_cq(cq, 1, &wc) > 0)
			taken += wc.qp_num == victim[kind]->qp_num && !wc.status;
		len = any_packet(roce, kind, victim[kind]->qp_num, &psn);
		wire_send(&wire, roce, len, rnd() % 32 ? ICRC_GOOD : ICRC_BAD, NULL);
		if (wire.sent % 64 == 0)
			sched_yield();
	}
	report(taken > 0, "%u %s packets that may be right or wrong, %s: %u messages received", i,
	       name, family, taken);
	arena_check(name, false);
	victims_rest(name);
}

/* ------------------------------------------------------------------ all of it */

static void open_all(void)
{
	arena = aligned_alloc(4096, ARENA_BYTES);
	cq = ibv_create_cq(rig.ctx, 1000, NULL, NULL, 0);
	mr = arena ? ibv_reg_mr(rig.pd, arena + REGION_AT, REGION_BYTES, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) : NULL;
	if (!mr || !cq)
		die("a region and a completion queue: %s", strerror(errno));
	pattern_fill(arena, ARENA_KEY, 0, ARENA_BYTES);
	for (int kind = 0; kind < VICTIMS; kind++)
		victim[kind] = make_victim(kind);
}

static void close_all(void)
{
	for (int kind = 0; kind < VICTIMS; kind++) {
		if (ibv_destroy_qp(victim[kind]))
			die("destroying a victim: %s", strerror(errno));
		victim[kind] = NULL;
	}
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	rig_close(&rig);
	free(arena);
}

static void one_family(int which)
{
	family = which ? "IPv6" : "IPv4";
	wire_between(&wire, opt.src[which], opt.dst[which]);
	rig_open(&rig, opt.dev, which ? "v6" : "v4");
	b04_the_one();
	b04_sweep("B04 each opcode, 0 to 96 bytes, each pad, without any queue pair", LIVE);

	open_all();
	b04_sweep("B04 the same to a live queue pair", LIVE);
	b04_sweep("B04 the same to one with another peer", FOREIGN);
	b04_sweep("B04 the same to one in RESET", RESET);
	b04_sweep("B04 the same to one in error", ENDED);
	b04_sweep("B04 the same to a live UC queue pair", LIVE_UC);
	b04_sweep("B04 the same to a live UD queue pair", LIVE_UD);
	victims_rest("B04");
	b05_forged_pad();
	b06_runts();
	victims_rest("B05, B06");
	b07_other_services();
	wrong_in_one_thing();
	odd_psns();
	odd_ip_and_udp();
	in_order();
	fuzz();
	fuzz_unanswered(LIVE_UC);
	fuzz_unanswered(LIVE_UD);
	close_all();
}

/* ------------------------------------------------------------------ trains */

/* @count SENDs for @qpn in a row, each of @len bytes from BTH to ICRC. */
static void fill_train(uint8_t *roce, size_t len, unsigned int count, uint32_t qpn, uint8_t opcode)
{
	struct bth b = { .opcode = opcode, .pkey = 0xffff, .psn = FIRST_PSN + 5, .qpn = qpn };

	memset(roce, 0x5a, len * count);
	for (unsigned int i = 0; i < count; i++, b.psn++)
		wire_bth(roce + i * len, &b);
}

/* What a train says of itself need not be true. */
static void wild_trains(uint8_t *roce)
{
	static const uint8_t types[] = { VIRTIO_NET_HDR_GSO_NONE, VIRTIO_NET_HDR_GSO_UDP,
					 VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6,
					 VIRTIO_NET_HDR_GSO_UDP_L4 | VIRTIO_NET_HDR_GSO_ECN, 77 };
	static const uint16_t sizes[] = { 1, 2, 15, 16, 17, 63, 65, 127, 1000, 32768, 65535 };
	unsigned int taken = 0, odd = 0, n = 200 + opt.fuzz / 20;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t r = rnd();
		unsigned int count = 1 + r % 40, len = 16 + (r >> 8) % 60 * 4;
		uint16_t size = (r >> 16) & 1 ? sizes[(r >> 20) % 11] : (uint16_t)(r >> 32);
		uint32_t qpn = (r >> 17) & 1 ? victim[LIVE]->qp_num : NOBODY_QPN;

		uint8_t type = (r >> 56) & 1 ? types[(r >> 57) % 6] : VIRTIO_NET_HDR_GSO_UDP_L4;
		bool in;

		fill_train(roce, len, count, qpn, (r >> 50) % 3 ? 4 : rnd());
		in = wire_train(&wire, roce, len, count, type, size ?: 1,
				(r >> 48) & 1 ? 28 : (uint16_t)(r >> 44) % 200);
		taken += in && type == VIRTIO_NET_HDR_GSO_UDP_L4;
		odd += in && type != VIRTIO_NET_HDR_GSO_UDP_L4;
	}
	report(taken && odd, "trains of any segment size: %u of %u were taken in, and %u of another kind",
	       taken, n, odd);
}

static void trains(void)
{
	static uint8_t roce[65536];

	family = "trains over tun";
	opt.dev = opt.tun_dev;
	wire_open_tun(&wire, opt.tun);
	wire_between(&wire, opt.src[2], opt.dst[2]);
	rig_open(&rig, opt.dev, "v4");
	open_all();
	fill_train(roce, 64, 4, NOBODY_QPN, 4);
	tally_begin();
	if (!wire_train(&wire, roce, 64, 4, VIRTIO_NET_HDR_GSO_UDP_L4, 64, 28)) {
		report_skip(strerror(errno), "trains from a tun interface");
		close_all();
		return;
	}
	for (unsigned int i = 0; i < 4; i++)
		expect(NO_QP);
	for (unsigned int i = 1; i < 100; i++) {
		unsigned int count = 2 + i % 20;

		fill_train(roce, 64 + i * 4, count, NOBODY_QPN, 4);
		wire_train(&wire, roce, 64 + i * 4, count, VIRTIO_NET_HDR_GSO_UDP_L4, 64 + i * 4,
			   28);
		while (count--)
			expect(NO_QP);
	}
	tally_end("each packet of a train counts");
	wild_trains(roce);
	victims_rest("trains of any segment size");
	arena_check("trains of any segment size", true);
	close_all();
}

static const char usage[] =
	"usage: packets -d DEV --netns NS --if IFACE --mac MAC --v4 SRC,DST --v6 SRC,DST\n"
	"               [--tun IFACE,DEV,SRC,DST] [--stride N] [--fuzz N] [--seed N]\n"
	"  --stride N   send every Nth packet of the sweeps only\n"
	"  --fuzz N     random packets\n";

static void pair_of(char *text, int which)
{
	if (which == 2) {
		opt.tun = strtok(text, ",");
		opt.tun_dev = strtok(NULL, ",");
	}
	opt.src[which] = strtok(which == 2 ? NULL : text, ",");
	opt.dst[which] = strtok(NULL, ",");
	if (!opt.dst[which])
		die("not a pair of addresses: %s", text);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "netns", 1, NULL, 'n' }, { "if", 1, NULL, 'i' },
		{ "mac", 1, NULL, 'm' }, { "v4", 1, NULL, '4' }, { "v6", 1, NULL, '6' },
		{ "stride", 1, NULL, 't' }, { "tun", 1, NULL, 'T' }, { "fuzz", 1, NULL, 'f' }, { "seed", 1, NULL, 's' },
		{ 0 },
	};
	uint64_t began = now_ms();
	int ch;

	opt.seed = began;
	while ((ch = getopt_long(argc, argv, "d:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			opt.dev = optarg;
			break;
		case 'n':
			opt.netns = optarg;
			break;
		case 'i':
			opt.ifname = optarg;
			break;
		case 'm':
			opt.mac = optarg;
			break;
		case '4':
			pair_of(optarg, 0);
			break;
		case '6':
			pair_of(optarg, 1);
			break;
		case 'T':
			pair_of(optarg, 2);
			break;
		case 't':
			opt.stride = strtoul(optarg, NULL, 0) ?: 1;
			break;
		case 'f':
			opt.fuzz = strtoul(optarg, NULL, 0);
			break;
		case 's':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	note("seed %" PRIu64, opt.seed);
	watchdog(3000);
	if (opt.src[0] || opt.src[1])
		wire_open(&wire, opt.netns, opt.ifname, opt.mac);
	for (int which = 0; which < 2; which++)
		if (opt.src[which])
			one_family(which);
	if (opt.tun)
		trains();
	note("%lu packets in %" PRIu64 " ms", wire.sent, now_ms() - began);
	return report_status();
}
