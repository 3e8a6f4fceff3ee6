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
} satisfies Words;

export default words;
