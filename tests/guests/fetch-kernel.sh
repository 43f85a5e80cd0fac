#!/bin/bash
# Gets Debian's newest kernel of one series, ready to boot under QEMU. Nothing is installed.
#
# usage: fetch-kernel.sh [ARCH/]SERIES      as in the tables of debian.sh
#
# Makes in DIR, which is build/vm/SERIES ($GPUFS_VM_KERNELS/SERIES when that is set), root (the
# unpacked packages, with modules.dep), vmlinux (what QEMU boots: on amd64 the ELF image, by PVH, which
# skips the decompressor and KASLR; on arm64 the Image) and kernel ("RELEASE PACKAGE VERSION"). Downloads only when Debian has a
# newer package than the one in DIR; asks it once a day.
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "fetch-kernel.sh: $*" >&2
    exit 1
}

# Prints "PACKAGE VERSION" of the newest plain kernel of a series. Only madison tells what can be
# downloaded: pkgnames also lists what is merely installed or depended on.
newest_package() {
    local series=${1##*/} names
    mapfile -t names < <(apt_of "$suite" apt-cache pkgnames "linux-image-$series." |
        grep -E -- "^[^_]*-$arch\$" | grep -Ev -- "-(rt|cloud)-$arch\$")
    [ ${#names[@]} -gt 0 ] || return 0
    apt_of "$suite" apt-cache madison "${names[@]}" | awk '{print $3, $1}' | sort -V |
        awk 'END {print $2, $1}'
}

# Prints PACKAGE=VERSION of a kernel's package and of those that it is made of: since Linux 7,
# linux-base-RELEASE, linux-binary-RELEASE and linux-modules-RELEASE.
parts_of() {
    local package=$1 version=$2
    echo "$package=$version"
    apt_of "$suite" apt-cache show "$package=$version" | sed -n 's/^Depends: //p' | tr ',' '\n' |
        awk -v release="-${package#linux-image-}" -v version="$version" \
            'index($1, "linux-") == 1 && index($1, release) {print $1 "=" version}'
}

# A little-endian number of WIDTH bytes at OFFSET of FILE.
number_at() {
    od -An -v -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# unpack_part IMAGE START LENGTH OUT: what is compressed there.
unpack_part() {
    local image=$1 start=$2 length=$3 out=$4 magic unpack
    magic=$(od -An -v -t x1 -j "$start" -N 4 "$image" | tr -d ' ')
    case $magic in
    1f8b*) unpack=gzip ;;
    fd377a58) unpack=xz ;;
    28b52ffd) unpack=zstd ;;
    02214c18) unpack=lz4 ;;
    425a68*) unpack=bzip2 ;;
    5d0000*) unpack="xz --format=lzma" ;;
    *) fail "$image: unknown compression (payload starts with $magic)" ;;
    esac
    command -v "${unpack%% *}" >/dev/null || fail "$image needs ${unpack%% *}, which is not installed"
    # Behind the others' payload is its unpacked size, which only gzip expects to find there.
    [ "$unpack" = gzip ] || length=$((length - 4))
    # shellcheck disable=SC2086 # a command and its option
    head -c $((start + length)) "$image" | tail -c "+$((start + 1))" | $unpack -dc >"$out" ||
        fail "cannot unpack the payload of $image with $unpack"
}

# Writes the ELF image inside a bzImage. The boot header says where the compressed payload is
# (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length).
extract_amd64() {
    local image=$1 out=$2 sects
    [ "$(od -An -c -j 0x202 -N 4 "$image" | tr -d ' ')" = HdrS ] || fail "$image is not a bzImage"
    sects=$(number_at "$image" 0x1f1 1)
    unpack_part "$image" $(((sects + 1) * 512 + $(number_at "$image" 0x248 4))) \
        "$(number_at "$image" 0x24c 4)" "$out"
    [ "$(od -An -c -N 4 "$out" | tr -d ' ')" = '177ELF' ] || fail "$image holds no ELF image"
}

# Writes the Image (Documentation/arch/arm64/booting.rst).
extract_arm64() {
    local image=$1 out=$2
    cp "$image" "$out"
    [ "$(od -An -c -j 56 -N 3 "$out" | tr -d ' ')" = ARM ] || fail "$image holds no Image"
}

[ $# -eq 1 ] || fail "usage: fetch-kernel.sh [ARCH/]SERIES"
series=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/guests/debian.sh
. "$top/tests/guests/debian.sh"
know_series "$series"
dir=$downloads/$series
for tool in apt-cache dpkg depmod; do
    command -v $tool >/dev/null || fail "needs $tool, which is not installed"
done

update_suite "$suite"
read -r package version <<<"$(newest_package "$series")"
[ -n "$package" ] || fail "Debian's $suite has no linux-image-${series##*/}.*-$arch"
release=${package#linux-image-}
newest="$release $package $version"
have_newest() { [ "$(cat "$dir/kernel" 2>/dev/null)" = "$newest" ]; }
! have_newest || exit 0

# The same lock as run.sh: no kernel goes away under a guest, and two fetches do not collide.
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9
! have_newest || exit 0
work=$dir/fetch
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mapfile -t parts < <(parts_of "$package" "$version")
download_and_unpack "$suite" "$work" "${parts[@]}"
# Newer packages have it all below /usr.
[ -e "$work/root/lib" ] || ln -s usr/lib "$work/root/lib"
image=$work/root/boot/vmlinuz-$release
[ -e "$image" ] || image=$work/root/lib/modules/$release/vmlinuz
depmod -b "$work/root" "$release"
"extract_$arch" "$image" "$work/vmlinux"

rm -rf "$dir/root" "$dir/kernel" "$dir/initrd"
mv "$work/root" "$work/vmlinux" "$dir"
echo "$newest" >"$dir/kernel"
