import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** e is what the desk says of events on the organizer's own site, in the page's language. */
export const e: Words = await speak(english, () => import('./words.de'));
