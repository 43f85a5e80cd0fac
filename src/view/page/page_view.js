// What is seen: from when to when, which lanes, where they stand.

const $ = id => document.getElementById(id);
const scroller = $('scroll'), canvas = $('lanes'), ruler = $('ruler');
const kRuler = 26, kHeader = 24;
const view = {from: 0, to: 1, width: 0, height: 0, label: 180, ratio: 1, selected: null, range: null,
              lane: null, isDirty: true, tops: []};

const xOf = time => view.label + (time - view.from) / (view.to - view.from) * (view.width - view.label);
const timeAt = x => view.from + (x - view.label) / (view.width - view.label) * (view.to - view.from);
// The same in pixels of the device, of which the canvas has view.ratio to one of the page.
const deviceX = time => xOf(time) * view.ratio;
const deviceTime = x => timeAt(x / view.ratio);
const nsPerPixel = () => (view.to - view.from) / Math.max(1, view.width - view.label);

function durationText(ns) {
    const negative = ns < 0 ? '−' : '';
    ns = Math.abs(ns);
    const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];
    const [size, unit] = units.find(([least]) => ns >= least) || [1, 'ns'];
    const value = ns / size;
    return `${negative}${unit === 'ns' ? Math.round(value) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

// As the recording has it: seconds of its clock.
function clockText(time) {
    const ns = data.begin + BigInt(Math.round(time));
    return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, '0')}`;
}

// As toLocaleString('en-US') has it, which takes 100 ms at first.
const numberText = number => String(number).replace(/\B(?=(\d{3})+$)/g, ',');

function clampView() {
    const least = 50;
    let length = Math.min(Math.max(view.to - view.from, least), data.span * 1.1);
    const over = data.span * 0.05;
    let from = Math.min(Math.max(view.from, -over), data.span + over - length);
    view.from = from;
    view.to = from + length;
}

function show(from, to) {
    view.from = from;
    view.to = to;
    clampView();
    redraw();
    rememberPlace();
}

function zoom(factor, x) {
    const at = x === undefined ? (view.label + view.width) / 2 : Math.max(x, view.label);
    const time = timeAt(at);
    const length = Math.min(Math.max((view.to - view.from) * factor, 50), data.span * 1.1);
    const share = (at - view.label) / Math.max(1, view.width - view.label);
    show(time - length * share, time + length * (1 - share));
}

function pan(pixels) {
    const by = pixels * nsPerPixel();
    show(view.from + by, view.to + by);
}

// The address has the place, so that it can be sent to who has the file.
let placeTimer = 0;
function rememberPlace() {
    clearTimeout(placeTimer);
    placeTimer = setTimeout(() => {
        const isAll = view.from <= 0 && view.to >= data.span;
        const place = isAll ? '' : `#t=${Math.round(view.from)},${Math.round(view.to)}`;
        if (location.hash !== place) history.replaceState(null, '', place || location.pathname + location.search);
    }, 300);
}

function recallPlace() {
    const place = /^#t=(-?\d+),(-?\d+)$/.exec(location.hash);
    if (place && Number(place[2]) > Number(place[1])) show(Number(place[1]), Number(place[2]));
}

function redraw() {
    if (view.isDirty) return;
    view.isDirty = true;
    requestAnimationFrame(() => {
        view.isDirty = false;
        draw();
    });
}

const hasBoxes = lane => lane.rows.some(row => row.start.length || row.whole);

const rowHeights = {cpu: 20, task: 16, ring: 18, slices: 15, count: 30, lines: 18};

function rowHeight(lane) {
    const most = 180;
    const each = rowHeights[lane.kind] || 16;
    return lane.rows.length > 1 ? Math.max(3, Math.min(each, Math.floor(most / lane.rows.length))) : each;
}

function laneHeight(lane) {
    if (lane.kind === 'count') return rowHeights.count + 4;
    let height = Math.max(1, lane.rows.length) * rowHeight(lane);
    if (lane.kind === 'task') height = 14 + (lane.rows.length - 1) * rowHeight(lane);
    // Of an overview: most CPUs and tasks have ticks, for which there is room then.
    const hasTicks = lane.isOverview ? lane.kind !== 'ring' : lane.ticks && hasBoxes(lane);
    if (hasTicks) height += 6;
    return Math.max(height, 16) + 6;
}

// Where each lane and each group's name stands; pinned lanes come first.
function placeLanes() {
    const tops = view.tops = [];
    let y = 0;
    const put = entry => {
        entry.y = y;
        y += entry.height;
        tops.push(entry);
    };
    const pinned = model.lanes.filter(lane => lane.isPinned && !lane.isHidden);
    if (pinned.length) {
        put({header: 'Pinned', height: kHeader});
        for (const lane of pinned) put({lane, height: laneHeight(lane)});
    }
    for (const group of model.groups) {
        const lanes = group.lanes.filter(lane => !lane.isHidden && !lane.isPinned);
        if (!lanes.length) continue;
        put({header: group.name, group, height: group.isClosed ? kHeader + 4 : kHeader});
        if (!group.isClosed) for (const lane of lanes) put({lane, height: laneHeight(lane)});
    }
    for (const entry of tops) if (entry.lane) entry.lane.y = entry.y;
    for (const lane of model.lanes)
        if (!tops.some(entry => entry.lane === lane)) lane.y = -1;
    $('space').style.height = `${y + 8}px`;
    view.total = y;
    const hidden = model.lanes.filter(lane => lane.isHidden).length;
    $('hidden').hidden = hidden === 0;
    $('hidden').textContent = `Show ${hidden} hidden`;
    placeLabels();
    redraw();
}

function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
        else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? '' : value);
    }
    made.append(...children.filter(child => child !== null && child !== undefined));
    return made;
}

function laneTitle(lane) {
    if (lane.ring) return `${lane.name}: ${numberText(lane.ring.jobs.length)} jobs`;
    return lane.name;
}

function placeLabels() {
    const labels = $('labels');
    const kept = document.activeElement?.dataset?.key;
    labels.replaceChildren();
    for (const entry of view.tops) {
        const style = `top:${entry.y}px;height:${entry.height}px`;
        if (entry.header) {
            const group = entry.group;
            labels.append(group
                ? element('button', {class: 'group', style, 'data-key': group.key, 'aria-expanded': String(!group.isClosed),
                                     title: group.isClosed ? 'Open' : 'Close',
                                     onclick: () => { group.isClosed = !group.isClosed; placeLanes(); }},
                          element('span', {class: 'mark'}, group.isClosed ? '▸' : '▾'),
                          `${entry.header}${group.isClosed ? ` (${group.lanes.filter(lane => !lane.isHidden).length})` : ''}`)
                : element('div', {class: 'group', style}, entry.header));
            continue;
        }
        const lane = entry.lane;
        const label = element('div', {class: 'lane' + (view.lane === lane ? ' selected' : ''), style, 'data-key': lane.key});
        if (lane.task) {
            const process = model.processes.get(lane.task.pid);
            label.append(element('span', {class: 'dot', style: `background:${process ? process.colour : kOther}`}));
        }
        label.append(element('button', {class: 'name', title: laneTitle(lane), 'data-key': lane.key,
                                        onclick: () => selectLane(lane)}, lane.name));
        label.append(element('span', {class: 'tools'},
            element('button', {title: lane.isPinned ? 'Unpin (P)' : 'Pin to the top (P)', 'aria-pressed': String(lane.isPinned),
                               onclick: () => pinLane(lane)}, lane.isPinned ? '⊘' : '⊤'),
            element('button', {title: 'Move up ([)', onclick: () => moveLane(lane, -1)}, '↑'),
            element('button', {title: 'Move down (])', onclick: () => moveLane(lane, 1)}, '↓'),
            element('button', {title: 'Hide (H)', onclick: () => hideLane(lane)}, '×')));
        labels.append(label);
    }
    if (kept) labels.querySelector(`button[data-key="${CSS.escape(kept)}"]`)?.focus();
}

function selectLane(lane) {
    view.lane = lane;
    for (const label of $('labels').children)
        label.classList.toggle('selected', !!lane && label.dataset.key === lane.key && label.classList.contains('lane'));
    redraw();
}

function pinLane(lane) {
    lane.isPinned = !lane.isPinned;
    placeLanes();
}

function hideLane(lane) {
    lane.isHidden = true;
    if (view.lane === lane) view.lane = null;
    placeLanes();
}

function moveLane(lane, by) {
    const lanes = lane.isPinned ? model.lanes : lane.group.lanes;
    const visible = lanes.filter(one => !one.isHidden && one.isPinned === lane.isPinned);
    const other = visible[visible.indexOf(lane) + by];
    if (!other) return;
    const a = lanes.indexOf(lane), b = lanes.indexOf(other);
    [lanes[a], lanes[b]] = [lanes[b], lanes[a]];
    placeLanes();
}

// Opens what hides a lane, and scrolls to it.
function reveal(lane) {
    if (!lane) return;
    if (lane.isHidden || (lane.group.isClosed && !lane.isPinned)) {
        lane.isHidden = false;
        lane.group.isClosed = false;
        placeLanes();
    }
    const top = lane.y, bottom = lane.y + laneHeight(lane);
    if (top < scroller.scrollTop) scroller.scrollTop = Math.max(0, top - kHeader);
    else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight + 8;
}

function measureWindow() {
    const box = scroller.getBoundingClientRect();
    view.width = scroller.clientWidth;
    view.height = scroller.clientHeight;
    view.label = box.width < 600 ? 92 : 190;
    view.ratio = window.devicePixelRatio || 1;
    document.documentElement.style.setProperty('--label', `${view.label}px`);
    for (const [one, height] of [[canvas, view.height], [ruler, kRuler]]) {
        one.width = Math.round(view.width * view.ratio);
        one.height = Math.round(height * view.ratio);
        one.style.width = `${view.width}px`;
        one.style.height = `${height}px`;
    }
    redraw();
}
