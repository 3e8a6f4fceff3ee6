import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  none: 'Diese Veranstaltung hat keinen Warteraum', noneHint: 'Erwartest du mehr Leute, als es Karten gibt, so öffne vor dem Verkauf einen. Wer vor der Öffnung kommt, nimmt an einer Verlosung teil, die weder du noch wir verbiegen können; dann werden in der Minute so viele eingelassen, wie du sagst.', open: 'Warteraum öffnen', opened: 'Die Veranstaltung hat einen Warteraum.',
  states: { announced: 'Angekündigt: Noch kann sich niemand eintragen', registering: 'Die Leute tragen sich ein', closed: 'Die Liste ist geschlossen, die Verlosung folgt', drawn: 'Die Plätze sind verlost, der Einlass folgt', open: 'Die Leute werden eingelassen' },
  paused: 'Pause: Niemand wird eingelassen', draining: 'Schließt: Niemand kann sich mehr eintragen, alle in der Reihe werden noch eingelassen', test: 'Dieser Server verlost auf Probe. Eine solche Verlosung beweist niemandem etwas.',
  inLine: 'in der Reihe', letIn: 'eingelassen', entries: 'Einträge', rate: 'in der Minute', auto: 'in der Minute, nach Last und Vorrat',
  pause: 'Anhalten', resume: 'Weiter', drain: 'Niemanden mehr eintragen', drainSure: 'Alle in der Reihe werden noch eingelassen. Dann endet der Warteraum von selbst, und jeder kann bestellen.', drained: 'Niemand kann sich mehr eintragen.', reopen: 'Wieder eintragen lassen', end: 'Warteraum beenden', endSure: 'Alle können sofort bestellen, und kein Platz zählt mehr. Geordnet endet er, wenn sich niemand mehr eintragen kann.', ended: 'Der Warteraum ist beendet.',
  page: 'Was Besucher sehen', draw: 'Die Verlosung', rules: 'Regeln', frozen: 'Diese Regeln stehen fest, seit man sich eintragen kann. Niemand kann sie ändern, damit sich alle darauf verlassen können.', untilFrozen: (when) => `Diese Regeln stehen ab ${when} fest, wenn man sich eintragen kann. Bis dahin kannst du sie ändern.`,
  opensAt: 'Einlass ab', opensHint: 'Leer: wenn der Verkauf der ersten Kartenart beginnt, oder jetzt.', registersFrom: 'Eintragen ab', registersHint: 'Leer: eine Stunde davor. Bei einer Verlosung schließt die Liste drei Minuten vor dem Einlass.',
  mode: 'Plätze', modes: { '': 'Verlost, wenn Zeit ist', draw: 'Verlost', arrival: 'Der Reihe nach' }, partyMax: 'Personen je Eintrag, höchstens', people: (n) => many(n, '# Person', '# Personen'),
  proof: 'Wer sich eintragen darf', proofs: { none: 'Alle, ohne Nachweis', address: 'Ein Eintrag je bestätigter E-Mail-Adresse', account: 'Ein Eintrag je Konto' }, proofHint: 'Ohne Nachweis kann sich ein Programm beliebig oft eintragen.',
  pace: 'Tempo', paceHint: 'Das lässt sich jederzeit ändern.', steer: 'Wie viele eingelassen werden', byAuto: 'So viele, wie die Bestellungen mitkommen und die Karten reichen', byNumber: 'Eine feste Zahl in der Minute', number: 'In der Minute', rateIssue: 'Eine ganze Zahl von 1 bis 1.000.000.', holdMinutes: 'Minuten zum Bestellen', holdHint: 'So lange gilt eine Zulassung, 1 bis 30.', work: 'Rechenarbeit beim Eintragen', works: { 0: 'Keine', 18: 'Ein Bruchteil einer Sekunde', 20: 'Etwa eine Sekunde', 22: 'Einige Sekunden' }, workHint: 'Ein Preis für alle, die sich sehr oft eintragen; er beweist nichts.', bits: (n) => `${n} Bit`,
} satisfies Words;

export default words;
