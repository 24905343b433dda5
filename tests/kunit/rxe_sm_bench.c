// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The bench of the requester's, completer's and responder's suites. */
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <rdma/ib_mad.h>
#include "rxe_sm_bench.h"

struct sm_conf sm_defaults(void)
{
	return (struct sm_conf){
		.pages = 16,
		.va = SM_VA,
		.type = IB_QPT_RC,
		.mtu = IB_MTU_1024,
		.sq_psn = 0x100,
		.rq_psn = 0x200,
		/* Hours: timeouts come when the test says so. */
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 3,
		.min_rnr_timer = 12,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.mr_access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			     IB_ACCESS_REMOTE_READ,
		.qp_access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		.cqe = 63,
		.max_wr = 16,
		.state = IB_QPS_RTS,
	};
}

/* ---- the network ---- */

/* Take a train apart. Any context. */
static int catch_skb(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct sm *sm = container_of(skb_dst(skb), struct sm, dst);
	u32 off = sizeof(struct iphdr) + sizeof(struct udphdr);
	u32 left = skb->len - off;
	u32 seg = skb_shinfo(skb)->gso_size ?: left;
	LIST_HEAD(list);

	if (sm->room) {
		sm->room--;
	} else if (sm->xmit_answer) {
		kfree_skb(skb);
		return sm->xmit_answer;
	}
	while (left) {
		u32 len = min(left, seg);
		struct sm_sent *sent;
		struct rxe_pkt pkt = {};

		if (rxe_pkt_parse(&pkt, skb, off, len)) {
			sm->garbage++;
			break;
		}
		sent = kmalloc(sizeof(*sent) + pkt.len, GFP_ATOMIC);
		if (!sent || skb_copy_bits(skb, pkt.payload, sent->data,
					   pkt.len)) {
			sm->garbage++;
			kfree(sent);
			break;
		}
		sent->pkt = pkt;
		sent->train = sm->trains;
		list_add_tail(&sent->entry, &list);
		off += len;
		left -= len;
	}
	spin_lock_bh(&sm->lock);
	list_splice_tail(&list, &sm->sent);
	sm->trains++;
	spin_unlock_bh(&sm->lock);
	consume_skb(skb);
	return 0;
}

/* Who asks has a reference of his own. */
static struct neighbour *find_neigh(const struct dst_entry *dst,
				    struct sk_buff *skb, const void *daddr)
{
	struct sm *sm = container_of(dst, struct sm, dst);

	refcount_inc(&sm->neigh.refcnt);
	return &sm->neigh;
}

static void make_way(struct sm *sm)
{
	struct rxe_flow *flow = &sm->qp->flow;

	rcuref_init(&sm->dst.__rcuref, 1);
	sm->dst.dev = init_net.loopback_dev;
	sm->dst.output = catch_skb;
	sm->dst_ops.neigh_lookup = find_neigh;
	sm->dst.ops = &sm->dst_ops;
	sm->neigh.nud_state = NUD_REACHABLE;
	refcount_set(&sm->neigh.refcnt, 1);
	/* Not marked valid: there is no GID to give back. */
	flow->rxe = sm->rxe;
	flow->ipv4 = true;
	ipv6_addr_set_v4mapped(cpu_to_be32(0x0a000001), &flow->saddr);
	ipv6_addr_set_v4mapped(cpu_to_be32(0x0a000002), &flow->daddr);
	flow->sport = 0xc001;
	flow->hop_limit = 64;
	flow->dst = &sm->dst;
}

/* ---- making ---- */

static void on_qp_event(struct ib_event *event, void *context)
{
	struct sm *sm = context;

	sm->qp_events[event->event]++;
}

static void on_cq_event(struct ib_event *event, void *context)
{
	struct sm *sm = context;

	sm->cq_errs++;
}

static struct rxe_cq *make_cq(struct sm *sm)
{
	struct ib_cq_init_attr attr = { .cqe = sm->conf.cqe };
	struct rxe_cq *cq = kunit_kzalloc(sm->test, sizeof(*cq), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(sm->test, cq);
	cq->ibcq.device = &sm->rxe->ib;
	cq->ibcq.event_handler = on_cq_event;
	cq->ibcq.cq_context = sm;
	KUNIT_ASSERT_EQ(sm->test, rxe_create_cq(&cq->ibcq, &attr, NULL), 0);
	return cq;
}

static void on_srq_event(struct ib_event *event, void *context)
{
	struct sm *sm = context;

	KUNIT_EXPECT_EQ(sm->test, event->event, IB_EVENT_SRQ_LIMIT_REACHED);
	sm->srq_limits++;
}

static void make_srq(struct sm *sm)
{
	struct rxe_srq *srq = kunit_kzalloc(sm->test, sizeof(*srq), GFP_KERNEL);
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = sm->conf.max_wr, .max_sge = 4 },
	};

	KUNIT_ASSERT_NOT_NULL(sm->test, srq);
	srq->ibsrq.device = &sm->rxe->ib;
	srq->ibsrq.pd = &sm->pd->ibpd;
	srq->ibsrq.event_handler = on_srq_event;
	srq->ibsrq.srq_context = sm;
	KUNIT_ASSERT_EQ(sm->test, rxe_create_srq(&srq->ibsrq, &init, NULL), 0);
	sm->srq = srq;
}

static void make_qp(struct sm *sm)
{
	struct rxe_qp *qp = kunit_kzalloc(sm->test, sizeof(*qp), GFP_KERNEL);
	struct ib_qp_init_attr init = {
		.qp_type = sm->conf.type,
		.send_cq = &sm->scq->ibcq,
		.recv_cq = &sm->rcq->ibcq,
		.sq_sig_type = sm->conf.sig_req ? IB_SIGNAL_REQ_WR :
						  IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = sm->conf.max_wr,
			.max_recv_wr = sm->conf.max_wr,
			.max_send_sge = 4,
			.max_recv_sge = 4,
			.max_inline_data = 64,
		},
	};

	KUNIT_ASSERT_NOT_NULL(sm->test, qp);
	if (sm->srq)
		init.srq = &sm->srq->ibsrq;
	qp->ibqp.device = &sm->rxe->ib;
	qp->ibqp.pd = &sm->pd->ibpd;
	qp->ibqp.qp_type = sm->conf.type;
	qp->ibqp.port = 1;
	qp->ibqp.event_handler = on_qp_event;
	qp->ibqp.qp_context = sm;
	KUNIT_ASSERT_EQ(sm->test, rxe_create_qp(&qp->ibqp, &init, NULL), 0);
	sm->qp = qp;
}

static void end(void *arg)
{
	struct sm *sm = arg;

	if (sm->qp)
		rxe_destroy_qp(&sm->qp->ibqp, NULL);
	if (sm->srq)
		rxe_destroy_srq(&sm->srq->ibsrq, NULL);
	if (sm->scq)
		rxe_destroy_cq(&sm->scq->ibcq, NULL);
	if (sm->rcq)
		rxe_destroy_cq(&sm->rcq->ibcq, NULL);
	while (sm->num_mws)
		rxe_dealloc_mw(&sm->mws[--sm->num_mws].ibmw);
	if (sm->mr)
		rxe_dereg_mr(&sm->mr->ibmr, NULL);
	sm_skip(sm);
	sm_forget(sm);
}

struct sm *sm_make(struct kunit *test, const struct sm_conf *conf)
{
	struct sm *sm = kunit_kzalloc(test, sizeof(*sm), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, sm);
	sm->test = test;
	sm->conf = *conf;
	spin_lock_init(&sm->lock);
	INIT_LIST_HEAD(&sm->sent);
	INIT_LIST_HEAD(&sm->seen);
	sm->rxe = conf->link_of ? conf->link_of->rxe : fake_dev(test);
	sm->rxe->net = &init_net;
	sm->rxe->trains = true;
	sm->rxe->mtu = 4096;
	sm->pd = fake_pd(test, sm->rxe);
	sm->pages = fake_pages(test, conf->pages);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end, sm), 0);
	sm->mr = fake_mr(test, sm->pd, sm->pages, 0, conf->va,
			 conf->pages * PAGE_SIZE, conf->mr_access);
	for (i = 0; i < conf->pages * PAGE_SIZE; i++)
		*sm_mem(sm, i) = sm_byte(i);
	sm->scq = make_cq(sm);
	sm->rcq = make_cq(sm);
	if (conf->srq)
		make_srq(sm);
	make_qp(sm);
	make_way(sm);
	sm_connect(sm);
	return sm;
}

struct sm *sm_start(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();

	return sm_make(test, &conf);
}

void sm_end(struct sm *sm)
{
	KUNIT_EXPECT_EQ(sm->test, sm->garbage, 0);
	kunit_release_action(sm->test, end, sm);
}

int sm_modify(struct sm *sm, struct ib_qp_attr attr, int mask)
{
	int ret = rxe_modify_qp(&sm->qp->ibqp, &attr, mask, NULL);

	sm_settle(sm);
	return ret;
}

int sm_to_state(struct sm *sm, enum ib_qp_state state)
{
	return sm_modify(sm, (struct ib_qp_attr){ .qp_state = state },
			 IB_QP_STATE);
}

void sm_connect(struct sm *sm)
{
	const struct sm_conf *conf = &sm->conf;
	const bool gsi = conf->type == IB_QPT_GSI;
	const bool ud = gsi || conf->type == IB_QPT_UD;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = conf->qp_access,
		.qkey = gsi ? IB_QP1_QKEY : SM_QKEY,
		.path_mtu = conf->mtu,
		.dest_qp_num = SM_DEST_QPN,
		.rq_psn = conf->rq_psn,
		.max_dest_rd_atomic = conf->max_dest_rd_atomic,
		.min_rnr_timer = conf->min_rnr_timer,
		.sq_psn = conf->sq_psn,
		.timeout = conf->timeout,
		.retry_cnt = conf->retry_cnt,
		.rnr_retry = conf->rnr_retry,
		.max_rd_atomic = conf->max_rd_atomic,
	};
	int to_rtr = IB_QP_STATE | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		     IB_QP_RQ_PSN;
	int to_rts = IB_QP_STATE | IB_QP_SQ_PSN;

	if (ud)
		to_rtr = IB_QP_STATE;
	if (conf->type == IB_QPT_RC) {
		to_rtr |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
		to_rts |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			  IB_QP_MAX_QP_RD_ATOMIC;
	}
	KUNIT_ASSERT_EQ(sm->test,
			sm_modify(sm, attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					    (gsi ? 0 : IB_QP_PORT) |
					    (ud ? IB_QP_QKEY :
						  IB_QP_ACCESS_FLAGS)),
			0);
	attr.qp_state = IB_QPS_RTR;
	KUNIT_ASSERT_EQ(sm->test, sm_modify(sm, attr, to_rtr), 0);
	if (conf->state == IB_QPS_RTR)
		return;
	attr.qp_state = IB_QPS_RTS;
	KUNIT_ASSERT_EQ(sm->test, sm_modify(sm, attr, to_rts), 0);
}

/* Softirqs run here; else their thread has them. */
static void settle_tasklet(struct tasklet_struct *t)
{
	while (READ_ONCE(t->state)) {
		local_bh_disable();
		local_bh_enable();
		if (READ_ONCE(t->state))
			schedule_timeout_uninterruptible(1);
	}
}

void sm_settle(struct sm *sm)
{
	settle_tasklet(&sm->qp->tasklet);
	flush_work(&sm->qp->event_work);
	if (sm->srq)
		flush_work(&sm->srq->event_work);
	settle_tasklet(&sm->scq->tasklet);
	settle_tasklet(&sm->rcq->tasklet);
}

u64 sm_counted(const struct sm *sm, enum rxe_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(sm->rxe->counters, cpu)->value[counter];
	return sum;
}

/* ---- memory ---- */

u8 *sm_mem(struct sm *sm, u32 off)
{
	return page_address(sm->pages[off / PAGE_SIZE]) + off % PAGE_SIZE;
}

void sm_clear(struct sm *sm)
{
	u32 i;

	for (i = 0; i < sm->conf.pages; i++)
		memset(page_address(sm->pages[i]), 0, PAGE_SIZE);
}

bool sm_mem_is(struct sm *sm, u32 off, u32 len, u32 first)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*sm_mem(sm, off + i) != sm_byte(first + i))
			return false;
	return true;
}

bool sm_mem_is_clear(struct sm *sm, u32 off, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (*sm_mem(sm, off + i))
			return false;
	return true;
}

/* ---- windows ---- */

struct rxe_mw *sm_mw(struct sm *sm, enum ib_mw_type type)
{
	struct rxe_mw *mw = &sm->mws[sm->num_mws];

	KUNIT_ASSERT_LT(sm->test, sm->num_mws, SM_MAX_MW);
	mw->ibmw.device = &sm->rxe->ib;
	mw->ibmw.pd = &sm->pd->ibpd;
	mw->ibmw.type = type;
	KUNIT_ASSERT_EQ(sm->test, rxe_alloc_mw(&mw->ibmw, NULL), 0);
	sm->num_mws++;
	return mw;
}

int sm_bind_by(struct sm *sm, struct rxe_qp *qp, struct rxe_mw *mw, u32 off,
	       u32 len, int access)
{
	const struct rxe_bind bind = {
		.mw_rkey = mw->entry->rkey,
		.new_rkey = mw->entry->rkey,
		.mr_lkey = sm->mr->key,
		.access = access,
		.addr = sm->mr->va + off,
		.length = len,
	};
	int ret;

	local_bh_disable();
	ret = rxe_mw_bind(qp, &bind);
	local_bh_enable();
	return ret;
}

void sm_bind(struct sm *sm, struct rxe_mw *mw)
{
	KUNIT_ASSERT_EQ(sm->test, 0,
			sm_bind_by(sm, sm->qp, mw, 0, 4096,
				   IB_ACCESS_REMOTE_READ));
}

bool sm_bound(const struct rxe_mw *mw)
{
	return READ_ONCE(mw->entry->mr);
}

struct rxe_qp *sm_stranger(struct sm *sm)
{
	struct rxe_qp *qp = kunit_kzalloc(sm->test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(sm->test, qp);
	qp->pd = sm->pd;
	qp->qpn = sm->qp->qpn ^ 1;
	return qp;
}

u32 sm_bad_key(struct sm *sm, const struct rxe_mw *mw, enum sm_bad_key bad)
{
	struct rxe_mw *other;

	switch (bad) {
	case SM_UNBOUND:
		return sm_mw(sm, IB_MW_TYPE_2)->entry->rkey;
	case SM_TYPE_1:
		other = sm_mw(sm, IB_MW_TYPE_1);
		sm_bind(sm, other);
		return other->entry->rkey;
	case SM_STRANGERS:
		other = sm_mw(sm, IB_MW_TYPE_2);
		KUNIT_EXPECT_EQ(sm->test, 0,
				sm_bind_by(sm, sm_stranger(sm), other, 0, 8,
					   IB_ACCESS_REMOTE_READ));
		return other->entry->rkey;
	case SM_LOW_BYTE:
		return mw->entry->rkey ^ 1;
	case SM_REGION:
		return sm->mr->key;
	default:
		return 0;
	}
}

/* ---- in ---- */

static void put_packet(struct sm *sm, struct sk_buff *skb, struct rxe_pkt pkt,
		       const u8 *data)
{
	u32 i;

	pkt.pkey = RXE_DEFAULT_PKEY;
	pkt.qpn = sm->qp->qpn;
	skb_put(skb, rxe_hdr_encode(&pkt, skb_tail_pointer(skb)));
	for (i = 0; i < pkt.len; i++)
		skb_put_u8(skb, data ? data[i] : sm_byte(pkt.payload + i));
	skb_put_zero(skb, pkt.pad + RXE_ICRC_LEN);
}

static void receive(struct sm *sm, struct sk_buff *skb, u32 seg_len)
{
	struct rxe_rx_cb *cb = rxe_rx_cb(skb);

	cb->off = 0;
	cb->len = skb->len;
	cb->seg_len = seg_len;
	local_bh_disable();
	rxe_run_rx(sm->qp, skb);
	local_bh_enable();
	sm_settle(sm);
}

static u32 packet_room(const struct rxe_pkt *pkt)
{
	return RXE_MAX_HDR_LEN + ALIGN(pkt->len, 4) + RXE_ICRC_LEN;
}

/* Behind an IPv4 header, as it would have come. */
static struct sk_buff *packets_skb(struct sm *sm, u32 room)
{
	const struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.ttl = 63,
		.protocol = IPPROTO_UDP,
		.saddr = cpu_to_be32(0x0a000002),
		.daddr = cpu_to_be32(0x0a000001),
	};
	struct sk_buff *skb = alloc_skb(sizeof(ip) + room, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(sm->test, skb);
	skb_reset_network_header(skb);
	skb_put_data(skb, &ip, sizeof(ip));
	skb_pull(skb, sizeof(ip));
	skb->protocol = htons(ETH_P_IP);
	return skb;
}

void sm_rx_data(struct sm *sm, struct rxe_pkt pkt, const u8 *data)
{
	struct sk_buff *skb = packets_skb(sm, packet_room(&pkt));

	put_packet(sm, skb, pkt, data);
	receive(sm, skb, skb->len);
}

void sm_rx(struct sm *sm, struct rxe_pkt pkt)
{
	sm_rx_data(sm, pkt, NULL);
}

void sm_rx_train(struct sm *sm, const struct rxe_pkt *pkts, u32 num)
{
	struct sk_buff *skb = packets_skb(sm, num * packet_room(pkts));
	u32 seg_len = 0;
	u32 i;

	for (i = 0; i < num; i++) {
		put_packet(sm, skb, pkts[i], NULL);
		if (!i)
			seg_len = skb->len;
	}
	receive(sm, skb, seg_len);
}

void sm_burst(struct sm *sm)
{
	rxe_run_own(sm->qp);
}

void sm_burst_end(struct sm *sm)
{
	rxe_run_disown(sm->qp);
	sm_settle(sm);
}

bool sm_burst_pass(struct sm *sm)
{
	bool more;

	/* Idle again, and nobody ran it yet. */
	atomic_set(&sm->qp->run, 0);
	local_bh_disable();
	more = rxe_run(sm->qp);
	local_bh_enable();
	return more;
}

void sm_ack(struct sm *sm, u32 psn, u8 syndrome, u32 msn)
{
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_ACKNOWLEDGE,
		.psn = psn,
		.syndrome = syndrome,
		.msn = msn,
	};

	sm_rx(sm, pkt);
}

int sm_post_sges(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode,
		 struct ib_sge *sge, int num, int flags)
{
	const struct ib_send_wr *bad;
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = wr_id,
			.opcode = opcode,
			.send_flags = flags,
			.sg_list = sge,
			.num_sge = num,
			.ex.imm_data = cpu_to_be32(0x1000 + wr_id),
		},
		.remote_addr = 0xfedcba9876543210,
		.rkey = 0x13572468,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr.wr, &bad);

	sm_settle(sm);
	return ret;
}

int sm_post(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode, u32 off,
	    u32 len, int flags)
{
	struct ib_sge sge = { sm->mr->va + off, len, sm->mr->key };

	return sm_post_sges(sm, wr_id, opcode, &sge, 1, flags);
}

int sm_post_inv(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode, u32 key,
		u32 len, int flags)
{
	struct ib_sge sge = { sm->mr->va, len, sm->mr->key };
	const struct ib_send_wr *bad;
	struct ib_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.send_flags = flags,
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
		.ex.invalidate_rkey = key,
	};
	int ret = rxe_post_send(&sm->qp->ibqp, &wr, &bad);

	sm_settle(sm);
	return ret;
}

int sm_post_recv(struct sm *sm, u64 wr_id, u32 off, u32 len)
{
	struct ib_sge sge = { sm->mr->va + off, len, sm->mr->key };
	struct ib_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};
	const struct ib_recv_wr *bad;
	int ret = sm->srq ? rxe_post_srq_recv(&sm->srq->ibsrq, &wr, &bad) :
			     rxe_post_recv(&sm->qp->ibqp, &wr, &bad);

	sm_settle(sm);
	return ret;
}

void sm_give_ring(struct sm *sm)
{
	struct rxe_sq *sq = &sm->qp->sq;

	sq->ring = rxe_ring_alloc(sq->max_wr, sizeof(struct rxe_send_wqe) +
					      sq->max_inline);
	KUNIT_ASSERT_NOT_NULL(sm->test, sq->ring);
	KUNIT_ASSERT_EQ(sm->test, sq->ring->mask, sq->mask);
	sm->qp->is_user = true;
}

struct rxe_send_wqe *sm_ring_wqe(struct sm *sm, u32 index)
{
	return rxe_ring_elem(sm->qp->sq.ring, index);
}

int sm_doorbell(struct sm *sm, u32 producer)
{
	const struct ib_send_wr *bad;
	int ret;

	sm->qp->sq.ring->buf->producer_index = producer;
	ret = rxe_post_send(&sm->qp->ibqp, NULL, &bad);
	sm_settle(sm);
	return ret;
}

void sm_ack_timeout(struct sm *sm)
{
	struct rxe_qp *qp = sm->qp;

	rxe_run_own(qp);
	if (qp->req.ack_deadline)
		qp->req.ack_deadline = 1;
	set_bit(RXE_TODO_TIMEOUT, &qp->todo);
	rxe_run_disown(qp);
	sm_settle(sm);
}

#ifdef CONFIG_FAULT_INJECTION
void sm_no_memory(struct sm *sm)
{
	/* It does without those that may sleep. */
	current->fail_nth = 1;
}

bool sm_memory_was_short(void)
{
	bool failed = !current->fail_nth;

	current->fail_nth = 0;
	return failed;
}
#else
void sm_no_memory(struct sm *sm)
{
	kunit_skip(sm->test, "no fault injection in this kernel");
}

bool sm_memory_was_short(void)
{
	return false;
}
#endif

void sm_pause_over(struct sm *sm)
{
	ktime_t until = READ_ONCE(sm->qp->pause.until);
	int i;

	/* First it has to be the first of its lane. */
	for (i = 0; i < 10000 && until == KTIME_MAX; i++) {
		usleep_range(100, 200);
		until = READ_ONCE(sm->qp->pause.until);
	}
	KUNIT_ASSERT_NE(sm->test, until, KTIME_MAX);
	while (ktime_before(ktime_get(), until))
		usleep_range(100, 200);
	rxe_run_task(sm->qp);
	sm_settle(sm);
}

void sm_rnr_timeout(struct sm *sm)
{
	struct rxe_qp *qp = sm->qp;

	hrtimer_cancel(&qp->rnr_timer);
	set_bit(RXE_TODO_RNR, &qp->todo);
	rxe_run_task(qp);
	sm_settle(sm);
}

/* ---- out ---- */

const struct sm_sent *sm_next_at(struct sm *sm, int line)
{
	struct sm_sent *sent;

	spin_lock_bh(&sm->lock);
	sent = list_first_entry_or_null(&sm->sent, struct sm_sent, entry);
	if (sent)
		list_move_tail(&sent->entry, &sm->seen);
	spin_unlock_bh(&sm->lock);
	KUNIT_EXPECT_NOT_NULL_MSG(sm->test, sent, "line %d: nothing was sent",
				  line);
	return sent;
}

u32 sm_num_sent(struct sm *sm)
{
	u32 n;

	spin_lock_bh(&sm->lock);
	n = list_count_nodes(&sm->sent);
	spin_unlock_bh(&sm->lock);
	return n;
}

void sm_skip(struct sm *sm)
{
	spin_lock_bh(&sm->lock);
	list_splice_tail_init(&sm->sent, &sm->seen);
	spin_unlock_bh(&sm->lock);
}

void sm_forget(struct sm *sm)
{
	struct sm_sent *sent, *tmp;

	list_for_each_entry_safe(sent, tmp, &sm->seen, entry)
		kfree(sent);
	INIT_LIST_HEAD(&sm->seen);
}

void sm_expect_none_at(struct sm *sm, int line)
{
	struct sm_sent *sent;

	list_for_each_entry(sent, &sm->sent, entry)
		KUNIT_FAIL(sm->test, "line %d: sent %s PSN %#x syndrome %#x",
			   line, sent->pkt.op->name, sent->pkt.psn,
			   sent->pkt.syndrome);
	sm_skip(sm);
}

/* What every packet of the QP has. */
static void expect_bth(struct sm *sm, int line, const struct rxe_pkt *pkt,
		       u8 opcode, u32 psn)
{
	KUNIT_EXPECT_EQ_MSG(sm->test, pkt->opcode, opcode, "line %d, PSN %#x",
			    line, pkt->psn);
	KUNIT_EXPECT_EQ_MSG(sm->test, pkt->psn, psn, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, pkt->qpn, SM_DEST_QPN, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, pkt->pkey, 0xffff, "line %d", line);
}

void sm_expect_data_at(struct sm *sm, int line, u8 opcode, u32 psn, u32 off,
		       u32 len, bool ack_req)
{
	const struct sm_sent *sent = sm_next_at(sm, line);
	u32 i;

	if (!sent)
		return;
	expect_bth(sm, line, &sent->pkt, opcode, psn);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.ack_req, ack_req,
			    "line %d, PSN %#x", line, sent->pkt.psn);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.len, len, "line %d, PSN %#x",
			    line, sent->pkt.psn);
	for (i = 0; i < min(len, sent->pkt.len); i++)
		if (sent->data[i] != sm_byte(off + i)) {
			KUNIT_FAIL(sm->test, "line %d: byte %u differs", line,
				   i);
			break;
		}
}

void sm_expect_read_at(struct sm *sm, int line, u32 psn, u32 off, u32 len)
{
	const struct sm_sent *sent = sm_next_at(sm, line);

	if (!sent)
		return;
	expect_bth(sm, line, &sent->pkt, 0x0c, psn);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.va,
			    0xfedcba9876543210 + off, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.rkey, 0x13572468, "line %d",
			    line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.dmalen, len, "line %d", line);
}

void sm_expect_aeth_at(struct sm *sm, int line, u32 psn, u8 syndrome, u32 msn)
{
	const struct sm_sent *sent = sm_next_at(sm, line);

	if (!sent)
		return;
	expect_bth(sm, line, &sent->pkt, 0x11, psn);
	if (syndrome == SM_ANY_CREDITS)
		KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.syndrome & 0xe0, 0,
				    "line %d: %#x is no ACK", line,
				    sent->pkt.syndrome);
	else
		KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.syndrome, syndrome,
				    "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sent->pkt.msn, msn, "line %d", line);
}

void sm_expect_wc_at(struct sm *sm, int line, bool send, u64 wr_id,
		     enum ib_wc_status status)
{
	struct rxe_cq *cq = send ? sm->scq : sm->rcq;
	int n = rxe_poll_cq(&cq->ibcq, 1, &sm->wc);

	KUNIT_EXPECT_EQ_MSG(sm->test, n, 1, "line %d: no completion of %llu",
			    line, wr_id);
	if (n != 1) {
		memset(&sm->wc, 0, sizeof(sm->wc));
		return;
	}
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->wc.wr_id, wr_id, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(sm->test, sm->wc.status, status, "line %d", line);
	KUNIT_EXPECT_PTR_EQ_MSG(sm->test, sm->wc.qp, &sm->qp->ibqp, "line %d",
				line);
}

void sm_expect_no_wc_at(struct sm *sm, int line)
{
	while (rxe_poll_cq(&sm->scq->ibcq, 1, &sm->wc) == 1)
		KUNIT_FAIL(sm->test, "line %d: send %llu completed: %d", line,
			   sm->wc.wr_id, sm->wc.status);
	while (rxe_poll_cq(&sm->rcq->ibcq, 1, &sm->wc) == 1)
		KUNIT_FAIL(sm->test, "line %d: receive %llu completed: %d",
			   line, sm->wc.wr_id, sm->wc.status);
}

void sm_expect_events_at(struct sm *sm, int line, enum ib_event_type type,
			 int count)
{
	int i;

	sm_settle(sm);
	for (i = 0; i < BITS_PER_LONG; i++)
		KUNIT_EXPECT_EQ_MSG(sm->test, sm->qp_events[i],
				    i == type ? count : 0,
				    "line %d: event %d", line, i);
	memset(sm->qp_events, 0, sizeof(sm->qp_events));
}
