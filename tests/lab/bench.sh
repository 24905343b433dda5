#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The rows of tests/bench/rows with softroce_bench, in a machine whose clock
# counts instructions (scripts/lab --exact) or in User Mode Linux:
#
#   bench.sh [OPTION...] [ROW|GLOB...]     all rows, or those that match
#
#   --stack ours|intree   whose modules (ours)
#   --then-intree         after ours, the kernel's own
#   --native              the rows marked so, four times as long
#   --insert MODULE.ko    insert this one first
#   --crc ENGINE          have our driver compute the CRCs of the rows that follow
#                         by this one: table or pclmul
#
# "figure STACK ROW NS ENGINE" is a message's time, and "given" is the engine that the
# driver chose itself; "p99 STACK ROW NS" that of the
# slowest in a hundred. A row that a stack cannot do is "cannot STACK ROW WHY".
# The modules are inserted here (--stack none) and are gone afterwards.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/bench-lib.sh"

stacks=(ours) native='' engine=given picks=()
while [ $# -gt 0 ]; do
	case $1 in
	--stack) stacks=("$2"); shift ;;
	--then-intree) stacks=(ours intree) ;;
	--native) native=yes ;;
	--insert) check "$(basename "$2") goes in" insmod "$2" || finish; shift ;;
	--crc) engine=$2; shift ;;
	*) picks+=("$engine:$1") ;;
	esac
	shift
done
[ ${#picks[@]} != 0 ] || picks=("$engine:*")

# engines_for ROW: by which it is wanted
engines_for()
{
	local pick
	for pick in "${picks[@]}"; do
		# shellcheck disable=SC2254
		case $1 in ${pick#*:}) echo "${pick%%:*}" ;; esac
	done | sort -u
}

# use_engine ENGINE: for what our driver computes from now on
use_engine()
{
	engine=$1
	[ "$STACK" = ours ] || return 0
	[ "$engine" = given ] || echo "$engine" >/sys/module/rdma_rxe/parameters/crc ||
		not_ok "$STACK: the CRC engine $engine"
}

run=/sys/module/softroce_bench/parameters/run
# Programs take long to start in User Mode Linux: there are few. These two set REPLY.
packets()
{
	local dev n=0 more
	for dev in rxa rxb; do
		more=0
		[ ! -d /sys/class/infiniband/$dev ] ||
			read -r more </sys/class/infiniband/$dev/ports/1/hw_counters/sent_pkts
		n=$((n + more))
	done
	REPLY=$n
}
# value KEY DEFAULT WORD...: of the last word KEY=VALUE
value()
{
	local key=$1 word
	REPLY=$2
	shift 2
	for word; do case $word in "$key="*) REPLY=${word#*=} ;; esac; done
}

# one ROW WORD...: runs it and prints its figures
one()
{
	local row=$1 before sent least result status=0
	shift
	packets
	before=$REPLY
	echo "$* a=$a_dev b=$b_dev" >$run || status=1
	read -r result <$run
	packets
	sent=$((REPLY - before))
	value size 64 "$@"
	least=$(((REPLY + 4095) / 4096))
	value count 1000 "$@"
	least=$((least * REPLY))
	case " $* " in *" op=roof "*) least=0 ;; esac
	# shellcheck disable=SC2086
	set -- $result		# status S messages N ns T p50 P p99 Q max M
	[ "$6" = 0 ] || runs=$((runs + 1))
	if [ $status != 0 ] || [ "$sent" -lt $least ]; then
		not_ok "$STACK: $row: $result, $sent packets of $least at least"
		return
	fi
	ok "$STACK: $row"
	note "run $runs is $STACK $row $4"
	echo "figure $STACK $row $((($6 + $4 / 2) / $4)) $engine"
	[ "$8" = 0 ] || echo "p99 $STACK $row ${10}"
}

# four_times WORD...: sets words, with 4 MiB of memory at each side, which stay in a
# processor's cache
four_times()
{
	local slots
	value size 64 "$@"
	slots=$((4194304 / REPLY))
	value count 1000 "$@"
	words="$* slots=$((slots < REPLY ? slots : REPLY)) count=$((REPLY * 4))"
}

measure()
{
	local present='' row place words engines
	stack_up "$1"
	check "softroce_bench goes in" insmod "$(bench_module)" || finish
	# The names of this stack's addresses, for a profile
	[ -z "${OUT:-}" ] || cat /proc/kallsyms >"$OUT/kallsyms.$STACK"
	while read -r row place words; do
		case $row in '' | '#'*) continue ;; esac
		engines=$(engines_for "$row")
		[ "$engines" ] || continue
		if [ "$native" ]; then
			case $words in *native=1*) ;; *) continue ;; esac
			# shellcheck disable=SC2086
			four_times $words
		fi
		words=${words/native=1/}
		if [ "$STACK" = intree ] && [ "$place" != self ]; then
			echo "cannot $STACK $row no links in namespaces, nor two that talk"
			continue
		fi
		if [ "$place" != "$present" ]; then
			topology_down
			bench_topology "$place"
			verdict $? "$STACK: topology $place" || finish
			present=$place
		fi
		for engine in $engines; do
			use_engine "$engine"
			# shellcheck disable=SC2086
			one "$row" $words
		done
		[ "$place" = loss ] || continue
		[ "$(lost a)" -gt 0 ] && [ "$(lost b)" -gt 0 ]
		verdict $? "$STACK: $row: packets were lost each way"
	done <"$TOP/tests/bench/rows"
	topology_down
	check "softroce_bench goes out" rmmod softroce_bench
	stack_down
}

runs=0
for stack in "${stacks[@]}"; do
	measure "$stack"
done
finish
