import { many } from '../shared/words';

/** What the organizer's pages say. */
const words = {
  title: 'Organizer', loading: 'Loading', back: 'Back', nowhere: 'This page is not here', no: 'No, leave it', save: 'Save', saved: 'Saved.', more: 'Show more', close: 'Close', search: 'Search', all: 'All', copy: 'Copy', copied: 'Copied.', add: 'Add', remove: 'Remove', of: (a: string, b: string) => `${a} of ${b}`,
  trouble: { offline: 'The server cannot be reached. Look at your connection, then try again.', again: 'Try again', request: 'If you ask for help, name this request:', wait: 'Too many requests. Wait a moment, then try again.', copy: 'Copy' },
  nav: { overview: 'Home', events: 'Events', orders: 'Orders', refunds: 'Refunds', inbox: 'Inbox', customers: 'Customers', settings: 'Settings' },
  overview: {
    title: 'Overview', begin: 'Three steps until you sell', make: 'Make an event', tickets: 'Add tickets', done: 'done', today: 'orders paid today', sold: 'tickets in all', paid: 'yours to be paid out', held: 'held until events are over',
    needs: 'Needs you', calm: 'Nobody waits for you.', next: 'On sale',
    refunds: (n: string) => `Refunds asked for: ${n}`, messages: (n: string) => `Messages without an answer: ${n}`, reports: (n: string) => `Reports of buyers: ${n}`,
  },
  enter: {
    inTitle: 'Sign in', upTitle: 'Sell tickets', organization: 'Name of your organization', organizationHint: 'Buyers see it beside your events.', mail: 'E-mail', password: 'Password', passwordHint: 'At least 8 characters.',
    second: 'Code of your second factor', key: 'API key', useKey: 'Use an API key', useMail: 'Sign in with e-mail', go: 'Sign in', up: 'Open an account', toUp: 'Open an account', toIn: 'I have an account', forgot: 'Forgot your password?', sendLink: 'Send me a link', mailed: 'We have sent you a mail with a link.',
    out: 'Sign out', choose: 'Organization', nobody: 'You are not a member of an organization. Ask one of its owners to add you, or open an account of its own.',
    prove: (mail: string) => `Open the link that we sent to ${mail}: it proves that the mailbox is yours.`, proveAgain: 'Send it again', proved: 'I have done that', proveFirst: 'Open the link in the mail that we sent you when you signed up, then try again.',
    trouble: { offline: 'The server cannot be reached. Look at your connection, then try again.', again: 'Try again', request: 'If you ask for help, name this request:', wait: 'Too many tries. Wait a moment, then try again.', copy: 'Copy' },
  },
  issues: {} as Record<string, string>,
  fields: {
    opensAt: 'Opening', registersFrom: 'Joining', admitPerMinute: 'Pace', holdMinutes: 'Minutes to order', partyMax: 'People an entry',
    title: 'Title', category: 'Category', startDate: 'Begins', endDate: 'Ends', doorOpenTime: 'Doors open', timezone: 'Time zone', description: 'Description', shortDesc: 'In one line', venueName: 'Place', venueAddress: 'Address', venueCity: 'City', venueCountry: 'Country',
    onlineLink: 'Link', coverImage: 'Picture', currency: 'Currency', name: 'Name', price: 'Price', quantityTotal: 'How many', saleStart: 'Sale begins', saleEnd: 'Sale ends', maxPerOrder: 'At most an order', maxPerCustomer: 'At most a buyer', ticketTypes: 'Tickets', email: 'E-mail', password: 'Password', organizationName: 'Name of your organization', amount: 'Amount', reason: 'Reason', url: 'Address', events: 'Events', scopes: 'May', presaleCode: 'Presale code', file: 'File',
    code: 'Code', discountType: 'It takes off', discountValue: 'How much', validFrom: 'Good from', validUntil: 'Good until', maxUses: 'Uses in all', maxUsesPerCustomer: 'Uses a buyer', minOrderValue: 'Least order', applicableTypes: 'Good for', reservation: 'Booking',
  } as Record<string, string>,
  statuses: {
    draft: 'Draft', review: 'In review', published: 'Published', on_sale: 'On sale', sold_out: 'Sold out', in_progress: 'Under way', completed: 'Over', cancelled: 'Cancelled',
    pending: 'Not paid', processing: 'Being paid', failed: 'Failed', expired: 'Expired', refunded: 'Refunded', partially_refunded: 'Partly refunded',
    underpaid: 'Paid too little', requested: 'Asked for', approved: 'Approved', denied: 'Denied', processed: 'Paid back', issued: 'Good', checked_in: 'Inside', succeeded: 'Delivered', exhausted: 'Given up', active: 'Active', paused: 'Paused', revoked: 'Revoked', disabled: 'Off', scheduled: 'Planned', paid: 'Paid',
  } as Record<string, string>,
  statusesOf: { order: { completed: 'Paid' }, refund: { processing: 'On its way' }, payout: { processing: 'On its way', cancelled: 'Called off' }, delivery: { pending: 'Waiting' }, dispute: { open: 'Open', won: 'Won', lost: 'Lost' } } as Record<string, Record<string, string>>,
  done: 'Paid', // of an order or a payment
  events: {
    title: 'Events', new: 'New event', drafts: 'Drafts', live: 'Live', past: 'Past', find: 'Find an event', none: 'No events yet', noneHint: 'An event begins as a draft that only you see.', nothing: 'Nothing fits.', when: 'When', name: 'Event', state: 'State', sold: 'Sold',
    count: (n: number) => many(n, '# event', '# events'),
  },
  categories: { concerts: 'Concerts', festivals: 'Festivals', nightlife: 'Nightlife', theatre: 'Theatre', comedy: 'Comedy', arts: 'Art', sports: 'Sports', conferences: 'Conferences', workshops: 'Workshops', food: 'Food and drink', family: 'Family', community: 'Community', reservations: 'Bookings by date', 'online-course': 'Online course', 'digital-product': 'Digital product', 'e-books': 'E-book', 'downloadable-files': 'Files', 'online-service': 'Online service' } as Record<string, string>,
  event: {
    tabs: { details: 'Details', tickets: 'Tickets', promos: 'Promo codes', seating: 'Seats', programme: 'Programme', page: 'Page', attendees: 'Guests', mails: 'Mails', waitlist: 'Waiting list', reviews: 'Reviews', live: 'Live', room: 'Waiting room' }, number: (n: string) => `No. ${n}`,
    publish: 'Put on sale', published: 'The event is public. Tickets sell as soon as their sale begins.', unpayable: (currency: string) => `No payment provider here takes ${currency}: only free tickets can be ordered. Choose another currency, or ask whoever runs this shop.`, shop: 'See it in the shop', addTickets: 'Add tickets', where: 'Where', physical: 'At a place', online: 'Online', hybrid: 'Both',
    linkHint: 'Only those who have a ticket see it.', look: 'What buyers read', descriptionHint: 'At least 50 characters.', coverHint: 'Without a picture we draw one. JPEG, PNG, WebP or GIF.', coverOwn: 'Used when you save.', terms: 'Terms', visible: 'Who finds it', visibility: { public: 'Everybody', unlisted: 'Those who have its link', private: 'Nobody' } as Record<string, string>,
    absorb: 'We pay the fees: buyers pay what the ticket costs, and no more', create: 'Save as draft', withdraw: 'Withdraw', unpublish: 'Take off sale', unpublished: 'The event is a draft again.', cancel: 'Cancel the event', cancelled: 'The event is cancelled.', cancelSure: 'Nothing of it is sold any more, and it cannot be put on sale again. Those who have tickets see that it is cancelled.', cancelReason: 'What should buyers know?', delete: 'Delete the draft', deleteSure: 'The draft is gone for good, with its ticket types.', deleted: 'The draft is deleted.',
  },
  types: {
    none: 'An event needs a ticket type before it can be sold.', add: 'Add a ticket type', change: 'Change', hidden: 'Hidden', presale: 'Presale', free: 'Free', sold: (n: number, of: number) => (of < 0 ? `${n} sold` : `${n} of ${of} sold`), nameHint: 'Such as “Standing” or “Early bird”.', priceHint: 'Empty: free. With a point, as in 24.50.', quantityHint: 'Empty: as many as are wanted.', rest: 'Limits, code, text', kind: 'Kind',
    presaleHint: 'Who has it can buy; empty: everybody can.', access: 'What they get', accessHint: 'Those who paid alone see it, in their order.', accessNote: 'What they need there', accessNoteHint: 'Such as a password.', hide: 'Hide it in the shop', transferable: 'Holders may pass it on', waitlist: 'With a waiting list', refundable: 'Holders may ask for their money', deadline: 'They may ask until',
    kinds: { general: 'Admission', vip: 'VIP', early_bird: 'Early bird', group: 'Group', reserved: 'Reserved seat', multi_day: 'Several days', season: 'Season', at_door: 'At the door', upgrade: 'Upgrade', free: 'Free' } as Record<string, string>,
  },
  promos: {
    none: 'A promo code takes something off what buyers pay. They type it in the checkout.', add: 'Add a promo code', codeHint: 'Letters, digits, - and _. In capitals or not: it is the same.', codeLocked: 'It has been used, so it keeps its name.', taken: 'You have this code already.',
    percent: 'A share, in percent', amount: 'An amount', percentHint: 'Such as 10: ten percent of the tickets.', amountHint: 'With a point, as in 5.00. Off the order, not off each ticket.', percentOff: (n: number) => `${n}% off`, amountOff: (sum: string) => `${sum} off`, usesHint: 'Empty: as often as is wanted.', used: (n: number, of: number | null) => (of === null ? many(n, 'used once', 'used # times') : `${n} of ${of} used`),
    rest: 'Conditions, note', leastHint: 'Empty: orders of any size.', note: 'Note', noteHint: 'For yourselves; buyers do not see it.', typesHint: 'None chosen: all tickets of the event.',
    delete: 'Delete', deleteSure: 'Nobody has used it. It is gone for good.', deleted: 'The code is deleted.', offSure: 'Nobody can use it any more, and it cannot be switched on again. Orders that used it keep their discount.', isOff: 'The code is switched off.',
  },
  seats: {
    none: 'Buyers choose no seats at this event. With a map they do.', choose: 'Use a map that you have', map: 'Seat map', use: 'Seat the event by it', count: (n: number) => many(n, '# seat', '# seats'), rows: 'Rows', perRow: 'Seats a row', files: 'Maps as files', newMap: 'A new map', replaceHint: 'Events that are seated by it keep the version that they have.', saveFile: 'Save it as a file', brought: (n: number) => many(n, 'The map is here, with # seat.', 'The map is here, with # seats.'), drawIt: 'Draw and use it', stage: 'Stage', hall: 'Hall',
    prices: 'What sections cost', noTypes: 'There are no ticket types yet.', notSold: 'Not sold', remove: 'Remove the seats', removeSure: 'The event is not seated any more. Prices of sections and withheld seats are forgotten.', withhold: 'Withhold or price seats', withholdHint: 'What is withheld nobody can buy: it is for guests, cameras, those who look after the sound. A price is that of a whole section.', row: 'Row',
    available: 'to be had', held: 'being chosen', sold: 'sold', blocked: 'withheld', doWithhold: (n: number) => many(n, 'Withhold # seat', 'Withhold # seats'), doRelease: (n: number) => many(n, 'Release # seat', 'Release # seats'),
  },
  live: {
    sold: 'tickets sold', revenue: 'taken', inside: 'inside', now: 'inside now', nowOf: (limit: string) => `inside now, of ${limit}`, came: 'tickets that came in', full: (n: string, of: string) => `It is full: ${n} of ${of} are inside.`, nearly: (n: string, of: string) => `It is nearly full: ${n} of ${of} are inside.`, out: 'Out', rate: 'came in, in the last minute', orders: 'Latest orders', noOrders: 'No orders yet.', gates: 'Gates', gate: 'Gate', admitted: 'In', denied: 'Refused', noName: 'Without a name', noGates: 'Nobody has been scanned yet.', streaming: 'Live', waiting: 'Connecting',
  },
  rare: {
    title: 'Capacity, search words, returns and more', capacity: 'Most people in all', capacityHint: 'Over all kinds of tickets. Empty: as many as those have.', tags: 'Search words', tagsHint: 'Up to 10, with commas between them.', tagsIssue: 'At most 10, each of at most 50 letters.', returns: 'Returns', returnsHint: 'In your words. What buyers may ask for stands at each ticket.',
    film: 'A film about it', filmHint: 'On YouTube or Vimeo; the page links to it.', minutes: 'Minutes to pay', minutesHint: 'From 5 to 60. So long an order holds its tickets.', days: 'Days for a bank transfer', daysHint: 'From 1 to 30. Empty: as this shop has it.', extensions: 'Buyers may ask for more time, as people who read slowly need', rotating: 'Gates take no printed codes, only those that change on a phone', rescheduling: 'Holders may move a ticket to another date', inside: 'Most people inside at a time', insideHint: 'Gates warn from nine tenths of it on, and go on letting people in. Empty: no limit.', exits: 'Gates let people out and in again, and count who is inside',
  },
  begin: {
    which: 'What do you sell?', event: { title: 'An event', text: 'An evening, a festival, a match: it begins on a day.' }, dates: { title: 'Dates', text: 'A museum, a tour, a table: guests choose the day.' }, digital: { title: 'A course or a file', text: 'It is there at once, and sold at any time.' },
  },
  files: { sending: (percent: number) => `Sending, ${percent} %`, taken: 'It is there, and is being looked at.', wait: 'The file is still being sent.', own: 'Or a file of yours', form: 'An address that begins with https://, or a file that was sent here.' },
  curve: {
    title: 'How it sells', beside: 'Beside', nothing: 'Nothing', before: (days: number) => many(days, '# day before', '# days before'), begun: 'in all', start: 'Begins', had: (then: number, all: number) => `${then} by then, ${all} in all`,
  },
  orders: {
    title: 'Orders', find: 'Name, e-mail or number', allEvents: 'All events', allStates: 'All states', buyer: 'Buyer', total: 'Total', at: 'Ordered', none: 'Nobody has ordered yet', tickets: (n: number) => many(n, '# ticket', '# tickets'), one: 'Order', number: 'Number', fees: 'Fees', discount: 'Discount', payment: 'Payment', sent: (at: string) => `the buyer says it was sent on ${at}`, refund: 'Refund',
    cancel: 'Cancel the order', cancelSure: 'Its tickets go back on sale, and the buyer cannot pay for them any more.', cancelled: 'The order is cancelled.', doRefund: 'Give money back', refundSure: (what: string, who: string) => `${what} goes back to ${who}. This cannot be undone.`, refundYes: 'Yes, give it back', refunded: 'The refund is under way.', which: 'Which tickets? None: the whole order.', amountHint: 'Empty: what the tickets cost.',
  },
  refunds: {
    title: 'Refunds', none: 'Nobody wants money back', noneHint: 'What buyers ask for appears here.', approve: 'Approve', approveSure: (sum: string) => `${sum} goes back to the buyer, and the tickets stop being good. This cannot be undone.`, approved: 'Approved. The money is on its way.', deny: 'Deny', denySure: 'The buyer is told, with your reason.', why: 'Reason, for the buyer', denied: 'Denied.', note: 'Note', order: 'Order', evidence: (n: number) => `Evidence ${n}`, retry: 'Try again', tried: 'We try again.', complete: 'I have paid it back', completeSure: (sum: string) => `Say this only if ${sum} has left your account.`,
  },
  people: {
    title: 'Customers', find: 'Name or e-mail', sort: 'Order of the list', recent: 'Newest first', oldest: 'Oldest first', name: 'By name', one: 'Customer', spent: 'Spent', last: 'Last order', first: 'First order', none: 'No customers yet', tags: 'Tags', notes: 'Notes', note: 'New note', drop: 'Delete the note', dropSure: 'It is gone for good.', guest: 'Guest', ticket: 'Ticket', inside: 'Inside', outside: 'Not inside', csv: 'Download (CSV)', noGuests: 'No guests yet',
  },
  settings: {
    title: 'Settings', portal: 'For developers', tabs: { organization: 'Organization', security: 'Your sign-in', members: 'Members', wallets: 'Money', keys: 'API keys', webhooks: 'Webhooks', embed: 'Your own site' }, name: 'Name', mail: 'E-mail for buyers', phone: 'Phone for buyers', site: 'Website', about: 'About you', verified: 'Verified',
    role: 'May', roles: { owner: 'Everything, and owns it', admin: 'Everything', member: 'Sell and admit' } as Record<string, string>, addMember: 'Add a member', memberHint: 'They get a mail, and sign in with that address.', you: 'you', removeMember: 'Remove the member', removeSure: (who: string) => `${who} cannot see or do anything here any more.`, changed: 'The role is changed.',
    balance: 'to be paid out', pending: 'not cleared yet', payouts: 'paid out so far', entries: 'Entries', what: 'What', noEntries: 'No entries yet.', paidOut: 'Payouts', noPayouts: 'Nothing has been paid out yet. Whoever runs this shop pays out what is cleared.', account: 'To the account', disputes: 'Disputed payments', disputesHint: 'Somebody who paid asked the bank for the money. It is answered and decided at the provider; nothing moves here.', provider: 'Provider', reason: 'Reason', disputeReasons: {} as Record<string, string>, opened: 'Since', due: 'Answer until', kinds: { sale: 'Sale', refund: 'Refund', issue_fee: 'Fee for issued tickets', credit: 'Credit', debit: 'Debit', clearing: 'Cleared', pending_credit: 'Sale, not cleared', cleared: 'Cleared', voided: 'Void' } as Record<string, string>,
    newKey: 'New key', keyName: 'What is it for?', scopes: 'It may', mayAll: 'Everything', maySome: 'Only what is chosen', mayNothing: 'nothing', addresses: 'From where', addressesHint: 'IP addresses or networks such as 192.0.2.0/24, one in a line. Empty: from everywhere.', noAddress: 'One of them is no IP address and no network.', until: 'Until when', untilHint: 'Empty: for ever. On the clock of your device.', ends: (when: string) => `Ends ${when}`, pause: 'Pause', makeKey: 'Make the key', once: 'Copy it now: it is shown this once.', noKeys: 'No keys yet', used: (when: string) => `Used ${when}`, unused: 'Never used', revoke: 'Revoke', revokeSure: (name: string) => `Whatever uses “${name}” stops working at once. It cannot be taken back.`, revoked: 'The key is revoked.', rotate: 'Replace', rotateHook: 'Replace the secret', rotateSure: (name: string) => `“${name}” gets a new secret, and the old one stops working.`,
    newHook: 'New webhook', hookUrl: 'Address (https)', hookEvents: 'What is sent', makeHook: 'Add the webhook', noHooks: 'No webhooks yet', hooksHint: 'We tell a program of yours what happens: orders, refunds, scans.', deliveries: 'Deliveries', noDeliveries: 'Nothing has been sent yet.', look: 'Look again', replay: 'Send again', lookInto: 'Details', payload: 'What is sent', noAnswer: 'No answer', replayed: 'It is sent again.', test: 'Send a test', tested: 'A test is on its way.', on: 'Switch on', off: 'Switch off', dropHook: 'Delete', dropSure: 'Nothing is sent to this address any more. Its history is gone.', attempts: (n: number) => many(n, '# try', '# tries'),
    reasons: { gone: 'It answered that it is gone.', exhausted: 'It did not answer for too long.' } as Record<string, string>,
  },
  course: {
    title: 'What it teaches', types: { unified: 'One film or text', syllabus: 'Lessons' }, video: 'Address of the film', pdf: 'Address of the text', oneOf: 'A film, a text, or both.', lesson: (n: number) => `Lesson ${n}`, add: 'Add a lesson', writeup: 'What learners read',
    duration: 'It takes', durations: { '1-4 hours': '1 to 4 hours', '8-12 hours': '8 to 12 hours', '24 hours': '24 hours', '3 days': '3 days', 'A week': 'A week', '2 Weeks': '2 weeks', '4 Weeks': '4 weeks', '3 months': '3 months', '6 months': '6 months' } as Record<string, string>,
    level: 'Level', levels: { Beginner: 'Beginners', Intermediate: 'Intermediate', Advanced: 'Advanced', 'All levels': 'All levels' } as Record<string, string>, format: 'When', formats: { 'Self-paced': 'At one\'s own pace', Live: 'Live' } as Record<string, string>,
  },
  booking: {
    byDate: 'Booked by date', title: 'Booking', modes: { date_only: 'By date', date_time: 'By date and time' }, daily: 'Places a day', unlimited: 'Empty: no limit.', ahead: 'Days ahead that can be booked', perCustomer: 'At most a buyer and day',
    groups: 'An order may be for several people', multiDay: 'An order may be for several days', slots: 'Times of a day', slot: (n: number) => `Time ${n}`, label: 'Name', from: 'From', to: 'To', capacity: 'Places', paused: 'Paused: nobody can book it', remove: 'Remove', addSlot: 'Add a time',
    slotsHint: 'A time that ends at or before it begins ends on the next day. One that you remove is paused while it has bookings.', closedWeekdays: 'Closed every', closedDates: 'Closed on', date: 'Date', close: 'Close this date',
  },
  security: {
    title: 'Second factor', on: 'On', off: 'Off', offHint: 'With it, your password alone opens nothing: you also type a code that an app on your phone shows.', onHint: 'You sign in with your password and the code that your app shows.', setUp: 'Set it up',
    scan: 'Scan this with an authenticator app.', here: 'The app is on this device: open it', byHand: 'Or type this key into the app:', qr: 'QR code for the authenticator app', code: 'Code that the app shows', turnOn: 'Switch on', isOn: 'The second factor is on.',
    recovery: 'Keep these codes, but not on your phone: if you lose it, each signs you in once. They are shown this once.', anyCode: 'Code of the app, or a recovery code', turnOff: 'Switch it off', offSure: 'Whoever knows your password can sign in then.', isOff: 'The second factor is off.', wrong: 'The code is wrong. It changes every 30 seconds, and is good once.',
  },
};

export default words;
export type Words = typeof words;
