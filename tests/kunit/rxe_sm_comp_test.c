// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The completer: what answers, and silence, do to the send queue.  Each error
 * has its status, on the work request that it hit, with all behind it flushed
 * in order.
 */
#include "rxe_sm_bench.h"

#define PSN 0x100
#define MTU 1024
#define UNLIMITED 0x1f
#define NAK_SEQUENCE 0x60

#define S_FIRST IB_OPCODE_RC_SEND_FIRST
#define S_MIDDLE IB_OPCODE_RC_SEND_MIDDLE
#define S_LAST IB_OPCODE_RC_SEND_LAST
#define S_ONLY IB_OPCODE_RC_SEND_ONLY
#define R_FIRST IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
#define R_MIDDLE IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE
#define R_LAST IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST
#define R_ONLY IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY

static void answer(struct sm *sm, u8 opcode, u32 psn, u32 off, u32 len)
{
	struct rxe_pkt pkt = {
		.opcode = opcode,
		.psn = psn,
		.payload = off,
		.len = len,
		.msn = 1,
		.syndrome = UNLIMITED,
	};

	sm_rx(sm, pkt);
}

/* SENDs of one packet, wr_id 1 to @n, PSN and up. */
static void post_sends(struct sm *sm, u32 n, int flags)
{
	u32 i;

	for (i = 1; i <= n; i++)
		sm_post(sm, i, IB_WR_SEND, i, 8, flags);
}

static void expect_sends(struct sm *sm, u32 from, u32 to)
{
	u32 i;

	for (i = from; i <= to; i++)
		sm_expect_data(sm, S_ONLY, PSN + i - 1, i, 8, true);
	sm_expect_none(sm);
}

/* ---- ACK ---- */

static void comp_acks_are_cumulative(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	post_sends(sm, 5, 0);
	expect_sends(sm, 1, 5);
	sm_ack(sm, PSN + 2, UNLIMITED, 3);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.opcode, IB_WC_SEND);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	/* Old, again, and of what was never sent. */
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_ack(sm, PSN + 2, UNLIMITED, 3);
	sm_ack(sm, PSN + 5, UNLIMITED, 6);
	sm_ack(sm, PSN + 100, UNLIMITED, 6);
	sm_ack(sm, PSN + 5, 0x62, 6);
	sm_ack(sm, PSN, 0x62, 0);
	sm_ack(sm, PSN + 2, NAK_SEQUENCE, 0);
	sm_ack(sm, PSN + 2, 0x2c, 0);
	sm_expect_no_wc(sm);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 4, UNLIMITED, 5);
	sm_expect_send_wc(sm, 4, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 5, IB_WC_SUCCESS);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RETRY), 0);
	sm_end(sm);
}

static void comp_signaled_only(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.sig_req = true;
	sm = sm_make(test, &conf);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 8, IB_SEND_SIGNALED);
	sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	sm_ack(sm, PSN + 2, UNLIMITED, 3);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* An ACK inside a message completes nothing, and is progress. */
static void comp_ack_inside_a_message(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_SEND, 0, 4 * MTU, 0);
	sm_skip(sm);
	sm_ack(sm, PSN + 1, UNLIMITED, 0);
	sm_expect_no_wc(sm);
	sm_ack_timeout(sm);
	sm_expect_data(sm, S_MIDDLE, PSN + 2, 2 * MTU, MTU, true);
	sm_expect_data(sm, S_LAST, PSN + 3, 3 * MTU, MTU, true);
	sm_expect_none(sm);
	sm_end(sm);
}

/* It was to be sent again, and has come after all. */
static void comp_ack_overtakes_a_retry(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	post_sends(sm, 3, 0);
	sm_skip(sm);
	sm_burst(sm);
	sm_ack(sm, PSN, NAK_SEQUENCE, 0);
	sm_ack(sm, PSN + 1, UNLIMITED, 2);
	sm_burst_end(sm);
	expect_sends(sm, 3, 3);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- fatal NAKs ---- */

static void comp_nak_codes(struct kunit *test)
{
	static const struct { u8 syndrome; enum ib_wc_status status; } rows[] = {
		{ 0x61, IB_WC_REM_INV_REQ_ERR },
		{ 0x62, IB_WC_REM_ACCESS_ERR },
		{ 0x63, IB_WC_REM_OP_ERR },
		{ 0x64, IB_WC_REM_INV_RD_REQ_ERR },
	};
	int i, sig_req, hit;

	for (i = 0; i < ARRAY_SIZE(rows) * 2 * 4; i++) {
		struct sm_conf conf = sm_defaults();
		struct sm *sm;
		int n;

		sig_req = i / 4 % 2;
		hit = i / 8 + 1;
		conf.sig_req = sig_req;
		sm = sm_make(test, &conf);
		sm_post_recv(sm, 21, 0, 8);
		sm_post_recv(sm, 22, 0, 8);
		post_sends(sm, 5, 0);
		expect_sends(sm, 1, 5);
		sm_ack(sm, PSN + hit - 1, rows[i % 4].syndrome, hit - 1);
		/* Those before it were executed. */
		for (n = 1; n < hit && !sig_req; n++)
			sm_expect_send_wc(sm, n, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, hit, rows[i % 4].status);
		for (n = hit + 1; n <= 5; n++)
			sm_expect_send_wc(sm, n, IB_WC_WR_FLUSH_ERR);
		sm_expect_recv_wc(sm, 21, IB_WC_WR_FLUSH_ERR);
		sm_expect_recv_wc(sm, 22, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_expect_none(sm);
		KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_ERR);
		/* The completion tells all: there is no event. */
		sm_expect_no_event(sm);
		sm_end(sm);
	}
}

/* The right one of messages of several packets. */
static void comp_nak_inside_a_message(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_SEND, 0, 3 * MTU, 0);
	sm_post(sm, 2, IB_WR_RDMA_WRITE, 0, 3 * MTU, 0);
	sm_post(sm, 3, IB_WR_SEND, 0, 3 * MTU, 0);
	sm_skip(sm);
	sm_ack(sm, PSN + 5, 0x62, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 2, IB_WC_REM_ACCESS_ERR);
	sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* A READ is refused, at once and after some of its answers. */
static void comp_nak_of_a_read(struct kunit *test)
{
	int answers;

	for (answers = 0; answers < 3; answers++) {
		struct sm *sm = sm_start(test);
		int i;

		sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
		sm_post(sm, 2, IB_WR_RDMA_READ, 0, 3 * MTU, 0);
		sm_post(sm, 3, IB_WR_SEND, 0, 8, 0);
		sm_skip(sm);
		for (i = 0; i < answers; i++)
			answer(sm, i ? R_MIDDLE : R_FIRST, PSN + 1 + i,
			       i * MTU, MTU);
		sm_ack(sm, PSN + 1 + answers, 0x62, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_send_wc(sm, 2, IB_WC_REM_ACCESS_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_end(sm);
	}
}

/* ---- sequence NAKs ---- */

static void comp_seq_nak(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	u32 train;

	sm_post(sm, 1, IB_WR_SEND, 0, 4 * MTU, 0);
	sm_post(sm, 2, IB_WR_SEND, 9, 8, 0);
	sm_skip(sm);
	sm_ack(sm, PSN + 2, NAK_SEQUENCE, 0);
	sm_expect_data(sm, S_MIDDLE, PSN + 2, 2 * MTU, MTU, true);
	sm_expect_data(sm, S_LAST, PSN + 3, 3 * MTU, MTU, true);
	sm_expect_data(sm, S_ONLY, PSN + 4, 9, 8, true);
	sm_expect_none(sm);
	sm_expect_no_wc(sm);
	/* At one PSN twice: one by one from now on. */
	train = sm->trains;
	sm_ack(sm, PSN + 2, NAK_SEQUENCE, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 3);
	KUNIT_EXPECT_EQ(test, sm->trains - train, 3);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_NO_TRAIN), 1);
	sm_skip(sm);
	/* It also acknowledges what is before it. */
	sm_ack(sm, PSN + 4, NAK_SEQUENCE, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_data(sm, S_ONLY, PSN + 4, 9, 8, true);
	sm_expect_none(sm);
	sm_ack(sm, PSN + 4, UNLIMITED, 2);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	/* Progress: trains again. */
	train = sm->trains;
	sm_post(sm, 3, IB_WR_SEND, 0, 8 * MTU, 0);
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 8);
	KUNIT_EXPECT_EQ(test, sm->trains - train, 1);
	sm_skip(sm);
	sm_end(sm);
}

static void comp_seq_nak_count(struct kunit *test)
{
	int cnt;

	for (cnt = 0; cnt < 8; cnt++) {
		struct sm_conf conf = sm_defaults();
		struct sm *sm;
		int i;

		conf.retry_cnt = cnt;
		sm = sm_make(test, &conf);
		post_sends(sm, 3, 0);
		sm_skip(sm);
		sm_ack(sm, PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		for (i = 0; i < cnt; i++) {
			sm_ack(sm, PSN + 1, NAK_SEQUENCE, 1);
			expect_sends(sm, 2, 3);
		}
		sm_ack(sm, PSN + 1, NAK_SEQUENCE, 1);
		sm_expect_send_wc(sm, 2, IB_WC_RETRY_EXC_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_expect_none(sm);
		sm_expect_no_event(sm);
		sm_end(sm);
	}
}

/* ---- RNR ---- */

static void comp_rnr_delays(struct kunit *test)
{
	/* IBTA vol. 1, table 45, in microseconds. */
	static const u32 us[32] = {
		655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640,
		960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480,
		30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680,
		491520,
	};
	int code;

	for (code = 0; code < 32; code++)
		KUNIT_EXPECT_EQ(test, rxe_rnr_delay_ns(code),
				us[code] * 1000ull);
}

static void comp_rnr(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	ktime_t before, until;

	post_sends(sm, 4, 0);
	sm_skip(sm);
	before = ktime_get();
	/* Code 0: 655.36 ms. It acknowledges the first. */
	sm_ack(sm, PSN + 1, 0x20, 1);
	until = hrtimer_get_softexpires(&sm->qp->rnr_timer);
	KUNIT_EXPECT_GE(test, ktime_to_ns(ktime_sub(until, before)),
			655360000);
	KUNIT_EXPECT_LE(test, ktime_to_ns(ktime_sub(until, ktime_get())),
			655360000);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_no_wc(sm);
	/* Not a packet before it is over, whoever asks. */
	sm_post(sm, 5, IB_WR_SEND, 5, 8, 0);
	sm_ack_timeout(sm);
	sm_ack(sm, PSN + 1, 0x20, 1);
	sm_ack(sm, PSN + 1, NAK_SEQUENCE, 1);
	sm_expect_none(sm);
	sm_rnr_timeout(sm);
	expect_sends(sm, 2, 5);
	sm_ack(sm, PSN + 4, UNLIMITED, 5);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 4, IB_WC_SUCCESS);
	sm_expect_send_wc(sm, 5, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_end(sm);
}

static void comp_rnr_count(struct kunit *test)
{
	int cnt;

	for (cnt = 0; cnt < 7; cnt++) {
		struct sm_conf conf = sm_defaults();
		struct sm *sm;
		int i;

		conf.rnr_retry = cnt;
		sm = sm_make(test, &conf);
		sm_post_recv(sm, 21, 0, 8);
		post_sends(sm, 3, 0);
		sm_skip(sm);
		sm_ack(sm, PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		for (i = 0; i < cnt; i++) {
			sm_ack(sm, PSN + 1, 0x20, 1);
			sm_expect_none(sm);
			sm_rnr_timeout(sm);
			expect_sends(sm, 2, 3);
		}
		sm_ack(sm, PSN + 1, 0x20, 1);
		sm_expect_send_wc(sm, 2, IB_WC_RNR_RETRY_EXC_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_recv_wc(sm, 21, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_expect_none(sm);
		KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RNR_EXCEEDED), 1);
		sm_end(sm);
	}
}

static void comp_rnr_for_ever(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.rnr_retry = 7;
	conf.retry_cnt = 0;
	sm = sm_make(test, &conf);
	post_sends(sm, 1, 0);
	sm_skip(sm);
	for (i = 0; i < 100; i++) {
		sm_ack(sm, PSN, 0x20, 0);
		sm_rnr_timeout(sm);
	}
	KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 100);
	sm_expect_no_wc(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_skip(sm);
	sm_end(sm);
}

/* Each message has all its tries. */
static void comp_rnr_count_begins_anew(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.rnr_retry = 1;
	sm = sm_make(test, &conf);
	post_sends(sm, 4, 0);
	for (i = 0; i < 4; i++) {
		sm_skip(sm);
		sm_ack(sm, PSN + i, 0x20, i);
		sm_rnr_timeout(sm);
		expect_sends(sm, i + 1, 4);
		sm_ack(sm, PSN + i, UNLIMITED, i + 1);
		sm_expect_send_wc(sm, i + 1, IB_WC_SUCCESS);
	}
	sm_expect_no_wc(sm);
	sm_end(sm);
}

/* ---- time ---- */

/* The timer that runs now ends @ns from now, a second more or less. */
static void expect_deadline(struct sm *sm, int line, u64 ns)
{
	s64 left = ktime_to_ns(ktime_sub(sm->qp->req.ack_deadline,
					 ktime_get()));

	KUNIT_EXPECT_GE_MSG(sm->test, left, (s64)ns - NSEC_PER_SEC, "line %d",
			    line);
	KUNIT_EXPECT_LE_MSG(sm->test, left, (s64)ns + NSEC_PER_SEC, "line %d",
			    line);
}

/* 4.096 us * 2^31 in ns. */
#define T 8796093022208ull

static void comp_timeouts(struct kunit *test)
{
	int cnt;

	for (cnt = 0; cnt < 8; cnt++) {
		struct sm_conf conf = sm_defaults();
		struct sm *sm;
		int i;

		conf.retry_cnt = cnt;
		sm = sm_make(test, &conf);
		sm_post_recv(sm, 21, 0, 8);
		post_sends(sm, 3, 0);
		sm_skip(sm);
		sm_ack(sm, PSN, UNLIMITED, 1);
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		expect_deadline(sm, __LINE__, T);
		for (i = 0; i < cnt; i++) {
			sm_ack_timeout(sm);
			expect_sends(sm, 2, 3);
			/* T is over: 2T, 4T, 4T, ... */
			expect_deadline(sm, __LINE__, i ? 4 * T : 2 * T);
		}
		sm_expect_no_wc(sm);
		sm_ack_timeout(sm);
		sm_expect_send_wc(sm, 2, IB_WC_RETRY_EXC_ERR);
		sm_expect_send_wc(sm, 3, IB_WC_WR_FLUSH_ERR);
		sm_expect_recv_wc(sm, 21, IB_WC_WR_FLUSH_ERR);
		sm_expect_no_wc(sm);
		sm_expect_none(sm);
		KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_TIMEOUT),
				cnt + 1);
		KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_RETRY_EXCEEDED),
				1);
		KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
		sm_ack_timeout(sm);
		sm_expect_no_wc(sm);
		sm_expect_no_event(sm);
		sm_end(sm);
	}
}

static void comp_progress_renews_the_timer(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;
	int i;

	conf.retry_cnt = 1;
	sm = sm_make(test, &conf);
	post_sends(sm, 4, 0);
	for (i = 1; i <= 4; i++) {
		sm_skip(sm);
		sm_ack_timeout(sm);
		expect_sends(sm, i, 4);
		expect_deadline(sm, __LINE__, 2 * T);
		sm_ack(sm, PSN + i - 1, UNLIMITED, i);
		sm_expect_send_wc(sm, i, IB_WC_SUCCESS);
		if (i < 4)
			expect_deadline(sm, __LINE__, T);
	}
	/* Nothing is on its way: nothing is waited for. */
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	sm_ack_timeout(sm);
	sm_expect_none(sm);
	sm_end(sm);
}

/* The timer itself, when a long wait became a short one. */
static void comp_timer_is_not_late(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	ktime_t at;

	post_sends(sm, 2, 0);
	sm_ack_timeout(sm);
	sm_ack_timeout(sm);
	expect_deadline(sm, __LINE__, 4 * T);
	sm_ack(sm, PSN, UNLIMITED, 1);
	expect_deadline(sm, __LINE__, T);
	at = hrtimer_get_softexpires(&sm->qp->ack_timer);
	KUNIT_EXPECT_TRUE(test, hrtimer_is_queued(&sm->qp->ack_timer));
	KUNIT_EXPECT_LE(test, ktime_to_ns(at),
			ktime_to_ns(sm->qp->req.ack_deadline));
	sm_skip(sm);
	sm_end(sm);
}

static void comp_timer_too_early(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	post_sends(sm, 1, 0);
	sm_skip(sm);
	/* It was set before the deadline moved on. */
	set_bit(RXE_TODO_TIMEOUT, &sm->qp->todo);
	rxe_run_task(sm->qp);
	sm_expect_none(sm);
	expect_deadline(sm, __LINE__, T);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_TIMEOUT), 0);
	sm_end(sm);
}

static void comp_timeout_of_0_is_never(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	struct sm *sm;

	conf.timeout = 0;
	sm = sm_make(test, &conf);
	post_sends(sm, 3, 0);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&sm->qp->ack_timer));
	sm_ack_timeout(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_ack(sm, PSN + 1, NAK_SEQUENCE, 1);
	sm_skip(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->req.ack_deadline, 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&sm->qp->ack_timer));
	sm_end(sm);
}

/* The real timer, with a timeout of 16.8 ms. */
static void comp_real_timer(struct kunit *test)
{
	struct sm_conf conf = sm_defaults();
	ktime_t begin;
	struct sm *sm;
	int i;

	conf.timeout = 12;
	conf.retry_cnt = 2;
	sm = sm_make(test, &conf);
	begin = ktime_get();
	post_sends(sm, 1, 0);
	for (i = 0; i < 1000 && sm->qp->state != IB_QPS_ERR; i++)
		schedule_timeout_uninterruptible(1);
	/* T + 2T + 4T. */
	KUNIT_EXPECT_GE(test, ktime_us_delta(ktime_get(), begin), 7 * 16777);
	sm_settle(sm);
	/* Once, and twice again. */
	for (i = 0; i < 3; i++)
		sm_expect_data(sm, S_ONLY, PSN, 1, 8, true);
	sm_expect_none(sm);
	sm_expect_send_wc(sm, 1, IB_WC_RETRY_EXC_ERR);
	sm_end(sm);
}

/* ---- READ answers ---- */

static void comp_read(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge sge[] = {
		{ SM_VA + 11, 1500, sm->mr->key },
		{ SM_VA + 9000, 2000, sm->mr->key },
	};

	sm_clear(sm);
	sm_post_sges(sm, 1, IB_WR_RDMA_READ, sge, 2, 0);
	sm_expect_read(sm, PSN, 0, 3500);
	answer(sm, R_FIRST, PSN, 0, MTU);
	answer(sm, R_MIDDLE, PSN + 1, MTU, MTU);
	/* Once more: nothing new. */
	answer(sm, R_FIRST, PSN, 1, MTU);
	answer(sm, R_MIDDLE, PSN + 2, 2 * MTU, MTU);
	sm_expect_no_wc(sm);
	answer(sm, R_LAST, PSN + 3, 3 * MTU, 3500 - 3 * MTU);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 3500);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 11, 1500, 0));
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 9000, 2000, 1500));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 11));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 1511, 7000));
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 11000, 1000));
	/* Of none. */
	sm_post(sm, 2, IB_WR_RDMA_READ, 0, 0, 0);
	sm_expect_read(sm, PSN + 4, 0, 0);
	answer(sm, R_ONLY, PSN + 4, 0, 0);
	sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 0);
	sm_expect_none(sm);
	sm_end(sm);
}

/* A gap in the answers: asked again at once, once. */
static void comp_read_gap(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 5 * MTU, 0);
	sm_expect_read(sm, PSN, 0, 5 * MTU);
	answer(sm, R_FIRST, PSN, 0, MTU);
	answer(sm, R_MIDDLE, PSN + 2, 2 * MTU, MTU);
	sm_expect_read(sm, PSN + 1, MTU, 4 * MTU);
	answer(sm, R_MIDDLE, PSN + 3, 3 * MTU, MTU);
	answer(sm, R_LAST, PSN + 4, 4 * MTU, MTU);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_IMPLIED_NAK), 1);
	/* Again, with another gap. */
	answer(sm, R_FIRST, PSN + 1, MTU, MTU);
	answer(sm, R_MIDDLE, PSN + 3, 3 * MTU, MTU);
	sm_expect_read(sm, PSN + 2, 2 * MTU, 3 * MTU);
	sm_expect_none(sm);
	KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_IMPLIED_NAK), 2);
	/* What was asked for is lost as well: that is the timer's. */
	answer(sm, R_LAST, PSN + 4, 4 * MTU, MTU);
	sm_expect_none(sm);
	sm_ack_timeout(sm);
	sm_expect_read(sm, PSN + 2, 2 * MTU, 3 * MTU);
	answer(sm, R_FIRST, PSN + 2, 2 * MTU, MTU);
	answer(sm, R_MIDDLE, PSN + 3, 3 * MTU, MTU);
	answer(sm, R_LAST, PSN + 4, 4 * MTU, MTU);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, sm->wc.byte_len, 5 * MTU);
	KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 5 * MTU, 0));
	sm_expect_none(sm);
	sm_end(sm);
}

/* Something behind the READ is answered: its own answers are lost. */
static void comp_read_implied_nak(struct kunit *test)
{
	int way;

	for (way = 0; way < 3; way++) {
		struct sm *sm = sm_start(test);

		sm_clear(sm);
		sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
		sm_post(sm, 2, IB_WR_RDMA_READ, 0, 2 * MTU, 0);
		sm_post(sm, 3, way == 1 ? IB_WR_RDMA_READ : IB_WR_SEND, 50000,
			8, 0);
		sm_skip(sm);
		if (way == 0)
			sm_ack(sm, PSN + 3, UNLIMITED, 3);
		else if (way == 1)
			answer(sm, R_ONLY, PSN + 3, 0, 8);
		else
			sm_ack(sm, PSN + 3, 0x20, 2);
		/* The SEND before it was executed. */
		sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
		sm_expect_no_wc(sm);
		sm_expect_read(sm, PSN + 1, 0, 2 * MTU);
		KUNIT_EXPECT_EQ(test, sm_num_sent(sm), 1);
		sm_skip(sm);
		answer(sm, R_FIRST, PSN + 1, 0, MTU);
		answer(sm, R_LAST, PSN + 2, MTU, MTU);
		sm_expect_send_wc(sm, 2, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, sm_mem_is(sm, 0, 2 * MTU, 0));
		if (way == 1)
			answer(sm, R_ONLY, PSN + 3, 0, 8);
		else
			sm_ack(sm, PSN + 3, UNLIMITED, 3);
		sm_expect_send_wc(sm, 3, IB_WC_SUCCESS);
		sm_expect_none(sm);
		KUNIT_EXPECT_EQ(test, sm_counted(sm, RXE_CNT_IMPLIED_NAK), 1);
		sm_end(sm);
	}
}

static void comp_read_bad_answers(struct kunit *test)
{
	static const struct { u8 opcode; u32 len; } rows[] = {
		/* To a READ of two packets and a half. */
		{ R_FIRST, MTU - 4 },
		{ R_FIRST, 0 },
		{ R_FIRST, MTU + 4 },
		{ R_MIDDLE, 8 },
		{ R_LAST, MTU },
		{ R_ONLY, MTU },
		{ R_ONLY, 512 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sm *sm = sm_start(test);

		sm_clear(sm);
		sm_post(sm, 1, IB_WR_RDMA_READ, 0, 2 * MTU + 512, 0);
		sm_post(sm, 2, IB_WR_SEND, 0, 8, 0);
		sm_skip(sm);
		answer(sm, rows[i].opcode, PSN, 0, rows[i].len);
		sm_expect_send_wc(sm, 1, IB_WC_BAD_RESP_ERR);
		sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 4096));
		sm_end(sm);
	}
}

static void comp_read_bad_last(struct kunit *test)
{
	static const struct { u8 opcode; u32 len; } rows[] = {
		{ R_LAST, 508 },
		{ R_LAST, 516 },
		{ R_LAST, 0 },
		{ R_LAST, MTU },
		{ R_MIDDLE, MTU },
		{ R_MIDDLE, 512 },
		{ R_FIRST, MTU },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sm *sm = sm_start(test);

		sm_clear(sm);
		sm_post(sm, 1, IB_WR_RDMA_READ, 0, 2 * MTU + 512, 0);
		sm_skip(sm);
		answer(sm, R_FIRST, PSN, 0, MTU);
		answer(sm, R_MIDDLE, PSN + 1, MTU, MTU);
		answer(sm, rows[i].opcode, PSN + 2, 2 * MTU, rows[i].len);
		sm_expect_send_wc(sm, 1, IB_WC_BAD_RESP_ERR);
		sm_expect_no_wc(sm);
		KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 2 * MTU, 4096));
		sm_end(sm);
	}
}

/* Answers that nobody asked for. */
static void comp_read_answers_unasked(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_clear(sm);
	answer(sm, R_ONLY, PSN, 0, 8);
	sm_post(sm, 1, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	answer(sm, R_ONLY, PSN, 0, 8);
	answer(sm, R_FIRST, PSN + 1, 0, MTU);
	sm_expect_no_wc(sm);
	KUNIT_EXPECT_EQ(test, sm->qp->state, IB_QPS_RTS);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_expect_none(sm);
	sm_end(sm);
}

/* An ACK is no answer to a READ. */
static void comp_read_is_not_acked(struct kunit *test)
{
	struct sm *sm = sm_start(test);

	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
	sm_skip(sm);
	sm_ack(sm, PSN, UNLIMITED, 1);
	sm_expect_no_wc(sm);
	sm_skip(sm);
	answer(sm, R_ONLY, PSN, 0, 8);
	sm_expect_send_wc(sm, 1, IB_WC_SUCCESS);
	sm_end(sm);
}

static void comp_read_protection(struct kunit *test)
{
	struct sm *sm = sm_start(test);
	struct ib_sge sge[] = {
		{ SM_VA, MTU, sm->mr->key },
		{ SM_VA + 65536 - 8, MTU, sm->mr->key },
	};

	sm_post_sges(sm, 1, IB_WR_RDMA_READ, sge, 2, 0);
	sm_post(sm, 2, IB_WR_SEND, 0, 8, 0);
	sm_skip(sm);
	answer(sm, R_FIRST, PSN, 0, MTU);
	sm_expect_no_wc(sm);
	answer(sm, R_LAST, PSN + 1, MTU, MTU);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	sm_expect_send_wc(sm, 2, IB_WC_WR_FLUSH_ERR);
	sm_end(sm);

	/* Reading needs the right to write here. */
	sm = sm_start(test);
	sm->mr->access &= ~IB_ACCESS_LOCAL_WRITE;
	sm_clear(sm);
	sm_post(sm, 1, IB_WR_RDMA_READ, 0, 8, 0);
	sm_skip(sm);
	answer(sm, R_ONLY, PSN, 0, 8);
	sm_expect_send_wc(sm, 1, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_TRUE(test, sm_mem_is_clear(sm, 0, 8));
	sm_end(sm);
}

static struct kunit_case rxe_sm_comp_cases[] = {
	KUNIT_CASE(comp_acks_are_cumulative),
	KUNIT_CASE(comp_signaled_only),
	KUNIT_CASE(comp_ack_inside_a_message),
	KUNIT_CASE(comp_ack_overtakes_a_retry),
	KUNIT_CASE(comp_nak_codes),
	KUNIT_CASE(comp_nak_inside_a_message),
	KUNIT_CASE(comp_nak_of_a_read),
	KUNIT_CASE(comp_seq_nak),
	KUNIT_CASE(comp_seq_nak_count),
	KUNIT_CASE(comp_rnr_delays),
	KUNIT_CASE(comp_rnr),
	KUNIT_CASE(comp_rnr_count),
	KUNIT_CASE(comp_rnr_for_ever),
	KUNIT_CASE(comp_rnr_count_begins_anew),
	KUNIT_CASE(comp_timeouts),
	KUNIT_CASE(comp_progress_renews_the_timer),
	KUNIT_CASE(comp_timer_is_not_late),
	KUNIT_CASE(comp_timer_too_early),
	KUNIT_CASE(comp_timeout_of_0_is_never),
	KUNIT_CASE(comp_real_timer),
	KUNIT_CASE(comp_read),
	KUNIT_CASE(comp_read_gap),
	KUNIT_CASE(comp_read_implied_nak),
	KUNIT_CASE(comp_read_bad_answers),
	KUNIT_CASE(comp_read_bad_last),
	KUNIT_CASE(comp_read_answers_unasked),
	KUNIT_CASE(comp_read_is_not_acked),
	KUNIT_CASE(comp_read_protection),
	{}
};

static struct kunit_suite rxe_sm_comp_suite = {
	.name = "rxe_sm_comp",
	.test_cases = rxe_sm_comp_cases,
};

kunit_test_suite(rxe_sm_comp_suite);
