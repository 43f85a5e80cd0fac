// Search: in the names of jobs, slices, events, tasks and lines, and their numbers.

function matchesOf(words) {
    const wanted = words.toLowerCase();
    const fits = data.names.map(name => name.toLowerCase().includes(wanted));
    const number = /^\d+$/.test(words) ? Number(words) : NaN;
    const found = [];
    const kMost = 200000;
    for (const lane of model.lanes) {
        if (found.length >= kMost) break;
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
                    const job = model.jobs[ref];
                    isMatch = job.pid === number || job.seqno === number || job.ring.toLowerCase().includes(wanted) ||
                              job.name.toLowerCase().includes(wanted);
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
    return found.sort((a, b) => a.time - b.time);
}

const search = {words: '', found: [], at: -1};

function find(words, by) {
    if (!data.isWhole) {
        $('found').textContent = words ? 'Reading…' : '';
        return;
    }
    if (words !== search.words) {
        search.words = words;
        search.found = words ? matchesOf(words) : [];
        // From where the view is.
        search.at = search.found.findIndex(one => one.time >= view.from);
        if (search.at < 0) search.at = 0;
        if (by < 0) search.at--;
    } else {
        search.at += by;
    }
    const count = search.found.length;
    if (!words || !count) {
        $('found').textContent = words ? 'none' : '';
        return;
    }
    search.at = (search.at + count) % count;
    $('found').textContent = `${numberText(search.at + 1)} of ${numberText(count)}`;
    const one = search.found[search.at];
    select(itemOf(one.lane, one.at, one.ref, one.index), {shows: true});
}
