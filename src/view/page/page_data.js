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

async function unpacked(text) {
    const bytes = bytesOf(text);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

let chunksByKind = null;
function chunksOf(kind) {
    if (!chunksByKind) {
        chunksByKind = new Map();
        for (const chunk of document.querySelectorAll('script.chunk')) {
            if (!chunksByKind.has(chunk.dataset.kind)) chunksByKind.set(chunk.dataset.kind, []);
            chunksByKind.get(chunk.dataset.kind).push(chunk);
        }
    }
    return chunksByKind.get(kind) || [];
}

// Calls `take` with the numbers of each item of a kind; `begin` with how many items there are.
async function readItems(kind, begin, take) {
    const chunks = chunksOf(kind);
    let count = 0;
    for (const chunk of chunks) count += Number(chunk.dataset.items);
    begin(count);
    let item = 0;
    for (const chunk of chunks) {
        const numbers = new Numbers(await unpacked(chunk.textContent));
        for (let left = Number(chunk.dataset.items); left; left--) take(numbers, item++);
        chunk.remove();
    }
}

async function readBytes(kind) {
    const chunks = chunksOf(kind);
    const parts = [];
    for (const chunk of chunks) {
        parts.push(await unpacked(chunk.textContent));
        chunk.remove();
    }
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

const data = {};

async function readSlices() {
    const s = data.slices = {count: 0};
    let time = 0, values = 0;
    await readItems('slice', count => {
        s.count = count;
        s.track = new Uint32Array(count);
        s.start = new Float64Array(count);
        s.end = new Float64Array(count);
        s.isOpen = new Uint8Array(count);
        s.name = new Uint32Array(count);
        s.category = new Uint32Array(count);
        s.flow = new Float64Array(count);
        s.values = new Float64Array(count);
    }, (numbers, i) => {
        s.track[i] = numbers.next();
        s.start[i] = time += numbers.signed();
        const duration = numbers.next();
        s.isOpen[i] = duration === 0;
        s.end[i] = duration === 0 ? data.span : time + duration - 1;
        s.name[i] = numbers.next();
        s.category[i] = numbers.next();
        s.flow[i] = numbers.next();
        const step = numbers.next();
        if (step) s.values[i] = values += step;
    });
    s.bytes = await readBytes('slice-values');
}

async function readInstants() {
    const s = data.instants = {count: 0};
    let time = 0, values = 0;
    await readItems('instant', count => {
        s.count = count;
        s.track = new Uint32Array(count);
        s.time = new Float64Array(count);
        s.name = new Uint32Array(count);
        s.category = new Uint32Array(count);
        s.flow = new Float64Array(count);
        s.values = new Float64Array(count);
        s.times = new Uint32Array(count);
    }, (numbers, i) => {
        s.track[i] = numbers.next();
        s.time[i] = time += numbers.signed();
        s.name[i] = numbers.next();
        s.category[i] = numbers.next();
        s.flow[i] = numbers.next();
        const step = numbers.signed();
        if (step) s.values[i] = values += step;
        s.times[i] = numbers.next();
    });
    s.bytes = await readBytes('instant-values');
}

async function readSwitches() {
    const s = data.switches = {count: 0};
    let time = 0;
    await readItems('switch', count => {
        s.count = count;
        s.cpu = new Uint16Array(count);
        s.time = new Float64Array(count);
        s.end = new Float64Array(count).fill(data.span);
        s.before = new Uint32Array(count);
        s.state = new Float64Array(count);
        s.task = new Uint32Array(count);
        s.prio = new Int32Array(count);
        s.merged = new Uint32Array(count);
        s.busy = new Float64Array(count);
    }, (numbers, i) => {
        s.cpu[i] = numbers.next();
        s.time[i] = time += numbers.signed();
        s.before[i] = numbers.next();
        s.state[i] = numbers.signed();
        s.task[i] = numbers.next();
        s.prio[i] = numbers.signed();
        s.merged[i] = numbers.next();
        if (s.merged[i]) s.busy[i] = numbers.next();
    });
    const last = [];
    for (let i = 0; i < s.count; i++) {
        const before = last[s.cpu[i]];
        if (before !== undefined) s.end[before] = s.time[i];
        last[s.cpu[i]] = i;
    }
    const isIdle = data.tasks.map(task => task.tid === 0);
    for (let i = 0; i < s.count; i++)
        if (!s.merged[i] && !isIdle[s.task[i]]) s.busy[i] = s.end[i] - s.time[i];
}

async function readWakeups() {
    const s = data.wakeups = {count: 0};
    let time = 0;
    await readItems('wakeup', count => {
        s.count = count;
        s.time = new Float64Array(count);
        s.cpu = new Uint16Array(count);
        s.waker = new Uint32Array(count);
        s.task = new Uint32Array(count);
        s.target = new Uint16Array(count);
    }, (numbers, i) => {
        s.time[i] = time += numbers.signed();
        s.cpu[i] = numbers.next();
        s.waker[i] = numbers.next();
        s.task[i] = numbers.next();
        s.target[i] = numbers.next();
    });
}

async function readCounts() {
    const byTrack = data.counts = new Map();
    let time = 0;
    await readItems('count', () => {}, numbers => {
        const track = numbers.next();
        time += numbers.signed();
        if (!byTrack.has(track)) byTrack.set(track, {time: [], value: []});
        byTrack.get(track).time.push(time);
        byTrack.get(track).value.push(numbers.signed());
    });
}

async function readLines() {
    data.lines = [];
    let time = 0;
    await readItems('line', () => {}, numbers => {
        const monitor = data.names[numbers.next()];
        time += numbers.signed();
        data.lines.push({monitor, time, text: numbers.text()});
    });
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

// One number of an item's fields, without making texts of the others.
function numberOf(items, i, name) {
    if (!items.values[i]) return 0;
    const numbers = new Numbers(items.bytes);
    numbers.at = items.values[i] - 1;
    for (let left = numbers.next(); left; left--) {
        const known = data.names[numbers.next()];
        const kind = numbers.next();
        const number = numbers.next();
        if (known === name && kind !== 3) return number;
        if (kind === 3) numbers.at += number;
    }
    return 0;
}

async function readData() {
    const facts = JSON.parse(document.getElementById('facts').textContent);
    data.title = facts.title;
    data.clock = facts.clock;
    data.uname = facts.uname;
    data.begin = BigInt(facts.begin);
    data.span = Math.max(1, facts.span);
    data.grain = facts.grain;
    data.instantGrain = facts.instantGrain;
    data.names = facts.names;
    data.notes = facts.notes;
    data.reports = facts.reports.map(([title, text]) => ({title, text}));
    data.tasks = facts.tasks.map(([tid, name]) => ({tid, comm: facts.names[name]}));
    data.tracks = new Map(facts.tracks.map(
        ([id, parent, kind, name, tid, pid, unit]) => [id, {id, parent, kind, name, tid, pid, unit}]));
    await readSwitches();
    await readWakeups();
    await readSlices();
    await readInstants();
    await readCounts();
    await readLines();
}
