#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What `make demo` shows, in its guest:
#
#   ( namespace nsa: va 10.20.0.1, link rxa )---( namespace nsb: vb 10.20.0.2, link rxb )
#
# the stock tools across the pair, then on rxa alone, which talks to itself.
. "$(dirname "$0")/lib.sh"

# told COMMAND...: shows the command and what it says
told()
{
	printf '\n$ %s\n' "$*"
	"$@" 2>&1 | sed 's/^/  /'
	return "${PIPESTATUS[0]}"
}

# told_at END COMMAND...: the same at an end
told_at()
{
	local prefix=${1}_at
	shift
	# shellcheck disable=SC2086
	told ${!prefix} "$@"
}
status=0

# outcome TOOL...: runs it and prints its figure, or "FAILED"
outcome()
{
	local tool=$1 well=0
	case $tool in
	ibv_rc_pingpong) run_pingpong || well=1 ;;
	*_bw) run_perftest "$tool" -s 65536 -n 100 || well=1 ;;
	*_lat) run_perftest "$tool" -s 8 -n 200 || well=1 ;;
	esac
	if [ $well != 0 ]; then
		echo FAILED
		show_both >&2
		return 1
	fi
	case $tool in
	ibv_rc_pingpong) echo ok ;;
	*_bw) echo "$(perf_value "$tool" 65536) MB/s" ;;
	*_lat) echo "$(perf_value "$tool" 8) us" ;;
	esac
}
tools=(ibv_rc_pingpong ib_{send,write,read}_{bw,lat})
declare -A figure
run_tools()
{
	local place=$1 tool
	for tool in "${tools[@]}"; do
		figure[$place,$tool]=$(outcome "$tool") || status=1
		PORT=$((PORT + 1))
		printf '  %-16s %s\n' "$tool" "${figure[$place,$tool]}"
	done
}

echo "Debian's kernel $(uname -r), its modules replaced by softroce's:"
for module in ib_core ib_uverbs rdma_rxe; do
	told cat "/sys/module/$module"/{initstate,taint} || status=1
done
if ours; then
	topology_up netns 4200 || status=1
else
	topology_up self 4200
fi
printf '\n$ %s\n' "rdma link add rxa type rxe netdev va      (in namespace nsa; likewise rxb on vb in nsb)"
told_at a rdma link || status=1
told ibv_devices || status=1
told_at a ibv_devinfo -d "$a_dev" || status=1
transfers_ready v4 || status=1

if [ "$topology" = netns ]; then
	printf '\nAcross the pair, nsa to nsb:\n'
	run_tools pair
fi
printf '\nOn %s alone, to itself:\n' "$a_dev"
b_at=$a_at b_dev=$a_dev b_net=$a_net b_v4=$a_v4 b_v6=$a_v6 b_gid=$a_gid
run_tools self
told_at a rdma statistic show link "$a_dev/1" || status=1

echo
printf '%-16s  %-22s  %16s  %18s\n' tool figure "two namespaces" "one link, itself"
printf '%-16s  %-22s  %16s  %18s\n' ---- ------ -------------- ----------------
for tool in "${tools[@]}"; do
	case $tool in
	*_bw) what="average, 64 KiB" ;;
	*_lat) what="typical latency, 8 B" ;;
	*) what="200 times 4 KiB, data" ;;
	esac
	printf '%-16s  %-22s  %16s  %18s\n' "$tool" "$what" "${figure[pair,$tool]:--}" \
		"${figure[self,$tool]:--}"
done
echo
if [ $status = 0 ]; then echo "All of it works."; else echo "Something FAILED, see above."; fi
exit $status
