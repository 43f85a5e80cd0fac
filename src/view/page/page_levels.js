// Levels of detail of a row: how much of each cell of a grid is filled with what. Each level has half as
// many cells as the one before. What a cell holds is a list: only shades that are there take room.

// How a box is filled: as a process runs (its colour's place in kColours, or kOtherShade), the same where it
// is in a queue, or by what a task does.
const kOtherShade = 9, kPale = 10, kWaits = 20, kBlocked = 21, kSleeps = 22, kMark = 23, kShades = 24;

const kFinestCells = 65536, kCoarsestCells = 1024;
// Of fewer boxes each is looked at as fast.
const kManyBoxes = 8192;

// Numbers to which more are added.
class Growing {
    constructor(Type, expected = 1024) {
        this.numbers = new Type(expected);
        this.count = 0;
    }
    add(number) {
        if (this.count === this.numbers.length) {
            const more = new this.numbers.constructor(this.count * 2);
            more.set(this.numbers);
            this.numbers = more;
        }
        this.numbers[this.count++] = number;
    }
    done() { return this.numbers.slice(0, this.count); }
}

// Takes boxes that do not overlap, in their order. A level is a list of what cells hold: the cell, the shade
// and for how long, by cell.
class LevelMaker {
    constructor(cells) {
        this.cells = cells;
        this.width = data.span / cells;
        this.lists = {cell: new Growing(Uint32Array, 64), shade: new Growing(Uint8Array, 64), ns: new Growing(Float32Array, 64)};
        this.sums = new Float64Array(kShades);
        this.used = 0;  // a bit for each shade in sums
        this.cell = 0;
    }
    add(from, to, shade, share = 1) {
        for (let cell = Math.min(this.cells - 1, Math.floor(from / this.width)); from < to; cell++) {
            this.go(cell);
            const edge = cell + 1 < this.cells ? Math.min(to, (cell + 1) * this.width) : to;
            this.sum(shade, Math.max(0, edge - from) * share);
            from = edge;
        }
    }
    sum(shade, ns) {
        this.sums[shade] += ns;
        this.used |= 1 << shade;
    }
    go(cell) {
        if (cell <= this.cell) return;
        for (let left = this.used; left; left &= left - 1) {
            const shade = 31 - Math.clz32(left & -left);
            this.lists.cell.add(this.cell);
            this.lists.shade.add(shade);
            this.lists.ns.add(this.sums[shade]);
            this.sums[shade] = 0;
        }
        this.used = 0;
        this.cell = cell;
    }
    level() {
        this.go(this.cells);
        const {cell, shade, ns} = this.lists;
        return {cells: this.cells, width: this.width, cell: cell.done(), shade: shade.done(), ns: ns.done()};
    }
    // The finest first.
    levels() {
        const levels = [this.level()];
        while (levels.at(-1).cells > kCoarsestCells) levels.push(halved(levels.at(-1)));
        return levels;
    }
}

function halved({cells, cell, shade, ns}) {
    const maker = new LevelMaker(cells / 2);
    for (let k = 0; k < cell.length; k++) {
        maker.go(cell[k] >> 1);
        maker.sum(shade[k], ns[k]);
    }
    return maker.level();
}

// As many cells as there are boxes for.
function cellsFor(boxes) {
    let cells = kCoarsestCells;
    while (cells < kFinestCells && cells * 4 < boxes) cells *= 2;
    return cells;
}

// Adds box `i` of a row, which may be in a queue first.
function addBox(maker, row, i) {
    const shade = row.shade[i], middle = row.middle ? row.middle[i] : row.start[i];
    if (middle > row.start[i]) maker.add(row.start[i], middle, shade + kPale);
    if (row.end[i] > middle) maker.add(middle, row.end[i], shade, row.share ? row.share[i] : 1);
}

function addLevels(row) {
    const count = row.start.length;
    if (count < kManyBoxes) return;
    const maker = new LevelMaker(cellsFor(count)), wide = new Growing(Int32Array);
    // What has room for a text while levels are drawn.
    const least = 8 * maker.width;
    for (let i = 0; i < count; i++) {
        addBox(maker, row, i);
        if (row.end[i] - row.start[i] >= least) wide.add(i);
    }
    row.levels = maker.levels();
    row.wide = wide.done();
}
