import { speak } from '../shared/words';
import english, { type Words } from './words.en';

/** w is what the portal says beside the organizer's pages, in the page's language. */
export const w: Words = await speak(english, () => import('./words.de'));
