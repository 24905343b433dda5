/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The queues that libibverbs maps and hides. mmap() and munmap() of a program
 * that is linked with rings.c pass through here, so it learns where each queue
 * of the soft-RoCE provider lies and may do with it what it likes.
 */
#ifndef SOFTROCE_TESTS_RINGS_H
#define SOFTROCE_TESTS_RINGS_H

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ring_kind { RING_CQ, RING_RQ /* or an SRQ */, RING_SQ };

struct ring {
	struct rxe_queue_buf *buf;
	size_t len;
	int fd;			/* the command file, and */
	off_t off;		/* where in it the queue is */
	enum ring_kind kind;
	/* As the kernel gave them: the mapped ones may not be true any more. */
	uint32_t log2_elem, mask;
};

/*
 * Makers that also tell the queues. @ring has room for one (a CQ, an SRQ) or two
 * (a QP's RQ and SQ, in this order; with an SRQ the first is left as it is). NULL
 * and errno as libibverbs gives them.
 */
struct ibv_cq *rings_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel, struct ring *ring);
struct ibv_srq *rings_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init,
				 struct ring *ring);
struct ibv_qp *rings_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init,
			       struct ring *ring);
/*
 * While on, for this thread: the provider is given other memory in a queue's
 * place, and the queue waits unmapped in the kernel.
 */
void rings_withhold(bool on);
/* Maps the queue again or, when it was withheld, for the first time. */
void *rings_map(const struct ring *ring);
void rings_unmap(void *addr, size_t len);
/*
 * Asked before a queue is unmapped; true keeps it, and the owner of the hook
 * unmaps it with rings_unmap() when it is done with it.
 */
extern bool (*rings_keep)(void *addr, size_t len);

static inline void *ring_elem(const struct ring *ring, uint32_t index)
{
	return ring->buf->data + ((size_t)(index & ring->mask) << ring->log2_elem);
}

/* Rings @qp's bell by hand: no request in the command, those in the queue run. */
int rings_doorbell(struct ibv_context *ctx, uint32_t qp_handle);
#define RINGS_MAX_WRS 1024
/*
 * The same with counts and sizes of one's own, and @len bytes of requests behind
 * the command: @wrs, or zeros. 0 or errno.
 */
int rings_doorbell_with(struct ibv_context *ctx, const struct ib_uverbs_post_send *cmd,
			const void *wrs, size_t len);
/* The state that the kernel says @qp is in; -1 when it says nothing. */
int rings_qp_state(struct ibv_qp *qp);

#endif
