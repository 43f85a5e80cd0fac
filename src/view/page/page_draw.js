// Draws what is seen on the canvases: boxes as pixels (page_pixels.js), then texts and lines above them.
// However many boxes a row has, it costs no more than its pixels: where boxes are narrower than a pixel,
// its column has what they fill of it, from levels of detail where many are in sight (page_levels.js).

const look = {};  // colours of the page, light or dark

function readLook() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['ground', 'band', 'line', 'text', 'pale', 'accent', 'blocked', 'waits', 'mark', 'frame'])
        look[name] = style.getPropertyValue(`--${name}`).trim();
    look.font = style.getPropertyValue('--font').trim() || 'sans-serif';
    const processes = [...kColours, kOther], ground = colourBytes(look.ground);
    look.shades = [...processes, ...processes, look.waits, look.blocked, '#56b4e9', look.mark];
    look.bytes = Uint32Array.from(look.shades, (colour, shade) =>
        shade >= kPale && shade < kWaits ? mixed(colourBytes(colour), ground, 0.35) : colourBytes(colour));
    widths.clear();
}

const textOn = new Map();
function textColour(colour) {
    if (!textOn.has(colour)) {
        const [r, g, b] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16) / 255)
            .map(part => part <= 0.04 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        textOn.set(colour, 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.36 ? '#000' : '#fff');
    }
    return textOn.get(colour);
}

// The level with the widest cells of which one at least is in a pixel.
const levelFor = (row, perPixel) => row.levels?.findLast(one => one.width <= perPixel);

// Calls take(k, first, end, whole) for columns: the places of a level's list for column k, and how long the
// cells are. Their borders are those that are nearest.
function eachColumn(level, perPixel, from, to, take) {
    const {cell, width} = level, share = perPixel / width, count = cell.length;
    let at = -1;
    for (let k = from; k < to; k++) {
        const first = share < 1 ? Math.floor(k * share) : Math.round(k * share);
        const end = share < 1 ? first + 1 : Math.round((k + 1) * share);
        if (at < 0) at = firstFrom(cell, first);
        while (at < count && cell[at] < first) at++;
        let last = at;
        while (last < count && cell[last] < end) last++;
        take(k, at, last, (end - first) * width);
    }
}

function drawLevel(what, level, perPixel, top, bottom, ground) {
    const {shade, ns} = level, tall = bottom - top;
    drawStrip(what, perPixel, top, bottom, ground, (strip, from, to) =>
        eachColumn(level, strip.scale.perPixel, from, to, (k, at, last, whole) => {
            for (; at < last; at++) column.add(shade[at], ns[at]);
            column.draw(strip, strip.place(k), 0, tall, whole, look.bytes, ground);
        }));
}

// Where the boxes in sight are not there, what is known of the whole time stands for them.
const rowInSight = row => row.whole && !hasInSight() ? row.whole : row;

// Boxes that are at least a pixel wide, and columns of narrower ones. Of a pixel that has both, the column
// has also the part of the wide one.
class BoxDrawer {
    constructor(row, perPixel, top, bottom, ground, insets) {
        Object.assign(this, {row, perPixel, top, bottom, ground, insets});
        this.at = -1;      // the column that is being filled
        this.edge = -1;    // the pixel where the last wide box ends, its part of it, and as what
        this.edgeNs = this.edgeShade = 0;
    }
    flush() {
        if (this.at >= pixels.left && this.at < pixels.width)
            column.draw(pixels, this.at, this.top, this.bottom, this.perPixel, look.bytes, this.ground);
        else column.clear();
        this.at = -1;
    }
    add(x, shade, ns) {
        if (x !== this.at) {
            this.flush();
            this.at = x;
            if (x === this.edge) column.add(this.edgeShade, this.edgeNs);
        }
        column.add(shade, ns);
    }
    narrow(from, to, shade, share) {
        const x = Math.floor(deviceX(from)), edge = deviceTime(x + 1);
        this.add(x, shade, (Math.min(to, edge) - from) * share);
        if (to > edge) this.add(x + 1, shade, (to - edge) * share);
    }
    wide(i) {
        const {row, top, bottom} = this, from = row.start[i], to = row.end[i], shade = row.shade[i];
        const x0 = deviceX(from), x1 = deviceX(to);
        let left = Math.round(x0);
        const right = Math.max(left + 1, Math.round(x1));
        const middle = row.middle ? Math.min(right, Math.max(left, Math.round(deviceX(row.middle[i])))) : left;
        if (Math.floor(x0) === this.at) {
            column.add(middle > left ? shade + kPale : shade, (this.at + 1 - x0) * this.perPixel);
            left = this.at + 1;
        }
        this.flush();
        // Boxes of one colour that follow each other are told apart.
        const gap = right - left > 8 && row.shade[i + 1] === shade && row.start[i + 1] - to < this.perPixel ? 1 : 0, inset = this.insets?.[shade] || 0;
        const share = row.share ? row.share[i] : 1;
        const high = share < 1 ? Math.max(1, Math.round((bottom - top) * share)) : bottom - top;
        if (middle > left) fillPixels(left, middle, top, bottom, look.bytes[shade + kPale]);
        fillPixels(Math.max(left, middle), right - gap, bottom - high + inset, bottom - inset, look.bytes[shade]);
        this.edge = Math.floor(x1);
        this.edgeNs = (x1 - this.edge) * this.perPixel * share;
        this.edgeShade = shade;
    }
    draw() {
        const {row: {start, end, shade, share, middle}, perPixel} = this, n = start.length;
        for (let i = firstAbove(end, view.from); i < n && start[i] < view.to; i++) {
            if (end[i] - start[i] >= perPixel) {
                this.wide(i);
            } else if (middle && middle[i] > start[i]) {
                this.narrow(start[i], middle[i], shade[i] + kPale, 1);
                if (end[i] > middle[i]) this.narrow(middle[i], end[i], shade[i], 1);
            } else {
                this.narrow(start[i], end[i], shade[i], share ? share[i] : 1);
            }
        }
        this.flush();
    }
}

// Texts are drawn when all boxes are: [text, x, y] by colour.
const texts = new Map(), widths = new Map();
const kCharacters = 2000;  // measured ones that are kept
function widthOf(context, text) {
    let width = widths.get(text);
    if (width === undefined) {
        if (widths.size > kCharacters) widths.clear();
        widths.set(text, width = context.measureText(text).width);
    }
    return width;
}

function addText(text, x, y, colour) {
    if (!texts.has(colour)) texts.set(colour, []);
    texts.get(colour).push([text, x, y]);
}

function drawTexts(context) {
    for (const [colour, list] of texts) {
        context.fillStyle = colour;
        for (const [text, x, y] of list) context.fillText(text, x, y);
    }
    texts.clear();
}

function boxText(context, text, x0, x1, y, height, colour) {
    const pad = 4, room = x1 - x0 - 2 * pad;
    if (room < 18 || height < 11) return;
    let shown = text;
    const width = widthOf(context, text);
    if (width > room) shown = text.slice(0, Math.max(0, Math.floor(text.length * room / width) - 1)) + '…';
    if (shown.length > 1) addText(shown, x0 + pad, y + height / 2 + 0.5, colour);
}

// Draws the boxes of a row. `detail` is called for those that have room for something: with their places
// on the canvas. `insets`: by shade, how much lower a box is at its top and its bottom.
function drawRow(row, y, height, ground, detail, insets) {
    const perPixel = nsPerPixel() / view.ratio, top = Math.round(y * view.ratio), bottom = Math.max(top + 1, Math.round((y + height) * view.ratio));
    const shown = rowInSight(row), level = levelFor(row.whole || row, perPixel) || (shown !== row && shown.levels?.[0]);
    if (level) drawLevel(row.whole || row, level, perPixel, top, bottom, ground);
    else new BoxDrawer(shown, perPixel, top, bottom, ground, insets).draw();
    if (!detail || shown !== row) return;
    const kRoom = 10, least = kRoom * nsPerPixel(), {start, end} = row;
    const visit = i => {
        if (end[i] - start[i] >= least) detail(i, Math.max(xOf(start[i]), view.label), Math.min(xOf(end[i]), view.width));
    };
    if (level) {
        for (const i of row.wide || []) if (end[i] > view.from && start[i] < view.to) visit(i);
    } else {
        for (let i = firstAbove(end, view.from); i < start.length && start[i] < view.to; i++) visit(i);
    }
}

function drawCpu(context, lane, y, ground) {
    const s = data.switches, height = rowHeight(lane), row = lane.rows[0];
    drawRow(row, y, height, ground, (i, x0, x1) => {
        const ref = row.ref[i], task = data.tasks[s.task[ref]];
        const text = s.merged[ref] ? `${numberText(s.merged[ref])} switches` : `${task.comm} ${task.tid}`;
        const isOnBox = !row.share || row.share[i] > 0.7;
        boxText(context, text, x0, x1, y, height, isOnBox ? textColour(look.shades[row.shade[i]]) : look.text);
    });
}

// Where it waits, a box is lower; where it is blocked, a line.
function drawStates(context, lane, y, height, ground) {
    const insets = [];
    insets[kWaits] = Math.round(2 * view.ratio);
    insets[kBlocked] = Math.round((height / 2 - 1.5) * view.ratio);
    drawRow(lane.rows[0], y, height, ground, null, insets);
}

// Waits for other jobs are marked in the time in the queue.
function drawJobs(context, lane, y, ground) {
    const height = rowHeight(lane), s = data.slices;
    lane.rows.forEach((row, at) => {
        const top = y + at * height, tall = Math.max(2, height - 2);
        drawRow(row, top, tall, ground, (i, x0, x1) => {
            const job = model.jobs.at(row.ref[i]), ran = Math.min(Math.max(xOf(job.ran), x0), x1);
            for (const wait of job.waits) {
                const from = Math.max(xOf(s.start[wait]), x0), to = Math.min(xOf(s.end[wait]), ran);
                const low = Math.max(2, tall / 5), ratio = view.ratio;
                if (to - from >= 1)
                    fillPixels(Math.round(from * ratio), Math.round(to * ratio), Math.round((top + tall - low) * ratio),
                               Math.round((top + tall) * ratio), look.bytes[row.shade[i]]);
            }
            const text = `${job.name} ${job.seqno || ''}`;
            if (x1 - ran >= 40) boxText(context, text, ran, x1, top, tall, textColour(look.shades[row.shade[i]]));
            else if (ran - x0 >= 40) boxText(context, text, x0, ran, top, tall, look.text);
        });
    });
}

function drawSlices(context, lane, y, first, ground) {
    const height = rowHeight(lane);
    lane.rows.slice(first).forEach((row, at) => {
        const top = y + at * height, tall = Math.max(2, height - 2);
        drawRow(row, top, tall, ground, (i, x0, x1) =>
            boxText(context, data.names[data.slices.name[row.ref[i]]], x0, x1, top, tall, textColour(look.shades[row.shade[i]])));
    });
}

function drawTicks(ticks, y, height, colour, ground) {
    const {ratio} = view, {time} = ticks, wide = Math.round((nsPerPixel() < 20000 ? 2 : 1) * ratio);
    const [top, bottom] = [Math.round(y * ratio), Math.round((y + height) * ratio)];
    let from = 0, to = -1;  // pixels beside each other
    const kCrowded = 8 * ratio;  // of so many no one is to be seen: they are no bar
    const full = colourBytes(colour), pale = mixed(full, ground, 0.35);
    const fill = () => { if (to >= from) fillPixels(from, to, top, bottom, to - from > kCrowded ? pale : full); };
    for (let i = firstFrom(time, view.from); i < time.length && time[i] < view.to;) {
        const x = Math.floor(deviceX(time[i])), edge = deviceTime(x + 1);
        if (x > to) {
            fill();
            from = x;
        }
        to = x + wide;
        i = firstBehind(time, edge, i);
    }
    fill();
}

// The first place behind `i` that is at least a value, which is mostly near: looks twice as far each time.
function firstBehind(numbers, value, i) {
    const n = numbers.length;
    let far = 1;
    while (i + far < n && numbers[i + far] < value) far *= 2;
    return firstFrom(numbers, value, i + (far >> 1) + (far > 1 ? 0 : 1), Math.min(n, i + far));
}

// The largest of numbers: of many, of blocks of which it is known.
const kBlock = 64;
function largest(lane, from, to) {
    const {value} = lane.counts;
    if (!lane.blocks) {
        lane.blocks = new Float64Array(Math.ceil(value.length / kBlock)).fill(-Infinity);
        for (let i = 0; i < value.length; i++) lane.blocks[i / kBlock | 0] = Math.max(lane.blocks[i / kBlock | 0], value[i]);
    }
    let most = -Infinity;
    while (from < to) {
        if (from % kBlock === 0 && from + kBlock <= to) {
            most = Math.max(most, lane.blocks[from / kBlock]);
            from += kBlock;
        } else {
            most = Math.max(most, value[from++]);
        }
    }
    return most;
}

// A column is as high as the largest value in it.
function drawCounts(lane, y, ground) {
    const {time, value} = lane.counts, height = rowHeights.count, {ratio} = view;
    const most = lane.most ??= Math.max(1, largest(lane, 0, value.length));
    const bottom = Math.round((y + height) * ratio), bytes = mixed(colourBytes(look.accent), ground, 0.6);
    const fill = (x0, x1, top) => fillPixels(x0, x1, bottom - Math.round(Math.max(0, top / most * height * ratio)), bottom, bytes);
    for (let i = Math.max(0, firstAbove(time, view.from) - 1); i < time.length && time[i] < view.to;) {
        const x = Math.max(Math.floor(deviceX(time[i])), pixels.left), next = firstBehind(time, deviceTime(x + 1), i);
        const end = next < time.length ? Math.max(x + 1, Math.floor(deviceX(time[next]))) : pixels.width;
        fill(x, x + 1, largest(lane, i, next));
        fill(x + 1, end, value[next - 1]);  // it stays the last
        i = next;
    }
    addText(`${numberText(most)} ${lane.unit}`, view.label + 4, y + 8, look.pale);
}

// How busy the lanes of a closed group are, with whom: the mean of their columns.
function drawClosed(group, y, height, ground) {
    const rows = group.lanes.filter(lane => !lane.isHidden && lane.rows.length).map(lane => lane.rows[0]);
    const kMost = 64;  // of more it would take too long
    if (!rows.length || rows.length > kMost) return;
    const top = Math.round(y * view.ratio), bottom = Math.round((y + height) * view.ratio);
    drawStrip(group, nsPerPixel() / view.ratio, top, bottom, ground, (strip, from, to) => {
        const {perPixel} = strip.scale, sums = new Float32Array((to - from) * kPale);
        for (const row of rows) addBusy(row, perPixel, from, to, sums);
        for (let at = 0; at < to - from; at++) {
            for (let shade = 0; shade < kPale; shade++) if (sums[at * kPale + shade] > 0) column.add(shade, sums[at * kPale + shade]);
            column.draw(strip, strip.place(from + at), 0, bottom - top, rows.length, look.bytes, ground);
        }
    });
}

// By column and shade: for which share of its time something runs.
function addBusy(row, perPixel, from, to, sums) {
    const shown = rowInSight(row), level = levelFor(row.whole || row, perPixel) || (shown !== row && shown.levels?.[0]);
    if (level) {
        const {shade, ns} = level;
        eachColumn(level, perPixel, from, to, (k, i, last, whole) => {
            for (const at = (k - from) * kPale; i < last; i++) if (shade[i] < kPale) sums[at + shade[i]] += ns[i] / whole;
        });
        return;
    }
    const {start, end, shade, share, middle} = shown;
    for (let i = firstAbove(end, from * perPixel); i < start.length && start[i] < to * perPixel; i++) {
        if (shade[i] >= kPale) continue;
        const begins = Math.max(from, (middle ? middle[i] : start[i]) / perPixel), ends = Math.min(to, end[i] / perPixel);
        for (let k = Math.floor(begins); k < ends; k++)
            sums[(k - from) * kPale + shade[i]] += (Math.min(k + 1, ends) - Math.max(k, begins)) * (share ? share[i] : 1);
    }
}

function drawLane(context, lane, y, ground) {
    let below = y + 3;
    if (lane.isOverview && !lane.rows[0].whole) return drawRow(lane.rows[0], below, lane.kind === 'task' ? 14 : rowHeight(lane), ground);
    if (lane.kind === 'cpu') {
        drawCpu(context, lane, below, ground);
        below += rowHeight(lane);
    } else if (lane.kind === 'task') {
        drawStates(context, lane, below, 14, ground);
        drawSlices(context, lane, below + 15, 1, ground);
        below += 14 + (lane.rows.length - 1) * rowHeight(lane);
    } else if (lane.kind === 'ring') {
        drawJobs(context, lane, below, ground);
    } else if (lane.kind === 'count') {
        drawCounts(lane, below, ground);
    } else {
        drawSlices(context, lane, below, 0, ground);
        below += hasBoxes(lane) ? lane.rows.length * rowHeight(lane) : 0;
    }
    if (!lane.ticks) return;
    const isAlone = !hasBoxes(lane);
    const colour = lane.kind === 'lines' ? look.mark : lane.task ? look.text : look.pale;
    if (isAlone) drawTicks(lane.ticks, y + 4, laneHeight(lane) - 8, lane.isDisplay ? look.frame : colour, ground);
    else drawTicks(lane.ticks, below, 6, colour, ground);
}

// Steps of the ruler are 1, 2 or 5 of a power of ten.
function rulerStep() {
    const least = nsPerPixel() * (view.width < 600 ? 90 : 120);
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map(one => one * power).find(one => one >= least);
}

function eachMark(visitMark) {
    const step = rulerStep(), first = Math.ceil(Math.max(0, view.from) / step), end = Math.min(view.to, data.span);
    // Of times so large that a step is lost in them, marks are one: they end where there is no room for more.
    for (let i = 0; i < view.width && (first + i) * step <= end; i++)
        visitMark((first + i) * step, Math.round(xOf((first + i) * step)) + 0.5);
}

function drawRuler() {
    const context = ruler.getContext('2d', {alpha: false});
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.fillStyle = look.ground;
    context.fillRect(0, 0, view.width, kRuler);
    context.font = `11px ${look.font}`;
    context.textBaseline = 'middle';
    context.fillStyle = look.pale;
    context.strokeStyle = look.line;
    context.fillText(durationText(view.to - view.from), 8, kRuler / 2);
    context.beginPath();
    const step = rulerStep();
    eachMark((time, x) => {
        context.moveTo(x, kRuler - 7);
        context.lineTo(x, kRuler);
        const text = rulerText(time, step);
        if (x + 4 + widthOf(context, text) < view.width) context.fillText(text, x + 4, kRuler / 2);
    });
    context.moveTo(0, kRuler - 0.5);
    context.lineTo(view.width, kRuler - 0.5);
    context.stroke();
    if (!view.range) return;
    const [x0, x1] = [xOf(view.range.from), xOf(view.range.to)];
    context.fillStyle = look.accent;
    context.globalAlpha = 0.25;
    context.fillRect(Math.max(view.label, x0), 0, Math.min(view.width, x1) - Math.max(view.label, x0), kRuler);
    context.globalAlpha = 1;
}

function rulerText(time, step) {
    const [size, unit] = step >= 1e8 ? [1e9, 's'] : step >= 1e5 ? [1e6, 'ms'] : step >= 100 ? [1e3, 'us'] : [1, 'ns'];
    const digits = Math.max(0, Math.ceil(Math.log10(size) - Math.log10(step) - 1e-9));
    return `${(time / size).toFixed(Math.min(digits, 6))} ${unit}`;
}

function drawThroughLines() {
    const line = colourBytes(look.line), frame = mixed(colourBytes(look.frame), colourBytes(look.ground), 0.7);
    const wide = Math.max(1, Math.round(view.ratio)), grounds = [colourBytes(look.ground), colourBytes(look.band)];
    const lineAt = (x, bytes) => linePixels(Math.round(x * view.ratio), Math.round(x * view.ratio) + wide, bytes, grounds);
    eachMark((time, x) => lineAt(x - 0.5, line));
    for (const lane of model.lanes) {
        if (!lane.isDisplay || !lane.ticks || lane.isHidden) continue;
        const {time} = lane.ticks;
        let i = firstFrom(time, view.from);
        // Where they are so close that nothing else would be seen, their own lane has them.
        if ((firstFrom(time, view.to) - i) * 6 > view.width) continue;
        for (; i < time.length && time[i] < view.to; i++) lineAt(Math.round(xOf(time[i])), frame);
    }
}

// From where a job was submitted through the queue and the ring to who was told of its end, and to
// the jobs that it waited for.
function arrowsOf(job) {
    const points = [];
    const laneOf = instant => model.tasks.get(data.tracks.get(data.instants.track[instant]).tid)?.lane;
    const row = rowHeight(job.ringOf.lane);
    const onRing = (time, one) => ({time, y: one.ringOf.lane.y + 3 + one.row * row + row / 2, lane: one.ringOf.lane});
    const onTask = instant => {
        const lane = laneOf(instant);
        return lane && lane.y >= 0 ? {time: data.instants.time[instant], y: lane.y + 10, lane} : null;
    };
    const submit = job.submit >= 0 ? onTask(job.submit) : null;
    if (submit) points.push([submit, onRing(job.start, job)]);
    const done = job.done >= 0 ? onTask(job.done) : null;
    if (done) points.push([onRing(job.end, job), done]);
    for (const wait of job.waits) {
        const other = awaitedBy(wait);
        if (other) points.push([onRing(other.end, other), onRing(Math.min(data.slices.end[wait], job.ran), job), true]);
    }
    return points.filter(([a, b]) => a.y >= 0 && b.y >= 0 && a.lane.y >= 0 && b.lane.y >= 0);
}

function drawArrow(context, [from, to, isWait], scrolled) {
    const x0 = xOf(from.time), x1 = xOf(to.time), y0 = from.y - scrolled, y1 = to.y - scrolled;
    const bend = Math.max(12, Math.abs(x1 - x0) / 3);
    context.strokeStyle = context.fillStyle = isWait ? look.blocked : look.text;
    context.lineWidth = 1.5;
    context.setLineDash(isWait ? [4, 3] : []);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 7, y1 - 4);
    context.lineTo(x1 - 7, y1 + 4);
    context.fill();
}

function drawArrows(context, scrolled) {
    const jobs = view.selected?.job ? [view.selected.job] : [];
    for (const job of jobs) for (const arrow of arrowsOf(job)) drawArrow(context, arrow, scrolled);
}

// Where a selected item stands, in the lane's own y.
function drawSelected(context, scrolled) {
    const box = view.selected && boxOf(view.selected);
    if (!box || box.lane.y < 0) return;
    const x0 = xOf(box.from), x1 = Math.max(xOf(box.to), x0 + 2), y = box.y - scrolled;
    if (x1 < view.label || x0 > view.width) return;
    context.strokeStyle = look.text;
    context.lineWidth = 2;
    context.strokeRect(Math.max(x0, view.label - 4) - 1, y - 1, Math.min(x1, view.width + 4) - Math.max(x0, view.label - 4) + 2, box.height + 1);
}

function drawRange(context) {
    if (!view.range) return;
    const x0 = Math.max(view.label, xOf(view.range.from)), x1 = Math.min(view.width, xOf(view.range.to));
    context.fillStyle = look.accent;
    context.globalAlpha = 0.14;
    context.fillRect(x0, 0, x1 - x0, view.height);
    context.globalAlpha = 1;
    context.fillStyle = look.accent;
    context.fillRect(x0, 0, 1, view.height);
    context.fillRect(x1, 0, 1, view.height);
}

// The boxes of all lanes in sight.
function drawPixels(context, scrolled) {
    const {ratio} = view;
    const ground = colourBytes(look.ground), band = colourBytes(look.band);
    beginPixels(canvas.width, canvas.height, Math.round(view.label * ratio), ground);
    const entries = view.tops.filter(({y, height}) => y + height >= scrolled && y - scrolled <= view.height);
    const isBand = entry => entry.header || entry.lane === view.lane;
    for (const entry of entries)
        if (isBand(entry))
            fillPixels(0, pixels.width, Math.round((entry.y - scrolled) * ratio), Math.round((entry.y - scrolled + entry.height) * ratio), band);
    for (const entry of entries) {
        const y = entry.y - scrolled;
        if (entry.lane) drawLane(context, entry.lane, y, isBand(entry) ? band : ground);
        else if (entry.group?.isClosed) drawClosed(entry.group, y + 3, entry.height - 6, band);
    }
    drawThroughLines();
    context.putImageData(pixels.image, 0, 0);
}

// A canvas that is read frequently lies in the memory of the page, where its pixels come from.
const kLanes = {alpha: false, willReadFrequently: true};

function draw() {
    if (!canvas.width || !canvas.height) return;
    wantInSight();
    const context = canvas.getContext('2d', kLanes);
    const scrolled = scroller.scrollTop;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.font = `11px ${look.font}`;
    context.textBaseline = 'middle';
    drawPixels(context, scrolled);
    context.save();
    context.beginPath();
    context.rect(view.label, 0, view.width - view.label, view.height);
    context.clip();
    drawTexts(context);
    drawRange(context);
    drawArrows(context, scrolled);
    drawSelected(context, scrolled);
    context.restore();
    drawRuler();
}
