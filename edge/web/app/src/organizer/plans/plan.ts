// Seating plans as files: our own, pretix's, and charts of seats.io. Nothing here asks anybody: a text goes in, and a map
// comes out with a list of what of the plan it has not.
import type { Schemas } from '../../shared/api/client';
import { mapOf, type Naming } from './house';
import { isPretix, readPretix } from './pretix';
import { Fault, list, number, object, text, type Fields, type Loss } from './reading';
import { isSeatsio, readSeatsio } from './seatsio';

/** A Plan is a file that was read: whose it is, the map that comes of it, and what is lost. */
export interface Plan { of: 'ours' | 'pretix' | 'seatsio'; map: Schemas['UpdateVenue']; losses: Loss[] }

/** most is how many bytes a file may have: a chart of seats.io has some 300 for each seat. */
export const most = 16 << 20;
const sent = 1_000_000; // bytes of a map that can be sent

/** readPlan reads a file, or throws the Fault that says where it is wrong. */
export function readPlan(written: string, naming: Naming): Plan {
  if (written.length > most) throw new Fault('big');
  let file;
  try {
    file = object(JSON.parse(written), '');
  } catch (e) {
    throw e instanceof Fault ? e : new Fault('json', placeIn(written, e));
  }
  const plan = planOf(file, naming);
  if (new TextEncoder().encode(JSON.stringify(plan.map)).length > sent) throw new Fault('many');
  return plan;
}

function planOf(file: Fields, naming: Naming): Plan {
  if (file.canvas !== undefined || Array.isArray(file.sections)) return { of: 'ours', map: readOurs(file), losses: [] };
  const of = isSeatsio(file) ? 'seatsio' : isPretix(file) ? 'pretix' : null;
  if (!of) throw new Fault('unknown');
  const house = of === 'pretix' ? readPretix(file) : readSeatsio(file);
  const map = mapOf(house, naming); // which loses more
  return { of, map, losses: house.losses.lines };
}

const token = /\s*(?:"(?:[^"\\\n]|\\.)*"|-?[\d.eE+-]+|true|false|null|[{}[\],:])/y;

/** readOurs looks only at what a picture of the map needs: the server says what else is wrong with it. */
function readOurs(file: Fields): Schemas['UpdateVenue'] {
  const canvas = object(file.canvas, 'canvas');
  for (const side of ['width', 'height']) number(canvas[side], `canvas.${side}`);
  for (const part of ['sections', 'elements']) list(file[part], part);
  return { ...file, name: text(file.name, 'name') } as Schemas['UpdateVenue'];
}

/** placeIn is the line of a text at which it stops being JSON: where the browser says, or where the last token ends. */
function placeIn(written: string, e: unknown): string {
  let at = Number(/position (\d+)/.exec(String(e))?.[1] ?? -1);
  if (at < 0) for (token.lastIndex = at = 0; token.test(written);) at = token.lastIndex;
  return String(written.slice(0, at).split('\n').length);
}
