// What a heat map does in a browser: it fits the window, and tells the time, the range and the count
// of the cell under the pointer or next to a finger, or of the one that the arrow keys lead to.
(() => {
  'use strict';
  const svg = document.currentScript.ownerSVGElement;
  const status = svg.querySelector('.status'), title = svg.querySelector('.title');
  const [fullWidth, fullHeight] = [+svg.getAttribute('width'), +svg.getAttribute('height')];
  const kHelp = matchMedia('(pointer: coarse)').matches
    ? 'touch the map, and go over it: time, range and count'
    : 'point at a cell, or go from cell to cell with the arrows: time, range and count';
  const columns = [...svg.querySelectorAll('.column')]
    .map(column => [...column.querySelectorAll('.cell')]);
  let selected = null;

  const range = mark => mark.closest('.panel').dataset.ranges.split('|')[mark.dataset.r];
  function told(mark) {
    if (!mark || !(mark.matches('.cell') || mark.matches('.sum'))) return kHelp;
    const column = mark.closest('.column');
    const when = column ? column.dataset.t + ' (' + column.dataset.d + '): ' : 'all the time: ';
    if (mark.matches('.column .sum')) return when + column.dataset.n;
    return when + range(mark) + ': ' + mark.dataset.n;
  }
  function tell(text) { wrap(status, text); }
  function select(cell) {
    if (!cell) return;
    selected = cell;
    cell.setAttribute('tabindex', '-1');
    cell.focus({ preventScroll: true });
    tell(told(cell));
  }
  function move(key) {
    const at = columns.findIndex(column => column.includes(selected));
    if (at < 0) return select((columns[0] || [])[0]);
    if (key === 'ArrowUp' || key === 'ArrowDown')
      return select(columns[at][columns[at].indexOf(selected) + (key === 'ArrowUp' ? 1 : -1)]);
    const beside = columns[at + (key === 'ArrowRight' ? 1 : -1)] || [];
    const far = cell => Math.abs(cell.dataset.r - selected.dataset.r);
    select(beside.reduce((best, cell) => !best || far(cell) < far(best) ? cell : best, null));
  }
  addEventListener('keydown', event => {
    if (!event.key.startsWith('Arrow') || event.ctrlKey || event.metaKey || event.altKey) return;
    move(event.key);
    event.preventDefault();
  });
  svg.addEventListener('pointerover', event => {
    if (event.pointerType === 'mouse') tell(told(event.target));
  });

  // A finger is wider than a cell: it gets the nearest one.
  function nearest(map, x, y) {
    let best = null, least = Infinity;
    for (const cell of map.querySelectorAll('.cell')) {
      const box = cell.getBoundingClientRect();
      const far = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
      if (far < least) [best, least] = [cell, far];
    }
    return best;
  }
  function touch(event) {
    if (event.pointerType === 'mouse') return;
    const map = document.elementFromPoint(event.clientX, event.clientY)?.closest('.map');
    if (map) select(nearest(map, event.clientX, event.clientY));
  }
  svg.addEventListener('pointerdown', touch);
  svg.addEventListener('pointermove', touch);

  // Writes a text in as many lines as the picture's width needs, and says how many.
  function wrap(text, words) {
    text.textContent = '';
    const x = +text.getAttribute('x'), room = layout.narrow ? layout.width - 2 * kEdge : fullWidth;
    let lines = 0, line = null;
    for (const word of words.split(' ')) {
      const before = line && line.textContent;
      if (line) line.textContent = before + ' ' + word;
      if (line && line.getComputedTextLength() <= room) continue;
      if (line) line.textContent = before;
      line = document.createElementNS(svg.namespaceURI, 'tspan');
      line.setAttribute('x', x);
      if (lines++) line.setAttribute('dy', '1.3em');
      line.textContent = word;
      text.append(line);
    }
    return lines;
  }

  // In a wide window the whole picture is scaled, down to kLeast; in a narrower one its parts are placed anew, so
  // that texts keep their size: the map has the width that is left, what is beside it becomes narrower,
  // and the legend has two rows.
  const kLeast = 760, kEdge = 8, kMapLeft = 84, kMapRight = 176, kBeside = 40;
  const layout = { narrow: false, width: fullWidth };
  const all = selector => [...svg.querySelectorAll(selector)];
  // Where things stand in the file.
  const own = (one, name) => +(one.dataset['own' + name] ??= one.getAttribute(name));

  function placeMap() {
    const { narrow, width } = layout;
    const longest = Math.max(0, ...all('.value').map(text => text.getComputedTextLength()));
    const left = narrow ? Math.ceil(longest) + 12 : kMapLeft, right = narrow ? kBeside + kEdge : kMapRight;
    const scale = (width - left - right) / (fullWidth - kMapLeft - kMapRight);
    const at = x => left + (x - kMapLeft) * scale;
    for (const map of all('.map')) map.setAttribute('transform', `translate(${left - kMapLeft * scale} 0) scale(${scale} 1)`);
    for (const beside of all('.beside')) {
      const from = fullWidth - kMapRight, by = narrow ? (kBeside - 6) / 66 : 1;
      beside.setAttribute('transform', `translate(${width - right - from * by} 0) scale(${by} 1)`);
    }
    for (const axis of all('.axis:not(.times)')) axis.setAttribute('transform', `translate(${left - kMapLeft} 0)`);
    for (const note of all('.note, .heading')) note.setAttribute('x', narrow ? kEdge : kMapLeft);
    for (const axis of all('.times')) placeTimes(axis, at);
  }
  // The times of an axis that have room.
  function placeTimes(axis, at) {
    const marks = axis.querySelectorAll('path');
    let free = -Infinity;
    axis.querySelectorAll('.time').forEach((text, i) => {
      const x = own(text, 'x'), half = text.getComputedTextLength() / 2;
      text.setAttribute('x', at(x));
      marks[i].setAttribute('transform', `translate(${at(x) - x} 0)`);
      const fits = at(x) - half >= free && at(x) + half <= layout.width;
      text.style.visibility = fits ? '' : 'hidden';
      if (fits) free = at(x) + half + kEdge;
    });
  }
  // In a narrow picture the lines' keys stand in a row of their own, with the values that are not beside the map.
  function placeLegend(legend) {
    const { narrow, width } = layout, keys = [...legend.querySelectorAll('.key')];
    legend.setAttribute('transform', narrow ? `translate(${kEdge - kMapLeft} 0)` : '');
    for (const key of keys) {
      key.removeAttribute('transform');
      key.querySelector('text').textContent = narrow ? key.dataset.value : key.dataset.name;
    }
    if (!narrow) return;
    const boxes = keys.map(key => key.getBBox()), gap = 12;
    const whole = boxes.reduce((sum, box) => sum + box.width + gap, -gap), scale = Math.min(1, (width - 2 * kEdge) / whole);
    let x = kMapLeft;
    keys.forEach((key, i) => {
      const box = boxes[i], y = box.y + box.height;
      key.setAttribute('transform', `translate(${x - box.x * scale} ${18 + y - y * scale}) scale(${scale})`);
      x += (box.width + gap) * scale;
    });
  }

  function fit() {
    const room = document.documentElement.clientWidth || fullWidth;
    layout.narrow = room < kLeast;
    layout.width = layout.narrow ? Math.max(240, room) : fullWidth;
    svg.classList.toggle('narrow', layout.narrow);
    title.setAttribute('x', layout.width / 2);
    status.setAttribute('x', layout.narrow ? kEdge : kMapLeft);
    placeMap();
    for (const legend of all('.legend')) placeLegend(legend);
    const kLine = 21, kStatus = 3 * 16;  // as CSS has them
    const above = (wrap(title, title.dataset.text) - 1) * kLine, below = layout.narrow ? kStatus - 8 : 0;
    status.setAttribute('y', own(status, 'y') + (layout.narrow ? 8 : 0));
    title.setAttribute('y', own(title, 'y') - above);
    const height = fullHeight + above + below, scale = layout.narrow ? 1 : room / fullWidth;
    svg.setAttribute('viewBox', `0 ${-above} ${layout.width} ${height}`);
    svg.querySelector('.ground').setAttribute('y', -above);
    svg.setAttribute('width', layout.width * scale);
    svg.setAttribute('height', height * scale);
    tell(told(selected));
  }
  title.dataset.text = title.textContent;
  addEventListener('resize', fit);
  fit();
})();
