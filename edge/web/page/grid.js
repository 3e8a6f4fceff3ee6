// Where seats are: their points and sizes, a grid of cells to find them by, and
// the boxes of sections.

const perCell = 32; // seats, about
const measured = 40; // seats of a section whose neighbours are looked for

export class Grid {
  constructor(sale) {
    const n = sale.seats.length;
    this.x = Float32Array.from(sale.seats, (s) => s.x);
    this.y = Float32Array.from(sale.seats, (s) => s.y);
    this.box = this.around(sale.seats.keys());
    for (const e of sale.elements) {
      this.box.left = Math.min(this.box.left, e.x);
      this.box.top = Math.min(this.box.top, e.y);
      this.box.right = Math.max(this.box.right, e.x + e.width);
      this.box.bottom = Math.max(this.box.bottom, e.y + e.height);
    }
    this.#sort(n);
    this.#measure(sale);
    this.#sections(sale);
    this.#rows(sale);
  }

  /** around is the box of some seats, with room for a seat on each side. */
  around(seats) {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const i of seats) {
      box.left = Math.min(box.left, this.x[i]);
      box.top = Math.min(box.top, this.y[i]);
      box.right = Math.max(box.right, this.x[i]);
      box.bottom = Math.max(box.bottom, this.y[i]);
    }
    const room = 2 * (this.usual ?? 10);
    return { left: box.left - room, top: box.top - room, right: box.right + room, bottom: box.bottom + room };
  }

  /** #sort puts the seats into cells: those of cell c are order[start[c]] to order[start[c+1]-1]. */
  #sort(n) {
    const width = this.box.right - this.box.left, height = this.box.bottom - this.box.top;
    this.cell = Math.max(1, Math.sqrt(width * height * perCell / n));
    this.columns = Math.floor(width / this.cell) + 1;
    this.lines = Math.floor(height / this.cell) + 1;
    this.start = new Int32Array(this.columns * this.lines + 1);
    for (let i = 0; i < n; i++) {
      this.start[this.#cellOf(i) + 1]++;
    }
    for (let c = 1; c < this.start.length; c++) {
      this.start[c] += this.start[c - 1];
    }
    const next = this.start.slice();
    this.order = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      this.order[next[this.#cellOf(i)]++] = i;
    }
  }

  #cellOf(i) {
    return this.#column(this.x[i]) + this.#line(this.y[i]) * this.columns;
  }

  #column(x) {
    return Math.min(this.columns - 1, Math.max(0, Math.floor((x - this.box.left) / this.cell)));
  }

  #line(y) {
    return Math.min(this.lines - 1, Math.max(0, Math.floor((y - this.box.top) / this.cell)));
  }

  /** runs are the parts of order, each with its end, that a box touches. */
  *#runs(box) {
    const from = this.#column(box.left), to = this.#column(box.right);
    for (let line = this.#line(box.top); line <= this.#line(box.bottom); line++) {
      yield [this.start[line * this.columns + from], this.start[line * this.columns + to + 1]];
    }
  }

  /** within calls f for every seat of the cells that a box touches. */
  within(box, f) {
    for (const [start, end] of this.#runs(box)) {
      for (let k = start; k < end; k++) {
        f(this.order[k]);
      }
    }
  }

  /** count is how many seats those are. */
  count(box) {
    let n = 0;
    for (const [start, end] of this.#runs(box)) {
      n += end - start;
    }
    return n;
  }

  /** nearest is the seat at a point, or at most reach off it; -1: none. */
  nearest(x, y, reach) {
    const around = this.most + reach;
    let best = -1, least = Infinity;
    this.within({ left: x - around, top: y - around, right: x + around, bottom: y + around }, (i) => {
      const distance = Math.hypot(this.x[i] - x, this.y[i] - y);
      if (distance < least && distance <= this.radius[i] + reach) {
        best = i;
        least = distance;
      }
    });
    return best;
  }

  /**
   * #measure gives the seats of a section one radius, with a gap between neighbours: by
   * what lies between neighbours in the median of some of its seats, spread over all.
   */
  #measure(sale) {
    const apart = sale.sections.map(() => []), sizes = sale.sections.map(() => 0);
    sale.section.forEach((s) => { sizes[s]++; });
    const every = sizes.map((n) => Math.ceil(n / measured)), seen = sizes.map(() => 0);
    for (let i = 0; i < this.x.length; i++) {
      const s = sale.section[i];
      if (seen[s]++ % every[s] === 0) {
        const least = this.#next(i);
        if (least < Infinity) {
          apart[s].push(least);
        }
      }
    }
    const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
    const radii = apart.map((list) => 0.43 * median(list));
    this.usual = median(radii.filter((r) => r > 0)) ?? 10;
    this.most = 1.2 * this.usual; // seats far apart are no larger
    this.radius = Float32Array.from(sale.section, (s) => Math.min(radii[s] || this.usual, this.most));
  }

  /** #next is how far a seat's next neighbour is, of those about a cell around it; Infinity: there is none. */
  #next(i) {
    const reach = this.cell / 2;
    let least = Infinity;
    this.within({ left: this.x[i] - reach, top: this.y[i] - reach, right: this.x[i] + reach, bottom: this.y[i] + reach }, (k) => {
      const distance = (this.x[k] - this.x[i]) ** 2 + (this.y[k] - this.y[i]) ** 2;
      if (k !== i && distance > 0 && distance < least) {
        least = distance;
      }
    });
    return Math.sqrt(least);
  }

  #sections(sale) {
    const seats = sale.sections.map(() => []);
    sale.section.forEach((s, i) => seats[s].push(i));
    this.sections = seats.map((list) => {
      if (list.length === 0) {
        return null;
      }
      const middle = (of) => list.reduce((sum, i) => sum + of[i], 0) / list.length;
      return { ...this.around(list), x: middle(this.x), y: middle(this.y) };
    });
  }

  /** #rows finds where the labels of rows go: before the first seat. */
  #rows(sale) {
    this.rows = [];
    sale.seats.forEach((s, i) => {
      const last = sale.seats[i - 1];
      if (last && last.row === s.row && last.sectionId === s.sectionId) {
        return;
      }
      const next = sale.seats[i + 1], radius = this.radius[i];
      let dx = -1, dy = 0;
      if (next && next.row === s.row && next.sectionId === s.sectionId) {
        const length = Math.hypot(s.x - next.x, s.y - next.y) || 1;
        dx = (s.x - next.x) / length;
        dy = (s.y - next.y) / length;
      }
      this.rows.push({ label: s.row, radius, x: s.x + 2.4 * radius * dx, y: s.y + 2.4 * radius * dy });
    });
  }
}
