import type { Words } from './words.en';

const words = {
  add: 'Einlassgerät hinzufügen', gate: 'Name des Einlasses', gateHint: 'Wie deine Leute ihn nennen: Nord, Bühneneingang.', guests: 'Es darf Gäste nach Namen suchen', guestsHint: 'Wer das Gerät hat, liest dann, was die Organisation von ihren Gästen weiß, bei allen Veranstaltungen.', make: 'Code zeigen',
  scan: 'Öffne die Kamera des Geräts und scanne dies. Das Gerät entscheidet dann, wen es einlässt, auch ohne Netz.', qr: (gate) => `QR-Code, der ein Gerät zum Einlass ${gate} macht`, secret: 'Wer diesen Code hat, kann bei allen Veranstaltungen der Organisation Gäste einlassen, bis er endet: Zeig ihn nur dem Gerät. Er wird nur dieses Mal gezeigt.', ends: (when) => `Er gilt bis ${when}. Soll er früher enden, widerrufe seinen Schlüssel in den Einstellungen.`, link: 'Oder öffne diesen Link auf dem Gerät', copy: 'Link kopieren', another: 'Noch ein Gerät', noKey: 'Nur Inhaber und Admins der Organisation können Geräte hinzufügen.',
} satisfies Words;

export default words as Words;
