// Lanes: what is drawn below each other. A lane has rows; the boxes of a row never overlap.

const kState = {runs: 0, waits: 1, blocked: 2};
// Colours that the colour-blind can tell apart (Okabe and Ito; Tol), for the busiest processes.
const kColours = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7a6fd0', '#999933',
                  '#882255'];
const kOther = '#8a8a8a';

// The first place in sorted numbers, from `low` up to `high`, that is larger than a value.
function firstAbove(numbers, value, low = 0, high = numbers.length) {
    while (low < high) {
        const middle = (low + high) >> 1;
        if (numbers[middle] > value) high = middle;
        else low = middle + 1;
    }
    return low;
}
// ... that is at least the value.
function firstFrom(numbers, value, low = 0, high = numbers.length) {
    while (low < high) {
        const middle = (low + high) >> 1;
        if (numbers[middle] >= value) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Boxes from start to end; `ref` says which item a box is. Room for as many as are expected grows.
class RowMaker {
    constructor(expected = 16) {
        this.start = new Float64Array(expected);
        this.end = new Float64Array(expected);
        this.ref = new Int32Array(expected);
        this.count = 0;
        this.last = -1;
    }
    add(start, end, ref) {
        if (this.count === this.start.length) this.grow();
        this.start[this.count] = start;
        this.end[this.count] = end;
        this.ref[this.count++] = ref;
        this.last = end;
    }
    grow() {
        for (const [name, Type] of [['start', Float64Array], ['end', Float64Array], ['ref', Int32Array]]) {
            const more = new Type(this.count * 2 + 16);
            more.set(this[name]);
            this[name] = more;
        }
    }
    // What shadeLanes() says of them is still to be filled.
    boxes() {
        const n = this.count;
        return {start: this.start.subarray(0, n), end: this.end.subarray(0, n), ref: this.ref.subarray(0, n),
                shade: null, share: null, middle: null, levels: null, wide: null};
    }
}

// Rows of what may overlap: each box goes to the first row that is free. `refs` in order of start;
// `start` and `end` have the times of each.
function stacked(refs, start, end) {
    const kMostRows = 48;
    const makers = [];
    for (const ref of refs) {
        const from = start[ref];
        let at = 0;
        while (at < makers.length && makers[at].last > from) at++;
        if (at === kMostRows) at--;
        else if (at === makers.length) makers.push(new RowMaker());
        const maker = makers[at];
        // More at a time than there are rows: the last row has the beginning of each.
        if (maker.last > from) maker.end[maker.count - 1] = from;
        maker.add(from, Math.max(end[ref], from + 1), ref);
    }
    if (!makers.length) makers.push(new RowMaker());
    return makers.map(maker => maker.boxes());
}

const emptyModel = () => ({
    processes: new Map(),  // by pid: {pid, name, cpu, gpu, queue, jobs, colour}
    taskTracks: new Map([...data.tracks.values()].filter(track => track.kind === kKernel.task).map(track => [track.tid, track])),
    jobs: [],
    jobOfFlow: [],
    jobsOfFence: null,     // by context/number: those that had it, one after another
    rings: [],             // {device, name, jobs}
    tasks: new Map(),      // by tid: {tid, comm, pid, busy, waits, blocked, states}
    lanes: [],
    groups: [],
});
const model = {};

function processOf(pid, name) {
    let process = model.processes.get(pid);
    if (!process) {
        process = {pid, name: name || '', cpu: 0, gpu: 0, queue: 0, jobs: 0, waits: 0, colour: kOther, shade: kOtherShade};
        model.processes.set(pid, process);
    }
    if (!process.name) process.name = name || '';
    return process;
}

function taskOf(tid, comm) {
    let task = model.tasks.get(tid);
    if (!task) {
        const track = model.taskTracks.get(tid);
        task = {tid, comm: comm || track?.name || '', pid: track ? track.pid : tid, busy: 0, events: 0,
                hasSlices: false, states: null, track};
        model.tasks.set(tid, task);
    }
    if (comm) task.comm = comm;
    return task;
}

function groupPath(track) {
    const names = [];
    for (let at = track; at; at = data.tracks.get(at.parent)) names.unshift(at.name);
    return names;
}

function placeOfTrack(track) {
    const [device, ring] = groupPath(data.tracks.get(track));
    return {device: device || '', ring: (ring || '').replace(/^ring /, ''), runs: data.tracks.get(track).name === 'run'};
}

// Of a fence: a number, or, of old kernels, an address.
const contextText = context => context > Number.MAX_SAFE_INTEGER ? `0x${context.toString(16)}` : String(context);

// Jobs: the slices in the queue and on the ring that have one flow.
function findJobs() {
    const s = data.slices, g = data.gpuSlices;
    const most = s.flow.reduce((a, b) => Math.max(a, b), 0);
    // By flow and from 1 on: its slices, its place in gpuSlices.
    const queues = new Int32Array(most + 1), runs = new Int32Array(most + 1), places = new Int32Array(most + 1);
    const waits = [], placeOf = [];  // placeOf: by track
    for (let k = 0; k < g.count; k++) {
        const i = g.slice[k], track = s.track[i], flow = s.flow[i];
        if (!flow) {
            waits.push(i);
            continue;
        }
        const place = placeOf[track] ??= placeOfTrack(track);
        if (place.runs) runs[flow] = i + 1;
        else queues[flow] = i + 1;
        places[flow] = k + 1;
    }
    // Flows are numbered as jobs come.
    for (let flow = 1; flow <= most; flow++) {
        if (!places[flow]) continue;
        const k = places[flow] - 1, queue = queues[flow] - 1, run = runs[flow] - 1;
        const first = queue < 0 ? run : queue, last = run < 0 ? queue : run;
        const {device, ring} = placeOf[s.track[last]];
        const job = {flow, name: data.names[s.name[last]], pid: g.pid[k], device, ring, context: contextText(g.context[k]), seqno: g.seqno[k], queue, run,
                     submit: -1, done: -1, index: model.jobs.length, row: 0, start: s.start[first],
                     ran: run < 0 ? s.end[last] : s.start[run], end: s.end[last], isOpen: s.isOpen[last] === 1, ringOf: null, waits: kNoWaits};
        model.jobOfFlow[flow] = job;
        model.jobs.push(job);
    }
    placeWaits(waits);
}

// The events of its submission and its end.
function findEventsOfJobs() {
    const t = data.instants;
    for (let i = 0; i < t.count; i++) {
        const job = t.flow[i] ? model.jobOfFlow[t.flow[i]] : null;
        if (!job) continue;
        if (job.submit < 0 && t.time[i] <= job.start) job.submit = i;
        else job.done = i;
    }
}

const kNoWaits = [];

// A wait lies in its job's time in the queue.
function placeWaits(waits) {
    if (!waits.length) return;
    const s = data.slices, queues = new Map();  // by track
    for (const job of model.jobs) {
        if (job.queue < 0) continue;
        const track = s.track[job.queue];
        if (!queues.has(track)) queues.set(track, {jobs: [], start: []});
        queues.get(track).jobs.push(job);
        queues.get(track).start.push(job.start);
    }
    for (const wait of waits) {
        const queue = queues.get(s.track[wait]);
        const at = queue ? firstAbove(queue.start, s.start[wait]) - 1 : -1;
        if (at < 0) continue;
        const job = queue.jobs[at];
        if (job.waits === kNoWaits) job.waits = [];
        job.waits.push(wait);
    }
}

// The job that a wait is for; undefined where it is not recorded.
function awaitedBy(wait) {
    const g = data.gpuSlices, k = firstFrom(g.slice, wait);
    if (!model.jobsOfFence) {
        model.jobsOfFence = new Map();
        for (const job of model.jobs) {
            const key = `${job.context}/${job.seqno}`;
            if (!model.jobsOfFence.has(key)) model.jobsOfFence.set(key, []);
            model.jobsOfFence.get(key).push(job);
        }
    }
    const jobs = model.jobsOfFence.get(`${contextText(g.context[k])}/${g.seqno[k]}`) || [];
    return jobs.findLast(job => job.start <= data.slices.start[wait]);
}

// What each task did, from switches and wakeups in order of time: boxes of states.
function findStates() {
    const s = data.switches, w = data.wakeups;
    const order = data.grain ? Uint32Array.from(s.time.keys()).sort((a, b) => s.time[a] - s.time[b]) : null;
    const makers = new Map();  // by tid
    const states = data.tasks.map(({tid}) => {
        if (tid === 0) return null;
        if (!makers.has(tid)) makers.set(tid, {what: -1, since: 0, expected: 1, maker: null});
        return makers.get(tid);
    });
    const expect = state => { if (state) state.expected++; };
    for (let i = 0; i < s.count; i++) {
        expect(states[s.before[i]]);
        expect(states[s.task[i]]);
    }
    for (let i = 0; i < w.count; i++) expect(states[w.task[i]]);
    for (const state of makers.values()) state.maker = new RowMaker(state.expected);
    const change = (state, time, what) => {
        if (state.what >= 0 && time > state.since) state.maker.add(state.since, time, state.what);
        state.what = what;
        state.since = time;
    };
    const kTakesNoSignal = 2;
    // By CPU: when it switched last, to which task's state, and whether it is idle since.
    const lastOfCpu = [], runsOn = [], isIdle = [];
    let wake = 0;
    const wakeUntil = time => {
        for (; wake < w.count && w.time[wake] <= time; wake++) {
            const state = states[w.task[wake]];
            if (state && state.what !== kState.runs && state.what !== kState.waits) change(state, w.time[wake], kState.waits);
        }
    };
    for (let k = 0; k < s.count; k++) {
        const i = order ? order[k] : k;
        const time = s.time[i], before = states[s.before[i]], now = states[s.task[i]];
        wakeUntil(time);
        // Another task goes than came: the switch between them is not recorded.
        const cpu = s.cpu[i], was = runsOn[cpu], last = lastOfCpu[cpu];
        if (was && was !== before && was.what === kState.runs) change(was, time, -1);
        runsOn[cpu] = s.merged[i] ? null : now;
        if (before) {
            // That it came to run is not recorded. It ran since the begin, or, where more than its own
            // switches are in one, since the one before; an idle CPU took it as it was woken. Else
            // nobody knows since when.
            if (before.what < 0 && (last === undefined || data.grain)) {
                before.what = kState.runs;
                before.since = Math.max(before.since, last || 0);
            } else if (before.what === kState.waits && isIdle[cpu] && before.since >= last) {
                before.what = kState.runs;
            }
            const bits = s.state[i] & 0xff;
            change(before, time, bits === 0 ? kState.waits : bits & kTakesNoSignal ? kState.blocked : -1);
        }
        lastOfCpu[cpu] = time;
        isIdle[cpu] = !now && !s.merged[i];
        if (now) change(now, time, s.merged[i] ? -1 : kState.runs);
    }
    wakeUntil(Infinity);
    for (const {tid, comm} of data.tasks) if (tid !== 0) taskOf(tid, comm);
    for (let i = 0; i < s.count && data.grain; i++)
        if (s.merged[i] && states[s.task[i]]) model.tasks.get(data.tasks[s.task[i]].tid).busy += s.busy[i];
    for (const [tid, state] of makers) {
        if (state.what >= 0) change(state, data.span, -1);
        const task = taskOf(tid, ''), took = [0, 0, 0];
        const row = state.maker.boxes();
        for (let i = 0; i < row.ref.length; i++) took[row.ref[i]] += row.end[i] - row.start[i];
        if (s.count) task.states = row;
        task.busy += took[kState.runs];
        task.waited = took[kState.waits];
    }
}

// Places of items in the order that `before` says, which most are in.
function inOrder(refs, before) {
    for (let i = 1; i < refs.length; i++)
        if (before(refs[i - 1], refs[i]) > 0) return refs.sort(before);
    return refs;
}

// Ticks of a lane, in order of time.
function ticksOf(refs) {
    const t = data.instants;
    inOrder(refs, (a, b) => t.time[a] - t.time[b]);
    const time = new Float64Array(refs.length);
    for (let i = 0; i < refs.length; i++) time[i] = t.time[refs[i]];
    return {time, ref: refs};
}

function addGroup(name, isClosed) {
    const group = {name, lanes: [], isClosed: !!isClosed, key: 'group ' + name};
    model.groups.push(group);
    return group;
}

function addLane(group, kind, name, rows, more) {
    const lane = {kind, name, group, rows, ticks: null, key: `${group.name}/${name}`, isHidden: false,
                  isPinned: false, ...more};
    group.lanes.push(lane);
    return lane;
}

const cpuGroup = count => addGroup('CPUs', count > 8);

function makeCpuLanes(ticks) {
    const s = data.switches;
    const counts = [], isIdle = data.tasks.map(task => task.tid === 0);
    for (let i = 0; i < s.count; i++) counts[s.cpu[i]] = (counts[s.cpu[i]] || 0) + 1;
    const of = counts.map(count => new RowMaker(count));
    for (let i = 0; i < s.count; i++)
        if (!isIdle[s.task[i]] && s.end[i] > s.time[i]) of[s.cpu[i]].add(s.time[i], s.end[i], i);
    const makers = new Map();
    of.forEach((maker, cpu) => makers.set(cpu, maker));
    const own = new Map();  // ticks of interrupts
    for (const track of data.tracks.values()) {
        const isOfCpus = track.kind === kKernel.lane && data.tracks.get(track.parent)?.name === 'CPUs';
        const cpu = isOfCpus && /^CPU (\d+)$/.exec(track.name);
        if (!cpu || !ticks.has(track.id)) continue;
        own.set(Number(cpu[1]), ticks.get(track.id));
        ticks.delete(track.id);
    }
    for (const cpu of own.keys()) if (!makers.has(cpu)) makers.set(cpu, new RowMaker());
    if (!makers.size) return;
    const group = cpuGroup(makers.size);
    for (const cpu of [...makers.keys()].sort((a, b) => a - b)) {
        const lane = addLane(group, 'cpu', `CPU ${cpu}`, [makers.get(cpu).boxes()], {cpu});
        if (own.has(cpu)) lane.ticks = ticksOf(own.get(cpu));
    }
}

// Slices of one track are within each other: a row for each depth.
function nested(refs) {
    const s = data.slices;
    return stacked(inOrder(refs, (a, b) => s.start[a] - s.start[b] || s.end[b] - s.end[a]), s.start, s.end);
}

const taskName = task => `${task.comm || '?'} ${task.tid}`;
// How many are in sight, and in which order: those that give GPUs jobs come first.
const tasksShown = hasJobs => hasJobs ? 8 : 16;  // so that the rings are in sight
const submits = task => (model.processes.get(task.pid)?.jobs ? 1 : 0);
const byImportance = (a, b) => submits(b) - submits(a) || b.hasSlices - a.hasSlices || b.busy - a.busy || b.events - a.events;

function makeTaskLanes(ticks, slices) {
    const lanes = [];
    for (const track of data.tracks.values())
        if (track.kind === kKernel.task && track.tid !== 0) taskOf(track.tid, '');
    for (const task of model.tasks.values()) {
        const own = task.track && ticks.get(task.track.id);
        const inner = task.track && slices.get(task.track.id);
        if (task.track) {
            ticks.delete(task.track.id);
            slices.delete(task.track.id);
        }
        task.hasSlices = !!inner;
        task.events = (own ? own.length : 0) + (inner ? inner.length : 0);
        lanes.push({task, own, inner});
    }
    if (!lanes.length) return;
    const most = tasksShown(model.jobs.length > 0);
    lanes.sort((a, b) => byImportance(a.task, b.task));
    const groups = [addGroup('Tasks')];
    if (lanes.length > most) groups.push(addGroup('Other tasks', true));
    lanes.forEach(({task, own, inner}, i) => {
        const group = groups[i < most ? 0 : groups.length - 1];
        const rows = task.states ? [task.states] : [];
        if (inner) rows.push(...nested(inner));
        const lane = addLane(group, task.states ? 'task' : 'slices', taskName(task), rows, {task});
        if (own) lane.ticks = ticksOf(own);
        task.lane = lane;
    });
    return groups[1];
}

function makeRingLanes() {
    const rings = new Map();
    let last = null;
    for (const job of model.jobs) {
        if (last?.device !== job.device || last.name !== job.ring) {
            const key = `${job.device}\n${job.ring}`;
            if (!rings.has(key)) rings.set(key, {device: job.device, name: job.ring, jobs: []});
            last = rings.get(key);
        }
        last.jobs.push(job);
        job.ringOf = last;
    }
    model.rings = [...rings.values()];
    const groups = new Map();
    const start = Float64Array.from(model.jobs, job => job.start), end = Float64Array.from(model.jobs, job => job.end);
    for (const ring of model.rings) {
        if (!groups.has(ring.device)) groups.set(ring.device, addGroup(ring.device || 'GPU'));
        const rows = stacked(ring.jobs.map(job => job.index), start, end);
        ring.lane = addLane(groups.get(ring.device), 'ring', ring.name, rows, {ring});
        rows.forEach((row, at) => row.ref.forEach(i => { model.jobs[i].row = at; }));
        // How long jobs were on the ring, without counting two at a time twice.
        let busy = 0, until = -1;
        const runs = ring.jobs.filter(job => job.run >= 0).sort((a, b) => a.ran - b.ran);
        for (const job of runs) {
            busy += Math.max(0, job.end - Math.max(job.ran, until));
            until = Math.max(until, job.end);
        }
        ring.busy = busy;
    }
}

// All that is left: tracks of one name below one group are one lane.
function makeOtherLanes(ticks, slices) {
    const lanes = new Map();
    const ringGroups = new Set();
    for (const job of model.jobs) ringGroups.add(data.tracks.get(data.slices.track[Math.max(job.queue, job.run)]).parent);
    for (const track of data.tracks.values()) {
        const isCount = track.kind === kKernel.counter;
        if (track.kind === kKernel.group || ringGroups.has(track.parent)) continue;
        if (isCount ? !data.counts.has(track.id) : !ticks.has(track.id) && !slices.has(track.id)) continue;
        const path = groupPath(track);
        const key = path.join('\n');
        if (!lanes.has(key)) lanes.set(key, {path, isCount, track, ticks: [], slices: []});
        for (const tick of ticks.get(track.id) || []) lanes.get(key).ticks.push(tick);
        for (const slice of slices.get(track.id) || []) lanes.get(key).slices.push(slice);
    }
    const groups = new Map();
    for (const {path, isCount, track, ticks: own, slices: inner} of lanes.values()) {
        const name = path.length > 1 ? path.slice(0, -1).join(' ') : 'Other';
        if (!groups.has(name)) groups.set(name, addGroup(name));
        const rows = isCount ? [] : nested(inner);
        const lane = addLane(groups.get(name), isCount ? 'count' : 'slices', path[path.length - 1], rows,
                             {counts: isCount ? data.counts.get(track.id) : null, unit: track.unit});
        if (own.length) lane.ticks = ticksOf(Int32Array.from(own));
        if (name === 'Displays') lane.isDisplay = true;
    }
    for (const group of groups.values())
        if (group.lanes.length > 12) group.isClosed = true;
}

function makeLineLanes() {
    if (!data.lines.length) return;
    data.lines.forEach((line, i) => { line.index = i; });
    const sorted = [...data.lines].sort((a, b) => a.time - b.time);
    const group = addGroup('Lines of monitors');
    for (const monitor of new Set(sorted.map(line => line.monitor))) {
        const own = sorted.filter(line => line.monitor === monitor);
        addLane(group, 'lines', monitor, [], {
            ticks: {time: Float64Array.from(own, line => line.time), ref: Int32Array.from(own, line => line.index)}});
    }
}

function sumProcesses() {
    for (const job of model.jobs) {
        const process = processOf(job.pid, job.name);
        process.jobs++;
        process.queue += job.ran - job.start;
        if (job.run >= 0) process.gpu += job.end - job.ran;
    }
    for (const task of model.tasks.values()) {
        const process = processOf(task.pid, task.tid === task.pid ? task.comm : '');
        process.cpu += task.busy;
        process.waits += task.waited || 0;
        if (!process.name) process.name = task.comm;
    }
}

// The busiest have colours of their own.
function colourProcesses() {
    const weight = process => process.gpu * 4 + process.jobs * 1000 + process.cpu;
    const order = [...model.processes.values()].sort((a, b) => weight(b) - weight(a));
    order.forEach((process, i) => {
        process.colour = kColours[i] || kOther;
        process.shade = Math.min(i, kOtherShade);
    });
}

const shadeOfPid = pid => model.processes.get(pid)?.shade ?? kOtherShade;

function shadeOfSlice(ref) {
    const track = data.tracks.get(data.slices.track[ref]);
    const state = {D: kBlocked, R: kWaits, S: kSleeps}[data.names[data.slices.category[ref]]];
    if (state) return state;
    if (track.kind === kKernel.task) return kMark;
    if (track.tid) return shadeOfPid(model.tasks.get(track.tid)?.pid ?? track.tid);
    return data.slices.name[ref] % 2 ? 4 : 0;  // none has a process: two colours that are told apart
}

// How the boxes of all lanes are filled: `shade` of each, `share` of those that are not full, `middle` of
// jobs, which are in a queue before it; and levels of detail.
function shadeLanes() {
    const s = data.switches, shades = Uint8Array.from(data.tasks, ({tid}) => shadeOfPid(model.tasks.get(tid)?.pid ?? tid));
    for (const lane of model.lanes)
        lane.rows.forEach((row, at) => {
            const {ref} = row;
            if (lane.kind === 'cpu') {
                row.shade = Uint8Array.from(ref, i => shades[s.task[i]]);
                if (data.grain) row.share = Float32Array.from(ref, i => s.busy[i] / (s.end[i] - s.time[i]));
            } else if (lane.kind === 'task' && at === 0) {
                const states = [shadeOfPid(lane.task.pid), kWaits, kBlocked];
                row.shade = Uint8Array.from(ref, what => states[what]);
            } else if (lane.kind === 'ring') {
                row.shade = Uint8Array.from(ref, i => shadeOfPid(model.jobs[i].pid));
                row.middle = Float64Array.from(ref, i => Math.min(model.jobs[i].ran, model.jobs[i].end));
            } else {
                row.shade = Uint8Array.from(ref, shadeOfSlice);
            }
            addLevels(row);
        });
}

function makeModel() {
    Object.assign(model, emptyModel());
    findJobs();
    findEventsOfJobs();
    findStates();
    sumProcesses();
    const ticks = placesByTrack(data.instants.track, data.instants.count);
    const slices = placesByTrack(data.slices.track, data.slices.count);
    for (const job of model.jobs)
        for (const slice of [job.queue, job.run]) if (slice >= 0) slices.delete(data.slices.track[slice]);
    makeCpuLanes(ticks);
    const others = makeTaskLanes(ticks, slices);
    makeRingLanes();
    makeOtherLanes(ticks, slices);
    makeLineLanes();
    if (others) model.groups.push(model.groups.splice(model.groups.indexOf(others), 1)[0]);
    model.lanes = model.groups.flatMap(group => group.lanes);
    // A task without switches is a process, too.
    for (const task of model.tasks.values()) processOf(task.pid, task.comm);
    colourProcesses();
    shadeLanes();
}
