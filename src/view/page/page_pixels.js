// The pixels of the lanes: one image, written by number and handed to the canvas at once. A canvas that
// is told each box as a rectangle takes ten times as long. All places are pixels of the device.

const pixels = {width: 0, height: 0, left: 0, image: null, all: null};

// A colour's bytes as a number, in the order of all machines with a browser: red is the lowest.
const bytesOfColour = new Map();
function colourBytes(colour) {
    let bytes = bytesOfColour.get(colour);
    if (bytes === undefined) {
        const [r, g, b] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
        bytesOfColour.set(colour, bytes = (r | g << 8 | b << 16 | 255 << 24) >>> 0);
    }
    return bytes;
}

// So much of one colour's bytes over another's.
function mixed(over, under, share) {
    let bytes = 255 << 24;
    for (const shift of [0, 8, 16]) {
        const [a, b] = [over, under].map(one => one >>> shift & 255);
        bytes |= Math.round(b + (a - b) * share) << shift;
    }
    return bytes >>> 0;
}

// An image as large as the canvas, of one colour; nothing is drawn to the left of `left`.
function beginPixels(width, height, left, bytes) {
    if (pixels.width !== width || pixels.height !== height) {
        const image = new ImageData(width, height);
        Object.assign(pixels, {width, height, image, all: new Uint32Array(image.data.buffer)});
    }
    pixels.left = left;
    pixels.all.fill(bytes);
}

function fillPixels(x0, x1, y0, y1, bytes) {
    const {width, height, left, all} = pixels;
    x0 = Math.max(x0, left);
    x1 = Math.min(x1, width);
    y0 = Math.max(y0, 0);
    y1 = Math.min(y1, height);
    if (x0 >= x1) return;
    for (let at = y0 * width + x0; y0 < y1; y0++, at += width) {
        if (x1 - x0 > 12) all.fill(bytes, at, at + x1 - x0);
        else for (let x = at, end = at + x1 - x0; x < end; x++) all[x] = bytes;
    }
}

// Draws a line from top to bottom where nothing else is: the colours of `grounds` are there.
function linePixels(x0, x1, bytes, grounds) {
    const {width, height, left, all} = pixels;
    for (let x = Math.max(x0, left); x < Math.min(x1, width); x++)
        for (let at = x, end = height * width; at < end; at += width) if (grounds.includes(all[at])) all[at] = bytes;
}

const kLeastSeen = 2;  // of a column in which there is something

// What fills a column, by shade in ns: `used` has a bit for each shade there is.
class Column {
    constructor() {
        this.ns = new Float64Array(kShades);
        this.used = 0;
    }
    add(shade, ns) {
        this.ns[shade] += ns;
        this.used |= 1 << shade;
    }
    clear() {
        this.ns.fill(0);
        this.used = 0;
    }
    // Draws the shades above each other into an image, from the bottom up and each as high as its share of
    // `whole`, and the ground above them; and clears them. Something is always to be seen of what there is.
    draw({all, width, height}, x, top, bottom, whole, bytes, ground) {
        const tall = bottom - top, {ns} = this;
        let sum = 0, y = bottom, most = -1;
        for (let rest = this.used; rest; rest &= rest - 1) {
            const shade = 31 - Math.clz32(rest & -rest), its = ns[shade], colour = bytes[shade];
            if (its > 0 && (most < 0 || its > ns[most])) most = shade;
            sum += its;
            const to = Math.max(top, bottom - Math.round(sum / whole * tall));
            for (; y > to; y--) if (y > 0 && y <= height) all[(y - 1) * width + x] = colour;
            ns[shade] = 0;
        }
        this.used = 0;
        if (most >= 0) for (const to = Math.max(top, bottom - kLeastSeen); y > to; y--) if (y > 0 && y <= height) all[(y - 1) * width + x] = bytes[most];
        for (; y > top; y--) if (y > 0 && y <= height) all[(y - 1) * width + x] = ground;
    }
}
const column = new Column();

// Columns of a row that are kept while the view goes along: column k has the time from k * perPixel on,
// and lies at place k modulo the width.
class Strip {
    constructor(width, height) {
        Object.assign(this, {width, height, all: new Uint32Array(width * height), from: 0, to: 0, scale: null, ground: 0});
    }
    // Draws what is missing of the columns from one to another by fill(strip, from, to), and copies them.
    copy(from, to, top, fill) {
        if (from >= this.to || to <= this.from) {
            fill(this, from, to);
        } else {
            if (from < this.from) fill(this, from, this.from);
            if (to > this.to) fill(this, this.to, to);
        }
        Object.assign(this, {from, to});
        const {width, all} = this, first = this.place(from), count = to - from, behind = Math.min(count, width - first);
        for (let y = Math.max(0, -top); y < Math.min(this.height, pixels.height - top); y++) {
            const at = (top + y) * pixels.width + pixels.left, line = y * width;
            pixels.all.set(all.subarray(line + first, line + first + behind), at);
            if (behind < count) pixels.all.set(all.subarray(line, line + count - behind), at + behind);
        }
    }
    place(k) { return (k % this.width + this.width) % this.width; }
}

// By what they show; all of one scale, and some more than are in sight.
const strips = new Map();
const kStrips = 160;
let stripScale = {perPixel: 0, bytes: null};

function stripOf(what, perPixel, height, ground) {
    // A view that goes along keeps its length but for the last digits.
    if (Math.abs(perPixel - stripScale.perPixel) > perPixel * 1e-9 || stripScale.bytes !== look.bytes)
        stripScale = {perPixel, bytes: look.bytes};
    const width = pixels.width - pixels.left;
    let strip = strips.get(what);
    if (strip?.width !== width || strip.height !== height) {
        if (strips.size >= kStrips) strips.delete(strips.keys().next().value);
        strips.delete(what);
        strips.set(what, strip = new Strip(width, height));
    }
    if (strip.scale !== stripScale || strip.ground !== ground) Object.assign(strip, {scale: stripScale, ground, from: 0, to: 0});
    return strip;
}

// Draws columns of all of the width by fill(strip, from, to).
function drawStrip(what, perPixel, top, bottom, ground, fill) {
    const strip = stripOf(what, perPixel, bottom - top, ground), from = Math.round(view.from / strip.scale.perPixel);
    strip.copy(from, from + strip.width, top, fill);
}
