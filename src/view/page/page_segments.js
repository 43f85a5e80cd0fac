// A long recording's switches and wakeups are in segments of the time. The worker goes through all of them
// once, for levels of detail and sums; boxes are only made of the segments in sight, when these are asked for.

const segments = {keys: [], sums: []};  // by segment: what is known at its begin, and how long each task ran

// The chunks of a segment, found by their numbers of items.
function findSegments() {
    const at = new Map();  // by kind and column: how many chunks are in segments before
    for (const segment of data.segments) {
        const own = new Map();
        for (const [kind, items] of [['switch', segment.switches], ['wakeup', segment.wakeups]])
            kTables[kind].forEach((_, column) => {
                const key = `${kind} ${column}`, all = chunksOf(kind, column), from = at.get(key) || 0;
                let end = from;
                for (let left = items; left > 0 && end < all.length; end++) left -= all[end].items;
                at.set(key, end);
                own.set(key, all.slice(from, end));
            });
        segment.chunksOf = (kind, column) => own.get(`${kind} ${column}`);
    }
}

const kWakeups = ['time', 'cpu', 'waker', 'task', 'target'];

// The last switch of each CPU, as a table.
function lastSwitches(s) {
    const last = [];
    for (let i = 0; i < s.count; i++) last[s.cpu[i]] = i;
    const places = last.filter(i => i !== undefined).sort((a, b) => s.time[a] - s.time[b]);
    const table = {count: places.length};
    for (const [name, numbers] of Object.entries(s))
        if (name !== 'count' && name !== 'end') table[name] = numbers.constructor.from(places, i => numbers[i]);
    return table;
}

// How many cells each of so many lanes has, so that all of them have room.
function cellsAmong(lanes, room) {
    let cells = kFinestCells;
    while (cells > 2 * kCoarsestCells && cells * lanes > room) cells /= 2;
    return cells;
}

// Levels of detail of CPUs and tasks, in which boxes of one segment after another come.
class Wholes {
    constructor() {
        this.shades = shadesOfTasks();
        this.cpus = new Map();
        this.tasks = new Map();
        const cells = cellsAmong(data.tasks.length, 2 << 20);
        this.cellsOfCpu = cellsAmong(data.cpus, 512 << 10);
        for (const task of model.tasks.values())
            this.tasks.set(task.tid, {maker: new LevelMaker(cells), shades: shadesOfStates(task), took: [0, 0, 0], merged: 0});
        this.states = new TaskStates((tid, from, to, what) => {
            const {maker, shades, took} = this.tasks.get(tid);
            maker.add(from, to, shades[what]);
            took[what] += to - from;
        });
    }
    // Returns how long each task ran in it.
    add(segment, all, wakeups) {
        const sums = new Float64Array(data.tasks.length), begun = all.count - segment.switches;
        for (let i = 0; i < all.count; i++) {
            const task = all.task[i], {tid} = data.tasks[task];
            if (!this.cpus.has(all.cpu[i])) this.cpus.set(all.cpu[i], new LevelMaker(this.cellsOfCpu));
            const from = Math.max(all.time[i], segment.from), long = all.end[i] - from;
            if (tid === 0 || long <= 0) continue;
            const share = all.merged[i] ? all.busy[i] / (all.end[i] - all.time[i]) : 1;
            this.cpus.get(all.cpu[i]).add(from, all.end[i], this.shades[task], share);
            sums[task] += long * share;
            if (all.merged[i]) this.tasks.get(tid).merged += long * share;
        }
        this.states.feed(behind(all, begun), wakeups);
        return sums;
    }
    done() {
        this.states.end(data.span);
        const of = maker => ({start: [], end: [], levels: maker.levels()});
        return {cpus: new Map([...this.cpus].map(([cpu, maker]) => [cpu, of(maker)])),
                tasks: new Map([...this.tasks].map(([tid, {maker}]) => [tid, of(maker)])),
                times: new Map([...this.tasks].map(([tid, {took, merged}]) => [tid, {took, merged}]))};
    }
}

// A table from an item on.
const behind = (table, from) => Object.fromEntries(Object.entries(table).map(([name, numbers]) =>
    [name, name === 'count' ? numbers - from : numbers.subarray(from)]));

// Questions that are not answered yet: who asks waits, and goes before what nobody looks at.
const questions = new Set();

// Goes through all segments.
async function readWholes() {
    const wholes = new Wholes();
    let before = null;
    for (const [k, segment] of data.segments.entries()) {
        while (questions.size) await Promise.all(questions);
        segments.keys[k] = {before, states: wholes.states.saved()};
        const all = endSwitches(await readSwitches(segment, before), segment.to);
        segments.sums[k] = wholes.add(segment, all, await readTable('wakeup', ['time', 'task'], {}, segment));
        before = lastSwitches(all);
    }
    return wholes.done();
}

// In makeModel(): each task has its times, and a lane whose boxes are still to come.
function takeWholes({times}) {
    for (const {tid, comm} of data.tasks) if (tid !== 0) taskOf(tid, comm);
    for (const [tid, {took, merged}] of times) {
        const task = model.tasks.get(tid);
        task.states = new RowMaker(0).boxes();
        task.busy = merged;
        addTimes(task, took);
    }
}

// Switches and wakeups of segments beside each other, and the boxes of CPUs and tasks in them. What was
// before is known when the worker has been there.
async function readWindow(first, end) {
    const key = segments.keys[first], parts = [], wakeups = [];
    for (const segment of data.segments.slice(first, end)) {
        parts.push(await readSwitches(segment));
        wakeups.push(await readTable('wakeup', kWakeups, {}, segment));
    }
    const from = data.segments[first].from, to = data.segments[end - 1].to;
    const own = joined(parts), s = endSwitches(key?.before ? joined([key.before, own]) : own, to), w = joined(wakeups);
    const shades = shadesOfTasks(), cpus = new Map(), makers = new Map(), tasks = new Map();
    for (const [cpu, maker] of runsOfCpus(s)) {
        const row = maker.boxes();
        shadeRuns(row, s, shades);
        cpus.set(cpu, row);
    }
    const states = new TaskStates((tid, start, stop, what) => {
        if (!makers.has(tid)) makers.set(tid, new RowMaker());
        makers.get(tid).add(start, stop, what);
    });
    if (key) states.restore(key.states);
    states.feed(own, w);
    states.end(to);
    for (const [tid, maker] of makers) {
        const row = maker.boxes();
        shadeStates(row, model.tasks.get(tid));
        tasks.set(tid, row);
    }
    return {from, to, hasBefore: !!key, switches: s, wakeups: w, cpus, tasks};
}

// By task: how long it ran from a time to another.
async function measureSegments(from, to) {
    const sums = new Float64Array(data.tasks.length);
    for (const [k, segment] of data.segments.entries()) {
        if (segment.to <= from || segment.from >= to) continue;
        if (segment.from >= from && segment.to <= to) {
            segments.sums[k].forEach((ns, task) => { sums[task] += ns; });
            continue;
        }
        const s = endSwitches(await readSwitches(segment, segments.keys[k].before), segment.to);
        const [begin, end] = [Math.max(from, segment.from), Math.min(to, segment.to)];
        for (let i = 0; i < s.count; i++) {
            const long = Math.min(s.end[i], end) - Math.max(s.time[i], begin);
            if (long > 0 && data.tasks[s.task[i]].tid !== 0)
                sums[s.task[i]] += long * (s.merged[i] ? s.busy[i] / (s.end[i] - s.time[i]) : 1);
        }
    }
    return sums;
}

// When tasks came to run, and on which CPUs: of those that `tasks` has as 1; no more than so many.
async function searchSegments(tasks, most) {
    const time = new Growing(Float64Array), cpus = new Growing(Uint16Array);
    for (const segment of data.segments) {
        const s = endSwitches(await readSwitches(segment), segment.to);
        for (let i = 0; i < s.count && time.count < most; i++) {
            if (!tasks[s.task[i]] || s.end[i] <= s.time[i]) continue;
            time.add(s.time[i]);
            cpus.add(s.cpu[i]);
        }
    }
    return {time: time.done(), cpu: cpus.done()};
}
