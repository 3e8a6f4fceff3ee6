import { many } from '../../shared/words';

/** What the pages of organizations say. */
const words = {
  gone: 'This organizer is not here', goneHint: 'The address may be wrong.', upcoming: 'What is on', past: 'What was on', none: 'Nothing is on sale at the moment.', noneHint: 'Follow, and we mail you when that changes.',
  more: 'Search all events', said: 'What guests say', of: (n: string) => `${n} of 5`, count: (n: number) => many(n, '# review', '# reviews'), reply: (name: string) => `${name} answers`, guest: 'A guest',
  follow: 'Follow', subscribe: 'Subscribe in your calendar', followHint: (name: string) => `We mail you when ${name} has something new. You can leave with each mail.`,
  asked: 'One more step', confirm: (mail: string) => `Open the mail that we have just sent to ${mail}, and confirm there: from then on you follow.`, follows: 'You follow now',
};

export default words;
export type Words = typeof words;
