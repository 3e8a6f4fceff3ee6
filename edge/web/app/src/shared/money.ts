import { language } from './words';

/**
 * money is an amount as people write it. Amounts come as decimals with all places of their currency;
 * a sum that the page has made has as many as the currency usually has, or as it needs.
 */
export function money(amount: string | number, currency: string): string {
  const style: Intl.NumberFormatOptions = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' };
  const usual = new Intl.NumberFormat(language, style).resolvedOptions().maximumFractionDigits ?? 2;
  const needed = typeof amount === 'string' ? (amount.split('.')[1] ?? '').length : [usual, 2, 3].find((d) => fits(amount, d)) ?? usual;
  return new Intl.NumberFormat(language, { ...style, minimumFractionDigits: needed, maximumFractionDigits: needed }).format(Number(amount));
}

/** fits tells whether so many decimals show an amount exactly. */
function fits(amount: number, decimals: number): boolean {
  const scaled = amount * 10 ** decimals;
  return Math.abs(scaled - Math.round(scaled)) < 1e-6;
}

/** mills makes sums of decimals exact: it counts thousandths, and no currency has less. moneyOf shows such a sum. */
export function mills(amount: string): number {
  return Math.round(Number(amount) * 1000);
}

/** moneyOf is a sum of mills as people write it. */
export const moneyOf = (sum: number, currency: string) => money(sum / 1000, currency);
