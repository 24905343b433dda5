// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The short way in: packets are taken at the end of netfilter's LOCAL_IN.
 *
 * A tunnel's socket is given the packets of a train one by one, each of them
 * cut out and summed.  The hook takes a train whole, after every rule of the
 * namespace has seen it, and spares single packets the way through UDP.  It
 * takes only what the socket would take as it stands; all else goes on to the
 * socket, which knows what to do with it.  What is taken is seen by no raw
 * socket, and UDP does not count it.
 *
 * Lifetime: as the sockets, which rxe_net.c opens for the first link of a
 * namespace and closes after the last.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/xfrm.h>
#include "rxe_hook.h"
#include "rxe_net.h"

#if IS_ENABLED(CONFIG_NETFILTER)

/* A new connection becomes known after us, on the way to the socket. */
static bool hook_is_tracked(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	enum ip_conntrack_info ctinfo;
	const struct nf_conn *ct = nf_ct_get(skb, &ctinfo);

	return !ct || nf_ct_is_confirmed(ct);
#else
	return true;
#endif
}

/*
 * Whether the UDP datagram at @off is for our port, whole and right.  The socket
 * is found in the namespace that the route leads to, which for an ipvlan (L3S) is
 * not that of the hook.  Packets that GRO has put into a list have headers each.
 */
static bool hook_fits(const struct net *net, const struct sk_buff *skb, u32 off)
{
	const struct udphdr *udp;
	struct udphdr buf;

	udp = skb_header_pointer(skb, off, sizeof(buf), &buf);
	if (!udp || udp->dest != htons(ROCE_V2_UDP_DPORT) || skb->sk)
		return false;
	if (!net_eq(dev_net(skb_dst(skb)->dev), net))
		return false;
	if (skb_is_gso(skb) &&
	    skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST)
		return false;
	if (udp->check && !skb_csum_unnecessary(skb))
		return false;
	return hook_is_tracked(skb);
}

/* Rules may be asked again in process context, when a program held a packet. */
static unsigned int hook_take(struct net *net, struct sk_buff *skb, u32 off)
{
	__skb_pull(skb, off);
	skb_reset_transport_header(skb);
	local_bh_disable();
	rxe_rcv(net, skb);
	local_bh_enable();
	return NF_STOLEN;
}

/* The socket alone knows about multicast, options and the domains of VRFs. */
static unsigned int hook_in4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->protocol != IPPROTO_UDP || ip->ihl != 5 ||
	    ipv4_is_multicast(ip->daddr) || ipv4_is_lbcast(ip->daddr) ||
	    !hook_fits(state->net, skb, sizeof(*ip)) || inet_sdif(skb) ||
	    !xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb))
		return NF_ACCEPT;
	return hook_take(state->net, skb, sizeof(*ip));
}

static unsigned int hook_in6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);

	/* A header before UDP's is the socket's business as well. */
	if (ip->nexthdr != IPPROTO_UDP || ipv6_addr_is_multicast(&ip->daddr) ||
	    !hook_fits(state->net, skb, sizeof(*ip)) || inet6_sdif(skb) ||
	    !xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb))
		return NF_ACCEPT;
	return hook_take(state->net, skb, sizeof(*ip));
}

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook = hook_in4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = INT_MAX,
	},
	{
		.hook = hook_in6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = INT_MAX,
	},
};

int rxe_hook_add(struct net *net)
{
	return nf_register_net_hooks(net, hook_ops, ARRAY_SIZE(hook_ops));
}

void rxe_hook_del(struct net *net)
{
	nf_unregister_net_hooks(net, hook_ops, ARRAY_SIZE(hook_ops));
}

#else

int rxe_hook_add(struct net *net)
{
	return 0;
}

void rxe_hook_del(struct net *net)
{
}

#endif
