// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A plugin of QEMU's translator that counts, exactly, the instructions that
 * were executed at each address while something was being timed:
 *
 *   -plugin profile.so,out=FILE
 *
 * The timed parts begin and end with the two long NOPs of bench_mark(), see
 * bench.h.  The nth of them is written to FILE.n when it is over, a line
 * "ADDRESS COUNT" for each block of code.
 *
 * QEMU's header is in no package of Debian 12: what is used of its interface,
 * version 1, is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;

enum { INLINE_ADD_U64 };
enum { CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
	void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
	int op, void *ptr, uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	void (*cb)(unsigned int cpu, void *data), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;

/* One for each block of code, for as long as the machine runs. */
struct block {
	struct block *next;
	uint64_t address;
	uint64_t executed;
	uint64_t at_begin;
};

static const uint8_t begin[] = { 0x0f, 0x1f, 0x80, 0x53, 0x52, 0x43, 0x42 };
static const uint8_t end[] = { 0x0f, 0x1f, 0x80, 0x53, 0x52, 0x43, 0x45 };
static struct block *blocks;
static bool timing;
static unsigned int parts;
static char *out;

static void at_begin(unsigned int cpu, void *data)
{
	struct block *block;

	(void)cpu;
	(void)data;
	for (block = blocks; block; block = block->next)
		block->at_begin = block->executed;
	timing = true;
}

static void at_end(unsigned int cpu, void *data)
{
	const struct block *block;
	char name[4096];
	FILE *file;

	(void)cpu;
	(void)data;
	if (!timing)
		return;
	timing = false;
	snprintf(name, sizeof(name), "%s.%u", out, ++parts);
	file = fopen(name, "w");
	if (!file) {
		perror(name);
		return;
	}
	for (block = blocks; block; block = block->next)
		if (block->executed > block->at_begin)
			fprintf(file, "%" PRIx64 " %" PRIu64 "\n", block->address,
				block->executed - block->at_begin);
	fclose(file);
}

static bool is(const struct qemu_plugin_insn *insn, const uint8_t *bytes)
{
	return qemu_plugin_insn_size(insn) == sizeof(begin) &&
	       !memcmp(qemu_plugin_insn_data(insn), bytes, sizeof(begin));
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	struct block *block = calloc(1, sizeof(*block));

	(void)id;
	if (!block)
		abort();
	/* A block that is new while something is timed begins with nothing. */
	block->address = qemu_plugin_tb_vaddr(tb);
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64,
						 &block->executed, n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is(insn, begin))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_begin,
							       CB_NO_REGS, NULL);
		else if (is(insn, end))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_end,
							       CB_NO_REGS, NULL);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			       char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
	if (!out) {
		fprintf(stderr, "profile.so: say out=FILE\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
