# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# RDMA modules in the running kernel: what scripts/load and scripts/unload
# share; sourced, after lib.sh.
#
# SYSROOT stands before /proc, /sys and /dev, so that a test can make its own.

SYSROOT=${SYSROOT:-}
# Ours, each before those that need it.
OURS=(ib_core ib_uverbs rdma_rxe)
# Every module that an RDMA stack begins with: the rest depends on them.
CORE=ib_core
DRY_RUN=
ARGS=()

parse_dry_run()
{
	local arg
	for arg; do
		case $arg in
		--dry-run) DRY_RUN=yes ;;
		-h | --help)
			usage
			exit 0 ;;
		*) ARGS+=("$arg") ;;
		esac
	done
}

# run COMMAND...: do it, or say what would be done
run()
{
	if [ -n "$DRY_RUN" ]; then
		echo "would run: $*"
	else
		"$@"
	fi
}

must_be_root()
{
	[ "$(id -u)" = 0 ] || [ -n "$DRY_RUN" ] ||
		die "only root can load and unload modules" "try: sudo make ..."
}

running_kernel() { cat "$SYSROOT/proc/sys/kernel/osrelease"; }

is_loaded() { [ -e "$SYSROOT/sys/module/$1/refcnt" ]; }

holders_of()
{
	local dir=$SYSROOT/sys/module/$1/holders
	[ ! -d "$dir" ] || ls "$dir"
}

# Whether the loaded core is ours: only ours exports that.
ours_loaded()
{
	is_loaded "$CORE" &&
		grep -q ' softroce_core_abi[[:space:]]*\[ib_core\]' \
			"$SYSROOT/proc/kallsyms"
}

# Loaded RDMA modules, in an order in which they can go: those that need the
# core, one after those that need it.
rdma_modules()
{
	local -A seen=()
	visit()
	{
		local holder
		[ -z "${seen[$1]:-}" ] || return 0
		seen[$1]=yes
		for holder in $(holders_of "$1"); do
			visit "$holder"
		done
		echo "$1"
	}
	! is_loaded "$CORE" || visit "$CORE"
}

# Links are not programs: they go without asking.
remove_links()
{
	local dir name
	for dir in "$SYSROOT"/sys/class/infiniband/*; do
		[ -e "$dir" ] || continue
		name=${dir##*/}
		# A soft device has no driver of a bus below it.
		if [ -e "$dir/device/driver" ]; then
			die "$name is RDMA hardware with a driver of the in-tree stack" \
				"softroce takes that stack's place: not on this machine," \
				"or unload the driver yourself first"
		fi
		run rdma link delete "$name" ||
			die "the link $name cannot be removed, see above"
	done
}

# programs_with PREFIX: "PID NAME" of who has such a file open
programs_with()
{
	local fd pid
	for fd in "$SYSROOT"/proc/[0-9]*/fd/*; do
		case $(readlink "$fd" 2>/dev/null) in
		"$1"*)
			pid=${fd%/fd/*}
			pid=${pid##*/}
			echo "$pid $(cat "$SYSROOT/proc/$pid/comm" 2>/dev/null)" ;;
		esac
	done | sort -nu
}

# An open device node holds its module, and the in-tree stack does not even
# remove a link then: say whose it is, and stop before anything is touched.
explain_users()
{
	local users
	users=$(programs_with /dev/infiniband/)
	[ -z "$users" ] || die "programs have RDMA devices open:" "$users" \
		"end them, then try again"
}

# remove_module NAME: or say what holds it
remove_module()
{
	local module=$1 holders count
	if [ -z "$DRY_RUN" ]; then
		holders=$(holders_of "$module" | tr '\n' ' ')
		[ -z "$holders" ] || die "$module is needed by: $holders" \
			"unload that first"
	fi
	run rmmod "$module" && return 0
	count=$(cat "$SYSROOT/sys/module/$module/refcnt" 2>/dev/null || echo "?")
	die "$module cannot be removed, it has $count users" \
		"a mounted file system (NFS, CIFS over RDMA), a target" \
		"(nvmet, iser) or a kernel socket (SMC, RDS) can be one;" \
		"the last resort is a reboot"
}
