/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Conversions between IP addresses and GIDs (IBTA annex A17.4.5.2). */
#ifndef SOFTROCE_RDMA_IB_ADDR_H
#define SOFTROCE_RDMA_IB_ADDR_H

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

#endif
