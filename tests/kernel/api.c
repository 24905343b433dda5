// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The small functions of the kernel API that modules written for Linux 6.12 call:
 * all are there under their names, with their arguments, and answer what is so on
 * a RoCEv2 port.
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/rw.h>
#include "rig.h"

#define CHECK(ok) ktest_report(ok, "API: %s", #ok)

static void what_a_port_is(struct ib_device *dev)
{
	struct ib_port_attr attr = { .max_mtu = IB_MTU_2048 };

	CHECK(rdma_protocol_roce(dev, 1) && rdma_ib_or_roce(dev, 1));
	CHECK(rdma_protocol_roce_udp_encap(dev, 1));
	CHECK(rdma_is_grh_required(dev, 1) && rdma_cap_eth_ah(dev, 1));
	CHECK(!rdma_protocol_ib(dev, 1) && !rdma_protocol_iwarp(dev, 1));
	CHECK(!rdma_protocol_raw_packet(dev, 1) &&
	      !rdma_protocol_usnic(dev, 1) &&
	      !rdma_protocol_roce_eth_encap(dev, 1));
	CHECK(!rdma_cap_ib_smi(dev, 1) && !rdma_cap_ib_sa(dev, 1) &&
	      !rdma_cap_ib_mcast(dev, 1) && !rdma_cap_iw_cm(dev, 1));
	CHECK(!rdma_cap_opa_mad(dev, 1) && !rdma_cap_opa_ah(dev, 1) &&
	      !rdma_core_cap_opa_port(dev, 1));
	/* Whoever speaks MADs has room for them, and a connection manager. */
	CHECK(rdma_cap_ib_mad(dev, 1) == !!rdma_max_mad_size(dev, 1));
	CHECK(rdma_cap_ib_cm(dev, 1) == rdma_cap_ib_mad(dev, 1) &&
	      rdma_cap_af_ib(dev, 1) == rdma_cap_ib_mad(dev, 1));
	CHECK(!rdma_cap_read_inv(dev, 1) && !rdma_cap_ib_switch(dev));
	CHECK(rdma_cap_roce_gid_table(dev, 1) ==
	      (dev->ops.add_gid && dev->ops.del_gid));
	CHECK(!rdma_protocol_roce(dev, 2) && !rdma_max_mad_size(dev, 2));
	CHECK(rdma_mtu_enum_to_int(dev, 1, IB_MTU_1024) == 1024 &&
	      rdma_mtu_from_attr(dev, 1, &attr) == 2048);
	CHECK(rdma_ah_find_type(dev, 1) == RDMA_AH_ATTR_TYPE_ROCE &&
	      rdma_ah_find_type(dev, 2) == RDMA_AH_ATTR_TYPE_UNDEFINED);
	CHECK(ibdev_to_node(dev) == NUMA_NO_NODE);
	CHECK(!ib_get_vector_affinity(dev, 0));
	CHECK(dev->name_assign_type == RDMA_NAME_ASSIGN_TYPE_USER);
	CHECK(!(dev->attrs.kernel_cap_flags &
		(IBK_INTEGRITY_HANDOVER | IBK_ON_DEMAND_PAGING)) &&
	      !dev->attrs.max_pi_fast_reg_page_list_len &&
	      !(dev->attrs.odp_caps.per_transport_caps.rc_odp_caps &
		(IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_WRITE)));
}

static void address_vectors(struct ib_device *dev)
{
	struct rdma_ah_attr attr = { .type = rdma_ah_find_type(dev, 1) };
	union ib_gid to = { .raw = { 0xfd, [15] = 9 } };
	struct rdma_ah_attr other = {};
	const struct ib_gid_attr *gid;

	rdma_ah_set_grh(&attr, &to, 0x12345, 3, 64, 0x20);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_sl(&attr, 5);
	rdma_ah_set_static_rate(&attr, IB_RATE_10_GBPS);
	CHECK(rdma_ah_get_ah_flags(&attr) == IB_AH_GRH &&
	      rdma_ah_get_port_num(&attr) == 1 && rdma_ah_get_sl(&attr) == 5 &&
	      rdma_ah_get_static_rate(&attr) == IB_RATE_10_GBPS);
	CHECK(rdma_ah_read_grh(&attr)->sgid_index == 3 &&
	      rdma_ah_read_grh(&attr)->flow_label == 0x12345 &&
	      rdma_ah_read_grh(&attr)->hop_limit == 64 &&
	      rdma_ah_read_grh(&attr)->traffic_class == 0x20);
	/* Without a destination the old one stays. */
	rdma_ah_set_grh(&attr, NULL, 0, 0, 1, 0);
	CHECK(!memcmp(&attr.grh.dgid, &to, sizeof(to)));
	rdma_ah_set_subnet_prefix(&attr, cpu_to_be64(0xfe80000000000000));
	rdma_ah_set_interface_id(&attr, cpu_to_be64(7));
	CHECK(attr.grh.dgid.raw[0] == 0xfe && attr.grh.dgid.raw[15] == 7);
	rdma_ah_set_dgid_raw(&attr, to.raw);
	CHECK(!memcmp(&attr.grh.dgid, &to, sizeof(to)));
	CHECK(rdma_ah_retrieve_dmac(&attr) == attr.roce.dmac);
	/* What only InfiniBand's have. */
	rdma_ah_set_dlid(&attr, 0x1234);
	rdma_ah_set_path_bits(&attr, 1);
	rdma_ah_set_make_grd(&attr, true);
	CHECK(!rdma_ah_get_dlid(&attr) && !rdma_ah_get_path_bits(&attr) &&
	      !rdma_ah_get_make_grd(&attr));
	other.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(&other, 0x1234);
	rdma_ah_set_path_bits(&other, 1);
	rdma_ah_set_ah_flags(&other, 0);
	CHECK(rdma_ah_get_dlid(&other) == 0x1234 &&
	      rdma_ah_get_path_bits(&other) == 1 &&
	      !rdma_ah_retrieve_dmac(&other));

	/* References go where the vector goes. */
	gid = rdma_get_gid_attr(dev, 1, 1);
	if (!ktest_report(!IS_ERR(gid), "API: a GID at index 1"))
		return;
	rdma_move_grh_sgid_attr(&attr, NULL, 1, 2, 3, gid);
	CHECK(attr.grh.sgid_attr == gid && attr.grh.sgid_index == 1);
	rdma_copy_ah_attr(&other, &attr);
	rdma_replace_ah_attr(&attr, &attr);
	CHECK(attr.grh.sgid_attr == gid);
	rdma_move_ah_attr(&attr, &other);
	CHECK(attr.grh.sgid_attr == gid && !other.grh.sgid_attr);
	rdma_destroy_ah_attr(&attr);
	CHECK(!attr.grh.sgid_attr);
}

static void addresses(struct ib_device *dev)
{
	struct in6_addr local = { .s6_addr = { 0xfe, 0x80, [8] = 2, 1, 2, 0xff,
					       0xfe, 3, 4, 5 } };
	struct net_device *ndev = ib_device_get_netdev(dev, 1);
	union ib_gid vlan = { .raw = { 0xfe, 0x80, [11] = 0, 0x64 } };
	static const u8 mac[ETH_ALEN] = { 0, 1, 2, 3, 4, 5 };
	static const u8 group[ETH_ALEN] = { 0x33, 0x33, 0xfe, 3, 4, 5 };
	u8 found[ETH_ALEN];

	CHECK(rdma_link_local_addr(&local));
	rdma_get_ll_mac(&local, found);
	CHECK(ether_addr_equal_unaligned(found, mac));
	rdma_get_mcast_mac(&local, found);
	CHECK(ether_addr_equal_unaligned(found, group));
	CHECK(rdma_get_vlan_id(&vlan) == 0x64);
	vlan.raw[11] = 0xff;
	CHECK(rdma_get_vlan_id(&vlan) == 0xffff);
	local.s6_addr[1] = 0;
	CHECK(!rdma_link_local_addr(&local));
	CHECK(rdma_vlan_dev_vlan_id(ndev) == 0xffff &&
	      !rdma_vlan_dev_real_dev(ndev));
	dev_put(ndev);
	CHECK(!iboe_get_mtu(351) && iboe_get_mtu(352) == IB_MTU_256 &&
	      iboe_get_mtu(1500) == IB_MTU_1024 &&
	      iboe_get_mtu(9000) == IB_MTU_4096);
	CHECK(rdma_flow_label_to_udp_sport(0xfffff) == 0xffc0 &&
	      rdma_get_udp_sport(0x12345, 1, 2) == 0xe341);
	CHECK(rdma_calc_flow_label(0xabcdef, 0x123456) == 0xac3e3 &&
	      rdma_calc_flow_label(0x123456, 0xabcdef) == 0xac3e3 &&
	      rdma_get_udp_sport(0, 0x11, 0x12) == 0xc132);
	CHECK(ib_lid_cpu16(0x1234) == 0x1234 &&
	      ib_lid_be16(0x1234) == cpu_to_be16(0x1234));
	CHECK(ib_network_to_gid_type(RDMA_NETWORK_IPV6) ==
		      IB_GID_TYPE_ROCE_UDP_ENCAP &&
	      ib_network_to_gid_type(RDMA_NETWORK_ROCE_V1) ==
		      IB_GID_TYPE_ROCE);
}

static void values(void)
{
	struct rdma_restrack_entry res = {};

	CHECK(ib_width_enum_to_int(IB_WIDTH_1X) == 1 &&
	      ib_width_enum_to_int(IB_WIDTH_2X) == 2 &&
	      ib_width_enum_to_int(IB_WIDTH_4X) == 4 &&
	      ib_width_enum_to_int(IB_WIDTH_8X) == 8 &&
	      ib_width_enum_to_int(IB_WIDTH_12X) == 12 &&
	      ib_width_enum_to_int(0) == -1 && ib_width_enum_to_int(3) == -1 &&
	      ib_width_enum_to_int(32) == -1);
	CHECK(!ib_srq_has_cq(IB_SRQT_BASIC) && ib_srq_has_cq(IB_SRQT_XRC));
	CHECK(!ib_access_writable(IB_ACCESS_REMOTE_READ) &&
	      ib_access_writable(IB_ACCESS_MW_BIND));
	CHECK(IB_RNR_TIMER_000_32 == 10 && IB_RNR_TIMER_491_52 == 31);
	CHECK(!ib_is_buffer_cleared(NULL, USHRT_MAX + 1));
	CHECK(rdma_restrack_is_tracked(&res));
	rdma_restrack_no_track(&res);
	CHECK(!rdma_restrack_is_tracked(&res));
}

void test_api(void)
{
	what_a_port_is(ktest_dev[0]);
	address_vectors(ktest_dev[0]);
	addresses(ktest_dev[0]);
	values();
}
