/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What bounds the requester; the numbers of one QP. */
#ifndef SOFTROCE_RXE_REQ_H
#define SOFTROCE_RXE_REQ_H

#include <linux/types.h>

struct rxe_qp;

/*
 * Request packets without acknowledgment: at most the first, not less than the
 * second.  The window of a QP is halved each time something has to be sent
 * again because it was lost, and grows by a packet with every two windows that
 * are acknowledged: a queue in the network that is too short for the whole
 * window is found, and after a loss little is sent that go-back-N has to throw
 * away.  All that is lost of one window counts once.  READs that are asked for at
 * the same time share a window that has been reduced.
 */
#define RXE_WINDOW_PKTS 256
#define RXE_WINDOW_MIN 4
/*
 * WQEs under way, with which none that is executed here is begun: all that are
 * numbered, and an ACK or a pass over them meets, are at most this and a window.
 */
#define RXE_LOCALS_MAX RXE_WINDOW_PKTS
/* A READ is asked for in parts of this size, aligned from its start. */
#define RXE_READ_BYTES (256 * 1024)

/* rxe_req_rewind() for what the network lost: the window becomes smaller. */
void rxe_req_lost(struct rxe_qp *qp, bool timeout);
/* How long an answer may take now. */
u64 rxe_req_patience_ns(const struct rxe_qp *qp);
/* @pkts more were acknowledged: it may become larger. */
void rxe_req_acked(struct rxe_qp *qp, u32 pkts);

/**
 * rxe_ack_timeout_ns - the local ACK timeout (IBTA vol. 1, 9.9.2.1.1)
 * @code: 1 to 31
 *
 * Return: 4.096 us * 2^code in ns.
 */
static inline u64 rxe_ack_timeout_ns(u8 code)
{
	return 4096ull << (code & 31);
}

/*
 * Credit counts of an AETH, 0 to 32768, in five bits (IBTA vol. 1, table 46);
 * encoding rounds down.
 */
u32 rxe_credits_decode(u8 code);
u8 rxe_credits_encode(u32 count);

/* Delay of an RNR NAK timer code in ns (IBTA vol. 1, table 45). */
u64 rxe_rnr_delay_ns(u8 code);

#endif
