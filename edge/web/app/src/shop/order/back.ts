// What of an order's money goes back, and what does not.
import type { Schemas } from '../../shared/api/client';
import { mills, moneyOf } from '../../shared/money';

type Order = Schemas['Order'];
type Refund = Schemas['Refund'];
type Ticket = Order['tickets'][number];

/** granted are the refunds whose money has gone back or will. */
export const granted = (o: Order): Refund[] => o.refunds.filter((r) => /^(approved|processing|processed|failed)$/.test(r.status));

/** sumOf is what refunds are together, each currency for itself: what came in another one goes back in it. */
export function sumOf(refunds: Refund[]): string {
  const currencies = [...new Set(refunds.map((r) => r.currency))];
  return currencies.map((c) => moneyOf(refunds.reduce((n, r) => (r.currency === c ? n + mills(r.amount) : n), 0), c)).join(' + ');
}

/** isHeld says whether a ticket is still the reader's, used or not. Nobody is named on one that was passed on. */
export const isHeld = (t: Ticket) => (t.status === 'issued' || t.status === 'checked_in') && !!t.holder;

/** isEnded says whether all tickets of an order were given back. */
export const isEnded = (o: Order) => o.tickets.length > 0 && o.tickets.every((t) => t.status === 'refunded' || t.status === 'cancelled');

/** isByItself says whether money goes back that paid for no ticket: it came late, twice, or was too much. */
const isByItself = (r: Refund) => !r.decidedAt && /^(late|underpaid|overpaid|twice|cancelled|currency|deposit)$/.test(r.reason);

/** keptOf is what an order that was given back keeps of its total, in mills; 0 while any ticket is good. */
export function keptOf(o: Order): number {
  const back = granted(o).filter((r) => !isByItself(r));
  if (!isEnded(o) || !back.length || back.some((r) => r.currency !== o.currency)) return 0;
  return Math.max(0, mills(o.total) - back.reduce((n, r) => n + mills(r.amount), 0));
}

/** isWithoutFees says whether the price of a ticket goes back, and its fees do not, while others are good. */
export function isWithoutFees(o: Order): boolean {
  if (!mills(o.fees) || isEnded(o)) return false;
  return granted(o).some((r) => r.ticketId && o.tickets.some((t) => t.id === r.ticketId && mills(r.amount) > 0 && mills(r.amount) === mills(t.faceValue)));
}

/** askable is a ticket of a cancelled event whose money the reader may ask for; undefined without one. */
export function askable(o: Order): Ticket | undefined {
  return o.tickets.find((t) => t.status === 'issued' && isHeld(t) && mills(t.faceValue) > 0 && !requestFor(o, t));
}

/** returnable is a ticket that the reader may give back because its event has moved since the order; undefined without one. */
export function returnable(o: Order, event: Schemas['Event'] | null): Ticket | undefined {
  if (event?.productType !== 'event' || !event.movedAt || !o.completedAt || Date.parse(o.completedAt) >= Date.parse(event.movedAt)) return undefined;
  return o.tickets.find((t) => t.refundEligible && isHeld(t) && !requestFor(o, t));
}

/** requestFor is the request for a ticket's money that the organizer has not decided; undefined without one. */
export const requestFor = (o: Order, t: Ticket): Refund | undefined => o.refunds.find((r) => r.status === 'requested' && r.ticketId === t.id);

/** isMoved says whether a ticket of a line has another date than the line was bought for. */
export function isMoved(o: Order, l: Order['items'][number]): boolean {
  return o.tickets.some((t) => t.ticketTypeId === l.ticketTypeId && t.reservation
    && !o.items.some((i) => i.ticketTypeId === t.ticketTypeId && i.reservationDate === t.reservation!.date && (i.reservationSlotId ?? null) === (t.reservation!.slotId ?? null)));
}
