import type { Words } from './words.en';

const words = {
  title: 'Heute', inside: 'jetzt drin', insideOf: (limit) => `jetzt drin, von ${limit}`, in: 'rein', out: 'raus', came: 'sind gekommen', remaining: 'fehlen noch', noName: 'Ohne Namen', nobody: 'Noch kein Einlass hat etwas geprüft.',
  hooks: (n) => `Webhooks, die nach Fehlern ausgeschaltet sind: ${n}`, reviews: (n, event) => `Bewertungen ohne Antwort: ${n}, zu ${event}`,
} satisfies Words;

export default words as Words;
