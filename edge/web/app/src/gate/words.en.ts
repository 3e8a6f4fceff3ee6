/** What the gate says. */
const words = {
  trouble: { offline: 'The server cannot be reached. Look at your connection, then try again.', again: 'Try again', request: 'If you ask for help, name this request:', wait: 'Too many tries. Wait a moment, then try again.', copy: 'Copy' },
  title: 'Gate', signIn: 'Sign in', mail: 'E-mail', password: 'Password', second: 'Code of your second factor', key: 'API key of this device', useKey: 'Use an API key', useMail: 'Sign in with e-mail', go: 'Continue', out: 'Sign out',
  event: 'Event', number: 'Number of the event', numberHint: 'Its organizer sees it beside the title.', gate: 'Name of this gate', start: 'Start scanning', none: 'No events yet.', other: 'Other event',
  code: 'Door code', check: 'Check', camera: 'Use the camera', stop: 'Stop the camera', noCamera: 'This browser gives no camera to this page. Type the door codes.', denied: 'The camera was not allowed. Allow it in the browser, or type the door codes.',
  ready: 'Ready', point: 'Point the camera at the code, or type the door code.', admitted: 'Welcome', in: 'in', left: 'to come', tap: 'Touch to go on', idCheck: 'Check the name on an ID', offline: 'Not checked: no connection. Try again.', unknown: 'No such ticket',
  denied_duplicate: 'Already used', denied_cancelled: 'Ticket was cancelled', denied_expired: 'Code is too old', denied_wrong_event: 'Ticket of another event', firstAt: (gate: string, time: string) => [gate, time].filter(Boolean).join(', '),
};

export default words;
export type Words = typeof words;
