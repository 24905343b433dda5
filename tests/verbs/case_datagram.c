// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"

#define QKEY	0x11111111u
#define GRH	40
#define ACCESS	IBV_ACCESS_LOCAL_WRITE

/* Two UD queue pairs of one process, and a handle for the link's own address. */
struct datagrams {
	struct rig rig;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *from, *to;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	char *buf;		/* sends from the first page, receives into the second */
};

static struct ibv_ah *address(struct rig *rig, struct ibv_pd *pd, const union ibv_gid *gid)
{
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };

	attr.grh.dgid = *gid;
	attr.grh.sgid_index = rig->gid_index;
	attr.grh.hop_limit = 64;
	return ibv_create_ah(pd, &attr);
}

static struct ibv_qp *datagram_qp(struct datagrams *d)
{
	struct tuning tune = tuning_default;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ibv_qp *qp = rig_qp(&d->rig, IBV_QPT_UD, d->scq, d->rcq, &tune);
	int err;

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

static void datagrams_open(const struct setting *set, struct datagrams *d)
{
	memset(d, 0, sizeof(*d));
	case_open(set, &d->rig);
	d->buf = aligned_alloc(4096, 8192);
	d->mr = d->buf ? ibv_reg_mr(d->rig.pd, d->buf, 8192, ACCESS) : NULL;
	d->scq = ibv_create_cq(d->rig.ctx, 64, NULL, NULL, 0);
	d->rcq = ibv_create_cq(d->rig.ctx, 64, NULL, NULL, 0);
	if (!d->mr || !d->scq || !d->rcq)
		die("queues: %s", strerror(errno));
	d->from = datagram_qp(d);
	d->to = datagram_qp(d);
	d->ah = address(&d->rig, d->rig.pd, &d->rig.gid);
	if (!d->ah)
		die("ibv_create_ah: %s", strerror(errno));
	memset(d->buf, 0, 8192);
	pattern_fill((uint8_t *)d->buf, 7, 0, 4096);
}

static void datagrams_close(struct datagrams *d)
{
	int err = d->ah ? ibv_destroy_ah(d->ah) : 0;

	err = err ?: ibv_destroy_qp(d->from);
	err = err ?: ibv_destroy_qp(d->to);
	err = err ?: ibv_destroy_cq(d->scq);
	err = err ?: ibv_destroy_cq(d->rcq);
	err = err ?: ibv_dereg_mr(d->mr);
	if (err)
		die("destroying UD queue pairs: %s", strerror(err));
	rig_close(&d->rig);
	free(d->buf);
}

static void datagram_recv(struct datagrams *d, uint64_t id, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)d->buf + 4096, len, d->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(d->to, &wr, &bad))
		die("ibv_post_recv");
}

/* As pair_do(): what became of the send. */
static int datagram_send(struct datagrams *d, struct ibv_ah *ah, uint32_t len, uint32_t qkey,
			 unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)d->buf, len, d->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(0x11223344), .send_flags = IBV_SEND_SIGNALED | flags,
	}, *bad;
	struct ibv_wc wc;
	int err;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = d->to->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	err = ibv_post_send(d->from, &wr, &bad);
	if (err)
		return -abs(err);
	err = rig_wait(d->scq, &wc, 3000);
	if (err < 0)
		return err;
	return err ? (int)wc.status : -ETIMEDOUT;
}

/* Does what was received say all that it should? */
static bool received_well(struct datagrams *d, uint64_t id, uint32_t len, struct ibv_wc *wc)
{
	const uint8_t *grh = (uint8_t *)d->buf + 4096;
	bool v4 = !memcmp(d->rig.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	size_t where, wrong;

	memset(wc, 0, sizeof(*wc));
	if (rig_wait(d->rcq, wc, 3000) != 1 || wc->status || wc->wr_id != id ||
	    wc->byte_len != GRH + len || wc->src_qp != d->from->qp_num ||
	    wc->qp_num != d->to->qp_num || wc->wc_flags != (IBV_WC_GRH | IBV_WC_WITH_IMM) ||
	    wc->imm_data != htonl(0x11223344))
		return false;
	if (v4 ? grh[20] != 0x45 || memcmp(grh + 32, d->rig.gid.raw + 12, 4) ||
		 memcmp(grh + 36, d->rig.gid.raw + 12, 4) :
		 grh[0] >> 4 != 6 || memcmp(grh + 8, d->rig.gid.raw, 16) ||
		 memcmp(grh + 24, d->rig.gid.raw, 16))
		return false;
	return pattern_check(grh + GRH, 7, 0, len, &where, &wrong);
}

static void ud_messages(const struct setting *set)
{
	static const uint32_t lens[] = { 0, 1, 3, 64, 1000 };
	struct datagrams d;
	struct ibv_wc wc;

	datagrams_open(set, &d);
	for (unsigned int i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		unsigned int flags = i % 2 && lens[i] <= 64 ? IBV_SEND_INLINE : 0;
		int sent;
		bool well;

		memset(d.buf + 4096, 0, 4096);
		datagram_recv(&d, 100 + i, 4096);
		sent = datagram_send(&d, d.ah, lens[i], QKEY, flags);
		well = received_well(&d, 100 + i, lens[i], &wc);
		report(!sent && well, "UD %u bytes%s: sent: %s; received: status %d, %u bytes, flags 0x%x",
		       lens[i], flags ? " inline" : "", outcome(sent), wc.status, wc.byte_len,
		       wc.wc_flags);
	}
	datagrams_close(&d);
}

/*
 * A program answers to the address that a completion and the header in front of
 * the data give.  The type of that header is in the service level, which must not
 * become the priority of the answer.
 */
static void ud_answer(const struct setting *set)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *own, *back;
	struct datagrams d;
	struct ibv_wc wc;
	bool v4, came, well;
	uint8_t head[GRH];
	int err, right;

	datagrams_open(set, &d);
	v4 = !memcmp(d.rig.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	right = v4 ? 10 : 9;
	datagram_recv(&d, 1, 4096);
	datagram_send(&d, d.ah, 64, QKEY, 0);
	came = received_well(&d, 1, 64, &wc);
	if (set->foreign) {
		report_skip("it says nothing there", "UD the completion tells the network header");
		datagrams_close(&d);
		return;
	}
	report(came && wc.sl == right, "UD the completion tells the network header: sl %u, right is %d",
	       wc.sl, right);

	memcpy(head, d.buf + 4096, GRH);
	err = ibv_init_ah_from_wc(d.rig.ctx, 1, &wc, (struct ibv_grh *)(d.buf + 4096), &attr);
	report(!err && attr.sl == right && attr.grh.sgid_index == d.rig.gid_index &&
	       !memcmp(&attr.grh.dgid, &d.rig.gid, 16),
	       "UD the address that it gives: error %d, sl %u, GID index %u", err, attr.sl,
	       attr.grh.sgid_index);
	back = err ? NULL : ibv_create_ah(d.rig.pd, &attr);
	report(back, "UD a handle for that address: %s", back ? "made" : strerror(errno));
	if (back) {
		own = d.ah;
		d.ah = back;
		datagram_recv(&d, 2, 4096);
		datagram_send(&d, d.ah, 64, QKEY, 0);
		well = received_well(&d, 2, 64, &wc);
		/* The type of service or traffic class, where the priority would be. */
		report(well && wc.sl == right &&
		       (v4 ? d.buf[4096 + 21] == (char)head[21] :
			     !memcmp(d.buf + 4096, head, 2)),
		       "UD an answer goes with the same priority: sl %u, %02x%02x instead of %02x%02x",
		       wc.sl, d.buf[4096 + 20 * v4] & 0xff, d.buf[4096 + 20 * v4 + 1] & 0xff,
		       head[20 * v4], head[20 * v4 + 1]);
		ibv_destroy_ah(back);
		d.ah = own;
	}
	datagrams_close(&d);
}

static void b09_too_long(const struct setting *set)
{
	struct datagrams d;
	struct ibv_wc wc;
	int sent, got;
	bool well;

	datagrams_open(set, &d);
	datagram_recv(&d, 9, 512 + GRH);
	sent = datagram_send(&d, d.ah, 1024, QKEY, 0);
	got = rig_wait(d.rcq, &wc, 300);
	if (set->foreign && (got || sent))
		report_skip("it is an error there", "B09");
	else
		report(!sent && !got, "B09 UD, longer than the receive: sent: %s; %d receives complete",
		       outcome(sent), got);
	if (!got) {
		datagram_send(&d, d.ah, 512, QKEY, 0);
		well = received_well(&d, 9, 512, &wc);
		report(well, "B09 the same receive takes the next one that fits: status %d, %u bytes",
		       wc.status, wc.byte_len);
	}
	datagrams_close(&d);
}

static void ud_qkeys(const struct setting *set)
{
	struct datagrams d;
	struct ibv_wc wc;
	int sent, got;

	datagrams_open(set, &d);
	datagram_recv(&d, 1, 4096);
	sent = datagram_send(&d, d.ah, 100, QKEY + 1, 0);
	got = rig_wait(d.rcq, &wc, 300);
	report(!sent && !got, "UD with another Q_Key: sent: %s; %d received", outcome(sent), got);
	/* The highest bit: that of the sender's queue pair. */
	datagram_send(&d, d.ah, 100, 0x80000000, 0);
	report(received_well(&d, 1, 100, &wc), "UD with the queue pair's own Q_Key: status %d",
	       wc.status);
	datagrams_close(&d);
}

/* An error of one send: the rest is flushed, receiving goes on, and a way back. */
static void ud_sqe(const struct setting *set)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_init_attr init;
	struct datagrams d;
	struct ibv_qp *swap;
	struct ibv_wc wc;
	int bad, later, err;
	bool well;

	datagrams_open(set, &d);
	/* Longer than any packet. */
	bad = datagram_send(&d, d.ah, 5000, QKEY, 0);
	err = ibv_query_qp(d.from, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE, &init);
	if (set->foreign && (attr.qp_state != IBV_QPS_SQE || err)) {
		report_skip("not SQE there", "UD send error");
		datagrams_close(&d);
		return;
	}
	report(bad == IBV_WC_LOC_LEN_ERR && !err && attr.qp_state == IBV_QPS_SQE,
	       "UD longer than the MTU: %s, then state %d", outcome(bad), attr.qp_state);
	report(attr.cur_qp_state == IBV_QPS_SQE, "D18 in SQE: qp_state %d, cur_qp_state %d, right is %d",
	       attr.qp_state, attr.cur_qp_state, IBV_QPS_SQE);
	later = datagram_send(&d, d.ah, 8, QKEY, 0);
	report(later == IBV_WC_WR_FLUSH_ERR, "UD in SQE: a send gives %s", outcome(later));
	/* The one in SQE receives. */
	swap = d.from, d.from = d.to, d.to = swap;
	datagram_recv(&d, 5, 4096);
	datagram_send(&d, d.ah, 64, QKEY, 0);
	well = received_well(&d, 5, 64, &wc);
	report(well, "UD in SQE: it receives (status %d)", wc.status);
	swap = d.from, d.from = d.to, d.to = swap;
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS };
	err = ibv_modify_qp(d.from, &attr, IBV_QP_STATE);
	datagram_recv(&d, 6, 4096);
	later = datagram_send(&d, d.ah, 64, QKEY, 0);
	report(!err && !later && received_well(&d, 6, 64, &wc),
	       "UD from SQE to RTS: error %d, a send gives %s", err, outcome(later));
	datagrams_close(&d);
}

/* Numbers of address handles are guessed easily; they are good in one PD only. */
static void ud_foreign_handles(const struct setting *set)
{
	struct datagrams d;
	struct ibv_ah *other;
	struct ibv_pd *pd;
	union ibv_gid gid;
	int result;

	datagrams_open(set, &d);
	pd = ibv_alloc_pd(d.rig.ctx);
	other = pd ? address(&d.rig, pd, &d.rig.gid) : NULL;
	if (!other)
		die("an address handle: %s", strerror(errno));
	if (set->foreign) {
		report_skip("any number is taken there", "UD with a handle of another PD");
	} else {
		result = datagram_send(&d, other, 8, QKEY, 0);
		report(result == IBV_WC_LOC_QP_OP_ERR, "UD with a handle of another PD: %s",
		       outcome(result));
	}
	ibv_destroy_ah(other);
	ibv_dealloc_pd(pd);

	/* Addresses that lead nowhere from here. */
	memset(&gid, 0, sizeof(gid));
	other = address(&d.rig, d.rig.pd, &gid);
	report(!other, "no handle for the address of nobody");
	gid = d.rig.gid;
	gid.raw[0] = gid.raw[0] ? 0 : 0x20;
	other = address(&d.rig, d.rig.pd, &gid);
	if (other && set->foreign) {
		ibv_destroy_ah(other);
		report_skip("accepted there", "a handle of another family");
	} else {
		report(gid.raw[0] ? !other : true, "no handle whose families differ");
		if (other)
			ibv_destroy_ah(other);
	}
	datagrams_close(&d);
}

static union ibv_gid group_of(const union ibv_gid *own)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239, 10, 20, 30 } };

	if (own->raw[0] || own->raw[10] != 0xff)
		gid = (union ibv_gid){ .raw = { 0xff, 0x15, [14] = 0x12, 0x34 } };
	return gid;
}

/* How many receives complete, of those posted to both queue pairs. */
static int group_receives(struct datagrams *d, struct ibv_ah *group)
{
	struct ibv_qp *to = d->to;
	struct ibv_sge sge = { (uintptr_t)d->buf, 64, d->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = group, .remote_qpn = 0xffffff, .remote_qkey = QKEY },
	}, *bad;
	struct ibv_wc wc;
	int n = 0;

	if (ibv_post_send(d->from, &wr, &bad) || rig_wait(d->scq, &wc, 3000) != 1 || wc.status)
		return -1;
	while (rig_wait(d->rcq, &wc, n < 2 ? 500 : 100) == 1 && !wc.status) {
		n++;
		/* What was taken is posted again. */
		d->to = wc.qp_num == d->from->qp_num ? d->from : to;
		datagram_recv(d, 1, 4096);
		d->to = to;
	}
	return n;
}

static void ud_groups(const struct setting *set)
{
	struct ibv_qp *to, *rc = NULL;
	struct tuning tune = tuning_default;
	union ibv_gid gid, own;
	struct datagrams d;
	struct ibv_ah *group;
	int none, one, both, twice, busy, left, again, wrong;

	datagrams_open(set, &d);
	gid = group_of(&d.rig.gid);
	own = d.rig.gid;
	group = address(&d.rig, d.rig.pd, &gid);
	if (!group)
		die("a handle for a group: %s", strerror(errno));
	to = d.to;
	datagram_recv(&d, 1, 4096);
	d.to = d.from;
	datagram_recv(&d, 1, 4096);
	d.to = to;

	none = group_receives(&d, group);
	twice = ibv_attach_mcast(d.to, &gid, 0);
	if (twice) {
		report(false, "ibv_attach_mcast: %s", strerror(twice));
		goto out;
	}
	one = group_receives(&d, group);
	twice = ibv_attach_mcast(d.to, &gid, 0);
	both = ibv_attach_mcast(d.from, &gid, 0) ?: group_receives(&d, group);
	report(none == 0 && one == 1 && both == 2 && !twice,
	       "UD groups: without members %d receive, one: %d, two: %d; attached twice: %d", none,
	       one, both, twice);
	busy = ibv_destroy_qp(d.to);
	report(busy == EBUSY, "B34 a queue pair in a group is busy: %s", strerror(busy));
	left = ibv_detach_mcast(d.to, &gid, 0) ?: group_receives(&d, group);
	again = ibv_detach_mcast(d.to, &gid, 0);
	report(left == 1 && again == EINVAL, "UD groups: one has left, %d receive; leaving twice: %s",
	       left, strerror(again));
	ibv_detach_mcast(d.from, &gid, 0);
	report(group_receives(&d, group) == 0, "UD groups: all have left, nobody receives");

	rc = rig_qp(&d.rig, IBV_QPT_RC, d.scq, d.rcq, &tune);
	wrong = rc ? ibv_attach_mcast(rc, &gid, 0) : -1;
	report(wrong == EINVAL, "no RC queue pair is in a group: %s", strerror(wrong));
	wrong = ibv_attach_mcast(d.to, &own, 0);
	report(wrong == EINVAL, "nobody's address is no group: %s", strerror(wrong));
out:
	if (rc)
		ibv_destroy_qp(rc);
	ibv_destroy_ah(group);
	datagrams_close(&d);
}

const struct test_case datagram_cases[] = {
	{ "UD", "datagrams and what comes with them", ud_messages },
	{ "ANSWER", "the way back to who sent a datagram", ud_answer },
	{ "B09", "a datagram longer than the receive", b09_too_long },
	{ "QKEY", "Q_Keys", ud_qkeys },
	{ "D18", "errors of the send queue, and its state", ud_sqe },
	{ "AH", "address handles of others", ud_foreign_handles },
	{ "MCAST", "multicast groups", ud_groups },
	{ 0 },
};
