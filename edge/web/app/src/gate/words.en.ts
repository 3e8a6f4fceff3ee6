/** What the gate says. */
import { many } from '../shared/words';

const words = {
  trouble: { offline: 'The server cannot be reached. Look at your connection, then try again.', again: 'Try again', request: 'If you ask for help, name this request:', wait: 'Too many tries. Wait a moment, then try again.', copy: 'Copy' },
  title: 'Gate', signIn: 'Sign in', mail: 'E-mail', password: 'Password', second: 'Code of your second factor', key: 'API key of this device', useKey: 'Use an API key', useMail: 'Sign in with e-mail', go: 'Continue', out: 'Sign out',
  event: 'Event', number: 'Number of the event', numberHint: 'Its organizer sees it beside the title.', gate: 'Name of this gate', start: 'Start scanning', none: 'No events yet.', other: 'Other event',
  code: 'Door code', check: 'Check', camera: 'Use the camera', stop: 'Stop the camera', noCamera: 'This browser gives no camera to this page. Type the door codes.', denied: 'The camera was not allowed. Allow it in the browser, or type the door codes.',
  ready: 'Ready', point: 'Point the camera at the code, or type the door code.', admitted: 'Welcome', in: 'in', left: 'to come', tap: 'Touch to go on', idCheck: 'Check the name on an ID', offline: 'No connection.', unknown: 'No such ticket',
  denied_not_inside: 'Not inside', already: 'Already inside', exitsOff: 'Exits are not counted here', goodbye: 'Goodbye', notSeen: 'This device knows of nobody who came in with it', direction: 'People here', comeIn: 'come in', goOut: 'go out', went: 'out', inside: 'inside now', near: (n: number, of: number) => `Nearly full: ${n} of ${of} inside`, full: (n: number, of: number) => `Full: ${n} of ${of} inside`, gates: 'Gates', refusedHere: 'refused', lastOut: 'Last out:', letOut: (when: string) => `Let out here ${when}.`,
  denied_duplicate: 'Already used', denied_cancelled: 'Ticket was cancelled', denied_expired: 'Code is too old', denied_wrong_event: 'Ticket of another event', firstAt: (gate: string, time: string) => [gate, time].filter(Boolean).join(', '),
  opening: 'Opening', leave: 'Leave', isGate: (gate: string, title: string) => `This device is the gate ${[gate, title].filter(Boolean).join(', ')}.`, become: (gate: string, title: string) => `Make it ${[gate, title].filter(Boolean).join(', ')}`, stay: 'Leave it as it is', elsewhere: 'This gate is open in another tab.', here: 'Scan here', notKept: 'This browser cannot keep what it decides, so nobody is let in. Free some space, or use another browser.', noReader: 'The camera cannot read codes here. Type the door codes.',
  on: 'Online', off: 'Offline: decides alone', connecting: 'Connecting', noList: 'No list yet', freshList: 'List is up to date', list: (ago: string) => `List of ${ago}`, toSend: (n: number) => many(n, '# admission to send', '# admissions to send'), refused: 'The server refuses this device:', unsent: (n: number) => `${many(n, '# admission has', '# admissions have')} not been sent yet. Bring this device online first.`,
  alone: 'Decided offline', again: 'The same ticket, just now', undecided: 'Not decided', undecidedHint: 'Only the server knows this code. Scan the QR code, or find a network.', notDecided: 'Not decided', notYet: 'Booked for a later time', over: 'Booked time is over', printed: 'Printed codes do not count here', row: (row: string) => `row ${row}`,
  last: 'Last in:', notSent: 'not sent yet', undo: 'Take back', leaveAnyway: 'Leave, and forget them', undoOffline: 'To take this back the device must be online.', wrong: (n: number) => many(n, '# person was let in wrongly', '# people were let in wrongly'), letIn: (when: string) => `Let in here ${when}.`,
  guests: 'Find a guest', guestName: 'Name, e-mail or order number', search: 'Search', noGuests: 'Nobody by this name.', notIn: 'not in yet', mayNot: 'The key of this device may not search guests.',
};

export default words;
export type Words = typeof words;
