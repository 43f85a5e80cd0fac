// Asks Chromium what it shows of pages and pictures: see run.sh.
'use strict';
const fs = require('fs');
const assert = require('assert');
const {chromium} = require('playwright-core');

const folder = process.argv[2];
const sizes = [{width: 1280, height: 720}, {width: 390, height: 844}, {width: 1920, height: 1080}];
const tests = [];
const test = (name, run) => tests.push({name, run});
let browser;

// A page that has said nothing wrong when `use` is over. `before` is done in it before its own scripts;
// `isReady` says when `use` may begin.
async function withPage(file, use, {size = sizes[0], before = () => {}, isReady = () => window.gpufs?.data.isWhole, ...more} = {}) {
    const page = await browser.newPage({viewport: size, ...more});
    await page.addInitScript(before);
    const complaints = [];
    page.on('console', message => {
        // That the tests look at pixels is no fault of the page.
        const isOurs = message.text().includes('getImageData');
        if (['error', 'warning'].includes(message.type()) && !isOurs) complaints.push(message.text());
    });
    page.on('pageerror', error => complaints.push(error.message));
    page.on('request', request => {
        if (!/^(file|blob):/.test(request.url())) complaints.push(`asks for ${request.url()}`);
    });
    await page.goto(`file://${folder}/${file}`);
    if (file.includes('.html')) await page.waitForFunction(isReady);
    await use(page);
    assert.deepStrictEqual(complaints, []);
    await page.close();
}

// The steps of jobs, as the monitor tells them: by context and number, in ns.
function jobsTold() {
    const jobs = new Map();
    for (const line of fs.readFileSync(`${folder}/watch.json`, 'utf8').split('\n')) {
        const values = line.includes('"values"') ? JSON.parse(line).values : null;
        if (!values || !values.job) continue;
        const key = `${values.context}/${values.job}`;
        const seconds = /"when":"?([\d.]+)/.exec(line)[1];
        const [whole, part = ''] = seconds.split('.');
        const job = jobs.get(key) || {};
        job[values.what] = BigInt(whole) * 1000000000n + BigInt(part.padEnd(9, '0').slice(0, 9));
        jobs.set(key, job);
    }
    return jobs;
}

test('jobs stand where the monitor says', () => withPage('watch.html', async page => {
    const shown = await page.evaluate(() => gpufs.model.jobs.map(job => ({
        key: `${job.context}/${job.seqno}`, queued: Math.round(job.start), ran: job.run < 0 ? -1 : Math.round(job.ran),
        done: job.isOpen ? -1 : Math.round(job.end), begin: String(gpufs.data.begin)})));
    const told = jobsTold();
    assert(told.size > 10);
    assert.strictEqual(shown.length, told.size);
    for (const job of shown) {
        const steps = told.get(job.key);
        // Lines have microseconds.
        const same = (time, step, what) => assert.strictEqual(
            time < 0 ? undefined : (BigInt(job.begin) + BigInt(time)) / 1000n, step === undefined ? step : step / 1000n,
            `${what} of ${job.key}`);
        same(job.queued, steps.QUEUE, 'queued');
        same(job.ran, steps.RUN, 'ran');
        same(job.done, steps.DONE, 'done');
    }
}));

for (const size of sizes)
    test(`a job is drawn in its colour at ${size.width}x${size.height}`, () => withPage('watch.html', async page => {
        const pixels = await page.evaluate(() => {
            const job = gpufs.model.jobs.find(one => one.run >= 0 && one.end - one.ran > 1e6);
            gpufs.select(gpufs.jobItem(job), {shows: true, tab: false});
            gpufs.show(job.start - 1e6, job.end + 1e6);
            gpufs.select(null);
            gpufs.draw();
            const box = gpufs.boxOf(gpufs.jobItem(job));
            const canvas = document.getElementById('lanes'), context = canvas.getContext('2d');
            const y = box.y + box.height - 3 - document.getElementById('scroll').scrollTop;
            const at = time => [...context.getImageData(gpufs.xOf(time) * gpufs.view.ratio, y * gpufs.view.ratio, 1, 1).data];
            return {runs: at(job.end - (job.end - job.ran) / 10), queue: at((job.start + job.ran) / 2),
                    colour: gpufs.model.processes.get(job.pid).colour, wide: gpufs.xOf(job.ran) - gpufs.xOf(job.start)};
        });
        const hex = '#' + pixels.runs.slice(0, 3).map(part => part.toString(16).padStart(2, '0')).join('');
        assert.strictEqual(hex, pixels.colour);
        if (pixels.wide > 4) assert.notDeepStrictEqual(pixels.queue, pixels.runs);
    }, {size}));

test('nothing is wider than the window, at any size', async () => {
    for (const size of sizes)
        await withPage('watch.html', async page => {
            const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth,
                ...[...document.querySelectorAll('header, #timeline, #panel')].map(one => one.getBoundingClientRect().right)]);
            assert(Math.max(...wide) <= size.width, String(wide));
        }, {size});
});

// Who ran on each CPU from when to when, in ns, as the text of a recording has it.
function runsTold(file) {
    const cpus = new Map();
    for (const line of fs.readFileSync(`${folder}/${file}`, 'utf8').split('\n')) {
        const found = /\[(\d+)\] \S+ +(\d+)\.(\d{6}): sched_switch:.* ==> next_comm=.* next_pid=(\d+)/.exec(line);
        if (!found) continue;
        const [, cpu, seconds, rest, tid] = found, time = BigInt(seconds) * 1000000000n + BigInt(rest) * 1000n;
        if (!cpus.has(Number(cpu))) cpus.set(Number(cpu), []);
        cpus.get(Number(cpu)).push({tid: Number(tid), time});
    }
    return cpus;
}

// The share of each task in each of equally long times, from and with `from` on.
function sharesTold(runs, from, width, count) {
    const shares = Array.from({length: count}, () => new Map());
    runs.forEach(({tid, time}, i) => {
        if (tid === 0 || i + 1 === runs.length) return;
        let begin = Math.max(Number(time), from);
        const end = Math.min(Number(runs[i + 1].time), from + width * count);
        for (let at = Math.floor((begin - from) / width); begin < end && at < count; at++) {
            const edge = Math.min(end, from + (at + 1) * width);
            shares[at].set(tid, (shares[at].get(tid) || 0) + (edge - begin) / width);
            begin = edge;
        }
    });
    return shares;
}

// Goes to a time of a recording in segments, until what is in sight is there.
async function windowAt(page, from, to) {
    await page.evaluate(([from, to]) => gpufs.show(from, to), [from, to]);
    await page.waitForFunction(([from, to]) => gpufs.data.window?.from <= from && gpufs.data.window.to >= to && gpufs.data.window.hasBefore, [from, to]);
}

// What the pixels of a CPU's lane show: by column, the share of each colour.
const columnsShown = (page, cpu, from, to) => page.evaluate(([cpu, from, to]) => {
    gpufs.show(from, to);
    gpufs.draw();
    const lane = gpufs.model.lanes.find(one => one.kind === 'cpu' && one.cpu === cpu);
    const box = gpufs.boxOf({lane, at: 0, index: 0}), {label, ratio, width} = gpufs.view;
    const canvas = document.getElementById('lanes'), left = Math.round(label * ratio);
    const top = Math.round((box.y - document.getElementById('scroll').scrollTop) * ratio), tall = Math.round(box.height * ratio);
    const image = canvas.getContext('2d').getImageData(left, top, canvas.width - left, tall);
    const colours = Object.fromEntries([...gpufs.model.tasks.values()].map(task => [task.tid, gpufs.model.processes.get(task.pid).colour]));
    const columns = [];
    for (let x = 0; x < image.width; x++) {
        const column = {};
        for (let y = 0; y < tall; y++) {
            const at = 4 * (y * image.width + x);
            const colour = '#' + [0, 1, 2].map(k => image.data[at + k].toString(16).padStart(2, '0')).join('');
            column[colour] = (column[colour] || 0) + 1 / tall;
        }
        columns.push(column);
    }
    return {columns, colours, begin: String(gpufs.data.begin), perPixel: (gpufs.view.to - gpufs.view.from) / ((width - label) * ratio), tall};
}, [cpu, from, to]);

for (const [file, what, share] of [['busy', 'all', 1], ['busy', 'a fifth', 0.2], ['busy', 'a hundredth', 0.01], ['long', 'all', 1], ['long', 'a hundredth', 0.01]])
    test(`the columns of a CPU have the shares of who ran, of ${what} of the time of ${file}`, () => withPage(`${file}.html`, async page => {
        const told = runsTold(`${file}.txt`), span = await page.evaluate(() => gpufs.data.span);
        for (const cpu of [0, 3]) {
            const from = (span - span * share) / 2;
            if (file === 'long' && share < 1) await windowAt(page, from, from + span * share);
            const {columns, colours, begin, perPixel, tall} = await columnsShown(page, cpu, from, from + span * share);
            assert(columns.length > 900);
            const shares = sharesTold(told.get(cpu).map(({tid, time}) => ({tid, time: Number(time - BigInt(begin))})), from, perPixel, columns.length);
            // Borders of columns may be off by half a pixel, and shares by one: of some columns together both are little.
            const kTogether = 40;
            let most = 0;
            for (let at = 0; at + kTogether <= columns.length; at += kTogether) {
                const shown = new Map(), expected = new Map(), add = (map, key, value) => map.set(key, (map.get(key) || 0) + value / kTogether);
                for (let x = at; x < at + kTogether; x++) {
                    for (const [tid, value] of shares[x]) add(expected, colours[tid], value);
                    for (const [colour, value] of Object.entries(columns[x])) add(shown, colour, value);
                }
                most = Math.max(most, expected.size);
                for (const [colour, value] of expected)
                    assert(Math.abs((shown.get(colour) || 0) - value) < 1 / tall, `CPU ${cpu}, column ${at}, ${colour}: ${shown.get(colour)}, not ${value}`);
            }
            assert(most > 3);
        }
    }));

test('what is in sight of a long recording is read before all others', async () => {
    const span = 16e9;
    await withPage(`long.html#t=${span / 2},${span / 2 + 1e7}`, async page => {
        const {times, window} = await page.evaluate(() => ({times: gpufs.times, window: [gpufs.data.window.from, gpufs.data.window.to]}));
        assert(window[0] <= span / 2 && window[1] >= span / 2 + 1e7);
        assert(times.shown < times.first && times.first < times.details, JSON.stringify(times));
    }, {isReady: () => window.gpufs?.data.isWhole && gpufs.data.window?.hasBefore});
});

test('a window has what tasks did, from what was before it on', () => withPage('long.html', async page => {
    const span = await page.evaluate(() => gpufs.data.span);
    await windowAt(page, span * 0.6, span * 0.6 + 1e7);
    const {cpus, tasks, count} = await page.evaluate(() => {
        const {from, to} = gpufs.data.window, kRuns = 0;
        const ran = (rows, isIt) => rows.reduce((sum, {start, end, ref}) => start.reduce(
            (sum, begin, i) => isIt(ref[i]) ? sum + Math.max(0, Math.min(end[i], to) - Math.max(begin, from)) : sum, sum), 0);
        const of = kind => gpufs.model.lanes.filter(lane => lane.kind === kind).map(lane => lane.rows[0]);
        return {cpus: ran(of('cpu'), () => true), tasks: ran(of('task'), what => what === kRuns), count: gpufs.data.switches.count};
    });
    assert(count < 400000);
    assert(cpus > 1e9);
    assert(Math.abs(cpus - tasks) < 10, `CPUs ran ${cpus} ns, tasks ${tasks}`);
}));

test('a search goes through all segments, and selects in another', () => withPage('long.html', async page => {
    const told = [...runsTold('long.txt').values()].flatMap(runs => runs.filter(({tid}, i) => tid === 333 && i + 1 < runs.length)).length;
    await page.evaluate(() => gpufs.find('task333', 1));
    await page.waitForFunction(() => gpufs.view.selected);
    const found = () => page.textContent('#found');
    // The last switch of a CPU may be a run, too, and ends with the recording.
    const [, all] = /^1 of ([\d,]+)$/.exec(await found());
    assert(Math.abs(Number(all.replace(',', '')) - told) <= 1, `${all} ${told}`);
    await page.focus('#lanes');
    await page.keyboard.press('N');
    await page.waitForFunction(from => gpufs.view.from > from, await page.evaluate(() => gpufs.data.span / 2));
    await page.waitForFunction(() => gpufs.view.selected && /^task333 333/.test(document.querySelector('#page-selection h2')?.textContent));
    assert.strictEqual(await found(), `${all} of ${all}`);
}));

test('a search that is asked for again before its answer waits for it', () => withPage('long.html', async page => {
    const told = await page.evaluate(() => {
        gpufs.find('task333', 1);
        gpufs.find('task333', 1);
        return document.querySelector('#found').textContent;
    });
    assert.strictEqual(told, 'Reading…');
    await page.waitForFunction(() => gpufs.view.selected);
    assert.match(await page.textContent('#found'), /^1 of [\d,]+$/);
    await page.evaluate(() => gpufs.find('task333', 1));
    assert.match(await page.textContent('#found'), /^2 of [\d,]+$/);
}));

test('what is measured over segments is what was recorded', () => withPage('long.html', async page => {
    const {from, to, begin} = await page.evaluate(() => {
        const {span} = gpufs.data;
        gpufs.view.range = {from: Math.round(span * 0.1), to: Math.round(span * 0.83)};
        gpufs.select(null);
        return {...gpufs.view.range, begin: String(gpufs.data.begin)};
    });
    let told = 0;
    for (const runs of runsTold('long.txt').values())
        runs.forEach(({tid, time}, i) => {
            if (tid === 333 && i + 1 < runs.length)
                told += Math.max(0, Math.min(to, Number(runs[i + 1].time - BigInt(begin))) - Math.max(from, Number(time - BigInt(begin))));
        });
    await page.waitForSelector('#page-selection .table', {state: 'attached'});
    const row = await page.$$eval('#page-selection tbody tr', rows => [...rows].map(one => [...one.cells].map(cell => cell.textContent)).find(cells => cells[1] === '333'));
    const shown = Number(row[2].split(' ')[0]) * {s: 1e9, ms: 1e6, us: 1e3}[row[2].split(' ')[1]];
    assert(told > 1e6 && Math.abs(shown - told) < told / 50, `${row} ${told}`);
}));

// Its details never come.
const onlyOverview = {before: () => { window.Worker = class { postMessage() {} }; }, isReady: () => window.gpufs};
// By lane, the first 16: its process or CPU, and how long it was busy.
const lanesOf = page => page.evaluate(() => Object.fromEntries(gpufs.model.lanes.filter(lane => lane.group.name !== 'Other tasks').map(lane => {
    const {start, end, share} = lane.rows[0];
    const busy = start.reduce((sum, from, i) => sum + (end[i] - from) * (share ? share[i] : 1), 0);
    return [lane.key, lane.task && gpufs.data.hasDetails ? lane.task.busy : busy];
})));
const coloursOf = page => page.evaluate(() => [...gpufs.model.processes.values()]
    .filter(one => one.colour !== '#8a8a8a').map(one => [one.pid, one.colour]).sort((a, b) => a[0] - b[0]));

test('the overview has the lanes, times and colours that the details have', async () => {
    let before, colours;
    await withPage('busy.html', async page => {
        before = await lanesOf(page);
        colours = await coloursOf(page);
    }, onlyOverview);
    await withPage('busy.html', async page => {
        const lanes = await lanesOf(page), span = await page.evaluate(() => gpufs.data.span);
        // Of the time before a CPU's first switch only the details know something.
        for (const [key, busy] of Object.entries(lanes))
            if (!key.startsWith('GPU')) assert(Math.abs(busy - before[key]) < span / 100, `${key} ${busy} ${before[key]}`);
        const rings = await page.evaluate(() => gpufs.model.rings.map(ring => [ring.lane.key, ring.busy]));
        assert.strictEqual(rings.length, 2);
        for (const [key, busy] of rings) assert(Math.abs(busy - before[key]) < span / 100, `${key} ${busy} ${before[key]}`);
        assert.deepStrictEqual(Object.keys(lanes), Object.keys(before));
        assert.deepStrictEqual(await coloursOf(page), colours);
    });
});

test('what is to be seen moves while the details are read', () => withPage('busy.html', async page => {
    const wide = () => page.evaluate(() => gpufs.view.to - gpufs.view.from);
    const before = await wide();
    await page.mouse.move(700, 100);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction(wide => gpufs.view.to - gpufs.view.from < wide, before);
    for (const keys of ['ArrowDown', 'ArrowRight', 'p', 'm', 'f', '0', 'n']) await page.keyboard.press(keys);
    await page.mouse.click(700, 100);
    assert.strictEqual(await page.evaluate(() => gpufs.view.selected), null);
    for (const tab of ['processes', 'rings', 'jobs']) {
        await page.click(`#tab-${tab}`);
        assert.strictEqual(await page.innerText(`#page-${tab}`), 'Still being read…');
    }
    const colours = await page.evaluate(() => {
        gpufs.show(0, gpufs.data.span);
        gpufs.draw();
        const {data: bytes} = document.getElementById('lanes').getContext('2d').getImageData(gpufs.view.label, 0, 900, 300);
        return new Set(new Uint32Array(bytes.buffer)).size;
    });
    assert(colours > 10, `${colours} colours`);
}, onlyOverview));

test('a page reads the same with a worker and without one', async () => {
    const read = page => page.evaluate(() => ({
        jobs: gpufs.model.jobs.map(({ringOf, ...job}) => [ringOf.name, JSON.stringify(job)]),
        lanes: gpufs.model.lanes.map(lane => [lane.key, ...lane.rows.map(({start, shade, levels, whole}) =>
            [start.length, shade.reduce((sum, one, i) => sum + one * (i % 1000), 0), ...(whole?.levels || levels || []).map(level => level.ns.reduce((sum, ns) => sum + ns, 0))])]),
        tables: [...document.querySelectorAll('#tabs button:not([hidden])')].map(one => one.textContent),
        last: gpufs.data.switches?.count && gpufs.data.switches.prio[gpufs.data.switches.count - 1],
    }));
    for (const file of ['busy.html', 'watch.html', 'why.html', 'long.html']) {
        let inWorker;
        await withPage(file, async page => { inWorker = await read(page); });
        await withPage(file, async page => assert.deepStrictEqual(await read(page), inWorker), {before: () => { delete window.Worker; }});
    }
});

test('what was pinned, hidden and closed before the details came stays so', () => withPage('busy.html', async page => {
    const state = () => page.evaluate(() => [gpufs.model.lanes.filter(lane => lane.isPinned).map(lane => lane.key),
        gpufs.model.lanes.filter(lane => lane.isHidden).map(lane => lane.key), gpufs.model.groups.filter(group => group.isClosed).map(group => group.name)]);
    await page.evaluate(() => document.querySelectorAll('#labels .name')[1].click());
    await page.keyboard.press('p');
    await page.evaluate(() => document.querySelectorAll('#labels .name')[3].click());
    await page.keyboard.press('h');
    await page.evaluate(() => document.querySelectorAll('#labels .group')[2].click());
    const [pinned, hidden, closed] = await state();
    await page.evaluate(() => letWork());
    await page.waitForFunction(() => gpufs.data.isWhole);
    assert.deepStrictEqual(await state(), [pinned, hidden, [...closed, 'Other tasks']]);
    assert.deepStrictEqual([pinned.length, hidden.length, closed.length], [1, 1, 1]);
}, {
    isReady: () => window.gpufs,
    // The worker gets its messages when letWork() is called.
    before: () => {
        const Real = window.Worker, waiting = [];
        window.Worker = class extends Real {
            postMessage(message) { waiting.push(() => super.postMessage(message)); }
        };
        window.letWork = () => waiting.forEach(send => send());
    },
}));

test('the wheel and W and S zoom at the pointer', () => withPage('watch.html', async page => {
    const at = () => page.evaluate(() => ({from: gpufs.view.from, to: gpufs.view.to, label: gpufs.view.label, width: gpufs.view.width}));
    const timeAt = (view, x) => view.from + (x - view.label) / (view.width - view.label) * (view.to - view.from);
    await page.mouse.move(800, 200);
    const before = await at();
    await page.mouse.wheel(0, -300);
    await page.waitForFunction(from => gpufs.view.from !== from, before.from);
    const after = await at();
    assert(after.to - after.from < before.to - before.from);
    assert(Math.abs(timeAt(before, 800) - timeAt(after, 800)) < (after.to - after.from) / 500);
    await page.keyboard.press('w');
    const closer = await at();
    assert(Math.abs(timeAt(closer, 800) - timeAt(after, 800)) < (after.to - after.from) / 500);
    await page.keyboard.press('d');
    assert((await at()).from > closer.from);
    await page.keyboard.press('a');
    await page.keyboard.press('s');
    await page.keyboard.press('0');
    assert.deepStrictEqual(await at(), before);
}));

test('a drag goes along, with Shift it measures', () => withPage('watch.html', async page => {
    await page.keyboard.press('w');
    const from = await page.evaluate(() => gpufs.view.from);
    await page.mouse.move(700, 150);
    await page.mouse.down();
    await page.mouse.move(600, 150, {steps: 4});
    await page.mouse.up();
    assert(await page.evaluate(() => gpufs.view.from) > from);
    await page.keyboard.down('Shift');
    await page.mouse.move(400, 150);
    await page.mouse.down();
    await page.mouse.move(900, 150, {steps: 4});
    await page.mouse.up();
    await page.keyboard.up('Shift');
    const {range, text} = await page.evaluate(() => ({
        range: [gpufs.view.range.from, gpufs.view.range.to].map(gpufs.xOf), text: document.getElementById('page-selection').innerText}));
    assert(Math.abs(range[0] - 400) < 1.5 && Math.abs(range[1] - 900) < 1.5, String(range));
    assert.match(text, /^[\d.]+ ms from \d+\.\d{9} to \d+\.\d{9}/);
}));

test('a click selects a job, and arrows go on from it', () => withPage('watch.html', async page => {
    const [x, y] = await page.evaluate(() => {
        const job = gpufs.model.jobs.find(one => one.waits.length);
        gpufs.select(gpufs.jobItem(job), {shows: true});
        gpufs.show(job.start - 1e6, job.end + 1e6);
        gpufs.select(null);
        const box = gpufs.boxOf(gpufs.jobItem(job)), canvas = document.getElementById('lanes').getBoundingClientRect();
        return [canvas.left + gpufs.xOf((box.from + box.to) / 2), canvas.top + box.y + 5 - document.getElementById('scroll').scrollTop];
    });
    await page.mouse.click(x, y);
    const title = () => page.textContent('#page-selection h2');
    assert.match(await title(), /^Job of gpufs-gpu-work on /);
    assert.match(await page.innerText('#page-selection .facts'), /waits for gfx|waits for compute/);
    const first = await page.evaluate(() => gpufs.view.selected.ref);
    await page.keyboard.press('ArrowRight');
    assert.notStrictEqual(await page.evaluate(() => gpufs.view.selected.ref), first);
    await page.keyboard.press('ArrowLeft');
    assert.strictEqual(await page.evaluate(() => gpufs.view.selected.ref), first);
    await page.click('text=What it waited for');
    assert.notStrictEqual(await page.evaluate(() => gpufs.view.selected.ref), first);
    await page.keyboard.press('Escape');
    assert.strictEqual(await page.evaluate(() => gpufs.view.selected), null);
}));

test('a search finds, and n and N go from match to match', () => withPage('why.html', async page => {
    await page.keyboard.press('/');
    await page.keyboard.type('rcu_preempt');
    await page.keyboard.press('Enter');
    const found = () => page.textContent('#found');
    const [, first, all] = /^([\d,]+) of ([\d,]+)$/.exec(await found());
    assert.strictEqual(first, '1');
    const told = await page.evaluate(() => gpufs.data.switches.task.reduce(
        (sum, task, i) => sum + (gpufs.data.tasks[task].comm === 'rcu_preempt' && gpufs.data.switches.end[i] > gpufs.data.switches.time[i]), 0));
    assert.strictEqual(all, String(told));
    await page.focus('#lanes');
    await page.keyboard.press('n');
    assert.strictEqual(await found(), `2 of ${all}`);
    await page.keyboard.press('N');
    assert.strictEqual(await found(), `1 of ${all}`);
    await page.fill('#words', 'no such thing');
    await page.press('#words', 'Enter');
    assert.strictEqual(await found(), 'none');
}));

test('lanes are hidden, shown again, moved and pinned', () => withPage('why.html', async page => {
    const names = () => page.$$eval('#labels .name', all => all.map(one => one.textContent));
    const before = await names();
    await page.evaluate(() => document.querySelectorAll('#labels .name')[3].click());
    await page.focus('#lanes');
    await page.keyboard.press('h');
    assert.deepStrictEqual(await names(), before.filter((name, i) => i !== 3));
    await page.click('#hidden');
    assert.deepStrictEqual(await names(), before);
    await page.evaluate(() => document.querySelectorAll('#labels .name')[3].click());
    await page.focus('#lanes');
    await page.keyboard.press(']');
    const moved = await names();
    assert.deepStrictEqual([moved[3], moved[4]], [before[4], before[3]]);
    await page.keyboard.press('p');
    assert.strictEqual((await names())[0], before[3]);
}));

test('tables select', () => withPage('watch.html', async page => {
    await page.click('#tab-jobs');
    assert.strictEqual(await page.$$eval('#page-jobs tbody tr', rows => rows.length), await page.evaluate(() => gpufs.model.jobs.length));
    await page.focus('#page-jobs tbody tr');
    await page.keyboard.press('Enter');
    assert.strictEqual(await page.evaluate(() => gpufs.view.selected.kind), 'job');
    await page.click('#tab-rings');
    assert.deepStrictEqual((await page.$$eval('#page-rings tbody tr', rows => rows.map(row => row.cells[1].textContent))).sort(),
                           ['compute', 'gfx', 'sdma']);
    await page.click('#tab-processes');
    assert.match(await page.innerText('#page-processes'), /gpufs-gpu-work/);
    await page.click('#tab-lines');
    assert(await page.$$eval('#page-lines tbody tr', rows => rows.length) > 30);
    await page.click('#page-lines tbody tr');
    assert.strictEqual(await page.evaluate(() => gpufs.view.selected.kind), 'line');
    await page.click('#tab-reports');
    assert.match(await page.innerText('#page-reports'), /By ring\s+DEV +RING +STEP/);
}));

test('what tasks did is what was recorded', () => withPage('why.html', async page => {
    // On one CPU one task runs at a time: all of them and the time without one are all there is.
    const {busy, idle, span, cpus, tasks, firsts} = await page.evaluate(() => {
        const s = gpufs.data.switches;
        let known = 0, idleTime = 0, firsts = 0;
        const first = new Set();
        for (let i = 0; i < s.count; i++) {
            if (!first.has(s.cpu[i])) firsts += s.time[i];
            first.add(s.cpu[i]);
            if (gpufs.data.tasks[s.task[i]].tid === 0) idleTime += s.end[i] - s.time[i];
            else known += s.end[i] - s.time[i];
        }
        const tasks = [...gpufs.model.tasks.values()].reduce((sum, task) => sum + task.busy, 0);
        return {busy: known, idle: idleTime + firsts, span: gpufs.data.span, cpus: first.size, tasks, firsts};
    });
    assert(tasks > busy - 10 && tasks < busy + firsts + 10, `tasks ran ${tasks} ns, CPUs ${busy}`);
    assert(Math.abs(busy + idle - span * cpus) < 10);
}));

test('contexts of fences are exact', () => withPage('strange.html', async page => {
    assert.deepStrictEqual(await page.evaluate(() => gpufs.model.jobs.map(job => job.context)), ['0x20000000000000', '0x20000000000001']);
}));

test('a task with the name of a CPU is a task', () => withPage('strange.html', async page => {
    const lanes = await page.evaluate(() => gpufs.model.lanes.filter(lane => lane.name.startsWith('CPU')).map(lane => [lane.key, lane.ticks?.time.length]));
    assert.deepStrictEqual(lanes, [['Tasks/CPU 1 300', 2]]);
}));

// "a" since the begin, "b" since it was woken, "c" since nobody knows when.
test('what is not recorded is not drawn as running', () => withPage('untold.html', async page => {
    const ran = await page.evaluate(() => [301, 302, 303].map(tid => {
        const {start, end, ref} = gpufs.model.tasks.get(tid).states;
        return [...start].map((from, i) => [from, end[i], ref[i]]);
    }));
    const kRuns = 0;
    assert.deepStrictEqual(ran, [[[0, 100e3, kRuns]], [[200e3, 300e3, kRuns]], []]);
}));

test('no task runs through a gap', () => withPage('lost.html', async page => {
    const shown = await page.evaluate(() => ({
        states: [301, 302, 303].map(tid => {
            const {start, end, ref} = gpufs.model.tasks.get(tid).states;
            return [...start].map((from, i) => [from, end[i], ref[i]]);
        }),
        busy: gpufs.model.tasks.get(302).busy, notes: gpufs.data.notes,
        cpus: gpufs.model.lanes.filter(lane => lane.kind === 'cpu').map(({rows: [{start, end}]}) =>
            [...start].map((from, i) => [from, end[i]]))}));
    const kRuns = 0, b = [[0, 10e3], [990e6, 1000e6]];
    assert.deepStrictEqual(shown.states, [[], b.map(one => [...one, kRuns]), []]);
    assert.strictEqual(shown.busy, 10010e3);
    assert.deepStrictEqual(shown.cpus, [b, []]);
    assert(shown.notes.includes('lost events: 505; what ran meanwhile is not known'), String(shown.notes));
}));

// A step of the ruler is less than what a double tells from the time.
test('what else is told of a GPU stands below its rings', () => withPage('i915.html', async page => {
    const groups = await page.evaluate(() => gpufs.model.groups.map(group => [group.name, group.lanes.map(lane => lane.name)]));
    assert.deepStrictEqual(groups.filter(([name]) => name.startsWith('GPU')), [
        ['GPU 1', ['render 0', 'evictions']],
        ['GPU 0', ['video 1', 'video-enhance 0', 'compute 0', '(driver) 0', 'copy 0']],
        ['GPU', ['buffers', 'CPU faults']]]);
}));

test('times of a century are drawn', () => withPage('strange.html', async page => {
    const from = await page.evaluate(() => {
        gpufs.show(gpufs.data.span - 1024, gpufs.data.span);
        gpufs.draw();
        return gpufs.view.from;
    });
    assert(from > 3.9e18, String(from));
}));

test('frames of displays are lines through all lanes', () => withPage('vblank.html', async page => {
    const count = await page.evaluate(() => {
        const lane = gpufs.model.lanes.find(one => one.isDisplay);
        const middle = lane.ticks.time[Math.floor(lane.ticks.time.length / 2)];
        gpufs.show(middle - 1e6, middle + 1e6);
        gpufs.draw();
        const context = document.getElementById('lanes').getContext('2d');
        const x = Math.round(gpufs.xOf(middle));
        const column = context.getImageData(x, 0, 1, document.getElementById('lanes').height).data;
        const ground = context.getImageData(x + 30, 0, 1, document.getElementById('lanes').height).data;
        let other = 0;
        for (let y = 0; y < column.length; y += 4)
            if (column[y] !== ground[y] || column[y + 2] !== ground[y + 2]) other++;
        return other / (column.length / 4);
    });
    assert(count > 0.8, String(count));
}));

test('the address keeps the place', () => withPage('watch.html', async page => {
    await page.evaluate(() => gpufs.show(1e6, 2e6));
    await page.waitForFunction(() => location.hash === '#t=1000000,2000000');
    await page.reload();
    await page.waitForFunction(() => window.gpufs);
    assert.deepStrictEqual(await page.evaluate(() => [gpufs.view.from, gpufs.view.to]), [1e6, 2e6]);
}));

test('two fingers zoom, one goes along', () => withPage('watch.html', async page => {
    const touch = await page.context().newCDPSession(page);
    const send = (type, ...points) => touch.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))});
    const length = () => page.evaluate(() => gpufs.view.to - gpufs.view.from);
    const before = await length();
    await send('touchStart', [200, 200], [240, 200]);
    await send('touchMove', [160, 200], [300, 200]);
    await send('touchEnd');
    assert(await length() < before / 2);
    const from = await page.evaluate(() => gpufs.view.from);
    await send('touchStart', [300, 200]);
    await send('touchMove', [250, 200]);
    await send('touchMove', [200, 200]);
    await send('touchEnd');
    assert(await page.evaluate(() => gpufs.view.from) > from);
}, {size: sizes[1], hasTouch: true}));

test('a page is dark where all is', () => withPage('watch.html', async page => {
    const [r, g, b] = (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).match(/\d+/g).map(Number);
    assert(r + g + b < 150);
}, {colorScheme: 'dark'}));

test('a flame graph zooms, searches and goes back', () => withPage('flame.svg', async page => {
    const width = () => page.$$eval('.frame rect', all => Math.max(...all.filter(one => one.parentNode.dataset.d === '2').map(one => one.getBoundingClientRect().width)));
    const before = await width();
    const frames = await page.$$('.frame[data-d="2"]');
    assert(frames.length > 1);
    await frames[1].click();
    await page.waitForFunction(() => location.hash.includes('x='));
    assert(await width() > before);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !location.hash.includes('x='));
    await page.keyboard.press('/');
    await page.keyboard.type('schedule');
    await page.waitForFunction(() => location.hash.includes('s=schedule'));
}));

test('a heat map tells the cell that the keys lead to', () => withPage('heat.svg', async page => {
    await page.keyboard.press('ArrowRight');
    assert.match(await page.textContent('.status'), /: \d+$/);
    const cells = await page.$$eval('.cell', all => all.length);
    assert(cells > 3);
}));

test('a heat map fits a phone, with texts to be read and cells to be touched', () => withPage('heat.svg', async page => {
    const {wide, window, texts} = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth, window: visualViewport.width,
        texts: [...document.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()])
            .filter(([text, {width}]) => width && getComputedStyle(text).visibility !== 'hidden' && getComputedStyle(text).display !== 'none')
            .map(([text, {left, right, height}]) => [text.textContent, left, right, height / Math.max(1, text.querySelectorAll('tspan').length)])}));
    assert.strictEqual(window, sizes[1].width);
    assert(wide <= window, String(wide));
    assert(texts.length > 12);
    for (const [text, left, right, height] of texts) assert(left >= 0 && right <= window && height >= 11, `${text} ${left} ${right} ${height}`);
    // Percentiles, which stand beside the map elsewhere.
    assert.deepStrictEqual(texts.map(([text]) => text).filter(text => /^p\d\d \d/.test(text)).length, 3);
    const cells = await page.$$eval('.cell', all => all.map(cell => {
        const {left, right, top, bottom} = cell.getBoundingClientRect();
        return {x: (left + right) / 2, y: (top + bottom) / 2, column: cell.closest('.column').dataset.t, count: cell.dataset.n};
    }));
    assert.match(await page.textContent('.status'), /^touch the map/);
    // Beside those that stand alone.
    const alone = cells.filter(one => cells.every(other => one === other || Math.hypot(one.x - other.x, one.y - other.y) > 20));
    assert(alone.length > 2);
    for (const {x, y, column, count} of alone) {
        await page.touchscreen.tap(x - 6, y);
        const told = await page.$$eval('.status tspan', all => all.map(one => one.textContent).join(' '));
        assert(told.startsWith(`${column} (`) && told.endsWith(`: ${count}`), told);
    }
}, {size: sizes[1], hasTouch: true, isMobile: true}));

test('a flame graph is as wide as a phone', () => withPage('flame.svg', async page => {
    assert.deepStrictEqual(await page.evaluate(() => [visualViewport.width, document.documentElement.scrollWidth]), [sizes[1].width, sizes[1].width]);
}, {size: sizes[1], hasTouch: true, isMobile: true}));

(async () => {
    browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
    let passed = 0, failed = 0;
    for (const {name, run} of tests.filter(one => one.name.includes(process.env.ONLY || ''))) {
        try {
            await run();
            passed++;
        } catch (error) {
            failed++;
            console.log(`error: in "${name}": ${error.stack}`);
        }
    }
    await browser.close();
    console.log(`${passed} passed, ${failed} failed, 0 skipped`);
    if (process.env.GPUFS_TALLY) fs.writeFileSync(process.env.GPUFS_TALLY, `${passed} ${failed} 0\n`);
    process.exit(failed ? 1 : 0);
})();
