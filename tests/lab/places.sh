#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Where a link can be: in namespaces, on tunnels, on the loopback interface.
#
#   ( va rxa )---( vb rxb )      A01: two namespaces over veth
#   [va rxa]--[va.10]            A12: a VLAN, above the link
#   [tun, wireguard, gre, ...]   A14: interfaces that carry plain IP packets
#   [lo], [dummy]                A15: a link that only talks to itself
. "$(dirname "$0")/lib.sh"

# sockets [COMMAND...]: those of soft-RoCE's port, seen from there
sockets() { "$@" ss -Huln 'sport = :4791'; }
# one_socket COMMAND...: one for each address family
one_socket()
{
	sockets "$@" | awk '{ n[$4]++; all++ } END { for (a in n) bad += n[a] > 1; exit !all || all > 2 || bad }'
}
# both_ways NAME v4|v6: pingpong, with either end as the server
both_ways()
{
	local turn
	for turn in to from; do
		transfers_ready "$2" && run_pingpong
		verdict $? "$1: ibv_rc_pingpong $turn the other end, $2" || show_both
		swap_ends
	done
}
guid() { cat "/sys/class/infiniband/$1/node_guid"; }

# ---------------------------------------------------------------- A01: namespaces
if ours_only "A01 links made inside two namespaces"; then
	topology_up netns 1500 || die "A01 links in two namespaces"
	for end in a b; do
		one_socket ip netns exec ns$end
		verdict $? "A01 namespace ns$end has a socket on port 4791" ||
			sockets ip netns exec ns$end
	done
	[ -z "$(sockets)" ]
	verdict $? "A01 the first namespace has none"
	for family in v4 v6; do
		both_ways "A01" $family
	done
	at b rdma link del rxb
	links=("a rxa")
	[ -z "$(sockets ip netns exec nsb)" ] && one_socket ip netns exec nsa
	verdict $? "A01 a namespace without its link has no socket, the other keeps its own"
	topology_down
fi

# self_talk NAME DEV NET FAMILY...: the link talks to itself
self_talk()
{
	local name=$1 family
	a_at='' b_at='' a_dev=$2 b_dev=$2 a_net=$3 b_net=$3
	shift 3
	for family; do
		transfers_ready "$family"
		verdict $? "$name: its $family address is a GID" || continue
		run_pingpong
		verdict $? "$name: ibv_rc_pingpong, $family" || show_both
	done
}
# stable NAME DEV NET: a GUID that stays what it is, whatever its interface does
stable()
{
	local name=$1 dev=$2 net=$3 first
	first=$(guid "$dev")
	[ -n "${first//[0:]/}" ]
	verdict $? "$name: its GUID is set ($first)"
	[ "$net" = lo ] || ip link set "$net" down
	ip addr add 10.52.0.1/24 dev "$net"
	ip link set "$net" up
	[ "$(guid "$dev")" = "$first" ]
	verdict $? "$name: and stays when the interface goes down and gets another address"
	ip addr del 10.52.0.1/24 dev "$net"
}

# ---------------------------------------------------------------- A12: VLANs
if modprobe -q 8021q; ip link add name v0 type veth peer name v1 &&
	ip link add link v0 name v0.10 type vlan id 10 2>"$TMP/vlan"; then
	for net in v0 v1 v0.10; do ip link set $net up; done
	ip addr add 10.40.0.1/24 dev v0
	ip addr add 10.40.10.1/24 dev v0.10
	if ours; then
		rdma link add rxv type rxe netdev v0.10 >"$TMP/add" 2>&1
		[ $? != 0 ] && grep -qiE 'vlan|not supported|invalid' "$TMP/add"
		verdict $? "A12 a link on a VLAN is refused: $(head -n 1 "$TMP/add")"
		[ -z "$(rdma link show)" ]
		verdict $? "A12 and no device is left of it"
	fi
	check "A12 a link on the interface below" rdma link add rxv type rxe netdev v0
	a_v4=10.40.0.1 b_v4=10.40.0.1
	self_talk "A12 below a VLAN" rxv v0 v4
	if ours; then
		a_v4=10.40.10.1 b_v4=10.40.10.1
		self_talk "A12 with the VLAN's address" rxv v0 v4
	fi
	rdma link del rxv
else
	skip "$(head -n 1 "$TMP/vlan")" "A12 a link on a VLAN"
fi
ip link del v0 2>/dev/null

# ---------------------------------------------------------------- A14: IP interfaces
# kinds that there are in this kernel; each with addresses of its own
mkdir -p /dev/net
modprobe -q tun
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
# carrier_of tun0: somebody has to hold it open, or it has none
carrier_of()
{
	python3 -IS -c 'import fcntl, os, struct, sys, time
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", sys.argv[1].encode(), 0x1001))
print("held", flush=True)
time.sleep(600)' "$1" >"$TMP/holder" 2>&1 &
	holder=$!
	eventually 10 file_has "$TMP/holder" held
}
make_net()
{
	case $1 in
	tun) ip tuntap add dev "$2" mode tun && carrier_of "$2" ;;
	wireguard) ip link add "$2" type wireguard ;;
	gre) ip link add "$2" type gre local 10.50.0.1 remote 10.50.0.2 ttl 64 ;;
	ipip) ip link add "$2" type ipip local 10.50.0.1 remote 10.50.0.2 ;;
	sit) ip link add "$2" type sit local 10.50.0.1 remote 10.50.0.2 ;;
	dummy) ip link add "$2" type dummy ;;
	esac
}
number=0
for kind in tun wireguard gre ipip sit dummy; do
	number=$((number + 1)) id=A14 holder=''
	[ $kind != dummy ] || id=A15
	case $kind in gre) modprobe -q ip_gre ;; *) modprobe -q $kind ;; esac
	if ! make_net $kind pl0 2>"$TMP/net"; then
		skip "$(head -n 1 "$TMP/net")" "$id a link on $kind"
		continue
	fi
	a_v4=10.51.$number.1 b_v4=10.51.$number.1
	ip addr add $a_v4/24 dev pl0
	ip link set pl0 up
	if check "$id $kind: a link" rdma link add rxp type rxe netdev pl0; then
		self_talk "$id $kind" rxp pl0 v4
		stable "$id $kind" rxp pl0
		rdma link del rxp
	fi
	[ -z "$holder" ] || kill $holder
	ip link del pl0 2>/dev/null
done

# ---------------------------------------------------------------- A15: loopback
if check "A15 lo: a link" rdma link add rxl type rxe netdev lo; then
	a_v4=127.0.0.1 b_v4=127.0.0.1 a_v6=::1 b_v6=::1
	families=(v4)
	[ ! -e /proc/net/if_inet6 ] || families=(v4 v6)
	self_talk "A15 lo" rxl lo "${families[@]}"
	check_text "A15 lo: the port is active" PORT_ACTIVE ibv_devinfo -d rxl
	stable "A15 lo" rxl lo
	rdma link del rxl
fi
[ -z "$(rdma link show)" ] && [ -z "$(sockets)" ]
verdict $? "no link and no socket is left"
finish
