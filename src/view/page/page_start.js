// Shows the overview, reads the details, listens.

const times = {};  // since the page was asked for, in ms: shown, first (what is in sight of segments), details, whole

// A reader takes the elements of chunks as they come, and is then told that there are no more.
function workerReader(facts, take) {
    const script = new Blob([$('reader').textContent], {type: 'text/javascript'});
    const address = URL.createObjectURL(script), worker = new Worker(address);
    worker.onmessage = ({data: message}) => {
        URL.revokeObjectURL(address);
        if (message.details) take.details(() => takeDetails(message.details));
        else if (message.rest) take.rest(message.rest);
        else if (!message.error) takeAnswer(message);
        else take.error(message.error);
    };
    worker.onerror = event => take.error(event.message);
    worker.postMessage({facts});
    return {add: part => worker.postMessage({part}), end: () => worker.postMessage({}),
            ask: question => worker.postMessage({question})};
}

function ownReader(take) {
    const tell = {details: wholes => take.details(() => makeModel(wholes)), rest: take.rest};
    const failed = error => take.error(error.message);
    return {add: addPart, end: () => readAll(tell).catch(failed), ask: question => answer(question).then(takeAnswer).catch(failed)};
}

// Gives a reader the elements of chunks. The last one may not be whole until there is something behind it.
function feed(reader, isEnd) {
    for (const part of document.querySelectorAll('script.chunk')) {
        if (!isEnd && !part.nextElementSibling) break;
        const {kind, column, items} = part.dataset;
        reader.add({kind, column, items: Number(items), text: part.textContent});
        part.remove();
    }
}

// What was pinned, hidden, opened or closed meanwhile stays so.
function keepPlaces(old) {
    const lanes = new Map(old.lanes.map(lane => [lane.key, lane])), groups = new Map(old.groups.map(group => [group.key, group]));
    for (const lane of model.lanes) {
        const was = lanes.get(lane.key);
        if (was) Object.assign(lane, {isPinned: was.isPinned, isHidden: was.isHidden});
    }
    for (const group of model.groups) group.isClosed = groups.get(group.key)?.isClosed ?? group.isClosed;
    view.lane = view.lane && model.lanes.find(lane => lane.key === view.lane.key) || null;
}

function fail(message) {
    $('loading').hidden = false;
    $('loading').textContent = `This page cannot be shown: ${message}`;
    console.error(message);
}

const takes = {
    details: make => {
        const {lanes, groups} = model;
        make();
        keepPlaces({lanes, groups});
        data.hasDetails = true;
        forgetWindow();
        $('loading').hidden = true;
        refillTabs();
        placeLanes();
        times.details = performance.now();
    },
    rest: rest => {
        addRest(rest);
        fillSelection();
        find($('words').value.trim(), 0);
        times.whole = performance.now();
    },
    error: fail,
};

function start() {
    if (!window.DecompressionStream)
        throw new Error('this browser cannot unpack the page\'s data: Chromium since 80, Firefox since 113 and Safari since 16.4 can');
    const facts = $('facts').textContent;
    readFacts(facts);
    $('title').textContent = data.title;
    if (data.overview) $('loading').textContent = 'Reading the details…';
    makeOverview();
    makePanel();
    readLook();
    listen();
    view.isDirty = false;
    measureWindow();
    placeLanes();
    show(0, data.span);
    recallPlace();
    draw();
    times.shown = performance.now();
    // For who wants to ask the page something in the browser's console.
    window.gpufs = {data, model, view, show, select, jobItem, find, draw, itemAt, boxOf, xOf, times};

    const reader = asking.reader = window.Worker ? workerReader(facts, takes) : ownReader(takes);
    const observer = new MutationObserver(() => feed(reader, false));
    observer.observe(document.body, {childList: true});
    document.addEventListener('DOMContentLoaded', () => {
        observer.disconnect();
        feed(reader, true);
        reader.end();
    });
}

try {
    start();
} catch (error) {
    fail(error.message);
}
