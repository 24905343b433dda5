// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Who sent a datagram: the completion and the network header in front of the
 * data, made into an address to answer to.
 */
#include <linux/export.h>
#include <linux/ip.h>
#include <net/inet_ecn.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "verbs.h"

#define REPLY_HOP_LIMIT 64

/*
 * Fill in the way back, but for its source, which is @here.  ECN marks are the
 * network's: they do not go back.
 */
static int read_header(const struct ib_wc *wc, const struct ib_grh *grh,
		       union ib_gid *here, struct rdma_ah_attr *ah_attr)
{
	const union rdma_network_hdr *hdr = (const void *)grh;
	struct ib_global_route *back = rdma_ah_retrieve_grh(ah_attr);
	u32 first = be32_to_cpu(grh->version_tclass_flow);

	switch (wc->network_hdr_type) {
	case RDMA_NETWORK_IPV4:
		ipv6_addr_set_v4mapped(hdr->roce4grh.saddr,
				       (struct in6_addr *)&back->dgid);
		ipv6_addr_set_v4mapped(hdr->roce4grh.daddr,
				       (struct in6_addr *)here);
		back->traffic_class = hdr->roce4grh.tos & ~INET_ECN_MASK;
		return 0;
	case RDMA_NETWORK_IPV6:
		back->dgid = grh->sgid;
		*here = grh->dgid;
		back->traffic_class = first >> 20 & 0xff & ~INET_ECN_MASK;
		back->flow_label = first & 0xfffff;
		return 0;
	default:
		return -EPROTOTYPE;
	}
}

/**
 * ib_init_ah_attr_from_wc - the address of who sent a datagram
 * @device: the device that received it
 * @port_num: the port it came in at
 * @wc: its completion
 * @grh: the first forty bytes of the receive, as the driver left them
 * @ah_attr: result; with a reference to the source address, which is the one
 *	that the datagram was sent to
 *
 * A completion does not tell the netdev.  A link-local address that VLANs share
 * with their parent is taken for that of the one whose GID index is lowest.
 *
 * Context: any.
 * Return: 0, and @ah_attr is for rdma_destroy_ah_attr(); -EOPNOTSUPP when the
 * port is not one of RoCE; -EPROTOTYPE when the completion does not tell which
 * header there is; -ENOENT when the address it went to has gone since, or is a
 * group's.
 */
int ib_init_ah_attr_from_wc(struct ib_device *device, u32 port_num,
			    const struct ib_wc *wc, const struct ib_grh *grh,
			    struct rdma_ah_attr *ah_attr)
{
	const int told = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	const struct ib_gid_attr *sgid;
	union ib_gid here;
	int ret;

	memset(ah_attr, 0, sizeof(*ah_attr));
	if (!rdma_protocol_roce_udp_encap(device, port_num))
		return -EOPNOTSUPP;
	if ((wc->wc_flags & told) != told)
		return -EPROTOTYPE;
	ret = read_header(wc, grh, &here, ah_attr);
	if (ret)
		return ret;
	sgid = rdma_find_gid_by_port(device, &here, IB_GID_TYPE_ROCE_UDP_ENCAP,
				     port_num, NULL);
	if (IS_ERR(sgid))
		return PTR_ERR(sgid);
	ah_attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	ah_attr->port_num = port_num;
	ah_attr->sl = wc->sl;
	ah_attr->ah_flags = IB_AH_GRH;
	ah_attr->grh.hop_limit = REPLY_HOP_LIMIT;
	ah_attr->grh.sgid_index = sgid->index;
	ah_attr->grh.sgid_attr = sgid;
	return 0;
}
EXPORT_SYMBOL(ib_init_ah_attr_from_wc);

/**
 * ib_create_ah_from_wc - make an address handle for the answer to a datagram
 * @pd: the PD it will be in
 * @wc: the datagram's completion
 * @grh: the first forty bytes of the receive
 * @port_num: the port it came in at
 *
 * Context: process, may sleep.
 * Return: the AH, for rdma_destroy_ah(), or an ERR_PTR: as
 * ib_init_ah_attr_from_wc() and rdma_create_ah().
 */
struct ib_ah *ib_create_ah_from_wc(struct ib_pd *pd, const struct ib_wc *wc,
				   const struct ib_grh *grh, u32 port_num)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int ret;

	ret = ib_init_ah_attr_from_wc(pd->device, port_num, wc, grh, &attr);
	if (ret)
		return ERR_PTR(ret);
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	return ah;
}
EXPORT_SYMBOL(ib_create_ah_from_wc);
