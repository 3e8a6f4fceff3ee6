import { language } from './words';

/** money is an amount as people write it. Amounts come as decimals. */
export function money(amount: string | number, currency: string): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).format(Number(amount));
}

/** cents makes sums of decimals exact. */
export function cents(amount: string): number {
  return Math.round(Number(amount) * 100);
}
