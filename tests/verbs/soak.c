// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The same thing very often, on one device:
 *
 *   soak -d DEV [-g GID] [--connections N] [--cqs N] [--qps N --seconds S]
 *
 * --connections: two queue pairs are made, connected, move data both ways, and
 * are destroyed again, each with a CQ of its own; the data is checked.
 * --cqs: a CQ is made and destroyed, every other one with a channel.
 * --qps: that many connected queue pairs at once, all with traffic for S seconds.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define PIECE	4096u
#define MAX_QPS	1024

struct soak {
	struct rig rig;
	struct ibv_mr *mr;
	char *buf;
	size_t len;
	struct tuning tune;
	uint64_t began;
};

/* Slices of PIECE bytes: 2*i belongs to queue pair i as source, 2*i+1 as target. */
static void open_memory(struct soak *s, unsigned int qps)
{
	s->len = 2ull * qps * PIECE;
	s->buf = aligned_alloc(4096, s->len);
	s->mr = s->buf ? ibv_reg_mr(s->rig.pd, s->buf, s->len, ACCESS) : NULL;
	if (!s->mr)
		die("%zu bytes of memory: %s", s->len, strerror(errno));
	s->began = now_ms();
}

static void close_memory(struct soak *s)
{
	int err = ibv_dereg_mr(s->mr);

	if (err)
		die("ibv_dereg_mr: %s", strerror(err));
	free(s->buf);
}

static struct ibv_cq *make_cq(struct soak *s, int cqe, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = ibv_create_cq(s->rig.ctx, cqe, NULL, channel, 0);

	if (!cq)
		die("ibv_create_cq: %s", strerror(errno));
	return cq;
}

static void make_pair(struct soak *s, struct ibv_cq *cq, struct ibv_qp **qp)
{
	for (int i = 0; i < 2; i++) {
		qp[i] = rig_qp(&s->rig, IBV_QPT_RC, cq, cq, &s->tune);
		if (!qp[i])
			die("ibv_create_qp: %s", strerror(errno));
	}
	for (int i = 0; i < 2; i++) {
		struct peer to = { .qpn = qp[!i]->qp_num, .psn = 9, .gid = s->rig.gid };
		int err = rig_connect(&s->rig, qp[i], &to, 9, &s->tune);

		if (err)
			die("connecting: %s", strerror(err));
	}
}

static void destroy_pair(struct ibv_qp **qp)
{
	for (int i = 0; i < 2; i++) {
		int err = ibv_destroy_qp(qp[i]);

		if (err)
			die("ibv_destroy_qp: %s", strerror(err));
	}
}

/* A WRITE from slice @from to slice @to. */
static int post_write(struct soak *s, struct ibv_qp *qp, unsigned int from, unsigned int to,
		      uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)s->buf + from * PIECE, PIECE, s->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)s->buf + to * PIECE, s->mr->rkey },
	}, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static bool one_connection(struct soak *s, unsigned int serial)
{
	struct ibv_cq *cq = make_cq(s, 16, NULL);
	size_t where, what;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;
	bool good = true;

	make_pair(s, cq, qp);
	for (unsigned int i = 0; i < 2; i++) {
		pattern_fill(s->buf + 2 * i * PIECE, serial, i, PIECE);
		if (post_write(s, qp[i], 2 * i, 2 * i + 1, i))
			good = false;
	}
	for (unsigned int i = 0; i < 2; i++)
		if (rig_wait(cq, &wc, 20000) != 1 || wc.status)
			good = false;
	for (unsigned int i = 0; i < 2; i++)
		if (!pattern_check(s->buf + (2 * i + 1) * PIECE, serial, i, PIECE, &where, &what))
			good = false;
	destroy_pair(qp);
	return !ibv_destroy_cq(cq) && good;
}

static void connections(struct soak *s, unsigned int count)
{
	unsigned int i, bad = 0;

	open_memory(s, 2);
	for (i = 0; i < count && bad < 10; i++)
		bad += !one_connection(s, i);
	report(!bad, "%u connections made, used and destroyed, %u of them bad, in %llu ms", i, bad,
	       (unsigned long long)(now_ms() - s->began));
	close_memory(s);
}

static void cqs(struct soak *s, unsigned int count)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(s->rig.ctx);
	unsigned int i, bad = 0;

	if (!channel)
		die("ibv_create_comp_channel: %s", strerror(errno));
	s->began = now_ms();
	for (i = 0; i < count && !bad; i++)
		bad += !!ibv_destroy_cq(make_cq(s, 1 + i % 300, i % 2 ? channel : NULL));
	report(!bad && !ibv_destroy_comp_channel(channel),
	       "%u CQs made and destroyed in %llu ms", i,
	       (unsigned long long)(now_ms() - s->began));
}

/* Queue pairs in twos, and one WRITE of each always under way. */
static void many_qps(struct soak *s, unsigned int count, unsigned int seconds)
{
	static unsigned int done[MAX_QPS];
	static struct ibv_qp *qp[MAX_QPS];
	struct ibv_cq *cq = make_cq(s, count + 1, NULL);
	unsigned int bad = 0, least = ~0u, outstanding = count;
	unsigned long long total = 0;
	uint64_t until;
	struct ibv_wc wc;

	open_memory(s, count);
	memset(s->buf, 5, s->len);
	for (unsigned int i = 0; i < count; i += 2)
		make_pair(s, cq, &qp[i]);
	until = now_ms() + seconds * 1000ull;
	for (unsigned int i = 0; i < count; i++)
		bad += !!post_write(s, qp[i], 2 * i, 2 * i + 1, i);
	while (outstanding && !bad) {
		if (rig_wait(cq, &wc, 60000) != 1 || wc.status) {
			bad++;
			break;
		}
		outstanding--;
		done[wc.wr_id]++;
		/* Some longer, until the last has had its turn. */
		if (now_ms() < until || !done[(wc.wr_id + 1) % count]) {
			bad += !!post_write(s, qp[wc.wr_id], 2 * wc.wr_id, 2 * wc.wr_id + 1,
					    wc.wr_id);
			outstanding++;
		}
	}
	for (unsigned int i = 0; i < count; i++) {
		total += done[i];
		least = done[i] < least ? done[i] : least;
	}
	report(!bad && least, "%u queue pairs at once: %llu WRITEs, %u at least on each, in %llu ms",
	       count, total, least, (unsigned long long)(now_ms() - s->began));
	for (unsigned int i = 0; i < count; i += 2)
		destroy_pair(&qp[i]);
	if (ibv_destroy_cq(cq))
		die("ibv_destroy_cq");
	close_memory(s);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "gid", 1, NULL, 'g' }, { "connections", 1, NULL, 'n' },
		{ "cqs", 1, NULL, 'c' }, { "qps", 1, NULL, 'q' }, { "seconds", 1, NULL, 's' },
		{ 0 },
	};
	unsigned int many = 0, cq_count = 0, qps = 0, seconds = 5;
	const char *dev = "", *gid = "v4";
	static struct soak s;
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:n:c:q:s:", longs, NULL)) != -1) {
		unsigned int value = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (ch) {
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid = optarg;
			break;
		case 'n':
			many = value;
			break;
		case 'c':
			cq_count = value;
			break;
		case 'q':
			qps = value;
			break;
		case 's':
			seconds = value;
			break;
		default:
			return 2;
		}
	}
	if (qps > MAX_QPS || qps % 2)
		die("--qps takes an even number up to %u", MAX_QPS);
	s.tune = tuning_default;
	s.tune.depth = 8;
	rig_open(&s.rig, dev, gid);
	watchdog(3600);
	watchdog_about("soak");
	if (many)
		connections(&s, many);
	if (cq_count)
		cqs(&s, cq_count);
	if (qps)
		many_qps(&s, qps, seconds);
	rig_close(&s.rig);
	return report_status();
}
