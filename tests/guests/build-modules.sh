#!/bin/bash
# Builds tests/guests/modules for the kernel that fetch-kernel.sh got, into build/vm/SERIES/modules.
#
# usage: build-modules.sh [ARCH/]SERIES
#
# Debian's headers of that kernel are unpacked beside it, into $GPUFS_VM_KERNELS/SERIES/headers
# (build/vm/SERIES/headers), and where the table in debian.sh names the compiler of another suite,
# that into $GPUFS_VM_KERNELS/COMPILER@SUITE; nothing is installed. Does nothing when all is up to
# date.
set -euo pipefail
export LC_ALL=C

fail() {
    echo "build-modules.sh: $*" >&2
    exit 1
}

[ $# -eq 1 ] || fail "usage: build-modules.sh [ARCH/]SERIES"
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/guests/debian.sh
. "$top/tests/guests/debian.sh"
series=$1
know_series "$series"
kernel=$downloads/$1
out=$top/build/vm/$1/modules
headers=$kernel/headers
cross=${foreign:+$triplet-}
[ -s "$kernel/kernel" ] || fail "no kernel in $kernel (tests/guests/fetch-kernel.sh $1 puts one there)"
read -r release package version <"$kernel/kernel"

# Prints PACKAGE=VERSION of the build tools, of the headers, and of those that all variants share.
header_packages() {
    local own="linux-headers-$release=$version" needed
    needed=$(apt_of "$suite" apt-cache show "$own" 2>/dev/null | sed -n 's/^Depends: //p') || return
    printf '%s\n' "$own"
    tr ',' '\n' <<<"$needed" | awk -v version="$version" \
        '$1 ~ /^linux-(headers-.*-common|kbuild-.*)(:|$)/ {
            sub(/:.*/, "", $1)
            # The archive has one kbuild for all kernels of a series: the newest.
            print $1 ($1 ~ /^linux-kbuild/ ? "" : "=" version)
        }' | sort
}

fetch_headers() {
    local work=$kernel/fetch-headers packages
    mapfile -t packages < <(header_packages)
    [ ${#packages[@]} -eq 3 ] || fail "Debian's $suite has no headers for $package $version"
    download_and_unpack "$suite" "$work" "${packages[@]:0:2}"
    # The tools run here, whatever they build for.
    if [ -n "$foreign" ]; then arch=$native update_suite "$suite"; fi
    arch=$native download_and_unpack "$suite" "$work/tools" "${packages[2]}"
    cp -a "$work/tools/root/." "$work/root"
    # They name their parts by the place where they would be installed.
    # shellcheck disable=SC2016  # the variable is make's
    sed -i 's|/usr/src/|$(CURDIR)/../|' "$work/root/usr/src/linux-headers-$release/Makefile"
    echo "$version" >"$work/root/version"
    rm -rf "$headers"
    mv "$work/root" "$headers"
    rm -rf "$work"
}

# A root directory with the compiler of another suite and what its kernels' build tools need.
fetch_compiler() {
    echo "fetching ${compiler%@*} of ${compiler#*@}"
    install_below "$downloads/$compiler" "${compiler#*@}" dash coreutils findutils grep mawk sed make \
        libelf1 "${compiler%@*}"
}

# Runs a command among the compiler's own programs; the kernel and the modules are where they are.
with_compiler() {
    local root=$downloads/$compiler
    case $compiler in
    *@*) ;;
    *) "$@"; return ;;
    esac
    mkdir -p "$root"{"$kernel","$out"}
    # shellcheck disable=SC2016  # the arguments are those of the shell in the name space
    unshare --mount sh -euc 'root=$1 kernel=$2 out=$3
        shift 3
        mount --bind "$kernel" "$root$kernel"
        mount --bind "$out" "$root$out"
        mount -t proc proc "$root/proc"
        exec chroot "$root" "$@"' sh "$root" "$kernel" "$out" "$@"
}

# Writes what toy_driver.c includes: the events of this kernel's GPU drivers, as captured.
make_driver_events() {
    local system formats work made rows=
    work=$(mktemp -d)
    for system in amdgpu i915 xe vpu; do
        formats=("$top/tests/data/formats/${series##*/}/events/$system/${system}_"*/format)
        # The NPU's driver has had its events since Linux 6.13; they are told here on all.
        [ "$system" != vpu ] || formats=("$top/tests/data/formats/7.3/events/vpu/"*/format)
        [ -e "${formats[0]}" ] || continue
        # And those that only kernels made for it have.
        [ "$system" != i915 ] || formats+=("$top/tests/data/formats/low-level/events/i915/"*/format)
        awk -v group="$system" -v out="$work" -f "$top/tests/guests/modules/driver-events.awk" \
            "${formats[@]}"
        echo "#include \"${system}_events.h\"" >>"$work/driver_events.h"
        echo "#include \"${system}_table.h\"" >>"$work/driver_tables.h"
        rows+="${system}_table, "
    done
    echo "static const struct toy_event *const tables[] = { $rows};" >>"$work/driver_tables.h"
    for made in "$work"/*; do
        cmp -s "$made" "$out/${made##*/}" || cp "$made" "$out"
    done
    rm -r "$work"
}

# Older generations of NVIDIA's driver: another version, other names of functions, and no event.
make_older_nvidia() {
    local version=$1 work
    shift
    work=$(mktemp -d)
    "${cross}objcopy" -O binary --only-section=.modinfo --set-section-flags .modinfo=alloc "$out/nvidia.ko" "$work/info"
    sed -i "s/version=580\.126\.09/version=$version/" "$work/info"
    "${cross}objcopy" --update-section ".modinfo=$work/info" --rename-section _ftrace_events=.without_events \
        "$@" "$out/nvidia.ko" "$out/nvidia-${version%%.*}.ko"
    rm -r "$work"
}

mkdir -p "$downloads"
exec 9>"$downloads/$compiler.lock"
flock 9
case $compiler in *@*) [ -d "$downloads/$compiler" ] || fetch_compiler ;; esac
exec 9>"$kernel/headers.lock"
flock 9
[ "$(cat "$headers/version" 2>/dev/null)" = "$version" ] || fetch_headers
exec 9>&-

mkdir -p "$out"
exec 9>"$out.lock"
flock 9
# A module of another kernel is none.
[ "$(cat "$out/version" 2>/dev/null)" = "$version" ] || rm -rf "${out:?}"/*
cp -u "$top"/tests/guests/modules/* "$out"
make_driver_events
# Without BTF, which would take pahole: the monitors do without that of modules.
with_compiler env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u ARCH make -s \
    -C "$headers/usr/src/linux-headers-$release" M="$out" ${foreign:+ARCH="$arch" CROSS_COMPILE="$cross"} \
    CC="$cross${compiler%@*}" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$out/log" 2>&1 ||
    { cat "$out/log" >&2; fail "cannot build tests/guests/modules for $release"; }
make_older_nvidia 535.183.01 --redefine-sym nvidia_unlocked_ioctl=nvidia_frontend_unlocked_ioctl \
    --redefine-sym nvidia_suspend=nvidia_suspend.isra.0 --redefine-sym nvidia_resume=nvidia_resume.constprop.0
make_older_nvidia 570.124.04 --redefine-sym nvidia_unlocked_ioctl=nvidia_ioctl_of_another_name
echo "$version" >"$out/version"
