/** What a review says and asks, of whoever was there. */
const words = {
  begin: 'How was it? Write a review', title: 'Your review', hint: 'Everybody can read it at once, and the organizer can answer it. It cannot be changed afterwards.',
  rating: 'How was it?', stars: (n: number) => `${n} of 5 stars`, body: 'What you say', bodyHint: 'From 10 to 2,000 characters.', name: 'Name (if you like)', nameHint: 'It is shown with the review. Without it, no name is.',
  send: 'Publish the review', thanks: 'Thank you: your review is public now.', reply: 'The organizer answers:',
  need: { rating: 'Please choose from 1 to 5 stars.', body: 'Please write from 10 to 2,000 characters.', authorName: 'Please write a name of at most 120 characters.' } as Record<string, string>,
  refused: { REVIEW_EXISTS: 'This ticket has a review already: each has one.', NOT_CHECKED_IN: 'No gate has let this ticket in, and only who was there may review.', TICKET_NOT_FOUND: 'This ticket is somebody else’s now, who may review it.' } as Record<string, string>,
};

export default words;
export type Words = typeof words;
