// How events differ by their category, which decides how they are sold.
import type { Schemas } from '../../shared/api/client';
import { isReservation } from '../../shared/when';

/** beginnings are the categories with which an event is begun: of an evening, of dates, of what is sold at any time. */
export const beginnings = { event: 'concerts', dates: 'reservations', digital: 'online-course' } as const;

/** isTimeless says whether what is sold is handed over by the order at once, and takes place nowhere and never. */
export const isTimeless = (category: string) => ['digital-product', 'e-books', 'downloadable-files', 'online-service'].includes(category);

/** isLive says whether an event can be found and bought, or is under way. */
export const isLive = (e: Pick<Schemas['Event'], 'status'>) => ['published', 'on_sale', 'sold_out', 'in_progress'].includes(e.status);

/** beginningOf is when an event begins; null of what guests choose a date of, or is there at once. */
export const beginningOf = (e: Schemas['Event']) => (isReservation(e) || isTimeless(e.category) ? null : e.startDate);
