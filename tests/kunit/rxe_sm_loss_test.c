// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Two queue pairs and a bad wire between them: packets are lost, come twice
 * and come late, receives are posted too late, and yet every byte is where it
 * belongs and every completion in its place, in both directions at once.
 *
 *	A  --- requests, answers --->  B
 *	   <--- requests, answers ---
 *
 * Time stands still; when nothing moves any more, a timer runs out.
 */
#include <linux/prandom.h>
#include "rxe_sm_bench.h"

/*
 * As many messages are under way in each direction, and each has an eighth of
 * both regions.
 */
#define SLOTS 4u
#define NEVER 1000000u		/* steps: it hangs */
/* Bad days for each kind of weather, and messages each way on one. */
#define SEEDS 4
#define MESSAGES 60

/* Per mille of all packets. */
struct weather {
	u32 lose;
	u32 twice;
	u32 late;
	u32 rnr;		/* receives that are not posted in time */
};

struct message {
	enum ib_wr_opcode opcode;
	u32 len;
	u32 seed;
};

/* A requester, and the responder it talks to. */
struct side {
	struct sm *me;
	struct sm *peer;
	u32 base;		/* of its slots, in both regions */
	u32 slot;		/* their size */
	u32 total;
	u32 posted;
	u32 done;
	u32 recv_posted;	/* messages that have their receive */
	u32 recv_done;
	struct message *msg;	/* all of them */
};

struct wire {
	struct kunit *test;
	struct weather weather;
	struct rnd_state rnd;
	struct side side[2];
	const struct sm_sent *late[2];	/* by where it goes to */
	bool broken;
};

static u32 dice(struct wire *w, u32 sides)
{
	return prandom_u32_state(&w->rnd) % sides;
}

static bool happens(struct wire *w, u32 per_mille)
{
	return dice(w, 1000) < per_mille;
}

static u32 slot_of(const struct side *s, u32 index)
{
	return s->base + index % SLOTS * s->slot;
}

static bool has_recv(const struct message *m)
{
	return m->opcode == IB_WR_SEND || m->opcode == IB_WR_SEND_WITH_IMM ||
	       m->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(const struct message *m)
{
	return m->opcode == IB_WR_SEND_WITH_IMM ||
	       m->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static void fail(struct wire *w, const char *what, u32 index)
{
	KUNIT_FAIL(w->test, "message %u: %s", index, what);
	w->broken = true;
}

static void post(struct wire *w, struct side *s)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ, IB_WR_RDMA_READ,
	};
	struct message *m = &s->msg[s->posted];
	u32 at = slot_of(s, s->posted);
	struct sm *from, *to;
	struct ib_sge sge;
	const struct ib_send_wr *bad;
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = s->posted,
			.sg_list = &sge,
			.num_sge = 1,
			.ex.imm_data = cpu_to_be32(s->posted),
		},
		.remote_addr = SM_VA + at,
		.rkey = s->peer->mr->key,
	};
	u32 i;

	m->opcode = opcodes[dice(w, ARRAY_SIZE(opcodes))];
	m->len = happens(w, 300) ? dice(w, 3) : dice(w, s->slot + 1);
	m->seed = dice(w, 1 << 20);
	from = m->opcode == IB_WR_RDMA_READ ? s->peer : s->me;
	to = m->opcode == IB_WR_RDMA_READ ? s->me : s->peer;
	for (i = 0; i < s->slot; i++)
		*sm_mem(to, at + i) = 0;
	for (i = 0; i < m->len; i++)
		*sm_mem(from, at + i) = sm_byte(m->seed + i);
	sge = (struct ib_sge){ SM_VA + at, m->len, s->me->mr->key };
	wr.wr.opcode = m->opcode;
	if (happens(w, 100))
		wr.wr.send_flags = IB_SEND_FENCE;
	s->posted++;
	if (rxe_post_send(&s->me->qp->ibqp, &wr.wr, &bad))
		fail(w, "cannot be posted", s->posted - 1);
}

/* The receive of the next message, if it has one. */
static void post_recv(struct wire *w, struct side *s)
{
	const struct message *m = &s->msg[s->recv_posted];

	if (has_recv(m) &&
	    sm_post_recv(s->peer, s->recv_posted,
			 slot_of(s, s->recv_posted), s->slot))
		fail(w, "receive cannot be posted", s->recv_posted);
	s->recv_posted++;
}

static void check_recvs(struct wire *w, struct side *s)
{
	const struct message *m;
	struct ib_wc wc;

	while (rxe_poll_cq(&s->peer->rcq->ibcq, 1, &wc) == 1) {
		while (s->recv_done < s->posted &&
		       !has_recv(&s->msg[s->recv_done]))
			s->recv_done++;
		m = &s->msg[s->recv_done];
		if (wc.status != IB_WC_SUCCESS || wc.wr_id != s->recv_done ||
		    wc.byte_len != m->len)
			fail(w, "wrong receive completion", s->recv_done);
		if (!!(wc.wc_flags & IB_WC_WITH_IMM) != has_imm(m) ||
		    (has_imm(m) && be32_to_cpu(wc.ex.imm_data) !=
					   s->recv_done))
			fail(w, "wrong immediate data", s->recv_done);
		s->recv_done++;
	}
}

static void check_sends(struct wire *w, struct side *s)
{
	struct ib_wc wc;

	while (rxe_poll_cq(&s->me->scq->ibcq, 1, &wc) == 1) {
		const struct message *m = &s->msg[s->done];
		struct sm *to = m->opcode == IB_WR_RDMA_READ ? s->me : s->peer;
		u32 at = slot_of(s, s->done);

		if (wc.status != IB_WC_SUCCESS || wc.wr_id != s->done) {
			fail(w, ib_wc_status_msg(wc.status), s->done);
			return;
		}
		if (!sm_mem_is(to, at, m->len, m->seed))
			fail(w, "other bytes than were sent", s->done);
		if (!sm_mem_is_clear(to, at + m->len,
				     s->slot - m->len))
			fail(w, "more bytes than were sent", s->done);
		s->done++;
	}
}

/* Carry what side @i sent to the other; false: there was nothing. */
static bool carry(struct wire *w, int i)
{
	struct sm *from = w->side[i].me;
	struct sm *to = w->side[i].peer;
	const struct sm_sent *late;
	u32 n = sm_num_sent(from);
	bool any = n;

	while (n--) {
		const struct sm_sent *sent = sm_next(from);

		if (!sent)
			return false;
		if (happens(w, w->weather.lose))
			continue;
		if (!w->late[i] && happens(w, w->weather.late)) {
			w->late[i] = sent;
			continue;
		}
		sm_rx_data(to, sent->pkt, sent->data);
		if (happens(w, w->weather.twice))
			sm_rx_data(to, sent->pkt, sent->data);
		if (w->late[i] && happens(w, 300)) {
			late = w->late[i];
			w->late[i] = NULL;
			sm_rx_data(to, late->pkt, late->data);
		}
	}
	/* Keep the records few. */
	if (!w->late[i])
		sm_forget(from);
	return any;
}

/* Nothing moves: something that waits for time or its owner is next. */
static void let_time_pass(struct wire *w)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct side *s = &w->side[i];
		const struct sm_sent *late = w->late[i];

		if (late) {
			w->late[i] = NULL;
			sm_rx_data(s->peer, late->pkt, late->data);
			return;
		}
		if (s->recv_posted < s->posted) {
			post_recv(w, s);
			return;
		}
		if (s->me->qp->req.wait_rnr) {
			sm_rnr_timeout(s->me);
			return;
		}
	}
	for (i = 0; i < 2; i++)
		if (w->side[i].done < w->side[i].posted)
			sm_ack_timeout(w->side[i].me);
}

static void step(struct wire *w)
{
	bool any = false;
	int i;

	for (i = 0; i < 2; i++) {
		struct side *s = &w->side[i];

		if (s->posted < s->total && s->posted - s->done < SLOTS &&
		    s->posted - s->recv_posted < SLOTS) {
			post(w, s);
			any = true;
		}
		if (s->recv_posted < s->posted &&
		    !happens(w, w->weather.rnr))
			post_recv(w, s);
		any |= carry(w, i);
		check_recvs(w, s);
		check_sends(w, s);
	}
	if (!any)
		let_time_pass(w);
}

static void run_wire(struct kunit *test, struct weather weather,
		     const struct sm_conf *conf, u32 seed, u32 messages,
		     bool trains)
{
	struct wire *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 slot = conf->pages * PAGE_SIZE / (2 * SLOTS);
	u32 steps = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->test = test;
	w->weather = weather;
	prandom_seed_state(&w->rnd, seed);
	for (i = 0; i < 2; i++) {
		w->side[i].me = sm_make(test, conf);
		w->side[i].me->rxe->trains = trains;
		w->side[i].slot = slot;
		w->side[i].base = i * SLOTS * slot;
		w->side[i].total = messages;
		w->side[i].msg = kunit_kcalloc(test, messages + 1,
					       sizeof(struct message),
					       GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, w->side[i].msg);
	}
	w->side[0].peer = w->side[1].me;
	w->side[1].peer = w->side[0].me;
	while (!w->broken && ++steps < NEVER &&
	       (w->side[0].done < messages || w->side[1].done < messages))
		step(w);
	KUNIT_EXPECT_LT(test, steps, NEVER);
	for (i = 0; i < 2; i++) {
		struct side *s = &w->side[i];

		KUNIT_EXPECT_EQ(test, s->done, messages);
		KUNIT_EXPECT_EQ(test, s->me->qp->state, IB_QPS_RTS);
		sm_expect_no_event(s->me);
		if (!weather.lose && !weather.twice && !weather.late) {
			/* Only a pause that was asked for sends again. */
			KUNIT_EXPECT_EQ(test, sm_counted(s->me, RXE_CNT_RETRY),
					sm_counted(s->me, RXE_CNT_RCVD_RNR));
			KUNIT_EXPECT_EQ(test,
					sm_counted(s->me, RXE_CNT_TIMEOUT), 0);
			KUNIT_EXPECT_EQ(test,
					sm_counted(s->me,
						   RXE_CNT_SENT_SEQ_ERR), 0);
			KUNIT_EXPECT_EQ(test,
					sm_counted(s->me,
						   RXE_CNT_IMPLIED_NAK), 0);
		}
	}
	sm_end(w->side[0].me);
	sm_end(w->side[1].me);
}

static struct sm_conf wire_conf(void)
{
	struct sm_conf conf = sm_defaults();

	conf.sq_psn = 0xffff80;
	conf.rq_psn = 0xffff80;
	conf.rnr_retry = 7;
	/* Longer than any test waits. */
	conf.min_rnr_timer = 0;
	return conf;
}

static void run_seeds(struct kunit *test, struct weather weather, u32 seeds,
		      u32 messages)
{
	static const enum ib_mtu mtus[] = { IB_MTU_256, IB_MTU_1024,
					    IB_MTU_4096 };
	struct sm_conf conf = wire_conf();
	u32 seed;

	for (seed = 1; seed <= seeds; seed++) {
		conf.mtu = mtus[seed % 3];
		conf.max_rd_atomic = 1 + seed % 4;
		conf.max_dest_rd_atomic = conf.max_rd_atomic;
		run_wire(test, weather, &conf, seed, messages, seed & 1);
	}
}

static void loss_none(struct kunit *test)
{
	run_seeds(test, (struct weather){}, SEEDS, MESSAGES);
}

static void loss_rnr(struct kunit *test)
{
	run_seeds(test, (struct weather){ .rnr = 900 }, SEEDS, MESSAGES);
}

static void loss_some(struct kunit *test)
{
	run_seeds(test, (struct weather){ .lose = 10 }, SEEDS, MESSAGES);
}

static void loss_much(struct kunit *test)
{
	run_seeds(test, (struct weather){ .lose = 150 }, SEEDS, MESSAGES);
}

static void loss_twice(struct kunit *test)
{
	run_seeds(test, (struct weather){ .twice = 100 }, SEEDS, MESSAGES);
}

static void loss_late(struct kunit *test)
{
	run_seeds(test, (struct weather){ .late = 50 }, SEEDS, MESSAGES);
}

static void loss_everything(struct kunit *test)
{
	struct weather weather = {
		.lose = 50,
		.twice = 50,
		.late = 50,
		.rnr = 500,
	};

	run_seeds(test, weather, SEEDS, MESSAGES);
}

/* READs in parts, windows that close, runs that end in the middle. */
static void loss_of_big_ones(struct kunit *test)
{
	struct weather weather = { .lose = 5, .twice = 5, .late = 5 };
	struct sm_conf conf = wire_conf();
	u32 seed;

	conf.pages = 1200;
	for (seed = 1; seed <= SEEDS; seed++) {
		conf.mtu = seed & 2 ? IB_MTU_4096 : IB_MTU_1024;
		conf.max_rd_atomic = seed;
		conf.max_dest_rd_atomic = seed;
		run_wire(test, weather, &conf, seed, 8, true);
	}
	memset(&weather, 0, sizeof(weather));
	run_wire(test, weather, &conf, seed, 8, true);
}

static struct kunit_case rxe_sm_loss_cases[] = {
	KUNIT_CASE_SLOW(loss_none),
	KUNIT_CASE_SLOW(loss_rnr),
	KUNIT_CASE_SLOW(loss_some),
	KUNIT_CASE_SLOW(loss_much),
	KUNIT_CASE_SLOW(loss_twice),
	KUNIT_CASE_SLOW(loss_late),
	KUNIT_CASE_SLOW(loss_everything),
	KUNIT_CASE_SLOW(loss_of_big_ones),
	{}
};

static struct kunit_suite rxe_sm_loss_suite = {
	.name = "rxe_sm_loss",
	.test_cases = rxe_sm_loss_cases,
};

kunit_test_suite(rxe_sm_loss_suite);
