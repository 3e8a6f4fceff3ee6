import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  title: 'Überweisungen', orders: 'Alle Käufe',
  bring: 'Kontoauszug einlesen', bringHint: 'CAMT.053, MT940 oder die CSV-Datei von Sparkasse, N26 oder Wise, bis 4 MiB. Was schon eingelesen war, zählt einmal.', file: 'Kontoauszug', go: 'Einlesen',
  read: (n) => many(n, '# Zeile ist Geld, das kam.', '# Zeilen sind Geld, das kam.'),
  counts: { matched: 'Passt zur Bestellung', underpaid: 'Weniger, als die Bestellung kostet; sie wartet auf den Rest', overpaid: 'Mehr, als die Bestellung kostet; was zu viel ist, geht unter Rückgaben zurück', otherCurrency: 'In einer anderen Währung, die nichts bezahlt', unknown: 'Nennt keine Bestellung, die auf eine Überweisung wartet', repeated: 'Schon bekannt' },
  unread: 'Diese Datei ist kein Kontoauszug, den wir lesen können, oder eine ihrer Zeilen ist es nicht. Nichts davon ist gebucht.',
  open: 'Geld, das nicht passt', none: 'Alles Geld hat seine Bestellung.', noneHint: 'Was zu wenig, zu viel, in anderer Währung oder ohne Bestellung ist, steht hier.',
  states: { underpaid: 'Zu wenig', overpaid: 'Zu viel', currency: 'Andere Währung', unknown: 'Keine Bestellung' },
  amount: 'Kam', payer: 'Von', wrote: 'Verwendungszweck', day: 'Tag', why: 'Was nicht passt', nobody: 'Die Bank nennt niemanden',
  came: (sum, of) => `${sum} von ${of} insgesamt`, order: 'Die Bestellung', find: 'Bestellung suchen', byHand: 'von Hand gebucht',
  waits: (sum, until) => `${sum} sollen bis ${until} überwiesen sein.`, had: (sum) => `${sum} sind da.`,
  seen: 'Das Geld ist da', sum: 'Wie viel kam', sumHint: 'Mit Punkt, wie 24.50. Bei weniger wartet die Bestellung weiter; was zu viel ist, geht unter Rückgaben zurück.', reference: 'Verwendungszweck', note: 'Notiz', optional: 'Für deine Akten.', book: 'Buchen', done: 'Das Geld ist gebucht, die Karten sind unterwegs.', part: 'Das Geld ist gebucht. Die Bestellung wartet auf den Rest.',
} satisfies Words;

export default words;
