/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A benchmark of an RDMA stack from inside the kernel, written to the API of
 * Linux 6.12: the same source runs over softroce and over the kernel's own.
 *
 * Lifetime: a run owns all of its objects.  bench_run() opens both sides,
 * transfers, and closes them again, whatever happened; one run at a time,
 * under the kernel's lock of module parameters.  The client registered in
 * main.c keeps the two devices from going while the module is inserted.
 */
#ifndef SOFTROCE_TESTS_BENCH_BENCH_H
#define SOFTROCE_TESTS_BENCH_BENCH_H

#include <linux/mm.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define BENCH_MAX_QPS 64
#define BENCH_MAX_LIST 64
#define BENCH_MAX_SIZE (1 << 20)
#define BENCH_MAX_DEPTH 1024
#define BENCH_CHUNK (4 << 20)	/* bytes of memory that are contiguous */
#define BENCH_MAX_CHUNKS 16
#define BENCH_KEY_PAGES 512	/* what a key for atomics reaches */
#define BENCH_GRH 40		/* bytes before a datagram's data */
#define BENCH_QKEY 0x1234567

/* What the kernel of a machine counts instructions between. */
enum bench_mark {
	BENCH_MARK_BEGIN,
	BENCH_MARK_END,
};

/* Who is told that a message has come. */
enum bench_kind {
	BENCH_SEND,	/* the responder, by a completion */
	BENCH_WRITE,	/* nobody: the data are at the responder's */
	BENCH_READ,	/* the requester: the data are at the requester's */
	BENCH_ATOMIC,	/* the requester: the old value is */
};

struct bench_op {
	const char *name;
	enum ib_wr_opcode opcode;
	enum bench_kind kind;
};

struct bench_conf {
	char a[IB_DEVICE_NAME_MAX];
	char b[IB_DEVICE_NAME_MAX];
	const struct bench_op *op;
	enum ib_qp_type type;
	u32 size;	/* bytes of a message */
	u32 stride;	/* bytes from one message's memory to the next */
	u32 count;	/* messages in all */
	u32 slots;	/* messages of a round, each in memory of its own */
	u32 depth;	/* messages on the way at once, for each queue pair */
	u32 list;	/* messages posted at once */
	u32 qps;
	u32 mtu;	/* bytes */
	bool each;	/* each of a list is signalled, not its last */
	bool times;	/* the time of each message is kept */
};

/* Memory of messages, one slot each. */
struct bench_memory {
	u8 *chunk[BENCH_MAX_CHUNKS];
	u64 dma[BENCH_MAX_CHUNKS];
	u32 chunks;
	struct bench_slot {
		u8 *at;
		u64 dma;
	} *slot;
};

struct bench_side {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_ah *ah;
	struct ib_mr *mr;
	const struct ib_gid_attr *gid;
	u8 mac[ETH_ALEN];
	struct bench_memory mem;
};

/* A queue pair and its share of a round: the slots from @base on. */
struct bench_flow {
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe;
	struct bench *bench;
	struct ib_qp *qp[2];
	u32 base;
	u32 total;
	u32 posted;
	u32 sent;	/* completed at the requester */
	u32 received;	/* completed at the responder */
	u32 recv_posted;
};

struct bench_result {
	u64 messages;
	u64 ns;
	u64 p50;	/* of @times, in nanoseconds */
	u64 p99;
	u64 max;
};

struct bench {
	struct bench_conf conf;
	struct bench_side side[2];	/* the requester's, the responder's */
	struct bench_flow flow[BENCH_MAX_QPS];
	struct ib_cqe key_cqe;
	int key_status;
	struct ib_sge sge[BENCH_MAX_LIST];
	union {
		struct ib_send_wr *head;
		struct ib_rdma_wr *rdma;
		struct ib_atomic_wr *atomic;
		struct ib_ud_wr *ud;
	} wr;
	u64 *begun;	/* of each message of a round, with conf.times */
	u64 *took;	/* of each message in all */
	u32 slots;	/* messages of this round */
	u32 first;	/* the number of this round's first message */
	u32 sent;
	u32 received;
	int status;	/* of the first completion that was not good */
	struct bench_result result;
};

/* main.c */
struct ib_device *bench_device(const char *name);

/* side.c: both sides, connected */
int bench_sides_open(struct bench *bench);
void bench_sides_close(struct bench *bench);

/* memory.c */
int bench_memory_get(struct bench_memory *mem, struct ib_device *dev,
		     u32 stride, u32 slots);
void bench_memory_put(struct bench_memory *mem, struct ib_device *dev);
void bench_fill(u8 *buf, u32 len, u32 number);
void bench_poison(u8 *buf, u32 len);
bool bench_filled(const u8 *buf, u32 len, u32 number);

/* key.c: side[1].mr, which bench_sides_close() gives back */
int bench_key_get(struct bench *bench);

/* run.c */
int bench_run(struct bench *bench);

/* roof.c */
int bench_roof(struct bench *bench);

/*
 * In User Mode Linux, the processor time of this kernel's process: that does
 * not care who else is at work.  Its system calls are the host's.
 */
static inline u64 bench_now(void)
{
#ifdef CONFIG_UML
	const long clock_gettime = 228, process_cputime = 2;
	struct { s64 sec; s64 nsec; } at;
	long ret;

	asm volatile("syscall" : "=a"(ret)
		     : "0"(clock_gettime), "D"(process_cputime), "S"(&at)
		     : "rcx", "r11", "memory");
	return ret ? 0 : at.sec * NSEC_PER_SEC + at.nsec;
#else
	return ktime_get_ns();
#endif
}

/*
 * An emulator that counts instructions by address knows these two by their
 * bytes; to a processor they are long NOPs.
 */
static __always_inline void bench_mark(enum bench_mark mark)
{
#ifdef CONFIG_X86_64
	if (mark == BENCH_MARK_BEGIN)
		asm volatile(".byte 0x0f,0x1f,0x80,0x53,0x52,0x43,0x42" ::: "memory");
	else
		asm volatile(".byte 0x0f,0x1f,0x80,0x53,0x52,0x43,0x45" ::: "memory");
#endif
}

#endif
