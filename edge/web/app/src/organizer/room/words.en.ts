import { many } from '../../shared/words';

/** What the desk says of waiting rooms. */
const words = {
  none: 'This event has no waiting room', noneHint: 'If you expect more people than tickets, open one before the sale. Everybody who comes before the opening takes part in a draw that neither you nor we can bend, and then as many are let in a minute as you say.', open: 'Open a waiting room', opened: 'The event has a waiting room.',
  states: { announced: 'Announced: nobody can join yet', registering: 'People are joining', closed: 'The list is closed; the draw is next', drawn: 'The places are drawn; nobody is let in yet', open: 'People are let in' } as Record<string, string>,
  paused: 'Paused: nobody is let in', draining: 'Closing: nobody can join any more, and all in line are still let in', test: 'This server draws by a test beacon. Such a draw proves nothing to anybody.',
  inLine: 'in line', letIn: 'let in', entries: 'entries', rate: 'let in a minute', auto: 'let in a minute, set by load and stock',
  pause: 'Pause', resume: 'Go on', drain: 'Let nobody join any more', drainSure: 'All who are in line are still let in. Then the room ends by itself, and everybody can order.', drained: 'Nobody can join any more.', reopen: 'Let people join again', end: 'End the room', endSure: 'Everybody can order at once, and all places are worth nothing. To end it in order, let nobody join any more.', ended: 'The waiting room has ended.',
  page: 'What visitors see', draw: 'The draw', rules: 'Rules', frozen: 'These rules stand since registration began. Nobody can change them, so that everybody can rely on them.', untilFrozen: (when: string) => `These rules stand from ${when} on, when people can join. Until then you can change them.`,
  opensAt: 'People are let in from', opensHint: 'Empty: when the first ticket type goes on sale, or now.', registersFrom: 'People can join from', registersHint: 'Empty: an hour before. A draw’s list closes three minutes before the opening.',
  mode: 'Places', modes: { '': 'By a draw, if there is time', draw: 'By a draw', arrival: 'By arrival' } as Record<string, string>, partyMax: 'Most people an entry', people: (n: number) => many(n, '# person', '# people'),
  proof: 'Who may join', proofs: { none: 'Everybody, without proof', address: 'One entry for each confirmed e-mail address', account: 'One entry for each account' } as Record<string, string>, proofHint: 'Without proof, a robot can join as often as it likes.',
  pace: 'Pace', paceHint: 'You can change these at any time.', steer: 'How many are let in', byAuto: 'As many as orders keep up with and tickets last for', byNumber: 'A fixed number a minute', number: 'A minute', rateIssue: 'A whole number from 1 to 1,000,000.', holdMinutes: 'Minutes to order', holdHint: 'So long an admission lasts, 1 to 30.', work: 'Work to join', works: { 0: 'None', 18: 'A fraction of a second', 20: 'About a second', 22: 'Several seconds' } as Record<string, string>, workHint: 'A price for those who join very often; it proves nothing.', bits: (n: number) => `${n} bits`,
};

export default words;
export type Words = typeof words;
