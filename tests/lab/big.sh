#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# One message of as many bytes as there can be, and the machine stays awake.
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#       ping ------->          ten times a second meanwhile
#
#   tests/lab/big.sh [--full]
#
# A quarter of a GiB; with --full 2 GiB, the most that a message can have: give
# the machine 6 GB of memory. Each byte is checked. A kernel that reports a stall
# fails the lab.
. "$(dirname "$0")/lib.sh"

size=$((1 << 28))
[ "${1:-}" != --full ] || size=$((1 << 31))
topology_up netns 4200 && transfers_ready v4 || die "two links"
need=$((2 * size / 1024 + 400000))
have=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
if [ "$have" -lt "$need" ]; then
	skip "needs $need kB of memory, there are $have" "a message of $size bytes"
	finish
fi

# median FILE: of the answers' times, in microseconds; the number of them
median()
{
	sed -n 's/.*time=\([0-9.]*\) ms.*/\1/p' "$1" | sort -n |
		awk '{ t[NR] = $1 } END { print int(t[int((NR + 1) / 2)] * 1000), NR }'
}

for op in SEND READ; do
	at a stdbuf -oL ping -n -i 0.1 "$b_v4" >"$TMP/ping" 2>&1 &
	ping=$!
	timed "$op of $size bytes" run_bytecheck v4 --one-way --largest $size \
		--only "largest $op"
	# The group's own line names the bytes: something did move.
	check "$op: each of them was checked" \
		grep -qE "^ok .*largest $op: 1 messages, [1-9]" "$TMP/client"
	kill $ping
	wait $ping 2>/dev/null
	read -r usec count < <(median "$TMP/ping")
	[ "$count" -ge 5 ] && [ "$usec" -le 10000 ]
	verdict $? "$op: a ping took $usec us meanwhile (median of $count)" ||
		show "$TMP/ping" 10
done
topology_down
finish
