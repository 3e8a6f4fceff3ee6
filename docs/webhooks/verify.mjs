// A receiver of webhooks: it verifies signatures, knows what it has seen, and
// answers at once. Node 18 or later, no packages.
//
//   WEBHOOK_SECRET=whsec_... PORT=9000 node verify.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

// How far a delivery's clock may be from ours, in seconds: an old one that
// somebody sends again is refused.
const TOLERANCE = 300;

// verify throws unless a delivery is from the service. The body is the raw one, a
// Buffer, as it came: JSON that was parsed and written again is other bytes.
export function verify(secret, header, body, now = Date.now() / 1000) {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const at = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(at)) throw new Error('no time in the signature');
  if (Math.abs(now - Number(at)) > TOLERANCE) throw new Error('the signature is too old');
  const want = createHmac('sha256', secret).update(`${at}.`).update(body).digest(); // all of the secret, whsec_ too
  const valid = parts.some(([name, value]) => {
    if (name !== 'v1' || !/^[0-9a-f]{64}$/.test(value ?? '')) return false;
    return timingSafeEqual(Buffer.from(value, 'hex'), want);
  });
  if (!valid) throw new Error('the signature is wrong');
}

if (!process.env.WEBHOOK_SECRET) {
  console.error('WEBHOOK_SECRET is empty: anybody could sign with it');
  process.exit(1);
}

const seen = new Set(); // a unique index of your database, in earnest

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    let event;
    try {
      verify(process.env.WEBHOOK_SECRET, request.headers['x-service-signature'], body);
      event = JSON.parse(body);
    } catch (error) {
      response.writeHead(400).end(error.message);
      return;
    }
    if (seen.has(event.id)) {
      response.writeHead(200).end(); // a retry: it was taken in before
      return;
    }
    seen.add(event.id);
    // Put the event into a queue of your own here, and work at it after the answer.
    response.writeHead(204).end();
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
