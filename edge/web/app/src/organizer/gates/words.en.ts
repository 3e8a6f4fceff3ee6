const words = {
  add: 'Add a gate device', gate: 'Name of the gate', gateHint: 'As your people call it: North, Stage door.', guests: 'It may search guests by name', guestsHint: 'Then whoever has the device reads what the organization knows of guests, at all its events.', make: 'Show the code',
  scan: 'Open the camera of the device and scan this. The device then decides whom to let in, without a network too.', qr: (gate: string) => `QR code that makes a device the gate ${gate}`, secret: 'Whoever has this code can let guests in at all events of the organization until it ends: show it to the device alone. It is shown this once.', ends: (when: string) => `It works until ${when}. To end it sooner, revoke its key in the settings.`, link: 'Or open this link on the device', copy: 'Copy the link', another: 'Another device', noKey: 'Only owners and admins of the organization can add devices.',
};

export default words;
export type Words = typeof words;
