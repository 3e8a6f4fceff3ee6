// An order as its page follows it: it asks again while something may change, and says
// that a payment failed only when the provider does.
import { api, ask, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { now, Ticker } from '../../shared/clock.svelte';
import { drop, orderToken } from '../../shared/storage';
import { everyHalfHour, goOn, hours, isNear, spentAt, stepAt, turn } from '../pass/ahead';
import type { Choice } from '../pay';

export type Phase = 'loading' | 'noKey' | 'none' | 'trouble' | 'unpaid' | 'checking' | 'open' | 'slow' | 'failed' | 'done' | 'expired' | 'cancelled' | 'refunded';

const waits = [2, 2, 3, 5, 5, 10, 10, 15, 20, 30, 30, 30, 30, 30, 30, 30, 30]; // seconds, five minutes in all
const patience = 90_000; // ms after which a page says that it has no word
const sure = 3; // answers of a provider that it has no payment, after which it is said
const silence = 4000; // ms after which a page opens from what is kept: a full network often refuses nothing
const gone = /NOT_FOUND|UNAUTHORIZED|FORBIDDEN/;

export class OrderState {
  order = $state.raw<Schemas['Order'] | null>(null);
  event = $state.raw<Schemas['Event'] | null>(null);
  error = $state.raw<unknown>(null);
  /** asOf is when the server told what is shown, in milliseconds. */
  asOf = $state(0);
  readonly ticker = new Ticker();
  /** own are the attempts to pay that the buyer has begun, without those by the order's payment link. */
  readonly own = $derived(this.order?.payments.filter((p) => !p.reference.includes('-P-')) ?? []);
  /** attempt is the buyer's open attempt to pay, the newest of them, or the one by which money is on its way; null without one. */
  readonly attempt = $derived(this.own.findLast((p) => p.status === 'pending' || p.status === 'processing' || p.status === 'underpaid' && p.transfer)
    ?? this.order?.payments.find((p) => p.status === 'processing') ?? null);
  busy = $state(false);
  #slow = $state(false);
  #unpaid = $state(0); // answers in a row by which the provider has no payment
  #silent = $state(false);
  #ahead = -Infinity; // when codes for later were asked for
  #tries = 0;
  #since = now();
  #timer = 0;

  readonly token: string | null;
  readonly phase: Phase = $derived.by(() => this.#phase());

  readonly #step = $derived(stepAt(this.ticker.now));
  /** tickets are the order's, each with the code of this moment. */
  readonly tickets = $derived(this.order?.tickets.map((t) => turn(t, this.#step)) ?? []);
  /** alone says whether the page goes on by what it has, without an answer of the server. */
  readonly alone: boolean = $derived((!!this.error || this.#silent) && this.phase === 'done');
  /** spent is when the last code that is here goes stale, in milliseconds. */
  readonly spent = $derived(spentAt(this.order?.tickets ?? []));

  /** token opens the order where this browser keeps nothing; else "". */
  constructor(readonly id: string, token: string) {
    this.token = token || orderToken(id);
  }

  #phase(): Phase {
    const o = this.order;
    if (!this.token) return 'noKey';
    if (!o) {
      const code = this.error instanceof Refusal ? this.error.code : '';
      return !this.error ? 'loading' : gone.test(code) ? 'none' : 'trouble';
    }
    switch (o.status) {
      case 'completed': case 'partially_refunded': return 'done';
      case 'expired': case 'failed': return 'expired';
      case 'cancelled': return 'cancelled';
      case 'refunded': return 'refunded';
      default: {
        if (this.attempt?.status === 'pending' && this.#unpaid >= sure && !this.attempt.transfer && !this.attempt.payAddress) return 'open';
        if (this.attempt) return this.#slow && !this.attempt.transfer ? 'slow' : 'checking';
        return this.own.length ? 'failed' : 'unpaid';
      }
    }
  }

  async start() {
    if (!this.token) return;
    const looked = this.look();
    const timer = setTimeout(() => void this.#goOnAlone(), silence);
    await looked;
    clearTimeout(timer);
    if (this.error) await this.#goOnAlone();
  }

  /** #goOnAlone opens the order from what is kept, if the server has not answered. */
  async #goOnAlone() {
    const kept = await import('../pass/kept').then(({ findOrder }) => findOrder(this.id)).catch(() => null);
    if (this.order || !kept) return;
    ({ order: this.order, event: this.event, asOf: this.asOf } = kept);
    this.#silent = true;
    this.#again();
  }

  /** look reads the order, and has the provider asked while a payment is under way. */
  look = async () => {
    clearTimeout(this.#timer);
    try {
      await this.#read(this.#asks);
      if (!this.event && this.order) {
        this.event = await ask(api.GET('/api/v1/events/{slug}', { params: { path: { slug: this.order.eventId } } })).catch(() => null);
      }
      if (this.#needsAhead()) await this.#read(false);
      this.error = null;
      this.#silent = false;
      void this.#keep().catch(() => null); // the page works without
    } catch (e) {
      this.error = e;
      if (e instanceof Refusal && gone.test(e.code)) {
        this.order = null;
        void import('../pass/kept').then(({ dropOrder }) => dropOrder(this.id)).catch(() => null);
      }
    }
    if (this.phase !== 'unpaid' && this.phase !== 'failed' && this.order && !this.#asks) {
      drop(`open:${this.order.eventId}`);
    }
    this.#slow = now() - this.#since > patience;
    this.#again();
  };

  async #read(verify: boolean) {
    const token = this.token!, ahead = this.#needsAhead();
    const order = verify
      ? await ask(api.POST('/api/v1/payments/verify', { body: { orderId: this.id, token } }))
      : await ask(api.GET('/api/v1/orders/{id}', { params: { path: { id: this.id }, query: { token, ...(ahead && { ahead: hours }) } as never } } ));
    if (ahead && !verify) this.#ahead = now();
    const before = this.order?.tickets;
    this.order = { ...order, tickets: order.tickets.map((t) => goOn(t, before?.find((b) => b.id === t.id))) };
    if (verify) this.#unpaid = this.attempt?.status === 'pending' ? this.#unpaid + 1 : 0;
    this.asOf = now();
  }

  /** #asks says whether the provider is to be asked what became of a payment. */
  get #asks(): boolean {
    return this.phase === 'checking' || this.phase === 'open' || this.phase === 'slow';
  }

  /** #needsAhead says whether it is time to ask for codes for the next hours. */
  #needsAhead(): boolean {
    return !!this.order && !!this.event && this.event.status !== 'cancelled' && now() - this.#ahead > everyHalfHour && isNear(this.order.tickets, this.event, now());
  }

  /** #keep keeps what the page needs to open without a network, around its time, and deletes it else. */
  async #keep() {
    const { order, event } = this;
    if (!order || !event || order.status === 'pending' || order.status === 'processing') return;
    const { dropOrder, keepFiles, keepOrder } = await import('../pass/kept');
    if (this.phase !== 'done' || !isNear(order.tickets, event, now())) return void await dropOrder(this.id);
    keepFiles('/order-worker.js', '/o/');
    await keepOrder(order, event);
  }

  #again() {
    let seconds = 0;
    if (this.#asks) {
      seconds = this.#tries === 0 ? 0.1 : waits[Math.min(this.#tries, waits.length - 1)]!;
      this.#tries++;
    } else if (this.phase === 'unpaid' || this.phase === 'failed') {
      seconds = 15;
    } else if (this.alone) {
      seconds = 10;
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
