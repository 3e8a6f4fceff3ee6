// What a browser keeps of a waiting room: the entry for all tabs, the admission for the tab that orders.
import { keep, keepHere, kept, keptHere } from '../shared/storage';

/** Entry is a visitor's place: the token reads it, and the receipt proves it. */
export interface Entry { token: string; receipt?: string }

export interface Admission { token: string; expiresAt: string }

const read = <T>(text: string | null): T | null => JSON.parse(text ?? 'null') as T | null;

export const keptEntry = (event: string) => read<Entry>(kept(`queue:${event}`));
export const keepEntry = (event: string, entry: Entry) => keep(`queue:${event}`, JSON.stringify(entry));

export const keptAdmission = (event: string) => read<Admission>(keptHere(`admission:${event}`));

export function keepAdmission(event: string, admission: Admission) {
  keepHere(`admission:${event}`, JSON.stringify({ token: admission.token, expiresAt: admission.expiresAt }));
}

/** queueUp leads to the waiting room. Whoever is admitted there comes back to this page, with the cart in its address. */
export function queueUp(slug: string, event: string) {
  keepHere(`queued:${event}`, location.pathname + location.search);
  location.assign(`/e/${slug}/queue`);
}

/** cameFrom is the page that led to the waiting room, or the event's. */
export const cameFrom = (slug: string, event: string) => keptHere(`queued:${event}`) ?? `/e/${slug}`;
