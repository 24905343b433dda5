/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/* NETLINK_RDMA: clients, and the device interface that `rdma` talks to */
#ifndef UAPI_RDMA_RDMA_NETLINK_H
#define UAPI_RDMA_RDMA_NETLINK_H

#include <linux/types.h>

/* ---- Clients, groups and the message type made of client and operation ---- */

enum {
	RDMA_NL_IWCM		= 2,
	RDMA_NL_RSVD		= 3,
	RDMA_NL_LS		= 4,
	RDMA_NL_NLDEV		= 5,
	RDMA_NL_NUM_CLIENTS	= 6,
};

enum {
	RDMA_NL_GROUP_IWPM	= 2,
	RDMA_NL_GROUP_LS	= 3,
	RDMA_NL_GROUP_NOTIFY	= 4,
	RDMA_NL_NUM_GROUPS	= 5,
};

#define RDMA_NL_GET_CLIENT(type)	(((type) >> 10) & 0x3f)
#define RDMA_NL_GET_OP(type)		((type) & 0x3ff)
#define RDMA_NL_GET_TYPE(client, op)	(((client) << 10) + (op))

/* iWARP port mapper: operations only, softroce has no iWARP device. */
enum {
	RDMA_NL_IWPM_REG_PID		= 0,
	RDMA_NL_IWPM_ADD_MAPPING	= 1,
	RDMA_NL_IWPM_QUERY_MAPPING	= 2,
	RDMA_NL_IWPM_REMOVE_MAPPING	= 3,
	RDMA_NL_IWPM_REMOTE_INFO	= 4,
	RDMA_NL_IWPM_HANDLE_ERR		= 5,
	RDMA_NL_IWPM_MAPINFO		= 6,
	RDMA_NL_IWPM_MAPINFO_NUM	= 7,
	RDMA_NL_IWPM_HELLO		= 8,
	RDMA_NL_IWPM_NUM_OPS		= 9,
};

/* InfiniBand path resolution: operations only, RoCE needs none. */
enum {
	RDMA_NL_LS_OP_RESOLVE		= 0,
	RDMA_NL_LS_OP_SET_TIMEOUT	= 1,
	RDMA_NL_LS_OP_IP_RESOLVE	= 2,
	RDMA_NL_LS_NUM_OPS		= 3,
};

#define RDMA_NL_LS_F_ERR		0x0100

/* ---- Device interface: operations; D can dump ---- */

enum rdma_nldev_command {
	RDMA_NLDEV_CMD_UNSPEC		= 0,

	RDMA_NLDEV_CMD_GET		= 1,	/* D */
	RDMA_NLDEV_CMD_SET		= 2,
	RDMA_NLDEV_CMD_NEWLINK		= 3,
	RDMA_NLDEV_CMD_DELLINK		= 4,
	RDMA_NLDEV_CMD_PORT_GET		= 5,	/* D */
	RDMA_NLDEV_CMD_SYS_GET		= 6,
	RDMA_NLDEV_CMD_SYS_SET		= 7,

	RDMA_NLDEV_CMD_RES_GET		= 9,	/* D */
	RDMA_NLDEV_CMD_RES_QP_GET	= 10,	/* D */
	RDMA_NLDEV_CMD_RES_CM_ID_GET	= 11,	/* D */
	RDMA_NLDEV_CMD_RES_CQ_GET	= 12,	/* D */
	RDMA_NLDEV_CMD_RES_MR_GET	= 13,	/* D */
	RDMA_NLDEV_CMD_RES_PD_GET	= 14,	/* D */

	RDMA_NLDEV_CMD_GET_CHARDEV	= 15,

	RDMA_NLDEV_CMD_STAT_SET		= 16,
	RDMA_NLDEV_CMD_STAT_GET		= 17,	/* D */
	RDMA_NLDEV_CMD_STAT_DEL		= 18,

	RDMA_NLDEV_CMD_RES_QP_GET_RAW	= 19,
	RDMA_NLDEV_CMD_RES_CQ_GET_RAW	= 20,
	RDMA_NLDEV_CMD_RES_MR_GET_RAW	= 21,
	RDMA_NLDEV_CMD_RES_CTX_GET	= 22,	/* D */
	RDMA_NLDEV_CMD_RES_SRQ_GET	= 23,	/* D */

	RDMA_NLDEV_CMD_STAT_GET_STATUS	= 24,
	RDMA_NLDEV_CMD_RES_SRQ_GET_RAW	= 25,
	RDMA_NLDEV_CMD_NEWDEV		= 26,
	RDMA_NLDEV_CMD_DELDEV		= 27,
	RDMA_NLDEV_CMD_MONITOR		= 28,

	RDMA_NLDEV_NUM_OPS		= 29,
};

/* ---- Device interface: attributes, with their netlink types ---- */

enum rdma_nldev_attr {
	RDMA_NLDEV_ATTR_UNSPEC			= 0,
	RDMA_NLDEV_ATTR_PAD			= 0,

	/* device; a GET reply counts its ports in PORT_INDEX */
	RDMA_NLDEV_ATTR_DEV_INDEX		= 1,	/* u32 */
	RDMA_NLDEV_ATTR_DEV_NAME		= 2,	/* string */
	RDMA_NLDEV_ATTR_PORT_INDEX		= 3,	/* u32, from 1 */
	RDMA_NLDEV_ATTR_CAP_FLAGS		= 4,	/* u64 */
	RDMA_NLDEV_ATTR_FW_VERSION		= 5,	/* string */
	RDMA_NLDEV_ATTR_NODE_GUID		= 6,	/* u64, host order */
	RDMA_NLDEV_ATTR_SYS_IMAGE_GUID		= 7,	/* u64, host order */

	/* port */
	RDMA_NLDEV_ATTR_SUBNET_PREFIX		= 8,	/* u64, host order */
	RDMA_NLDEV_ATTR_LID			= 9,	/* u32 */
	RDMA_NLDEV_ATTR_SM_LID			= 10,	/* u32 */
	RDMA_NLDEV_ATTR_LMC			= 11,	/* u8 */
	RDMA_NLDEV_ATTR_PORT_STATE		= 12,	/* u8 */
	RDMA_NLDEV_ATTR_PORT_PHYS_STATE		= 13,	/* u8 */
	RDMA_NLDEV_ATTR_DEV_NODE_TYPE		= 14,	/* u8 */

	/* resources in sum: how many of which kind */
	RDMA_NLDEV_ATTR_RES_SUMMARY		= 15,	/* nest */
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY	= 16,	/* nest */
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME	= 17,	/* string */
	RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR	= 18,	/* u64 */

	/* queue pairs; PID for users' objects, KERN_NAME for the kernel's */
	RDMA_NLDEV_ATTR_RES_QP			= 19,	/* nest */
	RDMA_NLDEV_ATTR_RES_QP_ENTRY		= 20,	/* nest */
	RDMA_NLDEV_ATTR_RES_LQPN		= 21,	/* u32 */
	RDMA_NLDEV_ATTR_RES_RQPN		= 22,	/* u32, RC and UC */
	RDMA_NLDEV_ATTR_RES_RQ_PSN		= 23,	/* u32, RC and UC */
	RDMA_NLDEV_ATTR_RES_SQ_PSN		= 24,	/* u32 */
	RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE	= 25,	/* u8 */
	RDMA_NLDEV_ATTR_RES_TYPE		= 26,	/* u8 */
	RDMA_NLDEV_ATTR_RES_STATE		= 27,	/* u8 */
	RDMA_NLDEV_ATTR_RES_PID			= 28,	/* u32 */
	RDMA_NLDEV_ATTR_RES_KERN_NAME		= 29,	/* string */

	/* connection ids; addresses are __kernel_sockaddr_storage */
	RDMA_NLDEV_ATTR_RES_CM_ID		= 30,	/* nest */
	RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY		= 31,	/* nest */
	RDMA_NLDEV_ATTR_RES_PS			= 32,	/* u32 */
	RDMA_NLDEV_ATTR_RES_SRC_ADDR		= 33,
	RDMA_NLDEV_ATTR_RES_DST_ADDR		= 34,

	/* completion queues */
	RDMA_NLDEV_ATTR_RES_CQ			= 35,	/* nest */
	RDMA_NLDEV_ATTR_RES_CQ_ENTRY		= 36,	/* nest */
	RDMA_NLDEV_ATTR_RES_CQE			= 37,	/* u32 */
	RDMA_NLDEV_ATTR_RES_USECNT		= 38,	/* u64 */
	RDMA_NLDEV_ATTR_RES_POLL_CTX		= 39,	/* u8 */

	/* memory regions */
	RDMA_NLDEV_ATTR_RES_MR			= 40,	/* nest */
	RDMA_NLDEV_ATTR_RES_MR_ENTRY		= 41,	/* nest */
	RDMA_NLDEV_ATTR_RES_RKEY		= 42,	/* u32 */
	RDMA_NLDEV_ATTR_RES_LKEY		= 43,	/* u32 */
	RDMA_NLDEV_ATTR_RES_IOVA		= 44,	/* u64 */
	RDMA_NLDEV_ATTR_RES_MRLEN		= 45,	/* u64 */

	/* protection domains */
	RDMA_NLDEV_ATTR_RES_PD			= 46,	/* nest */
	RDMA_NLDEV_ATTR_RES_PD_ENTRY		= 47,	/* nest */
	RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY	= 48,	/* u32 */
	RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY	= 49,	/* u32 */

	/* netdev of a port */
	RDMA_NLDEV_ATTR_NDEV_INDEX		= 50,	/* u32 */
	RDMA_NLDEV_ATTR_NDEV_NAME		= 51,	/* string */

	/* details a driver adds */
	RDMA_NLDEV_ATTR_DRIVER			= 52,	/* nest */
	RDMA_NLDEV_ATTR_DRIVER_ENTRY		= 53,	/* nest */
	RDMA_NLDEV_ATTR_DRIVER_STRING		= 54,	/* string */
	RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE	= 55,	/* u8 */
	RDMA_NLDEV_ATTR_DRIVER_S32		= 56,	/* s32 */
	RDMA_NLDEV_ATTR_DRIVER_U32		= 57,	/* u32 */
	RDMA_NLDEV_ATTR_DRIVER_S64		= 58,	/* s64 */
	RDMA_NLDEV_ATTR_DRIVER_U64		= 59,	/* u64 */

	/* which object is meant; a QP goes by RES_LQPN */
	RDMA_NLDEV_ATTR_RES_PDN			= 60,	/* u32 */
	RDMA_NLDEV_ATTR_RES_CQN			= 61,	/* u32 */
	RDMA_NLDEV_ATTR_RES_MRN			= 62,	/* u32 */
	RDMA_NLDEV_ATTR_RES_CM_IDN		= 63,	/* u32 */
	RDMA_NLDEV_ATTR_RES_CTXN		= 64,	/* u32 */

	RDMA_NLDEV_ATTR_LINK_TYPE		= 65,	/* string, "rxe" */
	RDMA_NLDEV_SYS_ATTR_NETNS_MODE		= 66,	/* u8 */
	RDMA_NLDEV_ATTR_DEV_PROTOCOL		= 67,	/* string, "roce" */
	RDMA_NLDEV_NET_NS_FD			= 68,	/* u32 */

	/* character devices; CHARDEV is the dev_t */
	RDMA_NLDEV_ATTR_CHARDEV_TYPE		= 69,	/* string, "uverbs" */
	RDMA_NLDEV_ATTR_CHARDEV_NAME		= 70,	/* string */
	RDMA_NLDEV_ATTR_CHARDEV_ABI		= 71,	/* u64 */
	RDMA_NLDEV_ATTR_CHARDEV			= 72,	/* u64 */
	RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID	= 73,	/* u64 */

	/* statistics */
	RDMA_NLDEV_ATTR_STAT_MODE		= 74,	/* u32 */
	RDMA_NLDEV_ATTR_STAT_RES		= 75,	/* u32 */
	RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK	= 76,	/* u32 */
	RDMA_NLDEV_ATTR_STAT_COUNTER		= 77,	/* nest */
	RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY	= 78,	/* nest */
	RDMA_NLDEV_ATTR_STAT_COUNTER_ID		= 79,	/* u32 */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTERS		= 80,	/* nest */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY	= 81,	/* nest */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME = 82,	/* string */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE = 83, /* u64 */

	RDMA_NLDEV_ATTR_DEV_DIM			= 84,	/* u8 */
	RDMA_NLDEV_ATTR_RES_RAW			= 85,	/* binary */

	/* contexts and shared receive queues */
	RDMA_NLDEV_ATTR_RES_CTX			= 86,	/* nest */
	RDMA_NLDEV_ATTR_RES_CTX_ENTRY		= 87,	/* nest */
	RDMA_NLDEV_ATTR_RES_SRQ			= 88,	/* nest */
	RDMA_NLDEV_ATTR_RES_SRQ_ENTRY		= 89,	/* nest */
	RDMA_NLDEV_ATTR_RES_SRQN		= 90,	/* u32 */
	RDMA_NLDEV_ATTR_MIN_RANGE		= 91,	/* u32 */
	RDMA_NLDEV_ATTR_MAX_RANGE		= 92,	/* u32 */

	RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK	= 93,	/* u8 */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX	= 94,	/* u32 */
	RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC	= 95,	/* u8 */
	RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE = 96,	/* u8 */
	RDMA_NLDEV_ATTR_DRIVER_DETAILS		= 97,	/* u8 */
	RDMA_NLDEV_ATTR_RES_SUBTYPE		= 98,	/* string */

	/* sub-devices and monitoring */
	RDMA_NLDEV_ATTR_DEV_TYPE		= 99,	/* u8 */
	RDMA_NLDEV_ATTR_PARENT_NAME		= 100,	/* string */
	RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE	= 101,	/* u8 */
	RDMA_NLDEV_ATTR_EVENT_TYPE		= 102,	/* u8 */
	RDMA_NLDEV_SYS_ATTR_MONITOR_MODE	= 103,	/* u8 */

	RDMA_NLDEV_ATTR_MAX			= 104,
};

/* ---- Device interface: values ---- */

/* DEV_NODE_TYPE */
enum {
	RDMA_NODE_IB_CA		= 1,
	RDMA_NODE_IB_SWITCH	= 2,
	RDMA_NODE_IB_ROUTER	= 3,
	RDMA_NODE_RNIC		= 4,
	RDMA_NODE_USNIC		= 5,
	RDMA_NODE_USNIC_UDP	= 6,
	RDMA_NODE_UNSPECIFIED	= 7,
};

/* DRIVER_PRINT_TYPE */
enum rdma_nldev_print_type {
	RDMA_NLDEV_PRINT_TYPE_UNSPEC	= 0,
	RDMA_NLDEV_PRINT_TYPE_HEX	= 1,
};

/* STAT_MODE: how QPs come to their counters */
enum rdma_nl_counter_mode {
	RDMA_COUNTER_MODE_NONE		= 0,
	RDMA_COUNTER_MODE_AUTO		= 1,
	RDMA_COUNTER_MODE_MANUAL	= 2,
	RDMA_COUNTER_MODE_MAX		= 3,
};

/* STAT_AUTO_MODE_MASK */
enum rdma_nl_counter_mask {
	RDMA_COUNTER_MASK_QP_TYPE	= 1 << 0,
	RDMA_COUNTER_MASK_PID		= 1 << 1,
};

/* DEV_TYPE */
enum rdma_nl_dev_type {
	RDMA_DEVICE_TYPE_SMI		= 1,
};

/* NAME_ASSIGN_TYPE */
enum rdma_nl_name_assign_type {
	RDMA_NAME_ASSIGN_TYPE_UNKNOWN	= 0,
	RDMA_NAME_ASSIGN_TYPE_USER	= 1,
};

/* EVENT_TYPE */
enum rdma_nl_notify_event_type {
	RDMA_REGISTER_EVENT		= 0,
	RDMA_UNREGISTER_EVENT		= 1,
	RDMA_NETDEV_ATTACH_EVENT	= 2,
	RDMA_NETDEV_DETACH_EVENT	= 3,
};

#endif
