#!/bin/bash
# Boots Debian's kernel of one series under QEMU and runs a command in it, as root.
#
# usage: run.sh [ARCH/]SERIES [--timeout SECONDS] [--modules NAME,...] [--] COMMAND [ARGUMENT...]
#
# The guest sees the host's root directory, read-only, and starts COMMAND in this checkout; on another
# architecture, the root directory that fetch-root.sh made, with this checkout at its place.
# /tmp, /run and /root are its own; what it leaves in $GPUFS_VM_OUT is in build/vm/SERIES/out
# afterwards. GPUFS_* and BOOST_* variables are passed on, tracefs is mounted, standard input is
# empty. Modules are that kernel's or, where build-modules.sh has built them, those of
# tests/guests/modules, which lie in $GPUFS_VM_MODULES. The exit status is COMMAND's; 124: it took
# longer than SECONDS (600); 125: there was no guest to run it in, or it died.
set -euo pipefail

fail() {
    echo "run.sh: $*" >&2
    exit 125
}
usage() { fail "usage: run.sh [ARCH/]SERIES [--timeout SECONDS] [--modules NAME,...] [--] COMMAND..."; }

series='' timeout=600 modules=()
while [ $# -gt 0 ]; do
    case $1 in
    --timeout) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || usage; timeout=$2; shift 2 ;;
    --modules) [ $# -ge 2 ] || usage; IFS=, read -ra modules <<<"$2"; shift 2 ;;
    --) shift; break ;;
    -*) usage ;;
    *) [ -z "$series" ] || break; series=$1; shift ;;
    esac
done
[[ $series =~ ^([a-z0-9]+/)?[0-9]+\.[0-9]+$ && $# -gt 0 ]] || usage
command=("$@")

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/guests/debian.sh
. "$top/tests/guests/debian.sh"
know_series "$series"
# Without symbolic links: the guest keeps these directories at their places.
kernel=$downloads/$series
dir=$(realpath -m "$top/build/vm/$series")
export GPUFS_VM_MODULES=$dir/modules
[ -s "$kernel/kernel" ] || fail "no kernel in $kernel (tests/guests/fetch-kernel.sh $series puts one there)"
case $arch in
amd64)
    qemu=qemu-system-x86_64 package=qemu-system-x86
    machine=(-cpu max) console='ttyS0 mitigations=off no_timer_check'
    ;;
arm64)
    # Pointers are signed as any CPU may do it, in a tenth of the time that the architected way takes.
    qemu=qemu-system-aarch64 package=qemu-system-arm
    machine=(-M virt -cpu "max,pauth-impdef=on,sve=off") console='ttyAMA0 mitigations=off'
    ;;
esac
command -v "$qemu" >/dev/null || fail "needs $qemu (Debian: $package)"
busybox=()
if [ -n "$foreign" ]; then
    [ -s "$root/packages" ] || fail "no root directory in $root (tests/guests/fetch-root.sh $arch makes one)"
    busybox=("$root/bin/busybox")
fi

# One guest at a time: `out` and `control` are this run's own. The lock goes with the process.
mkdir -p "$dir"
exec 9>"$dir/lock"
flock -n 9 || { echo "run.sh: waiting for another guest in $dir" >&2; flock 9; }
"$top/tests/guests/initrd.sh" "$kernel" "${busybox[@]}" || exit 125
rm -rf "$dir/out" "$dir/control"
mkdir "$dir/out" "$dir/control"
printf '%s\n' "$top" "$kernel" >"$dir/control/paths"
{
    declare -p top kernel modules command
    for name in $(compgen -e); do
        case $name in GPUFS_* | BOOST_*) declare -p "$name" ;; esac
    done
} >"$dir/control/job"

guest='' timer=''
stop() {
    for pid in $guest $timer; do
        kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done || true
}
# In a name space of its own, the root directory has the checkout and the kernel at their places.
among_root() {
    [ -n "$foreign" ] || exec "$@"
    mkdir -p "$root$top" "$root$kernel"
    # shellcheck disable=SC2016  # the arguments are those of the shell in the name space
    exec unshare --mount sh -euc 'root=$1 top=$2 kernel=$3
        shift 3
        mount --bind "$top" "$root$top"
        [ -e "$root$kernel/kernel" ] || mount --bind "$kernel" "$root$kernel"
        exec "$@"' sh "$root" "$top" "$kernel" "$@"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# thread=single: with one thread per virtual CPU, QEMU 7.2 guests crash while a function is being
# patched on one CPU and run on the other. pdeathsig: not even SIGKILL leaves a guest behind.
# The two lines of the power-off are no output of COMMAND.
goodbye='\[ *[0-9.]*\] \(sysrq: Power Off\|reboot: Power down\)'
exec 3> >(sed -u -e 's/\r*$//' -e "/^$goodbye$/d" -e "s/$goodbye$//" | tee "$dir/control/console")
output=$!
among_root setpriv --pdeathsig KILL "$qemu" "${machine[@]}" \
    -accel tcg,thread=single -m 1024 -smp 2 -nodefaults -no-user-config -display none \
    -device virtio-gpu-pci \
    -serial stdio -no-reboot -kernel "$kernel/vmlinux" -initrd "$kernel/initrd" \
    -virtfs "local,path=$root,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
    -virtfs "local,path=$dir/control,mount_tag=control,security_model=none,multidevs=remap" \
    -virtfs "local,path=$dir/out,mount_tag=out,security_model=none,multidevs=remap" \
    -append "console=$console quiet panic=-1 oops=panic" </dev/null >&3 3>&- &
guest=$!
exec 3>&-
setpriv --pdeathsig KILL sleep "$timeout" &
timer=$!

ended=''
wait -n -p ended "$guest" "$timer" || true
if [ "$ended" = "$timer" ]; then
    stop
    wait "$output" || true
    echo "run.sh: still running after $timeout s: killed the $series guest" >&2
    exit 124
fi
wait "$output" || true
if [ ! -s "$dir/control/status" ]; then
    echo "run.sh: the $series guest died. The end of $dir/control/console:" >&2
    { grep -m 1 -B 15 -A 5 'Kernel panic' "$dir/control/console" || tail -n 20 "$dir/control/console"; } |
        sed 's/^/    /' >&2
    exit 125
fi
exit "$(<"$dir/control/status")"
