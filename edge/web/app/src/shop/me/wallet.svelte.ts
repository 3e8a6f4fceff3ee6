// What belongs to the person at this browser: by the session, or by orders that were placed here.
import { api as open, ask, proving, type Schemas } from '../../shared/api/client';
import { Refusal } from '../../shared/api/refusal';
import { forgetDatabase, Session } from '../../shared/api/session.svelte';
import { now } from '../../shared/clock.svelte';
import { List } from '../../shared/load.svelte';
import { forgetBuyer, keptOrders, orderToken } from '../../shared/storage';
import { meant } from '../../shared/zone';

export type Held = Schemas['HeldTicket'];

/** A Group is the tickets of one order that admit together: to an event, or on a date. */
export interface Group { key: string; at: number; tickets: Held[] }

/** endOf is when a ticket is over, in milliseconds; Infinity for what is always there. */
function endOf(t: Held): number {
  if (t.productType === 'digital') return Infinity;
  const end = t.reservation ? (t.reservation.endTime ?? meant(`${t.reservation.date}T23:59`, t.event.timezone)) : (t.event.endDate ?? t.event.startDate);
  return end ? Date.parse(end) : Infinity;
}

function startOf(t: Held): number {
  if (t.productType === 'digital') return Infinity;
  const start = t.reservation ? (t.reservation.startTime ?? meant(`${t.reservation.date}T00:00`, t.event.timezone)) : t.event.startDate;
  return start ? Date.parse(start) : Infinity;
}

function group(tickets: Held[]): Group[] {
  const by = new Map<string, Held[]>();
  for (const t of tickets) {
    const key = [t.orderId, t.eventId, t.reservation?.date, t.reservation?.slotId].join('|');
    by.set(key, [...(by.get(key) ?? []), t]);
  }
  return [...by].map(([key, list]) => ({ key, at: startOf(list[0]!), tickets: list })).sort((a, b) => a.at - b.at);
}

/** isCalledOff is whether the event of a group was cancelled: nobody needs to go there. */
function isCalledOff(g: Group): boolean {
  return g.tickets[0]!.event.status === 'cancelled';
}

const silence = 4000; // ms after which a page opens from what is kept: a full network often refuses nothing

export class Tickets {
  readonly list: List<Held>;
  /** asOf is when the server told what is shown, in milliseconds; alone: there is no answer since. */
  asOf = $state(0);
  readonly alone = $derived.by(() => {
    const e = this.list.error;
    return !!this.asOf && !!e && !(e instanceof Refusal && /UNAUTHORIZED|FORBIDDEN/.test(e.code));
  });
  readonly #groups = $derived.by(() => group(this.list.value?.items ?? []));
  readonly #open = $derived(this.#groups.filter((g) => endOf(g.tickets[0]!) >= now()));
  readonly coming = $derived(this.#open.filter((g) => g.at !== Infinity && !isCalledOff(g)));
  readonly always = $derived(this.#open.filter((g) => g.at === Infinity && !isCalledOff(g)));
  readonly calledOff = $derived(this.#open.filter(isCalledOff));
  readonly past = $derived(this.#groups.filter((g) => endOf(g.tickets[0]!) < now()).reverse());

  constructor(wallet: Wallet) {
    const silent = setTimeout(() => void this.#goOnAlone(), silence);
    this.list = new List(async (cursor) => {
      try {
        const page = await ask(wallet.api.GET('/api/v1/users/me/tickets', { params: { query: { limit: 100, ...(cursor && { cursor }) } } }));
        this.asOf = now();
        return page;
      } catch (e) {
        if (e instanceof Refusal && e.code === 'OFFLINE') await this.#goOnAlone();
        throw e;
      } finally {
        clearTimeout(silent);
      }
    });
  }

  /** #goOnAlone shows what is kept, if the server has not answered. */
  async #goOnAlone() {
    const found = await import('../pass/kept').then(({ findHeld }) => findHeld()).catch(() => null);
    if (this.list.value || !found) return;
    this.asOf = found.asOf;
    this.list.error ??= new Refusal('OFFLINE', '', {}, 0, '');
    this.list.value = found;
  }
}

/** Here is an order that this browser can open. */
export interface Here { order: Schemas['Order']; event: Schemas['Event'] | null }

export class Wallet {
  readonly session = new Session();
  readonly api = proving(() => this.session.headers());

  /** here reads the newest orders of this browser, or finds those that are kept for when there is no network. */
  async here(): Promise<Here[]> {
    return this.#readHere().catch(async (e) => (await import('../pass/kept')).findOrders(keptOrders(), e));
  }

  /** #readHere reads the newest orders of this browser. One that is gone is left out. */
  async #readHere(): Promise<Here[]> {
    const orders = await Promise.all(keptOrders().slice(0, 20).map(async (id) => {
      try {
        return await ask(open.GET('/api/v1/orders/{id}', { params: { path: { id }, query: { token: orderToken(id) } as never } }));
      } catch (e) {
        if (e instanceof Refusal && e.code === 'OFFLINE') throw e;
        return null;
      }
    }));
    const events = new Map<string, Promise<Schemas['Event'] | null>>();
    const eventOf = (slug: string) => {
      if (!events.has(slug)) events.set(slug, ask(open.GET('/api/v1/events/{slug}', { params: { path: { slug } } })).catch(() => null));
      return events.get(slug)!;
    };
    const live = orders.filter((o) => o !== null).sort((a, b) => (b.createdAt ?? '').localeCompare(a.createdAt ?? ''));
    return Promise.all(live.map(async (order) => ({ order, event: await eventOf(order.eventId) })));
  }

  /** forget ends the session, and removes all that this browser has kept: the next person finds nothing. */
  async forget() {
    forgetBuyer();
    await forgetDatabase('passes');
    await this.session.signOut();
  }

  async leave() {
    await this.forget();
    location.assign('/me');
  }
}
