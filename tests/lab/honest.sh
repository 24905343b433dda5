# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Programs that mean well and check every byte, beside whatever a scenario does;
# sourced after lib.sh. They go on until $TMP/enough is there.

# honest NAME COMMAND...: over and over; to be run in the background. What it
# did is in $TMP/NAME.log, how often it went through in $TMP/NAME.rounds
honest()
{
	local name=$1 rounds=0
	shift
	while [ ! -e "$TMP/enough" ]; do
		if ! "$@" >"$TMP/$name.log" 2>&1; then
			cp "$TMP/$name.log" "$TMP/$name.bad"
			echo "# failed after $rounds good rounds" >"$TMP/$name.verdict"
			return 1
		fi
		rounds=$((rounds + 1))
		echo "$rounds" >"$TMP/$name.rounds"
	done
}
# honest_verdict NAME PID WHERE: its end
honest_verdict()
{
	local name=$1 pid=$2
	wait "$pid" && [ -e "$TMP/$name.rounds" ]
	verdict $? "byte checks $3 pass all the time: $(cat "$TMP/$name.rounds" 2>/dev/null) rounds" ||
		{ cat "$TMP/$name.verdict"; show "$TMP/$name.bad"; }
}

# between_links PORT [OPTION...]: one byte check from a to b
between_links()
{
	local port=$1
	shift
	at b "$VERBS/bytecheck" --server -d "$b_dev" -g "$b_gid" -p "$port" --limit 600 \
		"${server_options[@]}" &
	at a "$VERBS/bytecheck" --client "$b_v4" -d "$a_dev" -g "$a_gid" -p "$port" --quick \
		--limit 600 "$@" && wait $!
}
on_itself()
{
	"$VERBS/bytecheck" --loopback -d "$a_dev" -g "$a_gid" --quick --qps 2 --events --limit 600
}

# honest_start [links] [itself], honest_end: beside the liars
declare -A honest_pids=()
honest_start()
{
	local one
	for one; do
		case $one in
		links) honest links between_links 18700 --qps 4 & ;;
		itself) honest itself on_itself & ;;
		esac
		honest_pids[$one]=$!
	done
}
honest_end()
{
	local one
	touch "$TMP/enough"
	for one in "${!honest_pids[@]}"; do
		case $one in
		links) honest_verdict links "${honest_pids[links]}" "between two links" ;;
		itself) honest_verdict itself "${honest_pids[itself]}" "of a link with itself" ;;
		esac
	done
}

# liar_options [--seconds N] [--seed N] [--full]: sets $seconds and $seed
liar_options()
{
	seconds=20 seed=()
	while [ $# -gt 0 ]; do
		case $1 in
		--seconds) seconds=$2; shift 2 ;;
		--seed) seed=(--seed "$2"); shift 2 ;;
		--full) seconds=600; shift ;;
		*) die "unknown option $1" ;;
		esac
	done
}
