// Jobs of GPUs: columns, for there may be a million. A job by itself is an object that is made of them.

const kNoWaits = [];

class Jobs {
    // There is room for so many.
    constructor(count) {
        this.length = 0;
        for (const [name, Type] of [['flow', Uint32Array], ['place', Uint32Array], ['queue', Int32Array], ['run', Int32Array], ['submit', Int32Array],
                                    ['done', Int32Array], ['ring', Uint32Array], ['row', Uint16Array], ['start', Float64Array],
                                    ['ran', Float64Array], ['end', Float64Array]])
            this[name] = new Type(count);
        this.waits = new Map();   // by job: slices
        this.ofFlow = new Uint32Array(0);  // by flow: its job and 1
        this.ofFence = null;      // by context/number: those that had it, one after another
    }
    // From what a worker sent.
    static of(sent) { return Object.assign(Object.create(Jobs.prototype), sent); }
    // `place`: of its last slice in data.gpuSlices.
    add(flow, place, queue, run) {
        const s = data.slices, i = this.length++, last = run < 0 ? queue : run;
        this.ofFlow[flow] = i + 1;
        this.flow[i] = flow;
        this.place[i] = place;
        this.queue[i] = queue;
        this.run[i] = run;
        this.submit[i] = this.done[i] = -1;
        this.start[i] = s.start[queue < 0 ? run : queue];
        this.ran[i] = run < 0 ? s.end[last] : s.start[run];
        this.end[i] = s.end[last];
    }
    last(i) { return this.run[i] < 0 ? this.queue[i] : this.run[i]; }
    pid(i) { return data.gpuSlices.pid[this.place[i]]; }
    seqno(i) { return data.gpuSlices.seqno[this.place[i]]; }
    context(i) { return contextText(data.gpuSlices.context[this.place[i]]); }
    nameNumber(i) { return data.slices.name[this.last(i)]; }
    name(i) { return data.names[this.nameNumber(i)]; }
    waitsOf(i) { return this.waits.get(i) || kNoWaits; }
    // null where there is none.
    byFlow(flow) { return flow && this.ofFlow[flow] ? this.at(this.ofFlow[flow] - 1) : null; }
    at(i) {
        const ringOf = model.rings[this.ring[i]];
        return {index: i, flow: this.flow[i], name: this.name(i), pid: this.pid(i), device: ringOf?.device, ring: ringOf?.name, context: this.context(i),
                seqno: this.seqno(i), queue: this.queue[i], run: this.run[i], submit: this.submit[i], done: this.done[i], row: this.row[i],
                start: this.start[i], ran: this.ran[i], end: this.end[i], isOpen: data.slices.isOpen[this.last(i)] === 1, ringOf,
                waits: this.waitsOf(i)};
    }
    *[Symbol.iterator]() { for (let i = 0; i < this.length; i++) yield this.at(i); }
    map(make) { return Array.from(this, make); }
    find(isIt) {
        for (const job of this) if (isIt(job)) return job;
        return undefined;
    }
}

// Jobs: the slices in the queue and on the ring that have one flow.
function findJobs() {
    const s = data.slices, g = data.gpuSlices;
    const most = s.flow.reduce((a, b) => Math.max(a, b), 0);
    // By flow and from 1 on: its slices, its place in gpuSlices.
    const queues = new Int32Array(most + 1), runs = new Int32Array(most + 1), places = new Int32Array(most + 1);
    const waits = [], placeOf = [];  // placeOf: by track
    let count = 0;
    for (let k = 0; k < g.count; k++) {
        const i = g.slice[k], track = s.track[i], flow = s.flow[i];
        if (!flow) {
            waits.push(i);
            continue;
        }
        const place = placeOf[track] ??= placeOfTrack(track);
        if (place.runs) runs[flow] = i + 1;
        else queues[flow] = i + 1;
        if (!places[flow]) count++;
        places[flow] = k + 1;
    }
    const jobs = model.jobs = new Jobs(count);
    jobs.ofFlow = new Uint32Array(most + 1);
    // Flows are numbered as jobs come.
    for (let flow = 1; flow <= most; flow++)
        if (places[flow]) jobs.add(flow, places[flow] - 1, queues[flow] - 1, runs[flow] - 1);
    placeWaits(waits);
}

// The events of its submission and its end.
function findEventsOfJobs() {
    const t = data.instants, {jobs} = model;
    for (let i = 0; i < t.count; i++) {
        const job = t.flow[i] ? jobs.ofFlow[t.flow[i]] - 1 : -1;
        if (!(job >= 0)) continue;
        if (jobs.submit[job] < 0 && t.time[i] <= jobs.start[job]) jobs.submit[job] = i;
        else jobs.done[job] = i;
    }
}

// A wait lies in its job's time in the queue.
function placeWaits(waits) {
    if (!waits.length) return;
    const s = data.slices, {jobs} = model, queues = new Map();  // by track
    for (let i = 0; i < jobs.length; i++) {
        if (jobs.queue[i] < 0) continue;
        const track = s.track[jobs.queue[i]];
        if (!queues.has(track)) queues.set(track, {jobs: [], start: []});
        queues.get(track).jobs.push(i);
        queues.get(track).start.push(jobs.start[i]);
    }
    for (const wait of waits) {
        const queue = queues.get(s.track[wait]);
        const at = queue ? firstAbove(queue.start, s.start[wait]) - 1 : -1;
        if (at < 0) continue;
        const job = queue.jobs[at];
        if (!jobs.waits.has(job)) jobs.waits.set(job, []);
        jobs.waits.get(job).push(wait);
    }
}

// The job that a wait is for; undefined where it is not recorded.
function awaitedBy(wait) {
    const g = data.gpuSlices, k = firstFrom(g.slice, wait), {jobs} = model;
    if (!jobs.ofFence) {
        jobs.ofFence = new Map();
        for (let i = 0; i < jobs.length; i++) {
            const key = `${jobs.context(i)}/${jobs.seqno(i)}`;
            if (!jobs.ofFence.has(key)) jobs.ofFence.set(key, []);
            jobs.ofFence.get(key).push(i);
        }
    }
    const those = jobs.ofFence.get(`${contextText(g.context[k])}/${g.seqno[k]}`) || [];
    const found = those.findLast(i => jobs.start[i] <= data.slices.start[wait]);
    return found === undefined ? undefined : jobs.at(found);
}
