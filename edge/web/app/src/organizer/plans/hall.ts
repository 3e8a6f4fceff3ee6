// A hall that is drawn by a few numbers: blocks one behind the other, of straight rows, of rows around the stage, or of
// tables. Seats stand half a metre apart and rows one metre; a unit of the map is a centimetre.
import type { Schemas } from '../../shared/api/client';

type Document = Schemas['UpdateVenue'];
type Row = NonNullable<Document['sections']>[number]['rows'][number];

/** A Block is a section: rows of so many seats, or tables in so many rows. */
export interface Block { name: string; form: 'rows' | 'tables'; rows: number; seats: number; tables: number }

/** A Hall is curved if its first row has a radius. */
export interface Hall { name: string; radius: number; grows: boolean; standing: boolean; blocks: Block[] }

/** Texts are what is written in the hall. */
export interface Texts { stage: string; standing: string }

const seat = 50, row = 100, gap = 150; // centimetres
const top = 280; // what is left for the stage

/** chairs is how far from the middle of a table one sits, and table how far tables stand apart. */
const chairs = (b: Block) => Math.max(70, 9 * b.seats);
const table = (b: Block) => 2 * chairs(b) + 120;

/** deep is how far a row of a block is from the next. */
const deep = (b: Block) => (b.form === 'tables' ? table(b) : row);

/** tightest is the least radius of a first row that is a half circle at most. */
export const tightest = (hall: Hall) => Math.ceil(Math.max(...hall.blocks.slice(0, 1).map((b) => seat * (b.seats - 1) / Math.PI), 300) / 100);

/** hallOf draws a hall as a map. */
export function hallOf(hall: Hall, texts: Texts): Document {
  const laid = hall.radius > 0 ? around(hall) : ahead(hall);
  const standing = hall.standing ? [{ type: 'rectangle' as const, x: 60, y: laid.height, width: Math.round(laid.width - 120), height: 260, label: texts.standing }] : [];
  const width = Math.round(laid.width), middle = Math.round(width / 2), stage = Math.round(Math.min(width / 2, 2000));
  return {
    name: hall.name, canvas: { width, height: Math.round(laid.height + (hall.standing ? 320 : 0)) }, focus: [middle, 100],
    elements: [{ type: 'stage', x: middle - Math.round(stage / 2), y: 40, width: stage, height: 120, label: texts.stage }, ...standing],
    sections: laid.rows.map((rows, i) => ({ id: `s${i + 1}`, name: hall.blocks[i]!.name, rows })),
  };
}

interface Laid { rows: Row[][]; width: number; height: number }

/** ahead lays blocks in straight rows before the stage. */
function ahead(hall: Hall): Laid {
  const width = Math.max(...hall.blocks.map((b) => (b.form === 'tables' ? table(b) * b.tables : seat * (b.seats - 1))), 300) + 4 * seat;
  let y = top;
  const rows = hall.blocks.map((b): Row[] => {
    const from = y;
    y += deep(b) * b.rows + gap;
    if (b.form === 'tables') return tablesOf(b, width / 2, from);
    const half = seat * (b.seats - 1) / 2;
    return [{ label: 'A', from: [Math.round(width / 2 - half), from], to: [Math.round(width / 2 + half), from], count: b.seats, ...(b.rows > 1 && { repeat: b.rows, step: [0, row] }) }];
  });
  return { rows, width, height: y };
}

/** around lays blocks in arcs with one centre. Rows that grow have as much room for each seat as the first. */
function around(hall: Hall): Laid {
  let radius = 100 * Math.max(hall.radius, tightest(hall));
  const laid = hall.blocks.map((b) => {
    const first = radius, half = b.form === 'tables' ? Math.min(table(b) * (b.tables - 1) / 2 / first, Math.PI / 2) : Math.min(seat * (b.seats - 1) / 2 / first, Math.PI / 2);
    radius += deep(b) * b.rows + gap;
    return { b, first, half, last: radius - gap - deep(b) };
  });
  const widest = Math.max(...laid.map(({ last, half }) => last * Math.sin(Math.min(half, Math.PI / 2))));
  const width = 2 * (widest + 2 * seat + Math.max(...hall.blocks.map((b) => (b.form === 'tables' ? table(b) : 0)))), middle = Math.round(width / 2);
  const y = Math.round(top - Math.min(...laid.flatMap(({ first, last, half }) => [first, last].map((r) => r * Math.cos(half)))));
  const rows = laid.map(({ b, first, half }): Row[] => {
    if (b.form === 'tables') return tablesOf(b, middle, y, first);
    const degrees = half * 180 / Math.PI, step = Math.min(20, Math.floor(200 * half * row / seat) / 100);
    return [{
      label: 'A', center: [middle, y], radius: first, angles: [round(90 + degrees), round(90 - degrees)], count: b.seats,
      ...(b.rows > 1 && { repeat: b.rows, radiusStep: row, ...(hall.grows && step > 0 && { countStep: step }) }),
    }];
  });
  return { rows, width, height: y + radius };
}

const round = (degrees: number) => Math.round(100 * degrees) / 100;

/** tablesOf makes a row of the seats of each table: in lines from y on, or around a centre at y from a radius on. */
function tablesOf(b: Block, middle: number, y: number, radius = 0): Row[] {
  return Array.from({ length: b.rows * b.tables }, (_, n): Row => {
    const i = n % b.tables - (b.tables - 1) / 2, k = Math.floor(n / b.tables), far = radius + table(b) * k + chairs(b);
    const angle = Math.PI / 2 - i * table(b) / far;
    const [cx, cy] = radius ? [middle + far * Math.cos(angle), y + far * Math.sin(angle)] : [middle + table(b) * i, y + table(b) * k + chairs(b)];
    return {
      label: `T${n + 1}`,
      seats: Array.from({ length: b.seats }, (_, s) => {
        const turn = 2 * Math.PI * s / b.seats - Math.PI / 2, r = chairs(b);
        return { label: String(s + 1), x: Math.round(cx + r * Math.cos(turn)), y: Math.round(cy + r * Math.sin(turn)) };
      }),
    };
  });
}
