// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The way of received packets to their QPs: trains and runs, and what is
 * dropped before a QP sees it.  The QPs here are held by the test, so that
 * what they are given stays in their queues.  Those of number 1 are on real
 * links, since their addresses tell them apart.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <rdma/ib_mad.h>
#include "rxe_fixture.h"
#include "rxe_hdr.h"
#include "rxe_net.h"
#include "rxe_qp.h"

#define TRAIN_ID 0xfffe		/* wraps within a train */
#define ID_STEP 1
#define ID_FIXED 0

/* A link, two of its QPs, and their peer's flow to them. */
struct bench {
	struct kunit *test;
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	struct rxe_qp *qp[2];
	struct rxe_flow peer;
};

/* A datagram that is being put together. */
struct train {
	struct sk_buff *skb;
	struct page *page;
	u32 len;		/* bytes in the page */
	u32 segs;
	u16 id_step;
};

static void make_flow(struct rxe_flow *flow, struct rxe_dev *rxe, bool ipv4)
{
	flow->rxe = rxe;
	flow->ipv4 = ipv4;
	flow->sport = 0xc001;
	flow->hop_limit = 64;
	if (ipv4) {
		ipv6_addr_set_v4mapped(cpu_to_be32(0x0a000001), &flow->saddr);
		ipv6_addr_set_v4mapped(cpu_to_be32(0x0a000002), &flow->daddr);
	} else {
		ipv6_addr_set(&flow->saddr, cpu_to_be32(0x20010db8), 0, 0,
			      cpu_to_be32(1));
		ipv6_addr_set(&flow->daddr, cpu_to_be32(0x20010db8), 0, 0,
			      cpu_to_be32(2));
	}
}

static struct rxe_qp *make_qp(struct bench *b)
{
	struct kunit *test = b->test;
	struct rxe_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct rxe_cq *cq = kunit_kzalloc(test, sizeof(*cq), GFP_KERNEL);
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	KUNIT_ASSERT_NOT_NULL(test, qp);
	KUNIT_ASSERT_NOT_NULL(test, cq);
	init.send_cq = &cq->ibcq;
	init.recv_cq = &cq->ibcq;
	qp->ibqp.device = &b->rxe->ib;
	qp->ibqp.pd = &b->pd->ibpd;
	qp->ibqp.qp_type = IB_QPT_RC;
	KUNIT_ASSERT_EQ(test, rxe_create_qp(&qp->ibqp, &init, NULL), 0);
	rxe_run_own(qp);
	qp->state = IB_QPS_RTS;
	/* The peer's flow, seen from here. */
	qp->flow = b->peer;
	swap(qp->flow.saddr, qp->flow.daddr);
	qp->flow.valid = true;
	return qp;
}

static void drop_qp(struct rxe_qp *qp)
{
	skb_queue_purge(&qp->rxq);
	qp->flow.valid = false;
	qp->state = IB_QPS_RESET;
	rxe_run_disown(qp);
	rxe_destroy_qp(&qp->ibqp, NULL);
}

static void set_up(struct bench *b, struct kunit *test, bool ipv4)
{
	memset(b, 0, sizeof(*b));
	b->test = test;
	b->rxe = fake_dev(test);
	b->rxe->net = &init_net;
	b->pd = fake_pd(test, b->rxe);
	make_flow(&b->peer, b->rxe, ipv4);
	b->qp[0] = make_qp(b);
	b->qp[1] = make_qp(b);
}

static void tear_down(struct bench *b)
{
	drop_qp(b->qp[0]);
	drop_qp(b->qp[1]);
}

static u64 counted(const struct bench *b, enum rxe_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(b->rxe->counters, cpu)->value[counter];
	return sum;
}

static void begin(struct bench *b, struct train *t, u16 id_step)
{
	memset(t, 0, sizeof(*t));
	t->id_step = id_step;
	t->skb = alloc_skb(128, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(b->test, t->skb);
	t->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(b->test, t->page);
}

/* One more packet, complete with its ICRC. */
static u8 *add(struct bench *b, struct train *t, struct rxe_pkt pkt)
{
	u8 *at = page_address(t->page) + t->len;
	u32 n, len, crc;
	__le32 icrc;

	n = rxe_hdr_encode(&pkt, at);
	memset(at + n, 0x30 + t->segs, pkt.len);
	len = n + pkt.len + pkt.pad + RXE_ICRC_LEN;
	crc = rxe_icrc_begin(&b->peer, len, TRAIN_ID + t->segs * t->id_step);
	crc = rxe_icrc_bth(crc, at);
	crc = crc32_le(crc, at + 12, len - 12 - RXE_ICRC_LEN);
	icrc = rxe_icrc_end(crc);
	memcpy(at + len - RXE_ICRC_LEN, &icrc, sizeof(icrc));
	t->len += len;
	t->segs++;
	return at;
}

static struct rxe_pkt send_pkt(const struct rxe_qp *qp, u32 len)
{
	return (struct rxe_pkt){
		.opcode = IB_OPCODE_RC_SEND_ONLY,
		.len = len,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = qp->qpn,
	};
}

/* Network headers in the head, packets in a fragment. */
static struct sk_buff *finish(struct bench *b, struct train *t, u32 seg_len)
{
	struct sk_buff *skb = t->skb;
	struct udphdr *udp;

	skb_reset_network_header(skb);
	if (b->peer.ipv4) {
		struct iphdr *ip = skb_put_zero(skb, sizeof(*ip));

		ip->version = 4;
		ip->ihl = 5;
		ip->id = htons(TRAIN_ID);
		ip->frag_off = htons(IP_DF);
		ip->ttl = 3;
		ip->protocol = IPPROTO_UDP;
		ip->saddr = b->peer.saddr.s6_addr32[3];
		ip->daddr = b->peer.daddr.s6_addr32[3];
		skb->protocol = htons(ETH_P_IP);
	} else {
		struct ipv6hdr *ip = skb_put_zero(skb, sizeof(*ip));

		ip->version = 6;
		ip->nexthdr = IPPROTO_UDP;
		ip->hop_limit = 3;
		ip->saddr = b->peer.saddr;
		ip->daddr = b->peer.daddr;
		skb->protocol = htons(ETH_P_IPV6);
	}
	skb_set_transport_header(skb, skb->len);
	udp = skb_put_zero(skb, sizeof(*udp));
	udp->source = htons(b->peer.sport);
	udp->dest = htons(ROCE_V2_UDP_DPORT);
	skb_add_rx_frag(skb, 0, t->page, 0, t->len, PAGE_SIZE);
	skb_pull(skb, skb_transport_offset(skb));
	if (seg_len) {
		/* As tun and virtio deliver it: no count, no length. */
		skb_shinfo(skb)->gso_size = seg_len;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_DODGY;
	} else {
		udp->len = htons(sizeof(*udp) + t->len);
	}
	return skb;
}

static void receive(struct sk_buff *skb)
{
	local_bh_disable();
	rcu_read_lock();
	rxe_rcv(&init_net, skb);
	rcu_read_unlock();
	local_bh_enable();
}

/* The oldest run in @qp's queue is the segments from @first on. */
static void expect_run(struct bench *b, struct rxe_qp *qp, u32 first,
		       u32 seg_len, u32 len)
{
	struct kunit *test = b->test;
	struct sk_buff *skb = skb_dequeue(&qp->rxq);
	const struct rxe_rx_cb *cb;

	KUNIT_EXPECT_NOT_NULL(test, skb);
	if (!skb)
		return;
	cb = rxe_rx_cb(skb);
	KUNIT_EXPECT_EQ(test, cb->off, sizeof(struct udphdr) + first * seg_len);
	KUNIT_EXPECT_EQ(test, cb->seg_len, seg_len);
	KUNIT_EXPECT_EQ(test, cb->len, len);
	kfree_skb(skb);
}

static void expect_nothing(struct bench *b)
{
	KUNIT_EXPECT_TRUE(b->test, skb_queue_empty(&b->qp[0]->rxq));
	KUNIT_EXPECT_TRUE(b->test, skb_queue_empty(&b->qp[1]->rxq));
}

/* 12 BTH + 64 + 4 ICRC */
#define SEG 80

static void rcv_one_packet(struct kunit *test)
{
	int ipv4;

	for (ipv4 = 0; ipv4 < 2; ipv4++) {
		struct bench b;
		struct train t;
		u32 len;

		set_up(&b, test, ipv4);
		for (len = 0; len < 5; len++) {
			begin(&b, &t, ID_STEP);
			add(&b, &t, send_pkt(b.qp[1], len));
			receive(finish(&b, &t, 0));
			expect_run(&b, b.qp[1], 0, t.len, t.len);
			expect_nothing(&b);
		}
		KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_RCVD_PKTS), 5);
		/* Sixteen around each, and pads. */
		KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_RCVD_BYTES),
				16 + 4 * 20);
		tear_down(&b);
	}
}

/* Five and a short one, numbered one by one or all alike. */
static void rcv_train(struct kunit *test)
{
	int way;

	for (way = 0; way < 4; way++) {
		struct bench b;
		struct train t;
		int i;

		set_up(&b, test, way & 1);
		begin(&b, &t, way & 2 ? ID_STEP : ID_FIXED);
		for (i = 0; i < 5; i++)
			add(&b, &t, send_pkt(b.qp[0], 64));
		add(&b, &t, send_pkt(b.qp[0], 3));
		receive(finish(&b, &t, SEG));
		expect_run(&b, b.qp[0], 0, SEG, 5 * SEG + 20);
		expect_nothing(&b);
		KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_RCVD_PKTS), 6);
		tear_down(&b);
	}
}

/* A merged skb: A A B A, then B for an address that is not there. */
static void rcv_two_qps_in_one_skb(struct kunit *test)
{
	struct rxe_pkt nobody;
	struct bench b;
	struct train t;

	set_up(&b, test, true);
	begin(&b, &t, ID_STEP);
	add(&b, &t, send_pkt(b.qp[0], 64));
	add(&b, &t, send_pkt(b.qp[0], 64));
	add(&b, &t, send_pkt(b.qp[1], 64));
	add(&b, &t, send_pkt(b.qp[0], 64));
	nobody = send_pkt(b.qp[0], 64);
	nobody.qpn = 3;
	add(&b, &t, nobody);
	add(&b, &t, send_pkt(b.qp[1], 64));
	receive(finish(&b, &t, SEG));
	expect_run(&b, b.qp[0], 0, SEG, 2 * SEG);
	expect_run(&b, b.qp[0], 3, SEG, SEG);
	expect_run(&b, b.qp[1], 2, SEG, SEG);
	expect_run(&b, b.qp[1], 5, SEG, SEG);
	expect_nothing(&b);
	tear_down(&b);
}

/* One bad packet costs itself, wherever it is. */
static void rcv_bad_icrc_in_a_train(struct kunit *test)
{
	int bad, i;

	for (bad = 0; bad < 4; bad++) {
		struct bench b;
		struct train t;

		set_up(&b, test, true);
		begin(&b, &t, ID_STEP);
		for (i = 0; i < 4; i++) {
			u8 *at = add(&b, &t, send_pkt(b.qp[0], 64));

			if (i == bad)
				at[40] ^= 1;
		}
		receive(finish(&b, &t, SEG));
		if (bad)
			expect_run(&b, b.qp[0], 0, SEG, bad * SEG);
		if (bad < 3)
			expect_run(&b, b.qp[0], bad + 1, SEG, (3 - bad) * SEG);
		expect_nothing(&b);
		KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_DROP_ICRC), 1);
		KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_RCVD_PKTS), 3);
		tear_down(&b);
	}
}

/* ---- what is dropped ---- */

static void one(struct bench *b, struct rxe_pkt pkt)
{
	struct train t;

	begin(b, &t, ID_STEP);
	add(b, &t, pkt);
	receive(finish(b, &t, 0));
}

static void rcv_checks_the_peer(struct kunit *test)
{
	struct bench b;
	struct in6_addr right;

	set_up(&b, test, true);
	right = b.peer.saddr;
	b.peer.saddr.s6_addr32[3] ^= cpu_to_be32(0x10);
	one(&b, send_pkt(b.qp[0], 64));
	b.peer.saddr = right;
	b.peer.daddr.s6_addr32[3] ^= cpu_to_be32(0x10);
	one(&b, send_pkt(b.qp[0], 64));
	expect_nothing(&b);
	KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_DROP_PEER), 2);
	tear_down(&b);
}

static void rcv_checks_the_pkey(struct kunit *test)
{
	static const u16 keys[] = { 0xffff, 0x7fff, 0x0000, 0x8001, 0xfffe };
	struct rxe_pkt pkt;
	struct bench b;
	int i;

	set_up(&b, test, true);
	pkt = send_pkt(b.qp[0], 64);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		pkt.pkey = keys[i];
		one(&b, pkt);
	}
	KUNIT_EXPECT_EQ(test, skb_queue_len(&b.qp[0]->rxq), 2);
	tear_down(&b);
}

static void rcv_checks_service_and_state(struct kunit *test)
{
	struct rxe_pkt request, ack, other;
	struct bench b;
	int state;

	set_up(&b, test, true);
	request = send_pkt(b.qp[0], 64);
	ack = send_pkt(b.qp[0], 0);
	ack.opcode = IB_OPCODE_RC_ACKNOWLEDGE;
	for (state = IB_QPS_RESET; state <= IB_QPS_ERR; state++) {
		bool takes_requests = state == IB_QPS_RTR ||
				      state == IB_QPS_RTS ||
				      state == IB_QPS_SQD ||
				      state == IB_QPS_SQE;
		bool takes_answers = state == IB_QPS_RTS ||
				     state == IB_QPS_SQD;

		b.qp[0]->state = state;
		one(&b, request);
		KUNIT_EXPECT_EQ(test, skb_queue_len(&b.qp[0]->rxq),
				takes_requests ? 1 : 0);
		skb_queue_purge(&b.qp[0]->rxq);
		one(&b, ack);
		KUNIT_EXPECT_EQ(test, skb_queue_len(&b.qp[0]->rxq),
				takes_answers ? 1 : 0);
		skb_queue_purge(&b.qp[0]->rxq);
	}
	KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_DROP_STATE), 3 + 5);

	b.qp[0]->state = IB_QPS_RTS;
	other = request;
	other.opcode = IB_OPCODE_UC_SEND_ONLY;
	one(&b, other);
	other.opcode = IB_OPCODE_UD_SEND_ONLY;
	one(&b, other);
	expect_nothing(&b);
	KUNIT_EXPECT_EQ(test, counted(&b, RXE_CNT_DROP_SERVICE), 2);
	tear_down(&b);
}

static void rcv_keeps_links_apart(struct kunit *test)
{
	struct bench b;

	set_up(&b, test, true);
	b.rxe->gone = true;
	one(&b, send_pkt(b.qp[0], 64));
	expect_nothing(&b);
	/* The same number in another namespace is another QP's. */
	b.rxe->gone = false;
	b.rxe->net = NULL;
	one(&b, send_pkt(b.qp[0], 64));
	expect_nothing(&b);
	tear_down(&b);
}

static void rcv_refuses_odd_skbs(struct kunit *test)
{
	struct bench b;
	struct train t;
	struct sk_buff *skb;
	int i;

	set_up(&b, test, true);
	for (i = 0; i < 6; i++) {
		begin(&b, &t, ID_STEP);
		add(&b, &t, send_pkt(b.qp[0], 64));
		if (i >= 4)
			add(&b, &t, send_pkt(b.qp[0], 64));
		skb = finish(&b, &t, i >= 4 ? SEG : 0);
		switch (i) {
		case 0:		/* says more than there is */
			udp_hdr(skb)->len = htons(8 + SEG + 4);
			break;
		case 1:		/* less than a UDP header */
			udp_hdr(skb)->len = htons(7);
			break;
		case 2:		/* ends within the BTH */
			udp_hdr(skb)->len = htons(8 + 8);
			break;
		case 3:		/* IPv4 options */
			ip_hdr(skb)->ihl = 6;
			break;
		case 4:		/* not a train */
			skb_shinfo(skb)->gso_type = SKB_GSO_UDP;
			break;
		case 5:		/* cut into pieces that are no packets */
			skb_shinfo(skb)->gso_size = 20;
			break;
		}
		receive(skb);
		expect_nothing(&b);
	}
	tear_down(&b);
}

/* ---- queue pair 1 ---- */

/* A link with a queue pair 1. */
struct station {
	struct kunit *test;
	struct rxe_dev *rxe;
	struct in6_addr addr;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
};

/* Whatever there is, once. */
static void close_station(void *arg)
{
	struct station *s = arg;

	if (!IS_ERR_OR_NULL(s->qp)) {
		struct rxe_qp *qp = to_rxe_qp(s->qp);

		skb_queue_purge(&qp->rxq);
		qp->state = IB_QPS_RESET;
		rxe_run_disown(qp);
		KUNIT_EXPECT_EQ(s->test, ib_destroy_qp(s->qp), 0);
	}
	s->qp = NULL;
	if (!IS_ERR_OR_NULL(s->cq))
		ib_destroy_cq(s->cq);
	s->cq = NULL;
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
	s->pd = NULL;
}

static struct station *open_station(struct kunit *test, const char *name)
{
	struct station *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct ib_cq_init_attr cq = { .cqe = 4 };
	struct ib_qp_init_attr qp = {
		.qp_type = IB_QPT_GSI,
		.port_num = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->rxe = real_link(test, name, &s->addr);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, close_station, s));
	s->pd = ib_alloc_pd(&s->rxe->ib, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(s->pd));
	s->cq = ib_create_cq(&s->rxe->ib, NULL, NULL, NULL, &cq);
	KUNIT_ASSERT_FALSE(test, IS_ERR(s->cq));
	qp.send_cq = s->cq;
	qp.recv_cq = s->cq;
	s->qp = ib_create_qp(s->pd, &qp);
	KUNIT_ASSERT_FALSE(test, IS_ERR(s->qp));
	KUNIT_EXPECT_EQ(test, s->qp->qp_num, 1);
	rxe_run_own(to_rxe_qp(s->qp));
	to_rxe_qp(s->qp)->state = IB_QPS_RTS;
	return s;
}

/* A management datagram to @addr comes in on @ndev; who got it? */
static struct station *who_gets(struct kunit *test, struct net_device *ndev,
				const struct in6_addr *addr,
				struct station *const s[2])
{
	struct station *got = NULL;
	struct bench b = { .test = test };
	struct sk_buff *skb;
	struct train t;
	int i;

	make_flow(&b.peer, NULL, false);
	ipv6_addr_set(&b.peer.saddr, cpu_to_be32(0xfe800000), 0, 0,
		      cpu_to_be32(1));
	b.peer.daddr = *addr;
	begin(&b, &t, ID_STEP);
	add(&b, &t, (struct rxe_pkt){
		.opcode = IB_OPCODE_UD_SEND_ONLY,
		.len = 64,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = 1,
		.qkey = IB_QP1_QKEY,
		.sqpn = 1,
	});
	skb = finish(&b, &t, 0);
	skb->dev = ndev;
	receive(skb);
	for (i = 0; i < 2; i++) {
		struct rxe_qp *qp = s[i]->qp ? to_rxe_qp(s[i]->qp) : NULL;

		if (!qp || skb_queue_empty(&qp->rxq))
			continue;
		KUNIT_EXPECT_NULL(test, got);
		KUNIT_EXPECT_EQ(test, skb_queue_len(&qp->rxq), 1);
		skb_queue_purge(&qp->rxq);
		got = s[i];
	}
	return got;
}

static u64 no_qp_at(const struct station *s)
{
	const struct bench b = { .rxe = s->rxe };

	return counted(&b, RXE_CNT_DROP_QP);
}

static void rcv_finds_queue_pair_1_by_address(struct kunit *test)
{
	struct station *const s[] = { open_station(test, "gsi0"),
				      open_station(test, "gsi1") };
	struct net_device *lo = init_net.loopback_dev;
	struct in6_addr other = s[0]->addr;
	int i;

	other.s6_addr[15] ^= 0x55;
	for (i = 0; i < 2; i++) {
		struct net_device *ndev = s[i]->rxe->ndev;

		KUNIT_EXPECT_PTR_EQ(test, s[i],
				    who_gets(test, ndev, &s[i]->addr, s));
		/* One link of this machine sends to the other. */
		KUNIT_EXPECT_PTR_EQ(test, s[i],
				    who_gets(test, lo, &s[i]->addr, s));
		KUNIT_EXPECT_EQ(test, no_qp_at(s[i]), 0);
		/* The other's address, link-local, is not known on this one. */
		KUNIT_EXPECT_NULL(test,
				  who_gets(test, ndev, &s[!i]->addr, s));
		KUNIT_EXPECT_EQ(test, no_qp_at(s[i]), 1);
		KUNIT_EXPECT_NULL(test, who_gets(test, ndev, &other, s));
		KUNIT_EXPECT_EQ(test, no_qp_at(s[i]), 2);
		KUNIT_EXPECT_NULL(test, who_gets(test, lo, &other, s));
	}
	KUNIT_EXPECT_EQ(test, no_qp_at(s[0]), 2);
	KUNIT_EXPECT_EQ(test, no_qp_at(s[1]), 2);
}

static void rcv_without_queue_pair_1(struct kunit *test)
{
	struct station *const s[] = { open_station(test, "gsi0"),
				      open_station(test, "gsi1") };
	struct net_device *ndev = s[0]->rxe->ndev;

	WRITE_ONCE(s[0]->rxe->gone, true);
	KUNIT_EXPECT_NULL(test, who_gets(test, ndev, &s[0]->addr, s));
	KUNIT_EXPECT_EQ(test, no_qp_at(s[0]), 1);
	WRITE_ONCE(s[0]->rxe->gone, false);
	KUNIT_EXPECT_PTR_EQ(test, s[0],
			    who_gets(test, ndev, &s[0]->addr, s));
	close_station(s[0]);
	KUNIT_EXPECT_NULL(test, who_gets(test, ndev, &s[0]->addr, s));
	KUNIT_EXPECT_EQ(test, no_qp_at(s[0]), 2);
	/* Over lo the address says whose drop it is. */
	KUNIT_EXPECT_NULL(test, who_gets(test, init_net.loopback_dev,
					 &s[0]->addr, s));
	KUNIT_EXPECT_EQ(test, no_qp_at(s[0]), 3);
	KUNIT_EXPECT_EQ(test, no_qp_at(s[1]), 0);
	ndev = s[1]->rxe->ndev;
	KUNIT_EXPECT_PTR_EQ(test, s[1],
			    who_gets(test, ndev, &s[1]->addr, s));
}

static struct kunit_case rcv_tests[] = {
	KUNIT_CASE(rcv_one_packet),
	KUNIT_CASE(rcv_train),
	KUNIT_CASE(rcv_two_qps_in_one_skb),
	KUNIT_CASE(rcv_bad_icrc_in_a_train),
	KUNIT_CASE(rcv_checks_the_peer),
	KUNIT_CASE(rcv_checks_the_pkey),
	KUNIT_CASE(rcv_checks_service_and_state),
	KUNIT_CASE(rcv_keeps_links_apart),
	KUNIT_CASE(rcv_refuses_odd_skbs),
	KUNIT_CASE(rcv_finds_queue_pair_1_by_address),
	KUNIT_CASE(rcv_without_queue_pair_1),
	{}
};

static struct kunit_suite rcv_suite = {
	.name = "rxe_rcv",
	.test_cases = rcv_tests,
};

kunit_test_suite(rcv_suite);
