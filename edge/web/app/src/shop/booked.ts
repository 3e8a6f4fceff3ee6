// What is booked of a reservation event: a date, and a slot where it has any.
import type { Schemas } from '../shared/api/client';
import { hours, longDay } from '../shared/when';

/** A Place is what a buyer has chosen. Of null left there is no limit. */
export interface Place { date: string; slot: string; left: number | null }

/** booked is a date with its slot, in words. */
export function booked(event: Schemas['Event'] | null, date: string, slotId: string | null): string {
  const slot = event?.reservation?.slots.find((s) => s.id === slotId);
  return [longDay(date, 'UTC'), slot?.label, slot && hours(slot.startTime, slot.endTime)].filter(Boolean).join(', ');
}
