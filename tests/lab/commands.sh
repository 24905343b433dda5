#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Commands that lie (tests/fuzz/commands.c), beside programs whose bytes are
# checked all the time.
#
#   ( va rxa )---------( vb rxb )   a namespace at either end of a veth pair
#        ^                  ^
#        |'-- bytecheck ----'       between the two links, and of rxa with itself
#   commands: liars on rxa, in a control group, so that they run out of memory
#             before the others do
#
#   tests/lab/commands.sh [--seconds N] [--seed N] [--full]     20 s; --full: 600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/memory.sh"
. "$(dirname "$0")/honest.sh"

seconds=20 seed=()
while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=$2; shift 2 ;;
	--seed) seed=(--seed "$2"); shift 2 ;;
	--full) seconds=600; shift ;;
	*) die "unknown option $1" ;;
	esac
done
ours_only "commands that lie" || finish

# confined COMMAND...: in a group with a limit
confined()
{
	local group=/sys/fs/cgroup/liars
	mkdir -p $group
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	echo $((384 << 20)) >$group/memory.max || return
	sh -c 'echo $$ >$0/cgroup.procs && exec "$@"' $group "$@"
}
no_objects() { ! rdma res | grep -E '(qp|mr|ctx|cm_id) [1-9]' && ! rdma res | grep -E '(pd|cq) [2-9]'; }

topology_up netns 4200 || die "links in two namespaces"
transfers_ready v4 || die "GIDs"
memory_start 64 rxa
honest links between_links 18700 --qps 4 &
links_pid=$!
honest itself on_itself &
itself_pid=$!
pass_on confined "$VERBS/commands" -d rxa -g "$a_gid" --seconds "$seconds" "${seed[@]}"
touch "$TMP/enough"
honest_verdict links $links_pid "between two links"
honest_verdict itself $itself_pid "of a link with itself"
eventually 20 no_objects
verdict $? "all objects are gone" || rdma res | sed 's/^/#   /'
memory_end "after the lies"
topology_down
check "the three modules can go" rmmod rdma_rxe ib_uverbs ib_core
for module in ib_core ib_uverbs rdma_rxe; do
	check "and come again: $module" insmod "$(module_file $module)"
done
topology_up self 1500 && transfers_ready v4 && run_pingpong
verdict $? "and work" || show_both
finish
