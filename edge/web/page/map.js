// The drawing of a seat map: pan, zoom, and pick. Seats are drawn into a layer
// that is somewhat larger than the view; to move the view is to copy the layer,
// and a seat that changes is drawn over itself there. The layer is drawn anew
// when the view has left it. Only seats of cells of the grid that can be seen
// are looked at.

import { available, held, sold, blocked, unsold, mine } from './words.js';
import { banded, colours, faded, glyph } from './glyph.js';
import { Grid } from './grid.js';

const margin = 0.25; // of the view, on each side of the layer
const heavy = 3000; // seats in a layer that is not drawn anew while the view moves
const tiny = 2.2; // radius in device pixels below which a seat is a dot
const pickable = { mouse: 3.5, pen: 4.5, touch: 6 }; // radius in CSS pixels from which a seat can be clicked
const small = 4.5; // radius in CSS pixels below which names of sections are written over seats
const legible = 7; // and from which rows have their labels
const largest = 26; // radius in CSS pixels to which one can zoom
const settling = 120; // ms without a movement after which the layer is drawn sharp

const looks = [available, held, sold, blocked, unsold, mine, faded, ...[0, 1, 2, 3, 4, 5].map(banded)];
const kinds = ['standard', 'wheelchair', 'companion'];

export class SeatMap {
  /** Clicks on a seat call pick; hover is told the seat under the pointer, or -1, and where it is. */
  constructor(canvas, sale, bands, { pick, hover }) {
    this.canvas = canvas;
    this.sale = sale;
    this.bands = bands;
    this.pick = pick;
    this.hover = hover;
    this.g = canvas.getContext('2d', { alpha: false });
    this.layer = document.createElement('canvas');
    this.on = this.layer.getContext('2d', { alpha: false });
    this.grid = new Grid(sale);
    this.view = { scale: 0, x: 0, y: 0 }; // CSS pixels: of one unit, and of the map's corner
    this.drawn = null; // the layer's view, from its own corner; null: it must be drawn
    this.over = -1; // the seat under the pointer
    this.flashes = new Map(); // seats that were refused, and until when they show it
    this.frame = 0;
    this.still = 0; // timer while the view moves
    this.theme();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme());
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.#listen();
  }

  /** theme takes the page's colours up. */
  theme() {
    this.colour = colours(this.canvas);
    this.sprites = new Map();
    this.redraw();
  }

  redraw() {
    this.drawn = null;
    this.#ask();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) {
      return; // it is not shown
    }
    const old = { width: this.width, height: this.height };
    this.width = box.width;
    this.height = box.height;
    this.dpr = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = this.layer.width = Math.round(box.width * this.dpr);
    this.canvas.height = this.layer.height = Math.round(box.height * this.dpr);
    this.layer.width *= 1 + 2 * margin;
    this.layer.height *= 1 + 2 * margin;
    if (this.view.scale === 0) {
      this.all();
    } else {
      this.#show(this.view.scale, this.view.x + (this.width - old.width) / 2, this.view.y + (this.height - old.height) / 2);
    }
    this.redraw();
  }

  /** all shows the whole map. */
  all() {
    this.#fit(this.grid.box, Infinity);
  }

  /** reveal moves the view if one of the seats cannot be seen, or not well. */
  reveal(seats) {
    const { scale, x, y } = this.view;
    const good = seats.every((i) => {
      const px = this.grid.x[i] * scale + x, py = this.grid.y[i] * scale + y;
      return px > 20 && py > 20 && px < this.width - 20 && py < this.height - 20 && this.grid.radius[i] * scale >= 5;
    });
    if (!good && seats.length > 0) {
      this.#fit(this.grid.around(seats), 11 / this.grid.usual);
    }
  }

  /** changed draws seats anew. */
  changed(seats) {
    if (seats.length > heavy) {
      this.redraw();
    } else if (seats.length > 0) {
      if (this.drawn) {
        seats.forEach((i) => this.#seat(i));
      }
      this.#ask();
    }
    if (seats.includes(this.over)) {
      this.hover(this.over, this.place(this.over));
    }
  }

  /** flash shows that a seat was not to be had. */
  flash(i) {
    this.flashes.set(i, performance.now() + 1500);
    this.#ask();
  }

  /** place is where a seat is, in CSS pixels of the canvas. */
  place(i) {
    return { x: this.grid.x[i] * this.view.scale + this.view.x, y: this.grid.y[i] * this.view.scale + this.view.y };
  }

  zoom(factor) {
    this.#glide(this.#around(this.view.scale * factor, this.width / 2, this.height / 2));
  }

  // The view.

  #fit(box, most) {
    const room = 0.9;
    const scale = Math.min(room * this.width / (box.right - box.left), room * this.height / (box.bottom - box.top), most);
    this.#glide({ scale, x: this.width / 2 - scale * (box.left + box.right) / 2, y: this.height / 2 - scale * (box.top + box.bottom) / 2 });
  }

  /** #around is the view at a scale that keeps a point of the canvas where it is. */
  #around(scale, px, py) {
    scale = this.#bounded(scale);
    const k = scale / this.view.scale;
    return { scale, x: px - (px - this.view.x) * k, y: py - (py - this.view.y) * k };
  }

  #bounded(scale) {
    const box = this.grid.box;
    const least = 0.6 * Math.min(this.width / (box.right - box.left), this.height / (box.bottom - box.top));
    return Math.min(Math.max(scale, least), Math.max(largest / this.grid.usual, least));
  }

  /** #show moves the view, some of the map always in it. */
  #show(scale, x, y) {
    scale = this.#bounded(scale);
    const box = this.grid.box, rim = 80;
    this.view = {
      scale,
      x: Math.min(Math.max(x, rim - scale * box.right), this.width - rim - scale * box.left),
      y: Math.min(Math.max(y, rim - scale * box.bottom), this.height - rim - scale * box.top),
    };
    clearTimeout(this.still);
    this.still = setTimeout(() => {
      this.still = 0;
      this.#ask();
    }, settling);
    this.#ask();
  }

  /** #glide moves the view in a moment that the eye can follow. */
  #glide(to) {
    const from = this.view, began = performance.now();
    const length = from.scale === 0 || matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 220;
    cancelAnimationFrame(this.gliding);
    const step = (time) => {
      const t = length === 0 ? 1 : Math.min(1, Math.max(0, (time - began) / length));
      const k = t * (2 - t), mix = (a, b) => a + (b - a) * k;
      this.#show(mix(from.scale, to.scale), mix(from.x, to.x), mix(from.y, to.y));
      this.gliding = t < 1 ? requestAnimationFrame(step) : 0;
    };
    step(began);
  }

  // Drawing.

  #ask() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw();
    });
  }

  #draw() {
    if (!this.width || document.hidden && !this.drawn) {
      return;
    }
    if (!this.#covers() && !(this.drawn && this.still && this.grid.count(this.#reach()) > heavy)) {
      this.#paint();
    }
    const g = this.g, { scale, x, y } = this.view, d = this.drawn, k = scale / d.scale * this.dpr;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = this.colour.back;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    g.imageSmoothingEnabled = scale !== d.scale;
    g.drawImage(this.layer, x * this.dpr - d.x * k, y * this.dpr - d.y * k, this.layer.width / this.dpr * k, this.layer.height / this.dpr * k);
    g.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    if (this.grid.usual * scale < legible) {
      this.#names();
    }
    this.#rings();
    if (!this.#covers() && !this.still) {
      this.#ask();
    }
  }

  /** #covers says whether the layer shows all of the view, and sharp. */
  #covers() {
    const d = this.drawn, v = this.view;
    return d !== null && d.scale === v.scale && d.x >= v.x && d.y >= v.y &&
      d.x - v.x + this.width <= this.layer.width / this.dpr && d.y - v.y + this.height <= this.layer.height / this.dpr;
  }

  /** #reach is the part of the map that a layer of this view shows. */
  #reach() {
    const { scale, x, y } = this.view, w = margin * this.width, h = margin * this.height;
    return { left: (-w - x) / scale, top: (-h - y) / scale, right: (this.width + w - x) / scale, bottom: (this.height + h - y) / scale };
  }

  /** #paint draws the layer. */
  #paint() {
    const { scale } = this.view, g = this.on;
    const x = Math.round((this.view.x + margin * this.width) * this.dpr) / this.dpr;
    const y = Math.round((this.view.y + margin * this.height) * this.dpr) / this.dpr;
    this.drawn = { scale, x, y };
    this.view.x += (x - margin * this.width - this.view.x) % (1 / this.dpr); // whole pixels copy sharp
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = this.colour.back;
    g.fillRect(0, 0, this.layer.width, this.layer.height);
    g.setTransform(this.dpr, 0, 0, this.dpr, x * this.dpr, y * this.dpr);
    this.sale.elements.forEach((e) => this.#element(e));
    g.setTransform(1, 0, 0, 1, 0, 0);
    const seen = this.#reach();
    if (this.grid.most * scale * this.dpr < tiny) {
      this.#dots(seen);
    } else {
      this.grid.within(seen, (i) => this.#seat(i));
    }
    g.setTransform(this.dpr, 0, 0, this.dpr, x * this.dpr, y * this.dpr);
    if (this.grid.usual * scale >= legible) {
      this.#rows(seen);
    }
  }

  /** #look is how a seat is drawn: free ones by what they cost. */
  #look(i) {
    const status = this.sale.status(i), section = this.sale.section[i];
    if (status !== available) {
      return status;
    }
    return !this.bands.shows(section) ? faded : this.bands.bands.length > 1 ? banded(this.bands.of[section]) : available;
  }

  /** #seat draws a seat into the layer, over what it was. */
  #seat(i) {
    const d = this.drawn, s = d.scale * this.dpr, r = this.grid.radius[i] * s;
    const x = this.grid.x[i] * s + d.x * this.dpr, y = this.grid.y[i] * s + d.y * this.dpr;
    if (x < -r || y < -r || x > this.layer.width + r || y > this.layer.height + r) {
      return;
    }
    const g = this.on, look = this.#look(i);
    g.setTransform(1, 0, 0, 1, 0, 0);
    if (r < tiny) {
      this.#dot(x, y, r, look);
      return;
    }
    const sprite = this.#sprite(r), size = sprite.size;
    const kind = kinds.indexOf(this.sale.seats[i].kind);
    g.drawImage(sprite.canvas, looks.indexOf(look) * size, kind * size, size, size, Math.round(x - size / 2), Math.round(y - size / 2), size, size);
    const label = this.sale.seats[i].label;
    if (r >= 9 * this.dpr && (look === available || look > faded) && label.length <= 3 && kind !== 1) {
      g.font = `${Math.round(r * (label.length > 2 ? 0.78 : 0.95))}px system-ui, sans-serif`;
      g.textAlign = 'center';
      g.textBaseline = 'middle';
      g.fillStyle = this.colour['on-mine'];
      g.fillText(label, x, y + r * 0.06);
    }
  }

  /** #dot is a seat that is too small for a sign: what can't be had is smaller. */
  #dot(x, y, r, look) {
    const g = this.on, full = Math.max(r, 0.6), size = full * this.#part(look);
    g.fillStyle = this.colour.back;
    g.fillRect(x - full, y - full, 2 * full, 2 * full);
    g.fillStyle = this.#shade(look);
    g.fillRect(x - size, y - size, 2 * size, 2 * size);
  }

  /** #dots draws seats that are all dots, one colour after the other: to change it for each seat takes most of the time. */
  #dots(seen) {
    const d = this.drawn, s = d.scale * this.dpr, g = this.on, shades = new Map();
    g.fillStyle = this.colour.back;
    this.grid.within(seen, (i) => {
      const x = this.grid.x[i] * s + d.x * this.dpr, y = this.grid.y[i] * s + d.y * this.dpr;
      const look = this.#look(i), full = Math.max(this.grid.radius[i] * s, 0.6), size = full * this.#part(look);
      if (size < full) {
        g.fillRect(x - full, y - full, 2 * full, 2 * full);
      }
      if (!shades.has(look)) {
        shades.set(look, []);
      }
      shades.get(look).push(x - size, y - size, 2 * size);
    });
    for (const [look, at] of shades) {
      g.fillStyle = this.#shade(look);
      for (let k = 0; k < at.length; k += 3) {
        g.fillRect(at[k], at[k + 1], at[k + 2], at[k + 2]);
      }
    }
  }

  /** #part is how much of its place a dot takes. */
  #part(look) {
    return look === sold || look === blocked || look === unsold ? 0.6 : 1;
  }

  /** #shade is a dot's colour. */
  #shade(look) {
    const { available: free, element } = this.colour;
    return { [available]: free, [mine]: this.colour.mine, [held]: this.colour.held, [faded]: element }[look] ?? this.colour.bands[look - banded(0)] ?? this.colour.taken;
  }

  /** #sprite has every state and kind of seat at a radius. */
  #sprite(radius) {
    const r = Math.round(radius * 4) / 4;
    let sprite = this.sprites.get(r);
    if (!sprite) {
      const size = 2 * Math.ceil(r + 1), canvas = document.createElement('canvas');
      canvas.width = size * looks.length;
      canvas.height = size * kinds.length;
      const g = canvas.getContext('2d');
      kinds.forEach((kind, row) => looks.forEach((look, column) => {
        glyph(g, this.colour, look, kind, (column + 0.5) * size, (row + 0.5) * size, r);
      }));
      sprite = { canvas, size };
      if (this.sprites.size > 200) { // zooming leaves many behind
        this.sprites.clear();
      }
      this.sprites.set(r, sprite);
    }
    return sprite;
  }

  #element(e) {
    const g = this.on, s = this.drawn.scale;
    const x = e.x * s, y = e.y * s, width = e.width * s, height = e.height * s;
    g.fillStyle = this.colour.element;
    g.beginPath();
    if (e.type === 'ellipse') {
      g.ellipse(x + width / 2, y + height / 2, width / 2, height / 2, 0, 0, 2 * Math.PI);
    } else if (e.type !== 'text') {
      g.roundRect(x, y, width, height, Math.min(6, width / 4, height / 4));
    }
    g.fill();
    if (!e.label) {
      return;
    }
    const upright = height > 2 * width;
    const size = Math.min(20, (upright ? width : height) * 0.6);
    if (size < 7) {
      return;
    }
    g.save();
    g.translate(x + width / 2, y + height / 2);
    if (upright) {
      g.rotate(-Math.PI / 2);
    }
    this.#text(g, e.label, 0, 0, size, this.colour.soft, (upright ? height : width) * 0.95);
    g.restore();
  }

  #text(g, text, x, y, size, colour, room) {
    g.font = `${size}px system-ui, sans-serif`;
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    g.fillStyle = colour;
    g.fillText(text, x, y, room);
  }

  /** #rows writes the rows' labels before their first seats. */
  #rows(seen) {
    const s = this.drawn.scale;
    for (const row of this.grid.rows) {
      if (row.x > seen.left && row.x < seen.right && row.y > seen.top && row.y < seen.bottom) {
        this.#text(this.on, row.label, row.x * s, row.y * s, Math.min(14, row.radius * s * 1.3), this.colour.soft);
      }
    }
  }

  /**
   * #names writes the sections' names, or their ids where names are too long: over
   * seats that are small, below those that can be picked.
   */
  #names() {
    const g = this.g, { scale, x, y } = this.view, size = 12, height = size + 6;
    const below = this.grid.usual * scale >= small, written = [];
    g.font = `600 ${size}px system-ui, sans-serif`;
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    const fits = (text, box) => g.measureText(text).width < (box.right - box.left) * scale + 16;
    const short = !this.sale.sections.every((s, k) => !this.grid.sections[k] || fits(s.name, this.grid.sections[k]));
    this.sale.sections.forEach(({ id, name }, k) => {
      const box = this.grid.sections[k];
      if (!box) {
        return;
      }
      const text = short && !below && id.length < name.length ? id : name;
      const at = { x: box.x * scale + x, y: below ? box.bottom * scale + y + height / 3 : box.y * scale + y, width: g.measureText(text).width + 10 };
      if (!below && !fits(text, box) || written.some((w) => Math.abs(w.x - at.x) < (w.width + at.width) / 2 && Math.abs(w.y - at.y) < height)) {
        return;
      }
      written.push(at);
      g.globalAlpha = 0.85;
      g.fillStyle = this.colour.back;
      g.beginPath();
      g.roundRect(at.x - at.width / 2, at.y - height / 2, at.width, height, 4);
      g.fill();
      g.globalAlpha = 1;
      g.fillStyle = below ? this.colour.soft : this.colour.text;
      g.fillText(text, at.x, at.y + 1);
    });
  }

  /** #rings are around the seat under the pointer, and around refused ones. */
  #rings() {
    const g = this.g, time = performance.now();
    const ring = (i, colour, width, more) => {
      const { x, y } = this.place(i);
      g.beginPath();
      g.arc(x, y, Math.max(3, this.grid.radius[i] * this.view.scale) + more, 0, 2 * Math.PI);
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.stroke();
    };
    if (this.over >= 0) {
      ring(this.over, this.colour.text, 2, 1.5);
    }
    for (const [i, until] of this.flashes) {
      if (until < time) {
        this.flashes.delete(i);
      } else {
        ring(i, this.colour.warn, 3, 3 + 3 * Math.abs(Math.sin((until - time) / 150)));
      }
    }
    if (this.flashes.size > 0) {
      this.#ask();
    }
  }

  // Pointers.

  #listen() {
    const canvas = this.canvas, down = new Map();
    let dragged = false;
    const at = (e) => {
      const box = canvas.getBoundingClientRect();
      return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    canvas.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) {
        return;
      }
      cancelAnimationFrame(this.gliding);
      canvas.setPointerCapture(e.pointerId);
      dragged = dragged && down.size > 0;
      down.set(e.pointerId, { ...at(e), from: at(e) });
    });
    canvas.addEventListener('pointermove', (e) => {
      const here = at(e), was = down.get(e.pointerId);
      if (!was) {
        this.#hovered(this.#hit(here, e.pointerType), here);
        return;
      }
      dragged ||= Math.hypot(here.x - was.from.x, here.y - was.from.y) > (e.pointerType === 'mouse' ? 4 : 9);
      const other = [...down].find(([id]) => id !== e.pointerId)?.[1];
      down.set(e.pointerId, { ...here, from: was.from });
      if (!dragged) {
        return;
      }
      canvas.classList.add('dragged');
      this.#hovered(-1, here);
      if (other) {
        this.#pinch(other, was, here);
      } else {
        this.#show(this.view.scale, this.view.x + here.x - was.x, this.view.y + here.y - was.y);
      }
    });
    const up = (e) => {
      const clicked = down.delete(e.pointerId) && down.size === 0 && !dragged && e.type === 'pointerup';
      if (down.size === 0) {
        canvas.classList.remove('dragged');
      }
      if (clicked) {
        this.#clicked(at(e), e.pointerType);
      }
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', (e) => this.#hovered(-1, at(e)));
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const { scale, x, y } = this.#around(this.view.scale * Math.exp(-e.deltaY * lines * (e.ctrlKey ? 0.01 : 0.002)), at(e).x, at(e).y);
      this.#show(scale, x, y);
    }, { passive: false });
  }

  /** #pinch moves the view with two fingers, of which one has moved. */
  #pinch(other, was, here) {
    const apart = (p) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    const { scale, x, y } = this.#around(this.view.scale * apart(here) / apart(was), (was.x + other.x) / 2, (was.y + other.y) / 2);
    this.#show(scale, x + (here.x - was.x) / 2, y + (here.y - was.y) / 2);
  }

  /** #small says whether seats are too small for a pointer. */
  #small(pointer) {
    return this.grid.usual * this.view.scale < (pickable[pointer] ?? pickable.mouse);
  }

  /** #hit is the seat at a point, or near it for a finger; -1: none. */
  #hit(point, pointer) {
    const { scale, x, y } = this.view;
    if (this.#small(pointer)) {
      return -1;
    }
    const reach = pointer === 'mouse' ? 2 : 12;
    return this.grid.nearest((point.x - x) / scale, (point.y - y) / scale, reach / scale);
  }

  #hovered(i, point) {
    if (i !== this.over) {
      this.over = i;
      this.canvas.classList.toggle('over', i >= 0);
      this.#ask();
    }
    this.hover(i, point);
  }

  /** #clicked picks a seat, or comes nearer where seats are too small for that. */
  #clicked(point, pointer) {
    const i = this.#hit(point, pointer);
    if (i >= 0) {
      this.#hovered(i, point);
      this.pick(i);
    } else if (this.#small(pointer)) {
      this.#glide(this.#around(9 / this.grid.usual, point.x, point.y));
    }
  }
}
