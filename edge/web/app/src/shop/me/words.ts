import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** m is what the pages of one's own tickets say, in the page's language. */
export const m: Words = await speak(english, () => import('./words.de'));
