#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# All that scripts/bench measures on one kernel: ours, the kernel's own stack, TCP.
dir=$(dirname "$0") status=0
"$dir/bench.sh" --then-intree || status=1
"$dir/bench-tools.sh" --stack ours self netns objects || status=1
"$dir/bench-tools.sh" --stack intree self objects || status=1
"$dir/bench-tools.sh" tcp || status=1
exit $status
