// How long something lasts, in words.
import { language } from '../../shared/words';
import { q } from './words';

const minute = 60_000, hour = 60 * minute;

/** waits says an expected wait as a range; its ends are rounded away from each other. */
export function waits(from: number, to: number): string {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  if (to < minute) return q.soon;
  if (to <= 90 * minute) return q.wait(q.minutes(number.format(Math.max(0, Math.floor(from / minute))), number.format(Math.ceil(to / minute))));
  if (from > 24 * hour) return q.days;
  const half = (ms: number, round: (n: number) => number) => number.format(round(ms / hour * 2) / 2);
  return q.wait(q.hours(half(from, Math.floor), half(to, Math.ceil)));
}

/** counts is a time to count down: 2:05:09, or 5:09. */
export function counts(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000)), two = (n: number) => String(n).padStart(2, '0');
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
