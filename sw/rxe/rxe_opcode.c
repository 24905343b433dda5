// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The opcode table, and headers to and from bytes.  A pure leaf: it knows
 * neither skbs nor QPs.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "rxe_hdr.h"
#include "rxe_psn.h"

/* Bytes of the headers in @flags, as a constant expression. */
#define LEN(flags, NAME, type) \
	(((flags) & RXE_OP_##NAME) ? sizeof(struct type) : 0)
#define HDRS_LEN(flags)							      \
	(LEN(flags, BTH, rxe_bth) + LEN(flags, DETH, rxe_deth) +	      \
	 LEN(flags, FETH, rxe_feth) + LEN(flags, RETH, rxe_reth) +	      \
	 LEN(flags, ATOMICETH, rxe_atomiceth) + LEN(flags, AETH, rxe_aeth) +  \
	 LEN(flags, ATOMICACK, rxe_atomicack) + LEN(flags, IMM, rxe_immdt) +  \
	 LEN(flags, INV, rxe_ieth))

/* The sum above names the members of the list once more: all of them. */
#define PLUS_SIZE(NAME, type) + sizeof(struct type)
static_assert(HDRS_LEN(RXE_OP_HDR_MASK) == 0 RXE_HDR_LIST(PLUS_SIZE));
static_assert(RXE_OP_HDR_MASK < RXE_OP_DATA);

#define RESPONSES (RXE_OP_READ_RESP | RXE_OP_ACK | RXE_OP_ATOMIC_RESP)
#define DIRECTION(operation)						      \
	((operation) & RXE_OP_NOTIFY ? 0 :				      \
	 (operation) & RESPONSES ? RXE_OP_RESPONSE : RXE_OP_REQUEST)

/* FLAGS_RC_SEND_FIRST and so on, so that what follows stays short. */
enum {
#define X(transport, name, value, operation, place, hdr1, hdr2, data, recv)   \
	FLAGS_##transport##_##name = RXE_OP_BTH | RXE_OP_##operation |	      \
		DIRECTION(RXE_OP_##operation) | RXE_OP_##place |	      \
		RXE_OP_##hdr1 | RXE_OP_##hdr2 | RXE_OP_##data | RXE_OP_##recv,
#include "rxe_opcode_table.h"
#undef X
};

#define X(transport, name, ...)						      \
	static_assert(IB_OPCODE_##transport##_##name >> 5 == RXE_##transport);
#include "rxe_opcode_table.h"
#undef X

/* A union is as long as its longest member: what the longest headers take. */
union longest_hdrs {
#define X(transport, name, ...)						      \
	u8 transport##_##name[HDRS_LEN(FLAGS_##transport##_##name)];
#include "rxe_opcode_table.h"
#undef X
};

static_assert(sizeof(union longest_hdrs) == RXE_MAX_HDR_LEN);

/* The same of packets that carry payload; the others count as one byte. */
union longest_data_hdrs {
#define X(transport, name, ...)						      \
	u8 transport##_##name[FLAGS_##transport##_##name & RXE_OP_DATA ?      \
			      HDRS_LEN(FLAGS_##transport##_##name) : 1];
#include "rxe_opcode_table.h"
#undef X
};

static_assert(sizeof(union longest_data_hdrs) == RXE_MAX_DATA_HDR_LEN);

/* A header stands behind those that have a lower bit. */
#define OFFSET(flags, NAME)						      \
	[RXE_HDR_##NAME] = ((flags) & RXE_OP_##NAME) ?			      \
		HDRS_LEN((flags) & (RXE_OP_##NAME - 1)) : 0
#define OFFSETS(flags) {						      \
	OFFSET(flags, DETH), OFFSET(flags, FETH), OFFSET(flags, RETH),	      \
	OFFSET(flags, ATOMICETH), OFFSET(flags, AETH),			      \
	OFFSET(flags, ATOMICACK), OFFSET(flags, IMM), OFFSET(flags, INV),     \
}

static const struct rxe_opcode_info opcode_info[256] = {
#define X(tr, opname, ...)						      \
	[IB_OPCODE_##tr##_##opname] = {					      \
		.name = #tr " " #opname,				      \
		.flags = FLAGS_##tr##_##opname,				      \
		.transport = RXE_##tr,					      \
		.hdr_len = HDRS_LEN(FLAGS_##tr##_##opname),		      \
		.off = OFFSETS(FLAGS_##tr##_##opname),			      \
	},
#include "rxe_opcode_table.h"
#undef X
};

const struct rxe_opcode_info *rxe_opcode_info(u8 opcode)
{
	const struct rxe_opcode_info *op = &opcode_info[opcode];

	return op->name ? op : NULL;
}

static void decode_extended(struct rxe_pkt *pkt, const void *hdr)
{
	const struct rxe_opcode_info *op = pkt->op;

	if (op->flags & RXE_OP_DETH) {
		const struct rxe_deth *deth = hdr + op->off[RXE_HDR_DETH];

		pkt->qkey = be32_to_cpu(deth->qkey);
		pkt->sqpn = be32_to_cpu(deth->sqpn) & 0xffffff;
	}
	if (op->flags & RXE_OP_FETH) {
		const struct rxe_feth *feth = hdr + op->off[RXE_HDR_FETH];

		pkt->feth = be32_to_cpu(feth->plt_sel);
	}
	if (op->flags & RXE_OP_RETH) {
		const struct rxe_reth *reth = hdr + op->off[RXE_HDR_RETH];

		pkt->va = be64_to_cpu(reth->va);
		pkt->rkey = be32_to_cpu(reth->rkey);
		pkt->dmalen = be32_to_cpu(reth->dmalen);
	}
	if (op->flags & RXE_OP_ATOMICETH) {
		const struct rxe_atomiceth *at =
			hdr + op->off[RXE_HDR_ATOMICETH];

		pkt->va = be64_to_cpu(at->va);
		pkt->rkey = be32_to_cpu(at->rkey);
		pkt->swap_add = be64_to_cpu(at->swap_add);
		pkt->compare = be64_to_cpu(at->compare);
	}
	if (op->flags & RXE_OP_AETH) {
		const struct rxe_aeth *aeth = hdr + op->off[RXE_HDR_AETH];
		u32 smsn = be32_to_cpu(aeth->smsn);

		pkt->syndrome = smsn >> 24;
		pkt->msn = smsn & 0xffffff;
	}
	if (op->flags & RXE_OP_ATOMICACK) {
		const struct rxe_atomicack *ack =
			hdr + op->off[RXE_HDR_ATOMICACK];

		pkt->orig = be64_to_cpu(ack->orig);
	}
	if (op->flags & RXE_OP_IMM) {
		const struct rxe_immdt *immdt = hdr + op->off[RXE_HDR_IMM];

		pkt->imm = immdt->imm;
	}
	if (op->flags & RXE_OP_INV) {
		const struct rxe_ieth *ieth = hdr + op->off[RXE_HDR_INV];

		pkt->ieth = be32_to_cpu(ieth->rkey);
	}
}

int rxe_hdr_decode(struct rxe_pkt *pkt, const void *hdr, u32 len)
{
	const struct rxe_bth *bth = hdr;
	const struct rxe_opcode_info *op;
	u32 apsn, around;

	/* Pads make every packet a multiple of four bytes. */
	if (len < sizeof(*bth) + RXE_ICRC_LEN || len % 4)
		return -EINVAL;
	op = rxe_opcode_info(bth->opcode);
	if (!op || (bth->flags & RXE_BTH_TVER_MASK))
		return -EINVAL;
	pkt->pad = (bth->flags & RXE_BTH_PAD_MASK) >> RXE_BTH_PAD_SHIFT;
	around = op->hdr_len + pkt->pad + RXE_ICRC_LEN;
	if (len < around)
		return -EINVAL;
	if (!(op->flags & RXE_OP_DATA) && len != op->hdr_len + RXE_ICRC_LEN)
		return -EINVAL;
	pkt->op = op;
	pkt->opcode = bth->opcode;
	pkt->payload = op->hdr_len;
	pkt->len = len - around;
	pkt->solicited = bth->flags & RXE_BTH_SOLICITED;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->qpn = be32_to_cpu(bth->qpn) & 0xffffff;
	apsn = be32_to_cpu(bth->apsn);
	pkt->ack_req = apsn & RXE_BTH_ACK_REQ;
	pkt->psn = apsn & RXE_PSN_MASK;
	decode_extended(pkt, hdr);
	return 0;
}

static void encode_extended(const struct rxe_pkt *pkt, void *hdr)
{
	const struct rxe_opcode_info *op = pkt->op;

	if (op->flags & RXE_OP_DETH) {
		struct rxe_deth *deth = hdr + op->off[RXE_HDR_DETH];

		deth->qkey = cpu_to_be32(pkt->qkey);
		deth->sqpn = cpu_to_be32(pkt->sqpn & 0xffffff);
	}
	if (op->flags & RXE_OP_FETH) {
		struct rxe_feth *feth = hdr + op->off[RXE_HDR_FETH];

		feth->plt_sel = cpu_to_be32(pkt->feth);
	}
	if (op->flags & RXE_OP_RETH) {
		struct rxe_reth *reth = hdr + op->off[RXE_HDR_RETH];

		reth->va = cpu_to_be64(pkt->va);
		reth->rkey = cpu_to_be32(pkt->rkey);
		reth->dmalen = cpu_to_be32(pkt->dmalen);
	}
	if (op->flags & RXE_OP_ATOMICETH) {
		struct rxe_atomiceth *at = hdr + op->off[RXE_HDR_ATOMICETH];

		at->va = cpu_to_be64(pkt->va);
		at->rkey = cpu_to_be32(pkt->rkey);
		at->swap_add = cpu_to_be64(pkt->swap_add);
		at->compare = cpu_to_be64(pkt->compare);
	}
	if (op->flags & RXE_OP_AETH) {
		struct rxe_aeth *aeth = hdr + op->off[RXE_HDR_AETH];

		aeth->smsn = cpu_to_be32((u32)pkt->syndrome << 24 |
					 (pkt->msn & 0xffffff));
	}
	if (op->flags & RXE_OP_ATOMICACK) {
		struct rxe_atomicack *ack = hdr + op->off[RXE_HDR_ATOMICACK];

		ack->orig = cpu_to_be64(pkt->orig);
	}
	if (op->flags & RXE_OP_IMM) {
		struct rxe_immdt *immdt = hdr + op->off[RXE_HDR_IMM];

		immdt->imm = pkt->imm;
	}
	if (op->flags & RXE_OP_INV) {
		struct rxe_ieth *ieth = hdr + op->off[RXE_HDR_INV];

		ieth->rkey = cpu_to_be32(pkt->ieth);
	}
}

u32 rxe_hdr_encode(struct rxe_pkt *pkt, void *buf)
{
	struct rxe_bth *bth = buf;

	pkt->op = rxe_opcode_info(pkt->opcode);
	pkt->pad = -pkt->len & 3;
	bth->opcode = pkt->opcode;
	bth->flags = RXE_BTH_MIGREQ | pkt->pad << RXE_BTH_PAD_SHIFT |
		     (pkt->solicited ? RXE_BTH_SOLICITED : 0);
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->qpn = cpu_to_be32(pkt->qpn & 0xffffff);
	bth->apsn = cpu_to_be32((pkt->psn & RXE_PSN_MASK) |
				(pkt->ack_req ? RXE_BTH_ACK_REQ : 0));
	encode_extended(pkt, buf);
	return pkt->op->hdr_len;
}
