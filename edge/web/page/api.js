// Requests to the API of this server, its clock, and ids.

let ahead = 0; // milliseconds by which the server's clock is ahead of ours

/** now is the server's time in milliseconds, to half a second or so. */
export function now() {
  return Date.now() + ahead;
}

/** A Refusal is an answer other than success, or none at all (code OFFLINE). */
export class Refusal extends Error {
  constructor(code, message, details, retry) {
    super(message);
    this.code = code;
    this.details = details ?? {};
    this.retry = retry; // seconds until it makes sense to ask again; 0: none
  }
}

/**
 * call sends a request and returns what stands under data. What the browser has kept of it
 * is asked for again, with its tag; the page is to show what is so now.
 */
export async function call(method, path, body, headers = {}) {
  const sent = Date.now();
  const { res, answer } = await send('/api/v1' + path, {
    method,
    cache: 'no-cache',
    headers: body ? { 'Content-Type': 'application/json', ...headers } : headers,
    body: body && JSON.stringify(body),
  });
  const date = Date.parse(res.headers.get('Date'));
  if (date) { // it names a second: the middle of that, and of the request
    ahead = date + 1000 * (Number(res.headers.get('Age')) || 0) + 500 - (sent + Date.now()) / 2;
  }
  return opened(res, answer);
}

/** kept returns what stands under data at an address whose answer never changes. */
export async function kept(url) {
  const { res, answer } = await send(url, {});
  return opened(res, answer);
}

async function send(url, request) {
  try {
    const res = await fetch(url, request);
    return { res, answer: await res.json() };
  } catch {
    throw new Refusal('OFFLINE', 'The server cannot be reached.', null, 0);
  }
}

function opened(res, answer) {
  if (res.ok) {
    return answer.data;
  }
  const { code, message, details } = answer.error;
  throw new Refusal(code, message, details, Number(res.headers.get('Retry-After')) || 0);
}

/** uuid makes a random id. crypto.randomUUID is missing where pages come by plain HTTP. */
export function uuid() {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  const hex = Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
