#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the rules of a namespace say about packets holds for the driver's.
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#
# The driver takes packets at the end of LOCAL_IN and leaves to UDP what UDP has to
# look at: so UDP's own count of datagrams tells which way they went.
. "$(dirname "$0")/lib.sh"
ours_only

# udp_count END: the datagrams that its sockets were given, IPv4 and IPv6
udp_count()
{
	at "$1" cat /proc/net/snmp /proc/net/snmp6 | awk '
		/^Udp: [0-9]/ { sum += $2 }
		$1 == "Udp6InDatagrams" { sum += $2 }
		END { print sum }'
}
mark()
{
	counters_mark
	udp_a=$(udp_count a) udp_b=$(udp_count b)
}
# told: what has come since mark, and what of it through a socket
told()
{
	counters_read
	packets=$(($(grew a rcvd_pkts) + $(grew b rcvd_pkts)))
	through=$(($(udp_count a) - udp_a + $(udp_count b) - udp_b))
}
# works NAME: byte checks pass, and all but a few packets take the short way
works()
{
	mark
	check "$1: bytes arrive" run_bytecheck "$gid" --only mixed --rounds 4 || show_both
	told
	[ "$packets" -gt 100 ] && [ $((through * 20)) -lt "$packets" ]
	verdict $? "$1: UDP saw $through of $packets packets"
}
# nothing NAME: no packet gets to b's driver
nothing()
{
	mark
	check_fails "$1: nothing is answered" try_pingpong 4
	told
	[ "$(grew a sent_pkts)" -gt 0 ] && [ "$(grew b rcvd_pkts)" = 0 ]
	verdict $? "$1: $packets packets, none came in at b" || show_grown
}
# rules END: stdin, in a chain of LOCAL_IN that lets neighbours be found, and what the
# programs tell each other
rules()
{
	{
		echo 'table inet t { chain in { type filter hook input priority 0'
		echo 'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept'
		echo 'meta l4proto tcp accept'
		cat
		printf '}\n}\n'
	} | at "$1" nft -f -
}
no_rules() { at b nft delete table inet t; }
# require_esp add|delete: b demands IPsec of what comes from a
require_esp()
{
	at b ip xfrm policy "$1" dir in src "$(of a "$gid")" dst "$(of b "$gid")" proto udp \
		"${@:2}"
}

try()
{
	gid=$1
	topology_up netns 4200 && transfers_ready "$gid"
	verdict $? "$gid: two namespaces" || return
	works "$gid, no rules"

	rules b <<<'udp dport 4791 counter'
	works "$gid, a rule that counts"
	at b nft list table inet t | grep -q 'counter packets [1-9]'
	verdict $? "$gid: the rule saw them"
	no_rules

	rules b <<<'udp dport 4791 drop'
	nothing "$gid, a rule that drops"
	no_rules
	works "$gid, without it"
	[ "$gid" = v4 ] || { topology_down; tracked_before; return; }

	rules b <<-'N'
		ct state established,related accept
		udp dport 4791 ct state new counter accept
		counter drop
	N
	works "$gid, connections are tracked from now on"
	at b nft list table inet t | grep -q 'new counter packets [1-9]'
	verdict $? "$gid: new ones were seen"
	topology_down
	tracked_before
	ipsec
	topology_down
}
tracked_before()
{
	topology_up raw 4200
	rules b <<<'ct state established,related,new accept; drop'
	b_dev=rxb
	add_link b && transfers_ready "$gid"
	verdict $? "$gid: tracked before there is a link"
	works "$gid, connections were tracked before"
	no_rules
	[ "$gid" = v4 ] || topology_down
}
ipsec()
{
	if require_esp add tmpl proto esp mode transport level required; then
		nothing "$gid, IPsec is required"
		require_esp delete
		works "$gid, and is not any more"
	else
		skip "no IPsec policies in this kernel"
	fi
}

try v4
try v6
finish
