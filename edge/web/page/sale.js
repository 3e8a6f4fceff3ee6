// An event's seats and this shopper's selection: what the API and the live stream
// say, and what the shopper wants. It draws nothing, and tells of changes by
// events:
//
//   seats      these have changed (detail: their indexes)
//   selection  the selection or its time has changed
//   link       whether the live stream is there (detail)
//   refused    a seat was not to be had (detail: seat, why)
//   lost       seats were the shopper's and are no longer (detail: seats, why, over if their time is up)
//   said       something to tell the shopper (detail)
//   queue      the event has a waiting room, which admits first
//   moved      the organizer has changed the map: load the page again

import { call, kept, now, uuid } from './api.js';
import { available, held, sold, blocked, unsold, mine, explain, reason, t } from './words.js';

export const maxPicked = 50;

const doubtTime = 1000; // ms until a seat counts as lost that the stream says is
const claimTime = 2000; // ms that a tab that is loaded again waits for its old page to go
const silenceTime = 120_000; // ms without a snapshot until the stream counts as dead

const packedStates = [available, held, sold, blocked];
const updates = { sold, held, released: available, blocked, unblocked: available };

export class Sale extends EventTarget {
  wanted = new Set(); // what the shopper wants: indexes, in the order of picking
  held = new Set(); // what the service has said is his
  expires = 0; // when that ends, on the server's clock; 0: nothing is held
  #freed = new Set(); // given back; the stream may not have said so yet
  #doubted = new Set(); // held once, and being asked for again
  #doubt = 0; // timer
  #busy = null; // ends with the request that is on its way, if any
  #settling = false;

  constructor(slug) {
    super();
    this.slug = slug;
  }

  /** open loads the event and its map. */
  async open() {
    this.event = await call('GET', `/events/${this.slug}`);
    this.path = `/public/events/${this.event.id}`;
    const map = await call('GET', `${this.path}/seatmap?live=true`);
    const drawing = await kept(map.drawingUrl);
    this.map = map;
    this.canvas = map.canvas;
    this.elements = drawing.elements;
    this.sections = map.sections;
    for (const s of this.sections) {
      s.price = s.priceTotal ?? s.price; // what a buyer pays; a node of the release before says it without fees
    }
    this.seats = drawing.rows.flatMap(seatsOf);
    const order = new Map(map.sections.map((s, i) => [s.id, i]));
    this.section = Uint16Array.from(this.seats, (s) => order.get(s.sectionId));
    this.index = new Map(this.seats.map((s, i) => [s.id, i]));
    this.state = new Uint8Array(this.seats.length);
    this.free = new Int32Array(map.sections.length); // available seats of each section
    for (const s of this.section) {
      this.free[s]++;
    }
    await this.#remember();
    this.#watch();
    this.#settle();
  }

  /** settled says whether the service has what is wanted. */
  get settled() {
    return same(this.wanted, this.held);
  }

  /** status is what the shopper sees of a seat. */
  status(i) {
    if (this.wanted.has(i)) {
      return mine;
    }
    if (this.sections[this.section[i]].price === null) {
      return unsold;
    }
    return this.#freed.has(i) ? available : this.state[i];
  }

  /** name is what a seat is called. */
  name(i) {
    const s = this.seats[i];
    const kind = s.kind === 'standard' ? '' : ` (${t.kinds[s.kind] ?? s.kind})`;
    return t.seat(this.sections[this.section[i]].name, s.row, s.label) + kind;
  }

  price(i) {
    return this.sections[this.section[i]];
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // The live stream.

  #watch() {
    const stream = new EventSource(`/api/v1${this.path}/seats/live?packed=true`);
    let silence = 0;
    const again = () => {
      clearTimeout(silence);
      stream.close();
      this.#tell('link', false);
      setTimeout(() => this.#watch(), 2000 + Math.random() * 6000); // all who were cut off don't come at once
    };
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(again, silenceTime);
      this.#tell('link', true);
    };
    stream.addEventListener('open', heard);
    stream.addEventListener('snapshot', (e) => {
      heard();
      this.#replace(JSON.parse(e.data));
    });
    stream.addEventListener('seat_update', (e) => {
      heard();
      this.#update(JSON.parse(e.data));
    });
    stream.addEventListener('error', () => {
      this.#tell('link', false); // the browser comes back by itself...
      if (stream.readyState === EventSource.CLOSED) {
        again(); // ...unless it was refused
      }
    });
  }

  #replace(snapshot) {
    const states = snapshot.states === undefined ? this.#listed(snapshot) : this.#unpacked(snapshot);
    const changed = [];
    states.forEach((to, i) => {
      if (to !== this.state[i]) {
        changed.push(i);
        this.#set(i, to);
      }
    });
    this.#tell('seats', changed);
  }

  /** #unpacked are the states of a snapshot. That of another map means that ours is old. */
  #unpacked(snapshot) {
    if (snapshot.venueMapId !== this.map.venueMapId || snapshot.version !== this.map.version) {
      this.#tell('moved');
      return this.state;
    }
    const packed = atob(snapshot.states);
    return Uint8Array.from(this.state, (_, i) => packedStates[(packed.charCodeAt(i >> 2) >> (2 * (i & 3))) & 3]);
  }

  /** #listed are the states of a snapshot from a node of the release before. */
  #listed(snapshot) {
    const states = new Uint8Array(this.state.length);
    for (const kind of ['sold', 'blocked', 'held']) {
      for (const i of this.#indexes(snapshot[kind])) {
        states[i] = updates[kind];
      }
    }
    return states;
  }

  #update(frame) {
    const changed = [];
    for (const kind of Object.keys(frame)) {
      for (const i of this.#indexes(frame[kind])) {
        changed.push(i);
        this.#set(i, updates[kind]);
      }
    }
    this.#tell('seats', changed);
  }

  /** #indexes finds seats. Those of another map mean that ours is old. */
  #indexes(ids) {
    const found = ids.map((id) => this.index.get(id)).filter((i) => i !== undefined);
    if (found.length < ids.length) {
      this.#tell('moved');
    }
    return found;
  }

  #set(i, to) {
    this.free[this.section[i]] += (to === available) - (this.state[i] === available);
    this.state[i] = to;
    this.#freed.delete(i);
    if (to !== held && this.held.has(i) && this.wanted.has(i)) {
      this.#suspect();
    }
  }

  // The selection.

  /** toggle picks a seat or gives it back. It says whether that may be. */
  toggle(i) {
    const status = this.status(i);
    if (status !== available && status !== mine) {
      return false;
    }
    if (status === available && this.wanted.size >= maxPicked) {
      this.#tell('said', t.most(maxPicked));
      return false;
    }
    if (status === mine) {
      this.wanted.delete(i);
      this.#freed.add(i);
    } else {
      this.wanted.add(i);
      this.#freed.delete(i);
    }
    this.#changed([i]);
    this.#settle();
    return true;
  }

  /** drop gives everything back. */
  drop() {
    const all = [...this.wanted];
    this.wanted.clear();
    all.forEach((i) => this.#freed.add(i));
    this.#changed(all);
    this.#settle();
  }

  /** best has the service choose: quantity, ticketTypeId?, adjacent, accessible. */
  async best(wish) {
    await this.#exclusive(async () => {
      const r = await call('POST', `${this.path}/seats/best-available`, { holder: this.holder, ...wish }, this.#admission());
      const before = [...this.wanted];
      this.held = new Set(this.#indexes(r.held));
      this.wanted = new Set(this.held);
      this.expires = Date.parse(r.expiresAt);
      this.#changed([...before, ...this.wanted]);
    });
    this.#settle(); // seats may have been clicked meanwhile
  }

  /** extend asks for more time for what is held. */
  async extend() {
    await this.#exclusive(async () => {
      const r = await call('POST', `${this.path}/seats/extend`, { holder: this.holder });
      this.expires = Date.parse(r.expiresAt);
      this.#changed([]);
    });
  }

  /** lines are those of an order of what is held: the seats by ticket type, each with its name. */
  lines() {
    const lines = new Map();
    for (const i of this.held) {
      const type = this.price(i).ticketTypeId;
      lines.set(type, [...(lines.get(type) ?? []), { id: this.seats[i].id, name: this.name(i) }]);
    }
    return Array.from(lines, ([ticketTypeId, seats]) => ({ ticketTypeId, seats }));
  }

  /** tick ends the selection when its time is up. */
  tick() {
    if (this.expires && now() >= this.expires && !this.#busy) {
      this.#expire();
    }
  }

  #expire() {
    const seats = [...this.wanted];
    this.wanted.clear();
    this.held.clear();
    this.expires = 0;
    this.#changed(seats);
    this.#tell('lost', { seats, why: reason('time_up'), over: true });
  }

  #changed(seats) {
    this.#keep(false);
    this.#tell('seats', seats);
    this.#tell('selection');
  }

  /** #keep keeps the selection for when the page is loaded again; a queued one although it is not held yet. */
  #keep(queued) {
    const kept = { holder: this.holder, seats: Array.from(this.wanted, (i) => this.seats[i].id), expires: this.expires, queued };
    sessionStorage.setItem(this.path, JSON.stringify(kept));
  }

  /** #remember takes up the selection that the page had before it was loaded again. */
  async #remember() {
    const kept = JSON.parse(sessionStorage.getItem(this.path) ?? '{}');
    if (!kept.holder || !await claim(kept.holder, AbortSignal.timeout(claimTime))) {
      this.holder = uuid();
      claim(this.holder);
      return;
    }
    this.holder = kept.holder;
    if (kept.expires > now() || kept.queued) {
      this.wanted = new Set(this.#indexes(kept.seats));
    }
  }

  /** #admission is the header that admits from a waiting room, if this tab has been admitted. */
  #admission() {
    const { token } = JSON.parse(sessionStorage.getItem(`admission:${this.event.id}`) ?? '{}');
    return token ? { 'X-Queue-Admission': token } : {};
  }

  /** #exclusive does one thing at a time with the selection. */
  async #exclusive(work) {
    while (this.#busy) {
      await this.#busy;
    }
    let done;
    this.#busy = new Promise((resolve) => done = resolve);
    try {
      return await work();
    } finally {
      this.#busy = null;
      done();
    }
  }

  /** #settle tells the service what is wanted, until that is what it has: the newest wish wins. */
  async #settle() {
    if (this.#settling) {
      return;
    }
    this.#settling = true;
    while (!this.settled) {
      try {
        await this.#exclusive(() => this.#exchange());
      } catch (e) {
        if (e.code === 'QUEUE_REQUIRED') {
          this.#keep(true);
          this.#tell('queue');
          return;
        }
        this.#tell('said', explain(e));
        if (e.retry) {
          await new Promise((resolve) => setTimeout(resolve, e.retry * 1000));
        } else {
          const all = [...this.wanted, ...this.held];
          this.wanted = new Set(this.held);
          this.#changed(all);
        }
      }
    }
    this.#settling = false;
    this.#tell('selection');
  }

  async #exchange() {
    const ids = Array.from(this.wanted, (i) => this.seats[i].id);
    const before = this.held, path = `${this.path}/seats/hold`;
    if (ids.length === 0) {
      await call('DELETE', path, { holder: this.holder });
    }
    const r = ids.length === 0 ? { held: [], failed: [] } : await call('POST', path, { holder: this.holder, seatIds: ids }, this.#admission());
    this.held = new Set(this.#indexes(r.held));
    this.expires = Date.parse(r.expiresAt) || 0;
    const failed = this.#indexes(r.failed);
    for (const i of failed) {
      this.wanted.delete(i);
      const code = r.reasons[this.seats[i].id], why = reason(code);
      if (code === 'unknown') {
        this.#tell('moved');
      }
      if (this.#doubted.delete(i)) {
        this.#tell('lost', { seats: [i], why });
      } else {
        this.#tell('refused', { seat: i, why });
      }
    }
    this.#doubted.clear();
    this.#changed([...before, ...this.held, ...failed]);
    const freed = [...this.#freed].filter((i) => !this.wanted.has(i));
    setTimeout(() => { // the stream has spoken by then, or others hold them now
      freed.forEach((i) => this.#freed.delete(i));
      this.#tell('seats', freed);
    }, doubtTime);
  }

  /**
   * #suspect looks a moment later whether seats that should be held are, for the
   * stream may be behind the answers. Those that are not are asked for again, and
   * the answer decides.
   */
  #suspect() {
    clearTimeout(this.#doubt);
    this.#doubt = setTimeout(() => {
      const gone = [...this.held].filter((i) => this.state[i] !== held);
      if (gone.length === 0) {
        return;
      }
      if (this.#busy) {
        this.#suspect();
      } else if (now() > this.expires - 2 * doubtTime) {
        this.#expire();
      } else {
        gone.forEach((i) => this.#doubted.add(i) && this.held.delete(i));
        this.#settle();
      }
    }, doubtTime);
  }
}

/** seatsOf lists the seats of a row of the drawing. */
function seatsOf({ sectionId, label: row, ids, labels, x, y, kinds }) {
  return ids.map((id, i) => ({ id, label: labels[i], sectionId, row, x: x[i], y: y[i], kind: kinds?.[i] ?? 'standard' }));
}

function same(a, b) {
  return a.size === b.size && [...a].every((x) => b.has(x));
}

/**
 * claim makes a holder this tab's own, as long as the tab is open. With a signal it
 * gives up then: a duplicate of a tab begins with the other's memory, and never gets
 * the holder.
 */
function claim(holder, signal) {
  if (!navigator.locks) { // a page that came by plain HTTP
    return true;
  }
  return new Promise((resolve) => {
    navigator.locks.request(holder, { signal }, () => {
      resolve(true);
      return new Promise(() => {}); // kept until the tab closes
    }).catch(() => resolve(false));
  });
}
