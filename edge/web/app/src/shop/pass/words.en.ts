/** What a ticket says of itself, and what its holder can do with it. */
const words = {
  used: (when: string, gate: string) => (gate ? `Used ${when}, at ${gate}` : `Used ${when}`), refunded: 'Given back: it admits nobody', refundedSum: (sum: string, when: string) => (when ? `Given back: ${sum} went back ${when}. It admits nobody` : `Given back: ${sum} is on its way by the way it came, mostly 5 to 10 days. It admits nobody`), cancelled: 'Ended: it admits nobody', expired: 'Over', away: 'Passed on: it is somebody else’s now', called: 'This ticket admits nobody any more.', stale: 'No connection: the QR code may be too old. The door code is good.',
  offered: (to: string, until: string) => `Offered to ${to} until ${until}. Until it is taken, it is yours, and a scan at the gate ends the offer.`, changes: 'The code renews itself every 30 seconds.', renews: 'Time until the code renews itself',
  download: 'Download', open: 'Open', opening: 'Opening it ends your right to withdraw.', ready: 'Opened. If nothing shows, use this link:', linkLife: 'The link counts for 15 minutes; ask for a new one here at any time.', begin: 'Begin the course', signInMoney: 'Sign in to ask for your money back, or to write to the organizer', signIn: 'Sign in for more: other date, money back, message to the organizer',
  verbs: 'What you can do', pdf: 'PDF', calendar: 'Calendar', pass: 'Pass on', date: 'Other date', money: 'Money back', withdraw: 'Withdraw', message: 'Write to the organizer',
  until: (when: string) => `until ${when}`, close: 'Close', fixed: 'This ticket cannot be passed on.', noMoney: 'The organizer does not take it back.', late: 'The time to give it back is over.',
  passHint: 'We mail a link to take it. It is yours until it is taken, seven days at most; you can take it back until then.', toEmail: 'Their e-mail', toName: 'Their name (if you like)', passGo: 'Pass it on', passed: 'On its way: we have mailed the link.', takeBack: 'Take it back', tookBack: 'Taken back: the link does nothing any more.', tooLate: 'It was taken already, or the offer is over.',
  moneyHint: (admits: boolean): string => (admits ? 'The organizer decides. The ticket admits until then.' : 'The organizer decides, and we mail you the decision.'), reason: 'Why', moneyGo: 'Ask for the money', moneyAsked: 'Asked for. You find it under Money back; we mail you the decision.', moneyOpen: 'You have asked for this money already.',
  dateHint: 'Choose another date. The codes stay the same.', dateGo: 'Take this date', dateDone: 'Moved.',
  withdrawHint: (sum: string, until: string) => `You get ${sum} back, and the order ends at once. You may do so until ${until}, as long as nothing was opened.`, withdrawGo: (sum: string) => `Withdraw and get ${sum} back`, withdrawn: 'Withdrawn. The money goes back by the way it came.', withdrawNo: 'This purchase cannot be withdrawn from any more: it was opened, or 14 days are over.',
  messageHint: 'The answer comes by mail, and stands under My tickets.', body: 'Message', messageGo: 'Send', messageSent: 'Sent.', needMail: 'Please tell us an address that mail reaches.', need: 'Please write something.',
};

export default words;
export type Words = typeof words;
