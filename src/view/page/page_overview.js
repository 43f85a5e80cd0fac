// What is drawn until the details are read: lanes whose boxes are parts of the time (page_overview.h).

function processesOfOverview() {
    for (const {tid, comm} of data.tasks) if (tid !== 0) taskOf(tid, comm);
    for (const [pid, cpu, gpu, jobs] of data.overview.processes) {
        const process = processOf(pid, model.tasks.get(pid)?.comm);
        Object.assign(process, {cpu, gpu, jobs});
    }
    for (const task of model.tasks.values()) processOf(task.pid, task.comm);
}

// A row with a box for each part that was busy, and a lane's mark that it is of an overview.
function rowOfOverview(text) {
    const {parts, processes} = data.overview, width = data.span / parts;
    const numbers = new Numbers(bytesOf(text)), maker = new RowMaker(parts);
    const shares = new Growing(Float32Array), shades = new Growing(Uint8Array);
    for (let i = 0; i < parts; i++) {
        const process = numbers.next();
        if (!process) continue;
        maker.add(i * width, (i + 1) * width, i);
        shares.add(numbers.next() / 127);
        shades.add(model.processes.get(processes[process - 1][0]).shade);
    }
    const row = {...maker.boxes(), shade: shades.done(), share: shares.done()};
    return {rows: [row], isOverview: true};
}

function makeOverview() {
    Object.assign(model, emptyModel());
    if (!data.overview) return;
    processesOfOverview();
    colourProcesses();
    const of = kind => data.overview.lanes.filter(([its]) => its === kind);
    const cpus = of('cpu');
    if (cpus.length) {
        const group = cpuGroup(cpus.length);
        for (const [, cpu, , text] of cpus) addLane(group, 'cpu', `CPU ${cpu}`, [], {cpu, ...rowOfOverview(text)});
    }
    const tasks = of('task').map(([, tid, busy, text]) => {
        const task = model.tasks.get(tid);
        task.busy = busy;
        return {task, text};
    });
    if (tasks.length) {
        const group = addGroup('Tasks'), most = tasksShown(of('ring').length > 0);
        for (const {task, text} of tasks.sort((a, b) => byImportance(a.task, b.task)).slice(0, most))
            addLane(group, 'task', taskName(task), [], {task, ...rowOfOverview(text)});
    }
    const devices = new Map();
    for (const [, id, , text] of of('ring')) {
        const {device, ring} = placeOfTrack(id);
        if (!devices.has(device)) devices.set(device, addGroup(device || 'GPU'));
        addLane(devices.get(device), 'ring', ring, [], rowOfOverview(text));
        model.rings.push({device, name: ring, jobs: []});
    }
    model.lanes = model.groups.flatMap(group => group.lanes);
}
