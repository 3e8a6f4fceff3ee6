import { many } from '../../shared/words';

/** What the desk says of those who wait, write and come. */
const words = {
  inbox: 'Inbox', tabs: { messages: 'Messages', reports: 'Reports' } as Record<string, string>, allStates: 'All states', files: (n: number) => `File ${n}`, event: 'The event', send: 'Send', answer: 'Answer', answered: 'The answer is on its way.', answerChange: 'Change the answer',
  messages: {
    none: 'Nobody has written', noneHint: 'What ticket holders ask you appears here. They are mailed that you have answered.', you: 'You', label: 'Your answer', states: { open: 'Waits for you', replied: 'Answered', closed: 'Closed' } as Record<string, string>,
  },
  reports: {
    none: 'Nobody has complained', noneHint: 'What people report of your events appears here. What you do not answer for seven days goes to the platform.', label: 'Answer to who reported it', note: 'Note for yourselves', resolve: 'Answer and close', resolved: 'The report is closed.', dismiss: 'Dismiss', dismissSure: 'The report is closed without an answer.', escalate: 'Hand to the platform', escalateSure: 'The platform answers it in your place. It cannot be taken back.', escalated: 'The platform has it now.',
    states: { submitted: 'New', under_review: 'In review', escalated: 'With the platform', resolved: 'Answered', dismissed: 'Dismissed' } as Record<string, string>,
    categories: { misleading_info: 'Said something else than was true', did_not_happen: 'It did not take place', harassment: 'Harassment', fraud: 'Fraud', accessibility: 'Accessibility', other: 'Something else' } as Record<string, string>,
  },
  reviews: {
    none: 'No reviews yet', noneHint: 'Guests who were let in may write one.', mean: (n: string) => `${n} of 5`, count: (n: number) => many(n, '# review', '# reviews'), stars: (n: number) => `${n} of 5 stars`, guest: 'A guest', label: 'Your answer, which everybody can read', reply: 'Your answer',
  },
  waitlist: {
    none: 'Nobody waits', noneHint: 'Once a ticket type with a waiting list is sold out, people can wait for it here.', waiting: 'wait', offered: 'have an offer', claimed: 'have bought', who: 'Who', quantity: 'Tickets', since: 'Since', state: 'State', any: 'Any type', place: (n: number) => `No. ${n}`, until: (when: string) => `Offered until ${when}`,
    states: { waiting: 'Waiting', offered: 'Offered', claimed: 'Bought', expired: 'Let it run out', cancelled: 'Has left', unconfirmed: 'Not confirmed' } as Record<string, string>,
    offers: 'Offers', auto: 'Offer by itself what comes free', minutes: 'Minutes to take an offer', minutesHint: 'From 15 to 4320, which is three days. Offers that are out keep their time.', offerTo: 'Offer to how many?', offer: 'Make offers', made: (n: number) => (n ? many(n, '# offer is on its way.', '# offers are on their way.') : 'Nothing is free that fits anybody.'),
  },
};

export default words;
export type Words = typeof words;
