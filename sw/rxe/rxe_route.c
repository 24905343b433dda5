// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Flows: the way of a connection's packets out, with the headers they get.
 *
 * Routing is that of the link's namespace, so that a peer may be anywhere: on
 * the wire, behind a router, on another link of this kernel, or the link
 * itself.
 */
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <net/route.h>
#include <net/udp.h>
#include <rdma/ib_addr.h>
#include "rxe.h"
#include "rxe_icrc.h"
#include "rxe_ndev.h"
#include "rxe_net.h"

#define RXE_DEFAULT_HOP_LIMIT 64
#define RXE_SPORT_BASE 0xc000
#define RXE_SPORT_BITS 14
/* A device that takes less than this in one piece is not worth a train. */
#define RXE_MIN_GSO_SIZE 16384

atomic_t rxe_neigh_changes = ATOMIC_INIT(1);

/* Flow labels first: whoever sets one wants to choose the path. */
static u16 choose_sport(u32 flow_label, u32 sqpn, u32 dqpn)
{
	u64 key = flow_label ?: (u64)sqpn << 24 | dqpn;

	return RXE_SPORT_BASE | hash_64(key, RXE_SPORT_BITS);
}

int rxe_gid_oif(const struct ib_gid_attr *attr)
{
	struct net_device *ndev;
	int ifindex;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	ifindex = IS_ERR_OR_NULL(ndev) ? 0 : ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

static bool gid_is_apart(const struct ib_gid_attr *attr)
{
	struct net_device *ndev;
	bool apart;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	apart = !IS_ERR(ndev) && rxe_ndev_is_apart(ndev);
	rcu_read_unlock();
	return apart;
}

void rxe_flow_set(struct rxe_flow *flow, struct rxe_dev *rxe,
		  const struct rdma_ah_attr *attr, int oif, u32 sqpn, u32 dqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid_attr = grh->sgid_attr;
	const struct in6_addr *dgid = (const struct in6_addr *)&grh->dgid;
	const struct in6_addr *sgid = (const struct in6_addr *)&sgid_attr->gid;

	rdma_hold_gid_attr(sgid_attr);
	if (flow->valid)
		rxe_flow_release(flow);
	else
		flow->ip_id = get_random_u32();
	flow->rxe = rxe;
	flow->ipv4 = ipv6_addr_v4mapped(sgid);
	flow->saddr = *sgid;
	flow->daddr = *dgid;
	flow->sport = choose_sport(grh->flow_label & 0xfffff, sqpn, dqpn);
	flow->tclass = grh->traffic_class;
	flow->hop_limit = grh->hop_limit ?: RXE_DEFAULT_HOP_LIMIT;
	flow->flow_label = grh->flow_label & 0xfffff;
	flow->oif = oif;
	flow->sgid_attr = sgid_attr;
	flow->dst = NULL;
	flow->dst_cookie = 0;
	INIT_HLIST_NODE(&flow->cached);
	/* Receivers compare addresses as soon as they see this. */
	smp_store_release(&flow->valid, true);
}

/* To a group only datagrams go. */
int rxe_flow_init(struct rxe_flow *flow, struct rxe_dev *rxe,
		  const struct rdma_ah_attr *attr, u32 sqpn, u32 dqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	struct in6_addr *dgid = (struct in6_addr *)&grh->dgid;
	const struct in6_addr *sgid;
	int oif;

	if (!grh->sgid_attr || ipv6_addr_any(dgid) ||
	    rdma_is_multicast_addr(dgid))
		return -EINVAL;
	sgid = (const struct in6_addr *)&grh->sgid_attr->gid;
	if (ipv6_addr_v4mapped(sgid) != ipv6_addr_v4mapped(dgid))
		return -EINVAL;
	oif = rxe_gid_oif(grh->sgid_attr);
	if (!oif)
		return -ENODEV;
	/* Datagrams have no use for it: their addresses are looked up. */
	flow->apart = gid_is_apart(grh->sgid_attr);
	rxe_flow_set(flow, rxe, attr, oif, sqpn, dqpn);
	return 0;
}

static void cache_route(struct rxe_flow *flow, struct dst_entry *dst)
{
	struct rxe_dev *rxe = flow->rxe;
	unsigned long flags;

	spin_lock_irqsave(&rxe->route_lock, flags);
	flow->dst = dst;
	hlist_add_head(&flow->cached, &rxe->routes);
	spin_unlock_irqrestore(&rxe->route_lock, flags);
}

/* With the lock. */
static struct dst_entry *take_route(struct rxe_flow *flow)
{
	struct dst_entry *dst = flow->dst;

	WRITE_ONCE(flow->dst, NULL);
	hlist_del_init(&flow->cached);
	return dst;
}

/* The lock in any case: rxe_routes_end() may be about to leave this flow. */
void rxe_flow_reset_route(struct rxe_flow *flow)
{
	struct rxe_dev *rxe = flow->rxe;
	struct dst_entry *dst;
	unsigned long flags;

	spin_lock_irqsave(&rxe->route_lock, flags);
	dst = take_route(flow);
	spin_unlock_irqrestore(&rxe->route_lock, flags);
	dst_release(dst);
}

void rxe_routes_end(struct rxe_dev *rxe)
{
	struct dst_entry *dst;
	struct rxe_flow *flow;

	do {
		dst = NULL;
		spin_lock_irq(&rxe->route_lock);
		flow = hlist_entry_safe(rxe->routes.first, struct rxe_flow,
					cached);
		if (flow)
			dst = take_route(flow);
		spin_unlock_irq(&rxe->route_lock);
		dst_release(dst);
		cond_resched();
	} while (dst);
}

void rxe_flow_release(struct rxe_flow *flow)
{
	if (!flow->valid)
		return;
	WRITE_ONCE(flow->valid, false);
	rxe_flow_reset_route(flow);
	rdma_put_gid_attr(flow->sgid_attr);
	flow->sgid_attr = NULL;
}

static bool flow_is_multicast(const struct rxe_flow *flow)
{
	return flow->ipv4 ? ipv4_is_multicast(flow->daddr.s6_addr32[3]) :
			    ipv6_addr_is_multicast(&flow->daddr);
}

static struct rtable *lookup4(const struct rxe_flow *flow, int oif)
{
	struct flowi4 fl4 = {
		.flowi4_oif = oif,
		.flowi4_tos = flow->tclass & (IPTOS_TOS_MASK & ~3),
		.flowi4_proto = IPPROTO_UDP,
		.saddr = flow->saddr.s6_addr32[3],
		.daddr = flow->daddr.s6_addr32[3],
		.fl4_sport = htons(flow->sport),
		.fl4_dport = htons(ROCE_V2_UDP_DPORT),
	};

	return ip_route_output_key(flow->rxe->net, &fl4);
}

/* Is @daddr in a subnet of @dev? RCU. */
static bool on_subnet_of(const struct net_device *dev, __be32 daddr)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (inet_ifa_match(daddr, ifa))
			return true;
	return false;
}

/*
 * The routing tables decide, but among several interfaces on one subnet the
 * link's own is taken.  An output interface cannot be given at once: it would
 * keep packets for this host from going over lo, and a destination that is not
 * behind it would be taken for a neighbour there.
 */
static struct dst_entry *unicast4(const struct rxe_flow *flow)
{
	const __be32 daddr = flow->daddr.s6_addr32[3];
	struct net_device *dev;
	struct rtable *own;
	struct rtable *rt;
	bool prefer = false;
	int master = 0;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(flow->rxe->net, flow->oif);
	if (dev)
		master = l3mdev_master_ifindex_rcu(dev);
	rt = lookup4(flow, master);
	if (dev && (IS_ERR(rt) || (!(rt->rt_flags & RTCF_LOCAL) &&
				   rt->dst.dev != dev)))
		prefer = on_subnet_of(dev, daddr);
	rcu_read_unlock();

	if (prefer) {
		own = lookup4(flow, flow->oif);
		if (!IS_ERR(own)) {
			if (!IS_ERR(rt))
				ip_rt_put(rt);
			rt = own;
		}
	}
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EHOSTUNREACH);
	}
	return &rt->dst;
}

/* A group is on the interface of the source address, or nowhere. */
static struct dst_entry *route4(const struct rxe_flow *flow)
{
	struct rtable *rt;

	if (!flow_is_multicast(flow))
		return unicast4(flow);
	rt = lookup4(flow, flow->oif);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
/* With a source address the interface is a preference, or the scope. */
static struct dst_entry *route6(const struct rxe_flow *flow)
{
	struct flowi6 fl6 = {
		.flowi6_oif = flow->oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(flow->tclass,
					       htonl(flow->flow_label)),
		.saddr = flow->saddr,
		.daddr = flow->daddr,
		.fl6_sport = htons(flow->sport),
		.fl6_dport = htons(ROCE_V2_UDP_DPORT),
	};

	if (!ipv6_mod_enabled())
		return ERR_PTR(-EHOSTUNREACH);
	return ip6_dst_lookup_flow(flow->rxe->net, NULL, &fl6, NULL);
}

static u32 route6_cookie(const struct dst_entry *dst)
{
	return rt6_get_cookie(container_of(dst, struct rt6_info, dst));
}

static int xmit6(struct rxe_flow *flow, struct sk_buff *skb,
		 struct udphdr *udp)
{
	struct ipv6hdr *ip;

	udp->check = ~udp_v6_check(skb->len, &flow->saddr, &flow->daddr, 0);
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip, flow->tclass, htonl(flow->flow_label));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = flow->hop_limit;
	ip->saddr = flow->saddr;
	ip->daddr = flow->daddr;
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	return ip6_local_out(flow->rxe->net, skb->sk, skb);
}
#else
static struct dst_entry *route6(const struct rxe_flow *flow)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

static u32 route6_cookie(const struct dst_entry *dst)
{
	return 0;
}

static int xmit6(struct rxe_flow *flow, struct sk_buff *skb,
		 struct udphdr *udp)
{
	kfree_skb(skb);
	return -EAFNOSUPPORT;
}
#endif

/*
 * The cached route if it still holds, else a new one; NULL: there is none.  A
 * link that ends may be the last of its namespace, which is not asked any more.
 */
static struct dst_entry *flow_dst(struct rxe_flow *flow)
{
	struct dst_entry *dst = flow->dst;

	if (READ_ONCE(flow->rxe->gone)) {
		rxe_flow_reset_route(flow);
		return NULL;
	}
	if (dst && dst_check(dst, flow->dst_cookie))
		return dst;
	rxe_flow_reset_route(flow);
	dst = flow->ipv4 ? route4(flow) : route6(flow);
	if (IS_ERR(dst))
		return NULL;
	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	flow->neigh_seen = 0;
	flow->dst_cookie = flow->ipv4 ? 0 : route6_cookie(dst);
	cache_route(flow, dst);
	return dst;
}

bool rxe_flow_ask(struct rxe_flow *flow)
{
	/* Before the state: what changes behind this is asked for again. */
	int now = atomic_read_acquire(&rxe_neigh_changes);
	struct dst_entry *dst = flow_dst(flow);
	struct neighbour *neigh;
	bool valid;

	if (!dst)
		return true;
	neigh = dst_neigh_lookup(dst, flow->ipv4 ?
				 (const void *)&flow->daddr.s6_addr32[3] :
				 &flow->daddr);
	if (!neigh)
		return true;
	valid = READ_ONCE(neigh->nud_state) & NUD_VALID;
	neigh_release(neigh);
	if (valid) {
		flow->neigh_seen = now;
		flow->neigh_asked = false;
	}
	return valid;
}

static int neigh_changed(struct notifier_block *nb, unsigned long event,
			 void *data)
{
	if (event == NETEVENT_NEIGH_UPDATE)
		atomic_inc(&rxe_neigh_changes);
	return NOTIFY_DONE;
}

static struct notifier_block neigh_nb = { .notifier_call = neigh_changed };

int rxe_route_init(void)
{
	return register_netevent_notifier(&neigh_nb);
}

void rxe_route_exit(void)
{
	unregister_netevent_notifier(&neigh_nb);
}

int rxe_flow_oif(struct rxe_flow *flow)
{
	const struct dst_entry *dst = flow_dst(flow);

	return dst ? dst->dev->ifindex : 0;
}

/*
 * Nothing of it is kept: routes come and go, and who goes on sending asks each
 * time.  A group is on its interface, route or not.
 */
int rxe_flow_probe(const struct rxe_flow *flow)
{
	struct dst_entry *dst;
	int err;

	if (flow_is_multicast(flow))
		return 0;
	/* The link's namespace is there for who has not seen that it is gone. */
	rcu_read_lock();
	if (READ_ONCE(flow->rxe->gone)) {
		rcu_read_unlock();
		return -ENODEV;
	}
	dst = flow->ipv4 ? route4(flow) : route6(flow);
	rcu_read_unlock();
	if (IS_ERR(dst)) {
		err = PTR_ERR(dst);
	} else {
		err = dst->error;
		dst_release(dst);
	}
	switch (err) {
	case 0:
	case -ENETUNREACH:
		return err;
	case -ENOMEM:
	case -ENOBUFS:
		return -ENOMEM;
	default:
		/* A route that forbids it among them. */
		return -EHOSTUNREACH;
	}
}

static void make_ip4(const struct rxe_flow *flow, struct iphdr *ip)
{
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = flow->tclass;
	ip->frag_off = htons(IP_DF);
	ip->ttl = flow->hop_limit;
	ip->protocol = IPPROTO_UDP;
	ip->check = 0;
	ip->saddr = flow->saddr.s6_addr32[3];
	ip->daddr = flow->daddr.s6_addr32[3];
}

static int xmit4(struct rxe_flow *flow, struct sk_buff *skb,
		 struct udphdr *udp, u16 ip_id)
{
	struct iphdr *ip;

	udp->check = ~udp_v4_check(skb->len, flow->saddr.s6_addr32[3],
				   flow->daddr.s6_addr32[3], 0);
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	make_ip4(flow, ip);
	ip->id = htons(ip_id);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	return ip_local_out(flow->rxe->net, skb->sk, skb);
}

u32 rxe_icrc_begin(const struct rxe_flow *flow, u32 len, u16 ip_id)
{
	const struct udphdr udp = {
		.source = htons(flow->sport),
		.dest = htons(ROCE_V2_UDP_DPORT),
	};
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} ip = {};

	if (flow->ipv4) {
		make_ip4(flow, &ip.v4);
		return rxe_icrc_ip4(&ip.v4, &udp, len, ip_id);
	}
	ip.v6.version = 6;
	ip.v6.nexthdr = IPPROTO_UDP;
	ip.v6.saddr = flow->saddr;
	ip.v6.daddr = flow->daddr;
	return rxe_icrc_ip6(&ip.v6, &udp, len);
}

void rxe_flow_limits(struct rxe_flow *flow, u32 *max_bytes, u32 *max_segs)
{
	const struct dst_entry *dst = flow_dst(flow);
	u32 max = 0xffff;

	*max_segs = 1;
	if (dst && flow->rxe->trains) {
		const struct net_device *dev = dst->dev;
		u32 gso = READ_ONCE(dev->gso_max_size);

		if (gso >= RXE_MIN_GSO_SIZE) {
			/* Link header included, the limit is not reached. */
			gso -= dev->hard_header_len + VLAN_HLEN + 1;
			max = min(max, gso);
			*max_segs = max_t(u32, READ_ONCE(dev->gso_max_segs), 1);
		}
	}
	*max_bytes = max - rxe_flow_hdr_len(flow);
}

static void tell_too_big(const struct rxe_flow *flow)
{
	ibdev_warn_ratelimited(&flow->rxe->ib,
			       "the route to %pI6c has a smaller MTU than its QP: lower the path MTU\n",
			       &flow->daddr);
}

int rxe_flow_xmit(struct rxe_flow *flow, struct sk_buff *skb, u32 seg_len,
		  u32 segs, u16 ip_id)
{
	struct rxe_dev *rxe = flow->rxe;
	struct dst_entry *dst;
	struct udphdr *udp;
	int err;

	if (READ_ONCE(rxe->gone)) {
		kfree_skb(skb);
		return -ENODEV;
	}
	dst = flow_dst(flow);
	if (!dst) {
		kfree_skb(skb);
		return -EHOSTUNREACH;
	}

	if (segs > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		skb_shinfo(skb)->gso_size = seg_len;
		skb_shinfo(skb)->gso_segs = segs;
	}
	udp = skb_push(skb, sizeof(*udp));
	skb_reset_transport_header(skb);
	udp->source = htons(flow->sport);
	udp->dest = htons(ROCE_V2_UDP_DPORT);
	udp->len = htons(skb->len);
	/* The stack, the device or segmentation completes it. */
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb_dst_set(skb, dst_clone(dst));
	skb->dev = dst->dev;
	skb->priority = rt_tos2priority(flow->tclass);

	err = flow->ipv4 ? xmit4(flow, skb, udp, ip_id) :
			   xmit6(flow, skb, udp);
	err = err > 0 ? net_xmit_errno(err) : err;
	if (err == -EMSGSIZE)
		tell_too_big(flow);
	return err;
}
