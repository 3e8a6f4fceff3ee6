// Moments, in the zone of the event and with the zone's name where it is not the reader's.
import type { Schemas } from './api/client';
import { language } from './words';

/** isReservation says whether an event is booked by date, and so begins and ends on none. */
export const isReservation = (event: Schemas['Event']) => event.productType === 'reservation';

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function day(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat(language, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone }).format(new Date(at));
}

export function longDay(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone }).format(new Date(at));
}

export function time(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat(language, {
    hour: 'numeric', minute: '2-digit', timeZone, ...(timeZone === here ? {} : { timeZoneName: 'short' }),
  }).format(new Date(at));
}

/** isHere says whether a zone is the reader's own. */
export const isHere = (timeZone: string) => timeZone === here;

/** span is from one moment of a day to another. */
export function span(from: string, to: string, timeZone: string): string {
  const start = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit', timeZone }).format(new Date(from));
  return `${start} – ${time(to, timeZone)}`;
}

/** hours are from one time of a day to another, each written as 19:30 in the API. */
export function hours(from: string, to: string): string {
  const format = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
  return [from, to].map((at) => format.format(Date.parse(`1970-01-01T${at}Z`))).join(' – ');
}

/** month is the name of a month that is written as 2031-06. */
export function month(at: string): string {
  return new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(at));
}

/** weekdayNames are the short names of the days of a week, from Monday on. */
export const weekdayNames = [2, 3, 4, 5, 6, 7, 8].map((n) => // the second of January 2023 was a Monday
  new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2023, 0, n)));

/** moment is a day and a time of the reader's own. */
export function moment(at: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

/** clock is a time left, as minutes and seconds. */
export function clock(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}
