#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What stock programs can ask for beyond SEND, WRITE and READ over RC.
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#   [va rxa]--.                a link that talks to itself
#      ^------'
. "$(dirname "$0")/lib.sh"

for topo in netns self; do
	topology_up "$topo" 4200 && transfers_ready v4 || die "links of $topo"
	atomic_programs "$topo"
	topology_down
done
finish
