#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# On a clean path nothing is ever sent again.
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#   [va rxa]--.                a link that talks to itself
#      ^------'
#
#   tests/lab/lossless.sh [--full] [TOPOLOGY...]
#
# Some seconds of each kind of traffic (--full: a minute of it in all), with an
# ACK timeout of a second; then the counters of both ends tell what was lost,
# asked for again or thought to be. So do they after bursts to a neighbour whose
# address is not known. TEST_ONLY names one kind of traffic.
. "$(dirname "$0")/lib.sh"

total=6 kinds=(strangers bytecheck write_bw read_bw)
if [ "${1:-}" = --full ]; then
	total=60 kinds=(strangers bytecheck events send_bw write_bw read_bw)
	shift
fi
topologies=("$@")
[ $# -gt 0 ] || topologies=(netns self)
[ -z "${TEST_ONLY:-}" ] || kinds=("$TEST_ONLY")
seconds=$(((total + ${#kinds[@]} - 1) / ${#kinds[@]}))

# Signs of a loss, or of what was taken for one
signs=(retry_timeout implied_nak rcvd_seq_err ack_deferred duplicate_request
	retry_exceeded_err single_pkt_mode drop_icrc drop_malformed drop_rx_queue
	drop_no_qp drop_qp_state send_err)

# A clock that perftest can use; User Mode Linux has none.
have_clock() { grep -q MHz /proc/cpuinfo; }

bytecheck_for()
{
	local end=$((SECONDS + $1)) round=0
	shift
	while [ $SECONDS -lt $end ]; do
		round=$((round + 1))
		run_bytecheck v4 --qps 4 --only mixed --rounds 20 --seed $round "$@" || return
	done
}
traffic()
{
	case $1 in
	bytecheck) bytecheck_for "$seconds" ;;
	strangers) to_strangers ;;
	events)
		server_options=(--events)
		bytecheck_for "$seconds" --events
		set -- $?
		server_options=()
		return "$1"
		;;
	send_bw) run_perftest ib_send_bw -D "$seconds" -s 65536 -q 2 ;;
	write_bw) run_perftest ib_write_bw -D "$seconds" -s 65536 -b ;;
	read_bw) run_perftest ib_read_bw -D "$seconds" -s 65536 ;;
	esac
}

# Bursts of many times what waits for a neighbour's address
to_strangers()
{
	local op end
	for op in write send read; do
		for end in a b; do
			at $end ip neigh flush dev "$(of $end net)"
		done
		"$VERBS/crowd" -d rxa -D rxb --name "$op after a flush" --qps 4 --size 1048576 \
			--op $op --mtu 4096 --timeout 18 || return
	done
}

# nothing_lost NAME: since counters_mark
nothing_lost()
{
	local name=$1 end sign n bad='' rnr=0
	for end in a b; do
		for sign in "${signs[@]}"; do
			n=$(grew $end "$sign")
			[ "$n" = 0 ] || bad+=" $sign"
		done
		# A receive that came late is no loss, but all else is.
		n=$(grew $end rcvd_rnr_err)
		rnr=$((rnr + n))
		[ "$(grew $end completer_retry_err)" -le "$n" ] || bad+=" completer_retry_err"
		[ "$n" = 0 ] || note "$name: $n RNR NAKs"
	done
	for end in a b; do
		[ $rnr != 0 ] || [ "$(grew $end out_of_seq_request)" = 0 ] ||
			bad+=" out_of_seq_request"
	done
	[ -z "$bad" ]
	verdict $? "$name: nothing was sent again${bad:+, but there is$bad}"
	[ -z "$bad" ] || show_grown
}

for topo in "${topologies[@]}"; do
	topology_up "$topo" 4200 && transfers_ready v4 || die "links of $topo"
	for kind in "${kinds[@]}"; do
		case $kind in
		strangers) [ "$topo" = netns ] || continue ;;
		*_bw) have_clock || { skip "no clock for perftest" "$topo: $kind"; continue; } ;;
		esac
		counters_mark
		timed "$topo: $kind" traffic "$kind"
		counters_read
		[ "$(($(grew a sent_pkts) + $(grew b sent_pkts)))" -gt 100 ]
		verdict $? "$topo: $kind moved packets ($(grew a sent_pkts), $(grew b sent_pkts))"
		nothing_lost "$topo: $kind"
	done
	topology_down
done
finish
