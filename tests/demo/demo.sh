#!/bin/sh
# demo.sh GPUFS BLOCKER TIMER RECORDING: which kernel function keeps a process from running, and what does a
# GPU wait for? Shows each command and what it prints; works in a session of its own and leaves
# nothing behind.
set -eu

gpufs=$1 blocker=$2 timer=$3 recording=$4
session=demo$$

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# Shows a command as a user would type it, then runs it.
try() {
    printf '$ gpufs %s\n' "$*"
    name=$1
    shift
    "$gpufs" "$name" "$@" --session "$session"
}

if [ "$(id -u)" != 0 ]; then
    echo "demo: needs root, as tracing does" >&2
    exit 1
fi
if [ ! -e /sys/kernel/tracing/available_events ]; then
    say "tracefs is not mounted yet:"
    echo "$ mount -t tracefs nodev /sys/kernel/tracing"
    mount -t tracefs nodev /sys/kernel/tracing
fi
worker=
clean_up() {
    [ -z "$worker" ] || kill "$worker" 2>/dev/null || true
    "$gpufs" reset --session "$session" 2>/dev/null || true
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

say "A process ('blocker') misses its deadlines on an idle machine. Its CPU use says nothing."
echo "What keeps it from running?"
printf '$ gpufs stall -- blocker 1\n'
"$gpufs" stall -- "$blocker" 1 2>&1

say "The same by hand, with filter and trigger, for events that no command knows:"
"$blocker" 1 &
worker=$!
try filter "prev_state == 2 && prev_comm == \"demo-blocker\"" 2>&1
try trigger stacktrace 2>&1
wait "$worker"
worker=
try show --last 1
try reset 2>&1
say "The stack is the answer: vfork(2) waits for a child that does not exec."

say "A daemon says that its timer was late. The line that knows it is a probe, its variable a condition:"
line=$(sed -n '/\/\/ late$/=' tests/programs/late_timer.c)
try probe add -x "$timer" "p:late late_timer.c:$line tv_diff round" 2>&1
try filter -e late "tv_diff >= 100000000" 2>&1
"$timer" >/dev/null
try show
try reset 2>&1
trap - EXIT

say "And a GPU? A recording of one (by 'gpufs record --gpu' elsewhere), asked for its jobs:"
printf '$ gpufs watch drm -i %s\n' "$recording"
"$gpufs" watch drm -i "$recording" 2>&1
say "Jobs on sdma wait for compute, those on compute for gfx: it is there that the time goes."
