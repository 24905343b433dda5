// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A program that forks while its memory is registered: the pages stay its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"

#define HUGE (2ul << 20)
#define SMALL 16384

/* What happens to the buffer between fork() and the receive. */
enum touch { NOBODY, CHILD, PARENT, BOTH };

static const char *const touches[] = {
	[NOBODY] = "nobody", [CHILD] = "the child", [PARENT] = "the parent", [BOTH] = "both",
};

/* Overwrites the buffer in a child, which then waits for the end of @until. */
static pid_t child_with(char *at, size_t len, bool touch, int ready, const int until[2])
{
	pid_t pid = fork();
	char byte = 0;

	if (pid)
		return pid;
	close(until[1]);
	if (touch)
		memset(at, 0xcc, len);
	if (write(ready, &byte, 1) != 1)
		_exit(2);
	/* What the parent receives is not to be seen here. */
	if (read(until[0], &byte, 1) != 0)
		_exit(3);
	for (size_t i = 0; touch && i < len; i++)
		if (at[i] != (char)0xcc)
			_exit(1);
	_exit(0);
}

/* Message @key from the pair's memory into the region at @at. */
static int receive(struct pair *p, struct ibv_mr *mr, char *at, size_t len, uint64_t key)
{
	struct ibv_sge to = { (uintptr_t)at, len, mr->lkey };
	struct ibv_sge from = { (uintptr_t)p->buf, len, p->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &to, .num_sge = 1 }, *bad;
	size_t where, wrong;
	struct ibv_wc wc;
	int result = -abs(ibv_post_recv(p->qp[1], &wr, &bad));

	pattern_fill(p->buf, key, 0, len);
	result = result ?: pair_do(p, IBV_WR_SEND, &from, 1, 0, 0, 20000, &wc);
	if (!result && rig_wait(p->cq, &wc, 20000) != 1)
		result = -ETIMEDOUT;
	result = result ?: (int)wc.status;
	return result ?: pattern_check(at, key, 0, len, &where, &wrong) ? 0 : -EBADMSG;
}

static void c23_one(const struct setting *set, const char *kind, char *at, size_t len,
		    enum touch touch)
{
	int ready[2], until[2], status, result, sent;
	struct ibv_mr *mr;
	size_t where, wrong;
	struct pair p;
	char byte;
	pid_t pid;

	pair_open(set, &p, len);
	memset(at, 0x11, len);
	mr = ibv_reg_mr(p.rig.pd, at, len, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr || pipe(ready) || pipe(until))
		die("C23 a region of %s and pipes: %s", kind, strerror(errno));
	fflush(NULL);
	/* A child that comes and goes leaves nothing behind. */
	if (!fork())
		_exit(0);
	wait(NULL);
	pid = child_with(at, len, touch & CHILD, ready[1], until);
	close(until[0]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		die("C23 fork: %s", strerror(errno));
	if (touch & PARENT)
		memset(at, 0x22, len);
	result = receive(&p, mr, at, len, 23);
	/* And what the parent writes is what the device sends. */
	pattern_fill(at, 24, 0, len);
	sent = pair_do(&p, IBV_WR_RDMA_WRITE,
		       &(struct ibv_sge){ (uintptr_t)at, len, mr->lkey }, 1, (uintptr_t)p.buf,
		       p.mr->rkey, 20000, NULL);
	if (!sent && !pattern_check(p.buf, 24, 0, len, &where, &wrong))
		sent = -EBADMSG;
	close(until[1]);
	if (waitpid(pid, &status, 0) != pid)
		die("C23 waitpid: %s", strerror(errno));
	report(!result && !sent && !status,
	       "C23 %s, %s writes after fork(): the parent receives: %s, it sends: %s, the child %s",
	       kind, touches[touch], outcome(result), outcome(sent),
	       status ? "sees the parent's data" : "keeps its own");
	close(ready[0]);
	close(ready[1]);
	ibv_dereg_mr(mr);
	pair_close(&p);
}

/*
 * A program that calls ibv_fork_init() is one of old: the library takes what is
 * registered out of the child, page by page, which splits no huge page.
 */
static void c23_fork_init(const struct setting *set, char *small)
{
	int state = ibv_is_fork_initialized();

	report(!set->fork_err && (set->foreign || state == IBV_FORK_UNNEEDED),
	       "C23 ibv_fork_init: %s, state %d", strerror(set->fork_err), state);
	c23_one(set, "pages kept from the child", small, SMALL, NOBODY);
	c23_one(set, "pages kept from the child", small, SMALL, PARENT);
}

static void c23_fork(const struct setting *set)
{
	char *huge = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	char *small = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (small == MAP_FAILED)
		die("no memory");
	if (set->fork_init)
		c23_fork_init(set, small);
	for (enum touch touch = NOBODY; !set->fork_init && touch <= BOTH; touch++) {
		/* There a child that writes to such a page faults for ever. */
		if (touch & CHILD && user_mode_linux()) {
			report_skip("User Mode Linux", "C23 %s writes", touches[touch]);
			continue;
		}
		c23_one(set, "pages", small, SMALL, touch);
		if (huge != MAP_FAILED)
			c23_one(set, "a huge page", huge, SMALL, touch);
	}
	if (huge == MAP_FAILED)
		report_skip("no huge pages", "C23 a huge page");
	else
		munmap(huge, HUGE);
	munmap(small, SMALL);
}

const struct test_case fork_cases[] = {
	{ "C23", "registered memory stays the parent's when it forks", c23_fork },
	{ 0 },
};
