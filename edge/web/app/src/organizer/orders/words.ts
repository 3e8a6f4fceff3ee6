import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** o is what the desk says of orders beyond their list, in the page's language. */
export const o: Words = await speak(english, () => import('./words.de'));
