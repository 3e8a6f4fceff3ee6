import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** d is what the page of a draw says, in the page's language. */
export const d: Words = await speak(english, () => import('./words.de'));
