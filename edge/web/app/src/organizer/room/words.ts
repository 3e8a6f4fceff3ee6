import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** r is what the desk says of waiting rooms, in the page's language. */
export const r: Words = await speak(english, () => import('./words.de'));
