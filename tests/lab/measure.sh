#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Three figures of whatever stack is loaded, best of three runs each:
#
#   [va rxa]--.    one link, to itself, MTU 4200
#      ^------'
. "$(dirname "$0")/lib.sh"

topology_up self 4200 || die "a link"
transfers_ready v4 || die "a GID"
# best TOOL BYTES ORDER OPTION...
best()
{
	local tool=$1 bytes=$2 order=$3 i
	shift 3
	for i in 1 2 3; do
		run_perftest "$tool" -s "$bytes" "$@" || { show_both >&2; return 1; }
		perf_value "$tool" "$bytes"
	done | sort "$order" | head -n 1
}
rate()
{
	local i
	for i in 1 2 3; do
		run_perftest ib_send_bw -s 64 -n 5000 || { show_both >&2; return 1; }
		awk '$1 == 64 && NF > 4 { print $5 * 1000000 }' "$TMP/client"
	done | sort -rn | head -n 1
}
note "kernel $(uname -r), $STACK stack"
echo "ib_send_bw 64 KiB: $(best ib_send_bw 65536 -rn -n 400) MB/s"
PORT=$((PORT + 10))
echo "ib_send_bw 64 B: $(rate) messages/s"
PORT=$((PORT + 10))
echo "ib_write_lat 8 B: $(best ib_write_lat 8 -n -n 1000) us typical"
check "measured" true
finish
