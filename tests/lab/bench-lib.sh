# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# What the benchmarks of a lab share; sourced after lib.sh.

# bench_module: the one that was built for this kernel and the stack that runs
bench_module()
{
	local release
	release=$(uname -r)
	[ "$STACK" != intree ] || release=bench-intree/$release
	echo "$TOP/build/$release/softroce_bench.ko"
}

# stack_up ours|intree: its modules, and no others
stack_up()
{
	local module dep
	STACK=$1
	if [ "$STACK" = intree ]; then
		check "the in-tree modules go in" modprobe rdma_rxe &&
			check "and uverbs" modprobe ib_uverbs || finish
		return
	fi
	for module in ib_core ib_uverbs rdma_rxe; do
		for dep in $(modinfo -F depends "$(module_file $module)" | tr , ' '); do
			case $dep in
			ib_core | ib_uverbs | rdma_rxe) ;;
			*) modprobe "$dep" || die "$dep, which $module needs" ;;
			esac
		done
		check "$module goes in" insmod "$(module_file $module)" || finish
	done
}

stack_down()
{
	local module
	modprobe -r rdma_ucm 2>/dev/null
	for module in rdma_rxe ib_uverbs rdma_cm iw_cm ib_cm ib_uverbs_support ib_core; do
		[ ! -d /sys/module/$module ] || rmmod $module
	done
	[ ! -d /sys/module/ib_core ]
	verdict $? "$STACK: the modules are gone"
}

# bench_topology self|two|netns|loss
bench_topology()
{
	local place=$1
	[ "$place" != loss ] || place=netns
	topology_up "$place" 4200 && transfers_ready v4 || return
	# Neighbours are known before anything is measured.
	[ "$place" = self ] || at a ping -q -c 1 -W 5 "$b_v4" >/dev/null || return
	[ "$1" != loss ] || { every_hundredth a && every_hundredth b; }
}

# every_hundredth END: of the packets that come in is dropped, always the same ones
every_hundredth()
{
	at "$1" nft -f - <<-'N'
		table ip loss {
			chain in {
				type filter hook prerouting priority 0
				udp dport 4791 numgen inc mod 100 0 counter drop
			}
		}
	N
}

# lost END: how many packets that was
lost() { at "$1" nft list table ip loss | sed -n 's/.* counter packets \([0-9]*\) .*/\1/p'; }
