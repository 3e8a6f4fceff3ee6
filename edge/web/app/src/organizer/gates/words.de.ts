import type { Words } from './words.en';

const words = {
  add: 'Einlassgerät hinzufügen', gate: 'Name des Einlasses', gateHint: 'Wie deine Leute ihn nennen: Nord, Bühneneingang.', also: 'Auch bei anderen Veranstaltungen', guests: 'Es darf Gäste nach Namen suchen', guestsHint: 'Wer das Gerät hat, liest dann, wer die Gäste dieser Veranstaltungen sind.', make: 'Code zeigen',
  scan: 'Öffne die Kamera des Geräts und scanne dies. Das Gerät entscheidet dann, wen es einlässt, auch ohne Netz.', qr: (gate) => `QR-Code, der ein Gerät zum Einlass ${gate} macht`, secret: 'Der Code gilt für ein Gerät. Zeig ihn niemandem sonst.', waiting: (when) => `Wartet auf ein Gerät. Der Code gilt bis ${when}.`, isUsed: (gate) => `Der Code wurde benutzt: Ein Gerät ist jetzt der Einlass ${gate}. Ist es nicht deines, widerrufe es.`, isOver: 'Der Code ist abgelaufen: Niemand hat ihn innerhalb von zehn Minuten benutzt.', link: 'Oder öffne diesen Link auf dem Gerät', copy: 'Link kopieren', another: 'Noch ein Gerät', noKey: 'Nur Inhaber und Admins der Organisation können Geräte hinzufügen.',
  devices: 'Einlassgeräte', since: (when) => `Seit ${when}`, used: (when) => `zuletzt benutzt ${when}`, unused: 'noch nicht benutzt', revoke: 'Widerrufen', revokeSure: (gate) => `Das Gerät des Einlasses ${gate} lässt dann niemanden mehr ein. Was es ohne Netz entschieden und nicht gesendet hat, fehlt in den Zahlen.`, revoked: 'Widerrufen.', more: 'Mehr Geräte',
} satisfies Words;

export default words as Words;
