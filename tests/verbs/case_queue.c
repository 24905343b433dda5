// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"
#include "rings.h"

/* After the first bad key each request still ends, flushed. */
static void d01_bad_key_then_flush(const struct setting *set)
{
	unsigned int flushed = 0, rounds = 40;
	struct pair p;
	int result;

	pair_open(set, &p, 8192);
	result = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey, 4096);
	report(!result, "D01 a good WRITE first: %s", outcome(result));
	result = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey ^ 0x5a5a00, 4096);
	report(result == IBV_WC_REM_ACCESS_ERR, "D01 the WRITE with a wrong key: %s",
	       outcome(result));
	for (unsigned int i = 0; i < rounds; i++) {
		result = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey ^ 0x5a5a00, 4096);
		if (result != IBV_WC_WR_FLUSH_ERR)
			break;
		flushed++;
	}
	report(flushed == rounds, "D01 %u of %u later ones are flushed, last: %s", flushed, rounds,
	       outcome(result));
	pair_close(&p);
}

static void d02_one(const struct setting *set, const char *name, unsigned int opcode)
{
	struct pair p;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int result, more;

	pair_open(set, &p, 8192);
	memset(p.buf, 0x5a, 8);
	sge = (struct ibv_sge){ (uintptr_t)p.buf, 8, p.mr->lkey };
	result = pair_do(&p, opcode, &sge, 1, (uintptr_t)p.buf + 4096, p.mr->rkey, 3000, NULL);
	more = rig_wait(p.cq, &wc, 100);
	report(is_refusal(result) && !more && !p.buf[4096], "D02 %s (%u): %s, %d more completions",
	       name, opcode, outcome(result), more);
	pair_close(&p);
}

static void d02_other_type(const struct setting *set, const char *name, enum ibv_qp_type type,
			   enum ibv_wr_opcode opcode)
{
	struct tuning tune = tuning_default;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 17 };
	struct pair p;
	struct ibv_qp *rc;
	struct ibv_sge sge;
	int result;

	pair_open(set, &p, 8192);
	rc = p.qp[0];
	p.qp[0] = rig_qp(&p.rig, type, p.cq, p.cq, &tune);
	if (!p.qp[0]) {
		report_skip(strerror(errno), "D02 %s", name);
		goto out;
	}
	if (type == IBV_QPT_UD) {
		result = ibv_modify_qp(p.qp[0], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
						       IBV_QP_PORT | IBV_QP_QKEY);
		attr.qp_state = IBV_QPS_RTR;
		result = result ?: ibv_modify_qp(p.qp[0], &attr, IBV_QP_STATE);
		attr.qp_state = IBV_QPS_RTS;
		result = result ?: ibv_modify_qp(p.qp[0], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
		if (result)
			die("D02 %s: %s", name, strerror(result));
	}
	sge = (struct ibv_sge){ (uintptr_t)p.buf, 8, p.mr->lkey };
	result = pair_do(&p, opcode, &sge, 1, (uintptr_t)p.buf + 4096, p.mr->rkey, 3000, NULL);
	report(is_refusal(result), "D02 %s: %s", name, outcome(result));
	ibv_destroy_qp(p.qp[0]);
out:
	p.qp[0] = rc;
	pair_close(&p);
}

static void d02_wrong_opcodes(const struct setting *set)
{
	if (set->foreign) {
		report_skip("the kernel there takes any opcode for a table index", "D02");
		return;
	}
	d02_one(set, "unknown opcode", 77);
	d02_one(set, "last opcode of a byte", 255);
	d02_one(set, "opcode that needs more than a byte", 0x10000 + IBV_WR_RDMA_WRITE);
	d02_one(set, "TSO", IBV_WR_TSO);
	d02_one(set, "vendor's own", IBV_WR_DRIVER1);
	/* The kernel's own: a user who posts these must not be obeyed. */
	d02_one(set, "REG_MR", 0x20);
	d02_one(set, "READ_WITH_INV", 0x0b);
	d02_other_type(set, "WRITE on UD", IBV_QPT_UD, IBV_WR_RDMA_WRITE);
}

static void d18_check(const struct setting *set, struct ibv_qp *qp, enum ibv_qp_state want,
		      const char *name)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err;

	/* Values that no state has, so that one that is not written shows. */
	memset(&attr, 0x7e, sizeof(attr));
	err = ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE, &init);
	if (set->foreign && !err && attr.qp_state == want && attr.cur_qp_state != want) {
		report_skip("cur_qp_state is wrong there", "D18 state %s", name);
		return;
	}
	report(!err && attr.qp_state == want && attr.cur_qp_state == want && qp->state == want,
	       "D18 in %s: error %d, qp_state %d, cur_qp_state %d, library's %d, right is %d", name,
	       err, attr.qp_state, attr.cur_qp_state, qp->state, want);
}

/* Leaving SQD is legal once the send queue has drained, which takes a moment. */
static void await_drained(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint64_t end = now_ms() + 3000;

	do {
		memset(&attr, 0, sizeof(attr));
		if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
			return;
		usleep(1000);
	} while (attr.sq_draining && now_ms() < end);
}

static void d18_states(const struct setting *set)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct tuning tune = tuning_default;
	struct pair p;
	struct peer to;
	int err;

	pair_open_reset(set, &p, 4096);
	to = (struct peer){ .qpn = p.qp[1]->qp_num, .psn = 5, .gid = p.rig.gid };
	d18_check(set, p.qp[0], IBV_QPS_RESET, "RESET");
	err = rig_to_init(p.qp[0]);
	d18_check(set, p.qp[0], IBV_QPS_INIT, "INIT");
	err = err ?: rig_to_rtr(&p.rig, p.qp[0], &to, &tune);
	d18_check(set, p.qp[0], IBV_QPS_RTR, "RTR");
	err = err ?: rig_to_rts(p.qp[0], 5, &tune);
	d18_check(set, p.qp[0], IBV_QPS_RTS, "RTS");
	err = err ?: ibv_modify_qp(p.qp[0], &attr, IBV_QP_STATE);
	d18_check(set, p.qp[0], IBV_QPS_SQD, "SQD");
	await_drained(p.qp[0]);
	attr.qp_state = IBV_QPS_RTS;
	err = err ?: ibv_modify_qp(p.qp[0], &attr, IBV_QP_STATE);
	d18_check(set, p.qp[0], IBV_QPS_RTS, "RTS again");
	err = err ?: rig_to_error(p.qp[0]);
	d18_check(set, p.qp[0], IBV_QPS_ERR, "ERR");
	attr.qp_state = IBV_QPS_RESET;
	err = err ?: ibv_modify_qp(p.qp[0], &attr, IBV_QP_STATE);
	d18_check(set, p.qp[0], IBV_QPS_RESET, "RESET again");
	report(!err, "D18 all transitions: %s", err ? strerror(err) : "fine");
	pair_close(&p);
}

static int post_recv(struct pair *p, int which)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, 4096, p->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(p->qp[which], &wr, &bad);
}

static void d24_refused(const char *what, const char *state, int err)
{
	report(err == EINVAL, "D24 %s in %s: %d (%s)", what, state, err,
	       err ? strerror(abs(err)) : "accepted");
}

static int post_write(struct pair *p, uint64_t id)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, 64, p->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)p->buf + 4096, p->mr->rkey },
	}, *bad;

	return ibv_post_send(p->qp[0], &wr, &bad);
}

static void d24_post_too_early(const struct setting *set)
{
	struct tuning tune = tuning_default;
	struct ibv_wc wc = { 0 };
	struct pair p;
	struct peer to;
	int err, n;

	pair_open_reset(set, &p, 8192);
	to = (struct peer){ .qpn = p.qp[1]->qp_num, .psn = 100, .gid = p.rig.gid };
	d24_refused("post_recv", "RESET", post_recv(&p, 0));
	if (!set->foreign)
		d24_refused("post_send", "RESET", post_write(&p, 1));
	err = rig_to_init(p.qp[0]);
	report(!err && !post_recv(&p, 0), "D24 post_recv in INIT is accepted");
	if (!set->foreign)
		d24_refused("post_send", "INIT", post_write(&p, 2));
	err = err ?: rig_to_rtr(&p.rig, p.qp[0], &to, &tune);
	if (!set->foreign)
		d24_refused("post_send", "RTR", post_write(&p, 3));
	err = err ?: rig_to_rts(p.qp[0], 100, &tune);
	to.qpn = p.qp[0]->qp_num;
	err = err ?: rig_connect(&p.rig, p.qp[1], &to, 100, &tune);
	err = err ?: post_write(&p, 4);
	n = err ? 0 : rig_wait(p.cq, &wc, 5000);
	report(!err && n == 1 && !wc.status && wc.wr_id == 4,
	       "D24 in RTS only what is posted there runs: error %d, %d completion, wr_id %" PRIu64
	       ", %s", err, n, wc.wr_id, ibv_wc_status_str(wc.status));
	n = rig_wait(p.cq, &wc, 200);
	report(!n, "D24 nothing else completes");
	pair_close(&p);
}

/* A doorbell by hand: @extra bytes of requests follow the command. */
static int doorbell(struct pair *p, uint32_t wr_count, uint32_t sge_count, uint32_t wqe_size,
		    size_t extra)
{
	struct ib_uverbs_post_send cmd = {
		.qp_handle = p->qp[0]->handle, .wr_count = wr_count,
		.sge_count = sge_count, .wqe_size = wqe_size,
	};

	return rings_doorbell_with(p->rig.ctx, &cmd, NULL, extra);
}

static void d28_short_requests(const struct setting *set)
{
	const uint32_t size = sizeof(struct ib_uverbs_send_wr);
	unsigned int wrong = 0;
	struct pair p;
	int err;

	pair_open(set, &p, 8192);
	for (uint32_t s = 0; s < size; s++) {
		int one = doorbell(&p, 1, 0, s, (s + 3) & ~3u);
		int none = doorbell(&p, 0, 0, s, 0);

		if (one != EINVAL || none != EINVAL) {
			note("D28 wqe_size %u: %d with one request, %d with none", s, one, none);
			wrong++;
		}
	}
	report(!wrong, "D28 each wqe_size below %u is EINVAL", size);
	err = doorbell(&p, 1, 0, 0xffffffff, 0);
	report(err == EINVAL || err == ENOSPC, "D28 a huge wqe_size: %s", strerror(err));
	err = doorbell(&p, 1, 0, 0x7ffffffc, 128);
	report(err == EINVAL || err == ENOSPC, "D28 a large wqe_size: %s", strerror(err));
	err = doorbell(&p, 0x80000000u / size * 2, 0, size, 0);
	report(err == EINVAL || err == ENOSPC, "D28 a product of 32 bits: %s", strerror(err));
	err = doorbell(&p, 1, 0x10000001, size, size);
	report(err == EINVAL || err == ENOSPC, "D28 a huge sge_count: %s", strerror(err));
	err = doorbell(&p, 2, 0, size, size);
	report(err == EINVAL || err == ENOSPC, "D28 fewer bytes than requests: %s", strerror(err));
	err = doorbell(&p, 0, 0, size, 0);
	report(!err, "D28 an empty doorbell: %s", err ? strerror(err) : "accepted");
	err = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey, 64);
	report(!err, "D28 the queue pair still works: %s", outcome(err));
	pair_close(&p);
}

/* How many completion queues the kernel counts on @dev; -1 when nobody can say. */
static int count_cqs(const char *dev)
{
	FILE *f = popen("rdma resource show 2>/dev/null", "r");
	char line[512], name[64], *at;
	int count = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d: %63[^:]:", name) != 1 || strcmp(name, dev))
			continue;
		at = strstr(line, " cq ");
		if (at)
			count = atoi(at + 4);
	}
	if (f)
		pclose(f);
	return count;
}

static void d29_cq_sizes(const struct setting *set)
{
	const char *name;
	struct rig rig;
	int before;

	case_open(set, &rig);
	name = ibv_get_device_name(rig.ctx->device);
	before = count_cqs(name);
	{
		const int sizes[] = { 0, -1, rig.dev.max_cqe + 1, 0x7fffffff };

		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct ibv_cq *cq = NULL;
			unsigned int k;

			for (k = 0; k < 200 && !cq; k++) {
				errno = 0;
				cq = ibv_create_cq(rig.ctx, sizes[i], NULL, NULL, 0);
			}
			report(!cq && errno == EINVAL,
			       "D29 a queue of %d entries: %s", sizes[i],
			       cq ? "made" : strerror(errno));
			if (cq)
				ibv_destroy_cq(cq);
		}
	}
	if (before < 0)
		report_skip("no rdma command", "D29 nothing is left behind");
	else
		report(count_cqs(name) == before,
		       "D29 nothing is left behind: %d queues, %d before", count_cqs(name),
		       before);
	rig_close(&rig);
}

/* How many events of that kind the program finds, all of them acknowledged. */
static unsigned int read_events(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct pollfd one = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	unsigned int count = 0;

	while (poll(&one, 1, 200) == 1 && !ibv_get_async_event(ctx, &event)) {
		count += event.event_type == type;
		ibv_ack_async_event(&event);
	}
	return count;
}

/* Each drain is told, however many nobody has read yet. */
static void unread_events(const struct setting *set)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	unsigned int want = 1000, got;
	struct pair p;
	int err = 0;

	if (set->foreign) {
		report_skip("SQD_DRAINED is not told there", "events that are not read");
		return;
	}
	pair_open(set, &p, 4096);
	for (unsigned int i = 0; i < want && !err; i++) {
		err = ibv_modify_qp(p.qp[0], &sqd,
				    IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
		await_drained(p.qp[0]);
		err = err ?: ibv_modify_qp(p.qp[0], &rts, IBV_QP_STATE);
	}
	got = read_events(p.rig.ctx, IBV_EVENT_SQ_DRAINED);
	report(!err && got == want, "%u of %u events were there to read late (%s)", got, want,
	       strerror(err));
	/* What was not told is not waited for. */
	pair_close(&p);
	report(true, "and the queue pair goes");
}

static bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* What UC sends stays on one processor for a while; draining is not sending. */
static void drained_elsewhere(const struct setting *set)
{
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	cpu_set_t before;
	unsigned int got;
	struct pair p;
	int err;

	sched_getaffinity(0, sizeof(before), &before);
	if (set->foreign || !run_on(1) || !run_on(0)) {
		report_skip("SQD_DRAINED is not told, or one processor", "drained elsewhere");
		return;
	}
	pair_open_uc(set, &p, 8192);
	err = pair_write(&p, (uintptr_t)p.buf + 4096, p.mr->rkey, 4096);
	run_on(1);
	err = err ?: ibv_modify_qp(p.qp[0], &sqd,
				   IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
	got = read_events(p.rig.ctx, IBV_EVENT_SQ_DRAINED);
	report(!err && got == 1, "%u of 1 event of a queue that drained elsewhere (%d)", got, err);
	sched_setaffinity(0, sizeof(before), &before);
	pair_close(&p);
}

const struct test_case queue_cases[] = {
	{ "D01", "every request completes after a wrong key", d01_bad_key_then_flush },
	{ "D02", "opcodes that do not belong give one error", d02_wrong_opcodes },
	{ "D18", "query_qp tells the state in every state", d18_states },
	{ "D24", "posting before its time is refused", d24_post_too_early },
	{ "D28", "short and huge doorbells are refused", d28_short_requests },
	{ "unread", "events that are read late are all there", unread_events },
	{ "drained", "a queue drains on another processor than it sent on", drained_elsewhere },
	{ "D29", "bad completion queue sizes are refused and leak nothing", d29_cq_sizes },
	{ 0 },
};
