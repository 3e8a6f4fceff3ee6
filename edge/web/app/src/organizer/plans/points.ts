// Where the seats of a map stand, for a picture of it before it is sent: the rows of all three forms, as the server expands
// them (edge/venuemap). It takes the map for right, since the server says what is wrong with one.
import type { Schemas } from '../../shared/api/client';

type Document = Schemas['UpdateVenue'];
type Row = NonNullable<Document['sections']>[number]['rows'][number];

/** A Dot is a seat, and the number of its section. */
export interface Dot { x: number; y: number; section: number }

/** dotsOf are the seats of a map, or none if that can't be told. */
export function dotsOf(map: Document): Dot[] {
  try {
    return (map.sections ?? []).flatMap((s, section) => s.rows.flatMap((row) => pointsOf(row).map(([x, y]) => ({ x, y, section }))));
  } catch {
    return [];
  }
}

function pointsOf(row: Row): [number, number][] {
  if (row.seats) return row.seats.map(({ x, y }) => [x, y]);
  return Array.from({ length: row.repeat ?? 1 }, (_, k) => drawn(row, k)).flat();
}

/** drawn is the k-th row of an entry that is straight or an arc. An aisle takes the room of one seat. */
function drawn(row: Row, k: number): [number, number][] {
  const count = row.count! + Math.floor(k * (row.countStep ?? 0) + 1e-9), aisles = row.aislesAfter ?? [], last = count - 1 + aisles.length;
  const parts = Array.from({ length: count }, (_, i) => (last ? (i + aisles.filter((after) => after <= i).length) / last : 0));
  if (row.center) {
    const [from, to] = row.angles as [number, number], radius = row.radius! + k * (row.radiusStep ?? 0), [cx, cy] = row.center as [number, number];
    return parts.map((part) => {
      const angle = (from + part * (to - from)) * Math.PI / 180;
      return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
    });
  }
  const [sx, sy] = (row.step ?? [0, 0]) as [number, number], [fx, fy] = row.from as [number, number], [tx, ty] = row.to as [number, number];
  const usual = row.count! - 1 + aisles.length, grows = usual ? (last - usual) / 2 / usual : 0; // at both ends
  return parts.map((part) => {
    const along = -grows + part * (1 + 2 * grows);
    return [fx + k * sx + along * (tx - fx), fy + k * sy + along * (ty - fy)];
  });
}

/** spacing is how far seats usually stand apart, of which a dot is the larger part. */
export function spacing(dots: { x: number; y: number }[]): number {
  const apart = dots.slice(1, 2000).map((d, i) => Math.hypot(d.x - dots[i]!.x, d.y - dots[i]!.y)).sort((a, b) => a - b);
  return apart[Math.floor(apart.length / 3)] || 40;
}

/** fitting is the size of letters with which a label stays in its element. A text stands alone and can be read. */
export const fitting = (e: { type: string; width: number; height: number; label?: string }, canvas: number) => Math.max(e.type === 'text' ? canvas / 40 : 0, Math.min(0.7 * e.height, 1.5 * e.width / Math.max(1, e.label?.length ?? 0)));

/** dashes draws dots as a path: a line without length whose round ends are the dot. So thousands are one element. */
export const dashes = (dots: { x: number; y: number }[]) => dots.map(({ x, y }) => `M${Math.round(x)} ${Math.round(y)}h0`).join('');

/** shade is the colour of a section in a picture, far from its neighbours'. It can be told from both backgrounds. */
export const shade = (section: number) => `oklch(0.62 0.15 ${(250 + 137 * section) % 360})`;
