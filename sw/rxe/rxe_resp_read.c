// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The responder's READs: a request is a job, jobs are answered in order, train
 * by train within the run's budget, and each train looks the region up anew:
 * one that has gone in the middle ends in a NAK (IBTA vol. 1, 9.7.5.1.8).
 */
#include <linux/log2.h>
#include "rxe_psn.h"
#include "rxe_qp.h"
#include "rxe_resp.h"
#include "rxe_train.h"

static const struct rxe_opcodes answer_opcodes = {
	IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST,
	IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY,
};

static struct rxe_rd_job *job_at(struct rxe_resp *resp, u32 index)
{
	return &resp->job[index & (roundup_pow_of_two(resp->job_size) - 1)];
}

static void add_job(struct rxe_qp *qp, const struct rxe_pkt *pkt, bool again)
{
	struct rxe_resp *resp = &qp->resp;
	struct rxe_rd_job *job = job_at(resp, resp->job_head++);

	job->psn = pkt->psn;
	job->first_psn = pkt->psn;
	job->end_psn = rxe_psn_add(pkt->psn, rxe_num_packets(qp, pkt->dmalen));
	job->va = pkt->va;
	job->rkey = pkt->rkey;
	job->length = pkt->dmalen;
	job->again = again;
	rxe_count(qp->rxe, RXE_CNT_READS);
}

/*
 * A new READ says that the requester has all but max_dest_rd_atomic - 1 of
 * those before it: what is being answered again is not waited for any more.
 * Return false when there is nothing of that kind.
 */
static bool drop_repeated_job(struct rxe_resp *resp)
{
	u32 i;

	for (i = resp->job_tail; i != resp->job_head; i++)
		if (job_at(resp, i)->again)
			break;
	if (i == resp->job_head)
		return false;
	for (; i != resp->job_tail; i--)
		*job_at(resp, i) = *job_at(resp, i - 1);
	resp->job_tail++;
	return true;
}

static bool may_read(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_mr *mr;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ))
		return false;
	if (!pkt->dmalen)
		return true;
	mr = rxe_mr_get(qp->pd, pkt->rkey, IB_ACCESS_REMOTE_READ, pkt->va,
			pkt->dmalen);
	if (mr)
		rxe_mr_put(mr);
	return mr;
}

u8 rxe_resp_read(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;

	/* More at once than max_dest_rd_atomic: 9.7.4.1.4. */
	if (resp->job_head - resp->job_tail >= resp->job_size &&
	    !drop_repeated_job(resp))
		return RXE_NAK_INV_REQ;
	if (!may_read(qp, pkt))
		return RXE_NAK_REM_ACC;
	add_job(qp, pkt, false);
	resp->psn = rxe_psn_add(resp->psn, rxe_num_packets(qp, pkt->dmalen));
	resp->msn = rxe_psn_add(resp->msn, 1);
	return 0;
}

void rxe_resp_read_again(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	u32 end = rxe_psn_add(pkt->psn, rxe_num_packets(qp, pkt->dmalen));
	u32 i;

	if (pkt->dmalen > RXE_MAX_MSG_SZ)
		return;
	/* It asks for answers that no request has been executed for. */
	if (rxe_psn_diff(end, resp->psn) > 0)
		return;
	/* Trains may be what does not get through. */
	if (resp->again_psn != pkt->psn)
		resp->again = 0;
	resp->again_psn = pkt->psn;
	resp->again = min(resp->again + 1, RXE_RD_SINGLE);
	for (i = resp->job_tail; i != resp->job_head; i++) {
		struct rxe_rd_job *job = job_at(resp, i);

		if (job->end_psn != end)
			continue;
		/* Still being answered: at most go back to what was lost. */
		if (rxe_psn_diff(pkt->psn, job->psn) >= 0)
			return;
		if (!may_read(qp, pkt))
			return;
		job->psn = pkt->psn;
		job->first_psn = pkt->psn;
		job->va = pkt->va;
		job->rkey = pkt->rkey;
		job->length = pkt->dmalen;
		return;
	}
	if (resp->job_head - resp->job_tail < resp->job_size &&
	    may_read(qp, pkt))
		add_job(qp, pkt, true);
}

/* Send the next train of @job; false: its memory has gone. */
static bool answer(struct rxe_qp *qp, struct rxe_rd_job *job,
		   struct rxe_budget *b)
{
	u32 index = rxe_psn_diff(job->psn, job->first_psn);
	struct rxe_msg msg = {
		.opcodes = &answer_opcodes,
		.length = job->length,
		.packets = rxe_num_packets(qp, job->length),
		.mtu = qp->mtu,
	};
	struct ib_sge sge = { job->va, job->length, job->rkey };
	u32 seg_len, bytes, n, i;
	const u32 began = job->psn;
	struct rxe_cursor from;
	struct rxe_train t;
	bool ok = true;

	n = qp->resp.again == RXE_RD_SINGLE ? 1 : msg.packets - index;
	n = rxe_train_plan(qp, &msg, index, n, &seg_len, &bytes);
	b->bytes -= bytes;
	i = rxe_train_begin(&t, qp, seg_len, n, bytes);
	if (!i) {
		/* Lost for want of memory: the requester asks again. */
		rxe_count(qp->rxe, RXE_CNT_SEND_ERR);
		job->psn = rxe_psn_add(job->psn, n);
		return true;
	}
	n = i;
	rxe_cursor_init(&from, qp->pd, &sge, 1, IB_ACCESS_REMOTE_READ,
			index * qp->mtu);
	for (i = 0; i < n && ok; i++) {
		struct rxe_pkt pkt = {
			.pkey = RXE_DEFAULT_PKEY,
			.qpn = qp->dest_qpn,
			.psn = job->psn,
			.syndrome = rxe_resp_credits(qp),
			.msn = qp->resp.msn,
		};

		pkt.opcode = rxe_msg_packet(&msg, index + i, &pkt.len);
		ok = !rxe_train_add(&t, &pkt, &from);
		if (ok)
			job->psn = rxe_psn_add(job->psn, 1);
	}
	rxe_cursor_end(&from);
	if (rxe_train_send(&t) == -ENOBUFS) {
		job->psn = began;
		return true;
	}
	return ok;
}

/* NAK at the answer that cannot be given. */
static void refuse_rest(struct rxe_qp *qp, const struct rxe_rd_job *job)
{
	struct rxe_resp *resp = &qp->resp;

	resp->psn = job->psn;
	resp->job_head = resp->job_tail;
	rxe_resp_fatal(qp, RXE_NAK_REM_ACC, IB_EVENT_QP_ACCESS_ERR);
}

bool rxe_resp_read_work(struct rxe_qp *qp, struct rxe_budget *b)
{
	struct rxe_resp *resp = &qp->resp;

	while (rxe_resp_reads_pending(qp)) {
		struct rxe_rd_job *job = job_at(resp, resp->job_tail);

		if (rxe_paused(qp))
			return false;
		if (!rxe_budget_left(b))
			return true;
		if (!answer(qp, job, b)) {
			refuse_rest(qp, job);
			return false;
		}
		if (job->psn == job->end_psn)
			resp->job_tail++;
	}
	return false;
}
