#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# The faults that one device and one program can show: see tests/verbs/cases.h.
#
#   [va rxa]--.    one link, to itself
#      ^------'
#
# With --full: those that take minutes as well.
. "$(dirname "$0")/lib.sh"

topology_up self 4200 || die "a link"
transfers_ready v4 || die "a GID"
dirs=(--dir /dev/shm)
echo 8 >/proc/sys/vm/nr_hugepages
truncate -s 64M "$TMP/ext4"
modprobe -a loop ext4 nd_e820 nd_pmem 2>/dev/null
# with_ext4 NAME SOURCE OPTIONS: a file system more to map files of
with_ext4()
{
	mkdir "$TMP/$1"
	if mkfs.ext4 -qF -b 4096 "$2" && mount -o "$3" "$2" "$TMP/$1"; then
		dirs+=(--dir "$TMP/$1")
	else
		skip "cannot mount $2 with ext4 -o $3" "C10 on $1"
	fi
}
with_ext4 disk "$TMP/ext4" loop
if eventually 5 [ -b /dev/pmem0 ]; then
	with_ext4 dax /dev/pmem0 dax
else
	skip "this machine has no persistent memory" "C10 on dax"
fi
options=()
ours || options+=(--foreign)
pass_on "$VERBS/cases" -d rxa -g "$a_gid" "${dirs[@]}" "${options[@]}" "$@"
if [ $# = 0 ] && mountpoint -q "$TMP/dax"; then
	file_has "$TMP/pass" '^ok .*C10 .*/dax \(DAX\), shared'
	verdict $? "C10 files came straight from persistent memory"
fi
pass_on "$VERBS/cases" -d rxa -g "$a_gid" "${options[@]}" --fork-init C23
check_text "A34 ibv_devices works for a plain user" 'rxa' \
	setpriv --reuid=65534 --regid=65534 --clear-groups ibv_devices
check_text "A34 ibv_devinfo too" 'PORT_ACTIVE' \
	setpriv --reuid=65534 --regid=65534 --clear-groups ibv_devinfo -d rxa
check_text "nothing is left of all that" 'rxa: pd [01] cq [01] qp [01] cm_id 0 mr 0 ctx 0' rdma res
umount "$TMP/disk" "$TMP/dax" 2>/dev/null
finish
