import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** t is what the overview says of today and of what went wrong, in the page's language. */
export const t: Words = await speak(english, () => import('./words.de'));
