// What a device knows of an event's tickets, and how it decides on a code without the server. It
// decides as package gate does; docs/gates/vectors.json holds both to it. It imports nothing, so
// that a test can run it alone.

export type Status = 'success' | 'denied_duplicate' | 'denied_cancelled' | 'denied_expired' | 'denied_wrong_event' | 'denied_not_inside' | 'undecided';

/** Decision is the verdict on a code. The reason is NOT_YET, OVER, ROTATING_ONLY, NO_CODE (no ticket
 * has a code of this form), EXITS_OFF, NOT_SEEN (somebody goes out whom no gate is known to have let in)
 * or empty, unless the server says another. */
export interface Decision { status: Status; reason: string }

/** Ticket is a ticket of a manifest: hash, letter, type, hash of the door code, and the unix seconds
 * from and until which it admits. */
export interface Ticket { h: string; s: string; t?: string; k?: string; a?: number; b?: number }

export interface Manifest { cursor: string; full: boolean; salt: string; offlineDoorCodes: boolean; rotatingOnly: boolean; exits?: boolean; tickets: Ticket[] }

/** Shown is a code that was shown. remote: the manifest says nothing of codes of its form; step: of
 * a code that rotates, else -1. */
export interface Shown { code: string; door: boolean; printed: boolean; remote: boolean; step: number }

/** Note is a passage at this device: whether somebody went out, when the code was shown, and when the
 * server was told, by the device's own clock, or 0. Milliseconds. */
export interface Note { out?: boolean; at: number; told: number }

const most = 1024; // bytes of a text that are read
const codeLength = 20, doorLength = 6;
const codeBytes = 16, doorBytes = 6;
const stepSeconds = 30;
const sameScan = 2000; // milliseconds in which a code that was let in is the same person
const manifestAge = 2000; // milliseconds that an answer may be old when it arrives

/** cleanShown makes a code of what a scanner read or a person typed: capitals, without blanks,
 * dashes, signs that nobody sees and the name of the symbology. */
export function cleanShown(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text).subarray(0, most))
    .replace(/[\p{White_Space}\p{Cc}\p{Cf}\p{Pd}\uFFFD]/gu, '')
    .replace(/[a-z]/g, (c) => c.toUpperCase())
    .replace(/^(\][A-Z][0-9A-Z])+/, '');
}

const length = (text: string) => new TextEncoder().encode(text).length;

export const isFull = (text: string) => length(cleanShown(text)) === codeLength;
export const isDoor = (text: string) => length(cleanShown(text)) === doorLength;

/** readShown reads what was scanned or typed, or returns null where no ticket has such a code. */
export function readShown(text: string, typed: boolean): Shown | null {
  const code = cleanShown(text), parts = code.split('.');
  const shown: Shown = { code, door: false, printed: false, remote: false, step: -1 };
  if ((parts.length === 4 && parts[0] === 'V1') || (parts.length === 3 && parts[0] === 'P1')) return { ...shown, remote: true };
  if (parts.length === 4 && parts[0] === 'V2' && /^[0-9]{1,12}$/.test(parts[2]!)) return { ...shown, code: parts[1]!, step: Number(parts[2]) };
  if (parts.length === 3 && parts[0] === 'P2') return { ...shown, code: parts[1]!, printed: true };
  if (isDoor(code)) return { ...shown, door: true, printed: !typed };
  return typed && isFull(code) ? { ...shown, remote: true } : null;
}

async function hash(salt: string, code: string, size: number): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${salt}|${code}`)));
  return btoa(String.fromCharCode(...sum.subarray(0, size))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** Found is the ticket of a code, or null; unless known, the server alone can find it. */
export interface Found { ticket: Ticket | null; known: boolean }

export class Roster {
  manifest: Omit<Manifest, 'tickets' | 'full'> = { cursor: '', salt: '', offlineDoorCodes: false, rotatingOnly: false };
  readonly #tickets = new Map<string, Ticket>();
  readonly #doors = new Map<string, Ticket>();
  readonly #own = new Map<string, Note>();
  readonly #marked = new Map<string, string>(); // letters of tickets before this device alone had others for them

  /** apply takes in an answer that was asked for at a time of the device's own clock. It may be
   * older than what the device has done meanwhile. */
  apply({ full, tickets, ...manifest }: Manifest, asked: number) {
    this.manifest = manifest;
    if (full) {
      this.#tickets.clear();
      this.#doors.clear();
    }
    for (const one of tickets) {
      const t = { ...one }, mine = this.#own.get(t.h);
      this.#marked.delete(t.h);
      if (mine && (!mine.told || mine.told > asked - manifestAge)) this.#move(t, !!mine.out);
      this.#tickets.set(t.h, t);
      if (t.k) this.#doors.set(t.k, t);
    }
  }

  async find(shown: Shown): Promise<Found> {
    const { salt, offlineDoorCodes } = this.manifest;
    if (!salt || shown.remote || (shown.door && !offlineDoorCodes) || !globalThis.crypto?.subtle) return { ticket: null, known: false };
    if (shown.door) return { ticket: this.#doors.get(await hash(salt, shown.code, doorBytes)) ?? null, known: true };
    return { ticket: this.#tickets.get(await hash(salt, shown.code, codeBytes)) ?? null, known: true };
  }

  /** judge is the verdict on a code that is shown at a time in milliseconds by somebody who comes in, or
   * goes out. It changes nothing. */
  judge(shown: Shown | null, { ticket: t, known }: Found, at: number, out = false): Decision {
    const say = (status: Status, reason = '') => ({ status, reason }), { rotatingOnly, exits } = this.manifest;
    const seconds = Math.floor(at / 1000);
    if (!shown) return say('denied_wrong_event', 'NO_CODE');
    if (shown.door && shown.printed && rotatingOnly) return say('denied_expired', 'ROTATING_ONLY');
    if (!known) return say('undecided');
    if (!t) return say('denied_wrong_event');
    if (out && !exits) return say('denied_not_inside', 'EXITS_OFF');
    if (t.s === 'x' || t.s === 'r') return say('denied_cancelled');
    if (shown.step >= 0 && Math.abs(Math.floor(seconds / stepSeconds) - shown.step) > 1) return say('denied_expired');
    if (shown.printed && rotatingOnly) return say('denied_expired', 'ROTATING_ONLY');
    if (this.justPassed(t, at, out)) return say('success');
    // Whom no gate is known to have let in may have passed another one that is offline.
    if (out) return t.s === 'o' ? say('denied_not_inside') : say('success', t.s === 'c' ? '' : 'NOT_SEEN');
    if (t.s === 'c') return say('denied_duplicate');
    if (t.s === 'e') return say('denied_expired');
    if (seconds < (t.a ?? 0)) return say('denied_expired', 'NOT_YET');
    if (t.b && seconds >= t.b) return say('denied_expired', 'OVER');
    return say('success');
  }

  /** justPassed says whether this device let a ticket in, or out, a moment ago. */
  justPassed(t: Ticket, at: number, out = false): boolean {
    const mine = this.#own.get(t.h);
    return !!mine && !!mine.out === out && Math.abs(at - mine.at) <= sameScan;
  }

  /** note notes that this device has let somebody in or out. A manifest may have replaced the ticket since
   * it was found. */
  note({ h }: Ticket, note: Note) {
    const t = this.#tickets.get(h);
    this.#own.set(h, note);
    if (t) this.#move(t, !!note.out);
  }

  /** move notes that a ticket's holder has come in or gone out, unless the ticket has ended. */
  #move(t: Ticket, out: boolean) {
    if (!'ico'.includes(t.s)) return;
    const letter = out ? 'o' : 'c';
    if (t.s !== letter) this.#marked.set(t.h, t.s);
    t.s = letter;
  }

  /** forget takes the last passage at this device back: the ticket is what it was before, as the server says
   * (is), or as it was here if nobody but this device has said otherwise. */
  forget({ h }: Ticket, is: string) {
    const t = this.#tickets.get(h), before = is || this.#marked.get(h);
    this.#own.delete(h);
    if (t && before && 'co'.includes(t.s)) t.s = before;
    this.#marked.delete(h);
  }

  /** count is how many have come in and how many may still come, as far as the device knows. */
  count(): { inside: number; left: number } {
    let inside = 0, left = 0;
    for (const { s } of this.#tickets.values()) {
      if (s === 'c') inside++;
      else if (s === 'i') left++;
    }
    return { inside, left };
  }
}
