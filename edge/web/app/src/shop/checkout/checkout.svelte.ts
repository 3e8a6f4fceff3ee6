// One visit to the checkout: what is bought, by whom, and the order that comes of it.
import { api, ask, uuid, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { cents } from '../../shared/money';
import { isReservation } from '../../shared/when';
import { keep, keepOrder, kept } from '../../shared/storage';
import { pay } from '../pay';
import { w } from '../words';

interface Line { type: Schemas['TicketType']; quantity: number }

export class Checkout {
  event = $state.raw<Schemas['Event'] | null>(null);
  lines = $state.raw<Line[]>([]);
  name = $state(kept('buyer.name') ?? '');
  email = $state(kept('buyer.email') ?? '');
  promo = $state('');
  presale = $state('');
  busy = $state(false);
  error = $state.raw<unknown>(null);
  issues = $state.raw<Record<string, string>>({});

  readonly sum = $derived(this.lines.reduce((n, l) => n + l.quantity * cents(l.type.priceTotal), 0));
  readonly presaleNeeded = $derived(this.lines.some((l) => l.type.presaleRequired));

  readonly wish: string;
  readonly date: string; // of a reservation, as is the slot
  readonly slot: string;

  constructor(readonly slug: string, search: URLSearchParams) {
    this.wish = search.get('t') ?? '';
    this.date = search.get('d') ?? '';
    this.slot = search.get('s') ?? '';
  }

  async load() {
    this.error = null;
    try {
      const event = await ask(api.GET('/api/v1/events/{slug}', { params: { path: { slug: this.slug } } }));
      const counts = new Map(this.wish.split('_').map((part) => part.split('.') as [string, string]));
      this.lines = (isReservation(event) && !this.date ? [] : event.ticketTypes ?? []).flatMap((type) => {
        const quantity = Math.min(Number(counts.get(type.id)) || 0, 100);
        return quantity > 0 ? [{ type, quantity }] : [];
      });
      this.event = event;
    } catch (e) {
      this.error = e;
    }
  }

  /** place places the order and goes on: to pay, or to the tickets. */
  async place() {
    this.issues = {
      ...(this.name.trim() ? {} : { guestName: w.checkout.needName }),
      ...(/^\S+@\S+\.\S+$/.test(this.email.trim()) ? {} : { guestEmail: w.checkout.needMail }),
    };
    if (this.busy || Object.keys(this.issues).length) return;
    this.busy = true;
    this.error = null;
    try {
      const body = {
        items: this.lines.map((l) => ({ ticketTypeId: l.type.id, quantity: l.quantity, ...(this.date && { reservationDate: this.date }), ...(this.slot && { reservationSlotId: this.slot }) })),
        guestName: this.name.trim(), guestEmail: this.email.trim(),
        ...(this.promo && { promoCode: this.promo.trim() }), ...(this.presale && { presaleCode: this.presale.trim() }),
      };
      keep('buyer.name', body.guestName);
      keep('buyer.email', body.guestEmail);
      const order = await ask(api.POST('/api/v1/orders', { params: { header: { 'Idempotency-Key': this.#key(JSON.stringify(body)) } }, body }));
      keepOrder(order.id, order.accessToken!);
      sessionStorage.removeItem('attempt');
      if (order.status !== 'completed') {
        keep(`open:${order.eventId}`, order.id);
        // Back from the provider leads to the order, not to a form that would order again.
        history.replaceState(null, '', `/o/${order.id}`);
        await pay(order.id, order.accessToken!).catch(() => location.reload());
        return;
      }
      location.replace(`/o/${order.id}`);
    } catch (e) {
      this.error = e;
      if (e instanceof Refusal) {
        this.issues = Object.fromEntries(e.issues.map((i) => [i.path, i.message]));
      }
      this.busy = false;
    }
  }

  /** #key is the same for the same order, also after the page was loaded again: it is placed once. */
  #key(body: string): string {
    const old = JSON.parse(sessionStorage.getItem('attempt') ?? '{}') as { body?: string; key?: string };
    if (old.body === body && old.key) return old.key;
    const key = uuid();
    sessionStorage.setItem('attempt', JSON.stringify({ body, key }));
    return key;
  }
}
