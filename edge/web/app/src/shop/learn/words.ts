import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** l is what a course says, in the page's language. */
export const l: Words = await speak(english, () => import('./words.de'));
