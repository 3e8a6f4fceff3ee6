import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  inbox: 'Post', tabs: { messages: 'Nachrichten', reports: 'Meldungen' }, allStates: 'Jeder Stand', files: (n) => `Datei ${n}`, event: 'Zum Event', send: 'Senden', answer: 'Antworten', answered: 'Die Antwort ist unterwegs.', answerChange: 'Antwort ändern',
  messages: {
    none: 'Niemand hat geschrieben', noneHint: 'Was Karteninhaber dich fragen, erscheint hier. Antwortest du, so bekommen sie eine Mail.', you: 'Du', label: 'Deine Antwort', states: { open: 'Wartet auf dich', replied: 'Beantwortet', closed: 'Geschlossen' },
  },
  reports: {
    none: 'Niemand hat sich beschwert', noneHint: 'Was Leute an deinen Events melden, erscheint hier. Was du sieben Tage nicht beantwortest, geht an die Plattform.', label: 'Antwort an den, der es gemeldet hat', note: 'Notiz für euch', resolve: 'Beantworten und schließen', resolved: 'Die Meldung ist geschlossen.', dismiss: 'Abweisen', dismissSure: 'Die Meldung wird ohne Antwort geschlossen.', escalate: 'An die Plattform geben', escalateSure: 'Die Plattform antwortet an deiner Stelle. Das lässt sich nicht zurücknehmen.', escalated: 'Die Plattform hat sie jetzt.',
    states: { submitted: 'Neu', under_review: 'In Prüfung', escalated: 'Bei der Plattform', resolved: 'Beantwortet', dismissed: 'Abgewiesen' },
    categories: { misleading_info: 'Es war anders als angegeben', did_not_happen: 'Es fand nicht statt', harassment: 'Belästigung', fraud: 'Betrug', accessibility: 'Barrierefreiheit', other: 'Etwas anderes' },
  },
  reviews: {
    none: 'Noch keine Bewertungen', noneHint: 'Gäste, die eingelassen wurden, dürfen eine schreiben.', mean: (n) => `${n} von 5`, count: (n) => many(n, '# Bewertung', '# Bewertungen'), stars: (n) => `${n} von 5 Sternen`, guest: 'Ein Gast', label: 'Deine Antwort, die alle lesen', reply: 'Deine Antwort',
  },
  waitlist: {
    none: 'Niemand wartet', noneHint: 'Ist eine Kartenart mit Warteliste ausverkauft, können Leute hier darauf warten.', waiting: 'warten', offered: 'haben ein Angebot', claimed: 'haben gekauft', who: 'Wer', quantity: 'Karten', since: 'Seit', state: 'Stand', any: 'Jede Art', place: (n) => `Nr. ${n}`, until: (when) => `Angeboten bis ${when}`,
    states: { waiting: 'Wartet', offered: 'Angeboten', claimed: 'Gekauft', expired: 'Verstreichen lassen', cancelled: 'Gegangen', unconfirmed: 'Nicht bestätigt' },
    offers: 'Angebote', auto: 'Was frei wird, von selbst anbieten', minutes: 'Minuten, um anzunehmen', minutesHint: 'Von 15 bis 4320, das sind drei Tage. Offene Angebote behalten ihre Zeit.', offerTo: 'Wie vielen anbieten?', offer: 'Anbieten', made: (n) => (n ? many(n, '# Angebot ist unterwegs.', '# Angebote sind unterwegs.') : 'Es ist nichts frei, das jemandem passt.'),
  },
  mails: {
    subject: 'Betreff', body: 'Text', bodyHint: 'Sie geht an alle, die eine gültige Karte haben, einmal an jede Adresse.', tag: 'Nur Karten mit dem Stichwort', tagHint: 'Leer: alle.', send: 'Mail senden', reaches: (n) => `Adressen, die sie erreicht: ${n}`, preview: 'Was sie lesen', sure: (n) => `Sie geht an ${n} Adressen und lässt sich nicht zurückholen.`, sent: (n) => many(n, 'Sie ist unterwegs an # Adresse.', 'Sie ist unterwegs an # Adressen.'),
    before: 'Früher gesendet', none: 'Noch nichts.', out: (n, of) => `${n} von ${of} gesendet`, unsubscribed: (n) => many(n, '# abgemeldet', '# abgemeldet'),
  },
  give: {
    title: 'Karten verschenken', type: 'Karte', person: (n) => `Person ${n}`, another: 'Noch eine Person', note: 'Eine Zeile von dir in der Mail', go: (n) => many(n, '# Karte verschenken', '# Karten verschenken'), given: (n) => many(n, '# Karte ist verschenkt. Sie kommt per Mail.', '# Karten sind verschenkt. Sie kommen per Mail.'),
    file: 'An alle in einer Datei', choose: 'CSV-Datei', fileHint: 'Die erste Zeile benennt die Spalten: name und email werden gelesen. Höchstens 500 Leute.', bring: 'Allen darin Karten geben', row: (n, why) => `Zeile ${n}: ${why}`, reasons: { INVALID_EMAIL: 'keine E-Mail-Adresse', INVALID_NAME: 'der Name ist zu lang oder hat fremde Zeichen', DUPLICATE: 'die Adresse steht schon weiter oben' },
  },
  guest: {
    title: 'Gast', order: 'Zum Kauf', holder: 'Wer sie hat', name: 'Wer kommt', emailHint: 'Sie gibt kein Recht auf die Karte.', admit: 'Von Hand einlassen', admitted: 'Ist jetzt drin.', undo: 'Einlass zurücknehmen', undoSure: 'Die Karte gilt wieder und lässt noch einmal jemanden ein.', undone: 'Die Karte gilt wieder.', denied: { denied_duplicate: 'Kein Einlass: Die Karte wurde schon benutzt.', denied_cancelled: 'Kein Einlass: Die Karte wurde zurückgegeben oder storniert.' }, admitsNobody: 'Kein Einlass: Die Karte gilt für dieses Event nicht.',
  },
  tag: 'Neues Stichwort', tagHint: 'Buchstaben, Ziffern, Leerzeichen, _ . und -.', contact: { write: 'Mail schreiben', sent: 'Die Mail ist gesendet.' },
  resend: 'Karten noch einmal senden', resent: (to) => `Sie sind unterwegs an ${to}.`,
  refundAll: {
    title: 'Geld aller Käufer', hint: 'Das Event ist abgesagt. Wer gezahlt hat, darf das Geld verlangen; hier gibst du es allen auf einmal zurück.', go: 'Alles Geld zurückgeben', sure: 'Alle bezahlten Bestellungen bekommen ihr Geld zurück, mit der Gebühr. Das lässt sich nicht rückgängig machen.', yes: 'Ja, alles zurückgeben', why: 'Grund, für die Akten', running: 'Das Geld geht zurück.', finished: 'Das Geld ist zurück.', again: 'Noch einmal alle durchgehen',
    progress: (done, of, skipped) => `${done} von ${of} Bestellungen${skipped ? `, ${skipped} ohne Geld zum Zurückgeben oder mit einer benutzten Karte` : ''}.`,
  },
} satisfies Words;

export default words;
