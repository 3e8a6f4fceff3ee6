// Seating plans as files: our own, pretix's, and charts of seats.io. Nothing here asks anybody: a text goes in, and a map
// comes out with a list of what of the plan it has not.
import type { Schemas } from '../../shared/api/client';
import { mapOf, type Naming } from './house';
import { isPretix, readPretix } from './pretix';
import { Fault, object, type Loss } from './reading';
import { isSeatsio, readSeatsio } from './seatsio';

/** A Plan is a file that was read: whose it is, the map that comes of it, and what is lost. */
export interface Plan { of: 'ours' | 'pretix' | 'seatsio'; map: Schemas['UpdateVenue']; losses: Loss[] }

/** most is how many bytes a file may have: a chart of seats.io has some 300 for each seat. */
export const most = 16 << 20;
const sent = 1_000_000; // bytes of a map that can be sent

/** readPlan reads a file, or throws the Fault that says where it is wrong. */
export function readPlan(text: string, naming: Naming): Plan {
  if (text.length > most) throw new Fault('big');
  let file;
  try {
    file = object(JSON.parse(text), '');
  } catch (e) {
    throw e instanceof Fault ? e : new Fault('json', placeIn(text, e));
  }
  const plan = planOf(file, naming);
  if (new TextEncoder().encode(JSON.stringify(plan.map)).length > sent) throw new Fault('many');
  return plan;
}

function planOf(file: Record<string, unknown>, naming: Naming): Plan {
  if (file.canvas !== undefined || Array.isArray(file.sections)) return { of: 'ours', map: file as Schemas['UpdateVenue'], losses: [] };
  const of = isSeatsio(file) ? 'seatsio' : isPretix(file) ? 'pretix' : null;
  if (!of) throw new Fault('unknown');
  const house = of === 'pretix' ? readPretix(file) : readSeatsio(file);
  const map = mapOf(house, naming); // which loses more
  return { of, map, losses: house.losses.lines };
}

const token = /\s*(?:"(?:[^"\\\n]|\\.)*"|-?[\d.eE+-]+|true|false|null|[{}[\],:])/y;

/** placeIn is the line of a text at which it stops being JSON: where the browser says, or where the last token ends. */
function placeIn(text: string, e: unknown): string {
  let at = Number(/position (\d+)/.exec(String(e))?.[1] ?? -1);
  if (at < 0) for (token.lastIndex = at = 0; token.test(text);) at = token.lastIndex;
  return String(text.slice(0, at).split('\n').length);
}
