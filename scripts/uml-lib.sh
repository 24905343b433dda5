# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# The User Mode Linux of scripts/uml and scripts/kunit; sourced after lib.sh.

. "$ROOT/scripts/kernel-lib.sh"

# uml_choose uml|plain: the kernel of the unit tests, or that of the benchmarks
uml_choose()
{
	own_kernel "$1"
	UML=$OWN_TREE
}

# Where our modules for it are, below the tree
uml_out() { case $UML in *plain*) echo "build/$(basename "$(own_folder)")" ;; *) echo build/um ;; esac; }

# Build them: for the unit tests with these inside, else with the benchmark beside
uml_modules()
{
	case $UML in
	*plain*) own_modules "$(uml_out)" SOFTROCE_BENCH=y ;;
	*) own_modules "$(uml_out)" SOFTROCE_KUNIT=y ;;
	esac
}

# uml_run RUN TIMEOUT [ARG...]: boot RUN/init with the kernel log in RUN/log,
# fail with 124 when it takes longer than TIMEOUT seconds
uml_run()
{
	local run=$1 limit=$2 status=0
	shift 2
	printf '%s\n' "$ROOT" >"$run/root"
	: >"$run/log"
	timeout -k 5 "$limit" "$UML/linux" mem="${UML_MEM:-1G}" \
		root=/dev/root rootfstype=hostfs ro con0=fd:0,fd:1 con=null \
		panic=-1 printk.devkmsg=on kasan_multi_shot init="$ROOT/tests/lab/uml-init" \
		"lab.dir=$run" "$@" </dev/null >"$run/log" 2>&1 || status=$?
	tr -d '\r' <"$run/log" >"$run/log.tmp"
	mv "$run/log.tmp" "$run/log"
	[ "$status" != 124 ] && [ "$status" != 137 ] || return 124
}
