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

liar_options "$@"
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

topology_up netns 4200 || die "links in two namespaces"
transfers_ready v4 || die "GIDs"
memory_start 64 rxa
honest_start links itself
pass_on confined "$VERBS/commands" -d rxa -g "$a_gid" --seconds "$seconds" "${seed[@]}"
honest_end
eventually 20 no_objects
verdict $? "all objects are gone" || rdma res | sed 's/^/#   /'
memory_end "after the lies"
modules_go_and_return
finish
