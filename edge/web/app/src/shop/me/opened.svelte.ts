// A pass of the wallet that is open: its codes for the next hours, and what is kept of it.
import { ask, type Schemas } from '../../shared/api/client';
import { now, Ticker } from '../../shared/clock.svelte';
import { everyHalfHour, goOn, hours, isNear, stepAt, turn } from '../pass/ahead';
import { keepFiles, keepPass, person } from '../pass/kept';
import type { Held, Wallet } from './wallet.svelte';

export class Opened {
  readonly ticker = new Ticker();
  readonly #step = $derived(stepAt(this.ticker.now));
  #asked = -Infinity; // when codes for later were asked for
  #ahead = $state.raw<Schemas['Ticket'][]>([]);
  readonly #whole: Held[] = $derived.by(() => this.told().map((t) => goOn(t, this.#ahead.find((a) => a.id === t.id))));
  /** tickets are the pass's, each with the code of this moment. */
  readonly tickets: Held[] = $derived.by(() => this.#whole.map((t) => turn(t, this.#step)));

  /** told returns the tickets as the server told them last. */
  constructor(readonly wallet: Wallet, readonly told: () => Held[]) {}

  /** keep keeps the pass around its time, with its codes for the next hours, and deletes it else. */
  async keep(event: Schemas['Event'] | null) {
    const first = this.told()[0], mine = person();
    if (!first) return;
    const near = first.event.status !== 'cancelled' && isNear(this.told(), first.event, now());
    if (near && now() - this.#asked > everyHalfHour) {
      // Somebody whom its buyer gave a ticket cannot read the order: they have the door code.
      const order = await ask(this.wallet.api.GET('/api/v1/orders/{id}', { params: { path: { id: first.orderId }, query: { ahead: hours } as never } })).catch(() => null);
      this.#asked = now();
      if (order) this.#ahead = order.tickets;
    }
    if (near) keepFiles('/me-worker.js', '/me');
    const key = [first.orderId, first.eventId, first.reservation?.date, first.reservation?.slotId].join('|');
    await keepPass(key, near ? mine : '', this.#whole, event);
  }
}
