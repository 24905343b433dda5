// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A program that lies to the kernel in every queue it shares with it.
 *
 *   supervisor --- forks, kills, counts; has a region that nobody may touch
 *     child      slots: a liar's QP and CQ     <--->  an honest peer's
 *                scribblers: overwrite the liars' queues, also after these died
 *                ringers: ring the liars' bells with raw write() commands
 *
 * Half of the slots are posted to and polled through libibverbs, which trusts
 * the queues itself: there the indexes are wrong but inside the ring. In the
 * others everything is overwritten, and only the scribblers post. A child that
 * its own lies kill is replaced, with the next seed.
 *
 * Afterwards each kind of malformed request by itself: the queue pair has to
 * end in error, with the completion that names it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"
#include "rings.h"
#include "scribble.h"

struct totals *totals;
struct options opt = { .dev = "", .gid = "v4", .seconds = 20 };
struct canary parent_canary;

/* ------------------------------------------------------------------ numbers */

uint64_t rnd(struct rng *r)
{
	return pattern_word(r->seed, r->count++);
}

uint32_t below(struct rng *r, uint32_t n)
{
	return rnd(r) % n;
}

/* ------------------------------------------------------------------ canaries */

void canary_make(struct canary *c, struct ibv_pd *pd, uint64_t key)
{
	c->key = key;
	c->mem = aligned_alloc(4096, CANARY_BYTES);
	if (!c->mem)
		die("no memory");
	pattern_fill(c->mem, key, 0, CANARY_BYTES);
	c->mr = ibv_reg_mr(pd, c->mem, CANARY_BYTES, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!c->mr)
		die("ibv_reg_mr: %s", strerror(errno));
}

bool canary_sings(const struct canary *c)
{
	size_t where, wrong;

	return pattern_check(c->mem, c->key, 0, CANARY_BYTES, &where, &wrong);
}

/* ---------------------------------------------------- the queues of a child */

struct entry {
	struct ring ring;
	bool used, wild;
	unsigned int orphaned;	/* 0: its owner lives; else when it died */
};

static struct entry table[TABLE_SIZE];
static pthread_rwlock_t table_lock;
static unsigned int orphan_clock;
static atomic_bool stop;

static void table_init(void)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&table_lock, &attr);
}

static void table_add(const struct ring *ring, bool wild)
{
	struct entry *oldest = NULL, *at = NULL;

	pthread_rwlock_wrlock(&table_lock);
	for (unsigned int i = 0; i < TABLE_SIZE && !at; i++) {
		struct entry *e = &table[i];

		if (!e->used)
			at = e;
		else if (e->orphaned && (!oldest || e->orphaned < oldest->orphaned))
			oldest = e;
	}
	if (!at && oldest) {
		rings_unmap(oldest->ring.buf, oldest->ring.len);
		at = oldest;
	}
	if (at)
		*at = (struct entry){ .ring = *ring, .used = true, .wild = wild };
	pthread_rwlock_unlock(&table_lock);
}

/* The queue pair goes, its queue stays mapped and is scribbled on. */
static bool table_orphan(void *addr, size_t len)
{
	bool found = false;

	(void)len;
	pthread_rwlock_wrlock(&table_lock);
	for (unsigned int i = 0; i < TABLE_SIZE; i++) {
		struct entry *e = &table[i];

		if (e->used && !e->orphaned && e->ring.buf == addr) {
			e->orphaned = ++orphan_clock;
			e->wild = true;
			found = true;
		}
	}
	pthread_rwlock_unlock(&table_lock);
	return found;
}

/* -------------------------------------------------------------- scribbling */

static struct nasty nasty;

static uint32_t any_key(struct rng *r)
{
	switch (below(r, 10)) {
	case 0:
		return rnd(r);
	case 1:
		return below(r, 2) ? 0 : ~0u;
	case 2:
		return nasty.own_key ^ 0x100;
	default:
		return nasty.key[below(r, NASTY_KEYS)];
	}
}

static uint64_t any_addr(struct rng *r)
{
	static const uint64_t odd[] = { 0, ~0ull, 0xfffffffffffffc00, 0xffff888000000000,
					0xffffffff81000000, 1ull << 63, 4095 };

	switch (below(r, 8)) {
	case 0:
		return rnd(r);
	case 1:
		return odd[below(r, sizeof(odd) / sizeof(*odd))];
	default:
		return nasty.addr[below(r, NASTY_KEYS)] + below(r, 5) * 1021 - 2;
	}
}

static uint32_t any_len(struct rng *r)
{
	static const uint32_t list[] = { 0, 1, 3, 64, 255, 256, 257, 1024, 4096, 65536, 1 << 20,
					 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, ~0u };

	return below(r, 6) ? list[below(r, sizeof(list) / sizeof(*list))] : rnd(r);
}

static uint32_t any_count(struct rng *r)
{
	static const uint32_t list[] = { 0, 1, 2, 4, 5, 31, 32, 33, 255, 0x10000001,
					 0x7fffffff, 0x80000000, ~0u };

	return below(r, 8) ? list[below(r, sizeof(list) / sizeof(*list))] : rnd(r);
}

static uint32_t any_opcode(struct rng *r)
{
	/* Up to the last of user space, then the kernel's own, then nobody's. */
	switch (below(r, 6)) {
	case 0:
		return 0x20 + below(r, 4);
	case 1:
		return 0xf0 + below(r, 16);
	case 2:
		return rnd(r);
	default:
		return below(r, 17);
	}
}

/* A store that the compiler does not leave out. */
static void put(uint32_t *to, uint32_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void scatter_sges(struct rng *r, struct rxe_sge *sge, unsigned int room)
{
	unsigned int k = below(r, room);

	switch (below(r, 4)) {
	case 0:
		sge[k].addr = any_addr(r);
		break;
	case 1:
		sge[k].length = any_len(r);
		break;
	case 2:
		sge[k].lkey = any_key(r);
		break;
	default:
		sge[k] = (struct rxe_sge){ nasty.addr[0], below(r, 4096), nasty.own_key };
	}
}

static unsigned int sge_room(const struct ring *ring, size_t head)
{
	return ((1u << ring->log2_elem) - head) / sizeof(struct rxe_sge);
}

/* What a program in its right mind would post. */
static void good_wqe(struct rng *r, struct rxe_send_wqe *wqe)
{
	static const uint32_t opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
					    IBV_WR_RDMA_WRITE_WITH_IMM };
	uint32_t len = below(r, 8) ? below(r, 300) : below(r, BUF_BYTES / 2);

	memset(&wqe->wr, 0, sizeof(wqe->wr));
	wqe->wr.opcode = opcodes[below(r, 4)];
	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	wqe->wr.wr.rdma.remote_addr = nasty.peer_addr;
	wqe->wr.wr.rdma.rkey = nasty.peer_key;
	wqe->dma.length = len;
	wqe->dma.resid = len;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0] = (struct rxe_sge){ nasty.addr[0], len, nasty.own_key };
}

static void scribble_sq(struct rng *r, struct rxe_send_wqe *wqe, const struct ring *ring)
{
	switch (below(r, 16)) {
	case 0:
		wqe->wr.opcode = any_opcode(r);
		break;
	case 1:
		wqe->wr.send_flags = rnd(r);
		break;
	case 2:
		wqe->wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
		wqe->dma.length = any_len(r);
		wqe->dma.sge_offset = rnd(r);
		wqe->dma.cur_sge = rnd(r);
		break;
	case 3:
	case 4:
		wqe->dma.num_sge = any_count(r);
		break;
	case 5:
		wqe->dma.length = any_len(r);
		wqe->dma.resid = any_len(r);
		break;
	case 6:
		wqe->wr.wr.rdma.remote_addr = any_addr(r);
		break;
	case 7:
		wqe->wr.wr.rdma.rkey = any_key(r);
		break;
	case 8:
		wqe->wr.wr.ud.ah_num = rnd(r);
		break;
	case 9:
		wqe->wr.wr_id = rnd(r);
		break;
	case 10:
		wqe->first_psn = rnd(r);
		wqe->last_psn = rnd(r);
		wqe->state = rnd(r);
		wqe->mask = rnd(r);
		wqe->iova = rnd(r);
		break;
	case 11:
		((uint32_t *)wqe)[below(r, 1u << (ring->log2_elem - 2))] = rnd(r);
		break;
	case 12:
		scatter_sges(r, wqe->dma.sge, sge_room(ring, sizeof(*wqe)));
		break;
	default:
		good_wqe(r, wqe);
	}
}

static void scribble_rq(struct rng *r, struct rxe_recv_wqe *wqe, const struct ring *ring)
{
	switch (below(r, 8)) {
	case 0:
		wqe->wr_id = rnd(r);
		break;
	case 1:
		/* Forth and back while the kernel may be looking. */
		for (int i = 0; i < 200; i++) {
			put(&wqe->dma.num_sge, 1);
			put(&wqe->dma.num_sge, i & 1 ? ~0u : 33);
		}
		break;
	case 2:
		wqe->dma.num_sge = any_count(r);
		break;
	case 3:
		((uint32_t *)wqe)[below(r, 1u << (ring->log2_elem - 2))] = rnd(r);
		break;
	case 4:
	case 5:
		scatter_sges(r, wqe->dma.sge, sge_room(ring, sizeof(*wqe)));
		break;
	default:
		wqe->dma.num_sge = 1;
		wqe->dma.sge[0] = (struct rxe_sge){ nasty.addr[0], BUF_BYTES, nasty.own_key };
	}
}

static void scribble_indexes(struct rng *r, struct entry *e)
{
	struct rxe_queue_buf *buf = e->ring.buf;
	uint32_t mask = e->wild && below(r, 2) ? ~0u : e->ring.mask;

	switch (below(r, e->wild ? 6 : 4)) {
	case 0:
		put(&buf->producer_index, rnd(r) & mask);
		break;
	case 1:
		put(&buf->consumer_index, rnd(r) & mask);
		break;
	case 2:
		put(&buf->producer_index, (buf->producer_index + 1) & e->ring.mask);
		break;
	case 3:
		put(&buf->producer_index, (buf->consumer_index + below(r, 4)) & e->ring.mask);
		break;
	case 4:
		put(&buf->index_mask, rnd(r));
		break;
	default:
		put(&buf->log2_elem_size, rnd(r));
	}
}

static void scribble_once(struct rng *r, struct entry *e)
{
	void *elem = ring_elem(&e->ring, rnd(r));

	if (!below(r, 4)) {
		scribble_indexes(r, e);
		return;
	}
	switch (e->ring.kind) {
	case RING_SQ:
		scribble_sq(r, elem, &e->ring);
		break;
	case RING_RQ:
		scribble_rq(r, elem, &e->ring);
		break;
	case RING_CQ:
		((uint32_t *)elem)[below(r, 1u << (e->ring.log2_elem - 2))] = rnd(r);
	}
}

static void *scribbler_main(void *arg)
{
	struct rng r = { .seed = (uintptr_t)arg };

	while (!stop) {
		struct entry *e = &table[below(&r, TABLE_SIZE)];
		unsigned int n = 1 + below(&r, 60);

		pthread_rwlock_rdlock(&table_lock);
		if (e->used) {
			for (unsigned int i = 0; i < n; i++)
				scribble_once(&r, e);
			totals->scribbles += n;
		}
		pthread_rwlock_unlock(&table_lock);
		if (!below(&r, 20))
			usleep(below(&r, 1000));
	}
	return NULL;
}

/* ------------------------------------------------------------------ the bell */

static struct rig liar_rig, peer_rig;
static _Atomic uint32_t handles[SLOTS];

/* Counts and sizes that need not fit what follows. */
static void ring_wrongly(struct rng *r, uint32_t handle)
{
	struct ib_uverbs_post_send cmd = {
		.qp_handle = handle, .wr_count = any_count(r), .sge_count = any_count(r),
		.wqe_size = below(r, 2) ? 128 : any_len(r),
	};
	size_t len = 4 * below(r, 128);
	uint32_t wrs[128];

	for (unsigned int i = 0; i < 128; i++)
		wrs[i] = rnd(r);
	if (!rings_doorbell_with(liar_rig.ctx, &cmd, wrs, len))
		totals->rings++;
}

static void *ringer_main(void *arg)
{
	struct rng r = { .seed = (uintptr_t)arg };

	while (!stop) {
		uint32_t handle = handles[below(&r, SLOTS)];

		if (!below(&r, 10))
			ring_wrongly(&r, below(&r, 4) ? handle : (uint32_t)rnd(&r));
		else if (!rings_doorbell(liar_rig.ctx, handle))
			totals->rings++;
		if (!below(&r, 10))
			usleep(below(&r, 500));
	}
	return NULL;
}

/* ------------------------------------------------------------------ the slots */

struct slot {
	unsigned int id;
	bool lib;		/* posted to and polled through the library */
	struct rng rng;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];	/* the liar's, the peer's */
	struct ibv_qp *qp[2];
	struct ibv_srq *srq;	/* the liar's, or NULL: it has a receive queue */
};

static struct tuning slot_tuning(void)
{
	struct tuning tune = tuning_default;

	tune.timeout = 14;
	tune.retry_cnt = 3;
	tune.rnr_retry = 3;
	tune.min_rnr = 1;
	if (liar_rig.port.active_mtu < tune.mtu)
		tune.mtu = liar_rig.port.active_mtu;
	return tune;
}

static void slot_connect(struct slot *s)
{
	const struct tuning tune = slot_tuning();
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct rig *rigs[2] = { &liar_rig, &peer_rig };
	int err;

	for (int i = 0; i < 2; i++) {
		err = ibv_modify_qp(s->qp[i], &reset, IBV_QP_STATE);
		if (err)
			die("slot %u: RESET of QP %d: %s", s->id, i, strerror(err));
	}
	for (int i = 0; i < 2; i++) {
		struct peer to = { .qpn = s->qp[!i]->qp_num, .psn = s->id * 77,
				   .gid = rigs[!i]->gid };

		err = rig_connect(rigs[i], s->qp[i], &to, to.psn, &tune);
		/* What the other side says may already have been its end. */
		if (err && rings_qp_state(s->qp[i]) != IBV_QPS_ERR)
			die("slot %u: connecting QP %d: %s", s->id, i, strerror(err));
	}
	totals->connections++;
}

static struct ibv_srq *slot_srq(struct slot *s, struct ring *ring)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 1 + below(&s->rng, 64), .max_sge = 1 + below(&s->rng, 8) },
	};
	struct ibv_srq *srq = rings_create_srq(liar_rig.pd, &init, ring);

	if (!srq)
		die("slot %u: ibv_create_srq: %s", s->id, strerror(errno));
	return srq;
}

static void slot_open(struct slot *s)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ring ring[3];

	s->lib = below(&s->rng, 2);
	s->channel = ibv_create_comp_channel(liar_rig.ctx);
	s->cq[0] = rings_create_cq(liar_rig.ctx, 1 + below(&s->rng, 255), s->channel, &ring[2]);
	s->cq[1] = ibv_create_cq(peer_rig.ctx, 255, NULL, NULL, 0);
	if (!s->cq[0] || !s->cq[1])
		die("slot %u: ibv_create_cq: %s", s->id, strerror(errno));
	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 1 + below(&s->rng, 64), .max_recv_wr = 1 + below(&s->rng, 64),
		.max_send_sge = 1 + below(&s->rng, 8), .max_recv_sge = 1 + below(&s->rng, 8),
		.max_inline_data = below(&s->rng, 256),
	};
	s->srq = below(&s->rng, 2) ? slot_srq(s, &ring[0]) : NULL;
	init.srq = s->srq;
	init.send_cq = s->cq[0];
	init.recv_cq = s->cq[0];
	s->qp[0] = rings_create_qp(liar_rig.pd, &init, ring);
	init.cap = (struct ibv_qp_cap){ 64, 64, 2, 2, 64 };
	init.srq = NULL;
	init.send_cq = s->cq[1];
	init.recv_cq = s->cq[1];
	s->qp[1] = ibv_create_qp(peer_rig.pd, &init);
	if (!s->qp[0] || !s->qp[1])
		die("slot %u: ibv_create_qp: %s", s->id, strerror(errno));
	for (int i = 0; i < 3; i++)
		table_add(&ring[i], !s->lib);
	handles[s->id] = s->qp[0]->handle;
	slot_connect(s);
	totals->slots++;
}

/* While somebody rings its bell, a queue pair is busy. */
static int destroy_rung(struct ibv_qp *qp)
{
	uint64_t end = now_ms() + 30000;
	int err;

	do {
		err = ibv_destroy_qp(qp);
		if (err == EBUSY)
			usleep(100);
	} while (err == EBUSY && now_ms() < end);
	return err;
}

static void slot_close(struct slot *s)
{
	int err;

	err = destroy_rung(s->qp[0]);
	err = err ?: ibv_destroy_qp(s->qp[1]);
	err = err ?: s->srq ? ibv_destroy_srq(s->srq) : 0;
	err = err ?: ibv_destroy_cq(s->cq[0]);
	err = err ?: ibv_destroy_cq(s->cq[1]);
	err = err ?: ibv_destroy_comp_channel(s->channel);
	if (err)
		die("slot %u: taking it down: %s", s->id, strerror(err));
}

/* Side 0 is the liar. Failing is all right: the queue may be full, or claim so. */
static void slot_post(struct slot *s, int side)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						      IBV_WR_RDMA_READ,
						      IBV_WR_RDMA_WRITE_WITH_IMM };
	const struct side_mem *mine = &nasty.side[side], *theirs = &nasty.side[!side];
	struct ibv_sge sge = { mine->addr, below(&s->rng, BUF_BYTES), mine->key };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcodes[below(&s->rng, 4)],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { theirs->addr, theirs->key },
	}, *bad;

	if (below(&s->rng, 2)) {
		sge.length = BUF_BYTES;
		if (!side && s->srq)
			ibv_post_srq_recv(s->srq, &recv, &bad_recv);
		else
			ibv_post_recv(s->qp[side], &recv, &bad_recv);
	} else {
		if (below(&s->rng, 4))
			sge.length &= 1023;
		ibv_post_send(s->qp[side], &wr, &bad);
	}
}

/* Polls one side; true when its queue pair is beyond use. */
static bool slot_poll(struct slot *s, int side)
{
	struct ibv_wc wc[8];
	bool dead = false;
	int n = ibv_poll_cq(s->cq[side], 8, wc);

	for (int i = 0; i < n && side; i++) {
		if (wc[i].status)
			dead = true;
		else
			totals->successes++;
	}
	return dead;
}

static void slot_step(struct slot *s)
{
	struct ibv_qp_attr err = { .qp_state = IBV_QPS_ERR };
	struct ibv_srq_attr srq = { .max_wr = 1 + below(&s->rng, 64),
				    .srq_limit = below(&s->rng, 8) };
	bool dead = slot_poll(s, 1);
	int state;

	if (s->lib) {
		slot_post(s, 0);
		slot_poll(s, 0);
	}
	slot_post(s, 1);
	switch (below(&s->rng, 40)) {
	case 0:
		ibv_modify_qp(s->qp[0], &err, IBV_QP_STATE);
		break;
	case 1:
		ibv_req_notify_cq(s->cq[0], below(&s->rng, 2));
		break;
	case 2:
		if (s->lib)
			ibv_resize_cq(s->cq[0], 1 + below(&s->rng, 255));
		break;
	case 3:
	case 4:
		state = rings_qp_state(s->qp[0]);
		if (state == IBV_QPS_ERR) {
			totals->errors++;
			dead = true;
		}
		break;
	case 5:
		usleep(below(&s->rng, 2000));
		break;
	case 6:
		if (s->srq)
			ibv_modify_srq(s->srq, &srq, s->lib && below(&s->rng, 2) ?
				       IBV_SRQ_MAX_WR : IBV_SRQ_LIMIT);
	}
	if (dead)
		slot_connect(s);
}

static void *slot_main(void *arg)
{
	struct slot *s = arg;

	while (!stop) {
		unsigned int steps = 20 + below(&s->rng, 400);

		slot_open(s);
		while (!stop && steps--)
			slot_step(s);
		slot_close(s);
	}
	return NULL;
}

/* ------------------------------------------------------------------ a child */

static void on_term(int sig)
{
	(void)sig;
	stop = true;
}

static struct ibv_mr *side_memory(struct side_mem *side, struct rig *rig, void **mem)
{
	struct ibv_mr *mr;

	*mem = aligned_alloc(4096, BUF_BYTES);
	mr = *mem ? ibv_reg_mr(rig->pd, *mem, BUF_BYTES, IBV_ACCESS_LOCAL_WRITE |
			       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) : NULL;
	if (!mr)
		die("ibv_reg_mr: %s", strerror(errno));
	*side = (struct side_mem){ (uintptr_t)*mem, mr->lkey };
	return mr;
}

static void nasty_list(const struct canary *other_pd, const struct canary *peers)
{
	const struct canary *list[] = { other_pd, peers, &parent_canary };

	nasty.own_key = nasty.side[0].key;
	nasty.peer_key = nasty.side[1].key;
	nasty.peer_addr = nasty.side[1].addr;
	for (unsigned int i = 0; i < NASTY_KEYS; i++) {
		nasty.key[i] = nasty.own_key;
		nasty.addr[i] = nasty.side[0].addr;
	}
	for (unsigned int i = 0; i < 3; i++) {
		nasty.key[NASTY_KEYS - 1 - i] = list[i]->mr->lkey;
		nasty.addr[NASTY_KEYS - 1 - i] = (uintptr_t)list[i]->mem;
	}
}

static int child_main(uint64_t seed)
{
	struct canary other_pd, peers;
	pthread_t thread[SLOTS + 2 * HELPERS];
	struct slot slot[SLOTS] = { 0 };
	struct ibv_pd *pd;
	void *mem[2];
	unsigned int n = 0;
	bool whole;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, on_term);
	table_init();
	rig_open(&liar_rig, opt.dev, opt.gid);
	rig_open(&peer_rig, opt.peer_dev, opt.peer_gid);
	pd = ibv_alloc_pd(liar_rig.ctx);
	side_memory(&nasty.side[0], &liar_rig, &mem[0]);
	side_memory(&nasty.side[1], &peer_rig, &mem[1]);
	canary_make(&other_pd, pd, seed * 8 + 1);
	canary_make(&peers, peer_rig.pd, seed * 8 + 2);
	/* In the peer's own PD, which the liar's keys reach: but for local use only. */
	ibv_dereg_mr(peers.mr);
	peers.mr = ibv_reg_mr(peer_rig.pd, peers.mem, CANARY_BYTES, IBV_ACCESS_LOCAL_WRITE);
	nasty_list(&other_pd, &peers);
	rings_keep = table_orphan;
	for (unsigned int i = 0; i < SLOTS; i++) {
		slot[i].id = i;
		slot[i].rng.seed = seed * 1000 + i;
		pthread_create(&thread[n++], NULL, slot_main, &slot[i]);
	}
	for (unsigned int i = 0; i < HELPERS; i++) {
		pthread_create(&thread[n++], NULL, scribbler_main,
			       (void *)(uintptr_t)(seed * 1000 + 100 + i));
		pthread_create(&thread[n++], NULL, ringer_main,
			       (void *)(uintptr_t)(seed * 1000 + 200 + i));
	}
	while (n)
		pthread_join(thread[--n], NULL);
	whole = canary_sings(&other_pd) && canary_sings(&peers);
	/* The process ends with everything else still open. */
	return whole ? CHILD_WELL : CHILD_CANARY;
}

/* ------------------------------------------------------------ the supervisor */

/* True when @pid ended; *@status is how. */
static bool wait_for(pid_t pid, int *status, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	for (;;) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		if (now_ms() >= end)
			return false;
		usleep(10000);
	}
}

static void end_child(pid_t pid, bool kindly, uint64_t seed)
{
	int status;

	kill(pid, kindly ? SIGTERM : SIGKILL);
	if (!wait_for(pid, &status, 120000)) {
		report(false, "the child with seed %" PRIu64 " ends", seed);
		kill(pid, SIGKILL);
		if (!wait_for(pid, &status, 60000))
			die("not even when it is killed");
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		totals->killed++;
	else if (WIFSIGNALED(status))
		totals->crashed++;
	else if (WEXITSTATUS(status) == CHILD_CANARY)
		report(false, "memory of another PD is untouched (seed %" PRIu64 ")", seed);
	else if (WEXITSTATUS(status) != CHILD_WELL)
		report(false, "the child with seed %" PRIu64 " ended with status %d", seed,
		       WEXITSTATUS(status));
	else
		totals->ended++;
}

static void run_children(void)
{
	uint64_t end = now_ms() + opt.seconds * 1000ull, seed = opt.seed;
	struct rng r = { .seed = opt.seed };

	while (now_ms() < end) {
		unsigned int ms = 2000 + below(&r, 6000);
		int status;
		pid_t pid;

		if (ms > end - now_ms())
			ms = end - now_ms();
		watchdog(ms / 1000 + 300);
		pid = fork();
		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			setpriority(PRIO_PROCESS, 0, 5);
			alarm(0);
			_exit(child_main(seed));
		}
		if (!wait_for(pid, &status, ms))
			end_child(pid, below(&r, 2), seed);
		else if (WIFSIGNALED(status))
			totals->crashed++;
		else
			report(false, "the child with seed %" PRIu64 " ended early, status %d",
			       seed, WEXITSTATUS(status));
		seed++;
	}
}

static void summary(void)
{
	note("%" PRIu64 " children: %u ended, %u killed, %u died of their lies",
	     (uint64_t)totals->ended + totals->killed + totals->crashed, totals->ended,
	     totals->killed, totals->crashed);
	note("%lu queue pairs, %lu connections, %lu scribbles, %lu doorbells",
	     totals->slots, totals->connections, totals->scribbles, totals->rings);
	report(totals->scribbles > 1000 && totals->rings > 100,
	       "queues were scribbled on and bells rung: %lu, %lu", totals->scribbles,
	       totals->rings);
	report(totals->errors > 0, "liars' queue pairs ended in error: %lu", totals->errors);
	report(totals->successes > 0, "and honest requests between them succeeded: %lu",
	       totals->successes);
	report(canary_sings(&parent_canary), "memory of another process is untouched");
}

static const char usage[] =
	"usage: scribble [-d DEV] [-g INDEX|v4|v6] [-D PEERDEV] [-G GID] [--seconds N]\n"
	"                [--seed N] [--lies | --random]\n"
	"  --lies    only the malformed requests, one by one\n"
	"  --random  only the rest\n";

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "gid", 1, NULL, 'g' }, { "dev2", 1, NULL, 'D' },
		{ "gid2", 1, NULL, 'G' }, { "seconds", 1, NULL, 's' }, { "seed", 1, NULL, 'S' },
		{ "lies", 0, NULL, 'l' }, { "random", 0, NULL, 'r' }, { 0 },
	};
	int ch;

	opt.seed = time(NULL) ^ getpid();
	while ((ch = getopt_long(argc, argv, "d:g:D:G:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			opt.dev = optarg;
			break;
		case 'g':
			opt.gid = optarg;
			break;
		case 'D':
			opt.peer_dev = optarg;
			break;
		case 'G':
			opt.peer_gid = optarg;
			break;
		case 's':
			opt.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			opt.random_only = true;
			break;
		case 'l':
			opt.lies_only = true;
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	opt.peer_dev = opt.peer_dev ?: opt.dev;
	opt.peer_gid = opt.peer_gid ?: opt.gid;
}

int main(int argc, char **argv)
{
	struct rig rig;

	parse(argc, argv);
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (totals == MAP_FAILED)
		die("no memory");
	rig_open(&rig, opt.dev, opt.gid);
	canary_make(&parent_canary, rig.pd, opt.seed);
	if (!opt.lies_only) {
		note("seed %" PRIu64 ", %u s", opt.seed, opt.seconds);
		run_children();
		summary();
	}
	watchdog(300);
	if (!opt.random_only) {
		tell_lies();
		report(canary_sings(&parent_canary),
		       "memory of another process is still untouched");
	}
	ibv_dereg_mr(parent_canary.mr);
	rig_close(&rig);
	return report_status();
}
