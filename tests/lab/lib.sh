# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# What the scenarios have in common; sourced. They run as root in a lab guest,
#
#   scripts/lab [--kernel ...] -- tests/lab/SCENARIO.sh
#
# print "ok N - ..." or "not ok N - ..." lines, "# " before everything else,
# and end with a status that agrees.
#
# A topology has two ends, a and b. Each is described by variables:
#
#   ${end}_at     command prefix that gets there ("", "ip netns exec NS", "on-peer")
#   ${end}_dev    its RDMA device        ${end}_net    its network interface
#   ${end}_v4     its addresses          ${end}_v6

set -u
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
VERBS=${TEST_VERBS:-$TOP/build/verbs}
# In-tree modules carry "intree" and, from Debian, a signature; ours do not.
if [ "$(cat /sys/module/ib_core/taint 2>/dev/null)" = "" ]; then STACK=intree; else STACK=ours; fi
STACK=${TEST_ASSUME:-$STACK}	# to try what only ours can on another that can
TMP=$(mktemp -d /tmp/scenario.XXXXXX)
trap 'cleanup_all; rm -rf "$TMP"' EXIT
PORT=18600		# the next TCP port to agree over

# ------------------------------------------------------------------ reporting

tests=0 failed=0 skipped=0

ok() { tests=$((tests + 1)); echo "ok $tests - $*"; }
not_ok() { tests=$((tests + 1)); failed=$((failed + 1)); echo "not ok $tests - $*"; }
# skip WHY NAME...
skip()
{
	local why=$1
	shift
	tests=$((tests + 1)) skipped=$((skipped + 1))
	echo "ok $tests - $* # SKIP $why"
}
note() { echo "# $*"; }
# show FILE: what a command said, as notes
show() { sed 's/^/#   /' "$1" | tail -n "${2:-40}"; }
# verdict STATUS NAME...: ok when STATUS is 0
verdict()
{
	local status=$1
	shift
	if [ "$status" = 0 ]; then ok "$*"; else not_ok "$*"; fi
	return "$status"
}
# check NAME COMMAND...: ok when it succeeds; its output shows when it does not
check()
{
	local name=$1
	shift
	if "$@" >"$TMP/check" 2>&1; then
		ok "$name"
	else
		not_ok "$name (status $?: $*)"
		show "$TMP/check"
		return 1
	fi
}
# check_fails NAME COMMAND...: ok when it fails
check_fails()
{
	local name=$1
	shift
	if "$@" >"$TMP/check" 2>&1; then
		not_ok "$name (it worked: $*)"
		show "$TMP/check"
		return 1
	fi
	ok "$name"
}
# check_text NAME REGEX COMMAND...: ok when its output matches, whatever its status
check_text()
{
	local name=$1 regex=$2
	shift 2
	"$@" >"$TMP/check" 2>&1
	if grep -qE -- "$regex" "$TMP/check"; then
		ok "$name"
	else
		not_ok "$name (no match of /$regex/: $*)"
		show "$TMP/check"
		return 1
	fi
}
# pass_on COMMAND...: a program that prints its own ok and not ok lines
pass_on()
{
	local status=0 bad=0 line
	"$@" >"$TMP/pass" 2>"$TMP/pass.err" || status=$?
	while IFS= read -r line; do
		case $line in
		"ok "*) tests=$((tests + 1)) ;;
		"not ok "*) tests=$((tests + 1)) bad=$((bad + 1)) ;;
		esac
		echo "$line"
	done <"$TMP/pass"
	[ ! -s "$TMP/pass.err" ] || show "$TMP/pass.err"
	failed=$((failed + bad))
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		not_ok "$(basename "$1") ended with status $status"
	fi
}
finish()
{
	note "$((tests - failed - skipped)) passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$tests" -gt 0 ]
	exit
}
# die WHY: the scenario cannot go on
die() { not_ok "$*"; exit 1; }

ours() { [ "$STACK" = ours ]; }
# ours_only NAME...: a skip line and false on a foreign stack
ours_only()
{
	ours && return
	skip "not a matter of the in-tree stack" "$@"
	return 1
}

# module_file NAME: where the module that runs in this kernel was built
module_file()
{
	local dir
	dir=$TOP/build/$(uname -r)
	[ -d "$dir" ] || dir=$TOP/build/um
	[ -e "$dir/$1.ko" ] && echo "$dir/$1.ko"
}

# no_objects: of any program. Each link has a PD and a CQ for the GSI.
no_objects()
{
	! rdma res | grep -E '(qp|mr|ctx|cm_id) [1-9]' && ! rdma res | grep -E '(pd|cq) [2-9]'
}

# ------------------------------------------------------------------ waiting

debug_kernel() { [[ $(uname -r) == *-softroce-* ]]; }
# patience N: so much of it, and tenfold on the debug kernels
patience() { debug_kernel && echo $(($1 * 10)) || echo "$1"; }
now_us() { echo "${EPOCHREALTIME/[.,]/}"; }
# eventually SECONDS COMMAND...: until it succeeds; false when it never does
eventually()
{
	local end=$(($(now_us) + $1 * 1000000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(now_us)" -lt "$end" ] || return 1
		sleep 0.05
	done
}
file_has() { grep -qE -- "$2" "$1"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
# listens END PORT PID: somebody in the namespace of that process does
listens()
{
	local _ address state port file
	case $(of "$1" at) in
	on-peer) [ -n "$(on-peer ss -Hltn "sport = :$2")" ]; return ;;
	esac
	printf -v port %04X "$2"
	for file in "/proc/$3/net/tcp" "/proc/$3/net/tcp6"; do
		[ -e "$file" ] || continue
		while read -r _ address _ state _; do
			[ "$state" != 0A ] || [ "${address##*:}" != "$port" ] || return 0
		done <"$file"
	done
	return 1
}
# await_server END PORT PID
await_server()
{
	local i
	for ((i = 0; i < 300; i++)); do
		listens "$1" "$2" "$3" 2>/dev/null && return
		gone "$3" && return 1
		sleep 0.05
	done
	return 1
}

# ------------------------------------------------------------------ the ends

at()
{
	local prefix=${1}_at
	shift
	# shellcheck disable=SC2086 # a prefix is several words
	${!prefix} "$@"
}
of() { local name=${1}_$2; echo "${!name}"; }

# gid_index END v4|v6: the index of its address among its device's GIDs
gid_index()
{
	local want
	if [ "$2" = v4 ]; then want=$(gid_of_v4 "$(of "$1" v4)"); else want=$(gid_of_v6 "$(of "$1" v6)"); fi
	# shellcheck disable=SC2016
	want=$(at "$1" sh -c 'cd /sys/class/infiniband/$1/ports/1/gids && grep -slxF "$2" *' \
		sh "$(of "$1" dev)" "$want")
	[ -n "$want" ] && echo "${want%%$'\n'*}"
}
gid_of_v4()
{
	local IFS=.
	# shellcheck disable=SC2086
	printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' $1
}
gid_of_v6()
{
	local head tail=() groups
	IFS=: read -ra head <<<"${1%%::*}"
	[ "$1" = "${1#*::}" ] || IFS=: read -ra tail <<<"${1#*::}"
	while [ $((${#head[@]} + ${#tail[@]})) -lt 8 ]; do head+=(0); done
	printf -v groups ':%04x' "${head[@]/#/0x}" "${tail[@]/#/0x}"
	echo "${groups#:}"
}
have_gid() { gid_index "$1" "$2" >/dev/null; }

# counters_read: what grew since counters_mark. Every namespace sees the counters,
# so they are read from here.
declare -A zero=() grown=()
counters_read()
{
	local end file key value
	grown=()
	for end in a b; do
		for file in "/sys/class/infiniband/$(of $end dev)/ports/1/hw_counters"/*; do
			[ -e "$file" ] || continue
			key=$end.${file##*/}
			read -r value <"$file"
			[ "$value" = "${zero[$key]:-0}" ] ||
				grown[$key]=$((value - ${zero[$key]:-0}))
		done
	done
}
counters_mark()
{
	local key
	zero=()
	counters_read
	for key in "${!grown[@]}"; do
		zero[$key]=${grown[$key]}
	done
}
# grew END NAME: by how much, as counters_read found it
grew() { echo "${grown[$1.$2]:-0}"; }
# show_grown: all that changed, as notes
show_grown()
{
	local end key line
	for end in a b; do
		line=''
		for key in "${!grown[@]}"; do
			[ "${key%%.*}" != $end ] || line+=" ${key#*.} ${grown[$key]}"
		done
		note "$(of $end dev):$line"
	done
}

links=()	# "END_AT|NAME" of the links to delete again
add_link()
{
	local end=$1 dev
	dev=$(of "$end" dev)
	at "$end" rdma link add "$dev" type rxe netdev "$(of "$end" net)" || return
	links+=("$end $dev")
}
cleanup_all() { topology_down; }

# ------------------------------------------------------------------ topologies

#   self   one link that talks to itself
#   two    two links in one namespace, on the two ends of a veth pair
#   netns  a namespace at either end of a veth pair, a link in each
#   raw    the same, without a link at b
#   hop    the same with a third between them, nsm, that forwards (IPv4 only)
#   peer   two machines
#
# topology_up NAME MTU
topology_up()
{
	topology=$1
	local mtu=$2
	a_at='' b_at='' a_dev=rxa b_dev=rxb a_net=va b_net=vb
	a_v4=10.20.0.1 b_v4=10.20.0.2 a_v6=fd20::1 b_v6=fd20::2
	case $topology in
	self | two)
		ip link add va type veth peer name vb || return
		;;
	netns | raw)
		a_at='ip netns exec nsa' b_at='ip netns exec nsb'
		ip netns add nsa && ip netns add nsb &&
			ip link add va netns nsa type veth peer name vb netns nsb || return
		;;
	hop)
		a_at='ip netns exec nsa' b_at='ip netns exec nsb' b_v4=10.21.0.2
		ip netns add nsa && ip netns add nsb && ip netns add nsm &&
			ip link add va netns nsa type veth peer name ha netns nsm &&
			ip link add vb netns nsb type veth peer name hb netns nsm || return
		hop_up "$mtu" || return
		;;
	peer)
		b_at=on-peer a_net=$IFACE b_net=eth0 a_dev=rxa b_dev=rxe0
		a_v4=$ADDR a_v6=$ADDR6 b_v4=$PEER b_v6=$PEER6
		at a ip link set "$a_net" mtu "$mtu" && at b ip link set "$b_net" mtu "$mtu" &&
			add_link a
		return
		;;
	esac
	end_up a "$mtu" && end_up b "$mtu" && add_link a || return
	case $topology in
	self) b_dev=$a_dev b_net=$a_net b_v4=$a_v4 b_v6=$a_v6 ;;
	raw) b_dev='' ;;
	hop)
		at a ip route add default via 10.20.0.254 &&
			at b ip route add default via 10.21.0.254 && add_link b
		;;
	*) add_link b ;;
	esac
}
hop_up()
{
	local m='ip netns exec nsm' net
	for net in ha:10.20.0.254 hb:10.21.0.254; do
		$m ip addr add "${net#*:}/24" dev ${net%:*} &&
			$m ip link set ${net%:*} mtu "$1" up || return
	done
	$m sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}
# one_by_one: trains are cut up before the hop, and not put together there
one_by_one()
{
	local net
	at a ethtool -K va tx-udp-segmentation off && at b ethtool -K vb tx-udp-segmentation off &&
		for net in ha hb; do
			ip netns exec nsm ethtool -K $net gro off || return
		done
}
end_up()
{
	local net v6=''
	net=$(of "$1" net)
	[ ! -e /proc/net/if_inet6 ] || v6="addr add $(of "$1" v6)/64 dev $net nodad"
	at "$1" sh -c "[ -z '$v6' ] || echo 0 >/proc/sys/net/ipv6/conf/$net/accept_dad
		exec ip -batch -" <<-E
		link set lo up
		addr add $(of "$1" v4)/24 dev $net
		link set $net mtu $2 up
		$v6
	E
}
topology_down()
{
	local link
	for link in "${links[@]}"; do
		# shellcheck disable=SC2086
		set -- $link
		at "$1" rdma link del "$2" 2>/dev/null
	done
	links=()
	case ${topology:-} in
	self | two) ip link del va ;;
	netns | raw) ip netns del nsa; ip netns del nsb ;;
	hop) ip netns del nsa; ip netns del nsb; ip netns del nsm ;;
	peer)
		at a ip link set "$a_net" mtu 1500
		at b ip link set "$b_net" mtu 1500
		;;
	esac 2>/dev/null
	topology=''
}

# swap_ends: a is what b was; the server of a transfer is always b
swap_ends()
{
	local what one
	for what in at dev net v4 v6; do
		one=$(of a $what)
		printf -v "a_$what" %s "$(of b $what)"
		printf -v "b_$what" %s "$one"
	done
}

# ------------------------------------------------------------------ transfers

# abi_env normal|noioctl|nowrite: sets $abi, a command prefix
abi_env()
{
	case $1 in
	normal) abi=() ;;
	noioctl) abi=(env "LD_PRELOAD=$VERBS/refuse.so" REFUSE=ioctl) ;;
	nowrite) abi=(env "LD_PRELOAD=$VERBS/refuse.so" REFUSE=write) ;;
	*) die "no ABI '$1'" ;;
	esac
}
abi=()

# took_effect FILE: in what it says, the preloaded library did its work
took_effect()
{
	case ${abi[*]} in
	'') return ;;
	*REFUSE=ioctl) file_has "$1" '# refuse: [1-9][0-9]* ioctl.* refused, 0 ioctl' ;;
	*REFUSE=write) file_has "$1" '# refuse: 0 ioctl.* refused, [1-9][0-9]* ioctl' ;;
	esac
}

# both_ends SECONDS SERVER... -- CLIENT...: runs the server at b and then the
# client at a, each with the chosen ABI. True when both end well. $port is the
# TCP port that the server has to listen on. Output: $TMP/server, $TMP/client
both_ends()
{
	local seconds=$1 server=() pid status=0
	shift
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	# Not at(): the process has to be the server's, not a shell that waits for it.
	# shellcheck disable=SC2086
	$b_at timeout -k 5 "$seconds" "${abi[@]}" "${server[@]}" >"$TMP/server" 2>&1 &
	pid=$!
	if ! await_server b "$port" "$pid"; then
		echo "the server did not listen on port $port" >"$TMP/client"
		status=1
	else
		at a timeout -k 5 "$seconds" "${abi[@]}" "$@" >"$TMP/client" 2>&1 || status=$?
	fi
	if [ "$status" != 0 ]; then
		# It may wait for a client that will not come any more.
		eventually 5 gone "$pid" || kill "$pid" 2>/dev/null
	fi
	wait "$pid" || status=$?
	if [ "$status" = 0 ] && ! { took_effect "$TMP/client" && took_effect "$TMP/server"; }; then
		echo "refuse.so was not asked" >>"$TMP/client"
		status=1
	fi
	return "$status"
}
# timed NAME COMMAND...: a transfer with a verdict that tells how long it took
timed()
{
	local name=$1 began status=0
	began=$(now_us)
	shift
	"$@" || status=$?
	verdict "$status" "$name ($((($(now_us) - began) / 100000)) ds)" || show_both
}
next_port() { PORT=$((PORT + 1)); port=$PORT; }

show_both()
{
	note "client:"
	show "$TMP/client"
	note "server:"
	show "$TMP/server"
}

# wants WORD: is it in the list $what, with commas?
wants() { case ,$what, in *,"$1",*) ;; *) return 1 ;; esac; }

# run_bytecheck v4|v6 [OPTION...]
run_bytecheck()
{
	local gid=$1
	shift
	next_port
	both_ends 600 "$VERBS/bytecheck" --server -d "$b_dev" -g "$b_gid" -p "$port" \
		"${server_options[@]}" -- \
		"$VERBS/bytecheck" --client "$(of b "$gid")" -d "$a_dev" -g "$a_gid" -p "$port" "$@"
}
server_options=()

# run_pingpong [OPTION...], of $PINGPONG
run_pingpong() { try_pingpong 120 "$@"; }
# try_pingpong SECONDS [OPTION...]: the same for no longer than that
try_pingpong()
{
	local tool=${PINGPONG:-ibv_rc_pingpong} limit=$1
	shift
	next_port
	both_ends "$limit" "$tool" -d "$b_dev" -g "$b_gid" -p "$port" -n 200 -c "$@" -- \
		"$tool" -d "$a_dev" -g "$a_gid" -p "$port" -n 200 -c "$@" "$b_v4"
}

# run_perftest TOOL [OPTION...]
run_perftest()
{
	local tool=$1
	shift
	next_port
	both_ends "${PERF_SECONDS:-300}" "$tool" -d "$b_dev" -x "$b_gid" -p "$port" -F -u 18 "$@" -- \
		"$tool" -d "$a_dev" -x "$a_gid" -p "$port" -F -u 18 "$@" "$b_v4"
}
# atomic_programs NAME: the two of perftest, with both operations
atomic_programs()
{
	local tool type
	for tool in ib_atomic_{bw,lat}; do
		for type in FETCH_AND_ADD CMP_AND_SWAP; do
			timed "$1: $tool -A $type" run_perftest "$tool" -A "$type" -n 100
		done
	done
}
# srq_programs NAME: those with shared receive queues
srq_programs()
{
	PINGPONG=ibv_srq_pingpong timed "$1: ibv_srq_pingpong" run_pingpong
	PINGPONG=ibv_srq_pingpong timed "$1: ibv_srq_pingpong -e -q 4" run_pingpong -e -q 4
	timed "$1: ib_send_bw --use-srq -q 4 -c RC" \
		run_perftest ib_send_bw --use-srq -q 4 -c RC -s 1024 -n 100
	# For seconds, not for a count: perftest 4.5 gives the SRQ receives for one QP's
	# messages, and waits for ever for a datagram that found none.
	timed "$1: ib_send_bw --use-srq -q 4 -c UD" \
		run_perftest ib_send_bw --use-srq -q 4 -c UD -s 1024 -D 3 -f 1
	file_has "$TMP/server" '^ *1024 +[1-9]'
	verdict $? "$1: and datagrams came in" || show_both
}
# datagram_programs NAME, connection_programs NAME: those of UD and of UC
datagram_programs()
{
	local tool
	PINGPONG=ibv_ud_pingpong timed "$1: ibv_ud_pingpong" run_pingpong -s 1024
	PINGPONG=ibv_ud_pingpong timed "$1: ibv_ud_pingpong -e" run_pingpong -e -s 1
	for tool in ib_send_{bw,lat}; do
		timed "$1: $tool -c UD" run_perftest "$tool" -c UD -s 1024 -n 200
	done
}
connection_programs()
{
	local tool
	PINGPONG=ibv_uc_pingpong timed "$1: ibv_uc_pingpong" run_pingpong
	PINGPONG=ibv_uc_pingpong timed "$1: ibv_uc_pingpong -e -s 65536" run_pingpong -e -s 65536
	for tool in ib_{send,write}_{bw,lat}; do
		timed "$1: $tool -c UC" run_perftest "$tool" -c UC -s 65536 -n 20
	done
}
# modules_go_and_return: nothing holds them, and afterwards a link works
modules_go_and_return()
{
	local module
	topology_down
	check "the three modules can go" rmmod rdma_rxe ib_uverbs ib_core
	for module in ib_core ib_uverbs rdma_rxe; do
		check "and come again: $module" insmod "$(module_file $module)"
	done
	topology_up self 1500 && transfers_ready v4 && run_pingpong
	verdict $? "and work" || show_both
}
# perf_value TOOL BYTES: from the client's last output, MB/s or microseconds
perf_value()
{
	local column=4
	case $1 in *_lat) column=5 ;; esac
	awk -v bytes="$2" -v column="$column" '$1 == bytes && NF > 4 { print $column }' "$TMP/client" |
		tail -n 1
}

# transfers_ready v4|v6: finds the GIDs of both ends; sets $a_gid, $b_gid
transfers_ready()
{
	eventually 10 have_gid a "$1" && eventually 10 have_gid b "$1" || return
	a_gid=$(gid_index a "$1")
	b_gid=$(gid_index b "$1")
}
