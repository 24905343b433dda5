/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Reading and filling an address vector, and what of it is seen on the wire.
 * Consumers include <rdma/ib_verbs.h>, which brings this file.
 *
 * Lifetime: a vector that grh.sgid_attr is set in holds a reference of that GID,
 * until rdma_destroy_ah_attr().  Setters that write to the global route do not
 * look whether there is one: they are for a vector that is being made.
 */
#ifndef SOFTROCE_RDMA_IB_AH_ATTR_H
#define SOFTROCE_RDMA_IB_AH_ATTR_H

#include <linux/bug.h>
#include <linux/math64.h>
#include <rdma/ib_defs.h>

void rdma_copy_ah_attr(struct rdma_ah_attr *dest,
		       const struct rdma_ah_attr *src);
void rdma_move_ah_attr(struct rdma_ah_attr *dest, struct rdma_ah_attr *src);
void rdma_replace_ah_attr(struct rdma_ah_attr *old,
			  const struct rdma_ah_attr *new);
void rdma_move_grh_sgid_attr(struct rdma_ah_attr *attr, union ib_gid *dgid,
			     u32 flow_label, u8 hop_limit, u8 traffic_class,
			     const struct ib_gid_attr *sgid_attr);
void rdma_destroy_ah_attr(struct rdma_ah_attr *ah_attr);

/* ---- on every kind of port ---- */

static inline u32 rdma_ah_get_port_num(const struct rdma_ah_attr *attr)
{
	return attr->port_num;
}

static inline void rdma_ah_set_port_num(struct rdma_ah_attr *attr, u32 port_num)
{
	attr->port_num = port_num;
}

static inline u8 rdma_ah_get_sl(const struct rdma_ah_attr *attr)
{
	return attr->sl;
}

static inline void rdma_ah_set_sl(struct rdma_ah_attr *attr, u8 sl)
{
	attr->sl = sl;
}

static inline u8 rdma_ah_get_static_rate(const struct rdma_ah_attr *attr)
{
	return attr->static_rate;
}

static inline void rdma_ah_set_static_rate(struct rdma_ah_attr *attr,
					   u8 static_rate)
{
	attr->static_rate = static_rate;
}

static inline u8 rdma_ah_get_ah_flags(const struct rdma_ah_attr *attr)
{
	return attr->ah_flags;
}

static inline void rdma_ah_set_ah_flags(struct rdma_ah_attr *attr,
					enum ib_ah_flags flag)
{
	attr->ah_flags = flag;
}

/* ---- the global route ---- */

static inline const struct ib_global_route *
rdma_ah_read_grh(const struct rdma_ah_attr *attr)
{
	return &attr->grh;
}

static inline struct ib_global_route *
rdma_ah_retrieve_grh(struct rdma_ah_attr *attr)
{
	return &attr->grh;
}

static inline void rdma_ah_set_dgid_raw(struct rdma_ah_attr *attr, void *dgid)
{
	attr->grh.dgid = *(union ib_gid *)dgid;
}

static inline void rdma_ah_set_subnet_prefix(struct rdma_ah_attr *attr,
					     __be64 prefix)
{
	attr->grh.dgid.global.subnet_prefix = prefix;
}

static inline void rdma_ah_set_interface_id(struct rdma_ah_attr *attr,
					    __be64 if_id)
{
	attr->grh.dgid.global.interface_id = if_id;
}

/**
 * rdma_ah_set_grh - give an address vector a global route
 * @attr: the vector; it holds no source GID afterwards, only the index of one
 * @dgid: where to, or NULL for what is in it already
 * @flow_label: 20 bits
 * @sgid_index: where the source stands in the port's GID table
 * @hop_limit: as in the IP header
 * @traffic_class: the same
 */
static inline void rdma_ah_set_grh(struct rdma_ah_attr *attr,
				   union ib_gid *dgid, u32 flow_label,
				   u8 sgid_index, u8 hop_limit,
				   u8 traffic_class)
{
	attr->grh = (struct ib_global_route){
		.dgid = dgid ? *dgid : attr->grh.dgid,
		.flow_label = flow_label,
		.sgid_index = sgid_index,
		.hop_limit = hop_limit,
		.traffic_class = traffic_class,
	};
	attr->ah_flags = IB_AH_GRH;
}

/* ---- of one kind only: others have none, and keep none ---- */

/* The MAC address to send to, or NULL. */
static inline u8 *rdma_ah_retrieve_dmac(struct rdma_ah_attr *attr)
{
	return attr->type == RDMA_AH_ATTR_TYPE_ROCE ? attr->roce.dmac : NULL;
}

static inline u32 rdma_ah_get_dlid(const struct rdma_ah_attr *attr)
{
	return attr->type == RDMA_AH_ATTR_TYPE_IB ? attr->ib.dlid : 0;
}

static inline void rdma_ah_set_dlid(struct rdma_ah_attr *attr, u32 dlid)
{
	if (attr->type == RDMA_AH_ATTR_TYPE_IB)
		attr->ib.dlid = dlid;
}

static inline u8 rdma_ah_get_path_bits(const struct rdma_ah_attr *attr)
{
	return attr->type == RDMA_AH_ATTR_TYPE_IB ? attr->ib.src_path_bits : 0;
}

static inline void rdma_ah_set_path_bits(struct rdma_ah_attr *attr,
					 u8 src_path_bits)
{
	if (attr->type == RDMA_AH_ATTR_TYPE_IB)
		attr->ib.src_path_bits = src_path_bits;
}

/* Omni-Path's: no vector here is of that kind. */
static inline bool rdma_ah_get_make_grd(const struct rdma_ah_attr *attr)
{
	return false;
}

static inline void rdma_ah_set_make_grd(struct rdma_ah_attr *attr,
					bool make_grd)
{
}

/* ---- local identifiers: 16 bits on InfiniBand ---- */

#define IB_LID_PERMISSIVE cpu_to_be16(0xFFFF)
#define IB_MULTICAST_LID_BASE cpu_to_be16(0xC000)

static inline u16 ib_lid_cpu16(u32 lid)
{
	WARN_ON_ONCE(lid >> 16);
	return lid;
}

static inline __be16 ib_lid_be16(u32 lid)
{
	return cpu_to_be16(ib_lid_cpu16(lid));
}

/* ---- the UDP source port of RoCEv2 (IBTA annex A17.9.1) ---- */

#define IB_ROCE_UDP_ENCAP_VALID_PORT_MIN 0xC000
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MAX 0xFFFF
#define IB_GRH_FLOWLABEL_MASK 0x000FFFFF

/**
 * rdma_flow_label_to_udp_sport - the port that stands for a flow label
 * @fl: 20 bits
 *
 * The upper six bits are folded onto the lowest, since fourteen are free.
 */
static inline u16 rdma_flow_label_to_udp_sport(u32 fl)
{
	u32 free = IB_ROCE_UDP_ENCAP_VALID_PORT_MAX -
		   IB_ROCE_UDP_ENCAP_VALID_PORT_MIN;
	u32 folded = fl ^ (fl & IB_GRH_FLOWLABEL_MASK) >> 14;

	return IB_ROCE_UDP_ENCAP_VALID_PORT_MIN + (folded & free);
}

/**
 * rdma_calc_flow_label - the flow label of a connection that was given none
 * @lqpn: one end's queue pair
 * @rqpn: the other's
 *
 * Return: the same, whichever end asks.
 */
static inline u32 rdma_calc_flow_label(u32 lqpn, u32 rqpn)
{
	u64 product = mul_u32_u32(lqpn, rqpn);

	product ^= product >> 20;
	return (product ^ product >> 40) & IB_GRH_FLOWLABEL_MASK;
}

/**
 * rdma_get_udp_sport - the port that a connection sends from
 * @fl: its flow label, or 0
 * @lqpn: one end's queue pair
 * @rqpn: the other's
 */
static inline u16 rdma_get_udp_sport(u32 fl, u32 lqpn, u32 rqpn)
{
	return rdma_flow_label_to_udp_sport(fl ?:
					    rdma_calc_flow_label(lqpn, rqpn));
}

#endif
