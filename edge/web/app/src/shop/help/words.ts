import { spoken } from '../../shared/words';

/** A Topic is a question of a buyer, with its answer. */
interface Topic { ask: string; answer: string; link?: [string, string] }

const words: Record<typeof spoken, { title: string; lead: string; topics: Topic[] }> = {
  en: {
    title: 'Help', lead: 'Most of it you can do by yourself, at once.',
    topics: [
      { ask: 'Where are my tickets?', answer: 'Under My tickets. Type the address that you gave when you bought, and the six digits that we mail there: everything that is yours shows, whoever bought it. You need no password.', link: ['/me', 'My tickets'] },
      { ask: 'The mail has not come', answer: 'It comes within some minutes of the payment. Look among the unwanted mails. You need not wait for it: your tickets are under My tickets as soon as the order is paid.', link: ['/me', 'My tickets'] },
      { ask: 'I have paid, and the page says nothing of it', answer: 'Open the order once more and wait. We go on asking the payment provider and mail you when it is settled. You need not pay twice, and what was paid too often goes back by itself.' },
      { ask: 'I cannot come', answer: 'Open the ticket under My tickets. Where the organizer allows it, you can pass it on to somebody, take another date, or ask for the money. Each button says until when.', link: ['/me', 'My tickets'] },
      { ask: 'I passed a ticket on to a wrong address', answer: 'As long as nobody has taken it, you can take it back where you passed it on. An offer that nobody takes ends after seven days.', link: ['/me', 'My tickets'] },
      { ask: 'How do I get in?', answer: 'Show the QR code on your screen or on paper, or tell the six characters of the door code. Where an event takes live codes alone, the ticket says so.' },
      { ask: 'I have a question about the event', answer: 'Open your ticket under My tickets and write to the organizer there. The answer comes by mail, and stands with the ticket.', link: ['/me', 'My tickets'] },
    ],
  },
  de: {
    title: 'Hilfe', lead: 'Das meiste kannst du selbst, und sofort.',
    topics: [
      { ask: 'Wo sind meine Karten?', answer: 'Unter Meine Karten. Nenne die Adresse, die du beim Kauf angegeben hast, und die sechs Ziffern, die wir dorthin schicken: Alles, was dir gehört, ist da, wer es auch gekauft hat. Ein Passwort brauchst du nicht.', link: ['/me', 'Meine Karten'] },
      { ask: 'Die Mail ist nicht gekommen', answer: 'Sie kommt einige Minuten nach der Zahlung. Sieh auch bei den unerwünschten Mails nach. Warten musst du nicht: Sobald bezahlt ist, stehen die Karten unter Meine Karten.', link: ['/me', 'Meine Karten'] },
      { ask: 'Ich habe gezahlt, und die Seite weiß nichts davon', answer: 'Öffne die Bestellung noch einmal und warte. Wir fragen den Zahlungsdienst weiter und schreiben dir, sobald es feststeht. Du musst nicht zweimal zahlen, und was zu viel gezahlt wurde, kommt von selbst zurück.' },
      { ask: 'Ich kann nicht kommen', answer: 'Öffne die Karte unter Meine Karten. Wo der Veranstalter es erlaubt, kannst du sie weitergeben, einen anderen Tag nehmen oder das Geld zurückverlangen. Bei jedem steht, bis wann.', link: ['/me', 'Meine Karten'] },
      { ask: 'Ich habe eine Karte an die falsche Adresse gegeben', answer: 'Solange niemand sie genommen hat, kannst du sie dort zurücknehmen, wo du sie weitergegeben hast. Was niemand nimmt, endet nach sieben Tagen.', link: ['/me', 'Meine Karten'] },
      { ask: 'Wie komme ich hinein?', answer: 'Zeige den QR-Code auf dem Bildschirm oder auf Papier, oder nenne die sechs Zeichen des Türcodes. Gelten nur lebendige Codes, so steht es auf der Karte.' },
      { ask: 'Ich habe eine Frage zur Veranstaltung', answer: 'Öffne die Karte unter Meine Karten und schreibe dort dem Veranstalter. Die Antwort kommt per Mail und steht bei der Karte.', link: ['/me', 'Meine Karten'] },
    ],
  },
};

export const h = words[spoken];
