// What few events need of what an event can say, as a form has it.
import type { Schemas } from '../../shared/api/client';

/** More is the part of an event's form that is folded in. */
export interface More { capacity: string; tags: string; returns: string; film: string; minutes: string; days: string; rotatingOnly: boolean; extensions: boolean; rescheduling: boolean; exits: boolean; inside: string; idCheck: boolean; offlineDoorCodes: boolean; branding: object }

/** moreOf is what an event says of it, or what it says by itself. */
export const moreOf = (e: Schemas['Event'] | null): More => ({
  capacity: e?.capacity ? String(e.capacity) : '', tags: e?.tags.join(', ') ?? '', returns: e?.returnPolicy ?? '', film: e?.highlightVideoUrl ?? '',
  minutes: String(e?.orderWindowMinutes ?? 15), days: e?.transferDays ? String(e.transferDays) : '',
  rotatingOnly: e?.rotatingOnly ?? false, extensions: e?.extensions ?? true, rescheduling: e?.rescheduling ?? true,
  exits: e?.exits ?? false, inside: e?.insideLimit ? String(e.insideLimit) : '',
  branding: (e?.branding ?? {}) as object, idCheck: (e?.branding as { requireIdCheck?: boolean } | undefined)?.requireIdCheck === true, offlineDoorCodes: e?.offlineDoorCodes ?? false,
});

/** moreFields is what the form's part is to the API. */
export const moreFields = (m: More) => ({
  capacity: Number(m.capacity) || null, tags: m.tags.split(',').map((t) => t.trim()).filter(Boolean), returnPolicy: m.returns.trim() || null, highlightVideoUrl: m.film.trim() || null,
  orderWindowMinutes: Number(m.minutes), transferDays: Number(m.days) || null, rotatingOnly: m.rotatingOnly, extensions: m.extensions, rescheduling: m.rescheduling,
  exits: m.exits, insideLimit: Number(m.inside) || null, offlineDoorCodes: m.offlineDoorCodes,
  ...((m.idCheck || Object.keys(m.branding).length > 0) && { branding: { ...m.branding, requireIdCheck: m.idCheck } as unknown as Schemas['CreateEvent']['branding'] }), // what else is in it stays
});
