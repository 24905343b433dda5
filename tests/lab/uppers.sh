#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Interfaces above a link's own: their addresses are GIDs of the link, and what
# is sent from these leaves through them.
#
#   ( vlan10, mvlan )        ( vlan10, mvlan )   at either end, above va and vb
#   (    va rxa     )--------(    vb rxb     )
#
#   ( bond0                )                     a bond's address is where its
#   ( |--- va rxa          )-----( vb rxb )      active part is
#   ( '--- vc rxc          )-----( vd     )
#
#   ( va rxa )       addresses that come and go; a name of 15 characters
. "$(dirname "$0")/lib.sh"
ours_only "interfaces above a link" || finish

addresses() { a_v4=$1.1 b_v4=$1.2; }
no_gid() { ! have_gid "$@"; }
# ndev_of END: of the interface whose address its GID is
ndev_of() { at "$1" cat "/sys/class/infiniband/$(of "$1" dev)/ports/1/gid_attrs/ndevs/$(of "$1" gid)"; }
received() { at b cat "/sys/class/net/$1/statistics/rx_packets"; }
# talks NAME NETDEV: pingpong between the addresses; NETDEV at b receives its packets
talks()
{
	local name=$1 before n
	transfers_ready v4
	verdict $? "$name: the addresses are GIDs" || return
	before=$(received "$2")
	run_pingpong
	verdict $? "$name: ibv_rc_pingpong" || show_both
	n=$(($(received "$2") - before))
	[ $n -ge 200 ]
	verdict $? "$name: its packets came through $2 ($n)"
}

# grouped NAME: what is sent to a group at either end its members at both have, once
grouped()
{
	local name=$1 from end
	for from in a b; do
		for end in a b; do
			at $end "$VERBS/group" -d "$(of $end dev)" -g "$(of $end gid)" \
				--join 239.10.20.40 >"$TMP/member.$end" 2>&1 &
		done
		eventually 10 file_has "$TMP/member.a" '^# ready'
		eventually 10 file_has "$TMP/member.b" '^# ready'
		check "$name: sending to a group at $from" at $from "$VERBS/group" \
			-d "$(of $from dev)" -g "$(of $from gid)" --send 239.10.20.40
		wait
		for end in a b; do
			file_has "$TMP/member.$end" '^ok .*10 of 10'
			verdict $? "$name: the member at $end has all of it" ||
				{ show "$TMP/member.$end"; at $end ip maddr; }
		done
	done
}
# nobody NAME NETDEV: datagrams to a group that only a program with a socket is in
nobody()
{
	local socket
	$b_at python3 -IS -c '
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 35, socket.inet_aton("239.10.20.41") + bytes(4) +
	     socket.if_nametoindex(sys.argv[1]).to_bytes(4, sys.byteorder))
print("joined", flush=True)
time.sleep(30)' "$2" >"$TMP/socket" &
	socket=$!
	eventually 10 file_has "$TMP/socket" joined
	counters_mark
	check "$1: sending to a group of others" at a "$VERBS/group" \
		-d "$a_dev" -g "$a_gid" --send 239.10.20.41
	counters_read
	[ "$(grew b drop_no_qp)" -ge 10 ]
	verdict $? "$1: what nobody takes is counted" || show_grown
	kill $socket
	wait $socket 2>/dev/null
}

# ------------------------------------------------------------- VLAN, macvlan
modprobe -qa 8021q macvlan bonding
topology_up netns 1500 || die "links in two namespaces"
# upper NAME KIND... : at both ends
upper()
{
	local name=$1 end
	shift
	for end in a b; do
		at $end ip link add link v$end name "$name" "$@" &&
			at $end ip addr add "$(of $end v4)/24" dev "$name" &&
			at $end ip link set "$name" up || return
	done
}
for kind in "vlan10 type vlan id 10" "mvlan type macvlan mode bridge"; do
	name=${kind%% *}
	case $name in vlan10) addresses 10.40.10 ;; *) addresses 10.40.20 ;; esac
	# shellcheck disable=SC2086 # several words
	upper $kind 2>"$TMP/upper" || { skip "$(head -n 1 "$TMP/upper")" "$name"; continue; }
	talks "$name" "$name"
	[ "$(ndev_of a)" = "$name" ] && [ "$(ndev_of b)" = "$name" ]
	verdict $? "$name: they are its own ($(ndev_of a), $(ndev_of b))"
	grouped "$name"
	nobody "$name" "$name"
	at a ip link set "$name" down
	at a ip link set "$name" up
	transfers_ready v4
	verdict $? "$name: down and up again, they are there"
	at a ip link del "$name"
	eventually 5 no_gid a v4
	verdict $? "$name: they go with it"
done
# A group that is there already is joined on what comes later.
joined() { at b ip maddr show dev "$1" | grep -q '239\.10\.20\.42'; }
not_joined() { ! joined "$@"; }
addresses 10.20.0
$b_at "$VERBS/group" -d "$b_dev" -g v4 --join 239.10.20.42 --count 0 >"$TMP/member" 2>&1 &
member=$!
eventually 10 joined vb
verdict $? "a group is joined where the address is"
if at b ip link add link vb name vlan11 type vlan id 11 &&
	at b ip addr add 10.40.11.2/24 dev vlan11 && at b ip link set vlan11 up; then
	eventually 5 joined vlan11
	verdict $? "and on a VLAN that gets one later"
	at b ip addr flush dev vlan11
	eventually 5 not_joined vlan11
	verdict $? "and on that no more when it has none"
	joined vb
	verdict $? "on the other it stays joined"
	at b ip addr add 10.40.11.2/24 dev vlan11
	eventually 5 joined vlan11
	verdict $? "on the VLAN again"
	check "the VLAN goes" at b ip link del vlan11
fi
kill $member
wait $member 2>/dev/null
eventually 5 not_joined vb
verdict $? "without a member it is joined nowhere"
# An MTU below 1280 takes IPv6 away, and its memberships.
joined6() { at b ip -6 maddr show dev vb | grep -q 'ff0e::4242'; }
not_joined6() { ! joined6; }
mtu=$(at b cat /sys/class/net/vb/mtu)
$b_at "$VERBS/group" -d "$b_dev" -g v6 --join ff0e::4242 --count 0 >"$TMP/member" 2>&1 &
member=$!
eventually 10 joined6
verdict $? "an IPv6 group is joined" || show "$TMP/member"
at b ip link set vb mtu 1000
eventually 5 not_joined6
verdict $? "it is not where IPv6 has gone"
sleep 1
at b ip link set vb mtu "$mtu"
at b ip addr add "$b_v6/64" dev vb nodad
eventually 10 joined6
verdict $? "and is again when that is back"
kill $member
wait $member 2>/dev/null
eventually 5 not_joined6
verdict $? "until its member goes"
# What is somebody else's is no address of this link.
if at a ip link add link va name mvlan type macvlan mode bridge; then
	at a ip addr add 10.40.21.1/24 dev mvlan
	at a ip link set mvlan up
	addresses 10.40.21
	eventually 5 have_gid a v4
	verdict $? "a macvlan's address is a GID"
	ip netns add nsm
	at a ip link set mvlan netns nsm
	ip netns exec nsm ip addr add 10.40.21.1/24 dev mvlan
	ip netns exec nsm ip link set mvlan up
	sleep 1
	no_gid a v4
	verdict $? "but not in another namespace"
	ip netns del nsm
fi
topology_down

# ---------------------------------------------------------------------- bond
# active NETDEV: is the part of the bond that sends
active()
{
	at a sh -c "echo $1 >/sys/class/net/bond0/bonding/active_slave"
}
a_bond()
{
	at a ip link add bond0 type bond mode active-backup miimon 50 || return
	ip link add vc netns nsa type veth peer name vd netns nsb
	at b ip link set vd up
	for net in va vc; do
		at a ip link set $net down
		at a ip link set $net master bond0 || return
	done
	at a ip addr add 10.40.30.1/24 dev bond0
	at b ip addr add 10.40.30.2/24 dev vb
	at a ip link set bond0 up
	at a rdma link add rxc type rxe netdev vc
	active va
}
topology_up netns 1500 || die "links in two namespaces"
if a_bond 2>"$TMP/bond"; then
	addresses 10.40.30
	talks "bond" vb
	[ "$(ndev_of a)" = bond0 ]
	verdict $? "bond: the address is the bond's"
	grouped bond
	a_dev=rxc
	no_gid a v4
	verdict $? "bond: the part that waits has no such GID"
	active vc
	eventually 5 have_gid a v4
	verdict $? "bond: the other part becomes active, and has it"
	a_dev=rxa
	eventually 5 no_gid a v4
	verdict $? "bond: and the first has it no more"
	active va
	talks "bond, back again" vb
	at a ip link set va nomaster
	eventually 5 no_gid a v4
	verdict $? "bond: who leaves it loses the address"
	at a rdma link del rxc
else
	skip "$(head -n 1 "$TMP/bond")" "bond"
fi
topology_down

# --------------------------------------------------------------------- churn
# Addresses come and go while links do: in the end the table has what is there.
topology_up self 1500 || die "a link"
printf 'addr %s dev va\n' {add,del}\ 10.20.0.10{1,2,3,4}/24 {add,del}\ fd20::10{1,2,3,4}/64 \
	>"$TMP/churn"
while [ ! -e "$TMP/enough" ]; do
	ip -batch "$TMP/churn"
done &
churn=$!
status=0
for _ in 1 2 3 4 5; do
	rdma link del rxa && rdma link add rxa type rxe netdev va || status=1
done
touch "$TMP/enough"
wait $churn
verdict $status "links come and go while addresses do"
# gids: as many as addresses, and those
gids()
{
	local address n
	n=$(grep -Lx '0000:0000:0000:0000:0000:0000:0000:0000' /sys/class/infiniband/rxa/ports/1/gids/* 2>/dev/null | wc -l)
	[ "$n" = "$(ip -o addr show dev va | wc -l)" ] || return
	for address in $(ip -o addr show dev va | awk '{ sub("/.*", "", $4); print $4 }'); do
		case $address in
		*:*) a_v6=$address; have_gid a v6 || return ;;
		*) a_v4=$address; have_gid a v4 || return ;;
		esac
	done
}
eventually 5 gids
verdict $? "then the GIDs are the addresses that there are" ||
	{ ip -o addr show dev va; grep -v '^0000:0000:0000:0000:0000:0000' /sys/class/infiniband/rxa/ports/1/gids/*; }
topology_down

# --------------------------------------------------------------------- names
long=fifteen-letters
ip link add $long type dummy
ip addr add 10.20.9.1/24 dev $long
ip link set $long up
check "a link on an interface with a name of 15 characters" rdma link add rxa type rxe netdev $long
check_text "rdma link names it" "rxa/1 .*netdev $long" rdma link
a_at='' b_at='' a_dev=rxa b_dev=rxa a_v4=10.20.9.1 b_v4=10.20.9.1
transfers_ready v4 && run_pingpong
verdict $? "it works" || show_both
[ "$(ndev_of a)" = $long ]
verdict $? "its GID names it"
ip link del $long
finish
