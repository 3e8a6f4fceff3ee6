const words = {
  title: 'On your own site', hint: 'Show your tickets on pages of your own. Buyers choose there, and order and pay in a tab of the shop.',
  origins: 'Sites that may show your events', originsHint: 'One in a line, at most 20, such as https://www.example.org. Without any, no other site can frame your events; the button needs none.', noOrigin: 'One of them is no address of a site such as https://www.example.org.', tooMany: 'At most 20.',
  event: 'Event', none: 'Nothing is on sale. As soon as an event is, its snippets are here.', widget: 'Widget', widgetHint: 'A script that shows the tickets where it stands, as high as they are.', frame: 'Frame', frameHint: 'The same without a script, where your site takes none.', button: 'Button', buttonHint: 'A link to the event.', tickets: 'Tickets', look: 'See how it looks',
};

export default words;
export type Words = typeof words;
