// What states, reasons and prices are called, in the reader's language. States are numbers: the
// first four are what the public sees of a seat, the last two what this shopper does.

export const available = 0, held = 1, sold = 2, blocked = 3, unsold = 4, mine = 5;

/** language is a tag for Intl; spoken is the one of ours that it stands for, as in the shop. */
const tags = [chosen(), ...navigator.languages].filter(Boolean);
export const spoken = tags.map((tag) => tag.slice(0, 2)).find((tag) => tag === 'en' || tag === 'de') ?? 'en';
export const language = navigator.languages.find((tag) => tag.startsWith(spoken)) ?? spoken;

function chosen() {
  try {
    return localStorage.getItem('language');
  } catch {
    return null; // it may keep nothing
  }
}

const english = {
  states: ['available', 'held by somebody', 'sold', 'withheld', 'not for sale', 'yours'],
  kinds: { wheelchair: 'wheelchair place', companion: "companion's seat" },
  reasons: {
    unknown: 'it is no longer on the map',
    not_for_sale: 'it is not for sale',
    taken: 'somebody was faster',
    blocked: 'it is withheld',
    needs_wheelchair: 'it goes with a wheelchair place only',
    leaves_single: 'it would leave a single seat; choose the one beside it, or another',
    time_up: 'their time is up',
  },
  seats: (n) => (n === 1 ? '1 seat' : `${n.toLocaleString(language)} seats`),
  row: (row) => `Row ${row}`,
  place: (row, label) => `Row ${row}, seat ${label}`,
  seat: (section, row, label) => `${section}, row ${row}, seat ${label}`,
  title: (event) => `${event}: seats`,
  chosen: (seat, sum) => `${seat} chosen. ${sum}.`,
  given: (seat, sum) => `${seat} given back. ${sum}.`,
  is: (seat, state) => `${seat} is ${state}.`,
  refused: (seat, why) => `${seat} could not be had: ${why}.`,
  lostOne: (seat, why) => `${seat} is no longer yours: ${why}.`,
  lost: (seats, why) => `${seats} are no longer yours: ${why}.`,
  most: (n) => `At most ${n} seats can be chosen at a time.`,
  left: (time) => `${time} left`,
  longer: 'You have more time now.',
  noLonger: 'There is no more time for this.',
  giveBack: (seat) => `Give back ${seat}`,
  allGiven: 'All seats given back.',
  none: 'There are no such seats.',
  free: 'free',
  unpriced: '— not for sale',
  priced: (price, free, all) => `— ${price}, ${free} of ${all} available`,
  moved: 'The seat map has changed. Load the page again.',
  unlinked: 'The live connection is lost, and is being made again. Until then seats may look free that are not.',
  offline: 'The server cannot be reached. Load the page again.',
  away: 'The server cannot be reached. Look at your connection, then try again.',
  wait: 'Too many requests from your network. Wait a moment.',
};

const german = {
  states: ['frei', 'von jemandem gehalten', 'verkauft', 'zurückgehalten', 'nicht im Verkauf', 'deiner'],
  kinds: { wheelchair: 'Rollstuhlplatz', companion: 'Begleitplatz' },
  reasons: {
    unknown: 'er ist nicht mehr auf dem Plan',
    not_for_sale: 'er ist nicht im Verkauf',
    taken: 'jemand war schneller',
    blocked: 'er ist zurückgehalten',
    needs_wheelchair: 'ihn gibt es nur zu einem Rollstuhlplatz',
    leaves_single: 'er ließe einen einzelnen Platz übrig; nimm den daneben oder einen anderen',
    time_up: 'die Zeit ist um',
  },
  seats: (n) => (n === 1 ? '1 Platz' : `${n.toLocaleString(language)} Plätze`),
  row: (row) => `Reihe ${row}`,
  place: (row, label) => `Reihe ${row}, Platz ${label}`,
  seat: (section, row, label) => `${section}, Reihe ${row}, Platz ${label}`,
  title: (event) => `${event}: Plätze`,
  chosen: (seat, sum) => `${seat} gewählt. ${sum}.`,
  given: (seat, sum) => `${seat} zurückgegeben. ${sum}.`,
  is: (seat, state) => `${seat} ist ${state}.`,
  refused: (seat, why) => `${seat} war nicht zu haben: ${why}.`,
  lostOne: (seat, why) => `${seat} ist nicht mehr deiner: ${why}.`,
  lost: (seats, why) => `${seats} sind nicht mehr deine: ${why}.`,
  most: (n) => `Höchstens ${n} Plätze lassen sich auf einmal wählen.`,
  left: (time) => `noch ${time}`,
  longer: 'Du hast jetzt mehr Zeit.',
  noLonger: 'Mehr Zeit gibt es dafür nicht.',
  giveBack: (seat) => `${seat} zurückgeben`,
  allGiven: 'Alle Plätze zurückgegeben.',
  none: 'Solche Plätze gibt es nicht.',
  free: 'kostenlos',
  unpriced: '– nicht im Verkauf',
  priced: (price, free, all) => `– ${price}, ${free} von ${all} frei`,
  moved: 'Der Saalplan hat sich geändert. Lade die Seite neu.',
  unlinked: 'Die Verbindung ist abgerissen und wird neu aufgebaut. Bis dahin können Plätze frei aussehen, die es nicht sind.',
  offline: 'Der Server ist nicht zu erreichen. Lade die Seite neu.',
  away: 'Der Server ist nicht zu erreichen. Prüfe die Verbindung und versuche es noch einmal.',
  wait: 'Zu viele Anfragen aus deinem Netz. Warte einen Moment.',
  page: {
    skip: 'Plätze aus einer Liste wählen', back: '← Zur Veranstaltung', map: 'Plan', list: 'Liste', hint: 'Öffne einen Bereich. Tab geht von Reihe zu Reihe, die Pfeiltasten gehen in der Reihe, Enter wählt einen Platz oder gibt ihn zurück.',
    shown: 'Wie die Plätze gezeigt werden', drawing: 'Saalplan', drawn: 'Eine Zeichnung der Plätze. Die Liste der Plätze sagt dasselbe.', nearer: 'Näher', farther: 'Weiter weg', all: 'Alle Plätze zeigen', allShort: 'Alle',
    signs: 'Was die Zeichen bedeuten', seats: 'Liste der Plätze', order: 'Deine Auswahl', prices: 'Preise mit allen Gebühren', loading: 'Die Plätze werden geladen',
    best: 'Die besten Plätze', quantity: 'Plätze', at: 'Zu', any: 'jedem Preis', adjacent: ' nur nebeneinander', wheelchair: ' mit einem Rollstuhlplatz', find: 'Plätze suchen',
    yours: 'Deine Plätze', none: 'Wähle Plätze auf dem Plan oder in der Liste, höchstens 50.', sum: 'Summe, mit allen Gebühren', drop: 'Alle zurückgeben', go: 'Weiter', again: 'Noch einmal halten', more: 'Mehr Zeit', time: 'Zeit, die dir die Plätze bleiben',
  },
};

/** t is what the page says. */
export const t = spoken === 'de' ? german : english;
export const { states } = t;

/** translate puts the texts of the page itself into the reader's language. They are English as they come. */
export function translate() {
  document.documentElement.lang = spoken;
  if (!t.page) {
    return;
  }
  for (const e of document.querySelectorAll('[data-t]')) {
    e.textContent = t.page[e.dataset.t];
  }
  for (const e of document.querySelectorAll('[data-label]')) {
    e.setAttribute('aria-label', t.page[e.dataset.label]);
  }
}

/** explain says what a refusal means, in the reader's language where we have words for it. */
export function explain({ code, message }) {
  return { OFFLINE: t.away, RATE_LIMITED: t.wait }[code] ?? message;
}

export function reason(code) {
  return t.reasons[code] ?? code;
}

/** money writes a decimal amount, such as "12.50", in a currency; a text has all places of the currency. */
export function money(amount, currency) {
  const style = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' };
  if (typeof amount === 'string') style.minimumFractionDigits = style.maximumFractionDigits = amount.split('.')[1]?.length ?? 0;
  return new Intl.NumberFormat(language, style).format(amount);
}

/** moment writes when an event begins, on the clocks of its place. */
export function moment(at, timeZone) {
  return new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone }).format(new Date(at));
}

/** count writes a number of seats. */
export function count(n) {
  return t.seats(n);
}

/** clock writes a time of milliseconds as minutes and seconds. */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
