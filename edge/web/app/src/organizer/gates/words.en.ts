const words = {
  add: 'Add a gate device', gate: 'Name of the gate', gateHint: 'As your people call it: North, Stage door.', also: 'At other events, too', guests: 'It may search guests by name', guestsHint: 'Then whoever has the device reads who the guests of these events are.', make: 'Show the code',
  scan: 'Open the camera of the device and scan this. The device then decides whom to let in, without a network too.', qr: (gate: string) => `QR code that makes a device the gate ${gate}`, secret: 'The code is good for one device. Show it to nobody else.', waiting: (when: string) => `Waiting for a device. The code is good until ${when}.`, isUsed: (gate: string) => `The code was used: a device is the gate ${gate} now. If it is not yours, revoke it.`, isOver: 'The code is over: nobody used it within ten minutes.', link: 'Or open this link on the device', copy: 'Copy the link', another: 'Another device', noKey: 'Only owners and admins of the organization can add devices.',
  devices: 'Gate devices', since: (when: string) => `Since ${when}`, used: (when: string) => `last used ${when}`, unused: 'not used yet', revoke: 'Revoke', revokeSure: (gate: string) => `The device of the gate ${gate} lets nobody in any more. What it decided without a network and has not sent is lost to the counts.`, revoked: 'Revoked.', more: 'More devices',
};

export default words;
export type Words = typeof words;
