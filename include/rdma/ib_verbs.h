/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The kernel verbs API: devices, the objects on them and what can be done with
 * these.  Names, signatures and semantics are those of Linux 6.12; declared is
 * what is implemented.
 *
 * Lifetime of the objects:  a device outlives everything made on it; a PD
 * outlives the MRs, AHs and QPs that were made in it, a CQ the QPs that report
 * to it.  The core counts those uses (@usecnt) and refuses, with -EBUSY, to
 * destroy what is in use.  The core allocates each object but MRs with the driver's
 * structure around it (INIT_RDMA_OBJ_SIZE) and frees it after the driver's
 * destroy callback returned 0.
 */
#ifndef SOFTROCE_RDMA_IB_VERBS_H
#define SOFTROCE_RDMA_IB_VERBS_H

#include <linux/cgroup_rdma.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/ib_ah_attr.h>
#include <rdma/ib_defs.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/restrack.h>
#include <rdma/signature.h>

struct ib_client_nl_info;
struct ib_device_core;
struct ib_event;
struct ib_umem;
struct ib_uverbs_file;
struct ib_uobject;
struct ib_port_counters;
struct rdma_counter;
struct rdma_hw_stats;
struct uapi_definition;
struct uverbs_attr_bundle;

#define ibdev_printk_one(fn, ibdev, fmt, ...)                                  \
	fn(&(ibdev)->dev, fmt, ##__VA_ARGS__)
#define ibdev_err(ibdev, fmt, ...)                                             \
	ibdev_printk_one(dev_err, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_warn(ibdev, fmt, ...)                                            \
	ibdev_printk_one(dev_warn, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_info(ibdev, fmt, ...)                                            \
	ibdev_printk_one(dev_info, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_dbg(ibdev, fmt, ...)                                             \
	ibdev_printk_one(dev_dbg, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_dbg_ratelimited(ibdev, fmt, ...)                                  \
	ibdev_printk_one(dev_dbg_ratelimited, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_warn_ratelimited(ibdev, fmt, ...)                                \
	ibdev_printk_one(dev_warn_ratelimited, ibdev, fmt, ##__VA_ARGS__)

/**
 * struct ib_udata - the driver's part of a user command
 * @inbuf: user memory that the driver may read, once
 * @outbuf: user memory that the driver may write
 * @inlen: bytes at @inbuf
 * @outlen: bytes at @outbuf
 * @absent: the core's: user memory that a copy found not in place, or NULL
 * @absent_len: bytes at @absent
 * @absent_write: it was to be written
 */
struct ib_udata {
	const void __user *inbuf;
	void __user *outbuf;
	size_t inlen;
	size_t outlen;
	const void __user *absent;
	size_t absent_len;
	bool absent_write;
};

/* What one charge to the rdma cgroup is booked on. */
struct ib_rdmacg_object {
#ifdef CONFIG_CGROUP_RDMA
	struct rdma_cgroup *cg;
#endif
};

/* A RoCE port's GID table entry.  Reference: rdma_get_gid_attr(). */
struct ib_gid_attr {
	struct net_device __rcu *ndev;
	struct ib_device *device;
	union ib_gid gid;
	enum ib_gid_type gid_type;
	u16 index;
	u32 port_num;
};

/**
 * struct ib_ucontext - a user program's opening of a device
 *
 * Lifetime: made by the uverbs GET_CONTEXT command, owned by the open file.
 * Dies when the file closes or the device goes, after every object in it.
 */
struct ib_ucontext {
	struct ib_device *device;
	struct ib_uverbs_file *ufile;
	struct ib_rdmacg_object cg_obj;
	struct rdma_restrack_entry res;
};

struct ib_pd {
	u32 local_dma_lkey;
	u32 flags;
	struct ib_device *device;
	struct ib_uobject *uobject;
	atomic_t usecnt;
	u32 unsafe_global_rkey;
	struct ib_mr *__internal_mr;
	struct rdma_restrack_entry res;
};

struct ib_ah {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_uobject *uobject;
	const struct ib_gid_attr *sgid_attr;
	enum rdma_ah_attr_type type;
};

typedef void (*ib_comp_handler)(struct ib_cq *cq, void *cq_context);

enum ib_poll_context {
	IB_POLL_SOFTIRQ,
	IB_POLL_WORKQUEUE,
	IB_POLL_UNBOUND_WORKQUEUE,
	IB_POLL_LAST_POOL_TYPE = IB_POLL_UNBOUND_WORKQUEUE,
	IB_POLL_DIRECT,
};

struct ib_cq {
	struct ib_device *device;
	struct ib_ucq_object *uobject;
	ib_comp_handler comp_handler;
	void (*event_handler)(struct ib_event *event, void *cq_context);
	void *cq_context;
	int cqe;
	unsigned int cqe_used;
	atomic_t usecnt;
	unsigned int comp_vector;
	/* Of CQs from ib_alloc_cq(), the core's own: core/cq_poll.c. */
	enum ib_poll_context poll_ctx;
	spinlock_t poll_lock; /* of poll_stopped: nobody polls any more */
	bool poll_stopped;
	/* Rounds of polling that have ended. */
	unsigned int poll_rounds;
	union {
		struct tasklet_struct tasklet;
		struct work_struct work;
	};
	struct workqueue_struct *comp_wq;
	/* In the device's pool (@shared), @cqe_used entries are given out. */
	struct list_head pool_entry;
	bool shared;
	struct rdma_restrack_entry res;
};

struct ib_srq {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_usrq_object *uobject;
	void (*event_handler)(struct ib_event *event, void *srq_context);
	void *srq_context;
	enum ib_srq_type srq_type;
	atomic_t usecnt;
	struct rdma_restrack_entry res;
};

struct ib_srq_init_attr {
	void (*event_handler)(struct ib_event *event, void *srq_context);
	void *srq_context;
	struct ib_srq_attr attr;
	enum ib_srq_type srq_type;
};

struct ib_mr {
	struct ib_device *device;
	struct ib_pd *pd;
	u32 lkey;
	u32 rkey;
	u64 iova;
	u64 length;
	unsigned int page_size;
	enum ib_mr_type type;
	/* Its consumer's: a registration is in force. */
	bool need_inval;
	/* No device has signatures: <rdma/signature.h>. */
	struct ib_sig_attrs *sig_attrs;
	struct ib_uobject *uobject;
	/* Ours, the core's: what reg_umem_mr was asked for and has. */
	int access;
	struct ib_umem *umem;
	/* In a pool of <rdma/mr_pool.h>. */
	struct list_head qp_entry;
	struct rdma_restrack_entry res;
};

struct ib_mw {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_uobject *uobject;
	u32 rkey;
	enum ib_mw_type type;
};

struct ib_qp_init_attr {
	void (*event_handler)(struct ib_event *event, void *qp_context);
	void *qp_context;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	struct ib_qp_cap cap;
	enum ib_sig_type sq_sig_type;
	enum ib_qp_type qp_type;
	u32 create_flags;
	u32 port_num;
	struct ib_rwq_ind_table *rwq_ind_tbl;
	u32 source_qpn;
};

struct ib_qp {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_srq *srq;
	struct ib_qp *real_qp;
	struct ib_uqp_object *uobject;
	void (*event_handler)(struct ib_event *event, void *qp_context);
	/* What modify_qp set: owned by the core, for its reference counts. */
	const struct ib_gid_attr *av_sgid_attr;
	void *qp_context;
	atomic_t usecnt;
	/* Of a kernel consumer's QP on an SRQ, for ib_drain_qp(). */
	void (*registered_event_handler)(struct ib_event *event,
					 void *qp_context);
	struct completion srq_completion;
	/* Pools of <rdma/mr_pool.h>, with @mr_lock; so many are taken. */
	spinlock_t mr_lock;
	int mrs_used;
	struct list_head rdma_mrs;
	struct list_head sig_mrs;
	u32 qp_num;
	u32 max_write_sge;
	u32 max_read_sge;
	enum ib_qp_type qp_type;
	u32 port;
	/* Serialises ib_modify_qp() and what depends on the state. */
	struct mutex state_lock;
	enum ib_qp_state state;
	/* Its own counter or NULL, under the device's counter_lock. */
	struct rdma_counter *counter;
	struct list_head counter_entry;
	struct rdma_restrack_entry res;
};

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_cq *cq;
		struct ib_qp *qp;
		struct ib_srq *srq;
		u32 port_num;
	} element;
	enum ib_event_type event;
};

/**
 * struct ib_event_handler - a kernel consumer of port and device events
 *
 * Filled by INIT_IB_EVENT_HANDLER().  The handler runs in process context and
 * may sleep; after ib_unregister_event_handler() it does not run any more.
 */
struct ib_event_handler {
	struct ib_device *device;
	void (*handler)(struct ib_event_handler *handler,
			struct ib_event *event);
	struct list_head list;
};

#define INIT_IB_EVENT_HANDLER(_ptr, _device, _handler)                         \
	do {                                                                   \
		(_ptr)->device = _device;                                      \
		(_ptr)->handler = _handler;                                    \
		INIT_LIST_HEAD(&(_ptr)->list);                                 \
	} while (0)

/* Size of a core object with the driver's structure around it. */
#define DECLARE_RDMA_OBJ_SIZE(ib_struct) size_t size_##ib_struct

#define INIT_RDMA_OBJ_SIZE(ib_struct, drv_struct, member)                      \
	.size_##ib_struct =                                                    \
		(sizeof(struct drv_struct) +                                   \
		 BUILD_BUG_ON_ZERO(offsetof(struct drv_struct, member)) +      \
		 BUILD_BUG_ON_ZERO(!__same_type(((struct drv_struct *)NULL)    \
							->member,              \
						struct ib_struct)))

/**
 * struct ib_device_ops - what a driver does for the core
 *
 * A member that is NULL is not supported: the core answers -EOPNOTSUPP.
 * @post_send, @post_recv, @post_srq_recv, @poll_cq, @req_notify_cq, @map_mr_sg
 * and @get_link_layer are called from any context, interrupts off included, and
 * so are @create_ah and @destroy_ah unless their flags allow sleeping; all others
 * may sleep.  @udata is NULL for kernel consumers, but that of @query_device,
 * which is empty.
 */
struct ib_device_ops {
	struct module *owner;
	enum rdma_driver_id driver_id;
	u32 uverbs_abi_ver;
	unsigned int uverbs_no_driver_id_binding:1;

	/*
	 * The driver's own files of the device in sysfs.  They appear in the
	 * tree of each namespace; rdma_device_to_ibdev() leads to the device.
	 */
	const struct attribute_group *device_group;

	int (*post_send)(struct ib_qp *qp, const struct ib_send_wr *send_wr,
			 const struct ib_send_wr **bad_send_wr);
	int (*post_recv)(struct ib_qp *qp, const struct ib_recv_wr *recv_wr,
			 const struct ib_recv_wr **bad_recv_wr);
	void (*drain_rq)(struct ib_qp *qp);
	void (*drain_sq)(struct ib_qp *qp);
	int (*poll_cq)(struct ib_cq *cq, int num_entries, struct ib_wc *wc);
	int (*req_notify_cq)(struct ib_cq *cq, enum ib_cq_notify_flags flags);

	int (*query_device)(struct ib_device *device,
			    struct ib_device_attr *device_attr,
			    struct ib_udata *udata);
	int (*modify_device)(struct ib_device *device, int device_modify_mask,
			     struct ib_device_modify *device_modify);
	void (*get_dev_fw_str)(struct ib_device *device, char *str);
	int (*query_port)(struct ib_device *device, u32 port_num,
			  struct ib_port_attr *port_attr);
	int (*modify_port)(struct ib_device *device, u32 port_num,
			   int port_modify_mask,
			   struct ib_port_modify *port_modify);
	int (*get_port_immutable)(struct ib_device *device, u32 port_num,
				  struct ib_port_immutable *immutable);
	enum rdma_link_layer (*get_link_layer)(struct ib_device *device,
					       u32 port_num);
	struct net_device *(*get_netdev)(struct ib_device *device,
					 u32 port_num);
	const struct cpumask *(*get_vector_affinity)(struct ib_device *ibdev,
						     int comp_vector);
	int (*add_gid)(const struct ib_gid_attr *attr, void **context);
	int (*del_gid)(const struct ib_gid_attr *attr, void **context);
	int (*query_pkey)(struct ib_device *device, u32 port_num, u16 index,
			  u16 *pkey);

	int (*alloc_ucontext)(struct ib_ucontext *context,
			      struct ib_udata *udata);
	void (*dealloc_ucontext)(struct ib_ucontext *context);
	int (*mmap)(struct ib_ucontext *context, struct vm_area_struct *vma);

	int (*alloc_pd)(struct ib_pd *pd, struct ib_udata *udata);
	int (*dealloc_pd)(struct ib_pd *pd, struct ib_udata *udata);
	int (*create_ah)(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
			 struct ib_udata *udata);
	int (*create_user_ah)(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
			      struct ib_udata *udata);
	int (*modify_ah)(struct ib_ah *ah, struct rdma_ah_attr *ah_attr);
	int (*query_ah)(struct ib_ah *ah, struct rdma_ah_attr *ah_attr);
	int (*destroy_ah)(struct ib_ah *ah, u32 flags);

	int (*alloc_mw)(struct ib_mw *mw, struct ib_udata *udata);
	int (*dealloc_mw)(struct ib_mw *mw);

	int (*create_srq)(struct ib_srq *srq,
			  struct ib_srq_init_attr *srq_init_attr,
			  struct ib_udata *udata);
	int (*modify_srq)(struct ib_srq *srq, struct ib_srq_attr *srq_attr,
			  enum ib_srq_attr_mask srq_attr_mask,
			  struct ib_udata *udata);
	int (*query_srq)(struct ib_srq *srq, struct ib_srq_attr *srq_attr);
	int (*destroy_srq)(struct ib_srq *srq, struct ib_udata *udata);
	int (*post_srq_recv)(struct ib_srq *srq,
			     const struct ib_recv_wr *recv_wr,
			     const struct ib_recv_wr **bad_recv_wr);

	int (*attach_mcast)(struct ib_qp *qp, union ib_gid *gid, u16 lid);
	int (*detach_mcast)(struct ib_qp *qp, union ib_gid *gid, u16 lid);

	int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *qp_init_attr,
			 struct ib_udata *udata);
	int (*modify_qp)(struct ib_qp *qp, struct ib_qp_attr *qp_attr,
			 int qp_attr_mask, struct ib_udata *udata);
	int (*query_qp)(struct ib_qp *qp, struct ib_qp_attr *qp_attr,
			int qp_attr_mask, struct ib_qp_init_attr *qp_init_attr);
	int (*destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);

	int (*create_cq)(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			 struct uverbs_attr_bundle *attrs);
	int (*destroy_cq)(struct ib_cq *cq, struct ib_udata *udata);
	int (*resize_cq)(struct ib_cq *cq, int cqe, struct ib_udata *udata);

	struct ib_mr *(*get_dma_mr)(struct ib_pd *pd, int mr_access_flags);
	struct ib_mr *(*reg_user_mr)(struct ib_pd *pd, u64 start, u64 length,
				     u64 virt_addr, int mr_access_flags,
				     struct ib_udata *udata);
	/* In place; NULL, or an ERR_PTR and the region is as before. */
	struct ib_mr *(*rereg_user_mr)(struct ib_mr *mr, int flags, u64 start,
				       u64 length, u64 virt_addr,
				       int mr_access_flags, struct ib_pd *pd,
				       struct ib_udata *udata);
	/*
	 * Ours, in the place of these two, for devices that move data with the
	 * CPU.  @umem is pinned already; it stays the core's, which releases it
	 * when the region uses it no more.  A region that is registered again
	 * keeps the memory it has where @umem is NULL.
	 */
	struct ib_mr *(*reg_umem_mr)(struct ib_pd *pd, struct ib_umem *umem,
				     u64 virt_addr, int mr_access_flags);
	int (*rereg_umem_mr)(struct ib_mr *mr, struct ib_umem *umem,
			     u64 virt_addr, int mr_access_flags,
			     struct ib_pd *pd);
	struct ib_mr *(*alloc_mr)(struct ib_pd *pd, enum ib_mr_type mr_type,
				  u32 max_num_sg);
	int (*map_mr_sg)(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
			 unsigned int *sg_offset);
	int (*dereg_mr)(struct ib_mr *mr, struct ib_udata *udata);

	struct rdma_hw_stats *(*alloc_hw_device_stats)(struct ib_device *dev);
	struct rdma_hw_stats *(*alloc_hw_port_stats)(struct ib_device *device,
						     u32 port_num);
	int (*get_hw_stats)(struct ib_device *device,
			    struct rdma_hw_stats *stats, u32 port, int index);
	/* Ours, for sysfs counters: adds to zeros what the port counted. */
	int (*query_port_counters)(struct ib_device *device, u32 port,
				   struct ib_port_counters *counters);
	/*
	 * Counters of queue pairs, called one at a time for a device.  Whatever
	 * a queue pair does counts for the port as well, bound or not.
	 *
	 * counter_bind_qp: count @qp for @counter, which gets its id with the
	 *	first one
	 * counter_unbind_qp: no more; it holds its number until
	 * counter_dealloc: nobody is bound to it nor reads it any more
	 * counter_alloc_stats: room for its values, with names that stay
	 * counter_update_stats: bring them up to date
	 */
	int (*counter_bind_qp)(struct rdma_counter *counter, struct ib_qp *qp);
	int (*counter_unbind_qp)(struct ib_qp *qp);
	int (*counter_dealloc)(struct rdma_counter *counter);
	struct rdma_hw_stats *(*counter_alloc_stats)(struct rdma_counter *counter);
	int (*counter_update_stats)(struct rdma_counter *counter);

	int (*fill_res_mr_entry)(struct sk_buff *msg, struct ib_mr *ibmr);
	int (*fill_res_cq_entry)(struct sk_buff *msg, struct ib_cq *ibcq);
	int (*fill_res_qp_entry)(struct sk_buff *msg, struct ib_qp *ibqp);

	/* The device is registered and about to be seen: last chance to fail. */
	int (*enable_driver)(struct ib_device *dev);
	/* Frees the driver's part of the device after the last reference. */
	void (*dealloc_driver)(struct ib_device *dev);

	DECLARE_RDMA_OBJ_SIZE(ib_ah);
	DECLARE_RDMA_OBJ_SIZE(ib_cq);
	DECLARE_RDMA_OBJ_SIZE(ib_pd);
	DECLARE_RDMA_OBJ_SIZE(ib_qp);
	DECLARE_RDMA_OBJ_SIZE(ib_srq);
	DECLARE_RDMA_OBJ_SIZE(ib_mw);
	DECLARE_RDMA_OBJ_SIZE(ib_ucontext);
};

/**
 * struct ib_device - an RDMA device
 *
 * Lifetime: ib_alloc_device() -> ib_register_device() -> live ->
 * ib_unregister_device() -> ib_dealloc_device() (or, where there is an
 * &ib_device_ops.dealloc_driver, by itself).
 * While registered, operations hold the registration count
 * (ib_device_try_get() / ib_device_put()); unregistration waits for it to
 * drain.  @dev's own reference count keeps the memory, no more.
 */
struct ib_device {
	/* The device whose DMA addresses are used; NULL: virtual addresses. */
	struct device *dma_device;
	struct ib_device_ops ops;
	char name[IB_DEVICE_NAME_MAX];
	struct rcu_head rcu_head;

	int num_comp_vectors;
	struct device dev;
	/* What sysfs shows beside the core's own: ends with a NULL. */
	const struct attribute_group *groups[4];

	u64 uverbs_cmd_mask;
	char node_desc[IB_DEVICE_NODE_DESC_MAX];
	__be64 node_guid;
	u32 local_dma_lkey;
	u16 is_switch:1;
	u16 kverbs_provider:1;
	u8 node_type;
	u32 phys_port_cnt;
	struct ib_device_attr attrs;
	/* Unique among all devices since boot of the module. */
	u32 index;
	enum rdma_nl_name_assign_type name_assign_type;
	const struct uapi_definition *driver_def;
	const struct rdma_link_ops *link_ops;

	/* The core's own part: core/device.h. */
	struct ib_device_core *core;
};

/**
 * struct ib_client - an upper layer that wants to know of all devices
 * @add: a device has come, process context; an error means "not mine"
 * @remove: it goes; everything made on it has to be gone on return
 *
 * Lifetime: static in its module, between ib_register_client() and
 * ib_unregister_client().
 */
struct ib_client {
	const char *name;
	int (*add)(struct ib_device *ibdev);
	void (*remove)(struct ib_device *dev, void *client_data);
	void (*rename)(struct ib_device *dev, void *client_data);
	int (*get_nl_info)(struct ib_device *ibdev, void *client_data,
			   struct ib_client_nl_info *res);
	int (*get_global_nl_info)(struct ib_client_nl_info *res);

	refcount_t uses;
	struct completion uses_zero;
	u32 client_id;
	u8 no_kverbs_req:1;
};

/* Answer of a client to GET_CHARDEV. */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

/**
 * rdma_device_to_ibdev - the RDMA device behind a class device
 * @device: from an attribute's show or store; one of class "infiniband", in
 *	whichever namespace
 */
static inline struct ib_device *rdma_device_to_ibdev(struct device *device)
{
	return dev_get_drvdata(device);
}

/* The same for drivers: their structure around the device. */
#define rdma_device_to_drv_device(dev, drv_dev_struct, ibdev_member)           \
	container_of(rdma_device_to_ibdev(dev), drv_dev_struct, ibdev_member)

/* Before registration; udev gives no other name to such a device. */
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
	ibdev->name_assign_type = RDMA_NAME_ASSIGN_TYPE_USER;
}

/* The node whose memory is near the device. */
static inline int ibdev_to_node(struct ib_device *ibdev)
{
	return ibdev->dev.parent ? dev_to_node(ibdev->dev.parent) :
				   NUMA_NO_NODE;
}

/**
 * ib_get_vector_affinity - the processors that a completion vector interrupts
 * @device: the device
 * @comp_vector: one of its num_comp_vectors
 *
 * Return: the processors, or NULL when the driver does not tell.
 */
static inline const struct cpumask *
ib_get_vector_affinity(struct ib_device *device, int comp_vector)
{
	bool known = device->ops.get_vector_affinity && comp_vector >= 0 &&
		     comp_vector < device->num_comp_vectors;

	return known ? device->ops.get_vector_affinity(device, comp_vector) :
		       NULL;
}

/* ---- devices ---- */

struct ib_device *_ib_alloc_device(size_t size);
/**
 * ib_alloc_device - allocate a device inside the driver's structure
 * @drv_struct: the driver's structure
 * @member: its struct ib_device, which has to be the first member
 *
 * Context: process.
 * Return: the driver's structure, zeroed but for the device, or NULL.
 */
#define ib_alloc_device(drv_struct, member)                                    \
	container_of(_ib_alloc_device(sizeof(struct drv_struct) +              \
				      BUILD_BUG_ON_ZERO(offsetof(              \
					      struct drv_struct, member))),    \
		     struct drv_struct, member)
void ib_dealloc_device(struct ib_device *device);
void ib_set_device_ops(struct ib_device *device,
		       const struct ib_device_ops *ops);
int ib_register_device(struct ib_device *device, const char *name,
		       struct device *dma_device);
void ib_unregister_device(struct ib_device *device);
void ib_unregister_driver(enum rdma_driver_id driver_id);
void ib_unregister_device_and_put(struct ib_device *device);
void ib_unregister_device_queued(struct ib_device *ib_dev);

bool ib_device_try_get(struct ib_device *dev);
void ib_device_put(struct ib_device *device);
struct ib_device *ib_device_get_by_netdev(struct net_device *ndev,
					  enum rdma_driver_id driver_id);
struct ib_device *ib_device_get_by_name(const char *name,
					enum rdma_driver_id driver_id);
int ib_device_set_netdev(struct ib_device *ib_dev, struct net_device *ndev,
			 u32 port);
struct net_device *ib_device_get_netdev(struct ib_device *ib_dev, u32 port);
int ib_get_eth_speed(struct ib_device *dev, u32 port_num, u16 *speed,
		     u8 *width);
bool rdma_dev_access_netns(const struct ib_device *device,
			   const struct net *net);
struct net *rdma_dev_net(struct ib_device *device);

int ib_register_client(struct ib_client *client);
void ib_unregister_client(struct ib_client *client);
void ib_set_client_data(struct ib_device *device, struct ib_client *client,
			void *data);
void *ib_get_client_data(struct ib_device *device, struct ib_client *client);

void ib_register_event_handler(struct ib_event_handler *event_handler);
void ib_unregister_event_handler(struct ib_event_handler *event_handler);
void ib_dispatch_event(const struct ib_event *event);

int ib_query_port(struct ib_device *device, u32 port_num,
		  struct ib_port_attr *port_attr);
int ib_query_pkey(struct ib_device *device, u32 port_num, u16 index,
		  u16 *pkey);
int ib_find_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index);
int ib_find_gid(struct ib_device *device, union ib_gid *gid, u32 *port_num,
		u16 *index);
int ib_modify_device(struct ib_device *device, int device_modify_mask,
		     struct ib_device_modify *device_modify);
int ib_modify_port(struct ib_device *device, u32 port_num,
		   int port_modify_mask, struct ib_port_modify *port_modify);
void ib_get_device_fw_str(struct ib_device *device, char *str);
int rdma_query_gid(struct ib_device *device, u32 port_num, int index,
		   union ib_gid *gid);
#include <rdma/ib_port.h>

const char *ib_event_msg(enum ib_event_type event);
const char *ib_wc_status_msg(enum ib_wc_status status);
const char *ib_port_state_to_str(enum ib_port_state state);

/* ---- PDs, MRs, AHs ---- */

enum ib_pd_flags {
	IB_PD_UNSAFE_GLOBAL_RKEY = 0x01,
};

struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller);
#define ib_alloc_pd(device, flags) __ib_alloc_pd(device, flags, KBUILD_MODNAME)
int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata);
void ib_dealloc_pd(struct ib_pd *pd);

struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			     u64 virt_addr, int mr_access_flags);
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type,
			  u32 max_num_sg);
int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
		 unsigned int *sg_offset, unsigned int page_size);
/**
 * ib_map_mr_sg_zbva - ib_map_mr_sg() for a region that begins at address 0
 * @mr: from ib_alloc_mr()
 * @sg: the list
 * @sg_nents: its entries
 * @sg_offset: where in the first one the region begins, or NULL
 * @page_size: of a piece
 *
 * Return: as ib_map_mr_sg().
 */
static inline int ib_map_mr_sg_zbva(struct ib_mr *mr, struct scatterlist *sg,
				    int sg_nents, unsigned int *sg_offset,
				    unsigned int page_size)
{
	int ret = ib_map_mr_sg(mr, sg, sg_nents, sg_offset, page_size);

	mr->iova = 0;
	return ret;
}

int ib_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		 u32 flags, struct ib_sge *sg_list, u32 num_sge);
int ib_dereg_mr_user(struct ib_mr *mr, struct ib_udata *udata);
int ib_dereg_mr(struct ib_mr *mr);

struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr,
			     u32 flags);
struct ib_ah *rdma_create_user_ah(struct ib_pd *pd,
				  struct rdma_ah_attr *ah_attr,
				  struct ib_udata *udata);
int rdma_query_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr);
int rdma_destroy_ah_user(struct ib_ah *ah, u32 flags, struct ib_udata *udata);
int rdma_destroy_ah(struct ib_ah *ah, u32 flags);
int ib_init_ah_attr_from_wc(struct ib_device *device, u32 port_num,
			    const struct ib_wc *wc, const struct ib_grh *grh,
			    struct rdma_ah_attr *ah_attr);
struct ib_ah *ib_create_ah_from_wc(struct ib_pd *pd, const struct ib_wc *wc,
				   const struct ib_grh *grh, u32 port_num);

/**
 * ib_inc_rkey - the next key of the same region or window
 * @rkey: the present one
 *
 * Return: it with one more in the low byte, which is the consumer's.
 */
static inline u32 ib_inc_rkey(u32 rkey)
{
	return (rkey & ~0xffu) | ((rkey + 1) & 0xff);
}

/**
 * ib_update_fast_reg_key - choose the low byte of the next registration's key
 * @mr: from ib_alloc_mr()
 * @newkey: the byte
 */
static inline void ib_update_fast_reg_key(struct ib_mr *mr, u8 newkey)
{
	mr->lkey = (mr->lkey & ~0xffu) | newkey;
	mr->rkey = (mr->rkey & ~0xffu) | newkey;
}

/* ---- CQs ---- */

struct ib_cq *__ib_create_cq(struct ib_device *device,
			     ib_comp_handler comp_handler,
			     void (*event_handler)(struct ib_event *, void *),
			     void *cq_context,
			     const struct ib_cq_init_attr *cq_attr,
			     const char *caller);
#define ib_create_cq(device, cmp_hndlr, evt_hndlr, cq_ctxt, cq_attr)           \
	__ib_create_cq((device), (cmp_hndlr), (evt_hndlr), (cq_ctxt),          \
		       (cq_attr), KBUILD_MODNAME)
int ib_destroy_cq_user(struct ib_cq *cq, struct ib_udata *udata);
void ib_destroy_cq(struct ib_cq *cq);
int ib_resize_cq(struct ib_cq *cq, int cqe);

struct ib_cq *__ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe,
			    int comp_vector, enum ib_poll_context poll_ctx,
			    const char *caller);
struct ib_cq *__ib_alloc_cq_any(struct ib_device *dev, void *private,
				int nr_cqe, enum ib_poll_context poll_ctx,
				const char *caller);
static inline struct ib_cq *ib_alloc_cq(struct ib_device *dev, void *private,
					int nr_cqe, int comp_vector,
					enum ib_poll_context poll_ctx)
{
	return __ib_alloc_cq(dev, private, nr_cqe, comp_vector, poll_ctx,
			     KBUILD_MODNAME);
}

static inline struct ib_cq *ib_alloc_cq_any(struct ib_device *dev,
					    void *private, int nr_cqe,
					    enum ib_poll_context poll_ctx)
{
	return __ib_alloc_cq_any(dev, private, nr_cqe, poll_ctx,
				 KBUILD_MODNAME);
}

void ib_free_cq(struct ib_cq *cq);
int ib_process_cq_direct(struct ib_cq *cq, int budget);
struct ib_cq *ib_cq_pool_get(struct ib_device *dev, unsigned int nr_cqe,
			     int comp_vector_hint,
			     enum ib_poll_context poll_ctx);
void ib_cq_pool_put(struct ib_cq *cq, unsigned int nr_cqe);

static inline int ib_poll_cq(struct ib_cq *cq, int num_entries,
			     struct ib_wc *wc)
{
	return cq->device->ops.poll_cq(cq, num_entries, wc);
}

static inline int ib_req_notify_cq(struct ib_cq *cq,
				   enum ib_cq_notify_flags flags)
{
	return cq->device->ops.req_notify_cq(cq, flags);
}

/* ---- QPs ---- */

bool ib_modify_qp_is_ok(enum ib_qp_state cur_state, enum ib_qp_state next_state,
			enum ib_qp_type type, enum ib_qp_attr_mask mask);

struct ib_qp *ib_create_qp_user(struct ib_device *dev, struct ib_pd *pd,
				struct ib_qp_init_attr *attr,
				struct ib_udata *udata,
				struct ib_uqp_object *uobj, const char *caller);
struct ib_qp *ib_create_qp_kernel(struct ib_pd *pd,
				  struct ib_qp_init_attr *qp_init_attr,
				  const char *caller);
static inline struct ib_qp *ib_create_qp(struct ib_pd *pd,
					 struct ib_qp_init_attr *init_attr)
{
	return ib_create_qp_kernel(pd, init_attr, KBUILD_MODNAME);
}

int ib_modify_qp_with_udata(struct ib_qp *qp, struct ib_qp_attr *attr,
			    int attr_mask, struct ib_udata *udata);
struct ib_srq *ib_create_srq_user(struct ib_pd *pd,
				  struct ib_srq_init_attr *srq_init_attr,
				  struct ib_usrq_object *uobject,
				  struct ib_udata *udata);
int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr,
		  enum ib_srq_attr_mask srq_attr_mask);
int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr);
int ib_destroy_srq_user(struct ib_srq *srq, struct ib_udata *udata);

static inline struct ib_srq *
ib_create_srq(struct ib_pd *pd, struct ib_srq_init_attr *srq_init_attr)
{
	return ib_create_srq_user(pd, srq_init_attr, NULL, NULL);
}

static inline void ib_destroy_srq(struct ib_srq *srq)
{
	int ret = ib_destroy_srq_user(srq, NULL);

	WARN_ONCE(ret, "SRQ is still in use (%d)\n", ret);
}

static inline int ib_post_srq_recv(struct ib_srq *srq,
				   const struct ib_recv_wr *recv_wr,
				   const struct ib_recv_wr **bad_recv_wr)
{
	const struct ib_recv_wr *dummy;

	return srq->device->ops.post_srq_recv(srq, recv_wr,
					      bad_recv_wr ?: &dummy);
}

int ib_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);
int ib_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);
int ib_modify_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr,
		 int qp_attr_mask);
int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask,
		struct ib_qp_init_attr *qp_init_attr);
int ib_destroy_qp_user(struct ib_qp *qp, struct ib_udata *udata);
int ib_destroy_qp(struct ib_qp *qp);

void ib_drain_sq(struct ib_qp *qp);
void ib_drain_rq(struct ib_qp *qp);
void ib_drain_qp(struct ib_qp *qp);

static inline int ib_post_send(struct ib_qp *qp,
			       const struct ib_send_wr *send_wr,
			       const struct ib_send_wr **bad_send_wr)
{
	const struct ib_send_wr *dummy;

	return qp->device->ops.post_send(qp, send_wr, bad_send_wr ?: &dummy);
}

static inline int ib_post_recv(struct ib_qp *qp,
			       const struct ib_recv_wr *recv_wr,
			       const struct ib_recv_wr **bad_recv_wr)
{
	const struct ib_recv_wr *dummy;

	return qp->device->ops.post_recv(qp, recv_wr, bad_recv_wr ?: &dummy);
}

/* ---- user data ---- */

/*
 * A driver's access to user memory waits for no page: a program can keep one from
 * coming, and with it the command, its device and whoever waits for that.  What
 * is not there fails, and what the driver has done for the command it undoes.
 * The core then leaves the device, gets the page and has the driver begin again.
 */
int ib_udata_read(struct ib_udata *udata, void *to, const void __user *from,
		  size_t len);
int ib_udata_write(struct ib_udata *udata, void __user *to, const void *from,
		   size_t len);

/**
 * ib_copy_from_udata - read the driver's part of a user command
 * @dest: kernel memory
 * @udata: the command's driver part
 * @len: bytes, at most @udata->inlen
 *
 * Context: process; see ib_udata_read().
 * Return: 0, or -EFAULT.
 */
static inline int ib_copy_from_udata(void *dest, struct ib_udata *udata,
				     size_t len)
{
	if (len > udata->inlen)
		return -EFAULT;
	return ib_udata_read(udata, dest, udata->inbuf, len);
}

/**
 * ib_copy_to_udata - write the driver's part of a response
 * @udata: the command's driver part
 * @src: kernel memory
 * @len: bytes, at most @udata->outlen
 *
 * Context: process; see ib_udata_write().
 * Return: 0, or -EFAULT.
 */
static inline int ib_copy_to_udata(struct ib_udata *udata, void *src,
				   size_t len)
{
	if (len > udata->outlen)
		return -EFAULT;
	return ib_udata_write(udata, udata->outbuf, src, len);
}

/* Is this user memory zeroed, all of it and readable? */
static inline bool ib_is_buffer_cleared(const void __user *p, size_t len)
{
	return len <= USHRT_MAX && check_zeroed_user(p, len) > 0;
}

static inline bool ib_is_udata_cleared(struct ib_udata *udata, size_t offset,
				       size_t len)
{
	return ib_is_buffer_cleared(udata->inbuf + offset, len);
}

/* Can memory that is registered so change, through whomever it may be? */
static inline bool ib_access_writable(int access_flags)
{
	return access_flags & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND |
			       IB_ACCESS_REMOTE_WRITE |
			       IB_ACCESS_REMOTE_ATOMIC);
}

/**
 * ib_check_mr_access - tell whether access flags make sense together
 * @ib_dev: the device that will hold the region
 * @flags: enum ib_access_flags
 *
 * Remote write and remote atomic need local write (IBTA vol. 1, 10.6.3.1).
 *
 * Return: 0, or -EINVAL; -EOPNOTSUPP for a flag nobody knows.
 */
static inline int ib_check_mr_access(struct ib_device *ib_dev,
				     unsigned int flags)
{
	if ((flags & (IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_REMOTE_WRITE)) &&
	    !(flags & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (flags & ~IB_ACCESS_SUPPORTED)
		return -EOPNOTSUPP;
	return 0;
}

/* ---- DMA addresses ---- */

#include <rdma/ib_dma.h>

#endif
