#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The same tools on whatever stack, where bench.sh has its own module:
#
#   bench-tools.sh [--stack ours|intree] self|netns|objects|tcp...
#
#   self      perftest on one link, whose regions are of pages out of order
#   netns     perftest between two namespaces, and with every hundredth packet lost
#   objects   what queue pairs, completion queues and regions cost a program
#   tcp       iperf3 between the two namespaces
#
# "figure STACK ROW NS" as bench.sh, of a message (tcp: of 64 KiB; lat: half of a
# round trip; objects: of a call), "bytes STACK ROW N" for memory.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/bench-lib.sh"

if [ "${1:-}" = --stack ]; then
	stack=$2
	shift 2
fi
BENCH=$TOP/build/bench
[ -z "${stack:-}" ] || stack_up "$stack"
# Regions of many small pages, as preloaded scatter.so leaves them
echo never >/sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null
# Where nobody has anything to do but wait for a file, this clock leaps to the next timer.
PERF_SECONDS=1000000

# message_ns TOOL BYTES: from the client's last output, what a message took
message_ns()
{
	awk -v tool="$1" -v bytes="$2" '
		$1 != bytes || NF < 5 { next }
		tool ~ /_lat$/ { ns = $5 * 1000 }
		tool ~ /_bw$/ && bytes < 4096 && $5 > 0 { ns = 1000 / $5 }
		tool ~ /_bw$/ && bytes >= 4096 && $4 > 0 { ns = bytes / ($4 * 1048576) * 1e9 }
		END { if (!ns) exit 1; printf "%.0f\n", ns }' "$TMP/client"
}

# tool ROW TOOL BYTES MESSAGES [OPTION...]
tool()
{
	local row=$1 tool=$2 bytes=$3 messages=$4 ns
	shift 4
	# Two that poll would only take time from each other. A WRITE's server sleeps.
	case $tool in ib_write_bw) ;; *) set -- -e "$@" ;; esac
	if run_perftest "$tool" -s "$bytes" -n "$messages" "$@" && ns=$(message_ns "$tool" "$bytes"); then
		ok "$STACK: $row"
		echo "figure $STACK $row $ns"
	else
		not_ok "$STACK: $row"
		show_both
	fi
}

between()
{
	tool "$1.send_bw.64K" ib_send_bw 65536 500
	tool "$1.write_bw.64K" ib_write_bw 65536 500
	tool "$1.read_bw.64K" ib_read_bw 65536 500
	tool "$1.send_bw.4K" ib_send_bw 4096 2000
	tool "$1.send_bw.64" ib_send_bw 64 5000
	tool "$1.send_lat.8" ib_send_lat 8 1000
}

with_losses()
{
	local slowest
	if run_perftest ib_send_lat -e -s 4096 -n 1000 &&
		slowest=$(awk '$1 == 4096 && NF > 8 { printf "%.0f", $8 * 1000 }' "$TMP/client") &&
		[ -n "$slowest" ]; then
		ok "$STACK: tool.netns.send_lat.4K.loss"
		echo "figure $STACK tool.netns.send_lat.4K.loss $(message_ns ib_send_lat 4096)"
		echo "p99 $STACK tool.netns.send_lat.4K.loss $slowest"
	else
		not_ok "$STACK: latency with losses"
		show_both
	fi
}

objects()
{
	local name value
	"$BENCH/objects" "$a_dev" >"$TMP/objects"
	verdict $? "$STACK: objects" || return
	while read -r name value; do
		case $name in
		*.memory) echo "bytes $STACK object.$name $value" ;;
		*) echo "figure $STACK object.$name $value" ;;
		esac
	done <"$TMP/objects"
}

tcp()
{
	at b iperf3 -s -1 >/dev/null 2>&1 &
	sleep 1
	at a iperf3 -c "$b_v4" -t 2 -O 1 -J >"$TMP/iperf"
	verdict $? "iperf3" || { show "$TMP/iperf"; return; }
	echo "figure tcp tcp.netns.64K $(python3 -c '
import json, sys
end = json.load(open(sys.argv[1]))["end"]["sum_received"]
print(round(65536 * 8 / end["bits_per_second"] * 1e9))' "$TMP/iperf")"
	wait
}

for what; do
	case $what in
	self)
		bench_topology self || die "a link to itself"
		LD_PRELOAD=$BENCH/scatter.so
		export LD_PRELOAD
		between tool.self
		unset LD_PRELOAD
		;;
	netns)
		bench_topology netns || die "two namespaces"
		between tool.netns
		topology_down
		bench_topology loss || die "two namespaces with losses"
		with_losses
		;;
	objects) bench_topology self && objects ;;
	tcp) topology_up raw 4200 && tcp ;;
	*) die "nothing is called $what" ;;
	esac
	topology_down
done
[ -z "${stack:-}" ] || stack_down
finish
