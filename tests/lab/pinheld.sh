#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Commands over memory that does not come, since the program serves the file system
# it is of and never answers: nobody waits for such a program but itself.
#
#   pinheld.sh [COMMAND...]	those of tests/verbs/pinheld.c; all without
#
#   ( va rxa )---( vb )
. "$(dirname "$0")/lib.sh"
ours_only "memory that does not come" || finish
modprobe fuse 2>/dev/null
[ -e /dev/fuse ] || mknod /dev/fuse c 10 229
if ! grep -qw fuse /proc/filesystems; then
	skip "this kernel has no FUSE" "memory that does not come"
	finish
fi

# A device or a namespace that somebody waits for stays for minutes.
LIMIT=$(patience 10)

no_link() { ! rdma link | grep -q "link $1/"; }
no_netdev() { ! ip link show "$1" 2>/dev/null | grep -q .; }
held_up()
{
	topology_up netns 1500 && eventually 10 have_gid a v4 || die "a link"
	mkdir -p "$TMP/mnt"
	at a "$VERBS/pinheld" -d rxa -m "$TMP/mnt" "$1" >"$TMP/held" 2>&1 &
	program=$!
	eventually 20 file_has "$TMP/held" '^# held'
	verdict $? "$1: the command waits for its page" || show "$TMP/held"
	daemon=$(sed -n 's/^# daemon //p' "$TMP/held")
}
# released: the page comes to nothing, and the program can go on
released()
{
	! gone $program && ! file_has "$TMP/held" '^# command'
	verdict $? "$1: it still does" || show "$TMP/held"
	kill -9 "$daemon"
	eventually "$LIMIT" gone $program || kill -9 $program
	wait $program
	verdict $? "$1: $(sed -n 's/^# //p' "$TMP/held" | tail -n 1)" || show "$TMP/held"
}

[ $# -gt 0 ] || set -- register reregister
for command; do
	held_up $command
	check "$command: rdma link del ends at once" timeout "$LIMIT" ip netns exec nsa rdma link del rxa
	no_link rxa
	verdict $? "$command: the link is gone"
	released $command
	topology_down

	held_up $command
	# The program is of that namespace: it holds it, its interface goes.
	check "$command: the interface goes at once" timeout "$LIMIT" ip -n nsa link del va
	eventually "$LIMIT" no_link rxa
	verdict $? "$command: the link goes with it"
	released $command
	topology_down
done

# A program of another namespace, since all devices are shared, holds nothing of it.
topology_up netns 1500 && eventually 10 have_gid a v4 || die "a link"
a_net=va
mkdir -p "$TMP/mnt"
"$VERBS/pinheld" -d rxa -m "$TMP/mnt" register >"$TMP/held" 2>&1 &
program=$!
eventually 20 file_has "$TMP/held" '^# held'
verdict $? "from outside: the command waits for its page" || show "$TMP/held"
daemon=$(sed -n 's/^# daemon //p' "$TMP/held")
ip netns del nsa
eventually "$LIMIT" no_link rxa
verdict $? "from outside: the link goes with its namespace"
eventually "$LIMIT" ip netns exec nsb sh -c '! ip link show vb'
verdict $? "from outside: and the interfaces"
check "from outside: other namespaces come and go" timeout "$LIMIT" unshare -n true
released "from outside"
umount -l "$TMP/mnt" 2>/dev/null
topology_down
check "nothing is left of all that" eventually 10 no_objects
finish
