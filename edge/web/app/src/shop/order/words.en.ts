/** What the page of an order says of its money once it goes back, and of what was moved. */
const words = {
  refunded: 'This order was refunded',
  refundedHint: (sum: string) => `${sum} has gone back by the way it came. Banks mostly take 5 to 10 days to show it.`,
  refundedByHand: (sum: string) => `${sum} has been sent back to you. It may take some days to arrive.`,
  returned: 'This order was given back',
  givenBack: 'Given back',
  onWay: 'Your money is on its way back',
  onWayHint: (sum: string) => `${sum} goes back by the way it came. Banks mostly take 5 to 10 days.`,
  stuck: 'Your money is still to go back',
  stuckHint: (sum: string) => `${sum} could not be sent at the first try. We send it again by ourselves, and mail you when it has gone: you need not do anything.`,
  byHand: 'A person sends this money, which may take some days longer. We mail you when it has gone.',
  came: (sum: string) => `Money of yours arrived all the same: ${sum} goes back.`,
  feesKept: 'Fees, not given back',
  kept: 'Not given back',
  withoutFees: 'What goes back for a ticket is its price. The fees are not given back.',
  ask: 'Ask for your money',
  askHint: 'You can ask for your money, fees included, whatever the terms said. The organizer decides, and we mail you.',
  askedHint: 'You have asked for your money. The organizer decides, and we mail you.',
  newDate: (date: string) => `The event has moved: it is on ${date} now`,
  newDateHint: (until: string, paid: boolean) => `If that does not suit you, you can ${paid ? 'ask for your money' : 'ask to give your tickets back'} until ${until}, whatever the terms said. The organizer decides.`,
  giveBack: 'Give a ticket back',
  moved: 'moved since: the ticket above has its new date',
  backHint: 'Money goes back by the way it came; banks mostly take 5 to 10 days.',
  backs: { requested: 'Money back, asked for', approved: 'On its way back', denied: 'Money back, not granted', processing: 'On its way back', processed: 'Went back', failed: 'Could not be sent yet: we try again', cancelled: 'Money back, no longer asked for' },
};

export default words;
export type Words = typeof words;
