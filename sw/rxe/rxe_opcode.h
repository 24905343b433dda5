/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Opcodes of the base transport header and the layout of the headers that each
 * of them brings (IBTA vol. 1, chapter 9).  rxe_opcode_table.h has the facts;
 * lengths and offsets are computed from them.  A pure leaf.
 *
 * Lifetime: constant data.
 */
#ifndef SOFTROCE_RXE_OPCODE_H
#define SOFTROCE_RXE_OPCODE_H

#include <linux/types.h>

/* ---- headers on the wire ---- */

struct rxe_bth {
	u8 opcode;
	u8 flags;		/* enum rxe_bth_flags */
	__be16 pkey;
	__be32 qpn;		/* resv8a (FECN, BECN), destination QP */
	__be32 apsn;		/* AckReq, seven reserved bits, PSN */
};

enum rxe_bth_flags {
	RXE_BTH_SOLICITED = 0x80,
	RXE_BTH_MIGREQ = 0x40,
	RXE_BTH_PAD_SHIFT = 4,
	RXE_BTH_PAD_MASK = 0x30,
	RXE_BTH_TVER_MASK = 0x0f,
};

#define RXE_BTH_ACK_REQ 0x80000000u

struct rxe_deth {
	__be32 qkey;
	__be32 sqpn;
};

struct rxe_feth {
	__be32 plt_sel;
};

struct rxe_reth {
	__be64 va;
	__be32 rkey;
	__be32 dmalen;
};

struct rxe_atomiceth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __packed;

struct rxe_aeth {
	__be32 smsn;		/* syndrome, MSN */
};

struct rxe_atomicack {
	__be64 orig;
};

struct rxe_immdt {
	__be32 imm;
};

struct rxe_ieth {
	__be32 rkey;
};

/*
 * Where headers stand: each behind those before it in this list, as far as a
 * packet has them.  X(NAME, struct)
 */
#define RXE_HDR_LIST(X)                                                        \
	X(BTH, rxe_bth)                                                        \
	X(DETH, rxe_deth)                                                      \
	X(FETH, rxe_feth)                                                      \
	X(RETH, rxe_reth)                                                      \
	X(ATOMICETH, rxe_atomiceth)                                            \
	X(AETH, rxe_aeth)                                                      \
	X(ATOMICACK, rxe_atomicack)                                            \
	X(IMM, rxe_immdt)                                                      \
	X(INV, rxe_ieth)

enum rxe_hdr_bit {
#define RXE_HDR_BIT(NAME, type) RXE_HDR_##NAME,
	RXE_HDR_LIST(RXE_HDR_BIT)
#undef RXE_HDR_BIT
	RXE_NUM_HDRS
};

/* ---- what an opcode says ---- */

/*
 * The headers first: RXE_OP_RETH and so on.  A request or response of a single
 * packet, READ request and ACK included, is RXE_OP_ONLY.
 */
enum rxe_op_flags {
#define RXE_OP_BIT(NAME, type) RXE_OP_##NAME = 1 << RXE_HDR_##NAME,
	RXE_HDR_LIST(RXE_OP_BIT)
#undef RXE_OP_BIT
	RXE_OP_NONE = 0,
	RXE_OP_HDR_MASK = (1 << RXE_NUM_HDRS) - 1,
	/* May carry payload; without it must not. */
	RXE_OP_DATA = 1 << 10,
	RXE_OP_FIRST = 1 << 11,
	RXE_OP_MIDDLE = 1 << 12,
	RXE_OP_LAST = 1 << 13,
	RXE_OP_ONLY = 1 << 14,
	RXE_OP_START = RXE_OP_FIRST | RXE_OP_ONLY,
	RXE_OP_END = RXE_OP_LAST | RXE_OP_ONLY,
	/* Which way it goes: follows from the operation below. */
	RXE_OP_REQUEST = 1 << 15,
	RXE_OP_RESPONSE = 1 << 16,
	RXE_OP_SEND = 1 << 17,
	RXE_OP_WRITE = 1 << 18,
	RXE_OP_READ_REQ = 1 << 19,
	RXE_OP_READ_RESP = 1 << 20,
	RXE_OP_ACK = 1 << 21,
	RXE_OP_ATOMIC = 1 << 22,
	RXE_OP_ATOMIC_RESP = 1 << 23,
	RXE_OP_ATOMIC_WRITE = 1 << 24,
	RXE_OP_FLUSH = 1 << 25,
	/* Completes a receive WQE at the responder. */
	RXE_OP_RECV = 1 << 26,
	RXE_OP_NOTIFY = 1 << 27,
};

/* Services, as the upper three bits of an opcode have them. */
enum rxe_transport {
	RXE_RC = 0,
	RXE_UC = 1,
	RXE_RD = 2,
	RXE_UD = 3,
	RXE_CNP = 4,
	RXE_XRC = 5,
};

enum rxe_opcode {
#define X(transport, name, value, ...) IB_OPCODE_##transport##_##name = value,
#include "rxe_opcode_table.h"
#undef X
};

/**
 * struct rxe_opcode_info - facts about one opcode
 * @name: "RC SEND_FIRST"
 * @flags: enum rxe_op_flags
 * @transport: enum rxe_transport
 * @hdr_len: bytes of BTH and extended headers
 * @off: where each header of @flags stands, from the BTH on
 */
struct rxe_opcode_info {
	const char *name;
	u32 flags;
	u8 transport;
	u8 hdr_len;
	u8 off[RXE_NUM_HDRS];
};

/* NULL for an opcode that the table does not have. */
const struct rxe_opcode_info *rxe_opcode_info(u8 opcode);

#endif
