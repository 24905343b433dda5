/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Trains: equal-length packets of one message, and at most one shorter at the
 * end, laid end to end in one skb.  Each packet has its own BTH and ICRC; the
 * stack is crossed once.
 *
 * Lifetime: on the stack of the sender, within one run.  rxe_train_begin()
 * makes the skb, rxe_train_send() or rxe_train_drop() ends it.
 */
#ifndef SOFTROCE_RXE_TRAIN_H
#define SOFTROCE_RXE_TRAIN_H

#include "rxe_qp.h"

/* Opcodes of a message's packets by their place in it. */
struct rxe_opcodes {
	u8 first, middle, last, only;
};

/**
 * struct rxe_msg - a message as packets: a SEND, a WRITE, a READ's answers
 * @opcodes: of its packets
 * @length: bytes of payload
 * @packets: how many packets they make; 1 or more
 * @mtu: payload of each but the last
 */
struct rxe_msg {
	const struct rxe_opcodes *opcodes;
	u32 length;
	u32 packets;
	u32 mtu;
};

/* How many packets @length bytes make; those of a message of none are one. */
static inline u32 rxe_num_packets(const struct rxe_qp *qp, u32 length)
{
	return max(DIV_ROUND_UP(length, qp->mtu), 1u);
}

/* Opcode and payload of packet @index. */
u8 rxe_msg_packet(const struct rxe_msg *msg, u32 index, u32 *payload);

/**
 * struct rxe_train - a train that is being built
 * @seg_len: bytes of a packet from BTH to ICRC; the last may have fewer
 * @segs: packets laid out so far
 * @room: bytes that are allocated and not laid out
 * @pos: and @pos_len: where the next byte goes, and how many fit there
 * @frag: the fragment @pos is in, -1 for the linear part
 */
struct rxe_train {
	struct rxe_qp *qp;
	struct sk_buff *skb;
	u32 seg_len;
	u32 segs;
	u32 room;
	u16 ip_id;
	u8 *pos;
	u32 pos_len;
	int frag;
};

/* Bytes on the wire of a packet, from BTH to ICRC. */
static inline u32 rxe_seg_len(u8 opcode, u32 payload)
{
	return rxe_opcode_info(opcode)->hdr_len + ALIGN(payload, 4) +
	       RXE_ICRC_LEN;
}

/*
 * The longest run of packets of @msg from @index on, @max or fewer, that can go
 * out as one train now: its first packet's length is @seg_len, that of all is
 * @bytes.
 */
u32 rxe_train_plan(struct rxe_qp *qp, const struct rxe_msg *msg, u32 index,
		   u32 max, u32 *seg_len, u32 *bytes);
/*
 * Start a train of @segs packets, @bytes in all.
 * Return the number of packets there is memory for, 0 to @segs; with 0 the QP
 * pauses.
 */
u32 rxe_train_begin(struct rxe_train *t, struct rxe_qp *qp, u32 seg_len,
		    u32 segs, u32 bytes);
/*
 * Lay out the next packet: headers from @pkt, payload of @pkt->len bytes from
 * @from.  -EFAULT: the payload cannot be read; the train is as before.
 */
int rxe_train_add(struct rxe_train *t, struct rxe_pkt *pkt,
		  struct rxe_cursor *from);
/*
 * Send what was laid out.
 * -ENOBUFS, -ENOMEM: there was no room or memory, and the QP pauses.  The first
 * packets may have left where a device's queue is asked for each segment.
 */
int rxe_train_send(struct rxe_train *t);
void rxe_train_drop(struct rxe_train *t);

/*
 * One packet, with pkt->len bytes of payload from @from, which may be NULL when
 * there are none.  As rxe_train_send(), or -EFAULT: they cannot be read.
 */
int rxe_send_one(struct rxe_qp *qp, struct rxe_pkt *pkt,
		 struct rxe_cursor *from);

/* Nobody sends any more. */
void rxe_train_exit(void);

#endif
