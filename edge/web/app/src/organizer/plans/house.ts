// A house as a plan of somebody else's has it, and the map of ours that comes of it.
import type { Schemas } from '../../shared/api/client';
import { Fault, machine, type Losses } from './reading';

type Document = Schemas['UpdateVenue'];
type Element = NonNullable<Document['elements']>[number];

/** A Place is a seat, where the plan has it. */
export interface Place { category: string; label: string; x: number; y: number; kind?: 'wheelchair' | 'companion'; path: string }

/** A Line is a row of a plan, or the seats of a table. */
export interface Line { zone: string; label: string; places: Place[]; path: string }

/** A Shape is what is drawn besides seats. */
export interface Shape { type: Element['type']; x: number; y: number; width: number; height: number; label: string }

export interface House { name: string; lines: Line[]; shapes: Shape[]; focus: [number, number] | null; losses: Losses }

/** Naming is what people read of what a plan has no name for. */
export interface Naming { plan: string; seats: string; category: (n: number) => string }

const most = { sections: 500, elements: 200, rows: 1000, seats: 1000, canvas: 90_000, all: 100_000 };
const letters = /^[A-Za-z0-9._:-]+$/; // of what ids are made

/** keyOf is the same for texts that look alike on a ticket. */
const keyOf = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

/** mapOf makes a map of ours of a house. A section is what is priced as one: a zone's seats of a category. */
export function mapOf(house: House, naming: Naming): Document {
  const all = house.lines.flatMap((l) => l.places);
  if (all.length === 0) throw new Fault('seats');
  if (all.length > most.all) throw new Fault('many');
  const shapes = dropBackgrounds(house, all);
  const room = roomOf(house, all, shapes);
  const sections = divide(house, naming, room);
  if (sections.length > most.sections) throw new Fault('many');
  for (const s of shapes.slice(most.elements)) house.losses.add('shapes', s.label);
  return {
    name: (house.name || naming.plan).slice(0, 200), canvas: room.canvas, focus: focusOf(house, all, shapes, room),
    elements: shapes.slice(0, most.elements).map((s) => ({
      type: s.type, ...(s.label && { label: s.label.slice(0, 100) }), x: room.x(s.x), y: room.y(s.y), width: room.length(s.width), height: room.length(s.height),
    })),
    sections,
  };
}

/** dropBackgrounds leaves out what other plans paint behind their seats: with us nothing lies behind one. */
function dropBackgrounds(house: House, all: Place[]): Shape[] {
  return house.shapes.filter((s) => {
    if (s.type === 'text' || !all.some(({ x, y }) => x >= s.x && x <= s.x + s.width && y >= s.y && y <= s.y + s.height)) return true;
    house.losses.add('background', s.label);
    return false;
  });
}

/** Room turns a plan's coordinates into whole units of a canvas. */
interface Room { canvas: Document['canvas']; x: (x: number) => number; y: (y: number) => number; length: (l: number) => number }

function roomOf(house: House, all: Place[], shapes: Shape[]): Room {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const b of [...all.map(({ x, y }) => ({ x, y, width: 0, height: 0 })), ...shapes]) {
    [left, top, right, bottom] = [Math.min(left, b.x), Math.min(top, b.y), Math.max(right, b.x + b.width), Math.max(bottom, b.y + b.height)];
  }
  const size = Math.max(right - left, bottom - top), margin = Math.max(size / 25, 20), scale = Math.min(10, most.canvas / (size + 2 * margin));
  const canvas = { width: Math.ceil((right - left + 2 * margin) * scale), height: Math.ceil((bottom - top + 2 * margin) * scale) };
  const on = (v: number, max: number) => Math.min(Math.max(Math.round(v * scale), 0), max);
  return { canvas, x: (x) => on(x - left + margin, canvas.width), y: (y) => on(y - top + margin, canvas.height), length: (l) => Math.max(1, Math.floor(l * scale)) };
}

/** focusOf is where the plan says that people look, or the middle of its stage, or above the middle of the seats. */
function focusOf(house: House, all: Place[], shapes: Shape[], room: Room): [number, number] {
  const stage = shapes.find((s) => s.type === 'stage');
  if (!house.focus && !stage) house.losses.add('focus');
  const [x, y] = house.focus ?? (stage ? [stage.x + stage.width / 2, stage.y + stage.height / 2] : [all.reduce((sum, p) => sum + p.x, 0) / all.length, -Infinity]);
  return [room.x(x), room.y(y)];
}

type Section = NonNullable<Document['sections']>[number];
type Row = Section['rows'][number];

/** divide sorts the seats into sections, and gives each what a ticket says of it. */
function divide(house: House, naming: Naming, room: Room): Section[] {
  const name = namesOf(house, naming);
  const sections = new Map<string, Section>(), printed = new Set<string>(), points = new Set<string>();
  for (const line of house.lines) {
    const parts = new Map<string, Place[]>();
    for (const p of line.places) parts.set(p.category, [...(parts.get(p.category) ?? []), p]);
    if (parts.size > 1) house.losses.add('split', line.label);
    for (const [category, places] of parts) {
      const called = name(line.zone, category);
      let section = sections.get(called);
      if (!section) sections.set(called, section = { id: `s${sections.size + 1}`, name: called, rows: [] });
      for (let from = 0; from < places.length; from += most.seats) section.rows.push(rowOf(house, section, line, places.slice(from, from + most.seats), printed, points, room));
      if (section.rows.length > most.rows) throw new Fault('many', line.path);
    }
  }
  return [...sections.values()];
}

/** namesOf names sections: by their zone where it has one category, by the category where there is one zone. */
function namesOf(house: House, naming: Naming): (zone: string, category: string) => string {
  const zones = new Map<string, Set<string>>(), called: string[] = [];
  for (const { zone, places } of house.lines) for (const { category } of places) {
    if (!zones.has(zone)) zones.set(zone, new Set());
    zones.get(zone)!.add(category);
    if (!called.includes(category)) called.push(category);
  }
  const spoken = (category: string) => (machine.test(category) ? naming.category(called.indexOf(category) + 1) : category);
  const given = new Map<string, string>(), taken = new Set<string>();
  return (zone, category) => {
    const pair = JSON.stringify([zone, category]);
    const known = given.get(pair);
    if (known) return known;
    const alone = zones.get(zone)!.size === 1 && zone !== '';
    const whole = (alone ? zone : zones.size === 1 && category ? spoken(category) : [zone, spoken(category)].filter(Boolean).join(', ')) || naming.seats;
    if (whole.length > 40) house.losses.add('cut', whole);
    let name = whole.slice(0, 40).trim();
    for (let n = 2; taken.has(keyOf(name)); n++) name = `${whole.slice(0, 35).trim()} (${n})`;
    taken.add(keyOf(name));
    given.set(pair, name);
    return name;
  };
}

/** rowOf is a row of a section. One whose seats would look like others' on a ticket gets a label of its own. */
function rowOf(house: House, section: Section, line: Line, places: Place[], printed: Set<string>, points: Set<string>, room: Room): Row {
  if (!line.label) house.losses.add('unnamed');
  const whole = line.label || String(section.rows.length + 1);
  if (whole.length > 10) house.losses.add('cut', whole);
  const ticket = (row: string, p: Place) => JSON.stringify([section.id, keyOf(row), keyOf(p.label.slice(0, 10))]);
  let label = whole.slice(0, 10).trim();
  for (let n = 2; places.some((p) => printed.has(ticket(label, p))); n++) {
    if (n === 2) house.losses.add('repeated', `${section.name} ${whole}`);
    label = `${whole.slice(0, 5).trim()} (${n})`;
  }
  const apart = distances(places), usual = [...apart].sort((a, b) => a - b)[Math.floor(apart.length / 2)] ?? 0;
  const aside = Math.max(1, room.length(0.6 * usual));
  const seats = places.map((p, i) => {
    if (p.label.length > 10) house.losses.add('cut', p.label);
    if (printed.has(ticket(label, p))) throw new Fault('duplicate', p.path);
    printed.add(ticket(label, p));
    let x = room.x(p.x);
    const y = room.y(p.y);
    for (let moved = false; points.has(`${x},${y}`); moved = true) {
      if (!moved) house.losses.add('moved', `${section.name} ${label} ${p.label}`);
      x += x < room.canvas.width / 2 ? aside : -aside;
    }
    points.add(`${x},${y}`);
    const named = letters.test(p.label) && p.label.length <= 10;
    return { label: p.label.slice(0, 10), x, y, ...(!named && { id: `${section.id}-${section.rows.length + 1}-${i + 1}n` }), ...(p.kind && { kind: p.kind }), ...(i > 0 && apart[i - 1]! > 1.7 * usual && { aisleBefore: true }) };
  });
  return { label, ...(!letters.test(label) && { id: `r${section.rows.length + 1}` }), seats };
}

const distances = (places: Place[]) => places.slice(1).map((p, i) => Math.hypot(p.x - places[i]!.x, p.y - places[i]!.y));
