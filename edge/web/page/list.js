// The list of seats: what the map shows, for those who use a keyboard or a screen
// reader. Sections open to rows, rows are groups of buttons: Tab goes from row to
// row, the arrow keys go along a row. What is open is kept up to date.

import { available, mine, states, money, t } from './words.js';

export class SeatList {
  /** Buttons call pick. */
  constructor(root, sale, pick) {
    this.sale = sale;
    this.pick = pick;
    this.buttons = new Map(); // of the seats that are listed by now
    this.counts = []; // of the sections
    const seats = sale.sections.map(() => []);
    sale.section.forEach((s, i) => seats[s].push(i));
    sale.sections.forEach((section, k) => root.append(this.#section(section, k, seats[k])));
    root.addEventListener('click', (e) => this.#clicked(e.target.closest('button')));
    root.addEventListener('keydown', (e) => this.#key(e));
  }

  /** changed brings seats up to date. */
  changed(seats) {
    for (const i of seats) {
      if (this.buttons.has(i)) {
        this.#show(i);
      }
    }
    new Set(seats.map((i) => this.sale.section[i])).forEach((k) => this.#count(k));
  }

  /** filter shows those sections alone of which shows says so. */
  filter(shows) {
    this.counts.forEach(({ details }, k) => { details.hidden = !shows(k); });
  }

  #section(section, k, seats) {
    const details = element('details'), summary = element('summary', section.name + ' ');
    this.counts[k] = { details, text: element('span'), seats: seats.length };
    summary.append(this.counts[k].text);
    details.append(summary);
    details.addEventListener('toggle', () => this.#open(details, seats), { once: true });
    this.#count(k);
    return details;
  }

  #count(k) {
    const { price, currency } = this.sale.sections[k], { text, seats } = this.counts[k];
    text.textContent = price === null ? t.unpriced : t.priced(money(price, currency), this.sale.free[k], seats);
  }

  /** #open lists the seats of a section. */
  #open(details, seats) {
    let row = null, group = null;
    for (const i of seats) {
      const seat = this.sale.seats[i];
      if (seat.row !== row) {
        row = seat.row;
        group = this.#row(details, row);
      }
      const button = element('button', seat.label);
      button.type = 'button';
      button.value = i;
      button.tabIndex = group.childElementCount === 0 ? 0 : -1;
      button.append(element('small'));
      this.buttons.set(i, button);
      this.#show(i);
      group.append(button);
    }
  }

  #row(details, label) {
    const row = element('div'), heading = element('h3', t.row(label)), group = element('div');
    row.className = 'row';
    group.setAttribute('role', 'group');
    group.setAttribute('aria-label', t.row(label));
    row.append(heading, group);
    details.append(row);
    return group;
  }

  #show(i) {
    const button = this.buttons.get(i), status = this.sale.status(i), { kind } = this.sale.seats[i];
    button.setAttribute('aria-pressed', status === mine);
    button.setAttribute('aria-disabled', status !== mine && status !== available);
    button.lastChild.textContent = (kind === 'standard' ? ' ' : ` ${t.kinds[kind] ?? kind}, `) + states[status];
  }

  #clicked(button) {
    if (button) {
      this.#enter(button);
      this.pick(Number(button.value));
    }
  }

  #key(e) {
    const button = e.target.closest('button');
    const to = button && {
      ArrowRight: button.nextElementSibling,
      ArrowLeft: button.previousElementSibling,
      Home: button.parentElement.firstElementChild,
      End: button.parentElement.lastElementChild,
    }[e.key];
    if (to) {
      e.preventDefault();
      this.#enter(to);
      to.focus();
    }
  }

  /** #enter makes a button the one of its row that Tab comes to. */
  #enter(button) {
    for (const other of button.parentElement.children) {
      other.tabIndex = other === button ? 0 : -1;
    }
  }
}

function element(name, text = '') {
  const e = document.createElement(name);
  e.textContent = text;
  return e;
}
