#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A slow link with a short queue: nothing breaks, and hardly anything of it is
# wasted on what has to be sent again.
#
#   ( va rxa )===( vb rxb )        a shaper where requests, or answers, leave
#   ( va rxa )---( ha=hb )---( vb rxb )   or in the network between
#
#   tests/lab/shaper.sh [--full]
#
# --full: more queues, and such as are elsewhere in the network.
# TEST_ONLY: one part, near, crowd, detour or far.
. "$(dirname "$0")/lib.sh"

seconds=3 full=''
if [ "${1:-}" = --full ]; then
	seconds=8 full=yes
fi
# What the link carries in a second, and what each packet has around its payload:
# Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4
RATE=1250000 AROUND=58

# shape END LIMIT CHILD
shape()
{
	at "$1" tc qdisc add dev "$(of "$1" net)" root handle 1: tbf rate 10mbit burst 10kb \
		limit "$2" || return
	# shellcheck disable=SC2086 # a qdisc is several words
	[ -z "${3:-}" ] || at "$1" tc qdisc add dev "$(of "$1" net)" parent 1: $3
}
unshape() { at "$1" tc qdisc del dev "$(of "$1" net)" root; }

# stream NAME PERCENT PAYLOAD END OPTION...: as fast as it goes; the data leaves at END
stream()
{
	local name=$1 percent=$2 payload=$3 end=$4 rate running moved sent most
	shift 4
	counters_mark
	pass_on "$VERBS/pair" rate -d rxa -D rxb --name "$name" --seconds "$seconds" "$@"
	counters_read
	rate=$(sed -n 's/^# rate //p' "$TMP/pass")
	moved=$(sed -n 's/^# moved //p' "$TMP/pass")
	[ -n "$rate" ] || return
	most=$((RATE * payload / (payload + AROUND)))
	running=$(sed -n 's/^# running //p' "$TMP/pass")
	if [ "$running" -lt 60 ]; then
		skip "this machine stood still, and went on for $running % of the time" "$name: rate"
		return
	fi
	[ "$running" -ge 98 ] || percent=$((percent - 15))
	[ "$rate" -ge $((most * percent * running / 10000)) ] &&
		[ "$rate" -le $((most * 105 / 100)) ]
	verdict $? "$name: $rate bytes a second, $((rate * 100 / most)) % of what the link carries"
	sent=$(grew "$end" sent_bytes)
	[ "$sent" -ge "$moved" ] && [ "$sent" -le $((moved * 105 / 100)) ]
	verdict $? "$name: $((sent * 100 / moved)) % of the payload is what was sent"
	[ "$(grew "$end" tx_paused)" -gt 0 ]
	verdict $? "$name: waited for room $(grew "$end" tx_paused) times"
	show_grown
}

# cell MTU PAYLOAD END LIMIT CHILD OP PERCENT
cell()
{
	local name="MTU $1, queue of $4${5:+ ($5)} at $3, $6"
	shape "$3" "$4" "$5" || { skip "no shaper" "$name"; return; }
	stream "$name" "$7" "$2" "$3" --op "$6"
	unshape "$3"
}

# A queue of 100 kB lasts for 80 ms; one that is empty after 10 ms or less also
# runs empty when this machine does something else for so long. Where the machine
# stood still for longer ("running"), the link could carry nothing either, and
# the bound is a rough one.
near()
{
	topology_up netns 4200 && transfers_ready v4 || die "links"
	cell 4200 4096 a 100kb "" write 90
	cell 4200 4096 b 16kb "" read 90
	if [ -n "$full" ]; then
		cell 4200 4096 b 100kb "" read 90
		cell 4200 4096 a 16kb "" send 90
		cell 4200 4096 a 100kb "pfifo limit 20" write 90
		cell 4200 4096 a 16kb "pfifo limit 2" write 90
		cell 4200 4096 b 16kb "pfifo limit 2" read 90
	fi
	topology_down
	topology_up netns 1500 && transfers_ready v4 || die "links"
	cell 1500 1024 a 8kb "" send 90
	[ -z "$full" ] || cell 1500 1024 b 100kb "" read 90
	topology_down
}

# How many bytes END's shaper has sent
shaped() { at "$1" tc -s qdisc show dev "$(of "$1" net)" | sed -n 's/^ Sent \([0-9]*\) .*/\1/p' | head -n 1; }

# together QPS SIZE END OP: they share a queue that holds five packets; the data
# leaves at END. That lasts for 4 ms, and User Mode Linux often stands still for
# longer.
least=90
grep -q MHz /proc/cpuinfo || least=65
together()
{
	local name="$1 queue pairs at a queue of 6k, $4" before took bytes running
	counters_mark
	before=$(shaped "$3")
	pass_on "$VERBS/crowd" -d rxa -D rxb --name "$name" --qps "$1" --size "$2" --op "$4" \
		--mtu 1024 --timeout 14
	counters_read
	took=$(sed -n 's/^# took //p' "$TMP/pass")
	[ -n "$took" ] || return
	running=$(sed -n 's/^# running //p' "$TMP/pass")
	bytes=$((($(shaped "$3") - before) * 1000 / took))
	[ $bytes -ge $((RATE / 100 * least * (running >= 98 ? 100 : running - 15) / 100)) ]
	verdict $? "$name: $bytes bytes a second leave, $((bytes * 100 / RATE)) % of the rate"
	# The first trains, of those who found the queue not quite full, were cut.
	note "$name: $(($(grew "$3" sent_bytes) * 100 / ($1 * $2))) % of the payload is what was sent"
	show_grown
}

# Many at one short queue: each gets its turn, and nobody gives up.
crowd()
{
	local op qps=32 size=65536 ops=(write read)
	[ -z "$full" ] || ops=(write read send) qps=64 size=262144
	topology_up netns 1500 && transfers_ready v4 || die "links"
	for op in a b; do
		at $op tc qdisc add dev "$(of $op net)" root tbf rate 10mbit burst 3k limit 6k || {
			skip "no shaper" "many queue pairs at one queue"
			topology_down
			return
		}
	done
	for op in "${ops[@]}"; do
		together $qps $size "$([ "$op" = read ] && echo b || echo a)" "$op"
	done
	topology_down
}

# Datagrams to where a queue is full keep none from where there is room.
detour()
{
	local first end name="datagrams beside a full queue"
	modprobe -q 8021q
	topology_up netns 1500 && transfers_ready v4 || die "links"
	first=$a_gid
	a_v4=10.20.8.1 b_v4=10.20.8.2
	for end in a b; do
		at $end ip link add link "$(of $end net)" name vlan8 type vlan id 8 &&
			at $end ip addr add "$(of $end v4)/24" dev vlan8 &&
			at $end ip link set vlan8 up || {
			skip "no VLANs" "$name"
			topology_down
			return
		}
	done
	transfers_ready v4 || die "the GID of a VLAN"
	if at a tc qdisc add dev vlan8 root tbf rate 8kbit burst 1600 limit 3000; then
		counters_mark
		pass_on "$VERBS/detour" -d rxa --gid "$first" --full "$a_gid"
		counters_read
		[ "$(grew a tx_paused)" -le 10 ]
		verdict $? "$name: waited $(grew a tx_paused) times ($(sed -n 's/^# took //p' "$TMP/pass") ms)"
		[ "$(grew b drop_no_qp)" -ge 256 ]
		verdict $? "$name: those for elsewhere arrived ($(grew b drop_no_qp))"
		[ "$(grew a send_err)" -ge 200 ]
		verdict $? "$name: what was lost is counted ($(grew a send_err))"
		show_grown
	else
		skip "no shaper" "$name"
	fi
	topology_down
}

# A queue elsewhere tells nothing: what it drops is found missing. The data is
# intact and nobody gives up; how much of the link is used is only told.
far()
{
	local op net name limit=100kb
	topology_up hop 4200 && transfers_ready v4 || die "links and a hop"
	for op in write read; do
		net=hb name="a queue of $limit in the network, $op"
		[ $op = write ] || net=ha
		ip netns exec nsm tc qdisc add dev $net root tbf rate 10mbit burst 10kb limit $limit || {
			skip "no shaper" "$name"
			continue
		}
		counters_mark
		pass_on "$VERBS/pair" rate -d rxa -D rxb --name "$name" --seconds "$seconds" --op $op
		counters_read
		show_grown
		ip netns exec nsm tc qdisc del dev $net root
	done
	topology_down
}
for part in ${TEST_ONLY:-near crowd detour ${full:+far}}; do
	$part
done
finish
