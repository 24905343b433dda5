// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queues that are too small, that vanish while they are mapped, and that lie.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"
#include "rings.h"

#define RECV_WQE_SGE_MAX 8

/* A liar and its honest peer, each with a CQ of its own. */
struct ring_pair {
	struct pair p;		/* qp[0] the liar's; its CQ is @cq[0], not p.cq */
	struct ibv_cq *cq[2];
	struct ibv_srq *srq;	/* the liar's, or NULL: then @rq is its own */
	struct ring cq_ring, rq, sq;
};

static void ring_pair_open(const struct setting *set, struct ring_pair *r, int cqe, bool shared)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_sge = RECV_WQE_SGE_MAX } };
	struct tuning tune = tuning_default;
	struct pair *p = &r->p;

	memset(r, 0, sizeof(*r));
	case_open(set, &p->rig);
	p->len = 1 << 16;
	p->buf = aligned_alloc(4096, p->len);
	p->mr = p->buf ? ibv_reg_mr(p->rig.pd, p->buf, p->len, IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) : NULL;
	r->cq[0] = rings_create_cq(p->rig.ctx, cqe, NULL, &r->cq_ring);
	r->cq[1] = ibv_create_cq(p->rig.ctx, 256, NULL, NULL, 0);
	if (!p->mr || !r->cq[0] || !r->cq[1])
		die("memory and completion queues: %s", strerror(errno));
	memset(p->buf, 0, p->len);
	srq_init.attr.max_wr = tune.depth;
	r->srq = shared ? rings_create_srq(p->rig.pd, &srq_init, &r->rq) : NULL;
	if (shared && !r->srq)
		die("ibv_create_srq: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr init = {
			.qp_type = IBV_QPT_RC, .send_cq = r->cq[i], .recv_cq = r->cq[i],
			.srq = i ? NULL : r->srq,
			.cap = { .max_send_wr = tune.depth, .max_recv_wr = tune.depth,
				 .max_send_sge = RECV_WQE_SGE_MAX,
				 .max_recv_sge = RECV_WQE_SGE_MAX },
		};
		struct ring ring[2];

		p->qp[i] = rings_create_qp(p->rig.pd, &init, ring);
		if (!p->qp[i])
			die("ibv_create_qp: %s", strerror(errno));
		if (i)
			continue;
		r->sq = ring[1];
		if (!shared)
			r->rq = ring[0];
	}
	pair_connect(p);
}

static void ring_pair_close(struct ring_pair *r)
{
	struct pair *p = &r->p;
	int err = ibv_destroy_qp(p->qp[0]);

	err = err ?: ibv_destroy_qp(p->qp[1]);
	err = err ?: r->srq ? ibv_destroy_srq(r->srq) : 0;
	err = err ?: ibv_destroy_cq(r->cq[0]);
	err = err ?: ibv_destroy_cq(r->cq[1]);
	err = err ?: ibv_dereg_mr(p->mr);
	if (err)
		die("destroying a pair with queues that lied: %s", strerror(err));
	rig_close(&p->rig);
	free(p->buf);
}

static int post_recv(struct ring_pair *r, int which, uint64_t id)
{
	struct ibv_sge sge = { (uintptr_t)r->p.buf + 4096, 4096, r->p.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (!which && r->srq)
		return ibv_post_srq_recv(r->srq, &wr, &bad);
	return ibv_post_recv(r->p.qp[which], &wr, &bad);
}

static int post_one(struct ring_pair *r, int which, uint64_t id, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)r->p.buf, 64, r->p.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)r->p.buf + 8192, r->p.mr->rkey },
	}, *bad;

	return ibv_post_send(r->p.qp[which], &wr, &bad);
}

static bool await_state(struct ibv_qp *qp, int state, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	while (rings_qp_state(qp) != state) {
		if (now_ms() >= end)
			return false;
		usleep(1000);
	}
	return true;
}

/* Waits for an asynchronous event of that type, @ms at most. */
static bool await_event(struct ibv_context *ctx, enum ibv_event_type type, unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	struct ibv_async_event event;
	bool found = false;

	fcntl(ctx->async_fd, F_SETFL, fcntl(ctx->async_fd, F_GETFL) | O_NONBLOCK);
	while (!found && now_ms() < end) {
		if (ibv_get_async_event(ctx, &event)) {
			usleep(1000);
			continue;
		}
		found = event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return found;
}

/* ------------------------------------------------------------------ D07 */

/* One signalled SEND more than the queue holds, and nobody polls. */
static void d07_overrun(const struct setting *set)
{
	unsigned int count, good = 0;
	struct ring_pair r;
	struct ibv_wc wc;
	bool event;
	int err = 0, n, state;

	ring_pair_open(set, &r, 4, false);
	count = r.cq[0]->cqe + 1 > 8 ? r.cq[0]->cqe + 1 : 8;
	for (unsigned int i = 0; i < count && !err; i++)
		err = post_recv(&r, 1, i) ?: post_one(&r, 0, i, IBV_WR_SEND);
	event = await_event(r.p.rig.ctx, IBV_EVENT_CQ_ERR, 20000);
	report(!err && event, "D07 %u sends into a queue of %d: IBV_EVENT_CQ_ERR", count,
	       r.cq[0]->cqe);
	state = await_state(r.p.qp[0], IBV_QPS_ERR, 5000) ? IBV_QPS_ERR : -1;
	report(state == IBV_QPS_ERR, "D07 the queue pair is in error");
	while ((n = ibv_poll_cq(r.cq[0], 1, &wc)) == 1 && !wc.status && wc.wr_id == good)
		good++;
	report(!n && good == (unsigned int)r.cq[0]->cqe,
	       "D07 what was in the queue is still there, in order: %u of %d, then %d", good,
	       r.cq[0]->cqe, n);
	report(post_one(&r, 0, 99, IBV_WR_SEND) || !rig_wait(r.cq[0], &wc, 300),
	       "D07 and nothing comes after the loss");
	ring_pair_close(&r);
}

/* ------------------------------------------------------------------ D13 */

struct flipper {
	struct ring *rq;
	atomic_bool stop;
};

static void set_counts(const struct flipper *f, uint32_t count)
{
	for (uint32_t i = 0; i <= f->rq->mask; i++) {
		struct rxe_recv_wqe *wqe = ring_elem(f->rq, i);

		__atomic_store_n(&wqe->dma.num_sge, count, __ATOMIC_RELAXED);
	}
}

/* Mostly to and fro at full speed; now and then a lie stays for a moment. */
static void *flip_counts(void *arg)
{
	static const uint32_t lies[] = { RECV_WQE_SGE_MAX + 1, 1000, 0x10000001, 0xffffffff };
	struct flipper *f = arg;

	for (unsigned int i = 0; !f->stop; i++) {
		uint32_t lie = lies[i % 4];

		for (unsigned int k = 0; k < 50; k++) {
			set_counts(f, lie);
			set_counts(f, 1);
		}
		if (i % 4)
			usleep(100);
		if (i % 64 == 63) {
			set_counts(f, lie);
			usleep(100);
			set_counts(f, 1);
		}
	}
	return NULL;
}

#define D13_AHEAD 32	/* receives that wait, so that there is time to change them */

/* One life of a pair whose receives are being changed. Counts what came. */
static bool d13_round(const struct setting *set, bool shared, unsigned int *good,
		      unsigned int *bad)
{
	struct flipper f = { .stop = false };
	struct ibv_wc sent = { 0 }, got = { 0 };
	bool right = true, dead = false;
	struct ring_pair r;
	pthread_t thread;

	ring_pair_open(set, &r, 255, shared);
	f.rq = &r.rq;
	for (unsigned int i = 0; i < D13_AHEAD; i++)
		right = right && !post_recv(&r, 0, i);
	pthread_create(&thread, NULL, flip_counts, &f);
	for (unsigned int i = 0; i < 300 && right && !dead; i++) {
		if (post_recv(&r, 0, D13_AHEAD + i) || post_one(&r, 1, i, IBV_WR_SEND) ||
		    rig_wait(r.cq[1], &sent, 20000) != 1 || rig_wait(r.cq[0], &got, 20000) != 1) {
			right = false;
		} else if (!sent.status && !got.status) {
			(*good)++;
		} else {
			dead = true;
			(*bad)++;
			right = sent.status == IBV_WC_REM_OP_ERR &&
				got.status == IBV_WC_LOC_QP_OP_ERR && got.wr_id == i &&
				await_state(r.p.qp[0], IBV_QPS_ERR, 5000);
		}
	}
	if (!right)
		note("D13 sender: %s, receiver: %s", ibv_wc_status_str(sent.status),
		     ibv_wc_status_str(got.status));
	f.stop = true;
	pthread_join(thread, NULL);
	ring_pair_close(&r);
	return right;
}

static void d13_queue(const struct setting *set, bool shared)
{
	unsigned int rounds = set->full ? 200 : 10, good = 0, bad = 0, i;
	uint64_t end = now_ms() + (set->full ? 60000 : 7500);
	const char *name = shared ? "SRQ" : "RQ";
	bool right = true;

	for (i = 0; right && (i < rounds || !bad || !good) && now_ms() < end; i++)
		right = d13_round(set, shared, &good, &bad);
	report(right, "D13 %s: each inbound SEND is received or ends both queue pairs, %u rounds",
	       name, i);
	report(good && bad, "D13 %s: of both there was some: %u received, %u malformed", name, good,
	       bad);
}

static void d13_flipping(const struct setting *set)
{
	d13_queue(set, false);
	d13_queue(set, true);
}

/* ------------------------------------------------------------------ D21 */

struct mapper {
	pthread_barrier_t begin, end;
	struct ring ring[2];
	unsigned int rings;
	bool stop;
	unsigned int maps, refused, wrong;
};

static void map_one(struct mapper *m, const struct ring *ring)
{
	struct rxe_queue_buf *buf = rings_map(ring);

	if (buf == MAP_FAILED) {
		if (errno == EINVAL)
			m->refused++;
		else
			m->wrong++;
		return;
	}
	m->maps++;
	/* It is ours as long as we like, whatever became of its owner. */
	for (unsigned int i = 0; i < 20; i++) {
		buf->pad_3[0] = i;
		memset(buf->data, i, ring->len - sizeof(*buf));
		if (buf->pad_3[0] != i || buf->log2_elem_size > 12)
			m->wrong++;
		sched_yield();
	}
	rings_unmap(buf, ring->len);
}

static void *map_rings(void *arg)
{
	struct mapper *m = arg;

	for (;;) {
		pthread_barrier_wait(&m->begin);
		if (m->stop)
			return NULL;
		for (unsigned int i = 0; i < m->rings; i++)
			map_one(m, &m->ring[i]);
		pthread_barrier_wait(&m->end);
	}
}

/* Moves the start of the race to and fro. */
static void dawdle(uint64_t i)
{
	for (uint64_t n = pattern_word(21, i) % 4000; n; n--)
		asm volatile("" ::: "memory");
	if (pattern_word(22, i) % 4 == 0)
		sched_yield();
}

static void d21_cq(struct rig *rig, struct mapper *m, unsigned int i)
{
	struct ibv_cq *cq;
	int err;

	rings_withhold(true);
	cq = rings_create_cq(rig->ctx, 100 + i % 1000, NULL, m->ring);
	rings_withhold(false);
	if (!cq)
		die("D21 ibv_create_cq: %s", strerror(errno));
	m->rings = 1;
	pthread_barrier_wait(&m->begin);
	dawdle(i);
	err = ibv_destroy_cq(cq);
	pthread_barrier_wait(&m->end);
	if (err)
		die("D21 ibv_destroy_cq: %s", strerror(err));
}

static void d21_qp(struct rig *rig, struct ibv_cq *cq, struct mapper *m, unsigned int i)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { 10 + i % 50, 10 + i % 50, 2, 2, 0 },
	};
	struct ibv_qp *qp;
	int err;

	rings_withhold(true);
	qp = rings_create_qp(rig->pd, &init, m->ring);
	rings_withhold(false);
	if (!qp)
		die("D21 ibv_create_qp: %s", strerror(errno));
	m->rings = 2;
	pthread_barrier_wait(&m->begin);
	dawdle(i);
	err = ibv_destroy_qp(qp);
	pthread_barrier_wait(&m->end);
	if (err)
		die("D21 ibv_destroy_qp: %s", strerror(err));
}

/* A queue is mapped while it is destroyed. */
static void d21_map_race(const struct setting *set)
{
	uint64_t end = now_ms() + (set->full ? 60000 : 5000);
	struct mapper m = { .stop = false };
	struct ring fixed, late;
	struct ibv_cq *cq;
	struct rig rig;
	pthread_t thread;
	unsigned int i;
	void *again;

	case_open(set, &rig);
	cq = rings_create_cq(rig.ctx, 10, NULL, &fixed);
	if (!cq)
		die("D21 ibv_create_cq: %s", strerror(errno));
	again = rings_map(&fixed);
	report(again == MAP_FAILED && errno == EINVAL, "D21 a queue is mapped once");
	late = fixed;
	late.off += 1 << 24;
	again = rings_map(&late);
	report(again == MAP_FAILED && errno == EINVAL, "D21 an offset that was never given: %s",
	       again == MAP_FAILED ? strerror(errno) : "mapped");
	pthread_barrier_init(&m.begin, NULL, 2);
	pthread_barrier_init(&m.end, NULL, 2);
	pthread_create(&thread, NULL, map_rings, &m);
	for (i = 0; now_ms() < end; i++) {
		d21_cq(&rig, &m, i);
		d21_qp(&rig, cq, &m, i);
	}
	m.stop = true;
	pthread_barrier_wait(&m.begin);
	pthread_join(thread, NULL);
	report(!m.wrong && m.maps,
	       "D21 mapping against destroying, %u times: %u maps, %u EINVAL, %u wrong", 2 * i,
	       m.maps, m.refused, m.wrong);
	report(m.refused, "D21 some came too late: %u", m.refused);
	ibv_destroy_cq(cq);
	rig_close(&rig);
}

/* ------------------------------------------------------------------ D22 */

static const char *const d22_names[] = {
	"the producer of the send queue", "the consumer of the send queue",
	"the producer of the receive queue", "the consumer of the receive queue",
	"the producer of the completion queue", "the consumer of the completion queue",
	"the producer of the SRQ", "the consumer of the SRQ",
};
#define D22_INDEXES (sizeof(d22_names) / sizeof(*d22_names))

static bool of_srq(unsigned int which)
{
	return which >= 6;
}

/* The producers that are the program's: they say that there are requests. */
static bool announces(unsigned int which)
{
	return !(which & 1) && which != 4;
}

/* Writes @value over one of the indexes. */
static void lie_index(struct ring_pair *r, unsigned int which, uint32_t value)
{
	struct ring *ring = which < 2 ? &r->sq : which < 4 || of_srq(which) ? &r->rq : &r->cq_ring;

	__atomic_store_n(which & 1 ? &ring->buf->consumer_index : &ring->buf->producer_index,
			 value, __ATOMIC_RELEASE);
}

/* Requests and receives that no index ever said were there. */
static void fill_with_rubbish(struct ring *ring)
{
	memset(ring->buf->data, 0xdd, (size_t)(ring->mask + 1) << ring->log2_elem);
}

/* True when the queue pair lives or is in error, and goes when told to. */
static bool d22_one(const struct setting *set, unsigned int which, uint32_t value,
		    unsigned int *errors)
{
	struct ring_pair r;
	struct ibv_wc wc;
	int state;

	ring_pair_open(set, &r, 16, of_srq(which));
	fill_with_rubbish(which < 2 ? &r.sq : &r.rq);
	lie_index(&r, which, value);
	for (unsigned int i = 0; i < 4; i++) {
		rings_doorbell(r.p.rig.ctx, r.p.qp[0]->handle);
		post_one(&r, 1, i, IBV_WR_SEND);
		post_one(&r, 1, i, IBV_WR_RDMA_WRITE);
		rig_wait(r.cq[1], &wc, 20);
		lie_index(&r, which, value + i * 0x01010101);
	}
	/* A producer that lies has announced rubbish, which ends in error. */
	if (announces(which))
		await_state(r.p.qp[0], IBV_QPS_ERR, 5000);
	state = rings_qp_state(r.p.qp[0]);
	*errors += state == IBV_QPS_ERR;
	ring_pair_close(&r);
	return state == IBV_QPS_RTS || state == IBV_QPS_ERR;
}

static void d22_indexes(const struct setting *set)
{
	static const uint32_t odd[] = { 1, 0x7f, 0x7fffffff, 0x80000001, 0xffffffff };
	unsigned int rounds = set->full ? 200 : 12;
	struct pair other;

	pair_open(set, &other, 8192);
	for (unsigned int which = 0; which < D22_INDEXES; which++) {
		unsigned int errors = 0, wrong = 0, lost = 0, i;

		for (i = 0; i < rounds; i++) {
			/* Odd: never where the queue is already. */
			uint32_t value = i < 5 ? odd[i] : pattern_word(which + 1, i) | 1;

			wrong += !d22_one(set, which, value, &errors);
			lost += !!pair_write(&other, (uintptr_t)other.buf + 4096,
					     other.mr->rkey, 4096);
		}
		report(!wrong && !lost,
		       "D22 %s, %u lies: %u queue pairs in error, %u in no state, %u others hurt",
		       d22_names[which], i, errors, wrong, lost);
		if (announces(which))
			report(errors == rounds, "D22 what %s announced ended in error: %u of %u",
			       d22_names[which], errors, rounds);
	}
	pair_close(&other);
}

/* A consumer that claims a full queue: an overrun, as in D07. */
static void d22_full(const struct setting *set)
{
	struct ring_pair r;
	bool event;

	ring_pair_open(set, &r, 16, false);
	lie_index(&r, 5, r.cq_ring.buf->producer_index + 1);
	post_one(&r, 0, 1, IBV_WR_RDMA_WRITE);
	event = await_event(r.p.rig.ctx, IBV_EVENT_CQ_ERR, 20000);
	report(event && await_state(r.p.qp[0], IBV_QPS_ERR, 5000),
	       "D22 a completion queue that claims to be full: IBV_EVENT_CQ_ERR, queue pair in error");
	ring_pair_close(&r);
}

static void d22_all(const struct setting *set)
{
	d22_indexes(set);
	d22_full(set);
}

/* ------------------------------------------------------------------ FLUSH */

/* Of a request that the library does not know yet. */
#define WR_FLUSH	14
#define WC_FLUSH	8
#define ACCESS_FLUSH	(1 << 8)

struct flush {
	uint64_t remote_addr;
	uint32_t length, rkey;
	uint8_t type, level;
};

/* One FLUSH to global visibility of a range, written into the queue by hand. */
static int flush_one(const struct setting *set, int access, struct ibv_wc *wc)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .qp_access_flags = access };
	struct flush flush = { .length = 4096, .type = 1 };
	struct rxe_send_wqe *wqe;
	struct ring_pair r;
	struct ibv_mr *mr;
	int err, n;

	ring_pair_open(set, &r, 16, false);
	mr = ibv_reg_mr(r.p.rig.pd, r.p.buf, 4096, access);
	if (!mr)
		die("FLUSH: a region: %s", strerror(errno));
	flush.remote_addr = (uintptr_t)r.p.buf;
	flush.rkey = mr->rkey;
	wqe = ring_elem(&r.sq, 0);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr.wr_id = 77;
	wqe->wr.opcode = WR_FLUSH;
	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	memcpy(&wqe->wr.wr, &flush, sizeof(flush));
	err = ibv_modify_qp(r.p.qp[1], &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS);
	__atomic_store_n(&r.sq.buf->producer_index, 1, __ATOMIC_RELEASE);
	err = err ?: rings_doorbell(r.p.rig.ctx, r.p.qp[0]->handle);
	n = rig_wait(r.cq[0], wc, 20000);
	ibv_dereg_mr(mr);
	ring_pair_close(&r);
	return err ? -err : n == 1 ? (int)wc->status : -ETIMEDOUT;
}

static void flushes(const struct setting *set)
{
	const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_wc wc = { 0 };
	int result = flush_one(set, rights | ACCESS_FLUSH, &wc);

	report(!result && wc.wr_id == 77 && (int)wc.opcode == WC_FLUSH,
	       "FLUSH: %s, opcode %d", outcome(result), wc.opcode);
	result = flush_one(set, rights, &wc);
	report(result == IBV_WC_REM_ACCESS_ERR, "FLUSH without the right: %s", outcome(result));
}

/* Each for ours only: the kernel's own believes what a program writes. */
#define OURS_ONLY(id, run)						\
	static void id##_ours(const struct setting *set)		\
	{								\
		if (set->foreign)					\
			report_skip("the kernel there trusts the queues", #id); \
		else							\
			run(set);					\
	}
OURS_ONLY(D07, d07_overrun)
OURS_ONLY(D13, d13_flipping)
OURS_ONLY(D21, d21_map_race)
OURS_ONLY(D22, d22_all)
OURS_ONLY(FLUSH, flushes)

const struct test_case ring_cases[] = {
	{ "D07", "a completion queue that overruns says so", D07_ours },
	{ "D13", "SGE counts that change under the kernel's hands", D13_ours },
	{ "D21", "mapping a queue while it is destroyed", D21_ours },
	{ "D22", "indexes that lie", D22_ours },
	{ "FLUSH", "to visibility, by hand", FLUSH_ours },
	{ 0 },
};
