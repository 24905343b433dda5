#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# UCX as Debian has it, on IPv4 GIDs, without a variable of its: its RC and UD
# transports by themselves, and what UCP makes of them. The counters of the links
# tell that the data went that way and not through shared memory or TCP.
#
#   [va rxa]--.                one link, to itself
#      ^------'
#   ( va rxa )---( vb rxb )    two namespaces that see no link of the other
#
#   tests/lab/ucx.sh [--full]
. "$(dirname "$0")/lib.sh"
command -v ucx_perftest >/dev/null || { skip "no ucx_perftest" "UCX"; finish; }

# Also when this ends early: what runs next expects the mode it knows.
cleanup_all()
{
	topology_down
	eventually 10 rdma system set netns shared
}

# moved: what both links sent, in bytes
moved()
{
	local end words sum=0
	for end in a b; do
		words=$(at $end cat "/sys/class/infiniband/$(of $end dev)/ports/1/counters/port_xmit_data")
		sum=$((sum + 4 * words))
	done
	echo $sum
}
# perf TEST SIZE COUNT [OPTION...]: with a verdict on what the links moved
perf()
{
	local test=$1 size=$2 count=$3 before status=0
	shift 3
	before=$(moved)
	next_port
	both_ends 60 ucx_perftest -p "$port" "$@" -- \
		ucx_perftest -p "$port" "$@" -t "$test" -s "$size" -n "$count" -w 2 -f "$b_v4" ||
		status=1
	before=$(($(moved) - before))
	[ $status = 0 ] && [ $before -ge $((size * count)) ]
	verdict $? "$where: ucx_perftest $* -t $test -s $size: $before bytes over the links" ||
		show_both
}

# UCT knows one transport at a time.
transports()
{
	local rc=(-d "$1" -x rc_verbs) ud=(-d "$1" -x ud_verbs)
	perf am_bw 1024 100 -D bcopy "${rc[@]}"
	perf am_bw 1024 100 -D bcopy "${ud[@]}"
	perf fadd 8 20 "${rc[@]}"
	[ -n "$full" ] || return
	perf am_lat 8 20 "${rc[@]}"
	perf am_lat 8 20 "${ud[@]}"
	perf put_bw 65536 20 -D zcopy "${rc[@]}"
	perf get 65536 20 -D zcopy "${rc[@]}"
}
# UCP takes what it finds best: with tags over what carries them, the atomics by
# messages where the device does not have them.
protocols()
{
	perf tag_bw 1048576 5
	perf ucp_put_bw 65536 20
	perf ucp_get 65536 20
	perf ucp_am_bw 65536 20
	perf stream_bw 65536 20
	perf ucp_fadd 8 20
	[ -n "$full" ] || return
	perf tag_lat 8 20
	perf ucp_add 8 20
	perf ucp_swap 8 20
	perf ucp_cswap 8 20
}

full=''
[ "${1:-}" != --full ] || full=yes
# Without namespaces of their own for IPC and PIDs programs share memory.
apart='unshare -iup --fork --kill-child'

where=self
topology_up self 4200 && transfers_ready v4 || die "a link"
transports "$a_dev:1"
a_at=$apart b_at=$apart
if [ -n "$full" ]; then protocols; else perf tag_bw 1048576 5; fi
a_at='' b_at=''
topology_down

where=netns
eventually 10 rdma system set netns exclusive || die "the mode changes"
topology_up netns 4200 && transfers_ready v4 || die "links in two namespaces"
a_at+=" $apart" b_at+=" $apart"
protocols
topology_down
finish
