# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Targets for people.  `make help` lists them; Kbuild says what is built.

# The kernel to build for: KVER names an installed headers package, KDIR a tree.
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
# Where objects go: one folder a kernel, made of links to the sources.
OUT ?= build/$(KVER)
JOBS ?= $(shell nproc)

SOURCES := Kbuild core include sw tests/kunit tests/kernel tests/bench

.PHONY: help modules load unload check kunit demo test test-full test-debug bench bench-native docs setup clean

modules: ## build the modules for KVER (default: the running kernel) or KDIR
	@test -e $(KDIR)/Makefile || { \
	  echo "softroce: no kernel headers in $(KDIR)." >&2; \
	  echo "  Install them: apt-get install linux-headers-$(KVER)" >&2; \
	  echo "  or name another kernel: make KVER=... or make KDIR=..." >&2; \
	  exit 1; }
	@mkdir -p $(OUT)/tests
	@cp -rsf $(addprefix $(CURDIR)/,Kbuild core include sw) $(OUT)/
	@cp -rsf $(addprefix $(CURDIR)/tests/,kunit kernel bench) $(OUT)/tests/
	@find $(OUT) -xtype l -delete
	$(MAKE) -C $(KDIR) M=$(abspath $(OUT)) W=1 -j$(JOBS) $(KBUILD_ARGS) modules

load: ## insert the modules into this machine's kernel; IFACE=eth0 adds a link
	scripts/load $(OUT) $(IFACE)

unload: ## remove the modules from this machine's kernel
	scripts/unload

check: ## sparse, checkpatch, symbols, headers, user ABI, generated docs
	scripts/setup build check
	scripts/check

kunit: ## unit tests in a User Mode Linux with KASAN and lockdep
	scripts/setup build
	scripts/kunit

demo: ## two namespaces in a lab VM: links, devices, pingpong, perftest
	scripts/setup build lab
	scripts/demo

test: ## all checks, unit tests and lab scenarios that CI runs
	scripts/setup build check lab test
	scripts/test

test-full: ## the same with every cell of the transfer matrix
	scripts/setup build check lab test
	scripts/test --full

test-debug: ## lab scenarios on kernels with KASAN, lockdep, kmemleak and KCSAN
	scripts/setup build lab test
	scripts/test-debug

bench: ## instructions a message and an object cost, beside in-tree and TCP
	scripts/setup build lab bench
	scripts/bench

bench-native: ## the same at this machine's speed, in User Mode Linux
	scripts/setup build bench
	scripts/bench --native

docs: ## regenerate docs/qp-states.md and docs/opcodes.md from their tables
	scripts/gendocs

setup: ## install what builds and tests need (Debian 12, root)
	scripts/setup build check lab test

clean: ## remove what was built
	rm -rf build

help: ## this list
	@echo "softroce: an RDMA stack for Linux outside the kernel tree"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20
