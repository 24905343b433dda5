// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Building and sending trains.  The payload is copied once, from the memory
 * region to where it leaves from, and the ICRC computed over the packet while
 * it is in the cache.
 */
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/sock.h>
#include "rxe_crc.h"
#include "rxe_train.h"

/* Up to this much goes into the skb's linear part: one allocation less. */
#define TRAIN_LINEAR 1024

/* 256 KiB, or as many small pages where memory is in pieces. */
#define TRAIN_PAGES 8

/**
 * struct train_pages - what trains are laid out in
 * @frag: pages, used in turn: when the first one's turn comes again its packets
 *	have often been received, and it serves anew, without being cleared
 * @at: the one in use
 *
 * One for each processor.  A softirq has nobody to charge it to, so that one for
 * each queue pair would be as much memory as a program likes.  BH off.
 */
struct train_pages {
	struct page_frag frag[TRAIN_PAGES];
	u32 at;
};

static DEFINE_PER_CPU(struct train_pages, train_pages);

void rxe_train_exit(void)
{
	struct train_pages *pages;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		pages = per_cpu_ptr(&train_pages, cpu);
		for (i = 0; i < TRAIN_PAGES; i++) {
			if (pages->frag[i].page)
				put_page(pages->frag[i].page);
			pages->frag[i].page = NULL;
		}
	}
}

/* Where there are @want bytes or, rarely, a page of fewer; NULL: no memory. */
static struct page_frag *train_page(u32 want)
{
	struct train_pages *pages = this_cpu_ptr(&train_pages);
	struct page_frag *pf = &pages->frag[pages->at];

	if (pf->page && pf->offset + want > pf->size) {
		pages->at = (pages->at + 1) % TRAIN_PAGES;
		pf = &pages->frag[pages->at];
	}
	return skb_page_frag_refill(want, pf, GFP_ATOMIC | __GFP_NOWARN) ?
		       pf : NULL;
}

/* How many packets of @seg_len bytes one train may have now: 1 or more. */
static u32 train_max(struct rxe_qp *qp, u32 seg_len)
{
	u32 bytes, segs;

	if (!qp->rxe->trains || qp->pause.singles ||
	    time_before(jiffies, READ_ONCE(qp->rxe->lanes.tight)))
		return 1;
	rxe_flow_limits(&qp->flow, &bytes, &segs);
	return clamp(bytes / seg_len, 1u, segs);
}

u8 rxe_msg_packet(const struct rxe_msg *msg, u32 index, u32 *payload)
{
	const struct rxe_opcodes *op = msg->opcodes;
	bool last = index + 1 == msg->packets;

	*payload = last ? msg->length - index * msg->mtu : msg->mtu;
	if (last)
		return index ? op->last : op->only;
	return index ? op->middle : op->first;
}

static u32 msg_seg_len(const struct rxe_msg *msg, u32 index)
{
	u32 payload;
	u8 opcode = rxe_msg_packet(msg, index, &payload);

	return rxe_seg_len(opcode, payload);
}

u32 rxe_train_plan(struct rxe_qp *qp, const struct rxe_msg *msg, u32 index,
		   u32 max, u32 *seg_len, u32 *bytes)
{
	u32 len = msg_seg_len(msg, index), n = 1;

	*seg_len = len;
	*bytes = len;
	if (max > 1)
		max = min(max, train_max(qp, len));
	while (n < max && len == *seg_len) {
		len = msg_seg_len(msg, index + n);
		if (len > *seg_len)
			break;
		*bytes += len;
		n++;
	}
	return n;
}

/* Go to the next byte that was allocated. */
static void train_next_piece(struct rxe_train *t)
{
	skb_frag_t *frag = &skb_shinfo(t->skb)->frags[++t->frag];

	t->pos = skb_frag_address(frag);
	t->pos_len = skb_frag_size(frag);
}

static void train_put(struct rxe_train *t, const void *from, u32 len)
{
	while (len) {
		u32 n;

		if (!t->pos_len)
			train_next_piece(t);
		n = min(len, t->pos_len);
		memcpy(t->pos, from, n);
		from += n;
		len -= n;
		t->pos += n;
		t->pos_len -= n;
		t->room -= n;
	}
}

/* Fragments for @bytes; returns how many bytes there are. */
static u32 train_alloc_frags(struct rxe_train *t, u32 bytes)
{
	struct sk_buff *skb = t->skb;
	struct page_frag *pf;
	u32 got = 0;
	int i = 0;

	while (got < bytes && i < MAX_SKB_FRAGS) {
		u32 n;

		pf = train_page(min_t(u32, bytes - got, 512));
		if (!pf)
			break;
		n = min_t(u32, bytes - got, pf->size - pf->offset);
		skb_fill_page_desc(skb, i++, pf->page, pf->offset, n);
		get_page(pf->page);
		pf->offset += n;
		got += n;
	}
	skb->len += got;
	skb->data_len += got;
	skb->truesize += got;
	return got;
}

/* As rxe_train_begin(), but the QP does not pause. */
static u32 train_alloc(struct rxe_train *t, struct rxe_qp *qp, u32 seg_len,
		       u32 segs, u32 bytes)
{
	u32 linear = bytes <= TRAIN_LINEAR ? bytes : 0;
	u32 got;

	t->qp = qp;
	t->seg_len = seg_len;
	t->segs = 0;
	t->frag = -1;
	t->pos = NULL;
	t->ip_id = qp->flow.ip_id;
	t->skb = alloc_skb(RXE_HEADROOM + linear, GFP_ATOMIC | __GFP_NOWARN);
	if (!t->skb)
		return 0;
	skb_reserve(t->skb, RXE_HEADROOM);
	if (linear) {
		t->pos = skb_put(t->skb, linear);
		t->pos_len = linear;
		t->room = linear;
		return segs;
	}
	t->pos_len = 0;
	got = train_alloc_frags(t, bytes);
	t->room = got;
	if (got == bytes)
		return segs;
	/* The train shrinks to the full packets that fit. */
	if (got < seg_len) {
		rxe_train_drop(t);
		return 0;
	}
	return got / seg_len;
}

u32 rxe_train_begin(struct rxe_train *t, struct rxe_qp *qp, u32 seg_len,
		    u32 segs, u32 bytes)
{
	u32 n = train_alloc(t, qp, seg_len, segs, bytes);

	if (unlikely(!n))
		rxe_pause_told(qp, -ENOMEM, 0);
	return n;
}

/* Where a packet of the train begins. */
struct train_mark {
	u8 *pos;
	u32 pos_len;
	u32 room;
	int frag;
};

/* The CRC over @len bytes that were laid out, but for the BTH, from @mark on. */
static u32 train_crc(const struct rxe_train *t, const struct train_mark *mark,
		     u32 len, u32 crc)
{
	u32 skip = sizeof(struct rxe_bth), room = mark->pos_len, n;
	const u8 *pos = mark->pos;
	int i = mark->frag;

	while (len) {
		if (!room) {
			const skb_frag_t *frag =
				&skb_shinfo(t->skb)->frags[++i];

			pos = skb_frag_address(frag);
			room = skb_frag_size(frag);
		}
		n = min(len, room);
		if (n > skip)
			crc = rxe_crc32(crc, pos + skip, n - skip);
		skip -= min(skip, n);
		len -= n;
		room = 0;
	}
	return crc;
}

int rxe_train_add(struct rxe_train *t, struct rxe_pkt *pkt,
		  struct rxe_cursor *from)
{
	struct train_mark mark = { t->pos, t->pos_len, t->room, t->frag };
	static const u8 zeros[4];
	u32 left = pkt->len;
	u8 hdr[RXE_MAX_HDR_LEN];
	u32 hlen, len, crc;
	__le32 icrc;

	hlen = rxe_hdr_encode(pkt, hdr);
	len = hlen + pkt->len + pkt->pad + RXE_ICRC_LEN;
	if (WARN_ON_ONCE(len > t->room))
		return -EFAULT;

	train_put(t, hdr, hlen);
	while (left) {
		u32 n = left;
		const void *piece = rxe_cursor_next(from, &n);

		if (!piece) {
			t->pos = mark.pos;
			t->pos_len = mark.pos_len;
			t->room = mark.room;
			t->frag = mark.frag;
			return -EFAULT;
		}
		train_put(t, piece, n);
		left -= n;
	}
	train_put(t, zeros, pkt->pad);

	crc = rxe_icrc_begin(&t->qp->flow, len, t->ip_id + t->segs);
	crc = rxe_icrc_bth(crc, hdr);
	crc = train_crc(t, &mark, len - RXE_ICRC_LEN, crc);
	icrc = rxe_icrc_end(crc);
	train_put(t, &icrc, sizeof(icrc));
	t->segs++;
	return 0;
}

int rxe_train_send(struct rxe_train *t)
{
	struct rxe_qp *qp = t->qp;
	u32 len;
	int err;

	if (!t->segs) {
		rxe_train_drop(t);
		return 0;
	}
	/* Cut what was allocated for packets that did not come. */
	if (t->room && pskb_trim(t->skb, t->skb->len - t->room)) {
		rxe_train_drop(t);
		rxe_pause_told(qp, -ENOMEM, 0);
		return -ENOMEM;
	}
	qp->flow.ip_id += t->segs;
	len = t->skb->len;
	err = rxe_flow_xmit(&qp->flow, t->skb, t->seg_len, t->segs, t->ip_id);
	if (err) {
		rxe_qp_count_add(qp, RXE_CNT_SEND_ERR, t->segs);
	} else {
		rxe_qp_count_add(qp, RXE_CNT_SENT_PKTS, t->segs);
		rxe_qp_count_add(qp, RXE_CNT_SENT_BYTES, len);
	}
	rxe_pause_told(qp, err, t->segs);
	return err;
}

void rxe_train_drop(struct rxe_train *t)
{
	kfree_skb(t->skb);
}

int rxe_send_one(struct rxe_qp *qp, struct rxe_pkt *pkt,
		 struct rxe_cursor *from)
{
	u32 len = rxe_seg_len(pkt->opcode, pkt->len);
	struct rxe_train t;

	if (!rxe_train_begin(&t, qp, len, 1, len))
		return -ENOMEM;
	if (rxe_train_add(&t, pkt, from)) {
		rxe_train_drop(&t);
		return -EFAULT;
	}
	return rxe_train_send(&t);
}
