import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  title: 'Meine Karten',
  enter: {
    hint: 'Nenne die Adresse, an die deine Karten gingen. Wir schicken dir sechs Ziffern; ein Passwort brauchst du nicht.', mail: 'E-Mail', send: 'Ziffern schicken', needMail: 'Bitte nenne eine Adresse, die Post erreicht.',
    sent: (mail) => `Wir haben sechs Ziffern an ${mail} geschickt. Sie gelten zehn Minuten.`, code: 'Sechs Ziffern', go: 'Meine Karten zeigen', again: 'Noch einmal schicken', againIn: (s) => `Noch einmal schicken in ${s} s`, other: 'Andere Adresse',
    wrong: 'Das sind nicht die Ziffern unserer neuesten Mail. Sieh noch einmal nach, oder lass dir neue schicken.', spent: 'Zu oft falsch: Diese Ziffern gelten nicht mehr. Lass dir neue schicken.', many: (s) => `Zu viele Versuche. Warte ${s}, dann geht es weiter.`, soon: (s) => `Wir haben dir eben geschrieben. Noch einmal geht es in ${s}.`, seconds: (n) => many(n, '# Sekunde', '# Sekunden'), minutes: (n) => many(n, '# Minute', '# Minuten'),
    second: 'Code deiner Authenticator-App', secondHint: 'Dein Konto verlangt einen zweiten Faktor.', resent: 'Noch einmal geschickt.', signedIn: (mail) => `Angemeldet als ${mail}`, out: 'Abmelden', outHint: 'Beim Abmelden verschwinden die Karten auch aus diesem Browser.',
  },
  list: {
    next: 'Als Nächstes', later: 'Später', always: 'Immer da', past: (n) => many(n, '# vergangene', '# vergangene'), here: 'In diesem Browser gekauft', hereHint: 'Diese öffnen sich ohne Anmeldung.', none: 'Hier sind keine Karten', noneHint: 'Mit einer anderen Adresse gekauft? Melde dich ab und mit jener wieder an. Ein Kauf ist erst nach einigen Sekunden zu sehen.', home: 'Was läuft',
    count: (n) => many(n, '# Karte', '# Karten'), more: 'Mehr zeigen', loading: 'Deine Karten werden gesucht', today: 'Heute', tomorrow: 'Morgen', inDays: (n) => many(n, 'In # Tag', 'In # Tagen'), show: 'Zeigen', begin: 'Beginnen', download: 'Herunterladen',
    states: { pending: 'Noch nicht bezahlt', processing: 'Zahlung wird geprüft', completed: 'Bezahlt', failed: 'Nicht bezahlt', cancelled: 'Storniert', expired: 'Nicht rechtzeitig bezahlt', refunded: 'Geld zurückgegeben', partially_refunded: 'Zum Teil zurückgegeben' },
    cancelled: 'Abgesagt', used: 'Benutzt', order: (n) => `Bestellung ${n}`,
  },
  refunds: { title: 'Geld zurück', states: { requested: 'Verlangt: der Veranstalter entscheidet', approved: 'Zugesagt: das Geld wird geschickt', processing: 'Das Geld ist unterwegs', processed: 'Das Geld ist geschickt', denied: 'Abgelehnt', failed: 'Ging nicht: wir kümmern uns', cancelled: 'Zurückgezogen' }, arrives: 'Es kommt in einigen Tagen an, auf dem Weg, auf dem du gezahlt hast.', back: 'Zurückziehen', backSure: 'Zurückgezogen. Die Karte bleibt deine.' },
  messages: { title: 'Nachrichten', you: 'Du', organizer: 'Veranstalter', write: 'Antworten', body: 'Nachricht', send: 'Senden' },
  courses: { title: 'Kurse', done: (n) => `${n} % geschafft`, begin: 'Beginnen', go: 'Weiter', complete: 'Abgeschlossen' },
  account: {
    title: 'Konto', name: 'Name', phone: 'Telefon', language: 'Sprache der Mails', languages: [['', 'English'], ['de', 'Deutsch']], save: 'Speichern', saved: 'Gespeichert.',
    sessions: 'Wo du angemeldet bist', thisOne: 'dieser Browser', last: (when) => `zuletzt ${when}`, everywhere: 'Überall abmelden', everywhereSure: 'Auch überall sonst abgemeldet.',
    second: 'Zweiter Faktor', secondOn: 'An: Beim Anmelden wird ein Code deiner Authenticator-App verlangt.', secondOff: 'Aus. Mit ihm kann sich auch nicht anmelden, wer deine Mails liest.', secondStart: 'Einschalten', secondScan: 'Lies das mit deiner Authenticator-App ein, oder tippe den Schlüssel:', secondCode: 'Code, den sie zeigt', secondConfirm: 'Bestätigen', secondEnd: 'Ausschalten', backup: 'Bewahre diese Codes sicher auf. Jeder gilt einmal, falls du die App verlierst:', qr: 'QR-Code für eine Authenticator-App',
    data: 'Deine Daten', export: 'Alles herunterladen', exportHint: 'Eine Datei mit Profil, Bestellungen, Karten, Erstattungen, Nachrichten und Wartelisten.', erase: 'Vergessen werden', eraseHint: 'Dein Name und deine Adresse verschwinden, überall. Was bleibt: Bestellungen und Zahlungen, wie das Gesetz sie verlangt, ohne deinen Namen. Es geht nicht, solange du Karten für Kommendes hast oder Erstattungen laufen.', eraseSure: 'Das lässt sich nicht rückgängig machen. Vergessen werden?', eraseYes: 'Ja, vergesst mich', keep: 'Nein, alles behalten', erased: 'Du bist vergessen. Auch in diesem Browser steht nichts mehr von dir.',
  },
} satisfies Words;

export default words as Words;
