#!/bin/bash
# Boots Debian's kernel of one series under QEMU and runs a command in it, as root.
#
# usage: run.sh SERIES [--timeout SECONDS] [--modules NAME,...] [--] COMMAND [ARGUMENT...]
#
# The guest sees the host's root directory, read-only, and starts COMMAND in this checkout.
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
usage() { fail "usage: run.sh SERIES [--timeout SECONDS] [--modules NAME,...] [--] COMMAND..."; }

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
[[ $series =~ ^[0-9]+\.[0-9]+$ && $# -gt 0 ]] || usage
command=("$@")

top=$(cd "$(dirname "$0")/../.." && pwd)
# Without symbolic links: the guest keeps these directories at their places.
kernel=$(realpath -m "${GPUFS_VM_KERNELS:-$top/build/vm}/$series")
dir=$(realpath -m "$top/build/vm/$series")
export GPUFS_VM_MODULES=$dir/modules
[ -s "$kernel/kernel" ] || fail "no kernel in $kernel (tests/guests/fetch-kernel.sh $series puts one there)"
command -v qemu-system-x86_64 >/dev/null || fail "needs qemu-system-x86_64 (Debian: qemu-system-x86)"

# One guest at a time: `out` and `control` are this run's own. The lock goes with the process.
mkdir -p "$dir"
exec 9>"$dir/lock"
flock -n 9 || { echo "run.sh: waiting for another guest in $dir" >&2; flock 9; }
"$top/tests/guests/initrd.sh" "$kernel" || exit 125
rm -rf "$dir/out" "$dir/control"
mkdir "$dir/out" "$dir/control"
printf '%s\n' "$top" "$kernel" >"$dir/control/paths"
{
    declare -p top kernel modules command
    for name in $(compgen -e); do
        case $name in GPUFS_* | BOOST_*) declare -p "$name" ;; esac
    done
} >"$dir/control/job"

qemu='' timer=''
stop() {
    for pid in $qemu $timer; do
        kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done || true
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
setpriv --pdeathsig KILL qemu-system-x86_64 \
    -accel tcg,thread=single -cpu max -m 1024 -smp 2 -nodefaults -no-user-config -display none \
    -device virtio-gpu-pci \
    -serial stdio -no-reboot -kernel "$kernel/vmlinux" -initrd "$kernel/initrd" \
    -virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
    -virtfs "local,path=$dir/control,mount_tag=control,security_model=none,multidevs=remap" \
    -virtfs "local,path=$dir/out,mount_tag=out,security_model=none,multidevs=remap" \
    -append "console=ttyS0 quiet panic=-1 oops=panic mitigations=off" </dev/null >&3 3>&- &
qemu=$!
exec 3>&-
setpriv --pdeathsig KILL sleep "$timeout" &
timer=$!

ended=''
wait -n -p ended "$qemu" "$timer" || true
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
