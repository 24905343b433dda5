// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Each verb with each of the kernel's allocations for it failing in turn.
 *
 *   alloc_failures -d DEV [-g GID] [--refuse ioctl|write] [--link NETDEV]
 *
 * A verb either works all the same or says ENOMEM; after that it works, and so
 * does the rest. --link tries "rdma link add" and "del" on that netdev as well.
 * The caller looks at the kernel's log, and for leaks.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fail_nth.h"
#include "report.h"
#include "rig.h"

#define BUF	(1u << 20)
#define LIMIT	30000	/* nothing has so many allocations */
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* What the calls work on: a device in use, and the object in hand. */
struct env {
	struct rig rig;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *pair[2];
	char *buf;
	const char *link;

	struct ibv_context *ctx;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *region;
	struct ibv_mw *mw;
	struct ibv_cq *queue;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_srq *srq;
	bool in_group;
};

/*
 * @prepare and @undo surround the call that is tried and always work. @undo is
 * told nothing: it looks at what there is.
 */
struct call {
	const char *name;
	void (*prepare)(struct env *e);
	int (*run)(struct env *e);	/* 0 or errno */
	void (*undo)(struct env *e);
	bool allocates;			/* there has to be something to fail */
	int also;			/* what it may say instead of ENOMEM */
	bool slow;
	bool by_write;			/* a command that is written by hand */
};

static int from(const void *object)
{
	return object ? 0 : errno ?: EBADMSG;
}

static void must(int err, const char *what)
{
	if (err)
		die("%s without any failure: %s", what, strerror(err));
}

/* ---- contexts ---- */

static struct ibv_device *device_of(struct env *e)
{
	return e->rig.ctx->device;
}

static int open_device(struct env *e)
{
	e->ctx = ibv_open_device(device_of(e));
	return from(e->ctx);
}

static void undo_context(struct env *e)
{
	if (e->ctx)
		must(ibv_close_device(e->ctx), "ibv_close_device");
	e->ctx = NULL;
}

static int query_device(struct env *e)
{
	struct ibv_device_attr attr;

	return ibv_query_device(e->rig.ctx, &attr);
}

static int query_device_ex(struct env *e)
{
	struct ibv_device_attr_ex attr;

	return ibv_query_device_ex(e->rig.ctx, NULL, &attr);
}

static int query_port(struct env *e)
{
	struct ibv_port_attr attr;

	return ibv_query_port(e->rig.ctx, 1, &attr);
}

static int query_gid_table(struct env *e)
{
	struct ibv_gid_entry entry[16];
	ssize_t n = ibv_query_gid_table(e->rig.ctx, entry, 16, 0);

	return n < 0 ? -n : 0;
}

/* ---- regions ---- */

static int alloc_pd(struct env *e)
{
	e->pd = ibv_alloc_pd(e->rig.ctx);
	return from(e->pd);
}

static int dealloc_pd(struct env *e)
{
	int err = ibv_dealloc_pd(e->pd);

	if (!err)
		e->pd = NULL;
	return err;
}

static void need_pd(struct env *e)
{
	must(alloc_pd(e), "ibv_alloc_pd");
}

static void undo_pd(struct env *e)
{
	if (e->pd)
		must(dealloc_pd(e), "ibv_dealloc_pd");
}

static int reg_page(struct env *e)
{
	e->region = ibv_reg_mr(e->rig.pd, e->buf, 4096, ACCESS);
	return from(e->region);
}

static int reg_many(struct env *e)
{
	e->region = ibv_reg_mr(e->rig.pd, e->buf, BUF, ACCESS);
	return from(e->region);
}

static int dereg(struct env *e)
{
	int err = ibv_dereg_mr(e->region);

	if (!err)
		e->region = NULL;
	return err;
}

static void need_region(struct env *e)
{
	must(reg_many(e), "ibv_reg_mr");
}

static int rereg(struct env *e, unsigned int flags, const char *start, unsigned int access)
{
	return rereg_mr(e->region, flags, start, BUF / 2, start, NULL, access, NULL);
}

static int rereg_memory(struct env *e)
{
	return rereg(e, IBV_REREG_MR_CHANGE_TRANSLATION, e->buf + BUF / 2, 0);
}

static int rereg_rights(struct env *e)
{
	return rereg(e, IBV_REREG_MR_CHANGE_ACCESS, NULL, IBV_ACCESS_LOCAL_WRITE);
}

/* Rights to write to what was pinned for reading: it is pinned anew. */
static void need_region_to_read(struct env *e)
{
	e->region = ibv_reg_mr(e->rig.pd, e->buf, BUF, 0);
	must(from(e->region), "ibv_reg_mr");
}

static void undo_region(struct env *e)
{
	if (e->region)
		must(dereg(e), "ibv_dereg_mr");
}

/* ---- completion queues ---- */

static int create_channel(struct env *e)
{
	e->channel = ibv_create_comp_channel(e->rig.ctx);
	return from(e->channel);
}

static void need_channel(struct env *e)
{
	must(create_channel(e), "ibv_create_comp_channel");
}

static void undo_channel(struct env *e)
{
	if (e->channel)
		must(ibv_destroy_comp_channel(e->channel), "ibv_destroy_comp_channel");
	e->channel = NULL;
}

/* Of several pages */
static int create_cq(struct env *e)
{
	e->queue = ibv_create_cq(e->rig.ctx, 300, e, e->channel, 0);
	return from(e->queue);
}

static int create_cq_ex(struct env *e)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 300, .wc_flags = IBV_WC_STANDARD_FLAGS, .channel = e->channel,
	};

	e->queue = (struct ibv_cq *)ibv_create_cq_ex(e->rig.ctx, &attr);
	return from(e->queue);
}

static int destroy_cq(struct env *e)
{
	int err = ibv_destroy_cq(e->queue);

	if (!err)
		e->queue = NULL;
	return err;
}

static void need_cq(struct env *e)
{
	need_channel(e);
	must(create_cq(e), "ibv_create_cq");
}

static void undo_cq(struct env *e)
{
	if (e->queue)
		must(destroy_cq(e), "ibv_destroy_cq");
	undo_channel(e);
}

static int resize_cq(struct env *e)
{
	return ibv_resize_cq(e->queue, 1000);
}

static int notify_cq(struct env *e)
{
	return ibv_req_notify_cq(e->queue, 0);
}

/* ---- windows ---- */

static int alloc_mw(struct env *e)
{
	e->mw = ibv_alloc_mw(e->rig.pd, IBV_MW_TYPE_2);
	return from(e->mw);
}

static int dealloc_mw(struct env *e)
{
	int err = ibv_dealloc_mw(e->mw);

	if (!err)
		e->mw = NULL;
	return err;
}

static void need_mw(struct env *e)
{
	must(alloc_mw(e), "ibv_alloc_mw");
}

static void undo_mw(struct env *e)
{
	if (e->mw)
		must(dealloc_mw(e), "ibv_dealloc_mw");
}

static void need_bindable(struct env *e)
{
	need_mw(e);
	e->region = ibv_reg_mr(e->rig.pd, e->buf, BUF, ACCESS | IBV_ACCESS_MW_BIND);
	must(from(e->region), "ibv_reg_mr");
}

static int bind_mw(struct env *e)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = e->mw, .rkey = ibv_inc_rkey(e->mw->rkey),
			.bind_info = { e->region, (uintptr_t)e->buf, BUF, IBV_ACCESS_REMOTE_READ },
		},
	}, *bad;
	struct ibv_wc wc;
	int err = ibv_post_send(e->pair[0], &wr, &bad);

	if (!err && rig_wait(e->cq, &wc, 60000) != 1)
		err = ETIMEDOUT;
	else if (!err && wc.status)
		err = EBADMSG;
	return err;
}

static void undo_bound(struct env *e)
{
	undo_mw(e);
	undo_region(e);
}

/* ---- queue pairs ---- */

static const struct tuning tune = {
	.depth = 100, .sges = 4, .inline_bytes = 128, .mtu = IBV_MTU_1024, .timeout = 12,
	.retry_cnt = 7, .rnr_retry = 7, .min_rnr = 1, .rd_atomic = 8,
};

static int create_qp(struct env *e)
{
	e->qp = rig_qp(&e->rig, IBV_QPT_RC, e->cq, e->cq, &tune);
	return from(e->qp);
}

static int destroy_qp(struct env *e)
{
	int err = ibv_destroy_qp(e->qp);

	if (!err)
		e->qp = NULL;
	return err;
}

static struct peer myself(struct env *e)
{
	return (struct peer){ .qpn = e->qp->qp_num, .psn = 5, .gid = e->rig.gid };
}

static int to_rtr(struct env *e)
{
	struct peer peer = myself(e);

	return rig_to_rtr(&e->rig, e->qp, &peer, &tune);
}

static int to_init(struct env *e)
{
	return rig_to_init(e->qp);
}

static int to_rts(struct env *e)
{
	return rig_to_rts(e->qp, 5, &tune);
}

static int to_state(struct env *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

static int to_sqd(struct env *e)
{
	return to_state(e, IBV_QPS_SQD);
}

static int to_err(struct env *e)
{
	return to_state(e, IBV_QPS_ERR);
}

static int to_reset(struct env *e)
{
	return to_state(e, IBV_QPS_RESET);
}

static int query_qp(struct env *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_CAP | IBV_QP_AV, &init);
}

static void need_qp(struct env *e)
{
	must(create_qp(e), "ibv_create_qp");
}

static void need_init(struct env *e)
{
	need_qp(e);
	must(to_init(e), "to INIT");
}

static void need_rtr(struct env *e)
{
	need_init(e);
	must(to_rtr(e), "to RTR");
}

static void need_rts(struct env *e)
{
	need_rtr(e);
	must(to_rts(e), "to RTS");
}

static void undo_qp(struct env *e)
{
	if (e->qp)
		must(destroy_qp(e), "ibv_destroy_qp");
}

static int create_ah(struct env *e)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = e->rig.gid, .sgid_index = e->rig.gid_index, .hop_limit = 9 },
	};

	e->ah = ibv_create_ah(e->rig.pd, &attr);
	return from(e->ah);
}

static int destroy_ah(struct env *e)
{
	int err = ibv_destroy_ah(e->ah);

	if (!err)
		e->ah = NULL;
	return err;
}

static void need_ah(struct env *e)
{
	must(create_ah(e), "ibv_create_ah");
}

static void undo_ah(struct env *e)
{
	if (e->ah)
		must(destroy_ah(e), "ibv_destroy_ah");
}

/* ---- shared receive queues and groups ---- */

static int create_srq(struct env *e)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 100, .max_sge = 2 } };

	e->srq = ibv_create_srq(e->rig.pd, &init);
	return from(e->srq);
}

static int destroy_srq(struct env *e)
{
	int err = ibv_destroy_srq(e->srq);

	if (!err)
		e->srq = NULL;
	return err;
}

static int resize_srq(struct env *e)
{
	struct ibv_srq_attr attr = { .max_wr = 1000 };

	return ibv_modify_srq(e->srq, &attr, IBV_SRQ_MAX_WR);
}

static void need_srq(struct env *e)
{
	must(create_srq(e), "ibv_create_srq");
}

static void undo_srq(struct env *e)
{
	if (e->srq)
		must(destroy_srq(e), "ibv_destroy_srq");
}

/* Queue pairs may join in any state. */
static void need_datagrams(struct env *e)
{
	struct tuning tune = tuning_default;

	e->qp = rig_qp(&e->rig, IBV_QPT_UD, e->cq, e->cq, &tune);
	must(from(e->qp), "ibv_create_qp");
}

static int join_group(struct env *e)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, 1, 2, 3 } };
	int err = ibv_attach_mcast(e->qp, &gid, 0);

	e->in_group = !err;
	return err;
}

static void undo_group(struct env *e)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, 1, 2, 3 } };

	if (e->in_group)
		must(ibv_detach_mcast(e->qp, &gid, 0), "ibv_detach_mcast");
	e->in_group = false;
	undo_qp(e);
}

/* ---- the doorbell: a lost packet is no error ---- */

static int transfer(struct env *e, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, BUF / 2, e->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)e->buf + BUF / 2, e->mr->rkey },
	}, *bad;
	struct ibv_wc wc;
	int err, n;

	memset(e->buf, 1, BUF / 2);
	memset(e->buf + BUF / 2, 2, BUF / 2);
	err = ibv_post_send(e->pair[0], &wr, &bad);
	if (err)
		return err;
	n = rig_wait(e->cq, &wc, 60000);
	if (n != 1)
		err = ETIMEDOUT;
	else if (wc.status || memcmp(e->buf, e->buf + BUF / 2, BUF / 2))
		err = EBADMSG;
	if (err)
		note("%s", n == 1 ? ibv_wc_status_str(wc.status) : "no completion");
	return err;
}

static int write_transfer(struct env *e)
{
	return transfer(e, IBV_WR_RDMA_WRITE);
}

static int read_transfer(struct env *e)
{
	return transfer(e, IBV_WR_RDMA_READ);
}

/* ---- links ---- */

static void attribute(struct nlmsghdr *nlh, unsigned short type, const void *data, size_t len)
{
	struct nlattr *at = (void *)nlh + NLMSG_ALIGN(nlh->nlmsg_len);

	at->nla_type = type;
	at->nla_len = NLA_HDRLEN + len;
	memcpy((void *)at + NLA_HDRLEN, data, len);
	nlh->nlmsg_len = NLMSG_ALIGN(nlh->nlmsg_len) + NLA_ALIGN(at->nla_len);
}

static int netlink_do(int fd, struct nlmsghdr *nlh)
{
	char answer[8192];
	struct nlmsghdr *got = (void *)answer;
	struct nlmsgerr *err;
	ssize_t n;

	fail_nth_enter();
	n = send(fd, nlh, nlh->nlmsg_len, 0);
	fail_nth_leave();
	/* It was handled within send(). No answer for want of memory is ENOBUFS. */
	if (n >= 0)
		n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN ? ENOBUFS : errno;
	err = NLMSG_DATA(got);
	return got->nlmsg_type == NLMSG_ERROR ? -err->error : 0;
}

static int netlink_ask(unsigned short command, unsigned short flags, const char *name,
		       const char *netdev, const unsigned int *index)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), err;
	struct nlmsghdr request[16] = { 0 }, *nlh = request;

	if (fd < 0)
		die("a netlink socket: %s", strerror(errno));
	nlh->nlmsg_len = NLMSG_HDRLEN;
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	if (index)
		attribute(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, index, sizeof(*index));
	if (name)
		attribute(nlh, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	if (netdev) {
		attribute(nlh, RDMA_NLDEV_ATTR_NDEV_NAME, netdev, strlen(netdev) + 1);
		attribute(nlh, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe", 4);
	}
	err = netlink_do(fd, nlh);
	close(fd);
	return err;
}

static bool link_exists(void)
{
	return !access("/sys/class/infiniband/rxfail", F_OK);
}

static unsigned int link_index(const char *name)
{
	unsigned int index = 0;
	char command[128];
	FILE *f;

	snprintf(command, sizeof(command), "rdma dev show %s", name);
	f = popen(command, "r");
	if (!f || fscanf(f, "%u:", &index) != 1)
		die("the index of %s", name);
	pclose(f);
	return index;
}

/* What the answer says is so; without one it may be either. */
static int check_link(int err, bool want, const char *what)
{
	if (err != ENOBUFS && link_exists() != (err ? !want : want)) {
		note("%s: error %d, but the link is %sthere", what, err, link_exists() ? "" : "not ");
		err = EBADMSG;
	}
	return err;
}

static int link_add(struct env *e)
{
	return check_link(netlink_ask(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK, "rxfail", e->link, NULL),
			  true, "link add");
}

static unsigned int doomed;

static int link_del(struct env *e)
{
	(void)e;
	return check_link(netlink_ask(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK, NULL, NULL, &doomed),
			  false, "link del");
}

static void need_link(struct env *e)
{
	must(link_add(e), "link add");
	doomed = link_index("rxfail");
}

static void undo_link(struct env *e)
{
	if (!link_exists())
		return;
	doomed = link_index("rxfail");
	must(link_del(e), "link del");
}

static int dump(struct env *e, unsigned short command, bool one)
{
	static unsigned int index = ~0u;

	if (index == ~0u)
		index = link_index(ibv_get_device_name(device_of(e)));
	return netlink_ask(command, NLM_F_DUMP, NULL, NULL, one ? &index : NULL);
}

static int dump_devices(struct env *e)
{
	return dump(e, RDMA_NLDEV_CMD_GET, false);
}

static int dump_qps(struct env *e)
{
	return dump(e, RDMA_NLDEV_CMD_RES_QP_GET, true);
}

/* ---- all of them ---- */

static const struct call calls[] = {
	/* The library tries another name of the node, and tells of that. */
	{ "open_device", NULL, open_device,
	  .undo = undo_context, .allocates = true, .also = ENOENT },
	{ "query_device", NULL, query_device, .undo = NULL },
	{ "query_device_ex", NULL, query_device_ex, .undo = NULL },
	{ "query_port", NULL, query_port, .undo = NULL },
	{ "query_gid_table", NULL, query_gid_table, .undo = NULL },
	{ "alloc_pd", NULL, alloc_pd, .undo = undo_pd, .allocates = true },
	{ "dealloc_pd", need_pd, dealloc_pd, .undo = undo_pd },
	{ "reg_mr of a page", NULL, reg_page, .undo = undo_region, .allocates = true },
	{ "reg_mr of 1 MiB", NULL, reg_many, .undo = undo_region, .allocates = true },
	{ "dereg_mr", need_region, dereg, .undo = undo_region },
	{ "rereg_mr, other memory", need_region, rereg_memory,
	  .undo = undo_region, .allocates = true, .by_write = true },
	{ "rereg_mr, other rights", need_region, rereg_rights,
	  .undo = undo_region, .allocates = true, .by_write = true },
	{ "rereg_mr, rights to write", need_region_to_read, rereg_rights,
	  .undo = undo_region, .allocates = true, .by_write = true },
	{ "alloc_mw", NULL, alloc_mw, .undo = undo_mw, .allocates = true },
	{ "dealloc_mw", need_mw, dealloc_mw, .undo = undo_mw },
	{ "BIND_MW", need_bindable, bind_mw, .undo = undo_bound },
	{ "create_comp_channel", NULL, create_channel, .undo = undo_channel, .allocates = true },
	{ "create_cq", NULL, create_cq, .undo = undo_cq, .allocates = true },
	{ "create_cq_ex with a channel", need_channel, create_cq_ex,
	  .undo = undo_cq, .allocates = true },
	{ "resize_cq", need_cq, resize_cq, .undo = undo_cq, .allocates = true },
	{ "req_notify_cq", need_cq, notify_cq, .undo = undo_cq },
	{ "destroy_cq", need_cq, destroy_cq, .undo = undo_cq },
	{ "create_qp", NULL, create_qp, .undo = undo_qp, .allocates = true },
	{ "modify_qp to INIT", need_qp, to_init, .undo = undo_qp },
	{ "modify_qp to RTR", need_init, to_rtr, .undo = undo_qp },
	{ "modify_qp to RTS", need_rtr, to_rts, .undo = undo_qp },
	{ "modify_qp to SQD", need_rts, to_sqd, .undo = undo_qp },
	{ "modify_qp to ERR", need_rts, to_err, .undo = undo_qp },
	{ "modify_qp to RESET", need_rts, to_reset, .undo = undo_qp },
	{ "query_qp", need_rts, query_qp, .undo = undo_qp },
	{ "destroy_qp", need_rts, destroy_qp, .undo = undo_qp },
	{ "create_ah", NULL, create_ah, .undo = undo_ah, .allocates = true },
	{ "destroy_ah", need_ah, destroy_ah, .undo = undo_ah },
	{ "create_srq", NULL, create_srq, .undo = undo_srq, .allocates = true },
	{ "modify_srq", need_srq, resize_srq, .undo = undo_srq, .allocates = true },
	{ "destroy_srq", need_srq, destroy_srq, .undo = undo_srq },
	{ "attach_mcast", need_datagrams, join_group, .undo = undo_group, .allocates = true },
	{ "the doorbell of a WRITE", NULL, write_transfer, .undo = NULL, .allocates = true },
	{ "the doorbell of a READ", NULL, read_transfer, .undo = NULL, .allocates = true },
}, link_calls[] = {
	/* ENOBUFS: there was no memory for the message or the answer. */
	{ "link add", NULL, link_add,
	  .undo = undo_link, .allocates = true, .also = ENOBUFS, .slow = true },
	{ "link del", need_link, link_del,
	  .undo = undo_link, .allocates = true, .also = ENOBUFS, .slow = true },
	{ "dump of devices", NULL, dump_devices, .undo = NULL, .allocates = true, .also = ENOBUFS },
	{ "dump of queue pairs", NULL, dump_qps, .undo = NULL, .allocates = true, .also = ENOBUFS },
};

static void try_all(struct env *e, const struct call *c)
{
	unsigned int n, tried = 0, refused = 0, odd = 0;
	int err = 0, last = 0;
	bool fired = true;

	/* A link has thousands, of files in sysfs that are all alike. */
	for (n = 1; fired && n <= LIMIT; n += c->slow && n > 100 ? n / 16 : 1) {
		tried++;
		if (c->prepare)
			c->prepare(e);
		errno = 0;
		fail_nth_begin(n);
		err = c->run(e);
		fired = fail_nth_end();
		if (err) {
			refused++;
			last = err;
			if ((!fired || (err != ENOMEM && err != c->also)) && !odd++)
				report(false, "%s with allocation %u failing: %s", c->name, n,
				       strerror(err));
			/* The same thing again, with nothing in its way. */
			if (!c->slow)
				must(c->run(e), c->name);
		}
		if (c->undo)
			c->undo(e);
	}
	if (c->prepare)
		c->prepare(e);
	must(c->run(e), c->name);
	if (c->undo)
		c->undo(e);
	if (!odd)
		report(!fired && (tried > 1 || !c->allocates),
		       "%s: %u allocations failed in turn, %u times it said so%s%s", c->name,
		       tried - 1, refused, refused ? ": " : "", refused ? strerror(last) : "");
}

static void open_env(struct env *e, const char *dev, const char *gid)
{
	rig_open(&e->rig, dev, gid);
	e->buf = aligned_alloc(4096, BUF);
	if (!e->buf)
		die("no memory");
	memset(e->buf, 1, BUF);
	e->mr = ibv_reg_mr(e->rig.pd, e->buf, BUF, ACCESS);
	e->cq = ibv_create_cq(e->rig.ctx, 1000, NULL, NULL, 0);
	for (int i = 0; i < 2; i++) {
		must(create_qp(e), "ibv_create_qp");
		e->pair[i] = e->qp;
	}
	for (int i = 0; i < 2; i++) {
		struct peer to = { .qpn = e->pair[!i]->qp_num, .psn = 5, .gid = e->rig.gid };

		must(rig_connect(&e->rig, e->pair[i], &to, 5, &tune), "connecting");
	}
	e->qp = NULL;
}

static void close_env(struct env *e)
{
	for (int i = 0; i < 2; i++)
		must(ibv_destroy_qp(e->pair[i]), "ibv_destroy_qp");
	must(ibv_destroy_cq(e->cq), "ibv_destroy_cq");
	must(ibv_dereg_mr(e->mr), "ibv_dereg_mr");
	rig_close(&e->rig);
	free(e->buf);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "gid", 1, NULL, 'g' }, { "refuse", 1, NULL, 'r' },
		{ "link", 1, NULL, 'l' }, { 0 },
	};
	const char *dev = "", *gid = "v4";
	enum refuse refuse = REFUSE_NOTHING;
	static struct env e;
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:r:l:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid = optarg;
			break;
		case 'r':
			refuse = *optarg == 'i' ? REFUSE_IOCTL : REFUSE_WRITE;
			break;
		case 'l':
			e.link = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!fail_nth_setup(refuse)) {
		report_skip("this kernel does not inject failures", "allocation failures");
		return 0;
	}
	open_env(&e, dev, gid);
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (calls[i].by_write && refuse == REFUSE_WRITE)
			continue;
		watchdog(300);
		watchdog_about(calls[i].name);
		try_all(&e, &calls[i]);
	}
	for (unsigned int i = 0; e.link && i < sizeof(link_calls) / sizeof(*link_calls); i++) {
		watchdog(1200);
		watchdog_about(link_calls[i].name);
		try_all(&e, &link_calls[i]);
	}
	if (refuse)
		report(refuse == REFUSE_IOCTL ? !fail_nth_ioctls() && fail_nth_writes() :
						fail_nth_ioctls() && !fail_nth_writes(),
		       "%lu ioctl() and %lu write() commands passed", fail_nth_ioctls(),
		       fail_nth_writes());
	close_env(&e);
	return report_status();
}
