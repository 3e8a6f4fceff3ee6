// What a refusal means to a buyer, in the page's own words.
import { Refusal } from '../../shared/api/refusal';
import { longDay } from '../../shared/when';
import { w } from '../words';

/** Details are what refusals of bookings and of stock tell beside their code. */
interface Details { date?: string; remaining?: number; reason?: string; max?: number; alreadyHeld?: number }

/** explainRefusal says why an order can't be placed as it was chosen; '' where the server's words must do. */
export function explainRefusal(error: unknown): string {
  if (!(error instanceof Refusal)) return '';
  const d = error.details as Details;
  const date = d.date ? longDay(d.date, 'UTC') : '';
  switch (error.code) {
    case 'SLOT_FULL': return d.remaining ? w.booking.short(d.remaining) : w.booking.gone;
    case 'DATE_UNAVAILABLE': return w.booking.unavailable(date, d.reason ?? '');
    case 'EXCEEDS_MAX_PER_ORDER': return date ? w.booking.oneAtATime : '';
    case 'EXCEEDS_MAX_PER_CUSTOMER': return date ? w.booking.most(d.max ?? 0, d.alreadyHeld ?? 0, date) : '';
    case 'SEAT_TAKEN': return w.checkout.seatsGone;
    case 'TICKET_SOLD_OUT': return w.checkout.short;
    case 'QUEUE_REQUIRED': return w.checkout.shared;
    default: return '';
  }
}
