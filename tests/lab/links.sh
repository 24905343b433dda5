#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# rdma link add and del: what is refused says why and loses nothing, names
# belong to the caller's namespace, links come and go without a trace.
#
#   [va rxa]---[vb]      and, for the names,   ( va )---( vb rxb )   plus va, again
. "$(dirname "$0")/lib.sh"

nldev() { "$TOP/tests/lab/nldev.py" "$@"; }
index_of() { rdma dev show "$1" 2>/dev/null | sed -n 's/^\([0-9]*\): .*/\1/p'; }

# refused NAME REGEX NETLINK-REQUEST...: it fails, and a whole sentence that
# matches says why
refused()
{
	local name=$1 regex=$2 before
	shift 2
	before=$(rdma link)
	if nldev "$@" >"$TMP/refused"; then
		if ours; then not_ok "$name: refused"; else skip "known fault there" "$name: refused"; fi
		# Whatever came of it must not stand in the way of what follows.
		rdma dev | sed -n '/: rxa: /!s/^\([0-9]*\): .*/\1/p' | while read -r index; do
			nldev dellink "$index" >/dev/null
		done
		return
	fi
	note "$name: $(<"$TMP/refused")"
	if ours; then
		grep -qE ': .{20,}' "$TMP/refused" && grep -qiE -- "$regex" "$TMP/refused"
		verdict $? "$name: a sentence tells why"
	fi
	[ "$(rdma link)" = "$before" ]
	verdict $? "$name: refused, and nothing else changed"
}

topology_up self 1500 || die "a first link"
check_text "the link is listed" 'link rxa/1 state ACTIVE physical_state LINK_UP netdev va' rdma link
check_fails "rdma link add on an unknown interface fails" \
	rdma link add rxz type rxe netdev nosuch0
refused "unknown interface" 'nosuch0|interface|netdev' newlink rxz rxe nosuch0
refused "second link on an interface" 'already|second|rxa' newlink rxz rxe va
refused "name in use" 'name|already|rxa' newlink rxa rxe vb
refused "no such link type" 'type|nosuch|driver' newlink rxz nosuch vb
refused "name too long" 'name|long' newlink "$(printf 'x%.0s' {1..80})" rxe vb
refused "name with a slash" 'name' newlink a/b rxe vb
refused "name with a percent sign" 'name|%' newlink 'a%n' rxe vb
refused "empty name" 'name' newlink '' rxe vb
modprobe 8021q 2>/dev/null
if ip link add link va name va.10 type vlan id 10 2>/dev/null; then
	ip link set va.10 up
	refused "A12 VLAN interface" 'vlan|va' newlink rxz rxe va.10
	ip link del va.10
else
	skip "no VLANs" "A12 VLAN interface"
fi
if modprobe vcan 2>/dev/null && ip link add vc0 type vcan 2>/dev/null; then
	refused "interface that is no network" 'type|ethernet|IP|carry|unsuitable|support' newlink rxz rxe vc0
	ip link del vc0
else
	skip "no vcan module" "interface that is no network"
fi
refused "deleting a link that is not there" 'no|index|device' dellink 4711
refused "an unknown request" '' raw 60
refused "a list of what has none" 'list' newlink rxz rxe vb 0x300
refused "a client's name that is none" 'EINVAL' raw 15 69=../x
# One of the two bits that ask for a list is NLM_F_EXCL here.
check "a link with the flags that 'ip link add' has" nldev newlink rxz rxe vb 0x600
rdma link del rxz
if ours_only "rename to a name in use"; then
	check "a second link, on vb" rdma link add rxb type rxe netdev vb
	refused "rename to a name in use" 'name|already|use' rename "$(index_of rxa)" rxb
	rdma link del rxb
fi
# Without the right to do it
# The program comes from standard input: the folder may be closed to others.
if setpriv --reuid=65534 --clear-groups python3 - newlink rxz rxe vb \
	<"$TOP/tests/lab/nldev.py" >"$TMP/user"; then
	not_ok "a plain user cannot add a link"
else
	note "$(<"$TMP/user")"
	grep -q EPERM "$TMP/user"
	verdict $? "a plain user cannot add a link"
fi

# Renaming
check "rdma dev set NAME name NEW" rdma dev set rxa name rxq
check_text "the new name is listed" 'rxq' rdma dev
check_text "libibverbs finds the new name" 'rxq' ibv_devices
check "sysfs has it" test -d /sys/class/infiniband/rxq/ports/1
check_fails "sysfs has not the old one" test -e /sys/class/infiniband/rxa
check_text "ibv_devinfo opens it" 'PORT_ACTIVE' ibv_devinfo -d rxq
check "and back" rdma dev set rxq name rxa

# Coming and going
check "rdma link del" rdma link del rxa
links=()
check_fails "the device is gone" test -e /sys/class/infiniband/rxa
check_text "nothing is listed" '^$' sh -c 'rdma link; echo'
if ours_only "UDP port 4791 follows the links"; then
	[ -z "$(ss -Huln 'sport = :4791')" ]
	verdict $? "UDP port 4791 is free after the last link"
	rdma link add rxa type rxe netdev va
	[ -n "$(ss -Huln 'sport = :4791')" ]
	verdict $? "UDP port 4791 is taken with the first link"
	check "a second link shares it" rdma link add rxb type rxe netdev vb
	rdma link del rxa
	[ -n "$(ss -Huln 'sport = :4791')" ]
	verdict $? "and keeps it when the first goes"
	rdma link del rxb
	[ -z "$(ss -Huln 'sport = :4791')" ]
	verdict $? "and the last gives it back"
fi
status=0
for _ in $(seq 15); do
	rdma link add rxa type rxe netdev va && rdma link del rxa || status=1
done
verdict $status "15 times added and deleted"
# Where the GUID comes from
guid_of() { cat "/sys/class/infiniband/$1/node_guid"; }
mac=$(tr -d : </sys/class/net/va/address)
rdma link add rxa type rxe netdev va
mac=$(printf '%02x' $((0x${mac:0:2} ^ 2)))${mac:2:4}fffe${mac:6}
[ "$(guid_of rxa | tr -d :)" = "$mac" ]
verdict $? "the GUID comes from the interface's MAC address" || note "$(guid_of rxa), $mac"
rdma link del rxa
if ours_only "the GUID of an interface without MAC address"; then
	rdma link add rxl type rxe netdev lo
	guid=$(guid_of rxl)
	rdma link del rxl
	rdma link add rxl type rxe netdev lo
	[ "$(guid_of rxl)" = "$guid" ]
	verdict $? "without one, the GUID is the same each time" || note "$guid, $(guid_of rxl)"
	rdma link del rxl
	rdma link add rxm type rxe netdev lo
	[ "$(guid_of rxm)" != "$guid" ]
	verdict $? "and another for another name" || note "$guid twice"
	rdma link del rxm
fi
if ours_only "an interface in use by something else on 4791"; then
	python3 -IS -c '
import socket, time
s = socket.socket(socket.AF_INET6 if __import__("os").path.exists("/proc/net/if_inet6") else socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
print("bound", flush=True)
time.sleep(30)' >"$TMP/bound" &
	holder=$!
	eventually 10 file_has "$TMP/bound" bound
	refused "UDP port 4791 held by a program" '4791|port' newlink rxa rxe va
	kill $holder
	wait $holder 2>/dev/null
fi
topology_down

# A03: two interfaces of one name in two namespaces
if ours_only "A03 a name means the caller's interface"; then
	topology_up netns 1500 || not_ok "A03 links in two namespaces"
	rdma link del rxa
	ip link add va type dummy
	ip addr add 10.99.0.1/24 dev va
	ip link set va up
	check "A03 rdma link add inside a namespace" at a rdma link add rxa type rxe netdev va
	eventually 5 have_gid a v4
	verdict $? "A03 its GID is that of the namespace's interface"
	check_text "A03 the link lists its interface there" 'rxa/1 .*netdev va' at a rdma link
	check_fails "A03 the other interface is still without a link" \
		sh -c 'grep -q 0a63:0001 /sys/class/infiniband/rxa/ports/1/gids/*'
	check "A03 and can get one" rdma link add rxc type rxe netdev va
	rdma link del rxc
	ip link del va
	topology_down
	check_text "A03 nothing is left" '^$' sh -c 'rdma link; echo'
fi
finish
