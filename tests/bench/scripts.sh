# shellcheck shell=bash disable=SC2154  # what bench.sh declares
# Scripts in the bpftrace language, the same text for both. Sourced by bench.sh, whose functions and
# variables it uses. SCRIPTS=FOLDER: also the .bt files there, which must need no argument.

bt_exit=tracepoint:syscalls:sys_exit_getppid
scripts_folder=${SCRIPTS:-}

script_names=(count sum hist comm tuple latency printf increment stack compare text stats branch)
declare -A script_of=(
    [count]="$bt_enter { @ = count(); }"
    [sum]="$bt_exit { @ = sum(args->ret); }"
    [hist]="$bt_exit { @ = hist(args->ret); }"
    [comm]="$bt_enter { @[comm] = count(); }"
    [tuple]="$bt_enter { @[pid, comm] = count(); }"
    [latency]="$bt_enter { @s[tid] = nsecs; }
               $bt_exit /@s[tid]/ { @us = hist((nsecs - @s[tid]) / 1000); delete(@s[tid]); }"
    [printf]="$bt_enter { printf(\"%d %s %llu\\n\", pid, comm, nsecs); }"
    [increment]="$bt_enter { @[pid]++; }"
    [stack]="$bt_enter { @[kstack, ustack] = count(); }"
    [compare]="$bt_enter /comm == \"bench-probe\"/ { @ = count(); }"
    [text]="tracepoint:syscalls:sys_enter_openat { @[str(args->filename)] = count(); }"
    [stats]="$bt_exit { @[comm] = stats(args->ret); }"
    [branch]="$bt_exit { if (args->ret > 100) { @a[comm] = count(); } else { @b[comm] = sum(args->ret); } }"
)
measured_scripts=(count sum hist comm tuple latency)

# programs_of PID: the ids of the BPF programs that a process has open
programs_of() { sed -n 's/^prog_id:[^0-9]*//p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u; }

# insns_of COMMAND...: how many instructions the kernel has of the programs of a tracer, which runs
# until it is stopped; its own rewriting included, for all alike. Without begin and end, which run
# once: bpftrace has let go of the one, and has not loaded the other.
insns_of() {
    local child ids='' last='' sum=0 n id
    "$@" >/dev/null 2>&1 &
    child=$!
    for _ in $(seq 200); do
        kill -0 "$child" 2>/dev/null || break
        ids=$(programs_of "$child")
        # All are loaded when no more come.
        [ -n "$ids" ] && [ "$ids" = "$last" ] && break
        last=$ids
        sleep 0.3
    done
    for id in $ids; do
        n=$("$gpufs" disasm --id "$id" | awk '
            /^# program/ { is_once = tolower($4) ~ /^(begin|end)/ }
            /^    / && !is_once { n += /ld_pseudo/ ? 2 : 1 }
            END { print n + 0 }')
        sum=$((sum + n))
    done
    kill "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    echo "$sum"
}
# insns LABEL SCRIPT-WORDS...
insns() {
    local label=$1
    shift
    insns_of "$gpufs" bt "$@" >"$scratch/gpufs-insns"
    insns_of bpftrace "$@" >"$scratch/bpftrace-insns"
    compare "$label" insns 0 1.5
}

echo
row 'scripts' gpufs bpftrace ratio target
for name in {gpufs,bpftrace}-script.{first,whole,rss}; do : >"$scratch/$name"; done
for _ in $(seq "$rounds"); do
    started gpufs-script -i "$gpufs" bt -q -e "$bt_switch"
    has bpftrace && started bpftrace-script -i bpftrace -e "$bt_switch"
done
compare 'start to first line, ms' script.first 1 '5 ms'
compare 'peak memory, MB' script.rss 1 '8 MB'

calls=1000000
run_calls=("$probe" calls "$calls" "$cpu")
for name in "${measured_scripts[@]}"; do
    : >"$scratch/gpufs-added"
    : >"$scratch/bpftrace-added"
    for _ in $(seq "$rounds"); do
        added gpufs-added "$gpufs" bt -e "${script_of[$name]}" -c "${run_calls[*]}"
        has bpftrace && added bpftrace-added bpftrace -e "${script_of[$name]}" -c "${run_calls[*]}"
    done
    compare "added to a call: $name, ns" added 0 0.6
done

calls=2000000
run_calls=("$probe" calls "$calls" "$cpu")
for name in {gpufs,bpftrace}-{told,lost,keys}; do : >"$scratch/$name"; done
for _ in $(seq "$rounds"); do
    told gpufs "$gpufs" bt -e "${script_of[printf]}" -c "${run_calls[*]}"
    BPFTRACE_MAP_KEYS_MAX=131072 seconds "$gpufs" bt -e \
        'tracepoint:syscalls:sys_enter_getpgid { @[args->pid] = count(); }' \
        -c "$probe keys 100000" >>"$scratch/gpufs-keys"
    has bpftrace || continue
    told bpftrace bpftrace -e "${script_of[printf]}" -c "${run_calls[*]}"
    BPFTRACE_MAP_KEYS_MAX=131072 seconds bpftrace -e \
        'tracepoint:syscalls:sys_enter_getpgid { @[args->pid] = count(); }' \
        -c "$probe keys 100000" >>"$scratch/bpftrace-keys"
done
compare 'printf lines told a second' told 0 10
compare 'printf lines lost of 2,000,000' lost 0 0
compare '100,000 keys, s' keys 2 0.3

if has bpftrace; then
    echo
    row 'instructions of scripts' gpufs bpftrace ratio target
    for name in "${script_names[@]}"; do insns "$name" -e "${script_of[$name]}"; done
    for file in ${scripts_folder:+"$scripts_folder"/*.bt}; do
        insns "$(basename "$file")" "$file"
    done
fi
