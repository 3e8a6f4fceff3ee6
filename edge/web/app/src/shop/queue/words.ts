import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** q is what the waiting room says, in the page's language. */
export const q: Words = await speak(english, () => import('./words.de'));
