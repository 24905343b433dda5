#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# What stock programs can ask for beyond SEND, WRITE and READ over RC.
#
#   ( va rxa )---( vb rxb )    two namespaces over veth
#   [va rxa]--.                a link that talks to itself
#      ^------'
. "$(dirname "$0")/lib.sh"

for where in netns:v4 netns:v6 self:v4; do
	topology_up "${where%:*}" 4200 && transfers_ready "${where#*:}" || die "links of $where"
	if [ "$where" != netns:v6 ]; then
		atomic_programs "$where"
	fi
	timed "$where: bytecheck over UC" run_bytecheck "${where#*:}" --service uc --qps 4
	connection_programs "$where"
	datagram_programs "$where"
	topology_down
done
finish
