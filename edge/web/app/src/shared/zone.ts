// Moments in the zone of an event, as the browser's field for dates writes them.

function parts(at: number, timeZone: string): Record<string, string> {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' });
  return Object.fromEntries(format.formatToParts(at).map((p) => [p.type, p.value]));
}

/** written is a moment as a clock in the zone shows it: 2027-05-01T20:00. */
export function written(at: string | number | null | undefined, timeZone: string): string {
  if (!at) return '';
  const p = parts(new Date(at).getTime(), timeZone);
  return `${p.year!.padStart(4, '0')}-${p.month}-${p.day}T${p.hour}:${p.minute}`; // a year that is being typed begins as 0002
}

/** meant is the moment that a clock in the zone shows so. Of an hour that a change of the
 * clocks skips, it is the one after. */
export function meant(text: string, timeZone: string): string {
  const wall = Date.parse(`${text}:00Z`);
  const ahead = (at: number) => Date.parse(`${written(at, timeZone)}:00Z`) - at;
  const first = wall - ahead(wall);
  return new Date(wall - ahead(first)).toISOString();
}

/** momentOf is the moment that a field means. As long as it shows a moment that was, it means that very one: the field
 * has no seconds, and shows both hours alike when the clocks go back. */
export const momentOf = (text: string, was: string | null | undefined, timeZone: string) => (was && text === written(was, timeZone) ? was : meant(text, timeZone));

export const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** zones are the names of all zones that the browser knows. */
export function zones(own: string): [string, string][] {
  const all = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', here, own]);
  return [...all].sort().map((z) => [z, z.replaceAll('_', ' ')]);
}
