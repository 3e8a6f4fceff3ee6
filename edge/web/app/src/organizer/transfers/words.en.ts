import { many } from '../../shared/words';

/** What the desk says of money that comes by bank transfer. */
const words = {
  title: 'Bank transfers', orders: 'All orders',
  bring: 'Bring a statement of the bank', bringHint: 'CAMT.053, MT940, or the CSV of a savings bank, N26 or Wise, up to 4 MiB. What was brought before counts once.', file: 'Statement', go: 'Read it',
  read: (n: number) => many(n, '# line is money that came in.', '# lines are money that came in.'),
  counts: { matched: 'Fit their order', underpaid: 'Less than their order asks for, which waits for the rest', overpaid: 'More than their order asks for; the surplus goes back under Refunds', otherCurrency: 'In another currency, which pays for nothing', unknown: 'Name no order that waits for a transfer', repeated: 'Known already' },
  unread: 'This file is no statement that we can read, or one of its lines is not. Nothing of it is booked.',
  open: 'Money that does not fit', none: 'All money has its order.', noneHint: 'What is too little, too much, in another currency or without an order appears here.',
  states: { underpaid: 'Too little', overpaid: 'Too much', currency: 'Another currency', unknown: 'No order' },
  amount: 'Came', payer: 'From', wrote: 'They wrote', day: 'Day', why: 'What is wrong', nobody: 'The bank names nobody',
  came: (sum: string, of: string) => `${sum} of ${of} in all`, order: 'The order', find: 'Look for the order', byHand: 'marked by hand',
  waits: (sum: string, until: string) => `${sum} is to come by transfer until ${until}.`, had: (sum: string) => `${sum} has come.`,
  seen: 'I have seen the money', sum: 'How much came', sumHint: 'With a point, as in 24.50. Less leaves the order waiting; what is more goes back under Refunds.', reference: 'What the payer wrote', note: 'Note', optional: 'For your records.', book: 'Book it', done: 'The money is booked, and the tickets are on their way.', part: 'The money is booked. The order waits for the rest.',
};

export default words;
export type Words = typeof words;
