#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Each of the kernel's allocations for each verb fails in turn, in both ABIs:
#
#   scripts/uml --leaks -- tests/lab/allocfail.sh
#
#   [va rxa]--.      a link that talks to itself
#       ^-----'
#   [fail0]          where a link comes and goes
#
# It needs a kernel with fault injection: that of the unit tests, not Debian's.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/memory.sh"

[ -e /proc/self/fail-nth ] || {
	skip "no fault injection in this kernel" "allocation failures"
	finish
}
no_objects() { ! rdma res | grep -E '(pd|cq|qp|mr|ctx|cm_id) [1-9]'; }

topology_up self 1500 || die "a link"
transfers_ready v4 || die "its GID"
ip link add fail0 type dummy
ip link set fail0 up
pins_start
# Links know no ABI: once is enough.
pass_on "$VERBS/alloc_failures" -d rxa -g "$a_gid" --link fail0
for refuse in ioctl write; do
	note "without $refuse():"
	pass_on "$VERBS/alloc_failures" -d rxa -g "$a_gid" --refuse $refuse
done
eventually 5 no_objects
verdict $? "no object is left" || rdma res | sed 's/^/# /'
pins_end 5 "in the end"
run_pingpong
verdict $? "and pingpong works" || show_both
ip link del fail0
finish
