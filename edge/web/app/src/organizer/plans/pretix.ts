// A seating plan of pretix, as its editor saves it and src/pretix/static/seating/seating-plan.schema.json of pretix describes it.
import type { House, Line, Shape } from './house';
import { Losses, list, maybe, number, object, point, text, type Fields } from './reading';

/** isPretix tells such a plan from others. */
export const isPretix = (file: Fields) => Array.isArray(file.zones) && Array.isArray(file.categories);

/** readPretix reads the zones, each with rows and areas whose places are counted from the zone's. */
export function readPretix(file: Fields): House {
  const house: House = { name: maybe(file.name, 'name'), lines: [], shapes: [], focus: null, losses: new Losses() };
  list(file.categories, 'categories').forEach((c, i) => {
    const name = text(c.name, `categories[${i}].name`);
    if (c.color) house.losses.add('colours', name);
  });
  list(file.zones, 'zones').forEach((zone, i) => {
    const path = `zones[${i}]`, name = maybe(zone.name, `${path}.name`) || maybe(zone.zone_id, `${path}.zone_id`);
    const at = point(zone.position, `${path}.position`);
    const rows = list(zone.rows, `${path}.rows`);
    if (rows.length === 0) house.losses.add('empty', name);
    rows.forEach((row, j) => house.lines.push(lineOf(house, row, name, at, `${path}.rows[${j}]`)));
    list(zone.areas, `${path}.areas`).forEach((area, j) => house.shapes.push(...shapesOf(house, area, at, `${path}.areas[${j}]`)));
  });
  return house;
}

type Point = [number, number];
const plus = (a: Point, b: Point): Point => [a[0] + b[0], a[1] + b[1]];

function lineOf(house: House, row: Fields, zone: string, at: Point, path: string): Line {
  const label = maybe(row.row_number, `${path}.row_number`);
  const from = row.position ? plus(at, point(row.position, `${path}.position`)) : at;
  if (row.row_label || row.seat_label) house.losses.add('labels', label);
  const places = list(row.seats, `${path}.seats`).map((seat, i) => {
    const here = `${path}.seats[${i}]`, [x, y] = plus(from, point(seat.position, `${here}.position`));
    if (seat.start_direction) house.losses.add('directions', label);
    if (seat.radius !== undefined && seat.radius !== 10) house.losses.add('sizes');
    return { category: maybe(seat.category, `${here}.category`), label: text(seat.seat_number, `${here}.seat_number`), x, y, path: here };
  });
  return { zone, label, places, path };
}

/** shapesOf is what an area comes to: a shape with what is written on it, or the writing alone, or nothing. */
function shapesOf(house: House, area: Fields, zone: Point, path: string): Shape[] {
  const at = area.position ? plus(zone, point(area.position, `${path}.position`)) : zone;
  const writing = area.text ? object(area.text, `${path}.text`) : null;
  const label = writing ? maybe(writing.text, `${path}.text.text`) : '';
  if (area.color || area.border_color) house.losses.add('colours', label);
  if (area.rotation) house.losses.add('turned', label);
  const size = (name: string) => object(area[name], `${path}.${name}`);
  const side = (of: Fields, name: string, of_: string) => number(of[name], `${path}.${of_}.${name}`);
  const type = (plain: Shape['type']): Shape['type'] => (/^(stage|bühne|podium|scène|escenario|palco)\b/i.test(label) ? 'stage' : plain);
  switch (area.shape) {
    case 'rectangle': {
      const r = size('rectangle');
      return [{ type: type('rectangle'), x: at[0], y: at[1], width: side(r, 'width', 'rectangle'), height: side(r, 'height', 'rectangle'), label }];
    }
    case 'circle':
    case 'ellipse': {
      const [rx, ry] = area.shape === 'circle' ? Array<number>(2).fill(side(size('circle'), 'radius', 'circle')) as Point : point(size('ellipse').radius, `${path}.ellipse.radius`);
      return [{ type: type('ellipse'), x: at[0] - rx, y: at[1] - ry, width: 2 * rx, height: 2 * ry, label }];
    }
    case 'polygon':
      house.losses.add('outlines', label);
      break;
  }
  if (!label) return [];
  const [x, y] = plus(at, point(writing!.position, `${path}.text.position`)), height = Number(writing!.size) || 16, width = 0.6 * height * label.length;
  return [{ type: type('text'), x: x - width / 2, y: y - height / 2, width, height, label }];
}
