import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** g is what the desk says of gate devices, in the page's language. */
export const g: Words = await speak(english, () => import('./words.de'));
