#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# An address without a route: connecting and making an address handle say so; with
# a route the same program goes on; what is connected outlives routes.
#
#   ( va rxa )---( vb rxb )          two namespaces over veth
#   ( va rxa )---(    )---( vb rxb )   and with a third that forwards
. "$(dirname "$0")/lib.sh"
ours_only "addresses without a route" || finish

# start v4|v6: the program that tries
start()
{
	coproc program { exec $a_at "$VERBS/route" -d "$a_dev" -g "$1" 2>&1; }
	# shellcheck disable=SC2154 # coproc sets it
	to=${program[1]} from=${program[0]}
}
stop()
{
	local pid=$program_PID
	eval "exec $to>&-"
	wait "$pid"
	verdict $? "$1: the program ends well"
}
# answers NAME REGEX WORDS...: what it says
answers()
{
	local name=$1 regex=$2 said=nothing
	shift 2
	echo "$*" >&"$to"
	read -r -t 20 said <&"$from"
	[[ $said =~ ^($regex)$ ]]
	verdict $? "$name: $* ($said)"
}
# both NAME REGEX ADDRESS
both()
{
	answers "$1" "$2" rtr "$3"
	answers "$1" "$2" ah "$3"
}

none='ENETUNREACH|EHOSTUNREACH'
topology_up netns 1500 || die "links in two namespaces"
for family in v4 v6; do
	eventually 10 have_gid a $family || die "a GID"
	case $family in
	v4) far=10.77.0.1 net=10.77.0.0/16 via=$b_v4 group=239.1.2.3 ip=(ip -4) ;;
	v6) far=fd77::1 net=fd77::/64 via=$b_v6 group=ff15::1 ip=(ip -6) ;;
	esac
	start $family
	both "$family on the subnet" ok "$via"
	both "$family the link itself" ok "$(of a $family)"
	both "$family without a route" "$none" $far
	answers "$family a group needs none" ok ah $group
	at a "${ip[@]}" route add $net via "$via"
	both "$family with a route" ok $far
	counters_mark
	answers "$family a datagram leaves" ok send
	counters_read
	[ "$(grew a send_err)" = 0 ]
	verdict $? "$family nothing is refused" || show_grown
	at a "${ip[@]}" route del $net
	answers "$family a datagram without a route" ok send
	counters_read
	[ "$(grew a send_err)" = 1 ]
	verdict $? "$family it is counted" || show_grown
	both "$family the route has gone" "$none" $far
	at a "${ip[@]}" route add unreachable $net
	both "$family a route to nowhere" EHOSTUNREACH $far
	at a "${ip[@]}" route replace unreachable default
	at a "${ip[@]}" route del unreachable $net
	both "$family a default route to nowhere" EHOSTUNREACH $far
	at a "${ip[@]}" route del unreachable default
	at a "${ip[@]}" route add default via "$via"
	both "$family with a default route" ok $far
	at a "${ip[@]}" route del default
	stop $family
done

topology_down

# It is connected while there is a route, and goes on when that comes again.
topology_up hop 1500 && transfers_ready v4 || die "links with a router between them"
counters_mark
(
	eventually 10 sh -c "[ \$(cat /sys/class/infiniband/rxa/ports/1/hw_counters/sent_pkts) -gt 2000 ]"
	for _ in 1 2 3; do
		at a ip route del default
		sleep 0.3
		at a ip route add default via 10.20.0.254
		sleep 0.3
	done
) &
changes=$!
timed "routes go and come under traffic" run_bytecheck v4 --rounds 40 --timeout 14
wait $changes
counters_read
[ "$(grew a send_err)" -gt 0 ]
verdict $? "and packets met that" || show_grown
topology_down
finish
