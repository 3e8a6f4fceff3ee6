import type { Words } from './words.en';

const words = {
  used: (when, gate) => (gate ? `Benutzt ${when}, Einlass ${gate}` : `Benutzt ${when}`), refunded: 'Zurückgegeben: gilt für niemanden', refundedSum: (sum, when) => (when ? `Zurückgegeben: ${sum} gingen am ${when} zurück. Gilt für niemanden` : `Zurückgegeben: ${sum} sind auf dem gleichen Weg unterwegs, meist 5 bis 10 Tage. Gilt für niemanden`), cancelled: 'Beendet: gilt für niemanden', expired: 'Vorbei', away: 'Weitergegeben: gehört jetzt jemand anderem', called: 'Die Veranstaltung ist abgesagt. Diese Karte gilt für niemanden; was bezahlt wurde, kommt auf dem gleichen Weg zurück.', stale: 'Keine Verbindung: Der QR-Code ist vielleicht zu alt. Der Türcode gilt.',
  offered: (to, until) => `Angeboten an ${to} bis ${until}. Bis sie genommen wird, gehört sie dir; ein Scan am Einlass beendet das Angebot.`, changes: 'Der Code erneuert sich alle 30 Sekunden.', renews: 'Zeit, bis sich der Code erneuert',
  download: 'Herunterladen', open: 'Öffnen', opening: 'Mit dem Öffnen endet dein Recht zu widerrufen.', ready: 'Geöffnet. Ist nichts zu sehen, nimm diesen Link:', linkLife: 'Der Link gilt 15 Minuten; einen neuen gibt es hier jederzeit.', begin: 'Kurs beginnen', signIn: 'Melde dich an für mehr: anderer Tag, Geld zurück, Nachricht an den Veranstalter',
  verbs: 'Was du tun kannst', pdf: 'PDF', calendar: 'Kalender', pass: 'Weitergeben', date: 'Anderer Tag', money: 'Geld zurück', withdraw: 'Widerrufen', message: 'Dem Veranstalter schreiben',
  until: (when) => `bis ${when}`, close: 'Schließen', fixed: 'Diese Karte lässt sich nicht weitergeben.', noMoney: 'Der Veranstalter nimmt sie nicht zurück.', late: 'Die Zeit, sie zurückzugeben, ist um.',
  passHint: 'Wir schicken einen Link, um sie zu nehmen. Sie ist deine, bis sie genommen wird, höchstens sieben Tage; bis dahin kannst du sie zurücknehmen.', toEmail: 'E-Mail des anderen', toName: 'Name (wenn du magst)', passGo: 'Weitergeben', passed: 'Unterwegs: Der Link ist verschickt.', takeBack: 'Zurücknehmen', tookBack: 'Zurückgenommen: Der Link tut nichts mehr.', tooLate: 'Sie wurde schon genommen, oder das Angebot ist vorbei.',
  moneyHint: 'Der Veranstalter entscheidet. Bis dahin gilt die Karte.', reason: 'Warum', moneyGo: 'Geld verlangen', moneyAsked: 'Verlangt. Du findest es unter Geld zurück; die Entscheidung kommt per Mail.', moneyOpen: 'Dieses Geld hast du schon verlangt.',
  dateHint: 'Wähle einen anderen Tag. Die Codes bleiben gleich.', dateGo: 'Diesen Tag nehmen', dateDone: 'Verlegt.',
  withdrawHint: (sum, until) => `Du bekommst ${sum} zurück, und die Bestellung endet sofort. Das geht bis ${until}, solange nichts geöffnet wurde.`, withdrawGo: (sum) => `Widerrufen und ${sum} zurückbekommen`, withdrawn: 'Widerrufen. Das Geld kommt auf dem gleichen Weg zurück.', withdrawNo: 'Dieser Kauf lässt sich nicht mehr widerrufen: Er wurde geöffnet, oder 14 Tage sind um.',
  messageHint: 'Die Antwort kommt per Mail und steht unter Meine Karten.', body: 'Nachricht', messageGo: 'Senden', messageSent: 'Gesendet.', needMail: 'Bitte nenne eine Adresse, die Post erreicht.', need: 'Bitte schreib etwas.',
} satisfies Words;

export default words as Words;
