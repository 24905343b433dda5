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
		res[slots - i].done =
			resp->res[ring_slot(resp, resp->done_head - i)].done;
	kfree(resp->res);
	resp->res = res;
	resp->res_slots = slots;
	resp->res_size = size;
	resp->job_tail = 0;
	resp->job_head = jobs;
	resp->done_head = 0;
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
	return 0;
}

/* What @pkt asks for; false: it is not as it has to be. */
static bool note_request(const struct rxe_qp *qp, const struct rxe_pkt *pkt,
			 struct rxe_done *done)
{
	u32 flags = pkt->op->flags;

	*done = (struct rxe_done){
		.opcode = pkt->opcode,
		.psn = pkt->psn,
		.end_psn = rxe_psn_add(pkt->psn, num_answers(qp, pkt)),
		.va = pkt->va,
		.rkey = pkt->rkey,
	};
	if (flags & RXE_OP_RETH)
		done->length = pkt->dmalen;
	if (flags & RXE_OP_FETH)
		done->feth = pkt->feth;
	if (flags & RXE_OP_ATOMICETH)
		done->value = pkt->swap_add;
	if (pkt->opcode == IB_OPCODE_RC_COMPARE_SWAP)
		done->compare = pkt->compare;
	return !(flags & RXE_OP_ATOMIC_WRITE) ||
	       (pkt->len == sizeof(done->value) &&
		!skb_copy_bits(pkt->skb, pkt->payload, &done->value,
			       sizeof(done->value)));
}

/* It was executed: as far as one can ask for it again it is remembered. */
static void remember(struct rxe_qp *qp, const struct rxe_pkt *pkt, u64 orig)
{
	struct rxe_resp *resp = &qp->resp;
	struct rxe_done *done;

	done = &resp->res[ring_slot(resp, resp->done_head++)].done;
	note_request(qp, pkt, done);
	done->orig = orig;
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
	remember(qp, pkt, job.orig);
	*job_at(resp, resp->job_head++) = job;
	resp->psn = job.end_psn;
	resp->msn = rxe_psn_add(resp->msn, 1);
	return 0;
}

/* ---- the same again ---- */

/*
 * The remembered request that the PSN of @pkt lies in; NULL: too long ago, or it
 * was another operation's.
 */
static const struct rxe_done *recall(const struct rxe_resp *resp,
				     const struct rxe_pkt *pkt)
{
	u32 i;

	/* The newest first: numbers come again. */
	for (i = 1; i <= resp->res_slots; i++) {
		const struct rxe_done *done =
			&resp->res[ring_slot(resp, resp->done_head - i)].done;

		if (done->opcode && rxe_psn_diff(pkt->psn, done->psn) >= 0 &&
		    rxe_psn_diff(pkt->psn, done->end_psn) < 0)
			return done;
	}
	return NULL;
}

/*
 * Is @part the READ @done, or whole packets of it?  Requesters begin again where
 * the first answer is missing.
 */
static bool is_part_of(const struct rxe_qp *qp, const struct rxe_done *part,
		       const struct rxe_done *done)
{
	u32 skipped = rxe_psn_diff(part->psn, done->psn) * qp->mtu;

	if (part->va != done->va + skipped ||
	    rxe_psn_diff(part->end_psn, done->end_psn) > 0)
		return false;
	if (part->end_psn == done->end_psn)
		return part->length == done->length - skipped;
	return part->length && part->length % qp->mtu == 0;
}

/* The executed request that @pkt repeats, or repeats a part of; or NULL. */
static const struct rxe_done *repeated(const struct rxe_qp *qp,
				       const struct rxe_pkt *pkt)
{
	const struct rxe_done *done = recall(&qp->resp, pkt);
	struct rxe_done again;

	if (!done || done->opcode != pkt->opcode || done->rkey != pkt->rkey ||
	    !note_request(qp, pkt, &again))
		return NULL;
	if (pkt->op->flags & RXE_OP_READ_REQ)
		return is_part_of(qp, &again, done) ? done : NULL;
	return again.va == done->va && again.length == done->length &&
	       again.feth == done->feth && again.value == done->value &&
	       again.compare == done->compare ? done : NULL;
}

/* Trains may be what does not get through. */
static void count_again(struct rxe_resp *resp, u32 psn)
{
	if (resp->again_psn != psn)
		resp->again = 0;
	resp->again_psn = psn;
	resp->again = min(resp->again + 1, RXE_RD_SINGLE);
}

/*
 * It is being answered still: at most go back to what was lost.  What has not left
 * yet is not.
 */
static void rewind_job(struct rxe_qp *qp, struct rxe_job *job,
		       const struct rxe_pkt *pkt)
{
	if (rxe_psn_diff(pkt->psn, job->psn) >= 0 || job->atomic ||
	    !(pkt->op->flags & RXE_OP_READ_REQ) || !may_read(qp, pkt))
		return;
	count_again(&qp->resp, pkt->psn);
	job->psn = pkt->psn;
	job->first_psn = pkt->psn;
	job->va = pkt->va;
	job->rkey = pkt->rkey;
	job->length = pkt->dmalen;
}

/*
 * Nothing is executed twice; a READ reads again, and a FLUSH, which changes
 * nothing, looks at its region again.  False: no answer.
 */
static bool answer_again(struct rxe_qp *qp, const struct rxe_pkt *pkt,
			 const struct rxe_done *done, struct rxe_job *job)
{
	u32 flags = pkt->op->flags;

	job->again = true;
	job->atomic = flags & RXE_OP_ATOMIC;
	job->orig = done->orig;
	if (flags & RXE_OP_READ_REQ)
		return !begin_read(qp, pkt, job);
	return !(flags & RXE_OP_FLUSH) ||
	       !rxe_resp_execute(qp, pkt, &job->orig);
}

void rxe_resp_non_posted_again(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &qp->resp;
	struct rxe_job job = plain_job(qp, pkt);
	const struct rxe_done *done = repeated(qp, pkt);
	u32 i;

	if (!done) {
		rxe_qp_count(qp, RXE_CNT_DROP_AGAIN);
		return;
	}
	for (i = resp->job_tail; i != resp->job_head; i++) {
		if (job_at(resp, i)->end_psn == job.end_psn) {
			rewind_job(qp, job_at(resp, i), pkt);
			return;
		}
	}
	count_again(resp, pkt->psn);
	if (rxe_resp_jobs(qp) < resp->res_size &&
	    answer_again(qp, pkt, done, &job))
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
	if (!rxe_pause_keeps_answer(qp, rxe_send_one(qp, &pkt, NULL)))
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
	n = rxe_train_begin(&t, qp, seg_len, n, bytes);
	if (!n)
		return true;
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
	if (rxe_pause_keeps_answer(qp, rxe_train_send(&t))) {
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
