import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  csv: 'Herunterladen (CSV)', reading: (n) => many(n, '# Bestellung', '# Bestellungen'), enough: (n) => `In der Datei sind die neuesten ${many(n, '# Bestellung', '# Bestellungen')}, und es gibt mehr. Grenze die Liste nach Tagen ein, um die anderen zu bekommen.`, from: 'Bestellt ab', to: 'Bestellt bis', file: 'Bestellungen',
  columns: { number: 'Bestellung', status: 'Stand', placed: 'Bestellt (UTC)', event: 'Event', name: 'Käufer', email: 'E-Mail', tickets: 'Karten', items: 'Was', subtotal: 'Preis', discount: 'Rabatt', code: 'Rabattcode', fees: 'Gebühren', total: 'Summe', back: 'Zurückgegeben', currency: 'Währung' },
  back: (sum) => `${sum} gehen zurück.`, fee: (sum) => `Die Gebühr von ${sum} bleibt: Sie gehört nicht zum Kartenpreis.`, feeToo: (sum) => `Auch die Gebühr zurückgeben: ${sum} insgesamt`, cancelled: 'Bei einem abgesagten Event geht der Anteil der Karten an der Gebühr von selbst zurück.',
  history: 'Was geschah', placed: (who) => `${who} hat bestellt.`, waived: 'Auf das Widerrufsrecht wurde verzichtet.', paid: (provider) => `Es wurde bezahlt${provider && `, über ${provider}`}.`, free: 'Es war nichts zu zahlen.', cancelledAt: 'Die Bestellung wurde storniert.', came: (ticket, gate) => `${ticket} kam herein${gate && `, bei ${gate}`}.`,
  given: (sum, why) => `${sum} gehen zurück${why && `: „${why}“`}`, days: 'Nach Tagen', asked: (sum, why) => `${sum} wurden zurückverlangt${why && `: „${why}“`}`, decided: (sum, denied, note) => `Deine Organisation hat die Rückgabe von ${sum} ${denied ? 'abgelehnt' : 'genehmigt'}${note && `: „${note}“`}`, moved: (sum) => `${sum} gingen zurück.`,
  codes: 'Rabattcodes', allEvents: 'Alle Events', codesHint: 'Ein Code aller Events gilt für jedes davon, auch für spätere.',
} satisfies Words;

export default words as Words;
