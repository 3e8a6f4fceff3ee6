// The page of an event's seats: joins the sale, the map and the list with what is
// beside them. sale and map are exported for tests and the console.

import { call, now } from './api.js';
import { glyph, colours } from './glyph.js';
import { SeatList } from './list.js';
import { SeatMap } from './map.js';
import { Sale } from './sale.js';
import { available, held, sold, blocked, unsold, mine, states, clock, count, money } from './words.js';

const $ = (id) => document.getElementById(id);

export const sale = new Sale(location.pathname.split('/')[2]);
export let map = null;
let list = null;
let linked = true, moved = false; // the live connection is there; the map has changed
let ordering = false;

function start() {
  const { event } = sale;
  document.title = `${event.title}: seats`;
  $('title').textContent = event.title;
  const when = event.startDate && new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short', timeZone: event.timezone }).format(new Date(event.startDate));
  $('when').textContent = [when, event.venueName].filter(Boolean).join(' · ');

  map = new SeatMap($('map'), sale, { pick, hover });
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
    warn(`${sale.name(seat)} could not be had: ${why}.`);
  });
  sale.addEventListener('lost', ({ detail: { seats, why } }) => {
    seats.forEach((i) => map.flash(i));
    warn(`${seats.length === 1 ? `${sale.name(seats[0])} is` : `${count(seats.length)} are`} no longer yours: ${why}.`);
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
  const text = moved ? 'The seat map has changed. Load the page again.' :
    linked ? '' : 'The live connection is lost, and is being made again. Until then seats may look free that are not.';
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
    say(`${sale.name(i)} ${chosen ? 'given back' : 'chosen'}. ${count(sale.wanted.size)}${sale.wanted.size ? `, ${total()}` : ''}.`);
  } else if (sale.status(i) !== available) {
    say(`${sale.name(i)} is ${states[sale.status(i)]}.`);
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
  tip.textContent = `${sale.name(i)}\n${price === null ? '' : `${money(price, currency)}, `}${states[status]}`;
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

function selection() {
  const seats = [...sale.wanted].sort((a, b) => a - b);
  $('picked').replaceChildren(...seats.map(chosen));
  $('none').hidden = seats.length > 0;
  $('sum').hidden = $('drop').hidden = $('order').hidden = $('bar').hidden = seats.length === 0;
  $('order').querySelector('button').disabled = ordering || !sale.settled;
  $('total').textContent = total();
  $('bar-text').textContent = `${count(seats.length)}, ${total()}`;
  if (seats.length > 0) {
    $('done').hidden = true;
  }
  $('selection').hidden = !$('done').hidden;
  tick();
}

/** chosen is a seat of the selection. */
function chosen(i) {
  const seat = sale.seats[i], { name, price, currency } = sale.price(i);
  const li = document.createElement('li'), where = document.createElement('span'), section = document.createElement('small');
  li.className = sale.held.has(i) ? '' : 'asked';
  where.textContent = `Row ${seat.row}, seat ${seat.label}`;
  section.textContent = name + (seat.kind === 'standard' ? '' : `, ${seat.kind}`);
  where.prepend(section);
  const cost = document.createElement('span');
  cost.textContent = money(price, currency);
  const back = document.createElement('button');
  back.type = 'button';
  back.textContent = '×';
  back.setAttribute('aria-label', `Give back ${sale.name(i)}`);
  back.addEventListener('click', () => pick(i));
  li.append(where, cost, back);
  return li;
}

function tick() {
  sale.tick();
  const left = sale.expires && sale.wanted.size ? sale.expires - now() : 0;
  $('left').textContent = left > 0 ? `${clock(left)} left` : '';
  $('left').classList.toggle('soon', left < 60_000);
}

// Best available, and the order.

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
    say(`${seats.map((i) => sale.name(i)).join('; ')} chosen. ${count(seats.length)}, ${total()}.`);
  } catch (refusal) {
    warn(refusal.code === 'TICKET_SOLD_OUT' ? 'There are no such seats.' : refusal.message);
  } finally {
    button.disabled = false;
  }
});

$('drop').addEventListener('click', () => {
  sale.drop();
  say('All seats given back.');
});

$('order').addEventListener('submit', async (e) => {
  e.preventDefault();
  ordering = true;
  selection();
  try {
    placed(await sale.order($('name').value, $('email').value));
  } catch (refusal) {
    const issues = refusal.details.issues?.map((issue) => `${issue.path} ${issue.message}`).join('; ');
    warn(issues ? `${refusal.message} ${issues}` : refusal.message);
  } finally {
    ordering = false;
    selection();
  }
});

/** placed shows an order, and where to pay it. */
async function placed(order) {
  $('done').hidden = false;
  keepOrder(order);
  $('ordered').textContent = `Order ${order.orderNumber}`;
  $('see').href = `/o/${order.id}`;
  $('pay').hidden = true;
  say('');
  $('done').focus();
  if (order.status === 'completed') {
    $('due').textContent = 'It is complete: there is nothing to pay.';
    return;
  }
  const sum = money(order.total, order.currency);
  const fees = Number(order.fees) > 0 ? `, of which ${money(order.fees, order.currency)} are fees` : '';
  const until = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(new Date(order.expiresAt));
  $('due').textContent = `${count(order.items.reduce((n, item) => n + item.quantity, 0))}, ${sum}${fees}. Pay until ${until}, or the seats are free again.`;
  try {
    const pay = await call('POST', `/orders/${order.id}/pay`, { provider: 'paystack', token: order.accessToken });
    const to = new URL(pay.authorizationUrl);
    if (to.protocol !== 'https:' && to.protocol !== 'http:') throw new Error('The provider has sent no address of a page.');
    $('pay').href = to.href;
    $('pay').textContent = `Pay ${sum}`;
    $('pay').hidden = false;
  } catch (refusal) {
    warn(`It cannot be paid now. ${refusal.message}`);
  }
}

/** keepOrder keeps what opens the order, for its page. A browser that keeps nothing has the mail. */
function keepOrder(order) {
  try {
    localStorage.setItem(`order:${order.id}`, order.accessToken);
  } catch { /* it may keep nothing */ }
}

$('more').addEventListener('click', () => {
  $('done').hidden = true;
  selection();
});

$('bar-go').addEventListener('click', () => $('yours').scrollIntoView());
$('zoom-in').addEventListener('click', () => map.zoom(1.6));
$('zoom-out').addEventListener('click', () => map.zoom(1 / 1.6));
$('zoom-all').addEventListener('click', () => map.all());

/** legend shows what signs there are on this map. */
function legend() {
  const kinds = new Set(sale.seats.map((s) => s.kind));
  const signs = [available, mine, held, sold, blocked].map((status) => [status, 'standard', states[status]]);
  if (sale.sections.some((s) => s.price === null)) {
    signs.push([unsold, 'standard', states[unsold]]);
  }
  for (const [kind, text] of [['wheelchair', 'wheelchair place'], ['companion', "companion's seat"]]) {
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

try {
  await sale.open();
  start();
} catch (e) {
  $('banner').textContent = e.code === 'OFFLINE' ? 'The server cannot be reached. Load the page again.' : e.message;
  document.querySelector('main').hidden = true;
}
