// Reads the details in a worker, so that the page moves meanwhile; in the page itself where the browser
// has no worker. The worker runs this script, too.

// All that is worth to be handed over without a copy: the buffers of the arrays in values.
function buffersOf(value, seen = new Set(), buffers = new Set()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) return buffers;
    seen.add(value);
    if (ArrayBuffer.isView(value)) buffers.add(value.buffer);
    else for (const one of value instanceof Map ? value.values() : Object.values(value)) buffersOf(one, seen, buffers);
    return buffers;
}

function sendDetails() {
    const {processes, rings, jobs, tasks, groups} = model;
    const {slices, gpuSlices, switches, wakeups, instants, counts, lines} = data;
    const inSegments = data.segments.length ? {} : {switches, wakeups};
    const details = {data: {slices, gpuSlices, instants, counts, lines, ...inSegments}, model: {processes, rings, jobs, tasks, groups}};
    postMessage({details}, [...buffersOf(details)]);
}

// In the page.
function takeDetails(details) {
    Object.assign(data, details.data);
    Object.assign(model, emptyModel(), details.model, {jobs: Jobs.of(details.model.jobs)});
    model.lanes = model.groups.flatMap(group => group.lanes);
}

// Reads all there is and says so: `tell.details()` when the model is made, `tell.rest(columns)`.
async function readAll(tell) {
    let wholes = null;
    if (data.segments.length) {
        findSegments();
        if (!model.processes) {  // in a worker; the page has them
            Object.assign(model, emptyModel());
            processesOfOverview();
            colourProcesses();
        }
        begun.done();
        await null;  // what was asked before is asked now
        wholes = await readWholes();
    }
    await readDetails();
    tell.details(wholes);
    tell.rest(await readRest());
}

// Questions about segments, which are answered from when the chunks are there on.
const begun = {};
begun.isDone = new Promise(done => { begun.done = done; });

async function answer(question) {
    await begun.isDone;
    const answered = answerNow(question);
    questions.add(answered);
    return answered.finally(() => questions.delete(answered));
}

async function answerNow({want, measure, search}) {
    if (want) return {window: await readWindow(want.first, want.end)};
    if (measure) return {measured: {...measure, sums: await measureSegments(measure.from, measure.to)}};
    return {found: {words: search.words, ...await searchSegments(search.tasks, search.most)}};
}

async function work(message) {
    if (message.facts) return readFacts(message.facts);
    if (message.part) return addPart(message.part);
    if (message.question) {
        const told = await answer(message.question);
        return postMessage(told, [...buffersOf(told)]);
    }
    await readAll({
        details: wholes => {
            makeModel(wholes);
            sendDetails();
        },
        rest: rest => postMessage({rest}, [...buffersOf(rest)]),
    });
    if (!data.segments.length) close();
}

if (typeof document === 'undefined')
    onmessage = event => work(event.data).catch(error => postMessage({error: error.message}));
