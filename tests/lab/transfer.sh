#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Moves data with every stock tool and with bytecheck, in each CELL given:
#
#   tests/lab/transfer.sh [--what LIST] [--big] [--brief] [--all-sizes]
#                         TOPOLOGY:GID:MTU:ABI...
#
#   TOPOLOGY  self     [va rxa]--.          one link, to itself
#                          ^-----'
#             two      [va rxa]---[vb rxb]  two links in one namespace
#             netns    ( va rxa )---( vb rxb )   two namespaces over veth
#             peer     | rxa eth0 |---| eth0 rxe0 |   two machines
#   GID       v4, v6         the address family
#   MTU       1500, 4200     of the network
#   ABI       normal, noioctl (the uverbs ioctl is switched off),
#             nowrite (each write() command but POST_SEND is refused)
#
# LIST is any of bytecheck,pingpong,perftest (all). --big adds 64 MiB messages.
# --brief: perftest's programs take one size, and turns: those for bandwidth in the
# first cell, those for latency in the second, and so on. --all-sizes: but one for
# bandwidth in each of its cells takes all, for which it spends half a second a size
# on finding out the processor's speed.
. "$(dirname "$0")/lib.sh"

what=bytecheck,pingpong,perftest big=() brief='' turn=0
all_sizes=()
while [ $# -gt 0 ]; do
	case $1 in
	--what) what=$2; shift 2 ;;
	--big) big=(--big); shift ;;
	--brief) brief=yes; shift ;;
	--all-sizes) all_sizes=(ib_{send,write,read}_bw); shift ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || die "no cells given"

# The preloaded library really stands between: with both ways shut nothing works.
case $* in
*noioctl* | *nowrite*)
	topology_up self 1500 || die "no link for a first test"
	check_fails "with both halves of the ABI refused, no device opens" \
		env "LD_PRELOAD=$VERBS/refuse.so" REFUSE=both ibv_devinfo -d "$a_dev"
	topology_down
	;;
esac

cell()
{
	local topo gid mtu abi_name name tool started=$SECONDS ib_mtu sizes
	local tools=(ib_{send,write,read}_{bw,lat})
	case $brief$((turn % 2)) in
	yes0) tools=(ib_{send,write,read}_bw) ;;
	yes1) tools=(ib_{send,write,read}_lat) ;;
	esac
	IFS=: read -r topo gid mtu abi_name <<<"$1"
	name="$topo $gid $mtu $abi_name"
	if ! ours && { [ "$topo" = two ] || [ "$topo" = netns ]; }; then
		skip "not possible with the in-tree driver" "$name"
		return
	fi
	abi_env "$abi_name"
	if ! topology_up "$topo" "$mtu" || ! transfers_ready "$gid"; then
		not_ok "$name: links and GIDs"
		rdma link | sed 's/^/#   /'
		topology_down
		return
	fi
	case $mtu in 1500) ib_mtu=1024 ;; *) ib_mtu=4096 ;; esac
	check_text "$name: active_mtu" "active_mtu:[[:space:]]*$ib_mtu" \
		at a "${abi[@]}" ibv_devinfo -d "$a_dev"
	if wants bytecheck; then
		timed "$name: bytecheck, polled" run_bytecheck "$gid" --qps 2 "${big[@]}"
		server_options=(--events)
		timed "$name: bytecheck, by event" run_bytecheck "$gid" --qps 8 --quick --events
		server_options=()
	fi
	if wants pingpong; then
		timed "$name: ibv_rc_pingpong" run_pingpong
		timed "$name: ibv_rc_pingpong -e -s 65536" run_pingpong -e -s 65536
	fi
	for tool in "${tools[@]}"; do
		wants perftest || break
		sizes=(-a)
		[ -z "$brief" ] || [ "$tool" = "${all_sizes[turn / 2]:-}" ] || sizes=(-s 65536)
		timed "$name: $tool ${sizes[*]}" run_perftest "$tool" "${sizes[@]}" -n 5
	done
	turn=$((turn + 1))
	topology_down
	note "$name took $((SECONDS - started)) s"
}

for one; do
	cell "$one"
done
finish
