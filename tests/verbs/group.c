// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A member of a multicast group, or somebody who sends to it.
 *
 *   group -d DEV [-g GID] --join ADDRESS [--members N] [--count N] [--seconds S]
 *   group -d DEV [-g GID] --send ADDRESS [--count N]
 *
 * --join prints "# ready", then waits until each of its members (1) has received
 * --count messages (10), numbered from 0, whole and once each. --count 0: until it
 * is killed. Who sends waits a little between two of them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "report.h"
#include "rig.h"

#define QKEY		0x22222222u
#define GRH		40
#define SIZE		1000
#define MAX_MEMBERS	8
#define DEPTH		64
#define SLOT		1088

static struct options {
	const char *dev, *gid, *address;
	unsigned int members, count, seconds;
	bool join;
} opt = { .dev = "", .gid = "v4", .members = 1, .count = 10, .seconds = 20 };

static struct rig rig;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qp[MAX_MEMBERS];
static uint8_t *buf;

static union ibv_gid group_gid(void)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, opt.address, gid.raw + 12) != 1 &&
	    inet_pton(AF_INET6, opt.address, gid.raw) != 1)
		die("'%s' is no address", opt.address);
	return gid;
}

static void make_qp(unsigned int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct tuning tune = tuning_default;
	int err;

	tune.depth = DEPTH;
	qp[i] = rig_qp(&rig, IBV_QPT_UD, cq, cq, &tune);
	if (!qp[i])
		die("a UD queue pair: %s", strerror(errno));
	err = ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					  IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	err = err ?: ibv_modify_qp(qp[i], &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	err = err ?: ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	if (err)
		die("a UD queue pair to RTS: %s", strerror(err));
}

static void post_recv(unsigned int slot)
{
	struct ibv_sge sge = { (uintptr_t)buf + slot * SLOT, SLOT, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(qp[slot / DEPTH], &wr, &bad))
		die("ibv_post_recv");
}

static int receive(void)
{
	unsigned int got[MAX_MEMBERS] = { 0 }, left = opt.count * opt.members;
	uint64_t end = now_ms() + opt.seconds * 1000;
	size_t where, wrong;
	struct ibv_wc wc;

	while ((left || !opt.count) && now_ms() < end) {
		unsigned int i;
		int n = rig_wait(cq, &wc, 100);

		if (n < 0 || (n && wc.status))
			die("a receive failed: %s", n < 0 ? strerror(-n) :
			    ibv_wc_status_str(wc.status));
		if (!n)
			continue;
		i = wc.wr_id / DEPTH;
		if (wc.byte_len != GRH + SIZE || ntohl(wc.imm_data) != got[i] ||
		    !pattern_check(buf + wc.wr_id * SLOT + GRH, ntohl(wc.imm_data), 0, SIZE,
				   &where, &wrong))
			die("member %u got message %u with %u bytes where %u was due", i,
			    ntohl(wc.imm_data), wc.byte_len, got[i]);
		got[i]++;
		left--;
		post_recv(wc.wr_id);
	}
	for (unsigned int i = 0; i < opt.members; i++)
		report(got[i] == opt.count, "member %u has %u of %u messages", i, got[i],
		       opt.count);
	return left != 0;
}

static int join(union ibv_gid gid)
{
	int bad;

	for (unsigned int i = 0; i < opt.members; i++) {
		if (ibv_attach_mcast(qp[i], &gid, 0))
			die("ibv_attach_mcast: %s", strerror(errno));
		for (unsigned int k = 0; k < DEPTH; k++)
			post_recv(i * DEPTH + k);
	}
	note("ready");
	bad = receive();
	for (unsigned int i = 0; i < opt.members; i++)
		if (ibv_detach_mcast(qp[i], &gid, 0))
			die("ibv_detach_mcast");
	return bad;
}

static int send_all(union ibv_gid gid)
{
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };
	struct ibv_sge sge = { (uintptr_t)buf, SIZE, mr->lkey };
	struct ibv_wc wc;
	struct ibv_ah *ah;

	attr.grh.dgid = gid;
	attr.grh.sgid_index = rig.gid_index;
	attr.grh.hop_limit = 4;
	ah = ibv_create_ah(rig.pd, &attr);
	if (!ah)
		die("ibv_create_ah: %s", strerror(errno));
	for (unsigned int i = 0; i < opt.count; i++) {
		struct ibv_send_wr wr = {
			.wr_id = i, .sg_list = &sge, .num_sge = 1, .imm_data = htonl(i),
			.opcode = IBV_WR_SEND_WITH_IMM, .send_flags = IBV_SEND_SIGNALED,
			.wr.ud = { .ah = ah, .remote_qpn = 0xffffff, .remote_qkey = QKEY },
		}, *bad;

		pattern_fill(buf, i, 0, SIZE);
		if (ibv_post_send(qp[0], &wr, &bad) || rig_wait(cq, &wc, 2000) != 1 || wc.status)
			die("a send failed: %s", ibv_wc_status_str(wc.status));
		usleep(5000);
	}
	report(true, "%u messages sent", opt.count);
	ibv_destroy_ah(ah);
	return 0;
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", 1, NULL, 'd' }, { "gid", 1, NULL, 'g' }, { "join", 1, NULL, 'j' },
		{ "send", 1, NULL, 's' }, { "members", 1, NULL, 'm' }, { "count", 1, NULL, 'c' },
		{ "seconds", 1, NULL, 'S' }, { 0 },
	};
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			opt.dev = optarg;
			break;
		case 'g':
			opt.gid = optarg;
			break;
		case 'j':
		case 's':
			opt.join = ch == 'j';
			opt.address = optarg;
			break;
		case 'm':
			opt.members = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			opt.count = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			opt.seconds = strtoul(optarg, NULL, 0);
			break;
		default:
			exit(2);
		}
	}
	if (!opt.address || !opt.members || opt.members > MAX_MEMBERS)
		die("usage: group -d DEV [-g GID] --join|--send ADDRESS [--members N] [--count N]");
}

int main(int argc, char **argv)
{
	size_t len = MAX_MEMBERS * DEPTH * SLOT;
	int bad;

	parse(argc, argv);
	rig_open(&rig, opt.dev, opt.gid);
	buf = aligned_alloc(4096, (len + 4095) & ~4095ul);
	mr = buf ? ibv_reg_mr(rig.pd, buf, len, IBV_ACCESS_LOCAL_WRITE) : NULL;
	cq = ibv_create_cq(rig.ctx, 2 * MAX_MEMBERS * DEPTH, NULL, NULL, 0);
	if (!mr || !cq)
		die("memory: %s", strerror(errno));
	for (unsigned int i = 0; i < opt.members; i++)
		make_qp(i);
	bad = opt.join ? join(group_gid()) : send_all(group_gid());
	for (unsigned int i = 0; i < opt.members; i++)
		bad |= ibv_destroy_qp(qp[i]);
	bad |= ibv_destroy_cq(cq);
	bad |= ibv_dereg_mr(mr);
	rig_close(&rig);
	return bad != 0;
}
