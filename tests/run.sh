#!/bin/bash
# run.sh RING…: runs rings of tests and adds up what they say. The last line is
#   N passed, N failed, N skipped
# Rings: unit (no root), sanitized (the same under ASan and UBSan), kernel (the real tracefs of this
# machine), cli (the binary), embed (programs against the installed library), browser (pages and
# pictures in Chromium), fuzz, vm (kernel and cli inside Debian's kernels of the series in $KERNELS;
# beside other rings these share the cases; those of another architecture run unit, too). A ring that
# cannot run is a failure, never a silent skip. What failed is told once more at the end.
set -u -o pipefail

B=${B:-build}
tally=$B/tally
logs=$B/test-logs
sanitized=build/sanitized
KERNELS=${KERNELS:-6.1 6.12}
rm -rf "$tally" "$logs"
mkdir -p "$tally" "$logs"
unset MAKEFLAGS MFLAGS MAKELEVEL
export GPUFS_BIN=$B/gpufs BOOST_TEST_COLOR_OUTPUT=no

mount_tracefs() {
    [ -e /sys/kernel/tracing/available_events ] || mount -t tracefs nodev /sys/kernel/tracing
}

# Tests have their process's number in the names of what they make. What a run that was killed left of
# that is removed, and told; what a living process owns stays.
is_dead() { [ -n "$1" ] && [ ! -e "/proc/$1" ]; }
clear_leftovers() {
    local path event group pid
    "$B/gpufs" reset --stale 2>&1 | grep -v '^nothing was left behind$'
    for path in /sys/kernel/tracing/instances/gpufs-{test,demo}[0-9]*; do
        pid=${path##*/gpufs-????}
        is_dead "${pid%%_*}" && [ -d "$path" ] && rmdir "$path" && echo "removed instance ${path##*/}"
    done
    # p:GROUP/NAME WHERE. The number ends the group, or is the last but one part of the name.
    for path in /sys/kernel/tracing/{k,u}probe_events; do
        while read -r event; do
            group=${event%%/*} pid=${event%_*}
            case $group in *[0-9]) pid=${group##*[!0-9]} ;; *) pid=${pid##*_} ;; esac
            is_dead "$pid" && echo "-:$event" >>"$path" && echo "removed probe $event"
        done < <(sed -n 's/^[pr][0-9]*:\(\(gpufs_\)\?test[^ ]*\) .*/\1/p' "$path" 2>/dev/null)
    done
    for path in /tmp/gpufs-*; do
        [[ $path =~ ^/tmp/gpufs-(busy\.|[a-z-]*-)([0-9]+)(\.[a-z0-9]+)?$ ]] || continue
        is_dead "${BASH_REMATCH[2]}" && rm -rf "$path" && echo "removed $path"
    done
}
ring_on_this_machine() {
    mount_tracefs || return
    clear_leftovers | sed 's/^/left by an earlier run: /'
    GPUFS_TALLY=$tally/$1 GPUFS_PASSED=$logs/$1.passed "$B/gpufs-test" --run_test="$1"
}

ring_unit() { GPUFS_TALLY=$tally/unit "$B/gpufs-test" --run_test='!kernel:!cli'; }
# Not `long`: loops of a million rounds, of which the sanitizers learn no more than of a few. In two
# halves at once, for the sanitizers take five times as long.
ring_sanitized() {
    local half halves=() failed=0
    for half in 1 2; do
        GPUFS_SHARE=$half/2 GPUFS_TALLY=$tally/sanitized-$half "$B/gpufs-test-sanitized" \
            --run_test='!kernel:!cli' --run_test='!@long' >"$logs/sanitized-$half" 2>&1 &
        halves+=($!)
    done
    for half in "${halves[@]}"; do wait "$half" || failed=1; done
    cat "$logs"/sanitized-[12]
    return $failed
}
ring_kernel() { ring_on_this_machine kernel; }
ring_cli() { ring_on_this_machine cli; }
ring_embed() { mount_tracefs && GPUFS_TALLY=$tally/embed bash tests/embed/run.sh; }
ring_browser() { GPUFS_TALLY=$tally/browser bash tests/browser/run.sh; }
# Each fuzzer is one test of three seconds, with the same inputs in the same order.
ring_fuzz() {
    local fuzzers passed
    fuzzers=$(find tests/fuzz -name '*_fuzz.cc' | wc -l)
    make -s -k -j"$(nproc)" -f tests/fuzz/fuzz.mk B="$sanitized" QUICK=1 GEN="$B/gen" run SECONDS=3 SEED=1
    passed=$(find "$sanitized" -name '*.passed' | wc -l)
    echo "$passed $((fuzzers - passed)) 0" >"$tally/fuzz"
    [ "$passed" = "$fuzzers" ]
}
# What does not depend on the kernel is not asked again. Beside other rings the guests share the cases
# that this machine's kernel cannot run, and a third of those that passed on it. Alone, as before a
# release, each guest runs all.
# Of another architecture, they are the only ones that run any.
run_guest() {
    local series=$1 share=$2 cases='--run_test=kernel,cli --run_test=!@pure' seconds=1800
    case $series in */*) cases='' seconds=10800 ;; esac
    # shellcheck disable=SC2016  # the variable is the guest's
    GPUFS_SHARE=$share GPUFS_PASSED_ELSEWHERE=$PWD/$logs/passed GPUFS_BIN=$B/fixed/gpufs \
        tests/guests/run.sh "$series" --timeout $seconds \
        --modules drm,gpu-sched,vgem,virtio-gpu,toy_gpu,toy_display,toy_driver -- sh -c \
        'GPUFS_TALLY=$GPUFS_VM_OUT/tally exec '"$B/gpufs-test $cases"
}
# A guest uses one CPU: as many at once as there are. What they print comes when all have ended.
ring_vm() {
    local series failed=0 number=0 share all
    all=$(wc -w <<<"$KERNELS")
    cat "$logs"/{kernel,cli}.passed >"$logs/passed" 2>/dev/null
    for series in $KERNELS; do
        number=$((number + 1)) share=1/1
        [ $rings = 1 ] || share=$number/$all
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        { run_guest "$series" "$share" || echo $? >"$logs/vm-${series/\//-}.failed"; } \
            >"$logs/vm-${series/\//-}" 2>&1 &
    done
    wait
    for series in $KERNELS; do
        echo "== Debian $series"
        cat "$logs/vm-${series/\//-}"
        [ ! -e "$logs/vm-${series/\//-}.failed" ] || failed=1
        cp "build/vm/$series/out/tally" "$tally/vm-${series/\//-}" || failed=1
    done
    return $failed
}

run_ring() {
    local begin=$SECONDS
    "ring_$1" >"$logs/$1" 2>&1
    echo $? >"$logs/$1.status"
    echo $((SECONDS - begin)) >"$logs/$1.seconds"
}
rings=$#
# set_nice NUMBER PID: of the process and of all below it.
set_nice() {
    local children child
    renice -n "$1" "$2" >/dev/null 2>&1
    read -ra children < <(cat "/proc/$2/task/"*/children 2>/dev/null)
    for child in "${children[@]}"; do set_nice "$1" "$child"; done
}
# What needs nothing but a CPU is compiled and runs beside the rings that ask this machine's kernel,
# which mostly wait for it, and leaves them the CPUs they want. The guests take all: they come behind.
run_aside() {
    local ring
    for ring in "$@"; do
        # shellcheck disable=SC2086  # words: what the make above was told
        if make ${MAKEOVERRIDES-} "check-$ring-needs" >"$logs/$ring.build" 2>&1; then
            run_ring "$ring" &
        else
            cp "$logs/$ring.build" "$logs/$ring"
            echo 1 >"$logs/$ring.status"
            echo 0 >"$logs/$ring.seconds"
        fi
    done
    wait
}
aside=()
for ring in "$@"; do
    case $ring in unit | sanitized | fuzz) aside+=("$ring") ;; esac
done
run_aside "${aside[@]}" &
beside=$!
set_nice 10 $beside
uncounted=0 failed_rings=()
for ring in "$@"; do
    case $ring in
    unit | sanitized | fuzz)
        set_nice 0 $beside
        wait
        ;;
    vm) wait; run_ring vm ;;
    *) run_ring "$ring" ;;
    esac
    echo "== $ring: $(<"$logs/$ring.seconds") s, ended after $SECONDS s"
    cat "$logs/$ring"
    # A case that checked nothing fails here and nowhere else.
    if [ "$(<"$logs/$ring.status")" != 0 ] || grep -qs '^[0-9]* [1-9]' "$tally/$ring" "$tally/$ring"-*; then
        failed_rings+=("$ring")
        # A ring that died before it counted is one failure more than it counted.
        grep -qs '^[0-9]* [1-9]' "$tally/$ring" "$tally/$ring"-* || uncounted=$((uncounted + 1))
    fi
done
for ring in "${failed_rings[@]}"; do
    echo "== failed in $ring"
    grep -E -A 2 'error: in "|ERROR: |runtime error: |^make.*Error' "$logs/$ring" | cut -c 1-240 | head -n 40
done
cat "$tally"/* 2>/dev/null | {
    passed=0 failed=$uncounted skipped=0
    while read -r p f s; do
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
