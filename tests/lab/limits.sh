#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# One program takes all it can get of each kind of object, in a cgroup with 64
# MiB, while another outside goes on; then the rdma controller's limits.
#
#   ( va rxa )---.     cgroup "hoard": memory.max, rdma.max   hoard KIND
#        ^       |
#        '-------'     outside: ibv_rc_pingpong
#
#   tests/lab/limits.sh [--full | KIND...]     --full: every kind
. "$(dirname "$0")/lib.sh"
ours_only "limits" || finish

ROOT_CG=/sys/fs/cgroup
CG=$ROOT_CG/hoard
# What the machine may lose besides what is charged: slabs that are begun, per-CPU
# stocks, the kernel's share of mappings.
SLACK=$((20 * 1024))
# Of each sort one. The others are as small, or as large.
kinds=(context pd mr ah cq-max srq-large qp-large qp-used) objects=(mw srq)
case ${1:-} in
'') ;;
--full) mapfile -t kinds < <("$VERBS/hoard" --kinds); objects=(mr mw ah cq srq) ;;
*) kinds=("$@") ;;
esac

mountpoint -q $ROOT_CG || mount -t cgroup2 cgroup2 $ROOT_CG || die "no cgroup2"
echo "+memory +rdma" >$ROOT_CG/cgroup.subtree_control || die "no memory and rdma controllers"
# Free pages that a processor keeps for itself do not count as available.
echo 1000 >/proc/sys/vm/percpu_pagelist_high_fraction
topology_up self 1500 || die "a link"
transfers_ready v4 || die "GIDs"
trap 'stop_hoard; rmdir $CG; echo 0 >/proc/sys/vm/percpu_pagelist_high_fraction
	cleanup_all; rm -rf "$TMP"' EXIT
# new_cgroup: without limits, and with no past
new_cgroup()
{
	[ ! -d $CG ] || eventually 5 rmdir $CG
	mkdir $CG || die "no cgroup"
}

# ------------------------------------------------------------------ the hoarder

hoarder=''
# begin_hoard KIND [OPTION...]: runs it in the cgroup until it has said what it made,
# or is dead
begin_hoard()
{
	local kind=$1
	shift
	mkfifo "$TMP/hold.$kind"
	: >"$TMP/hoard"
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh $CG \
		"$VERBS/hoard" -d rxa -g "$a_gid" "$@" "$kind" \
		<"$TMP/hold.$kind" >"$TMP/hoard" 2>"$TMP/hoard.err" &
	hoarder=$!
	exec 7>"$TMP/hold.$kind"
	rm "$TMP/hold.$kind"
	eventually 60 said '^(made|not ok)'
}
said() { file_has "$TMP/hoard" "$1" || gone "$hoarder"; }
# goes_on: it has waited with its cgroup nearly full
goes_on()
{
	echo >&7
	eventually 60 said '^(made .* then|not ok)'
}
# stop_hoard: lets it end, and waits until its cgroup is empty
stop_hoard()
{
	[ -n "$hoarder" ] || return 0
	exec 7>&-
	wait "$hoarder" 2>/dev/null
	hoarder=''
	eventually 20 file_has $CG/cgroup.events 'populated 0'
}

available() { awk '/^MemAvailable/ { print $2 }' /proc/meminfo; }
# What ended is freed after a grace period, and by a work or two.
settled()
{
	[ "$(<$CG/memory.current)" -lt $((1 << 20)) ] && [ "$(available)" -ge $(($1 - SLACK)) ]
}

# nearly_full KIND KIB: most of what it may have is charged, and no more is gone
nearly_full()
{
	local kind=$1 before=$2 lost had
	if ! grep -q 'so far$' "$TMP/hoard"; then
		# One alone does not fit.
		[ "$kind" = cq-max ] || not_ok "$kind: its cgroup was never nearly full"
		return
	fi
	lost=$((before - $(available)))
	had=$(($(<$CG/memory.current) / 1024))
	[ "$lost" -le $((had + SLACK)) ]
	verdict $? "$kind: the machine loses no more than is charged"
	note "$kind: charged $had KiB, the machine lost $lost KiB"
	goes_on
}

# hoards KIND MIB: all it can get
hoards()
{
	local kind=$1 limit=$(($2 * 1024)) before said began
	began=$(now_us)
	before=$(available)
	new_cgroup
	echo "${limit}K" >$CG/memory.max
	begin_hoard "$kind" -f $CG/memory.current -m $((limit * 1024 * 7 / 8))
	nearly_full "$kind" "$before"
	said=$(tail -n1 "$TMP/hoard")
	if gone "$hoarder"; then
		file_has $CG/memory.events '^oom_kill [1-9]'
		verdict $? "$kind: as many as there is room for, until its cgroup kills it"
	else
		file_has "$TMP/hoard" '^made [0-9]+, then ENOMEM'
		verdict $? "$kind: as many as there is room for, then ENOMEM"
	fi || show "$TMP/hoard.err"
	note "$kind in $2 MiB: $said"
	# Three are enough, and take their time.
	case $kind in
	context | *large | *used)
		run_pingpong
		verdict $? "$kind: another program goes on" || show_both
		;;
	esac
	stop_hoard
	eventually 10 settled "$before"
	verdict $? "$kind: all of it is given back" ||
		note "$((before - $(available))) KiB are missing, $(<$CG/memory.current) bytes charged"
	note "$kind took $((($(now_us) - began) / 100000)) ds"
}

# ------------------------------------------------------------------ rdma.max

# current: what of rxa the cgroup has
current() { sed -n "s/^\(${1:-rxa} .*[^ ]\) *$/\1/p" $CG/rdma.current; }
has_now() { [ "$(current)" = "rxa hca_handle=$1 hca_object=$2" ]; }
unused() { has_now 0 0 || [ -z "$(current)" ]; }

# refuses KIND HANDLES OBJECTS MADE: with what is needed besides, the limit is met
refuses()
{
	local kind=$1
	echo "rxa hca_handle=$2 hca_object=$3" >$CG/rdma.max || die "rdma.max"
	begin_hoard "$kind"
	[ "$(<"$TMP/hoard")" = "made $4, then EAGAIN" ] && has_now "$2" "$3"
	verdict $? "rdma.max: $kind beyond the limit is EAGAIN" ||
		{ show "$TMP/hoard"; show "$TMP/hoard.err"; note "$(current)"; }
	stop_hoard
	eventually 5 unused
	verdict $? "rdma.current: $kind is given back" || note "$(current)"
}

# What an end of the device leaves of a cgroup's use
link_ends()
{
	begin_hoard pd -n 3
	has_now 1 4 && rdma dev set rxa name rxz && [ -n "$(current rxz)" ] && ! has_now 1 4
	verdict $? "rdma.current: a new name of the device is seen"
	check "the link of a program with charges is deleted" rdma link del rxz
	links=()
	eventually 10 sh -c "! grep -q rxz $CG/rdma.current"
	verdict $? "rdma.current: and with it its line"
	stop_hoard
}

# A charge stays where it was made, whatever becomes of the program
moves()
{
	mkdir $ROOT_CG/other
	begin_hoard pd -n 3
	echo "$hoarder" >$ROOT_CG/other/cgroup.procs
	has_now 1 4 && ! grep -q '^rxa hca_handle=[1-9]' $ROOT_CG/other/rdma.current
	verdict $? "rdma.current: what was charged stays when its program moves"
	exec 7>&-
	wait "$hoarder"
	hoarder=''
	eventually 5 unused
	verdict $? "rdma.current: and is given back there"
	eventually 5 rmdir $ROOT_CG/other
}

for kind in "${kinds[@]}"; do
	case $kind in
	# Many small ones take long.
	pd | mr | mw | ah | context | channel) hoards "$kind" 10 ;;
	*) hoards "$kind" 64 ;;
	esac
done
new_cgroup
# Each has one PD, those of queue pairs a CQ and an MR besides.
refuses context 3 1 2
refuses pd 1 8 7
for kind in "${objects[@]}"; do
	refuses $kind 1 8 7
done
refuses qp 1 8 5
echo "rxa hca_handle=max hca_object=max" >$CG/rdma.max
moves
link_ends
finish
