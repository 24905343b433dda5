#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A program whose command needs a page that does not come, while the namespace of
# its link goes: that namespace, others, the link and its program go all the same.
#
#   [ holder ] ... ( v1 rxp )---[ v0 ]        ( w1 )---[ w0 ]
#
#   tests/lab/holders.sh [CASE...]
. "$(dirname "$0")/lib.sh"
ours_only "commands that are held" || finish
modprobe fuse 2>/dev/null

server='' holder=''
cleanup_all()
{
	local pid
	for pid in $server $holder; do
		kill -9 "$pid" 2>/dev/null
	done
	ip netns del pod 2>/dev/null
	ip netns del other 2>/dev/null
}
no_netdev() { ! ip link show "$1"; }
# Also when nobody finds it any more its files are there, until all has ended.
no_link() { ! rdma link | grep -w "$1" && [ ! -e "/sys/class/infiniband/$1" ]; }
pod_up()
{
	ip netns add pod && ip link add v0 type veth peer name v1 netns pod &&
		ip -n pod addr add 10.40.0.2/24 dev v1 && ip -n pod link set v1 up &&
		ip link set v0 up && ip netns exec pod rdma link add rxp type rxe netdev v1
}
# Made and unmade after the pod's: its end comes behind that in one queue.
other_goes()
{
	timeout 5 ip netns add other && ip link add w0 type veth peer name w1 netns other &&
		ip netns del other && eventually 5 no_netdev w0
}
# held CASE
held()
{
	pod_up || die "a link in a namespace"
	"$VERBS/holder" -d rxp "$1" >"$TMP/holder" 2>&1 &
	holder=$!
	if ! eventually 10 file_has "$TMP/holder" '^# held'; then
		not_ok "$1: the page is asked for"
		show "$TMP/holder"
		ip netns del pod
		return
	fi
	server=$(sed -n 's/^# held //p' "$TMP/holder")
	ip netns del pod
	check "$1: the interface goes with its namespace" eventually 5 no_netdev v0
	check "$1: others come and go" other_goes
	check "$1: the link goes" eventually 5 no_link rxp
	check_fails "$1: the command has waited for its page" gone $holder
	kill -9 "$server"
	check "$1: and ends when there is none" eventually 10 gone $holder || show "$TMP/holder"
	wait $holder
	verdict $? "$1: with an error" || show "$TMP/holder"
	server='' holder=''
}

[ $# -gt 0 ] || set -- response driver input told
for one; do
	held "$one"
done
pod_up || die "a link in a namespace"
pass_on "$VERBS/holder" -d rxp vanish
check_text "nothing is left of that" 'rxp: .*ctx 0' rdma res
ip netns del pod
check "the namespace goes" eventually 5 no_netdev v0
finish
