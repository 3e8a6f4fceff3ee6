// The pictures and files that an organization has: those that its events name, since all others are removed after 7 days.
import { ask, type Schemas } from '../../shared/api/client';
import type { Desk } from '../desk.svelte';
import { m } from './words';

/** A Kept file is one that was sent here before, and what of. */
export interface Kept { url: string; label: string }

const ours = /^\/media\/\d+/;
const most = 200, deep = 30; // events that are looked through, and into, the newest

/** eventsOf are the events of an organization, with what they name. */
async function eventsOf(desk: Desk): Promise<Schemas['Event'][]> {
  const all: Schemas['Event'][] = [];
  let cursor: string | null | undefined;
  do {
    const page = await ask(desk.api.GET('/api/v1/organizer/events', { params: { query: { orgId: desk.org, limit: 100, ...(cursor && { cursor }) } } }));
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor && all.length < most);
  return all;
}

/** kept lists each file once, by the first event that names it. */
function kept(found: [url: string | null | undefined, label: string][]): Kept[] {
  const all = new Map<string, string>();
  for (const [url, label] of found) if (url && ours.test(url) && !all.has(url)) all.set(url, label);
  return [...all].map(([url, label]) => ({ url, label }));
}

export const picturesOf = async (desk: Desk) => kept((await eventsOf(desk)).flatMap((e) => [
  [e.coverImage, m.of(e.title, m.cover)], ...(e.gallery ?? []).map((url, i) => [url, m.of(e.title, m.picture(i + 1))]), ...(e.entities ?? []).map((one) => [one.imageUrl, m.of(e.title, one.name)]),
] as [string, string][]));

/** whole are the newest events that have files, each read alone: a list does not say what a course or a ticket has. */
async function whole(desk: Desk): Promise<Schemas['Event'][]> {
  const all = (await eventsOf(desk)).filter((e) => e.productType === 'digital' || e.coverVideo).slice(0, deep);
  return Promise.all(all.map(({ id }) => ask(desk.api.GET('/api/v1/organizer/events/{id}', { params: { path: { id } } }))));
}

/** filesOf are films or texts, by the kind that is looked for; without one, all. */
export async function filesOf(desk: Desk, kind?: 'video' | 'pdf'): Promise<Kept[]> {
  const film = kind !== 'pdf', text = kind !== 'video';
  return kept((await whole(desk)).flatMap((e) => [
    film && [e.coverVideo, m.of(e.title, m.film)], film && [e.unifiedVideo, e.title], text && [e.unifiedPdf, m.of(e.title, m.text)],
    ...(e.syllabus ?? []).flatMap((l) => [film && [l.lessonVideo, m.of(e.title, l.title)], text && [l.lessonPdf, m.of(e.title, `${l.title}, ${m.text}`)], ...(kind ? [] : (l.materials ?? []).map((one) => [one.url, m.of(e.title, one.name)]))]),
    ...(kind ? [] : [...(e.unifiedMaterials ?? []).map((one) => [one.url, m.of(e.title, one.name)]), ...(e.ticketTypes ?? []).map((one) => [one.accessUrl, m.of(e.title, one.name)])]),
  ].filter(Boolean) as [string, string][]));
}
