// What reading a strange file has in common, whatever it is of: what it must have, and where it is wrong.

/** A Fault says where in a file something is wrong: at a path, or nowhere if it is the whole of it. */
export class Fault extends Error {
  constructor(readonly code: 'json' | 'unknown' | 'missing' | 'text' | 'number' | 'list' | 'object' | 'duplicate' | 'many' | 'big' | 'seats', readonly path = '') {
    super(`${code} at ${path}`);
  }
}

/** Fields are what an object of a file has, none of which is what it ought to be until it was read. */
export type Fields = Record<string, unknown>;

const given = (v: unknown, path: string) => {
  if (v === undefined || v === null) throw new Fault('missing', path);
  return v;
};

export function object(v: unknown, path: string): Fields {
  if (typeof given(v, path) !== 'object' || Array.isArray(v)) throw new Fault('object', path);
  return v as Fields;
}

/** list reads a list of objects; where there is none, it is empty. */
export function list(v: unknown, path: string): Fields[] {
  if (v === undefined || v === null) return [];
  if (!Array.isArray(v)) throw new Fault('list', path);
  return v.map((one, i) => object(one, `${path}[${i}]`));
}

export function number(v: unknown, path: string): number {
  if (typeof given(v, path) !== 'number' || !Number.isFinite(v) || Math.abs(v as number) > 1e7) throw new Fault('number', path);
  return v as number;
}

/** text reads what people read. Numbers are texts, too: some programs write labels so. */
export function text(v: unknown, path: string): string {
  if (typeof given(v, path) === 'number') return String(v);
  if (typeof v !== 'string') throw new Fault('text', path);
  return v.replace(/\s+/g, ' ').trim();
}

/** maybe reads a text that need not be there. */
export const maybe = (v: unknown, path: string) => (v === undefined || v === null ? '' : text(v, path));

export function point(v: unknown, path: string): [number, number] {
  const p = object(v, path);
  return [number(p.x, `${path}.x`), number(p.y, `${path}.y`)];
}

/** What of a plan has no place in a map of ours. */
export type LossCode = 'colours' | 'background' | 'outlines' | 'turned' | 'directions' | 'sizes' | 'labels' | 'areas' | 'booths' | 'whole' | 'views' | 'pictures' | 'texts' | 'entrances' | 'floors' | 'zones' | 'empty' | 'repeated' | 'unnamed' | 'cut' | 'moved' | 'focus' | 'shapes' | 'split';

/** A Loss is one line of what is lost: how often, and the names of the first of them. */
export interface Loss { code: LossCode; count: number; names: string[] }

const told = 5; // names of a line

/** machine is what a name looks like that no person gave. */
export const machine = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Losses counts what is lost while a plan is read. */
export class Losses {
  readonly lines: Loss[] = [];

  add(code: LossCode, name = '') {
    let line = this.lines.find((l) => l.code === code);
    if (!line) this.lines.push(line = { code, count: 0, names: [] });
    line.count++;
    if (name && !machine.test(name) && line.names.length < told && !line.names.includes(name)) line.names.push(name);
  }
}
