#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# No mix-ups: in-tree modules do not bind to our ib_core, nor ours to theirs.
# Needs a guest without any stack: scripts/lab --stack none.
. "$(dirname "$0")/lib.sh"

build=$TOP/build/$(uname -r)
for module in ib_core ib_uverbs rdma_rxe; do
	[ -e "$build/$module.ko" ] || die "$build/$module.ko is not built"
done
# refused_module NAME FILE: insmod fails and the kernel log says why
refused_module()
{
	local name=$1 file=$2
	dmesg -C
	if insmod "$file" 2>"$TMP/insmod"; then
		not_ok "$name: it went in"
		rmmod "$(basename "$file" .ko)"
		return
	fi
	note "insmod: $(<"$TMP/insmod")"
	dmesg | sed 's/^/#   /' | head -n 4
	dmesg | grep -qiE 'SOFTROCE|Unknown symbol|softroce'
	verdict $? "$name: refused, and the kernel log says why"
}
plain() { case $1 in *.xz) xz -dc "$1" >"$TMP/$(basename "$1" .xz)"; echo "$TMP/$(basename "$1" .xz)" ;; *) echo "$1" ;; esac; }
in_tree() { plain "$(modinfo -n "$1")"; }
depends() { modinfo -F depends "$1" | tr , ' '; }

for module in ib_core ib_uverbs rdma_rxe; do
	for need in $(depends "$build/$module.ko"); do
		case $need in ib_core | ib_uverbs | rdma_rxe) ;; *) modprobe "$need" ;; esac
	done
done
check "our ib_core goes in" insmod "$build/ib_core.ko"
check "our ib_uverbs goes in" insmod "$build/ib_uverbs.ko"
for module in iw_cm ib_cm rdma_cm rdma_ucm ib_umad rdma_rxe; do
	refused_module "in-tree $module on our ib_core" "$(in_tree $module)"
done
check "our rdma_rxe goes in" insmod "$build/rdma_rxe.ko"
check "our modules go out again" rmmod rdma_rxe ib_uverbs ib_core

modprobe udp_tunnel ip6_udp_tunnel 2>/dev/null
check "the in-tree ib_uverbs and ib_core go in" modprobe ib_uverbs
refused_module "our rdma_rxe on the in-tree ib_core" "$build/rdma_rxe.ko"
rmmod ib_uverbs
refused_module "our ib_uverbs on the in-tree ib_core" "$build/ib_uverbs.ko"
# One name, one module: that needs no line in the kernel log.
insmod "$build/ib_core.ko" 2>"$TMP/insmod"
grep -q 'File exists' "$TMP/insmod"
verdict $? "our ib_core beside the in-tree one: refused, and insmod says why"
finish
