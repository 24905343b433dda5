#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Our stack against another's, on a wire between two machines:
#
#   scripts/lab --peer intree -- tests/lab/interop.sh [--full] [CELL...]
#
#      our machine                    the peer, with the kernel's own stack
#   | rxa  eth0 $ADDR |-------------| eth0 $PEER  rxe0 |
#
#   CELL     ROLE:GID:MTU, a few of these when none is given, all with --full
#   ROLE     client, server    what our side is; every program runs both ways
#   GID      v4, v6            MTU  1500, 4200
#   --full   every cell, every size that the programs of perftest know, and options
#   --what   bytecheck,pingpong,perftest,options (the first three)
. "$(dirname "$0")/lib.sh"

what=bytecheck,pingpong,perftest full='' quick=(--quick) cells=()
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=yes quick=() what+=,options; shift ;;
	--what) what=$2; shift 2 ;;
	-*) die "unknown option $1" ;;
	*) cells+=("$1"); shift ;;
	esac
done
[ -n "${PEER:-}" ] || die "there is no peer: scripts/lab --peer intree"
if [ ${#cells[@]} = 0 ]; then
	cells=(client:v4:1500 server:v4:4200 client:v6:4200 server:v6:1500)
	[ -z "$full" ] ||
		cells=({client,server}:{v4,v6}:{1500,4200})
fi
note "here $STACK on $(uname -r), there $(on-peer uname -r)"

# same_mtu: a port that changes its MTU tells so a moment later
same_mtu()
{
	at a ibv_devinfo -d "$a_dev" | grep -q "active_mtu:[[:space:]]*$1" &&
		at b ibv_devinfo -d "$b_dev" | grep -q "active_mtu:[[:space:]]*$1"
}

# The ACK timeout of ibv_rc_pingpong is 67 ms, whatever one asks for; machines
# that share few processors stand still for longer. Then, and only then, again.
pingpong()
{
	run_pingpong "$@" && return
	cat "$TMP/client" "$TMP/server" >"$TMP/both"
	file_has "$TMP/both" 'transport retry counter exceeded' || return 1
	note "a machine stood still for longer than seven timeouts of 67 ms: once more"
	run_pingpong "$@"
}

# lossless END: the usual queue drops what waited for 5 ms, which looks like a gap
# in the capture
lossless() { at "$1" tc qdisc replace dev "$(of "$1" net)" root pfifo limit 10000; }

# options NAME: events, many queue pairs, both ways at once, shared receives, a time
options()
{
	local tool
	srq_programs "$1"
	for tool in ib_{send,write,read,atomic}_bw; do
		timed "$1: $tool -q 16 -D 3" run_perftest "$tool" -q 16 -D 3 -f 1
		timed "$1: $tool -b -D 3" run_perftest "$tool" -b -D 3 -f 1
	done
	for tool in ib_{send,read}_lat ib_send_bw; do
		timed "$1: $tool -e" run_perftest "$tool" -e -s 1024 -n 100
	done
	timed "$1: ib_send_bw -c UC -b -D 3" run_perftest ib_send_bw -c UC -b -D 3 -f 1
	timed "$1: ib_send_lat -c UD -e" run_perftest ib_send_lat -c UD -e -s 1024 -n 100
}

programs()
{
	local name=$1 gid=$2 tool
	if wants bytecheck; then
		# Requests with a fence make the kernel's own requester stop for ever
		# now and then, against its own kind as well.
		timed "$name: bytecheck" run_bytecheck "$gid" --qps 2 --no-fence "${quick[@]}"
	fi
	if wants pingpong; then
		timed "$name: ibv_rc_pingpong" pingpong
		timed "$name: ibv_rc_pingpong -e -s 65536" pingpong -e -s 65536
	fi
	for tool in ib_{send,write,read}_{bw,lat}; do
		wants perftest || break
		if [ -n "$full" ]; then
			timed "$name: $tool -a" run_perftest "$tool" -a -n 5
		else
			timed "$name: $tool -s 65536" run_perftest "$tool" -s 65536 -n 20
		fi
	done
	# What is behind these does not depend on who begins.
	if wants perftest && { [ -n "$full" ] || [ "$role" = client ]; }; then
		atomic_programs "$name"
		connection_programs "$name"
		datagram_programs "$name"
	fi
	if wants options; then
		options "$name"
	fi
}

cell()
{
	local role gid mtu ib_mtu name started=$SECONDS
	IFS=: read -r role gid mtu <<<"$1"
	name="our $role $gid $mtu"
	case $mtu in 1500) ib_mtu=1024 ;; *) ib_mtu=4096 ;; esac
	if ! topology_up peer "$mtu" || ! transfers_ready "$gid" ||
		! eventually 10 same_mtu $ib_mtu || ! lossless a || ! lossless b; then
		not_ok "$name: links, GIDs, MTU and queues"
		rdma link | sed 's/^/#   /'
	else
		if [ "$role" = server ]; then
			swap_ends
			transfers_ready "$gid"
		fi
		programs "$name" "$gid"
		[ "$role" != server ] || swap_ends
	fi
	topology_down
	note "$name took $((SECONDS - started)) s"
}

# Each CRC engine computes for every other cell.
engine=table
for one in "${cells[@]}"; do
	case $engine in table) engine=pclmul ;; *) engine=table ;; esac
	echo "$engine" >/sys/module/rdma_rxe/parameters/crc
	[ "$(</sys/module/rdma_rxe/parameters/crc)" = "$engine" ]
	verdict $? "CRCs by $engine"
	cell "$one"
done
finish
