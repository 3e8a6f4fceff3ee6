import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** a is what the desk says of those who wait, write and come, in the page's language. */
export const a: Words = await speak(english, () => import('./words.de'));
