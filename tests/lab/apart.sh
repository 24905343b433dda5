#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Which interface a packet may come in on. Any, as the host has it for its
# addresses; but what is for an address on a VLAN, on a macvlan or in a VRF does
# not come in on another VLAN, without its tag or in another VRF.
#
#   ( va.10 va.20 )          ( vb.10 vb.20  mv     )
#   (    va rxa   )----------(    vb rxb  red blue )
#   (    vc       )----------(    vd               )
. "$(dirname "$0")/lib.sh"
ours_only "where packets may come in" || finish
full='' datagrams=yes
[ "${1:-}" != --full ] || full=yes

# gid_at END NETDEV: the index of its IPv4 address there
gid_at()
{
	# shellcheck disable=SC2016
	at "$1" sh -c 'cd /sys/class/infiniband/$1/ports/1 || exit
		for index in $(cd gids && grep -slxF "$2" *); do
			[ "$(cat gid_attrs/ndevs/$index)" != "$3" ] || { echo $index; exit 0; }
		done
		exit 1' sh "$(of "$1" dev)" "$(gid_of_v4 "$(of "$1" v4)")" "$2"
}
# connect ADDRESS NETDEV ADDRESS NETDEV: where a and b have their addresses
connect()
{
	a_v4=$1 b_v4=$3
	eventually 5 gid_at a "$2" && eventually 5 gid_at b "$4" || die "GIDs on $2 and $4"
	a_gid=$(gid_at a "$2")
	b_gid=$(gid_at b "$4")
}
# over NETDEV: what a sends to b leaves there
over() { at a ip route replace "$b_v4/32" dev "$1" src "$a_v4"; }
arrives()
{
	run_pingpong -n 20
	verdict $? "$1: it arrives" || { show_both; at b ip -4 addr; }
}
# strays NAME [connected]: nor does a datagram, but where the address is the link's
# in both places; the first time only, or with --full each
strays()
{
	counters_mark
	try_pingpong 4 -n 20
	[ $? != 0 ]
	verdict $? "$1: it is not taken" || show_both
	counters_read
	[ "$(grew b drop_wrong_peer)" -gt 0 ]
	verdict $? "$1: and counted" || { show_both; show_grown; }
	[ -z "${2:-}" ] && [ "$datagrams" ] || return
	[ "$full" ] || datagrams=''
	counters_mark
	next_port
	both_ends 3 ibv_ud_pingpong -d "$b_dev" -g "$b_gid" -p "$port" -n 20 -- \
		ibv_ud_pingpong -d "$a_dev" -g "$a_gid" -p "$port" -n 20 "$b_v4"
	counters_read
	[ "$(grew b drop_wrong_peer)" -gt 0 ] && [ "$(grew b rdma_recvs)" = 0 ]
	verdict $? "$1: nor is a datagram" || { show_both; show_grown; }
}
# set_all END SETTING VALUE: of all interfaces there are and come
set_all()
{
	# shellcheck disable=SC2016
	at "$1" sh -c 'for file in /proc/sys/net/ipv4/conf/*/$1; do echo $2 >$file; done' sh "$2" "$3"
}

modprobe -qa 8021q macvlan vrf
topology_up netns 1500 || die "links in two namespaces"
ip link add vc netns nsa type veth peer name vd netns nsb
for end in a:va b:vb; do
	for id in 10 20; do
		at ${end%:*} ip link add link ${end#*:} name ${end#*:}.$id type vlan id $id ||
			die "VLANs"
		at ${end%:*} ip link set ${end#*:}.$id up
	done
done
at a ip link set vc up
at b ip link set vd up
at b ip addr add 10.20.50.2/24 dev vd
set_all a rp_filter 0
set_all b rp_filter 0

# No subnets at a: each route is one of its own.
at a ip addr flush dev va
at a ip addr add 10.20.0.1/32 dev va
connect 10.20.0.1 va 10.20.0.2 vb
for dev in va va.10 va.20 vc; do
	over $dev
	arrives "for a plain interface, over $dev"
done
set_all b rp_filter 2
arrives "the same with loose filtering of sources"
set_all b rp_filter 0

at a ip addr add 10.40.10.1/32 dev va.10
at b ip addr add 10.40.10.2/24 dev vb.10
connect 10.40.10.1 va.10 10.40.10.2 vb.10
over va.10
arrives "for a VLAN, over it"
over vc
arrives "for a VLAN, over another plain interface"
over va.20
strays "for a VLAN, over another one"
over va
strays "for a VLAN, without a tag"
# From the host to itself it comes in on lo.
b_at=$a_at b_dev=$a_dev b_gid=$a_gid b_v4=$a_v4
arrives "for a VLAN, from the host itself"
b_at='ip netns exec nsb' b_dev=rxb

if at b ip link add link vb name mv type macvlan mode bridge; then
	at b ip addr add 10.40.30.2/24 dev mv
	at b ip link set mv up
	set_all b rp_filter 0
	at a ip addr add 10.40.30.1/32 dev va
	connect 10.40.30.1 va 10.40.30.2 mv
	over va
	arrives "for a macvlan, over what is below it"
	over va.10
	strays "for a macvlan, over a VLAN"
	at b ip link del mv
else
	skip "no macvlan" "for a macvlan"
fi

# ------------------------------------------------------------------------ VRF
if at b ip link add red type vrf table 101 2>"$TMP/vrf"; then
	at b ip link add blue type vrf table 102
	at b ip link set red up
	at b ip link set blue up
	for proto in tcp udp; do
		at b sh -c "echo 1 >/proc/sys/net/ipv4/${proto}_l3mdev_accept"
	done
	at b ip link set vb.10 master red
	at b ip link set vb.20 master blue
	# One address in both.
	at b ip addr add 10.40.10.2/24 dev vb.20
	set_all b rp_filter 0
	connect 10.40.10.1 va.10 10.40.10.2 vb.10
	over va.10
	arrives "in a VRF, over its own port"
	over va.20
	strays "in a VRF, over another one's" connected
	at a ip addr add 10.40.20.1/32 dev va.20
	at b ip route add 10.40.20.1/32 dev vb.20 table 102
	connect 10.40.20.1 va.20 10.40.10.2 vb.20
	over va.20
	arrives "in that one, for its own"
	at b ip link set vb master red
	connect 10.20.0.1 va 10.20.0.2 vb
	over va
	arrives "in a VRF, for a plain interface"
	over vc
	at b ip link set vd master blue
	at b ip addr add 10.20.0.2/32 dev vd
	at b ip route add 10.20.0.1/32 dev vd table 102
	strays "in a VRF, for a plain interface, over another VRF's"
else
	skip "$(head -n 1 "$TMP/vrf")" "addresses in a VRF"
fi
topology_down
finish
