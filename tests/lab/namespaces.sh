#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Links and network namespaces: an interface that moves takes its link with it,
# and with "rdma system set netns exclusive" each namespace sees its own only.
# A link's files in a namespace are few, and tell nothing of others' interfaces.
#
#   (dc0 rxc) ( nsc0 ) ... ( nsc29 )   a link, and many that see it
#   [va rxa] ----> ( va )             an interface moves
#   ( va rxa )---( vb rxb )           two namespaces that see no link of the other
. "$(dirname "$0")/lib.sh"
ours_only "links and namespaces" || finish

# Also when this ends early: what runs next expects the mode it knows.
cleanup_all()
{
	topology_down
	namespaces_end
	ip link del dc0 2>/dev/null
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

# slab: KiB that the kernel's objects take, files of sysfs among them
slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }
# dummy_link_costs: adds rxc on a dummy; $REPLY says what the slabs grew by
dummy_link_costs()
{
	local before
	before=$(slab)
	ip link add dc0 type dummy && rdma link add rxc type rxe netdev dc0 &&
		REPLY=$(($(slab) - before))
}
dummy_link_ends() { rdma link del rxc; ip link del dc0; }
# port_of NAMESPACE COMMAND...: in the directory of rxc's port as it is there
port_of()
{
	local ns=$1
	shift
	ip netns exec "$ns" sh -c 'cd /sys/class/infiniband/rxc/ports/1 && exec "$@"' sh "$@"
}
cost_namespaces=30
namespaces_end()
{
	local i
	for ((i = 0; i < cost_namespaces; i++)); do ip netns del nsc$i; done 2>/dev/null
}
home=/sys/class/infiniband/rxc/ports/1
all_gid_files() { [ "$(ls $home/gids | wc -l) $(ls $home/gid_attrs/types | wc -l)" = "$1 $1" ]; }
full_count() { grep -qx "$1" $home/hw_counters/gid_table_full; }

# user_nodes: makes 66 links, and says how many more nodes for programs there are
user_nodes()
{
	as_user sh -c '
		nodes() { set -- /sys/class/infiniband_verbs/uverbs*; [ -e "$1" ] || shift; echo $#; }
		before=$(nodes)
		for i in $(seq 66); do
			ip link add d$i type dummy && rdma link add l$i type rxe netdev d$i || exit
		done
		echo "links $(rdma link | wc -l) nodes $(($(nodes) - before))"'
}

# ------------------------------------------------------------- what views cost
mode_is shared
verdict $? "namespaces share all devices at first"
# The first one begins slabs.
dummy_link_costs && dummy_link_ends && dummy_link_costs || die "a link on a dummy"
alone=$REPLY
dummy_link_ends
for ((i = 0; i < cost_namespaces; i++)); do ip netns add nsc$i || die "namespaces"; done
# Slabs grow for others as well: the least of three.
cost=''
for i in 1 2 3; do
	[ $i = 1 ] || dummy_link_ends
	dummy_link_costs || die "a link on a dummy"
	REPLY=$((REPLY - alone))
	cost=$((${cost:-$REPLY} < REPLY ? ${cost:-$REPLY} : REPLY))
done
note "a link takes $alone KiB, its files in $cost_namespaces namespaces $cost KiB"
[ "$cost" -le 2048 ]
verdict $? "a link's files in $cost_namespaces namespaces take at most 2 MiB"
check "an index of the GID table each at home" all_gid_files 128
check_text "a namespace reads the GID at index 0" '^[0-9a-f]{4}(:[0-9a-f]{4}){7}$' port_of nsc0 cat gids/0
check_text "and a P_Key" '^0xffff$' port_of nsc0 cat pkeys/0
check_text "and how much went by" '^0$' port_of nsc0 cat counters/port_xmit_data
check_fails "it has no hw_counters" port_of nsc0 test -e hw_counters
check_text "which netlink tells there" 'sent_pkts 0' ip netns exec nsc0 rdma statistic show link rxc/1
ip link set dc0 up
ip addr add 10.77.0.1/24 dev dc0
added=$(gid_of_v4 10.77.0.1)
# shellcheck disable=SC2016
eventually 5 port_of nsc0 sh -c 'grep -qx "$1" gids/*' sh "$added"
verdict $? "a new address appears in a namespace" || port_of nsc0 grep . gids/* | sed 's/^/# /'
index=$(port_of nsc0 grep -lx "$added" gids/1 gids/0 2>/dev/null)
index=${index#gids/}
check_text "with its type" '^RoCE v2$' port_of nsc0 cat "gid_attrs/types/$index"
check_text "the host sees its interface" '^dc0$' cat "$home/gid_attrs/ndevs/$index"
check_fails "the namespace does not" port_of nsc0 cat "gid_attrs/ndevs/$index"
check_fails "nor by netlink" sh -c 'ip netns exec nsc0 rdma link | grep dc0'
if command -v ucx_info >/dev/null; then
	check_text "ucx_info -d finds the link there" 'Device: rxc:1' \
		ip netns exec nsc0 ucx_info -d
else
	skip "no ucx_info" "ucx_info -d finds the link there"
fi
# What is another's, seen from the host
dummy_link_ends
# shellcheck disable=SC2016
ip netns exec nsc0 sh -c 'ip link add dc0 type dummy && ip link set dc0 up &&
	ip addr add 10.77.0.1/24 dev dc0 && rdma link add rxc type rxe netdev dc0' ||
	die "a link in a namespace"
eventually 5 grep -qx "$added" $home/gids/0 $home/gids/1
index=$(cd $home && grep -lx "$added" gids/0 gids/1)
index=${index#gids/}
check_text "the namespace sees its own interface" '^dc0$' port_of nsc0 cat "gid_attrs/ndevs/$index"
check_fails "another namespace does not" port_of nsc1 cat "gid_attrs/ndevs/$index"
check_fails "nor does the host" cat "$home/gid_attrs/ndevs/$index"
check_fails "nor by netlink, which says the same" sh -c 'rdma link | grep dc0'
check_text "the namespace has it by its index" '^1 0 [1-9]' ip netns exec nsc0 "$VERBS/gids" rxc
check_text "another has no index" '^1 0 0$' ip netns exec nsc1 "$VERBS/gids" rxc
check_text "nor has the host" '^1 0 0$' "$VERBS/gids" rxc
ip netns exec nsc0 rdma link del rxc
namespaces_end

# ------------------------------------------------------------- a table that is full
parameter=/sys/module/rdma_rxe/parameters/gid_table_len
normal=$(<$parameter)
echo 4 >$parameter
ip link add dc0 type dummy && ip link set dc0 up && rdma link add rxc type rxe netdev dc0 ||
	die "a link on a dummy"
echo "$normal" >$parameter
all_gid_files 4
verdict $? "the parameter says how large a table is"
ip netns add nsc0
for i in 1 2 3 4 5 6; do ip addr add 10.77.$i.1/24 dev dc0; done
v6=$(ip -o -6 addr show dev dc0 | wc -l)
eventually 5 full_count $((v6 + 2))
verdict $? "addresses that find it full are counted" || show $home/hw_counters/gid_table_full
check_text "and said in the log" "GID table of 4 entries is full" dmesg
port_of nsc0 sh -c 'ls gids | wc -l' | grep -qx 4
verdict $? "a namespace sees all of it"
ip netns del nsc0
dummy_link_ends

# ------------------------------------------------------------------ shared
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
check_text "sysfs names its interface there" '^va$' \
	ip netns exec nsb cat /sys/class/infiniband/rxa/parent
check_fails "not here" test -e /sys/class/infiniband/rxa/parent
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
# The last one's link may be on its way out.
nodes_are() { [ "$(find /sys/class/infiniband_verbs -name 'uverbs*' | wc -l)" = "$1" ]; }
eventually 10 nodes_are 2
users "one user namespace does not get the nodes of all" &&
	check_text "one user namespace does not get the nodes of all" 'links 66 nodes 64$' \
		user_nodes &&
	check_text "and the log says so" 'no minor number is left for its user namespace' dmesg
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
