// The page of an event's seats: joins the sale, the map and the list with what is
// beside them. sale and map are exported for tests and the console.

import { now } from './api.js';
import { Bands } from './bands.js';
import { glyph, colours } from './glyph.js';
import { SeatList } from './list.js';
import { SeatMap } from './map.js';
import { Sale } from './sale.js';
import { available, held, sold, blocked, unsold, mine, states, clock, count, explain, moment, money, t, translate } from './words.js';

const $ = (id) => document.getElementById(id);

export const sale = new Sale(location.pathname.split('/')[2]);
export let map = null;
let list = null, bands = null;
let linked = true, moved = false; // the live connection is there; the map has changed
let span = 1; // ms for which what is chosen was held at most
let gone = []; // the seats whose time was up

function start() {
  const { event } = sale;
  document.title = `${t.title(event.title)} · Boxoffice`;
  $('title').textContent = event.title;
  $('when').textContent = [event.startDate && moment(event.startDate, event.timezone), event.venueName].filter(Boolean).join(' · ');
  $('bones').hidden = true;
  document.querySelector('aside').inert = false;

  bands = new Bands(sale, $('prices'), filter);
  map = new SeatMap($('map'), sale, bands, { pick, hover });
  list = new SeatList($('list'), sale, pick);
  listen();
  legend();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', legend);
  addEventListener('hashchange', show);
  show();
  offer();
  selection();
  setInterval(tick, 500);
}

/** listen shows what the sale tells of. */
function listen() {
  sale.addEventListener('seats', ({ detail }) => {
    map.changed(detail);
    list.changed(detail);
  });
  sale.addEventListener('selection', selection);
  sale.addEventListener('said', ({ detail }) => say(detail));
  sale.addEventListener('refused', ({ detail: { seat, why } }) => {
    map.flash(seat);
    warn(t.refused(sale.name(seat), why));
  });
  sale.addEventListener('lost', ({ detail: { seats, why, over } }) => {
    seats.forEach((i) => map.flash(i));
    warn(seats.length === 1 ? t.lostOne(sale.name(seats[0]), why) : t.lost(count(seats.length), why));
    gone = over ? seats : [];
    $('again').hidden = gone.length === 0;
  });
  sale.addEventListener('link', ({ detail }) => {
    linked = detail;
    banner();
  });
  sale.addEventListener('moved', () => {
    moved = true;
    banner();
  });
}

/** banner says what is the matter with the map as a whole. */
function banner() {
  const text = moved ? t.moved : linked ? '' : t.unlinked;
  if ($('banner').textContent !== text) {
    $('banner').textContent = text;
  }
}

/** say tells of something in passing, warn of something bad. */
function say(text) {
  $('alert').textContent = '';
  $('said').textContent = text;
}

function warn(text) {
  $('said').textContent = '';
  $('alert').textContent = text;
}

/** filter shows seats of the chosen prices alone. */
function filter() {
  map.redraw();
  list.filter((section) => bands.shows(section));
}

/** show shows the map or the list, as the address says. */
function show() {
  const asList = location.hash === '#list';
  $('view-map').hidden = asList;
  $('view-list').hidden = !asList;
  $('to-map').ariaCurrent = asList ? null : 'true';
  $('to-list').ariaCurrent = asList ? 'true' : null;
  if (asList) {
    $('list').focus();
  }
}

function pick(i) {
  const chosen = sale.status(i) === mine;
  if (sale.toggle(i)) {
    say((chosen ? t.given : t.chosen)(sale.name(i), summary()));
  } else if (sale.status(i) !== available) {
    say(t.is(sale.name(i), states[sale.status(i)]));
  }
}

/** hover shows what the seat under the pointer is. */
function hover(i, point) {
  const tip = $('tip');
  tip.hidden = i < 0;
  if (i < 0) {
    return;
  }
  const { price, currency } = sale.price(i), status = sale.status(i);
  const name = document.createElement('strong');
  name.textContent = sale.name(i);
  tip.className = `band-${bands.of[sale.section[i]]}`;
  tip.replaceChildren(name, `\n${price === null ? '' : `${money(price, currency)}, `}${states[status]}`);
  const { width, height } = $('stage').getBoundingClientRect();
  const x = Math.max(4, Math.min(point.x + 14, width - tip.offsetWidth - 4));
  const y = point.y + 18 + tip.offsetHeight > height ? point.y - tip.offsetHeight - 12 : point.y + 18;
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

// The selection.

/** total is what the selection costs, in each of its currencies. */
function total() {
  const sums = new Map();
  for (const i of sale.wanted) {
    const { price, currency } = sale.price(i);
    sums.set(currency, (sums.get(currency) ?? 0) + Math.round(Number(price) * 1000));
  }
  return Array.from(sums, ([currency, sum]) => money(sum / 1000, currency)).join(' + ');
}

/** summary is how many seats are chosen, and what they cost. */
function summary() {
  return count(sale.wanted.size) + (sale.wanted.size ? `, ${total()}` : '');
}

function selection() {
  const seats = [...sale.wanted].sort((a, b) => a - b);
  $('picked').replaceChildren(...seats.map(chosen));
  $('none').hidden = seats.length > 0;
  $('sum').hidden = $('drop').hidden = $('go').hidden = $('bar').hidden = seats.length === 0;
  $('go').disabled = $('bar-go').disabled = !sale.settled;
  $('total').textContent = total();
  $('bar-text').textContent = summary();
  if (seats.length > 0) {
    $('again').hidden = true;
  }
  tick();
}

/** chosen is a seat of the selection. */
function chosen(i) {
  const seat = sale.seats[i], { name, price, currency } = sale.price(i);
  const li = document.createElement('li'), where = document.createElement('span'), section = document.createElement('small');
  li.className = sale.held.has(i) ? '' : 'asked';
  where.textContent = t.place(seat.row, seat.label);
  section.textContent = name + (seat.kind === 'standard' ? '' : `, ${t.kinds[seat.kind] ?? seat.kind}`);
  where.prepend(section);
  const cost = document.createElement('span');
  cost.textContent = money(price, currency);
  const back = document.createElement('button');
  back.type = 'button';
  back.textContent = '×';
  back.setAttribute('aria-label', t.giveBack(sale.name(i)));
  back.addEventListener('click', () => pick(i));
  li.append(where, cost, back);
  return li;
}

function tick() {
  sale.tick();
  const left = sale.expires && sale.wanted.size ? sale.expires - now() : 0;
  span = left > 0 ? Math.max(span, left) : 1;
  $('left').textContent = left > 0 ? t.left(clock(left)) : '';
  $('left').classList.toggle('soon', left < 60_000);
  $('time').hidden = left <= 0;
  $('more').hidden = left <= 0 || sale.event.extensions === false || $('more').disabled;
  $('time').value = Math.max(0, left) / span;
}

// Best available, and the way on.

/** offer fills in which prices there are, of sections that are for sale. */
function offer() {
  const names = new Map(sale.event.ticketTypes?.map((t) => [t.id, t.name]));
  const types = new Map();
  for (const s of sale.sections) {
    if (s.price !== null) {
      types.set(s.ticketTypeId, `${names.get(s.ticketTypeId) ?? s.name}, ${money(s.price, s.currency)}`);
    }
  }
  types.forEach((text, id) => $('best-type').append(new Option(text, id)));
}

$('best').addEventListener('submit', async (e) => {
  e.preventDefault();
  const wish = { quantity: $('best-quantity').valueAsNumber, adjacent: $('best-adjacent').checked, accessible: $('best-accessible').checked };
  if ($('best-type').value) {
    wish.ticketTypeId = $('best-type').value;
  }
  const button = e.submitter;
  button.disabled = true;
  try {
    await sale.best(wish);
    const seats = [...sale.wanted];
    map.reveal(seats);
    say(t.chosen(seats.map((i) => sale.name(i)).join('; '), summary()));
  } catch (refusal) {
    if (refusal.code === 'QUEUE_REQUIRED') {
      queueUp();
    }
    warn(refusal.code === 'TICKET_SOLD_OUT' ? t.none : explain(refusal));
  } finally {
    button.disabled = false;
  }
});

/** queueUp leads to the waiting room, which leads back. */
function queueUp() {
  sessionStorage.setItem(`queued:${sale.event.id}`, location.pathname);
  location.assign(`/e/${sale.event.slug}/queue`);
}

sale.addEventListener('queue', queueUp);

$('drop').addEventListener('click', () => {
  sale.drop();
  say(t.allGiven);
});

$('more').addEventListener('click', async () => {
  try {
    await sale.extend();
    say(t.longer);
  } catch (refusal) {
    $('more').disabled = refusal.code === 'EXTENSION_NOT_POSSIBLE'; // there is none any more
    warn($('more').disabled ? t.noLonger : explain(refusal));
  }
});

/** proceed takes what is held to the checkout, which everything else is bought at too. */
function proceed() {
  const { event } = sale;
  try {
    sessionStorage.setItem(`seats:${event.id}`, JSON.stringify({ holder: sale.holder, expires: sale.expires, span, lines: sale.lines() }));
  } catch { /* it may keep nothing: the checkout says that nothing is chosen */ }
  location.assign(`/e/${event.slug}/checkout?seats`);
}

$('go').addEventListener('click', proceed);
$('bar-go').addEventListener('click', proceed);

$('again').addEventListener('click', () => {
  $('again').hidden = true;
  $('alert').textContent = '';
  gone.filter((i) => sale.status(i) === available).forEach((i) => sale.toggle(i));
});

$('zoom-in').addEventListener('click', () => map.zoom(1.6));
$('zoom-out').addEventListener('click', () => map.zoom(1 / 1.6));
$('zoom-all').addEventListener('click', () => map.all());

/** legend shows what signs there are on this map. */
function legend() {
  const kinds = new Set(sale.seats.map((s) => s.kind));
  const signs = [...(bands.bands.length > 1 ? [] : [available]), mine, held, sold, blocked].map((status) => [status, 'standard', states[status]]);
  if (sale.sections.some((s) => s.price === null)) {
    signs.push([unsold, 'standard', states[unsold]]);
  }
  for (const [kind, text] of Object.entries(t.kinds)) {
    if (kinds.has(kind)) {
      signs.push([available, kind, text]);
    }
  }
  const colour = colours($('legend'));
  $('legend').replaceChildren(...signs.map(([status, kind, text]) => {
    const li = document.createElement('li'), canvas = document.createElement('canvas');
    canvas.width = canvas.height = 36;
    canvas.setAttribute('aria-hidden', 'true');
    glyph(canvas.getContext('2d'), colour, status, kind, 18, 18, 16);
    li.append(canvas, text);
    return li;
  }));
}

translate();
$('back').href = `/e/${sale.slug}`;
try {
  await sale.open();
  start();
} catch (e) {
  $('banner').textContent = e.code === 'OFFLINE' ? t.offline : e.message;
  document.querySelector('main').hidden = true;
}
