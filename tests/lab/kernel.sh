#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What the stack does for kernel consumers: a module of ours is one
# (tests/kernel), and tests between two links.
#
#   [va rxa]----veth----[vb rxb]
. "$(dirname "$0")/lib.sh"

ours_only "kernel consumers" || finish
module=$(module_file softroce_ktest) ||
	die "softroce_ktest.ko is missing: make KVER=$(uname -r) KBUILD_ARGS=SOFTROCE_KTEST=y"
topology_up two 1500 && transfers_ready v4 && eventually 10 have_gid a v6 &&
	eventually 10 have_gid b v6
verdict $? "two links" || finish

dmesg | wc -l >"$TMP/before"
insmod "$module" dev=rxa dev2=rxb 2>"$TMP/insmod"
status=$?
dmesg | tail -n +"$(($(cat "$TMP/before") + 1))" | sed -n 's/.*softroce_ktest: //p' >"$TMP/lines"
while IFS= read -r line; do
	case $line in
	"ok - "*) ok "${line#ok - }" ;;
	"not ok - "*) not_ok "${line#not ok - }" ;;
	*) note "$line" ;;
	esac
done <"$TMP/lines"
verdict $status "the module says that all went well" || show "$TMP/insmod"
[ "$status" = 0 ] || finish

# What Linux 6.12's own upper layers take from an RDMA core is there in ours, but for the
# managers of paths and connections. They are asked only what they would link with.
exported() { nm "$1" | sed -n 's/.* __ksymtab_//p' | sort; }
unpacked() { case $1 in *.xz) xz -dc "$1" ;; *) cat "$1" ;; esac; }
tree=/lib/modules/$(uname -r)/kernel
upper=(drivers/nvme/{host/nvme,target/nvmet}-rdma
	drivers/infiniband/ulp/{iser/ib_iser,isert/ib_isert,srp/ib_srp}
	net/{rds/rds_rdma,sunrpc/xprtrdma/rpcrdma,9p/9pnet_rdma,smc/smc})
core=$(compgen -G "$tree/drivers/infiniband/core/ib_core.ko*")
if [[ $(uname -r) == 6.12.* ]] && [ -n "$core" ]; then
	unpacked "$core" >"$TMP/core.ko"
	exported "$TMP/core.ko" >"$TMP/theirs"
	exported "$(module_file ib_core)" >"$TMP/ours"
	comm -23 "$TMP/theirs" "$TMP/ours" | grep -v '^ib_sa_' >"$TMP/lacks"
	for layer in "${upper[@]}"; do
		file=$(compgen -G "$tree/$layer.ko*")
		layer=${layer##*/}
		[ -n "$file" ] || { skip "not built by Debian" "$layer"; continue; }
		unpacked "$file" >"$TMP/layer.ko"
		nm -u "$TMP/layer.ko" | awk '{ print $2 }' | sort >"$TMP/needs"
		[ -n "$(comm -12 "$TMP/needs" "$TMP/theirs")" ]
		verdict $? "$layer is an upper layer of RDMA"
		comm -12 "$TMP/needs" "$TMP/lacks" >"$TMP/missing"
		[ ! -s "$TMP/missing" ]
		verdict $? "all that $layer takes from the core is there" || show "$TMP/missing"
	done
fi

# Clients go with the device, and before the module.
check "a link goes while the module is one of its clients" rdma link del rxa
check_text "and its queue pair 1 was one that lived" \
	'softroce_ktest: ok - GSI: what it had is flushed' dmesg
check "the module goes" rmmod softroce_ktest
check_fails "it missed no device that went" grep -q 'softroce_ktest: not ok' <(dmesg)
finish
