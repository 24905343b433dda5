// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What objects cost a program:
 *
 *   objects DEVICE [COUNT]
 *
 * Makes COUNT (500) queue pairs, completion queues and regions of 4 KiB, then
 * takes them away again, and prints "NAME NANOSECONDS" for each call, and
 * "NAME.memory BYTES" for what the kernel has less while one of them is there.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char *pages;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Free and reclaimable memory of the machine, in bytes. */
static int64_t memory(void)
{
	char line[128];
	long long kib, sum = 0;
	FILE *file;

	/* What ended before has to be given back. */
	usleep(300000);
	file = fopen("/proc/meminfo", "r");
	if (!file)
		die("/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %lld", &kib) == 1 ||
		    sscanf(line, "Cached: %lld", &kib) == 1 ||
		    sscanf(line, "Buffers: %lld", &kib) == 1)
			sum += kib;
	fclose(file);
	return sum * 1024;
}

static void *make_qp(int i)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	(void)i;
	return ibv_create_qp(pd, &attr);
}

static int end_qp(void *qp) { return ibv_destroy_qp(qp); }

static void *make_cq(int i)
{
	(void)i;
	return ibv_create_cq(context, 16, NULL, NULL, 0);
}

static int end_cq(void *one) { return ibv_destroy_cq(one); }

static void *make_mr(int i)
{
	return ibv_reg_mr(pd, pages + 4096 * i, 4096,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static int end_mr(void *mr) { return ibv_dereg_mr(mr); }

static const struct kind {
	const char *name;
	void *(*make)(int i);
	int (*end)(void *object);
} kinds[] = {
	{ "qp", make_qp, end_qp },
	{ "cq", make_cq, end_cq },
	{ "mr", make_mr, end_mr },
};

static void measure(const struct kind *kind, int count, int again)
{
	void **object = calloc(count, sizeof(*object));
	uint64_t began, made, ended;
	int64_t before, during;
	int i;

	if (!object)
		die("calloc");
	before = memory();
	began = now();
	for (i = 0; i < count; i++) {
		object[i] = kind->make(i);
		if (!object[i])
			die(kind->name);
	}
	made = now();
	during = memory();
	ended = now();
	for (i = 0; i < count; i++)
		if (kind->end(object[i]))
			die(kind->name);
	ended = now() - ended;
	free(object);
	if (!again) {
		printf("%s.memory %lld\n", kind->name,
		       (long long)(before - during) / count);
		return;
	}
	printf("%s.create %llu\n", kind->name,
	       (unsigned long long)(made - began) / count);
	printf("%s.destroy %llu\n", kind->name,
	       (unsigned long long)ended / count);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 500, n, i;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (argc < 2 || count < 1 || !list) {
		fprintf(stderr, "usage: objects DEVICE [COUNT]\n");
		return 2;
	}
	for (i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			context = ibv_open_device(list[i]);
	if (!context)
		die(argv[1]);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	pages = aligned_alloc(4096, 4096 * (size_t)count);
	if (!pd || !cq || !pages)
		die("set-up");
	memset(pages, 1, 4096 * (size_t)count);
	for (i = 0; i < (int)(sizeof(kinds) / sizeof(kinds[0])); i++) {
		/* The first time fills caches that stay: time is the second's. */
		measure(&kinds[i], count, 0);
		measure(&kinds[i], count, 1);
	}
	return 0;
}
