#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A33: libibverbs finds the soft-RoCE provider for a link whose interface is a PCI
# device, and works: this machine's, and older and newer ones.
#
#   [eth0 rxp]--.
#       ^-------'
#
#   tests/lab/userspace.sh [ROOT...]     folders that scripts/rdma-core made
. "$(dirname "$0")/lib.sh"
shopt -s extglob

# asked ROOT COMMAND...: with the library of that root; '' is this machine
asked()
{
	local root=$1
	shift
	${root:+chroot "$root"} "$@"
}
version_of()
{
	local library
	library=$(echo "$1"/usr/lib/x86_64-linux-gnu/libibverbs.so.1.*)
	echo "rdma-core ${library##*so.1.*([0-9]).}"
}

finds_provider()
{
	local root=$1 name=$2
	check_text "A33 $name: ibv_devices lists the link" 'rxp' asked "$root" ibv_devices
	asked "$root" ibv_devinfo -v -d rxp >"$TMP/devinfo" 2>"$TMP/devinfo.err"
	verdict $? "A33 $name: ibv_devinfo -v opens it"
	[ ! -s "$TMP/devinfo.err" ]
	verdict $? "A33 $name: and no provider complains" || show "$TMP/devinfo.err"
	check_text "A33 $name: its port is there" 'PORT_ACTIVE' cat "$TMP/devinfo"
}

# pingpong ROOT TOOL [OPTION...]: the server with that library, the client with
# this machine's
pingpong()
{
	local root=$1 tool=$2
	shift 2
	next_port
	set -- "$tool" -d rxp -g "$a_gid" -p "$port" -s 1024 -n 100 "$@"
	both_ends 60 chroot "$root" "$@" -- "$@" "$b_v4"
}

pingpongs()
{
	local root=$1 name=$2 tool
	for tool in ibv_rc_pingpong 'ibv_srq_pingpong -e'; do
		# shellcheck disable=SC2086
		pingpong "$root" $tool
		verdict $? "A33 $name: $tool" || show_both
	done
	pingpong "$root" ibv_ud_pingpong && ok "A33 $name: ibv_ud_pingpong" && return
	# Up to 2021 a datagram's request carries an address instead of the number of
	# an address handle: nobody has looked at what such a request says.
	file_has "$TMP/server" 'Failed status local QP operation error' && [[ $name == *' 33.'* ]]
	verdict $? "A33 $name: ibv_ud_pingpong is refused" || show_both
}

a_at='' b_at='' a_dev=rxp b_dev=rxp a_net=$IFACE b_net=$IFACE a_v4=$ADDR b_v4=$ADDR
add_link a && transfers_ready v4 || die "A33 a link on an interface with a PCI parent"
[ -e "/sys/class/net/$IFACE/device" ]
verdict $? "A33 $IFACE has a device of a bus behind it"
[ ! -e /sys/class/infiniband/rxp/device/vendor ]
verdict $? "A33 the link names no PCI vendor, which older libraries go by"
finds_provider '' "$(version_of '')"
for root; do
	if [ ! -x "$root/usr/bin/ibv_devinfo" ]; then
		skip "scripts/rdma-core could not fetch it" "A33 rdma-core of Debian ${root##*/}"
		continue
	fi
	for dir in dev sys proc; do
		mount --bind "/$dir" "$root/$dir" || die "A33 mount $root/$dir"
	done
	name=$(version_of "$root")
	finds_provider "$root" "$name"
	pingpongs "$root" "$name"
	umount "$root"/{dev,sys,proc}
done
rdma link del rxp
finish
