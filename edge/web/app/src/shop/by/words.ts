import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** b is what the pages of organizations say, in the page's language. */
export const b: Words = await speak(english, () => import('./words.de'));
