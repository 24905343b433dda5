#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# make load and make unload, on a machine as people have it: the in-tree stack
# is loaded, and something holds it. Then the modules installed, so that
# `rdma link add` loads them by itself.
# Needs a guest without any stack: scripts/lab --stack none.
#
#   [$IFACE rxe_$IFACE]     one link on the machine's own interface
. "$(dirname "$0")/lib.sh"

release=$(uname -r)
build=$TOP/build/$release
# The kernel keeps a module's build id as the linker wrote it.
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
is_ours()
{
	local id
	id=$(build_id "$build/$1.ko")
	[ -n "$id" ] && od -An -v -tx1 "/sys/module/$1/notes/.note.gnu.build-id" |
		tr -d ' \n' | grep -q "$id\$"
}

check "the in-tree soft-RoCE is loaded" modprobe -a ib_uverbs rdma_rxe
check "and has a link" rdma link add held type rxe netdev "$IFACE"
python3 -c 'import time; f = open("/dev/infiniband/uverbs0"); time.sleep(60)' &
holder=$!
for _ in 1 2 3 4 5; do
	[ -e /proc/$holder/fd/3 ] && break
	sleep 1
done
check_fails "load is refused while a program holds the in-tree stack" \
	"$TOP/scripts/load" "$build" "$IFACE"
"$TOP/scripts/load" "$build" "$IFACE" >"$TMP/refused" 2>&1
show "$TMP/refused"
check "and names the program" grep -q "$holder" "$TMP/refused"
kill $holder
wait $holder 2>/dev/null

check "load takes the in-tree stack's place" "$TOP/scripts/load" "$build" "$IFACE"
for module in ib_core ib_uverbs rdma_rxe; do
	check "$module is ours" is_ours $module
done
check "a link is on $IFACE" grep -q "rxe_$IFACE/1 state ACTIVE" <(rdma link show)
check "a program finds it" ibv_devinfo -d "rxe_$IFACE"
check_fails "a missing interface is refused" "$TOP/scripts/load" "$build" nosuch0
check "unload takes all away" "$TOP/scripts/unload"
check_fails "no module is left" grep -qE '^(ib_core|ib_uverbs|rdma_rxe) ' /proc/modules

# A folder of few modules: depmod reads them all, and the emulator is slow.
mkdir -p "$TMP/modules/updates"
cp "$build"/{ib_core,ib_uverbs,rdma_rxe}.ko "$TMP/modules/updates/"
cp "/lib/modules/$release"/modules.builtin* "/lib/modules/$release/modules.order" "$TMP/modules/"
for module in udp_tunnel ip6_udp_tunnel; do
	cp "$(modinfo -n $module)" "$TMP/modules/"
done
mount --bind "$TMP/modules" "/lib/modules/$release"
check "the modules are installed" depmod -a "$release"
check "rdma link add loads them by itself" rdma link add auto type rxe netdev "$IFACE"
check "rdma_rxe is ours" is_ours rdma_rxe
check "ibv_devices loads the rest" ibv_devinfo -d auto
check "ib_uverbs is ours" is_ours ib_uverbs
finish
