import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  trouble: {
    offline: 'Der Server ist nicht erreichbar. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal',
    request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Anfragen aus deinem Netz. Warte einen Moment.', copy: 'Kopieren',
  },
  title: 'Die Verlosung prüfen', hint: 'Hier rechnet dein Browser. Vom Server nimmt er nur das Dokument und den Nachweis, und beides prüft er.', none: 'Noch gibt es keine Verlosung', noneHint: 'Der Fingerabdruck der Liste wird hier veröffentlicht, wenn die Liste schließt.', loading: 'Die Verlosung wird gesucht', event: 'Zur Veranstaltung', room: 'Zum Warteraum',
  document: 'Was veröffentlicht wurde', number: (n) => `Verlosung ${n}`, entries: (n) => many(n, '# Eintrag', '# Einträge'), count: 'Einträge', classes: 'Davon nachgewiesen', proven: (none, address, account) => `${address} E-Mail-Adressen, ${account} Konten, ${none} nichts`,
  closed: 'Liste geschlossen', opened: 'Verkauf ab', root: 'Fingerabdruck der Liste', round: 'Öffentliche Zufallszahl', roundOf: (n) => `Runde ${n}`, waiting: 'Noch nicht bekannt', signer: 'Schlüssel des Betreibers', raw: 'Das ganze Dokument, zum Aufheben',
  yours: 'Dein Platz', receipt: 'Dein Beleg', receiptHint: 'Er steht schon da, wenn du dich in diesem Browser eingetragen hast. Sonst füge ihn ein.', check: 'Prüfen', checking: 'Es wird geprüft', place: 'Dein Platz, wie dein Browser ihn findet', notYet: 'Die Liste ist geschlossen, und du stehst darauf. Dein Platz folgt aus der öffentlichen Zufallszahl, die noch nicht bekannt ist.',
  good: 'Stimmt', bad: 'Falsch', unknown: 'Nicht geprüft',
  checks: {
    root: 'Der Fingerabdruck der Liste ist der, den dieser Browser beim Schließen der Liste bekam', counted: 'Die Zahlen gehen auf', signed: 'Der Betreiber hat unterschrieben, was veröffentlicht wurde', round: 'Die Zufallszahl war noch nicht bekannt, als die Liste schloss',
    receipt: 'Der Betreiber hat deinen Beleg unterschrieben', draw: 'Der Beleg gilt für diese Verlosung', under: 'Dein Eintrag steht auf der Liste', beacon: 'Die Zufallszahl ist die öffentliche', witness: 'Ein Zeuge von außen sah den Fingerabdruck, bevor die Zufallszahl bekannt war',
  },
  why: {
    root: 'Dieser Browser war nach dem Schließen der Liste nicht auf der Seite des Warteraums.', signed: 'Dieser Browser kann Ed25519-Unterschriften nicht prüfen, ein neuerer schon.', round: 'Sie kommt nicht aus dem öffentlichen Netz von drand.', receipt: 'Dieser Browser kann Ed25519-Unterschriften nicht prüfen, ein neuerer schon.',
    beacon: 'Ihre Unterschrift kann ein Browser nicht prüfen. Vergleiche sie mit der, die das öffentliche Netz zeigt:', test: 'Probelauf: Der Betreiber kann die Zufallszahl vorher kennen, und die Verlosung beweist nichts.',
    witness: 'Sein Zeitstempel gehört zu dieser Verlosung. Wann er unterschrieben wurde und von wem, kann ein Browser nicht prüfen, das Programm unten schon.',
  },
  not: { witness: 'Sein Zeitstempel gehört zu etwas anderem.', receipt: 'Er ist nicht ganz, oder nicht von diesem Betreiber.', draw: 'Er gilt für eine andere Veranstaltung oder eine andere Verlosung.' },
  relay: 'Bei drand ansehen', noReceipt: 'Das ist kein Beleg. Kopiere ihn ganz, von der Seite des Warteraums.', fraud: 'Bewahre den Beleg und dieses Dokument auf: Zusammen beweisen sie, dass etwas nicht stimmt. Sage es dem Veranstalter.', insecure: 'Diese Seite kam ohne Verschlüsselung, darum rechnet der Browser hier nicht. Öffne sie mit https.',
  program: 'Mit einem eigenen Programm', programHint: 'Dokument, Beleg und Nachweis genügen. Die Formate sind beim Quelltext beschrieben, in docs/waiting-room.md; damit lassen sie sich prüfen:',
} satisfies Words;

export default words;
