// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The opcode table against samples taken by hand from IBTA vol. 1, chapter 9,
 * and the header codecs against bytes written by hand.
 */
#include <kunit/test.h>
#include <linux/skbuff.h>
#include "rxe_hdr.h"

/* ---- the table ---- */

struct op_sample {
	u8 opcode;
	const char *name;
	enum rxe_transport transport;
	u32 hdr_len;
	u32 flags;	/* some that have to be there */
	u32 not;	/* and some that must not */
};

static const struct op_sample op_samples[] = {
	{ 0x00, "RC SEND_FIRST", RXE_RC, 12,
	  RXE_OP_SEND | RXE_OP_FIRST | RXE_OP_REQUEST | RXE_OP_DATA,
	  RXE_OP_END | RXE_OP_RECV | RXE_OP_RETH },
	{ 0x01, "RC SEND_MIDDLE", RXE_RC, 12, RXE_OP_SEND | RXE_OP_MIDDLE,
	  RXE_OP_START | RXE_OP_END | RXE_OP_RECV },
	{ 0x03, "RC SEND_LAST_WITH_IMMEDIATE", RXE_RC, 16,
	  RXE_OP_SEND | RXE_OP_LAST | RXE_OP_IMM | RXE_OP_RECV,
	  RXE_OP_START | RXE_OP_INV },
	{ 0x04, "RC SEND_ONLY", RXE_RC, 12,
	  RXE_OP_SEND | RXE_OP_ONLY | RXE_OP_RECV, RXE_OP_IMM },
	{ 0x06, "RC RDMA_WRITE_FIRST", RXE_RC, 28,
	  RXE_OP_WRITE | RXE_OP_FIRST | RXE_OP_RETH, RXE_OP_RECV },
	{ 0x07, "RC RDMA_WRITE_MIDDLE", RXE_RC, 12, RXE_OP_WRITE,
	  RXE_OP_RETH | RXE_OP_RECV },
	{ 0x08, "RC RDMA_WRITE_LAST", RXE_RC, 12, RXE_OP_WRITE | RXE_OP_LAST,
	  RXE_OP_RETH | RXE_OP_RECV },
	{ 0x09, "RC RDMA_WRITE_LAST_WITH_IMMEDIATE", RXE_RC, 16,
	  RXE_OP_WRITE | RXE_OP_IMM | RXE_OP_RECV, RXE_OP_RETH },
	{ 0x0b, "RC RDMA_WRITE_ONLY_WITH_IMMEDIATE", RXE_RC, 32,
	  RXE_OP_WRITE | RXE_OP_ONLY | RXE_OP_RETH | RXE_OP_IMM | RXE_OP_RECV,
	  RXE_OP_SEND },
	{ 0x0c, "RC RDMA_READ_REQUEST", RXE_RC, 28,
	  RXE_OP_READ_REQ | RXE_OP_REQUEST | RXE_OP_RETH | RXE_OP_ONLY,
	  RXE_OP_DATA | RXE_OP_RESPONSE },
	{ 0x0d, "RC RDMA_READ_RESPONSE_FIRST", RXE_RC, 16,
	  RXE_OP_READ_RESP | RXE_OP_RESPONSE | RXE_OP_AETH | RXE_OP_DATA,
	  RXE_OP_REQUEST | RXE_OP_READ_REQ },
	{ 0x0e, "RC RDMA_READ_RESPONSE_MIDDLE", RXE_RC, 12,
	  RXE_OP_READ_RESP | RXE_OP_DATA, RXE_OP_AETH },
	{ 0x10, "RC RDMA_READ_RESPONSE_ONLY", RXE_RC, 16,
	  RXE_OP_READ_RESP | RXE_OP_ONLY | RXE_OP_AETH, RXE_OP_LAST },
	{ 0x11, "RC ACKNOWLEDGE", RXE_RC, 16,
	  RXE_OP_ACK | RXE_OP_RESPONSE | RXE_OP_AETH, RXE_OP_DATA },
	{ 0x12, "RC ATOMIC_ACKNOWLEDGE", RXE_RC, 24,
	  RXE_OP_RESPONSE | RXE_OP_AETH | RXE_OP_ATOMICACK, RXE_OP_DATA },
	{ 0x13, "RC COMPARE_SWAP", RXE_RC, 40,
	  RXE_OP_ATOMIC | RXE_OP_REQUEST | RXE_OP_ATOMICETH, RXE_OP_DATA },
	{ 0x14, "RC FETCH_ADD", RXE_RC, 40, RXE_OP_ATOMIC, RXE_OP_DATA },
	{ 0x16, "RC SEND_LAST_WITH_INVALIDATE", RXE_RC, 16,
	  RXE_OP_INV | RXE_OP_RECV, RXE_OP_IMM },
	{ 0x1c, "RC FLUSH", RXE_RC, 32, RXE_OP_FETH | RXE_OP_RETH,
	  RXE_OP_DATA },
	{ 0x1d, "RC ATOMIC_WRITE", RXE_RC, 28, RXE_OP_RETH | RXE_OP_DATA,
	  RXE_OP_WRITE },
	{ 0x2a, "UC RDMA_WRITE_ONLY", RXE_UC, 28, RXE_OP_WRITE | RXE_OP_RETH,
	  RXE_OP_RECV },
	{ 0x64, "UD SEND_ONLY", RXE_UD, 20, RXE_OP_DETH | RXE_OP_RECV,
	  RXE_OP_IMM },
	{ 0x65, "UD SEND_ONLY_WITH_IMMEDIATE", RXE_UD, 24,
	  RXE_OP_DETH | RXE_OP_IMM, RXE_OP_RETH },
	{ 0x81, "CNP NOTIFY", RXE_CNP, 12, RXE_OP_NOTIFY,
	  RXE_OP_REQUEST | RXE_OP_RESPONSE },
};

static void op_sample_desc(const struct op_sample *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(op_sample, op_samples, op_sample_desc);

static void opcode_is_as_specified(struct kunit *test)
{
	const struct op_sample *p = test->param_value;
	const struct rxe_opcode_info *op = rxe_opcode_info(p->opcode);

	KUNIT_ASSERT_NOT_NULL(test, op);
	KUNIT_EXPECT_STREQ(test, op->name, p->name);
	KUNIT_EXPECT_EQ(test, op->transport, p->transport);
	KUNIT_EXPECT_EQ(test, op->hdr_len, p->hdr_len);
	KUNIT_EXPECT_EQ(test, op->flags & p->flags, p->flags);
	KUNIT_EXPECT_EQ(test, op->flags & p->not, 0);
}

static void opcode_offsets(struct kunit *test)
{
	const struct rxe_opcode_info *op;

	op = rxe_opcode_info(IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_BTH], 0);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_RETH], 12);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_IMM], 28);
	op = rxe_opcode_info(IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_AETH], 12);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_ATOMICACK], 16);
	op = rxe_opcode_info(IB_OPCODE_RC_FLUSH);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_FETH], 12);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_RETH], 16);
	op = rxe_opcode_info(IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_DETH], 12);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_IMM], 20);
	op = rxe_opcode_info(IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, op->off[RXE_HDR_INV], 12);
}

/* Reserved values, services that are not there, and the table's size. */
static void opcodes_unknown(struct kunit *test)
{
	static const u8 unknown[] = {
		0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f, 0x2c, 0x31, 0x3f,
		0x40, 0x44, 0x60, 0x63, 0x66, 0x7f, 0x80, 0x82, 0xa0, 0xff,
	};
	int known = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		KUNIT_EXPECT_NULL(test, rxe_opcode_info(unknown[i]));
	for (i = 0; i < 256; i++)
		known += rxe_opcode_info(i) ? 1 : 0;
	KUNIT_EXPECT_EQ(test, known, 25 + 12 + 2 + 1);
}

/* What has to hold for every line of the table. */
static void opcode_rules(struct kunit *test)
{
	int i;

	for (i = 0; i < 256; i++) {
		const struct rxe_opcode_info *op = rxe_opcode_info(i);
		u32 place, way;
		bool recv;

		if (!op)
			continue;
		place = op->flags & (RXE_OP_START | RXE_OP_MIDDLE | RXE_OP_END);
		KUNIT_EXPECT_EQ_MSG(test, hweight32(place), 1, "%s", op->name);
		way = op->flags & (RXE_OP_REQUEST | RXE_OP_RESPONSE);
		KUNIT_EXPECT_EQ_MSG(test, hweight32(way),
				    op->flags & RXE_OP_NOTIFY ? 0 : 1, "%s",
				    op->name);
		KUNIT_EXPECT_TRUE_MSG(test, op->flags & RXE_OP_BTH, "%s",
				      op->name);
		KUNIT_EXPECT_EQ_MSG(test, op->transport, i >> 5, "%s",
				    op->name);
		/* The end of a SEND, and immediate data, need a receive. */
		recv = op->flags & RXE_OP_IMM ||
		       (op->flags & RXE_OP_SEND && op->flags & RXE_OP_END);
		KUNIT_EXPECT_EQ_MSG(test, recv, !!(op->flags & RXE_OP_RECV),
				    "%s", op->name);
		/* A message that spans packets has payload in all of them. */
		if (!(op->flags & RXE_OP_ONLY))
			KUNIT_EXPECT_TRUE_MSG(test, op->flags & RXE_OP_DATA,
					      "%s", op->name);
	}
}

/*
 * By hand: an atomic has the longest headers (12 + 28), a WRITE of one packet
 * with immediate data the longest beside payload (12 + 16 + 4).
 */
static void opcode_longest(struct kunit *test)
{
	u32 all = 0, data = 0;
	int i;

	for (i = 0; i < 256; i++) {
		const struct rxe_opcode_info *op = rxe_opcode_info(i);

		if (!op)
			continue;
		all = max_t(u32, all, op->hdr_len);
		if (op->flags & RXE_OP_DATA)
			data = max_t(u32, data, op->hdr_len);
	}
	KUNIT_EXPECT_EQ(test, all, 40);
	KUNIT_EXPECT_EQ(test, data, 32);
	KUNIT_EXPECT_EQ(test, RXE_MAX_HDR_LEN, 40);
	KUNIT_EXPECT_EQ(test, RXE_MAX_DATA_HDR_LEN, 32);
}

/* ---- codecs ---- */

struct hdr_sample {
	const char *name;
	struct rxe_pkt pkt;
	u32 len;
	u8 bytes[RXE_MAX_HDR_LEN];
};

static const struct hdr_sample hdr_samples[] = {
	{ "write, immediate, pad 3",
	  { .opcode = 0x0b, .len = 65, .solicited = true, .ack_req = true,
	    .pkey = 0xffff, .qpn = 0x123456, .psn = 0xfedcba,
	    .va = 0x0102030405060708, .rkey = 0x090a0b0c, .dmalen = 65,
	    .imm = cpu_to_be32(0xdeadbeef) }, 32,
	  { 0x0b, 0xf0, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
	    0x80, 0xfe, 0xdc, 0xba,
	    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	    0x09, 0x0a, 0x0b, 0x0c, 0x00, 0x00, 0x00, 0x41,
	    0xde, 0xad, 0xbe, 0xef } },
	{ "acknowledge",
	  { .opcode = 0x11, .pkey = 0x7fff, .qpn = 0xffffff, .psn = 1,
	    .syndrome = 0x1f, .msn = 0x010203 }, 16,
	  { 0x11, 0x40, 0x7f, 0xff, 0x00, 0xff, 0xff, 0xff,
	    0x00, 0x00, 0x00, 0x01, 0x1f, 0x01, 0x02, 0x03 } },
	{ "NAK of a sequence error",
	  { .opcode = 0x11, .pkey = 0xffff, .qpn = 0x11, .psn = 0xffffff,
	    .syndrome = RXE_NAK_PSN_SEQ, .msn = 0xffffff }, 16,
	  { 0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11,
	    0x00, 0xff, 0xff, 0xff, 0x60, 0xff, 0xff, 0xff } },
	{ "send, pad 1",
	  { .opcode = 0x04, .len = 3, .pkey = 0xffff, .qpn = 2, .psn = 3 }, 12,
	  { 0x04, 0x50, 0xff, 0xff, 0x00, 0x00, 0x00, 0x02,
	    0x00, 0x00, 0x00, 0x03 } },
	{ "send and invalidate, pad 2",
	  { .opcode = 0x17, .len = 2, .pkey = 0xffff, .qpn = 2, .psn = 3,
	    .ieth = 0x80000001 }, 16,
	  { 0x17, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0x02,
	    0x00, 0x00, 0x00, 0x03, 0x80, 0x00, 0x00, 0x01 } },
	{ "read response, first",
	  { .opcode = 0x0d, .len = 1024, .pkey = 0xffff, .qpn = 0x20,
	    .psn = 0x7fffff, .syndrome = 0x1f, .msn = 9 }, 16,
	  { 0x0d, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x20,
	    0x00, 0x7f, 0xff, 0xff, 0x1f, 0x00, 0x00, 0x09 } },
	{ "compare and swap",
	  { .opcode = 0x13, .pkey = 0xffff, .qpn = 0x20, .psn = 5,
	    .va = 0x1122334455667788, .rkey = 0x99aabbcc,
	    .swap_add = 0x0102030405060708, .compare = 0x1112131415161718 },
	  40,
	  { 0x13, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x20,
	    0x00, 0x00, 0x00, 0x05,
	    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	    0x99, 0xaa, 0xbb, 0xcc,
	    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18 } },
	{ "datagram, immediate",
	  { .opcode = 0x65, .len = 4, .pkey = 0xffff, .qpn = 1, .psn = 5,
	    .qkey = 0x80010000, .sqpn = 0x010203,
	    .imm = cpu_to_be32(7) }, 24,
	  { 0x65, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
	    0x00, 0x00, 0x00, 0x05, 0x80, 0x01, 0x00, 0x00,
	    0x00, 0x01, 0x02, 0x03, 0x00, 0x00, 0x00, 0x07 } },
};

static void hdr_sample_desc(const struct hdr_sample *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", p->name);
}

KUNIT_ARRAY_PARAM(hdr_sample, hdr_samples, hdr_sample_desc);

static void expect_same(struct kunit *test, const struct rxe_pkt *a,
			const struct rxe_pkt *b)
{
	KUNIT_EXPECT_EQ(test, a->opcode, b->opcode);
	KUNIT_EXPECT_EQ(test, a->len, b->len);
	KUNIT_EXPECT_EQ(test, a->solicited, b->solicited);
	KUNIT_EXPECT_EQ(test, a->ack_req, b->ack_req);
	KUNIT_EXPECT_EQ(test, a->pkey, b->pkey);
	KUNIT_EXPECT_EQ(test, a->qpn, b->qpn);
	KUNIT_EXPECT_EQ(test, a->psn, b->psn);
	KUNIT_EXPECT_EQ(test, a->va, b->va);
	KUNIT_EXPECT_EQ(test, a->rkey, b->rkey);
	KUNIT_EXPECT_EQ(test, a->dmalen, b->dmalen);
	KUNIT_EXPECT_EQ(test, a->syndrome, b->syndrome);
	KUNIT_EXPECT_EQ(test, a->msn, b->msn);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(a->imm), be32_to_cpu(b->imm));
	KUNIT_EXPECT_EQ(test, a->ieth, b->ieth);
	KUNIT_EXPECT_EQ(test, a->swap_add, b->swap_add);
	KUNIT_EXPECT_EQ(test, a->compare, b->compare);
	KUNIT_EXPECT_EQ(test, a->orig, b->orig);
	KUNIT_EXPECT_EQ(test, a->qkey, b->qkey);
	KUNIT_EXPECT_EQ(test, a->sqpn, b->sqpn);
	KUNIT_EXPECT_EQ(test, a->feth, b->feth);
}

static void hdr_is_as_written_by_hand(struct kunit *test)
{
	const struct hdr_sample *p = test->param_value;
	struct rxe_pkt out = p->pkt;
	struct rxe_pkt in = {};
	u8 buf[RXE_MAX_HDR_LEN];
	u32 whole;

	KUNIT_ASSERT_EQ(test, rxe_hdr_encode(&out, buf), p->len);
	KUNIT_EXPECT_MEMEQ(test, buf, p->bytes, p->len);

	whole = p->len + p->pkt.len + out.pad + RXE_ICRC_LEN;
	KUNIT_ASSERT_EQ(test, rxe_hdr_decode(&in, p->bytes, whole), 0);
	KUNIT_EXPECT_EQ(test, in.payload, p->len);
	KUNIT_EXPECT_EQ(test, in.pad, out.pad);
	expect_same(test, &in, &p->pkt);
}

static void fill(struct rxe_pkt *pkt, const struct rxe_opcode_info *op)
{
	if (op->flags & (RXE_OP_RETH | RXE_OP_ATOMICETH)) {
		pkt->va = 0xfedcba9876543210;
		pkt->rkey = 0x13579bdf;
	}
	if (op->flags & RXE_OP_RETH)
		pkt->dmalen = 0x80000000;
	if (op->flags & RXE_OP_ATOMICETH) {
		pkt->swap_add = 0x1010202030304040;
		pkt->compare = 0x5050606070708080;
	}
	if (op->flags & RXE_OP_AETH) {
		pkt->syndrome = 0x3f;
		pkt->msn = 0xabcdef;
	}
	if (op->flags & RXE_OP_ATOMICACK)
		pkt->orig = 0x8877665544332211;
	if (op->flags & RXE_OP_IMM)
		pkt->imm = cpu_to_be32(0x01020304);
	if (op->flags & RXE_OP_INV)
		pkt->ieth = 0xffffffff;
	if (op->flags & RXE_OP_DETH) {
		pkt->qkey = 0x11111111;
		pkt->sqpn = 0xffffff;
	}
	if (op->flags & RXE_OP_FETH)
		pkt->feth = 0x21;
}

/* Every opcode, every pad, there and back. */
static void hdr_round_trip(struct kunit *test)
{
	u8 buf[RXE_MAX_HDR_LEN];
	int opcode;
	u32 len, n;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct rxe_opcode_info *op = rxe_opcode_info(opcode);

		for (len = 0; op && len < 5; len++) {
			struct rxe_pkt out = {
				.opcode = opcode,
				.len = op->flags & RXE_OP_DATA ? len : 0,
				.ack_req = len & 1,
				.solicited = len & 2,
				.pkey = 0x8001,
				.qpn = 0xfedcba,
				.psn = 0x800001,
			};
			struct rxe_pkt in = {};

			fill(&out, op);
			n = rxe_hdr_encode(&out, buf);
			KUNIT_ASSERT_EQ(test, n, op->hdr_len);
			n += out.len + out.pad + RXE_ICRC_LEN;
			KUNIT_ASSERT_EQ(test, rxe_hdr_decode(&in, buf, n), 0);
			KUNIT_EXPECT_PTR_EQ(test, in.op, op);
			expect_same(test, &in, &out);
		}
	}
}

static int decode(struct rxe_pkt *pkt, u8 opcode, u8 flags, u32 len)
{
	u8 bytes[RXE_MAX_HDR_LEN] = { opcode, flags, 0xff, 0xff };

	return rxe_hdr_decode(pkt, bytes, len);
}

static void hdr_refused(struct kunit *test)
{
	struct rxe_pkt pkt = {};
	u32 len;

	/* Too short for BTH and ICRC, or no multiple of four. */
	for (len = 0; len < 16; len++)
		KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x40, len), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x40, 16), 0);
	for (len = 17; len < 20; len++)
		KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x40, len), -EINVAL);
	/* A pad of payload that is not there. */
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x50, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x70, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x70, 20), 0);
	KUNIT_EXPECT_EQ(test, pkt.len, 1);
	/* Extended headers that are cut off. */
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x06, 0x40, 28), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x06, 0x40, 32), 0);
	KUNIT_EXPECT_EQ(test, pkt.len, 0);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x13, 0x40, 40), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x13, 0x40, 44), 0);
	/* What has no payload carries none, and no pad. */
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x11, 0x40, 20), 0);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x11, 0x40, 24), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x11, 0x50, 20), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x0c, 0x40, 36), -EINVAL);
	/* Header version, unknown opcodes. */
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x41, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x04, 0x4f, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0x15, 0x40, 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, decode(&pkt, 0xff, 0x40, 16), -EINVAL);
}

/* MigReq either way; reserved bits and congestion marks mean nothing here. */
static void hdr_ignores_reserved_bits(struct kunit *test)
{
	static const u8 bytes[RXE_MAX_HDR_LEN] = {
		0x04, 0x00, 0xff, 0xff, 0xff, 0x00, 0x00, 0x11,
		0x7f, 0x00, 0x00, 0x05,
	};
	struct rxe_pkt pkt = {};

	KUNIT_ASSERT_EQ(test, rxe_hdr_decode(&pkt, bytes, 16), 0);
	KUNIT_EXPECT_EQ(test, pkt.qpn, 0x11);
	KUNIT_EXPECT_EQ(test, pkt.psn, 5);
	KUNIT_EXPECT_FALSE(test, pkt.ack_req);
	KUNIT_EXPECT_FALSE(test, pkt.solicited);
}

/* Headers that begin in one part of an skb and end in another. */
static void pkt_in_a_broken_skb(struct kunit *test)
{
	const struct hdr_sample *p = &hdr_samples[0];
	const u32 len = p->len + 65 + 3 + RXE_ICRC_LEN;
	struct rxe_pkt pkt = {};
	struct sk_buff *skb;
	struct page *page;
	u32 cut;

	for (cut = 0; cut <= p->len; cut++) {
		skb = alloc_skb(64, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, skb);
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		KUNIT_ASSERT_NOT_NULL(test, page);
		memset(skb_put(skb, 8), 0xee, 8);
		memcpy(skb_put(skb, cut), p->bytes, cut);
		memcpy(page_address(page) + 100, p->bytes + cut, p->len - cut);
		skb_add_rx_frag(skb, 0, page, 100, len - cut, PAGE_SIZE);

		KUNIT_EXPECT_EQ(test, rxe_pkt_parse(&pkt, skb, 8, len), 0);
		KUNIT_EXPECT_EQ(test, pkt.payload, 8 + p->len);
		KUNIT_EXPECT_PTR_EQ(test, pkt.skb, skb);
		expect_same(test, &pkt, &p->pkt);
		/* More than the skb has. */
		KUNIT_EXPECT_EQ(test, rxe_pkt_parse(&pkt, skb, 8 + len, 16),
				-EINVAL);
		kfree_skb(skb);
	}
}

static struct kunit_case opcode_tests[] = {
	KUNIT_CASE_PARAM(opcode_is_as_specified, op_sample_gen_params),
	KUNIT_CASE(opcode_offsets),
	KUNIT_CASE(opcodes_unknown),
	KUNIT_CASE(opcode_rules),
	KUNIT_CASE(opcode_longest),
	KUNIT_CASE_PARAM(hdr_is_as_written_by_hand, hdr_sample_gen_params),
	KUNIT_CASE(hdr_round_trip),
	KUNIT_CASE(hdr_refused),
	KUNIT_CASE(hdr_ignores_reserved_bits),
	KUNIT_CASE(pkt_in_a_broken_skb),
	{}
};

static struct kunit_suite opcode_suite = {
	.name = "rxe_opcode",
	.test_cases = opcode_tests,
};

kunit_test_suite(opcode_suite);
