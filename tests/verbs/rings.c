// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report.h"
#include "rings.h"

#define MAX_SEEN 4

/* What this thread's last verb mapped. */
static _Thread_local struct ring seen[MAX_SEEN];
static _Thread_local unsigned int seen_count;
static _Thread_local bool withhold;
bool (*rings_keep)(void *addr, size_t len);

static bool is_uverbs(int fd)
{
	char path[32], name[64];
	ssize_t len;

	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, name, sizeof(name) - 1);
	if (len < 0)
		return false;
	name[len] = 0;
	return strstr(name, "/uverbs");
}

static void *real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

/* Plain memory with what the provider looks for at once. */
static void *substitute(size_t len, int prot)
{
	struct rxe_queue_buf *buf = real_mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buf != MAP_FAILED)
		buf->log2_elem_size = 6;
	return buf;
}

/* Ahead of the C library's: providers call this one. */
[[gnu::visibility("default")]]
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	struct ring *ring;
	void *at;

	if (!(flags & MAP_SHARED) || !is_uverbs(fd))
		return real_mmap(addr, len, prot, flags, fd, off);
	if (withhold)
		at = substitute(len, prot);
	else
		at = real_mmap(addr, len, prot, flags, fd, off);
	if (at == MAP_FAILED || seen_count == MAX_SEEN)
		return at;
	ring = &seen[seen_count++];
	*ring = (struct ring){ .buf = at, .len = len, .fd = fd, .off = off };
	ring->log2_elem = ring->buf->log2_elem_size;
	ring->mask = ring->buf->index_mask;
	return at;
}

[[gnu::visibility("default")]]
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return mmap(addr, len, prot, flags, fd, off);
}

[[gnu::visibility("default")]]
int munmap(void *addr, size_t len)
{
	if (rings_keep && rings_keep(addr, len))
		return 0;
	return syscall(SYS_munmap, addr, len);
}

void rings_unmap(void *addr, size_t len)
{
	syscall(SYS_munmap, addr, len);
}

void rings_withhold(bool on)
{
	withhold = on;
}

void *rings_map(const struct ring *ring)
{
	return real_mmap(NULL, ring->len, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			 ring->off);
}

static void take_seen(struct ring *ring, unsigned int count, enum ring_kind first)
{
	if (seen_count != count)
		die("the provider mapped %u queues, not %u", seen_count, count);
	for (unsigned int i = 0; i < count; i++) {
		ring[i] = seen[i];
		ring[i].kind = first + i;
	}
}

struct ibv_cq *rings_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel, struct ring *ring)
{
	struct ibv_cq *cq;

	seen_count = 0;
	cq = ibv_create_cq(ctx, cqe, NULL, channel, 0);
	if (cq)
		take_seen(ring, 1, RING_CQ);
	return cq;
}

struct ibv_srq *rings_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init,
				 struct ring *ring)
{
	struct ibv_srq *srq;

	seen_count = 0;
	srq = ibv_create_srq(pd, init);
	if (srq)
		take_seen(ring, 1, RING_RQ);
	return srq;
}

struct ibv_qp *rings_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init,
			       struct ring *ring)
{
	struct ibv_qp *qp;

	seen_count = 0;
	qp = ibv_create_qp(pd, init);
	if (qp && init->srq)
		take_seen(&ring[1], 1, RING_SQ);
	else if (qp)
		take_seen(ring, 2, RING_RQ);
	return qp;
}

int rings_doorbell_with(struct ibv_context *ctx, const struct ib_uverbs_post_send *cmd,
			const void *wrs, size_t len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
		char wrs[RINGS_MAX_WRS];
	} request = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.cmd = *cmd,
	};
	size_t all = sizeof(request.hdr) + sizeof(request.cmd) + len;
	struct ib_uverbs_post_send_resp resp;

	if (len > sizeof(request.wrs))
		die("a doorbell with %zu bytes of requests", len);
	if (wrs)
		memcpy(request.wrs, wrs, len);
	request.hdr.in_words = all / 4;
	request.hdr.out_words = sizeof(resp) / 4;
	request.cmd.response = (uintptr_t)&resp;
	return write(ctx->cmd_fd, &request, all) == (ssize_t)all ? 0 : errno;
}

int rings_doorbell(struct ibv_context *ctx, uint32_t qp_handle)
{
	struct ib_uverbs_post_send cmd = {
		.qp_handle = qp_handle, .wqe_size = sizeof(struct ib_uverbs_send_wr),
	};

	return rings_doorbell_with(ctx, &cmd, NULL, 0);
}

int rings_qp_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) ? -1 : (int)attr.qp_state;
}
