#!/bin/bash
# run.sh: builds programs against an installed copy of libgpufs, as a stranger would, and runs them.
# Reads B, the build directory. Prints "ok NAME" or "failed NAME: why" for each, and writes
# "passed failed skipped" to $GPUFS_TALLY.
set -u
B=${B:-build}
recording=tests/data/trace_dat/drm-6.17.dat
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
passed=0 failed=0
verdict() {
    if [ -z "$2" ]; then
        echo "ok $1" && passed=$((passed + 1))
    else
        echo "ERROR: failed $1: $2" && failed=$((failed + 1))
    fi
}
build() {
    # shellcheck disable=SC2046  # the flags are words
    c++ -std=c++20 "tests/embed/$1.cc" -o "$root/$1" \
        $(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --cflags --libs gpufs) 2>&1 | head -n 5
}
# The events of a recording as the command counts them.
counted_by_gpufs() {
    "$B/gpufs" report -i "$recording" --json | sed -n 's/.*"event":"\([^"]*\)".*/\1/p' |
        LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }'
}

make -s install B="$B" PREFIX="$root" >/dev/null || exit 1
verdict "recording.cc builds against the installed library" "$(build recording)"
verdict "recording.cc counts what gpufs report prints" \
    "$(diff <("$root/recording" "$recording" 2>&1) <(counted_by_gpufs))"
verdict "monitor.cc builds against the installed library" "$(build monitor)"
rows=$("$root/monitor" sched-wait 1 2>&1)
verdict "monitor.cc prints the map of a monitor" \
    "$(grep -q '^wait.*: ' <<<"$rows" && grep -q 'count=[1-9]' <<<"$rows" || echo "$rows")"
[ -z "${GPUFS_TALLY-}" ] || echo "$passed $failed 0" >"$GPUFS_TALLY"
[ "$failed" = 0 ]
