/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Queue pairs.
 *
 * Lifetime: the core allocates and frees the memory.  create_qp publishes the
 * QP in the module's QPN table, or queue pair 1 in its link; whoever finds it
 * there (RCU) takes a reference for as long as it hands over a packet; a call to
 * another processor (run_on()) has one.  destroy_qp: unpublish -> stop the runner
 * and its timers for good, drop the queued skbs and let no more in -> wait for the
 * references -> kill the tasklet that the last of them may have left behind (it
 * finds no work) -> drop what the QP holds (flow, rings).
 *
 * The runner: everything that happens to a QP is done by whoever holds @run
 * (rxe_run.h), one at a time: received packets, new work, timers, changes of
 * attributes.  What is below "runner's own" needs no lock.
 */
#ifndef SOFTROCE_RXE_QP_H
#define SOFTROCE_RXE_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "rxe.h"
#include "rxe_cq.h"
#include "rxe_hdr.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_net.h"
#include "rxe_pause.h"
#include "rxe_rq.h"
#include "rxe_run.h"

/*
 * A send WQE as the kernel keeps it: copied out of the ring once, checked
 * once.  The position of a message is a PSN, so going back is setting one.
 */
struct rxe_swqe {
	u64 wr_id;
	u64 remote_addr;
	u32 rkey;
	u32 length;		/* of what is sent or comes back: data[] */
	__be32 imm;
	u32 range;		/* FLUSH: how many bytes there */
	u32 feth;		/* FLUSH: placement and selectivity */
	union {
		struct {	/* atomics */
			u64 compare_add;
			u64 swap;
		};
		struct {	/* datagrams */
			u32 ah_num;
			u32 remote_qpn;
			u32 remote_qkey;
		};
		struct rxe_bind bind;
		struct {	/* REG_MR */
			struct rxe_mr *mr;
			u32 mr_key;
			int mr_access;
		};
	};
	u32 first_psn;
	u32 last_psn;
	u32 ssn;
	u8 opcode;		/* enum ib_wr_opcode */
	u8 flags;		/* enum ib_send_flags */
	u8 num_sge;
	bool numbered;		/* has its PSNs */
	u8 status;		/* enum ib_wc_status found at checking */
	/* num_sge struct ib_sge, or length bytes with IB_SEND_INLINE */
	u8 data[] __aligned(8);
};

/**
 * struct rxe_sq - send queue
 * @ring: the program's ring; NULL for kernel QPs
 * @slot: the kernel's own WQEs, @mask + 1 of @slot_size bytes
 * @head: next slot to fill; free-running, as the others
 * @next: next WQE to transmit
 * @tail: oldest WQE without completion
 * @lock: kernel posters among themselves and against the runner's @tail
 */
struct rxe_sq {
	struct rxe_ring *ring;
	void *slot;
	size_t slot_size;
	u32 mask;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	u32 head;
	u32 next;
	u32 tail;
	spinlock_t lock;
};

static inline struct rxe_swqe *rxe_sq_slot(const struct rxe_sq *sq, u32 index)
{
	return sq->slot + (size_t)(index & sq->mask) * sq->slot_size;
}

/* What waits for the runner: bits of rxe_qp.todo. */
enum rxe_todo {
	RXE_TODO_TIMEOUT,	/* ACK timer ran out */
	RXE_TODO_RNR,		/* RNR timer ran out */
	RXE_TODO_CALL,		/* another processor has been called */
};

/* Requester and completer. Runner's own. */
struct rxe_req {
	u32 psn;		/* next PSN to send */
	u32 max_psn;		/* beyond the highest PSN ever tried to send */
	u32 una;		/* oldest PSN without acknowledgment */
	u32 recover_psn;	/* until here losses are part of the last one */
	u32 window;		/* rxe_req.h */
	u32 acked;		/* packets since it last changed */
	u32 ssn;		/* of the next WQE to be numbered */
	u32 lsn;		/* credit limit, with @credits_known */
	u32 closing;		/* key of the window that a bind waits for, or 0 */
	bool credits_known;
	bool wait_rnr;
	bool drain_told;	/* SQD: the event has been given */
	bool single;		/* no trains until there is progress */
	bool nak_seen;		/* @nak_psn was NAKed since progress */
	u32 nak_psn;
	u32 gap_psn;		/* READ gap that was restarted, if @gap_seen */
	bool gap_seen;
	u8 retries_left;
	u8 rnr_left;
	u8 backoff;		/* timeouts in a row */
	/* Non-posted requests under way: the PSN behind each one's answers. */
	u32 rd_end[RXE_MAX_RD_ATOMIC];
	u32 rd_head;
	u32 rd_tail;
	u32 ah_num;		/* UD: whose address the flow has, or 0 */
	int ud_oif;		/* UD: by which the last one's left, or 0 */
	unsigned long ud_turned;	/* UD: when those were two, if @ud_several */
	bool ud_several;
	int tx_cpu;		/* the last request left from */
	unsigned long tx_jiffies;	/* and when */
	u32 rd_pkts;		/* PSNs that those requests span */
	ktime_t ack_deadline;	/* 0: no timer wanted */
	/* Where the next READ answer goes; alive within one run only. */
	struct rxe_cursor cursor;
	u32 cursor_psn;
	bool cursor_live;
};

/* A non-posted request that is being answered. */
struct rxe_job {
	u32 psn;		/* of the next answer */
	u32 first_psn;		/* of the answer at @va */
	u32 end_psn;		/* behind the last answer */
	u64 va;			/* READ: what to send; no @length: no data */
	u32 rkey;
	u32 length;
	u64 orig;		/* atomic: the value before it */
	bool atomic;
	bool again;		/* was answered before */
};

/* A non-posted request that was executed, in case it is asked for again. */
struct rxe_done {
	u32 psn;
	u32 end_psn;		/* behind its last answer */
	u64 va;
	u32 rkey;
	u32 length;
	u64 value;		/* atomic, ATOMIC WRITE: swap, add, or write */
	u64 compare;
	u64 orig;		/* atomic: the value before it */
	u32 feth;
	u8 opcode;		/* 0: there is none */
};

/* One of max_dest_rd_atomic. */
struct rxe_rd_res {
	struct rxe_job job;
	struct rxe_done done;
};

/* Responder. Runner's own. */
struct rxe_resp {
	u32 psn;		/* next one expected */
	u32 msn;
	int cpu;		/* where the last request came in: answers go out */
	bool nak_sent;		/* for this gap or RNR; quiet until @psn comes */
	u8 again;		/* how often the job at @again_psn was asked for */
	u32 again_psn;
	bool comm_est;		/* the event has been given */
	bool last_told;		/* SRQ: that of the last WQE as well */
	/* What goes out when the READs before it are answered. */
	bool reply_due;
	u8 reply;		/* AETH syndrome */
	u8 fatal;		/* enum ib_event_type + 1 that follows @reply */
	u8 in_msg;		/* enum rxe_in_msg: which operation is open */
	bool wqe_held;
	u64 va;			/* WRITE: first byte of the message */
	u32 rkey;
	u32 total;		/* WRITE: its length */
	u32 written;		/* bytes of the message so far */
	/* Where the next packet's payload goes; alive within one run only. */
	struct rxe_cursor cursor;
	struct ib_sge write_sge;
	bool cursor_live;
	/*
	 * Room for max_dest_rd_atomic, two rings in one: the jobs, in order,
	 * and the last requests that were executed.  The slots are a power of
	 * two, so that free-running indexes wrap anywhere.
	 */
	struct rxe_rd_res *res;
	u32 res_slots;
	u32 res_size;		/* max_dest_rd_atomic */
	u32 job_head;
	u32 job_tail;
	u32 done_head;
	struct rxe_rwqe wqe;
};

/*
 * What the QPN table holds.  It outlives its QP by a grace period, so that
 * destroying a QP need not wait for one.
 */
struct rxe_qp_entry {
	struct rxe_qp *qp;
	refcount_t ref;
	struct rcu_head rcu;
};

struct rxe_srq;

struct rxe_qp {
	struct ib_qp ibqp;
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	struct rxe_cq *scq;
	struct rxe_cq *rcq;
	struct rxe_srq *srq;	/* or NULL: @rq */
	u32 qpn;
	bool is_user;
	bool sig_all;
	struct rxe_qp_entry *entry;
	struct completion unused;
	/* Where it counts for itself as well, or NULL. */
	struct rxe_qp_counts __rcu *counts;

	/* Changed by the runner's owner, read by anyone (READ_ONCE). */
	enum ib_qp_state state;
	u32 mtu;
	u32 dest_qpn;
	struct rxe_flow flow;
	/* All that ib_modify_qp() gave; ib_query_qp() answers from it. */
	struct ib_qp_attr attr;

	struct rxe_rq rq;
	struct rxe_sq sq;

	/* Events for a kernel owner, by number, and who tells him. */
	unsigned long events;
	struct work_struct event_work;

	/* The runner: rxe_run.c. */
	atomic_t run;
	atomic_t wanted;
	unsigned long todo;
	bool dying;
	struct sk_buff_head rxq;
	u32 rxq_bytes;
	struct tasklet_struct tasklet;
	call_single_data_t call;
	struct hrtimer ack_timer;
	struct hrtimer rnr_timer;
	/* No room in the network's queue: rxe_pause.c. */
	struct rxe_pause pause;

	struct rxe_req req;
	struct rxe_resp resp;
};

static inline struct rxe_qp *to_rxe_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct rxe_qp, ibqp);
}

/* Nothing may be sent now: it waits, or has to from now on. */
static inline bool rxe_paused(struct rxe_qp *qp)
{
	if (likely(!qp->pause.refused && !READ_ONCE(qp->rxe->lanes.waiting)))
		return false;
	return rxe_pause_holds_back(qp);
}

/*
 * What became of a train of @segs packets: the network's answer, or -ENOMEM when
 * there was no memory for it.  BH off.
 */
static inline void rxe_pause_told(struct rxe_qp *qp, int err, u32 segs)
{
	if (unlikely(err || qp->pause.singles || qp->pause.refused))
		rxe_pause_heard(qp, err, segs);
}

/* Queue pair 1 of its link, for the kernel's management datagrams. */
static inline bool rxe_qp_is_gsi(const struct rxe_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_GSI;
}

/* Datagrams: each goes where its own address says. */
static inline bool rxe_qp_is_ud(const struct rxe_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || rxe_qp_is_gsi(qp);
}

/* Reliable: answers come, and what is lost is sent again. */
static inline bool rxe_qp_is_rc(const struct rxe_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_RC;
}

/* rxe_qp_counter.c */
void rxe_qp_count_bound(struct rxe_qp *qp, enum rxe_counter counter, u64 n);

/* For @qp's own counter, if it is bound to one. Any context. */
static inline void rxe_qp_count_own(struct rxe_qp *qp, enum rxe_counter counter,
				    u64 n)
{
	if (unlikely(rcu_access_pointer(qp->counts)))
		rxe_qp_count_bound(qp, counter, n);
}

/* For the link, and for @qp's own counter. */
static inline void rxe_qp_count_add(struct rxe_qp *qp, enum rxe_counter counter,
				    u64 n)
{
	rxe_count_add(qp->rxe, counter, n);
	rxe_qp_count_own(qp, counter, n);
}

static inline void rxe_qp_count(struct rxe_qp *qp, enum rxe_counter counter)
{
	rxe_qp_count_add(qp, counter, 1);
}

/* rxe_qp.c: table, creation, destruction, events */
int rxe_qp_table_init(void);
void rxe_qp_table_exit(void);
/* A reference, or NULL; any context. */
struct rxe_qp *rxe_qp_get(u32 qpn);
/* The same of a link's queue pair 1. */
struct rxe_qp *rxe_qp_get_gsi(struct rxe_dev *rxe);
/* The same from what holds an entry; RCU. */
struct rxe_qp *rxe_qp_tryget(struct rxe_qp_entry *entry);
void rxe_qp_put(struct rxe_qp *qp);
/* One more, for who has one. */
static inline void rxe_qp_hold(struct rxe_qp *qp)
{
	refcount_inc(&qp->entry->ref);
}

int rxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata);
int rxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
/* Tell the QP's owner of an asynchronous event; BH context. */
void rxe_qp_event(struct rxe_qp *qp, enum ib_event_type type);

/* rxe_qp_attr.c */
int rxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int rxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);

/* rxe_sq.c */
int rxe_sq_init(struct rxe_qp *qp, const struct ib_qp_cap *cap);
void rxe_sq_free(struct rxe_qp *qp);
int rxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

/* Is a packet of this transport service for @qp? */
static inline bool rxe_service_fits(const struct rxe_qp *qp, u8 transport)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_RC:
		return transport == RXE_RC;
	case IB_QPT_UC:
		return transport == RXE_UC;
	case IB_QPT_UD:
	case IB_QPT_GSI:
		return transport == RXE_UD;
	default:
		return false;
	}
}

#endif
