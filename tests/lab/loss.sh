#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# B44: a network that loses, overtakes, repeats and damages packets, in both
# directions; every byte and every completion is there, once and in order.
#
#   ( va rxa )===( vb rxb )               netem where the packets leave: it
#                                         sees trains, loses them as a whole
#   ( va rxa )---( ha  hb )---( vb rxb )  netem in a hop behind segmentation:
#                                         it sees packets, loses them in mid-train
#
#   tests/lab/loss.sh [--full]
#
# --full: more than 20,000 messages. TEST_ONLY: one kind of weather.
. "$(dirname "$0")/lib.sh"

rounds=2 full='' qps=4
# A debug kernel beside others stands still for longer than seven timeouts of 67 ms.
ack_timeout=14
! debug_kernel || ack_timeout=17
if [ "${1:-}" = --full ]; then
	rounds=12 full=yes
fi
messages=0
declare -A weather=(
	[loss]="loss 2%"
	[reorder]="delay 1ms reorder 5%"
	[duplicate]="duplicate 5%"
	[corrupt]="corrupt 1%"
	[all]="delay 1ms reorder 5% loss 1% duplicate 2% corrupt 0.5%"
	[full]="delay 1ms limit 4"
)

# netem, in both directions. It damages headers only: of a packet whose payload is
# elsewhere it flips bits in what is left. Behind the hop a firewall does the rest.
spoil()
{
	# shellcheck disable=SC2086
	case $topology in
	hop)
		case $1 in
		corrupt | all)
			ip netns exec nsm nft add rule ip softroce damage udp dport 4791 \
				numgen random mod 100 0 @th,168,8 set 0xa5 || return
			;;
		esac
		ip netns exec nsm tc qdisc add dev ha root netem limit 10000 ${weather[$1]} &&
			ip netns exec nsm tc qdisc add dev hb root netem limit 10000 ${weather[$1]}
		;;
	*)
		at a tc qdisc add dev va root netem limit 10000 ${weather[$1]} &&
			at b tc qdisc add dev vb root netem limit 10000 ${weather[$1]}
		;;
	esac
}
stats()
{
	case $topology in
	hop) ip netns exec nsm tc -s qdisc show dev ha; ip netns exec nsm tc -s qdisc show dev hb ;;
	*) at a tc -s qdisc show dev va; at b tc -s qdisc show dev vb ;;
	esac
}
clear_up()
{
	case $topology in
	hop)
		ip netns exec nsm tc qdisc del dev ha root
		ip netns exec nsm tc qdisc del dev hb root
		ip netns exec nsm nft flush chain ip softroce damage
		;;
	*) at a tc qdisc del dev va root; at b tc qdisc del dev vb root ;;
	esac 2>/dev/null
}
# What netem dropped, of packets or trains
lost() { stats | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }
both() { echo $(($(grew a "$1") + $(grew b "$1"))); }
# damaged: packets that UDP's checksum or the ICRC showed to be so
csum_errors()
{
	local end
	for end in a b; do
		at $end sh -c "awk '/^Udp: [0-9]/ { print \$8 }' /proc/net/snmp"
	done | awk '{ n += $1 } END { print n + 0 }'
}

# traces WEATHER NAME: the counters of both ends tell what happened
traces()
{
	local name=$2 n
	case $1 in
	loss | all)
		n=$(lost)
		[ "$n" -gt 0 ]
		verdict $? "$name: the network lost some ($n)"
		;;
	esac
	case $1:$topology in
	loss:hop)
		# Few READ answers pass in a short test.
		[ "$(both out_of_seq_request)" -gt 0 ] &&
			{ [ -z "$full" ] || [ "$(both implied_nak)" -gt 0 ]; }
		verdict $? "$name: in mid-train: out_of_seq_request $(both out_of_seq_request), implied_nak $(both implied_nak)"
		[ "$(both ack_deferred)" -gt 0 ] && [ "$(both ack_deferred)" -le "$n" ]
		verdict $? "$name: one NAK a gap at most: $(both ack_deferred)"
		;;
	loss:*)
		n=$(both completer_retry_err)
		[ "$n" -gt 0 ]
		verdict $? "$name: sent again $n times"
		;;
	reorder:hop)
		[ "$(both out_of_seq_request)" -gt 0 ]
		verdict $? "$name: overtaken: out_of_seq_request $(both out_of_seq_request)"
		;;
	duplicate:*)
		[ "$(both duplicate_request)" -gt 0 ]
		verdict $? "$name: duplicate_request $(both duplicate_request)"
		# With several processors a queue's packets leave from any of them,
		# and may overtake each other in veth.
		if [ "$(nproc)" = 1 ]; then
			[ "$(both completer_retry_err)" = 0 ]
			verdict $? "$name: and nobody sends anything again for it ($(both completer_retry_err))"
		fi
		;;
	corrupt:hop)
		[ "$(both drop_icrc)" -gt 0 ]
		verdict $? "$name: dropped for their ICRC: $(both drop_icrc), UDP checksum: $(($(csum_errors) - csum_before))"
		;;
	corrupt:*)
		n=$(($(csum_errors) - csum_before + $(both drop_icrc)))
		[ $n -gt 0 ]
		verdict $? "$name: damaged ones dropped: $n"
		;;
	full:*)
		[ "$(both tx_paused)" -gt 0 ]
		verdict $? "$name: waited for room $(both tx_paused) times"
		;;
	esac
	[ "$(both retry_exceeded_err)" = 0 ] && [ "$(both sent_nak)" = 0 ]
	verdict $? "$name: no QP gave up"
}

# storm WEATHER MODE: bytecheck under it, polled or by event
storm()
{
	local kind=$1 mode=$2 name="B44 $topology, $1, $2" options=()
	[ -z "${TEST_ONLY:-}" ] || [ "$TEST_ONLY" = "$kind" ] || return
	spoil "$kind" 2>"$TMP/tc" || {
		clear_up
		skip "$(head -n 1 "$TMP/tc")" "$name"
		return
	}
	counters_mark
	csum_before=$(csum_errors)
	server_options=()
	if [ "$mode" = "by event" ]; then
		options=(--events)
		server_options=(--events)
	fi
	timed "$name" run_bytecheck v4 --qps $qps --only mixed --rounds $rounds --timeout $ack_timeout \
		--seed $((messages + 1)) "${options[@]}"
	messages=$((messages + rounds * 24 * qps))
	counters_read
	traces "$kind" "$name"
	clear_up
	show_grown
}

# Without a UDP checksum only the ICRC tells that a packet is damaged.
no_udp_checksums()
{
	at a ethtool -K va tx off && at b ethtool -K vb tx off &&
		ip netns exec nsm nft add table ip softroce &&
		ip netns exec nsm nft add chain ip softroce forward \
			'{ type filter hook forward priority 0; }' &&
		ip netns exec nsm nft add chain ip softroce damage \
			'{ type filter hook forward priority 1; }' &&
		ip netns exec nsm nft add rule ip softroce forward udp dport 4791 udp checksum set 0
}

topology_up netns 4200 && transfers_ready v4 || die "links"
storm all polled
storm full "by event"
[ -z "$full" ] || for kind in loss reorder duplicate corrupt; do
	storm $kind polled
	storm $kind "by event"
done
topology_down

topology_up hop 4200 && transfers_ready v4 && one_by_one >/dev/null || die "links and a hop"
no_udp_checksums >/dev/null || die "packets without UDP checksum"
for kind in loss reorder duplicate corrupt all; do
	storm $kind "by event"
	[ -z "$full" ] || storm $kind polled
done
topology_down
note "$messages messages"
finish
