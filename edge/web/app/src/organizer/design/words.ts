import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** d is what the desk says of an event's programme and of how its page looks, in the page's language. */
export const d: Words = await speak(english, () => import('./words.de'));
