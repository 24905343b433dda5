// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Completion queues: other sizes while they are in use, and events.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"
#include "rings.h"

/* A pair whose first queue pair reports to a queue with a channel. */
struct notified {
	struct pair p;		/* p.cq is the queue with the channel */
	struct ibv_comp_channel *channel;
	struct ibv_cq *other;	/* of the second queue pair */
	struct ring ring;
};

static void notified_open(const struct setting *set, struct notified *n, int cqe)
{
	struct tuning tune = tuning_default;
	struct pair *p = &n->p;

	memset(n, 0, sizeof(*n));
	case_open(set, &p->rig);
	p->len = 8192;
	p->buf = aligned_alloc(4096, p->len);
	p->mr = p->buf ? ibv_reg_mr(p->rig.pd, p->buf, p->len, IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_WRITE) : NULL;
	n->channel = ibv_create_comp_channel(p->rig.ctx);
	p->cq = n->channel ? rings_create_cq(p->rig.ctx, cqe, n->channel, &n->ring) : NULL;
	n->other = ibv_create_cq(p->rig.ctx, 256, NULL, NULL, 0);
	if (!p->mr || !p->cq || !n->other)
		die("memory and completion queues: %s", strerror(errno));
	memset(p->buf, 0, p->len);
	p->qp[0] = rig_qp(&p->rig, IBV_QPT_RC, p->cq, p->cq, &tune);
	p->qp[1] = rig_qp(&p->rig, IBV_QPT_RC, n->other, n->other, &tune);
	if (!p->qp[0] || !p->qp[1])
		die("ibv_create_qp: %s", strerror(errno));
	pair_connect(p);
}

static void notified_close(struct notified *n)
{
	struct pair *p = &n->p;
	int err = ibv_destroy_qp(p->qp[0]) ?: ibv_destroy_qp(p->qp[1]);

	err = err ?: ibv_destroy_cq(p->cq) ?: ibv_destroy_cq(n->other);
	err = err ?: ibv_destroy_comp_channel(n->channel) ?: ibv_dereg_mr(p->mr);
	if (err)
		die("destroying a pair with a channel: %s", strerror(err));
	rig_close(&p->rig);
	free(p->buf);
}

static int post(struct pair *p, int which, uint64_t id, enum ibv_wr_opcode opcode,
		unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, 64, p->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.wr.rdma = { (uintptr_t)p->buf + 4096, p->mr->rkey },
	}, *bad;

	return abs(ibv_post_send(p->qp[which], &wr, &bad));
}

/* ------------------------------------------------------------------ D06 */

static unsigned int unpolled(const struct ring *ring)
{
	uint32_t producer = __atomic_load_n(&ring->buf->producer_index, __ATOMIC_ACQUIRE);

	return (producer - ring->buf->consumer_index) & ring->mask;
}

/* @k completions wait when the queue is given room for @want. */
static void d06_one(const struct setting *set, unsigned int k, int want)
{
	uint64_t end = now_ms() + 20000;
	unsigned int got = 0, more = 0;
	struct notified n;
	struct ibv_wc wc;
	int err = 0, before;

	notified_open(set, &n, 64);
	before = n.p.cq->cqe;
	for (unsigned int i = 0; i < k && !err; i++)
		err = post(&n.p, 0, i, IBV_WR_RDMA_WRITE, 0);
	while (unpolled(&n.ring) < k && now_ms() < end)
		usleep(1000);
	if (err || unpolled(&n.ring) != k)
		die("D06 %u completions do not come: error %d, there are %u", k, err,
		    unpolled(&n.ring));
	err = abs(ibv_resize_cq(n.p.cq, want));
	if (k > (unsigned int)want)
		report(err == EINVAL && n.p.cq->cqe == before,
		       "D06 %u completions, resized to %d: %s, it has %d as before", k, want,
		       strerror(err), n.p.cq->cqe);
	else
		report(!err && n.p.cq->cqe >= want, "D06 %u completions, resized to %d: %s, it has %d",
		       k, want, strerror(err), n.p.cq->cqe);
	while (ibv_poll_cq(n.p.cq, 1, &wc) == 1 && !wc.status && wc.wr_id == got)
		got++;
	for (unsigned int i = 0; i < 30; i++)
		more += !post(&n.p, 0, i, IBV_WR_RDMA_WRITE, 0) &&
			(i < 3 || (rig_wait(n.p.cq, &wc, 20000) == 1 && wc.wr_id == i - 3));
	report(got == k && more == 30,
	       "D06 then %u of %u are there, in order, and it works (%u of 30)", got, k, more);
	notified_close(&n);
}

#define D06_AHEAD 32	/* requests under way */

struct poster {
	struct pair *p;
	atomic_uint count, posted, polled;
	atomic_int err;
};

static void *post_writes(void *arg)
{
	struct poster *w = arg;

	while (w->posted < w->count && !w->err) {
		if (w->posted - w->polled >= D06_AHEAD) {
			sched_yield();
			continue;
		}
		w->err = post(w->p, 0, w->posted, IBV_WR_RDMA_WRITE, 0);
		w->posted += !w->err;
	}
	return NULL;
}

/* Another size every few completions, never less than what is under way. */
static void d06_under_traffic(const struct setting *set)
{
	struct poster w = { .count = set->full ? 100000 : 4000 };
	unsigned int resized = 0, wrong = 0;
	struct notified n;
	pthread_t thread;
	struct ibv_wc wc;

	notified_open(set, &n, 64);
	w.p = &n.p;
	pthread_create(&thread, NULL, post_writes, &w);
	while (w.polled < w.count && !wrong && !w.err) {
		if (rig_wait(n.p.cq, &wc, 20000) != 1 || wc.status || wc.wr_id != w.polled) {
			wrong++;
			w.count = 0;
			break;
		}
		w.polled++;
		if (pattern_word(6, w.polled) % 8)
			continue;
		wrong += !!ibv_resize_cq(n.p.cq, D06_AHEAD + pattern_word(60, w.polled) % 500);
		resized++;
	}
	pthread_join(thread, NULL);
	report(!wrong && !w.err && w.polled == w.count && resized,
	       "D06 %u times another size under traffic: %u of %u completions, in order, %u wrong",
	       resized, w.polled, w.posted, wrong);
	notified_close(&n);
}

static void *post_all(void *arg)
{
	struct poster *w = arg;

	while (w->posted < w->count && !w->err) {
		int err = post(w->p, 0, w->posted, IBV_WR_RDMA_WRITE, 0);

		if (err == ENOMEM) {
			sched_yield();
			continue;
		}
		w->err = err;
		w->posted += !err;
	}
	return NULL;
}

/* Nobody polls: each time there is more that has to come along, in many pieces. */
static void d06_unpolled(const struct setting *set)
{
	struct poster w = { .count = set->full ? 200000 : 20000 };
	unsigned int resized = 0, wrong = 0, got = 0;
	struct notified n;
	pthread_t thread;
	struct ibv_wc wc;

	notified_open(set, &n, w.count);
	w.p = &n.p;
	pthread_create(&thread, NULL, post_all, &w);
	do {
		wrong += !!ibv_resize_cq(n.p.cq, w.count + pattern_word(61, resized) % w.count);
		resized++;
	} while (w.posted < w.count && !w.err);
	pthread_join(thread, NULL);
	while (got < w.posted && rig_wait(n.p.cq, &wc, 20000) == 1 && !wc.status && wc.wr_id == got)
		got++;
	report(!wrong && !w.err && got == w.count && !ibv_poll_cq(n.p.cq, 1, &wc),
	       "D06 %u times another size while nobody polls: %u of %u completions, in order, %u wrong",
	       resized, got, w.posted, wrong);
	notified_close(&n);
}

static void d06_resize(const struct setting *set)
{
	d06_one(set, 0, 4);
	d06_one(set, 20, 200);
	d06_one(set, 20, 20);
	d06_one(set, 31, 31);
	d06_one(set, 20, 40);
	d06_one(set, 20, 10);
	d06_one(set, 40, 1);
	d06_under_traffic(set);
	d06_unpolled(set);
}

/* ------------------------------------------------------------------ IRQS */

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* How late this processor hears of time, with a priority before which all give way. */
struct ticker {
	atomic_uint late;	/* us, the worst since it was set to 0 */
	atomic_bool stop;
	bool strict;
};

static void on_first_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *tick(void *arg)
{
	struct sched_param param = { .sched_priority = 50 };
	struct ticker *t = arg;

	on_first_cpu();
	t->strict = !sched_setscheduler(0, SCHED_FIFO, &param);
	while (!t->stop) {
		uint64_t due = now_us() + 500;
		unsigned int late;

		usleep(500);
		late = now_us() - due;
		if (late > t->late)
			t->late = late;
	}
	return NULL;
}

/* The least of five times that @cq is given its size again; us. */
struct resized {
	unsigned int took, late;
};

static struct resized resize_again(struct ticker *t, struct ibv_cq *cq, int cqe)
{
	struct resized least = { UINT32_MAX, UINT32_MAX };

	for (int i = 0; i < 5; i++) {
		uint64_t begin;
		unsigned int took;

		usleep(10000);
		t->late = 0;
		begin = now_us();
		if (ibv_resize_cq(cq, cqe))
			die("IRQS ibv_resize_cq: %s", strerror(errno));
		took = now_us() - begin;
		usleep(2000);
		least.took = took < least.took ? took : least.took;
		least.late = t->late < least.late ? t->late : least.late;
	}
	return least;
}

/*
 * A queue is full, for its program says so.  That resizing it takes longer than if
 * it were empty is the program's own matter, but not that others wait for it.
 */
static void resize_and_interrupts(const struct setting *set)
{
	unsigned int cqe = (1u << 20) - 1;
	struct ticker t = { 0 };
	struct resized empty, full;
	unsigned int copying;
	struct ibv_cq *cq;
	cpu_set_t cpus;
	struct ring ring;
	pthread_t thread;
	struct rig rig;

	if (!set->full) {
		report_skip("takes --full", "IRQS how long interrupts wait");
		return;
	}
	case_open(set, &rig);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	cq = rings_create_cq(rig.ctx, cqe, NULL, &ring);
	if (!cq)
		die("a CQ of %u: %s", cqe, strerror(errno));
	pthread_create(&thread, NULL, tick, &t);
	on_first_cpu();
	empty = resize_again(&t, cq, cqe);
	ibv_destroy_cq(cq);
	cq = rings_create_cq(rig.ctx, cqe, NULL, &ring);
	if (!cq)
		die("a CQ of %u: %s", cqe, strerror(errno));
	ring.buf->consumer_index = 1;
	full = resize_again(&t, cq, cqe);
	t.stop = true;
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	copying = full.took > empty.took ? full.took - empty.took : 0;
	/* A busy host stops this machine now and then, but not for all that time. */
	report(t.strict && full.late < empty.late + copying / 3 + 3000,
	       "IRQS copying a long queue takes %u us, a task of high priority waits %u us (%u for none)",
	       copying, full.late, empty.late);
	ibv_destroy_cq(cq);
	rig_close(&rig);
}

/* ------------------------------------------------------------------ D08 */

/* Takes all events that come until none comes for @ms; how many. */
static unsigned int events(struct notified *n, int ms)
{
	struct pollfd pfd = { .fd = n->channel->fd, .events = POLLIN };
	unsigned int count = 0;
	struct ibv_cq *cq;
	void *context;

	while (poll(&pfd, 1, ms) == 1) {
		if (ibv_get_cq_event(n->channel, &cq, &context) || cq != n->p.cq)
			die("D08 ibv_get_cq_event: %s", strerror(errno));
		ibv_ack_cq_events(cq, 1);
		count++;
	}
	return count;
}

/* One message to the first queue pair, received and gone. Events that came. */
static unsigned int deliver(struct notified *n, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)n->p.buf + 4096, 4096, n->p.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	if (ibv_post_recv(n->p.qp[0], &wr, &bad) || post(&n->p, 1, 0, IBV_WR_SEND, flags) ||
	    rig_wait(n->other, &wc, 20000) != 1 || wc.status ||
	    rig_wait(n->p.cq, &wc, 20000) != 1 || wc.status)
		die("D08 a message");
	return events(n, 100);
}

static void d08_arm(struct notified *n, int solicited)
{
	int err = ibv_req_notify_cq(n->p.cq, solicited);

	if (err)
		die("D08 ibv_req_notify_cq: %s", strerror(err));
}

static void d08_solicited(const struct setting *set)
{
	unsigned int plain, marked, again;
	struct notified n;
	struct ibv_wc wc;

	notified_open(set, &n, 64);
	plain = deliver(&n, 0);
	marked = deliver(&n, IBV_SEND_SOLICITED);
	report(!plain && !marked, "D08 not armed: %u events, solicited %u", plain, marked);

	d08_arm(&n, 1);
	plain = deliver(&n, 0);
	marked = deliver(&n, IBV_SEND_SOLICITED);
	again = deliver(&n, IBV_SEND_SOLICITED);
	report(!plain && marked == 1 && !again,
	       "D08 armed for solicited ones: %u events for another, %u for one, %u for the next",
	       plain, marked, again);

	d08_arm(&n, 0);
	plain = deliver(&n, 0);
	again = deliver(&n, IBV_SEND_SOLICITED);
	report(plain == 1 && !again, "D08 armed for the next one: %u events, then %u", plain, again);

	/* Both at once are the next one, in whichever order. */
	d08_arm(&n, 0);
	d08_arm(&n, 1);
	plain = deliver(&n, 0);
	d08_arm(&n, 1);
	d08_arm(&n, 0);
	again = deliver(&n, 0);
	report(plain == 1 && again == 1, "D08 armed for both: %u events, in the other order %u",
	       plain, again);

	/* A failure is told to whoever waits for solicited ones. */
	d08_arm(&n, 1);
	rig_to_error(n.p.qp[0]);
	if (post(&n.p, 0, 5, IBV_WR_SEND, 0) || rig_wait(n.p.cq, &wc, 5000) != 1)
		die("D08 a request that is flushed");
	plain = events(&n, 100);
	report(plain == 1 && wc.status == IBV_WC_WR_FLUSH_ERR,
	       "D08 armed for solicited ones: %u events for an error", plain);
	notified_close(&n);
}

static void *post_now_and_then(void *arg)
{
	struct poster *w = arg;

	while (w->posted < w->count && !w->err) {
		if (w->posted != w->polled) {
			sched_yield();
			continue;
		}
		/* Moves the completion to and fro over the arming. */
		for (uint64_t i = pattern_word(8, w->posted) % 3000; i; i--)
			asm volatile("" ::: "memory");
		w->err = post(w->p, 0, w->posted, IBV_WR_RDMA_WRITE, 0);
		w->posted += !w->err;
	}
	return NULL;
}

/* Arm, poll, and sleep when there was nothing: each completion wakes or is seen. */
static void d08_race(const struct setting *set)
{
	struct poster w = { .count = set->full ? 1000000 : 20000 };
	unsigned int slept = 0, seen = 0, lost = 0, armed = 0, told = 0;
	bool twice = false;
	struct notified n;
	pthread_t thread;
	struct ibv_wc wc;

	notified_open(set, &n, 64);
	w.p = &n.p;
	pthread_create(&thread, NULL, post_now_and_then, &w);
	while (w.polled < w.count && !lost && !w.err) {
		struct pollfd pfd = { .fd = n.channel->fd, .events = POLLIN };
		bool early;

		d08_arm(&n, 0);
		armed++;
		early = ibv_poll_cq(n.p.cq, 1, &wc);
		if (!early && poll(&pfd, 1, 20000) != 1) {
			lost++;
			w.count = 0;
			break;
		}
		told += events(&n, 0);
		twice |= told > armed;
		if (early) {
			seen++;
		} else if (ibv_poll_cq(n.p.cq, 1, &wc) == 1) {
			slept++;
		} else {
			/* The event of a completion that was polled right after arming. */
			continue;
		}
		lost += wc.status || wc.wr_id != w.polled;
		w.polled++;
	}
	pthread_join(thread, NULL);
	report(!lost && !w.err && slept,
	       "D08 armed and polled against %u completions: %u woke, %u were seen, %u lost",
	       w.polled, slept, seen, lost);
	told += events(&n, 100);
	report(!twice && told <= armed, "D08 armed %u times, %u events", armed, told);
	notified_close(&n);
}

static void d08_events(const struct setting *set)
{
	d08_solicited(set);
	d08_race(set);
}

const struct test_case cq_cases[] = {
	{ "D06", "another size loses no completion", d06_resize },
	{ "IRQS", "resizing a long queue keeps nobody from running", resize_and_interrupts },
	{ "D08", "each event once, and none is lost", d08_events },
	{ 0 },
};
