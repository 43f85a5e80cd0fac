// No more matches than so many are gone through.
const kMost = 200000;

// Search: in the names of jobs, slices, events, tasks and lines, and their numbers.

function matchesOf(words) {
    const wanted = words.toLowerCase();
    const fits = data.names.map(name => name.toLowerCase().includes(wanted));
    const number = /^\d+$/.test(words) ? Number(words) : NaN;
    const found = [];
    for (const lane of model.lanes) {
        if (found.length >= kMost) break;
        if (lane.kind === 'cpu' && data.segments.length) continue;  // takeFound() has them
        const isRing = lane.kind === 'ring' && lane.name.toLowerCase().includes(wanted);
        lane.rows.forEach((row, at) => {
            if (lane.kind === 'task' && at === 0) return;
            for (let i = 0; i < row.ref.length && found.length < kMost; i++) {
                const ref = row.ref[i];
                let isMatch;
                if (lane.kind === 'cpu') {
                    const task = data.tasks[data.switches.task[ref]];
                    isMatch = task.tid === number || (task.found ??= new Map()).get(wanted);
                    if (isMatch === undefined) {
                        isMatch = task.comm.toLowerCase().includes(wanted);
                        task.found.set(wanted, isMatch);
                    }
                } else if (lane.kind === 'ring') {
                    const {jobs} = model;
                    isMatch = isRing || jobs.pid(ref) === number || jobs.seqno(ref) === number || fits[jobs.nameNumber(ref)];
                } else {
                    isMatch = fits[data.slices.name[ref]];
                }
                if (isMatch) found.push({time: row.start[i], lane, at, ref, index: i});
            }
        });
        const ticks = lane.ticks;
        for (let i = 0; ticks && i < ticks.ref.length && found.length < kMost; i++) {
            const ref = ticks.ref[i];
            const isMatch = lane.kind === 'lines' ? data.lines[ref].text.toLowerCase().includes(wanted)
                                                  : fits[data.instants.name[ref]];
            if (isMatch) found.push({time: ticks.time[i], lane, at: -1, ref, index: i});
        }
    }
    return found;
}

// `isPending`: the reader still looks for the words in segments.
const search = {words: '', found: [], at: -1, by: 0, isPending: false};

function find(words, by) {
    if (!data.isWhole) {
        $('found').textContent = words ? 'Reading…' : '';
        return;
    }
    if (words !== search.words) {
        search.words = words;
        search.found = [];
        search.isPending = false;
        if (words && data.segments.length) return askFor(words, by);
        begin(words ? matchesOf(words) : [], by);
    } else if (search.isPending) {
        search.by = by;
        return;
    } else {
        search.at += by;
    }
    goToMatch(words);
}

// From where the view is.
function begin(found, by) {
    search.found = found.sort((a, b) => a.time - b.time);
    search.at = Math.max(0, search.found.findIndex(one => one.time >= view.from));
    if (by < 0) search.at--;
}

// What runs on CPUs is in segments.
function askFor(words, by) {
    $('found').textContent = 'Reading…';
    search.by = by;
    search.isPending = true;
    const wanted = words.toLowerCase(), number = /^\d+$/.test(words) ? Number(words) : NaN;
    const tasks = data.tasks.map(({tid, comm}) => tid !== 0 && (tid === number || comm.toLowerCase().includes(wanted)));
    asking.reader.ask({search: {words, tasks, most: kMost}});
}

function takeFound({words, time, cpu}) {
    if (words !== search.words || !search.isPending) return;  // others are asked for meanwhile
    search.isPending = false;
    const lanes = new Map(model.lanes.filter(lane => lane.kind === 'cpu').map(lane => [lane.cpu, lane]));
    const runs = Array.from(time, (at, i) => ({time: at, lane: lanes.get(cpu[i]), at: 0, ref: -1, index: -1}));
    begin([...matchesOf(words), ...runs], search.by);
    goToMatch(words);
}

function goToMatch(words) {
    const count = search.found.length;
    if (!words || !count) {
        $('found').textContent = words ? 'none' : '';
        return;
    }
    search.at = (search.at + count) % count;
    $('found').textContent = `${numberText(search.at + 1)} of ${numberText(count)}`;
    const one = search.found[search.at];
    if (one.index < 0) selectAtTime(one.lane, one.time);
    else select(itemOf(one.lane, one.at, one.ref, one.index), {shows: true});
}
