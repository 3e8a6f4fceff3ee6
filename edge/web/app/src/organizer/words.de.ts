import { many } from '../shared/words';
import type { Words } from './words.en';

const words = {
  title: 'Veranstalter', loading: 'Lädt', back: 'Zurück', nowhere: 'Diese Seite gibt es nicht', no: 'Nein, so lassen', save: 'Speichern', saved: 'Gespeichert.', more: 'Mehr zeigen', close: 'Schließen', search: 'Suchen', all: 'Alle', copy: 'Kopieren', copied: 'Kopiert.', add: 'Hinzufügen', remove: 'Entfernen', of: (a, b) => `${a} von ${b}`,
  trouble: { offline: 'Der Server ist nicht erreichbar. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal', request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Anfragen. Warte einen Moment.', copy: 'Kopieren' },
  nav: { overview: 'Start', events: 'Events', orders: 'Käufe', refunds: 'Rückgaben', inbox: 'Post', customers: 'Kunden', settings: 'Konto' },
  overview: {
    title: 'Überblick', begin: 'Drei Schritte, bis du verkaufst', make: 'Ein Event anlegen', tickets: 'Karten hinzufügen', done: 'erledigt', today: 'heute bezahlte Bestellungen', sold: 'Karten insgesamt', paid: 'dein, zur Auszahlung', held: 'zurückgehalten, bis die Events vorbei sind',
    needs: 'Braucht dich', calm: 'Niemand wartet auf dich.', next: 'Im Verkauf',
    refunds: (n: string) => `Verlangte Rückzahlungen: ${n}`, messages: (n: string) => `Nachrichten ohne Antwort: ${n}`, reports: (n: string) => `Meldungen von Käufern: ${n}`,
  },
  enter: {
    inTitle: 'Anmelden', upTitle: 'Karten verkaufen', organization: 'Name deiner Organisation', organizationHint: 'Käufer sehen ihn bei deinen Events.', mail: 'E-Mail', password: 'Passwort', passwordHint: 'Mindestens 8 Zeichen.',
    second: 'Code des zweiten Faktors', key: 'API-Schlüssel', useKey: 'Mit API-Schlüssel', useMail: 'Mit E-Mail anmelden', go: 'Anmelden', up: 'Konto eröffnen', toUp: 'Konto eröffnen', toIn: 'Ich habe ein Konto', forgot: 'Passwort vergessen?', sendLink: 'Link schicken', mailed: 'Wir haben dir eine Mail mit einem Link geschickt.',
    out: 'Abmelden', choose: 'Organisation', nobody: 'Du gehörst zu keiner Organisation. Bitte jemanden, dem sie gehört, dich aufzunehmen, oder eröffne ein eigenes Konto.',
    prove: (mail) => `Öffne den Link, den wir an ${mail} geschickt haben: Er beweist, dass das Postfach deines ist.`, proveAgain: 'Noch einmal schicken', proved: 'Ist geschehen', proveFirst: 'Öffne den Link in der Mail, die du zur Anmeldung bekommen hast, und versuche es dann noch einmal.',
    trouble: { offline: 'Der Server ist nicht erreichbar. Prüfe die Verbindung und versuche es noch einmal.', again: 'Noch einmal', request: 'Wenn du um Hilfe bittest, nenne diese Anfrage:', wait: 'Zu viele Versuche. Warte einen Moment.', copy: 'Kopieren' },
  },
  issues: { required: 'Fehlt.', null: 'Darf nicht leer sein.', min_length: 'Ist zu kurz.', max_length: 'Ist zu lang.', minimum: 'Ist zu klein oder zu früh.', maximum: 'Ist zu groß oder zu spät.', enum: 'Ist keine der Möglichkeiten.', format: 'Hat nicht die richtige Form.', type: 'Hat nicht die richtige Form.', decimals: 'Hat zu viele Nachkommastellen.', min_items: 'Das sind zu wenige.', max_items: 'Das sind zu viele.', unsupported: 'Geht hier nicht.', duplicate: 'Kommt doppelt vor.' },
  fields: {
    opensAt: 'Einlass', registersFrom: 'Eintragen', admitPerMinute: 'Tempo', holdMinutes: 'Minuten zum Bestellen', partyMax: 'Personen je Eintrag',
    title: 'Titel', category: 'Kategorie', startDate: 'Beginn', endDate: 'Ende', doorOpenTime: 'Einlass', timezone: 'Zeitzone', description: 'Beschreibung', shortDesc: 'In einer Zeile', venueName: 'Ort', venueAddress: 'Adresse', venueCity: 'Stadt', venueCountry: 'Land',
    onlineLink: 'Link', coverImage: 'Bild', currency: 'Währung', name: 'Name', price: 'Preis', quantityTotal: 'Anzahl', saleStart: 'Verkauf ab', saleEnd: 'Verkauf bis', maxPerOrder: 'Höchstens je Bestellung', maxPerCustomer: 'Höchstens je Käufer', ticketTypes: 'Karten', email: 'E-Mail', password: 'Passwort', organizationName: 'Name deiner Organisation', amount: 'Betrag', reason: 'Grund', url: 'Adresse', events: 'Ereignisse', scopes: 'Darf', presaleCode: 'Vorverkaufscode', file: 'Datei',
    code: 'Code', discountType: 'Rabatt', discountValue: 'Wie viel', validFrom: 'Gilt ab', validUntil: 'Gilt bis', maxUses: 'Wie oft insgesamt', maxUsesPerCustomer: 'Wie oft je Käufer', minOrderValue: 'Mindestbestellwert', applicableTypes: 'Gilt für', reservation: 'Buchung',
  },
  statuses: {
    draft: 'Entwurf', review: 'In Prüfung', published: 'Veröffentlicht', on_sale: 'Im Verkauf', sold_out: 'Ausverkauft', in_progress: 'Läuft', completed: 'Vorbei', cancelled: 'Abgesagt',
    pending: 'Nicht bezahlt', processing: 'Wird bezahlt', failed: 'Gescheitert', expired: 'Verfallen', refunded: 'Erstattet', partially_refunded: 'Teils erstattet',
    underpaid: 'Zu wenig gezahlt', requested: 'Gewünscht', approved: 'Genehmigt', denied: 'Abgelehnt', processed: 'Zurückgezahlt', issued: 'Gültig', checked_in: 'Drin', succeeded: 'Zugestellt', exhausted: 'Aufgegeben', active: 'Aktiv', paused: 'Pausiert', revoked: 'Widerrufen', disabled: 'Aus', scheduled: 'Geplant', paid: 'Bezahlt',
  },
  statusesOf: { order: { completed: 'Bezahlt' }, refund: { processing: 'Unterwegs' }, payout: { processing: 'Unterwegs', cancelled: 'Nicht ausgeführt' }, delivery: { pending: 'Wartet' } },
  done: 'Bezahlt',
  events: {
    title: 'Events', new: 'Neues Event', drafts: 'Entwürfe', live: 'Aktuell', past: 'Vergangen', find: 'Event suchen', none: 'Noch keine Events', noneHint: 'Ein Event beginnt als Entwurf, den nur du siehst.', nothing: 'Nichts passt.', when: 'Wann', name: 'Event', state: 'Stand', sold: 'Verkauft',
    count: (n) => many(n, '# Event', '# Events'),
  },
  categories: { concerts: 'Konzerte', festivals: 'Festivals', nightlife: 'Nachtleben', theatre: 'Theater', comedy: 'Comedy', arts: 'Kunst', sports: 'Sport', conferences: 'Konferenzen', workshops: 'Workshops', food: 'Essen und Trinken', family: 'Familie', community: 'Nachbarschaft', reservations: 'Buchungen nach Tag', 'online-course': 'Onlinekurs', 'digital-product': 'Digitales Produkt', 'e-books': 'E-Book', 'downloadable-files': 'Dateien', 'online-service': 'Onlinedienst' },
  event: {
    tabs: { details: 'Angaben', tickets: 'Karten', promos: 'Rabattcodes', seating: 'Plätze', programme: 'Programm', page: 'Seite', attendees: 'Gäste', mails: 'Mails', waitlist: 'Warteliste', reviews: 'Bewertungen', live: 'Live', room: 'Warteraum' }, number: (n) => `Nr. ${n}`,
    publish: 'Verkauf beginnen', published: 'Das Event ist öffentlich. Karten gibt es, sobald ihr Verkauf beginnt.', unpayable: (currency) => `Kein Zahlungsdienst nimmt hier ${currency}: Nur kostenlose Karten lassen sich bestellen. Wähle eine andere Währung, oder frage, wer diesen Shop betreibt.`, shop: 'Im Shop ansehen', addTickets: 'Karten anlegen', where: 'Wo', physical: 'An einem Ort', online: 'Online', hybrid: 'Beides',
    linkHint: 'Nur wer eine Karte hat, sieht ihn.', look: 'Was Käufer lesen', descriptionHint: 'Mindestens 50 Zeichen.', coverHint: 'Ohne Bild zeichnen wir eines. JPEG, PNG, WebP oder GIF.', coverOwn: 'Gilt, sobald du speicherst.', terms: 'Bedingungen', visible: 'Wer es findet', visibility: { public: 'Alle', unlisted: 'Wer den Link hat', private: 'Niemand' },
    absorb: 'Wir tragen die Gebühren: Käufer zahlen den Kartenpreis und nicht mehr', create: 'Als Entwurf speichern', withdraw: 'Zurückziehen', unpublish: 'Aus dem Verkauf nehmen', unpublished: 'Das Event ist wieder ein Entwurf.', cancel: 'Event absagen', cancelled: 'Das Event ist abgesagt.', cancelSure: 'Es wird nichts mehr verkauft, und der Verkauf kann nicht wieder beginnen. Wer Karten hat, sieht die Absage.', cancelReason: 'Was sollen Käufer wissen?', delete: 'Entwurf löschen', deleteSure: 'Der Entwurf ist dann endgültig weg, mit seinen Karten.', deleted: 'Der Entwurf ist gelöscht.',
  },
  types: {
    none: 'Ein Event braucht Karten, bevor es verkauft werden kann.', add: 'Kartenart hinzufügen', change: 'Ändern', hidden: 'Versteckt', presale: 'Vorverkauf', free: 'Kostenlos', sold: (n, of) => (of < 0 ? `${n} verkauft` : `${n} von ${of} verkauft`), nameHint: 'Etwa „Stehplatz“ oder „Frühbucher“.', priceHint: 'Leer: kostenlos. Mit Punkt, wie 24.50.', quantityHint: 'Leer: so viele, wie gewünscht.', rest: 'Grenzen, Code, Text', kind: 'Art',
    presaleHint: 'Wer ihn hat, kann kaufen; leer: alle.', access: 'Was sie bekommen', accessHint: 'Nur wer bezahlt hat, sieht es in der Bestellung.', accessNote: 'Was sie dort brauchen', accessNoteHint: 'Etwa ein Passwort.', hide: 'Im Shop verstecken', transferable: 'Darf weitergegeben werden', waitlist: 'Mit Warteliste', refundable: 'Geld zurück auf Wunsch', deadline: 'Wunsch möglich bis',
    kinds: { general: 'Eintritt', vip: 'VIP', early_bird: 'Frühbucher', group: 'Gruppe', reserved: 'Sitzplatz', multi_day: 'Mehrere Tage', season: 'Saison', at_door: 'Abendkasse', upgrade: 'Aufwertung', free: 'Kostenlos' },
  },
  promos: {
    none: 'Mit einem Rabattcode zahlen Käufer weniger. Sie geben ihn beim Kauf ein.', add: 'Rabattcode hinzufügen', codeHint: 'Buchstaben, Ziffern, - und _. Groß oder klein ist gleich.', codeLocked: 'Er ist benutzt worden und behält deshalb seinen Namen.', taken: 'Diesen Code habt ihr schon.',
    percent: 'Ein Anteil, in Prozent', amount: 'Ein Betrag', percentHint: 'Etwa 10: zehn Prozent der Karten.', amountHint: 'Mit Punkt, wie 5.00. Von der Bestellung, nicht von jeder Karte.', percentOff: (n) => `−${n} %`, amountOff: (sum) => `−${sum}`, usesHint: 'Leer: so oft, wie gewünscht.', used: (n, of) => (of === null ? many(n, 'einmal benutzt', '#-mal benutzt') : `${n} von ${of} benutzt`),
    rest: 'Bedingungen, Notiz', leastHint: 'Leer: Bestellungen jeder Höhe.', note: 'Notiz', noteHint: 'Für euch; Käufer sehen sie nicht.', typesHint: 'Nichts gewählt: alle Karten des Events.',
    delete: 'Löschen', deleteSure: 'Niemand hat ihn benutzt. Er ist dann endgültig weg.', deleted: 'Der Code ist gelöscht.', offSure: 'Niemand kann ihn mehr benutzen, und er lässt sich nicht wieder einschalten. Bestellungen damit behalten ihren Rabatt.', isOff: 'Der Code ist ausgeschaltet.',
  },
  seats: {
    none: 'Käufer wählen bei diesem Event keine Plätze. Mit einem Plan tun sie es.', choose: 'Vorhandenen Plan benutzen', map: 'Sitzplan', use: 'Danach Plätze vergeben', count: (n) => many(n, '# Platz', '# Plätze'), draw: 'Einfachen Saal zeichnen', rows: 'Reihen', perRow: 'Plätze je Reihe', drawHint: 'Gebogene Reihen, Ränge und Logen kommen mit einer Datei.', files: 'Pläne als Dateien', newMap: 'Ein neuer Plan', file: 'Datei (JSON)', fileHint: 'In der Form, in der die API Pläne hat; einen deiner Pläne kannst du als Anfang so sichern.', unread: 'Diese Datei ist kein JSON.', bring: 'Plan einlesen', replace: 'Plan ersetzen', replaceHint: 'Events, die nach ihm gesetzt sind, behalten ihre Fassung.', saveFile: 'Als Datei sichern', brought: (n) => many(n, 'Der Plan ist da, mit # Platz.', 'Der Plan ist da, mit # Plätzen.'), drawIt: 'Zeichnen und benutzen', stage: 'Bühne', hall: 'Saal',
    prices: 'Was die Bereiche kosten', noTypes: 'Es gibt noch keine Karten.', notSold: 'Kein Verkauf', remove: 'Plätze entfernen', removeSure: 'Das Event hat dann keine Sitzplätze mehr. Preise der Bereiche und gesperrte Plätze sind vergessen.', withhold: 'Plätze sperren', withholdHint: 'Niemand kann sie kaufen: für Gäste, Kameras, den Ton.', row: 'Reihe',
    available: 'zu haben', held: 'in Auswahl', sold: 'verkauft', blocked: 'gesperrt', doWithhold: (n) => many(n, '# Platz sperren', '# Plätze sperren'), doRelease: (n) => many(n, '# Platz freigeben', '# Plätze freigeben'),
  },
  live: {
    sold: 'Karten verkauft', revenue: 'eingenommen', inside: 'drin', rate: 'in der letzten Minute gekommen', orders: 'Neueste Bestellungen', noOrders: 'Noch keine Bestellungen.', gates: 'Einlass', gate: 'Einlass', admitted: 'Rein', denied: 'Abgewiesen', noName: 'Ohne Namen', noGates: 'Noch niemand wurde geprüft.', streaming: 'Live', waiting: 'Verbindet',
  },
  rare: {
    title: 'Plätze insgesamt, Suchworte, Rückgabe und mehr', capacity: 'Höchstens Leute insgesamt', capacityHint: 'Über alle Kartenarten. Leer: so viele, wie diese haben.', tags: 'Suchworte', tagsHint: 'Bis zu 10, mit Kommas dazwischen.', tagsIssue: 'Höchstens 10, jedes mit höchstens 50 Buchstaben.', returns: 'Rückgabe', returnsHint: 'In deinen Worten. Was Käufer verlangen dürfen, steht bei jeder Karte.',
    film: 'Ein Film darüber', filmHint: 'Bei YouTube oder Vimeo; die Seite führt dorthin.', minutes: 'Minuten zum Bezahlen', minutesHint: 'Von 5 bis 60. So lange hält eine Bestellung ihre Karten.', days: 'Tage für eine Überweisung', daysHint: 'Von 1 bis 30. Leer: wie dieser Shop es hält.', extensions: 'Käufer dürfen um mehr Zeit bitten, wie alle sie brauchen, die langsam lesen', rotating: 'Am Einlass gelten keine gedruckten Codes, nur die wechselnden auf dem Telefon', rescheduling: 'Wer eine Karte hat, darf sie auf ein anderes Datum legen',
  },
  begin: {
    which: 'Was verkaufst du?', event: { title: 'Ein Event', text: 'Ein Abend, ein Festival, ein Spiel: Es beginnt an einem Tag.' }, dates: { title: 'Termine', text: 'Ein Museum, eine Führung, ein Tisch: Gäste wählen den Tag.' }, digital: { title: 'Ein Kurs oder eine Datei', text: 'Ist sofort da und wird jederzeit verkauft.' },
  },
  files: { sending: (percent) => `Wird gesendet, ${percent} %`, taken: 'Ist da und wird geprüft.', own: 'Oder eine Datei von dir', form: 'Eine Adresse, die mit https:// beginnt, oder eine Datei, die hierher gesendet wurde.' },
  curve: {
    title: 'Wie es sich verkauft', beside: 'Daneben', nothing: 'Nichts', before: (days) => many(days, '# Tag davor', '# Tage davor'), begun: 'insgesamt', start: 'Beginn', had: (then, all) => `${then} bis dahin, ${all} insgesamt`,
  },
  orders: {
    title: 'Käufe', find: 'Name, E-Mail oder Nummer', allEvents: 'Alle Events', allStates: 'Jeder Stand', buyer: 'Käufer', total: 'Summe', at: 'Bestellt', none: 'Noch niemand hat bestellt', tickets: (n) => many(n, '# Karte', '# Karten'), one: 'Bestellung', number: 'Nummer', fees: 'Gebühren', discount: 'Rabatt', payment: 'Zahlung', sent: (at) => `laut Käufer überwiesen am ${at}`, refund: 'Erstattung',
    cancel: 'Bestellung stornieren', cancelSure: 'Ihre Karten gehen zurück in den Verkauf, und sie können nicht mehr bezahlt werden.', cancelled: 'Die Bestellung ist storniert.', doRefund: 'Geld zurückgeben', refundSure: (what, who) => `${what}: das Geld geht zurück an ${who}. Das lässt sich nicht rückgängig machen.`, refundYes: 'Ja, zurückgeben', refunded: 'Die Erstattung läuft.', which: 'Welche Karten? Keine: die ganze Bestellung.', priceOf: (n) => many(n, 'Der Preis von # Karte', 'Der Preis von # Karten'), whole: 'Alles Gezahlte', amountHint: 'Leer: was die Karten kosten.',
  },
  refunds: {
    title: 'Rückgaben', none: 'Niemand will Geld zurück', noneHint: 'Was Käufer wünschen, erscheint hier.', approve: 'Genehmigen', approveSure: (sum) => `${sum} geht zurück, und die Karten gelten nicht mehr. Das lässt sich nicht rückgängig machen.`, approved: 'Genehmigt. Das Geld ist unterwegs.', deny: 'Ablehnen', denySure: 'Wer gefragt hat, erfährt es mit deinem Grund.', why: 'Grund, für den Käufer', denied: 'Abgelehnt.', note: 'Notiz', order: 'Bestellung', evidence: (n) => `Beleg ${n}`, retry: 'Noch einmal', tried: 'Wir versuchen es noch einmal.', complete: 'Ich habe es gezahlt', completeSure: (sum) => `Sage das nur, wenn ${sum} dein Konto verlassen hat.`,
  },
  people: {
    title: 'Kunden', find: 'Name oder E-Mail', sort: 'Reihenfolge', recent: 'Neueste zuerst', oldest: 'Älteste zuerst', name: 'Nach Namen', one: 'Kunde', spent: 'Ausgegeben', last: 'Letzte Bestellung', first: 'Erste Bestellung', none: 'Noch keine Kunden', tags: 'Stichwörter', notes: 'Notizen', note: 'Neue Notiz', drop: 'Notiz löschen', dropSure: 'Sie ist dann endgültig weg.', guest: 'Gast', ticket: 'Karte', inside: 'Drin', outside: 'Nicht drin', csv: 'Herunterladen (CSV)', noGuests: 'Noch keine Gäste',
  },
  settings: {
    title: 'Konto', portal: 'Für Entwickler', tabs: { organization: 'Organisation', security: 'Anmeldung', members: 'Mitglieder', wallets: 'Geld', keys: 'API-Schlüssel', webhooks: 'Webhooks' }, name: 'Name', mail: 'E-Mail für Käufer', phone: 'Telefon für Käufer', site: 'Website', about: 'Über euch', verified: 'Geprüft',
    role: 'Darf', roles: { owner: 'Alles, und besitzt sie', admin: 'Alles', member: 'Verkaufen und einlassen' }, addMember: 'Mitglied aufnehmen', memberHint: 'Es bekommt eine Mail und meldet sich mit dieser Adresse an.', you: 'du', removeMember: 'Mitglied entfernen', removeSure: (who) => `${who} sieht hier dann nichts mehr und kann nichts mehr tun.`, changed: 'Die Rolle ist geändert.',
    balance: 'auszuzahlen', pending: 'noch nicht freigegeben', payouts: 'bisher ausgezahlt', entries: 'Buchungen', what: 'Was', noEntries: 'Noch keine Buchungen.', paidOut: 'Auszahlungen', noPayouts: 'Noch ist nichts ausgezahlt. Wer diesen Shop betreibt, zahlt aus, was frei ist.', account: 'Auf das Konto', kinds: { sale: 'Verkauf', refund: 'Erstattung', issue_fee: 'Gebühr für ausgestellte Karten', credit: 'Gutschrift', debit: 'Belastung', clearing: 'Freigegeben', pending_credit: 'Verkauf, nicht freigegeben', cleared: 'Freigegeben', voided: 'Nichtig' },
    newKey: 'Neuer Schlüssel', keyName: 'Wofür ist er?', scopes: 'Er darf', mayAll: 'Alles', maySome: 'Nur das Gewählte', mayNothing: 'nichts', addresses: 'Von wo', addressesHint: 'IP-Adressen oder Netze wie 192.0.2.0/24, je Zeile eine. Leer: von überall.', noAddress: 'Eine davon ist weder IP-Adresse noch Netz.', until: 'Bis wann', untilHint: 'Leer: für immer. Nach der Uhr deines Geräts.', ends: (when) => `Endet ${when}`, pause: 'Pausieren', makeKey: 'Schlüssel anlegen', once: 'Kopiere ihn jetzt: Er wird nur dieses eine Mal gezeigt.', noKeys: 'Noch keine Schlüssel', used: (when) => `Benutzt ${when}`, unused: 'Nie benutzt', revoke: 'Widerrufen', revokeSure: (name) => `Was „${name}“ benutzt, geht sofort nicht mehr. Das lässt sich nicht rückgängig machen.`, revoked: 'Der Schlüssel ist widerrufen.', rotate: 'Ersetzen', rotateHook: 'Geheimnis ersetzen', rotateSure: (name) => `„${name}“ bekommt ein neues Geheimnis, und das alte gilt nicht mehr.`,
    newHook: 'Neuer Webhook', hookUrl: 'Adresse (https)', hookEvents: 'Was geschickt wird', makeHook: 'Webhook hinzufügen', noHooks: 'Noch keine Webhooks', hooksHint: 'Wir sagen einem deiner Programme, was geschieht: Käufe, Erstattungen, Einlass.', deliveries: 'Zustellungen', noDeliveries: 'Noch nichts verschickt.', look: 'Noch einmal nachsehen', replay: 'Noch einmal schicken', replayed: 'Wird noch einmal geschickt.', test: 'Probe schicken', tested: 'Eine Probe ist unterwegs.', on: 'Einschalten', off: 'Ausschalten', dropHook: 'Löschen', dropSure: 'An diese Adresse wird nichts mehr geschickt. Was geschickt wurde, ist nicht mehr zu sehen.', attempts: (n) => many(n, '# Versuch', '# Versuche'),
    reasons: { gone: 'Die Adresse sagte, es gebe sie nicht mehr.', exhausted: 'Sie hat zu lange nicht geantwortet.' },
  },
  course: {
    title: 'Was der Kurs lehrt', types: { unified: 'Ein Film oder Text', syllabus: 'Lektionen' }, video: 'Adresse des Films', pdf: 'Adresse des Textes', oneOf: 'Ein Film, ein Text oder beides.', lesson: (n) => `Lektion ${n}`, add: 'Lektion hinzufügen', writeup: 'Was Lernende lesen',
    duration: 'Dauer', durations: { '1-4 hours': '1 bis 4 Stunden', '8-12 hours': '8 bis 12 Stunden', '24 hours': '24 Stunden', '3 days': '3 Tage', 'A week': 'Eine Woche', '2 Weeks': '2 Wochen', '4 Weeks': '4 Wochen', '3 months': '3 Monate', '6 months': '6 Monate' },
    level: 'Niveau', levels: { Beginner: 'Anfänger', Intermediate: 'Mittel', Advanced: 'Fortgeschrittene', 'All levels': 'Alle' }, format: 'Wann', formats: { 'Self-paced': 'Im eigenen Tempo', Live: 'Live' },
  },
  booking: {
    byDate: 'Nach Tag gebucht', title: 'Buchung', modes: { date_only: 'Nach Tag', date_time: 'Nach Tag und Uhrzeit' }, daily: 'Plätze am Tag', unlimited: 'Leer: ohne Grenze.', ahead: 'So viele Tage im Voraus', perCustomer: 'Höchstens je Käufer und Tag',
    groups: 'Eine Bestellung darf für mehrere Leute sein', multiDay: 'Eine Bestellung darf für mehrere Tage sein', slots: 'Zeiten eines Tages', slot: (n) => `Zeit ${n}`, label: 'Name', from: 'Von', to: 'Bis', capacity: 'Plätze', paused: 'Pausiert: nicht zu buchen', remove: 'Entfernen', addSlot: 'Zeit hinzufügen',
    slotsHint: 'Eine Zeit, die nicht nach ihrem Anfang endet, endet am nächsten Tag. Entfernst du eine, so wird sie pausiert, solange sie Buchungen hat.', closedWeekdays: 'Geschlossen jeden', closedDates: 'Geschlossen am', date: 'Tag', close: 'Diesen Tag schließen',
  },
  security: {
    title: 'Zweiter Faktor', on: 'An', off: 'Aus', offHint: 'Mit ihm öffnet dein Passwort allein nichts: Du gibst auch einen Code ein, den eine App auf deinem Telefon zeigt.', onHint: 'Du meldest dich mit dem Passwort und dem Code deiner App an.', setUp: 'Einrichten',
    scan: 'Scanne das mit einer Authenticator-App.', here: 'Die App ist auf diesem Gerät: öffnen', byHand: 'Oder tippe diesen Schlüssel in die App:', qr: 'QR-Code für die Authenticator-App', code: 'Code, den die App zeigt', turnOn: 'Einschalten', isOn: 'Der zweite Faktor ist an.',
    recovery: 'Bewahre diese Codes auf, aber nicht auf dem Telefon: Ist es weg, meldet jeder dich einmal an. Sie werden nur dieses eine Mal gezeigt.', anyCode: 'Code der App oder einer der aufbewahrten', turnOff: 'Ausschalten', offSure: 'Wer dein Passwort kennt, kann sich dann anmelden.', isOff: 'Der zweite Faktor ist aus.', wrong: 'Der Code stimmt nicht. Er wechselt alle 30 Sekunden und gilt einmal.',
  },
} satisfies Words;

export default words as Words;
