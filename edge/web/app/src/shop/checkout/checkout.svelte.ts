// One visit to the checkout: what is bought, by whom, and the order that comes of it.
import { api, ask, uuid, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { mills } from '../../shared/money';
import { isReservation } from '../../shared/when';
import { Session } from '../../shared/api/session.svelte';
import { dropHere, keep, keepHere, keepOrder, kept, keptHere } from '../../shared/storage';
import { firstMethod, pay, type Choice } from '../pay';
import { keptAdmission, queueUp, type Admission } from '../room';
import { now } from '../../shared/clock.svelte';
import { w } from '../words';

interface Line { type: Schemas['TicketType']; quantity: number; seats: Seat[] }
interface Seat { id: string; name: string }

/** Held is what the seat map hands over: seats that are the shopper's until a moment of the server's clock. */
interface Held { holder: string; expires: number; span: number; lines: { ticketTypeId: string; seats: Seat[] }[] }

export class Checkout {
  event = $state.raw<Schemas['Event'] | null>(null);
  lines = $state.raw<Line[]>([]);
  name = $state(kept('buyer.name') ?? '');
  email = $state(kept('buyer.email') ?? '');
  promo = $state('');
  presale = $state('');
  choice = $state.raw<Choice | null>(null); // how to pay; null until the ways are known
  payable = $state(true); // there is a way to pay, as far as is known
  verdict = $state.raw<{ code: string; says: Schemas['CodeVerdict'] } | null>(null); // of the code that was asked for last
  asking = $state(false);
  busy = $state(false);
  error = $state.raw<unknown>(null);
  issues = $state.raw<Record<string, string>>({});

  readonly whole = $derived(this.lines.reduce((n, l) => n + l.quantity * mills(l.type.priceTotal), 0));
  readonly quote = $derived(this.verdict?.code === this.promo.trim() && this.verdict.says.valid ? this.verdict.says.quote : undefined);
  readonly sum = $derived(this.quote ? mills(this.quote.total) : this.whole); // what the order will cost
  readonly presaleNeeded = $derived(this.lines.some((l) => l.type.presaleRequired));

  admission = $state.raw<Admission | null>(null); // of the event's waiting room, if it has one
  #account = false; // the waiting room admits accounts
  held = $state.raw<Held | null>(null); // the seats, if they were chosen on the map
  readonly wish: string;
  readonly seated: boolean;
  readonly date: string; // of a reservation, as is the slot
  readonly slot: string;

  constructor(readonly slug: string, search: URLSearchParams) {
    this.wish = search.get('t') ?? '';
    this.seated = search.has('seats');
    this.date = search.get('d') ?? '';
    this.slot = search.get('s') ?? '';
  }

  async load() {
    this.error = null;
    try {
      const event = await ask(api.GET('/api/v1/events/{slug}', { params: { path: { slug: this.slug } } }));
      if (!await this.#admitted(event.id)) return;
      if (this.seated) {
        this.held = JSON.parse(keptHere(`seats:${event.id}`) ?? 'null') as Held | null;
        this.lines = (this.held?.lines ?? []).flatMap(({ ticketTypeId, seats }) => {
          const type = event.ticketTypes?.find((t) => t.id === ticketTypeId);
          return type ? [{ type, quantity: seats.length, seats }] : [];
        });
        this.event = event;
        return;
      }
      const counts = new Map(this.wish.split('_').map((part) => part.split('.') as [string, string]));
      this.lines = (isReservation(event) && !this.date ? [] : event.ticketTypes ?? []).flatMap((type) => {
        const quantity = Math.min(Number(counts.get(type.id)) || 0, 100);
        return quantity > 0 ? [{ type, quantity, seats: [] }] : [];
      });
      this.event = event;
    } catch (e) {
      this.error = e;
    }
  }

  /** #admitted says whether the event can be ordered from; where its waiting room is open, it leads there first. */
  async #admitted(event: string): Promise<boolean> {
    const room = await ask(api.GET('/api/v1/public/events/{id}/queue', { params: { path: { id: event } }, cache: 'no-store' })).catch(() => null); // the order will say
    if (room?.state !== 'open' && room?.state !== 'closed') return true;
    if (room.state === 'closed' && Date.parse(room.opensAt ?? '') > now()) return true; // orders need no admission yet
    const admission = keptAdmission(event);
    if (!admission || Date.parse(admission.expiresAt) <= now()) {
      queueUp(this.slug, event);
      return false;
    }
    this.admission = admission;
    this.#account = room.rules?.proof === 'account';
    return true;
  }

  /** #proves says who orders, where a waiting room admits accounts: no other order is the same person's. */
  async #proves() {
    const session = new Session();
    return this.#account && session.open ? { headers: await session.headers() } : {};
  }

  /** apply asks what the promo code takes off, and says whether the order may be placed with it. */
  async apply(): Promise<boolean> {
    const code = this.promo.trim();
    const { promoCode: _, ...issues } = this.issues;
    this.issues = issues;
    if (!code || this.verdict?.code === code && this.verdict.says.valid) return true;
    this.asking = true;
    try {
      const items = this.lines.map((l) => ({ ticketTypeId: l.type.id, quantity: l.quantity }));
      const says = await ask(api.POST('/api/v1/tickets/promo/validate', { body: { code, eventId: this.event!.id, items } }));
      this.verdict = { code, says };
      if (!says.valid) this.issues = { ...this.issues, promoCode: w.checkout.codes[says.reason ?? 'CODE_NOT_FOUND'] };
      return says.valid;
    } catch (e) {
      this.error = e;
      return false;
    } finally {
      this.asking = false;
    }
  }

  /** forgive drops what was said of a field that is written anew. */
  forgive = (field: string) => {
    const { [field]: _, ...issues } = this.issues;
    this.issues = issues;
  };

  /** extend asks for more time for the seats, and tells the map of it. */
  extend = async () => {
    const { id } = this.event!, { holder, span } = this.held!;
    const r = await ask(api.POST('/api/v1/public/events/{eventId}/seats/extend', { params: { path: { eventId: id } }, body: { holder } }));
    const expires = Date.parse(r.expiresAt!);
    this.held = { ...this.held!, expires, span: Math.max(span, expires - now()) };
    keepHere(`seats:${id}`, JSON.stringify(this.held));
    const onMap = `/public/events/${id}`, kept = JSON.parse(keptHere(onMap) ?? 'null') as { expires: number } | null;
    if (kept) keepHere(onMap, JSON.stringify({ ...kept, expires }));
  };

  /** place places the order and goes on: to pay, or to the tickets. */
  async place() {
    this.issues = {
      ...(this.name.trim() ? {} : { guestName: w.checkout.needName }),
      ...(/^\S+@\S+\.\S+$/.test(this.email.trim()) ? {} : { guestEmail: w.checkout.needMail }),
    };
    if (this.busy || Object.keys(this.issues).length) return;
    this.busy = true;
    this.error = null;
    if (!await this.apply()) {
      this.busy = false;
      return;
    }
    try {
      const body = {
        items: this.lines.map((l) => ({ ticketTypeId: l.type.id, quantity: l.quantity, ...(this.date && { reservationDate: this.date }), ...(this.slot && { reservationSlotId: this.slot }), ...(l.seats.length && { venueSeatIds: l.seats.map((seat) => seat.id) }) })),
        ...(this.held && { holder: this.held.holder }),
        guestName: this.name.trim(), guestEmail: this.email.trim(),
        ...(this.promo.trim() && { promoCode: this.promo.trim() }), ...(this.presale && { presaleCode: this.presale.trim() }),
      };
      keep('buyer.name', body.guestName);
      keep('buyer.email', body.guestEmail);
      const order = await ask(api.POST('/api/v1/orders', {
        params: { header: { 'Idempotency-Key': this.#key(JSON.stringify(body)), ...(this.admission && { 'X-Queue-Admission': this.admission.token }) } }, body, ...await this.#proves(),
      }));
      const page = keepOrder(order.id, order.accessToken!);
      dropHere('attempt');
      if (this.held) { // the seats are the order's now, and not the map's
        dropHere(`seats:${order.eventId}`);
        dropHere(`/public/events/${order.eventId}`);
      }
      if (order.status !== 'completed') {
        keep(`open:${order.eventId}`, order.id);
        // Back from the provider leads to the order, not to a form that would order again.
        history.replaceState(null, '', page);
        const at = await (async () => pay(order.id, order.accessToken!, this.choice ?? await firstMethod(order.currency, order.eventId)))().catch(() => null);
        if (!at?.authorizationUrl) location.reload(); // the order's page says how to go on
        return;
      }
      location.replace(page);
    } catch (e) {
      if (e instanceof Refusal && e.code === 'QUEUE_REQUIRED' && e.details.reason !== 'shared') {
        queueUp(this.slug, this.event!.id);
        return;
      }
      this.error = e;
      if (e instanceof Refusal) {
        this.issues = Object.fromEntries(e.issues.map((i) => [i.path, i.message]));
      }
      this.busy = false;
    }
  }

  /** #key is the same for the same order, also after the page was loaded again: it is placed once. */
  #key(body: string): string {
    const old = JSON.parse(keptHere('attempt') ?? '{}') as { body?: string; key?: string };
    if (old.body === body && old.key) return old.key;
    const key = uuid();
    keepHere('attempt', JSON.stringify({ body, key }));
    return key;
  }
}
