# shellcheck shell=bash disable=SC2154  # what bench.sh declares
# monitors.sh: what each shipped monitor costs here: how often its programs ran and how long each run
# took, by the kernel's own account (kernel.bpf_stats_enabled). What a probe costs beside its program
# is in none of these; a launch of CUDA is measured as a whole. Sourced by bench.sh.
stats=/proc/sys/kernel/bpf_stats_enabled
stats_before=$(cat "$stats")
trap 'echo "$stats_before" >"$stats"; rm -rf "$scratch"' EXIT
echo 1 >"$stats"

# runs_of PID: runs and nanoseconds of all its programs
runs_of() {
    cat "/proc/$1/fdinfo/"* 2>/dev/null | awk '
        /^run_time_ns:/ { ns += $2 } /^run_cnt:/ { n += $2 } END { print n + 0, ns + 0 }'
}

# Files, processes, signals, threads and pages, until it is ended.
busy() {
    while :; do
        cat /etc/passwd >"$scratch/copy"
        sleep 0.01 &
        kill $!
        wait $!
    done 2>/dev/null
}

# cost MONITOR WORK...: the monitor beside two seconds of work. Fails where the monitor cannot run:
# one that could ends by the signal that it is sent.
cost() {
    local name=$1 pid work counted status
    shift
    "$@" >/dev/null 2>&1 &
    work=$!
    "$gpufs" run "$name" >/dev/null 2>"$scratch/why" &
    pid=$!
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || break
        case $(runs_of "$pid") in 0\ *) sleep 0.05 ;; *) sleep 2 && break ;; esac
    done
    counted=$(runs_of "$pid")
    kill "$work"
    kill -INT "$pid" 2>/dev/null
    wait "$pid"
    status=$?
    wait "$work"
    [ "$status" = $((128 + $(kill -l INT))) ] || return 1
    awk -v name="$name" '{ printf "%-34s %24d %24s\n", name, $1, $1 ? sprintf("%.0f", $2 / $1) : "-" }' \
        <<<"$counted"
} 2>/dev/null

echo
printf '%-34s %24s %24s\n' 'monitors here' 'runs of programs' 'ns a run'
for name in $("$gpufs" run --list | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p'); do
    case $name in
    cuda | hip | ze | vulkan)
        [ -x "build/gpufs-$name-work" ] || continue
        works=(all 4 1000000)
        # Launches that nobody counts take some 10 ns; they are to go on until the monitor is attached.
        [ "$name" != cuda ] || works=(launches 4 100000000)
        LD_LIBRARY_PATH=build/$name cost "$name" "build/gpufs-$name-work" "${works[@]}" ;;
    *) cost "$name" busy ;;
    esac || echo "$name: $(head -n 1 "$scratch/why")" >>"$scratch/left-out"
done
[ ! -s "$scratch/left-out" ] || { echo 'left out, because here they cannot run:' && cat "$scratch/left-out"; }

# A launch without a probe, with one that only counts, and with the monitor, by turns: the difference of
# the last two is what the monitor adds.
if [ -x build/gpufs-cuda-work ]; then
    launch() { "$@" build/gpufs-cuda-work bench 200000 2>/dev/null | sed -n 's/ ns a launch$//p'; }
    export LD_LIBRARY_PATH=build/cuda
    for _ in $(seq "$rounds"); do
        plain=$(launch env)
        added() { launch "$@" -o /dev/null -- | awk -v b="$plain" '{ printf "%.0f\n", $1 - b }'; }
        added "$gpufs" count uprobe:build/cuda/libcuda.so.1:cuLaunchKernel >>"$scratch/launch-probe"
        added "$gpufs" run cuda >>"$scratch/launch-count"
        added "$gpufs" run cuda stacks=1 >>"$scratch/launch-stack"
    done
    unset LD_LIBRARY_PATH
    echo
    echo "added to a launch by a probe that counts, ns: $(spread "$scratch/launch-probe" 0)"
    echo "by the monitor cuda, ns: $(spread "$scratch/launch-count" 0)"
    echo "by the same by stack, ns: $(spread "$scratch/launch-stack" 0)"
fi
