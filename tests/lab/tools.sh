#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the stock tools show, and the files that they and others read.
#
#   [va rxa]--.    one link, to itself, with a program on it
#      ^------'
#
#   tests/lab/tools.sh [ROOT]    the folder in which prometheus-node-exporter is
. "$(dirname "$0")/lib.sh"

topology_up self 4200 || die "a link"
transfers_ready v4 || die "a GID"

check_text "rdma link" 'link rxa/1 state ACTIVE physical_state LINK_UP netdev va' rdma link
check_text "rdma link show DEV/PORT" 'rxa/1' rdma link show rxa/1
check_text "rdma -d link" 'netdev_index|caps' rdma -d link
check_text "rdma dev" 'rxa: node_type ca .*node_guid [0-9a-f:]{19}' rdma dev
check_text "rdma -d dev" 'fw|caps|node_guid' rdma -d dev
check_text "rdma system" 'netns shared' rdma system
for object in link dev res; do
	check "rdma -j $object is JSON" \
		sh -c "rdma -j $object | python3 -IS -c 'import json, sys; json.load(sys.stdin)'"
done
check_text "ibv_devices" 'rxa[[:space:]]+[0-9a-f]{16}' ibv_devices
check_text "ibv_devinfo" 'transport:[[:space:]]*InfiniBand' ibv_devinfo -d rxa
check_text "ibv_devinfo names the link layer" 'link_layer:[[:space:]]*Ethernet' ibv_devinfo -d rxa
check_text "ibv_devinfo -v shows GIDs" 'GID\[ *[0-9]+\].*10\.20\.0\.1|ffff:0?a14:0?0?01' ibv_devinfo -v -d rxa

# limits_differ COLUMN: the README's limits that are not what the device tells
limits_differ()
{
	local limit ours intree want got
	ibv_devinfo -v -d rxa | tr -d ' \t' >"$TMP/limits"
	limits=0
	while read -r limit ours intree; do
		want=$ours
		[ "$1" = ours ] || want=$intree
		got=$(sed -n "s/^$limit:\([0-9a-fx]*\).*/\1/p" "$TMP/limits")
		limits=$((limits + 1))
		[ "$got" = "$want" ] || echo "# $limit: $want in README.md, ${got:-nothing} here"
	done < <(sed -n 's/^| `\([a-z_]*\)` | \([0-9a-fx,]*\) | \([0-9a-fx,]*\) |$/\1 \2 \3/p' \
		"$TOP/README.md" | tr -d ,)
}
case $STACK$(uname -r) in
ours* | intree6.12*)
	limits_differ "$STACK" >"$TMP/differ"
	cat "$TMP/differ"
	[ ! -s "$TMP/differ" ] && [ "$limits" -ge 26 ]
	verdict $? "README.md's limits are those of the device ($limits)"
	;;
*) skip "the table is about 6.12" "README.md's limits are those of the device" ;;
esac

# With queue pairs in use
"$VERBS/events" -d rxa -g "$a_gid" --traffic --want DEVICE_FATAL --seconds 30 >"$TMP/events" 2>&1 &
watcher=$!
eventually 20 file_has "$TMP/events" '^# ready' || not_ok "a program with traffic"
check_text "rdma res counts it" 'rxa: .*mr [1-9][0-9]* ctx 1' rdma res
check_text "rdma res show qp" 'link rxa/1 lqpn [0-9]+ .*type RC state RTS' rdma res show qp
check_text "rdma res show qp names the process" 'comm events' rdma res show qp
check_text "rdma res show cq" 'cqe [0-9]+' rdma res show cq
check_text "rdma res show mr" 'mrlen 8192' rdma res show mr
check_text "rdma res show pd" 'comm events' rdma res show pd
check_text "rdma res show ctx" 'comm events' rdma res show ctx
sent() { rdma statistic show link rxa/1 | grep -oE '\bsent_pkts [0-9]+' | grep -oE '[0-9]+$'; }
one=$(sent)
sleep 1
two=$(sent)
[ "${two:-0}" -gt "${one:-0}" ]
verdict $? "rdma statistic: sent_pkts goes up (${one:-none}, ${two:-none})" ||
	rdma statistic show link rxa/1 | sed 's/^/# /'
kill $watcher
wait $watcher 2>/dev/null

# sysfs
dev=/sys/class/infiniband/rxa
port=$dev/ports/1
has() { check_text "sysfs ${1#/sys/class/}" "$2" cat "$1"; }
has /sys/class/infiniband_verbs/abi_version '^6$'
has $dev/node_type '^1: CA$'
has $dev/node_guid '^[0-9a-f]{4}(:[0-9a-f]{4}){3}$'
has $dev/sys_image_guid '^[0-9a-f]{4}(:[0-9a-f]{4}){3}$'
has $dev/fw_ver ''
has $dev/parent '^va$'
if ours_only "sysfs board_id and hca_type"; then
	has $dev/board_id '^softroce$'
	has $dev/hca_type '^softroce$'
fi
ip link set va name vx
has $dev/parent '^vx$'
ip link set vx name va
has $port/state '^4: ACTIVE$'
has $port/phys_state '^5: LinkUp$'
has $port/link_layer '^Ethernet$'
has $port/rate '^[0-9.]+ Gb/sec'
has $port/lid '^0x'
has $port/lid_mask_count '^[0-9]+$'
has $port/sm_lid '^0x'
has $port/sm_sl '^[0-9]+$'
has $port/cap_mask '^0x'
has $port/pkeys/0 '^0xffff$'
has $port/gids/0 '^[0-9a-f]{4}(:[0-9a-f]{4}){7}$'
has $port/gid_attrs/types/0 '^RoCE v2$'
has $port/gid_attrs/ndevs/0 '^va$'
for file in "$port"/hw_counters/*; do
	[ "${file##*/}" = lifespan ] || cat "$file" >/dev/null || break
done
verdict $? "sysfs hw_counters are all readable ($(ls "$port/hw_counters" 2>/dev/null | wc -l))"
uverbs=$(ls -d /sys/class/infiniband_verbs/uverbs* | head -n 1)
has "$uverbs/ibdev" '^rxa$'
has "$uverbs/dev" '^[0-9]+:[0-9]+$'
has "$uverbs/abi_version" '^2$'
check "the device node is there" test -c "/dev/infiniband/${uverbs##*/}"
[ "$(stat -c %a "/dev/infiniband/${uverbs##*/}")" = 666 ]
verdict $? "and open to everybody"

# One file that it misses costs node exporter the collector, for all devices.
exporter=${1:-}/usr/bin/prometheus-node-exporter
metrics() { python3 -IS -c 'import sys, urllib.request as r
print(r.urlopen(sys.argv[1]).read().decode())' http://127.0.0.1:9100/metrics >"$TMP/metrics"; }
has_metric() { check_text "node exporter: $1" "^node_$1 $2\$" cat "$TMP/metrics"; }
if [ ! -x "$exporter" ]; then
	skip "no prometheus-node-exporter: scripts/unpacked fetches it" "node exporter"
elif ours_only "node exporter"; then
	"$exporter" --collector.disable-defaults --collector.infiniband \
		--web.listen-address=127.0.0.1:9100 >"$TMP/exporter" 2>&1 &
	exporter=$!
	eventually 20 metrics || show "$TMP/exporter"
	kill $exporter
	of_port='{device="rxa",port="1"}'
	has_metric 'scrape_collector_success{collector="infiniband"}' 1
	has_metric "infiniband_state_id$of_port" 4
	has_metric "infiniband_port_data_transmitted_bytes_total$of_port" '[1-9].*'
	has_metric 'infiniband_info{board_id="softroce",device="rxa",firmware_version="",hca_type="softroce"}' 1
fi

# In another namespace the device shows as well
if ours_only "devices in every namespace"; then
	ip netns add other
	check_text "rdma dev in another namespace" 'rxa' ip netns exec other rdma dev
	check_text "sysfs in another namespace" '0xffff' \
		ip netns exec other cat $port/pkeys/0
	check_text "ibv_devices in another namespace" 'rxa' ip netns exec other ibv_devices
	ip netns del other
fi
finish
