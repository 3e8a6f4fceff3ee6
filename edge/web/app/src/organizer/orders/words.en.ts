import { many } from '../../shared/words';

const words = {
  csv: 'Download (CSV)', reading: (n: number) => many(n, '# order', '# orders'), enough: (n: number) => `The file has the newest ${many(n, '# order', '# orders')}, and there are more. Narrow the list down by dates for the others.`, from: 'Ordered from', to: 'Ordered until', file: 'orders',
  columns: { number: 'Order', status: 'State', placed: 'Ordered (UTC)', event: 'Event', name: 'Buyer', email: 'E-mail', tickets: 'Tickets', items: 'What', subtotal: 'Price', discount: 'Discount', code: 'Promo code', fees: 'Fees', total: 'Total', back: 'Given back', currency: 'Currency' },
  back: (sum: string) => `${sum} goes back.`, fee: (sum: string) => `The fee of ${sum} stays: it is not the tickets’ price.`, feeToo: (sum: string) => `Give the fee back, too: ${sum} in all`, cancelled: 'Of a cancelled event the tickets’ share of the fee goes back by itself.',
  history: 'What happened', placed: (who: string) => `${who} ordered.`, waived: 'The right to withdraw was waived.', paid: (provider: string) => `It was paid${provider && ` by ${provider}`}.`, free: 'It was complete: there was nothing to pay.', cancelledAt: 'The order was cancelled.', came: (ticket: string, gate: string) => `${ticket} came in${gate && ` at ${gate}`}.`,
  given: (sum: string, why: string) => `${sum} goes back${why && `: “${why}”`}`, days: 'By day', asked: (sum: string, why: string) => `${sum} was asked back${why && `: “${why}”`}`, decided: (sum: string, denied: boolean, note: string) => `Your organization ${denied ? 'denied' : 'approved'} giving ${sum} back${note && `: “${note}”`}`, moved: (sum: string) => `${sum} went back.`,
  codes: 'Promo codes', allEvents: 'All events', codesHint: 'A code of all events is good for each of them, also for those to come.',
};

export default words;
export type Words = typeof words;
