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

/** bytes is a size in megabytes. */
export function bytes(n: number): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'megabyte', maximumSignificantDigits: 3 }).format(n / 2 ** 20);
}

export function count(n: number): string {
  return new Intl.NumberFormat(language).format(n);
}
