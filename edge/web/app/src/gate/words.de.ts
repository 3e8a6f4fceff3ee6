import { many } from '../shared/words';
import type { Words } from './words.en';

const words = {
  trouble: { offline: 'Der Server ist nicht erreichbar. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal', request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Versuche. Warte einen Moment.', copy: 'Kopieren' },
  title: 'Einlass', signIn: 'Anmelden', mail: 'E-Mail', password: 'Passwort', second: 'Code des zweiten Faktors', key: 'API-Schlüssel dieses Geräts', useKey: 'Mit API-Schlüssel', useMail: 'Mit E-Mail anmelden', go: 'Weiter', out: 'Abmelden',
  event: 'Veranstaltung', number: 'Nummer der Veranstaltung', numberHint: 'Der Veranstalter sieht sie neben dem Titel.', gate: 'Name dieses Einlasses', start: 'Los', none: 'Noch keine Veranstaltungen.', other: 'Andere Veranstaltung',
  code: 'Türcode', check: 'Prüfen', camera: 'Kamera benutzen', stop: 'Kamera aus', noCamera: 'Dieser Browser gibt der Seite keine Kamera. Tippe die Türcodes.', denied: 'Die Kamera wurde nicht erlaubt. Erlaube sie im Browser, oder tippe die Türcodes.',
  ready: 'Bereit', point: 'Halte die Kamera auf den Code, oder tippe den Türcode.', admitted: 'Willkommen', in: 'drin', left: 'kommen noch', tap: 'Berühren, um weiterzumachen', idCheck: 'Namen am Ausweis prüfen', offline: 'Keine Verbindung.', unknown: 'Keine solche Karte',
  denied_duplicate: 'Schon benutzt', denied_cancelled: 'Karte wurde storniert', denied_expired: 'Code ist zu alt', denied_wrong_event: 'Karte einer anderen Veranstaltung', firstAt: (gate, time) => [gate, time].filter(Boolean).join(', '),
  opening: 'Wird geöffnet', leave: 'Verlassen', isGate: (gate, title) => `Dieses Gerät ist der Einlass ${[gate, title].filter(Boolean).join(', ')}.`, become: (gate, title) => `Ab jetzt: ${[gate, title].filter(Boolean).join(', ')}`, stay: 'So lassen', elsewhere: 'Dieser Einlass ist in einem anderen Tab offen.', here: 'Hier prüfen', notKept: 'Dieser Browser kann nicht behalten, was er entscheidet; darum kommt niemand hinein. Schaffe Platz, oder nimm einen anderen Browser.', noReader: 'Die Kamera kann hier keine Codes lesen. Tippe die Türcodes.',
  on: 'Online', off: 'Offline: entscheidet allein', connecting: 'Verbindet', noList: 'Noch keine Liste', freshList: 'Liste ist aktuell', list: (ago) => `Liste von ${ago}`, toSend: (n) => many(n, '# Einlass zu senden', '# Einlässe zu senden'), refused: 'Der Server weist dieses Gerät ab:', unsent: (n) => `${many(n, '# Einlass ist', '# Einlässe sind')} noch nicht gesendet. Bringe das Gerät erst online.`,
  alone: 'Offline entschieden', again: 'Dieselbe Karte, eben erst', undecided: 'Nicht entschieden', undecidedHint: 'Nur der Server kennt diesen Code. Scanne den QR-Code, oder suche ein Netz.', notDecided: 'Nicht entschieden', notYet: 'Für später gebucht', over: 'Gebuchte Zeit ist vorbei', printed: 'Gedruckte Codes gelten hier nicht', row: (row) => `Reihe ${row}`,
  last: 'Zuletzt:', notSent: 'noch nicht gesendet', undo: 'Zurücknehmen', leaveAnyway: 'Verlassen und vergessen', undoOffline: 'Um das zurückzunehmen, muss das Gerät online sein.', wrong: (n) => many(n, '# Person kam zu Unrecht hinein', '# Personen kamen zu Unrecht hinein'), letIn: (when) => `Hier eingelassen ${when}.`,
  guests: 'Gast suchen', guestName: 'Name, E-Mail oder Bestellnummer', search: 'Suchen', noGuests: 'Niemand mit diesem Namen.', notIn: 'noch nicht da', mayNot: 'Der Schlüssel dieses Geräts darf keine Gäste suchen.',
} satisfies Words;

export default words as Words;
