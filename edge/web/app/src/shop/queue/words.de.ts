import { many } from '../../shared/words';
import type { Words } from './words.en';

const words = {
  trouble: {
    offline: 'Der Server ist nicht erreichbar. Dein Platz bleibt dir. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal',
    request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Anfragen aus deinem Netz. Du verlierst nichts: Die Seite fragt von selbst wieder.', copy: 'Kopieren',
  },
  room: 'Warteraum', event: 'Zur Veranstaltung', gone: 'Diese Veranstaltung gibt es hier nicht', goneHint: 'Die Adresse stimmt nicht, oder die Veranstaltung ist nicht mehr öffentlich.', home: 'Was läuft', loading: 'Der Warteraum wird gesucht',
  none: 'Hier wartet niemand', noneHint: 'Diese Veranstaltung hat keinen Warteraum. Du kannst gleich Karten wählen.', over: 'Der Warteraum ist geschlossen', overHint: 'Niemand muss mehr warten. Wer kommt, kann Karten wählen, solange es welche gibt.',
  before: 'Der Warteraum öffnet bald', beforeHint: (when) => `Eintragen kannst du dich ab ${when}. Diese Seite wird dann von selbst zum Formular.`, opensIn: 'Öffnet in',
  join: 'In den Warteraum', joinDraw: 'Es ist gleich, wann du kommst: Die Plätze werden unter allen verlost, die da sind, bevor die Liste schließt.', joinArrival: 'Die Plätze gehen der Reihe nach. Deiner bleibt dir, auch wenn du die Seite schließt.',
  joinLate: 'Die Liste für die Verlosung ist geschlossen. Trägst du dich jetzt ein, so stehst du hinter allen verlosten Plätzen.', closesIn: 'Die Liste schließt in', startsIn: 'Der Verkauf beginnt in',
  party: 'Wie viele seid ihr?', partyHint: 'Ihr werdet zusammen eingelassen. Das lässt sich später nicht ändern.', people: (n) => many(n, '# Person', '# Personen'), go: 'Eintragen', busy: 'Einen Moment', working: 'Dein Gerät rechnet einige Sekunden',
  mail: 'E-Mail-Adresse', mailProves: 'Hier hat jeder einen Eintrag. Wir mailen dir einen Link, und sobald du ihn benutzt hast, bist du dabei.', mailMe: 'Link mailen', mailIfWanted: 'E-Mail-Adresse (freiwillig)', mailMoves: 'Wir mailen dir den Link zu deinem Platz, für andere Geräte.',
  mailed: 'Sieh in deine Mails', mailedHint: (email) => `Wir haben einen Link an ${email} gemailt. Du bist dabei, sobald du ihn öffnest und den Knopf drückst, nicht vorher. Kommt keine Mail, so versuche es in fünf Minuten noch einmal.`, notMailed: 'Noch einmal bitten',
  invited: 'Das ist der Link aus deiner Mail. Ein Druck, und du bist dabei. Auf deinen anderen Geräten zeigt er denselben Platz.', ranOut: 'Dieser Link gilt nicht mehr. Bitte um einen neuen.',
  signIn: 'Anmelden, dann eintragen', signInHint: 'Hier hat jedes Konto einen Eintrag. Melde dich mit einem Code an, den wir dir mailen; danach bist du wieder auf dieser Seite.', prove: 'Deine E-Mail-Adresse ist noch nicht bestätigt. Melde dich mit einem gemailten Code an, dann ist sie es.', address: 'Bestelle später mit derselben E-Mail-Adresse.',
  entered: 'Du hast dich schon eingetragen. Öffne den Link zu deinem Platz aus deiner ersten Mail oder aus dem anderen Browser.', refusedOver: 'Der Warteraum ist eben zu Ende gegangen. Niemand muss mehr warten.', refusedNotOpen: 'Noch kann sich niemand eintragen.', refusedFull: 'In diese Reihe kann sich niemand mehr eintragen.',
  in: 'Du bist dabei', inHint: 'Es ist gleich, wann du gekommen bist. Du kannst die Seite schließen: Dein Platz bleibt in diesem Browser.', inArrival: 'Dein Platz bleibt in diesem Browser, auch wenn du die Seite schließt.', count: (n) => many(n, 'bisher # Eintrag', 'bisher # Einträge'),
  closed: 'Die Liste ist geschlossen', closedHint: 'In wenigen Minuten werden die Plätze verlost, mit einer öffentlichen Zufallszahl, die noch niemand kennt.', voided: 'Bleibt diese Zahl aus, so gehen die Plätze der Reihe nach.',
  drawn: 'Die Plätze sind verlost', waiting: 'Du stehst in der Reihe', next: 'Du bist als Nächstes dran', place: 'Dein Platz', ahead: (n) => many(n, '# Eintrag vor dir', '# Einträge vor dir'), nobody: 'Niemand ist vor dir', progress: 'Wie weit die Reihe ist',
  wait: (range) => `Etwa ${range}`, waitTitle: 'Voraussichtlich noch', soon: 'Jeden Moment', unknown: 'Lässt sich gerade nicht sagen', minutes: (a, b) => (a === b ? `${b} Min.` : `${a} bis ${b} Min.`), hours: (a, b) => (a === b ? `${b} Std.` : `${a} bis ${b} Std.`), days: 'Mehr als ein Tag',
  stays: 'Dein Platz wird nie schlechter. Du verlierst ihn nicht, wenn du die Seite schließt oder neu lädst, ein Code falsch ist oder eine Zahlung scheitert.',
  paused: 'Pause', pausedHint: 'Der Veranstalter hat den Einlass angehalten. Alle behalten ihren Platz.', draining: 'Niemand kann sich mehr eintragen. Wer in der Reihe steht, wird noch eingelassen.',
  sale: 'Noch im Verkauf', free: 'Frei', priced: (from, to) => (from === to ? from : `${from} bis ${to}`), cheapest: 'Die günstigsten Karten sind weg.', soldOut: 'Im Moment ist nichts im Verkauf. Was andere nicht bezahlen, kommt zurück.',
  admitted: 'Du bist dran', admittedHint: 'Bestelle, bevor die Zeit um ist. Was du bis dahin bestellt hast, kannst du auch danach noch bezahlen.', shop: 'Karten wählen', back: 'Zurück zu deiner Bestellung', left: 'Zeit zum Bestellen', minutesLeft: (n) => many(n, 'Noch # Minute', 'Noch # Minuten'),
  expired: 'Deine Zeit zum Bestellen ist um', expiredHint: 'Was du rechtzeitig bestellt hast, kannst du noch bezahlen. Für alles andere brauchst du einen neuen Platz.', again: 'Neu eintragen', full: 'Niemand kann sich mehr eintragen', fullHint: 'Die Reihe geht zu Ende. Sind alle eingelassen, die in ihr stehen, kann jeder bestellen.',
  rules: 'So geht es', ruleDraw: (from, to) => `Trage dich zwischen ${from} und ${to} ein. Die erste Sekunde zählt nicht mehr als die letzte.`, ruleLottery: 'Dann verlost eine öffentliche Zufallszahl die Plätze. Auch wir können sie nicht wählen, und du kannst deinen Platz nachprüfen.', ruleArrival: (from) => `Trage dich ab ${from} ein. Wer zuerst kommt, wird zuerst eingelassen.`,
  ruleFirst: 'Wer zuerst kommt, wird zuerst eingelassen.', ruleOpens: (when) => `Die Ersten werden um ${when} eingelassen.`, ruleRate: (n, minutes) => `Etwa ${n} Einträge in der Minute werden eingelassen. Dann ist ${many(minutes, '# Minute', '# Minuten')} Zeit zum Bestellen.`, ruleParty: (n) => `Ein Eintrag kann für bis zu ${n} Personen gelten.`, ruleProof: { none: '', address: 'Jeder hat einen Eintrag: Dazu braucht es eine bestätigte E-Mail-Adresse.', account: 'Jeder hat einen Eintrag: Dazu braucht es ein Konto.' },
  check: 'Die Verlosung selbst nachprüfen', test: 'Probelauf: Die Zufallszahl ist nicht öffentlich, und die Verlosung beweist nichts.',
  move: 'Auf einem anderen Gerät', moveHint: 'Dieser Link ist dein Platz. Wer ihn hat, kann ihn benutzen: Zeig ihn niemandem.', copyLink: 'Link kopieren', copied: 'Der Link ist kopiert.', qr: 'QR-Code des Links zu deinem Platz',
  proof: 'Dein Beleg', proofHint: 'Mit dem Beleg und dem Fingerabdruck der Liste kannst du die Verlosung prüfen, ohne uns zu trauen. Beides bleibt in diesem Browser.', copyReceipt: 'Beleg kopieren', root: 'Fingerabdruck der Liste',
  fraud: 'Die Liste hat sich geändert, nachdem sie geschlossen war. Das darf nicht sein. Bewahre beide Fingerabdrücke auf und sage es dem Veranstalter:',
} satisfies Words;

export default words;
