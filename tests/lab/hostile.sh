#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Packets that a stranger, or a peer that means ill, sends to port 4791, beside
# a program whose bytes are checked all the time.
#
#   ( va rxa )-----------------( vb rxb )   a namespace at either end
#    |     ^                     |   |
#    |     '------- bytecheck ---'   '-- raw packets to port 4791 of va
#    '-- victims: queue pairs of rxa
#
#   [ tunh rxt ] <-- trains of packets, written into the tun interface
#
#   tests/lab/hostile.sh [--full] [--seconds N]
#
# --full: every packet, not every 41st, and more at random. --seconds: again and
# again, with other random packets, until so much time has passed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/honest.sh"

options=(--stride 41 --fuzz 2000) seconds=0
while [ $# -gt 0 ]; do
	case $1 in
	--full) options=(--stride 1 --fuzz 200000); shift ;;
	--seconds) seconds=$2; shift 2 ;;
	*) die "unknown option $1" ;;
	esac
done
ours_only "packets that lie" || finish

topology_up netns 1500 || die "links in two namespaces"
transfers_ready v4 || die "GIDs"
eventually 10 have_gid a v6 || die "IPv6 GIDs"
trains=()
modprobe tun 2>/dev/null
if ip tuntap add name tunh mode tun vnet_hdr 2>"$TMP/tun" && ip addr add 10.30.0.1/24 dev tunh &&
	ip link set tunh up && rdma link add rxt type rxe netdev tunh; then
	trains=(--tun "tunh,rxt,10.30.0.2,10.30.0.1")
else
	skip "no tun interface: $(head -n 1 "$TMP/tun")" "trains over tun"
fi
honest_start links
liars()
{
	pass_on "$VERBS/packets" -d rxa --netns nsb --if vb \
		--mac "$(at a cat /sys/class/net/va/address)" \
		--v4 "$b_v4,$a_v4" --v6 "$b_v6,$a_v6" "${trains[@]}" "${options[@]}" "$@"
}
end=$((SECONDS + seconds))
liars
while [ $SECONDS -lt $end ]; do
	liars --seed $RANDOM
done
honest_end
check_text "nothing is left of all that" 'rxa: pd [01] cq [01] qp [01] .*ctx 0' rdma res
check "the link works as before" run_pingpong || show_both
if [ ${#trains[@]} != 0 ]; then
	rdma link del rxt
	ip link del tunh
fi
topology_down
check "and the driver can go" rmmod rdma_rxe
check "and come again" insmod "$(module_file rdma_rxe)"
finish
