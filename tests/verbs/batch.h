/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A batch is a list of messages that both sides know by heart: they compute it
 * from the same numbers, run it at the same time and each check their own
 * memory afterwards, to the last byte.
 *
 *    side 0                                    side 1
 *    +-- QP 0: slice of the arena --+          +-- QP 0: slice --+
 *    | gap [piece] gap [piece] gap  |  <---->  | gap [piece] gap |
 *    +-- QP 1 ----------------------+          +-----------------+
 *
 * A piece is what one SGE (or one remote address) covers. Gaps keep the stale
 * pattern of the batch for ever; a piece holds the message's pattern before the
 * transfer at its source and after it at both ends.  An atomic brings the pattern
 * from the other side, where it leaves another value: one that tells whether it
 * was executed once.
 */
#ifndef SOFTROCE_TESTS_BATCH_H
#define SOFTROCE_TESTS_BATCH_H

#include "rig.h"

#define MAX_PIECES	32
#define MAX_QPS		64
#define MAX_BATCH	512

enum op {
	OP_SEND, OP_SEND_IMM, OP_WRITE, OP_WRITE_IMM, OP_READ,
	OP_FETCH_ADD, OP_CMP_SWAP, OP_COUNT,
	OP_SIZED = OP_FETCH_ADD,	/* those before it move any number of bytes */
};
#define ATOMIC_SIZE	8

enum message_flags {
	MSG_INLINE	= 1 << 0,
	MSG_SILENT	= 1 << 1,	/* no completion of its own */
	MSG_FENCE	= 1 << 2,
};

struct message {
	enum op op;
	unsigned int flags;
	unsigned int qp;
	unsigned int from;	/* the side that posts the work request */
	uint64_t size;
	unsigned int pieces;	/* at the side that posts */
	unsigned int recv_pieces;
};

struct batch {
	struct message msg[MAX_BATCH];
	unsigned int count;
	unsigned int serial;	/* of the batch; part of every pattern's key */
	unsigned int recv_delay_ms;
};

struct piece {
	uint64_t off, len;	/* in the arena */
};

/* Where one message lives at one side. */
struct place {
	struct piece piece[MAX_PIECES];
	unsigned int count;
	uint64_t capacity;	/* of all pieces; more than the size for a receive */
};

struct side {
	const char *name;
	unsigned int id;	/* 0 the client's, 1 the server's */
	int wire;
	bool events;
	unsigned int patience_ms;	/* without any completion */

	struct rig rig;
	struct tuning tune;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp[MAX_QPS];
	unsigned int qps;

	uint8_t *arena;
	uint64_t arena_len, slice;
	struct ibv_mr *mr;
	uint64_t remote_base;
	uint32_t remote_key;

	uint64_t bytes, messages;	/* checked so far */
	unsigned int faults;		/* wrong things seen so far */
	unsigned int unacked;		/* completion events */
	struct place place[MAX_BATCH];	/* of the batch in hand, my side */
	struct place other[MAX_BATCH];	/* the same at the other side */
};

static inline bool op_is_atomic(enum op op)
{
	return op == OP_FETCH_ADD || op == OP_CMP_SWAP;
}

const char *op_name(enum op op);
bool op_needs_recv(enum op op);
/* Arena bytes that a message takes at most at one side, gaps included. */
uint64_t batch_room(const struct message *m);
/*
 * Runs @b on this side. False when the connection or a queue pair is beyond
 * use; what was merely wrong is counted in @side->faults.
 */
bool batch_run(struct side *side, const struct batch *b);

#endif
