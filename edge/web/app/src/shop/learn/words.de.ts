import { many } from '../../shared/words';
import type { Words } from './words.en';

export default {
  title: 'Kurs', mine: 'Meine Karten', signIn: 'Melde dich mit der Adresse an, für die der Kurs gekauft ist. Dann geht es weiter, wo du warst, auf jedem Gerät.',
  lessons: 'Lektionen', done: (n: number, of: number) => `${n} von ${many(of, '# Lektion', '# Lektionen')} erledigt`, isDone: 'erledigt', all: 'Alles erledigt',
  finish: 'Erledigt, weiter', finishLast: 'Erledigt', reopen: 'Doch nicht erledigt', next: 'Weiter', film: 'Film', watch: (host: string) => `Film ansehen bei ${host}`, read: 'Text öffnen', files: 'Dateien', pin: 'Zum Öffnen',
  failed: 'Der Film läuft nicht. Die Adresse gilt 15 Minuten, oder die Verbindung ist weg.', load: 'Neu laden',
  changed: 'Der Kurs hat sich geändert, seit du ihn abgeschlossen hast. Dein Zertifikat bleibt; was neu ist, ist offen.',
  ended: 'Dieser Kurs ist für dich nicht offen', endedHint: 'Zu dieser Adresse gibt es keine gültige Karte: Vielleicht wurde mit einer anderen gekauft, die Karte weitergegeben oder das Geld erstattet. Was du gelernt hast, bleibt gespeichert, falls du wiederkommst.', signedIn: (mail: string) => `Du bist als ${mail} angemeldet.`, see: 'Zum Kurs', other: 'Mit anderer Adresse anmelden',
  exam: {
    title: 'Prüfung', lead: (n: number, mark: number) => `${many(n, '# Frage', '# Fragen')}, eine nach der anderen. Mit ${mark} % ist sie bestanden. Du darfst es so oft versuchen, wie du magst.`, begin: 'Prüfung beginnen', once: 'Noch einmal', at: (n: number, of: number) => `Frage ${n} von ${of}`, back: 'Zurück', next: 'Weiter', give: 'Abgeben', choose: 'Wähle eine Antwort.',
    passed: (pct: number) => `Bestanden, mit ${pct} %`, not: (pct: number, mark: number) => `${pct} %: Zum Bestehen braucht es ${mark} %`, notHint: 'Sieh dir die Lektionen noch einmal an; verloren ist nichts.', right: 'richtig', wrong: 'nicht richtig', last: (pct: number) => `Letztes Mal: ${pct} %`, isPassed: 'Bestanden', first: 'Der Kurs ist abgeschlossen, wenn die Prüfung bestanden ist.', many: 'Zehn Versuche in der Stunde sind erlaubt. Warte eine Weile und gib dann wieder ab: Deine Antworten bleiben.', lessons: 'Zu den Lektionen',
  },
  certificate: { earned: 'Du hast den Kurs abgeschlossen', get: 'Zertifikat als PDF', show: 'Seite zum Teilen', none: 'Gut gemacht.', nameless: 'Wir kennen deinen Namen nicht; deine E-Mail-Adresse steht an seiner Stelle.', tell: 'Nenne uns deinen Namen und komm zurück' },
  check: {
    title: 'Zertifikat', holds: 'Dieses Zertifikat ist echt und gilt', ended: 'Dieses Zertifikat war echt und gilt nicht mehr', endedHint: 'Der Kauf, mit dem es erworben wurde, ist erstattet oder storniert.', unknown: 'Dieses Zertifikat gibt es nicht', unknownHint: 'Prüfe die Nummer noch einmal. Stimmt sie, so wurde das Zertifikat nicht hier ausgestellt.',
    completed: 'hat abgeschlossen', by: 'Ausgestellt von', on: 'Am', number: 'Nummer', qr: 'QR-Code mit der Adresse dieser Seite',
  },
} satisfies Words;
