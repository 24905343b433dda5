#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Stock programs with their options: the pingpongs, perftest, and ibv_asyncwatch
# while the link changes. (Not qperf: 0.4.11 gives no GID, which RoCE cannot do
# without, unless it asks rdma_cm for the address.)
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#
#   tests/lab/programs.sh [--full]     all of them, not a handful
. "$(dirname "$0")/lib.sh"

full=''
[ "${1:-}" != --full ] || full=yes

# pingpong TOOL [OPTION...]
pingpong()
{
	PINGPONG=$1 timed "$*" run_pingpong "${@:2}"
}
# perftest TOOL [OPTION...]
perftest() { timed "$*" run_perftest "$@"; }

pingpongs()
{
	local tool
	for tool in ibv_{rc,uc,ud,srq}_pingpong; do
		pingpong $tool -s 1024
		[ -z "$full" ] || pingpong $tool -s 1 -e
	done
	[ -z "$full" ] || pingpong ibv_srq_pingpong -q 16 -e
}

# What each program offers of: events, all sizes, 16 queue pairs, both directions
# at once, shared receives, a duration.
matrix()
{
	local tool service options
	for service in RC UC UD; do
		for tool in ib_{send,write,read,atomic}_{bw,lat}; do
			case $service:$tool in
			RC:*) ;;
			UC:ib_send_* | UC:ib_write_* | UD:ib_send_*) ;;
			*) continue ;;
			esac
			options=(-c "$service" -s 1024)
			[[ $tool != ib_atomic_* ]] || options=(-c "$service")
			perftest $tool "${options[@]}" -n 200
			perftest $tool "${options[@]}" -D 5 -f 1
			# Events come with a count only; WRITE has none, and a datagram
			# that is lost would be waited for.
			case $service:$tool in
			*:ib_write_* | UD:*_bw) ;;
			*) perftest $tool "${options[@]}" -e -n 100 ;;
			esac
			[[ $tool == ib_atomic_* ]] || perftest $tool -c $service -a -n 5
			case $tool in
			*_bw)
				perftest $tool "${options[@]}" -q 16 -D 2 -f 0
				perftest $tool "${options[@]}" -b -D 2 -f 0
				;;
			esac
			case $service:$tool in
			RC:ib_send_bw | UD:ib_send_bw)
				perftest $tool "${options[@]}" --use-srq -q 16 -D 3 -f 1
				;;
			esac
		done
	done
}
handful()
{
	perftest ib_send_bw -c RC -e -q 16 -s 1024 -n 100
	perftest ib_write_bw -c RC -b -s 1024 -D 2 -f 0
	perftest ib_read_lat -c RC -s 1024 -n 100
	perftest ib_send_lat -c UD -e -s 1024 -n 100
}

# The watcher tells each event, in the library's words.
watched()
{
	local watcher
	at a stdbuf -oL ibv_asyncwatch -d "$a_dev" >"$TMP/watch" 2>&1 &
	watcher=$!
	eventually 10 file_has "$TMP/watch" 'async event FD'
	at a ip link set va down
	eventually 10 file_has "$TMP/watch" 'port error|IBV_EVENT_PORT_ERR|Port error'
	verdict $? "ibv_asyncwatch tells that the port went" || show "$TMP/watch"
	at a ip link set va up
	eventually 10 file_has "$TMP/watch" 'port active|IBV_EVENT_PORT_ACTIVE|Port active'
	verdict $? "ibv_asyncwatch tells that it came back" || show "$TMP/watch"
	kill $watcher
	wait $watcher 2>/dev/null
}

topology_up netns 4200 && transfers_ready v4 || die "links in two namespaces"
pingpongs
if [ -n "$full" ]; then matrix; else handful; fi
watched
topology_down
finish
