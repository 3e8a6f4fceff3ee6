// The language of a page: the first of the browser's that we have.
const wanted = navigator.languages.map((l) => l.slice(0, 2)).find((l) => l === 'en' || l === 'de') ?? 'en';

/** language is a tag for Intl: the reader's own kind of English, say, if it is English. */
export const language = navigator.languages.find((l) => l.startsWith(wanted)) ?? wanted;

/** speak returns the words of the page's language. English is in the page already. */
export async function speak<W>(english: W, german: () => Promise<{ default: W }>): Promise<W> {
  document.documentElement.lang = wanted;
  return wanted === 'de' ? (await german()).default : english;
}

const rules = new Intl.PluralRules(wanted);

/** many chooses a form by a number. */
export function many(n: number, one: string, other: string): string {
  return (rules.select(n) === 'one' ? one : other).replace('#', new Intl.NumberFormat(language).format(n));
}
