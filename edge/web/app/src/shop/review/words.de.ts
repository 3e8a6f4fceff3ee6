import type { Words } from './words.en';

const words = {
  begin: 'Wie war es? Schreib eine Bewertung', title: 'Deine Bewertung', hint: 'Alle können sie sofort lesen, und der Veranstalter kann antworten. Danach lässt sie sich nicht mehr ändern.',
  rating: 'Wie war es?', stars: (n) => `${n} von 5 Sternen`, body: 'Was du sagst', bodyHint: '10 bis 2.000 Zeichen.', name: 'Name (wenn du magst)', nameHint: 'Er steht bei der Bewertung. Ohne ihn steht da keiner.',
  send: 'Bewertung veröffentlichen', thanks: 'Danke: Deine Bewertung ist jetzt öffentlich.', reply: 'Der Veranstalter antwortet:',
  need: { rating: 'Bitte wähle 1 bis 5 Sterne.', body: 'Bitte schreib 10 bis 2.000 Zeichen.', authorName: 'Bitte nenne einen Namen von höchstens 120 Zeichen.' },
  refused: { REVIEW_EXISTS: 'Zu dieser Karte gibt es schon eine Bewertung: Jede hat eine.', NOT_CHECKED_IN: 'Diese Karte hat kein Einlass hereingelassen, und nur wer da war, kann bewerten.', TICKET_NOT_FOUND: 'Diese Karte gehört jetzt jemand anderem, und nur der kann sie bewerten.' },
} satisfies Words;

export default words as Words;
