# Writes what tracefs' file trace has of a busy GPU: jobs one behind another on two rings, and switches
# between tasks on four CPUs, at random, the same at each call. -v switches=N: so many of them; -v gap=US:
# so far apart, of 150,000 every 20 us and more.
function line(time, task, cpu, text) {
    printf "%24s [%03d] d..2. %.6f: %s\n", task, cpu, 100 + time / 1e6, text
}
BEGIN {
    srand(7)
    print "# tracer: nop\n#"
    for (cpu = 0; cpu < 4; cpu++) runs[cpu] = 0
    for (time = 0; count < (switches ? switches : 150000); time += 1 + int(rand() * (gap ? 2 * gap : 40))) {
        if (time >= next_step) {
            for (ring = 0; ring < 2; ring++) {
                if (job[ring]) line(time, "<idle>-0", ring, "drm_sched_job_done: fence=" 20 + ring ":" job[ring] " signaled")
                pid = rand() < 0.7 ? 300 : 310
                fields = "dev=0000:03:00.0, fence=" 20 + ring ":" ++job[ring] ", ring=" (ring ? "sdma" : "gfx") ", job count:0, hw job count:0, client_id:" pid
                line(time + 0.1, "render-" pid, 2, "drm_sched_job_queue: " fields)
                line(time + 0.2, "kworker-9", 3, "drm_sched_job_run: " fields)
            }
            next_step = time + 500 + int(rand() * 1500)
        }
        cpu = int(rand() * 4)
        task = rand() < 0.4 ? 0 : 300 + int(rand() * rand() * 40)
        if (task == runs[cpu] || (task && task in isOn)) continue
        delete isOn[runs[cpu]]
        isOn[task]
        count++
        line(time + 0.4, runs[cpu] ? "task" runs[cpu] "-" runs[cpu] : "<idle>-0", cpu,
             sprintf("sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120",
                     name(runs[cpu], cpu), runs[cpu], rand() < 0.5 ? "S" : "R", name(task, cpu), task))
        runs[cpu] = task
    }
}
function name(pid, cpu) {
    return pid ? "task" pid : "swapper/" cpu
}
