// The language of a page: the one that was chosen here, or the first of the browser's that we have.
import { keep, kept } from './storage';

export type Language = 'en' | 'de';

const known = (tag: string | null): tag is Language => tag === 'en' || tag === 'de';
const chosen = kept('language');

/** spoken is the language of this page. */
export const spoken: Language = known(chosen) ? chosen : navigator.languages.map((l) => l.slice(0, 2)).find(known) ?? 'en';

/** language is a tag for Intl: the reader's own kind of English, say, if it is English. */
export const language = navigator.languages.find((l) => l.startsWith(spoken)) ?? spoken;

/** choose shows all pages in a language from now on. */
export function choose(to: Language) {
  keep('language', to);
  location.reload();
}

/** speak returns the words of the page's language. English is in the page already. */
export async function speak<W>(english: W, german: () => Promise<{ default: W }>): Promise<W> {
  document.documentElement.lang = spoken;
  return spoken === 'de' ? (await german()).default : english;
}

const rules = new Intl.PluralRules(spoken);

/** many chooses a form by a number. */
export function many(n: number, one: string, other: string): string {
  return (rules.select(n) === 'one' ? one : other).replace('#', new Intl.NumberFormat(language).format(n));
}
