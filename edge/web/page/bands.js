// Bands of price: what seats cost, in colours, with a legend that filters.

import { money } from './words.js';

const most = 6; // bands; there are as many colours in seats.css

export class Bands {
  /** A change of the filter calls changed. */
  constructor(sale, root, changed) {
    const prices = [...new Set(sale.sections.filter((s) => s.price !== null).map((s) => Number(s.price)))].sort((a, b) => a - b);
    const size = Math.ceil(prices.length / most) || 1;
    this.bands = Array.from({ length: Math.ceil(prices.length / size) }, (_, k) => prices.slice(k * size, (k + 1) * size));
    this.of = sale.sections.map((s) => (s.price === null ? -1 : this.bands.findIndex((band) => band.includes(Number(s.price)))));
    this.only = new Set(); // the bands that are shown alone; none: all
    const currency = sale.sections.find((s) => s.price !== null)?.currency;
    root.hidden = this.bands.length < 2;
    root.replaceChildren(...this.bands.map((band, k) => this.#chip(band, k, currency, changed)));
  }

  #chip(band, k, currency, changed) {
    const button = document.createElement('button'), swatch = document.createElement('span');
    button.type = 'button';
    button.setAttribute('aria-pressed', 'false');
    swatch.className = `swatch band-${k}`;
    button.append(swatch, [...new Set([band[0], band.at(-1)])].map((price) => money(price, currency)).join(' – '));
    button.addEventListener('click', () => {
      const on = !this.only.delete(k);
      if (on) {
        this.only.add(k);
      }
      button.setAttribute('aria-pressed', String(on));
      changed();
    });
    return button;
  }

  /** shows says whether the filter lets a section through. */
  shows(section) {
    return this.only.size === 0 || this.only.has(this.of[section]);
  }
}
