import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** c is what the form says that reports an event, in the page's language. */
export const c: Words = await speak(english, () => import('./words.de'));
