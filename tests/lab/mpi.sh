#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Open MPI and MPICH as Debian has them, on IPv4 GIDs: two ranks that share
# nothing but the network, with each byte checked and the links' own counters.
#
#   ( va rxa )---( vb rxb )    two namespaces that see no link of the other
. "$(dirname "$0")/lib.sh"

# Also when this ends early: what runs next expects the mode it knows.
cleanup_all()
{
	topology_down
	[ ${#holders[@]} = 0 ] || kill "${holders[@]}" 2>/dev/null
	wait 2>/dev/null
	eventually 10 rdma system set netns shared
}
holders=()

# machine END: what programs tell two machines by: the namespaces of a process that
# waits. Those of PIDs cannot be entered from one another: each rank makes its own,
# with its own /proc, by which UCX tells them apart.
machine()
{
	local file=$TMP/machine.$1
	# shellcheck disable=SC2016
	at "$1" unshare -uim sh -c '
		mount -t tmpfs tmp /dev/shm && hostname "machine-$1"
		echo $$ >"$2"
		exec sleep 1000' sh "$1" "$file" &
	eventually 10 test -s "$file" || return
	holders+=("$(<"$file")")
	printf -v "${1}_at" '%s' "nsenter -t $(<"$file") -n -u -i -m -r -w"
}

# What mpirun and mpiexec take for ssh: AGENT HOST COMMAND...
agent()
{
	cat >"$TMP/agent" <<-E
		#!/bin/sh
		while case \$1 in -*) true ;; *) false ;; esac; do shift; done
		case \$1 in
		$a_v4) at='$a_at' ;;
		$b_v4) at='$b_at' ;;
		*) exit 1 ;;
		esac
		shift
		exec \$at sh -c "\$*"
	E
	chmod +x "$TMP/agent"
}

# counter END xmit|rcv: bytes
counter()
{
	echo $((4 * $(at "$1" cat "/sys/class/infiniband/$(of "$1" dev)/ports/1/counters/port_$2_data")))
}
# exchange FLAVOUR COMMAND...: two ranks, and what they moved
exchange()
{
	local flavour=$1 end way i payload before=() after=() least
	shift
	if [ ! -x "$TOP/build/mpi/exchange.$flavour" ]; then
		skip "no mpicc.$flavour: scripts/setup test installs it" "$flavour"
		return
	fi
	for end in a b; do for way in xmit rcv; do before+=("$(counter $end $way)"); done; done
	at a timeout -k 5 120 "$@" \
		unshare -p --fork --kill-child --mount-proc "$TOP/build/mpi/exchange.$flavour" >"$TMP/mpi" 2>&1
	verdict $? "$flavour: messages, PUT, GET, atomics and a reduction, each byte checked" ||
		{ show "$TMP/mpi"; return; }
	payload=$(sed -n 's/^ranks 2 payload //p' "$TMP/mpi")
	for end in a b; do for way in xmit rcv; do after+=("$(counter $end $way)"); done; done
	least=$((after[0] - before[0]))
	for i in 1 2 3; do
		[ $((after[i] - before[i])) -ge $least ] || least=$((after[i] - before[i]))
	done
	[ "$least" -ge "${payload:-1000000000}" ]
	verdict $? "$flavour: its ${payload:-unknown} bytes went over both links ($least)" ||
		show "$TMP/mpi"
}

eventually 10 rdma system set netns exclusive || die "the mode changes"
topology_up netns 4200 && transfers_ready v4 || die "links in two namespaces"
machine a && machine b || die "two machines"
agent
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Debian's package switches UCX off. Two ranks share one processor here, and the
# machine: where they wait, they let each other run.
exchange openmpi mpirun.openmpi --host "$a_v4,$b_v4" --mca plm_rsh_agent "$TMP/agent" \
	--mca pml ucx --mca osc ucx --mca btl '^vader,tcp' --mca mpi_yield_when_idle 1
exchange mpich mpiexec.mpich -launcher ssh -launcher-exec "$TMP/agent" \
	-hosts "$a_v4,$b_v4" -iface va
topology_down
finish
