// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Moves messages between two sides over RC or UC and checks every byte, those around
 * the target included. Client and server derive the same list of messages from
 * the client's options; see batch.h.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "batch.h"
#include "pattern.h"
#include "report.h"

#define MAGIC		0x736f6672u
#define QP_DEPTH	48
#define SLICE_MIN	(3u << 20)
#define BIG		(64ull << 20)

/* What the client decides for both; it travels as it is. */
struct config {
	uint64_t magic, qps, mtu, quick, one_way, no_fence, largest, seed, rounds, timeout,
		 retry_cnt, uc;
	char only[40];
};

struct hello {
	uint64_t base, rkey, max_inline, mtu, rd_atomic, sges, atomics;
	struct peer peer[MAX_QPS];
};

static struct options {
	const char *dev[2], *gid[2];
	const char *host, *port;
	bool server, loopback, events;
	unsigned int limit, patience;
	struct config config;
} opt = {
	.gid = { "v4", "v4" }, .dev = { "", "" }, .port = "18515",
	.limit = 600, .patience = 60,
	.config = { .magic = MAGIC, .qps = 1, .seed = 1, .rounds = 3, .timeout = 18,
		    .retry_cnt = 7 },
};

/* A run of groups on one side. */
struct plan {
	struct side *side;
	const struct config *config;
	struct batch batch;
	uint64_t room[2][MAX_QPS];
	unsigned int posted[2][MAX_QPS];
	unsigned int max_inline, max_sges;
	unsigned int groups, faults_before;
	uint64_t bytes_before, messages_before;
	bool dead, all_well, atomics;
};

static void flush(struct plan *p)
{
	struct batch *b = &p->batch;
	bool seen[2][MAX_QPS] = { 0 };

	if (!b->count || p->dead)
		return;
	/* The last request of each queue pair reports, so that the rest is over too. */
	for (unsigned int i = b->count; i--;) {
		struct message *m = &b->msg[i];

		if (!seen[m->from][m->qp])
			m->flags &= ~MSG_SILENT;
		/* Over UC only what is received tells that all before it has arrived. */
		if (!seen[m->from][m->qp] && p->config->uc && m->op == OP_WRITE)
			m->op = OP_WRITE_IMM;
		seen[m->from][m->qp] = true;
	}
	b->serial++;
	p->dead = !batch_run(p->side, b);
	b->count = 0;
	memset(p->room, 0, sizeof(p->room));
	memset(p->posted, 0, sizeof(p->posted));
}

static void emit(struct plan *p, struct message m)
{
	struct batch *b = &p->batch;
	uint64_t need = batch_room(&m);
	uint64_t *room0 = &p->room[0][m.qp], *room1 = &p->room[1][m.qp];

	if (!m.pieces)
		m.pieces = 1;
	if (!m.recv_pieces)
		m.recv_pieces = 1;
	if (b->count == MAX_BATCH || p->posted[m.from][m.qp] == QP_DEPTH ||
	    *room0 + need > p->side->slice || *room1 + need > p->side->slice)
		flush(p);
	*room0 += need;
	*room1 += need;
	p->posted[m.from][m.qp]++;
	b->msg[b->count++] = m;
}

/* The same message in both directions, on the queue pair whose turn it is. */
static void emit_both(struct plan *p, struct message m)
{
	m.qp = p->batch.count % p->config->qps;
	m.from = 0;
	emit(p, m);
	if (p->config->one_way)
		return;
	m.from = 1;
	emit(p, m);
}

static bool wanted(struct plan *p, const char *name)
{
	p->bytes_before = p->side->bytes;
	p->messages_before = p->side->messages;
	p->faults_before = p->side->faults;
	watchdog_about(name);
	return !p->dead && strstr(name, p->config->only);
}

/* Ends a group: both sides tell how many things were wrong, the client reports. */
static void group_end(struct plan *p, const char *name)
{
	struct side *s = p->side;
	uint64_t mine[2], theirs[2] = { 1, 0 };

	flush(p);
	mine[0] = s->faults - p->faults_before;
	mine[1] = s->bytes - p->bytes_before;
	if (!wire_swap(s->wire, mine, theirs, sizeof(mine)))
		p->dead = true;
	if (p->dead || mine[0] || theirs[0])
		p->all_well = false;
	p->groups++;
	if (s->id)
		return;
	if (p->dead || mine[0] || theirs[0])
		report(false, "%u - %s: %" PRIu64 " faults here, %" PRIu64 " at the server%s",
		       p->groups, name, mine[0], theirs[0], p->dead ? ", cannot go on" : "");
	else
		report(true, "%u - %s: %" PRIu64 " messages, %" PRIu64 " bytes checked", p->groups,
		       name, s->messages - p->messages_before, mine[1] + theirs[1]);
}

/* Those before it, of messages of any size, are possible. */
static enum op sized_ops(const struct plan *p)
{
	return p->config->uc ? OP_READ : OP_SIZED;
}

static void group_sizes(struct plan *p, enum op op)
{
	static const unsigned int multiples[] = { 1, 2, 3, 4, 15, 16, 17, 31, 32, 33 };
	static const unsigned int few[] = { 1, 2, 16 };
	static const unsigned int sizes[] = {
		0, 1, 2, 3, 4, 5, 7, 64, (64 << 10) - 1, 64 << 10, (64 << 10) + 1,
		(128 << 10) - 1, 128 << 10, (128 << 10) + 1,
		(256 << 10) - 1, 256 << 10, (256 << 10) + 1, (1 << 20) + 3,
	};
	bool quick = p->config->quick;
	const unsigned int *list = quick ? few : multiples;
	unsigned int count = quick ? sizeof(few) / sizeof(*few) :
				     sizeof(multiples) / sizeof(*multiples);
	unsigned int mtu = mtu_bytes(p->side->tune.mtu);

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (!quick || sizes[i] < 64 || (sizes[i] & 3))
			emit_both(p, (struct message){ .op = op, .size = sizes[i] });
	for (unsigned int i = 0; i < count; i++)
		for (int d = -1; d <= 1; d++)
			emit_both(p, (struct message){ .op = op, .size = list[i] * mtu + d });
}

/* Every pad, with every header: what one packet of a few words can be. */
static void group_small(struct plan *p)
{
	for (unsigned int op = 0; op < sized_ops(p); op++)
		for (unsigned int size = 0; size <= 67; size++)
			emit_both(p, (struct message){ .op = op, .size = size });
}

static void group_sges(struct plan *p, enum op op)
{
	static const unsigned int counts[] = { 2, 3, 7, 31, 32 };
	unsigned int mtu = mtu_bytes(p->side->tune.mtu);

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const uint64_t sizes[] = { counts[i], 97, mtu + 1, 5 * mtu - 3, (64 << 10) + 1 };
		unsigned int n = counts[i] < p->max_sges ? counts[i] : p->max_sges;

		for (unsigned int k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
			emit_both(p, (struct message){ .op = op, .size = sizes[k], .pieces = n,
						       .recv_pieces = p->max_sges + 1 - n });
	}
}

static void group_inline(struct plan *p)
{
	static const enum op list[] = { OP_SEND, OP_SEND_IMM, OP_WRITE, OP_WRITE_IMM };

	for (unsigned int i = 0; i < sizeof(list) / sizeof(*list); i++) {
		const uint64_t sizes[] = { 0, 1, 3, 4, 31, p->max_inline - 1, p->max_inline };

		for (unsigned int k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
			for (unsigned int n = 1; n <= 3; n++)
				emit_both(p, (struct message){ .op = list[i], .flags = MSG_INLINE,
							       .size = sizes[k], .pieces = n,
							       .recv_pieces = n });
	}
}

/* Each has a word of its own. */
static void group_atomics(struct plan *p)
{
	for (unsigned int i = 0; i < 96; i++)
		emit_both(p, (struct message){ .op = i % 2 ? OP_FETCH_ADD : OP_CMP_SWAP,
					       .size = ATOMIC_SIZE,
					       .flags = i % 5 ? MSG_SILENT : 0 });
}

/* Receives that come late: the requester meets RNR NAKs and tries again. */
static void group_late(struct plan *p)
{
	static const enum op list[] = { OP_SEND, OP_SEND_IMM, OP_WRITE_IMM };
	unsigned int mtu = mtu_bytes(p->side->tune.mtu);

	flush(p);
	for (unsigned int i = 0; i < sizeof(list) / sizeof(*list); i++) {
		const uint64_t sizes[] = { 0, 1, 3 * mtu + 1, 64 << 10 };

		p->batch.recv_delay_ms = 30;
		for (unsigned int k = 0; k < sizeof(sizes) / sizeof(*sizes); k++)
			emit(p, (struct message){ .op = list[i], .size = sizes[k],
						  .qp = k % p->config->qps });
		flush(p);
	}
	p->batch.recv_delay_ms = 0;
}

/* Everything at once: all queue pairs, both directions, few completions. */
static void group_mixed(struct plan *p)
{
	unsigned int mtu = mtu_bytes(p->side->tune.mtu);
	unsigned int total = p->config->rounds * 24 * p->config->qps;

	for (unsigned int i = 0; i < total; i++) {
		uint64_t r = pattern_word(p->config->seed * 1000003, i);
		struct message m = {
			.op = r % (p->atomics ? OP_COUNT : sized_ops(p)),
			.qp = (r >> 8) % p->config->qps,
			.from = p->config->one_way ? 0 : (r >> 16) & 1,
			.pieces = 1 + (r >> 20) % (((r >> 28) & 3) ? 3 : p->max_sges),
			.recv_pieces = 1 + (r >> 32) % 4,
			.flags = (r >> 40) & 3 ? MSG_SILENT : 0,
		};

		switch ((r >> 44) & 7) {
		case 0:
			m.size = (r >> 48) % 8;
			break;
		case 1:
			m.size = (r >> 48) % (100 << 10);
			break;
		case 2:
			m.size = (1 + (r >> 48) % 20) * mtu - 1 + (r >> 56) % 3;
			break;
		case 3:
			m.size = (r >> 48) % (p->max_inline + 1);
			if (m.op != OP_READ)
				m.flags |= MSG_INLINE;
			break;
		default:
			m.size = (r >> 48) % (2 * mtu);
		}
		if (op_is_atomic(m.op)) {
			m.size = ATOMIC_SIZE;
			m.pieces = 1;
			m.flags &= ~MSG_INLINE;
		}
		if (m.flags & MSG_INLINE)
			m.pieces = 1 + (r >> 60) % 3;
		if (((r >> 42) & 3) == 3 && !p->config->no_fence)
			m.flags |= MSG_FENCE;
		emit(p, m);
	}
}

/* One message that takes the whole arena; the second one way the other. */
static void group_largest(struct plan *p, enum op op)
{
	struct side *s = p->side;
	uint64_t slice = s->slice;
	unsigned int qps = s->qps;

	flush(p);
	s->qps = 1;
	s->slice = s->arena_len;
	emit(p, (struct message){ .op = op, .size = p->config->largest, .from = op & 1,
				  .pieces = op == OP_SEND ? 1 : p->max_sges });
	flush(p);
	s->qps = qps;
	s->slice = slice;
}

static void run_groups(struct plan *p)
{
	char name[64];

	if (wanted(p, "small")) {
		group_small(p);
		group_end(p, "small");
	}
	for (unsigned int op = 0; op < sized_ops(p); op++) {
		snprintf(name, sizeof(name), "sizes %s", op_name(op));
		if (wanted(p, name)) {
			group_sizes(p, op);
			group_end(p, name);
		}
	}
	for (unsigned int op = 0; op < sized_ops(p); op++) {
		snprintf(name, sizeof(name), "sges %s", op_name(op));
		if (wanted(p, name)) {
			group_sges(p, op);
			group_end(p, name);
		}
	}
	if (p->max_inline && wanted(p, "inline")) {
		group_inline(p);
		group_end(p, "inline");
	}
	if (p->atomics && wanted(p, "atomics")) {
		group_atomics(p);
		group_end(p, "atomics");
	}
	if (!p->config->uc && wanted(p, "late receives")) {
		group_late(p);
		group_end(p, "late receives");
	}
	snprintf(name, sizeof(name), "mixed on %u QPs", p->side->qps);
	if (wanted(p, name)) {
		group_mixed(p);
		group_end(p, name);
	}
	for (unsigned int op = 0; op < sized_ops(p) && p->config->largest; op++) {
		snprintf(name, sizeof(name), "largest %s", op_name(op));
		if (wanted(p, name)) {
			group_largest(p, op);
			group_end(p, name);
		}
	}
}

static void side_arena(struct side *s, const struct config *c)
{
	s->qps = c->qps;
	s->slice = SLICE_MIN;
	s->arena_len = s->slice * s->qps;
	if (c->largest && s->arena_len < c->largest + (1 << 20))
		s->arena_len = c->largest + (1 << 20);
	s->arena = mmap(NULL, s->arena_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (s->arena == MAP_FAILED)
		die("%s: %" PRIu64 " bytes of memory: %s", s->name, s->arena_len, strerror(errno));
	s->mr = ibv_reg_mr(s->rig.pd, s->arena, s->arena_len,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_WRITE |
			   (s->rig.dev.atomic_cap ? IBV_ACCESS_REMOTE_ATOMIC : 0));
	if (!s->mr)
		die("%s: ibv_reg_mr of %" PRIu64 " bytes: %s", s->name, s->arena_len,
		    strerror(errno));
}

static void side_queues(struct side *s, const struct config *c, struct hello *mine)
{
	s->channel = s->events ? ibv_create_comp_channel(s->rig.ctx) : NULL;
	if (s->events && !s->channel)
		die("%s: ibv_create_comp_channel: %s", s->name, strerror(errno));
	s->cq = ibv_create_cq(s->rig.ctx, s->qps * 2 * QP_DEPTH, NULL, s->channel, 0);
	if (!s->cq)
		die("%s: ibv_create_cq: %s", s->name, strerror(errno));

	s->tune = tuning_default;
	s->tune.depth = QP_DEPTH;
	s->tune.sges = s->rig.dev.max_sge < MAX_PIECES ? s->rig.dev.max_sge : MAX_PIECES;
	s->tune.inline_bytes = 256;
	s->tune.timeout = c->timeout;
	s->tune.retry_cnt = c->retry_cnt;
	for (unsigned int q = 0; q < s->qps; q++) {
		s->qp[q] = rig_qp(&s->rig, c->uc ? IBV_QPT_UC : IBV_QPT_RC, s->cq, s->cq, &s->tune);
		if (!s->qp[q])
			die("%s: ibv_create_qp %u: %s", s->name, q, strerror(errno));
		mine->peer[q] = (struct peer){
			.qpn = s->qp[q]->qp_num,
			/* Some start close to the end, so that their numbers wrap. */
			.psn = (q & 1 ? 0x123456 : 0xfffff0) + q,
			.gid = s->rig.gid,
		};
	}
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void side_connect(struct side *s, const struct config *c, struct plan *p)
{
	struct hello mine = {
		.base = 0, .max_inline = 256, .rd_atomic = s->rig.dev.max_qp_rd_atom,
		.mtu = s->rig.port.active_mtu,
		.atomics = s->rig.dev.atomic_cap != IBV_ATOMIC_NONE,
	}, theirs;

	side_arena(s, c);
	side_queues(s, c, &mine);
	mine.base = (uintptr_t)s->arena;
	mine.rkey = s->mr->rkey;
	mine.sges = s->tune.sges;
	if (!wire_swap(s->wire, &mine, &theirs, sizeof(mine)))
		die("%s: the other side went away before it began", s->name);
	s->remote_base = theirs.base;
	s->remote_key = theirs.rkey;
	s->tune.mtu = lesser(mine.mtu, theirs.mtu);
	if (c->mtu && c->mtu < mtu_bytes(s->tune.mtu))
		s->tune.mtu = mtu_from_bytes(c->mtu);
	s->tune.rd_atomic = lesser(lesser(mine.rd_atomic, theirs.rd_atomic), 16);
	p->max_inline = lesser(mine.max_inline, theirs.max_inline);
	p->atomics = mine.atomics && theirs.atomics && !c->uc;
	p->max_sges = lesser(mine.sges, theirs.sges);

	for (unsigned int q = 0; q < s->qps; q++) {
		int err = rig_connect(&s->rig, s->qp[q], &theirs.peer[q], mine.peer[q].psn,
				      &s->tune);

		if (err)
			die("%s: connecting QP %u with GID index %d: %s", s->name, q,
			    s->rig.gid_index, strerror(err));
	}
}

static void side_close(struct side *s)
{
	int err = 0;

	for (unsigned int q = 0; q < s->qps; q++)
		err = err ?: ibv_destroy_qp(s->qp[q]);
	if (s->unacked)
		ibv_ack_cq_events(s->cq, s->unacked);
	err = err ?: ibv_destroy_cq(s->cq);
	if (s->channel)
		err = err ?: ibv_destroy_comp_channel(s->channel);
	err = err ?: ibv_dereg_mr(s->mr);
	if (err)
		die("%s: taking things down: %s", s->name, strerror(err));
	rig_close(&s->rig);
	munmap(s->arena, s->arena_len);
	close(s->wire);
}

/* One side's whole life. Returns whether all was well at both. */
static bool side_main(unsigned int id, int wire)
{
	struct config config = opt.config, theirs;
	struct side *s = calloc(1, sizeof(*s));
	struct plan *p = calloc(1, sizeof(*p));
	bool well;

	if (!s || !p)
		die("no memory");
	s->name = id ? "server" : "client";
	s->id = id;
	s->wire = wire;
	s->events = opt.events;
	s->patience_ms = opt.patience * 1000;
	rig_open(&s->rig, opt.dev[id], opt.gid[id]);
	if (!wire_swap(wire, &config, &theirs, sizeof(config)))
		die("%s: no answer over the wire", s->name);
	if (theirs.magic != MAGIC)
		die("%s: the other side is no bytecheck of this version", s->name);
	if (id)
		config = theirs;

	p->side = s;
	p->config = &config;
	p->all_well = true;
	side_connect(s, &config, p);
	if (!id)
		note("%s GID %d, path MTU %u, %u QPs, %s", ibv_get_device_name(s->rig.ctx->device),
		     s->rig.gid_index, mtu_bytes(s->tune.mtu), s->qps,
		     s->events ? "by event" : "polled");
	run_groups(p);
	well = p->all_well && !p->dead;
	if (!p->groups)
		well = report(false, "no group is called '%s'", config.only);
	if (id && (!opt.loopback || s->faults))
		note("server: %u groups, %u faults", p->groups, s->faults);
	side_close(s);
	free(p);
	free(s);
	return well;
}

static void *server_thread(void *arg)
{
	return (void *)(uintptr_t)side_main(1, *(int *)arg);
}

static bool run_loopback(void)
{
	pthread_t thread;
	void *server_well;
	bool well;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ||
	    pthread_create(&thread, NULL, server_thread, &fd[1]))
		die("a second thread: %s", strerror(errno));
	well = side_main(0, fd[0]);
	pthread_join(thread, &server_well);
	return well && server_well;
}

static const char usage[] =
	"usage: bytecheck (--server | --client HOST | --loopback) [options]\n"
	"  -d, --dev NAME        RDMA device (the first one)\n"
	"  -g, --gid INDEX|v4|v6 GID to use (v4)\n"
	"  -D, --dev2, -G, --gid2  the same for the server's end of --loopback\n"
	"  -p, --port PORT       TCP port to agree over (18515)\n"
	"  -e, --events          sleep on completion events instead of polling\n"
	"      --limit S         end everything after S seconds (600)\n"
	"      --patience S      longest wait for the next completion (60)\n"
	"the client decides:\n"
	"  -q, --qps N           queue pairs (1), at most 64\n"
	"  -m, --mtu BYTES       path MTU (the port's)\n"
	"      --service rc|uc   (rc)\n"
	"      --quick           fewer sizes\n"
	"      --one-way         only the client sends\n"
	"      --no-fence        no message waits for the READs before it\n"
	"      --big             also messages of 64 MiB\n"
	"      --largest BYTES   also messages of this size\n"
	"      --rounds N        of mixed traffic (3)\n"
	"      --seed N          for the mixed traffic (1)\n"
	"      --timeout N, --retry-cnt N   queue pair attributes (18, 7)\n"
	"      --only TEXT       only groups with TEXT in their names\n";

static uint64_t number(const char *text, uint64_t max)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (*end || end == text || n > max)
		die("'%s' is no count up to %" PRIu64, text, max);
	return n;
}

static void parse(int argc, char **argv)
{
	enum { SERVER = 256, CLIENT, LOOPBACK, LIMIT, PATIENCE, QUICK, ONE_WAY, NO_FENCE, LARGE,
	       LARGEST, ROUNDS, SEED, TIMEOUT, RETRY, ONLY, SERVICE, HELP };
	static const struct option names[] = {
		{ "server", 0, NULL, SERVER }, { "client", 1, NULL, CLIENT },
		{ "loopback", 0, NULL, LOOPBACK }, { "dev", 1, NULL, 'd' },
		{ "gid", 1, NULL, 'g' }, { "dev2", 1, NULL, 'D' }, { "gid2", 1, NULL, 'G' },
		{ "port", 1, NULL, 'p' }, { "events", 0, NULL, 'e' },
		{ "limit", 1, NULL, LIMIT }, { "patience", 1, NULL, PATIENCE },
		{ "qps", 1, NULL, 'q' }, { "mtu", 1, NULL, 'm' }, { "quick", 0, NULL, QUICK },
		{ "one-way", 0, NULL, ONE_WAY }, { "no-fence", 0, NULL, NO_FENCE },
		{ "big", 0, NULL, LARGE }, { "largest", 1, NULL, LARGEST }, { "rounds", 1, NULL, ROUNDS },
		{ "seed", 1, NULL, SEED }, { "timeout", 1, NULL, TIMEOUT },
		{ "retry-cnt", 1, NULL, RETRY }, { "only", 1, NULL, ONLY },
		{ "service", 1, NULL, SERVICE }, { "help", 0, NULL, HELP }, { 0 },
	};
	struct config *c = &opt.config;
	bool dev2 = false, gid2 = false;
	int ch;

	while ((ch = getopt_long(argc, argv, "d:g:D:G:p:eq:m:", names, NULL)) != -1) {
		switch (ch) {
		case SERVER:
			opt.server = true;
			break;
		case CLIENT:
			opt.host = optarg;
			break;
		case LOOPBACK:
			opt.loopback = true;
			break;
		case 'd':
			opt.dev[0] = optarg;
			break;
		case 'g':
			opt.gid[0] = optarg;
			break;
		case 'D':
			opt.dev[1] = optarg;
			dev2 = true;
			break;
		case 'G':
			opt.gid[1] = optarg;
			gid2 = true;
			break;
		case 'p':
			opt.port = optarg;
			break;
		case 'e':
			opt.events = true;
			break;
		case LIMIT:
			opt.limit = number(optarg, 86400);
			break;
		case PATIENCE:
			opt.patience = number(optarg, 86400);
			break;
		case 'q':
			c->qps = number(optarg, MAX_QPS);
			break;
		case 'm':
			c->mtu = number(optarg, 4096);
			break;
		case QUICK:
			c->quick = 1;
			break;
		case ONE_WAY:
			c->one_way = 1;
			break;
		case SERVICE:
			c->uc = !strcmp(optarg, "uc");
			if (!c->uc && strcmp(optarg, "rc"))
				die("no service '%s'", optarg);
			break;
		case NO_FENCE:
			c->no_fence = 1;
			break;
		case LARGE:
			c->largest = BIG;
			break;
		case LARGEST:
			c->largest = number(optarg, 1ull << 31);
			break;
		case ROUNDS:
			c->rounds = number(optarg, 1000000);
			break;
		case SEED:
			c->seed = number(optarg, UINT32_MAX);
			break;
		case TIMEOUT:
			c->timeout = number(optarg, 31);
			break;
		case RETRY:
			c->retry_cnt = number(optarg, 7);
			break;
		case ONLY:
			snprintf(c->only, sizeof(c->only), "%s", optarg);
			break;
		case HELP:
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (!dev2)
		opt.dev[1] = opt.dev[0];
	if (!gid2)
		opt.gid[1] = opt.gid[0];
	if (optind != argc || opt.server + opt.loopback + !!opt.host != 1 || !c->qps ||
	    (c->mtu && !mtu_from_bytes(c->mtu))) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	bool well;

	parse(argc, argv);
	watchdog(opt.limit);
	if (opt.loopback)
		well = run_loopback();
	else if (opt.server)
		well = side_main(1, wire_listen_accept(opt.port, opt.patience));
	else
		well = side_main(0, wire_connect(opt.host, opt.port, opt.patience));
	return !well;
}
