import { many } from '../shared/words';
import type { Words } from './words.en';

const words = {
  trouble: {
    offline: 'Der Server ist nicht erreichbar. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal',
    request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Anfragen aus deinem Netz. Warte einen Moment.', copy: 'Kopieren',
  },
  free: 'Kostenlos', soldOut: 'Ausverkauft', ended: 'Vorbei', cancelled: 'Abgesagt', soon: 'Bald',
  called: { off: 'Die Veranstaltung ist abgesagt und findet nicht statt.', unsold: 'Das wird nicht mehr verkauft.', why: 'Der Veranstalter schreibt:' },
  categories: {
    concerts: 'Konzerte', festivals: 'Festivals', nightlife: 'Nachtleben', theatre: 'Theater', comedy: 'Comedy', arts: 'Kunst', sports: 'Sport', conferences: 'Konferenzen', workshops: 'Workshops', food: 'Essen und Trinken', family: 'Familie', community: 'Nachbarschaft', reservations: 'Nach Tag',
    'online-course': 'Kurse', 'digital-product': 'Digitales', 'e-books': 'E-Books', 'downloadable-files': 'Dateien', 'online-service': 'Online-Dienste', other: 'Anderes',
  },
  home: {
    title: 'Was läuft', search: 'Suche', placeholder: 'Künstler, Veranstaltung oder Ort', find: 'Suchen', all: 'Alles', fees: 'Alle Preise sind mit Gebühren.',
    none: 'Nichts gefunden.', loosen: 'Versuche es mit weniger Wörtern, oder sieh dir alles an.', everything: 'Alles zeigen', more: 'Mehr zeigen', loading: 'Lädt',
    empty: 'Noch ist nichts im Verkauf.', emptyHint: 'Veranstalter bringen ihre Veranstaltungen auf ihren eigenen Seiten in den Verkauf.', when: 'Wann', any: 'Jeden Tag', week: 'Nächste 7 Tage', month: 'Nächste 30 Tage',
    results: (n) => many(n, '# Veranstaltung', '# Veranstaltungen'),
  },
  event: {
    tickets: 'Karten', choose: 'Plätze wählen', seatsHint: 'Du wählst auf einem lebendigen Plan; die Plätze bleiben dir, solange du schaust.', total: 'Summe', fees: 'mit Gebühren', noFees: 'ohne Gebühren',
    next: 'Weiter', left: (n) => many(n, 'die letzte', 'noch #'), fewer: (name) => `Eine weniger: ${name}`, more: (name) => `Eine mehr: ${name}`,
    opens: (when) => `Verkauf ab ${when}`, closed: 'Verkauf beendet', until: (when) => `Verkauf bis ${when}`, code: 'Braucht einen Vorverkaufscode',
    about: 'Worum es geht', schedule: 'Ablauf', organizer: 'Veranstalter', questions: 'Fragen', where: 'Wo', doors: (t) => `Einlass ${t}`, online: 'Online', map: 'Auf der Karte', verified: 'Geprüfter Veranstalter',
    website: 'Website', powered: 'Karten über', none: 'Keine Karten im Verkauf.', gone: 'Diese Veranstaltung gibt es hier nicht', goneHint: 'Die Adresse stimmt nicht, oder die Veranstaltung ist nicht mehr öffentlich.', home: 'Was läuft', pick: 'Wähle, wie viele', returns: 'Rückgabe', always: 'Sofort für dich', lineup: 'Wer dabei ist', pictures: 'Bilder', share: 'Teilen', copied: 'Die Adresse ist kopiert.', report: 'Veranstaltung melden', film: (host) => `Film ansehen bei ${host}`,
  },
  booking: {
    date: 'Tag', before: 'Monat davor', after: 'Monat danach', full: 'Ausgebucht', closed: 'Geschlossen', left: (n) => many(n, 'noch # Platz', 'noch # Plätze'),
    pick: 'Wähle einen Tag', pickSlot: 'Wähle Tag und Zeit', none: 'Zurzeit lässt sich nichts buchen: Alle Tage sind vergeben oder geschlossen.', zone: (zone) => `Tage und Zeiten gelten in ${zone}.`,
    short: (n) => many(n, 'Zu dieser Zeit ist nur noch # Platz frei.', 'Zu dieser Zeit sind nur noch # Plätze frei.'), gone: 'Diese Zeit ist inzwischen ausgebucht.',
    unavailable: (date, reason) => reason === 'closed' ? `Geschlossen: ${date}.` : reason === 'past' ? `Zu spät zum Buchen: ${date}.` : reason === 'too_far' ? `Noch nicht zu buchen: ${date}.` : 'Diese Zeit wird nicht mehr angeboten.',
    oneAtATime: 'Eine Bestellung gilt hier für eine Person.', most: (max, has, date) => `Je Kunde gibt es höchstens ${max} (${date})${has ? `; du hast schon ${has}` : ''}.`, anew: 'Tag oder Anzahl neu wählen',
  },
  checkout: {
    title: 'Kasse', back: 'Zurück zur Veranstaltung', tickets: 'Karten', you: 'Du', name: 'Name', mail: 'E-Mail', mailHint: 'Dorthin gehen die Karten.', payment: 'Zahlung',
    code: 'Ich habe einen Code', promo: 'Rabattcode', presale: 'Vorverkaufscode', pay: (sum) => `${sum} zahlen`, get: 'Karten holen', total: 'Summe', empty: 'Nichts gewählt.',
    backSeats: 'Zurück zu den Plätzen', seatsHeld: (time) => `Deine Plätze bleiben dir noch ${time}.`, heldLeft: 'Zeit, die dir die Plätze bleiben', seatsOver: 'Die Zeit für deine Plätze ist um. Vielleicht sind sie noch frei: Wähle sie neu.', seatsGone: 'Einer deiner Plätze gehört inzwischen jemand anderem. Wähle einen anderen.',
    apply: 'Einlösen', applied: (off) => `Der Code nimmt ${off} weg.`,
    codes: {
      CODE_NOT_FOUND: 'Diesen Code gibt es für diese Veranstaltung nicht.', NOT_YET_ACTIVE: 'Dieser Code gilt noch nicht.', EXPIRED: 'Dieser Code gilt nicht mehr.', MAX_USES_REACHED: 'Dieser Code ist aufgebraucht.',
      BELOW_MIN_ORDER: 'Für diesen Code ist die Bestellung zu klein.', NOT_APPLICABLE_TO_THESE_TICKETS: 'Dieser Code gilt für andere Karten.',
    },
    admitted: (time) => `Du bist dran: Bestellen kannst du noch ${time}.`, admittedOver: 'Deine Zeit zum Bestellen ist um. Die Bestellung führt zurück in den Warteraum.', shared: 'Mit diesem Platz hat schon jemand anderes bestellt. Bestelle mit der E-Mail-Adresse, mit der du dich eingetragen hast.',
    nothing: 'Es ist nichts zu zahlen.', busy: 'Einen Moment', summary: 'Hier fehlt noch etwas:',
    held: (n) => `Deine Karten bleiben dir von hier an ${n} Minuten.`,
    short: 'Es sind weniger da, als du willst. Wähle neu.', needName: 'Bitte nenne deinen Namen.', needMail: 'Bitte nenne eine Adresse, die Post erreicht.', resumed: 'Du hast eine offene Bestellung für diese Veranstaltung.', resume: 'Zur Bestellung',
  },
  pay: {
    how: 'Wie du zahlst', card: 'Bankkarte', cardHint: (name) => `und was ${name} sonst anbietet; du zahlst dort und kommst hierher zurück`, coins: 'Krypto', coinsHint: (minutes) => `Bitcoin und andere, binnen ${minutes} Minuten an eine Adresse gesendet`,
    coin: 'Münze', none: (currency) => `In ${currency} lässt sich gerade nichts zahlen. Frage bitte den Veranstalter.`, on: (network) => `Nur im Netz ${network}: Was in einem anderen gesendet wird, ist verloren.`,
    memo: 'Mit diesem Vermerk (memo, tag)', arrived: (have, of, coin) => `${have} von ${of} ${coin} sind da.`, address: 'QR-Code der Adresse', other: 'Anders zahlen', timeLeft: 'Zeit zum Zahlen',
  },
  transfer: {
    title: 'Überweisung', hint: (days) => `auf das Konto des Veranstalters, binnen ${days === 1 ? 'eines Tages' : `${days} Tagen`}; die Karten kommen, wenn das Geld da ist`,
    todo: 'Bitte überweise das Geld', todoHint: (until) => `Deine Karten bleiben dir bis ${until}: Bis dahin muss das Geld da sein.`,
    holder: 'Kontoinhaber', account: 'IBAN oder Konto', bic: 'BIC', amount: 'Betrag', reference: 'Verwendungszweck', copy: 'Kopieren', copied: 'Kopiert',
    alone: 'Schreibe nur diesen Verwendungszweck: An ihm erkennen wir deine Überweisung.', qr: 'QR-Code der Überweisung', qrHint: 'Die meisten Banking-Apps lesen diesen Code (GiroCode) und füllen die Überweisung aus.',
    sent: 'Ich habe überwiesen', waits: 'Wir warten auf dein Geld', waitsHint: (until) => `Du hast uns gesagt, dass es unterwegs ist. Bis ${until} muss es da sein.`,
    part: (have, of) => `${have} von ${of} sind da. Bitte überweise den Rest mit demselben Verwendungszweck.`, after: 'Eine Überweisung dauert ein, zwei Tage, und wir schicken dir die Karten.',
  },
  payLink: { ask: 'Jemand anderen bezahlen lassen', copied: 'Der Link ist kopiert.', hint: 'Wer den Link hat, sieht Posten und Summe und kann bezahlen. Die Karten bekommst du.' },
  moreTime: { ask: 'Mehr Zeit', given: 'Du hast jetzt mehr Zeit.', none: 'Mehr Zeit gibt es dafür nicht.' },
  order: {
    number: (n) => `Bestellung ${n}`, loading: 'Deine Bestellung wird gesucht', done: 'Deine Karten', doneHint: (mail) => `Das geht auch an ${mail}.`, yours: 'Deine Bestellung', bought: 'Es gehört dir', print: 'Drucken', door: 'Türcode', row: 'Reihe', seat: 'Platz',
    noKey: 'Öffne die Bestellung über den Link in unserer Mail', noKeyHint: 'Dieser Browser hat nicht, was diese Bestellung öffnet. Die Mail, die wir nach der Bestellung schicken, enthält den Link. Hast du gerade anderswo gezahlt, so zählt die Zahlung; die Mail kommt in wenigen Minuten.',
    none: 'Dieser Link öffnet keine Bestellung', noneHint: 'Er ist unvollständig oder zu alt. Die neueste Mail zur Bestellung hat einen guten.',
    pending: 'Noch nicht bezahlt', pendingHint: (time) => `Deine Karten bleiben dir noch ${time}.`, payNow: (sum) => `${sum} zahlen`, cancel: 'Karten zurückgeben', cancelSure: 'Sicher? Andere können sie dann nehmen.', cancelYes: 'Ja, zurückgeben', keepThem: 'Behalten',
    checking: 'Wir prüfen deine Zahlung', checkingHint: 'Diese Seite sieht von selbst wieder nach. Du musst nicht zweimal zahlen: Ist die Zahlung da, steht es hier, und wir schreiben dir.',
    openHint: (time) => `Beim Zahlungsdienst ist bisher nichts von dir eingegangen. Hast du gerade gezahlt, warte einen Moment: diese Seite sieht von selbst wieder nach. Wenn nicht, zahle jetzt: deine Karten bleiben dir noch ${time}.`,
    slow: 'Noch keine Nachricht vom Zahlungsdienst', slowHint: 'Hast du gezahlt, so ist dein Geld sicher: wir fragen weiter und schreiben dir. Wenn nicht, kannst du jetzt zahlen.',
    failed: 'Die Zahlung hat nicht geklappt', failedHint: (time) => `Deine Karten bleiben dir noch ${time}. Du kannst es noch einmal versuchen.`, expired: 'Die Zeit zum Zahlen ist um', expiredHint: 'Die Karten sind wieder im Verkauf. Wurde trotzdem abgebucht, so kommt das Geld von selbst zurück.',
    cancelled: 'Diese Bestellung wurde storniert', cancelledHint: 'Du schuldest nichts. Kommt dafür noch Geld von dir an, geht es von selbst an dich zurück.',
    again: 'Neu wählen', total: 'Summe', fees: 'Gebühren', discount: 'Rabatt',
    send: (sum, coin) => `Sende ${sum} ${coin} an`, qr: (name) => `QR-Code der Karte ${name}`, items: 'Was du bestellt hast',
  },
  claim: {
    title: 'Eine Karte für dich', hint: 'Jemand gibt eine Karte an dich weiter. Nimm sie an, und sie gilt für dich und sonst niemanden.', take: 'Karte annehmen',
    done: 'Die Karte gehört dir', doneHint: (mail) => `Wir schicken sie an ${mail}. Bring die Mail mit, oder nenne den Türcode.`, event: 'Zur Veranstaltung',
    over: 'Diese Karte wird nicht mehr angeboten', overHint: 'Sie wurde schon angenommen, zurückgenommen, am Einlass benutzt oder nicht binnen sieben Tagen angenommen. Hast du sie angenommen, so steht sie in unserer Mail.',
    none: 'Dieser Link öffnet keine Karte', noneHint: 'Er ist vielleicht unvollständig. Öffne ihn noch einmal aus der Mail, oder frage, wer dir die Karte geschickt hat.',
  },
  waitlist: {
    title: 'Du stehst auf der Warteliste', hint: 'Wenn unsere Mail sagt, dass Karten für dich bereitliegen, nimm sie hier, bevor die Zeit in der Mail um ist.', take: 'Karten nehmen',
    leave: 'Warteliste verlassen', sure: 'Sicher? Du verlierst deinen Platz und was für dich bereitliegt.', yes: 'Ja, verlassen', stay: 'Bleiben',
    waiting: 'Du bist noch nicht dran', waitingHint: 'Dein Platz bleibt dir. Sobald Karten für dich frei werden, schreiben wir dir.',
    expired: 'Die Zeit, die Karten zu nehmen, ist um', expiredHint: 'Sie sind an die Nächsten gegangen.',
    left: 'Du stehst nicht mehr auf der Warteliste', leftHint: 'Wir schicken dir dazu nichts mehr.',
    over: 'Die Karten sind nicht mehr im Verkauf', overHint: 'Der Verkauf ist beendet, oder die Veranstaltung ist abgesagt.',
    none: 'Dieser Link öffnet keine Warteliste', noneHint: 'Er ist vielleicht unvollständig. Öffne ihn noch einmal aus der Mail.',
    join: 'Auf die Warteliste', joinHint: 'Werden Karten frei, halten wir sie eine Weile für dich bereit und schreiben dir. Bis dahin zahlst du nichts.', count: 'Wie viele (1 bis 10)', needCount: 'Bitte wähle eine Zahl von 1 bis 10.',
    asked: 'Noch ein Schritt', confirm: (mail) => `Öffne die Mail, die wir eben an ${mail} geschickt haben, und bestätige dort: Ab dann wartest du.`,
    joined: (place, mail) => `Du bist Nummer ${place} in der Reihe. Wir schreiben an ${mail}, wenn Karten frei werden; mit der Mail, die eben abgeht, kannst du die Reihe auch verlassen.`,
    offered: (mail) => `Für dich liegen Karten bereit: Der Link dazu steht in unserer Mail an ${mail}.`,
    free: 'Inzwischen sind Karten frei geworden.', closed: 'Auf diese Karten kann niemand mehr warten.', anew: 'Seite neu laden',
  },
} satisfies Words;

export default words as Words;
