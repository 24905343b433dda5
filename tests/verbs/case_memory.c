// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cases.h"
#include "pattern.h"

#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define MIB	(1ull << 20)
#define HUGE	(2 * MIB)

/* More registrations than any 16-bit key could number, then the region works. */
static void c01_many_registrations(const struct setting *set)
{
	unsigned int rounds = set->full ? 200000 : 70000, i;
	struct ibv_mr *mr;
	struct pair p;
	int result = 0;

	pair_open(set, &p, 8192);
	for (i = 1; i <= rounds && !result; i++) {
		mr = ibv_reg_mr(p.rig.pd, p.buf + 4096, 4096, ACCESS);
		if (!mr) {
			result = -errno;
			break;
		}
		if (i % 10000 == 0 || i == rounds) {
			size_t where, wrong;

			pattern_fill(p.buf, i, 0, 4096);
			result = pair_write(&p, (uintptr_t)p.buf + 4096, mr->rkey, 4096);
			if (!result && !pattern_check(p.buf + 4096, i, 0, 4096, &where, &wrong))
				result = -EBADMSG;
		}
		if (ibv_dereg_mr(mr))
			result = -EBUSY;
	}
	report(!result, "C01 RDMA WRITE after %u registrations: %s", i - 1, outcome(result));
	pair_close(&p);
}

/* WRITE into @at and READ back from it. 0, or what went wrong. */
static int try_region(struct pair *p, char *at, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(p->rig.pd, at, len, ACCESS);
	size_t half = p->len / 2, where, wrong;
	struct ibv_sge sge;
	int result;

	if (!mr)
		return -errno;
	if (len > half)
		len = half;
	pattern_fill(p->buf, 42, 0, len);
	memset(p->buf + half, 0, len);
	result = pair_write(p, (uintptr_t)at, mr->rkey, len);
	if (!result && !pattern_check(at, 42, 0, len, &where, &wrong))
		result = -EBADMSG;
	if (!result) {
		sge = (struct ibv_sge){ (uintptr_t)p->buf + half, len, p->mr->lkey };
		result = pair_do(p, IBV_WR_RDMA_READ, &sge, 1, (uintptr_t)at, mr->rkey, 20000,
				 NULL);
	}
	if (!result && !pattern_check(p->buf + half, 42, 0, len, &where, &wrong))
		result = -EBADMSG;
	/* The region as a local source too. */
	if (!result) {
		sge = (struct ibv_sge){ (uintptr_t)at, len, mr->lkey };
		memset(p->buf + half, 0, len);
		result = pair_do(p, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)p->buf + half,
				 p->mr->rkey, 20000, NULL);
	}
	if (!result && !pattern_check(p->buf + half, 42, 0, len, &where, &wrong))
		result = -EBADMSG;
	if (ibv_dereg_mr(mr))
		result = result ?: -EBUSY;
	return result;
}

/* Not so is what lives in memory: tmpfs, and with it memfd, and hugetlbfs. */
static bool on_disk(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC;
}

/* Mapped straight from persistent memory, which the kernel pins for nobody. */
static bool on_dax(int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH, 0, &st) && (st.stx_attributes & STATX_ATTR_DAX);
}

/* With its errno, not with another. */
static bool refused_right(int result, bool written_back, bool dax)
{
	return result == -EOPNOTSUPP ? written_back || dax : result == -EFAULT && written_back;
}

static void try_file(const struct setting *set, const char *kind, int fd, size_t len)
{
	static const int flags[] = { MAP_SHARED, MAP_PRIVATE };
	bool dax = on_dax(fd);

	for (int i = 0; i < 2; i++) {
		/* What a file system has to write back may be refused, nothing else. */
		bool written_back = !i && !dax && on_disk(fd);
		const char *how = i ? "private" : "shared";
		struct pair p;
		int result;
		char *at;

		if (ftruncate(fd, len) && errno != EINVAL)
			die("C10 %s: ftruncate: %s", kind, strerror(errno));
		at = mmap(NULL, len, PROT_READ | PROT_WRITE, flags[i], fd, 0);
		if (at == MAP_FAILED) {
			report_skip(strerror(errno), "C10 %s, %s", kind, how);
			continue;
		}
		pair_open(set, &p, 128 << 10);
		result = try_region(&p, at, len);
		report(!result || refused_right(result, written_back, dax), "C10 %s%s, %s: %s",
		       kind, dax ? " (DAX)" : "", how, outcome(result));
		pair_close(&p);
		munmap(at, len);
	}
	close(fd);
}

static void c10_file_mappings(const struct setting *set)
{
	int fd = memfd_create("c10", 0);
	char path[512];

	if (fd >= 0)
		try_file(set, "memfd", fd, 256 << 10);
	fd = memfd_create("c10", MFD_HUGETLB);
	if (fd >= 0)
		try_file(set, "hugetlb memfd", fd, HUGE);
	else
		report_skip(strerror(errno), "C10 hugetlb memfd");
	for (unsigned int i = 0; i < set->dir_count; i++) {
		snprintf(path, sizeof(path), "%s/c10.%d", set->dirs[i], getpid());
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd < 0)
			die("C10 %s: %s", path, strerror(errno));
		unlink(path);
		try_file(set, set->dirs[i], fd, 256 << 10);
	}
}

/*
 * @len bytes of address space over @real bytes of memory, again and again: long
 * messages need no long memory when nobody looks at more than the last copy.
 */
static char *alias_map(size_t len, size_t real)
{
	int fd = memfd_create("alias", 0);
	char *at = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (fd < 0 || at == MAP_FAILED || ftruncate(fd, real))
		die("a mapping of %zu bytes: %s", len, strerror(errno));
	for (size_t off = 0; off < len; off += real)
		if (mmap(at + off, real, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			die("mapping memory again: %s", strerror(errno));
	close(fd);
	return at;
}

struct long_test {
	struct pair p;
	char *src, *dst;
	struct ibv_mr *src_mr, *dst_mr;
	size_t len;
};

/* Source and target of @len bytes each. False when this machine has no room. */
static bool long_open(const struct setting *set, struct long_test *t, size_t len, size_t real)
{
	t->len = len;
	pair_open(set, &t->p, 4096);
	t->src = alias_map(len, real);
	t->dst = alias_map(len, real);
	t->src_mr = ibv_reg_mr(t->p.rig.pd, t->src, len, ACCESS);
	t->dst_mr = t->src_mr ? ibv_reg_mr(t->p.rig.pd, t->dst, len, ACCESS) : NULL;
	return t->dst_mr;
}

static void long_close(struct long_test *t)
{
	if (t->dst_mr)
		ibv_dereg_mr(t->dst_mr);
	if (t->src_mr)
		ibv_dereg_mr(t->src_mr);
	pair_close(&t->p);
	munmap(t->src, t->len);
	munmap(t->dst, t->len);
}

/* Splits @total over @max SGEs that each start where @base does. */
static int split(struct ibv_sge *sge, int max, uint64_t total, const void *base, uint32_t lkey)
{
	uint64_t each = (total + max - 1) / max;
	int n = 0;

	for (; total; n++) {
		uint32_t len = total < each ? total : each;

		sge[n] = (struct ibv_sge){ (uintptr_t)base, len, lkey };
		total -= len;
	}
	return n;
}

/* A request that is too long has to end at once, and without a byte moved. */
static void too_long(const struct setting *set, const char *id, enum ibv_wr_opcode opcode,
		     uint64_t total)
{
	struct ibv_sge sge[32];
	struct long_test t;
	uint64_t began;
	int n, result;

	/* 32 SGEs of a bit over 128 MiB are enough for more than 32 bits. */
	if (!long_open(set, &t, 144 * MIB, 4 * MIB)) {
		report_skip(strerror(errno), "%s %" PRIu64 " bytes", id, total);
		long_close(&t);
		return;
	}
	n = split(sge, 32, total, t.src, t.src_mr->lkey);
	memset(t.src, 0x5a, 4 * MIB);
	began = now_ms();
	result = pair_do(&t.p, opcode, sge, n, (uintptr_t)t.dst, t.dst_mr->rkey, 5000, NULL);
	report((set->foreign ? is_refusal(result) : result == IBV_WC_LOC_LEN_ERR || result < 0) &&
	       result != -ETIMEDOUT && !t.dst[0] && !t.dst[4 * MIB - 1],
	       "%s a request of %" PRIu64 " bytes is refused after %" PRIu64 " ms: %s", id, total,
	       now_ms() - began, outcome(result));
	long_close(&t);
}

/* A SEND of @total bytes between memory that repeats every 64 MiB. */
static void long_send(const struct setting *set, const char *id, uint64_t total)
{
	size_t real = 64 * MIB, where, wrong;
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad;
	struct ibv_sge from[32], to[32];
	struct ibv_wc wc[2] = { 0 };
	struct long_test t;
	int result;

	if (!long_open(set, &t, real, real)) {
		report_skip(strerror(errno), "%s SEND of %" PRIu64 " bytes", id, total);
		long_close(&t);
		return;
	}
	recv.num_sge = split(to, 32, total, t.dst, t.dst_mr->lkey);
	recv.sg_list = to;
	pattern_fill(t.src, 9, 0, real);
	result = -ibv_post_recv(t.p.qp[1], &recv, &bad);
	if (!result)
		result = pair_do(&t.p, IBV_WR_SEND, from,
				 split(from, 32, total, t.src, t.src_mr->lkey), 0, 0, 900000,
				 &wc[0]);
	if (!result && rig_wait(t.p.cq, &wc[1], 10000) != 1)
		result = -ETIMEDOUT;
	if (!result && !(wc[0].opcode & IBV_WC_RECV))
		wc[0] = wc[1];
	if (!result && (wc[0].byte_len != total ||
			!pattern_check(t.dst, 9, 0, total / 32, &where, &wrong)))
		result = -EBADMSG;
	report(!result, "%s SEND of %" PRIu64 " bytes: %s", id, total, outcome(result));
	long_close(&t);
}

static void c20_longest_message(const struct setting *set)
{
	struct rig rig;
	uint64_t max;

	case_open(set, &rig);
	max = rig.port.max_msg_sz;
	rig_close(&rig);
	report(max >= 1ull << 30 && max <= 1ull << 31, "C20 max_msg_sz is %" PRIu64, max);
	if (max < 1ull << 30 && set->foreign)
		return;
	too_long(set, "C20", IBV_WR_SEND, max + 1);
	too_long(set, "C20", IBV_WR_RDMA_WRITE, max + 1);
	too_long(set, "C20", IBV_WR_RDMA_WRITE, 3ull << 30);
	if (!set->full) {
		report_skip("takes minutes, --full", "C20 SEND of %" PRIu64 " bytes", max);
		return;
	}
	long_send(set, "C20", max - 1);
	long_send(set, "C20", max);
}

static void c21_long_sums(const struct setting *set)
{
	uint64_t max = 1ull << 31;
	struct ibv_sge sge[32];
	struct long_test t;
	int result;

	if (set->foreign) {
		report_skip("known to go wrong there", "C21");
		return;
	}
	too_long(set, "C21", IBV_WR_RDMA_WRITE, (1ull << 32) - 1);
	too_long(set, "C21", IBV_WR_RDMA_WRITE, (1ull << 32) + 128);
	too_long(set, "C21", IBV_WR_SEND, (1ull << 32) + 128);
	if (!set->full) {
		report_skip("takes minutes, --full", "C21 WRITE of 2^31 bytes");
		return;
	}
	if (!long_open(set, &t, max, 64 * MIB)) {
		report_skip(strerror(errno), "C21 WRITE of 2^31 bytes");
		long_close(&t);
		return;
	}
	pattern_fill(t.src, 8, 0, 64 * MIB);
	result = pair_do(&t.p, IBV_WR_RDMA_WRITE, sge, split(sge, 32, max, t.src, t.src_mr->lkey),
			 (uintptr_t)t.dst, t.dst_mr->rkey, 900000, NULL);
	if (!result && memcmp(t.src, t.dst, 64 * MIB))
		result = -EBADMSG;
	report(!result || result == IBV_WC_LOC_LEN_ERR, "C21 WRITE of 2^31 bytes: %s",
	       outcome(result));
	long_close(&t);
}

/* Without a byte to move there is no key to check. */
static void zero_any_key(const struct setting *set)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode opcode;
	} ops[] = {
		{ "WRITE", IBV_WR_RDMA_WRITE }, { "READ", IBV_WR_RDMA_READ },
	};

	for (unsigned int i = 0; i < 2; i++) {
		struct pair p;
		int result;

		pair_open(set, &p, 4096);
		result = pair_do(&p, ops[i].opcode, NULL, 0, 0x1234, 0xdead, 5000, NULL);
		if (result && set->foreign)
			report_skip(outcome(result), "ZERO %s of no bytes with any key",
				    ops[i].name);
		else
			report(!result, "ZERO %s of no bytes with any key: %s", ops[i].name,
			       outcome(result));
		pair_close(&p);
	}
}

/*
 * Memory that was only read so far is a page that others may share. Registered
 * for reading, then written by the program, it is still what the device sends.
 */
static void cow_read_only_region(const struct setting *set)
{
	size_t where, wrong;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct pair p;
	char *at;
	int result;

	pair_open(set, &p, 8192);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Reading it maps the page of zeros. */
	mr = at == MAP_FAILED || memchr(at, 1, 4096) ? NULL :
	     ibv_reg_mr(p.rig.pd, at, 4096, 0);
	if (!mr) {
		report(false, "COW registering a page that was only read: %s", strerror(errno));
		goto close;
	}
	pattern_fill(at, 77, 0, 4096);
	sge = (struct ibv_sge){ (uintptr_t)at, 4096, mr->lkey };
	result = pair_do(&p, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)p.buf, p.mr->rkey, 20000,
			 NULL);
	if (!result && !pattern_check(p.buf, 77, 0, 4096, &where, &wrong))
		result = -EBADMSG;
	report(!result, "COW what was written after registration is sent: %s", outcome(result));
	ibv_dereg_mr(mr);
close:
	if (at != MAP_FAILED)
		munmap(at, 4096);
	pair_close(&p);
}

static void c11_try(struct rig *rig, const char *what, char *at, size_t len, int access, int want)
{
	struct ibv_mr *mr;
	int err = 0;

	mr = ibv_reg_mr(rig->pd, at, len, access);
	if (mr)
		ibv_dereg_mr(mr);
	else
		err = errno;
	report(err == want, "C11 %s: %s", what, err ? strerror(err) : "registered");
}

/* What the program itself may not read no peer can read for it. */
static void c11_rights_of_mappings(const struct setting *set)
{
	const int read = IBV_ACCESS_REMOTE_READ;
	int fd = memfd_create("c11", 0);
	char *at, *shared;
	struct rig rig;

	if (set->foreign) {
		report_skip("older kernels register them", "C11");
		return;
	}
	case_open(set, &rig);
	at = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || ftruncate(fd, 4096) || at == MAP_FAILED)
		die("C11 memory: %s", strerror(errno));
	memset(at, 1, 3 * 4096);
	mprotect(at + 4096, 4096, PROT_NONE);
	c11_try(&rig, "a page without rights, remote read", at + 4096, 4096, read, EFAULT);
	c11_try(&rig, "a page without rights, local read", at + 4096, 4096, 0, EFAULT);
	c11_try(&rig, "a page without rights between two others, remote read", at, 3 * 4096, read,
		EFAULT);
	c11_try(&rig, "a page without rights between two others, local write", at, 3 * 4096,
		IBV_ACCESS_LOCAL_WRITE, EFAULT);
	c11_try(&rig, "the page before it", at, 4096, read, 0);
	mprotect(at + 4096, 4096, PROT_READ);
	c11_try(&rig, "a page that may be read, local write", at + 4096, 4096,
		IBV_ACCESS_LOCAL_WRITE, EFAULT);
	c11_try(&rig, "a page that may be read between two others, remote read", at, 3 * 4096, read,
		0);
	munmap(at + 4096, 4096);
	c11_try(&rig, "a hole between two pages, remote read", at, 3 * 4096, read, EFAULT);
	munmap(at, 3 * 4096);

	/* Reserved only, never touched, as an allocator does. */
	at = mmap(NULL, 4 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	c11_try(&rig, "address space without rights, remote read", at, 4 * MIB, read, EFAULT);
	mprotect(at, 4 * MIB, PROT_READ);
	c11_try(&rig, "memory that was never written, to be read, remote read", at, 4 * MIB, read,
		0);
	munmap(at, 4 * MIB);

	shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	c11_try(&rig, "a shared page that may be read, remote read", shared, 4096, read, 0);
	mprotect(shared, 4096, PROT_NONE);
	c11_try(&rig, "a shared page without rights, remote read", shared, 4096, read, EFAULT);
	munmap(shared, 4096);
	close(fd);
	rig_close(&rig);
}

/*
 * A region of more pages than 32 bits count. None of them lies behind another in
 * memory, and the first 1024 are there: for the others nobody should look.
 */
static void pages_too_many(const struct setting *set)
{
	static const uint64_t pages[] = {
		/* What is left behind the first 2 MiB is 0 in 32 bits, or all ones. */
		(1ull << 32) + 512, (1ull << 33) + 511,
	};
	char *at = alias_map(4 * MIB, 4096);
	struct ibv_mr *mr;
	struct rig rig;

	case_open(set, &rig);
	for (unsigned int i = 0; i < 2; i++) {
		mr = ibv_reg_mr(rig.pd, at, pages[i] * 4096, ACCESS);
		report(!mr && errno == EINVAL, "PAGES a region of %" PRIu64 " pages: %s", pages[i],
		       mr ? "registered" : strerror(errno));
		if (mr)
			ibv_dereg_mr(mr);
	}
	mr = ibv_reg_mr(rig.pd, at, 4 * MIB, ACCESS);
	report(mr && !ibv_dereg_mr(mr), "PAGES one of those that are there works");
	rig_close(&rig);
	munmap(at, 4 * MIB);
}

static uint64_t counter(struct pair *p, const char *name)
{
	unsigned long long value = 0;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 ibv_get_device_name(p->rig.ctx->device), name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &value) != 1)
		die("counter %s: %s", name, strerror(errno));
	fclose(f);
	return value;
}

#define B22_BEHIND	4
#define B22_BYTES	(8 * MIB)

/* A long READ, some WRITEs behind it, and @us later the READ's region goes. */
static int b22_begin(struct pair *p, struct ibv_mr *mr, unsigned int us)
{
	struct ibv_sge sge = { (uintptr_t)p->buf, p->len, p->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)mr->addr, mr->rkey },
	}, *bad;
	int err = ibv_post_send(p->qp[0], &wr, &bad);

	sge.length = 64;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = (uintptr_t)p->buf;
	wr.wr.rdma.rkey = p->mr->rkey;
	for (wr.wr_id = 1; wr.wr_id <= B22_BEHIND && !err; wr.wr_id++)
		err = ibv_post_send(p->qp[0], &wr, &bad);
	if (us)
		usleep(us);
	return err ?: ibv_dereg_mr(mr);
}

/* The first bytes are right, then nothing was written: how many, or -1. */
static ssize_t b22_arrived(const struct pair *p, const char *src)
{
	size_t good = 0, end;

	while (good < p->len && p->buf[good] == src[good])
		good++;
	for (end = good; end < p->len; end++)
		if (p->buf[end] != (char)0xee)
			return -1;
	return good;
}

/* False when the region went before the READ began, or after it was over. */
static bool b22_round(const struct setting *set, const char *src, struct ibv_wc *wc,
		      unsigned int us)
{
	uint64_t sent, again, idle, most;
	unsigned int flushed = 0;
	struct ibv_mr *mr;
	ssize_t arrived;
	struct pair p;
	int err;

	pair_open(set, &p, B22_BYTES);
	memset(p.buf, 0xee, B22_BYTES);
	mr = ibv_reg_mr(p.rig.pd, (void *)src, B22_BYTES, ACCESS);
	if (!mr)
		die("B22 region: %s", strerror(errno));
	sent = counter(&p, "sent_pkts");
	again = counter(&p, "completer_retry_err");
	err = b22_begin(&p, mr, us);
	if (err || rig_wait(p.cq, wc, 60000) != 1)
		die("B22 READ: %s", err ? strerror(err) : "no completion");
	if (!wc->status) {
		pair_close(&p);
		return false;
	}
	report(wc->status == IBV_WC_REM_ACCESS_ERR && !wc->wr_id,
	       "B22 a READ of a region that goes meanwhile: %s", ibv_wc_status_str(wc->status));
	while (flushed < B22_BEHIND && rig_wait(p.cq, wc, 10000) == 1 &&
	       wc->status == IBV_WC_WR_FLUSH_ERR && wc->wr_id == flushed + 1)
		flushed++;
	report(flushed == B22_BEHIND, "B22 what was behind it is flushed in order: %u of %d",
	       flushed, B22_BEHIND);
	arrived = b22_arrived(&p, src);
	report(arrived >= 0, "B22 the first %zd of %llu bytes are right, the others untouched",
	       arrived, B22_BYTES);
	idle = counter(&p, "sent_pkts");
	usleep(500000);
	/* Answers, and a request for each 256 KiB of them with its acknowledgement. */
	most = B22_BYTES / mtu_bytes(IBV_MTU_1024) + B22_BYTES / 65536 + 100;
	report(counter(&p, "sent_pkts") <= idle + 2 && idle - sent <= most &&
	       counter(&p, "completer_retry_err") - again <= 2,
	       "B22 nothing is sent for ever: %" PRIu64 " packets, then %" PRIu64 "; %" PRIu64 " times again",
	       idle - sent, counter(&p, "sent_pkts") - idle,
	       counter(&p, "completer_retry_err") - again);
	pair_close(&p);
	return arrived > 0;
}

static void b22_region_goes_during_read(const struct setting *set)
{
	static const unsigned int delays[] = { 0, 0, 50, 200, 500, 1000, 2000, 5000, 10000, 30000,
					      70000 };
	struct ibv_wc wc = { 0 };
	bool met = false;
	char *src;

	if (set->foreign) {
		report_skip("known to go wrong there", "B22");
		return;
	}
	src = aligned_alloc(4096, B22_BYTES);
	if (!src)
		die("no memory");
	pattern_fill(src, 22, 0, B22_BYTES);
	for (unsigned int i = 0; i < sizeof(delays) / sizeof(*delays) && !met; i++)
		met = b22_round(set, src, &wc, delays[i]);
	/* One processor may be through with it first: faults.sh makes the network slow. */
	if (met)
		report(true, "B22 the region went in the middle of the READ");
	else
		report_skip("each READ was over before", "B22 the region went in the middle of the READ");
	free(src);
}

const struct test_case memory_cases[] = {
	{ "B22", "a region goes while it is read", b22_region_goes_during_read },
	{ "C01", "keys last for more than 65536 registrations", c01_many_registrations },
	{ "C10", "memory that is a mapped file registers, or says why not", c10_file_mappings },
	{ "C11", "memory that the program may not read", c11_rights_of_mappings },
	{ "C20", "max_msg_sz is the limit", c20_longest_message },
	{ "C21", "lengths beyond 31 and 32 bits", c21_long_sums },
	{ "COW", "a region for reading follows the program's writes", cow_read_only_region },
	{ "PAGES", "a region has fewer pages than 2^32", pages_too_many },
	{ "ZERO", "messages without a byte need no key", zero_any_key },
	{ 0 },
};
