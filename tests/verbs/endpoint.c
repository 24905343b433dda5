// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A queue pair that somebody else plays with: reads commands, one a line, and
 * answers each with one line. It is the side of a conversation whose other side
 * is no queue pair but a program that makes its packets by hand.
 *
 *   endpoint -d DEV [-g GID]
 *
 *   hello			-> hello ADDRESS SIZE LKEY RKEY GID   of its memory
 *   qp ACCESS			-> qp NUMBER		a new one, the old one goes
 *   connect QPN RQ_PSN SQ_PSN MTU TIMEOUT RETRY RNR MIN_RNR GID	-> ok
 *   mr ACCESS			-> mr INDEX LKEY RKEY	of the same memory
 *   dereg INDEX		-> ok
 *   set OFFSET HEX		-> ok			memory
 *   fill OFFSET LEN BYTE	-> ok
 *   get OFFSET LEN		-> hex DIGITS
 *   recv ID OFFSET LEN		-> ok
 *   send ID OFFSET LEN		-> ok
 *   write ID OFFSET LEN ADDRESS RKEY		-> ok	signalled, like all
 *   read ID OFFSET LEN ADDRESS RKEY		-> ok
 *   poll MS			-> wc ID STATUS OPCODE BYTES, or none
 *   event MS			-> event NAME, or none
 *   state			-> state NUMBER
 *
 * Numbers are as strtoull() takes them. What fails says "error WHY".
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "rig.h"

#define MEMORY		(1u << 20)
#define MAX_MRS		16
#define MAX_WORDS	12
#define ALL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ)

struct endpoint {
	struct rig rig;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr[MAX_MRS];	/* the first has all rights */
	unsigned int mrs, access;
	uint8_t *memory;
};

struct command {
	unsigned int words;
	char *word[MAX_WORDS];
};

[[gnu::format(printf, 1, 2)]]
static void answer(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static void answer_result(int err)
{
	if (err)
		answer("error %s", strerror(err));
	else
		answer("ok");
}

static uint64_t number(const struct command *c, unsigned int index)
{
	char *end;
	uint64_t value;

	if (index >= c->words)
		die("endpoint: '%s' wants more words", c->word[0]);
	value = strtoull(c->word[index], &end, 0);
	if (*end || end == c->word[index])
		die("endpoint: %s: '%s' is no number", c->word[0], c->word[index]);
	return value;
}

/* A piece of the memory, named by words @index and @index + 1. */
static uint8_t *piece(struct endpoint *e, const struct command *c, unsigned int index)
{
	uint64_t off = number(c, index), len = number(c, index + 1);

	if (off > MEMORY || len > MEMORY - off)
		die("endpoint: %s: outside its memory", c->word[0]);
	return e->memory + off;
}

static void do_hello(struct endpoint *e, const struct command *c)
{
	char gid[33];

	(void)c;
	for (unsigned int i = 0; i < 16; i++)
		snprintf(gid + 2 * i, 3, "%02x", e->rig.gid.raw[i]);
	answer("hello %" PRIuPTR " %u %u %u %s", (uintptr_t)e->memory, MEMORY, e->mr[0]->lkey,
	       e->mr[0]->rkey, gid);
}

static void do_qp(struct endpoint *e, const struct command *c)
{
	struct tuning tune = tuning_default;
	struct ibv_wc wc;
	int err = e->qp ? ibv_destroy_qp(e->qp) : 0;

	if (err)
		die("endpoint: ibv_destroy_qp: %s", strerror(err));
	while (ibv_poll_cq(e->cq, 1, &wc) > 0)
		;
	tune.depth = 1024;
	e->access = number(c, 1);
	e->qp = rig_qp(&e->rig, IBV_QPT_RC, e->cq, e->cq, &tune);
	if (!e->qp)
		die("endpoint: ibv_create_qp: %s", strerror(errno));
	err = rig_to_init(e->qp);
	if (err)
		die("endpoint: modify to INIT: %s", strerror(err));
	answer("qp %u", e->qp->qp_num);
}

static int set_access(struct endpoint *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .qp_access_flags = e->access };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS);
}

static void do_connect(struct endpoint *e, const struct command *c)
{
	struct tuning tune = tuning_default;
	struct peer to = { .qpn = number(c, 1), .psn = number(c, 2) };
	uint32_t psn = number(c, 3);
	int err;

	tune.mtu = mtu_from_bytes(number(c, 4));
	tune.timeout = number(c, 5);
	tune.retry_cnt = number(c, 6);
	tune.rnr_retry = number(c, 7);
	tune.min_rnr = number(c, 8);
	for (unsigned int i = 0; i < 16; i++)
		if (c->words < 10 || sscanf(c->word[9] + 2 * i, "%2hhx", &to.gid.raw[i]) != 1)
			die("endpoint: connect: no GID");
	err = set_access(e);
	if (!err)
		err = rig_to_rtr(&e->rig, e->qp, &to, &tune);
	if (!err)
		err = rig_to_rts(e->qp, psn, &tune);
	answer_result(err);
}

static void do_mr(struct endpoint *e, const struct command *c)
{
	struct ibv_mr *mr;

	if (e->mrs == MAX_MRS)
		die("endpoint: no more regions");
	mr = ibv_reg_mr(e->rig.pd, e->memory, MEMORY, number(c, 1));
	if (!mr) {
		answer_result(errno);
		return;
	}
	e->mr[e->mrs++] = mr;
	answer("mr %u %u %u", e->mrs - 1, mr->lkey, mr->rkey);
}

static void do_dereg(struct endpoint *e, const struct command *c)
{
	uint64_t index = number(c, 1);

	if (index >= e->mrs || !e->mr[index])
		die("endpoint: no region %" PRIu64, index);
	answer_result(ibv_dereg_mr(e->mr[index]));
	e->mr[index] = NULL;
}

static void do_set(struct endpoint *e, const struct command *c)
{
	uint64_t off = number(c, 1);
	const char *hex = c->words > 2 ? c->word[2] : "";

	for (; *hex && off < MEMORY; hex += 2)
		if (sscanf(hex, "%2hhx", &e->memory[off++]) != 1)
			die("endpoint: set: '%s' is not hexadecimal", hex);
	answer("ok");
}

static void do_fill(struct endpoint *e, const struct command *c)
{
	memset(piece(e, c, 1), number(c, 3), number(c, 2));
	answer("ok");
}

static void do_get(struct endpoint *e, const struct command *c)
{
	const uint8_t *at = piece(e, c, 1);
	uint64_t len = number(c, 2);

	printf("hex ");
	for (uint64_t i = 0; i < len; i++)
		printf("%02x", at[i]);
	answer("%s", "");
}

static void do_recv(struct endpoint *e, const struct command *c)
{
	struct ibv_sge sge = { (uintptr_t)piece(e, c, 2), number(c, 3), e->mr[0]->lkey };
	struct ibv_recv_wr wr = { .wr_id = number(c, 1), .sg_list = &sge, .num_sge = 1 }, *bad;

	answer_result(ibv_post_recv(e->qp, &wr, &bad));
}

static void post_send(struct endpoint *e, const struct command *c, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)piece(e, c, 2), number(c, 3), e->mr[0]->lkey };
	struct ibv_send_wr wr = {
		.wr_id = number(c, 1), .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = number(c, 4);
		wr.wr.rdma.rkey = number(c, 5);
	}
	answer_result(ibv_post_send(e->qp, &wr, &bad));
}

static void do_send(struct endpoint *e, const struct command *c)
{
	post_send(e, c, IBV_WR_SEND);
}

static void do_write(struct endpoint *e, const struct command *c)
{
	post_send(e, c, IBV_WR_RDMA_WRITE);
}

static void do_read(struct endpoint *e, const struct command *c)
{
	post_send(e, c, IBV_WR_RDMA_READ);
}

static void do_poll(struct endpoint *e, const struct command *c)
{
	struct ibv_wc wc;

	if (rig_wait(e->cq, &wc, number(c, 1)) == 1)
		answer("wc %" PRIu64 " %d %d %u", wc.wr_id, wc.status, wc.opcode, wc.byte_len);
	else
		answer("none");
}

static void do_event(struct endpoint *e, const struct command *c)
{
	struct pollfd pfd = { .fd = e->rig.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&pfd, 1, number(c, 1)) <= 0) {
		answer("none");
		return;
	}
	if (ibv_get_async_event(e->rig.ctx, &event))
		die("endpoint: ibv_get_async_event: %s", strerror(errno));
	answer("event %s", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
}

static void do_state(struct endpoint *e, const struct command *c)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init);

	(void)c;
	if (err)
		answer_result(err);
	else
		answer("state %d", attr.qp_state);
}

static const struct {
	const char *name;
	void (*run)(struct endpoint *e, const struct command *c);
} verbs[] = {
	{ "hello", do_hello }, { "qp", do_qp }, { "connect", do_connect }, { "mr", do_mr },
	{ "dereg", do_dereg }, { "set", do_set }, { "fill", do_fill }, { "get", do_get },
	{ "recv", do_recv }, { "send", do_send }, { "write", do_write }, { "read", do_read },
	{ "poll", do_poll }, { "event", do_event }, { "state", do_state },
};

static void obey(struct endpoint *e, char *line)
{
	struct command c = { 0 };
	char *save, *word;

	for (word = strtok_r(line, "\n ", &save); word && c.words < MAX_WORDS;
	     word = strtok_r(NULL, "\n ", &save))
		c.word[c.words++] = word;
	if (!c.words)
		return;
	for (unsigned int i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].name, c.word[0]))
			continue;
		verbs[i].run(e, &c);
		return;
	}
	die("endpoint: no command '%s'", c.word[0]);
}

static void close_all(struct endpoint *e)
{
	int err = e->qp ? ibv_destroy_qp(e->qp) : 0;

	err = err ?: ibv_destroy_cq(e->cq);
	for (unsigned int i = 0; i < e->mrs; i++)
		if (e->mr[i])
			err = err ?: ibv_dereg_mr(e->mr[i]);
	if (err)
		die("endpoint: taking things down: %s", strerror(err));
	rig_close(&e->rig);
}

int main(int argc, char **argv)
{
	const char *dev = "", *gid = "v4";
	struct endpoint e = { 0 };
	size_t room = 0;
	char *line = NULL;
	int ch;

	while ((ch = getopt(argc, argv, "d:g:")) != -1) {
		if (ch == 'd')
			dev = optarg;
		else if (ch == 'g')
			gid = optarg;
		else
			return 2;
	}
	rig_open(&e.rig, dev, gid);
	e.memory = aligned_alloc(4096, MEMORY);
	e.mr[0] = e.memory ? ibv_reg_mr(e.rig.pd, e.memory, MEMORY, ALL_ACCESS) : NULL;
	e.mrs = 1;
	e.cq = ibv_create_cq(e.rig.ctx, 4096, NULL, NULL, 0);
	if (!e.mr[0] || !e.cq)
		die("endpoint: memory and a CQ: %s", strerror(errno));
	memset(e.memory, 0, MEMORY);
	while (getline(&line, &room, stdin) > 0)
		obey(&e, line);
	free(line);
	close_all(&e);
	return 0;
}
