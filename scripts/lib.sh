# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# What the scripts of this folder have in common; sourced, never run.

shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
CACHE=${SOFTROCE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/softroce}
ME=$(basename "$0")

say() { printf '%s: %s\n' "$ME" "$*" >&2; }

# Tell what is wrong and, from the second argument on, what to do about it.
die()
{
	printf '%s: error: %s\n' "$ME" "$1" >&2
	shift
	local hint
	for hint; do
		printf '%s:   %s\n' "$ME" "$hint" >&2
	done
	exit "${DIE_STATUS:-1}"
}

have() { command -v "$1" >/dev/null 2>&1; }

# need TOOL PACKAGE: a tool that scripts/setup would have installed
need()
{
	have "$1" || die "$1 is not installed (package $2)" \
		"as root, run: scripts/setup"
}

now() { date +%s.%N; }

# since START: seconds from then to now, one decimal
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

# take_lock NAME: for the rest of this script, one process at a time
take_lock()
{
	local fd
	mkdir -p "$CACHE"
	exec {fd}>"$CACHE/.lock-${1// /-}"
	flock -n "$fd" || {
		say "waiting for another $1 to end..."
		flock "$fd"
	}
}

# watch_step LABEL LOG COMMAND...: run a long step with its output in LOG and
# tell every half minute how far it got (progress_of LOG, if defined, says it)
watch_step()
{
	local label=$1 log=$2 start pid status=0 tick=0
	shift 2
	start=$(now)
	say "$label..."
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		tick=$((tick + 1))
		if [ $((tick % 30)) = 0 ]; then
			say "  $label: $(since "$start") s$(progress_of "$log")"
		fi
	done
	wait "$pid" || status=$?
	if [ "$status" != 0 ]; then
		tail -n 25 "$log" >&2
		say "$label failed; the whole output is in $log"
		return "$status"
	fi
	say "$label took $(since "$start") s"
}

progress_of() { :; }

# Reports of a kernel in distress. Printed by scripts that read a kernel log.
SPLATS='WARNING: |BUG: |kernel BUG at|Oops: |Oops\b|KASAN: |UBSAN: |KCSAN: '
SPLATS+='|Kernel panic|general protection fault|INFO: task .* blocked for more'
SPLATS+='|soft lockup|hard LOCKUP|detected stalls? on|self-detected stall'
SPLATS+='|possible circular locking|possible recursive locking'
SPLATS+='|inconsistent lock state|inconsistent .* usage|suspicious RCU usage'
SPLATS+='|DEBUG_LOCKS_WARN_ON|sleeping function called|scheduling while atomic'
SPLATS+='|refcount_t: |list_(add|del) corruption|Bad page state|ODEBUG: '
SPLATS+='|unregister_netdevice: waiting for|page allocation failure'
SPLATS+='|new suspected memory leaks|Unable to handle kernel|NETDEV WATCHDOG'
SPLATS+='|Objects remaining in|still has locks held|rcu_sched kthread starved'
