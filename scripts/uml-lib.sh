# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# The User Mode Linux of scripts/uml and scripts/kunit; sourced after lib.sh.

UML_SERIES=6.12
UML=$CACHE/uml-$UML_SERIES		# where it is built
UML_OBJECTS=1680			# about so many; for the progress line

progress_of()
{
	local done
	done=$(grep -cE '^  (CC|AS|LD|AR) ' "$1" || true)
	[ "$done" -gt 0 ] || return 0
	done=$((done * 100 / UML_OBJECTS))
	printf ', about %d%%' "$((done < 99 ? done : 99))"
}

uml_make() { make -C "$1" O="$UML" ARCH=um SUBARCH=x86_64 "${@:2}"; }

# Configure: the fragment over allnoconfig, and nothing of it may get lost
uml_configure()
{
	local fragment=$ROOT/scripts/uml.config lost
	uml_make "$1" allnoconfig
	grep '^\(# \)\?CONFIG_' "$fragment" >>"$UML/.config"
	uml_make "$1" olddefconfig
	lost=$(grep '^\(# \)\?CONFIG_' "$fragment" | grep -vxFf "$UML/.config" || true)
	[ -z "$lost" ] || {
		printf 'not taken over from scripts/uml.config:\n%s\n' "$lost"
		return 1
	}
}

# Build it where it is missing or its configuration changed
uml_build()
{
	local source sum tool
	for tool in make gcc bc bison flex; do
		need $tool $tool
	done
	source=$("$ROOT/scripts/kernels" source $UML_SERIES)
	sum=$(cat "$ROOT/scripts/uml.config" "$source/Makefile" | sha256sum)
	if [ "$(cat "$UML/.softroce" 2>/dev/null)" = "$sum" ]; then
		return 0
	fi
	take_lock "UML build"
	if [ "$(cat "$UML/.softroce" 2>/dev/null)" = "$sum" ]; then
		return 0
	fi
	mkdir -p "$UML"
	watch_step "configuring User Mode Linux" "$UML.log" \
		uml_configure "$source"
	watch_step "building User Mode Linux (10 to 20 minutes)" "$UML.log" \
		nice make -C "$source" O="$UML" ARCH=um SUBARCH=x86_64 \
		-j"$(nproc)" linux modules
	echo "$sum" >"$UML/.softroce"
}

# Build our modules for it, tests inside, into build/um
uml_modules()
{
	local log=$ROOT/build/um.log
	mkdir -p "$ROOT/build"
	watch_step "building the modules for User Mode Linux" "$log" \
		make -C "$ROOT" modules KDIR="$UML" OUT=build/um ARCH=um \
		SOFTROCE_KUNIT=y SOFTROCE_KTEST=y
}

# uml_run RUN TIMEOUT [ARG...]: boot RUN/init with the kernel log in RUN/log,
# fail with 124 when it takes longer than TIMEOUT seconds
uml_run()
{
	local run=$1 limit=$2 status=0
	shift 2
	printf '%s\n' "$ROOT" >"$run/root"
	: >"$run/log"
	timeout -k 5 "$limit" "$UML/linux" mem="${UML_MEM:-1G}" \
		root=/dev/root rootfstype=hostfs ro con0=fd:0,fd:1 con=null \
		panic=-1 printk.devkmsg=on init="$ROOT/tests/lab/uml-init" \
		"lab.dir=$run" "$@" </dev/null >"$run/log" 2>&1 || status=$?
	tr -d '\r' <"$run/log" >"$run/log.tmp"
	mv "$run/log.tmp" "$run/log"
	[ "$status" != 124 ] && [ "$status" != 137 ] || return 124
}
