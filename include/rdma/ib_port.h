/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What a port is and can do: questions whose answer never changes while its
 * device is registered.  Consumers include <rdma/ib_verbs.h>, which brings this
 * file.
 */
#ifndef SOFTROCE_RDMA_IB_PORT_H
#define SOFTROCE_RDMA_IB_PORT_H

#include <rdma/ib_verbs.h>

u32 rdma_port_core_cap_flags(const struct ib_device *device, u32 port_num);
size_t rdma_max_mad_size(const struct ib_device *device, u32 port_num);
enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device,
					      u32 port_num);

static inline u32 rdma_start_port(const struct ib_device *device)
{
	return device->is_switch ? 0 : 1;
}

static inline u32 rdma_end_port(const struct ib_device *device)
{
	return device->is_switch ? 0 : device->phys_port_cnt;
}

static inline bool rdma_is_port_valid(const struct ib_device *device,
				      unsigned int port)
{
	return port >= rdma_start_port(device) && port <= rdma_end_port(device);
}

#define rdma_for_each_port(device, iter)                                       \
	for ((iter) = rdma_start_port(device);                                 \
	     (iter) <= rdma_end_port(device); (iter)++)

/* Has the port one of these flags? */
static inline bool ib_port_has(const struct ib_device *device, u32 port_num,
			       u32 flags)
{
	return rdma_port_core_cap_flags(device, port_num) & flags;
}

/* ---- its protocol, who manages it, how it addresses a peer ---- */

static inline bool rdma_protocol_ib(const struct ib_device *device,
				    u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_IB);
}

static inline bool rdma_protocol_roce(const struct ib_device *device,
				      u32 port_num)
{
	return ib_port_has(device, port_num,
			   RDMA_CORE_CAP_PROT_ROCE |
			   RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}

static inline bool rdma_protocol_roce_eth_encap(const struct ib_device *device,
						u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_ROCE);
}

static inline bool rdma_protocol_roce_udp_encap(const struct ib_device *device,
						u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}

static inline bool rdma_protocol_iwarp(const struct ib_device *device,
				       u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_IWARP);
}

static inline bool rdma_protocol_raw_packet(const struct ib_device *device,
					    u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_RAW_PACKET);
}

static inline bool rdma_protocol_usnic(const struct ib_device *device,
				       u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_USNIC);
}

static inline bool rdma_ib_or_roce(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num,
			   RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_PROT_ROCE |
			   RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}

/* Who manages it: MADs on its queue pairs 0 and 1, the connection managers. */
static inline bool rdma_cap_ib_mad(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_IB_MAD);
}

static inline bool rdma_cap_opa_mad(const struct ib_device *device,
				    u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_OPA_MAD);
}

static inline bool rdma_cap_ib_smi(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_IB_SMI);
}

static inline bool rdma_cap_ib_cm(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_IB_CM);
}

static inline bool rdma_cap_iw_cm(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_IW_CM);
}

static inline bool rdma_cap_ib_sa(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_IB_SA);
}

/* The subnet administrator is who lets a port into a multicast group. */
static inline bool rdma_cap_ib_mcast(const struct ib_device *device,
				     u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_IB_SA);
}

/* How it addresses a peer. */
static inline bool rdma_cap_af_ib(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_AF_IB);
}

static inline bool rdma_cap_eth_ah(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_ETH_AH);
}

static inline bool rdma_cap_opa_ah(const struct ib_device *device, u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_OPA_AH);
}

static inline bool rdma_is_grh_required(const struct ib_device *device,
					u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_PORT_IB_GRH_REQUIRED);
}

/* Only iWARP has READs that invalidate: their answer is a WRITE to that key. */
static inline bool rdma_cap_read_inv(const struct ib_device *device,
				     u32 port_num)
{
	return ib_port_has(device, port_num, RDMA_CORE_CAP_PROT_IWARP);
}

static inline bool rdma_cap_ib_switch(const struct ib_device *device)
{
	return device->is_switch;
}

static inline bool rdma_core_cap_opa_port(struct ib_device *device,
					  u32 port_num)
{
	u32 missing = ~rdma_port_core_cap_flags(device, port_num);

	return !(missing & RDMA_CORE_PORT_INTEL_OPA);
}

/**
 * rdma_cap_roce_gid_table - does the driver of a RoCE port keep a GID table?
 * @device: the device
 * @port_num: the port
 *
 * The core keeps one for each RoCE port, whether the driver does or not.
 *
 * Return: true when the driver hears of each GID that comes and goes.
 */
static inline bool rdma_cap_roce_gid_table(const struct ib_device *device,
					   u32 port_num)
{
	if (!device->ops.add_gid || !device->ops.del_gid)
		return false;
	return rdma_protocol_roce(device, port_num);
}

/* No port here has the MTU codes of Omni-Path, beyond 4096. */
static inline int rdma_mtu_enum_to_int(struct ib_device *device, u32 port,
				       int mtu)
{
	return ib_mtu_enum_to_int(mtu);
}

/* The largest payload that the port can ever have. */
static inline int rdma_mtu_from_attr(struct ib_device *device, u32 port,
				     struct ib_port_attr *attr)
{
	return rdma_mtu_enum_to_int(device, port, attr->max_mtu);
}

/**
 * rdma_ah_find_type - which kind of address vector a port takes
 * @dev: the device
 * @port_num: the port
 */
static inline enum rdma_ah_attr_type rdma_ah_find_type(struct ib_device *dev,
						       u32 port_num)
{
	if (rdma_cap_opa_ah(dev, port_num))
		return RDMA_AH_ATTR_TYPE_OPA;
	if (rdma_protocol_ib(dev, port_num))
		return RDMA_AH_ATTR_TYPE_IB;
	return rdma_protocol_roce(dev, port_num) ? RDMA_AH_ATTR_TYPE_ROCE :
						   RDMA_AH_ATTR_TYPE_UNDEFINED;
}

#endif
