import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** r is what a review says, in the page's language. */
export const r: Words = await speak(english, () => import('./words.de'));
