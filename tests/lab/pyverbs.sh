#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The tests of rdma-core's Python bindings, as Debian ships them.
#
#   [va rxa]--.    one link, to itself
#      ^------'
#
#   tests/lab/pyverbs.sh [TEST...]     as python3 -m unittest names them
. "$(dirname "$0")/lib.sh"

shipped=/usr/share/doc/rdma-core/tests
[ -d $shipped ] || { skip "python3-pyverbs is not installed" "pyverbs"; finish; }
topology_up self 4200 || die "a link"
transfers_ready v4 || die "a GID"
mkdir "$TMP/pyverbs"
cp -r $shipped "$TMP/pyverbs/tests"
gunzip -f "$TMP"/pyverbs/tests/*.gz
(cd "$TMP/pyverbs/tests" && PYTHONPATH=$TMP/pyverbs timeout 600 \
	/usr/bin/python3 run_tests.py -v --dev rxa --gid "$a_gid" "$@") \
	>"$TMP/out" 2>&1
status=$?

# A test's line begins with its name and ends with what came of it; what it
# prints meanwhile stands between the two.
awk '
	/^test[A-Za-z0-9_]* \(/ { name = $1 " " $2 }
	/\.\.\. ok$/ || /^ok$/ { print "ok", name; name = "" }
	/\.\.\. skipped / || /^skipped / { sub(/.*skipped /, ""); print "skip", name, $0; name = "" }
	/\.\.\. (FAIL|ERROR)$/ || /^(FAIL|ERROR)$/ { print "bad", name; name = "" }
' "$TMP/out" >"$TMP/verdicts"
while read -r what name class why; do
	case $what in
	ok) ok "pyverbs $name $class" ;;
	skip) skip "$why" "pyverbs $name $class" ;;
	bad) not_ok "pyverbs $name $class" ;;
	esac
done <"$TMP/verdicts"
grep -q '^Ran [1-9]' "$TMP/out"
verdict $? "pyverbs: $(grep '^Ran ' "$TMP/out"), status $status" || show "$TMP/out"
# What passes may not become a skip, nor a skip be one that nobody knows.
if ours && [ $# = 0 ]; then
	passed=$(grep -c '^ok ' "$TMP/verdicts")
	[ "$status" = 0 ] && [ "$passed" -ge 87 ] &&
		grep -q '^ok test_qp_ex_rc_atomic_write ' "$TMP/verdicts"
	verdict $? "pyverbs: $passed tests pass, that of ATOMIC WRITE too, 87 are due"
	sed -n 's/^| \([^|]*\) | yes |.*/\1/p' "$TOP/docs/pyverbs.md" | sed 's/; /\n/g' >"$TMP/known"
	grep '^skip ' "$TMP/verdicts" | grep -viFf "$TMP/known" >"$TMP/unknown"
	[ -s "$TMP/known" ] && [ ! -s "$TMP/unknown" ]
	verdict $? "pyverbs: docs/pyverbs.md has the reason of each skip" || show "$TMP/unknown"
fi
[ "$failed" = 0 ] || sed -n '/^=====/,$p' "$TMP/out" | sed 's/^/# /' | head -n 200
topology_down
finish
