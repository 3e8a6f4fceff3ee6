import type { Words } from './words.en';

const words = {
  trouble: { offline: 'Der Server ist nicht erreichbar. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal', request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Versuche. Warte einen Moment.', copy: 'Kopieren' },
  title: 'Einlass', signIn: 'Anmelden', mail: 'E-Mail', password: 'Passwort', second: 'Code des zweiten Faktors', key: 'API-Schlüssel dieses Geräts', useKey: 'Mit API-Schlüssel', useMail: 'Mit E-Mail anmelden', go: 'Weiter', out: 'Abmelden',
  event: 'Veranstaltung', number: 'Nummer der Veranstaltung', numberHint: 'Der Veranstalter sieht sie neben dem Titel.', gate: 'Name dieses Einlasses', start: 'Los', none: 'Noch keine Veranstaltungen.', other: 'Andere Veranstaltung',
  code: 'Türcode', check: 'Prüfen', camera: 'Kamera benutzen', stop: 'Kamera aus', noCamera: 'Dieser Browser gibt der Seite keine Kamera. Tippe die Türcodes.', denied: 'Die Kamera wurde nicht erlaubt. Erlaube sie im Browser, oder tippe die Türcodes.',
  ready: 'Bereit', point: 'Halte die Kamera auf den Code, oder tippe den Türcode.', admitted: 'Willkommen', in: 'drin', left: 'kommen noch', tap: 'Berühren, um weiterzumachen', idCheck: 'Namen am Ausweis prüfen', offline: 'Nicht geprüft: keine Verbindung. Noch einmal.', unknown: 'Keine solche Karte',
  denied_duplicate: 'Schon benutzt', denied_cancelled: 'Karte wurde storniert', denied_expired: 'Code ist zu alt', denied_wrong_event: 'Karte einer anderen Veranstaltung', firstAt: (gate, time) => [gate, time].filter(Boolean).join(', '),
} satisfies Words;

export default words as Words;
