/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packets as the state machines see them: decoded, in host byte order.
 *
 * Lifetime: a struct rxe_pkt lives on the stack of the code that handles one
 * segment; its payload stays in the skb, which is never written to.
 */
#ifndef SOFTROCE_RXE_HDR_H
#define SOFTROCE_RXE_HDR_H

#include <linux/types.h>
#include "rxe_opcode.h"

struct sk_buff;

#define RXE_ICRC_LEN 4
/*
 * BTH and extended headers of the packet that has most of them, and of the one
 * that has most beside payload.  rxe_opcode.c checks both against the table.
 */
#define RXE_MAX_HDR_LEN 40
#define RXE_MAX_DATA_HDR_LEN 32

/* AETH syndrome: IBTA vol. 1, 9.7.5.2.1, table 44 (bits 6:5 and 4:0). */
enum rxe_aeth_syndrome {
	RXE_AETH_TYPE_MASK = 0xe0,
	RXE_AETH_ACK = 0x00,
	RXE_AETH_RNR_NAK = 0x20,
	RXE_AETH_NAK = 0x60,
	RXE_AETH_VALUE_MASK = 0x1f,
	RXE_AETH_CREDIT_UNLIMITED = 0x1f,
	RXE_NAK_PSN_SEQ = 0x60,
	RXE_NAK_INV_REQ = 0x61,
	RXE_NAK_REM_ACC = 0x62,
	RXE_NAK_REM_OP = 0x63,
	RXE_NAK_INV_RD_REQ = 0x64,
};

/**
 * struct rxe_pkt - the headers of one packet
 * @skb: where the packet lies (receive side)
 * @payload: offset of the payload from skb->data
 * @len: bytes of payload, without pad and ICRC
 * @op: facts about @opcode; never NULL after rxe_pkt_parse()
 * @psn: 24 bits
 * @qpn: destination QP, 24 bits
 * @va: and @rkey, @dmalen: RETH
 * @syndrome: and @msn: AETH
 * @imm: ImmDt, @ieth: IETH
 * @swap_add: and @compare, with @va and @rkey: AtomicETH; @orig: AtomicAckETH
 * @qkey: and @sqpn: DETH
 * @feth: placement and selectivity of a FLUSH
 */
struct rxe_pkt {
	struct sk_buff *skb;
	u32 payload;
	u32 len;
	const struct rxe_opcode_info *op;
	u8 opcode;
	u8 pad;
	bool solicited;
	bool ack_req;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u64 va;
	u32 rkey;
	u32 dmalen;
	u8 syndrome;
	u32 msn;
	__be32 imm;
	u32 ieth;
	u64 swap_add;
	u64 compare;
	u64 orig;
	u32 qkey;
	u32 sqpn;
	u32 feth;
};

/*
 * Decode a packet of @len bytes (BTH to ICRC), of which @hdr has the first
 * RXE_MAX_HDR_LEN, or all if there are less.  Sets everything but @skb and
 * makes @payload an offset from the BTH.  Fields of headers that the packet
 * does not have stay as they are.
 * Return 0, or -EINVAL for what has to be dropped.
 */
int rxe_hdr_decode(struct rxe_pkt *pkt, const void *hdr, u32 len);

/*
 * Decode the segment of @len bytes (BTH to ICRC) at @off of @skb.  Checks the
 * opcode, the header version, the pad and the length; not ICRC, QP or P_Key.
 * Return 0, or -EINVAL for what has to be dropped.
 */
int rxe_pkt_parse(struct rxe_pkt *pkt, struct sk_buff *skb, u32 off, u32 len);

/*
 * Encode the headers of @pkt (from @pkt->opcode on, MigReq set, pad computed
 * from @pkt->len and stored) into @buf of RXE_MAX_HDR_LEN bytes.
 * Return their length.
 */
u32 rxe_hdr_encode(struct rxe_pkt *pkt, void *buf);

#endif
