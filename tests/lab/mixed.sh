#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Everything at once, and things happen to it all the time.
#
#   ( va rxa )------( vb rxb )   calm: losses, short breaks, other MTUs, addresses,
#   (        )      (        )         neighbours; what was not killed has to be right
#   ( vc rxc )------( vd rxd )   wild: links and interfaces that go in mid-traffic
#   (  dz rxz )                  a link that comes and goes with a program on it
#
# Byte checks of RC (SENDs, WRITEs, READs, atomics) run on the calm links and see
# every byte. Stock programs of all kinds (RC, UC, UD, atomics, SRQs) run on both
# pairs, and are killed after a few seconds. In the end memory, pinned pages and
# objects are as they were, and the modules can go.
#
#   tests/lab/mixed.sh [--minutes N] [--seed N] [--full]      1 minute; --full: 30
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/memory.sh"
. "$(dirname "$0")/honest.sh"

minutes=1 seed=$RANDOM
while [ $# -gt 0 ]; do
	case $1 in
	--minutes) minutes=$2; shift 2 ;;
	--seed) seed=$2; shift 2 ;;
	--full) minutes=30; shift ;;
	*) die "unknown option $1" ;;
	esac
done
ours_only "everything at once" || finish
RANDOM=$seed
note "seed $seed, $minutes minutes"

# ------------------------------------------------------------------ the links

c_at='ip netns exec nsa' c_dev=rxc c_net=vc c_v4=10.22.0.1 c_v6=fd22::1
d_at='ip netns exec nsb' d_dev=rxd d_net=vd d_v4=10.22.0.2 d_v6=fd22::2
wild_up()
{
	ip link add vc netns nsa type veth peer name vd netns nsb &&
		end_up c 4200 && end_up d 4200 && add_link c && add_link d
}

faults=0 done_to=''
# act COMMAND...: something that happens, and has to work
act()
{
	"$@" >"$TMP/act" 2>&1 && return
	faults=$((faults + 1))
	note "$* failed: $(head -n 2 "$TMP/act")"
}

# What the calm links live through
calm_loss()
{
	local end
	for end in a b; do
		act at $end tc qdisc replace dev "$(of $end net)" root netem limit 10000 \
			delay 1ms reorder 5% loss 1% duplicate 1%
	done
	sleep 3
	act at a tc qdisc del dev va root
	act at b tc qdisc del dev vb root
}
calm_blip() { act at a sh -c 'ip link set va down; ip link set va up'; }
calm_mtu()
{
	local mtu
	for mtu in 1500 9000 4200; do
		act at a ip link set va mtu $mtu
		act at b ip link set vb mtu $mtu
		sleep 0.5
	done
}
calm_mac()
{
	act at b ip link set vb address 02:00:00:00:01:$((10 + RANDOM % 80))
}
calm_address()
{
	act at a ip addr add 10.20.0.77/24 dev va
	sleep 0.5
	act at a ip addr del 10.20.0.77/24 dev va
}
calm_link()
{
	local pid
	act ip link add dz type dummy
	act ip link set dz up
	act rdma link add rxz type rxe netdev dz
	"$VERBS/traffic" --hold 8 -d rxz -g 0 >"$TMP/hold.z" 2>&1 &
	pid=$!
	eventually 20 file_has "$TMP/hold.z" '^# holding'
	if [ $((RANDOM % 2)) = 0 ]; then
		act rdma link del rxz
		act ip link del dz
	else
		act ip link del dz
	fi
	kill -9 $pid
	wait $pid 2>/dev/null
}

# What the wild ones do not
wild_link_del()
{
	act at c rdma link del rxc
	sleep 0.5
	act at c rdma link add rxc type rxe netdev vc
}
no_wild() { ! rdma link show | grep -qE 'link rx[cd]/'; }
wild_netdev_del()
{
	act at d ip link del vd
	act eventually 20 no_wild
	act wild_up
}
wild_address()
{
	act at d ip addr del 10.22.0.2/24 dev vd
	sleep 2
	act at d ip addr add 10.22.0.2/24 dev vd
}
wild_down()
{
	act at c ip link set vc down
	sleep 2
	act at c ip link set vc up
}
wild_mtu()
{
	act at d ip link set vd mtu 600
	sleep 2
	act at d ip link set vd mtu 4200
}
ALL=(calm_loss calm_blip calm_mtu calm_mac calm_address calm_link
	wild_link_del wild_netdev_del wild_address wild_down wild_mtu)

# ------------------------------------------------------------------ the others

# Of each program the server's words and the client's own. -D: for a time.
PROGRAMS=("ib_send_bw -c UC -s 4096 -D 9" "ib_send_bw -c UD -s 1024 -D 9"
	"ib_write_bw -q 4 -s 8192 -D 9" "ib_read_bw -s 65536 -D 9" "ib_write_lat -n 5000"
	"ib_atomic_bw -A CMP_AND_SWAP -D 9" "ib_atomic_bw -A FETCH_AND_ADD -D 9"
	"ib_send_bw --use-srq -q 4 -s 1024 -D 9" "ib_write_bw -c UC -D 9"
	"ibv_srq_pingpong -n 9999" "ibv_ud_pingpong -s 1024 -n 9999" "ibv_rc_pingpong -e -n 9999"
	traffic soak group)

# crowd N: starts one program after the other, each for some seconds, until there
# is enough; run in the background
crowd()
{
	local port=$((20000 + $1 * 1000)) ran=0 near far program options
	RANDOM=$((seed + $1))
	while [ ! -e "$TMP/enough" ]; do
		port=$((port + 1)) near=a far=b
		[ $((RANDOM % 2)) = 0 ] || near=c far=d
		program=${PROGRAMS[RANDOM % ${#PROGRAMS[@]}]}
		case $program in
		traffic) options=() ;;
		*pingpong*) options=(-g 1) ;;
		*) options=(-x 1 -F) ;;
		esac
		couple "$((2 + RANDOM % 5))" "$program"
		ran=$((ran + 1))
		echo "$ran" >"$TMP/crowd.$1"
	done
}
# couple SECONDS PROGRAM...: both its ends, killed then. $near and $far are the ends.
couple()
{
	local seconds=$1 words server client host
	read -ra words <<<"$2"
	host=$(of "$far" v4)
	case ${words[0]} in
	traffic)
		server=("$VERBS/traffic" --server -d "$(of "$far" dev)" -p "$port")
		client=("$VERBS/traffic" --client "$host" -d "$(of "$near" dev)" -p "$port")
		;;
	soak)
		server=("$VERBS/soak" -d "$(of "$far" dev)" --qps 16 --seconds 9)
		client=("$VERBS/soak" -d "$(of "$near" dev)" --connections 1000)
		;;
	group)
		server=("$VERBS/group" -d "$(of "$far" dev)" --join 239.1.2.3 --members 4 --count 0)
		client=("$VERBS/group" -d "$(of "$near" dev)" --send 239.1.2.3 --count 5000)
		;;
	*)
		server=("${words[@]}" -d "$(of "$far" dev)" -p "$port" "${options[@]}")
		client=("${words[@]}" -d "$(of "$near" dev)" -p "$port" "${options[@]}" "$host")
		;;
	esac
	# The kill is meant for the program: not for a shell that waits for it.
	at "$far" timeout -s KILL "$seconds" "${server[@]}" >/dev/null 2>&1 &
	sleep 0.7
	at "$near" timeout -s KILL "$seconds" "${client[@]}" >/dev/null 2>&1
	wait $!
}

# ------------------------------------------------------------------ the minutes

topology_up netns 4200 || die "links in two namespaces"
wild_up || die "two more links"
transfers_ready v4 || die "GIDs"
memory_start 64 rxa

# Of silences shorter than 12 s they know nothing.
patient="--mtu 1024 --timeout 17"
# shellcheck disable=SC2086 # several words
honest links between_links 18700 --qps 4 $patient &
links_pid=$!
# shellcheck disable=SC2086
honest events between_links 18701 --qps 2 --events $patient &
events_pid=$!
crowds=()
for ((i = 0; i < 3; i++)); do
	crowd $i &
	crowds+=($!)
done
end=$((SECONDS + minutes * 60)) turn=0
# Each in turn, however slow the machine is, then at random.
while [ $SECONDS -lt $end ] || [ $turn -lt ${#ALL[@]} ]; do
	what=${ALL[turn]:-${ALL[RANDOM % ${#ALL[@]}]}}
	$what
	turn=$((turn + 1))
	done_to+=" ${what}"
	sleep 0.$((RANDOM % 10))
done
note "$turn things happened:$(tr ' ' '\n' <<<"$done_to" | sort | uniq -c | awk 'NF > 1 { printf " %s %s", $2, $1 }')"
[ "$faults" = 0 ] && [ "$turn" -gt 0 ]
verdict $? "all that was done to the links could be done: $turn things, $faults failed"
touch "$TMP/enough"
wait "${crowds[@]}"
ran=$(cat "$TMP"/crowd.* | awk '{ n += $1 } END { print n + 0 }')
[ "$ran" -gt 0 ]
verdict $? "$ran pairs of programs came and went"
honest_verdict links $links_pid "between the calm links"
honest_verdict events $events_pid "between them, by event,"

eventually 20 no_objects
verdict $? "all objects are gone" || rdma res | sed 's/^/#   /'
memory_end "after all that"
modules_go_and_return
finish
