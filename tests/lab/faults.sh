#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Things that die, or change, in the middle of traffic: again and again, and
# nothing is left of it.
#
#   tests/lab/faults.sh [--times N] [--full] [FAULT...|A18|B22]
#
#   ( va rxa )---( vb rxb )     SENDs, WRITEs and READs both ways
#   [tun0 rxt]                  the interface that goes with its link (A18)
#   [va rxa]--.                 a READ over a slow network from itself (B22)
#       ^-----'
#
# Each fault happens N times (3; --full: 50). Programs print what they saw and
# judge it: tests/verbs/traffic.c.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/memory.sh"

times=3
while [ $# -gt 0 ]; do
	case $1 in
	--times) times=$2; shift 2 ;;
	--full) times=50; shift ;;
	*) break ;;
	esac
done
ALL=(kill_client kill_server link_del_a link_del_b netdev_del netns_del_inside
	netns_del_outside addr_del mac_change mtu_lower mtu_too_low rename blip down
	rmmod_busy rmmod_all)
ours || { skip "the in-tree stack waits for programs" "faults in traffic"; finish; }

# For what is over soon: silence is an error after 14 s only.
patient='-r 7 -t 17'
# What has to return at once does so in two seconds. Emulated, or on a machine that
# does other things too, these are longer; the longest is shown.
limit_ms=2000
! grep -qE 'QEMU TCG|User Mode Linux' /proc/cpuinfo || limit_ms=$(patience 10000)

# ------------------------------------------------------------------ one round

declare -A bad slowest
fault=''
# complain WHY: the round of $fault is a bad one
complain()
{
	bad[$fault]=$((${bad[$fault]:-0} + 1))
	[ "${bad[$fault]}" -gt 3 ] || note "$fault: $*"
}
# TEST_TRACE=1 tells each step
trace() { [ -z "${TEST_TRACE:-}" ] || note "$((SECONDS - began)) s: $*"; }
# must WHAT COMMAND...
must()
{
	local what=$1
	shift
	trace "waiting until: $what"
	"$@" >"$TMP/must" 2>&1 && return
	complain "$what: $(head -n 3 "$TMP/must")"
	return 1
}
# act COMMAND...: has to work, and at once
act()
{
	local at ms
	trace "$@"
	at=$(date +%s%N)
	"$@" >"$TMP/act" 2>&1 || complain "$* failed: $(head -n 2 "$TMP/act")"
	ms=$((($(date +%s%N) - at) / 1000000))
	[ "$ms" -le "${slowest[$fault]:-0}" ] || slowest[$fault]=$ms
	[ "$ms" -le "$limit_ms" ] || complain "$* took $ms ms"
}

link_there() { at "$1" rdma link show "$(of "$1" dev)/1" 2>/dev/null | grep -q ACTIVE; }
no_links() { [ -z "$(rdma link show)" ]; }
port_open() { [ -n "$(at "$1" ss -Huln 'sport = :4791')" ]; }
port_closed() { ! port_open "$1"; }
ready_both() { link_there a && link_there b && have_gid a v4 && have_gid b v4; }

# The topology stays as long as it is whole.
need_topology()
{
	[ "${topology:-}" = netns ] && ready_both && return
	links=()
	topology_down
	eventually 20 no_links
	topology_up netns 4200 && eventually 20 ready_both
}

# start EXPECT_A EXPECT_B [OPTION...]: traffic that runs; 'killed' expects nothing
start()
{
	local expect_a=$1 expect_b=$2 a_in=$a_at b_in=$b_at host=$b_v4
	shift 2
	if [ "${outside:-}" ]; then a_in='' b_in='' host=127.0.0.1; fi
	[ "$expect_a" != killed ] || expect_a=none
	[ "$expect_b" != killed ] || expect_b=none
	next_port
	rm -f "$TMP/a" "$TMP/b"
	$b_in "$VERBS/traffic" --server -d "$b_dev" -p "$port" -e "$expect_b" "$@" \
		>"$TMP/b" 2>&1 &
	b_pid=$!
	$a_in "$VERBS/traffic" --client "$host" -d "$a_dev" -p "$port" -e "$expect_a" "$@" \
		>"$TMP/a" 2>&1 &
	a_pid=$!
	must "traffic starts" eventually 60 both_do
}
both_do() { file_has "$TMP/a" '^# done' && file_has "$TMP/b" '^# done'; }
done_so_far() { sed -n 's/^# done //p' "$TMP/$1" | tail -n 1; }
# More than could be under way: not what was under way
went_on() { [ "$(done_so_far "$1")" -gt $(($2 + 50)) ]; }
goes_on()
{
	local from_a from_b
	from_a=$(done_so_far a) from_b=$(done_so_far b)
	must "a goes on" eventually 30 went_on a "$from_a"
	must "b goes on" eventually 30 went_on b "$from_b"
}
# ends a|b...: its program ends well by itself
ends()
{
	local end pid status
	for end; do
		pid=${end}_pid status=0
		pid=${!pid}
		trace "waiting for the end of $end"
		eventually 90 gone "$pid" || kill -9 "$pid"
		wait "$pid" || status=$?
		[ $status = 0 ] && continue
		complain "the program at $end ended with status $status"
		[ "${bad[$fault]}" -gt 3 ] || show "$TMP/$end" 6
	done
}
reap() { wait "$1" 2>/dev/null; } 2>/dev/null
stop_both()
{
	kill -TERM "$a_pid" "$b_pid"
	ends a b
}
# No program runs: nothing of theirs is left on links that are
nothing_left()
{
	must "objects are gone" eventually 10 no_objects
}
links_are_gone()
{
	must "the links vanish" eventually 20 no_links
	links=()
}

# ------------------------------------------------------------------ the faults

kill_client()
{
	start killed retry
	act kill -9 $a_pid
	reap $a_pid
	must "the killed one's objects go" eventually 5 no_objects_of a
	ends b
}
no_objects_of() { at "$1" rdma res show "$(of "$1" dev)" | grep -q 'qp 0 .*ctx 0'; }
kill_server()
{
	start retry killed
	act kill -9 $b_pid
	reap $b_pid
	must "the killed one's objects go" eventually 5 no_objects_of b
	ends a
}
link_del_a()
{
	start fatal retry
	act at a rdma link del rxa
	must "port 4791 is closed" eventually 5 port_closed a
	ends a b
	at a rdma link add rxa type rxe netdev va
}
link_del_b()
{
	start retry fatal
	act at b rdma link del rxb
	must "port 4791 is closed" eventually 5 port_closed b
	ends a b
	at b rdma link add rxb type rxe netdev vb
}
netdev_del()
{
	start fatal fatal
	act at a ip link del va
	must "port 4791 is closed" eventually 5 port_closed a
	ends a b
	links_are_gone
}
# The name goes, the namespace lives until its last program ends.
netns_del_inside()
{
	start killed killed
	act ip netns del nsb
	goes_on
	act kill -9 $a_pid $b_pid
	reap $a_pid
	reap $b_pid
	links_are_gone
}
# The programs are elsewhere: nothing keeps the namespace.
netns_del_outside()
{
	outside=yes
	start fatal fatal
	outside=''
	act ip netns del nsb
	ends a b
	links_are_gone
}
# Without the address there are no answers; a new connection works with it back.
addr_del()
{
	start retry retry
	act at b ip addr del 10.20.0.2/24 dev vb
	must "its GID goes" eventually 5 eval '! have_gid b v4'
	ends a b
	act at b ip addr add 10.20.0.2/24 dev vb
	must "its GID comes back" eventually 5 have_gid b v4
	start killed killed
	goes_on
	stop_both
}
# ARP finds out: b forgets its neighbours and asks, which tells a.
mac_change()
{
	local mac=02:00:00:00:00:$((10 + RANDOM % 80))
	# shellcheck disable=SC2086 # several words
	start killed killed $patient
	act at b ip link set vb address $mac
	must "it is the new one" eval "at b ip link show vb | grep -q $mac"
	goes_on
	stop_both
}
# Above the path MTU it is nobody's matter.
mtu_lower()
{
	start killed killed
	act at a ip link set va mtu 1500
	act at b ip link set vb mtu 1500
	goes_on
	stop_both
	at a ip link set va mtu 4200
	at b ip link set vb mtu 4200
}
# Below it nothing long gets through any more.
mtu_too_low()
{
	start retry retry
	act at a ip link set va mtu 600
	act at b ip link set vb mtu 600
	ends a b
	at a ip link set va mtu 4200
	at b ip link set vb mtu 4200
}
# An older kernel renames only what is down.
rename()
{
	# shellcheck disable=SC2086 # several words
	start killed killed $patient
	at b ip link set vb name vx 2>/dev/null || at b sh -c 'ip link set vb down &&
		ip link set vb name vx && ip link set vx up'
	must "rdma link says the new name" eventually 5 eval 'at b rdma link | grep -q "netdev vx"'
	goes_on
	stop_both
	act at b sh -c 'ip link set vx down && ip link set vx name vb && ip link set vb up'
}
# Shorter than the retries last.
blip()
{
	# shellcheck disable=SC2086 # several words
	start killed killed $patient
	act at a sh -c 'ip link set va down; ip link set va up'
	goes_on
	stop_both
}
down()
{
	start retry retry
	act at a ip link set va down
	must "the port is down" eventually 5 eval '! link_there a'
	ends a b
	act at a ip link set va up
}
# Programs hold two modules. The driver's own end is that of its devices: it waits
# for nobody.
rmmod_busy()
{
	local module
	start fatal fatal
	for module in ib_core ib_uverbs; do
		! rmmod $module 2>"$TMP/rmmod" || complain "$module went away in mid-traffic"
		grep -qi 'in use' "$TMP/rmmod" || complain "rmmod $module: $(cat "$TMP/rmmod")"
	done
	act rmmod rdma_rxe
	ends a b
	links_are_gone
	act insmod "$(module_file rdma_rxe)"
}
# All three, behind programs that were killed.
rmmod_all()
{
	start killed killed
	act kill -9 $a_pid $b_pid
	reap $a_pid
	reap $b_pid
	reload
}
reload()
{
	local module
	act eventually 10 rmmod rdma_rxe
	links=()
	act rmmod ib_uverbs
	act rmmod ib_core
	for module in ib_core ib_uverbs rdma_rxe; do
		act insmod "$(module_file $module)"
	done
}

# ------------------------------------------------------------------ all of them

one_round()
{
	local began
	for fault in "${faults[@]}"; do
		began=$SECONDS
		need_topology || die "$fault: a topology for it"
		"$fault"
		nothing_left
		[ "${1:-}" != tell ] || note "$fault: a round takes $((SECONDS - began)) s"
	done
}

all_rounds()
{
	local began=$SECONDS i
	# The first round fills caches.
	one_round tell
	if [ "$times" -gt 1 ]; then
		need_topology
		memory_start $(((times - 1) * ${#faults[@]})) rxa
		for ((i = 1; i < times; i++)); do
			one_round
		done
		need_topology
		memory_end "$times rounds"
	fi
	for fault in "${faults[@]}"; do
		[ "${bad[$fault]:-0}" = 0 ]
		verdict $? "$fault, $times times: ${bad[$fault]:-0} bad, ${slowest[$fault]:-0} ms at most"
	done
	topology_down
	no_objects && eventually 10 port_closed a
	verdict $? "no object and no socket is left"
	note "faults took $((SECONDS - began)) s"
}

# ---------------------------------------------------------------- A18
# The interface of a tunnel goes, and nobody said "rdma link del" before.
a18()
{
	local open reader watcher options
	modprobe tun 2>/dev/null
	mkdir -p /dev/net
	[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
	a_at='' a_dev=rxt a_net=tun0 a_v4=10.30.0.1
	for open in "" idle traffic; do
		ip tuntap add dev tun0 mode tun || { skip "no tun devices" "A18"; break; }
		# Somebody has to read it, or it has no carrier.
		python3 -IS -c 'import fcntl, os, struct, time
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", b"tun0", 0x1001))
while True:
    try: os.read(fd, 4096)
    except OSError: time.sleep(0.1)' &
		reader=$!
		ip addr add 10.30.0.1/24 dev tun0
		ip link set tun0 up
		check "A18 a link on tun0" rdma link add rxt type rxe netdev tun0
		eventually 10 have_gid a v4
		if [ "$open" ]; then
			options=(--dead)
			[ $open = idle ] || options+=(--traffic)
			# Else the last one's words are taken for this one's.
			rm -f "$TMP/events"
			"$VERBS/events" -d rxt -g "$(gid_index a v4)" --want DEVICE_FATAL "${options[@]}" \
				>"$TMP/events" 2>&1 &
			watcher=$!
			eventually 20 file_has "$TMP/events" '^# ready' || show "$TMP/events"
		fi
		check "A18 tun0 is deleted at once${open:+ with a program on it, $open}" \
			timeout $((limit_ms / 1000)) ip link del tun0
		eventually 5 no_links
		verdict $? "A18 its link vanishes"
		eventually 5 port_closed a
		verdict $? "A18 port 4791 is closed"
		if [ "$open" ]; then
			eventually 40 gone $watcher || kill -9 $watcher
			wait $watcher
			verdict $? "A18 the program had its event and EIO ($open)" || show "$TMP/events"
			for read in 'ibv_get_cq_event that waited' 'ibv_get_cq_event'; do
				check_text "A18 the channel's read gave EIO too: $read" \
					"^ok $read on the dead device: Input/output error" cat "$TMP/events"
			done
		fi
		kill $reader 2>/dev/null
		wait $reader 2>/dev/null
	done
}

# ---------------------------------------------------------------- B22
# With a slow network, so that it is in the middle for long.
b22()
{
	topology_up self 1500 && transfers_ready v4 || die "B22 a link"
	tc qdisc add dev lo root netem delay 20ms || { skip "no netem" "B22"; return; }
	pass_on "$VERBS/cases" -d rxa -g "$a_gid" B22
	grep -qE '^ok B22 the region went in the middle of the READ$' "$TMP/pass"
	verdict $? "B22 it did"
	tc qdisc del dev lo root
	topology_down
}

[ $# -gt 0 ] || set -- A18 B22 "${ALL[@]}"
faults=()
for one; do
	case " ${ALL[*]} $one" in
	*" A18") a18 ;;
	*" B22") b22 ;;
	*" $one "*) faults+=("$one") ;;
	*) die "there is no fault '$one'" ;;
	esac
done
[ ${#faults[@]} = 0 ] || all_rounds
finish
