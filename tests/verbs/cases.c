// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		IBV_ACCESS_REMOTE_ATOMIC)

void case_open(const struct setting *set, struct rig *rig)
{
	rig_open(rig, set->dev, set->gid);
}

static void open_in_reset(const struct setting *set, struct pair *p, size_t len,
			  enum ibv_qp_type type)
{
	struct tuning tune = tuning_default;

	memset(p, 0, sizeof(*p));
	case_open(set, &p->rig);
	tune.sges = p->rig.dev.max_sge < 32 ? p->rig.dev.max_sge : 32;
	p->len = len;
	p->buf = aligned_alloc(4096, (len + 4095) & ~4095ull);
	if (!p->buf)
		die("no memory");
	memset(p->buf, 0, len);
	p->mr = ibv_reg_mr(p->rig.pd, p->buf, len, ACCESS);
	if (!p->mr)
		die("ibv_reg_mr: %s", strerror(errno));
	p->cq = ibv_create_cq(p->rig.ctx, 256, NULL, NULL, 0);
	if (!p->cq)
		die("ibv_create_cq: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		p->qp[i] = rig_qp(&p->rig, type, p->cq, p->cq, &tune);
		if (!p->qp[i])
			die("ibv_create_qp: %s", strerror(errno));
	}
}

void pair_open_reset(const struct setting *set, struct pair *p, size_t len)
{
	open_in_reset(set, p, len, IBV_QPT_RC);
}

void pair_connect(struct pair *p)
{
	struct tuning tune = tuning_default;

	if (p->rig.port.active_mtu < tune.mtu)
		tune.mtu = p->rig.port.active_mtu;
	for (int i = 0; i < 2; i++) {
		struct peer to = { .qpn = p->qp[!i]->qp_num, .psn = 100, .gid = p->rig.gid };
		int err = rig_connect(&p->rig, p->qp[i], &to, 100, &tune);

		if (err)
			die("connecting a queue pair: %s", strerror(err));
	}
}

void pair_open(const struct setting *set, struct pair *p, size_t len)
{
	pair_open_reset(set, p, len);
	pair_connect(p);
}

void pair_open_uc(const struct setting *set, struct pair *p, size_t len)
{
	open_in_reset(set, p, len, IBV_QPT_UC);
	pair_connect(p);
}

void pair_close(struct pair *p)
{
	int err = ibv_destroy_qp(p->qp[0]);

	err = err ?: ibv_destroy_qp(p->qp[1]);
	err = err ?: ibv_destroy_cq(p->cq);
	err = err ?: ibv_dereg_mr(p->mr);
	if (err)
		die("destroying a pair: %s", strerror(err));
	rig_close(&p->rig);
	free(p->buf);
}

int pair_do(struct pair *p, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int sges,
	    uint64_t remote, uint32_t rkey, unsigned int ms, struct ibv_wc *wc)
{
	struct ibv_send_wr wr = {
		.wr_id = 0xc0ffee, .sg_list = sge, .num_sge = sges, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc dummy;
	int err;

	wc = wc ?: &dummy;
	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = rkey;
	err = ibv_post_send(p->qp[0], &wr, &bad);
	if (err)
		return -abs(err);
	err = rig_wait(p->cq, wc, ms);
	if (err < 0)
		return err;
	return err ? (int)wc->status : -ETIMEDOUT;
}

int pair_write(struct pair *p, uint64_t remote, uint32_t rkey, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, len, p->mr->lkey };

	return pair_do(p, IBV_WR_RDMA_WRITE, &sge, 1, remote, rkey, 20000, NULL);
}

const char *outcome(int result)
{
	return result < 0 ? strerror(-result) : ibv_wc_status_str(result);
}

bool is_refusal(int result)
{
	return result > 0 || (result < 0 && result != -ETIMEDOUT);
}

static bool chosen(const char *id, char **argv, int from, int argc)
{
	if (from == argc)
		return true;
	for (int i = from; i < argc; i++)
		if (!strcmp(argv[i], id))
			return true;
	return false;
}

static const char usage[] =
	"usage: cases [-d DEV] [-g INDEX|v4|v6] [--full] [--foreign] [--dir DIR]...\n"
	"             [--fork-init] [--list] [ID...]\n";

int main(int argc, char **argv)
{
	static const struct test_case *const sets[] = { device_cases, memory_cases, queue_cases,
						      ring_cases, atomic_cases, datagram_cases,
						      srq_cases, window_cases, rereg_cases,
						      cq_cases, fork_cases, rights_cases,
						      limits_cases };
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "gid", 1, NULL, 'g' }, { "full", 0, NULL, 'F' },
		{ "foreign", 0, NULL, 'f' }, { "dir", 1, NULL, 'r' }, { "list", 0, NULL, 'l' },
		{ "fork-init", 0, NULL, 'i' },
		{ 0 },
	};
	struct setting set = { .dev = "", .gid = "v4" };
	unsigned int ran = 0;
	bool list = false;
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			set.dev = optarg;
			break;
		case 'g':
			set.gid = optarg;
			break;
		case 'F':
			set.full = true;
			break;
		case 'f':
			set.foreign = true;
			break;
		case 'i':
			set.fork_init = true;
			break;
		case 'l':
			list = true;
			break;
		case 'r':
			if (set.dir_count < MAX_DIRS)
				set.dirs[set.dir_count++] = optarg;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (set.fork_init)
		set.fork_err = ibv_fork_init();
	for (unsigned int s = 0; s < sizeof(sets) / sizeof(*sets); s++) {
		for (const struct test_case *c = sets[s]; c->id; c++) {
			if (!chosen(c->id, argv, optind, argc))
				continue;
			ran++;
			if (list) {
				printf("%-8s %s\n", c->id, c->what);
				continue;
			}
			note("%s: %s", c->id, c->what);
			watchdog_about(c->id);
			watchdog(set.full ? 1800 : 180);
			c->run(&set);
			watchdog(0);
		}
	}
	if (!ran)
		die("no such case");
	return list ? 0 : report_status();
}
