// What states, reasons and prices are called. States are numbers: the first four
// are what the public sees of a seat, the last two what this shopper does.

export const available = 0, held = 1, sold = 2, blocked = 3, unsold = 4, mine = 5;

export const states = ['available', 'held by somebody', 'sold', 'withheld', 'not for sale', 'yours'];

const reasons = {
  unknown: 'it is no longer on the map',
  not_for_sale: 'it is not for sale',
  taken: 'somebody was faster',
  blocked: 'it is withheld',
  needs_wheelchair: 'it goes with a wheelchair place only',
  leaves_single: 'it would leave a single seat; choose the one beside it, or another',
};

export function reason(code) {
  return reasons[code] ?? code;
}

/** money writes a decimal amount, such as "12.50", in a currency. */
export function money(amount, currency) {
  return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(amount);
}

/** count writes a number of seats. */
export function count(n) {
  return n === 1 ? '1 seat' : `${n.toLocaleString()} seats`;
}

/** clock writes a time of milliseconds as minutes and seconds. */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
