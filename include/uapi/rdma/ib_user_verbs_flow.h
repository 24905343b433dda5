/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The rest of ib_user_verbs.h: work queues and flow steering, which only
 * network adapters with a packet engine offer. Include ib_user_verbs.h instead.
 */
#ifndef UAPI_RDMA_IB_USER_VERBS_FLOW_H
#define UAPI_RDMA_IB_USER_VERBS_FLOW_H

#ifndef UAPI_RDMA_IB_USER_VERBS_H
#error "include <rdma/ib_user_verbs.h>"
#endif

#include <linux/types.h>

/* ---- Raw packets ---- */

enum ib_uverbs_raw_packet_caps {
	IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING = 1 << 0,
	IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS	= 1 << 1,
	IB_UVERBS_RAW_PACKET_CAP_IP_CSUM	= 1 << 2,
	IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP	= 1 << 3,
};

/* ---- Work queues and their indirection tables ---- */

struct ib_uverbs_ex_create_wq {
	__u32 comp_mask;
	__u32 wq_type;
	__aligned_u64 user_handle;
	__u32 pd_handle;
	__u32 cq_handle;
	__u32 max_wr;
	__u32 max_sge;
	__u32 create_flags;
	__u32 reserved;
};

struct ib_uverbs_ex_create_wq_resp {
	__u32 comp_mask;
	__u32 response_length;
	__u32 wq_handle;
	__u32 max_wr;
	__u32 max_sge;
	__u32 wqn;
};

struct ib_uverbs_ex_modify_wq {
	__u32 attr_mask;
	__u32 wq_handle;
	__u32 wq_state;
	__u32 curr_wq_state;
	__u32 flags;
	__u32 flags_mask;
};

struct ib_uverbs_ex_destroy_wq {
	__u32 comp_mask;
	__u32 wq_handle;
};

struct ib_uverbs_ex_destroy_wq_resp {
	__u32 comp_mask;
	__u32 response_length;
	__u32 events_reported;
	__u32 reserved;
};

#define IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE	0x0d

/* wq_handles has 1 << log_ind_tbl_size entries. */
struct ib_uverbs_ex_create_rwq_ind_table {
	__u32 comp_mask;
	__u32 log_ind_tbl_size;
	__u32 wq_handles[];
};

struct ib_uverbs_ex_create_rwq_ind_table_resp {
	__u32 comp_mask;
	__u32 response_length;
	__u32 ind_tbl_handle;
	__u32 ind_tbl_num;
};

struct ib_uverbs_ex_destroy_rwq_ind_table {
	__u32 comp_mask;
	__u32 ind_tbl_handle;
};

/* ---- Flow steering ---- */

struct ib_uverbs_flow_spec_hdr {
	__u32 type;
	__u16 size;
	__u16 reserved;
	__aligned_u64 flow_spec_data[IB_UVERBS_ELSEWHERE];
};

/* How every specification starts: by name or with the members directly */
#define IB_UVERBS_FLOW_SPEC_HEAD			\
	union {						\
		struct ib_uverbs_flow_spec_hdr hdr;	\
		struct {				\
			__u32 type;			\
			__u16 size;			\
			__u16 reserved;			\
		};					\
	}

struct ib_uverbs_flow_eth_filter {
	__u8 dst_mac[6];
	__u8 src_mac[6];
	__be16 ether_type;
	__be16 vlan_tag;
};

struct ib_uverbs_flow_spec_eth {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_eth_filter val;
	struct ib_uverbs_flow_eth_filter mask;
};

struct ib_uverbs_flow_ipv4_filter {
	__be32 src_ip;
	__be32 dst_ip;
	__u8 proto;
	__u8 tos;
	__u8 ttl;
	__u8 flags;
};

struct ib_uverbs_flow_spec_ipv4 {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_ipv4_filter val;
	struct ib_uverbs_flow_ipv4_filter mask;
};

struct ib_uverbs_flow_ipv6_filter {
	__u8 src_ip[16];
	__u8 dst_ip[16];
	__be32 flow_label;
	__u8 next_hdr;
	__u8 traffic_class;
	__u8 hop_limit;
	__u8 reserved;
};

struct ib_uverbs_flow_spec_ipv6 {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_ipv6_filter val;
	struct ib_uverbs_flow_ipv6_filter mask;
};

struct ib_uverbs_flow_tcp_udp_filter {
	__be16 dst_port;
	__be16 src_port;
};

struct ib_uverbs_flow_spec_tcp_udp {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_tcp_udp_filter val;
	struct ib_uverbs_flow_tcp_udp_filter mask;
};

struct ib_uverbs_flow_tunnel_filter {
	__be32 tunnel_id;
};

struct ib_uverbs_flow_spec_tunnel {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_tunnel_filter val;
	struct ib_uverbs_flow_tunnel_filter mask;
};

struct ib_uverbs_flow_spec_esp_filter {
	__u32 spi;
	__u32 seq;
};

struct ib_uverbs_flow_spec_esp {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_spec_esp_filter val;
	struct ib_uverbs_flow_spec_esp_filter mask;
};

/* c_ks_res0_ver: the first 16 bits of the GRE header */
struct ib_uverbs_flow_gre_filter {
	__be16 c_ks_res0_ver;
	__be16 protocol;
	__be32 key;
};

struct ib_uverbs_flow_spec_gre {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_gre_filter val;
	struct ib_uverbs_flow_gre_filter mask;
};

/* label: the whole 32-bit stack entry */
struct ib_uverbs_flow_mpls_filter {
	__be32 label;
};

struct ib_uverbs_flow_spec_mpls {
	IB_UVERBS_FLOW_SPEC_HEAD;
	struct ib_uverbs_flow_mpls_filter val;
	struct ib_uverbs_flow_mpls_filter mask;
};

struct ib_uverbs_flow_spec_action_tag {
	IB_UVERBS_FLOW_SPEC_HEAD;
	__u32 tag_id;
	__u32 reserved1;
};

struct ib_uverbs_flow_spec_action_drop {
	IB_UVERBS_FLOW_SPEC_HEAD;
};

struct ib_uverbs_flow_spec_action_handle {
	IB_UVERBS_FLOW_SPEC_HEAD;
	__u32 handle;
	__u32 reserved1;
};

struct ib_uverbs_flow_spec_action_count {
	IB_UVERBS_FLOW_SPEC_HEAD;
	__u32 handle;
	__u32 reserved1;
};

#undef IB_UVERBS_FLOW_SPEC_HEAD

struct ib_uverbs_flow_attr {
	__u32 type;
	__u16 size;
	__u16 priority;
	__u8 num_of_specs;
	__u8 reserved[2];
	__u8 port;
	__u32 flags;
	struct ib_uverbs_flow_spec_hdr flow_specs[];
};

struct ib_uverbs_create_flow {
	__u32 comp_mask;
	__u32 qp_handle;
	struct ib_uverbs_flow_attr flow_attr;
};

struct ib_uverbs_create_flow_resp {
	__u32 comp_mask;
	__u32 flow_handle;
};

struct ib_uverbs_destroy_flow {
	__u32 comp_mask;
	__u32 flow_handle;
};

#endif
