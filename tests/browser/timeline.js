// Draws man/timeline.png, as README.md shows it: PAGE is that of why-6.12.dat. See pictures.sh.
'use strict';
const {chromium} = require('playwright-core');

const [file, picture] = process.argv.slice(2);

(async () => {
    const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
    const page = await browser.newPage({viewport: {width: 1060, height: 720}});
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => window.gpufs?.data.isWhole);
    await page.evaluate(() => {
        document.documentElement.style.setProperty('--panel', '124px');
        gpufs.select(gpufs.jobItem(gpufs.model.jobs.find(job => job.seqno === 5)), {shows: true, tab: false});
        document.getElementById('tab-rings').click();
        gpufs.show(310e6, 615e6);
        document.getElementById('scroll').scrollTop = 0;
    });
    // Until the canvas has the height that it has now.
    await page.waitForFunction(() => document.getElementById('lanes').clientHeight > 500);
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    await page.screenshot({path: picture});
    await browser.close();
})();
