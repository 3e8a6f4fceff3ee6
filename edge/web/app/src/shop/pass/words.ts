import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** v is what a ticket can do and says, in the page's language. */
export const v: Words = await speak(english, () => import('./words.de'));
