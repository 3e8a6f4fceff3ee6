import { many } from '../../shared/words';

/** What the pages of one's own tickets say. */
const words = {
  title: 'My tickets',
  enter: {
    hint: 'Type the address that your tickets were mailed to. We mail you six digits; you need no password.', mail: 'E-mail', send: 'Mail me the digits', needMail: 'Please tell us an address that mail reaches.',
    sent: (mail: string) => `We have mailed six digits to ${mail}. They count for ten minutes.`, code: 'Six digits', go: 'Show my tickets', again: 'Mail them once more', againIn: (s: number) => `Mail them once more in ${s} s`, other: 'Use another address',
    wrong: 'These are not the digits of our newest mail. Look again, or have new ones mailed.', spent: 'Too many wrong tries: these digits count no more. Have new ones mailed.', many: (s: string) => `Too many tries. Wait ${s}, then go on.`, soon: (s: string) => `We have just mailed you. You can ask again in ${s}.`, seconds: (n: number) => many(n, '# second', '# seconds'), minutes: (n: number) => many(n, '# minute', '# minutes'),
    second: 'Code of your authenticator', secondHint: 'Your account asks for a second factor.', resent: 'Mailed once more.', signedIn: (mail: string) => `Signed in as ${mail}`, out: 'Sign out', outHint: 'Signing out also removes the tickets from this browser.',
  },
  list: {
    next: 'Next', later: 'Later', always: 'Always there', past: (n: number) => many(n, '# that is over', '# that are over'), here: 'Bought in this browser', hereHint: 'These open without signing in.', none: 'No tickets here', noneHint: 'Bought with another address? Sign out, and sign in with that one. A purchase takes some seconds to show.', home: 'See what is on',
    count: (n: number) => many(n, '# ticket', '# tickets'), more: 'Show more', loading: 'Looking for your tickets', today: 'Today', tomorrow: 'Tomorrow', inDays: (n: number) => many(n, 'In # day', 'In # days'), show: 'Show', begin: 'Begin', download: 'Download',
    states: { pending: 'Not paid yet', processing: 'Payment is being checked', completed: 'Paid', failed: 'Not paid', cancelled: 'Cancelled', expired: 'Not paid in time', refunded: 'Money given back', partially_refunded: 'Partly given back' } as Record<string, string>,
    cancelled: 'Cancelled', used: 'Used', order: (n: string) => `Order ${n}`,
  },
  refunds: { title: 'Money back', states: { requested: 'Asked for: the organizer decides', approved: 'Agreed: the money is being sent', processing: 'The money is on its way', processed: 'The money was sent', denied: 'Declined', failed: 'Could not be sent: we see to it', cancelled: 'Taken back' } as Record<string, string>, arrives: 'It arrives within some days, by the way you paid.', back: 'Take it back', backSure: 'Taken back. The ticket stays yours.' },
  messages: { title: 'Messages', you: 'You', organizer: 'Organizer', write: 'Answer', body: 'Message', send: 'Send' },
  courses: { title: 'Courses', done: (n: number) => `${n} % done`, begin: 'Begin', go: 'Go on', complete: 'Complete' },
  account: {
    title: 'Account', name: 'Name', phone: 'Phone', language: 'Language of mails', languages: [['', 'English'], ['de', 'Deutsch']] as [string, string][], save: 'Save', saved: 'Saved.',
    sessions: 'Where you are signed in', thisOne: 'this browser', last: (when: string) => `last used ${when}`, everywhere: 'Sign out everywhere', everywhereSure: 'Signed out everywhere else too.',
    second: 'Second factor', secondOn: 'On: signing in asks for a code of your authenticator.', secondOff: 'Off. With it, somebody who reads your mail still cannot sign in.', secondStart: 'Switch it on', secondScan: 'Scan this with your authenticator, or type the key:', secondCode: 'Code that it shows', secondConfirm: 'Confirm', secondEnd: 'Switch it off', backup: 'Keep these codes somewhere safe. Each counts once, if you lose the authenticator:', qr: 'QR code for an authenticator',
    data: 'Your data', export: 'Download all of it', exportHint: 'One file with profile, orders, tickets, refunds, messages and waitlists.', erase: 'Be forgotten', eraseHint: 'Your name and address go, from everywhere. What stays: orders and payments as the law wants them kept, without your name. It is refused while you have tickets for what is still to come, or refunds under way.', eraseSure: 'This cannot be undone. Be forgotten?', eraseYes: 'Yes, forget me', keep: 'No, keep everything', erased: 'You are forgotten. Nothing of you is in this browser either.',
  },
};

export default words;
export type Words = typeof words;
