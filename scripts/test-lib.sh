# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Tests in parts, each with its output in build/test/PART.log, and what they add
# up to; sourced by scripts/test and scripts/test-debug, which define PARTS (all
# there are), wanted (those to run) and part_KIND for each part KIND or KIND-WORD.

# What tells most of a machine that failed, among all that its log holds.
WHY='(lab|uml): error: |the (guest|peer)'\''s kernel reported|Kernel panic|BUG: |WARNING: |RIP: 0010:|Oops: '

LOGS=$ROOT/build/test
mkdir -p "$LOGS"

# count PART STATUS LOG: adds up what a part printed
count()
{
	local good bad skips sum
	if [ "$1" = kunit ]; then
		sum=$(grep -E '^[a-z: ]*[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$3" | tail -n 1)
		read -r good bad skips <<<"$(echo "${sum:-0 0 0}" | grep -oE '[0-9]+' | tr '\n' ' ')"
	else
		skips=$(grep -cE '^ok .*# SKIP' "$3" || true)
		good=$(($(grep -cE '^ok ' "$3" || true) - skips))
		bad=$(grep -cE '^not ok ' "$3" || true)
	fi
	if [ "$bad" = 0 ] && { [ "$2" != 0 ] || [ "$((good + skips))" = 0 ]; }; then
		echo "not ok - $1 ended with status $2 after $good findings" | tee -a "$3" >&2
		bad=1
	fi
	echo "$good $bad $skips"
}

run_part()
{
	local part=$1 log=$LOGS/$1.log began status=0 took pid
	: >"$log"
	began=$(now)
	say "---- $part..."
	if [ "$(type -t "part_$part")" = function ]; then
		"part_$part"
	else
		"part_${part%-*}" "${part##*-}"
	fi >"$log" 2>&1 </dev/null &
	pid=$!
	tail -n +1 -s 0.2 -f --pid=$pid "$log" |
		grep --line-buffered -E '^(not )?ok |^# ----|^# .* took|^lab: ' |
		sed -u "s/^/[$part] /" || true
	wait $pid || status=$?
	took=$(since "$began")
	echo "$took $(count "$part" "$status" "$log")" >"$LOGS/$part.result"
	[ "$status" = 0 ] || say "$part: status $status, see $log"
}

# among WORD LIST...
among()
{
	local word=$1
	shift
	printf '%s\n' "$@" | grep -qxF -- "$word"
}
lane()
{
	local part
	for part; do
		! among "$part" "${wanted[@]}" || run_part "$part"
	done
}

# start_parts: all that is wanted is known, and no old result counts
start_parts()
{
	local part
	began=$(now)
	for part in "${wanted[@]}"; do
		among "$part" "${PARTS[@]}" ||
			die "no part '$part'" "$ME --list names them"
		rm -f "$LOGS/$part.result"
	done
}

# end_parts: what came of it; false when something failed
end_parts()
{
	local part took good bad skips passed=0 failed=0 skipped=0 summary=()
	for part in "${wanted[@]}"; do
		read -r took good bad skips <"$LOGS/$part.result" || die "part $part broke off"
		passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skips))
		summary+=("$(printf '%-12s %7.0f s   %s passed, %s failed, %s skipped' \
			"$part" "$took" "$good" "$bad" "$skips")")
	done
	echo
	printf '%s\n' "${summary[@]}"
	echo "all of it took $(since "$began") s"
	# Last, and short: the end of an output is what is kept of it.
	[ "$failed" = 0 ] || echo "what failed:"
	for part in "${wanted[@]}"; do
		grep -q '^not ok ' "$LOGS/$part.log" || continue
		grep -E '^not ok ' "$LOGS/$part.log" | cut -c 1-160 | sed "s/^/  $part: /"
		grep -oE "($WHY).*" "$LOGS/$part.log" | tr -d '\r' | cut -c 1-100 | awk '!seen[$0]++' |
			head -n 6 | sed 's/^/    /' || true
	done
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
