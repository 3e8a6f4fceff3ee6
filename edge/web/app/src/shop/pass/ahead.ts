// The codes that a pass shows without a network, and when they are worth having.
import type { Schemas } from '../../shared/api/client';

const step = 30_000; // milliseconds that a QR payload lives
const hour = 3_600_000;

type Ticket = Schemas['Ticket'];
type Dated = Pick<Schemas['HeldEvent'], 'startDate' | 'endDate'>;

/** hours are how many hours of codes a page asks for, and every how many milliseconds. */
export const hours = 6, everyHalfHour = hour / 2;

/** stepAt is when the step of a QR payload began in which a moment lies. */
export const stepAt = (now: number) => Math.floor(now / step) * step;

/** turn returns a ticket with the payload of a moment, as far as its codes go. */
export function turn<T extends Ticket>(t: T, now: number): T {
  const ends = Date.parse(t.qrExpiresAt ?? '');
  const n = Math.floor((now - ends) / step);
  const qr = n >= 0 ? t.qrAhead?.[n] : undefined;
  return qr ? { ...t, qr, qrExpiresAt: new Date(ends + (n + 1) * step).toISOString(), qrAhead: t.qrAhead!.slice(n + 1) } : t;
}

/** isSpent says whether the last code of a ticket is stale. */
export const isSpent = (t: Ticket, now: number) => !!t.qrExpiresAt && Date.parse(t.qrExpiresAt) <= now;

/** spentAt is when the last code of tickets goes stale; 0 without codes. */
export const spentAt = (tickets: Ticket[]) => Math.max(0, ...tickets.flatMap((t) => (t.qrExpiresAt ? [Date.parse(t.qrExpiresAt) + step * (t.qrAhead?.length ?? 0)] : [])));

/** goOn returns a ticket with the codes that another answer had for later. Those of a ticket that
 * has had another holder since are of no use. */
export function goOn<T extends Ticket>(t: T, before: Ticket | undefined): T {
  if (!t.qr || !before?.qrAhead || t.qrAhead) return t;
  const n = (Date.parse(t.qrExpiresAt ?? '') - Date.parse(before.qrExpiresAt ?? '')) / step;
  if (n < 0) return { ...t, qr: before.qr, qrExpiresAt: before.qrExpiresAt, qrAhead: before.qrAhead };
  if (n === 0) return before.qr === t.qr ? { ...t, qrAhead: before.qrAhead } : t;
  return before.qrAhead[n - 1] === t.qr ? { ...t, qrAhead: before.qrAhead.slice(n) } : t;
}

/** admits says whether a ticket shows codes to a gate: not one that was given back or passed on. */
export const admits = (t: Ticket) => (t.status === 'issued' || t.status === 'checked_in') && !!t.shortCode && t.productType !== 'digital';

/** timeOf is from when to when a ticket's codes are needed: 12 hours before its beginning, until its end. */
export function timeOf(t: Ticket, event: Dated): [from: number, to: number] {
  const date = t.reservation?.date; // on the clocks of the place, which are up to 14 hours off
  const start = Date.parse(t.reservation?.startTime ?? (date ? `${date}T00:00:00Z` : event.startDate ?? ''));
  const end = Date.parse(t.reservation?.endTime ?? (date ? `${date}T23:59:59Z` : event.endDate ?? ''));
  const whole = date && !t.reservation?.startTime ? 14 * hour : 0;
  return [start - 12 * hour - whole, (end || start + 12 * hour) + whole];
}

/** isNear says whether it is the time of a ticket that admits. */
export function isNear(tickets: Ticket[], event: Dated, now: number): boolean {
  return tickets.some((t) => {
    const [from, to] = timeOf(t, event);
    return admits(t) && from <= now && now < to;
  });
}
