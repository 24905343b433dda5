/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Between the QPs and the network.
 *
 * Lifetime of a flow: embedded in a QP; set up by rxe_flow_init() when the QP
 * gets its address vector, that of UD for each handle that it sends to and did
 * not send to last, and released by rxe_flow_release().  It holds the
 * sgid_attr and a cached route.  Only the QP's runner changes it; who receives a
 * packet compares the addresses.  The one exception: a namespace that ends takes
 * the routes of its links away, once no runner uses them (rxe_routes_end()).
 */
#ifndef SOFTROCE_RXE_NET_H
#define SOFTROCE_RXE_NET_H

#include <linux/types.h>
#include <net/dst_cache.h>
#include "rxe.h"

struct rxe_qp;

/**
 * struct rxe_flow - a connection's way out
 * @valid: rxe_flow_init() succeeded
 * @ipv4: network header; else IPv6
 * @saddr: and @daddr: IPv4 addresses are IPv4-mapped
 * @sport: UDP source port, 0xc000 to 0xffff, constant for the connection
 * @oif: interface of the source address; scope of link-local addresses
 * @neigh_seen: rxe_neigh_changes when the next hop of @dst was found to have an
 *	address; 0: it was not
 * @neigh_asked: a packet has left that makes the stack look for it
 * @apart: that was a VLAN, a macvlan or of a VRF: others' packets are not taken
 * @ip_id: IPv4 identification of the next packet; runs on from train to train
 * @dst: the cached route, or NULL; set and cleared under rxe_dev.route_lock
 * @cached: in rxe_dev.routes while there is a @dst
 */
struct rxe_flow {
	struct rxe_dev *rxe;
	bool valid;
	bool apart;
	bool ipv4;
	struct in6_addr saddr;
	struct in6_addr daddr;
	u16 sport;
	u8 tclass;
	u8 hop_limit;
	u32 flow_label;
	int oif;
	u16 ip_id;
	const struct ib_gid_attr *sgid_attr;
	struct dst_entry *dst;
	u32 dst_cookie;
	struct hlist_node cached;
	int neigh_seen;
	bool neigh_asked;
};

/* Bytes before the BTH of a packet on @flow, without the link header. */
static inline u32 rxe_flow_hdr_len(const struct rxe_flow *flow)
{
	return flow->ipv4 ? 20 + 8 : 40 + 8;
}

/*
 * Headroom for an skb that rxe_flow_xmit() takes: link, IPv6 and UDP header.
 */
#define RXE_HEADROOM (LL_MAX_HEADER + 40 + 8)

/* The interface of a source address; 0: it has gone. */
int rxe_gid_oif(const struct ib_gid_attr *attr);
/*
 * Make @flow lead to the address in @attr, out of @oif; what it was is released.
 * Families have been checked.  @sqpn, @dqpn choose the source port.  Any context.
 */
void rxe_flow_set(struct rxe_flow *flow, struct rxe_dev *rxe,
		  const struct rdma_ah_attr *attr, int oif, u32 sqpn, u32 dqpn);
/* The same, for connections: -EINVAL or -ENODEV when the address is of no use. */
int rxe_flow_init(struct rxe_flow *flow, struct rxe_dev *rxe,
		  const struct rdma_ah_attr *attr, u32 sqpn, u32 dqpn);
void rxe_flow_release(struct rxe_flow *flow);
/* Goes on with each change of any neighbour, never to 0 as far as one looks. */
extern atomic_t rxe_neigh_changes;
bool rxe_flow_ask(struct rxe_flow *flow);
/*
 * Has the next hop a link-layer address, or needs none?  Else what is sent waits
 * in the neighbour's queue, which is a short one.  True when there is no way.
 */
static inline bool rxe_flow_resolved(struct rxe_flow *flow)
{
	return likely(flow->neigh_seen == atomic_read(&rxe_neigh_changes)) ||
	       rxe_flow_ask(flow);
}

int rxe_route_init(void);
void rxe_route_exit(void);
/* The interface that packets leave by now; 0: there is no way. */
int rxe_flow_oif(struct rxe_flow *flow);
/*
 * Is there a route?  For programs that want to send: 0, -ENETUNREACH or
 * -EHOSTUNREACH; -ENODEV, -ENOMEM.  Process context.
 */
int rxe_flow_probe(const struct rxe_flow *flow);
/* Forget the cached route: addresses or routes changed. */
void rxe_flow_reset_route(struct rxe_flow *flow);
/*
 * Forget the cached routes of all flows of a link that is gone, a grace period
 * after rxe_dev.gone was set: nobody uses or caches one any more.
 */
void rxe_routes_end(struct rxe_dev *rxe);

/*
 * The ICRC (not yet inverted) over the masked network headers of a packet of
 * @len bytes from BTH to ICRC with IPv4 identification @ip_id; goes on with
 * rxe_icrc_bth() over the BTH and rxe_crc32() over the rest.
 */
u32 rxe_icrc_begin(const struct rxe_flow *flow, u32 len, u16 ip_id);
/* Fold the 12 bytes of a BTH, resv8a masked. */
u32 rxe_icrc_bth(u32 crc, const void *bth);
/* What stands on the wire for @crc. */
static inline __le32 rxe_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

/* Most bytes, and segments, that one skb of trains on @flow may have. */
void rxe_flow_limits(struct rxe_flow *flow, u32 *max_bytes, u32 *max_segs);

/*
 * Send @skb, whose data runs from the first BTH on and which has
 * RXE_HEADROOM; @seg_len bytes a packet, the last may be shorter; @segs
 * packets, with IPv4 identifications from @ip_id on.  Consumes @skb.
 * Any context with bottom halves off.
 * Return 0, or a negative errno when it was dropped here (a lost packet).
 */
int rxe_flow_xmit(struct rxe_flow *flow, struct sk_buff *skb, u32 seg_len,
		  u32 segs, u16 ip_id);

/*
 * What a received skb in a QP's queue carries: @len bytes from @off on (from
 * skb->data) in segments of @seg_len, the last may be shorter.  All have
 * passed rxe_pkt_parse(), the ICRC, P_Key and QP lookup.
 */
struct rxe_rx_cb {
	u32 off;
	u32 len;
	u32 seg_len;
	int cpu;	/* where it came in: rxe_run.h */
};

static inline struct rxe_rx_cb *rxe_rx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct rxe_rx_cb) > sizeof(skb->cb));
	return (struct rxe_rx_cb *)skb->cb;
}

/* rxe_rcv.c: one datagram or train, skb->data at the UDP header. Consumes. */
void rxe_rcv(struct net *net, struct sk_buff *skb);
/*
 * Go on with @crc over @len bytes of @skb from skb->data + @off on, wherever
 * they lie.  False when it has them not.
 */
bool rxe_crc_skb(u32 *crc, const struct sk_buff *skb, u32 off, u32 len);

/* rxe_net.c: port 4791 of a namespace, with its first link to its last. */
int rxe_net_init(void);
void rxe_net_exit(void);
int rxe_net_get(struct rxe_dev *rxe, struct net *net,
		struct netlink_ext_ack *extack);
/* Undo it, if it was done and the namespace has not ended before. */
void rxe_net_put(struct rxe_dev *rxe);
/* The link of @ndev in @net, or NULL; RCU. */
struct rxe_dev *rxe_net_find(struct net *net, const struct net_device *ndev);
/* The link behind @rxe in @net, the first one for NULL; or NULL.  RCU. */
struct rxe_dev *rxe_net_next(struct net *net, struct rxe_dev *rxe);

#endif
