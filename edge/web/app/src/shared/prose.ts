// A small Markdown: paragraphs, headings, lists, bold, italic, links. It makes parts to show as
// elements and never HTML, so a text can bring no element of its own.

export interface Part { kind: 'text' | 'bold' | 'italic' | 'link'; text: string; href?: string }
export interface Block { kind: 'paragraph' | 'heading' | 'list' | 'numbers'; lines: Part[][] }

const spans = /\*\*(?<bold>[^*\n]+)\*\*|(?<![\w*])\*(?<star>[^*\n]+)\*(?![\w*])|(?<!\w)_(?<line>[^_\n]+)_(?!\w)|\[(?<name>[^\]\n]+)\]\((?<to>https?:\/\/[^\s)]+)\)|(?<bare>https?:\/\/[^\s<>()]+[^\s<>().,;:!?"'])/g;

/** inline takes a line apart. What is not understood stays as it was written. */
export function inline(line: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const m of line.matchAll(spans)) {
    if (m.index > at) parts.push({ kind: 'text', text: line.slice(at, m.index) });
    const { bold, star, line: under, name, to, bare } = m.groups!;
    if (bold) parts.push({ kind: 'bold', text: bold });
    else if (star ?? under) parts.push({ kind: 'italic', text: (star ?? under)! });
    else parts.push({ kind: 'link', text: name ?? bare!, href: to ?? bare! });
    at = m.index + m[0].length;
  }
  if (at < line.length) parts.push({ kind: 'text', text: line.slice(at) });
  return parts;
}

/** blocks takes a text apart. */
export function blocks(text: string): Block[] {
  const out: Block[] = [];
  for (const chunk of text.replace(/\r\n?/g, '\n').split(/\n{2,}/)) {
    let open: Block | null = null;
    for (const raw of chunk.split('\n').filter((line) => line.trim())) {
      const [, mark = '', rest = raw] = /^\s{0,3}(#{1,6}|[-*•]|\d{1,3}[.)])\s+(.*)$/.exec(raw) ?? [];
      const kind = !mark ? 'paragraph' : mark.startsWith('#') ? 'heading' : /\d/.test(mark) ? 'numbers' : 'list';
      if (!open || open.kind !== kind || kind === 'heading') out.push(open = { kind, lines: [] });
      open.lines.push(inline(rest));
    }
  }
  return out;
}
