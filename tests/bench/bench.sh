#!/bin/bash
# bench.sh: gpufs beside its peers, measured by turns in one run. Prints a table; fails only when it
# cannot measure. Peers that are not installed are left out. ROUNDS=N: how often each (7).
# PART=monitors: only what monitors cost.
# Needs root, and where GPUFS and PROBE are.
set -u
cd "$(dirname "$0")/../.." || exit 1
rounds=${ROUNDS:-7}
gpufs=${GPUFS:-build/static/gpufs}
probe=${PROBE:-build/bench-probe}
cpu=$(($(nproc) - 1))
calls=1000000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ -e /sys/kernel/tracing/available_events ] || mount -t tracefs nodev /sys/kernel/tracing || exit 1

has() { command -v "$1" >/dev/null; }
median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
# spread FILE: "median [least..most]"
spread() {
    sort -g "$1" | awk '{ v[NR] = $1 }
        END { if (NR) printf "%.*f [%.*f..%.*f]", d, v[int((NR + 1) / 2)], d, v[1], d, v[NR] }' d="$2"
}
row() { printf '%-34s %24s %24s %8s %8s\n' "$@"; }
# ratio FILE FILE: of the medians
ratio() {
    awk -v a="$(median <"$1")" -v b="$(median <"$2")" 'BEGIN { if (b > 0) printf "%.2f", a / b }'
}

echo "$(uname -sr), $(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1))"
case ${PART-} in
'') ;;
monitors)
    . tests/bench/monitors.sh
    exit
    ;;
*)
    echo "bench.sh: no part '$PART': monitors" >&2
    exit 1
    ;;
esac

cat >"$scratch/print.bpf" <<'END'
.licence "GPL"
.include "lib/send.bpf"
.record switch { pid u32, prio s32, comm str16 } then { print "{pid} {prio} {comm}" }
.stack  v { out switch }
.prog   p tracepoint sched:sched_switch
        r6 = r1
        *(u32 *)(r10 + v.out.id) = record(switch)
        r2 = @prev_pid(r6)
        *(u32 *)(r10 + v.out.pid) = w2
        r2 = @prev_prio(r6)
        *(u32 *)(r10 + v.out.prio) = w2
        r1 = r10
        r1 += v.out.comm
        r2 = sizeof(v.out.comm)
        r3 = &@prev_comm(r6)
        call probe_read_kernel
        r1 = r6
        r2 = r10
        r2 += v.out
        r3 = sizeof(switch)
        call send
        r0 = 0
        exit
END
cat >"$scratch/each.bpf" <<'END'
.licence "GPL"
.include "lib/comm.bpf"
.include "lib/send.bpf"
.record call { pid pid, when time, comm str16 } then { print "{pid} {comm} {when:d}" }
.stack  v { out call }
.prog   p tracepoint syscalls:sys_enter_getppid
        r6 = r1
        *(u32 *)(r10 + v.out.id) = record(call)
        call get_current_pid_tgid
        r0 >>= 32
        *(u32 *)(r10 + v.out.pid) = w0
        call ktime_get_ns
        *(u64 *)(r10 + v.out.when) = r0
        r1 = r10
        r1 += v.out.comm
        call comm
        r1 = r6
        r2 = r10
        r2 += v.out
        r3 = sizeof(call)
        call send
        r0 = 0
        exit
END
cat >"$scratch/nothing.bpf" <<'END'
.prog p tracepoint sched:sched_switch
        r0 = 0
        exit
END
chmod 644 "$scratch"/*.bpf
bt_switch='tracepoint:sched:sched_switch { printf("%d %d %s\n", args->prev_pid, args->prev_prio, args->prev_comm); }'
bt_nothing='tracepoint:sched:sched_switch { @ = 1; } interval:ms:1 { exit(); }'

# started NAME -i|-- COMMAND...: time to the first byte, to the end, and peak memory, into files.
started() {
    local name=$1 first whole rss
    shift
    read -r first whole rss < <("$probe" start "$@" 2>/dev/null)
    echo "$first" >>"$scratch/$name.first"
    echo "$whole" >>"$scratch/$name.whole"
    awk -v kb="$rss" 'BEGIN { printf "%.1f\n", kb / 1024 }' >>"$scratch/$name.rss"
}

echo "medians of $rounds rounds by turns [least..most]"
echo
row '' gpufs bpftrace ratio target
for _ in $(seq "$rounds"); do
    started gpufs-print -i "$gpufs" run "$scratch/print.bpf"
    started gpufs-nothing "$gpufs" run "$scratch/nothing.bpf" --duration 1ms
    has bpftrace || continue
    started bpftrace-print -i bpftrace -e "$bt_switch"
    started bpftrace-nothing bpftrace -e "$bt_nothing"
done
touch "$scratch"/bpftrace-{print,nothing}.{first,whole,rss}
compare() {
    row "$1" "$(spread "$scratch/gpufs-$2" "$3")" "$(spread "$scratch/bpftrace-$2" "$3")" \
        "$(ratio "$scratch/gpufs-$2" "$scratch/bpftrace-$2")" "$4"
}
compare 'start to first record, ms' print.first 1 '5 ms'
compare 'whole process, traces 1 ms, ms' nothing.whole 1 0.10
compare 'peak memory, MB' print.rss 1 '8 MB'

# quiet and traced by turns; what tracing adds to a call, ns.
quiet() { "$probe" calls "$calls" "$cpu" 2>&1 | awk '{ print $1 }'; }
traced() { "$@" 2>&1 | sed -n 's/ ns a call$//p'; }
# added NAME COMMAND...: the tracer with the calls as its command
added() {
    local name=$1 before
    shift
    before=$(quiet)
    awk -v a="$(traced "$@")" -v b="$before" 'BEGIN { if (a > 0) printf "%.1f\n", a - b }' \
        >>"$scratch/$name"
}
run_calls=("$probe" calls "$calls" "$cpu")
# case LABEL TARGET BPFTRACE-PROGRAM GPUFS-ARGUMENTS...
measure() {
    local label=$1 target=$2 program=$3
    shift 3
    : >"$scratch/gpufs-added"
    : >"$scratch/bpftrace-added"
    for _ in $(seq "$rounds"); do
        added gpufs-added "$gpufs" "$@" -- "${run_calls[@]}"
        if has bpftrace; then
            added bpftrace-added bpftrace -e "$program" -c "${run_calls[*]}"
        fi
    done
    compare "$label" added 0 "$target"
}
enter=syscalls:sys_enter_getppid
bt_enter=tracepoint:$enter
echo
echo "added to one system call (getppid), ns"
measure 'count' 0.5 "$bt_enter { @ = count(); }" count $enter
measure 'count by comm' 0.6 "$bt_enter { @[comm] = count(); }" count $enter by comm
measure 'log2 histogram' 0.5 "tracepoint:syscalls:sys_exit_getppid { @ = hist(args->ret); }" \
    hist syscalls:sys_exit_getppid ret
measure 'enter to exit, histogram' 0.6 \
    "$bt_enter { @s[tid] = nsecs; }
     tracepoint:syscalls:sys_exit_getppid /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }" \
    latency $enter syscalls:sys_exit_getppid --key tid

# Lines of every call at full speed, into a file: what is dropped costs a call nothing, so count what
# was told. Those lost are the calls without a line, whatever the tracer says.
calls=2000000
run_calls=("$probe" calls "$calls" "$cpu")
# told NAME COMMAND...: lines a second of the whole run, and lines lost
told() {
    local name=$1 begin end lines
    shift
    begin=$(date +%s%N)
    "$@" >"$scratch/lines" 2>/dev/null
    end=$(date +%s%N)
    lines=$(grep -c ' bench-probe ' "$scratch/lines")
    echo $((lines * 1000000000 / (end - begin))) >>"$scratch/$name-told"
    echo $((calls - lines)) >>"$scratch/$name-lost"
}
for name in {gpufs,bpftrace}-{told,lost}; do : >"$scratch/$name"; done
for _ in $(seq "$rounds"); do
    told gpufs "$gpufs" run "$scratch/each.bpf" -- "${run_calls[@]}"
    has bpftrace || continue
    told bpftrace bpftrace -e "$bt_enter { printf(\"%d %s %llu\n\", pid, comm, nsecs); }" \
        -c "${run_calls[*]}"
done
echo
echo "pid, command and time of 2,000,000 calls at full speed, into a file"
compare 'lines told a second' told 0 10
compare 'lines lost' lost 0 0

# Into a file, beside trace-cmd. It gives up where the kernel refuses the files of the function tracer
# to root, too, which it resets even if nobody traces functions: there it is given others.
tracing_on=$(cat /sys/kernel/tracing/tracing_on)
calls=1000000
run_calls=("$probe" calls "$calls" "$cpu")
echo 1 >"$scratch/ftrace_enabled"
: >"$scratch/empty"
cat >"$scratch/trace-cmd-record" <<'END'
folder=$1
shift
enabled=/proc/sys/kernel/ftrace_enabled
if ! { cat "$enabled" >"$folder/now" && cat "$folder/now" >"$enabled"; } 2>/dev/null; then
    mount --bind "$folder/ftrace_enabled" "$enabled"
    for file in /sys/kernel/tracing/set_ftrace_* /sys/kernel/tracing/set_graph_*; do
        mount --bind "$folder/empty" "$file"
    done
fi
exec trace-cmd record -o "$folder/trace-cmd.dat" "$@"
END
trace_cmd_record=(unshare --mount sh "$scratch/trace-cmd-record" "$scratch")
lost() { sed -n 's/.* \([0-9]*\) lost.*/\1/p'; }
: >"$scratch/gpufs-recorded"
: >"$scratch/trace-cmd-recorded"
: >"$scratch/gpufs-lost"
: >"$scratch/trace-cmd-lost"
for _ in $(seq "$rounds"); do
    added gpufs-recorded "$gpufs" record -e $enter -o "$scratch/gpufs.dat" -- "${run_calls[@]}"
    "$gpufs" record -e $enter -o "$scratch/gpufs.dat" -- "${run_calls[@]}" 2>&1 | lost \
        >>"$scratch/gpufs-lost"
    has trace-cmd || continue
    rm -f "$scratch/trace-cmd.dat"
    added trace-cmd-recorded "${trace_cmd_record[@]}" -e $enter "${run_calls[@]}"
    echo "$tracing_on" >/sys/kernel/tracing/tracing_on
    [ -s "$scratch/trace-cmd.dat" ] || continue
    trace-cmd report --stat "$scratch/trace-cmd.dat" 2>/dev/null |
        awk '/^overrun:/ { n += $2 } END { print n + 0 }' >>"$scratch/trace-cmd-lost"
done
echo
row '' gpufs trace-cmd ratio target
against() {
    row "$1" "$(spread "$scratch/gpufs-$2" 0)" "$(spread "$scratch/trace-cmd-$2" 0)" \
        "$(ratio "$scratch/gpufs-$2" "$scratch/trace-cmd-$2")" "$3"
}
against 'recorded to a file, ns a call' recorded 1
against 'lost of 1,000,000' lost 0

# seconds COMMAND...: what it takes in all. A command that fails has no time.
seconds() {
    local begin end
    begin=$(date +%s%N)
    if ! "$@" >/dev/null 2>"$scratch/errors"; then
        echo "bench.sh: $1 failed: $(tail -n 1 "$scratch/errors")" >&2
        return
    fi
    end=$(date +%s%N)
    awk -v n=$((end - begin)) 'BEGIN { printf "%.3f\n", n / 1e9 }'
}
libc=$(ldconfig -p | awk '/libc\.so\.6 .*x86-64|libc\.so\.6 .*AArch64/ { print $NF; exit }')
: >"$scratch/gpufs-probes"
: >"$scratch/bpftrace-probes"
: >"$scratch/gpufs-keys"
: >"$scratch/bpftrace-keys"
for _ in $(seq "$rounds"); do
    seconds "$gpufs" count "uprobe:$libc:p*" --duration 1ms >>"$scratch/gpufs-probes"
    seconds "$gpufs" count syscalls:sys_enter_getpgid by pid --max-keys 131072 \
        -- "$probe" keys 100000 >>"$scratch/gpufs-keys"
    has bpftrace || continue
    BPFTRACE_MAX_PROBES=2000 seconds bpftrace -e \
        "uprobe:$libc:p* { @ = count(); } interval:ms:1 { exit(); }" >>"$scratch/bpftrace-probes"
    BPFTRACE_MAP_KEYS_MAX=131072 seconds bpftrace -e \
        'tracepoint:syscalls:sys_enter_getpgid { @[args->pid] = count(); }' -c "$probe keys 100000" \
        >>"$scratch/bpftrace-keys"
done
# Both at the same work: one system call, on all CPUs at once.
agree() {
    local expected=0 each=250000 at
    : >"$scratch/work"
    for at in $(seq 0 "$cpu"); do
        echo "'$probe' calls $each $at &" >>"$scratch/work"
        expected=$((expected + each))
    done
    echo wait >>"$scratch/work"
    "$gpufs" count $enter by comm --json -- bpftrace -f json -e "$bt_enter { @[comm] = count(); }" \
        -c "/bin/sh $scratch/work" >"$scratch/agree" 2>/dev/null
    row "counts of $expected calls on all CPUs" \
        "$(sed -n 's/.*"comm":"bench-probe"},"count":\([0-9]*\).*/\1/p' "$scratch/agree")" \
        "$(sed -n 's/.*"@":.*"bench-probe": *\([0-9]*\).*/\1/p' "$scratch/agree")"
}
has bpftrace && agree

echo
compare "probes on libc's p*, s" probes 2 ''
compare '100,000 keys, counted and shown, s' keys 2 ''

# A recording read again, in one thread: million records a second of CPU time. perf reads its own.
calls=1000000
"$gpufs" record -e sched,$enter,syscalls:sys_exit_getppid --buffer 64M -o "$scratch/read.dat" \
    -- "$probe" calls "$calls" "$cpu" >/dev/null 2>&1
has perf && perf record -q -a -m 64M -o "$scratch/perf.data" -e "$enter,syscalls:sys_exit_getppid" \
    "$probe" calls "$calls" "$cpu" >/dev/null 2>&1
# speed NAME RECORDS COMMAND...
speed() {
    local name=$1 records=$2 spent
    shift 2
    spent=$(TIMEFORMAT='%U %S'; { time "$@" >/dev/null 2>&1; } 2>&1)
    awk -v n="$records" '{ printf "%.2f\n", n / ($1 + $2) / 1e6 }' <<<"$spent" >>"$scratch/$name"
}
records=$("$gpufs" report --stat -i "$scratch/read.dat" 2>/dev/null | awk '/^records/ { print $2 }')
: >"$scratch/trace-cmd-read"
: >"$scratch/perf-read"
if has perf; then perf_records=$(perf script -i "$scratch/perf.data" 2>/dev/null | wc -l); fi
for _ in $(seq "$rounds"); do
    speed gpufs-read "$records" "$gpufs" report -i "$scratch/read.dat"
    has trace-cmd && speed trace-cmd-read "$records" trace-cmd report -i "$scratch/read.dat"
    has perf && speed perf-read "$perf_records" perf script -i "$scratch/perf.data"
done
echo
for peer in trace-cmd perf; do
    row "report, M records/s, beside $peer" "$(spread "$scratch/gpufs-read" 2)" \
        "$(spread "$scratch/$peer-read" 2)" "$(ratio "$scratch/gpufs-read" "$scratch/$peer-read")" 5
done

. tests/bench/scripts.sh
. tests/bench/monitors.sh
. tests/bench/stacks.sh
