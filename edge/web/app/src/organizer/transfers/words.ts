import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** t is what the desk says of money that comes by bank transfer, in the page's language. */
export const t: Words = await speak(english, () => import('./words.de'));
