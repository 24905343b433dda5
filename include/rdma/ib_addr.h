/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Conversions between IP addresses and GIDs (IBTA annex A17.4.5.2). */
#ifndef SOFTROCE_RDMA_IB_ADDR_H
#define SOFTROCE_RDMA_IB_ADDR_H

#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>

union rdma_sockaddr {
	struct sockaddr_in _sockaddr_in;
	struct sockaddr_in6 _sockaddr_in6;
};

/**
 * rdma_gid_is_ipv4 - tell whether a RoCEv2 GID stands for an IPv4 address
 * @gid: the GID, of an interface or of a group
 */
static inline bool rdma_gid_is_ipv4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

/**
 * rdma_gid2ip - the IP address that a RoCEv2 GID stands for
 * @out: sockaddr_in for an IPv4-mapped GID, else sockaddr_in6, port 0
 * @gid: the GID
 */
static inline void rdma_gid2ip(struct sockaddr *out, const union ib_gid *gid)
{
	union rdma_sockaddr *to = (union rdma_sockaddr *)out;
	const struct in6_addr *in6 = (const struct in6_addr *)gid;

	if (rdma_gid_is_ipv4(gid)) {
		memset(&to->_sockaddr_in, 0, sizeof(to->_sockaddr_in));
		to->_sockaddr_in.sin_family = AF_INET;
		to->_sockaddr_in.sin_addr.s_addr = in6->s6_addr32[3];
	} else {
		memset(&to->_sockaddr_in6, 0, sizeof(to->_sockaddr_in6));
		to->_sockaddr_in6.sin6_family = AF_INET6;
		to->_sockaddr_in6.sin6_addr = *in6;
	}
}

/**
 * rdma_ip2gid - the RoCEv2 GID of an IP address
 * @addr: sockaddr_in or sockaddr_in6
 * @gid: result
 *
 * Return: 0, or -EINVAL for another address family.
 */
static inline int rdma_ip2gid(struct sockaddr *addr, union ib_gid *gid)
{
	switch (addr->sa_family) {
	case AF_INET:
		ipv6_addr_set_v4mapped(((struct sockaddr_in *)addr)
					       ->sin_addr.s_addr,
				       (struct in6_addr *)gid);
		return 0;
	case AF_INET6:
		*(struct in6_addr *)gid = ((struct sockaddr_in6 *)addr)
						  ->sin6_addr;
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * rdma_is_multicast_addr - tell whether an address is that of a group
 * @addr: IPv6 or IPv4-mapped
 */
static inline int rdma_is_multicast_addr(struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr) ?
		       ipv4_is_multicast(addr->s6_addr32[3]) :
		       ipv6_addr_is_multicast(addr);
}

/**
 * rdma_gid_attr_network_type - which header a GID's packets carry
 * @attr: a GID table entry
 */
static inline enum rdma_network_type
rdma_gid_attr_network_type(const struct ib_gid_attr *attr)
{
	if (attr->gid_type == IB_GID_TYPE_IB)
		return RDMA_NETWORK_IB;
	if (attr->gid_type == IB_GID_TYPE_ROCE)
		return RDMA_NETWORK_ROCE_V1;
	return rdma_gid_is_ipv4(&attr->gid) ? RDMA_NETWORK_IPV4 :
					      RDMA_NETWORK_IPV6;
}

/* ---- what lies below IP ---- */

/* 0xffff: the netdev is no VLAN. */
static inline u16 rdma_vlan_dev_vlan_id(const struct net_device *dev)
{
	return is_vlan_dev(dev) ? vlan_dev_vlan_id(dev) : 0xffff;
}

static inline struct net_device *
rdma_vlan_dev_real_dev(const struct net_device *dev)
{
	return is_vlan_dev(dev) ? vlan_dev_real_dev(dev) : NULL;
}

static inline int rdma_link_local_addr(struct in6_addr *addr)
{
	return !memcmp(addr, "\xfe\x80\0\0\0\0\0", 8);
}

/*
 * RoCEv1 has the MAC address in a link-local GID, around the VLAN's number or
 * 0xfffe; its multicast goes where IPv6's goes.
 */
static inline void rdma_get_ll_mac(struct in6_addr *addr, u8 *mac)
{
	const u8 *eui = addr->s6_addr + 8;

	mac[0] = eui[0] ^ 0x02;
	memcpy(&mac[1], &eui[1], 2);
	memcpy(&mac[3], &eui[5], 3);
}

static inline u16 rdma_get_vlan_id(union ib_gid *dgid)
{
	u16 middle = get_unaligned_be16(&dgid->raw[11]);

	return middle & ~VLAN_VID_MASK ? 0xffff : middle;
}

static inline void rdma_get_mcast_mac(struct in6_addr *addr, u8 *mac)
{
	ipv6_eth_mc_map(addr, mac);
}

/**
 * iboe_get_mtu - the largest payload of a packet on an Ethernet
 * @mtu: the netdev's, of which up to 96 bytes are headers
 *
 * Return: its code, or 0 when not even the smallest fits.
 */
static inline enum ib_mtu iboe_get_mtu(int mtu)
{
	/* GRH 40, UDP 8, BTH 12, XRC 4, the longest extended header 28, ICRC 4. */
	int room = mtu - (40 + 8 + 12 + 4 + 28 + 4);

	return room < 256 ? 0 : ib_mtu_int_to_enum(room);
}

#endif
