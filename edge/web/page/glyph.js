// How a seat looks, on the map and in its legend.

import { available, held, sold, blocked, unsold, mine } from './words.js';

/** colours are the page's, by what they are for. */
export function colours(element) {
  const style = getComputedStyle(element);
  const names = ['back', 'panel', 'line', 'text', 'soft', 'link', 'warn', 'available', 'mine', 'on-mine', 'held', 'taken', 'element'];
  const colour = Object.fromEntries(names.map((name) => [name, style.getPropertyValue('--' + name)]));
  colour.bands = [0, 1, 2, 3, 4, 5].map((k) => style.getPropertyValue(`--band-${k}`));
  return colour;
}

/** faded is an available seat that the filter of prices leaves out; banded(k) is one of the k-th band of price. */
export const faded = 6;
export const banded = (k) => 7 + k;

/** glyph draws a seat. States differ by shape, not by colour alone. */
export function glyph(g, colour, look, kind, x, y, r) {
  const band = look > faded ? colour.bands[look - banded(0)] : colour.available;
  const status = look > faded ? available : look;
  const body = (size) => {
    g.beginPath();
    if (kind === 'standard') {
      g.arc(x, y, size, 0, 2 * Math.PI);
    } else {
      g.roundRect(x - size * 0.94, y - size * 0.94, size * 1.88, size * 1.88, size * 0.3);
    }
  };
  const ring = (width, of) => {
    body(r - width / 2);
    g.lineWidth = width;
    g.strokeStyle = of;
    g.stroke();
  };
  const strokes = (width, of, ...lines) => {
    g.lineWidth = width;
    g.strokeStyle = of;
    g.beginPath();
    for (const line of lines) {
      line.forEach(([dx, dy], k) => g[k ? 'lineTo' : 'moveTo'](x + dx * r, y + dy * r));
    }
    g.stroke();
  };
  body(r);
  g.fillStyle = { [available]: band, [mine]: colour.mine, [faded]: colour.element }[status] ?? colour.back;
  g.fill();
  switch (status) {
    case mine:
      strokes(r * 0.3, colour['on-mine'], [[-0.45, 0.02], [-0.1, 0.37], [0.5, -0.33]]);
      break;
    case held:
      ring(r * 0.5, colour.held);
      break;
    case sold:
      ring(Math.max(1, r * 0.14), colour.taken);
      strokes(r * 0.2, colour.taken, [[-0.4, -0.4], [0.4, 0.4]], [[-0.4, 0.4], [0.4, -0.4]]);
      break;
    case blocked:
      ring(Math.max(1, r * 0.14), colour.taken);
      strokes(r * 0.24, colour.taken, [[-0.5, 0], [0.5, 0]]);
      break;
    case unsold:
      g.fillStyle = colour.taken;
      g.beginPath();
      g.arc(x, y, r * 0.35, 0, 2 * Math.PI);
      g.fill();
      break;
    case available:
      if (kind === 'wheelchair') {
        strokes(r * 0.2, colour['on-mine'], [[-0.1, -0.2], [-0.1, 0.2], [0.35, 0.2], [0.5, 0.6]]);
        g.beginPath();
        g.arc(x - r * 0.08, y + r * 0.28, r * 0.42, 0.2 * Math.PI, 1.35 * Math.PI);
        g.stroke();
        g.fillStyle = colour['on-mine'];
        g.beginPath();
        g.arc(x - r * 0.1, y - r * 0.5, r * 0.18, 0, 2 * Math.PI);
        g.fill();
      }
  }
}
