// How latencies and shares are written.
import { language } from '../shared/words';

/** milliseconds is a latency. Three digits are enough to compare. */
export function milliseconds(ms: number): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'millisecond', maximumSignificantDigits: 3 }).format(ms);
}

/** percent is a share from 0 to 1. */
export function percent(share: number): string {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(share);
}

export function count(n: number): string {
  return new Intl.NumberFormat(language).format(n);
}
