#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What stock programs can ask for beyond SEND, WRITE and READ over RC.
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#   [va rxa]--.                a link that talks to itself
#      ^------'
#
#   tests/lab/operations.sh [--full]     everything over each of them
. "$(dirname "$0")/lib.sh"

full=''
[ "${1:-}" != --full ] || full=yes

# macs END: hardware addresses that its interface lets in
macs() { at "$1" ip maddr show dev "$(of "$1" net)"; }
# joined END MAC
joined() { macs "$1" | grep -q "$2"; }
not_joined() { ! joined "$@"; }

# Two members at b and one at a, where it is sent from as well.
# groups NAME ADDRESS MAC
groups()
{
	local name=$1 address=$2 mac=$3 far near
	at b "$VERBS/group" -d "$b_dev" -g "$b_gid" --join "$address" --members 2 >"$TMP/far" 2>&1 &
	far=$!
	at a "$VERBS/group" -d "$a_dev" -g "$a_gid" --join "$address" >"$TMP/near" 2>&1 &
	near=$!
	eventually 10 file_has "$TMP/far" '^# ready' && eventually 10 file_has "$TMP/near" '^# ready'
	joined b "$mac"
	verdict $? "$name: the interface lets $mac in" || macs b
	check "$name: sending to it" \
		at a "$VERBS/group" -d "$a_dev" -g "$a_gid" --send "$address"
	wait $far
	verdict $? "$name: both members over there have all of it" || show "$TMP/far"
	wait $near
	verdict $? "$name: so has the one here" || show "$TMP/near"
	eventually 5 not_joined b "$mac"
	verdict $? "$name: $mac is let in no more" || macs b

	# One that is killed leaves as well.
	at b "$VERBS/group" -d "$b_dev" -g "$b_gid" --join "$address" --count 0 >"$TMP/far" 2>&1 &
	far=$!
	eventually 10 joined b "$mac"
	pkill -9 -x group
	wait $far 2>/dev/null
	eventually 5 not_joined b "$mac"
	verdict $? "$name: nor when a member is killed" || macs b
}

for where in netns:v4 netns:v6 self:v4; do
	topology_up "${where%:*}" 4200 && transfers_ready "${where#*:}" || die "links of $where"
	timed "$where: bytecheck over UC" run_bytecheck "${where#*:}" --service uc --qps 4
	if [ -n "$full" ] || [ "$where" = netns:v4 ]; then
		datagram_programs "$where"
		atomic_programs "$where"
		connection_programs "$where"
		srq_programs "$where"
	else
		PINGPONG=ibv_ud_pingpong timed "$where: ibv_ud_pingpong -e" run_pingpong -e -s 1
	fi
	case $where in
	netns:v4) groups "multicast $where" 239.10.20.30 01:00:5e:0a:14:1e ;;
	netns:v6) groups "multicast $where" ff15::1234 33:33:00:00:12:34 ;;
	esac
	topology_down
done
finish
