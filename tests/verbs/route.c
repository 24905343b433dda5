// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tries to reach addresses, as standard input says, one line each:
 *
 *   route -d DEV [-g GID]
 *   rtr ADDRESS    takes a queue pair from INIT to RTR, and back when it went
 *   ah ADDRESS     makes an address handle, instead of the last one
 *   send           sends a datagram there
 *
 * The answer is a line with "ok" or the name of an error. It is the same process,
 * and the same queue pair, all the time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "rig.h"

#define QKEY 0x22222222u

static struct rig rig;
static struct ibv_cq *cq;
static struct ibv_qp *rc, *ud;
static struct ibv_ah *ah;

static union ibv_gid gid_of(const char *address)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, address, gid.raw + 12) != 1 &&
	    inet_pton(AF_INET6, address, gid.raw) != 1)
		die("'%s' is no address", address);
	return gid;
}

static void answer(int err)
{
	switch (err) {
	case 0:
		puts("ok");
		break;
	case ENETUNREACH:
		puts("ENETUNREACH");
		break;
	case EHOSTUNREACH:
		puts("EHOSTUNREACH");
		break;
	default:
		puts(strerror(err));
	}
	fflush(stdout);
}

static void to_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1, .qkey = QKEY };
	int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);

	if (err)
		die("a queue pair to state %d: %s", state, strerror(err));
}

static int try_rtr(const char *address)
{
	struct peer to = { .qpn = 1000, .psn = 1, .gid = gid_of(address) };
	struct tuning tune = tuning_default;
	int err;

	tune.mtu = rig.port.active_mtu;
	err = rig_to_rtr(&rig, rc, &to, &tune);
	if (err)
		return err;
	to_state(rc, IBV_QPS_RESET, 0);
	return rig_to_init(rc);
}

static int try_ah(const char *address)
{
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };

	if (ah)
		ibv_destroy_ah(ah);
	attr.grh.dgid = gid_of(address);
	attr.grh.sgid_index = rig.gid_index;
	ah = ibv_create_ah(rig.pd, &attr);
	return ah ? 0 : errno;
}

static bool send_one(void)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = 1000, .remote_qkey = QKEY },
	}, *bad;
	struct ibv_wc wc;

	return ah && !ibv_post_send(ud, &wr, &bad) && rig_wait(cq, &wc, 2000) == 1 && !wc.status;
}

static void run(void)
{
	char word[8], address[64], line[80];

	while (fgets(line, sizeof(line), stdin)) {
		int n = sscanf(line, "%7s %63s", word, address);

		if (n == 2 && !strcmp(word, "rtr"))
			answer(try_rtr(address));
		else if (n == 2 && !strcmp(word, "ah"))
			answer(try_ah(address));
		else if (n == 1 && !strcmp(word, "send"))
			answer(send_one() ? 0 : EIO);
		else
			die("'%s' is nothing to try", line);
	}
}

int main(int argc, char **argv)
{
	const char *dev = "", *gid = "v4";
	int ch, bad;

	while ((ch = getopt(argc, argv, "d:g:")) != -1) {
		switch (ch) {
		case 'd':
			dev = optarg;
			break;
		case 'g':
			gid = optarg;
			break;
		default:
			die("usage: route -d DEV [-g GID]");
		}
	}
	rig_open(&rig, dev, gid);
	cq = ibv_create_cq(rig.ctx, 16, NULL, NULL, 0);
	rc = cq ? rig_qp(&rig, IBV_QPT_RC, cq, cq, &tuning_default) : NULL;
	ud = rc ? rig_qp(&rig, IBV_QPT_UD, cq, cq, &tuning_default) : NULL;
	if (!ud || rig_to_init(rc))
		die("queue pairs: %s", strerror(errno));
	to_state(ud, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	to_state(ud, IBV_QPS_RTR, 0);
	to_state(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	run();
	if (ah)
		ibv_destroy_ah(ah);
	bad = ibv_destroy_qp(ud) | ibv_destroy_qp(rc) | ibv_destroy_cq(cq);
	rig_close(&rig);
	return bad != 0;
}
