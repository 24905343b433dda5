// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The responder's non-posted requests: READs, atomics, and what annex A19 adds.
 * Each is a job, jobs are answered in order within the run's budget.  An atomic
 * is executed when it comes and its job holds the answer; a READ is answered
 * train by train, and each train looks the region up anew: one that has gone in
 * the middle ends in a NAK (IBTA vol. 1, 9.7.5.1.8).
 */
#include "rxe_mw.h"
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

static u32 ring_slot(const struct rxe_resp *resp, u32 index)
{
	return index & (resp->res_slots - 1);
}

static struct rxe_job *job_at(struct rxe_resp *resp, u32 index)
{
	return &resp->res[ring_slot(resp, index)].job;
}

void rxe_resp_move(struct rxe_qp *qp, struct rxe_rd_res *res, u32 slots, u32 size)
{
	struct rxe_resp *resp = &qp->resp;
	u32 jobs = rxe_resp_jobs(qp), i;

	for (i = 0; i < jobs; i++)
		res[i].job = *job_at(resp, resp->job_tail + i);
	for (i = 1; i <= min(slots, resp->res_slots); i++)
		res[slots - i].result =
			resp->res[ring_slot(resp, resp->result_head - i)].result;
	kfree(resp->res);
	resp->res = res;
	resp->res_slots = slots;
	resp->res_size = size;
	resp->job_tail = 0;
	resp->job_head = jobs;
	resp->result_head = 0;
}

/*
 * A new request says that the requester has all but max_dest_rd_atomic - 1 of
 * the answers before it: what is being answered again is not waited for any
 * more.  Return false when there is nothing of that kind.
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

/* ---- execution ---- */

static void remember(struct rxe_resp *resp, u32 psn, u64 orig)
{
	u32 slot = ring_slot(resp, resp->result_head++);

	resp->res[slot].result =
		(struct rxe_atomic_result){ .psn = psn, .known = true, .orig = orig };
}

/* What the atomic at @psn was answered with; NULL: too long ago, or none. */
static const struct rxe_atomic_result *recall(const struct rxe_resp *resp,
					      u32 psn)
{
	u32 i;

	/* The newest first: numbers come again. */
	for (i = 1; i <= resp->res_slots; i++) {
		const struct rxe_atomic_result *result =
			&resp->res[ring_slot(resp, resp->result_head - i)].result;

		if (result->known && result->psn == psn)
			return result;
	}
	return NULL;
}

static bool may_read(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	return qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ &&
	       (!pkt->dmalen || rxe_rkey_good(qp, pkt->rkey, IB_ACCESS_REMOTE_READ,
					      pkt->va, pkt->dmalen));
}

/* PSNs that the answers to @pkt take. */
static u32 num_answers(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	return pkt->op->flags & RXE_OP_READ_REQ ?
		       rxe_num_packets(qp, pkt->dmalen) : 1;
}

/* What all answers have in common; without data. */
static struct rxe_job plain_job(const struct rxe_qp *qp,
				const struct rxe_pkt *pkt)
{
	return (struct rxe_job){
		.psn = pkt->psn,
		.first_psn = pkt->psn,
		.end_psn = rxe_psn_add(pkt->psn, num_answers(qp, pkt)),
	};
}

static u8 begin_read(struct rxe_qp *qp, const struct rxe_pkt *pkt,
		     struct rxe_job *job)
{
	if (!may_read(qp, pkt))
		return RXE_NAK_REM_ACC;
	job->va = pkt->va;
	job->rkey = pkt->rkey;
	job->length = pkt->dmalen;
	rxe_qp_count(qp, RXE_CNT_READS);
	return 0;
}

static u8 execute(struct rxe_qp *qp, const struct rxe_pkt *pkt,
		  struct rxe_job *job)
{
	u8 nak;

	if (pkt->op->flags & RXE_OP_READ_REQ)
		return begin_read(qp, pkt, job);
	nak = rxe_resp_execute(qp, pkt, &job->orig);
	if (nak)
		return nak;
	rxe_qp_count(qp, RXE_CNT_ATOMICS);
	job->atomic = pkt->op->flags & RXE_OP_ATOMIC;
	if (job->atomic)
		remember(&qp->resp, pkt->psn, job->orig);
	return 0;
}

u8 rxe_resp_non_posted(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	struct rxe_job job = plain_job(qp, pkt);
	u8 nak;

	/* More at once than max_dest_rd_atomic: 9.7.4.1.4. */
	if (resp->job_head - resp->job_tail >= resp->res_size &&
	    !drop_repeated_job(resp))
		return RXE_NAK_INV_REQ;
	nak = execute(qp, pkt, &job);
	if (nak)
		return nak;
	*job_at(resp, resp->job_head++) = job;
	resp->psn = job.end_psn;
	resp->msn = rxe_psn_add(resp->msn, 1);
	return 0;
}

/* ---- the same again ---- */

/* Trains may be what does not get through. */
static void count_again(struct rxe_resp *resp, u32 psn)
{
	if (resp->again_psn != psn)
		resp->again = 0;
	resp->again_psn = psn;
	resp->again = min(resp->again + 1, RXE_RD_SINGLE);
}

/* It is being answered still: at most go back to what was lost. */
static void rewind_job(struct rxe_qp *qp, struct rxe_job *job,
		       const struct rxe_pkt *pkt)
{
	if (rxe_psn_diff(pkt->psn, job->psn) >= 0 || job->atomic ||
	    !(pkt->op->flags & RXE_OP_READ_REQ) || !may_read(qp, pkt))
		return;
	job->psn = pkt->psn;
	job->first_psn = pkt->psn;
	job->va = pkt->va;
	job->rkey = pkt->rkey;
	job->length = pkt->dmalen;
}

/* Nothing is executed twice; a READ reads again. False: no answer. */
static bool answer_again(struct rxe_qp *qp, const struct rxe_pkt *pkt,
			 struct rxe_job *job)
{
	const struct rxe_atomic_result *result;

	job->again = true;
	if (pkt->op->flags & RXE_OP_READ_REQ)
		return !begin_read(qp, pkt, job);
	if (!(pkt->op->flags & RXE_OP_ATOMIC))
		return true;
	result = recall(&qp->resp, pkt->psn);
	if (!result)
		return false;
	job->atomic = true;
	job->orig = result->orig;
	return true;
}

void rxe_resp_non_posted_again(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	struct rxe_job job = plain_job(qp, pkt);
	u32 i;

	if ((pkt->op->flags & RXE_OP_READ_REQ) && pkt->dmalen > RXE_MAX_MSG_SZ)
		return;
	/* It asks for answers that no request has been executed for. */
	if (rxe_psn_diff(job.end_psn, resp->psn) > 0)
		return;
	count_again(resp, pkt->psn);
	for (i = resp->job_tail; i != resp->job_head; i++) {
		if (job_at(resp, i)->end_psn == job.end_psn) {
			rewind_job(qp, job_at(resp, i), pkt);
			return;
		}
	}
	if (resp->job_head - resp->job_tail < resp->res_size &&
	    answer_again(qp, pkt, &job))
		*job_at(resp, resp->job_head++) = job;
}

/* ---- answers ---- */

static void answer_atomic(struct rxe_qp *qp, struct rxe_job *job,
			  struct rxe_budget *b)
{
	struct rxe_pkt pkt = {
		.opcode = IB_OPCODE_RC_ATOMIC_ACKNOWLEDGE,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = qp->dest_qpn,
		.psn = job->psn,
		.syndrome = rxe_resp_credits(qp),
		.msn = qp->resp.msn,
		.orig = job->orig,
	};

	b->bytes -= 64;
	if (rxe_send_one(qp, &pkt, NULL) != -ENOBUFS)
		job->psn = job->end_psn;
}

/*
 * Send the next train of @job; false: its memory has gone.  What has no data is
 * answered like a READ of nothing (A19.5.2).
 */
static bool answer_read(struct rxe_qp *qp, struct rxe_job *job,
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
		rxe_qp_count(qp, RXE_CNT_SEND_ERR);
		job->psn = rxe_psn_add(job->psn, n);
		return true;
	}
	n = i;
	rxe_cursor_init_remote(&from, qp, &sge, IB_ACCESS_REMOTE_READ,
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
static void refuse_rest(struct rxe_qp *qp, const struct rxe_job *job)
{
	struct rxe_resp *resp = &qp->resp;

	resp->psn = job->psn;
	resp->job_head = resp->job_tail;
	rxe_resp_fatal(qp, RXE_NAK_REM_ACC, IB_EVENT_QP_ACCESS_ERR);
}

bool rxe_resp_jobs_work(struct rxe_qp *qp, struct rxe_budget *b)
{
	struct rxe_resp *resp = &qp->resp;

	while (rxe_resp_jobs_pending(qp)) {
		struct rxe_job *job = job_at(resp, resp->job_tail);

		if (rxe_paused(qp))
			return false;
		if (!rxe_budget_left(b))
			return true;
		if (job->atomic) {
			answer_atomic(qp, job, b);
		} else if (!answer_read(qp, job, b)) {
			refuse_rest(qp, job);
			return false;
		}
		if (job->psn == job->end_psn)
			resp->job_tail++;
	}
	return false;
}
