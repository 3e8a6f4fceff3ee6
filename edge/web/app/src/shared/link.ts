// Links in mails carry their token behind #, which no server sees.
import { dropHere, keepHere, keptHere } from './storage';

/** linkToken is the token of the link that opened the page. It goes out of the address and
 * into the history's entry, where a reload finds it. */
export function linkToken(): string {
  const mailed = new URLSearchParams(location.hash.slice(1)).get('token');
  if (mailed) history.replaceState({ token: mailed }, '', location.pathname);
  // A second link that is opened in the same tab changes only what stands behind #.
  addEventListener('hashchange', () => location.reload());
  return (history.state as { token?: string } | null)?.token ?? '';
}

const place = 'signed-in';

/** comeBack has signing in lead back to this page. */
export const comeBack = () => keepHere(place, location.pathname);

/** wayBack is the page that asked for signing in, once. */
export function wayBack(): string {
  const path = keptHere(place) ?? '';
  dropHere(place);
  return path;
}
