#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# A21: a kernel booted with ipv6.disable=1.
#
#   [va rxa]--.    one link, to itself
#      ^------'
. "$(dirname "$0")/lib.sh"

check_fails "A21 this kernel has no IPv6" test -e /proc/net/if_inet6
topology_up self 1500
verdict $? "A21 a link comes up" || finish
transfers_ready v4
verdict $? "A21 its IPv4 address is a GID" || finish
timed "A21 bytecheck" run_bytecheck v4 --quick
timed "A21 ibv_rc_pingpong" run_pingpong
timed "A21 ib_write_bw" run_perftest ib_write_bw -s 65536 -n 20
check "A21 the link goes" rdma link del rxa
finish
