// What a flame graph does in a browser: it fits the window, zooms where it is clicked, searches, and
// goes from frame to frame by keys. What is shown is in the address, as #x=…&y=…&s=…: the left edge
// and the depth of the frame that fills the width (and p, its graph), the search, and way.
(() => {
  'use strict';
  const svg = document.currentScript.ownerSVGElement;
  const kPad = 10, kRow = 16, kCharacter = 7.25, kLeastText = 3;
  const kHelp = 'click: zoom; Backspace: back; Ctrl-F: search; arrows and Enter: from frame to frame';
  const one = name => svg.querySelector('.' + name);
  const status = one('status'), matched = one('matched'), title = one('title');
  const height = +svg.getAttribute('height');
  const heading = title.textContent;
  let width = 1200, selected = null, found = [];

  const panels = [...svg.querySelectorAll('.panel')].map(element => {
    const panel = { top: +element.dataset.top, total: +element.dataset.total, rows: +element.dataset.rows };
    panel.frames = [...element.querySelectorAll('.frame')].map(group => {
      const said = group.querySelector('title').textContent;
      return { group, panel, said, rect: group.querySelector('rect'), text: group.querySelector('text'),
        name: said.replace(/ \([^(]*\)$/, ''), x: +group.dataset.x, w: +group.dataset.w, d: +group.dataset.d };
    });
    return panel;
  }).filter(panel => panel.frames.length);
  const frames = panels.flatMap(panel => panel.frames);
  const byGroup = new Map(frames.map(frame => [frame.group, frame]));
  const end = frame => frame.x + frame.w;
  const holds = (a, b) => a.panel === b.panel && a.d <= b.d && a.x <= b.x && end(b) <= end(a);

  // The address.
  const read = () => new URLSearchParams(location.hash.slice(1));
  const way = () => read().get('way') || svg.dataset.way;
  function zoomed(panel) {
    const at = read();
    if (panels[+at.get('p') || 0] !== panel || !at.has('x')) return panel.frames[0];
    return panel.frames.find(f => f.x === +at.get('x') && f.d === +at.get('y')) || panel.frames[0];
  }
  function go(changes, replaces) {
    const at = read();
    for (const [key, value] of Object.entries(changes))
      if (value === null) at.delete(key); else at.set(key, value);
    const hash = '#' + at;
    if (hash === location.hash || (hash === '#' && !location.hash)) return;
    if (replaces) { history.replaceState(null, '', hash); show(); } else location.hash = hash;
  }
  function zoom(frame) {
    if (frame && frame.d) go({ x: frame.x, y: frame.d, p: panels.indexOf(frame.panel) || null });
    else go({ x: null, y: null, p: null });
  }

  // The frames.
  function fitted(name, room) {
    const characters = [...name], count = Math.floor((room - 6) / kCharacter);
    if (count < kLeastText) return '';
    return characters.length <= count ? name : characters.slice(0, count - 2).join('') + '..';
  }
  function place(frame, x, w, y) {
    frame.group.style.display = '';
    frame.rect.setAttribute('x', x);
    frame.rect.setAttribute('y', y);
    frame.rect.setAttribute('width', w);
    const shown = fitted(frame.name, w);
    if (shown && !frame.text) {
      frame.text = document.createElementNS(svg.namespaceURI, 'text');
      frame.group.append(frame.text);
    }
    if (!frame.text) return;
    frame.text.textContent = shown;
    frame.text.setAttribute('x', x + 3);
    frame.text.setAttribute('y', y + 11.5);
  }
  function draw(panel) {
    const top = zoomed(panel), isIcicle = way() === 'icicle';
    const scale = (width - 2 * kPad) / top.w;
    for (const frame of panel.frames) {
      const isCaller = frame !== top && holds(frame, top) && frame.d < top.d;
      const w = isCaller ? width - 2 * kPad : frame.w * scale;
      frame.isShown = isCaller || (holds(top, frame) && w >= 0.1);
      frame.group.classList.toggle('caller', isCaller);
      if (!frame.isShown) { frame.group.style.display = 'none'; continue; }
      const row = isIcicle ? frame.d : panel.rows - 1 - frame.d;
      place(frame, isCaller ? kPad : kPad + (frame.x - top.x) * scale, w, panel.top + row * kRow);
    }
  }

  // The search.
  function mark(text) {
    let pattern = null;
    input.classList.remove('wrong');
    try {
      // Capitals matter where there are some.
      if (text) pattern = new RegExp(text, /[A-Z]/.test(text) ? '' : 'i');
    } catch (e) {
      input.classList.add('wrong');
    }
    found = frames.filter(frame => {
      const is = pattern !== null && frame.d > 0 && pattern.test(frame.name);
      frame.group.classList.toggle('found', is);
      return is;
    });
    matched.textContent = pattern === null ? '' : 'Matched: ' + panels.map(panel => {
      let sum = 0, past = -1;  // callees of what matches are in it already
      const own = found.filter(frame => frame.panel === panel).sort((a, b) => a.x - b.x || a.d - b.d);
      for (const frame of own) if (frame.x >= past) { sum += frame.w; past = end(frame); }
      return (100 * sum / panel.total).toFixed(2) + '%';
    }).join(', ');
  }
  const box = document.createElementNS(svg.namespaceURI, 'foreignObject');
  const input = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
  input.placeholder = 'a name, or a pattern';
  input.setAttribute('aria-label', 'search');
  box.append(input);
  function search() {
    scrollTo(0, 0);
    if (!box.isConnected) svg.append(box);
    layBox();
    input.value = read().get('s') || '';
    input.focus();
    input.select();
  }
  function closeSearch(clears) {
    if (clears) go({ s: null }, true);
    box.remove();
  }
  function layBox() {
    const wide = Math.min(260, width - 2 * kPad);
    for (const [key, value] of Object.entries({ x: width - kPad - wide, y: 8, width: wide, height: 26 }))
      box.setAttribute(key, value);
  }
  input.addEventListener('input', () => go({ s: input.value || null }, true));
  input.addEventListener('keydown', event => {
    event.stopPropagation();
    if (event.key === 'Escape') closeSearch(true);
    if (event.key === 'Enter') { closeSearch(false); next(1); }
  });

  // Keys.
  function select(frame) {
    if (!frame) return;
    selected = frame;
    frame.group.setAttribute('tabindex', '-1');
    frame.group.focus({ preventScroll: true });
    frame.rect.scrollIntoView({ block: 'nearest' });
    status.textContent = frame.said;
  }
  const shown = frame => frame.isShown;
  const caller = f => f.panel.frames.find(other => other.d === f.d - 1 && holds(other, f));
  const callee = f => f.panel.frames.filter(o => o.d === f.d + 1 && holds(f, o) && shown(o))
    .reduce((best, o) => !best || o.w > best.w ? o : best, null);
  function beside(f, step) {
    const row = f.panel.frames.filter(o => o.d === f.d && shown(o)).sort((a, b) => a.x - b.x);
    return row[row.indexOf(f) + step];
  }
  function next(step) {
    const all = found.filter(shown);
    if (all.length) select(all[(all.indexOf(selected) + step + all.length) % all.length]);
  }
  function move(key) {
    if (!selected || !shown(selected)) return select(panels.length ? zoomed(panels[0]) : null);
    if (key === 'ArrowLeft') return select(beside(selected, -1));
    if (key === 'ArrowRight') return select(beside(selected, 1));
    select((key === 'ArrowUp') === (way() === 'icicle') ? caller(selected) : callee(selected));
  }
  addEventListener('keydown', event => {
    const key = event.key;
    if ((key === 'f' || key === 'F') && (event.ctrlKey || event.metaKey) || key === '/' || key === 'F3') search();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (key.startsWith('Arrow')) move(key);
    else if (key === 'Enter' || key === ' ') (document.activeElement || svg).dispatchEvent(new Event('click', { bubbles: true }));
    else if (key === 'Backspace') history.back();
    else if (key === 'Escape') { if (read().has('s')) closeSearch(true); else zoom(null); }
    else if (key === 'n') next(1);
    else if (key === 'N') next(-1);
    else return;
    event.preventDefault();
  });

  // The pointer.
  const at = event => byGroup.get(event.target.closest && event.target.closest('.frame'));
  svg.addEventListener('click', event => { const frame = at(event); if (frame) { zoom(frame); select(frame); } });
  svg.addEventListener('mouseover', event => {
    const frame = at(event);
    status.textContent = frame ? frame.said : kHelp;
  });
  one('reset').addEventListener('click', () => zoom(null));
  one('flip').addEventListener('click', () => go({ way: way() === 'icicle' ? 'flame' : 'icicle' }));
  one('search').addEventListener('click', search);

  // The window.
  function show() {
    panels.forEach(draw);
    mark(read().get('s') || '');
    one('reset').style.visibility = read().has('x') ? '' : 'hidden';
    one('flip').textContent = way() === 'icicle' ? 'Flames' : 'Icicles';
  }
  function hold() {  // the line at the foot stays in sight
    const y = Math.min(height, scrollY + innerHeight) - 22;
    one('foot').setAttribute('transform', 'translate(0 ' + y + ')');
  }
  function fit() {
    width = Math.max(300, document.documentElement.clientWidth || 1200);
    svg.removeAttribute('viewBox');
    svg.setAttribute('width', width);
    one('search').setAttribute('x', width - kPad);
    matched.setAttribute('x', width - kPad);
    const isNarrow = width < 700, between = width - 2 * kPad - (isNarrow ? 0 : 250);
    const longest = Math.floor(between / 9.5);
    title.textContent = heading.length <= longest ? heading : heading.slice(0, longest - 2) + '..';
    title.setAttribute('x', isNarrow ? width / 2 : width - kPad - 70 - between / 2);
    title.setAttribute('y', isNarrow ? 44 : 24);
    layBox();
    show();
    hold();
  }
  svg.classList.add('live');  // without a script there is nothing to press
  status.textContent = kHelp;
  addEventListener('hashchange', show);
  addEventListener('resize', fit);
  addEventListener('scroll', hold);
  fit();
})();
