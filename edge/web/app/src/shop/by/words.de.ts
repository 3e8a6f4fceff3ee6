import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  gone: 'Diesen Veranstalter gibt es hier nicht', goneHint: 'Vielleicht stimmt die Adresse nicht.', upcoming: 'Was läuft', past: 'Was war', none: 'Zurzeit ist nichts im Verkauf.', noneHint: 'Folge, und wir schreiben dir, wenn sich das ändert.',
  more: 'Alle Veranstaltungen durchsuchen', said: 'Was Gäste sagen', of: (n) => `${n} von 5`, count: (n) => many(n, '# Bewertung', '# Bewertungen'), reply: (name) => `${name} antwortet`, guest: 'Ein Gast',
  follow: 'Folgen', subscribe: 'Im Kalender abonnieren', followHint: (name) => `Wir schreiben dir, wenn ${name} etwas Neues hat. Abbestellen kannst du mit jeder Mail.`,
  asked: 'Noch ein Schritt', confirm: (mail) => `Öffne die Mail, die wir eben an ${mail} geschickt haben, und bestätige dort: Von da an folgst du.`, follows: 'Du folgst jetzt',
} satisfies Words;

export default words as Words;
