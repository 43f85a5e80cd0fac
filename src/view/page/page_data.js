// What the page was given: chunks of columns (page_chunks.h) and facts as JSON, read into typed arrays.
// Times are nanoseconds from the page's begin.

const kKernel = {group: 0, task: 1, lane: 2, counter: 3};  // Track::Kind

// Numbers in base 128, one after another.
class Numbers {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    next() {
        const bytes = this.bytes;
        let byte = bytes[this.at++];
        if (byte < 128) return byte;
        let value = byte & 127;
        for (let digit = 128; byte >= 128; digit *= 128) {
            byte = bytes[this.at++];
            value += (byte & 127) * digit;
        }
        return value;
    }
    signed() {
        const value = this.next();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    }
    // A number of 64 bits, as text.
    exact(isSigned) {
        let value = 0n, shift = 0n, byte;
        do {
            byte = this.bytes[this.at++];
            value |= BigInt(byte & 127) << shift;
            shift += 7n;
        } while (byte >= 128);
        return isSigned ? BigInt.asIntN(64, value) : value;
    }
    text() {
        const length = this.next();
        this.at += length;
        return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
    }
}

function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    return bytes;
}

// The chunks that have come, by kind and column, in their order.
const chunks = new Map();
let lastChunk = null;

// Takes an element of a chunk: {kind, column, items, text}, or {text} where a chunk goes on.
function addPart({kind, column, items, text}) {
    if (kind) {
        const key = `${kind} ${column}`;
        lastChunk = {items, parts: []};
        if (!chunks.has(key)) chunks.set(key, []);
        chunks.get(key).push(lastChunk);
    }
    lastChunk.parts.push(bytesOf(text));
}

const chunksOf = (kind, column) => chunks.get(`${kind} ${column}`) || [];

// The bytes of a chunk; once, unless it is kept. Through no Blob, which is another process's.
async function unpacked(chunk, isKept) {
    const stream = new DecompressionStream('deflate');
    const writer = stream.writable.getWriter(), reader = stream.readable.getReader();
    const written = (async () => {
        for (const part of chunk.parts) await writer.write(part);
        await writer.close();
    })();
    const pieces = [];
    let size = 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        pieces.push(piece.value);
        size += piece.value.length;
    }
    await written;
    if (!isKept) chunk.parts = null;
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
        bytes.set(piece, at);
        at += piece.length;
    }
    return bytes;
}

// How the numbers of a column are told: as they are; with a sign; as signed steps from the one before;
// as such steps where there is one at all, else 0.
const kPlain = 0, kSigned = 1, kSteps = 2, kSparse = 3;

const fromZigzag = value => value < 2147483648 ? (value >>> 1) ^ -(value & 1) : value % 2 ? -(value + 1) / 2 : value / 2;

// Reads the numbers of a column into `out` from one index to another.
function readColumn(bytes, out, from, to) {
    if (out instanceof BigUint64Array) {
        for (const numbers = new Numbers(bytes); from < to; from++) out[from] = numbers.exact(false);
        return;
    }
    let at = 0;
    for (let i = from; i < to; i++) {
        let byte = bytes[at++];
        if (byte < 128) {
            out[i] = byte;
            continue;
        }
        let value = byte & 127;
        for (let digit = 128; byte >= 128; digit *= 128) {
            byte = bytes[at++];
            value += (byte & 127) * digit;
        }
        out[i] = value;
    }
}

// What the numbers of a whole column mean, whose first step is from `last`.
function resolve(numbers, how, last = 0) {
    const count = numbers.length;
    if (how === kSigned) for (let i = 0; i < count; i++) numbers[i] = fromZigzag(numbers[i]);
    else if (how === kSteps) for (let i = 0; i < count; i++) numbers[i] = last += fromZigzag(numbers[i]);
    else if (how === kSparse) for (let i = 0; i < count; i++) if (numbers[i]) numbers[i] = last += fromZigzag(numbers[i] - 1);
}

// The tables: [name, type of array, how its numbers are told] of each column, in their order.
const kTables = {
    slice: [['track', Uint32Array, kPlain], ['start', Float64Array, kSteps], ['end', Float64Array, kPlain], ['name', Uint32Array, kPlain],
            ['category', Uint32Array, kPlain], ['flow', Uint32Array, kSparse], ['values', Float64Array, kSparse]],
    // Jobs and their waits.
    'gpu-slice': [['slice', Uint32Array, kSteps], ['pid', Uint32Array, kPlain], ['context', BigUint64Array, kPlain],
                  ['seqno', Float64Array, kSteps]],
    instant: [['track', Uint32Array, kPlain], ['time', Float64Array, kSteps], ['name', Uint32Array, kPlain],
              ['category', Uint32Array, kPlain], ['flow', Uint32Array, kSparse], ['values', Float64Array, kSparse],
              ['times', Uint32Array, kPlain]],
    switch: [['cpu', Uint16Array, kPlain], ['time', Float64Array, kSteps], ['before', Uint32Array, kPlain], ['state', Float64Array, kSigned],
             ['task', Uint32Array, kPlain], ['prio', Float64Array, kSigned], ['merged', Uint32Array, kPlain], ['busy', Float64Array, kPlain]],
    wakeup: [['time', Float64Array, kSteps], ['cpu', Uint16Array, kPlain], ['waker', Uint32Array, kPlain], ['task', Uint32Array, kPlain],
             ['target', Uint16Array, kPlain]],
    count: [['track', Uint32Array, kPlain], ['time', Float64Array, kSteps], ['value', Float64Array, kSigned]],
};

// Reads some columns into the table of a kind: {count, name: its numbers, ...}; of a segment, its part.
async function readTable(kind, names, table = {}, segment = null) {
    for (const name of names) {
        const column = kTables[kind].findIndex(([its]) => its === name);
        const [, Type, how] = kTables[kind][column];
        const chunks = segment ? segment.chunksOf(kind, column) : chunksOf(kind, column);
        table.count = chunks.reduce((sum, chunk) => sum + chunk.items, 0);
        const numbers = new Type(table.count);
        let from = 0;
        for (const chunk of chunks) readColumn(await unpacked(chunk, segment), numbers, from, from += chunk.items);
        resolve(numbers, how, name === 'time' && segment ? segment.from : 0);
        table[name] = numbers;
    }
    return table;
}

async function readBytes(kind) {
    const parts = [];
    for (const chunk of chunksOf(kind, 0)) parts.push(await unpacked(chunk));
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

// `hasDetails`: what is drawn is there; `isWhole`: also what is told of it.
const data = {hasDetails: false, isWhole: false, lines: []};

async function readSlices() {
    const s = data.slices = await readTable('slice', ['track', 'start', 'end', 'name', 'category', 'flow']);
    s.isOpen = new Uint8Array(s.count);
    // So far the end is how long it takes and 1, or 0.
    for (let i = 0; i < s.count; i++) {
        s.isOpen[i] = s.end[i] === 0;
        s.end[i] = s.end[i] === 0 ? data.span : s.start[i] + s.end[i] - 1;
    }
    data.gpuSlices = await readTable('gpu-slice', ['slice', 'pid', 'context', 'seqno']);
}

// The task that a CPU is told to go to where its events were lost: nobody knows what ran (kUnknownTask of
// page_writer.cc).
const kUnknownTask = 0;

// Switches of all of the time, or of a segment: behind the last switch of each CPU before it, if these are known.
async function readSwitches(segment = null, before = null) {
    const kAll = ['cpu', 'time', 'before', 'state', 'task', 'prio'], kMerged = ['merged', 'busy'];
    const s = await readTable('switch', data.grain ? [...kAll, ...kMerged] : kAll, {}, segment);
    if (!data.grain) Object.assign(s, {merged: new Uint8Array(s.count), busy: new Float64Array(s.count)});
    const last = [], prios = new Int32Array(data.tasks.length);
    for (let i = 0; i < s.count; i++) {
        const cpu = s.cpu[i], came = last[cpu];
        last[cpu] = i;
        s.prio[i] = prios[s.task[i]] += s.prio[i];  // a step from the task's own
        // 0 is the task that came last.
        s.before[i] = s.before[i] ? s.before[i] - 1 : s.task[came];
    }
    return before ? joined([before, s]) : s;
}

// When each switch is over: at the CPU's next, or at a time that all of them have not come to.
function endSwitches(s, until) {
    s.end = new Float64Array(s.count).fill(until);
    const isIdle = data.tasks.map(task => task.tid === 0), last = [];
    for (let i = 0; i < s.count; i++) {
        const came = last[s.cpu[i]];
        if (came !== undefined) s.end[came] = s.time[i];
        last[s.cpu[i]] = i;
    }
    for (let i = 0; i < s.count; i++)
        if (!s.merged[i]) s.busy[i] = isIdle[s.task[i]] ? 0 : s.end[i] - s.time[i];
    return s;
}

// Tables of the same columns, one behind another.
function joined(tables) {
    const all = {count: tables.reduce((sum, table) => sum + table.count, 0)};
    for (const [name, first] of Object.entries(tables.at(-1))) {
        if (name === 'count') continue;
        all[name] = new first.constructor(all.count);
        let at = 0;
        for (const table of tables) {
            all[name].set(table[name], at);
            at += table.count;
        }
    }
    return all;
}

// By track, in their order: a value is told as the step from the track's own.
async function readCounts() {
    const all = await readTable('count', ['track', 'time', 'value']);
    data.counts = new Map();
    for (const [track, refs] of placesByTrack(all.track, all.count)) {
        const counts = {time: new Float64Array(refs.length), value: new Float64Array(refs.length)};
        let value = 0;
        for (let i = 0; i < refs.length; i++) {
            counts.time[i] = all.time[refs[i]];
            counts.value[i] = value += all.value[refs[i]];
        }
        data.counts.set(track, counts);
    }
}

async function readLines() {
    data.lines = [];
    const numbers = async column => {
        const parts = [];
        for (const chunk of chunksOf('line', column)) parts.push({left: chunk.items, numbers: new Numbers(await unpacked(chunk))});
        return parts;
    };
    const [monitors, times, texts] = [await numbers(0), await numbers(1), await numbers(2)];
    let time = 0;
    monitors.forEach(({left, numbers: monitor}, i) => {
        for (; left; left--) {
            const name = data.names[monitor.next()];
            time += times[i].numbers.signed();
            data.lines.push({monitor: name, time, text: texts[i].numbers.text()});
        }
    });
}

// What is drawn; in segments are the switches and the wakeups.
async function readDetails() {
    if (!data.segments.length) {
        data.switches = endSwitches(await readSwitches(), data.span);
        data.wakeups = await readTable('wakeup', ['time', 'task']);
    }
    await readSlices();
    data.instants = await readTable('instant', ['track', 'time', 'flow']);
    await readCounts();
    await readLines();
}

// What is not drawn, but told of what is selected or searched for: more columns, by table.
const readRest = async () => ({
    ...(data.segments.length ? {} : {wakeups: await readTable('wakeup', ['cpu', 'waker', 'target'])}),
    slices: {...await readTable('slice', ['values']), bytes: await readBytes('slice-values')},
    instants: {...await readTable('instant', ['name', 'category', 'values', 'times']), bytes: await readBytes('instant-values')},
});

function addRest(rest) {
    for (const [table, columns] of Object.entries(rest)) Object.assign(data[table], columns);
    data.isWhole = true;
}

// The places of each track's items, in their order, by track.
function placesByTrack(tracks, count) {
    const sizes = new Int32Array(data.tracks.size + 1);  // tracks are numbered from 1
    for (let i = 0; i < count; i++) sizes[tracks[i]]++;
    const lists = new Map(), listOf = [], next = new Int32Array(sizes.length);
    sizes.forEach((size, track) => { if (size) lists.set(track, listOf[track] = new Int32Array(size)); });
    for (let i = 0; i < count; i++) {
        const track = tracks[i];
        listOf[track][next[track]++] = i;
    }
    return lists;
}

// The fields of a slice or an instant: [name, value] each.
function valuesOf(items, i) {
    if (!items.values[i]) return [];
    const numbers = new Numbers(items.bytes);
    numbers.at = items.values[i] - 1;
    const values = [];
    for (let left = numbers.next(); left; left--) {
        const name = data.names[numbers.next()];
        const kind = numbers.next();  // Argument::Kind
        let value;
        if (kind === 3) value = numbers.text();
        else if (kind === 2) value = '0x' + numbers.exact(false).toString(16);
        else value = String(numbers.exact(kind === 1));
        values.push([name, value]);
    }
    return values;
}

function readFacts(text) {
    const facts = JSON.parse(text);
    data.title = facts.title;
    data.clock = facts.clock;
    data.uname = facts.uname;
    data.begin = BigInt(facts.begin);
    data.span = Math.max(1, facts.span);
    data.grain = facts.grain;
    data.instantGrain = facts.instantGrain;
    data.names = facts.names;
    data.notes = facts.notes;
    data.hasLines = facts.hasLines;
    data.overview = facts.overview;
    data.segments = facts.segments.map(([from, switches, wakeups], i) =>
        ({from, to: facts.segments[i + 1] ? facts.segments[i + 1][0] : data.span, switches, wakeups}));
    data.switchCount = facts.segments.reduce((sum, [, switches]) => sum + switches, 0);
    data.cpus = facts.cpus;
    data.gaps = facts.gaps;
    data.window = null;  // of segments: from when to when switches and wakeups are there
    data.reports = facts.reports.map(([title, text]) => ({title, text}));
    data.tasks = facts.tasks.map(([tid, name]) => ({tid, comm: facts.names[name]}));
    data.tracks = new Map(facts.tracks.map(
        ([id, parent, kind, name, tid, pid, unit]) => [id, {id, parent, kind, name, tid, pid, unit}]));
}
