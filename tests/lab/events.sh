#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Devices that change or vanish while a program has them open.
#
#   [va rxa]---[vb]          a program with a context, sometimes with traffic
#   ( va rxa )---( vb rxb )  for the namespace that goes away
. "$(dirname "$0")/lib.sh"

# watch NAME OPTION...: starts events on rxa and waits until it listens
watch()
{
	# Else the last one's words are taken for this one's.
	rm -f "$TMP/events"
	"$VERBS/events" -d rxa "$@" >"$TMP/events" 2>&1 &
	watcher=$!
	eventually 20 file_has "$TMP/events" '^# ready' && return
	not_ok "a program with the device open"
	show "$TMP/events"
	return 1
}
# watched NAME: what it found
watched()
{
	local name=$1 line status=0
	eventually 40 gone $watcher || kill -9 $watcher
	wait $watcher || status=$?
	while read -r line; do
		case $line in
		"ok "*) ok "$name: ${line#ok }" ;;
		"not ok "*) not_ok "$name: ${line#not ok }" ;;
		*) echo "$line" ;;
		esac
	done <"$TMP/events"
	[ $status = 0 ] || grep -q '^not ok' "$TMP/events" || not_ok "$name: status $status"
}
# quickly NAME COMMAND...: within three seconds, natively
quickly()
{
	local name=$1
	shift
	check "$name, at once" timeout "$(patience 3)" "$@"
}

# ------------------------------------------------------------- A25: port state
topology_up self 1500 || die "a link"
check_text "A25 the port is active at once" 'PORT_ACTIVE' ibv_devinfo -d rxa
if watch --want PORT_ERR,PORT_ACTIVE; then
	ip link set vb down
	eventually 5 sh -c 'ibv_devinfo -d rxa | grep -q PORT_DOWN'
	verdict $? "A25 without carrier the port is down"
	check_text "A25 rdma link says so" 'state DOWN' rdma link
	ip link set vb up
	eventually 5 sh -c 'ibv_devinfo -d rxa | grep -q PORT_ACTIVE'
	verdict $? "A25 with carrier it is active again"
	watched A25
fi
if watch --want PORT_ERR,PORT_ACTIVE; then
	ip link set va down
	eventually 5 sh -c 'rdma link | grep -q "state DOWN"'
	verdict $? "A25 an interface set down has its port down"
	ip link set va up
	watched "A25 admin state"
fi
if ours_only "GID_CHANGE"; then
	if watch --want GID_CHANGE; then
		ip addr add 10.20.7.7/24 dev va
		eventually 1 grep -q 0a14:0707 /sys/class/infiniband/rxa/ports/1/gids/*
		verdict $? "a new address is a GID within a second"
		watched "new address"
	fi
	ip addr del 10.20.7.7/24 dev va
	eventually 1 sh -c '! grep -q 0a14:0707 /sys/class/infiniband/rxa/ports/1/gids/*'
	verdict $? "its GID goes with it"
fi
topology_down
if ! ours; then
	skip "rdma link del waits for programs in the in-tree stack" "vanishing devices"
	finish
fi

# --------------------------------------------------------------- link deletion
for traffic in "" --traffic; do
	topology_up self 1500 || die "a link"
	transfers_ready v4
	if watch -g "$a_gid" --want DEVICE_FATAL --dead $traffic; then
		quickly "link del with a program on it ${traffic:+under traffic}" rdma link del rxa
		links=()
		check_fails "the device is not listed any more" sh -c 'rdma dev | grep rxa'
		watched "link del ${traffic:+under traffic}"
		check "a new link of that name, while or after the old one ends" \
			rdma link add rxa type rxe netdev va
		links=("a rxa")
	fi
	topology_down
done
topology_up self 1500 || die "a link"
transfers_ready v4
if watch -g "$a_gid" --want DEVICE_FATAL --traffic --seconds 60; then
	kill -9 $watcher
	wait $watcher 2>/dev/null
	check_text "a killed program leaves no queue pair" 'rxa: pd [01] cq [01] qp [01] .*ctx 0' rdma res
	quickly "link del afterwards" rdma link del rxa
fi
topology_down

# ----------------------------------------------------------- interface removal
for traffic in "" --traffic; do
	topology_up self 1500 || die "a link"
	transfers_ready v4
	if watch -g "$a_gid" --want DEVICE_FATAL --dead $traffic; then
		quickly "interface deleted with a program on it ${traffic:+under traffic}" ip link del va
		check_fails "the interface is gone" ip link show va
		eventually 5 sh -c '! rdma dev | grep -q rxa'
		verdict $? "its link is gone"
		watched "interface deleted ${traffic:+under traffic}"
	fi
	links=()
	topology_down
done

# ----------------------------------------------------------- namespace removal
topology_up netns 1500 || die "links in two namespaces"
at b rdma link del rxb
transfers_ready v4
check_text "a link of another namespace is visible here" rxa ibv_devices
if watch -g 0 --want DEVICE_FATAL --dead; then
	check "the namespace is deleted with a program on its link" ip netns del nsa
	eventually 10 sh -c '! rdma dev | grep -q rxa'
	verdict $? "its link is gone"
	watched "namespace deleted"
fi
links=()
topology_down
if dmesg | grep -q 'unregister_netdevice: waiting'; then
	not_ok "nobody waits for an interface that somebody holds"
else
	ok "nobody waits for an interface that somebody holds"
fi
check "no link is left, so the driver can go" rmmod rdma_rxe
insmod "$(module_file rdma_rxe)" || not_ok "and come again"
finish
