// What a pass needs without a network, in the browser's own database (IndexedDB): orders that this
// browser has the token of, and passes of the person who is signed in. Whatever says who that is, is
// in localStorage, and is gone before the database is: so nothing is kept for somebody who has left.
import type { Schemas } from '../../shared/api/client';
import { goOnBy, now, offset } from '../../shared/clock.svelte';
import { kept, orderToken } from '../../shared/storage';
import { admits, timeOf } from './ahead';

const day = 86_400_000;

/** Kept is an order or a pass as the server told it at asOf. ends: when the last of its tickets is over;
 * offset: from the device's clock to the server's; all in milliseconds. */
interface Kept { key: string; asOf: number; offset: number; ends: number }
export interface KeptOrder extends Kept { order: Schemas['Order']; event: Schemas['Event'] }
export interface KeptPass extends Kept { person: string; tickets: Schemas['HeldTicket'][]; event: Schemas['Event'] | null }

/** run opens a database for one piece of work and closes it at once, so that whoever deletes it need not wait. */
function run<T>(name: 'passes' | 'held', mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T> | null): Promise<T | undefined> {
  return new Promise((done) => {
    if (!globalThis.indexedDB) return done(undefined); // some private windows have none
    const asked = indexedDB.open(name, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('all', { keyPath: 'key' });
    asked.onerror = () => done(undefined);
    asked.onsuccess = () => {
      const all = asked.result.transaction('all', mode);
      const found = work(all.objectStore('all'));
      all.oncomplete = all.onabort = () => {
        asked.result.close();
        done(found?.error ? undefined : found?.result);
      };
    };
  });
}

/** clean deletes what has been over for a day. */
const clean = (name: 'passes' | 'held') => run(name, 'readwrite', (store) => {
  const all = store.getAll() as IDBRequest<Kept[]>;
  all.onsuccess = () => {
    for (const one of all.result) if (one.ends + day < now()) store.delete(one.key);
  };
  return null;
});

/** endOf is when the last of some tickets is over. */
const endOf = (tickets: Schemas['Ticket'][], event: Pick<Schemas['HeldEvent'], 'startDate' | 'endDate'>) => Math.max(...tickets.map((t) => timeOf(t, event)[1]));

/** keepOrder keeps an order's tickets that admit, without how it was paid, and deletes one that has none. */
export async function keepOrder(order: Schemas['Order'], event: Schemas['Event']) {
  const tickets = order.tickets.filter(admits);
  if (!tickets.length || event.status === 'cancelled') return dropOrder(order.id);
  const { accessToken: _, ...rest } = order;
  const one: KeptOrder = { key: order.id, asOf: now(), offset: offset(), ends: endOf(tickets, event), order: { ...rest, tickets, payments: [], refunds: order.refunds.filter((r) => tickets.some((t) => t.id === r.ticketId)) }, event };
  await clean('passes');
  await run('passes', 'readwrite', (store) => (orderToken(order.id) ? store.put(one) : null));
}

/** dropOrder deletes an order, and those whose time is over. */
export async function dropOrder(id: string) {
  await clean('passes');
  await run('passes', 'readwrite', (store) => store.delete(id));
}

/** findOrder returns an order that is kept, and goes on by the clock that was kept with it. */
export async function findOrder(id: string): Promise<KeptOrder | undefined> {
  await clean('passes');
  const found = await run('passes', 'readonly', (store) => store.get(id) as IDBRequest<KeptOrder | undefined>);
  if (!found || !orderToken(id)) return undefined;
  goOnBy(found.offset);
  return found;
}

/** findOrders returns those of some orders that are kept, or throws what went wrong if none is. */
export async function findOrders(ids: string[], wrong: unknown): Promise<KeptOrder[]> {
  const all = (await Promise.all(ids.map(findOrder))).filter((one) => !!one);
  if (!all.length) throw wrong;
  return all;
}

/** person is who is signed in at this browser, as the access token names them; "" for nobody. */
export function person(): string {
  try {
    const { access } = JSON.parse(kept('session') ?? '') as { access: string };
    return (JSON.parse(atob(access.split('.')[1]!.replace(/-/g, '+').replace(/_/g, '/'))) as { sub: string }).sub;
  } catch {
    return '';
  }
}

/** keepPass keeps the tickets of a pass that admit, and deletes it if none does. mine: whom they were
 * asked for; "" to keep nothing of them. */
export async function keepPass(key: string, mine: string, all: Schemas['HeldTicket'][], event: Schemas['Event'] | null) {
  await clean('held');
  const tickets = all.filter(admits);
  if (!mine || !tickets.length || tickets[0]!.event.status === 'cancelled') return run('held', 'readwrite', (store) => store.delete(key));
  const one: KeptPass = { key, person: mine, asOf: now(), offset: offset(), ends: endOf(tickets, tickets[0]!.event), tickets, event };
  return run('held', 'readwrite', (store) => (person() === mine ? store.put(one) : null));
}

/** findPasses returns the passes that are kept of who is signed in. Those of others are deleted first. */
async function findPasses(): Promise<KeptPass[]> {
  const mine = person();
  await clean('held');
  const all = await run('held', 'readwrite', (store) => {
    const found = store.getAll() as IDBRequest<KeptPass[]>;
    found.onsuccess = () => {
      for (const one of found.result) if (one.person !== mine) store.delete(one.key);
    };
    return found;
  });
  return (all ?? []).filter((one) => mine && one.person === mine);
}

/** findHeld returns what is kept of the tickets of who is signed in, as the list of them; null without any. */
export async function findHeld() {
  const passes = await findPasses();
  if (!passes.length) return null;
  goOnBy(passes[0]!.offset);
  return { asOf: Math.min(...passes.map((p) => p.asOf)), items: passes.flatMap((p) => p.tickets), nextCursor: null };
}

/** findEvent returns the event of a pass that is kept. */
export const findEvent = async (id: string) => (await findPasses()).find((p) => p.event?.id === id)?.event ?? null;

/** keepFiles has a worker keep the files of a page, so that it opens without a network. By plain HTTP
 * there are no workers, and the page needs the network to be opened. */
export function keepFiles(worker: string, scope: string) {
  void navigator.serviceWorker?.register(worker, { scope }).catch(() => undefined);
}
