#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Runs several scenarios in one guest, one after the other:
#
#   tests/lab/suite.sh SCENARIO... e.g. links events "transfer self:v4:1500:normal"
dir=$(dirname "$0") bad=''
for one; do
	read -ra words <<<"$one"
	echo "# ---- $one"
	started=$SECONDS
	timeout -k 10 "${TEST_SCENARIO_SECONDS:-1800}" "$dir/${words[0]}.sh" "${words[@]:1}"
	status=$?
	echo "# ---- ${words[0]}: status $status after $((SECONDS - started)) s"
	[ $status = 0 ] || bad="$bad ${words[0]}"
	[ $status != 124 ] || echo "not ok - ${words[0]} did not end"
done
[ -z "$bad" ] || echo "# failed:$bad"
[ -z "$bad" ]
