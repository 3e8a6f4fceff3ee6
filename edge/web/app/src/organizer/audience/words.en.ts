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
  mails: {
    subject: 'Subject', body: 'Text', bodyHint: 'It goes to everybody who has a good ticket, once to each address.', tag: 'Only tickets with the tag', tagHint: 'Empty: all.', send: 'Send the mail', reaches: (n: string) => `Addresses it reaches: ${n}`, preview: 'What they read', sure: (n: string) => `It goes to ${n} addresses, and cannot be taken back.`, sent: (n: number) => many(n, 'It is on its way to # address.', 'It is on its way to # addresses.'),
    before: 'Sent before', none: 'Nothing yet.', out: (n: number, of: number) => `${n} of ${of} sent`, unsubscribed: (n: number) => many(n, '# had unsubscribed', '# had unsubscribed'),
  },
  give: {
    title: 'Give tickets away', type: 'Ticket', person: (n: number) => `Person ${n}`, another: 'One more person', note: 'A line from you in the mail', go: (n: number) => many(n, 'Give # ticket', 'Give # tickets'), given: (n: number) => many(n, '# ticket is given. It comes by mail.', '# tickets are given. They come by mail.'),
    file: 'To all of a file', choose: 'CSV file', fileHint: 'Its first row names the columns: name and email are read. At most 500 people.', bring: 'Give tickets to all of it', row: (n: number, why: string) => `Row ${n}: ${why}`, reasons: { INVALID_EMAIL: 'no e-mail address', INVALID_NAME: 'the name is too long or has signs that none has', DUPLICATE: 'the address stands in a row before' } as Record<string, string>,
  },
  guest: {
    title: 'Guest', order: 'The order', holder: 'Who has it', name: 'Who attends', emailHint: 'It gives no right to the ticket.', admit: 'Let in by hand', admitted: 'Is inside now.', undo: 'Undo letting in', undoSure: 'The ticket is good again, and lets somebody in once more.', undone: 'The ticket is good again.', denied: { denied_duplicate: 'Nobody is let in: the ticket was used before.', denied_cancelled: 'Nobody is let in: the ticket was given back or cancelled.' } as Record<string, string>, admitsNobody: 'Nobody is let in: the ticket is not good for this event.',
  },
  tag: 'New tag', tagHint: 'Letters, digits, spaces, _ . and -.', contact: { write: 'Write a mail', sent: 'The mail is sent.' },
  resend: 'Send the tickets again', resent: (to: string) => `They are on their way to ${to}.`,
  refundAll: {
    title: 'Money of all buyers', hint: 'The event is cancelled. Whoever paid may ask for the money; here you give it back to all at once.', go: 'Give all money back', sure: 'All paid orders get their money back, with the fee. This cannot be undone.', yes: 'Yes, give it all back', why: 'Reason, for the record', running: 'The money goes back.', finished: 'The money has gone back.', again: 'Go over all orders again',
    progress: (done: number, of: number, skipped: number) => `${done} of ${of} orders${skipped ? `, ${skipped} without money to give back or with a ticket that was used` : ''}.`,
  },
};

export default words;
export type Words = typeof words;
