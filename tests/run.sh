#!/bin/bash
# run.sh RING…: runs rings of tests and adds up what they say. The last line is
#   N passed, N failed, N skipped
# Rings: unit (no root), kernel (the real tracefs of this machine), cli (the binary), fuzz (the pure
# layers), vm (kernel and cli inside Debian's kernels). A ring that cannot run is a failure, never a
# silent skip. What failed is told once more at the end.
set -u -o pipefail

B=${B:-build}
tally=$B/tally
logs=$B/test-logs
rm -rf "$tally" "$logs"
mkdir -p "$tally" "$logs"
export GPUFS_BIN=$B/gpufs BOOST_TEST_COLOR_OUTPUT=no

mount_tracefs() {
    [ -e /sys/kernel/tracing/available_events ] || mount -t tracefs nodev /sys/kernel/tracing
}

ring_unit() { GPUFS_TALLY=$tally/unit "$B/gpufs-test" --run_test='!kernel:!cli'; }
ring_kernel() { mount_tracefs && GPUFS_TALLY=$tally/kernel "$B/gpufs-test" --run_test=kernel; }
ring_cli() { mount_tracefs && GPUFS_TALLY=$tally/cli "$B/gpufs-test" --run_test=cli; }
# Each fuzzer is one test of ten seconds, with the same inputs in the same order.
ring_fuzz() {
    local fuzzers passed
    fuzzers=$(find tests/fuzz -name '*_fuzz.cc' | wc -l)
    make -s -j"$(nproc)" -f tests/fuzz/fuzz.mk all || return
    make -s -k -j"$(nproc)" -f tests/fuzz/fuzz.mk run SECONDS=10 SEED=1
    passed=$(find build/fuzz -name '*.passed' | wc -l)
    echo "$passed $((fuzzers - passed)) 0" >"$tally/fuzz"
    [ "$passed" = "$fuzzers" ]
}
# One guest uses one CPU, so both run at once. What they print comes when they have ended.
run_guest() {
    local series=$1
    tests/vm/fetch-kernel.sh "$series" && tests/vm/build-modules.sh "$series" || return
    # shellcheck disable=SC2016  # the variable is the guest's
    tests/vm/run.sh "$series" --timeout 1800 --modules drm,gpu-sched,vgem,virtio-gpu,toy_gpu,toy_display -- \
        sh -c 'GPUFS_TALLY=$GPUFS_VM_OUT/tally exec '"$B"'/gpufs-test --run_test=kernel,cli'
}
ring_vm() {
    local series status=0
    declare -A guests
    for series in 6.1 6.12; do
        run_guest "$series" >"$logs/vm-$series" 2>&1 &
        guests[$series]=$!
    done
    for series in 6.1 6.12; do
        wait "${guests[$series]}" || status=1
        echo "== Debian $series"
        cat "$logs/vm-$series"
        cp "build/vm/$series/out/tally" "$tally/vm-$series" || status=1
    done
    return $status
}

uncounted=0 failed_rings=()
for ring in "$@"; do
    echo "== $ring"
    if ! "ring_$ring" 2>&1 | tee "$logs/$ring"; then
        failed_rings+=("$ring")
        # A ring that died before it counted is one failure more than it counted.
        grep -qs '^[0-9]* [1-9]' "$tally/$ring" "$tally/$ring"-* || uncounted=$((uncounted + 1))
    fi
done
for ring in "${failed_rings[@]}"; do
    echo "== failed in $ring"
    grep -E -A 2 'error: in "|ERROR: |^make.*Error' "$logs/$ring" | cut -c 1-240 | head -n 40
done
cat "$tally"/* 2>/dev/null | {
    passed=0 failed=$uncounted skipped=0
    while read -r p f s; do
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
