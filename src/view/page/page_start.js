// Reads, lays out, listens.

const nextFrame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));

async function start() {
    if (!window.DecompressionStream)
        throw new Error('this browser cannot unpack the page\'s data: Chromium since 80, Firefox since 113 and Safari since 16.4 can');
    const before = performance.now();
    await readData();
    document.querySelector('h1').textContent = data.title;
    makeModel();
    makePanel();
    readLook();
    listen();
    view.isDirty = false;
    measureWindow();
    placeLanes();
    show(0, data.span);
    recallPlace();
    $('loading').hidden = true;
    // For who wants to ask the page something in the browser's console.
    window.gpufs = {data, model, view, show, select, jobItem, find, draw, itemAt, boxOf, xOf, opened: performance.now() - before};
    await nextFrame();
    await readRest();
    findEventsOfJobs();
    fillSelection();
    find($('words').value.trim(), 0);
}

start().catch(error => {
    $('loading').hidden = false;
    $('loading').textContent = `This page cannot be shown: ${error.message}`;
    console.error(error);
});
