// What stands below the timeline: what is selected, tables that select, the reports.

const kMostRows = 500;
const kReading = 'Still being read…';
const tabs = [];
let tabShown = null;

// What is under a point of the canvas; null for nothing.
function itemAt(x, y) {
    const entry = view.tops.find(one => y >= one.y && y < one.y + one.height);
    if (!entry?.lane || !data.hasDetails || x < view.label) return null;
    const lane = entry.lane, time = timeAt(x), within = y - entry.y - 3;
    const near = 4 * nsPerPixel();
    const tick = tickNear(lane, time, near);
    let top = 0;
    if (lane.kind === 'task' || lane.kind === 'cpu' || lane.kind === 'ring' || lane.kind === 'slices') {
        const each = rowHeight(lane), first = lane.kind === 'task' ? 14 : each;
        const at = within < first ? 0 : 1 + Math.floor((within - first) / each);
        top = first + (lane.rows.length - 1) * each;
        const row = lane.rows[at];
        if (row && within < top) {
            const i = boxNear(row, time, near / 2);
            if (i >= 0) return itemOf(lane, at, row.ref[i], i);
        }
    }
    return tick >= 0 ? itemOf(lane, -1, lane.ticks.ref[tick], tick) : null;
}

function tickNear(lane, time, near) {
    if (!lane.ticks) return -1;
    const i = firstFrom(lane.ticks.time, time);
    const distance = k => k >= 0 && k < lane.ticks.time.length ? Math.abs(lane.ticks.time[k] - time) : Infinity;
    const best = distance(i) < distance(i - 1) ? i : i - 1;
    return distance(best) <= near ? best : -1;
}

function boxNear(row, time, near) {
    const i = firstAbove(row.end, time);
    if (i < row.start.length && row.start[i] <= time) return i;
    if (i < row.start.length && row.start[i] - time <= near) return i;
    return i > 0 && time - row.end[i - 1] <= near ? i - 1 : -1;
}

function itemOf(lane, at, ref, index) {
    if (lane.kind === 'lines') return {kind: 'line', ref, lane, at, index};
    if (at < 0) return {kind: 'instant', ref, lane, at, index};
    if (lane.kind === 'cpu') return {kind: 'cpu', ref, lane, at, index};
    if (lane.kind === 'ring') return {kind: 'job', job: model.jobs.at(ref), ref, lane, at, index};
    if (lane.kind === 'task' && at === 0) return {kind: 'state', ref, lane, at, index};
    return {kind: 'slice', ref, lane, at, index};
}

function jobItem(job) {
    const lane = job.ringOf.lane, row = lane.rows[job.row];
    let index = firstFrom(row.start, job.start);
    while (index < row.ref.length && row.ref[index] !== job.index) index++;
    return {kind: 'job', job, ref: job.index, lane, at: job.row, index};
}

// Where an item stands: its lane, its times, its place below the top of all lanes.
function boxOf(item) {
    const lane = item.lane, each = rowHeight(lane);
    if (item.at < 0) {
        const time = lane.ticks.time[item.index];
        return {lane, from: time, to: time, y: lane.y + 2, height: laneHeight(lane) - 4};
    }
    const row = lane.rows[item.at];
    const y = lane.kind === 'task' ? lane.y + 3 + (item.at ? 15 + (item.at - 1) * each : 0) : lane.y + 3 + item.at * each;
    const height = lane.kind === 'task' && item.at === 0 ? 14 : lane.kind === 'cpu' ? each : Math.max(2, each - 2);
    return {lane, from: row.start[item.index], to: row.end[item.index], y, height};
}

function select(item, how) {
    view.selected = item;
    if (item) {
        selectLane(item.lane);
        if (how?.shows) {
            reveal(item.lane);
            const box = boxOf(item);
            const length = view.to - view.from;
            if (box.to < view.from || box.from > view.to || box.to - box.from < length / 400) {
                const wanted = Math.max(Math.min(length, (box.to - box.from) * 20), 200);
                const middle = (box.from + box.to) / 2;
                show(middle - wanted / 2, middle + wanted / 2);
            }
        }
    }
    fillSelection();
    if (item && how?.tab !== false) showTab('selection');
    redraw();
}

function zoomToSelected() {
    const range = view.selected ? boxOf(view.selected) : view.range;
    if (!range) return;
    const pad = Math.max((range.to - range.from) * 0.1, 20);
    show(range.from - pad, range.to + pad);
}

// The item before or behind in its row, or of the lane's ticks.
function step(by) {
    const item = view.selected;
    if (!item) return;
    const count = item.at < 0 ? item.lane.ticks.ref.length : item.lane.rows[item.at].ref.length;
    const index = item.index + by;
    if (index < 0 || index >= count) return;
    const ref = item.at < 0 ? item.lane.ticks.ref[index] : item.lane.rows[item.at].ref[index];
    select(itemOf(item.lane, item.at, ref, index), {shows: true});
}

function stepLane(by) {
    const lanes = view.tops.filter(entry => entry.lane).map(entry => entry.lane);
    const lane = lanes[Math.min(Math.max(lanes.indexOf(view.lane) + by, 0), lanes.length - 1)];
    if (!lane) return;
    reveal(lane);
    if (!data.hasDetails) return selectLane(lane);
    const time = view.selected ? boxOf(view.selected).from : (view.from + view.to) / 2;
    const row = lane.rows.find(one => one.start.length);
    if (row) {
        const at = lane.rows.indexOf(row), i = Math.min(firstAbove(row.end, time), row.start.length - 1);
        select(itemOf(lane, at, row.ref[i], i));
    } else if (lane.ticks?.time.length) {
        const i = Math.min(firstFrom(lane.ticks.time, time), lane.ticks.time.length - 1);
        select(itemOf(lane, -1, lane.ticks.ref[i], i));
    } else {
        selectLane(lane);
    }
}

// The name of an item, and its facts as [what, value].
function describe(item) {
    if (!data.isWhole) return {name: kReading, facts: []};
    const s = data.slices, t = data.instants;
    if (item.kind === 'job') return describeJob(item.job);
    if (item.kind === 'line') {
        const line = data.lines[item.ref];
        return {name: lineText(line), facts: [['monitor', line.monitor], ['time', clockText(line.time)], ...lineValues(line)]};
    }
    if (item.kind === 'instant') {
        const facts = [['time', clockText(t.time[item.ref])], ['lane', laneName(item.lane)]];
        if (t.times[item.ref] > 1) facts.push(['times', `${numberText(t.times[item.ref])} within ${durationText(data.instantGrain)}; the first:`]);
        return {name: eventName(t, item.ref), facts: [...facts, ...valuesOf(t, item.ref)]};
    }
    if (item.kind === 'slice') {
        const facts = timesOf(s.start[item.ref], s.end[item.ref], s.isOpen[item.ref]);
        return {name: data.names[s.name[item.ref]], facts: [...facts, ['lane', laneName(item.lane)], ...valuesOf(s, item.ref)]};
    }
    if (item.kind === 'cpu') return describeSwitch(item.ref);
    const row = item.lane.rows[0], state = row.ref[item.index];
    const what = ['runs', 'could run, and has no CPU', 'is blocked (D)'][state];
    return {name: `${item.lane.name} ${what}`, facts: timesOf(row.start[item.index], row.end[item.index])};
}

// A line is the JSON of a record: {"record":"slow","values":{"pid":1},"units":{"us":"us"}}.
function lineValues(line) {
    const {values, units} = JSON.parse(line.text);
    return Object.entries(values).map(([name, value]) =>
        [name, `${typeof value === 'object' ? JSON.stringify(value) : value}${units?.[name] ? ` ${units[name]}` : ''}`]);
}

const lineText = line => line.shown ??= [JSON.parse(line.text).record,
    ...lineValues(line).filter(([name]) => name !== 'when').map(([name, value]) => `${name} ${value}`)].join('  ');

const laneName = lane => `${lane.group.name} / ${lane.name}`;

function eventName(items, ref) {
    const system = data.names[items.category[ref]];
    return system ? `${system}:${data.names[items.name[ref]]}` : data.names[items.name[ref]];
}

function timesOf(from, to, isOpen) {
    return [['begins', clockText(from)], ['ends', isOpen ? 'not in the recording' : clockText(to)],
            ['takes', `${durationText(to - from)}${isOpen ? ' and more' : ''}`]];
}

function describeJob(job) {
    const facts = [
        ['ring', `${job.device} / ${job.ring}`], ['process', `${job.name} ${job.pid}`],
        ['fence', `context ${job.context}, number ${job.seqno}`], ['queued', clockText(job.start)],
    ];
    if (job.run >= 0) facts.push(['runs', clockText(job.ran)]);
    facts.push(['done', job.isOpen ? 'not in the recording' : clockText(job.end)]);
    facts.push(['in the queue', durationText(job.ran - job.start) + (job.run < 0 && job.isOpen ? ' and more' : '')]);
    if (job.run >= 0) facts.push(['on the ring', durationText(job.end - job.ran) + (job.isOpen ? ' and more' : '')]);
    for (const wait of job.waits) {
        const s = data.slices;
        facts.push([data.names[s.name[wait]], durationText(s.end[wait] - s.start[wait])]);
    }
    const last = job.run >= 0 ? job.run : job.queue;
    for (const [name, value] of valuesOf(data.slices, last)) if (name === 'end') facts.push(['end', value]);
    return {name: `Job of ${job.name} on ${job.ring}`, facts};
}

function describeSwitch(ref) {
    const s = data.switches, task = data.tasks[s.task[ref]];
    const facts = [...timesOf(s.time[ref], s.end[ref]), ['CPU', String(s.cpu[ref])]];
    if (s.merged[ref]) {
        facts.push(['switches', `${numberText(s.merged[ref])}, told as one`], ['busy', durationText(s.busy[ref])],
                   ['longest', `${task.comm} ${task.tid}`]);
        return {name: `${s.merged[ref]} switches`, facts};
    }
    facts.push(['priority', String(s.prio[ref])], ['before it', `${data.tasks[s.before[ref]].comm} ${data.tasks[s.before[ref]].tid}`]);
    const waker = wakerOf(task.tid, s.time[ref]);
    if (waker >= 0) {
        const who = model.tasks.get(data.wakeups.waker[waker]);
        facts.push(['woken by', `${who ? who.comm : ''} ${data.wakeups.waker[waker]}`],
                   ['waited for the CPU', durationText(s.time[ref] - data.wakeups.time[waker])]);
    }
    return {name: `${task.comm} ${task.tid}`, facts};
}

// The last wakeup of a task before a time, if nothing of it came between.
function wakerOf(tid, time) {
    const w = data.wakeups;
    const kLook = 20000;
    for (let i = firstAbove(w.time, time) - 1, left = kLook; i >= 0 && left; i--, left--)
        if (data.tasks[w.task[i]].tid === tid) {
            const states = model.tasks.get(tid)?.states;
            const at = states ? firstFrom(states.end, time - 1) : -1;
            const isNext = states && at < states.start.length && Math.abs(states.start[at] - w.time[i]) < 1;
            return isNext ? i : -1;
        }
    return -1;
}

function factsTable(facts) {
    const table = element('table', {class: 'facts'});
    for (const [name, value] of facts)
        table.append(element('tr', null, element('th', {scope: 'row'}, name),
                             element('td', null, value.includes('\n') ? element('pre', null, value) : value)));
    return table;
}

function fillSelection() {
    const page = $('page-selection');
    page.replaceChildren();
    if (view.selected) {
        const {name, facts} = describe(view.selected);
        page.append(element('h2', null, name));
        const buttons = element('p', {class: 'buttons'},
            element('button', {onclick: zoomToSelected, title: 'F'}, 'Zoom to it'),
            element('button', {onclick: () => step(-1), title: 'Left'}, 'Before'),
            element('button', {onclick: () => step(1), title: 'Right'}, 'Next'));
        const job = view.selected.job || jobOfInstant(view.selected);
        if (job && !view.selected.job) buttons.append(element('button', {onclick: () => select(jobItem(job), {shows: true})}, 'The job'));
        if (view.selected.job) {
            const t = data.instants;
            for (const [ref, what] of [[job.submit, 'Submission'], [job.done, 'End']]) {
                const lane = ref >= 0 && model.tasks.get(data.tracks.get(t.track[ref]).tid)?.lane;
                if (!lane) continue;
                buttons.append(element('button', {onclick: () => select(itemOf(lane, -1, ref, lane.ticks.ref.indexOf(ref)), {shows: true})}, what));
            }
            for (const wait of job.waits) {
                const other = awaitedBy(wait);
                if (other) buttons.append(element('button', {onclick: () => select(jobItem(other), {shows: true})}, 'What it waited for'));
            }
        }
        page.append(buttons, factsTable(facts));
    }
    if (view.range) page.append(rangeTable());
    if (!view.selected && !view.range)
        page.append(element('p', {class: 'hint'}, 'Click an item, or measure with Shift and drag. The tables beside select, too.'),
                    overview());
}

function jobOfInstant(item) {
    return item.kind === 'instant' ? model.jobs.byFlow(data.instants.flow[item.ref]) : null;
}

function overview() {
    const facts = [['recorded', `${durationText(data.span)}, from ${clockText(0)}${data.clock ? ` of the clock ${data.clock}` : ''}`]];
    if (data.uname) facts.push(['machine', data.uname]);
    if (!data.hasDetails) facts.push(['details', kReading]);
    if (model.jobs.length) facts.push(['jobs', numberText(model.jobs.length)]);
    const switches = (data.switchCount || data.switches?.count || 0) - data.gaps;
    if (switches) facts.push(['switches of tasks', numberText(switches)]);
    if (data.instants?.count) facts.push(['events', numberText(data.instants.count)]);
    if (data.grain) facts.push(['detail', `switches of less than ${durationText(data.grain)} are told together`]);
    if (data.instantGrain) facts.push(['detail', `events of one kind within ${durationText(data.instantGrain)} are one mark`]);
    for (const note of data.notes) facts.push(['note', note]);
    return factsTable(facts);
}

// Of segments: how long each task ran in the range that was asked for last.
const measured = {from: 0, to: 0, sums: null};
function takeMeasured(told) {
    Object.assign(measured, told);
    if (view.range && view.range.from === told.from && view.range.to === told.to) fillSelection();
}

// Who did how much from a time to another.
function rangeTable() {
    const {from, to} = view.range;
    const heading = element('h2', null, `${durationText(to - from)} from ${clockText(from)} to ${clockText(to)}`);
    if (!data.hasDetails) return element('section', null, heading, kReading);
    const sums = new Map();
    const of = pid => {
        if (!sums.has(pid)) sums.set(pid, {cpu: 0, gpu: 0, jobs: 0});
        return sums.get(pid);
    };
    if (data.segments.length) {
        if (measured.from !== from || measured.to !== to) {
            asking.reader.ask({measure: {from, to}});
            return element('section', null, heading, kReading);
        }
        measured.sums.forEach((ns, i) => {
            const {tid} = data.tasks[i];
            if (ns > 0) of(model.tasks.get(tid)?.pid ?? tid).cpu += ns;
        });
    }
    const s = data.switches;
    for (const lane of model.lanes) {
        if (lane.kind !== 'cpu' || data.segments.length) continue;
        const row = lane.rows[0];
        for (let i = firstAbove(row.end, from); i < row.start.length && row.start[i] < to; i++) {
            const ref = row.ref[i], share = s.busy[ref] / (s.end[ref] - s.time[ref]);
            const task = data.tasks[s.task[ref]];
            of(model.tasks.get(task.tid)?.pid ?? task.tid).cpu += (Math.min(row.end[i], to) - Math.max(row.start[i], from)) * share;
        }
    }
    const {jobs} = model;
    for (let i = 0; i < jobs.length; i++) {
        if (jobs.end[i] <= from || jobs.start[i] >= to) continue;
        of(jobs.pid(i)).jobs++;
        if (jobs.run[i] >= 0) of(jobs.pid(i)).gpu += Math.max(0, Math.min(jobs.end[i], to) - Math.max(jobs.ran[i], from));
    }
    const rows = [...sums].map(([pid, sum]) => ({pid, name: model.processes.get(pid)?.name || '', ...sum}))
        .filter(row => row.cpu || row.jobs).sort((a, b) => b.gpu + b.cpu - a.gpu - a.cpu);
    return element('section', null, heading,
        table({key: 'range', columns: [['process', row => row.name], ['pid', row => row.pid], ['CPU', row => row.cpu, durationText],
                                       ['GPU', row => row.gpu, durationText], ['jobs', row => row.jobs]], rows}));
}

// A table that is sorted by a click on a column's head; `select`: what a row does.
function table({key, columns, rows, select: pick, sort}) {
    const state = table.states[key] ??= {by: sort ?? -1, up: false, shown: kMostRows};
    const box = element('div', {class: 'table'});
    const fill = () => {
        const sorted = [...rows];
        if (state.by >= 0) {
            const value = columns[state.by][1];
            const order = (a, b) => typeof value(a) === 'string' ? value(a).localeCompare(value(b)) : value(a) - value(b);
            sorted.sort((a, b) => state.up ? order(a, b) : order(b, a));
        }
        const head = element('tr', null, ...columns.map(([name], i) => element('th', {
            scope: 'col', 'aria-sort': state.by === i ? (state.up ? 'ascending' : 'descending') : 'none'},
            element('button', {onclick: () => {
                state.up = state.by === i && !state.up;
                state.by = i;
                fill();
            }}, name + (state.by === i ? (state.up ? ' ▴' : ' ▾') : '')))));
        const body = sorted.slice(0, state.shown).map(row => element('tr', {tabindex: pick ? 0 : null, class: pick ? 'picks' : null,
            onclick: pick ? () => pick(row) : () => {},
            onkeydown: event => {
                if (pick && (event.key === 'Enter' || event.key === ' ')) {
                    event.preventDefault();
                    pick(row);
                } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                    event.preventDefault();
                    event.currentTarget[event.key === 'ArrowDown' ? 'nextElementSibling' : 'previousElementSibling']?.focus();
                }
            }}, ...columns.map(([, value, text]) => {
                const is = value(row);
                const cell = element('td', {class: typeof is === 'number' ? 'number' : null}, text ? text(is) : String(is));
                if (row.colour && value === columns[0][1]) cell.prepend(element('span', {class: 'dot', style: `background:${row.colour}`}));
                return cell;
            })));
        box.replaceChildren(element('table', null, element('thead', null, head), element('tbody', null, ...body)));
        if (sorted.length > state.shown)
            box.append(element('button', {onclick: () => { state.shown *= 4; fill(); }},
                               `${numberText(sorted.length - state.shown)} more`));
    };
    fill();
    return box;
}
table.states = {};

function processTable() {
    return table({key: 'processes', sort: model.jobs.length ? 3 : 2, rows: [...model.processes.values()].filter(one => one.pid !== 0),
        columns: [['process', row => row.name || '?'], ['pid', row => row.pid], ['CPU', row => row.cpu, durationText],
                  ['on rings', row => row.gpu, durationText], ['in queues', row => row.queue, durationText],
                  ['jobs', row => row.jobs, numberText], ['waited for a CPU', row => row.waits, durationText]],
        select: row => {
            const task = model.tasks.get(row.pid) || [...model.tasks.values()].find(one => one.pid === row.pid);
            const job = model.jobs.find(one => one.pid === row.pid);
            if (job) select(jobItem(job), {shows: true});
            else if (task?.lane) {
                reveal(task.lane);
                selectLane(task.lane);
            }
        }});
}

function ringTable() {
    const {jobs} = model;
    return table({key: 'rings', sort: 3, rows: model.rings,
        columns: [['device', row => row.device], ['ring', row => row.name], ['jobs', row => row.jobs.length, numberText],
                  ['busy', row => row.busy / data.span * 100, share => `${share.toFixed(1)} %`],
                  ['in the queue, average', row => average(row.jobs, i => jobs.ran[i] - jobs.start[i]), durationText],
                  ['on the ring, average', row => average(row.jobs.filter(i => jobs.run[i] >= 0), i => jobs.end[i] - jobs.ran[i]), durationText],
                  ['longest', row => row.jobs.reduce((most, i) => Math.max(most, jobs.end[i] - jobs.start[i]), 0), durationText]],
        select: row => {
            reveal(row.lane);
            selectLane(row.lane);
        }});
}

const average = (list, value) => list.length ? list.reduce((sum, one) => sum + value(one), 0) / list.length : 0;

function jobTable() {
    const {jobs} = model;
    return table({key: 'jobs', sort: 6, rows: Array.from({length: jobs.length}, (_, i) => i),
        columns: [['process', i => jobs.name(i)], ['pid', i => jobs.pid(i)], ['ring', i => model.rings[jobs.ring[i]].name], ['number', i => jobs.seqno(i)],
                  ['queued', i => jobs.start[i], clockText], ['in the queue', i => jobs.ran[i] - jobs.start[i], durationText],
                  ['all', i => jobs.end[i] - jobs.start[i], durationText],
                  ['on the ring', i => jobs.run[i] >= 0 ? jobs.end[i] - jobs.ran[i] : 0, durationText]],
        select: i => select(jobItem(jobs.at(i)), {shows: true, tab: false})});
}

function reportPage() {
    const page = element('div', {class: 'reports'});
    for (const {title, text} of data.reports)
        page.append(element('section', null, element('h2', null, title), element('pre', {tabindex: 0}, text)));
    return page;
}

function lineTable() {
    return table({key: 'lines', sort: 0, rows: data.lines,
        columns: [['time', row => row.time, clockText], ['monitor', row => row.monitor], ['line', lineText]],
        select: row => {
            const lane = model.lanes.find(one => one.kind === 'lines' && one.name === row.monitor);
            select(itemOf(lane, -1, row.index, lane.ticks.ref.indexOf(row.index)), {shows: true, tab: false});
        }});
}

function addTab(id, name, make) {
    tabs.push({id, name, make, isFilled: false});
    $('tabs').append(element('button', {role: 'tab', id: `tab-${id}`, 'aria-controls': `page-${id}`, 'aria-selected': 'false', tabindex: -1,
                                        onclick: () => showTab(id)}, name));
    $('pages').append(element('div', {role: 'tabpanel', id: `page-${id}`, 'aria-labelledby': `tab-${id}`, hidden: true}));
}

function showTab(id) {
    tabShown = id;
    for (const tab of tabs) {
        const isShown = tab.id === id;
        $(`tab-${tab.id}`).setAttribute('aria-selected', String(isShown));
        $(`tab-${tab.id}`).tabIndex = isShown ? 0 : -1;
        $(`page-${tab.id}`).hidden = !isShown;
        if (isShown && !tab.isFilled && tab.make) {
            tab.isFilled = true;
            $(`page-${tab.id}`).replaceChildren(tab.make());
        }
    }
}

// A table of details, as soon as they are there.
const whenRead = make => () => data.hasDetails ? make() : element('p', {class: 'hint'}, kReading);

// Tabs of which the model has nothing are hidden.
function showTabs() {
    const counts = {processes: model.processes.size, rings: model.rings.length, jobs: model.rings.length};
    for (const {id} of tabs) $(`tab-${id}`).hidden = counts[id] === 0;
    if (tabShown && $(`tab-${tabShown}`).hidden) showTab('selection');
}

// The details are there.
function refillTabs() {
    for (const tab of tabs) if (tab.id !== 'reports') tab.isFilled = false;
    fillSelection();
    showTabs();
    showTab(tabShown);
}

function makePanel() {
    addTab('selection', 'Selection');
    addTab('processes', 'Processes', whenRead(processTable));
    addTab('rings', 'Rings', whenRead(ringTable));
    addTab('jobs', 'Jobs', whenRead(jobTable));
    if (data.hasLines) addTab('lines', 'Lines', whenRead(lineTable));
    if (data.reports.length) addTab('reports', 'Reports', reportPage);
    $('tabs').addEventListener('keydown', event => {
        const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!by) return;
        const at = tabs.findIndex(tab => tab.id === tabShown);
        let next = at;
        do next = (next + by + tabs.length) % tabs.length;
        while ($(`tab-${tabs[next].id}`).hidden);
        showTab(tabs[next].id);
        $(`tab-${tabs[next].id}`).focus();
        event.preventDefault();
        event.stopPropagation();
    });
    fillSelection();
    showTabs();
    showTab(data.reports.length && window.innerWidth >= 600 ? 'reports' : 'selection');
}
