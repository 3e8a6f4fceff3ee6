import { speak } from '../shared/words';
import english, { type Words } from './words.en';

/** w is what the gate says, in the page's language. */
export const w: Words = await speak(english, () => import('./words.de'));
