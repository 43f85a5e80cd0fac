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

// A message takes the page some ms for each thousand of objects: the rings come first, then jobs by the
// thousand, then what is left.
function sendDetails() {
    const kAtOnce = 1000;
    const {processes, rings, jobs, tasks, groups} = model, numbers = new Map(rings.map((ring, i) => [ring, i]));
    for (const job of jobs) job.ringOf = numbers.get(job.ringOf);
    postMessage({rings: rings.map(({device, name, busy}) => ({device, name, busy}))});
    for (let i = 0; i < jobs.length; i += kAtOnce) postMessage({jobs: jobs.slice(i, i + kAtOnce)});
    for (const lane of model.lanes) if (lane.ring) lane.ring = numbers.get(lane.ring);
    const {slices, gpuSlices, switches, wakeups, instants, counts, lines} = data;
    const details = {data: {slices, gpuSlices, switches, wakeups, instants, counts, lines}, model: {processes, tasks, groups}};
    postMessage({details}, [...buffersOf(details)]);
}

// In the page: what sendDetails() sends, as it comes.
const taken = {rings: [], jobs: [], jobOfFlow: []};

function takeJobs(jobs) {
    for (const job of jobs) {
        job.ringOf = taken.rings[job.ringOf];
        job.ringOf.jobs.push(job);
        taken.jobOfFlow[job.flow] = job;
        taken.jobs.push(job);
    }
}

function takeDetails(details) {
    Object.assign(data, details.data);
    Object.assign(model, emptyModel(), details.model, taken);
    model.lanes = model.groups.flatMap(group => group.lanes);
    for (const lane of model.lanes) {
        if (lane.kind !== 'ring') continue;
        lane.ring = model.rings[lane.ring];
        lane.ring.lane = lane;
    }
}

async function work(message) {
    if (message.facts) return readFacts(message.facts);
    if (message.part) return addPart(message.part);
    await readDetails();
    makeModel();
    sendDetails();
    const rest = await readRest();
    postMessage({rest}, [...buffersOf(rest)]);
    close();
}

if (typeof document === 'undefined')
    onmessage = event => work(event.data).catch(error => postMessage({error: error.message}));
