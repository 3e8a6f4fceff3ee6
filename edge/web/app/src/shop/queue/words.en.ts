import { many } from '../../shared/words';

/** What the waiting room says. */
const words = {
  trouble: {
    offline: 'The server cannot be reached. You keep your place. Look at your connection, then try again.', again: 'Try again',
    request: 'If you ask for help, name this request:', wait: 'Too many requests from your network. You lose nothing: this page asks again by itself.', copy: 'Copy',
  },
  room: 'Waiting room', event: 'To the event', gone: 'This event is not here', goneHint: 'The address may be wrong, or the event is no longer public.', home: 'See what is on', loading: 'Looking up the waiting room',
  none: 'There is no line', noneHint: 'This event has no waiting room. You can choose tickets right away.', over: 'The waiting room has closed', overHint: 'Nobody has to wait any more. Whoever comes can choose tickets, as long as there are any.',
  before: 'The waiting room opens soon', beforeHint: (when: string) => `You can join from ${when}. This page turns into the form by itself.`, opensIn: 'Opens in',
  join: 'Join the waiting room', joinDraw: 'It makes no difference when you come: places are drawn from all who are here before the list closes.', joinArrival: 'Places go by arrival. You keep yours when you close this page.',
  joinLate: 'The list for the draw is closed. If you join now, your place comes after all places that are drawn.', closesIn: 'The list closes in', startsIn: 'Tickets go on sale in',
  party: 'How many of you?', partyHint: 'You are let in together. It cannot be changed later.', people: (n: number) => many(n, '# person', '# people'), go: 'Join', busy: 'One moment', working: 'Your device calculates for some seconds',
  mail: 'E-mail address', mailProves: 'Here everybody has one entry. We mail you a link, and you are in once you have used it.', mailMe: 'Mail me the link', mailIfWanted: 'E-mail address (optional)', mailMoves: 'We mail you the link to your place, for other devices.',
  mailed: 'Look into your mail', mailedHint: (email: string) => `We have mailed a link to ${email}. You are in once you have opened it and pressed its button, not before. If no mail comes, try again in five minutes.`, notMailed: 'Ask again',
  invited: 'This is the link from your mail. One press, and you are in. On your other devices it shows the same place.', yours: 'Your place', yoursHint: 'This is the link from your mail. If it is your turn, your time to order begins as soon as you see the place.', see: 'See my place', ranOut: 'This link has run out. Ask for another.',
  signIn: 'Sign in to join', signInHint: 'Here every account has one entry. Sign in with a code that we mail you; then you come back to this page.', prove: 'Your e-mail address is not confirmed yet. Sign in with a mailed code, and it is.', address: 'Later, order with the same e-mail address.',
  entered: 'You have joined already. Open the link to your place from your first mail, or from the other browser.', refusedOver: 'The waiting room has just closed. Nobody has to wait any more.', refusedNotOpen: 'Nobody can join yet.', refusedFull: 'Nobody can join this line any more.',
  in: 'You are in', inHint: 'It makes no difference when you came. You may close this page: your place is kept in this browser.', inArrival: 'Your place is kept in this browser, also when you close this page.', count: (n: number) => many(n, '# entry so far', '# entries so far'),
  closed: 'The list is closed', closedHint: 'Places are drawn within minutes, by a public random number that nobody knows yet.', voided: 'If that number does not come, places go by arrival.',
  drawn: 'The places are drawn', waiting: 'You are in line', next: 'You are next', place: 'Your place', ahead: (n: number) => many(n, '# entry before you', '# entries before you'), nobody: 'Nobody is before you', progress: 'How far the line has come',
  wait: (range: string) => `About ${range}`, waitTitle: 'Expected wait', soon: 'Any moment now', unknown: 'Cannot be told at the moment', minutes: (a: string, b: string) => (a === b ? `${b} min` : `${a} to ${b} min`), hours: (a: string, b: string) => (a === b ? `${b} h` : `${a} to ${b} h`), days: 'More than a day',
  stays: 'Your place never gets worse. Closing this page, a reload, a wrong code or a failed payment do not lose it.',
  paused: 'Paused', pausedHint: 'The organizer has paused admission. Everybody keeps their place.', draining: 'Nobody else can join. All who are in line are still let in.',
  sale: 'Still on sale', free: 'Free', priced: (from: string, to: string) => (from === to ? from : `${from} to ${to}`), cheapest: 'The cheapest tickets are gone.', soldOut: 'Nothing is on sale right now. What others do not pay for comes back.',
  admitted: 'It is your turn', admittedHint: 'Order before the time is up. What you have ordered by then may be paid for afterwards.', shop: 'Choose your tickets', back: 'Back to your order', left: 'Time to order', minutesLeft: (n: number) => many(n, '# minute left', '# minutes left'),
  expired: 'Your time to order is over', expiredHint: 'What you ordered in time is still yours to pay for. To order anything else, you need a new place.', again: 'Join again', full: 'Nobody can join any more', fullHint: 'The line is coming to its end. When all who are in it have been let in, everybody can order.',
  rules: 'How it works', ruleDraw: (from: string, to: string) => `Join between ${from} and ${to}. The first second counts no more than the last.`, ruleLottery: 'Then a public random number draws the order. We cannot choose it either, and you can check your place.', ruleArrival: (from: string) => `Join from ${from}. Who comes first is let in first.`,
  ruleFirst: 'Who comes first is let in first.', ruleOpens: (when: string) => `The first are let in at ${when}.`, ruleRate: (n: string, minutes: number) => `About ${n} entries a minute are let in. Each then has ${many(minutes, '# minute', '# minutes')} to order.`, ruleParty: (n: number) => `One entry may stand for up to ${n} people.`, ruleProof: { none: '', address: 'Everybody has one entry: it takes a confirmed e-mail address.', account: 'Everybody has one entry: it takes an account.' } as Record<string, string>,
  check: 'Check the draw yourself', test: 'Test beacon: this is a trial run, and its draw proves nothing.',
  move: 'Use another device', moveHint: 'This link is your place. Whoever has it can use it, so show it to nobody.', copyLink: 'Copy the link', copied: 'The link is copied.', qr: 'QR code of the link to your place',
  proof: 'Your receipt', proofHint: 'With the receipt and the list’s fingerprint you can check the draw without trusting us. Both are kept in this browser.', copyReceipt: 'Copy the receipt', root: 'Fingerprint of the list',
  fraud: 'The list has changed after it was closed. That must not happen. Keep both fingerprints, and tell the organizer:',
};

export default words;
export type Words = typeof words;
