#!/bin/bash
# Builds tests/vm/modules for the kernel that fetch-kernel.sh got, into build/vm/SERIES/modules.
#
# usage: build-modules.sh SERIES
#
# Debian's headers of that kernel are unpacked beside it, into $GPUFS_VM_KERNELS/SERIES/headers
# (build/vm/SERIES/headers); nothing is installed. Does nothing when all is up to date.
set -euo pipefail
export LC_ALL=C

fail() {
    echo "build-modules.sh: $*" >&2
    exit 1
}

[[ $# -eq 1 && $1 =~ ^[0-9]+\.[0-9]+$ ]] || fail "usage: build-modules.sh SERIES"
top=$(cd "$(dirname "$0")/../.." && pwd)
kernel=${GPUFS_VM_KERNELS:-$top/build/vm}/$1
out=$top/build/vm/$1/modules
headers=$kernel/headers
[ -s "$kernel/kernel" ] || fail "no kernel in $kernel (tests/vm/fetch-kernel.sh $1 puts one there)"
read -r release package version <"$kernel/kernel"

# Prints PACKAGE=VERSION of the headers, of those that all variants share, and of the build tools.
header_packages() {
    local own="linux-headers-$release=$version" needed
    needed=$(apt-cache show "$own" 2>/dev/null | sed -n 's/^Depends: //p') || return
    printf '%s\n' "$own"
    tr ',' '\n' <<<"$needed" | awk -v version="$version" \
        '$1 ~ /^linux-(headers-.*-common|kbuild-.*)$/ {print $1 "=" version}'
}

fetch_headers() {
    local work=$kernel/fetch-headers packages
    mapfile -t packages < <(header_packages)
    [ ${#packages[@]} -eq 3 ] || fail "apt offers no headers for $package $version (try: apt-get update)"
    rm -rf "$work"
    mkdir "$work"
    echo "fetching ${packages[0]}"
    (cd "$work" && apt-get -qq download "${packages[@]}") >"$work/log" 2>&1 ||
        fail "cannot download ${packages[*]}: $(grep -m1 '^E:' "$work/log" || tail -n 1 "$work/log")"
    for deb in "$work"/*.deb; do dpkg -x "$deb" "$work/root"; done
    # It names its common part by the place where it would be installed.
    sed -i "s|^include /usr/src/|include $headers/usr/src/|" \
        "$work/root/usr/src/linux-headers-$release/Makefile"
    echo "$version" >"$work/root/version"
    rm -rf "$headers"
    mv "$work/root" "$headers"
    rm -rf "$work"
}

exec 9>"$kernel/headers.lock"
flock 9
[ "$(cat "$headers/version" 2>/dev/null)" = "$version" ] || fetch_headers
exec 9>&-

mkdir -p "$out"
exec 9>"$out.lock"
flock 9
# A module of another kernel is none.
[ "$(cat "$out/version" 2>/dev/null)" = "$version" ] || rm -rf "${out:?}"/*
cp -u "$top"/tests/vm/modules/* "$out"
# Without BTF, which would take pahole: the monitors do without that of modules.
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$headers/usr/src/linux-headers-$release" \
    M="$out" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$out/log" 2>&1 ||
    { cat "$out/log" >&2; fail "cannot build tests/vm/modules for $release"; }
echo "$version" >"$out/version"
