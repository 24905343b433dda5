#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Counters: of single queue pairs ("rdma statistic qp"), of the port in the files
# that monitoring reads, and who may change what is counted.
#
#   [va rxa]--.    one link, to itself, with programs on it
#      ^------'
. "$(dirname "$0")/lib.sh"

ours || { skip "soft-RoCE in the tree has none" "counters of queue pairs"; finish; }
topology_up self 4200 || die "a link"
transfers_ready v4 || die "a GID"
index=$(rdma dev show rxa | sed -n 's/^\([0-9]*\): .*/\1/p')

nldev() { "$TOP/tests/lab/nldev.py" "$@"; }
# refused NAME ERRNO REGEX NETLINK-REQUEST...: with that errno, and a sentence
refused()
{
	local name=$1 errno=$2 regex=$3
	shift 3
	nldev "$@" >"$TMP/refused"
	note "$name: $(<"$TMP/refused")"
	grep -qE "^$errno: .{20,}" "$TMP/refused" && grep -qE -- "$regex" "$TMP/refused"
	verdict $? "$name: refused with $errno, and a sentence tells why"
}
# start_traffic: a program that keeps a queue pair busy; $pid and $qpn
start_traffic()
{
	"$VERBS/events" -d rxa -g "$a_gid" --traffic --want DEVICE_FATAL --seconds 600 \
		>"$TMP/events" 2>&1 &
	pid=$!
	eventually 20 file_has "$TMP/events" '^# ready' || die "a program with traffic"
	qpn=$(rdma res show qp link rxa/1 pid $pid | sed -n 's/.*\blqpn \([0-9]*\).*/\1/p')
	[ -n "$qpn" ] || die "its queue pair"
}
stop_traffic() { kill -KILL "$@" 2>/dev/null; wait "$@" 2>/dev/null; }
# own NAME COUNTER: what a counter of queue pairs says
own() { rdma stat qp show link rxa/1 cntn "$2" | grep -oE "\b$1 [0-9]+" | grep -oE '[0-9]+$'; }
port() { cat "/sys/class/infiniband/rxa/ports/1/$1"; }
# grows NAME COUNTER
more_than() { [ "$(own "$1" "$2")" -gt "$3" ]; }
grows()
{
	local before
	before=$(own "$1" "$2") && eventually 5 more_than "$1" "$2" "$before"
}
no_counters() { ! rdma stat qp show | grep -q cntn; }

# Nobody asked for any
check_text "no mode at first" 'link rxa/1 mode qp auto off' rdma stat qp mode
check "no counters at first" no_counters

# By rule. While the programs stand still nothing moves, and numbers can be compared.
counters_mark
check "auto type,pid on" rdma stat qp set link rxa/1 auto type,pid on
check_text "the mode says so" 'mode qp auto type,pid on' rdma stat qp mode link rxa/1
start_traffic
one=$pid one_qp=$qpn
check_text "a new queue pair has a counter" "cntn 1 .*type RC .*pid $one comm events" \
	rdma stat qp show link rxa/1
check "it grows" grows sent_pkts 1
start_traffic
two=$pid two_qp=$qpn
check_text "another program has another" "cntn 2 .*pid $two comm events" rdma stat qp show
check_text "its queue pair is named" "LQPN:? *(<)?$two_qp" rdma stat qp show link rxa/1 cntn 2
check_text "a filter finds it" 'cntn 2' rdma stat qp show link rxa/1 lqpn "$two_qp"
check_text "a filter leaves the other out" '^$' \
	sh -c "rdma stat qp show link rxa/1 lqpn $two_qp | grep 'cntn 1'; echo"
check "JSON" sh -c "rdma -j stat qp show | python3 -IS -c 'import json, sys
assert len(json.load(sys.stdin)) == 2'"
kill -STOP "$one" "$two"
sleep 0.5
counters_read
declare -A sum=()
while read -r name value; do
	sum[$name]=$((${sum[$name]:-0} + value))
done < <(rdma stat qp show link rxa/1 | grep -oE '\b[a-z_]+ [0-9]+')
wrong=0 compared=0
for file in /sys/class/infiniband/rxa/ports/1/hw_counters/*; do
	name=${file##*/}
	[ -n "${sum[$name]:-}" ] || continue
	compared=$((compared + 1))
	[ "${sum[$name]}" = "$(grew a "$name")" ] && continue
	note "$name: ${sum[$name]} of queue pairs, $(grew a "$name") of the port"
	wrong=$((wrong + 1))
done
[ "$wrong" = 0 ] && [ "$compared" -ge 30 ]
verdict $? "what all queue pairs did is what the port did ($compared counters)"
[ "$(own rcvd_bytes 1)" -gt 4096 ] && [ "$(own sent_pkts 1)" = "$(own rcvd_pkts 1)" ]
verdict $? "packets to itself are sent and received ($(own sent_pkts 1), $(own rcvd_pkts 1))"
[ "$(port counters/port_xmit_data)" = $(($(port hw_counters/sent_bytes) / 4)) ] &&
	[ "$(port counters/port_rcv_data)" = $(($(port hw_counters/rcvd_bytes) / 4)) ] &&
	[ "$(port counters/port_xmit_packets)" = "$(port hw_counters/sent_pkts)" ] &&
	[ "$(port counters/port_rcv_packets)" = "$(port hw_counters/rcvd_pkts)" ] &&
	[ "$(port counters/port_xmit_data)" -gt 1000 ]
verdict $? "sysfs counters: data in units of four bytes, and packets"
cat /sys/class/infiniband/rxa/ports/1/counters/* >"$TMP/all"
[ "$(grep -cE '^[0-9]+$' "$TMP/all")" = "$(ls /sys/class/infiniband/rxa/ports/1/counters | wc -l)" ]
verdict $? "sysfs counters are all readable"
kill -CONT "$one" "$two"

# While the port binds by itself nobody else does
refused "bind by hand in auto mode" EINVAL 'auto off' bind "$index" 1 "$one_qp"
refused "unbind in auto mode" EINVAL 'auto off' unbind "$index" 1 "$one_qp" 1
refused "another rule while there are counters" EBUSY 'unbind|gone' auto "$index" 1 1
refused "a rule that is none" EINVAL 'type and pid' auto "$index" 1 8

# A counter goes with its queue pair, and its history stays
before=$(port hw_counters/sent_pkts)
stop_traffic "$two"
check_text "the counter of a program that ended is gone" '^$' \
	sh -c "rdma stat qp show link rxa/1 | grep 'cntn 2'; echo"
[ "$(port hw_counters/sent_pkts)" -ge "$before" ]
verdict $? "what it did stays in the port's counters"
check "auto off" rdma stat qp set link rxa/1 auto off
check_text "counters stay until they are unbound" 'cntn 1' rdma stat qp show link rxa/1
check "unbind all of a counter" rdma stat qp unbind link rxa/1 cntn 1
check "then it is gone" no_counters

# One counter for programs that know nothing of each other
check "auto type on" rdma stat qp set link rxa/1 auto type on
unshare --pid --fork --kill-child "$VERBS/events" -d rxa -g "$a_gid" --traffic \
	--want DEVICE_FATAL --seconds 600 >"$TMP/inside" 2>&1 &
outer=$!
eventually 20 file_has "$TMP/inside" '^# ready' || die "a program in a pid namespace"
inner=$(pgrep -P $outer)
inner_qp=$(rdma res show qp link rxa/1 pid "$inner" | sed -n 's/.*\blqpn \([0-9]*\).*/\1/p')
start_traffic
check_text "both are on one counter" "$inner_qp.*$qpn|$qpn.*$inner_qp" rdma stat qp show link rxa/1
nsenter -t "$inner" -p rdma stat qp show link rxa/1 >"$TMP/stat"
grep -q "$inner_qp" "$TMP/stat"
verdict $? "a pid namespace finds its own queue pair on it" || show "$TMP/stat"
! grep -q "$qpn" "$TMP/stat"
verdict $? "and no other's" || show "$TMP/stat"
stop_traffic "$pid" "$outer"
check "auto off again" rdma stat qp set link rxa/1 auto off
check "both are gone" eventually 5 no_counters

# By hand
start_traffic
two=$pid two_qp=$qpn
check "bind" rdma stat qp bind link rxa/1 lqpn "$one_qp"
id=$(rdma stat qp show link rxa/1 | sed -n 's/.*\bcntn \([0-9]*\).*/\1/p')
check "the counter has a number" test -n "$id"
check "it grows" grows sent_bytes "${id:-0}"
check "bind another to the same" rdma stat qp bind link rxa/1 lqpn "$two_qp" cntn "$id"
check_text "both are listed" "$one_qp.*$two_qp" rdma stat qp show link rxa/1 cntn "$id"
refused "bound twice" EINVAL 'unbind' bind "$index" 1 "$one_qp"
refused "no such queue pair" ENOENT 'resource show qp' bind "$index" 1 5
check "unbind one" rdma stat qp unbind link rxa/1 cntn "$id" lqpn "$one_qp"
refused "no such counter" ENOENT 'statistic qp show' bind "$index" 1 "$one_qp" 4711
refused "counter 0" EINVAL 'from 1' bind "$index" 1 "$one_qp" 0
refused "unbound twice" EINVAL 'not bound' unbind "$index" 1 "$one_qp" "$id"
refused "a rule while there are counters" EBUSY 'unbind' auto "$index" 1 3
refused "no such port" EINVAL 'port' bind "$index" 2 "$one_qp"
refused "no such device" ENODEV 'rdma dev' bind 4711 1 "$one_qp"
refused "no queue pair named" EINVAL 'lqpn' bind "$index" 1
check "the other is counted on" grows sent_pkts "$id"

# Optional counters: there are none
check_text "no optional counters" '^$' sh -c 'rdma stat mode; echo'
check "an empty set of them" nldev optional "$index" 1
check "rdma statistic unset" rdma statistic unset link rxa/1 optional-counters
refused "one of them" EINVAL 'optional' optional "$index" 1 3

# Who may: changing needs the right, looking does not
# The programs come from standard input: the folder may be closed to others.
as_user() { setpriv --reuid=65534 --clear-groups "$@"; }
as_user python3 - bind "$index" 1 "$one_qp" <"$TOP/tests/lab/nldev.py" >"$TMP/user"
note "$(<"$TMP/user")"
grep -q '^EPERM: .*CAP_NET_ADMIN' "$TMP/user"
verdict $? "a plain user cannot bind"
check_text "but look" "cntn $id" as_user rdma stat qp show
if as_user unshare -Urn true 2>/dev/null; then
	as_user unshare -Urn python3 - auto "$index" 1 3 <"$TOP/tests/lab/nldev.py" >"$TMP/user"
	note "$(<"$TMP/user")"
	grep -qE '^EPERM: .*another network namespace' "$TMP/user"
	verdict $? "the root of another namespace cannot change the port"
else
	skip "no user namespaces" "the root of another namespace cannot change the port"
fi
check_text "nothing has changed" "auto off" rdma stat qp mode
check_text "another pid namespace sees no counter of strangers" '^$' \
	unshare --pid --fork --mount-proc sh -c 'rdma stat qp show | grep cntn; echo'

# The link goes with counters on it
check "rdma link del with counters" rdma link del rxa
links=()
stop_traffic "$one" "$two"
check "no counter is left" no_counters

# What "rdma resource show" tells beside
check "the link is back" add_link a
transfers_ready v4 || die "a GID"
ibv_srq_pingpong -d rxa -g "$a_gid" -q 3 >"$TMP/srq" 2>&1 &
pid=$!
eventually 10 sh -c 'rdma res show srq | grep -q pid' || show "$TMP/srq"
first=$(rdma res show qp link rxa/1 | sed -n 's/.*\blqpn \([0-9]*\).*/\1/p' | sort -n | head -n 1)
check_text "rdma res show srq: type, queue pairs, domain, owner" \
	"srqn [0-9]+ type BASIC lqpn $first-$((first + 2)) pdn [0-9]+ pid $pid comm" \
	rdma res show srq
check_text "rdma res show mr: keys and address" \
	'rkey 0x[0-9a-f]+ lkey 0x[0-9a-f]+ iova 0x[0-9a-f]+ mrlen' rdma -d res show mr
check_text "rdma res show cq" 'cqe [0-9]+ users [0-9]+ .*pid' rdma res show cq
check_text "rdma res show ctx" "ctxn [0-9]+ pid $pid comm" rdma res show ctx
as_user rdma -d res show mr >"$TMP/mr"
grep -q mrlen "$TMP/mr" && ! grep -qE 'key|iova' "$TMP/mr"
verdict $? "a plain user sees no keys nor addresses of regions"
stop_traffic "$pid"
finish
