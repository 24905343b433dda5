// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What is written to the parameter "run" is run; reading it tells what came of
 * it.  Words KEY=VALUE, of which "a" has to be there:
 *
 *   a, b      the requester's device and the responder's (the same)
 *   op        send, send_imm, write, write_imm, read, cas, fadd, atomic_write,
 *             or roof: two copies and two CRCs instead of a message (write)
 *   type      rc, uc, ud (rc)
 *   size      bytes of a message (64)
 *   count     messages (1000)
 *   slots     messages that have memory of their own (as many as 64 MiB hold)
 *   depth     messages on the way at once, for each queue pair (32)
 *   list      messages posted at once (1)
 *   signal    last or all of a list (last)
 *   qps       queue pairs that take turns (1)
 *   mtu       path MTU in bytes (4096)
 *   times     1: take the time of each message, and tell p50, p99 and max (0)
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "bench.h"

/* Linux 6.1 has no name for this one. */
#define WR_ATOMIC_WRITE ((enum ib_wr_opcode)15)

static const struct bench_op ops[] = {
	{ "send", IB_WR_SEND, BENCH_SEND },
	{ "send_imm", IB_WR_SEND_WITH_IMM, BENCH_SEND },
	{ "write", IB_WR_RDMA_WRITE, BENCH_WRITE },
	{ "write_imm", IB_WR_RDMA_WRITE_WITH_IMM, BENCH_SEND },
	{ "read", IB_WR_RDMA_READ, BENCH_READ },
	{ "cas", IB_WR_ATOMIC_CMP_AND_SWP, BENCH_ATOMIC },
	{ "fadd", IB_WR_ATOMIC_FETCH_AND_ADD, BENCH_ATOMIC },
	{ "atomic_write", WR_ATOMIC_WRITE, BENCH_WRITE },
	{ "roof", IB_WR_RDMA_WRITE, BENCH_WRITE },
};

static char result[160] = "nothing was run\n";

/* ---- the devices ---- */

static DEFINE_MUTEX(devices_lock);
static struct ib_device *devices[16];

/* Until the module goes, or remove() is called, a device stays. */
static int bench_client_add(struct ib_device *dev)
{
	int i, ret = -ENOSPC;

	mutex_lock(&devices_lock);
	for (i = 0; ret && i < ARRAY_SIZE(devices); i++)
		if (!devices[i]) {
			devices[i] = dev;
			ret = 0;
		}
	mutex_unlock(&devices_lock);
	return ret;
}

static void bench_client_remove(struct ib_device *dev, void *data)
{
	int i;

	/* A run is under this lock from its look-ups to its end. */
	mutex_lock(&devices_lock);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (devices[i] == dev)
			devices[i] = NULL;
	mutex_unlock(&devices_lock);
}

static struct ib_client client = {
	.name = "softroce_bench",
	.add = bench_client_add,
	.remove = bench_client_remove,
};

/* Called with devices_lock held. */
struct ib_device *bench_device(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(devices); i++)
		if (devices[i] && !strcmp(dev_name(&devices[i]->dev), name))
			return devices[i];
	return NULL;
}

/* ---- what to run ---- */

static int bench_parse_number(const char *value, u32 low, u32 high, u32 *to)
{
	return kstrtou32(value, 0, to) ?: *to < low || *to > high ? -ERANGE : 0;
}

static int bench_parse_op(struct bench_conf *conf, const char *value)
{
	const struct bench_op *op;

	for (op = ops; op < ops + ARRAY_SIZE(ops); op++)
		if (!strcmp(op->name, value)) {
			conf->op = op;
			return 0;
		}
	return -EINVAL;
}

static int bench_parse_type(struct bench_conf *conf, const char *value)
{
	if (!strcmp(value, "rc"))
		conf->type = IB_QPT_RC;
	else if (!strcmp(value, "uc"))
		conf->type = IB_QPT_UC;
	else if (!strcmp(value, "ud"))
		conf->type = IB_QPT_UD;
	else
		return -EINVAL;
	return 0;
}

static int bench_parse_flag(const char *value, const char *yes, const char *no,
		      bool *to)
{
	*to = !strcmp(value, yes);
	return *to || !strcmp(value, no) ? 0 : -EINVAL;
}

static int bench_parse_word(struct bench_conf *conf, const char *key,
		      const char *value)
{
	const struct {
		const char *key;
		u32 *to;
		u32 low;
		u32 high;
	} numbers[] = {
		{ "size", &conf->size, 8, BENCH_MAX_SIZE },
		{ "count", &conf->count, 1, 100 << 20 },
		{ "slots", &conf->slots, 1, 1 << 20 },
		{ "depth", &conf->depth, 1, BENCH_MAX_DEPTH },
		{ "list", &conf->list, 1, BENCH_MAX_LIST },
		{ "qps", &conf->qps, 1, BENCH_MAX_QPS },
		{ "mtu", &conf->mtu, 256, 4096 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(key, numbers[i].key))
			return bench_parse_number(value, numbers[i].low,
					    numbers[i].high, numbers[i].to);
	if (!strcmp(key, "a"))
		return strscpy(conf->a, value, sizeof(conf->a)) < 0 ? -EINVAL : 0;
	if (!strcmp(key, "b"))
		return strscpy(conf->b, value, sizeof(conf->b)) < 0 ? -EINVAL : 0;
	if (!strcmp(key, "op"))
		return bench_parse_op(conf, value);
	if (!strcmp(key, "type"))
		return bench_parse_type(conf, value);
	if (!strcmp(key, "signal"))
		return bench_parse_flag(value, "all", "last", &conf->each);
	if (!strcmp(key, "times"))
		return bench_parse_flag(value, "1", "0", &conf->times);
	return -EINVAL;
}

static int bench_parse(struct bench_conf *conf, char *words)
{
	char *word, *value;
	int ret;

	while ((word = strsep(&words, "\n "))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		ret = bench_parse_word(conf, word, value);
		if (ret) {
			pr_err("softroce_bench: %s=%s: %d\n", word, value, ret);
			return ret;
		}
	}
	if (!conf->a[0])
		return -EINVAL;
	if (!conf->b[0])
		strscpy(conf->b, conf->a, sizeof(conf->b));
	if (conf->op->kind == BENCH_ATOMIC ||
	    conf->op->opcode == WR_ATOMIC_WRITE)
		conf->size = 8;
	conf->stride = conf->size + (conf->type == IB_QPT_UD ? BENCH_GRH : 0);
	conf->stride = ALIGN(conf->stride,
			     conf->size < PAGE_SIZE ? 64 : PAGE_SIZE);
	conf->depth = max(conf->depth, conf->list);
	if (!conf->slots)
		conf->slots = BENCH_MAX_CHUNKS * (BENCH_CHUNK / conf->stride);
	if (conf->op->kind == BENCH_ATOMIC)
		conf->slots = min_t(u32, conf->slots, BENCH_KEY_PAGES *
						      PAGE_SIZE / conf->stride);
	conf->slots = min(conf->slots, conf->count);
	return 0;
}

static int bench_run_set(const char *val, const struct kernel_param *kp)
{
	char *words = kstrdup(val, GFP_KERNEL);
	struct bench *bench = kvzalloc(sizeof(*bench), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!words || !bench)
		goto free;
	bench->conf = (struct bench_conf){
		.op = &ops[2],
		.type = IB_QPT_RC,
		.size = 64,
		.count = 1000,
		.depth = 32,
		.list = 1,
		.qps = 1,
		.mtu = 4096,
	};
	ret = bench_parse(&bench->conf, words);
	if (ret)
		goto free;
	mutex_lock(&devices_lock);
	ret = strcmp(bench->conf.op->name, "roof") ? bench_run(bench) :
						     bench_roof(bench);
	mutex_unlock(&devices_lock);
	scnprintf(result, sizeof(result),
		  "status %d messages %llu ns %llu p50 %llu p99 %llu max %llu\n",
		  ret, bench->result.messages, bench->result.ns,
		  bench->result.p50, bench->result.p99, bench->result.max);
free:
	kvfree(bench);
	kfree(words);
	return ret;
}

static int bench_run_get(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%s", result);
}

static const struct kernel_param_ops bench_run_ops = {
	.set = bench_run_set,
	.get = bench_run_get,
};
module_param_cb(run, &bench_run_ops, NULL, 0600);
MODULE_PARM_DESC(run, "write words KEY=VALUE to run, read the result");

static int __init bench_init(void)
{
	return ib_register_client(&client);
}

static void __exit bench_exit(void)
{
	ib_unregister_client(&client);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("benchmark of an RDMA stack from inside the kernel");
MODULE_LICENSE("Dual BSD/GPL");
