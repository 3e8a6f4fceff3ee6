// The API of this server, by the types that its own document makes.
import createClient from 'openapi-fetch';
import { tellTime } from '../clock.svelte';
import { Refusal } from './refusal';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];

export type Client = ReturnType<typeof open>;

function open() {
  const client = createClient<paths>({ baseUrl: '', cache: 'no-cache' });
  client.use({
    onResponse({ response }) {
      tellTime(response.headers.get('Date'));
    },
  });
  return client;
}

export const api = open();

/** proving makes a client whose every request proves who asks. */
export function proving(headers: () => Promise<{ Authorization: string }>): Client {
  const client = open();
  client.use({
    async onRequest({ request }) {
      request.headers.set('Authorization', (await headers()).Authorization);
    },
  });
  return client;
}

interface Answer<T> { data?: { data: T }; error?: unknown; response: Response }

/** ask returns what stands under data, or throws a Refusal. */
export async function ask<T>(request: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await request;
  } catch (e) {
    throw e instanceof Refusal ? e : new Refusal('OFFLINE', '', {}, 0, '');
  }
  if (answer.data) {
    return answer.data.data;
  }
  throw Refusal.of(answer.error, answer.response);
}

/** bearer is the header of a session or an API key. */
export function bearer(token: string) {
  return { Authorization: `Bearer ${token}` };
}

/** uuid makes a random id. crypto.randomUUID is missing where pages come by plain HTTP. */
export function uuid(): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  const hex = Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
