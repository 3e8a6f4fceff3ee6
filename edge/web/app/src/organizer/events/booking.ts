// How a reservation event is booked, as a form has it: numbers are texts, and an empty one
// stands for no limit.
import type { Schemas } from '../../shared/api/client';
import { now } from '../../shared/clock.svelte';
import { isReservation } from '../../shared/when';
import { language } from '../../shared/words';
import { isTimeless } from './kinds';

export interface Slot { id: string; label: string; start: string; end: string; capacity: string; paused: boolean }

export interface Booking {
  mode: 'date_only' | 'date_time';
  daily: string; perCustomer: string; ahead: string;
  groups: boolean; multiDay: boolean;
  closedWeekdays: number[]; closedDates: string[];
  slots: Slot[];
}

const shown = (n: number | null | undefined) => (n === null || n === undefined || n < 0 ? '' : String(n));

/** bookingOf is what an event has, or what the server takes for granted. */
export function bookingOf(r: Schemas['Reservation'] | undefined): Booking {
  return {
    mode: r?.mode ?? 'date_only', daily: shown(r?.dailyCapacity), perCustomer: shown(r?.maxPerCustomerPerDay ?? 10), ahead: shown(r?.maxAdvanceDays ?? 30),
    groups: r?.allowGroups ?? true, multiDay: r?.allowMultiDay ?? false,
    closedWeekdays: r?.closedWeekdays ?? [], closedDates: r?.closedDates ?? [],
    slots: (r?.slots ?? []).map((s) => ({ id: s.id, label: s.label, start: s.startTime, end: s.endTime, capacity: shown(s.capacity), paused: s.status === 'paused' })),
  };
}

/** fieldsOf is what a form's booking is to the API. Slots keep the order of the form. */
export function fieldsOf(b: Booking): Schemas['ReservationFields'] {
  return {
    mode: b.mode, dailyCapacity: b.daily === '' ? -1 : Number(b.daily), maxPerCustomerPerDay: Number(b.perCustomer), maxAdvanceDays: Number(b.ahead),
    allowGroups: b.groups, allowMultiDay: b.multiDay, closedWeekdays: b.closedWeekdays, closedDates: b.closedDates,
    slots: b.slots.map((s, i) => ({
      ...(s.id && { id: s.id }), label: s.label.trim(), startTime: s.start, endTime: s.end,
      capacity: s.capacity === '' ? null : Number(s.capacity), sortOrder: i, status: s.paused ? 'paused' : 'active',
    })),
  };
}

const day = 86_400_000; // milliseconds

/** someStart is the beginning that the API wants of all events. Nobody is shown that of a reservation or a digital product. */
export const someStart = () => new Date(now() + day).toISOString();

/** soldUntil is when the sale for an event ends if its organizer does not say otherwise: for
 * one that is booked by date and for a digital product, in a year. */
export const soldUntil = (e: Schemas['Event']) => (isReservation(e) || isTimeless(e.category) ? now() + 365 * day : e.startDate);

/** weekdays are the days of a week with their names, from Monday on, numbered from Sunday. */
export const weekdays = [1, 2, 3, 4, 5, 6, 0].map((n) => ({
  n, name: new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2023, 0, 1 + n)), // a Sunday
}));
