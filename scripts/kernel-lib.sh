# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Kernels built here from Debian's source: the User Mode Linux of the unit tests,
# that of the benchmarks and the debug kernels of the lab. Sourced after lib.sh.

OWN_SERIES=6.12

# own_kernel uml|plain|kasan|kcsan: which of them the functions below are about
own_kernel()
{
	OWN_ARGS=(ARCH=x86_64)
	OWN_TARGETS=(vmlinux modules)
	OWN_DEFAULTS='' OWN_INSTALLED=yes
	case $1 in
	uml)
		OWN_NAME="User Mode Linux"
		OWN_TREE=$CACHE/uml-$OWN_SERIES
		OWN_FRAGMENTS=(uml.config uml-debug.config)
		OWN_ARGS=(ARCH=um SUBARCH=x86_64)
		OWN_TARGETS=(linux modules)
		OWN_DEFAULTS=yes OWN_INSTALLED=''
		OWN_OBJECTS=1680	# about so many; for the progress line
		;;
	plain)
		OWN_NAME="a User Mode Linux to measure with"
		OWN_TREE=$CACHE/uml-plain-$OWN_SERIES
		OWN_FRAGMENTS=(uml.config uml-plain.config)
		OWN_ARGS=(ARCH=um SUBARCH=x86_64)
		OWN_TARGETS=(linux modules)
		OWN_DEFAULTS=yes
		OWN_OBJECTS=1500
		;;
	kasan | kcsan)
		OWN_NAME="the $1 kernel"
		OWN_TREE=$CACHE/debug-$1-$OWN_SERIES
		OWN_FRAGMENTS=(debug.config "debug-$1.config")
		OWN_OBJECTS=1300
		;;
	*) die "no kernel '$1' is built here" "there are uml, plain, kasan and kcsan" ;;
	esac
}

# Of a kernel: our modules are built in a moment
progress_of()
{
	local built
	[ "$1" = "$OWN_TREE.log" ] || return 0
	built=$(grep -cE '^  (CC|AS|LD|AR) ' "$1" || true)
	[ "$built" -gt 0 ] || return 0
	built=$((built * 100 / OWN_OBJECTS))
	printf ', about %d%%' "$((built < 99 ? built : 99))"
}

own_fragments() { (cd "$ROOT/scripts" && cat "${OWN_FRAGMENTS[@]}"); }

own_make() { make -C "$1" O="$OWN_TREE" "${OWN_ARGS[@]}" "${@:2}"; }

# Configure: the fragments over allnoconfig, and nothing of them may get lost.
# User Mode Linux takes the defaults of what that makes possible, an emulated
# machine does without.
own_configure()
{
	local wanted=$OWN_TREE/wanted.config lost
	own_fragments | grep '^\(# \)\?CONFIG_' >"$wanted"
	if [ "$OWN_DEFAULTS" ]; then
		own_make "$1" allnoconfig
		cat "$wanted" >>"$OWN_TREE/.config"
		own_make "$1" olddefconfig
	else
		own_make "$1" KCONFIG_ALLCONFIG="$wanted" allnoconfig
	fi
	lost=$(grep -vxFf "$OWN_TREE/.config" "$wanted" || true)
	[ -z "$lost" ] || {
		printf 'not taken over from %s:\n%s\n' "${OWN_FRAGMENTS[*]}" "$lost"
		return 1
	}
}

own_is_built() { [ "$(cat "$OWN_TREE/.built" 2>/dev/null)" = "$1" ]; }

# Build it where it is missing or its configuration changed
own_build()
{
	local source sum tool
	for tool in make gcc bc bison flex; do
		need $tool $tool
	done
	source=$("$ROOT/scripts/kernels" source $OWN_SERIES)
	sum=$({ own_fragments; cat "$source/Makefile"; } | sha256sum)
	! own_is_built "$sum" || return 0
	take_lock "kernel build"
	! own_is_built "$sum" || return 0
	mkdir -p "$OWN_TREE"
	watch_step "configuring $OWN_NAME" "$OWN_TREE.log" own_configure "$source"
	watch_step "building $OWN_NAME (10 to 20 minutes)" "$OWN_TREE.log" \
		nice make -C "$source" O="$OWN_TREE" "${OWN_ARGS[@]}" \
		-j"$(nproc)" "${OWN_TARGETS[@]}"
	[ -z "$OWN_INSTALLED" ] || own_install "$source"
	echo "$sum" >"$OWN_TREE/.built"
}

# Lay it out as scripts/kernels does, so that the lab can boot it and modprobe works
own_install()
{
	local dir
	dir=$(own_folder)
	rm -rf "$OWN_TREE/lab"
	mkdir -p "$dir"
	ln -s "$OWN_TREE/vmlinux" "$dir/vmlinux"
	watch_step "installing $OWN_NAME" "$OWN_TREE.log" \
		own_make "$1" INSTALL_MOD_PATH="$dir" modules_install
}

# own_folder: where the lab finds it; its last part is the kernel's release
own_folder() { echo "$OWN_TREE/lab/$(<"$OWN_TREE/include/config/kernel.release")"; }

# own_modules OUT [ARG...]: build our modules for it into OUT
own_modules()
{
	local log=$ROOT/$1.log
	mkdir -p "$ROOT/build"
	watch_step "building the modules for $OWN_NAME" "$log" \
		make -C "$ROOT" modules KDIR="$OWN_TREE" OUT="$1" "${OWN_ARGS[@]}" \
		SOFTROCE_KTEST=y "${@:2}"
}
