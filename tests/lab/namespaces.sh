#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Links and network namespaces: an interface that moves takes its link with it,
# and with "rdma system set netns exclusive" each namespace sees its own only.
#
#   [va rxa] ----> ( va )             an interface moves
#   ( va rxa )---( vb rxb )           two namespaces that see no link of the other
. "$(dirname "$0")/lib.sh"
ours_only "links and namespaces" || finish

# Also when this ends early: what runs next expects the mode it knows.
cleanup_all()
{
	topology_down
	eventually 10 rdma system set netns shared
}
mode_is() { rdma system | grep -q "netns $1"; }
# lists END|host RDMA_DEVICE...: these and no others, by netlink, sysfs and library
lists()
{
	local where=() want
	[ "$1" = host ] || where=(at "$1")
	shift
	want=$(printf '%s\n' "$@")
	[ "$("${where[@]}" rdma dev | sed 's/^[0-9]*: \([^:]*\):.*/\1/')" = "$want" ] &&
		[ "$("${where[@]}" ls /sys/class/infiniband)" = "$want" ] &&
		[ "$("${where[@]}" ibv_devices | awk 'NR > 2 { print $1 }')" = "$want" ]
}
lists_none() { lists "$1" ''; }
# as_user COMMAND...: as the root of a user namespace, with a network of its own
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Urn "$@"; }
# users NAME: does that work here?
users() { as_user true 2>/dev/null || { skip "no user namespaces" "$1"; false; }; }
# user_link NAME
user_link()
{
	as_user sh -c '
		ip link add d0 type dummy && ip link set d0 up &&
			rdma link add "$1" type rxe netdev d0 && rdma link' sh "$1"
}

# ------------------------------------------------------------------ shared
mode_is shared
verdict $? "namespaces share all devices at first"
topology_up self 1500 && transfers_ready v4 || die "a link"
ip netns add nsb
check_fails "the mode cannot change while there is another namespace" \
	rdma system set netns exclusive
check "devices are shared as before" mode_is shared
check_fails "a soft device does not move without its interface" rdma dev set rxa netns nsb
check "it is where it was" lists host rxa
"$VERBS/events" -d rxa -g "$a_gid" --traffic --want DEVICE_FATAL --dead >"$TMP/events" 2>&1 &
watcher=$!
eventually 20 file_has "$TMP/events" '^# ready' || show "$TMP/events"
check "its interface moves at once, in mid-traffic" timeout 10 ip link set va netns nsb
eventually 5 lists_none host
verdict $? "and the link goes"
eventually 40 gone $watcher || kill -9 $watcher
wait $watcher
verdict $? "its program had the event and EIO" || show "$TMP/events"
links=()
check "a link on the interface where it is now" ip netns exec nsb rdma link add rxa type rxe netdev va
check_text "which is listed there with its interface" 'rxa/1 .*netdev va' ip netns exec nsb rdma link
check "and seen here" lists host rxa
users "the root of a user namespace makes no link for everybody" &&
	check_text "the root of a user namespace makes no link for everybody" 'EPERM|not permitted|CAP_NET_ADMIN' \
		user_link rxu
ip netns del nsb
eventually 10 lists_none host
verdict $? "the namespace goes, and the link with it"
topology_down

# --------------------------------------------------------------- exclusive
check "the mode changes when there is no other namespace" \
	eventually 10 rdma system set netns exclusive
check "and says so" mode_is exclusive
topology_up netns 1500 || die "links in two namespaces"
lists a rxa && lists b rxb
verdict $? "each namespace lists its own link"
check "the host lists none" lists_none host
for family in v4 v6; do
	transfers_ready $family && run_pingpong
	verdict $? "ibv_rc_pingpong between them, $family" || show_both
done
node=$(grep -lx rxa /sys/class/infiniband_verbs/uverbs*/ibdev)
node=/dev/infiniband/$(basename "${node%/ibdev}")
check "the node of a link is there" test -c "$node"
check "and opens where it belongs" at a sh -c "exec 3<>$node"
check_text "not in another namespace" 'not permitted' at b sh -c "exec 3<>$node"
check_text "nor on the host" 'not permitted' sh -c "exec 3<>$node"
check_fails "the host cannot delete another namespace's link" rdma link del rxa
check "it is there" lists a rxa
users "the root of a user namespace makes a link of its own" &&
	check_text "the root of a user namespace makes a link of its own" 'rxu/1 .*netdev d0' \
		user_link rxu
ip netns del nsa
# With it the other end of its cable.
eventually 10 lists_none b && lists_none host
verdict $? "a namespace goes, and leaves nothing, here neither"
links=()
topology_down

check "the mode changes back" eventually 10 rdma system set netns shared
topology_up netns 1500 || die "links in two namespaces"
lists host rxa rxb && lists a rxa rxb
verdict $? "and all are seen everywhere again"
topology_down
finish
