// Levels of detail of a row with many boxes: how much of each cell of a grid they fill, and with which most.
// Each level has half as many cells as the one before. Boxes at least as wide as a cell are not in the
// cells, but told one by one.

const kFinestCells = 8192, kCoarsestCells = 2048;

function levelsOf(row) {
    const levels = [];
    let wide = row.start.keys(), finer = null;
    for (let cells = kFinestCells; cells >= kCoarsestCells; cells /= 2) {
        const level = {width: data.span / cells, filled: new Float64Array(cells), first: new Int32Array(cells).fill(-1),
                       most: new Float32Array(cells), wide: []};
        for (let cell = 0; finer && cell < 2 * cells; cell++)
            if (finer.first[cell] >= 0) fillCell(level, cell >> 1, finer.filled[cell], finer.first[cell], finer.most[cell]);
        for (const i of wide) fillCells(level, row, i);
        wide = level.wide = Int32Array.from(level.wide);
        levels.push(level);
        finer = level;
    }
    for (const level of levels) delete level.most;
    return levels;
}

// `most`: how much of the cell the box fills of which most is known.
function fillCell(level, cell, filled, box, most) {
    level.filled[cell] += filled;
    if (level.first[cell] >= 0 && level.most[cell] >= most) return;
    level.first[cell] = box;
    level.most[cell] = most;
}

// A box that is in the cell where it begins, or also in the one behind.
function fillCells(level, row, i) {
    const {width, filled: {length: cells}} = level, start = row.start[i], long = row.end[i] - start;
    if (long >= width) {
        level.wide.push(i);
        return;
    }
    const busy = row.sums[i + 1] - row.sums[i], cell = Math.min(cells - 1, Math.floor(start / width));
    const behind = Math.max(0, row.end[i] - (cell + 1) * width);
    if (behind && cell + 1 < cells) {
        const share = busy * behind / long;
        fillCell(level, cell, busy - share, i, busy - share);
        fillCell(level, cell + 1, share, i, share);
    } else {
        fillCell(level, cell, busy, i, busy);
    }
}
