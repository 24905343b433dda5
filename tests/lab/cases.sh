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
mkdir "$TMP/mnt"
modprobe -a loop ext4 2>/dev/null
if mkfs.ext4 -qF "$TMP/ext4" && mount -o loop "$TMP/ext4" "$TMP/mnt"; then
	dirs+=(--dir "$TMP/mnt")
else
	skip "cannot mount a file with ext4" "C10 on ext4"
fi
options=()
ours || options+=(--foreign)
pass_on "$VERBS/cases" -d rxa -g "$a_gid" "${dirs[@]}" "${options[@]}" "$@"
pass_on "$VERBS/cases" -d rxa -g "$a_gid" "${options[@]}" --fork-init C23
check_text "A34 ibv_devices works for a plain user" 'rxa' \
	setpriv --reuid=65534 --regid=65534 --clear-groups ibv_devices
check_text "A34 ibv_devinfo too" 'PORT_ACTIVE' \
	setpriv --reuid=65534 --regid=65534 --clear-groups ibv_devinfo -d rxa
check_text "nothing is left of all that" 'rxa: pd [01] cq [01] qp [01] cm_id 0 mr 0 ctx 0' rdma res
umount "$TMP/mnt" 2>/dev/null
finish
