#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Our RC against a peer that makes its packets by hand (rawpeer.py): what no
# proper peer sends, or withholds, on a real wire. Over IPv4 and IPv6.
#
#   ( va rxa  endpoint )-------( vb  rawpeer.py, no RDMA )
#
#   tests/lab/rawpeer.sh [--only NAME] [v4|v6]...
#
# Trains are cut into packets on their way through va, as on a network card
# without segmentation: so the ICRC of each has to fit its own IPv4 header.
. "$(dirname "$0")/lib.sh"

only=() gids=()
while [ $# -gt 0 ]; do
	case $1 in
	--only) only=(--only "$2"); shift 2 ;;
	*) gids+=("$1"); shift ;;
	esac
done
[ ${#gids[@]} != 0 ] || gids=(v4 v6)
if ! ours_only "a peer that makes its packets by hand"; then
	finish
fi
command -v ethtool >/dev/null || { skip "no ethtool" "a peer that makes its packets by hand"; finish; }
topology_up raw 4200 || die "a veth pair and a link"
at a ethtool -K va tso off gso off tx-udp-segmentation off >"$TMP/ethtool" 2>&1 ||
	note "ethtool: $(tail -n 1 "$TMP/ethtool")"
for gid in "${gids[@]}"; do
	[ $gid = v4 ] || [ -e /proc/net/if_inet6 ] || { skip "no IPv6" "a raw peer over IPv6"; continue; }
	eventually 10 have_gid a $gid || { not_ok "a GID for $gid"; continue; }
	# Addresses are resolved before the first packet counts.
	at a ping -c 1 -W 5 "$(of b $gid)" >/dev/null 2>&1
	pass_on at b /usr/bin/python3 -S "$TOP/tests/lab/rawpeer.py" "${only[@]}" \
		--net vb --mac "$(at a cat /sys/class/net/va/address)" \
		--address "$(of b $gid)" --peer "$(of a $gid)" -- \
		ip netns exec nsa "$VERBS/endpoint" -d "$a_dev" -g "$(gid_index a $gid)"
done
topology_down
finish
