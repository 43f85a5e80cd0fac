// Draws what is seen on the canvases. However many boxes a row has, it costs no more than its pixels:
// where boxes are narrower than one, the next is found by halving, and how much of the pixel they
// fill by sums.

const look = {};  // colours of the page, light or dark

function readLook() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['ground', 'band', 'line', 'text', 'pale', 'accent', 'blocked', 'waits', 'mark', 'frame'])
        look[name] = style.getPropertyValue(`--${name}`).trim();
    look.font = style.getPropertyValue('--font').trim() || 'sans-serif';
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

const colourOfPid = pid => model.processes.get(pid)?.colour || kOther;
const colourOfTid = tid => colourOfPid(model.tasks.get(tid)?.pid ?? tid);

// How much of each pixel is filled, and with which box most.
const filling = {share: new Float64Array(0), box: new Int32Array(0), most: new Float64Array(0)};

// As visit() does, by the level with the widest cells of which two are in a pixel.
function visitLevel(row, level, box, crowd) {
    const {start, end, sums} = row, {width, filled, first, wide} = level;
    const perPixel = nsPerPixel(), most = Math.ceil(view.width);
    if (filling.share.length < most)
        Object.assign(filling, {share: new Float64Array(most), box: new Int32Array(most), most: new Float64Array(most)});
    filling.share.fill(0);
    filling.most.fill(0);
    const fill = (time, busy, i) => {
        const pixel = Math.max(Math.floor(xOf(time)), view.label);
        if (pixel >= most) return;
        filling.share[pixel] += busy / perPixel;
        if (busy < filling.most[pixel]) return;
        filling.most[pixel] = busy;
        filling.box[pixel] = i;
    };
    const last = Math.min(filled.length, Math.ceil(view.to / width));
    for (let cell = Math.max(0, Math.floor(view.from / width)); cell < last; cell++)
        if (first[cell] >= 0) fill((cell + 0.5) * width, filled[cell], first[cell]);
    let low = 0;
    for (let high = wide.length; low < high;) {
        const middle = (low + high) >> 1;
        if (end[wide[middle]] > view.from) high = middle;
        else low = middle + 1;
    }
    for (; low < wide.length && start[wide[low]] < view.to; low++) {
        const i = wide[low];
        if (end[i] - start[i] >= perPixel) box(i, Math.max(xOf(start[i]), view.label), Math.min(xOf(end[i]), view.width));
        else fill(Math.max(start[i], view.from), sums[i + 1] - sums[i], i);
    }
    for (let pixel = view.label; pixel < most; pixel++)
        if (filling.share[pixel]) crowd(filling.box[pixel], pixel, Math.min(1, filling.share[pixel]));
}

// Calls `box` for each box that is at least a pixel wide, and `crowd` for a pixel of narrower ones.
function visit(row, box, crowd) {
    const {start, end, sums} = row;
    const perPixel = nsPerPixel();
    const level = row.levels?.findLast(one => one.width * 2 <= perPixel);
    if (level) return visitLevel(row, level, box, crowd);
    const n = start.length;
    let i = firstAbove(end, view.from);
    while (i < n && start[i] < view.to) {
        const x = xOf(start[i]);
        if ((end[i] - start[i]) >= perPixel) {
            box(i, Math.max(x, view.label), Math.min(xOf(end[i]), view.width));
            i++;
            continue;
        }
        const pixel = Math.max(Math.floor(x), view.label);
        const edge = timeAt(pixel + 1);
        let next = i + 1;
        if (next < n && start[next] < edge) {
            // The next pixel's first is near: look twice as far each time.
            let far = 2;
            while (next + far < n && start[next + far] < edge) far *= 2;
            next = firstFrom(start, edge, next + (far >> 1), Math.min(n, next + far));
            // One that begins here and is wide is a box of its own.
            if (end[next - 1] - start[next - 1] >= perPixel) next--;
            next = Math.max(next, i + 1);
        }
        let longest = i;
        for (let k = i + 1; k < Math.min(next, i + 6); k++)
            if (end[k] - start[k] > end[longest] - start[longest]) longest = k;
        crowd(longest, pixel, Math.min(1, (sums[next] - sums[i]) / perPixel));
        i = next;
    }
}

// A colour's bytes as a number: red is the lowest, the highest is left for how opaque it is.
const bytesOfColour = new Map();
function colourBytes(colour) {
    let bytes = bytesOfColour.get(colour);
    if (bytes === undefined) {
        const [r, g, b] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
        bytesOfColour.set(colour, bytes = r | g << 8 | b << 16);
    }
    return bytes;
}

// How opaque something is of which a share is busy.
const fullness = share => Math.max(0.25, Math.min(1, share));

// Rows of pixels, each of its own colour, and where they are to be drawn: lines of one image, each drawn
// as high as its row is when all are known. A rectangle for each pixel takes ten times as long, and an
// image for each row three times.
const strip = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const crowded = {image: null, pixels: null, rows: []};

function drawCrowds(context) {
    const {image, rows} = crowded;
    if (!rows.length) return;
    strip.putImageData(image, 0, 0, 0, 0, image.width, rows.length);
    context.imageSmoothingEnabled = false;
    rows.forEach(({y, height}, line) => context.drawImage(strip.canvas, 0, line, image.width, 1, 0, y, image.width, height));
    crowded.pixels.fill(0, 0, rows.length * image.width);
    rows.length = 0;
}

class Crowd {
    constructor(context, y, height) {
        Object.assign(this, {context, y, height, at: -1});
    }
    // Its line of the image, whose byte order is that of all machines with a browser: the lowest first.
    begin() {
        const kLines = 256, width = Math.ceil(view.width);
        if (crowded.image?.width !== width) {
            Object.assign(strip.canvas, {width, height: kLines});
            crowded.image = new ImageData(width, kLines);
            crowded.pixels = new Uint32Array(crowded.image.data.buffer);
        }
        if (crowded.rows.length === kLines) drawCrowds(this.context);
        this.at = crowded.rows.push(this) - 1;
    }
    add(pixel, colour, share) {
        if (pixel >= view.width) return;
        if (this.at < 0) this.begin();
        crowded.pixels[this.at * crowded.image.width + pixel] = colourBytes(colour) | Math.round(255 * fullness(share)) << 24;
    }
}

function boxText(context, text, x0, x1, y, height, colour) {
    const pad = 4, room = x1 - x0 - 2 * pad;
    if (room < 18 || height < 11) return;
    context.fillStyle = colour;
    let shown = text;
    const width = context.measureText(text).width;
    if (width > room) shown = text.slice(0, Math.max(0, Math.floor(text.length * room / width) - 1)) + '…';
    if (shown.length > 1) context.fillText(shown, x0 + pad, y + height / 2 + 0.5);
}

function drawCpu(context, lane, y) {
    const s = data.switches, height = rowHeight(lane);
    const crowd = new Crowd(context, y, height);
    const colourOf = i => data.tasks[s.task[lane.rows[0].ref[i]]].colour;
    visit(lane.rows[0], (i, x0, x1) => {
        const ref = lane.rows[0].ref[i], task = data.tasks[s.task[ref]], {colour} = task;
        if (s.merged[ref]) context.globalAlpha = 0.25 + 0.75 * s.busy[ref] / (s.end[ref] - s.time[ref]);
        context.fillStyle = colour;
        context.fillRect(x0, y, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 0.5 : 0)), height);
        context.globalAlpha = 1;
        boxText(context, s.merged[ref] ? `${s.merged[ref]} switches` : `${task.comm} ${task.tid}`, x0, x1, y, height,
                textColour(colour));
    }, (i, pixel, share) => crowd.add(pixel, colourOf(i), share));
}

function drawStates(context, lane, y, height) {
    const row = lane.rows[0], colour = colourOfPid(lane.task.pid);
    const styles = [[colour, y, height], [look.waits, y + 2, height - 4], [look.blocked, y + height / 2 - 1.5, 3]];
    const crowds = styles.map(([, top, tall]) => new Crowd(context, top, tall));
    visit(row, (i, x0, x1) => {
        const [fill, top, tall] = styles[row.ref[i]];
        context.fillStyle = fill;
        context.fillRect(x0, top, Math.max(1, x1 - x0), tall);
    }, (i, pixel, share) => crowds[row.ref[i]].add(pixel, styles[row.ref[i]][0], share));
}

// Waits for other jobs are marked in the time in the queue.
function drawJobs(context, lane, y) {
    const height = rowHeight(lane), s = data.slices;
    lane.rows.forEach((row, at) => {
        const top = y + at * height, tall = Math.max(2, height - 2);
        const crowd = new Crowd(context, top, tall);
        visit(row, (i, x0, x1) => {
            const job = model.jobs[row.ref[i]], colour = colourOfPid(job.pid);
            const ran = Math.min(Math.max(xOf(job.ran), x0), x1);
            context.fillStyle = colour;
            context.globalAlpha = 0.35;
            context.fillRect(x0, top, ran - x0, tall);
            context.globalAlpha = 1;
            for (const wait of job.waits) {
                const from = Math.max(xOf(s.start[wait]), x0), to = Math.min(xOf(s.end[wait]), ran);
                if (to - from >= 1) context.fillRect(from, top + tall - Math.max(2, tall / 5), to - from, Math.max(2, tall / 5));
            }
            if (job.run >= 0) context.fillRect(ran, top, Math.max(1, x1 - ran - (x1 - ran > 3 ? 1 : 0)), tall);
            if (x1 - ran >= 40) boxText(context, `${job.name} ${job.seqno || ''}`, ran, x1, top, tall, textColour(colour));
            else if (ran - x0 >= 40) boxText(context, `${job.name} ${job.seqno || ''}`, x0, ran, top, tall, look.text);
        }, (i, pixel, share) => crowd.add(pixel, colourOfPid(model.jobs[row.ref[i]].pid), share));
    });
}

function sliceColour(ref) {
    const track = data.tracks.get(data.slices.track[ref]);
    const state = {D: look.blocked, R: look.waits, S: '#56b4e9'}[data.names[data.slices.category[ref]]];
    if (state) return state;
    if (track.kind === kKernel.task) return look.mark;
    const pid = track.tid || 0;
    return pid ? colourOfTid(pid) : kColours[data.slices.name[ref] % 2 ? 4 : 0];
}

function drawSlices(context, lane, y, first) {
    const height = rowHeight(lane);
    lane.rows.slice(first).forEach((row, at) => {
        const top = y + at * height, tall = Math.max(2, height - 2);
        const crowd = new Crowd(context, top, tall);
        visit(row, (i, x0, x1) => {
            const ref = row.ref[i], colour = sliceColour(ref);
            context.fillStyle = colour;
            context.fillRect(x0, top, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), tall);
            boxText(context, data.names[data.slices.name[ref]], x0, x1, top, tall, textColour(colour));
        }, (i, pixel, share) => crowd.add(pixel, sliceColour(row.ref[i]), share));
    });
}

function drawTicks(context, ticks, y, height, colour) {
    const perPixel = nsPerPixel();
    context.fillStyle = colour;
    const {time} = ticks, wide = perPixel < 20000 ? 2 : 1;
    let from = 0, to = -1;  // pixels beside each other
    const kCrowded = 8;  // of so many no one is to be seen: they are no bar
    const fill = () => {
        context.globalAlpha = to - from > kCrowded ? 0.35 : 1;
        if (to >= from) context.fillRect(from, y, to - from, height);
        context.globalAlpha = 1;
    };
    for (let i = firstFrom(time, view.from); i < time.length && time[i] < view.to;) {
        const x = Math.floor(xOf(time[i])), edge = timeAt(x + 1);
        if (x > to) {
            fill();
            from = x;
        }
        to = x + wide;
        for (i++; i < time.length && time[i] < edge;) {
            if (i + 64 < time.length && time[i + 64] < edge) i += 64;
            else i++;
        }
    }
    fill();
}

function drawCounts(context, lane, y) {
    const {time, value} = lane.counts, height = rowHeights.count;
    const most = lane.most ??= value.reduce((a, b) => Math.max(a, b), 1);
    context.fillStyle = look.accent;
    context.globalAlpha = 0.6;
    for (let i = Math.max(0, firstAbove(time, view.from) - 1); i < time.length && time[i] < view.to;) {
        const x = Math.max(Math.floor(xOf(time[i])), view.label);
        let next = Math.max(i + 1, firstFrom(time, timeAt(x + 1), i + 1));
        let top = value[i];
        for (let k = i; k < Math.min(next, i + 32); k++) top = Math.max(top, value[k]);
        const x1 = next < time.length ? Math.max(x + 1, Math.floor(xOf(time[next]))) : view.width;
        const tall = Math.max(0, top / most * height);
        context.fillRect(x, y + height - tall, Math.min(x1, view.width) - x, tall);
        i = next;
    }
    context.globalAlpha = 1;
    context.fillStyle = look.pale;
    context.fillText(`${numberText(most)} ${lane.unit}`, view.label + 4, y + 8);
}

// How busy the lanes of a closed group are, as an area.
function drawClosed(context, group, y, height) {
    const rows = group.lanes.filter(lane => !lane.isHidden && lane.rows.length).map(lane => lane.rows[0]);
    const kMost = 64;  // of more it would take too long
    if (!rows.length || rows.length > kMost) return;
    const busy = new Float32Array(Math.ceil(view.width) + 1);
    for (const row of rows)
        visit(row, (i, x0, x1) => {
            for (let x = Math.floor(x0); x < x1; x++) busy[x] += Math.min(x + 1, x1) - Math.max(x, x0);
        }, (i, pixel, share) => { busy[pixel] += share; });
    context.fillStyle = look.accent;
    for (let x = Math.floor(view.label); x < view.width; x++) {
        const tall = Math.min(1, busy[x] / rows.length) * height;
        if (tall > 0) context.fillRect(x, y + height - Math.max(1, tall), 1, Math.max(1, tall));
    }
}

// The more a part was busy, the fuller its colour.
function drawOverview(context, lane, y, height) {
    const row = lane.rows[0], colourOf = i => colourOfPid(lane.pids[row.ref[i]]);
    const crowd = new Crowd(context, y, height);
    visit(row, (i, x0, x1) => {
        context.globalAlpha = fullness(lane.shares[row.ref[i]]);
        context.fillStyle = colourOf(i);
        context.fillRect(x0, y, x1 - x0, height);
    }, (i, pixel, share) => crowd.add(pixel, colourOf(i), share));
    context.globalAlpha = 1;
}

function drawLane(context, lane, y) {
    let below = y + 3;
    if (lane.shares) return drawOverview(context, lane, below, lane.kind === 'task' ? 14 : rowHeight(lane));
    if (lane.kind === 'cpu') {
        drawCpu(context, lane, below);
        below += rowHeight(lane);
    } else if (lane.kind === 'task') {
        drawStates(context, lane, below, 14);
        drawSlices(context, lane, below + 15, 1);
        below += 14 + (lane.rows.length - 1) * rowHeight(lane);
    } else if (lane.kind === 'ring') {
        drawJobs(context, lane, below);
    } else if (lane.kind === 'count') {
        drawCounts(context, lane, below);
    } else {
        drawSlices(context, lane, below, 0);
        below += lane.rows.some(row => row.start.length) ? lane.rows.length * rowHeight(lane) : 0;
    }
    if (!lane.ticks) return;
    const isAlone = !lane.rows.some(row => row.start.length);
    const colour = lane.kind === 'lines' ? look.mark : lane.task ? look.text : look.pale;
    if (isAlone) drawTicks(context, lane.ticks, y + 4, laneHeight(lane) - 8, lane.isDisplay ? look.frame : colour);
    else drawTicks(context, lane.ticks, below, 6, colour);
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
        if (x + 4 + context.measureText(text).width < view.width) context.fillText(text, x + 4, kRuler / 2);
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

function drawThroughLines(context) {
    context.strokeStyle = look.line;
    context.lineWidth = 1;
    context.beginPath();
    eachMark((time, x) => {
        context.moveTo(x, 0);
        context.lineTo(x, view.height);
    });
    context.stroke();
    const perPixel = nsPerPixel();
    context.strokeStyle = look.frame;
    context.globalAlpha = 0.7;
    context.beginPath();
    for (const lane of model.lanes) {
        if (!lane.isDisplay || !lane.ticks || lane.isHidden) continue;
        const {time} = lane.ticks;
        let i = firstFrom(time, view.from);
        // Where they are so close that nothing else would be seen, their own lane has them.
        if ((firstFrom(time, view.to) - i) * 6 > view.width) continue;
        for (; i < time.length && time[i] < view.to; i++) {
            const x = Math.round(xOf(time[i])) + 0.5;
            context.moveTo(x, 0);
            context.lineTo(x, view.height);
        }
    }
    context.stroke();
    context.globalAlpha = 1;
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

function draw() {
    const context = canvas.getContext('2d', {alpha: false});
    const scrolled = scroller.scrollTop;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.fillStyle = look.ground;
    context.fillRect(0, 0, view.width, view.height);
    context.font = `11px ${look.font}`;
    context.textBaseline = 'middle';
    context.save();
    context.beginPath();
    context.rect(view.label, 0, view.width - view.label, view.height);
    context.clip();
    for (const entry of view.tops) {
        const y = entry.y - scrolled;
        if (y + entry.height < 0 || y > view.height) continue;
        context.fillStyle = look.band;
        if (entry.header || entry.lane === view.lane) context.fillRect(view.label, y, view.width, entry.height);
    }
    drawThroughLines(context);
    for (const entry of view.tops) {
        const y = entry.y - scrolled;
        if (y + entry.height < 0 || y > view.height) continue;
        if (entry.lane) drawLane(context, entry.lane, y);
        else if (entry.group?.isClosed) drawClosed(context, entry.group, y + 3, entry.height - 6);
    }
    drawCrowds(context);
    drawRange(context);
    drawArrows(context, scrolled);
    drawSelected(context, scrolled);
    context.restore();
    drawRuler();
}
