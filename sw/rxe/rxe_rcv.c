// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What arrives at port 4791: checked, counted and given to its QP.
 *
 * An skb is a list of packets: one, or the segments of a train.  Neighbours in
 * it for one QP make a run, and a QP is looked up and handed over once for
 * each run; nearly always the whole skb is one.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "rxe.h"
#include "rxe_crc.h"
#include "rxe_hdr.h"
#include "rxe_icrc.h"
#include "rxe_mcast.h"
#include "rxe_ndev.h"
#include "rxe_net.h"
#include "rxe_qp.h"

/**
 * struct rxe_rx - an skb on its way through the checks
 * @net: namespace it arrived in
 * @skb: data at the UDP header
 * @seg_len: bytes from BTH to ICRC of each segment but the last
 * @total: bytes of all segments
 * @ip: network header; for IPv4, or...
 * @ip6: ...for IPv6, the other is NULL
 * @saddr: source, and
 * @daddr: destination; IPv4 addresses are IPv4-mapped
 * @udp: a copy of the header
 * @fixed_id: the train's packets all had the first one's IPv4 identification
 * @qpn: QP of the last segment that was looked at
 * @qp: that QP with a reference, NULL if it takes nothing of this skb
 * @off: where the run began, and
 * @len: its bytes so far
 */
struct rxe_rx {
	struct net *net;
	struct sk_buff *skb;
	u32 seg_len;
	u32 total;
	const struct iphdr *ip;
	const struct ipv6hdr *ip6;
	struct in6_addr saddr;
	struct in6_addr daddr;
	struct udphdr udp;
	bool fixed_id;
	u32 qpn;
	struct rxe_qp *qp;
	u32 off;
	u32 len;
};

/* No QP that number could be: nothing was looked up yet. */
#define RXE_NO_QPN U32_MAX

int rxe_pkt_parse(struct rxe_pkt *pkt, struct sk_buff *skb, u32 off, u32 len)
{
	u8 buf[RXE_MAX_HDR_LEN] __aligned(8);
	const void *hdr;
	int err;

	hdr = skb_header_pointer(skb, off, min_t(u32, len, sizeof(buf)), buf);
	if (!hdr)
		return -EINVAL;
	err = rxe_hdr_decode(pkt, hdr, len);
	if (err)
		return err;
	pkt->skb = skb;
	pkt->payload += off;
	return 0;
}

bool rxe_crc_skb(u32 *crc, const struct sk_buff *skb, u32 off, u32 len)
{
	const struct sk_buff *part;
	u32 begin, n;
	int i;

	if (off < skb_headlen(skb)) {
		n = min(len, skb_headlen(skb) - off);
		*crc = rxe_crc32(*crc, skb->data + off, n);
		off += n;
		len -= n;
	}
	begin = skb_headlen(skb);
	for (i = 0; len && i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];
		const u32 size = skb_frag_size(frag);

		if (off < begin + size) {
			const u8 *addr = skb_frag_address(frag);

			if (!addr)
				return false;
			n = min(len, begin + size - off);
			*crc = rxe_crc32(*crc, addr + (off - begin), n);
			off += n;
			len -= n;
		}
		begin += size;
	}
	skb_walk_frags(skb, part) {
		if (!len)
			break;
		if (off < begin + part->len) {
			n = min(len, begin + part->len - off);
			if (!rxe_crc_skb(crc, part, off - begin, n))
				return false;
			off += n;
			len -= n;
		}
		begin += part->len;
	}
	return !len;
}

static bool icrc_fits(const struct rxe_rx *rx, u32 off, u32 len, u16 id)
{
	struct rxe_bth buf;
	const void *bth;
	__le32 icrc;
	u32 crc;

	bth = skb_header_pointer(rx->skb, off, sizeof(buf), &buf);
	if (!bth ||
	    skb_copy_bits(rx->skb, off + len - RXE_ICRC_LEN, &icrc,
			  sizeof(icrc)))
		return false;
	crc = rx->ip ? rxe_icrc_ip4(rx->ip, &rx->udp, len, id) :
		       rxe_icrc_ip6(rx->ip6, &rx->udp, len);
	crc = rxe_icrc_bth(crc, bth);
	return rxe_crc_skb(&crc, rx->skb, off + sizeof(buf),
			   len - sizeof(buf) - RXE_ICRC_LEN) &&
	       rxe_icrc_end(crc) == icrc;
}

/* Senders number the packets of a train one by one, or all alike. */
static bool check_icrc(struct rxe_rx *rx, u32 off, u32 len, u32 seg)
{
	const u16 base = rx->ip ? ntohs(rx->ip->id) : 0;

	if (icrc_fits(rx, off, len, rx->fixed_id ? base : base + seg))
		return true;
	if (!rx->ip || !seg || rx->fixed_id)
		return false;
	rx->fixed_id = icrc_fits(rx, off, len, base);
	return rx->fixed_id;
}

/* The full default P_Key lets both full and limited members in. */
static bool pkey_fits(u16 pkey)
{
	return !((pkey ^ RXE_DEFAULT_PKEY) & 0x7fff);
}

/*
 * The netdev that the skb came in on: where that belongs to a VRF, the stack has
 * put the VRF in its place.  RCU, as all here.
 */
static struct net_device *came_in_on(const struct rxe_rx *rx)
{
	struct net_device *dev = rx->skb->dev, *port;

	if (!dev || !netif_is_l3_master(dev))
		return dev;
	port = dev_get_by_index_rcu(rx->net, rx->ip ? inet_sdif(rx->skb) :
						      inet6_sdif(rx->skb));
	return port ?: dev;
}

/* Scope of a link-local address; over lo it has been checked by routing. */
static bool scope_fits(const struct rxe_rx *rx, const struct rxe_flow *flow)
{
	const struct net_device *dev = rx->skb->dev;

	return !(ipv6_addr_type(&rx->daddr) & IPV6_ADDR_LINKLOCAL) || !dev ||
	       dev->flags & IFF_LOOPBACK || dev->ifindex == flow->oif;
}

/*
 * Did @rx come in where the flow's address is?  The netdev of an address that has
 * gone may be gone as well, and then says nothing.
 */
static bool network_fits(const struct rxe_rx *rx, const struct rxe_flow *flow)
{
	const struct net_device *ndev = dev_get_by_index_rcu(rx->net, flow->oif);
	const struct net_device *from = came_in_on(rx);

	return !ndev || !from || rxe_ndev_takes(ndev, from);
}

static bool peer_fits(const struct rxe_rx *rx, const struct rxe_flow *flow)
{
	/* Pairs with the release in rxe_flow_init(). */
	if (!smp_load_acquire(&flow->valid))
		return false;
	/*
	 * A path that is exchanged in SQD may be seen half: its packets are lost
	 * or taken, as late ones are.
	 */
	return data_race(ipv6_addr_equal(&rx->daddr, &flow->saddr) &&
			 ipv6_addr_equal(&rx->saddr, &flow->daddr) &&
			 scope_fits(rx, flow) &&
			 (likely(!flow->apart) || network_fits(rx, flow)));
}

/* May what is for the address of @attr come in where @rx did? */
static bool address_fits(const struct rxe_rx *rx,
			 const struct ib_gid_attr *attr)
{
	const struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(attr);
	const struct net_device *from;

	if (IS_ERR(ndev) || likely(!rxe_ndev_is_apart(ndev)))
		return true;
	from = came_in_on(rx);
	return !from || rxe_ndev_takes(ndev, from);
}

static const struct ib_gid_attr *find_address(const struct rxe_rx *rx,
					      struct rxe_dev *rxe,
					      struct net_device *ndev)
{
	return rdma_find_gid_by_port(&rxe->ib,
				     (const union ib_gid *)&rx->daddr,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, ndev);
}

/* Is @rx for an address of the link @rxe, which is registered? */
static bool is_ours(const struct rxe_rx *rx, struct rxe_dev *rxe)
{
	struct net_device *scope = NULL;
	const struct ib_gid_attr *attr;
	bool ours;

	/* Over lo its scope has been checked by routing. */
	if (ipv6_addr_type(&rx->daddr) & IPV6_ADDR_LINKLOCAL && rx->skb->dev &&
	    !(rx->skb->dev->flags & IFF_LOOPBACK))
		scope = rx->skb->dev;
	attr = find_address(rx, rxe, scope);
	if (IS_ERR(attr))
		return false;
	ours = address_fits(rx, attr);
	rdma_put_gid_attr(attr);
	if (ours || scope || !rx->skb->dev)
		return ours;
	/* Two VLANs, or VRFs, may have one address. */
	attr = find_address(rx, rxe, came_in_on(rx));
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static void count_on_address(const struct rxe_rx *rx, enum rxe_counter counter)
{
	struct rxe_dev *rxe = NULL;
	bool ours = false;

	while (!ours && (rxe = rxe_net_next(rx->net, rxe))) {
		if (!ib_device_try_get(&rxe->ib))
			continue;
		ours = is_ours(rx, rxe);
		if (ours)
			rxe_count(rxe, counter);
		ib_device_put(&rxe->ib);
	}
}

/* The link of @dev, or one that it stands above, as a VLAN and a bond do. */
static struct rxe_dev *link_below(const struct rxe_rx *rx,
				  struct net_device *dev)
{
	struct rxe_dev *rxe = rxe_net_find(rx->net, dev);
	struct net_device *own;

	if (rxe)
		return rxe;
	while ((rxe = rxe_net_next(rx->net, rxe))) {
		own = READ_ONCE(rxe->ndev);
		if (own && netdev_has_upper_dev_all_rcu(own, dev))
			return rxe;
	}
	return NULL;
}

/* Before a QP is known, the netdev's link counts; over lo, the address's. */
static void count_on_netdev(const struct rxe_rx *rx, enum rxe_counter counter)
{
	struct net_device *dev = came_in_on(rx);
	struct rxe_dev *rxe;

	if (!dev)
		return;
	rxe = link_below(rx, dev);
	if (rxe)
		rxe_count(rxe, counter);
	else if (dev->flags & IFF_LOOPBACK)
		count_on_address(rx, counter);
}

/* Queue pair 1 of @rxe, when @rx is for an address of that link. */
static struct rxe_qp *gsi_of(const struct rxe_rx *rx, struct rxe_dev *rxe)
{
	struct rxe_qp *qp = rxe_qp_get_gsi(rxe);

	if (!qp)
		return NULL;
	/* The queue pair keeps the link: its addresses can be looked at. */
	if (!READ_ONCE(rxe->gone) && is_ours(rx, rxe))
		return qp;
	rxe_qp_put(qp);
	return NULL;
}

/*
 * Each link of a namespace may have a queue pair 1, so the address decides.  Of
 * several links that have the address, that of the netdev goes first.
 */
static struct rxe_qp *find_gsi(const struct rxe_rx *rx)
{
	struct rxe_qp *qp = NULL;
	struct net_device *dev;
	struct rxe_dev *rxe;

	dev = came_in_on(rx);
	rxe = dev ? link_below(rx, dev) : NULL;
	if (rxe)
		qp = gsi_of(rx, rxe);
	rxe = NULL;
	while (!qp && (rxe = rxe_net_next(rx->net, rxe)))
		qp = gsi_of(rx, rxe);
	if (!qp)
		count_on_netdev(rx, RXE_CNT_DROP_QP);
	return qp;
}

/* Who takes the packets of @rx for @qpn: a reference, or NULL and counted. */
static struct rxe_qp *find_qp(const struct rxe_rx *rx, u32 qpn)
{
	struct rxe_qp *qp;

	if (qpn == RXE_GSI_QPN)
		return find_gsi(rx);
	qp = rxe_qp_get(qpn);
	if (!qp) {
		count_on_netdev(rx, RXE_CNT_DROP_QP);
		return NULL;
	}
	/* Also keeps namespaces apart, which have one QPN space. */
	if (READ_ONCE(qp->rxe->gone) || !net_eq(qp->rxe->net, rx->net)) {
		count_on_netdev(rx, RXE_CNT_DROP_QP);
		goto put_qp;
	}
	/* A datagram comes from anybody. */
	if (rxe_qp_is_ud(qp) ? !is_ours(rx, qp->rxe) :
			       !peer_fits(rx, &qp->flow)) {
		rxe_qp_count(qp, RXE_CNT_DROP_PEER);
		goto put_qp;
	}
	return qp;

put_qp:
	rxe_qp_put(qp);
	return NULL;
}

static bool state_fits(enum ib_qp_state state, u32 flags)
{
	switch (state) {
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		return true;
	case IB_QPS_RTR:
	case IB_QPS_SQE:
		return flags & RXE_OP_REQUEST;
	default:
		return false;
	}
}

/* Has @qp any use for @pkt? */
static bool check_qp(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	if (!rxe_service_fits(qp, pkt->op->transport)) {
		rxe_qp_count(qp, RXE_CNT_DROP_SERVICE);
		return false;
	}
	if (!state_fits(READ_ONCE(qp->state), pkt->op->flags)) {
		rxe_qp_count(qp, RXE_CNT_DROP_STATE);
		return false;
	}
	return true;
}

/* Give @qp the packets at @off of @skb, which it consumes. */
static void hand_over(struct rxe_qp *qp, struct sk_buff *skb, u32 off, u32 len,
		      u32 seg_len)
{
	struct rxe_rx_cb *cb = rxe_rx_cb(skb);

	/* It may wait: nothing of the way here may stay with it. */
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
	cb->off = off;
	cb->len = len;
	cb->seg_len = seg_len;
	rxe_run_rx(qp, skb);
}

/* Give the QP its run, if there is one: the skb itself, or a clone of it. */
static void end_run(struct rxe_rx *rx, bool last)
{
	struct sk_buff *skb = rx->skb;
	u32 len;

	if (!rx->len) {
		if (last)
			kfree_skb(skb);
		return;
	}
	if (!last) {
		skb = skb_clone(skb, GFP_ATOMIC);
		if (!skb) {
			rxe_qp_count(rx->qp, RXE_CNT_DROP_QUEUE);
			rx->len = 0;
			return;
		}
	}
	len = rx->len;
	rx->len = 0;
	hand_over(rx->qp, skb, rx->off, len, rx->seg_len);
}

static void change_qp(struct rxe_rx *rx, u32 qpn)
{
	end_run(rx, false);
	if (rx->qp)
		rxe_qp_put(rx->qp);
	rx->qp = find_qp(rx, qpn);
	rx->qpn = qpn;
}

/* What a member of a group gets a copy of. */
struct rxe_mcast {
	const struct rxe_rx *rx;
	const struct rxe_pkt *pkt;
	u32 off;
	u32 len;
};

static void take_copy(struct rxe_qp *qp, void *arg)
{
	const struct rxe_mcast *mcast = arg;
	struct sk_buff *skb;

	if (!check_qp(qp, mcast->pkt))
		return;
	skb = skb_clone(mcast->rx->skb, GFP_ATOMIC);
	if (!skb) {
		rxe_qp_count(qp, RXE_CNT_DROP_QUEUE);
		return;
	}
	/* The link has counted the packet once, for all members. */
	rxe_qp_count_own(qp, RXE_CNT_RCVD_PKTS, 1);
	rxe_qp_count_own(qp, RXE_CNT_RCVD_BYTES, mcast->len);
	hand_over(qp, skb, mcast->off, mcast->len, mcast->len);
}

/* A datagram to a group, for all links that joined it where it came in. */
static void receive_multicast(struct rxe_rx *rx, const struct rxe_pkt *pkt,
			      u32 off, u32 len, u32 seg)
{
	const union ib_gid *mgid = (const union ib_gid *)&rx->daddr;
	const bool looped = rx->skb->pkt_type == PACKET_LOOPBACK;
	const struct net_device *ndev = came_in_on(rx);
	struct rxe_mcast mcast = { rx, pkt, off, len };
	struct rxe_dev *rxe = NULL;
	bool checked = false;
	bool wanted = false;

	while ((rxe = rxe_net_next(rx->net, rxe))) {
		if (READ_ONCE(rxe->gone) || !rxe_mcast_wanted(rxe, mgid, ndev))
			continue;
		wanted = true;
		/* What was sent here comes back once. */
		if (!looped && rxe_mcast_doubled(rxe, mgid, ndev))
			continue;
		checked = checked || check_icrc(rx, off, len, seg);
		if (!checked) {
			rxe_count(rxe, RXE_CNT_DROP_ICRC);
			return;
		}
		rxe_count(rxe, RXE_CNT_RCVD_PKTS);
		rxe_count_add(rxe, RXE_CNT_RCVD_BYTES, len);
		rxe_mcast_for_each(rxe, mgid, take_copy, &mcast);
	}
	if (!wanted)
		count_on_netdev(rx, RXE_CNT_DROP_QP);
}

/* The segment of @len bytes at @off: true when it lengthens the run. */
static bool check_segment(struct rxe_rx *rx, u32 off, u32 len, u32 seg)
{
	struct rxe_pkt pkt;

	if (rxe_pkt_parse(&pkt, rx->skb, off, len)) {
		count_on_netdev(rx, RXE_CNT_DROP_SHORT);
		return false;
	}
	/* Congestion notifications are nobody's yet. */
	if (pkt.op->flags & RXE_OP_NOTIFY)
		return false;
	if (!pkey_fits(pkt.pkey)) {
		count_on_netdev(rx, RXE_CNT_DROP_PKEY);
		return false;
	}
	if (pkt.qpn == RXE_MCAST_QPN) {
		receive_multicast(rx, &pkt, off, len, seg);
		return false;
	}
	if (pkt.qpn != rx->qpn)
		change_qp(rx, pkt.qpn);
	if (!rx->qp || !check_qp(rx->qp, &pkt))
		return false;
	if (!check_icrc(rx, off, len, seg)) {
		rxe_qp_count(rx->qp, RXE_CNT_DROP_ICRC);
		return false;
	}
	rxe_qp_count(rx->qp, RXE_CNT_RCVD_PKTS);
	rxe_qp_count_add(rx->qp, RXE_CNT_RCVD_BYTES, len);
	return true;
}

/* Addresses and lengths. */
static bool open_skb(struct rxe_rx *rx)
{
	struct sk_buff *skb = rx->skb;
	const int net_len = -skb_network_offset(skb);

	if (skb_copy_bits(skb, 0, &rx->udp, sizeof(rx->udp)))
		return false;
	if (skb->protocol == htons(ETH_P_IP)) {
		rx->ip = ip_hdr(skb);
		/* Options would be in the ICRC; RoCE has none. */
		if (net_len != sizeof(*rx->ip) || rx->ip->ihl != 5)
			return false;
		ipv6_addr_set_v4mapped(rx->ip->saddr, &rx->saddr);
		ipv6_addr_set_v4mapped(rx->ip->daddr, &rx->daddr);
	} else {
		rx->ip6 = ipv6_hdr(skb);
		if (net_len != sizeof(*rx->ip6) ||
		    rx->ip6->nexthdr != IPPROTO_UDP)
			return false;
		rx->saddr = rx->ip6->saddr;
		rx->daddr = rx->ip6->daddr;
	}

	if (skb_is_gso(skb)) {
		/* The UDP length need not be true here, nor gso_segs. */
		rx->seg_len = skb_shinfo(skb)->gso_size;
		rx->total = skb->len - sizeof(rx->udp);
		return skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
	}
	rx->total = ntohs(rx->udp.len);
	if (rx->total <= sizeof(rx->udp) || rx->total > skb->len)
		return false;
	rx->total -= sizeof(rx->udp);
	rx->seg_len = rx->total;
	return true;
}

void rxe_rcv(struct net *net, struct sk_buff *skb)
{
	struct rxe_rx rx = {
		.net = net,
		.skb = skb,
		.qpn = RXE_NO_QPN,
	};
	u32 done, len, seg;

	if (!open_skb(&rx)) {
		count_on_netdev(&rx, RXE_CNT_DROP_SHORT);
		kfree_skb(skb);
		return;
	}
	for (done = 0, seg = 0; done < rx.total; done += len, seg++) {
		const u32 off = sizeof(rx.udp) + done;

		len = min(rx.seg_len, rx.total - done);
		if (!check_segment(&rx, off, len, seg)) {
			end_run(&rx, false);
			continue;
		}
		if (!rx.len)
			rx.off = off;
		rx.len += len;
	}
	end_run(&rx, true);
	if (rx.qp)
		rxe_qp_put(rx.qp);
}
