import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** p is what the desk says of plans: those of others, and those that are drawn here. */
export const p: Words = await speak(english, () => import('./words.de'));
