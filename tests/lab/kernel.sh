#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the stack does for kernel consumers: a module of ours is one
# (tests/kernel), and tests between two links.
#
#   [va rxa]----veth----[vb rxb]
. "$(dirname "$0")/lib.sh"

ours_only "kernel consumers" || finish
module=$(module_file softroce_ktest) ||
	die "softroce_ktest.ko is missing: make KVER=$(uname -r) KBUILD_ARGS=SOFTROCE_KTEST=y"
topology_up two 1500 && transfers_ready v4
verdict $? "two links" || finish

dmesg | wc -l >"$TMP/before"
insmod "$module" dev=rxa dev2=rxb 2>"$TMP/insmod"
status=$?
dmesg | tail -n +"$(($(cat "$TMP/before") + 1))" | sed -n 's/.*softroce_ktest: //p' >"$TMP/lines"
while IFS= read -r line; do
	case $line in
	"ok - "*) ok "${line#ok - }" ;;
	"not ok - "*) not_ok "${line#not ok - }" ;;
	*) note "$line" ;;
	esac
done <"$TMP/lines"
verdict $status "the module says that all went well" || show "$TMP/insmod"
[ "$status" = 0 ] || finish

# Clients go with the device, and before the module.
check "a link goes while the module is one of its clients" rdma link del rxa
check "the module goes" rmmod softroce_ktest
check_fails "it missed no device that went" grep -q 'softroce_ktest: not ok' <(dmesg)
finish
