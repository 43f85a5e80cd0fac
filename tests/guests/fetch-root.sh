#!/bin/bash
# Gets a root directory of Debian for another architecture: what its programs are built against, and
# what a guest runs on.
#
# usage: fetch-root.sh ARCH [PACKAGE...]
#
# Makes build/vm/ARCH/root ($GPUFS_VM_KERNELS/ARCH/root when that is set) of bookworm's packages: what
# the guests' scripts and the tests need, the PACKAGEs, and what they depend on. Nothing is installed on this machine.
# Does nothing when the same packages are there.
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "fetch-root.sh: $*" >&2
    exit 1
}

[ $# -ge 1 ] || fail "usage: fetch-root.sh ARCH [PACKAGE...]"
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/guests/debian.sh
. "$top/tests/guests/debian.sh"
know_arch "$1"
shift
[ -n "$foreign" ] || fail "$arch is the architecture of this machine, whose programs are of /"
packages=(bash binutils btrfs-progs busybox-static coreutils dash diffutils e2fsprogs findutils grep gzip kmod libc-bin libxml2-utils mawk
    mount procps sed trace-cmd util-linux xfsprogs xz-utils "$@")

mkdir -p "$downloads/$arch"
exec 9>"$root.lock"
flock 9
[ "$(cat "$root/packages" 2>/dev/null)" != "${packages[*]}" ] || exit 0
echo "fetching $arch's ${packages[*]}"
install_below "$root" bookworm "${packages[@]}"
# Where a link leads to is looked for below the root, too.
find "$root/usr/lib" -type l -lname '/*' -exec sh -c '
    for link; do ln -sfnr "$0$(readlink "$link")" "$link"; done' "$root" {} +
mkdir -p "$root"/{dev,proc,sys,tmp,run,root}
echo '127.0.0.1 localhost' >"$root/etc/hosts"
echo guest >"$root/etc/hostname"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo "${packages[*]}" >"$root/packages"
