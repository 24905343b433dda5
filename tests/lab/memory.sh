# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# What the kernel holds, for scenarios that look for leaks; sourced after lib.sh.
#
# The measure is bytes of kmalloc objects in use plus what our modules have
# mapped (rings, each with its pages). It is calibrated: a program that holds
# queue pairs has to show in it, and half of what they weigh is too much
# afterwards.

# shrink_caches: free objects that a processor or KASAN keeps count as used
shrink_caches()
{
	local cache
	for cache in /sys/kernel/slab/*kmalloc*/shrink /sys/kernel/slab/:*/shrink; do
		[ ! -w "$cache" ] || echo 1 >"$cache"
	done
}

# kernel_memory: bytes
kernel_memory()
{
	shrink_caches
	awk '/^kmalloc/ { sum += $2 * $4 }
		/\[(ib_core|ib_uverbs|rdma_rxe)\]/ { sum += $2 }
		END { printf "%d\n", sum }' /proc/slabinfo /proc/vmallocinfo
}

pinned_pages()
{
	# Each processor counts for itself; reading this adds up.
	[ ! -r /proc/sys/vm/stat_refresh ] || cat /proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired / { n += $2 } /^nr_foll_pin_released / { n -= $2 }
		END { print n + 0 }' /proc/vmstat
}

# pins_start, pins_end SECONDS NAME: as many as then, at the latest after so long
pins_start() { pins_before=$(pinned_pages); }
pins_as_before() { [ "$(pinned_pages)" = "$pins_before" ]; }
pins_end()
{
	if ! grep -q nr_foll_pin_acquired /proc/vmstat; then
		skip "no counts of pinned pages" "$2: no page is pinned any more"
		return
	fi
	eventually "$1" pins_as_before
	verdict $? "$2: no page is pinned any more" ||
		note "$(pinned_pages) pages are, $pins_before were"
}

# memory_least SECONDS: the smallest that kernel_memory says meanwhile; what is
# freed after a grace period or by a worker takes its time
memory_least()
{
	local end=$((SECONDS + $1)) least='' now
	while :; do
		now=$(kernel_memory)
		[ -n "$least" ] && [ "$least" -le "$now" ] || least=$now
		[ $SECONDS -lt $end ] || break
		sleep 0.2
	done
	echo "$least"
}
memory_below() { [ "$(kernel_memory)" -le "$1" ]; }

# memory_start COUNT DEV: remembers what there is, and what is too much: half of
# the weight of COUNT queue pairs more
memory_start()
{
	local count=$1 dev=$2 pid held
	[ "$count" -le 256 ] || count=256
	pins_start
	memory_base=$(memory_least 2)
	rm -f "$TMP/hold"
	"$VERBS/traffic" --hold "$count" -d "$dev" >"$TMP/hold" 2>&1 &
	pid=$!
	eventually 60 file_has "$TMP/hold" '^# holding' || show "$TMP/hold"
	held=$(kernel_memory)
	kill -9 $pid
	wait $pid 2>/dev/null
	memory_limit=$((memory_base + (held - memory_base) / 2))
	note "memory: $((memory_base / 1024)) KiB; $count queue pairs weigh" \
		"$(((held - memory_base) / 1024)) KiB"
	[ $((held - memory_base)) -ge $((count * 4096)) ]
	verdict $? "a leak of $count queue pairs would show"
}
# memory_end NAME: it is back
memory_end()
{
	eventually 30 memory_below "$memory_limit"
	verdict $? "$1: memory is back" ||
		note "it is $(($(kernel_memory) / 1024)) KiB, the limit $((memory_limit / 1024))"
	note "memory: $((($(memory_least 1) - memory_base) / 1024)) KiB more than before"
	pins_end 10 "$1"
}
