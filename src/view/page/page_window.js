// What is in sight of segments (page_segments.js): asked for, taken, and given up for what is then in sight.

const asking = {reader: null, isUnderWay: false, selects: null};

const hasInSight = () => !!data.window && Math.max(0, view.from) >= data.window.from && Math.min(data.span, view.to) <= data.window.to;

// The segments in sight and beside, as many as are read at once.
function segmentsInSight() {
    const kMost = 6, length = view.to - view.from, {segments} = data;
    const of = (from, to) => {
        const first = segments.findLastIndex(one => one.from <= Math.max(0, from));
        let end = segments.findIndex(one => one.from >= to);
        if (end < 0) end = segments.length;
        return {first, end: Math.max(end, first + 1)};
    };
    const wide = of(view.from - length / 2, view.to + length / 2);
    return wide.end - wide.first <= kMost ? wide : of(view.from, view.to);
}

// Asks for boxes where levels are too coarse. One question at a time: the next is about what is then in sight.
function wantInSight() {
    if (!data.segments.length || !asking.reader || asking.isUnderWay || hasInSight()) return;
    if (nsPerPixel() / view.ratio >= data.span / kFinestCells) return;
    asking.isUnderWay = true;
    asking.reader.ask({want: segmentsInSight()});
}

const isWindowed = lane => lane.kind === 'cpu' || lane.kind === 'task';

function takeWindow(window) {
    asking.isUnderWay = false;
    const selected = view.selected, from = selected && isWindowed(selected.lane) && selected.at === 0 ? boxOf(selected).from : null;
    data.window = window;
    Object.assign(data, {switches: window.switches, wakeups: window.wakeups});
    for (const lane of model.lanes) {
        if (!isWindowed(lane)) continue;
        const old = lane.rows[0], row = (lane.kind === 'cpu' ? window.cpus.get(lane.cpu) : window.tasks.get(lane.task.tid)) || emptyRow();
        row.whole = old.whole || old;
        lane.rows[0] = row;
        if (lane.kind === 'task') lane.task.states = row;
    }
    if (from !== null) {
        view.selected = itemAtTime(selected.lane, from);
        fillSelection();
    }
    if (asking.selects && asking.selects.time >= window.from && asking.selects.time < window.to) {
        const item = itemAtTime(asking.selects.lane, asking.selects.time);
        asking.selects = null;
        if (item) select(item, {shows: true});
    }
    stripScale = {perPixel: 0, bytes: null};  // what was coarse is drawn anew
    times.first ??= performance.now();
    redraw();
}

const emptyRow = () => ({start: [], end: [], ref: [], shade: []});

// What was read before the worker knew what was before it is read again.
function forgetWindow() {
    if (!data.window) return;
    if (data.window.hasBefore) takeWindow(data.window);
    else data.window = null;
}

// The item of a lane's first row that begins at a time, if it is there.
function itemAtTime(lane, time) {
    const row = lane.rows[0], i = firstFrom(row.start, time - 0.5);
    return i < row.start.length && row.start[i] < time + 0.5 ? itemOf(lane, 0, row.ref[i], i) : null;
}

// Selects what begins in a lane at a time, as soon as it is there.
function selectAtTime(lane, time) {
    const item = itemAtTime(lane, time);
    if (item) return select(item, {shows: true});
    asking.selects = {lane, time};
    reveal(lane);
    const length = Math.min(view.to - view.from, data.span / kFinestCells * 100);
    show(time - length / 2, time + length / 2);
}

function takeAnswer(message) {
    if (message.window) takeWindow(message.window);
    else if (message.measured) takeMeasured(message.measured);
    else if (message.found) takeFound(message.found);
}
