// A chart of seats.io, as its API answers for one (GET /charts/{key}/version/published): rows, tables and areas of a
// chart, of its sections, and of its floors.
import type { House, Line, Place, Shape } from './house';
import { Losses, list, maybe, number, object, point, text, type Fields } from './reading';

/** isSeatsio tells such a chart from others. */
export const isSeatsio = (file: Fields) => typeof file.subChart === 'object' || Array.isArray(file.subChartFloors);

/** Part is a chart in the chart: where it is, and what stands for its seats that say nothing themselves. */
interface Part { path: string; x: number; y: number; zone: string; category: string }

export function readSeatsio(file: Fields): House {
  const house: House = { name: maybe(file.name, 'name'), lines: [], shapes: [], focus: null, losses: new Losses() };
  const categories = new Map<string, string>();
  list(file.categories && object(file.categories, 'categories').list, 'categories.list').forEach((c, i) => {
    const label = text(c.label, `categories.list[${i}].label`);
    categories.set(String(c.key), label);
    if (c.color) house.losses.add('colours', label);
  });
  list(file.zones && object(file.zones, 'zones').list, 'zones.list').forEach((z, i) => house.losses.add('zones', maybe(z.label, `zones.list[${i}].label`)));
  const reader = new Reader(house, categories);
  if (!Array.isArray(file.subChartFloors)) reader.readPart(object(file.subChart, 'subChart'), { path: 'subChart', x: 0, y: 0, zone: '', category: '' });
  else {
    let y = 0; // floors lie one below the other
    list(file.subChartFloors, 'subChartFloors').forEach((floor, i) => {
      const path = `subChartFloors[${i}]`, zone = maybe(floor.floorDisplayName, `${path}.floorDisplayName`);
      house.losses.add('floors', zone);
      reader.readPart(floor, { path, x: 0, y, zone, category: '' });
      y += 1.2 * number(floor.height, `${path}.height`) + 40;
    });
  }
  return house;
}

class Reader {
  constructor(readonly house: House, readonly categories: Map<string, string>) {}

  readPart(chart: Fields, part: Part) {
    const { house } = this, { losses } = house;
    const each = (name: string, read: (one: Fields, path: string) => void) => list(chart[name], `${part.path}.${name}`).forEach((one, i) => read(one, `${part.path}.${name}[${i}]`));
    each('rows', (row, path) => house.lines.push(this.lineOf(row, path, part)));
    each('tables', (table, path) => this.readTable(table, path, part));
    each('sections', (section, path) => this.readSection(section, path, part));
    each('generalAdmissionAreas', (area, path) => {
      losses.add('areas', `${maybe(area.label, `${path}.label`)} (${Number(area.capacity) || '?'})`);
      this.draw(area, path, part);
    });
    each('shapes', (shape, path) => this.draw(shape, path, part));
    each('booths', (booth, path) => losses.add('booths', maybe(booth.label, `${path}.label`)));
    each('texts', (one, path) => this.readText(one, path, part));
    for (const name of ['icons', 'imageObjects']) each(name, () => losses.add('pictures'));
    if (chart.backgroundImage) losses.add('background');
    if (chart.focalPoint && !house.focus) {
      const [x, y] = point(chart.focalPoint, `${part.path}.focalPoint`);
      if (x || y) house.focus = [x + part.x, y + part.y]; // nobody has set it
    }
  }

  lineOf(row: Fields, path: string, part: Part): Line {
    const label = maybe(row.displayLabel, `${path}.displayLabel`) || text(row.label, `${path}.label`);
    return { zone: part.zone, label, places: list(row.seats, `${path}.seats`).map((seat, i) => this.placeOf(seat, `${path}.seats[${i}]`, part)), path };
  }

  placeOf(seat: Fields, path: string, part: Part): Place {
    const [x, y] = point(seat, path);
    if (seat.restrictedView) this.house.losses.add('views');
    const category = this.categories.get(String(seat.categoryKey)) ?? (maybe(seat.categoryLabel, `${path}.categoryLabel`) || part.category);
    const label = maybe(seat.displayLabel, `${path}.displayLabel`) || text(seat.label, `${path}.label`);
    return { category, label, x: x + part.x, y: y + part.y, ...(seat.accessible ? { kind: 'wheelchair' } : seat.companionSeat ? { kind: 'companion' } : {}), path };
  }

  /** readTable reads a table as a row of seats, and draws it among them. */
  readTable(table: Fields, path: string, part: Part) {
    const line = this.lineOf(table, path, part);
    this.house.lines.push(line);
    if (table.bookAsAWhole) this.house.losses.add('whole', line.label);
    if (typeof table.radius === 'number' && table.center) this.draw({ ...table, type: 'circle', radius1: table.radius, radius2: table.radius }, path, part);
  }

  readSection(section: Fields, path: string, part: Part) {
    const name = maybe(section.displayLabel, `${path}.displayLabel`) || text(section.label, `${path}.label`), { losses } = this.house;
    const [x, y] = point(section.topLeft, `${path}.topLeft`);
    losses.add('outlines', name);
    if (section.entrance) losses.add('entrances', maybe(section.entrance, `${path}.entrance`));
    if (section.viewFromYourSeatImage) losses.add('views', name);
    const chart = object(section.subChart, `${path}.subChart`), before = this.house.lines.length;
    this.readPart(chart, {
      path: `${path}.subChart`, x: x + part.x, y: y + part.y, zone: [part.zone, name].filter(Boolean).join(', '),
      category: this.categories.get(String(section.categoryKey)) ?? maybe(section.categoryLabel, `${path}.categoryLabel`),
    });
    if (this.house.lines.length === before) losses.add('empty', name);
  }

  /** draw draws what stands upright: rectangles, circles and ellipses around a point. */
  draw(one: Fields, path: string, part: Part) {
    const label = one.labelShown === false ? '' : maybe(one.label, `${path}.label`), { shapes, losses } = this.house;
    if (!one.center) {
      losses.add('outlines', label);
      return;
    }
    if (one.rotationAngle) losses.add('turned', label);
    if (one.fillColor || one.strokeColor) losses.add('colours', label);
    const [x, y] = point(one.center, `${path}.center`), round = one.type === 'circle' || one.type === 'ellipse';
    const width = round ? 2 * number(one.radius1, `${path}.radius1`) : number(one.width, `${path}.width`), height = round ? 2 * number(one.radius2 ?? one.radius1, `${path}.radius2`) : number(one.height, `${path}.height`);
    const type: Shape['type'] = one.smartType === 'stage' ? 'stage' : round ? 'ellipse' : 'rectangle';
    shapes.push({ type, x: x + part.x - width / 2, y: y + part.y - height / 2, width, height, label });
  }

  readText(one: Fields, path: string, part: Part) {
    const label = maybe(one.text ?? one.label, `${path}.text`), size = Number(one.fontSize) || 16, at = one.center ?? one;
    if (!label || typeof (at as Fields).x !== 'number') {
      this.house.losses.add('texts', label);
      return;
    }
    if (one.rotationAngle) this.house.losses.add('turned', label);
    const [x, y] = point(at, path), width = 0.6 * size * label.length;
    this.house.shapes.push({ type: 'text', x: x + part.x - width / 2, y: y + part.y - size / 2, width, height: size, label });
  }
}
