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
        const n = this.count, isFull = n > this.start.length * 3 / 4;
        const of = numbers => isFull ? numbers.subarray(0, n) : numbers.slice(0, n);
        return {start: of(this.start), end: of(this.end), ref: of(this.ref), shade: null,
                share: null, middle: null, levels: null, wide: null, whole: null};
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
    jobs: new Jobs(0),
    rings: [],             // {device, name, jobs: their numbers}
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

// What tasks do, from switches and wakeups in order of time: tells who takes boxes, take(tid, from, to, state).
class TaskStates {
    constructor(take) {
        this.take = take;
        const byTid = new Map();
        this.states = data.tasks.map(({tid}) => {
            if (tid === 0) return null;
            if (!byTid.has(tid)) byTid.set(tid, {tid, what: -1, since: 0});
            return byTid.get(tid);
        });
        this.all = [...byTid.values()];
        // By CPU: when it switched last (Infinity: in a gap), to which task's state, and whether it is idle since.
        this.lastOfCpu = [];
        this.runsOn = [];
        this.isIdle = [];
    }
    change(state, time, what) {
        if (state.what >= 0 && time > state.since) this.take(state.tid, state.since, time, state.what);
        state.what = what;
        state.since = time;
    }
    feed(s, w) {
        const order = data.grain ? Uint32Array.from(s.time.keys()).sort((a, b) => s.time[a] - s.time[b]) : null;
        let wake = 0;
        for (let k = 0; k < s.count; k++) {
            const i = order ? order[k] : k;
            wake = this.wakeUntil(w, wake, s.time[i]);
            this.switchTask(s, i);
        }
        this.wakeUntil(w, wake, Infinity);
    }
    wakeUntil(w, wake, time) {
        for (; wake < w.count && w.time[wake] <= time; wake++) {
            const state = this.states[w.task[wake]];
            if (state && state.what !== kState.runs && state.what !== kState.waits) this.change(state, w.time[wake], kState.waits);
        }
        return wake;
    }
    switchTask(s, i) {
        const kTakesNoSignal = 2;
        const isGap = s.task[i] === kUnknownTask;
        const time = s.time[i], before = isGap ? null : this.states[s.before[i]], now = this.states[s.task[i]];
        // Another task goes than came: the switch between them is not recorded.
        const cpu = s.cpu[i], was = this.runsOn[cpu], last = this.lastOfCpu[cpu];
        if (was && was !== before && was.what === kState.runs) this.change(was, time, -1);
        this.runsOn[cpu] = s.merged[i] ? null : now;
        if (before) {
            // That it came to run is not recorded. It ran since the begin, or, where more than its own
            // switches are in one, since the one before; an idle CPU took it as it was woken. Else
            // nobody knows since when, nor after a gap.
            if (last === Infinity) before.what = -1;
            else if (before.what < 0 && (last === undefined || data.grain)) {
                before.what = kState.runs;
                before.since = Math.max(before.since, last || 0);
            } else if (before.what === kState.waits && this.isIdle[cpu] && before.since >= last) {
                before.what = kState.runs;
            }
            const bits = s.state[i] & 0xff;
            this.change(before, time, bits === 0 ? kState.waits : bits & kTakesNoSignal ? kState.blocked : -1);
        }
        this.lastOfCpu[cpu] = isGap ? Infinity : time;
        this.isIdle[cpu] = !now && !s.merged[i] && !isGap;
        if (now) this.change(now, time, s.merged[i] ? -1 : kState.runs);
    }
    end(time) {
        for (const state of this.all) if (state.what >= 0) this.change(state, time, -1);
    }
    // What is known at a time, and to go on from there.
    saved() {
        return {what: Int8Array.from(this.all, one => one.what), since: Float64Array.from(this.all, one => one.since),
                lastOfCpu: [...this.lastOfCpu], runsOn: this.runsOn.map(one => one && this.all.indexOf(one)), isIdle: [...this.isIdle]};
    }
    restore({what, since, lastOfCpu, runsOn, isIdle}) {
        this.all.forEach((one, i) => Object.assign(one, {what: what[i], since: since[i]}));
        Object.assign(this, {lastOfCpu: [...lastOfCpu], runsOn: runsOn.map(at => at === null || at === undefined ? at : this.all[at]), isIdle: [...isIdle]});
    }
}

// How long a task was in each state.
function addTimes(task, took) {
    task.busy += took[kState.runs];
    task.waited = took[kState.waits];
}

// Boxes of states for each task.
function findStates() {
    const s = data.switches, makers = new Map();
    for (const {tid, comm} of data.tasks) if (tid !== 0) taskOf(tid, comm);
    for (const {tid} of model.tasks.values()) makers.set(tid, {maker: new RowMaker(), took: [0, 0, 0]});
    const states = new TaskStates((tid, from, to, what) => {
        const {maker, took} = makers.get(tid);
        maker.add(from, to, what);
        took[what] += to - from;
    });
    states.feed(s, data.wakeups);
    states.end(data.span);
    for (let i = 0; i < s.count && data.grain; i++)
        if (s.merged[i] && data.tasks[s.task[i]].tid !== 0) model.tasks.get(data.tasks[s.task[i]].tid).busy += s.busy[i];
    for (const {tid} of states.all) {
        const task = model.tasks.get(tid), {maker, took} = makers.get(tid);
        if (s.count) task.states = maker.boxes();
        addTimes(task, took);
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

// The one of this name, or a new one: what else is told of a GPU stands below its rings.
const groupOf = name => model.groups.find(group => group.name === name) || addGroup(name);

function addLane(group, kind, name, rows, more) {
    const lane = {kind, name, group, rows, ticks: null, key: `${group.name}/${name}`, isHidden: false,
                  isPinned: false, ...more};
    group.lanes.push(lane);
    return lane;
}

const cpuGroup = count => addGroup('CPUs', count > 8);

// By CPU: a box for each time in which a task runs.
function runsOfCpus(s) {
    const counts = [], isIdle = data.tasks.map(task => task.tid === 0);
    for (let i = 0; i < s.count; i++) counts[s.cpu[i]] = (counts[s.cpu[i]] || 0) + 1;
    const of = counts.map(count => new RowMaker(count));
    for (let i = 0; i < s.count; i++)
        if (!isIdle[s.task[i]] && s.end[i] > s.time[i]) of[s.cpu[i]].add(s.time[i], s.end[i], i);
    const makers = new Map();
    of.forEach((maker, cpu) => makers.set(cpu, maker));
    return makers;
}

function makeCpuLanes(ticks) {
    const makers = data.segments.length ? new Map([...model.wholes.cpus.keys()].map(cpu => [cpu, new RowMaker()])) : runsOfCpus(data.switches);
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
    const {jobs} = model, s = data.slices, rings = new Map(), ofTrack = [];
    for (let i = 0; i < jobs.length; i++) {
        const track = s.track[jobs.last(i)];
        if (ofTrack[track] === undefined) {
            const {device, ring} = placeOfTrack(track), key = `${device}\n${ring}`;
            if (!rings.has(key)) rings.set(key, {number: rings.size, device, name: ring, jobs: new Growing(Int32Array)});
            ofTrack[track] = rings.get(key);
        }
        ofTrack[track].jobs.add(i);
        jobs.ring[i] = ofTrack[track].number;
    }
    for (const {device, name, jobs: growing} of rings.values()) {
        const ring = {device, name, jobs: growing.done()};
        model.rings.push(ring);
        const rows = stacked(ring.jobs, jobs.start, jobs.end);
        ring.lane = addLane(groupOf(device || 'GPU'), 'ring', name, rows, {ring});
        rows.forEach((row, at) => row.ref.forEach(i => { jobs.row[i] = at; }));
        ring.busy = busyOf(ring.jobs);
    }
}

// How long jobs were on a ring, without counting two at a time twice.
function busyOf(those) {
    const {jobs} = model;
    let busy = 0, until = -1;
    for (const i of inOrder(those.filter(one => jobs.run[one] >= 0), (a, b) => jobs.ran[a] - jobs.ran[b])) {
        busy += Math.max(0, jobs.end[i] - Math.max(jobs.ran[i], until));
        until = Math.max(until, jobs.end[i]);
    }
    return busy;
}

// All that is left: tracks of one name below one group are one lane.
function makeOtherLanes(ticks, slices) {
    const lanes = new Map();
    const ringGroups = new Set();
    const tracksOfJobs = new Set();
    for (let i = 0; i < model.jobs.length; i++) tracksOfJobs.add(data.slices.track[model.jobs.last(i)]);
    for (const track of tracksOfJobs) ringGroups.add(data.tracks.get(track).parent);
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
    const before = model.groups.length;
    for (const {path, isCount, track, ticks: own, slices: inner} of lanes.values()) {
        const name = path.length > 1 ? path.slice(0, -1).join(' ') : 'Other';
        const rows = isCount ? [] : nested(inner);
        const lane = addLane(groupOf(name), isCount ? 'count' : 'slices', path[path.length - 1], rows,
                             {counts: isCount ? data.counts.get(track.id) : null, unit: track.unit});
        if (own.length) lane.ticks = ticksOf(Int32Array.from(own));
        if (name === 'Displays') lane.isDisplay = true;
    }
    for (const group of model.groups.slice(before))
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
    const {jobs} = model;
    for (let i = 0; i < jobs.length; i++) {
        const process = processOf(jobs.pid(i), jobs.name(i));
        process.jobs++;
        process.queue += jobs.ran[i] - jobs.start[i];
        if (jobs.run[i] >= 0) process.gpu += jobs.end[i] - jobs.ran[i];
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
    // An overview knows them before, and the same.
    const known = data.overview && new Map(data.overview.processes.map(([pid, cpu, gpu, jobs]) => [pid, weight({cpu, gpu, jobs})]));
    const weightOf = process => known ? known.get(process.pid) || 0 : weight(process);
    const order = [...model.processes.values()].sort((a, b) => weightOf(b) - weightOf(a));
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

const shadesOfTasks = () => Uint8Array.from(data.tasks, ({tid}) => shadeOfPid(model.tasks.get(tid)?.pid ?? tid));

function shadeRuns(row, s, shades) {
    row.shade = Uint8Array.from(row.ref, i => shades[s.task[i]]);
    if (data.grain) row.share = Float32Array.from(row.ref, i => s.busy[i] / (s.end[i] - s.time[i]));
}

// By state: how a task's boxes are filled.
const shadesOfStates = task => [shadeOfPid(task.pid), kWaits, kBlocked];

function shadeStates(row, task) {
    const states = shadesOfStates(task);
    row.shade = Uint8Array.from(row.ref, what => states[what]);
}

// How the boxes of all lanes are filled: `shade` of each, `share` of those that are not full, `middle` of
// jobs, which are in a queue before it; and levels of detail. What is in segments has levels (`whole`), and
// boxes only of those that are read.
function shadeLanes() {
    const shades = shadesOfTasks();
    for (const lane of model.lanes)
        lane.rows.forEach((row, at) => {
            const {ref} = row;
            if (lane.kind === 'cpu') {
                shadeRuns(row, data.switches, shades);
                row.whole = model.wholes?.cpus.get(lane.cpu) || null;
            } else if (lane.kind === 'task' && at === 0) {
                shadeStates(row, lane.task);
                row.whole = model.wholes?.tasks.get(lane.task.tid) || null;
            } else if (lane.kind === 'ring') {
                const {jobs} = model;
                row.shade = Uint8Array.from(ref, i => shadeOfPid(jobs.pid(i)));
                row.middle = Float64Array.from(ref, i => Math.min(jobs.ran[i], jobs.end[i]));
            } else {
                row.shade = Uint8Array.from(ref, shadeOfSlice);
            }
            addLevels(row);
        });
}

// `wholes`: what is told of all segments, where there are some (page_segments.js).
function makeModel(wholes = null) {
    Object.assign(model, emptyModel(), {wholes});
    findJobs();
    findEventsOfJobs();
    if (wholes) takeWholes(wholes);
    else findStates();
    sumProcesses();
    const ticks = placesByTrack(data.instants.track, data.instants.count);
    const slices = placesByTrack(data.slices.track, data.slices.count);
    for (const those of [model.jobs.queue, model.jobs.run])
        for (const slice of those) if (slice >= 0) slices.delete(data.slices.track[slice]);
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
