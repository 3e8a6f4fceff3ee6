// An order as its page follows it: it asks again while something may change, and says
// that a payment failed only when the provider does.
import { api, ask, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { now } from '../../shared/clock.svelte';
import { drop, orderToken } from '../../shared/storage';
import type { Choice } from '../pay';

export type Phase = 'loading' | 'noKey' | 'none' | 'trouble' | 'unpaid' | 'checking' | 'slow' | 'failed' | 'done' | 'expired' | 'cancelled' | 'refunded';

const waits = [2, 2, 3, 5, 5, 10, 10, 15, 20, 30, 30, 30, 30, 30, 30, 30, 30]; // seconds, five minutes in all
const patience = 90_000; // ms after which a page says that it has no word

export class OrderState {
  order = $state.raw<Schemas['Order'] | null>(null);
  event = $state.raw<Schemas['Event'] | null>(null);
  error = $state.raw<unknown>(null);
  /** own are the attempts to pay that the buyer has begun, without those by the order's payment link. */
  readonly own = $derived(this.order?.payments.filter((p) => !p.reference.includes('-P-')) ?? []);
  /** attempt is the buyer's open attempt to pay, the newest of them, or the one by which money is on its way; null without one. */
  readonly attempt = $derived(this.own.findLast((p) => p.status === 'pending' || p.status === 'processing' || p.status === 'underpaid' && p.transfer)
    ?? this.order?.payments.find((p) => p.status === 'processing') ?? null);
  busy = $state(false);
  #slow = $state(false);
  #tries = 0;
  #since = now();
  #timer = 0;

  readonly token: string | null;
  readonly phase: Phase = $derived.by(() => this.#phase());

  constructor(readonly id: string) {
    this.token = orderToken(id);
  }

  #phase(): Phase {
    const o = this.order;
    if (!this.token) return 'noKey';
    if (!o) {
      const code = this.error instanceof Refusal ? this.error.code : '';
      return !this.error ? 'loading' : /NOT_FOUND|UNAUTHORIZED|FORBIDDEN/.test(code) ? 'none' : 'trouble';
    }
    switch (o.status) {
      case 'completed': case 'partially_refunded': return 'done';
      case 'expired': case 'failed': return 'expired';
      case 'cancelled': return 'cancelled';
      case 'refunded': return 'refunded';
      default: {
        if (this.attempt) return this.#slow && !this.attempt.transfer ? 'slow' : 'checking';
        return this.own.length ? 'failed' : 'unpaid';
      }
    }
  }

  async start() {
    if (!this.token) return;
    await this.look();
    if (this.order) {
      this.event = await ask(api.GET('/api/v1/events/{slug}', { params: { path: { slug: this.order.eventId } } })).catch(() => null);
    }
  }

  /** look reads the order, and has the provider asked while a payment is under way. */
  look = async () => {
    clearTimeout(this.#timer);
    try {
      const verify = this.phase === 'checking' || this.phase === 'slow';
      const token = this.token!;
      this.order = verify
        ? await ask(api.POST('/api/v1/payments/verify', { body: { orderId: this.id, token } }))
        : await ask(api.GET('/api/v1/orders/{id}', { params: { path: { id: this.id }, query: { token } as never } } ));
      this.error = null;
    } catch (e) {
      this.error = e;
    }
    if (this.phase !== 'unpaid' && this.phase !== 'failed' && this.order && this.phase !== 'checking' && this.phase !== 'slow') {
      drop(`open:${this.order.eventId}`);
    }
    this.#slow = now() - this.#since > patience;
    this.#again();
  };

  #again() {
    let seconds = 0;
    if (this.phase === 'checking' || this.phase === 'slow') {
      seconds = this.#tries === 0 ? 0.1 : waits[Math.min(this.#tries, waits.length - 1)]!;
      this.#tries++;
    } else if (this.phase === 'unpaid' || this.phase === 'failed') {
      seconds = 15;
    } else if (this.phase === 'done' && this.order!.tickets.some((t) => t.status === 'issued')) {
      const ends = Math.min(...this.order!.tickets.flatMap((t) => (t.qrExpiresAt ? [Date.parse(t.qrExpiresAt)] : [])));
      seconds = Number.isFinite(ends) ? Math.max(2, Math.min(60, (ends - now()) / 1000)) : 0;
    } else if (this.phase === 'trouble') {
      seconds = 10;
    }
    if (seconds) {
      this.#timer = window.setTimeout(() => (document.hidden ? this.#again() : this.look()), seconds * 1000);
    }
  }

  async pay(choice: Choice) {
    this.busy = true;
    try {
      const { pay } = await import('../pay');
      const at = await pay(this.id, this.token!, choice);
      if (at.authorizationUrl) return; // the provider's page is on its way
      await this.look();
      this.busy = false;
    } catch (e) {
      this.error = e;
      this.busy = false;
    }
  }

  /** extend asks for more time to pay. */
  extend = async () => {
    this.order = await ask(api.POST('/api/v1/orders/{id}/extend', { params: { path: { id: this.id } }, body: { token: this.token! } }));
  };

  /** tellSent says that the transfer is sent. */
  tellSent = async () => {
    this.order = await ask(api.POST('/api/v1/orders/{id}/transfer-sent', { params: { path: { id: this.id } }, body: { token: this.token! } }));
  };

  /** share asks for the link by which somebody else pays. */
  share = async () => {
    return (await ask(api.POST('/api/v1/orders/{id}/payment-link', { params: { path: { id: this.id } }, body: { token: this.token! } }))).url;
  };

  async cancel() {
    this.busy = true;
    try {
      this.order = await ask(api.POST('/api/v1/orders/{id}/cancel', { params: { path: { id: this.id } }, body: { token: this.token! } }));
      drop(`open:${this.order.eventId}`);
    } catch (e) {
      this.error = e;
    }
    this.busy = false;
  }
}
