import { many } from '../shared/words';

/** What the shop says. */
const words = {
  trouble: {
    offline: 'The server cannot be reached. Look at your connection, then try again.', again: 'Try again',
    request: 'If you ask for help, name this request:', wait: 'Too many requests from your network. Wait a moment, then try again.', copy: 'Copy',
  },
  free: 'Free', soldOut: 'Sold out', ended: 'Over', cancelled: 'Cancelled', soon: 'Soon',
  called: { off: 'This event is cancelled: it does not take place.', unsold: 'This is not sold any more.', why: 'The organizer writes:' },
  categories: {
    concerts: 'Concerts', festivals: 'Festivals', nightlife: 'Nightlife', theatre: 'Theatre', comedy: 'Comedy', arts: 'Arts', sports: 'Sports', conferences: 'Conferences', workshops: 'Workshops', food: 'Food and drink', family: 'Family', community: 'Community', reservations: 'By date',
    'online-course': 'Courses', 'digital-product': 'Digital', 'e-books': 'E-books', 'downloadable-files': 'Downloads', 'online-service': 'Online services', other: 'Other',
  },
  home: {
    title: 'What is on', search: 'Search', placeholder: 'Artist, event or place', find: 'Search', all: 'All', fees: 'Prices have all fees in them.',
    none: 'Nothing fits.', loosen: 'Try fewer words, or look at everything.', everything: 'Show everything', more: 'Show more', loading: 'Loading',
    empty: 'Nothing is on sale yet.', emptyHint: 'Organizers put their events on sale on their own pages.', when: 'When', any: 'Any day', week: 'Next 7 days', month: 'Next 30 days',
    results: (n: number) => many(n, '# event', '# events'),
  },
  event: {
    tickets: 'Tickets', choose: 'Choose seats', seatsHint: 'You choose on a live map; seats are kept for you while you look.', total: 'Total', fees: 'fees included', noFees: 'no fees',
    next: 'Continue', left: (n: number) => many(n, 'last one', '# left'), fewer: (name: string) => `One fewer: ${name}`, more: (name: string) => `One more: ${name}`,
    opens: (when: string) => `On sale from ${when}`, closed: 'Sale has ended', until: (when: string) => `On sale until ${when}`, code: 'Needs a presale code',
    about: 'About', schedule: 'Schedule', organizer: 'Organizer', questions: 'Questions', where: 'Where', doors: (t: string) => `Doors ${t}`, online: 'Online', map: 'On the map', verified: 'Verified organizer',
    website: 'Website', powered: 'Tickets by', none: 'No tickets are on sale.', gone: 'This event is not here', goneHint: 'The address may be wrong, or the event is no longer public.', home: 'See what is on', pick: 'Choose how many', returns: 'Returns', always: 'Yours at once', lineup: 'Who is on', pictures: 'Pictures', share: 'Share', copied: 'The address is copied.', report: 'Report this event', film: (host: string) => `Watch the film at ${host}`,
  },
  booking: {
    date: 'Date', before: 'Earlier month', after: 'Later month', full: 'Fully booked', closed: 'Closed', left: (n: number) => many(n, '# place left', '# places left'),
    pick: 'Choose a date', pickSlot: 'Choose a date and a time', none: 'Nothing can be booked at the moment: all dates are taken or closed.', zone: (zone: string) => `Dates and times are those of ${zone}.`,
    short: (n: number) => many(n, 'Only # place is left at that time.', 'Only # places are left at that time.'), gone: 'That time is fully booked by now.',
    unavailable: (date: string, reason: string) => reason === 'closed' ? `Nothing takes place on ${date}.` : reason === 'past' ? `It is too late to book ${date}.` : reason === 'too_far' ? `${date} can't be booked yet.` : 'That time is not offered any more.',
    oneAtATime: 'An order may be for one person only.', most: (max: number, has: number, date: string) => `One customer may have ${max} on ${date}${has ? `; you have ${has} already` : ''}.`, anew: 'Choose another date or number',
  },
  checkout: {
    title: 'Checkout', back: 'Back to the event', tickets: 'Tickets', you: 'You', name: 'Name', mail: 'E-mail', mailHint: 'Your tickets go there.', payment: 'Payment',
    code: 'I have a code', promo: 'Promo code', presale: 'Presale code', pay: (sum: string) => `Pay ${sum}`, get: 'Get tickets', total: 'Total', empty: 'Nothing is chosen.',
    backSeats: 'Back to the seats', seatsHeld: (time: string) => `Your seats are kept for ${time} more.`, heldLeft: 'Time that the seats are yours', seatsOver: 'The time for your seats is up. They may still be free: choose them again.', seatsGone: 'A seat of yours is somebody else’s by now. Choose another.',
    apply: 'Apply', applied: (off: string) => `It takes ${off} off.`,
    codes: {
      CODE_NOT_FOUND: 'There is no such code for this event.', NOT_YET_ACTIVE: 'This code does not hold yet.', EXPIRED: 'This code has ended.', MAX_USES_REACHED: 'This code was used as often as it may be.',
      BELOW_MIN_ORDER: 'This order is too small for this code.', NOT_APPLICABLE_TO_THESE_TICKETS: 'This code is for other tickets.',
    },
    admitted: (time: string) => `It is your turn: you can order for ${time} more.`, admittedOver: 'Your time to order is over. Ordering leads back to the waiting room.', shared: 'Somebody else has ordered with this place. Order with the e-mail address that you joined with.',
    nothing: 'There is nothing to pay.', busy: 'One moment', summary: 'This needs your attention:',
    held: (n: string) => `Your tickets are kept for ${n} minutes from here on.`,
    short: 'Fewer are left than you want. Choose anew.', needName: 'Please tell us your name.', needMail: 'Please tell us an address that mail reaches.', resumed: 'You have an open order for this event.', resume: 'Go to it',
  },
  pay: {
    how: 'How you pay', card: 'Card', cardHint: (name: string) => `and what else ${name} offers; you pay on its page and come back here`, coins: 'Crypto', coinsHint: (minutes: number) => `Bitcoin and others, sent to an address within ${minutes} minutes`,
    coin: 'Coin', none: (currency: string) => `Nothing can be paid in ${currency} at the moment. Please ask the organizer.`, on: (network: string) => `Only on the network ${network}: what is sent on another is lost.`,
    memo: 'With this memo or tag', arrived: (have: string, of: string, coin: string) => `${have} of ${of} ${coin} have arrived.`, address: 'QR code of the address', other: 'Pay otherwise', timeLeft: 'Time left to pay',
  },
  transfer: {
    title: 'Bank transfer', hint: (days: number) => `to the organizer’s account, within ${days} ${days === 1 ? 'day' : 'days'}; the tickets come when the money is there`,
    todo: 'Please transfer the money', todoHint: (until: string) => `Your tickets are kept until ${until}: by then the money must be there.`,
    holder: 'Account holder', account: 'IBAN or account', bic: 'BIC', amount: 'Amount', reference: 'Reference', copy: 'Copy', copied: 'Copied',
    alone: 'Write the reference and nothing else: your transfer is known by it.', qr: 'QR code of the transfer', qrHint: 'Most banking apps read this code (GiroCode) and fill the transfer in.',
    sent: 'I have sent it', waits: 'We wait for your money', waitsHint: (until: string) => `You have told us that it is sent. By ${until} it must be there.`,
    part: (have: string, of: string) => `${have} of ${of} have come. Please transfer the rest with the same reference.`, after: 'A transfer takes a day or two, and we mail you the tickets.',
  },
  payLink: { ask: 'Let somebody else pay', copied: 'The link is copied.', hint: 'Whoever has the link sees lines and total, and can pay. The tickets come to you.' },
  moreTime: { ask: 'More time', given: 'You have more time now.', none: 'There is no more time for this.' },
  order: {
    number: (n: string) => `Order ${n}`, loading: 'Looking up your order', done: 'Your tickets', doneHint: (mail: string) => `We mail this to ${mail} too.`, yours: 'Your order', bought: 'It is yours', print: 'Print', door: 'Door code', row: 'Row', seat: 'Seat',
    noKey: 'Open your order by the link in our mail', noKeyHint: 'This browser does not have what opens this order. The mail that we send when an order is complete has a link that does. If you have just paid elsewhere, the payment counts; the mail comes within minutes.',
    none: 'This link opens no order', noneHint: 'It may be incomplete or too old. The newest mail about the order has a good one.',
    pending: 'Not paid yet', pendingHint: (time: string) => `Your tickets are kept for ${time} more.`, payNow: (sum: string) => `Pay ${sum}`, cancel: 'Give the tickets back', cancelSure: 'Sure? Others may take them.', cancelYes: 'Yes, give them back', keepThem: 'Keep them',
    checking: 'We are checking your payment', checkingHint: 'This page looks again by itself. You need not pay twice: if the payment went through, it will show here and we mail you.',
    openHint: (time: string) => `The payment provider has no payment from you so far. If you have just paid, wait a moment: this page looks again by itself. If not, pay now: your tickets are kept for ${time} more.`,
    slow: 'Still no word from the payment provider', slowHint: 'If you have paid, your money is safe: we go on asking, and mail you when it is settled. If you have not, you can pay now.',
    failed: 'The payment did not go through', failedHint: (time: string) => `Your tickets are still kept for ${time}. You can try again.`, expired: 'The time to pay is over', expiredHint: 'The tickets have gone back on sale. If you were charged all the same, the money goes back by itself.',
    cancelled: 'This order was cancelled', cancelledHint: 'You owe nothing. If money of yours arrives for it, it goes back by itself.',
    again: 'Choose again', total: 'Total', fees: 'Fees', discount: 'Discount',
    send: (sum: string, coin: string) => `Send ${sum} ${coin} to`, qr: (name: string) => `QR code of the ticket ${name}`, items: 'What you ordered',
  },
  claim: {
    title: 'A ticket for you', hint: 'Somebody passes a ticket on to you. Take it, and it admits you and nobody else.', take: 'Take the ticket',
    done: 'The ticket is yours', doneHint: (mail: string) => `We mail it to ${mail}. Bring that mail, or tell the door code.`, event: 'See the event',
    over: 'This ticket is no longer on offer', overHint: 'It was taken already, taken back, used at the gate, or not taken within seven days. If you took it, it is in our mail.',
    none: 'This link opens no ticket', noneHint: 'It may be incomplete. Open it from the mail once more, or ask whoever sent you the ticket.',
  },
  waitlist: {
    title: 'You are on the waitlist', hint: 'If our mail says that tickets are kept for you, take them here before the time in the mail is over.', take: 'Take the tickets',
    leave: 'Leave the waitlist', sure: 'Sure? You lose your place, and what is kept for you.', yes: 'Yes, leave', stay: 'Stay',
    waiting: 'It is not your turn yet', waitingHint: 'You keep your place. As soon as tickets come free for you, we mail you.',
    expired: 'The time to take the tickets is over', expiredHint: 'They have gone to the next in the line.',
    left: 'You are off the waitlist', leftHint: 'We send you nothing more about it.',
    over: 'The tickets are no longer on sale', overHint: 'The sale has ended, or the event is cancelled.',
    none: 'This link opens no waitlist', noneHint: 'It may be incomplete. Open it from the mail once more.',
    join: 'Join the waitlist', joinHint: 'If tickets come free, we keep them for you for a while and mail you. You pay nothing until then.', count: 'How many (1 to 10)', needCount: 'Please choose a number from 1 to 10.',
    asked: 'One more step', confirm: (mail: string) => `Open the mail that we have just sent to ${mail}, and confirm there: from then on you wait.`,
    joined: (place: number, mail: string) => `You are number ${place} in line. We mail ${mail} when tickets come free; the mail that we have just sent lets you leave the line.`,
    offered: (mail: string) => `Tickets are kept for you: the mail that we sent to ${mail} has the link to take them.`,
    free: 'Tickets have come free in the meantime.', closed: 'Nobody can wait for these tickets any more.', anew: 'Load the page again',
  },
};

export default words;
export type Words = typeof words;
