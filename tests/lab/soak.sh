#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The same thing very often, and memory is as it was before.
#
#   tests/lab/soak.sh [--full]
#
#   [va rxa]--.      a link that talks to itself
#       ^-----'
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/memory.sh"

# --full: minutes
connections=500 cqs=3000 regs=() seconds=5
if [ "${1:-}" = --full ]; then connections=10000 cqs=100000 regs=(--full) seconds=30; fi
ours || { skip "known to leak in the in-tree stack" "soak"; finish; }

topology_up self 4200 || die "a link"
transfers_ready v4 || die "its GID"
# soak NAME OPTION...: with memory before and after
soak()
{
	local name=$1 began=$SECONDS
	shift
	pass_on "$@"
	memory_end "$name"
	note "$name took $((SECONDS - began)) s"
}
# Once of everything fills the caches.
"$VERBS/soak" -d rxa -g "$a_gid" --connections 20 --cqs 20 --qps 256 --seconds 1 >"$TMP/warm" ||
	show "$TMP/warm"
memory_start 64 rxa
soak "256 queue pairs" "$VERBS/soak" -d rxa -g "$a_gid" --qps 256 --seconds $seconds
soak "connections" "$VERBS/soak" -d rxa -g "$a_gid" --connections $connections
soak "CQs" "$VERBS/soak" -d rxa -g "$a_gid" --cqs $cqs
if [ ${#regs[@]} -gt 0 ]; then
	soak "C01 registrations" "$VERBS/cases" -d rxa -g "$a_gid" --full C01
else
	skip "takes a while, --full (or cases.sh)" "200000 registrations leave memory as it was"
fi
eventually 5 sh -c '! rdma res | grep -E "(pd|cq|qp|mr|ctx) [1-9]"'
verdict $? "no object is left"
finish
