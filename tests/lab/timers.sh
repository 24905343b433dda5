#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# How long a QP waits for a peer that does not answer, is not ready, or cannot
# be reached, and what it says in the end.
#
#   ( va rxa )---( vb rxb )               firewalls, peers that go, RNR
#   ( va rxa )---( ha  hb )---( vb rxb )  a network with a smaller MTU
#
#   tests/lab/timers.sh [--full]
#
# TEST_ONLY: one part, b41, b38, b18, mtu, vanish or hop.
. "$(dirname "$0")/lib.sh"

full=''
[ "${1:-}" != --full ] || full=yes

pair()
{
	pass_on "$VERBS/pair" "$@" -d rxa -D rxb
	counters_read
}
# counted NAME END COUNTER WHAT...: it grew by a number that test(1) finds so
counted()
{
	local name=$1 end=$2 counter=$3 n
	shift 3
	n=$(grew "$end" "$counter")
	test "$n" "$@"
	verdict $? "$name: $counter $n" || show_grown
}

# ------------------------------------------------------------ B41: ACK timeout
# gives_up TIMEOUT RETRY_CNT OP
gives_up()
{
	local name="B41 timeout $1 retry_cnt $2, $3"
	counters_mark
	pair silent --kill --name "$name" --timeout "$1" --retry-cnt "$2" --op "$3"
	counted "$name" a retry_timeout = $(($2 + 1))
	counted "$name" a completer_retry_err = "$2"
	counted "$name" a retry_exceeded_err = 1
}
b41()
{
	gives_up 14 0 write
	gives_up 14 2 read
	gives_up 18 0 send
	gives_up 20 0 send
	[ -z "$full" ] || {
		gives_up 14 3 send
		gives_up 10 7 send
		gives_up 14 7 write
		gives_up 18 1 read
		gives_up 18 2 send
	}
	counters_mark
	pair silent --kill --name "B41 timeout 0 is never" --timeout 0 --seconds 3
	counted "B41 timeout 0 is never" a retry_timeout = 0
}

# -------------------------------------------------------------- B38: firewalls
# A packet's first byte behind the UDP header is its opcode; 17: an ACK.
# firewall END HOOK RULE
firewall()
{
	at "$1" nft add table inet softroce &&
		at "$1" nft add chain inet softroce drops "{ type filter hook $2 priority 0; }" &&
		at "$1" nft add rule inet softroce drops udp dport 4791 "$3" counter drop
}
no_firewalls()
{
	local end
	for end in a b; do
		at $end nft delete table inet softroce 2>/dev/null
	done
}
dropped()
{
	at "$1" nft list table inet softroce |
		sed -n 's/.*counter packets \([0-9]*\) .*/\1/p' | head -n 1
}
# behind_firewall WHERE NAME OP COUNTER_END COUNTER LEAST, after firewall
behind_firewall()
{
	local where=$1 name=$2 op=$3
	counters_mark
	pair silent --name "$name" --timeout 14 --retry-cnt 2 --op "$op"
	counted "$name" a retry_timeout = 3
	counted "$name" a retry_exceeded_err = 1
	[ $# -lt 6 ] || counted "$name" "$4" "$5" -ge "$6"
	[ "$(dropped "$where")" -ge 3 ]
	verdict $? "$name: the firewall dropped $(dropped "$where") packets"
	no_firewalls
}
b38()
{
	if firewall b input '' 2>"$TMP/nft"; then
		behind_firewall b "B38 requests are dropped at the peer" write
		firewall a output ''
		behind_firewall a "B38 requests are dropped where they leave" send a send_err 3
		firewall a output '' && firewall b output ''
		behind_firewall a "B38 nothing passes either way" read
		firewall a input '@th,64,8 0x11'
		behind_firewall a "B38 only ACKs are dropped, WRITE" write b duplicate_request 2
		firewall b output '@th,64,8 0x11'
		behind_firewall b "B38 only ACKs are dropped, SEND" send b duplicate_request 2
		firewall a input ''
		behind_firewall a "B38 READ answers are dropped" read b duplicate_request 2
		counters_mark
		firewall a output ''
		no_firewalls
		pair silent --kill --name "B38 without a firewall the first message passes" \
			--timeout 14 --retry-cnt 0
	else
		skip "$(head -n 1 "$TMP/nft")" "B38 firewalls"
	fi
}

# ----------------------------------------------------------------- B18: no receive
b18()
{
	local retry name
	for retry in 0 1 2 3 4 5 6; do
		name="B18 rnr_retry $retry"
		counters_mark
		pair rnr --name "$name" --rnr-retry $retry --min-rnr 20
		counted "$name" b send_rnr_err = $((retry + 1))
		counted "$name" a rcvd_rnr_err = $((retry + 1))
		counted "$name" a retry_rnr_exceeded_err = 1
	done
	counters_mark
	pair rnr --name "B18 rnr_retry 7" --rnr-retry 7 --min-rnr 20 --seconds 3
	# 10.24 ms a try
	counted "B18 rnr_retry 7 goes on" b send_rnr_err -ge 8
	counted "B18 rnr_retry 7 waits between tries" b send_rnr_err -le 330
}

# --------------------------------------------------------------------- path MTU
mtu()
{
	for op in send write; do
		pair mtu --name "path MTU 4096 here, 1024 there, $op" --mtu 4096,1024 --op $op \
			--size 4096
		pair mtu --name "path MTU 1024 here, 4096 there, $op" --mtu 1024,4096 --op $op \
			--size 4096
	done
}

# ------------------------------------------------------------- peers that vanish
vanish()
{
	for op in send read; do
		end=a
		[ $op = send ] || end=b
		if at $end tc qdisc add dev "$(of $end net)" root tbf rate 10mbit burst 10kb limit 20kb; then
			pair vanish --name "the peer vanishes in a $op" --op $op --size 1000000 --depth 2 \
				--timeout 14 --retry-cnt 2
			at $end tc qdisc del dev "$(of $end net)" root
		else
			skip "no shaper" "the peer vanishes in a $op"
		fi
	done
}

# ---------------------------------------------------- a smaller MTU in the network
hop()
{
	pair rate --name "the hop forwards" --seconds 1 --size 8192 --op send
	# A hop refuses what it would have to send on, not what comes in.
	for op in write read; do
		net=hb
		[ $op = write ] || net=ha
		ip netns exec nsm ip link set $net mtu 1500
		pair silent --name "a smaller MTU in the network, $op" --op $op --timeout 14 \
			--retry-cnt 2
		ip netns exec nsm ip link set $net mtu 4200
	done
}

# part NAME TOPOLOGY MTU
part()
{
	[ -z "${TEST_ONLY:-}" ] || [ "$TEST_ONLY" = "$1" ] || return
	topology_up "$2" "$3" && transfers_ready v4 || die "links of $2"
	"$1"
	topology_down
}
part b41 netns 1500
part b38 netns 1500
part b18 netns 1500
part mtu netns 4200
part vanish netns 4200
part hop hop 4200
finish
