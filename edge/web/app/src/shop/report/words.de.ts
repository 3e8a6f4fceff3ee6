import type { Words } from './words.en';

const words = {
  title: 'Veranstaltung melden', hint: 'Stimmt mit dieser Veranstaltung etwas nicht, so sag es hier. Fragen zu deiner Karte beantwortet der Veranstalter: Schreib ihm von der Karte aus.', signIn: 'Melde dich zuerst mit deiner E-Mail-Adresse an: Die Antwort kommt in dein Konto.',
  category: 'Worum es geht', pick: 'Bitte wählen',
  categories: { misleading_info: 'Was hier steht, stimmt nicht', did_not_happen: 'Sie fand nicht statt', harassment: 'Belästigung', fraud: 'Betrug', accessibility: 'Barrierefreiheit', other: 'Etwas anderes' },
  toPlatform: 'Wir lesen es selbst. Der Veranstalter erfährt nichts davon.', toOrganizer: 'Der Veranstalter liest es und antwortet; wer du bist, erfährt er nicht. Antwortet sieben Tage lang niemand, so kommt es zu uns.',
  description: 'Was geschehen ist', descriptionHint: '20 bis 5.000 Zeichen.', evidence: 'Links, die es zeigen (freiwillig)', evidenceHint: 'Bilder oder Dateien, je Zeile eine Adresse, höchstens zehn.', send: 'Melden', close: 'Schließen',
  need: { category: 'Bitte wähle, worum es geht.', description: 'Bitte schreib 20 bis 5.000 Zeichen.', evidenceUrls: 'Bitte gib Adressen mit http:// oder https:// an, je Zeile eine, höchstens zehn.' },
  thanks: 'Danke: Deine Meldung ist angekommen.', answer: 'Ist sie beantwortet, so steht die Antwort in der Kopie deiner Daten, in', account: 'deinem Konto', gone: 'Diese Veranstaltung ist nicht mehr öffentlich und lässt sich hier nicht melden.',
} satisfies Words;

export default words as Words;
