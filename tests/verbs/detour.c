// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Datagrams of one queue pair to two places in turn, one of which takes none.
 *
 *   detour -d DEV --gid INDEX --full INDEX [--count N]
 *
 * --count datagrams (256) leave from each GID, for the address that ends in 2
 * beside it. All must complete as sent. Prints "# took MS" at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "rig.h"

#define QKEY	0x22222222u
#define BATCH	32

static const char *dev = "rxa", *gid = "v4";
static int other = -1;
static unsigned int count = 256;

static struct ibv_qp *make_qp(struct rig *rig, struct ibv_cq *cq)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct tuning tune = tuning_default;
	struct ibv_qp *qp;
	int err;

	tune.depth = 2 * BATCH;
	qp = rig_qp(rig, IBV_QPT_UD, cq, cq, &tune);
	if (!qp)
		die("a UD queue pair: %s", strerror(errno));
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	err = err ?: ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	err = err ?: ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	if (err)
		die("a UD queue pair to RTS: %s", strerror(err));
	return qp;
}

static struct ibv_ah *handle(struct rig *rig, int index)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_ah *ah;

	if (ibv_query_gid(rig->ctx, 1, index, &attr.grh.dgid))
		die("ibv_query_gid %d: %s", index, strerror(errno));
	attr.grh.dgid.raw[15] = 2;
	attr.grh.sgid_index = index;
	attr.grh.hop_limit = 4;
	ah = ibv_create_ah(rig->pd, &attr);
	if (!ah)
		die("ibv_create_ah: %s", strerror(errno));
	return ah;
}

static void send_batch(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_mr *mr,
		       struct ibv_ah *ah[2])
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, 1000, mr->lkey };
	struct ibv_send_wr wr[BATCH] = { }, *bad;
	struct ibv_wc wc;

	for (unsigned int i = 0; i < BATCH; i++) {
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].send_flags = i == BATCH - 1 ? IBV_SEND_SIGNALED : 0;
		wr[i].next = i < BATCH - 1 ? &wr[i + 1] : NULL;
		wr[i].wr.ud.ah = ah[i % 2];
		wr[i].wr.ud.remote_qpn = 0xfffff0;
		wr[i].wr.ud.remote_qkey = QKEY;
	}
	if (ibv_post_send(qp, wr, &bad))
		die("ibv_post_send");
	if (rig_wait(cq, &wc, 10000) != 1 || wc.status)
		die("a batch did not complete: %s", ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "gid", 1, NULL, 'g' }, { "full", 1, NULL, 'f' }, { "count", 1, NULL, 'c' }, { 0 },
	};
	static char bytes[1000];
	struct ibv_ah *ah[2];
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct rig rig;
	uint64_t start;
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:", longs, NULL)) != -1) {
		if (ch == 'd')
			dev = optarg;
		else if (ch == 'g')
			gid = optarg;
		else if (ch == 'f')
			other = atoi(optarg);
		else if (ch == 'c')
			count = strtoul(optarg, NULL, 0);
		else
			exit(2);
	}
	watchdog(60);
	watchdog_about("datagrams to two places");
	rig_open(&rig, dev, gid);
	cq = ibv_create_cq(rig.ctx, BATCH, NULL, NULL, 0);
	mr = ibv_reg_mr(rig.pd, bytes, sizeof(bytes), 0);
	if (!cq || !mr)
		die("a CQ and a region: %s", strerror(errno));
	qp = make_qp(&rig, cq);
	ah[0] = handle(&rig, rig.gid_index);
	ah[1] = handle(&rig, other);
	start = now_ms();
	for (unsigned int i = 0; i < count; i += BATCH / 2)
		send_batch(qp, cq, mr, ah);
	note("took %" PRIu64, now_ms() - start);
	report(true, "%u datagrams to each of two places completed", count);
	return report_status();
}
