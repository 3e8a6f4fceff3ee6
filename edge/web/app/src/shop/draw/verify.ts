// Checks a draw with the browser's own cryptography, after docs/waiting-room.md: it trusts no answer of
// the server, and asks nobody else.
import type { Schemas } from '../../shared/api/client';

type Document = Schemas['DrawDocument'];
type Bytes = Uint8Array<ArrayBuffer>;

const quicknet = { chain: '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971', genesis: 1_692_803_367, period: 3 };
const rounds = 10; // of the permutation
const text = (s: string): Bytes => new TextEncoder().encode(s);

function join(...parts: Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all;
}

function unsigned(n: number, size: 4 | 8): Bytes {
  const b = new Uint8Array(size), view = new DataView(b.buffer);
  if (size === 8) view.setBigUint64(0, BigInt(n));
  else view.setUint32(0, n);
  return b;
}

const field = (b: Bytes) => join(unsigned(b.length, 4), b);
const num = (n: number) => field(unsigned(n, 8));

function bytesOf(hex: string): Bytes {
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new Error('not hexadecimal');
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export const hexOf = (b: Bytes) => Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
const hash = async (b: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.digest('SHA-256', b));

/** canCheck says whether the browser lets this page compute hashes: it does where pages come by HTTPS. */
export const canCheck = () => 'subtle' in crypto;

/** rulesHash is the hash of the rules as canonical JSON: names in order, no blanks. */
async function rulesHash(r: Document['statement']['rules']): Promise<Bytes> {
  const sorted = Object.fromEntries(Object.entries(r).sort(([a], [b]) => (a < b ? -1 : 1)));
  return hash(text(JSON.stringify(sorted)));
}

/** fieldsOf is what both the statement's signature and the key are made over. */
async function fieldsOf(s: Document['statement']): Promise<Bytes> {
  return join(
    field(text(s.event)), num(s.draw), field(await rulesHash(s.rules)), field(bytesOf(s.root)), num(s.count),
    field(bytesOf(s.rules.beaconChain)), num(s.rules.beaconRound),
  );
}

/** isSigned checks an Ed25519 signature; null if this browser can't. */
async function isSigned(key: Bytes, message: Bytes, signature: Bytes): Promise<boolean | null> {
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  } catch (e) {
    if (e instanceof DOMException && e.name === 'NotSupportedError') return null;
    return false; // this is no key
  }
  return crypto.subtle.verify('Ed25519', imported, signature, message);
}

/** messageOf is what the operator signs of a statement. */
async function messageOf({ statement: s }: Document): Promise<Bytes> {
  return join(text('boxoffice-statement-1'), await fieldsOf(s), num(s.byClass.none), num(s.byClass.address), num(s.byClass.account));
}

/** isStatementSigned checks the operator's signature of the statement. */
export const isStatementSigned = async (d: Document) => isSigned(bytesOf(d.signer), await messageOf(d), bytesOf(d.signature));

/** isWitnessed is false if the outside witness has signed something else. It is never true: the token's signature can't be checked here. */
export async function isWitnessed(d: Document): Promise<false | null> {
  let token: string;
  try {
    token = hexOf(Uint8Array.from(atob(d.witness ?? ''), (c) => c.charCodeAt(0)));
  } catch {
    return false;
  }
  return token.includes(hexOf(await hash(await messageOf(d)))) ? null : false;
}

/** isCounted checks that the counts by class are those of the whole. */
export const isCounted = ({ statement: { byClass: c, count } }: Document) => c.none + c.address + c.account === count;

/** isRoundNamed checks that the round is the one that the rules have to name; null for a chain whose times are not known here. */
export function isRoundNamed({ statement: { rules } }: Document): boolean | null {
  if (rules.beaconChain !== quicknet.chain) return null;
  const at = rules.closesAt / 1000 + 120;
  return rules.beaconRound === Math.ceil((at - quicknet.genesis) / quicknet.period) + 1;
}

export interface Receipt { keyId: string; draw: number; at: number; leaf: Bytes; event: string; body: Bytes; signature: Bytes }

/** readReceipt takes a receipt apart; null if it is none. */
export function readReceipt(written: string): Receipt | null {
  let all: Bytes;
  try {
    all = Uint8Array.from(atob(written.trim().replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  } catch {
    return null;
  }
  const body = all.slice(0, -64), view = new DataView(body.buffer);
  if (body.length < 54 || body[0] !== 1) return null;
  return {
    keyId: hexOf(body.slice(1, 9)), draw: view.getUint32(9), at: Number(view.getBigUint64(13)), leaf: body.slice(21, 53),
    event: new TextDecoder().decode(body.slice(53)), body, signature: all.slice(-64),
  };
}

/** isReceiptSigned checks that the operator of a draw has signed a receipt; null if this browser can't. */
export async function isReceiptSigned(r: Receipt, d: Document): Promise<boolean | null> {
  const key = bytesOf(d.signer);
  if (hexOf((await hash(key)).slice(0, 8)) !== r.keyId) return false;
  return isSigned(key, join(text('boxoffice-receipt-1'), r.body), r.signature);
}

export const isOfDraw = (r: Receipt, { statement: s }: Document) => r.event === s.event && r.draw === s.draw;

/** isUnder checks that a leaf is under the root (RFC 9162, section 2.1.3.2). */
export async function isUnder(leaf: Bytes, { statement: s }: Document, { index, proof }: Schemas['DrawProof']): Promise<boolean> {
  if (index < 0 || index >= s.count) return false;
  let at = index, last = s.count - 1, node = leaf;
  for (const written of proof) {
    const p = bytesOf(written);
    if (p.length !== 32 || last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = await hash(join(new Uint8Array([1]), p, node));
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      node = await hash(join(new Uint8Array([1]), node, p));
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && hexOf(node) === s.root;
}

/** placeOf computes the place of an entry, from 1; null before the beacon's round is known. */
export async function placeOf(index: number, d: Document): Promise<number | null> {
  if (!d.beacon) return null;
  const key = await hash(join(text('boxoffice-draw-1'), await fieldsOf(d.statement), field(bytesOf(d.beacon))));
  const mac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const count = d.statement.count, half = Math.max(4, Math.ceil((count - 1).toString(2).length / 2)), mask = 2 ** half - 1;
  let at = index;
  do {
    let left = Math.floor(at / 2 ** half), right = at % 2 ** half;
    for (let k = 0; k < rounds; k++) {
      const sum = new DataView(await crypto.subtle.sign('HMAC', mac, join(new Uint8Array([k]), unsigned(right, 4))));
      [left, right] = [right, (left ^ (sum.getUint32(0) & mask)) >>> 0];
    }
    at = left * 2 ** half + right;
  } while (at >= count);
  return at + 1;
}
