// What a heat map does in a browser: it fits the window, and tells the time, the range and the count
// of the cell under the pointer, or of the one that the arrow keys lead to.
(() => {
  'use strict';
  const svg = document.currentScript.ownerSVGElement;
  const status = svg.querySelector('.status'), title = svg.querySelector('.title');
  const kHelp = 'point at a cell, or go from cell to cell with the arrows: time, range and count';
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
  function select(cell) {
    if (!cell) return;
    selected = cell;
    cell.setAttribute('tabindex', '-1');
    cell.focus({ preventScroll: true });
    status.textContent = told(cell);
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
  svg.addEventListener('mouseover', event => { status.textContent = told(event.target); });

  const [width, height] = [svg.getAttribute('width'), svg.getAttribute('height')];
  function fit() {
    const room = document.documentElement.clientWidth || +width, wide = Math.max(760, room);
    title.style.textAnchor = wide > room ? 'start' : '';  // a part of the map is in sight
    title.setAttribute('x', wide > room ? 84 : width / 2);
    svg.setAttribute('width', wide);
    svg.setAttribute('height', height * wide / width);
  }
  status.textContent = kHelp;
  addEventListener('resize', fit);
  fit();
})();
