// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "pattern.h"
#include "report.h"

#define GAP_MAX		61
#define SLACK_MAX	97
#define FAULTS_SHOWN	20
#define RECV_ID		(1ull << 32)

/* What happens to a byte of the arena in a batch. */
enum role { ROLE_SOURCE, ROLE_TARGET, ROLE_SCRIBBLED, ROLE_CHANGED };

static const struct {
	const char *name;
	enum ibv_wr_opcode post;
	enum ibv_wc_opcode sent, received;
	bool recv, imm;
} ops[OP_COUNT] = {
	[OP_SEND]      = { "SEND", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, true, false },
	[OP_SEND_IMM]  = { "SEND_IMM", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV,
			   true, true },
	[OP_WRITE]     = { "WRITE", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0, false, false },
	[OP_WRITE_IMM] = { "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
			   IBV_WC_RECV_RDMA_WITH_IMM, true, true },
	[OP_READ]      = { "READ", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, 0, false, false },
	[OP_FETCH_ADD] = { "FETCH_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0,
			   false, false },
	[OP_CMP_SWAP]  = { "CMP_SWAP", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0,
			   false, false },
};

const char *op_name(enum op op)
{
	return ops[op].name;
}

bool op_needs_recv(enum op op)
{
	return ops[op].recv;
}

uint64_t batch_room(const struct message *m)
{
	return m->size + SLACK_MAX + (MAX_PIECES + 2) * (GAP_MAX + 8);
}

[[gnu::format(printf, 2, 3)]]
static void fault(struct side *s, const char *fmt, ...)
{
	char text[400];
	va_list args;

	if (++s->faults > FAULTS_SHOWN)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	note("%s: %s", s->name, text);
}

static uint64_t stale_key(const struct batch *b)
{
	return b->serial * 0x10000ull;
}

static uint64_t message_key(const struct batch *b, unsigned int i)
{
	return b->serial * 0x10000ull + 1 + i;
}

static uint32_t message_imm(const struct batch *b, unsigned int i)
{
	return htonl((uint32_t)pattern_word(message_key(b, i), ~0ull));
}

/* What an atomic finds, and what it does with it. */
static uint64_t atomic_before(const struct batch *b, unsigned int i)
{
	uint64_t word;

	pattern_fill((uint8_t *)&word, message_key(b, i), 0, sizeof(word));
	return word;
}

static uint64_t atomic_operand(const struct batch *b, unsigned int i)
{
	return pattern_word(message_key(b, i), ~1ull);
}

/* Each third CMP_SWAP compares with something else. */
static uint64_t atomic_compare(const struct batch *b, unsigned int i)
{
	return atomic_before(b, i) ^ (i % 3 ? 0 : 1ull << (i % 64));
}

static uint64_t atomic_after(const struct batch *b, unsigned int i)
{
	uint64_t before = atomic_before(b, i);

	if (b->msg[i].op == OP_FETCH_ADD)
		return before + atomic_operand(b, i);
	return atomic_compare(b, i) == before ? atomic_operand(b, i) : before;
}

/* Scatters @capacity bytes over @pieces ragged pieces from *@cursor on. */
static void scatter(struct place *at, uint64_t *cursor, uint64_t capacity,
		    unsigned int pieces, uint64_t seed)
{
	uint64_t left = capacity;

	at->count = 0;
	at->capacity = capacity;
	for (unsigned int i = 0; i < pieces && left; i++) {
		unsigned int rest = pieces - i;
		uint64_t rnd = pattern_word(seed, i);
		uint64_t len = left;

		if (rest > 1) {
			len = 1 + rnd % (2 * left / rest + 1);
			if (len > left)
				len = left;
		}
		*cursor += 1 + (rnd >> 40) % GAP_MAX;
		at->piece[at->count++] = (struct piece){ *cursor, len };
		*cursor += len;
		left -= len;
	}
	*cursor += 1 + (seed % GAP_MAX);
}

/* Aligned, as an atomic has to be; the gap before it may be empty. */
static void place_word(struct place *at, uint64_t *cursor)
{
	*cursor = (*cursor + ATOMIC_SIZE - 1) & ~(ATOMIC_SIZE - 1ull);
	at->count = 1;
	at->capacity = ATOMIC_SIZE;
	at->piece[0] = (struct piece){ *cursor, ATOMIC_SIZE };
	*cursor += ATOMIC_SIZE;
}

/* Both ends of every message, so that each side knows the other's addresses. */
static void place_all(struct side *s, const struct batch *b, uint64_t cursor[2][MAX_QPS])
{
	for (unsigned int q = 0; q < s->qps; q++) {
		cursor[0][q] = q * s->slice;
		cursor[1][q] = q * s->slice;
	}

	for (unsigned int i = 0; i < b->count; i++) {
		const struct message *m = &b->msg[i];
		uint64_t seed = message_key(b, i) * 2;
		bool send = m->op == OP_SEND || m->op == OP_SEND_IMM;
		uint64_t slack = send ? pattern_word(seed, 77) % SLACK_MAX : 0;
		bool mine = m->from == s->id;
		struct place *here = mine ? &s->place[i] : &s->other[i];
		struct place *there = mine ? &s->other[i] : &s->place[i];

		scatter(here, &cursor[m->from][m->qp], m->size, m->pieces, seed);
		if (op_is_atomic(m->op))
			place_word(there, &cursor[!m->from][m->qp]);
		else
			scatter(there, &cursor[!m->from][m->qp], m->size + slack,
				send ? m->recv_pieces : 1, seed + 1);
	}
}

static enum role my_role(const struct side *s, const struct message *m)
{
	if (op_is_atomic(m->op))
		return m->from == s->id ? ROLE_TARGET : ROLE_CHANGED;
	if ((m->from == s->id) == (m->op == OP_READ))
		return ROLE_TARGET;
	return m->flags & MSG_INLINE ? ROLE_SCRIBBLED : ROLE_SOURCE;
}

static void fill(struct side *s, const struct batch *b, uint64_t cursor[2][MAX_QPS])
{
	for (unsigned int q = 0; q < s->qps; q++)
		pattern_fill(s->arena + q * s->slice, stale_key(b), q * s->slice,
			     cursor[s->id][q] - q * s->slice);
	for (unsigned int i = 0; i < b->count; i++) {
		const struct place *at = &s->place[i];
		uint64_t pos = 0;

		if (my_role(s, &b->msg[i]) == ROLE_TARGET)
			continue;
		for (unsigned int p = 0; p < at->count; p++) {
			pattern_fill(s->arena + at->piece[p].off, message_key(b, i), pos,
				     at->piece[p].len);
			pos += at->piece[p].len;
		}
	}
}

/* An inline source may be used again at once: make it stale before it is sent. */
static void scribble(struct side *s, const struct batch *b, const struct place *at)
{
	for (unsigned int p = 0; p < at->count; p++)
		pattern_fill(s->arena + at->piece[p].off, stale_key(b), at->piece[p].off,
			     at->piece[p].len);
}

static unsigned int sge_list(struct side *s, const struct place *at, struct ibv_sge *sge)
{
	for (unsigned int p = 0; p < at->count; p++)
		sge[p] = (struct ibv_sge){
			.addr = (uintptr_t)s->arena + at->piece[p].off,
			.length = at->piece[p].len,
			.lkey = s->mr->lkey,
		};
	return at->count;
}

static bool post_recvs(struct side *s, const struct batch *b)
{
	for (unsigned int i = 0; i < b->count; i++) {
		const struct message *m = &b->msg[i];
		struct ibv_sge sge[MAX_PIECES];
		struct ibv_recv_wr wr = { .wr_id = RECV_ID | i }, *bad;
		int err;

		if (m->from == s->id || !ops[m->op].recv)
			continue;
		/* WRITE_IMM takes a receive and puts nothing into its buffer. */
		if (m->op != OP_WRITE_IMM) {
			wr.num_sge = sge_list(s, &s->place[i], sge);
			wr.sg_list = sge;
		}
		err = ibv_post_recv(s->qp[m->qp], &wr, &bad);
		if (err) {
			fault(s, "ibv_post_recv: %s", strerror(err));
			return false;
		}
	}
	return true;
}

static bool post_sends(struct side *s, const struct batch *b)
{
	for (unsigned int i = 0; i < b->count; i++) {
		const struct message *m = &b->msg[i];
		struct ibv_sge sge[MAX_PIECES];
		struct ibv_send_wr wr = { .wr_id = i, .sg_list = sge }, *bad;
		int err;

		if (m->from != s->id)
			continue;
		wr.opcode = ops[m->op].post;
		wr.num_sge = sge_list(s, &s->place[i], sge);
		if (!(m->flags & MSG_SILENT))
			wr.send_flags |= IBV_SEND_SIGNALED;
		if (m->flags & MSG_INLINE) {
			wr.send_flags |= IBV_SEND_INLINE;
			for (int k = 0; k < wr.num_sge; k++)
				sge[k].lkey = 0xdeadbeef;
		}
		if (m->flags & MSG_FENCE)
			wr.send_flags |= IBV_SEND_FENCE;
		if (ops[m->op].imm)
			wr.imm_data = message_imm(b, i);
		if (m->op >= OP_WRITE) {
			/* Without a byte there is no piece, but the key has to be good. */
			uint64_t off = s->other[i].count ? s->other[i].piece[0].off : 0;

			wr.wr.rdma.remote_addr = s->remote_base + off;
			wr.wr.rdma.rkey = s->remote_key;
		}
		if (op_is_atomic(m->op)) {
			wr.wr.atomic.remote_addr = s->remote_base + s->other[i].piece[0].off;
			wr.wr.atomic.rkey = s->remote_key;
			wr.wr.atomic.compare_add = m->op == OP_FETCH_ADD ?
				atomic_operand(b, i) : atomic_compare(b, i);
			wr.wr.atomic.swap = atomic_operand(b, i);
		}
		err = ibv_post_send(s->qp[m->qp], &wr, &bad);
		if (err) {
			fault(s, "ibv_post_send of %s, %" PRIu64 " bytes: %s", op_name(m->op),
			      m->size, strerror(err));
			return false;
		}
		if (m->flags & MSG_INLINE)
			scribble(s, b, &s->place[i]);
	}
	return true;
}

/* The completions still to come, by queue pair and in the order they must have. */
struct expected {
	unsigned int next_send[MAX_QPS], next_recv[MAX_QPS];
	unsigned int left;
};

static bool completes_here(const struct side *s, const struct message *m, bool recv)
{
	if (recv)
		return m->from != s->id && ops[m->op].recv;
	return m->from == s->id && !(m->flags & MSG_SILENT);
}

static unsigned int next_of(const struct side *s, const struct batch *b, unsigned int from,
			    unsigned int qp, bool recv)
{
	while (from < b->count && (b->msg[from].qp != qp ||
				   !completes_here(s, &b->msg[from], recv)))
		from++;
	return from;
}

static void expect(const struct side *s, const struct batch *b, struct expected *e)
{
	e->left = 0;
	for (unsigned int q = 0; q < s->qps; q++) {
		e->next_send[q] = next_of(s, b, 0, q, false);
		e->next_recv[q] = next_of(s, b, 0, q, true);
	}
	for (unsigned int i = 0; i < b->count; i++)
		e->left += completes_here(s, &b->msg[i], false) +
			   completes_here(s, &b->msg[i], true);
}

/* False when the queue pair is of no more use. */
static bool take_completion(struct side *s, const struct batch *b, struct expected *e,
			    const struct ibv_wc *wc)
{
	bool recv = wc->wr_id & RECV_ID;
	uint64_t i = wc->wr_id & ~RECV_ID;
	const struct message *m = &b->msg[i];
	unsigned int *next;

	if (i >= b->count) {
		fault(s, "a completion with wr_id 0x%" PRIx64 " that nobody posted", wc->wr_id);
		return false;
	}
	if (wc->status) {
		fault(s, "%s of %s %" PRIu64 " bytes, %u SGEs, failed: %s (vendor 0x%x)",
		      recv ? "receive" : "request", op_name(m->op), m->size, m->pieces,
		      ibv_wc_status_str(wc->status), wc->vendor_err);
		return false;
	}
	next = recv ? &e->next_recv[m->qp] : &e->next_send[m->qp];
	if (*next != i)
		fault(s, "QP %u: completion of message %" PRIu64 " where %u was due", m->qp, i,
		      *next);
	*next = next_of(s, b, i + 1, m->qp, recv);
	e->left--;

	if (wc->qp_num != s->qp[m->qp]->qp_num)
		fault(s, "completion names QP 0x%x, not 0x%x", wc->qp_num,
		      s->qp[m->qp]->qp_num);
	if (wc->opcode != (recv ? ops[m->op].received : ops[m->op].sent))
		fault(s, "%s %s: completion opcode %d", op_name(m->op), recv ? "received" : "sent",
		      wc->opcode);
	if ((recv || m->op == OP_READ) && wc->byte_len != m->size)
		fault(s, "%s: byte_len %u, sent were %" PRIu64, op_name(m->op), wc->byte_len,
		      m->size);
	if (recv && !!(wc->wc_flags & IBV_WC_WITH_IMM) != ops[m->op].imm)
		fault(s, "%s: wc_flags 0x%x", op_name(m->op), wc->wc_flags);
	if (recv && ops[m->op].imm && wc->imm_data != message_imm(b, i))
		fault(s, "%s: immediate 0x%08x, not 0x%08x", op_name(m->op), ntohl(wc->imm_data),
		      ntohl(message_imm(b, i)));
	return true;
}

/* Sleeps until the armed queue speaks. False when it does not. */
static bool sleep_for_event(struct side *s)
{
	struct pollfd pfd = { .fd = s->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;

	if (poll(&pfd, 1, s->patience_ms) != 1) {
		fault(s, "no completion event within %u ms", s->patience_ms);
		return false;
	}
	if (ibv_get_cq_event(s->channel, &cq, &ctx)) {
		fault(s, "ibv_get_cq_event: %s", strerror(errno));
		return false;
	}
	if (cq != s->cq)
		fault(s, "an event for a completion queue that is not ours");
	if (++s->unacked == 16) {
		ibv_ack_cq_events(s->cq, s->unacked);
		s->unacked = 0;
	}
	return true;
}

static void tell_missing(struct side *s, const struct batch *b, const struct expected *e)
{
	for (unsigned int q = 0; q < s->qps; q++) {
		unsigned int i = e->next_send[q];

		if (i < b->count)
			fault(s, "QP %u: %s of %" PRIu64 " bytes did not complete", q,
			      op_name(b->msg[i].op), b->msg[i].size);
		i = e->next_recv[q];
		if (i < b->count)
			fault(s, "QP %u: %s of %" PRIu64 " bytes was not received", q,
			      op_name(b->msg[i].op), b->msg[i].size);
	}
}

static bool take_completions(struct side *s, const struct batch *b)
{
	uint64_t last = now_ms();
	bool armed = false;
	struct expected e;

	expect(s, b, &e);
	while (e.left) {
		struct ibv_wc wc[8];
		int n = ibv_poll_cq(s->cq, 8, wc);

		if (n < 0) {
			fault(s, "ibv_poll_cq: %d", n);
			return false;
		}
		for (int i = 0; i < n; i++)
			if (!take_completion(s, b, &e, &wc[i]))
				return false;
		if (n) {
			last = now_ms();
			continue;
		}
		if (!s->events) {
			if (now_ms() - last > s->patience_ms)
				break;
			sched_yield();
		} else if (!armed) {
			/* Look once more after arming: what came in between rings no bell. */
			int err = ibv_req_notify_cq(s->cq, 0);

			if (err) {
				fault(s, "ibv_req_notify_cq: %s", strerror(err));
				return false;
			}
			armed = true;
		} else {
			armed = false;
			if (!sleep_for_event(s))
				break;
		}
	}
	if (e.left)
		tell_missing(s, b, &e);
	return !e.left;
}

static void check_range(struct side *s, const char *what, uint64_t off, uint64_t key,
			uint64_t pos, uint64_t len)
{
	size_t where, wrong;

	if (pattern_check(s->arena + off, key, pos, len, &where, &wrong))
		return;
	fault(s,
	      "%s: byte %zu of %" PRIu64 " (arena 0x%" PRIx64
	      ") is 0x%02x, not 0x%02x; %zu wrong", what, where, len, off + where, s->arena[off + where],
	      pattern_byte(key, pos + where), wrong);
}

static void check_word(struct side *s, const struct batch *b, unsigned int i)
{
	uint64_t word;

	memcpy(&word, s->arena + s->place[i].piece[0].off, sizeof(word));
	if (word != atomic_after(b, i))
		fault(s, "%s message %u: there is 0x%" PRIx64 ", not 0x%" PRIx64
		      ", before it there was 0x%" PRIx64, op_name(b->msg[i].op), i, word,
		      atomic_after(b, i), atomic_before(b, i));
}

/* One message's pieces and the gap in front of each; *@seen is what is checked. */
static void check_message(struct side *s, const struct batch *b, unsigned int i, uint64_t *seen)
{
	const struct message *m = &b->msg[i];
	const struct place *at = &s->place[i];
	enum role role = my_role(s, m);
	char what[96];
	uint64_t pos = 0;

	for (unsigned int p = 0; p < at->count; p++) {
		const struct piece *piece = &at->piece[p];
		uint64_t data = piece->len;

		snprintf(what, sizeof(what),
			 "guard before SGE %u of message %u (%s %" PRIu64 ")", p, i,
			 op_name(m->op), m->size);
		check_range(s, what, *seen, stale_key(b), *seen, piece->off - *seen);

		if (role == ROLE_CHANGED) {
			check_word(s, b, i);
			*seen = piece->off + piece->len;
			continue;
		}
		if (role == ROLE_SCRIBBLED)
			data = 0;
		else if (pos + data > m->size)
			data = pos < m->size ? m->size - pos : 0;
		snprintf(what, sizeof(what), "%s message %u (%s %" PRIu64 ") from byte %" PRIu64,
			 role == ROLE_TARGET ? "target of" : "source of", i, op_name(m->op),
			 m->size, pos);
		check_range(s, what, piece->off, message_key(b, i), pos, data);
		snprintf(what, sizeof(what), "rest of SGE %u of message %u (%s %" PRIu64 ")", p, i,
			 op_name(m->op), m->size);
		check_range(s, what, piece->off + data, stale_key(b), piece->off + data,
			    piece->len - data);
		pos += piece->len;
		*seen = piece->off + piece->len;
	}
	if (role == ROLE_TARGET)
		s->bytes += m->size;
	s->messages++;
}

static void check_memory(struct side *s, const struct batch *b, uint64_t cursor[2][MAX_QPS])
{
	uint64_t seen[MAX_QPS];

	for (unsigned int q = 0; q < s->qps; q++)
		seen[q] = q * s->slice;
	for (unsigned int i = 0; i < b->count; i++)
		check_message(s, b, i, &seen[b->msg[i].qp]);
	for (unsigned int q = 0; q < s->qps; q++)
		check_range(s, "guard after the last message", seen[q], stale_key(b), seen[q],
			    cursor[s->id][q] - seen[q]);
}

/* Both sides are at the same point, and neither has given up. */
static bool meet(struct side *s, bool well)
{
	uint8_t mine = well, theirs = 0;

	if (!wire_swap(s->wire, &mine, &theirs, 1)) {
		fault(s, "the other side is gone or does not answer");
		return false;
	}
	if (well && !theirs)
		fault(s, "the other side has given up");
	return well && theirs;
}

bool batch_run(struct side *s, const struct batch *b)
{
	uint64_t cursor[2][MAX_QPS];
	bool well;

	place_all(s, b, cursor);
	for (unsigned int q = 0; q < s->qps; q++)
		if (cursor[s->id][q] > s->arena_len)
			die("a batch does not fit into the arena");
	fill(s, b, cursor);

	well = b->recv_delay_ms || post_recvs(s, b);
	if (!meet(s, well))
		return false;
	if (b->recv_delay_ms) {
		/* The server comes late, the client's sends go out at once. */
		usleep(b->recv_delay_ms * 1000 * s->id);
		well = post_recvs(s, b);
	}
	well = well && post_sends(s, b) && take_completions(s, b);
	if (!meet(s, well))
		return false;
	check_memory(s, b, cursor);
	return true;
}
