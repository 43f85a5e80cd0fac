#!/bin/bash
# Copies what a test needs to know about the running kernel's events into DIR, every file at its
# tracefs place: formats of the GPU groups and of the kernel's own common ones, the list of all
# events, and the few files that say what the tracer can do.
#
# usage: capture-formats.sh DIR [MODULE...]
#
# MODULEs are loaded after the first pass, and only the event group named like the module is then
# added. For 6.12's xe: it registers display events in group i915 too, under i915's names.
set -euo pipefail
shopt -s nullglob

fail() {
    echo "capture-formats.sh: $*" >&2
    exit 1
}

# Copies tracefs files in one process (a fork per event is seconds in a guest). Their size reads 0
# and their mode 0440, so neither is taken over.
copy() {
    cp --no-preserve=mode --parents -t "$dir" "$@"
}

[ $# -ge 1 ] || fail "usage: capture-formats.sh DIR [MODULE...]"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ -r /sys/kernel/tracing/available_events ] || fail "needs root and a mounted tracefs"
cd /sys/kernel/tracing

files=(README available_events available_tracers trace_clock trace_options events/header_page
    events/header_event events/sched/sched_switch/{enable,filter,id,trigger})
for group in gpu_scheduler drm dma_fence amdgpu amdgpu_dm i915 xe radeon virtio_gpu nouveau \
    sched irq raw_syscalls block signal task workqueue power oom exceptions timer lock sock tcp \
    ftrace; do
    files+=("events/$group"/*/format)
done
for call in open openat openat2 creat renameat2 ioctl read write writev pwrite64 pwritev pwritev2 sendto \
    sendmsg execve execveat; do
    files+=("events/syscalls/sys_"{enter,exit}"_$call/format")
done
copy "${files[@]}"

for module in "$@"; do
    modprobe "$module"
    copy "events/$module"/*/format
    grep "^$module:" available_events >>"$dir/available_events"
done
