import { speak } from '../../shared/words';
import english, { type Words } from './words.en';

/** u is what an order's page says of money that goes back, in the page's language. */
export const u: Words = await speak(english, () => import('./words.de'));
