#!/bin/bash
# Makes DIR/initrd for the kernel that fetch-kernel.sh put in DIR: busybox, tests/guests/init and the
# modules it takes to mount a 9p file system over virtio. Does nothing when it is up to date.
#
# usage: initrd.sh DIR [BUSYBOX]
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "initrd.sh: $*" >&2
    exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || fail "usage: initrd.sh DIR [BUSYBOX]"
dir=$1
here=$(cd "$(dirname "$0")" && pwd)
[ -s "$dir/kernel" ] || fail "no kernel in $dir (fetch-kernel.sh puts one there)"
if [ "$dir/initrd" -nt "$dir/kernel" ] && [ "$dir/initrd" -nt "$here/init" ] &&
    [ "$dir/initrd" -nt "$here/initrd.sh" ]; then
    exit 0
fi

read -r release _ <"$dir/kernel"
own=$(command -v busybox) || fail "needs busybox (Debian: busybox-static)"
busybox=${2-$own}
command -v modprobe >/dev/null || fail "needs modprobe (Debian: kmod)"
! readelf -l "$busybox" 2>/dev/null | grep -q INTERP || fail "$busybox is not static (Debian: busybox-static)"

work=$(mktemp -d "$dir/initrd.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work"/{bin,dev,keep,modules,new,proc,sys}
cp "$busybox" "$work/bin/busybox"
cp "$here/init" "$work/init"
for applet in insmod mkdir mount sh switch_root; do ln -s busybox "$work/bin/$applet"; done

# modprobe names the modules in loading order, dependencies first and some of them twice; what is
# built in is not ours to load. Their order is kept in their names. insmod takes no .xz.
modprobe -d "$dir/root" -S "$release" -D -a virtio_pci 9pnet_virtio 9p >"$work/modules/needed"
number=100
while read -r module; do
    number=$((number + 1)) target=$work/modules/$number-$(basename "${module%.xz}")
    case $module in
    *.xz) xz -dc "$module" >"$target" ;;
    *) cp "$module" "$target" ;;
    esac
done < <(awk '$1 == "insmod" && !seen[$2]++ {print $2}' "$work/modules/needed")
rm "$work/modules/needed"

image=$work.new
trap 'rm -rf "$work" "$image"' EXIT
(cd "$work" && find . | "$own" cpio -o -H newc -R 0:0 2>/dev/null) >"$image"
mv "$image" "$dir/initrd"
