/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A real queue pair on a bench: requests and answers are put in by hand,
 * what it sends is caught where a route would take it, one record a packet.
 *
 * The seam is the route that a flow keeps: here it leads to the bench.  No
 * code of the driver knows that it is being tested.
 *
 * Lifetime: sm_make() to the end of the test case, or sm_end().
 */
#ifndef SOFTROCE_TESTS_RXE_SM_BENCH_H
#define SOFTROCE_TESTS_RXE_SM_BENCH_H

#include <net/dst.h>
#include <net/neighbour.h>
#include "rxe_fixture.h"
#include "rxe_psn.h"
#include "rxe_qp.h"
#include "rxe_req.h"
#include "rxe_srq.h"

/* Where the region begins as keys see it; not where a page would. */
#define SM_VA 0x123456789003ull
#define SM_DEST_QPN 0x345678
#define SM_QKEY 0x11111111
#define SM_MAX_MW 4

/* What a bench is made with. */
struct sm_conf {
	u32 pages;		/* size of the region */
	u64 va;			/* and where it begins */
	enum ib_qp_type type;	/* RC; UC, UD, GSI, without RC's attributes */
	enum ib_mtu mtu;
	u32 sq_psn;
	u32 rq_psn;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	u8 max_dest_rd_atomic;
	int mr_access;
	int qp_access;
	u32 cqe;		/* of each CQ */
	u32 max_wr;		/* of each queue */
	bool sig_req;		/* only signaled sends complete */
	bool srq;		/* receives are in one, sm->srq */
	struct sm *link_of;	/* on the link of another bench, or NULL */
	enum ib_qp_state state;	/* how far it goes: RTR or RTS */
};

/* A packet that the QP sent. */
struct sm_sent {
	struct list_head entry;
	struct rxe_pkt pkt;	/* @skb and @payload mean nothing */
	u32 train;		/* the how manieth skb it was in */
	u8 data[];
};

struct sm {
	struct kunit *test;
	struct sm_conf conf;
	struct rxe_dev *rxe;
	struct rxe_pd *pd;
	struct page **pages;
	struct rxe_mr *mr;
	struct rxe_mw mws[SM_MAX_MW];
	u32 num_mws;
	struct rxe_cq *scq;
	struct rxe_cq *rcq;
	struct rxe_srq *srq;
	struct rxe_qp *qp;
	struct dst_entry dst;
	struct dst_ops dst_ops;
	struct neighbour neigh;	/* the next hop */
	/* What was sent and not looked at, oldest first; then what was. */
	spinlock_t lock;
	struct list_head sent;
	struct list_head seen;
	u32 trains;
	u32 garbage;		/* sent, and could not be parsed */
	int xmit_answer;	/* what the network says: NET_XMIT_* */
	u32 room;		/* but to this many skbs */
	/* Asynchronous events by type, since they were asked for. */
	int qp_events[BITS_PER_LONG];
	int cq_errs;
	int srq_limits;
	struct ib_wc wc;	/* the last one that was polled */
};

struct sm_conf sm_defaults(void);
struct sm *sm_make(struct kunit *test, const struct sm_conf *conf);
/* With the defaults, in RTS. */
struct sm *sm_start(struct kunit *test);
void sm_end(struct sm *sm);

/* RESET to @conf.state, as ib_modify_qp() would; and single steps. */
void sm_connect(struct sm *sm);
int sm_modify(struct sm *sm, struct ib_qp_attr attr, int mask);
int sm_to_state(struct sm *sm, enum ib_qp_state state);

/* Let everything happen that was left to softirqs. */
void sm_settle(struct sm *sm);
u64 sm_counted(const struct sm *sm, enum rxe_counter counter);

/* ---- memory: byte @i is sm_byte(i) unless somebody wrote there ---- */

static inline u8 sm_byte(u32 i)
{
	return (i ^ i >> 8 ^ i >> 16) * 31 + 7;
}

u8 *sm_mem(struct sm *sm, u32 off);
/* All bytes 0. */
void sm_clear(struct sm *sm);
/* @len bytes from @off on are sm_byte(@first), sm_byte(@first + 1), ... */
bool sm_mem_is(struct sm *sm, u32 off, u32 len, u32 first);
bool sm_mem_is_clear(struct sm *sm, u32 off, u32 len);

/* ---- windows, which end with the bench ---- */

struct rxe_mw *sm_mw(struct sm *sm, enum ib_mw_type type);
/* @qp binds it to bytes of the region; its key stays. As rxe_mw_bind(). */
int sm_bind_by(struct sm *sm, struct rxe_qp *qp, struct rxe_mw *mw, u32 off,
	       u32 len, int access);
/* For reading, by the bench's own QP. */
void sm_bind(struct sm *sm, struct rxe_mw *mw);
bool sm_bound(const struct rxe_mw *mw);
/* Another QP of the PD, good for windows only. */
struct rxe_qp *sm_stranger(struct sm *sm);

/* What cannot be invalidated, beside a window that can. */
enum sm_bad_key {
	SM_UNBOUND,
	SM_TYPE_1,
	SM_STRANGERS,
	SM_LOW_BYTE,
	SM_REGION,
	SM_NOTHING,
	SM_BAD_KEYS
};

/* Its window, if it has one, is the last that was made. */
u32 sm_bad_key(struct sm *sm, const struct rxe_mw *mw, enum sm_bad_key bad);

/* ---- in ---- */

/*
 * A packet with @pkt.len bytes of payload, sm_byte(@pkt.payload) first.
 * P_Key and QP number are filled in.
 */
void sm_rx(struct sm *sm, struct rxe_pkt pkt);
/* With payload of the test's, @pkt.len bytes. */
void sm_rx_data(struct sm *sm, struct rxe_pkt pkt, const u8 *data);
/* A train in one skb: all as long as the first on the wire, but the last. */
void sm_rx_train(struct sm *sm, const struct rxe_pkt *pkts, u32 num);
/* What comes from now on waits until sm_burst_end(), and is one run. */
void sm_burst(struct sm *sm);
void sm_burst_end(struct sm *sm);
/* One pass of the runner over what waits, instead: did it want more? */
bool sm_burst_pass(struct sm *sm);
/* AETH packets. */
void sm_ack(struct sm *sm, u32 psn, u8 syndrome, u32 msn);

int sm_post(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode, u32 off,
	    u32 len, int flags);
int sm_post_sges(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode,
		 struct ib_sge *sge, int num, int flags);
/* What names a key: LOCAL_INV, or a SEND that invalidates. */
int sm_post_inv(struct sm *sm, u64 wr_id, enum ib_wr_opcode opcode, u32 key,
		u32 len, int flags);
int sm_post_recv(struct sm *sm, u64 wr_id, u32 off, u32 len);
/* From here on the QP is a program's, its send queue a ring ... */
void sm_give_ring(struct sm *sm);
struct rxe_send_wqe *sm_ring_wqe(struct sm *sm, u32 index);
/* ... filled up to @producer. */
int sm_doorbell(struct sm *sm, u32 producer);
/* The ACK timer runs out, or the pause after an RNR NAK is over: now. */
void sm_ack_timeout(struct sm *sm);
void sm_rnr_timeout(struct sm *sm);
/*
 * This task's next allocation that must not sleep fails, as one of the driver's
 * does for want of memory.  Where faults cannot be injected the test is skipped.
 */
void sm_no_memory(struct sm *sm);
/* Has it failed? */
bool sm_memory_was_short(void);
/*
 * So is the pause after the network had no room; waits for it.  There may have
 * been another since.
 */
void sm_pause_over(struct sm *sm);

/* ---- out ---- */

/* The next packet that was sent, NULL and a failure if there is none. */
const struct sm_sent *sm_next_at(struct sm *sm, int line);
#define sm_next(sm) sm_next_at(sm, __LINE__)
u32 sm_num_sent(struct sm *sm);
/* Look at none of them. */
void sm_skip(struct sm *sm);
/* Free those that were looked at, which else stay to the end. */
void sm_forget(struct sm *sm);

void sm_expect_none_at(struct sm *sm, int line);
#define sm_expect_none(sm) sm_expect_none_at(sm, __LINE__)
/* A request or READ answer with the next bytes of the region. */
void sm_expect_data_at(struct sm *sm, int line, u8 opcode, u32 psn, u32 off,
		       u32 len, bool ack_req);
#define sm_expect_data(sm, opcode, psn, off, len, ack_req)                     \
	sm_expect_data_at(sm, __LINE__, opcode, psn, off, len, ack_req)
void sm_expect_read_at(struct sm *sm, int line, u32 psn, u32 off, u32 len);
#define sm_expect_read(sm, psn, off, len)                                      \
	sm_expect_read_at(sm, __LINE__, psn, off, len)
void sm_expect_aeth_at(struct sm *sm, int line, u32 psn, u8 syndrome, u32 msn);
/* The syndrome to the bit; an ACK whatever its credits. */
#define sm_expect_aeth(sm, psn, syndrome, msn)                                 \
	sm_expect_aeth_at(sm, __LINE__, psn, syndrome, msn)
#define SM_ANY_CREDITS 0x80
#define sm_expect_ack(sm, psn, msn)                                            \
	sm_expect_aeth_at(sm, __LINE__, psn, SM_ANY_CREDITS, msn)

/* The next completion, left in sm->wc. */
void sm_expect_wc_at(struct sm *sm, int line, bool send, u64 wr_id,
		     enum ib_wc_status status);
#define sm_expect_send_wc(sm, wr_id, status)                                   \
	sm_expect_wc_at(sm, __LINE__, true, wr_id, status)
#define sm_expect_recv_wc(sm, wr_id, status)                                   \
	sm_expect_wc_at(sm, __LINE__, false, wr_id, status)
void sm_expect_no_wc_at(struct sm *sm, int line);
#define sm_expect_no_wc(sm) sm_expect_no_wc_at(sm, __LINE__)

/* How often it was told of @type; nothing else was told. */
void sm_expect_events_at(struct sm *sm, int line, enum ib_event_type type,
			 int count);
#define sm_expect_event(sm, type)                                              \
	sm_expect_events_at(sm, __LINE__, type, 1)
#define sm_expect_no_event(sm)                                                 \
	sm_expect_events_at(sm, __LINE__, IB_EVENT_QP_FATAL, 0)

#endif
