import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** m is what the desk says of what an event is made of: who is on, pictures, an exam, materials. */
export const m: Words = await speak(english, () => import('./words.de'));
