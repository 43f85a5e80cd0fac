#!/bin/bash
# run.sh: pages and pictures in Chromium. Makes them of shipped recordings with $GPUFS_BIN, and asks the
# browser what it shows: tests/browser/pages.js, driven by playwright-core in build/browser. The tally
# goes to $GPUFS_TALLY. ONLY=WORDS runs the tests with these words in their names.
set -eu

out=$(mktemp -d /tmp/gpufs-browser-XXXXXX)
trap 'rm -rf "$out"' EXIT
data=tests/data/trace_dat

"$GPUFS_BIN" watch drm lines=1 -i $data/drm-6.17.dat --html "$out/watch.html" >/dev/null 2>&1
"$GPUFS_BIN" watch drm lines=1 -i $data/drm-6.17.dat --json >"$out/watch.json" 2>/dev/null
"$GPUFS_BIN" report -i $data/why-6.12.dat --html "$out/why.html" 2>/dev/null
"$GPUFS_BIN" report -i $data/vblank-6.12.dat --html "$out/vblank.html" 2>/dev/null
"$GPUFS_BIN" report -i $data/i915-7.3.dat --html "$out/i915.html" 2>/dev/null
awk -f tests/browser/busy.awk >"$out/busy.txt"
"$GPUFS_BIN" report -i "$out/busy.txt" --html "$out/busy.html" 2>/dev/null
# So many switches that they are in segments.
awk -v switches=450000 -f tests/browser/busy.awk >"$out/long.txt"
"$GPUFS_BIN" report -i "$out/long.txt" --html "$out/long.html" 2>/dev/null
# Two contexts of fences that a double does not tell from each other, a task with a CPU's name, and a time
# of a century later.
cat >"$out/strange.txt" <<'END'
# tracer: nop
#
           CPU 1-300     [002] d..2.   100.000000: drm_sched_job_queue: dev=0000:03:00.0, fence=9007199254740992:1, ring=gfx, job count:0, hw job count:0, client_id:300
           CPU 1-300     [002] d..2.   100.000010: drm_sched_job_queue: dev=0000:03:00.0, fence=9007199254740993:1, ring=sdma, job count:0, hw job count:0, client_id:300
           CPU 1-300     [002] d..2.   100.000020: sched_waking: comm=x pid=1 prio=120 target_cpu=000
           CPU 1-300     [002] d..2.   4000000000.000000: sched_waking: comm=x pid=1 prio=120 target_cpu=000
END
"$GPUFS_BIN" report -i "$out/strange.txt" --html "$out/strange.html" 2>/dev/null
# A kernel that does not tell what an idle CPU goes on to.
cat >"$out/untold.txt" <<'END'
# tracer: nop
#
               x-300     [000] d..2.   100.000000: sched_waking: comm=x pid=1 prio=120 target_cpu=000
               a-301     [001] d..2.   100.000100: sched_switch: prev_comm=a prev_pid=301 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
               x-300     [000] d..2.   100.000200: sched_waking: comm=b pid=302 prio=120 target_cpu=001
               b-302     [001] d..2.   100.000300: sched_switch: prev_comm=b prev_pid=302 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
               c-303     [001] d..2.   100.000500: sched_switch: prev_comm=c prev_pid=303 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
END
"$GPUFS_BIN" report -i "$out/untold.txt" --html "$out/untold.html" 2>/dev/null
# Events of a CPU are lost while b runs; an idle CPU loses who it went on to.
cat >"$out/lost.txt" <<'END'
# tracer: nop
#
               a-301     [000] d..2.   100.000000: sched_switch: prev_comm=a prev_pid=301 prev_prio=120 prev_state=S ==> next_comm=b next_pid=302 next_prio=120
               x-300     [001] d..2.   100.000000: sched_switch: prev_comm=x prev_pid=300 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
               b-302     [000] d..2.   100.000010: sched_waking: comm=c pid=303 prio=120 target_cpu=001
CPU:0 [LOST 500 EVENTS]
               a-301     [000] d..2.   100.990000: sched_switch: prev_comm=a prev_pid=301 prev_prio=120 prev_state=S ==> next_comm=b next_pid=302 next_prio=120
CPU:1 [LOST 5 EVENTS]
               c-303     [001] d..2.   100.995000: sched_switch: prev_comm=c prev_pid=303 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
               b-302     [000] d..2.   101.000000: sched_switch: prev_comm=b prev_pid=302 prev_prio=120 prev_state=S ==> next_comm=a next_pid=301 next_prio=120
END
"$GPUFS_BIN" report -i "$out/lost.txt" --html "$out/lost.html" 2>/dev/null
"$GPUFS_BIN" stacks sched:sched_switch by comm -i $data/stack-6.18.dat --flame "$out/flame.svg" >/dev/null 2>&1
"$GPUFS_BIN" latency sched:sched_wakeup sched:sched_switch --key pid=next_pid -i $data/mono-6.18.dat \
    --heat "$out/heat.svg" >/dev/null 2>&1
NODE_PATH=build/browser/node_modules node tests/browser/pages.js "$out"
