import { many } from '../../shared/words';

/** What the page of a draw says. */
const words = {
  trouble: {
    offline: 'The server cannot be reached. Look at your connection, then try again.', again: 'Try again',
    request: 'If you ask for help, name this request:', wait: 'Too many requests from your network. Wait a moment, then try again.', copy: 'Copy',
  },
  title: 'Check the draw', hint: 'Your browser does the sums here. It takes the server’s word for nothing but the document and the proof, and those it checks.', none: 'There is no draw yet', noneHint: 'The list’s fingerprint is published here when the list closes.', loading: 'Looking up the draw', event: 'To the event', room: 'To the waiting room',
  document: 'What was published', number: (n: number) => `Draw ${n}`, entries: (n: number) => many(n, '# entry', '# entries'), count: 'Entries', classes: 'Of these proven', proven: (none: string, address: string, account: string) => `${address} e-mail addresses, ${account} accounts, ${none} nothing`,
  closed: 'List closed', opened: 'Sale opens', root: 'Fingerprint of the list', round: 'Public random number', roundOf: (n: number) => `Round ${n}`, waiting: 'Not known yet', signer: 'Operator’s key', raw: 'The whole document, to keep',
  yours: 'Your place', receipt: 'Your receipt', receiptHint: 'It is filled in if you joined in this browser. Otherwise paste it.', check: 'Check', checking: 'Checking', place: 'Your place, as your browser finds it', notYet: 'The list is closed and you are on it. Your place follows from the public random number, which is not known yet.',
  good: 'Right', bad: 'Wrong', unknown: 'Not checked',
  checks: {
    root: 'The list’s fingerprint is the one that this browser was sent when the list closed', counted: 'The counts add up', signed: 'The operator has signed what was published', round: 'The random number was not known when the list closed',
    receipt: 'The operator has signed your receipt', draw: 'The receipt is for this draw', under: 'Your entry is on the list', beacon: 'The random number is the public one', witness: 'An outside witness saw the fingerprint before the random number was known',
  },
  why: {
    root: 'This browser was not on the waiting room’s page after the list closed.', signed: 'This browser cannot check Ed25519 signatures. A newer one can.', round: 'It is not from drand’s public network.', receipt: 'This browser cannot check Ed25519 signatures. A newer one can.',
    beacon: 'A browser cannot check its signature. Compare it with the one that the public network shows:', test: 'Test beacon: the operator may know the random number beforehand, so this draw proves nothing.',
    witness: 'Its token is of this draw, but a browser cannot check when it was signed, and by whom. The program below can.',
  },
  not: { witness: 'Its token is of something else.', receipt: 'It is not whole, or not of this operator.', draw: 'It is for another event, or for another draw of it.' },
  relay: 'See it at drand', noReceipt: 'This is not a receipt. Copy it whole, from the waiting room’s page.', fraud: 'Keep the receipt and this document: together they prove that something is wrong. Tell the organizer.', insecure: 'This page came without encryption, so the browser does no sums here. Open it by https.',
  program: 'With a program of your own', programHint: 'The document, the receipt and the proof are enough. The formats are described with the source code, in docs/waiting-room.md; these check them:',
};

export default words;
export type Words = typeof words;
