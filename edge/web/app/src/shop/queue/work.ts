// Proof of work, where a room asks for one: docs/waiting-room.md has its format. The page imports this file to learn
// where it is, and runs it as a worker. WebCrypto's digest takes a promise for each hash, which is many times slower
// than the hash itself, so the hash is written out here.
export const here = import.meta.url;

export interface Task { event: string; draw: number; minute: number; party: number; email: string; bits: number }

const constants = new Uint32Array(64), start = new Uint32Array(8);
{
  // The fractional parts of the roots of the first primes (FIPS 180-4).
  const part = (root: number) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
  let found = 0;
  for (let n = 2; found < 64; n++) {
    let prime = true;
    for (let k = 2; k * k <= n; k++) if (n % k === 0) prime = false;
    if (!prime) continue;
    if (found < 8) start[found] = part(Math.sqrt(n));
    constants[found++] = part(Math.cbrt(n));
  }
}

const schedule = new Uint32Array(64);
const turn = (x: number, by: number) => (x >>> by) | (x << (32 - by));

/** compress takes 64 bytes at a place into a state of SHA-256. */
function compress(state: Uint32Array, view: DataView, at: number) {
  const w = schedule;
  for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!, y = w[i - 2]!;
    w[i] = w[i - 16]! + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7]! + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
  }
  let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!, e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
  }
  state[0]! += a; state[1]! += b; state[2]! += c; state[3]! += d; state[4]! += e; state[5]! += f; state[6]! += g; state[7]! += h;
}

/** prefix is all that is hashed before the nonce's 8 bytes. */
function prefix(t: Task): Uint8Array {
  const parts: number[] = [...new TextEncoder().encode('boxoffice-work-1')];
  const field = (bytes: Uint8Array) => { parts.push(...new Uint8Array(new Uint32Array([bytes.length]).buffer).reverse(), ...bytes); };
  const number = (n: number) => { const b = new DataView(new ArrayBuffer(8)); b.setBigUint64(0, BigInt(n)); field(new Uint8Array(b.buffer)); };
  field(new TextEncoder().encode(t.event));
  number(t.draw);
  number(t.minute);
  number(t.party);
  field(new TextEncoder().encode(t.email));
  return new Uint8Array([...parts, 0, 0, 0, 8]);
}

/** solve finds a nonce, in 16 hexadecimal digits. It begins at a random one, so two entries have two. */
export function solve(t: Task, nonce = crypto.getRandomValues(new Uint32Array(2))): string {
  const head = prefix(t), length = head.length + 8;
  const block = new Uint8Array(Math.ceil((length + 9) / 64) * 64), view = new DataView(block.buffer);
  block.set(head);
  block[length] = 0x80;
  view.setUint32(block.length - 4, length * 8);
  const fixed = Math.floor(head.length / 64) * 64; // what comes before the block that the nonce begins in
  const before = start.slice(), state = new Uint32Array(8);
  for (let at = 0; at < fixed; at += 64) compress(before, view, at);
  for (; ; nonce[1] = nonce[1]! + 1) {
    view.setUint32(head.length, nonce[0]!);
    view.setUint32(head.length + 4, nonce[1]!);
    state.set(before);
    for (let at = fixed; at < block.length; at += 64) compress(state, view, at);
    if (Math.clz32(state[0]!) >= t.bits) break;
  }
  return [...block.slice(head.length, length)].map((b) => b.toString(16).padStart(2, '0')).join('');
}

if (typeof document === 'undefined') onmessage = (e: MessageEvent<Task>) => { postMessage(solve(e.data)); };
