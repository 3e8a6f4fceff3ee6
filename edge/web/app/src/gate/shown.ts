// How a verdict looks: its colour, its head and the lines below.
import { Refusal } from '../shared/api/refusal';
import { moment } from '../shared/when';
import { language } from '../shared/words';
import type { Verdict } from './device.svelte';
import { cleanShown } from './roster';
import { w } from './words';

export interface Look { kind: 'good' | 'bad' | 'ask'; head: string; lines: string[] }

const hour = new Intl.DateTimeFormat(language, { timeStyle: 'short' });

/** when is a moment in unix milliseconds: today's by its time alone. */
export function when(at: number): string {
  const then = new Date(at);
  return then.toDateString() === new Date().toDateString() ? hour.format(then) : moment(then.toISOString());
}

const reasons: Record<string, string> = { NOT_YET: w.notYet, OVER: w.over, ROTATING_ONLY: w.printed, EXITS_OFF: w.exitsOff, NO_CODE: w.unknown };

/** ours is the beginning of our QR codes, of all events. */
const ours = /^[VP][12]\./;

/** lookOf is how a verdict on a text is shown. A door code of no ticket is unknown; a QR code of ours
 * may be another event's. */
export function lookOf(v: Verdict, text: string, seat = '', exits = false): Look {
  const ticket = [v.type, seat].filter(Boolean).join(' · '), alone = v.alone ? w.alone : '';
  if (v.status === 'success' && v.out) {
    const seen = v.reason !== 'NOT_SEEN';
    return { kind: seen ? 'good' : 'ask', head: v.holder || w.goodbye, lines: [v.holder ? w.goodbye : '', seen ? '' : w.notSeen, ticket, v.again ? w.again : '', alone].filter(Boolean) };
  }
  if (v.status === 'success') {
    const lines = [v.reason === 'ID_CHECK' ? w.idCheck : v.holder ? w.admitted : '', ticket, v.again ? w.again : '', alone];
    return { kind: v.reason === 'ID_CHECK' ? 'ask' : 'good', head: v.holder || w.admitted, lines: lines.filter(Boolean) };
  }
  if (v.status === 'undecided') return { kind: 'ask', head: v.reason || w.undecided, lines: v.reason ? [] : [w.undecidedHint] };
  const inside = exits && v.status === 'denied_duplicate'; // or it was used
  const unknown = v.status === 'denied_wrong_event' && !ours.test(cleanShown(text)), first = v.status === 'denied_duplicate' || v.status === 'denied_not_inside' ? [v.gate, v.at ? when(Date.parse(v.at)) : ''].filter(Boolean).join(', ') : '';
  return { kind: 'bad', head: unknown ? w.unknown : reasons[v.reason] ?? (inside ? w.already : w[v.status]), lines: [v.holder, ticket, first, alone].filter(Boolean) };
}

/** failed is shown where there is no verdict: nobody is let in. */
export function failed(e: unknown): Look {
  return { kind: 'ask', head: w.notDecided, lines: [e instanceof Refusal ? e.message || w.offline : w.notKept] };
}
