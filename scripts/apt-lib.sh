# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
#
# Debian's packages for the folders below the cache: looked up and fetched, never
# installed. Sourced after lib.sh, never run.

APT=()			# options that choose the archive; empty: the machine's

SUITE=''		# what APT stands for, in words

apt_lists_fresh=

refresh_lists()
{
	[ -z "$apt_lists_fresh" ] || return 0
	apt_lists_fresh=yes
	if [ ${#APT[@]} = 0 ] && [ "$(id -u)" != 0 ]; then
		die "the package lists of this machine do not know the package" \
			"run 'apt-get update' as root, then try again"
	fi
	say "updating package lists..."
	apt-get "${APT[@]}" -o APT::Update::Error-Mode=any -qq update >&2 ||
		die "cannot reach ${SUITE:-the package archive}" \
			"check the network and the machine's apt sources"
}

# The address of Debian's archive, from the machine's own apt configuration
archive_uri()
{
	apt-get indextargets --format '$(CREATED_BY) $(SITE) $(REPO_URI) $(RELEASE)' |
		awk '$1 == "Packages" && $3 ~ /\/debian\/$/ { print $3; exit }'
}

# use_suite NAME: point APT at that release of Debian: lists, cache and an empty
# status file of its own
use_suite()
{
	local dir=$CACHE/apt-$1 uri
	need apt-get apt
	uri=$(archive_uri)
	[ -n "$uri" ] || die "no Debian archive in this machine's apt sources" \
		"add one to /etc/apt/sources.list, run apt-get update, try again"
	SUITE="Debian $1 at $uri"
	mkdir -p "$dir"/{lists/partial,cache/archives/partial,etc}
	: >"$dir/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $1 main" \
		>"$dir/etc/sources.list"
	APT=(-o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status"
		-o Dir::Cache="$dir/cache" -o Dir::Etc::sourceparts=-
		-o Dir::Etc::sourcelist="$dir/etc/sources.list"
		-o APT::Architectures=amd64 -o APT::Architecture=amd64)
	if [ "$(id -u)" = 0 ]; then
		APT+=(-o APT::Sandbox::User=root)
	fi
	apt_lists_fresh=
	if [ -z "$(find "$dir/lists" -maxdepth 1 -name '*Packages*' -mtime -7)" ]; then
		refresh_lists
	fi
}

# download DIR PACKAGE...
download()
{
	local dir=$1
	shift
	(cd "$dir" && apt-get "${APT[@]}" -o APT::Sandbox::User=root -qq download "$@") ||
		die "could not download $*" \
			"check the network; 'apt-get update' as root renews the lists"
}

known()
{
	apt-cache "${APT[@]}" policy "$1" | grep Candidate: | grep -qv none
}
