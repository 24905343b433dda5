#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A program that scribbles on every queue it shares with the kernel, beside
# programs that mean well and whose bytes are checked all the time.
#
#   ( va rxa )---------( vb rxb )   a namespace at either end of a veth pair
#        ^  ^               ^
#        |  '-- bytecheck --'       one pair between the two links,
#        '----- bytecheck           one pair of rxa with itself
#   scribble: liars on rxa, their honest peers on rxa or rxb
#
#   tests/lab/scribble.sh [--seconds N] [--seed N]     20 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/memory.sh"
. "$(dirname "$0")/honest.sh"

liar_options "$@"
ours_only "queues that lie" || finish

resources() { rdma res | sed -n 's/^[0-9]*: \(rx[ab]\):/\1/p'; }

pins_start
topology_up netns 4200 || die "links in two namespaces"
transfers_ready v4 || die "GIDs"
resources >"$TMP/res.before"

honest_start links itself
half=$(((seconds + 1) / 2))
for peer in rxb rxa; do
	gid=$a_gid
	[ $peer = rxa ] || gid=$b_gid
	note "liars on rxa, peers on $peer"
	pass_on "$VERBS/scribble" -d rxa -g "$a_gid" -D $peer -G "$gid" \
		--seconds "$half" --random "${seed[@]}"
done
pass_on "$VERBS/scribble" -d rxa -g "$a_gid" --lies
honest_end

as_before() { resources | cmp -s - "$TMP/res.before"; }
eventually 20 as_before
verdict $? "all objects are gone" || { cat "$TMP/res.before"; resources; } | sed 's/^/#   /'
pins_end 20 "in the end"
modules_go_and_return
finish
