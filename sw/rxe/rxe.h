/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The soft-RoCE device and the small objects on it.
 *
 * Lifetime of a device: rxe_link_add() makes it for a netdev and registers it
 * with the core.  "rdma link del", the netdev's or the namespace's end, and
 * module exit unregister it; the core frees it (dealloc_driver) when the last
 * operation on it has ended.  Where the netdev or the namespace goes, @gone is set
 * first: nothing is transmitted any more, nothing received finds its QPs.  Neither
 * waits for the unregistration: the link lets go of them and goes on without.
 *
 * Every QP holds its device through the core: a device outlives what is on it.
 */
#ifndef SOFTROCE_RXE_H
#define SOFTROCE_RXE_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/uverbs_ioctl.h>
#include "rxe_counters.h"
#include "rxe_pause.h"

#ifdef CONFIG_HIGHMEM
#error "rdma_rxe addresses all memory directly: 64-bit kernels only"
#endif

/* What the rxe provider of libibverbs asks for (GET_CHARDEV). */
#define RXE_UVERBS_ABI_VERSION 2

enum rxe_limits {
	RXE_MAX_QP = 0x100000 - 0x10,
	RXE_MAX_QP_WR = 1 << 16,
	RXE_MAX_SGE = 32,
	RXE_MAX_INLINE = 512,
	RXE_MAX_CQ = 1 << 20,
	RXE_MAX_CQE = (1 << 20) - 1,
	RXE_MAX_PD = 1 << 20,
	RXE_MAX_MR = (1 << 19) - 1,
	RXE_MAX_FAST_REG = 512,	/* entries of a list */
	RXE_MAX_AH = 1 << 20,
	RXE_MAX_MW = (1 << 19) - 1,
	RXE_MAX_SRQ = 1 << 19,
	RXE_MAX_SRQ_WR = 1 << 16,
	RXE_MAX_MCAST_GRP = 1 << 13,
	RXE_MAX_MCAST_JOIN = 4 * RXE_MAX_MCAST_GRP,
	RXE_MAX_MCAST_QP_ATTACH = 56,
	RXE_MAX_UCONTEXT = 1 << 16,
	RXE_MAX_RD_ATOMIC = 128,
	RXE_MAX_GIDS = 1024,
	RXE_DEFAULT_GIDS = 128,
	RXE_PKEY_TABLE_LEN = 1,
	RXE_DEFAULT_PKEY = 0xffff,
	RXE_GSI_QPN = 1,
};

/* 2 GiB: IBTA vol. 1, 9.7.1 (message sizes). */
#define RXE_MAX_MSG_SZ 0x80000000u
/* 8 TiB: ib_umem_pin() takes fewer than 2^32 pages. */
#define RXE_MAX_MR_SIZE BIT_ULL(43)

struct rxe_qp_entry;

/**
 * struct rxe_dev - one soft-RoCE link
 * @ib: the core's device
 * @ndev: the netdev, with a reference; NULL from its unregistration on.  Read
 *	under RCU with READ_ONCE, or under RTNL
 * @net: where it was made; NULL once that has ended.  Not the netdev's: that can
 *	move away while the link ends.  Read under RCU after a look at @gone, or
 *	under rxe_net_mutex (rxe_net.c)
 * @gone: the netdev or the namespace goes (READ_ONCE)
 * @port_active: as last told to the consumers; under RTNL
 * @gsi: its queue pair 1, if it has one (rxe_qp.c)
 * @net_entry: on the list of its namespace (rxe_net.c), while @net is set
 * @event_handler: for groups to follow the addresses
 * @route_lock: guards @routes
 * @routes: struct rxe_flow that has a cached route
 * @mtu: largest payload of a packet in bytes, 256 to 4096, follows the netdev
 * @gid_tbl_len: how many addresses its GID table takes
 * @trains: bursts may leave as one segmentation-offload skb
 * @lanes: QPs that wait for room in queues of this machine
 * @counters: per CPU
 * @qp_counts: struct rxe_qp_counts by the number of the core's counter
 */
struct rxe_dev {
	struct ib_device ib;
	struct net_device *ndev;
	netdevice_tracker tracker;
	struct net *net;
	bool gone;
	bool port_active;
	struct rxe_qp_entry __rcu *gsi;
	struct list_head net_entry;
	struct ib_event_handler event_handler;
	spinlock_t route_lock; /* guards routes */
	struct hlist_head routes;
	u32 mtu;
	int gid_tbl_len;
	bool trains;
	struct rxe_lanes lanes;
	struct rxe_counters __percpu *counters;
	struct xarray qp_counts;
	u32 next_qp_counts;
	/* Objects of this link, each at most its RXE_MAX_*. */
	atomic_t num_ucontext;
	atomic_t num_pd;
	atomic_t num_cq;
	atomic_t num_mr;
	atomic_t num_ah;
	atomic_t num_mcast_grp;
	atomic_t num_mcast_join;
	atomic_t num_srq;
	atomic_t num_mw;
};

struct rxe_ucontext {
	struct ib_ucontext ibuc;
	/* Rings that wait for the program's mmap(), by page offset. */
	struct xarray pending;
	u32 next_pgoff;
};

struct rxe_pd {
	struct ib_pd ibpd;
};

static inline struct rxe_dev *to_rxe(struct ib_device *ib)
{
	return container_of(ib, struct rxe_dev, ib);
}

static inline struct rxe_ucontext *to_rxe_ucontext(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct rxe_ucontext, ibuc);
}

static inline struct rxe_pd *to_rxe_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct rxe_pd, ibpd);
}

/*
 * How many of @max there may be.  Anybody may make objects: the last sixteenth
 * is for those who mend what a program did that took all the others.
 */
static inline int rxe_object_limit(int max, bool privileged)
{
	return privileged ? max : max - max / 16;
}

/* rxe_alloc.c */
/* One more object of a kind; -ENOMEM beyond @max.  Undone by atomic_dec(). */
int rxe_count_object(atomic_t *count, int max);
#define RXE_GFP_SIZED (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
void *rxe_alloc_sized(size_t n, size_t size, gfp_t gfp);

/* rxe_verbs.c */
extern const struct ib_device_ops rxe_dev_ops;
void rxe_dev_init_attrs(struct rxe_dev *rxe);

/* rxe_sysfs.c */
extern const struct attribute_group rxe_sysfs_group;

/* rxe_link.c */
/* A link @name on @ndev, which the caller holds. */
int rxe_link_add(const char *name, struct net_device *ndev,
		 struct netlink_ext_ack *extack);
/*
 * Stop transmission and queue the unregistration; under RCU, or with the link
 * kept on its namespace's list.
 */
void rxe_link_end(struct rxe_dev *rxe);
/* Give the netdev back, once; its readers have RCU. */
void rxe_forget_netdev(struct rxe_dev *rxe);
int rxe_link_init(void);
void rxe_link_exit(void);

#endif
