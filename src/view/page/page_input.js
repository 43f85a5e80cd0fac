// Pointer, wheel, touch and keys.

const pointers = new Map();  // that are down, by id
let pressed = null;

const place = event => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
};

function onWheel(event) {
    const {x} = place(event);
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? view.height : 1;
    if (x < view.label && !event.ctrlKey) return;  // over the names, as everywhere
    event.preventDefault();
    const along = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(along * lines);
    else zoom(Math.exp(event.deltaY * lines * 0.002), x);
}

function onDown(event) {
    if (event.button !== 0) return;
    canvas.classList.add('by-pointer');
    canvas.focus({preventScroll: true});
    const at = place(event);
    if (at.x < view.label && event.pointerType === 'mouse') return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at);
    pressed = {...at, from: view.from, to: view.to, scrolled: scroller.scrollTop, moved: false, measures: event.shiftKey,
               time: timeAt(at.x)};
    if (pointers.size === 2) pressed.pinch = distance();
    hideTip();
}

function distance() {
    const [a, b] = [...pointers.values()];
    return {apart: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2};
}

function onMove(event) {
    const at = place(event);
    if (!pointers.has(event.pointerId)) {
        if (event.pointerType === 'mouse') showTip(at);
        return;
    }
    pointers.set(event.pointerId, at);
    if (pressed.pinch && pointers.size === 2) {
        const {apart, middle} = distance();
        zoom(pressed.pinch.apart / apart, middle);
        pan(pressed.pinch.middle - middle);
        pressed.pinch = {apart, middle};
        pressed.moved = true;
        return;
    }
    const dx = at.x - pressed.x, dy = at.y - pressed.y;
    if (!pressed.moved && Math.abs(dx) < 4 && Math.abs(dy) < 4) return;
    pressed.moved = true;
    if (pressed.measures) {
        const time = timeAt(at.x);
        view.range = {from: Math.min(time, pressed.time), to: Math.max(time, pressed.time)};
        redraw();
        return;
    }
    const by = -dx * (pressed.to - pressed.from) / (view.width - view.label);
    show(pressed.from + by, pressed.to + by);
    scroller.scrollTop = pressed.scrolled - dy;
}

function onUp(event) {
    if (!pointers.delete(event.pointerId)) return;
    if (pointers.size) {  // one of two fingers: the other goes on from here
        const [at] = pointers.values();
        Object.assign(pressed, at, {from: view.from, to: view.to, scrolled: scroller.scrollTop, pinch: null});
        return;
    }
    if (pressed.moved) {
        if (pressed.measures) {
            view.selected = null;
            fillSelection();
            showTab('selection');
        }
        return;
    }
    if (event.type === 'pointercancel') return;
    const {x, y} = place(event);
    const item = itemAt(x, y + scroller.scrollTop);
    const old = view.selected;
    if (item && old && old.kind === item.kind && old.lane === item.lane && old.ref === item.ref && old.index === item.index) {
        zoomToSelected();
        return;
    }
    if (!item) view.range = null;
    select(item);
    if (!item) {
        const entry = view.tops.find(one => y + scroller.scrollTop >= one.y && y + scroller.scrollTop < one.y + one.height);
        if (entry?.group) {
            entry.group.isClosed = !entry.group.isClosed;
            placeLanes();
        }
        selectLane(entry?.lane || null);
    }
}

function showTip(at) {
    const item = itemAt(at.x, at.y + scroller.scrollTop);
    if (!item) return hideTip();
    const {name, facts} = describe(item);
    const tip = $('tip');
    const shown = facts.filter(([what]) => ['takes', 'process', 'in the queue', 'on the ring', 'times', 'woken by'].includes(what));
    tip.replaceChildren(element('b', null, name.length > 90 ? name.slice(0, 90) + '…' : name),
                        ...shown.map(([what, value]) => element('div', null, `${what}: ${value}`)));
    tip.hidden = false;
    const box = scroller.getBoundingClientRect(), room = $('timeline').getBoundingClientRect();
    const left = Math.min(at.x + 14, room.width - tip.offsetWidth - 6);
    const below = at.y + 18 + (box.top - room.top);
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${below + tip.offsetHeight > room.height ? below - tip.offsetHeight - 28 : below}px`;
    canvas.style.cursor = 'pointer';
}

function hideTip() {
    $('tip').hidden = true;
    canvas.style.cursor = '';
}

// The selected item becomes the range that is measured, and back.
function measureSelected() {
    if (view.range) {
        view.range = null;
    } else if (view.selected) {
        const {from, to} = boxOf(view.selected);
        view.range = {from, to: Math.max(to, from + 1)};
    } else {
        view.range = {from: Math.max(0, view.from), to: Math.min(data.span, view.to)};
    }
    fillSelection();
    showTab('selection');
    redraw();
}

const actions = {
    w: () => zoom(0.7, mouseX), s: () => zoom(1 / 0.7, mouseX), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7),
    a: () => pan(-view.width / 5), d: () => pan(view.width / 5), 0: () => show(0, data.span), f: zoomToSelected, m: measureSelected,
    n: () => find(search.words, 1), N: () => find(search.words, -1),
    p: () => view.lane && pinLane(view.lane), h: () => view.lane && hideLane(view.lane),
    '[': () => view.lane && moveLane(view.lane, -1), ']': () => view.lane && moveLane(view.lane, 1),
    ArrowLeft: () => view.selected ? step(-1) : pan(-view.width / 10), ArrowRight: () => view.selected ? step(1) : pan(view.width / 10),
    ArrowUp: () => stepLane(-1), ArrowDown: () => stepLane(1),
    PageUp: () => { scroller.scrollTop -= view.height * 0.8; }, PageDown: () => { scroller.scrollTop += view.height * 0.8; },
    Home: () => show(0, view.to - view.from), End: () => show(data.span - (view.to - view.from), data.span),
    '/': () => $('words').focus(), '?': () => $('help').showModal(),
    Escape: () => {
        view.range = null;
        select(null);
    },
};
let mouseX;

function onKey(event) {
    const isText = event.target.matches('input, textarea');
    if (isText) {
        if (event.key === 'Escape') canvas.focus();
        return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    const isArrow = event.key.startsWith('Arrow') || event.key.startsWith('Page') || event.key === 'Home' || event.key === 'End';
    if (isArrow && !event.target.matches('#lanes, body, .name, .group')) return;
    const action = actions[event.key] || actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    canvas.classList.remove('by-pointer');
    action();
}

// Drags the border between the timeline and what is below.
function onSplit(event) {
    const start = event.clientY, height = $('panel').offsetHeight, split = $('split');
    split.setPointerCapture(event.pointerId);
    const move = to => setPanelHeight(height + start - to.clientY);
    split.addEventListener('pointermove', move);
    split.addEventListener('lostpointercapture', () => split.removeEventListener('pointermove', move), {once: true});
}

function setPanelHeight(pixels) {
    const most = document.body.clientHeight - 180;
    document.documentElement.style.setProperty('--panel', `${Math.max(44, Math.min(most, pixels))}px`);
    measureWindow();
}

function listen() {
    canvas.addEventListener('wheel', onWheel, {passive: false});
    canvas.addEventListener('pointerdown', onDown);
    canvas.addEventListener('pointermove', onMove);
    canvas.addEventListener('pointerup', onUp);
    canvas.addEventListener('pointercancel', onUp);
    canvas.addEventListener('pointerleave', hideTip);
    canvas.addEventListener('pointermove', event => { mouseX = place(event).x; });
    canvas.addEventListener('pointerleave', () => { mouseX = undefined; });
    scroller.addEventListener('scroll', () => {
        hideTip();
        redraw();
    });
    document.addEventListener('keydown', onKey);
    $('split').addEventListener('pointerdown', onSplit);
    $('split').addEventListener('keydown', event => {
        const by = {ArrowUp: 24, ArrowDown: -24}[event.key];
        if (by) setPanelHeight($('panel').offsetHeight + by);
    });
    $('find').addEventListener('submit', event => {
        event.preventDefault();
        find($('words').value.trim(), 1);
    });
    $('before').addEventListener('click', () => find($('words').value.trim(), -1));
    $('words').addEventListener('keydown', event => {
        if (event.key !== 'Enter' || !event.shiftKey) return;
        event.preventDefault();
        find($('words').value.trim(), -1);
    });
    $('in').addEventListener('click', () => zoom(0.5));
    $('out').addEventListener('click', () => zoom(2));
    $('all').addEventListener('click', () => show(0, data.span));
    $('keys').addEventListener('click', () => $('help').showModal());
    $('hidden').addEventListener('click', () => {
        model.lanes.forEach(lane => { lane.isHidden = false; });
        placeLanes();
    });
    new ResizeObserver(measureWindow).observe(scroller);
    window.addEventListener('hashchange', recallPlace);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        readLook();
        redraw();
    });
}
