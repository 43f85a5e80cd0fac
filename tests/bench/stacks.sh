# shellcheck shell=bash disable=SC2154  # what bench.sh declares
# stacks.sh: what stacks of code without frame pointers cost: the time of the program that takes one of so many
# frames, less that of one that counts, medians of 5 turns; and the tables of a process with 400 libraries.
# Sourced by bench.sh, behind monitors.sh.

# ns_a_run FRAMES ASK...: of the program that asks so at 20,000 calls under that many frames
ns_a_run() {
    local frames=$1 work pid line
    shift
    mkfifo "$scratch/go"
    "$probe" frames "$frames" 20000 <"$scratch/go" &
    work=$!
    exec 7>"$scratch/go"
    rm "$scratch/go"
    "$gpufs" "$@" -p "$work" >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 200); do
        ! grep -qs '^run_cnt' "/proc/$pid/fdinfo/"* || break
        sleep 0.05
    done
    sleep 0.5
    echo >&7
    exec 7>&-
    wait "$work"
    line=$(runs_of "$pid")
    kill -INT "$pid"
    wait "$pid"
    awk '$1 { printf "%.0f\n", $2 / $1 }' <<<"$line"
} 2>/dev/null

# cpu_and_memory UNWIND PID: seconds of CPU and kB of memory of a run that takes stacks of the process
cpu_and_memory() {
    /usr/bin/time -o "$scratch/used" -f '%U %S %M' \
        "$gpufs" stacks sched:sched_switch -p "$2" --unwind "$1" --duration 0.1s >/dev/null 2>&1
    awk '{ print $1 + $2, $3 }' "$scratch/used"
}

echo
printf '%-34s %24s\n' 'user stacks by tables' 'added ns a stack'
for frames in 10 30 60; do
    : >"$scratch/counted" && : >"$scratch/taken"
    for _ in 1 2 3 4 5; do
        ns_a_run "$frames" count -x "$probe" bench_tick by pid >>"$scratch/counted"
        ns_a_run "$frames" stacks -x "$probe" bench_tick --unwind dwarf >>"$scratch/taken"
    done
    printf '%-34s %24d\n' "$frames frames" \
        $(($(sort -n "$scratch/taken" | sed -n 3p) - $(sort -n "$scratch/counted" | sed -n 3p)))
done
mkfifo "$scratch/stay"
"$probe" libraries 400 <"$scratch/stay" >"$scratch/libraries" &
mapped=$!
exec 7>"$scratch/stay"
until [ -s "$scratch/libraries" ]; do sleep 0.1; done
read -r fp_seconds fp_kb <<<"$(cpu_and_memory fp "$mapped")"
read -r seconds kb <<<"$(cpu_and_memory dwarf "$mapped")"
exec 7>&-
wait "$mapped"
# A row has 4 bytes.
awk -v what="$(cat "$scratch/libraries")" -v s="$seconds" -v s0="$fp_seconds" -v kb="$kb" -v kb0="$fp_kb" 'BEGIN {
    printf "%-34s %20.0f MB, %.1f million rows a second of CPU time\n", what, (kb - kb0) / 1024,
           (kb - kb0) * 256 / (s - s0) / 1e6 }'
