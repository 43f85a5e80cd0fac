// Prints how fast a page opens and moves: frames.js PAGE [WIDTH HEIGHT]. Frames are told as the time from one to
// the next, beside those of an empty page, and as what draw() takes of them; all in ms.
'use strict';
const {chromium} = require('playwright-core');

const [file, width = '1280', height = '720'] = process.argv.slice(2);
const kFrames = 200;

// The times of frames in each of which `step` is done with its number.
const framesOf = (page, step) => page.evaluate(async ([step, count]) => {
    const move = new Function('i', step), times = [];
    let last = performance.now();
    for (let i = 0; i < count; i++) {
        move(i);
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - last);
        last = performance.now();
    }
    return times.slice(5).sort((a, b) => a - b);
}, [step, kFrames]);

const drawOf = (page, step) => page.evaluate(([step, count]) => {
    const move = new Function('i', step), times = [];
    for (let i = 0; i < count; i++) {
        move(i);
        const begin = performance.now();
        gpufs.draw();
        times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b);
}, [step, 50]);

const at = (times, share) => times[Math.floor(times.length * share)].toFixed(1).padStart(7);

(async () => {
    const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
    const page = await browser.newPage({viewport: {width: Number(width), height: Number(height)}});
    console.log('                     p50    p95  draw p50    p95');
    const print = (name, frames, draws) => console.log(name.padEnd(16), at(frames, 0.5), at(frames, 0.95), draws ? `  ${at(draws, 0.5)}${at(draws, 0.95)}` : '');
    await page.setContent('<body></body>');
    print('empty page', await framesOf(page, 'document.title = i'));
    await page.goto(`file://${require('path').resolve(file)}`, {waitUntil: 'commit'});
    await page.waitForFunction(() => window.gpufs?.data.isWhole, null, {timeout: 300000});
    const times = await page.evaluate(() => gpufs.times), devtools = await page.context().newCDPSession(page);
    for (const share of [1, 0.3, 0.1, 0.01, 0.001]) {
        const step = `const long = gpufs.data.span * ${share}, from = (gpufs.data.span - long) / 2 + long * (i - 100) / 1000; gpufs.show(from, from + long)`;
        print(`goes, ${share * 100} %`, await framesOf(page, step), await drawOf(page, step));
    }
    const zoom = 'const long = gpufs.data.span * Math.exp(3 * Math.cos(i / 30) - 3); gpufs.show(gpufs.data.span * 0.4, gpufs.data.span * 0.4 + long)';
    print('zooms', await framesOf(page, zoom), await drawOf(page, zoom));
    const {usedSize, backingStorageSize} = await devtools.send('Runtime.getHeapUsage');
    console.log(`opens: ${Object.entries(times).map(([what, ms]) => `${what} ${ms.toFixed(0)}`).join(', ')}`);
    console.log(`MB: objects ${(usedSize / 1e6).toFixed(0)}, arrays ${(backingStorageSize / 1e6).toFixed(0)}`);
    await browser.close();
})();
