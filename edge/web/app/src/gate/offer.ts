// What the organizer's desk sets a device up for stands behind # in the link of its QR code, which
// no server sees.
import type { Setup } from './store';

const longest = 100; // characters of a name

/** readOffer reads the link that opened the page, and takes it out of the address at once. */
export function readOffer(): Setup | null {
  if (!location.hash) return null;
  const said = new URLSearchParams(location.hash.slice(1)), name = (key: string) => (said.get(key) ?? '').trim().slice(0, longest);
  history.replaceState(null, '', location.pathname);
  const offer = { key: name('key'), event: name('event'), gate: name('gate'), title: name('title'), guests: said.has('guests') };
  return offer.key && offer.event ? offer : null;
}
