#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What a port says of itself, and whether its first GID works.
#
#   [va rxa]---[vb]     MTU, speed, address generation
#   [eth0 rxp]          an interface with a PCI device behind it
. "$(dirname "$0")/lib.sh"

# ------------------------------------------------------------------- A27: MTU
topology_up self 1500 || die "a link"
for pair in 1500:1024 4200:4096 9000:4096 1500:1024 600:512 1100:512 1200:1024; do
	ip link set va mtu "${pair%:*}"
	eventually 3 sh -c "ibv_devinfo -d rxa | grep -qE 'active_mtu:[[:space:]]*${pair#*:}'"
	verdict $? "A27 interface MTU ${pair%:*} gives active_mtu ${pair#*:}" ||
		ibv_devinfo -d rxa | grep mtu | sed 's/^/#/'
done
topology_down
# The longest headers beside payload are those of a WRITE of one packet with immediate
# data, over IPv6: 84 bytes.
if ours_only "A27 the longest headers fit"; then
	topology_up netns 2128 || not_ok "A27 links in two namespaces"
	for pair in 2128:1024 2131:1024 2132:2048 4179:2048 4180:4096; do
		at a ip link set va mtu "${pair%:*}"
		at b ip link set vb mtu "${pair%:*}"
		eventually 3 sh -c "ibv_devinfo -d rxa | grep -qE 'active_mtu:[[:space:]]*${pair#*:}'"
		verdict $? "A27 interface MTU ${pair%:*} gives active_mtu ${pair#*:}"
		transfers_ready v6 &&
			run_bytecheck v6 --quick --timeout 12 --retry-cnt 2 --only "sizes WRITE_IMM"
		verdict $? "A27 interface MTU ${pair%:*}: WRITEs of whole packets with immediate data" ||
			show_both
	done
fi
topology_down

# ----------------------------------------------------------------- A27: speed
if ! ours_only "A27 the rate follows the interface's speed"; then
	:
elif [ -z "${IFACE:-}" ]; then
	skip "no interface with a device behind it" "A27 the rate follows the interface's speed"
elif ! command -v ethtool >/dev/null; then
	skip "no ethtool" "A27 the rate follows the interface's speed"
else
	rdma link add rxp type rxe netdev "$IFACE" || not_ok "A27 a link on $IFACE"
	for speed in 1000 10000 25000 100000; do
		ethtool -s "$IFACE" speed $speed duplex full 2>"$TMP/ethtool" || {
			skip "$(head -n 1 "$TMP/ethtool")" "A27 rate at $speed Mb/s"
			continue
		}
		case $speed in 1000) want='(1|2\.5) Gb' ;; *) want="$((speed / 1000)) Gb" ;; esac
		eventually 5 grep -qE "^$want" /sys/class/infiniband/rxp/ports/1/rate
		verdict $? "A27 rate at $speed Mb/s" ||
			note "$(cat /sys/class/infiniband/rxp/ports/1/rate)"
	done
	rdma link del rxp
fi

# ------------------------------------------------------------ A35: no crypto
# Without any of the kernel's crc32 modules
if ours_only "A35 no crypto module is needed"; then
	mkdir -p /etc/modprobe.d
	for module in crc32_generic crc32_pclmul crypto_crc32; do
		echo "install $module /bin/false"
		rmmod $module 2>/dev/null
	done >/etc/modprobe.d/no-crc32.conf
	rmmod rdma_rxe && insmod "$(module_file rdma_rxe)"
	verdict $? "A35 the driver goes in without a crc32 crypto module"
	topology_up self 1500 && transfers_ready v4 && run_pingpong
	verdict $? "A35 and moves data" || show_both
	check_text "A35 no crypto module came in by itself" '^$' \
		sh -c 'lsmod | grep -E "^crc32_(generic|pclmul)"; echo'
	topology_down
	rm -f /etc/modprobe.d/no-crc32.conf
fi

# ---------------------------------------------------------------- A24: first GID
for mode in eui64 none stable_secret random; do
	ip link add va type veth peer name vb
	# Not the default's: both ends of a later pair would get one address from it.
	[ $mode != stable_secret ] ||
		echo 0123:4567:89ab:cdef:0123:4567:89ab:cdef >/proc/sys/net/ipv6/conf/va/stable_secret
	ip link set va addrgenmode $mode
	echo 0 >/proc/sys/net/ipv6/conf/va/accept_dad
	ip addr add 10.20.0.1/24 dev va
	ip link set va up
	ip link set vb up
	rdma link add rxa type rxe netdev va
	a_at='' b_at='' a_dev=rxa b_dev=rxa a_v4=10.20.0.1 b_v4=10.20.0.1
	eventually 5 have_gid a v4
	verdict $? "A24 $mode: the IPv4 address is a GID"
	for index in 0 1; do
		gid=$(cat /sys/class/infiniband/rxa/ports/1/gids/$index 2>/dev/null)
		case $gid in
		'' | 0000:0000:0000:0000:0000:0000:0000:0000)
			[ $index = 1 ]
			verdict $? "A24 $mode: GID $index is empty"
			continue
			;;
		esac
		a_gid=$index b_gid=$index
		run_pingpong
		status=$?
		if ! ours && [ $status != 0 ]; then
			skip "a known fault of the in-tree stack" "A24 $mode: pingpong on GID $index"
		else
			verdict $status "A24 $mode: pingpong on GID $index ($gid)" || show_both
		fi
	done
	rdma link del rxa
	ip link del va
done

# ---------------------------------------------------- A24: ports of another one
# What a bond, a team or a bridge takes its packets from answers at none of its
# own addresses; the port of a VRF and what is below a macvlan do.
own_gids() { grep -slx "$1" /sys/class/infiniband/rxa/ports/1/gid_attrs/ndevs/* | grep .; }
no_own_gids() { ! own_gids "$1"; }
first_gid_works()
{
	a_gid=0 b_gid=0
	own_gids va | grep -qx '.*/0' && run_pingpong
}
if ours_only "A24 ports of other interfaces"; then
	modprobe -qa bonding team team_mode_activebackup bridge vrf macvlan
	topology_up self 1500 || not_ok "A24 a link"
	for kind in bond team bridge vrf; do
		transfers_ready v4 && ip link add top type $kind \
			$([ $kind != vrf ] || echo table 77) 2>"$TMP/top" || {
			skip "$(head -n 1 "$TMP/top")" "A24 port of a $kind"
			continue
		}
		ip link set top up
		ip link set va down
		check "A24 va becomes a port of a $kind" ip link set va master top
		ip link set va up
		ip addr replace 10.20.0.1/24 dev va
		if [ $kind = vrf ]; then
			sleep 1
			have_gid a v4
			verdict $? "A24 $kind: its port's address stays a GID"
		else
			eventually 5 no_own_gids va
			verdict $? "A24 $kind: its port's addresses are no GIDs" ||
				note "$(own_gids va | tr '\n' ' ')"
		fi
		ip link set va nomaster
		ip link set va up
		ip link del top
		eventually 5 have_gid a v4
		verdict $? "A24 $kind: they are back" || ip addr show dev va
		eventually 5 first_gid_works
		verdict $? "A24 $kind: and the first one works" || show_both
	done
	# An interface above a link may be a port as well.
	if ip link add link va name va.10 type vlan id 10 && ip link add top type bridge; then
		ip addr add 10.20.10.1/24 dev va.10
		ip link set va.10 up
		eventually 5 own_gids va.10
		verdict $? "A24 a VLAN's addresses are GIDs"
		ip link set va.10 master top
		eventually 5 no_own_gids va.10
		verdict $? "A24 and are none when it is the port of a bridge"
		own_gids va >/dev/null
		verdict $? "A24 those of its parent stay"
		ip link del top
		ip link del va.10
	fi
	if ip link add link va name mv type macvlan mode bridge; then
		ip link set mv up
		sleep 1
		have_gid a v4
		verdict $? "A24 below a macvlan the addresses stay GIDs"
		ip link del mv
	fi
	topology_down
fi
finish
