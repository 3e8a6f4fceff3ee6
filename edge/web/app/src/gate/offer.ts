// The code that the organizer's desk shows stands behind # in the link of its QR code, which no server
// sees. The page exchanges it for a key.
import { api, ask, uuid, type Schemas } from '../shared/api/client';
import type { Setup } from './store';

const longest = 100; // characters of a code

/** readOffer reads the code of the link that opened the page, and takes it out of the address at once. */
export function readOffer(): string {
  if (!location.hash) return '';
  const code = (new URLSearchParams(location.hash.slice(1)).get('code') ?? '').trim().slice(0, longest);
  history.replaceState(null, '', location.pathname);
  return code;
}

const request = uuid(); // so that an answer that was lost is given again

/** enrol uses a code up, and returns what the device is from now on: the gate of each of these events. */
export async function enrol(code: string): Promise<Setup[]> {
  const { key, gateName, guests, events } = await ask<Schemas['GateKey']>(api.POST('/api/v1/gates/enrol', { params: { header: { 'Idempotency-Key': request } }, body: { code } }));
  return events.map(({ numericId, title }) => ({ key, event: numericId, gate: gateName, title, guests }));
}
